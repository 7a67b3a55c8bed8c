"""The compiled core: machine code without reference counts, few specialisations, the same bits as
plain Python."""
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

import liestep
from liestep.compile import cache
from liestep.compile.cache import _loops, loop_for
from liestep.compile.driver import advance, advance_adaptive, new_memory
from liestep.compile.status import Status
from liestep.simulation.runs.execution import build, new_recorder, run_once
from liestep.simulation.runs.specification import specify

PACKAGE = Path(liestep.__file__).parent


def observables(formulated):
    """As many zeros as a formulation has observables."""
    return np.zeros(formulated.width)


def fixed_arguments(problem, integrator, steps=2, **request):
    """Arguments of `advance` for a few steps of a run."""
    spec = specify(problem, integrator, steps=steps, t_end=steps*1e-3, **request)
    formulated, component = build(spec)
    y = formulated.start.copy()
    recorder = new_recorder(y.shape, observables(formulated), steps, 2)
    work = component.workspace(formulated.problem, y)
    return component, formulated.problem, recorder, y, spec.step, 0, steps, work, 0.0, 0


def adaptive_arguments(problem, integrator, tolerance=1e-6):
    """Arguments of `advance_adaptive` for a short run."""
    spec = specify(problem, integrator, tolerance=tolerance, t_end=0.1, outputs=3)
    formulated, pair = build(spec)
    y = formulated.start.copy()
    outputs, accepted = (new_recorder(y.shape, observables(formulated), points, samples)
                         for points, samples in ((2, 3), (1, 0)))
    return (pair, formulated.problem, outputs, accepted, y, np.zeros_like(y), new_memory(), np.zeros((100, 2)), 0.05,
            0.1, pair.workspace(formulated.problem, y), 0.0, 1.0)


def machine_code(function, arguments, **options):
    """Assembler text of a loop compiled here and now: code that comes from disk cannot be looked at."""
    compiled = numba.njit(**(options or cache.compiling()[1]))(function)
    compiled(*arguments)
    (text,) = compiled.inspect_asm().values()
    return text


@pytest.mark.parametrize(("function", "arguments"), [
    (advance, lambda: fixed_arguments("spherical_pendulum_chain", "vi_sphere")),           # sphere_lagrangian
    (advance, lambda: fixed_arguments("spherical_pendulum_chain", "rkmk")),               # lie_action
    (advance, lambda: fixed_arguments("spherical_pendulum_chain", "cf4")),
    (advance, lambda: fixed_arguments("spherical_pendulum_chain", "rkmk", options={"dexpinv": 4})),
    (advance_adaptive, lambda: adaptive_arguments("spherical_pendulum_chain", "ode45")),   # vector_field
    (advance_adaptive, lambda: adaptive_arguments("spherical_pendulum_chain", "rkmk_pair")),
    (advance_adaptive, lambda: adaptive_arguments("spherical_pendulum_chain", "cf_pair")),
    (advance, lambda: fixed_arguments("heavy_top", "rkmk", options={"action": "coadjoint"})),
    (advance, lambda: fixed_arguments("heavy_top", "cf4", options={"action": "semidirect"})),
    (advance, lambda: fixed_arguments("heavy_top", "slgi")),                               # cotangent_rotation
    (advance, lambda: fixed_arguments("bonded_particles", "rkmk")),                       # product of actions
], ids=["sphere_lagrangian", "lie_action", "commutator-free", "truncated", "vector_field", "munthe-kaas pair",
        "commutator-free pair", "coadjoint", "semidirect", "cotangent_rotation", "product"])
@pytest.mark.slow
def test_no_reference_counts_in_machine_code(function, arguments):
    assert "NRT_" not in machine_code(function, arguments())


def test_reference_counts_would_be_seen():
    def double(a):
        return np.concatenate((a, a))

    assert "NRT_" in machine_code(double, (np.ones(3),), error_model="numpy")


class Careless(NamedTuple):
    number: float

    def allocates(self, a):
        return np.zeros(3)[0]

    def returns_a_view(self, a):
        return a[1:]


