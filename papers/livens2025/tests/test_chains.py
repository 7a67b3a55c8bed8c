"""Open chains: elimination of one body after the other against the whole system of equations, and long chains."""
import numpy as np
import pytest
from constrained_cases import PLAIN, plain_problem
from liestep_papers.livens2025.studies.jointed_bars import bars
from livens_systems import systems

from liestep import simulate
from liestep.compile.tracing import plain_component
from liestep.integrators._linked_bodies import FAINT, felt, linked_work
from liestep.integrators.livens import is_chain, move, new_work

_loaded = systems("jointed_bars")
H = 0.03
CASES = {"quaternion": ("constrained_lagrangian", {"coordinates": "quaternion"}),
         "directors": ("constrained_lagrangian", {"coordinates": "directors"}),
         "hamilton": ("quaternion_hamiltonian", {})}


def works(case):
    """(component, state, workspaces: whole and in blocks) at a random state off the manifold."""
    formulation, options = CASES[case]
    problem, found = plain_problem("rigid_chain", "four_bars", formulation, **options)
    random, parts = np.random.default_rng(4), 2 if case == "hamilton" else 1
    y = found.start + 0.2*random.normal(size=found.start.shape)
    n, m = problem.size(), problem.bonds()
    both = [plain_component(made, PLAIN, np.float64)
            for made in (new_work(problem, y, parts*n + m), linked_work(problem, y, parts))]
    d, p1, multipliers = (random.normal(size=size) for size in (n, n, m))
    for work in both:
        work.d[:], work.p1[:], work.multipliers[:] = 0.1*d, p1, multipliers
        move.py_func(problem, y[0], work)
    return problem, y, both


@pytest.mark.parametrize("rule", [0, 1, 2, 3])
@pytest.mark.parametrize("case", CASES)
def test_blocks_solve_the_whole_system(case, rule):
    problem, y, both = works(case)
    assert is_chain(problem)
    found = []
    for work in both:
        residual = (work.flow(problem, rule, 0.7, 0.2, H, y) if case == "hamilton"
                    else work.reduced(problem, rule, 0.2, H, y))
        assert work.solve(problem, len(work.r))
        found.append((residual, work.r.copy()))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-12)
    assert np.abs(found[1][1] - found[0][1]).max() <= 1e-10*np.abs(found[0][1]).max()


def test_memory_grows_with_the_number_of_bodies():
    sizes = []
    for n in (4, 16):
        problem, found = plain_problem("rigid_chain", "four_bars", parameters=bars(n))
        sizes.append(sum(part.size for part in linked_work(problem, found.start, 1)))
    assert sizes[1] <= 4.0*sizes[0]


def test_faint_corrections_of_far_bodies_are_zero():
    """What the first two bars do reaches the last of 200 as numbers whose products are denormal."""
    problem, found = plain_problem("rigid_chain", "four_bars", parameters=bars(200))
    work = plain_component(linked_work(problem, found.start, 1), PLAIN, np.float64)
    problem.guess(H, found.start[0], found.start[1], work.d)
    move.py_func(problem, found.start[0], work)
    work.reduced(problem, 1, 0.0, H, found.start)
    assert work.solve(problem, len(work.r))
    sizes = np.abs(work.r)
    assert sizes[sizes > 0.0].min() >= FAINT
    assert sizes[sizes > 0.0].min() < 1e3*FAINT, "the corrections reach down to the bound"
    assert np.isnan(felt.py_func(np.nan))


@pytest.mark.parametrize(("system", "preset"), [("rigid_loop", "livens2025"), ("free_rigid_body", "livens2025")])
def test_loops_and_single_bodies_are_no_chains(system, preset):
    for options in ({}, {"coordinates": "directors"}):
        assert not is_chain(plain_problem(system, preset, **options)[0])


@pytest.mark.parametrize("method", ["eml", "emh"])
def test_a_long_chain_keeps_its_energy(method):
    """256 bars: their potential energy is of the size 3e5 J."""
    data = simulate("rigid_chain", method, parameters=bars(256), steps=20, t_end=0.02, samples=2)
    name = "generalized_energy" if method == "eml" else "energy"
    size = abs(float(data[name].values[0]))
    assert data.attrs[f"{name}_error_max"] <= 1e-9*max(1.0, size/1e3)
    assert data.attrs["constraint_error_max"] <= 1e-12


def test_the_first_bodies_of_a_chain_are_those_of_the_whole_solver():
    """The solver for all unknowns does without blocks."""
    runs = [simulate("rigid_chain", "eml", steps=20, t_end=0.2, samples=2, options={"solver": solver})
            for solver in ("reduced", "full")]
    for name in ("position", "quaternion", "multiplier"):
        gap = np.abs(runs[1][name].values[-1] - runs[0][name].values[-1]).max()
        assert gap <= 1e-10*max(1.0, np.abs(runs[0][name].values[-1]).max())
