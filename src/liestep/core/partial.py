"""One step of any length from a node of a run: dense output and events by the method itself. A file of its own: an edit
puts no run out of date."""
from typing import Any

import numpy as np

from liestep.core.status import Status


def partial_step(integrator: Any, problem: Any, t: float, y: np.ndarray, h: float, work: Any,
                 values: np.ndarray) -> Status:
    """Advance the state y (m, d) at time t by h in place, h = 0 for not at all, and write its observables."""
    if h > 0.0:
        status = integrator.start(problem, t, y, h, work)
        if status == Status.OK:
            status = integrator.step(problem, t, y, h, work)
        if status != Status.OK:
            return status
    problem.observe(y, values)
    return Status.OK
