"""L3 for `taylor` with jets by loops over a tape: coefficients beside straight-line code on systems of every family,
and whole runs of what is too large for it."""
import mpmath
import numpy as np
import pytest
from ensembles import ensemble_states
from test_taylor import CASES, formulated

from liestep import simulate
from liestep.compile.cache import loop_for
from liestep.compile.separate import new_addresses
from liestep.compile.straight.jets import Numbers, taylor_coefficients
from liestep.compile.straight.tape import tape_of
from liestep.errors import InputError
from liestep.integrators import taylor
from liestep.integrators.taylor import LoopedJet, field_expressions, jet_of
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.members import members
from liestep.simulation.runs.specification import specify, start_of
from liestep.tools.inspect import describe

ORDER, TIME = 13, 0.25
EXACT = Numbers({"sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos, "atan2": mpmath.atan2})


def evaluate(jet, t, y, out):
    return jet.evaluate(t, y, out)


def coefficients(jet, y):
    out = np.zeros((ORDER + 1)*y.size + 4)
    assert loop_for(evaluate, jet)(jet, TIME, y, out)
    return out[:-4].reshape(ORDER + 1, y.size)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case[0], *case[3].values()]))
def test_coefficients_are_as_accurate_as_those_of_straight_line_code(case):
    form = formulated(case)
    found, y = field_expressions(form.problem, form.start.shape), form.start
    with mpmath.workdps(50):
        lines = taylor_coefficients(found, [mpmath.mpf(x) for x in (*y.flat, TIME)], ORDER, EXACT)
        exact = np.array([[float(x) for x in line] for line in lines])
    errors = [(np.abs(coefficients(jet, y) - exact).max(axis=1)/np.abs(exact).max(axis=1)).max()
              for jet in (LoopedJet(tape_of(found, ORDER), new_addresses(LoopedJet), np.zeros(y.size, dtype=np.int64)),
                          jet_of(form.problem, y, ORDER))]
    assert errors[0] <= max(1e-14, errors[1])


def defect(run):
    """Largest distance from the manifold."""
    q, v = run["q"].values, run["omega"].values
    return max(np.abs(1.0 - np.sum(q*q, axis=-1)).max(), np.abs(np.sum(q*v, axis=-1)).max()/np.abs(v).max())


def gap(run, exact):
    return max(np.abs(run[name] - exact[name]).max()/max(1.0, np.abs(exact[name]).max()) for name in ("q", "omega"))


@pytest.mark.slow
@pytest.mark.parametrize(("system", "start", "options", "t_end"), [
    ("spherical_pendulum_chain", {"preset": "total5_100"}, {}, 0.1),
    ("elastic_rod", {"parameters": {"elements": 14}}, {"mass": "multipliers"}, 0.004)])
def test_large_systems_follow_their_motion_between_steps(system, start, options, t_end):
    assert isinstance(jet(system, start), LoopedJet)
    exact = simulate(system, "dop853", tolerance=1e-13, t_end=t_end, samples=5, options=options, **start)
    run = simulate(system, "taylor", tolerance=1e-13, t_end=t_end, samples=41, **start)
    assert run.attrs["steps_accepted"] < 40  # most samples are dense output
    assert gap(run.isel(time=slice(None, None, 10)), exact) <= 1e-11
    assert defect(run) <= 1e-14
    loose = simulate(system, "taylor", tolerance=1e-5, t_end=t_end, samples=5, **start)
    assert 1e-12 < gap(loose, exact) < 1e-4
    assert defect(loose) <= 1e-14


def jet(system, start):
    spec = specify(system, "taylor", tolerance=1e-13, t_end=0.1, samples=2, **start)
    form, pair = build(spec)
    return pair.workspace(form.problem, form.start).jet


@pytest.mark.slow
def test_events_and_members_of_large_systems():
    """A member of an ensemble has the bits of a run of its own."""
    chain = {"preset": "total5_100", "tolerance": 1e-9}
    height = float(start_of("spherical_pendulum_chain", preset="total5_100").initial["q"][0, 2])
    ends = [simulate("spherical_pendulum_chain", method, t_end=0.5, samples=3, until=("q", (0, 2), height - 0.01),
                     **chain).attrs["event_time"] for method in ("taylor", "dop853")]
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
    assert 0.0 < ends[0] < 0.5
    spec = specify("spherical_pendulum_chain", "taylor", t_end=0.01, samples=3,
                   ensemble={"members": 2, "amplitude": 1e-3, "seed": 1}, **chain)
    states = ensemble_states(spec)
    ends = [made for numbers, run in members(spec) for made in run().outputs.states[:len(numbers)]]
    for state, made in zip(states, ends, strict=True):
        assert np.array_equal(made, run_once(spec, state).outputs.states)


def test_runs_by_loops_are_those_by_straight_line_code(monkeypatch):
    runs = {}
    for most in (taylor.MOST_NODES, 0):
        monkeypatch.setattr(taylor, "MOST_NODES", most)
        runs[most] = simulate("sphere_nbody", "taylor", preset="paper", tolerance=1e-11, t_end=1.0, samples=9)
    straight, loops = runs.values()
    assert 0.0 < gap(loops, straight) <= 1e-12
    assert loops.attrs["steps_accepted"] == straight.attrs["steps_accepted"]
    monkeypatch.setattr(describe, "MOST_NODES", 0)
    assert "Taylor series: loops over a tape, 243 operations" in " ".join(describe.describe("sphere_nbody").split())


@pytest.mark.slow
def test_what_is_larger_than_the_limit_is_refused():
    with pytest.raises(InputError, match=r"^taylor.*takes more than 200000 operations; take another form, or dop853"):
        specify("elastic_rod", "taylor", tolerance=1e-6, t_end=0.1, samples=2, parameters={"elements": 90})