@pytest.mark.parametrize("loop", [lambda careless, a: careless.allocates(a),
                                  lambda careless, a: careless.returns_a_view(a)[0], lambda _, a: a[1:]],
                         ids=["allocation", "view from a method", "view from a loop"])
def test_memory_management_does_not_compile(loop):
    with pytest.raises(TypingError):
        machine_code(loop, (Careless(1.0), np.ones(3)))


def test_no_blas_in_compiled_code():
    def product(a):
        return np.dot(a, a)

    with pytest.raises(ImportError, match="no BLAS"):
        machine_code(product, (np.ones(3),))


@pytest.mark.parametrize("integrators", [
    ["vi_sphere", "vi_sphere weights=y4", "vi_sphere weights=s4", "vi_sphere weights=y6", "vi_sphere weights=kl6",
     "vi_sphere weights=kl8"],
    ["rk2_midpoint", "rk2_heun", "rk4"],
    ["rkmk tableau=euler", "rkmk tableau=heun", "rkmk tableau=kutta3", "rkmk", "rkmk tableau=dormand_prince5", "rkmk"],
    ["cf4", "cg3"],
], ids=["weights", "tableaux on a vector field", "tableaux on a group action", "exponential schemes"])
def test_coefficients_do_not_specialise(integrators):
    before, loops = len(_loops), set()
    for integrator in integrators:
        arguments = fixed_arguments("sphere_nbody", integrator)
        component, problem, recorder, *_, work = arguments
        loop = loop_for(advance, component, problem, recorder, work)
        assert loop(*arguments) == (Status.OK, 2)
        loops.add(loop)
    assert len(_loops) - before <= 1
    (loop,) = loops
    assert len(loop.call.signatures) == 1


def test_solvers_do_specialise():
    """The count above can see a difference: another inner step is other code."""
    steps = [fixed_arguments("spherical_pendulum_chain", "vi_sphere", options={"solver": solver})
             for solver in ("multipliers", "newton")]
    loops = {loop_for(advance, component, problem, recorder, work) for component, problem, recorder, *_, work in steps}
    assert len(loops) == 2


