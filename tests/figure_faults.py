"""What no figure may have: texts on each other or cut off, curves that nothing names, ids in texts, empty panels."""
import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import Bbox

ID = re.compile(r"\b[A-Za-z]\w*_\w+\b")
FORMULA = re.compile(r"\$[^$]*\$")
SHARED = 0.12  # share of the smaller text that may lie under the other: ascenders and descenders do not meet
GREY = 0.06    # largest difference between the parts of a colour that has no hue
SAME = 0.12    # distance of a colour from one that is mixed from white and a named one


def faults(figure: Figure) -> list[str]:
    """One sentence for each fault of a figure with its final layout."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()  # labels of axes have their places from the last drawing, whatever its resolution
    renderer = canvas.get_renderer()
    boxes = [(text, Text.get_window_extent(text, renderer)) for text in texts(figure)  # without arrows
             if text.get_rotation() % 90.0 == 0.0]  # of others the box is wider than the letters
    return [*_overprints(boxes), *_cut_off(boxes, figure.bbox), *_unnamed(figure), *_ids(figure), *_empty(figure)]


def texts(figure: Figure) -> list[Text]:
    """All texts that are drawn."""
    ticks: set[Text] = set()
    shown: list[Text] = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            every = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            ticks |= {label for tick in every for label in (tick.label1, tick.label2)}
            if axes.axison and axes.get_visible() and axis.get_visible():
                low, high = sorted(axis.get_view_interval())
                shown += [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)
                          if label.get_visible() and low <= tick.get_loc() <= high]
    hidden = {text for axes in figure.axes if not axes.axison
              for text in (axes.xaxis.label, axes.yaxis.label)}
    others = [text for text in figure.findobj(Text) if text not in ticks | hidden and text.get_visible()]
    return [text for text in [*others, *shown] if text.get_text().strip()]


def _overprints(boxes: list[tuple[Text, Bbox]]) -> Iterator[str]:
    for (one, here), (other, there) in combinations(boxes, 2):
        both = Bbox.intersection(here, there)
        least = min(here.width*here.height, there.width*there.height)
        if both is not None and both.width*both.height > SHARED*least:
            yield f"{one.get_text()!r} lies on {other.get_text()!r}"


def _cut_off(boxes: list[tuple[Text, Bbox]], page: Bbox) -> Iterator[str]:
    for text, box in boxes:
        if box.x0 < page.x0 - 1.0 or box.x1 > page.x1 + 1.0 or box.y0 < page.y0 - 1.0 or box.y1 > page.y1 + 1.0:
            yield f"{text.get_text()!r} is cut off"


def _named(figure: Figure) -> list[np.ndarray]:
    """Colours that a legend or a text in that colour names."""
    found = [np.array(to_rgb(text.get_color())) for text in texts(figure)]
    for legend in (*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())):
        for handle in legend.legend_handles:
            if isinstance(handle, Line2D):
                found.append(np.array(to_rgb(handle.get_color())))
            elif isinstance(handle, Patch):
                found.append(np.array(to_rgb(handle.get_facecolor())))
    return [colour for colour in found if np.ptp(colour) > GREY]


def _unnamed(figure: Figure) -> Iterator[str]:
    """Coloured curves of panels that show several colours, none of which is named; sketches have no axes."""
    named = _named(figure)
    for axes in figure.axes:
        if not axes.axison:
            continue
        colours = {tuple(to_rgb(line.get_color())) for line in _curves(axes)}
        coloured = [colour for colour in map(np.array, colours) if np.ptp(colour) > GREY]
        if len(coloured) < 2 and not named:
            continue
        for colour in coloured:
            if not any(_mixed(colour, name) for name in named):
                yield f"{axes.get_title(loc='left') or axes.get_ylabel()!r} has a curve of colour {colour} without name"


def _curves(axes: Axes) -> list[Line2D]:
    """Those with more than one point and one height: rows have their names beside the axis."""
    found = [(line, np.asarray(line.get_xydata(), dtype=float)) for line in axes.get_lines() if line.get_visible()]
    return [line for line, points in found if np.isfinite(points).all(axis=1).sum() > 1 and np.ptp(points[:, 1]) > 0.0]


def _mixed(colour: np.ndarray, name: np.ndarray) -> bool:
    """Whether a colour is a named one, paler or darker."""
    return any(np.abs(colour - (name + share*(end - name))).max() < SAME
               for end in (np.ones(3), np.zeros(3)) for share in np.linspace(0.0, 0.75, 16))


def _ids(figure: Figure) -> Iterator[str]:
    for text in texts(figure):
        for found in ID.findall(FORMULA.sub("", text.get_text())):
            yield f"{text.get_text()!r} has the id {found}"


def _empty(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if axes.axison and axes.get_visible() and not (
                axes.collections or axes.images or axes.patches or axes.texts or axes.get_lines()):
            yield f"the panel {axes.get_title(loc='left')!r} is empty"
