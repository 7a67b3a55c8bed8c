"""States of a run at any time, and pictures at several times side by side."""
import json
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from liestep.mechanics.contracts.sheet import Parameters
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.files import RunFile

Place = tuple[float, float, float, float]  # left, bottom, width, height in figure fractions


def parameters(file: RunFile) -> Parameters:
    """Checked parameters of a run's system."""
    specification = json.loads(file.attributes["specification"])
    return sheet(specification["problem"]).check(specification["parameters"])


def directions(file: RunFile, times: ArrayLike) -> np.ndarray:
    """q at any times (k, n, 3): cubic Hermite interpolation of the samples with dq/dt = omega x q, normalised."""
    t, q, rate = file["time"], file["q"], np.cross(file["omega"], file["q"])
    times = np.atleast_1d(times)
    left = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    h = t[left + 1] - t[left]
    s = ((times - t[left])/h)[:, None, None]
    h = h[:, None, None]
    value = ((1.0 + 2.0*s)*(1.0 - s)**2*q[left] + s*(1.0 - s)**2*h*rate[left]
             + s*s*(3.0 - 2.0*s)*q[left + 1] + s*s*(s - 1.0)*h*rate[left + 1])
    return value/np.linalg.norm(value, axis=-1, keepdims=True)


def snapshots(figure: Figure, place: Place, times: Sequence[float], columns: int = 2) -> list[Axes]:
    """Axes for a grid of small pictures, each with its time above it."""
    left, bottom, width, height = place
    rows = -(-len(times)//columns)
    found = []
    for k, time in enumerate(times):
        row, column = divmod(k, columns)
        axes = figure.add_axes((left + column*width/columns, bottom + (rows - 1 - row)*height/rows, width/columns,
                                0.93*height/rows))
        axes.text(0.03, 1.0, f"t = {time:g} s", transform=axes.transAxes, va="top", fontsize=7.0)
        found.append(axes)
    return found
