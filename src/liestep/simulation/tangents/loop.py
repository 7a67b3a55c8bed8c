"""The time loop of complex states, compiled once for each pair like those of `liestep.compile.driver`."""
from typing import Any

import numpy as np

import liestep.simulation.tangents.numbers  # noqa: F401  teaches the compiler complex numbers
from liestep.compile.status import Status


def advance_tangent(integrator: Any, problem: Any, y: np.ndarray, h: float, first: int, last: int, work: Any) -> Status:
    """Fixed steps from number `first` to `last`; y (m, d) complex is advanced in place. Step 0 is the start."""
    for point in range(first + 1 if first > 0 else 0, last + 1):
        status = Status.OK
        if point > 0:
            status = integrator.step(problem, (point - 1)*h, y, h, work)
        else:
            status = integrator.start(problem, 0.0, y, h, work)
        if status != Status.OK:
            return status
    return Status.OK
