"""The phases of a step of lanes (`lockstep.loop`): which steps are plain, and what becomes of the others."""
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from liestep.compile.counters import new_counters
from liestep.compile.rows import stage_columns
from liestep.compile.status import Status
from liestep.compile.straight.straight import loaded
from liestep.lockstep import lanes
from liestep.lockstep.loop import sort
from liestep.simulation.machine_code.traced import Trace, field_methods
from liestep.simulation.runs import execution
from liestep.simulation.runs.execution import build, ensemble_states, run_once
from tests.study.test_lanes import CASES, differences, ensemble, in_lanes


@pytest.fixture
def waiting():
    """Eight lanes under way whose next steps are plain, and the end."""
    spec = ensemble(*CASES[0])
    formulated, pair = build(spec, dict(spec.initial))
    found = lanes.LaneCode(spec, formulated, pair, 8).arrays([])[4]
    found.begun[:], found.ready[:], found.table[:8], found.following[:] = 1, 1, 0.5, 0.1
    return found, 1.0


@pytest.mark.parametrize(("name", "place", "value"), [
    ("begun", 3, 0), ("ready", 3, 0), ("following", 3, 0.5), ("following", 3, 1e-16), ("following", 3, np.nan),
    ("new", (-1, 3), np.inf), ("new", (-1, 3), np.nan), ("seen", (0, 3), np.nan), ("seen", (0, 3), -np.inf)])
def test_steps_that_may_fail_and_the_last_are_not_plain(name, place, value, waiting):
    found, t_end = waiting
    sort(found, t_end)
    assert found.plain.tolist() == [1]*8
    getattr(found, name)[place] = value
    sort(found, t_end)
    assert found.plain.tolist() == [1, 1, 1, 0, 1, 1, 1, 1]


def test_most_steps_are_made_by_all_lanes_at_once():
    """Only the start, the first and the last step of a trajectory and an output within another step ask for the
    observables of one lane: machine code counts how often."""
    spec = ensemble(*CASES[0], samples=3)
    formulated, pair = build(spec, dict(spec.initial))
    code = lanes.LaneCode(spec, formulated, pair, 4)
    *_, observe = field_methods(formulated.start.shape, formulated.width)
    one = Trace(formulated.problem).routines([observe], formulated.start)["observe"]
    counting = one.text.replace("ret i64 1", "%n = load i64, ptr %counters\n%m = add i64 %n, 1\n"
                                "store i64 %m, ptr %counters\nret i64 1")
    code.problem = code.problem._replace(
        observables=code.problem.observables._replace(address=loaded(counting).addresses["routine"]))
    found = code._lockstep([build(spec, state)[0] for state in ensemble_states(spec)])
    assert {outcome.counters["force_evaluations"] for outcome in found} == {3 + 1 + 1 + 2}
    assert all(outcome.steps > 10 for outcome in found)


class Growth(NamedTuple):
    """dx/dt = x^2 below a limit of x, beside its moment and an oscillator; the energy is infinite at a pole of x."""

    limit: float
    pole: float
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        if not y[0, 0] < self.limit:
            return False
        out[0, 0], out[0, 1], out[1, 0], out[1, 1] = y[0, 0]*y[0, 0], t*y[0, 0], y[1, 1], -y[1, 0]
        return True

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        stage_columns(weights, h, k, count, y, out)

    def project(self, y: np.ndarray) -> None:
        pass

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = y[1, 0] + 1.0/(y[0, 0] - self.pole)


class Drift(NamedTuple):
    """A constant velocity, whose series ends: steps go to the end unless the state is not finite there."""

    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        out[0, 0], out[0, 1], out[1, 0], out[1, 1] = y[1, 0], 0.0*y[0, 0], 0.0*y[0, 0], 0.0*y[0, 0]
        return True

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        stage_columns(weights, h, k, count, y, out)

    def project(self, y: np.ndarray) -> None:
        pass

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = y[1, 1]


def together(problem, starts, t_end=1.0):
    """Outcomes in lanes of a system of two rows of two numbers; they are those of single runs."""
    spec = ensemble("mass_spring", "printed", 1e-8, t_end, samples=21)
    formulated, pair = build(spec, dict(spec.initial))
    built = [replace(formulated, problem=problem._replace(counters=new_counters()), start=np.array(start))
             for start in starts]
    found = lanes.LaneCode(spec, built[0], pair, 4)._lockstep(built)
    for one, outcome in zip(built, found, strict=True):
        assert differences(execution._run_adaptive(spec, one, pair, None), outcome) == []
    return found


@pytest.mark.parametrize("limit", [170.0, 1e300])  # no coefficients beyond it; steps that become too small
def test_members_that_fail_under_way_end_alone(limit):
    starts = np.array([-1.0, 0.5, *np.linspace(1.2, 3.0, 12), 0.7])
    found = together(Growth(limit, -9.0, new_counters()), [[[x, 0.0], [1.0, 2.0]] for x in starts])
    assert [outcome.status == Status.OK for outcome in found] == (starts < 1.0).tolist()
    assert all(outcome.steps > 3 for outcome in found)


def test_an_output_that_fails_within_a_step_ends_its_member():
    starts = [[[x, 0.0], [1.0, 2.0]] for x in (0.5, 0.6, 0.7)]
    values = together(Growth(1e300, -9.0, new_counters()), starts)[1].outputs.states[:, 0, 0]
    found = together(Growth(1e300, float(values[13]), new_counters()), starts)
    assert [outcome.status for outcome in found] == [Status.OK, Status.NOT_FINITE, Status.OK]
    assert found[1].samples == 13


def test_a_step_that_is_rejected_is_made_again():
    found = together(Drift(new_counters()), [[[0.0, 0.0], [1e150, 1.0]], [[0.0, 0.0], [1.0, 1.0]]], 1e200)
    assert [outcome.status == Status.OK for outcome in found] == [False, True]
    assert found[0].steps > 1
    assert found[0].counters["steps_rejected"] > 1


@pytest.mark.parametrize("number", [2, 3, 4])
def test_outputs_at_the_end_of_a_step_are_the_state_there(number):
    """Once projected, not twice."""
    system, preset, tolerance, t_end = CASES[1]
    end = run_once(ensemble(system, preset, tolerance, t_end, log_steps=True)).step_log[number, 0]
    spec = ensemble(system, preset, tolerance, 4.0*end, samples=5, members=3)
    assert spec.t_end/(spec.outputs - 1) == end
    for state, outcome in zip(ensemble_states(spec), in_lanes(spec), strict=True):
        assert differences(run_once(spec, state), outcome) == []
