"""What all one-step methods share that remember nothing of the last step."""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import axpy, put, row, scale
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulations import Component


class OneStep:
    """Methods of such components."""

    def start(self, problem: Component, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK


@kernel
def combine(weights: np.ndarray, h: float, k: np.ndarray, count: int, out: np.ndarray) -> None:
    """out = h (weights_0 k_0 + ... ) over the first `count` >= 1 of k (s, d, 3)."""
    for i in range(out.shape[0]):
        total = scale(h*weights[0], row(k[0], i))
        for r in range(1, count):
            if weights[r] != 0.0:
                total = axpy(h*weights[r], row(k[r], i), total)
        put(out, i, total)
