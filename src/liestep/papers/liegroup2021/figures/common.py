"""What the figures of liegroup2021 share. They find runs by the keys of the study files in config/studies/liegroup2021.
Figures 2 and 3 are in the module top, 5 to 7, 9 and 11 in double_pendulum, 8 and 10 in chain, 13 to 18 in quadrotors;
figures 1, 4 and 12 of the paper are sketches."""
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from liestep.figures.marks import SOLID
from liestep.figures.scenes.space import mix
from liestep.simulation.runs.files import RunFile

COMPONENTS = ("#0077BB", "#EE7733", "#009988", "#882255", "#BB9900", "#777777")  # components of vectors
GUIDES = (1, 2, 3, 4)


def guides(axes: Axes, step: float, error: float, smallest: float) -> None:
    """Lines of slope 1 to 4 through a point, from it down to the smallest step."""
    for order in GUIDES:
        axes.plot([step, smallest], [error, error*(smallest/step)**order],
                  color=mix("black", "white", 0.35 + 0.1*order), linewidth=0.6, linestyle=SOLID, zorder=1.5)
        text = f"slope {order}" if order == GUIDES[0] else f"{order}"
        axes.annotate(text, (smallest, error*(smallest/step)**order), xytext=(-5.0, 0.0),
                      textcoords="offset points", ha="right", va="center", fontsize=6.5, color="0.4")


def staircase(axes: Axes, file: RunFile, **style: Any) -> None:
    """Accepted steps of an adaptive run against time: each step over its own interval."""
    end, step = file["accepted_time"], file["accepted_step"]
    axes.stairs(step, np.concatenate([[0.0], end]), baseline=None, **style)
