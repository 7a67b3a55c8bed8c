"""One step of the schemes in plain Python: the matrices of Newton's method against differences, and the two signs of a
quaternion. And one state in all formulations."""
import numpy as np
import pytest
from constrained_cases import PLAIN, plain_problem, slope
from liestep_papers.livens2025.studies.eml_ggl import StabilisedStep
from livens_systems import systems

from liestep import simulate
from liestep.compile.status import Status
from liestep.compile.tracing import plain_component
from liestep.geometry.quaternion import plus
from liestep.integrators.livens import FullStep, NullSpaceStep, ReducedStep, VariationalStep, balance, move, new_work
from liestep.integrators.quaternion_hamiltonian import KINDS, HamiltonianStep
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import start_of

_loaded = systems("eml_ggl", "jointed_bars", "mass_spring", "spring_pendulum")
BODY, TOP, LOOP = ("free_rigid_body", "livens2025"), ("heavy_top", "asymmetric"), ("rigid_loop", "livens2025")
SPRING, MASSES = ("spring_pendulum", "spatial"), ("mass_spring", "printed")
H, T = 0.05, 0.2
RULES = (0, 1, 2)  # midpoint, equivariant, Gonzalez


def prepared(problem, formulation="constrained_lagrangian", **options):
    """(component, rows and solution moved off the manifold at random, generator)."""
    system, found = plain_problem(*problem, formulation, **options)
    random = np.random.default_rng(6)
    y = found.start + 0.1*random.normal(size=found.start.shape)
    return system, y, random


def as_plain(component):
    return plain_component(component, PLAIN, np.float64)


def agree(matrix, expected):
    assert np.abs(matrix - expected).max() <= 1e-8*np.abs(expected).max()


@pytest.mark.parametrize(("problem", "options", "rule"), [
    *((problem, options, rule) for rule in RULES for problem, options in (
        (BODY, {}), (BODY, {"coordinates": "directors"}), (TOP, {}), (SPRING, {}), (MASSES, {}))),
    (LOOP, {}, 1), (LOOP, {"coordinates": "directors"}, 0)])
def test_matrix_of_the_reduced_step(problem, options, rule):
    """n + m unknowns, (103): v_1 = 2 d/h - v_0 is eliminated."""
    system, y, random = prepared(problem, **options)
    n, m = system.size(), system.bonds()
    work = as_plain(new_work(system, y, n + m))

    def residual(x):
        work.d[:], work.multipliers[:] = x[:n], x[n:]
        move.py_func(system, y[0], work)
        work.reduced(system, rule, T, H, y)
        return work.r.copy()

    x = 0.1*random.normal(size=n + m)
    expected = slope(residual, x)
    residual(x)
    agree(work.a, expected)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("problem", [BODY, TOP, SPRING, MASSES])
def test_matrix_of_the_full_step(problem, rule):
    """3 n + m unknowns d, v_1, p_1, multipliers, (86)."""
    system, y, random = prepared(problem)
    n, m = system.size(), system.bonds()
    step = as_plain(FullStep(rule, False, 1e-15, 40))
    work = as_plain(step.workspace(system, y))

    def residual(x):
        work.d[:], work.v1[:], work.p1[:], work.multipliers[:] = np.split(x, [n, 2*n, 3*n])
        move.py_func(system, y[0], work)
        step.residual(system, T, H, y, work)
        return work.r.copy()

    x = 0.1*random.normal(size=3*n + m)
    expected = slope(residual, x)
    residual(x)
    agree(work.a, expected)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("problem", [BODY, TOP])
