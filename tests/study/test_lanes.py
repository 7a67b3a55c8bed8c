"""Ensembles of `taylor` in lockstep: all numbers of a single run, for any number of lanes and threads."""
import numpy as np
import pytest

from liestep import simulate
from liestep.compile.status import Status
from liestep.lockstep import lanes
from liestep.simulation.runs.execution import Outcome, ensemble_states, run_once
from liestep.simulation.runs.shards import reductions
from liestep.simulation.runs.specification import specify

# system, preset, tolerance, end; orders 15 and 12; the last has an integral over time
CASES = (("spherical_pendulum_chain", "orders", 1e-12, 1.0), ("heavy_top", "asymmetric", 1e-9, 2.0),
         ("heavy_top", "rodrigues2021", 1e-8, 10.0))


def ensemble(system, preset, tolerance, t_end, members=11, samples=6, **more):
    return specify(system, "taylor", preset=preset, tolerance=tolerance, t_end=t_end, samples=samples,
                   ensemble={"members": members, "amplitude": 0.05, "seed": 3}, **more)


def in_lanes(spec, states=None, **choices):
    return [run() for run in lanes.outcomes(spec, states or ensemble_states(spec), **choices)]


def differences(one: Outcome, other: Outcome):
    """Names of what is not the same to the last bit."""
    names = ("status", "time_reached", "steps", "counters")
    found = [name for name in names if getattr(one, name) != getattr(other, name)]
    for mine, theirs in ((one.outputs, other.outputs), (one.accepted, other.accepted)):
        found += [name for name, value in mine._asdict().items() if name not in ("scratch", "integrals")
                  and not np.array_equal(value, getattr(theirs, name), equal_nan=isinstance(value, np.ndarray))]
        found += [] if np.array_equal(mine.integrals.last, theirs.integrals.last) else ["integrals"]
    return found


@pytest.fixture
def no_single_runs(monkeypatch):
    """Lanes fail where they call for a single run."""
    def single(*given):
        raise AssertionError("a member has no lane")

    monkeypatch.setattr(lanes, "run_once", single)


@pytest.mark.parametrize("samples", [2, 6, 301])  # none within a step, some, several
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1])
def test_members_have_the_bits_of_single_runs(case, samples, no_single_runs):
    spec = ensemble(*case, samples=samples)
    found = in_lanes(spec)
    assert len({outcome.steps for outcome in found}) > 1  # each lane has its own steps
    assert all(outcome.steps > 5 for outcome in found)
    for state, outcome in zip(ensemble_states(spec), found, strict=True):
        assert differences(run_once(spec, state), outcome) == []


@pytest.mark.parametrize("factor", [1e150, 1e200])  # too fast for a step, for an energy
def test_a_member_that_fails_ends_alone(factor, no_single_runs):
    spec = ensemble(*CASES[0][:3], 1.0, members=9)
    states = ensemble_states(spec)
    states[4] = {**states[4], "omega": factor*states[4]["omega"]}
    found = in_lanes(spec, states)
    assert [outcome.status == Status.OK for outcome in found] == [True]*4 + [False] + [True]*4
    assert differences(run_once(spec, states[4]), found[4]) == []


def test_a_member_whose_equations_have_other_numbers_runs_alone(monkeypatch):
    """The constants of a system are in the table that all lanes share."""
    spec, known, alone = ensemble(*CASES[0], members=5), [], []

    def digest(problem):
        known.append(problem)   # of the specification, then of each member
        return "other" if len(known) == 4 else lanes_digest(problem)

    def single(spec, state):
        alone.append(state)
        return run_once(spec, state)

    lanes_digest = lanes.digest_of
    monkeypatch.setattr(lanes, "digest_of", digest)
    monkeypatch.setattr(lanes, "run_once", single)
    found, states = in_lanes(spec), ensemble_states(spec)
    assert len(alone) == 1
    assert np.array_equal(alone[0]["omega"], states[2]["omega"])
    assert [differences(run_once(spec, state), one) for state, one in zip(states, found, strict=True)] == [[]]*5


def test_data_sets_of_ensembles_come_from_lanes(monkeypatch):
    case = {"preset": "orders", "tolerance": 1e-8, "t_end": 0.5, "samples": 3,
            "ensemble": {"members": 5, "amplitude": 1e-3, "seed": 1}}
    found = simulate("spherical_pendulum_chain", "taylor", **case)
    monkeypatch.setattr(lanes, "_code", lambda *given: None)
    single = simulate("spherical_pendulum_chain", "taylor", **case)
    assert found.identical(single)
    spec = specify("spherical_pendulum_chain", "taylor", **case, reduced=True)
    names = [name for name, *_ in reductions(in_lanes(spec)[0], spec.t_end)]
    assert "q_end" in names


def test_ensembles_of_taylor_alone_are_made_again_when_lanes_change():
    case = {"preset": "orders", "t_end": 0.5, "tolerance": 1e-8}
    plain = specify("spherical_pendulum_chain", "taylor", **case)
    several = specify("spherical_pendulum_chain", "taylor", **case,
                      ensemble={"members": 2, "amplitude": 1e-3, "seed": 0})
    assert plain.source_hash != several.source_hash
    others = [specify("spherical_pendulum_chain", "ode45", **case, **more) for more in (
        {}, {"ensemble": {"members": 2, "amplitude": 1e-3, "seed": 0}})]
    assert others[0].source_hash == others[1].source_hash


def test_forms_whose_code_is_not_traced_run_one_after_the_other():
    spec = ensemble("spherical_pendulum_chain", "orders", 1e-6, 0.1, members=2)
    assert lanes._code(spec, spec.initial, 8) is not None
    fixed = specify("spherical_pendulum_chain", "rkmk", preset="orders", steps=4, t_end=0.1,
                    ensemble={"members": 2, "amplitude": 1e-3, "seed": 0})
    assert lanes._code(fixed, fixed.initial, 8) is None