# problem, integrator, request
SAME = [
    ("sphere_nbody", "vi_sphere", {"steps": 40, "t_end": 0.4}),
    ("sphere_nbody", "vi_sphere weights=kl8", {"steps": 10, "t_end": 0.4, "options": {"form": "paper"}}),
    ("sphere_nbody", "rk4", {"steps": 20, "t_end": 0.4}),
    ("sphere_nbody", "rkmk", {"steps": 20, "t_end": 2.0}),  # angles beyond the series of the exponential
    ("sphere_nbody", "ode45", {"tolerance": 1e-4, "t_end": 2.0, "outputs": 21}),
    ("sphere_nbody", "dop853", {"tolerance": 1e-6, "t_end": 2.0, "outputs": 21}),
    ("spherical_pendulum_chain", "vi_sphere", {"steps": 40, "t_end": 0.4}),
    ("spherical_pendulum_chain", "vi_sphere weights=y4", {"steps": 20, "t_end": 0.4, "options": {"solver": "newton"}}),
    ("spherical_pendulum_chain", "vi_sphere",
     {"steps": 20, "t_end": 0.4, "options": {"solver": "fixed_point", "form": "paper"}}),
    ("spherical_pendulum_chain", "rk2_heun",
     {"steps": 20, "t_end": 0.4, "options": {"form": "velocity", "projection": "state"}}),
    ("spherical_pendulum_chain", "rkmk", {"steps": 20, "t_end": 0.4}),
    ("spherical_pendulum_chain", "rkmk tableau=dormand_prince5",
     {"steps": 10, "t_end": 0.4, "options": {"dexpinv": 3, "alpha": 0.5, "beta": -0.3}}),
    ("spherical_pendulum_chain", "rkmk4_2comm", {"steps": 20, "t_end": 0.4}),
    ("spherical_pendulum_chain", "cf4", {"steps": 20, "t_end": 0.4}),
    ("spherical_pendulum_chain", "rkmk_pair", {"tolerance": 1e-5, "t_end": 0.6, "outputs": 21}),
    ("spherical_pendulum_chain", "cf_pair", {"tolerance": 1e-4, "t_end": 0.6, "outputs": 21}),
    ("sphere_nbody", "cf_pair scheme=cf32a",
     {"tolerance": 1e-4, "t_end": 1.0, "outputs": 21, "options": {"control": "pi"}}),
    ("heavy_top", "rkmk", {"steps": 20, "t_end": 0.05}),
    ("heavy_top", "rkmk", {"steps": 20, "t_end": 0.05, "options": {"action": "coadjoint"}}),
    ("heavy_top", "cf4", {"steps": 20, "t_end": 0.05, "options": {"action": "semidirect"}}),
    ("heavy_top", "slgi", {"steps": 20, "t_end": 0.1, "options": {"theta": 0.3}}),
    ("heavy_top", "slgi_kk", {"steps": 20, "t_end": 0.1}),
    ("bonded_particles", "rkmk", {"steps": 20, "t_end": 1e-3, "preset": "cluster"}),
    ("spring_pendula", "vi_sphere", {"steps": 20, "t_end": 0.1}),
    ("elastic_rod", "vi_sphere", {"steps": 10, "t_end": 1e-3}),
    ("dipole_array", "vi_sphere", {"steps": 5, "t_end": 5e-3}),
    ("lennard_jones_sphere", "vi_sphere", {"steps": 3, "t_end": 0.015, "preset": "level1"}),
]
FAILING = {
    "STEP_TOO_LARGE": ("sphere_nbody", "vi_sphere", {"steps": 200, "t_end": 10.0}),
    "NOT_CONVERGED": ("spherical_pendulum_chain", "vi_sphere",
                      {"preset": "paper_scaled", "steps": 40, "t_end": 20.0, "options": {"solver": "newton"}}),
    "NOT_FINITE": ("sphere_nbody", "rk4", {"steps": 110, "t_end": 110.0}),
    "CHART_LIMIT": ("sphere_nbody", "rkmk", {"steps": 1, "t_end": 10.0}),
}


def fingerprint(problem, integrator, request):
    """Status, last good time, counters, and a hash of all that a run records. The sign of a NaN is no number: it
    depends on which of two operands comes first."""
    outcome = run_once(specify(problem, integrator, **request))
    digest = hashlib.sha256()
    for recorder in (outcome.outputs, outcome.accepted):
        for values in arrays(recorder or ()):
            digest.update(np.where(np.isnan(values), np.nan, values).tobytes())
    digest.update(outcome.step_log.tobytes())
    return [Status(outcome.status).name, outcome.time_reached, outcome.steps, outcome.counters, digest.hexdigest()]


def arrays(item):
    """All numbers of a recorder, its components included."""
    if isinstance(item, tuple):
        for part in item:
            yield from arrays(part)
    else:
        yield np.asarray(item)


def plain_fingerprints(cases):
    """Fingerprints of cases by plain Python, in one process."""
    program = ("import json, sys, test_core_quality as t;"
               " print(json.dumps([t.fingerprint(*case) for case in json.loads(sys.argv[1])]))")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(
        (str(PACKAGE.parent), str(Path(__file__).parents[1]), str(Path(__file__).parent)))}
    found = subprocess.run([sys.executable, "-c", program, json.dumps(cases)], env=environment, capture_output=True,
                           text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def plain():
    return plain_fingerprints([*SAME, *FAILING.values()])


@pytest.mark.parametrize("index", range(len(SAME)),
                         ids=[f"{problem}-{integrator}-{k}" for k, (problem, integrator, _) in enumerate(SAME)])
def test_plain_python_gives_the_same_bits(plain, index):
    compiled = fingerprint(*SAME[index])
    assert compiled[0] == "OK"
    assert plain[index] == compiled


@pytest.mark.parametrize("status", FAILING)
def test_plain_python_fails_in_the_same_way(plain, status):
    compiled = fingerprint(*FAILING[status])
    assert compiled[0] == status
    assert plain[len(SAME) + list(FAILING).index(status)] == compiled
