"""How figures look: one registry method id -> colour, marker, dash and label, sizes and fonts.

Colours keep their contrast for the common colour blindnesses; marker and dash say the same again. Fonts come with
matplotlib, so a figure does not depend on the fonts of a machine.
"""
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from liestep.scenes.colour import mix

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

MM = 1.0/25.4
SINGLE, DOUBLE = 90.0, 180.0  # widths in mm
DPI = 200                     # of the PNG

RC = {
    "font.family": "DejaVu Sans", "font.size": 7.0, "axes.titlesize": 8.0, "axes.labelsize": 7.5,
    "legend.fontsize": 7.0, "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "axes.linewidth": 0.6,
    "lines.linewidth": 1.0, "lines.markersize": 3.6, "lines.markeredgewidth": 0.8, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.minor.width": 0.4, "ytick.minor.width": 0.4, "xtick.direction": "in",
    "ytick.direction": "in", "xtick.top": True, "ytick.right": True, "axes.grid": True, "grid.linewidth": 0.4,
    "grid.color": "0.9", "axes.axisbelow": True, "legend.frameon": False, "legend.handlelength": 2.6,
    "legend.columnspacing": 1.4, "axes.titlelocation": "left", "axes.titlepad": 4.0, "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True, "pdf.fonttype": 42, "savefig.facecolor": "white", "svg.hashsalt": "liestep",
}
SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (4.0, 1.6)), (0, (1.0, 1.3)), (0, (5.0, 1.5, 1.0, 1.5))


@dataclass(frozen=True)
class Mark:
    """Colour, marker, dash and label of one method."""

    colour: str
    marker: str | tuple  # of matplotlib
    dash: str | tuple
    label: str

    @property
    def line(self) -> dict:
        return {"color": self.colour, "linestyle": self.dash}

    @property
    def points(self) -> dict:
        return {"color": self.colour, "marker": self.marker, "linestyle": "none"}


REGISTRY: dict[str, Mark] = {
    "vi_sphere": Mark("#CC3311", "o", SOLID, "VI"),
    "vi_sphere_y4": Mark("#EE7733", "^", DASHED, "VI Yoshida 4"),
    "vi_sphere_s4": Mark("#E6C229", "v", SOLID, "VI Suzuki 4"),
    "vi_sphere_y6": Mark("#882255", "<", DASHED, "VI Yoshida 6"),
    "vi_sphere_kl6": Mark("#F090BE", ">", SOLID, "VI Kahan-Li 6"),
    "vi_sphere_kl8": Mark("#7D4FB0", "D", SOLID, "VI Kahan-Li 8"),
    "rk2_midpoint": Mark("#1A85D6", "s", DASHED, "RK2 midpoint"),
    "rk2_heun": Mark("#33BBEE", "d", DOTTED, "RK2 Heun"),
    "rk4": Mark("#3DA58A", "P", DASHED, "RK4"),
    "ode45": Mark("#004488", "X", DOTTED, "ode45"),
    "dop853": Mark("#222222", "*", DASHDOT, "DOP853"),
    "lie_euler": Mark("#6B6B00", "p", DOTTED, "Lie-Euler"),
    "rkmk4": Mark("#117733", "h", DASHED, "RKMK4"),
    "lie_heun": Mark("#A85695", "H", DASHDOT, "Lie-Euler-Heun"),
    "rkmk3": Mark("#7E6CFC", "8", DASHDOT, "RKMK3"),
    "rkmk5": Mark("#0301B9", (5, 1, 180), SOLID, "RKMK5"),
    "rkmk54": Mark("#F83976", (4, 1, 0), SOLID, "RKMK(5,4)"),
    "rkmk": Mark("#474D34", (6, 1, 0), DASHED, "RKMK, any tableau"),
    "runge_kutta": Mark("#52765A", (6, 2, 0), DASHED, "RK, any tableau"),
    "rkmk4_2comm": Mark("#412600", "x", DASHED, "RKMK4, 2 commutators"),
    "cf4": Mark("#95C579", (3, 1, 0), SOLID, "CF4"),
    "cf43": Mark("#260E71", (3, 1, 180), SOLID, "CF4(3)"),
    "cf32a": Mark("#14D250", "1", DASHED, "CF3(2) a"),
    "cf32b": Mark("#540255", "2", DOTTED, "CF3(2) b"),
    "cg3": Mark("#4448D2", "+", DASHDOT, "Crouch-Grossman 3"),
    "slgi": Mark("#7A08FE", (8, 1, 0), SOLID, "SLGI"),
    "slgi_kk": Mark("#5605A1", (8, 2, 0), DOTTED, "SLGIKK"),
}
# own integrators of a study
STRANGERS = (Mark("#777777", "8", SOLID, ""), Mark("#AA8866", "H", DASHED, ""), Mark("#BBBBBB", "p", DASHDOT, ""))
VARIANTS = ((0.42, "D", DASHED), (-0.5, "^", DOTTED), (0.7, "v", DASHDOT), (-0.75, "P", SOLID))  # options of one method
BRIGHT = 0.5


def variant(mark: Mark, number: int) -> Mark:
    """The same method with other options: lighter or darker (darker first for bright colours), with other marker and
    dash; number 0 is the method itself."""
    if number == 0:
        return mark
    share, marker, dash = VARIANTS[(number - 1) % len(VARIANTS)]
    share = -share if np.dot(to_rgb(mark.colour), (0.3, 0.59, 0.11)) > BRIGHT else share
    colour = to_hex(mix(mark.colour, "white" if share > 0 else "black", abs(share)))
    return replace(mark, colour=colour, marker=marker, dash=dash)


def marks(results: "StudyResults") -> dict[str, Mark]:
    """Key of every integrator of a study -> its mark; labels are those of the study file, else the registered ones."""
    found: dict[str, Mark] = {}
    seen: dict[str, int] = {}
    strangers = 0
    for key, entry in results.config.integrators.items():
        name = results.study.integrator_id(key)
        if name in REGISTRY:
            base = REGISTRY[name]
        elif name in seen:
            base = STRANGERS[(strangers - 1) % len(STRANGERS)]
        else:
            base, strangers = STRANGERS[strangers % len(STRANGERS)], strangers + 1
        number = seen.get(name, 0)
        seen[name] = number + 1
        default = base.label if base.label and not number else key
        found[key] = replace(variant(base, number), label=(entry.label if entry else None) or default)
    return found


def new_figure(width: float, height: float, layout: str | None = "constrained") -> Figure:
    """Empty figure of a size in mm, without the interactive machinery of pyplot."""
    figure = Figure(figsize=(width*MM, height*MM), layout=layout)
    FigureCanvasAgg(figure)
    if layout == "constrained":
        figure.get_layout_engine().set(w_pad=1.5*MM, h_pad=1.2*MM, wspace=0.02, hspace=0.03)
    return figure


def drawing(caption: str) -> Callable:
    """Mark a function `StudyResults -> Figure` as a drawing with a caption template, see `liestep.figures.captions`."""
    def wrap(function: Callable[["StudyResults"], Figure]) -> Callable[["StudyResults"], Figure]:
        @wraps(function)
        def draw(results: "StudyResults") -> Figure:
            with matplotlib.rc_context(RC):
                return function(results)
        draw.caption = caption
        return draw
    return wrap
