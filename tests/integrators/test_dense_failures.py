"""Dense output of pairs of order 8 asks for stages that the step does not: one that cannot be evaluated leaves no
state, which the recorder's status ends the run with."""
import numpy as np
import pytest

from liestep.compile import rows
from liestep.compile.status import Status
from liestep.compile.tracing import Functions, plain_component
from liestep.simulation.runs.execution import build, new_recorder
from liestep.simulation.runs.specification import specify

PLAIN = Functions(rows.sqrt.py_func, rows.sin.py_func, rows.cos.py_func, below=rows.below.py_func,
                  atan2=rows.atan2.py_func)
STEP = 0.125
FURTHER = (0.1, 0.2, 7/9)  # nodes 14 to 16 of DOP853: Hairer, Norsett and Wanner 1993, II.10


class FailsAt:
    """A problem whose equations have no value at one time."""

    def __init__(self, problem, time):
        self.problem, self.time = problem, time

    def __getattr__(self, name):
        return getattr(self.problem, name)

    def rhs(self, t, y, out):
        return self.problem.rhs(t, y, out) and not abs(t - self.time) < 1e-9

    def algebra(self, t, y, out):
        return self.problem.algebra(t, y, out) and not abs(t - self.time) < 1e-9


def half_way(name, time):
    """Status of the step, state in its middle, and what the recorder says of it."""
    formulated, pair = build(specify("free_rigid_body", name, preset="asymmetric", tolerance=1e-8, t_end=1.0))
    pair = plain_component(pair, PLAIN, np.float64)
    problem = FailsAt(plain_component(formulated.problem, PLAIN, np.float64), time)
    y = formulated.start.copy()
    work, out = pair.workspace(formulated.problem, y), np.zeros_like(y)
    pair.start(problem, 0.0, y, 1.0, work)
    status, _ = pair.attempt(problem, 0.0, y, STEP, work)
    pair.interpolate(problem, 0.0, y, STEP, 0.5, out, work)
    recorder = new_recorder(y.shape, np.zeros(formulated.width), 1, 1, observables=formulated.observables)
    return status, out, recorder.record(problem, out, 0, 0.0)


@pytest.mark.parametrize("name", ["dop853", "rkmk853"])
@pytest.mark.parametrize("node", FURTHER)
def test_a_further_stage_without_value_ends_the_run(name, node):
    with np.errstate(invalid="ignore"):
        status, out, recorded = half_way(name, node*STEP)
    assert status == Status.OK  # the step itself does not ask for it
    assert np.isnan(out).all()
    assert recorded == Status.NOT_FINITE


@pytest.mark.parametrize("name", ["dop853", "rkmk853"])
def test_dense_output_is_a_state_where_all_stages_are(name):
    status, out, recorded = half_way(name, 0.5*STEP)
    assert (status, recorded) == (Status.OK, Status.OK)
    assert np.isfinite(out).all()
