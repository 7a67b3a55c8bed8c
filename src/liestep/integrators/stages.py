"""Sums of stages, the one thing that all explicit methods on a Lie algebra share."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import axpy, put, row, scale


@kernel
def combine(weights: np.ndarray, h: float, k: np.ndarray, count: int, out: np.ndarray) -> None:
    """out = h (weights_0 k_0 + ... ) over the first `count` >= 1 of k (s, d, 3)."""
    for i in range(out.shape[0]):
        total = scale(h*weights[0], row(k[0], i))
        for r in range(1, count):
            if weights[r] != 0.0:
                total = axpy(h*weights[r], row(k[r], i), total)
        put(out, i, total)
