"""Colours between two colours."""
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb


def mix(colour: Any, other: Any, share: float) -> tuple[float, float, float]:
    """Colour moved towards another one by a share in [0, 1]."""
    return tuple((1.0 - share)*np.array(to_rgb(colour)) + share*np.array(to_rgb(other)))
