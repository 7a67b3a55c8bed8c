"""How figures look: sizes and fonts, and files that repeat byte for byte.

Fonts come with matplotlib, so a figure does not depend on the fonts of a machine.
"""
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
from fontTools import subset
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from liestep.storage.atomic import replacing

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

# Fonts inside a PDF need no tables for laying out text: matplotlib has done that. To thin them out would take a
# third of a figure's time.
subset.Options._drop_tables_default = [*subset.Options._drop_tables_default, "GDEF", "GPOS", "GSUB"]

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


@contextmanager
def _without_bare_ticks(figure: Figure) -> Iterator[None]:
    """Minor ticks without labels need no room, and there are many on logarithmic axes: half of the time of a layout."""
    bare = [axis for axes in figure.axes
            for axis in (axes.xaxis, axes.yaxis) if isinstance(axis.get_minor_formatter(), NullFormatter)]
    locators = [axis.get_minor_locator() for axis in bare]
    for axis in bare:
        axis.set_minor_locator(NullLocator())
    yield
    for axis, locator in zip(bare, locators, strict=True):
        axis.set_minor_locator(locator)


def save(figure: Figure, base: Path) -> list[Path]:
    """Write base.png and base.pdf, each whole or not at all; the same figure gives the same bytes.

    Raises:
        InputError: the folder cannot be written.
    """
    base = Path(base)
    paths = []
    with matplotlib.rc_context(RC):
        figure.set_dpi(DPI)
        if engine := figure.get_layout_engine():
            with _without_bare_ticks(figure):
                engine.execute(figure)
    figure.set_layout_engine(None)  # both files have this layout; each further one would cost as much as drawing
    for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
        buffer = io.BytesIO()
        with matplotlib.rc_context(RC):
            figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
        paths.append(base.with_name(f"{base.name}.{kind}"))
        with replacing(paths[-1]) as temporary:
            temporary.write_bytes(buffer.getvalue())
    return paths
