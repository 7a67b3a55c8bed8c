"""Outcome of a step or a run: a small integer in compiled code, one sentence with the remedy for people."""
from enum import IntEnum


class Status(IntEnum):
    """Returned by every step; `OK` is zero, `RUNNING` means that the driver can be called again to go on. Each has a
    `sentence` for people."""

    sentence: str

    def __new__(cls, number: int, sentence: str = "") -> "Status":
        made = int.__new__(cls, number)
        made._value_, made.sentence = number, sentence
        return made

    OK = 0, "completed"
    RUNNING = 1, "still running"
    STEP_TOO_LARGE = 2, ("the explicit variational step would rotate a body by 90 degrees or more: take a smaller"
                         " step, or an integrator without this limit")
    NOT_CONVERGED = 3, ("the nonlinear equations of an implicit step were not solved: take a smaller step, another"
                        " solver or another start")
    SINGULAR_MATRIX = 4, ("a matrix of the step is not positive definite or singular: take a smaller step, or start"
                          " elsewhere")
    NOT_FINITE = 5, "the state is no longer finite: take a smaller step or a more stable integrator"
    CHART_LIMIT = 6, "a rotation reached the limit of its chart: take a smaller step, or a method without a chart"
    STEP_TOO_SMALL = 7, ("step size control asked for a step below round-off: loosen the tolerance, or stop before"
                         " the singularity")
    NOT_EVALUABLE = 8, "the right-hand side cannot be evaluated at this state: take a smaller step or another start"
    NOT_COMPILED = 9, "the code of a plugin cannot be compiled: `liestep check-system` shows where"
    RADIUS_NOT_POSITIVE = 10, ("the coordinate r of spherical coordinates is no longer positive: take a smaller step,"
                               " another start or Cartesian coordinates")
    POLE_REACHED = 11, ("the coordinate theta of spherical coordinates reached a pole, 0 or pi: take another start or"
                        " Cartesian coordinates")
    TURN_TOO_LARGE = 12, ("the discrete free motion of a body over a step was not found: take a smaller step, or"
                          " exact_split, which has no such limit")
    RANK_LOST = 13, ("joints lose rank here, where a mechanism can branch or lock (a pivot of their matrix fell below"
                     " 1e-7 of its diagonal), or redundant ones have drifted apart: stop before this position, change a"
                     " length, leave out a joint, take options={'stabilisation': 'projection'} against drift,"
                     " 'soft_projection' to pass, or an index-3 method")

    SPRING_WOUND = 14, ("no step of a mechanism with a torsion spring was found: a run ends where the spring comes to"
                        " 3.1 rad from rest, because a state holds no turns to count; stop before, or, far from"
                        " there, take a smaller step")


class IntegrationError(RuntimeError):
    """A run ended before t_end; `status` says why and `time` where."""

    def __init__(self, status: Status, time: float, context: str = ""):
        self.status, self.time = status, time
        super().__init__(f"{context}stopped after t = {time:.6g}: {status.sentence}")
