"""How large runs will be, before any of them is made: numbers of steps, bytes, processor time, memory.

Bytes and memory follow from what is stored; times are those of this project's machines, with measured prices of
methods (prices.toml), within a factor of about five, and adaptive runs count as many steps as they have outputs."""
import os
import shutil
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path

import numpy as np

from liestep.compile.pieces import LINEAR, QUADRATIC
from liestep.errors import InputError
from liestep.simulation.runs.specified import RunSpecification

MEMORY = "LIESTEP_MEMORY"  # variable with the bytes that a run may take, for example on another machine than this one
OBSERVABLES = 12           # numbers at a sample beside the state: time, energy, momenta, residuals; an upper bound
FIXED = 30_000             # bytes of a file beside its samples: attributes, statistics of blocks
NUMBER = 8                 # bytes
TANGENT, TOGETHER = 3, 8  # times as long as a step takes one with derivatives, of which there are at most so many
# times as long as an explicit step takes one of implicit methods by formulation, where the time grows with the bodies;
# and s for each triple of numbers of the state where equations of all unknowns are solved
IMPLICIT = {"index_three": 16.0, "constant_mass": 6.0, "quaternion_hamiltonian": 6.0}
DENSE, CUBIC = "constrained_lagrangian", 1e-10
FREE = 6e-11  # s for each pair of numbers where bodies have no mass matrix in common
LOW, HIGH, GROWTH = 4, 8, 2.5  # steps of an order above LOW cost its power GROWTH, those of HIGH the most
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
SPANS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))


@dataclass(frozen=True)
class Estimate:
    """Size of one or several runs. memory: that of the largest run, in bytes."""

    runs: int = 0
    steps: int = 0
    size: int = 0
    seconds: float = 0.0
    memory: int = 0

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.runs + other.runs, self.steps + other.steps, self.size + other.size,
                        self.seconds + other.seconds, max(self.memory, other.memory))

    def __str__(self) -> str:
        span = next((f"{self.seconds/unit:.3g} {name}" for unit, name in SPANS if self.seconds >= 2*unit),
                    f"{max(self.seconds, 1.0):.0f} s")
        return (f"{count(self.runs, 'run')}, {self.steps:.3g} steps, about {readable(self.size)} and {span} of"
                " processor time")


def estimate(spec: RunSpecification) -> Estimate:
    """Size of one run with all its replicas or members."""
    kept = spec.trajectories
    times = max(kept, spec.replicas)
    stored = spec.samples*(_numbers(spec) + OBSERVABLES)*NUMBER
    size = stored*kept + FIXED
    steps = (spec.steps or spec.outputs)*times
    return Estimate(1, steps, size, steps*plain_seconds(spec)*prices().get(spec.integrator, 1.0), stored*times + size)


def _numbers(spec: RunSpecification) -> int:
    return sum(prod(np.shape(values)) for values in spec.initial.values())


@cache
def prices() -> dict[str, float]:
    """Integrator -> what a step takes over what is expected of its formulation and order; 1 where it is not there."""
    return tomllib.loads(Path(__file__).with_name("prices.toml").read_text("utf-8"))


def plain_seconds(spec: RunSpecification) -> float:
    """Time of a step, expected of formulation and order: bodies on spheres all act on each other; mechanisms and bonded
    bodies cost in proportion to their number, but where Newton's method has dense equations."""
    facts, numbers = spec.sheet, _numbers(spec)
    declared = spec.method.on(facts)
    pairs = 0.0 if facts.mass is None else QUADRATIC if np.ndim(facts.mass(spec.parameters)) == 2 else FREE
    each = (IMPLICIT.get(declared.formulation, 1.0)*LINEAR*numbers
            + pairs*numbers**2 + CUBIC*numbers**3*(declared.formulation == DENSE))
    order = declared.order_of(spec.options, facts, spec.parameters)
    return each*max(1.0, min(order, HIGH)/LOW)**GROWTH*(1 + TANGENT*-(-spec.exponents//TOGETHER))


def total(specs: Iterable[RunSpecification]) -> Estimate:
    return sum(map(estimate, specs), Estimate())


def require_memory(spec: RunSpecification, name: str = "") -> Estimate:
    """Its estimate. Raises InputError: `require_held`."""
    return require_held(estimate(spec), name)


def require_held(needed: Estimate, name: str = "") -> Estimate:
    """The estimate of a run. Raises InputError for one that this machine cannot hold in memory; `name` says which."""
    there = memory()
    if needed.memory > there:
        raise InputError(f"{name and f'{name}: '}the run needs {readable(needed.memory)} of memory, of which there are"
                         f" {readable(there)}: take fewer samples, members or replicas ({MEMORY}=BYTES if it will run"
                         " elsewhere)")
    return needed


def require_disk(needed: int, folder: Path) -> None:
    """Raises InputError when files of so many bytes do not fit on the disk of a folder, which need not exist yet."""
    there = free(folder)
    if needed > there:
        raise InputError(f"the files need {readable(needed)}, the disk of {folder} has {readable(there)} left: take"
                         " fewer samples, members or runs")


def memory() -> int:
    """Bytes of memory that a run may take."""
    given = os.environ.get(MEMORY, "")
    return int(given) if given.isdigit() else os.sysconf("SC_PAGE_SIZE")*os.sysconf("SC_PHYS_PAGES")


def free(folder: Path) -> int:
    """Bytes left on the disk of a folder."""
    path = folder.absolute()
    return shutil.disk_usage(next(each for each in (path, *path.parents) if each.is_dir())).free


def readable(size: float) -> str:
    """Bytes in the largest unit that keeps a number of at least one."""
    return next((f"{size/unit:.3g} {name}" for unit, name in UNITS if size >= unit), f"{size:.0f} bytes")


def count(number: int, noun: str) -> str:
    """For example "1 run", "2 runs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
