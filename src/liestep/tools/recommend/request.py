"""What is asked of a recommendation, checked."""
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.method import Keeps, Method
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import method
from liestep.simulation.runs.numbers import positive
from liestep.simulation.runs.specification import RunSpecification, Start, complete_options, specify, start_of
from liestep.study.tables.choice import KEEP
from liestep.tools.recommend import BUDGET

INTERVALS = 20              # numbers of steps are multiples of it, so that each part of the horizon ends with a step
FINER = (10, 5, 2, 1)       # errors are looked at so many times in each part, the most that the steps allow
LARGEST, SMALLEST = 0.1, 1e-14
SHARE = 20.0                # the budget divided by this is what one run may be predicted to take
PATIENCE = 2.0              # a run is stopped after so many times that


@dataclass(frozen=True)
class Request:
    """A problem from one start, the error that is allowed at `t_end` (s) and what must be kept ("": nothing). budget:
    processor time in s that runs may take."""

    problem: str
    start: Start
    error: float
    t_end: float
    keep: str
    budget: float

    @property
    def limit(self) -> float:
        """What one run may take, s."""
        return self.budget/SHARE

    @property
    def facts(self) -> Sheet:
        return self.start.system.item

    def declared(self, integrator: str) -> Method:
        """An integrator with the formulation that the problem has."""
        return method(integrator).on(self.facts)

    def kept(self, integrator: str) -> frozenset[Keeps]:
        """What an integrator declares to keep here, with the options that it gets."""
        found, parameters = self.declared(integrator), self.start.parameters
        try:
            options = complete_options(found, self.facts, parameters, {})
        except InputError:  # it is refused with its sentence when it runs
            return frozenset()
        return found.kept(options, self.facts, parameters)

    def shorter(self, t_end: float) -> "Request":
        """The same with another end."""
        return replace(self, t_end=t_end)

    def run(self, integrator: str, size: float) -> RunSpecification:
        """A run of `size` steps, or of an adaptive method with the tolerance `size`. Raises InputError: the method does
        not run from this start."""
        if not method(integrator).adaptive:
            finer = next(k for k in FINER if size % (k*INTERVALS) == 0 or k == 1)
            return specify(self.problem, integrator, start=self.start, steps=int(size), t_end=self.t_end,
                           samples=finer*INTERVALS + 1, statistics_every=int(size))
        samples = FINER[0]*INTERVALS + 1
        return specify(self.problem, integrator, start=self.start, tolerance=size, t_end=self.t_end, outputs=samples,
                       samples=samples)

    def canonical(self) -> dict[str, Any]:
        """Problem and start as JSON."""
        return {"problem": self.problem, "t_end": self.t_end, "error": self.error, "keep": self.keep,
                "budget": self.budget,
                "parameters": {name: getattr(value, "tolist", lambda value=value: value)()
                               for name, value in self.start.parameters.items()},
                "initial": {name: value.tolist() for name, value in self.start.initial.items()}}


def named(keep: str) -> str:
    """A word for keep in a sentence."""
    return "symplectic form" if keep == "symplectic" else keep


def request(problem: str, *, error: Any, preset: str | None = None, parameters: Mapping[str, Any] | None = None,
            initial: Mapping[str, Any] | None = None, t_end: Any = None, keep: str | None = None,
            budget: Any = BUDGET) -> Request:
    """A request, checked. Raises InputError: one sentence: what is wrong, and what is allowed."""
    if keep is not None and keep not in KEEP:
        raise InputError(unknown("word for keep", keep, KEEP))
    wanted = positive("error", error)
    if wanted > LARGEST:
        raise InputError(f"error {wanted!r} says nothing of a motion: errors are relative, allowed are numbers up to"
                         f" {LARGEST:g}")
    if wanted < SMALLEST:
        raise InputError(f"error {wanted!r} is below round-off; the least that can be asked for is {SMALLEST:g}")
    start = start_of(problem, preset=preset, parameters=parameters, initial=initial)
    end = start.t_end if t_end is None else positive("t_end", t_end)
    found = Request(problem, start, wanted, end, keep or "", positive("budget", budget))
    seen = formulate_standard(found.facts, start.parameters, start.initial).observables
    if keep == "momentum" and not any(any(part.conserved) for part in seen if part.name == "momentum_map"):
        raise InputError(f"{problem} conserves no component of the momentum with these parameters; keep is"
                         f" {', '.join(word for word in KEEP if word != keep)} or nothing")
    if keep == "energy" and not any(all(part.conserved) for part in seen if part.name == "energy"):
        raise InputError(f"{problem} has no energy that is kept: it is not known, changes or depends on t; keep is"
                         f" {', '.join(word for word in KEEP if word != keep)} or nothing")
    return found