def test_matrix_of_the_null_space_step(problem, rule):
    """Three unknowns, a rotation vector (remark 4.11)."""
    system, y, random = prepared(problem)
    step = as_plain(NullSpaceStep(rule, False, 1e-15, 40))
    common, r, a = (as_plain(part) for part in step.workspace(system, y))
    q0 = tuple(y[0])

    def residual(z):
        half = 0.5*np.linalg.norm(z)
        common.d[:] = (np.cos(half) - 1.0)*y[0] + 0.5*np.sin(half)/half*plus(z) @ y[0]
        move.py_func(system, y[0], common)
        balance.py_func(system, rule, T, H, y, common, 4)
        step.project(q0, tuple(z), common, r, a)
        return r.copy()

    z = 0.3*random.normal(size=3)
    expected = slope(residual, z)
    residual(z)
    agree(a, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("problem", [LOOP, TOP])
def test_matrix_of_the_hamiltonian_steps(problem, kind):
    """2 n + m unknowns d, p_1, multipliers: emh, and mph with its variants."""
    system, y, random = prepared(problem, "quaternion_hamiltonian")
    n, m = system.size(), system.bonds()
    work = as_plain(new_work(system, y, 2*n + m))

    def residual(x):
        work.d[:], work.p1[:], work.multipliers[:] = np.split(x, [n, 2*n])
        move.py_func(system, y[0], work)
        work.flow(system, KINDS[kind], 0.7, T, H, y)
        return work.r.copy()

    x = 0.1*random.normal(size=2*n + m)
    expected = slope(residual, x)
    residual(x)
    agree(work.a, expected)


STEPS = {"eml": ReducedStep(1, False, False, 1e-15, 40), "eml_p": ReducedStep(1, True, False, 1e-15, 40),
         "mpl": ReducedStep(0, False, False, 1e-15, 40), "full": FullStep(1, False, 1e-15, 40),
         "null_space": NullSpaceStep(1, False, 1e-15, 40), "eml_ggl": StabilisedStep(1, False, 1e-15, 40),
         "vi_livens": VariationalStep(1e-15, 40),
         **{kind: HamiltonianStep(number, 1.0, False, 1e-15, 40) for kind, number in KINDS.items()}}


@pytest.mark.parametrize("name", STEPS)
def test_minus_q_is_the_same_run(name):
    """Rows q, v, p of the other sign give those of the other sign, bit by bit, and the same multipliers."""
    formulation = "quaternion_hamiltonian" if name in KINDS else "constrained_lagrangian"
    system, found = plain_problem(*TOP, formulation)
    step = as_plain(STEPS[name])
    ends = []
    for sign in (1.0, -1.0):
        y = found.start.copy()
        y[:3] *= sign
        work = step.workspace(system, y)
        work = as_plain(work) if hasattr(work, "_fields") else tuple(as_plain(part) for part in work)
        for k in range(5):
            assert step.step(system, 0.01*k, y, 0.01, work) == Status.OK
        y[:3] *= sign
        ends.append(y)
    assert np.array_equal(*ends)
    assert np.abs(ends[0][0] - found.start[0]).max() >= 1e-2


@pytest.mark.slow
@pytest.mark.parametrize(("system", "preset"), [TOP, LOOP, SPRING, ("sphere_nbody", "four_bodies")])
def test_formulations_agree_along_the_motion(system, preset):
    """Fields that methods share, energy and momentum map of a state in every formulation and in all coordinates; steps
    so short that the attitudes of rk4 are orthogonal."""
    data, facts = simulate(system, "rk4", preset=preset, steps=8000, t_end=1.0, samples=3), sheet(system)
    names = list(start_of(system, preset=preset).initial)
    forms = [(name, coordinates) for name in facts.forms for coordinates in (
        facts.forms[name].options["coordinates"].choices if "coordinates" in facts.forms[name].options else [""])]
    assert sum(bool(coordinates) for _, coordinates in forms) >= 2
    for k in range(3):
        initial = {name: data[name].values[k] for name in names}
        parameters = start_of(system, preset=preset).parameters
        found = {}
        for name, coordinates in forms:
            made = formulate(facts, parameters, initial, name, {"coordinates": coordinates} if coordinates else {})
            out = np.zeros(made.width)
            plain_component(made.problem, PLAIN, np.float64).observe(made.start, out)
            own = made.to_fields(made.start[None])
            values = {part.name: own[part.name][0] for part in made.fields if part.norm != "derived"}
            found[name, coordinates] = values | {part.name: out[part.columns] for part in made.observables
                                                 if part.name in ("energy", "momentum_map")}
        first = found.pop(("vector_field", ""))
        for values in found.values():
            for name, value in values.items():
                assert np.abs(value - first[name]).max() <= 1e-12*max(1.0, np.abs(first[name]).max()), name
