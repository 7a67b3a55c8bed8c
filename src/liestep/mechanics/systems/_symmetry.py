"""Which rotations leave a set of fixed vectors unchanged."""
from collections.abc import Iterable

import numpy as np


def invariant_axes(vectors: Iterable) -> tuple[bool, bool, bool]:
    """For each coordinate axis: do rotations about it leave every vector unchanged, that is, is
    each one zero or along it?

    Compared exactly: a gravity of 1e-17 across an axis breaks the symmetry.
    """
    rows = np.array(list(vectors), dtype=np.float64).reshape(-1, 3)
    across = [bool(np.any(rows[:, [i for i in range(3) if i != k]] != 0.0)) for k in range(3)]
    return not across[0], not across[1], not across[2]
