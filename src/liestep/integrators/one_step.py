"""What all one-step methods share that remember nothing of the last step."""
from typing import Any

import numpy as np

from liestep.compile.status import Status
from liestep.mechanics.contracts.formulations import Component


class OneStep:
    """Methods of such components."""

    def start(self, problem: Component, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK
