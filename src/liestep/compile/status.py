"""Outcome of a step or a run: a small integer in compiled code, one sentence with the remedy for people."""
from enum import IntEnum


class Status(IntEnum):
    """Returned by every step; `OK` is zero, `RUNNING` means that the driver can be called again to go on."""

    OK = 0
    RUNNING = 1
    STEP_TOO_LARGE = 2
    NOT_CONVERGED = 3
    SINGULAR_MATRIX = 4
    NOT_FINITE = 5
    CHART_LIMIT = 6
    STEP_TOO_SMALL = 7
    NOT_EVALUABLE = 8
    NOT_COMPILED = 9
    RADIUS_NOT_POSITIVE = 10
    POLE_REACHED = 11
    TURN_TOO_LARGE = 12
    RANK_LOST = 13

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.OK: "completed",
    Status.RUNNING: "still running",
    Status.STEP_TOO_LARGE: "the explicit variational step would rotate a body by 90 degrees or more: take a smaller"
    " step, or an integrator without this limit",
    Status.NOT_CONVERGED: "the nonlinear equations of an implicit step were not solved: take a smaller step,"
    " another solver or another start",
    Status.SINGULAR_MATRIX: "a matrix of the step is not positive definite or singular: take a smaller step, or"
    " start elsewhere",
    Status.NOT_FINITE: "the state is no longer finite: take a smaller step or a more stable integrator",
    Status.CHART_LIMIT: "a rotation reached the limit of its chart: take a smaller step, or a method without a chart",
    Status.STEP_TOO_SMALL: "step size control asked for a step below round-off: loosen the tolerance, or stop before"
    " the singularity",
    Status.NOT_EVALUABLE: "the right-hand side cannot be evaluated at this state: take a smaller step or another start",
    Status.RADIUS_NOT_POSITIVE: "the coordinate r of spherical coordinates is no longer positive: take a smaller step,"
    " another start or Cartesian coordinates",
    Status.POLE_REACHED: "the coordinate theta of spherical coordinates reached a pole, 0 or pi: take another start or"
    " Cartesian coordinates",
    Status.TURN_TOO_LARGE: "the discrete free motion of a body over a step was not found: take a smaller step, or"
    " exact_split, which has no such limit",
    Status.RANK_LOST: "joints lose rank here, where a mechanism can branch or lock (a pivot of their matrix fell below"
    " 1e-7 of its diagonal): stop before this position, change a length, leave out a joint, or take an index-3 method",
    Status.NOT_COMPILED: "the code of a plugin cannot be compiled: `liestep check-system` shows where",
}


class IntegrationError(RuntimeError):
    """A run ended before t_end; `status` says why and `time` where."""

    def __init__(self, status: Status, time: float, context: str = ""):
        self.status, self.time = status, time
        super().__init__(f"{context}stopped after t = {time:.6g}: {status.sentence}")
