"""The time loop of runs that go on from another (`data.liestep.go_on`), at the times of the run without a break. A file
of its own: an edit puts no other run out of date."""
from typing import Any

import numpy as np

from liestep.compile.status import Status


def advance_further(integrator: Any, problem: Any, recorder: Any, y: np.ndarray, h: float, first: int, last: int,
                    work: Any, t_start: float, gone: int) -> tuple[Status, int]:
    """As `liestep.compile.driver.advance`, at the times t_start + (gone + k) h."""
    for point in range(first + 1 if first > 0 else 0, last + 1):
        status, k = Status.OK, gone + point
        if point > 0:
            status = integrator.step(problem, t_start + (k - 1)*h, y, h, work)
        else:
            status = integrator.start(problem, t_start + k*h, y, h, work)
        if status == Status.OK:
            status = recorder.record(problem, y, point, point*h)
        if status != Status.OK:
            return status, max(point - 1, 0)
    return Status.OK, last
