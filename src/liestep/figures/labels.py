"""Labels at the ends of curves, beside the panel: what differs between panels; one legend says whose curve it is."""
from dataclasses import dataclass
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes

from liestep.figures.marks import REST, Mark
from liestep.figures.scenes.space import mix

USED = 0.7           # share of its place that a panel keeps beside titles, labels and the legend
SIZE = 5.8           # pt
LINE = 2.3           # mm between labels
WIDEST = 26          # characters of a line; names of grey methods may have two lines
BESIDE = 1.035       # where labels begin, in widths of the panel


@dataclass(frozen=True)
class EndLabel:
    """A text for the curve that ends at (x, y)."""

    x: float
    y: float
    text: str
    mark: Mark


def end_labels(axes: Axes, labels: list[EndLabel], height: float) -> None:
    """Write labels to the right of a panel that is `height` mm high, each as near to the end of its curve as the others
    allow, with a thin line from there. After the axes have their scales and limits."""
    kept = [label for label in labels if np.isfinite(label.x) and np.isfinite(label.y)]
    for line in axes.get_lines():
        if line.get_gid():  # grey lies behind colours, and is named here
            line.set_gid(None)
            line.set_zorder(1.9)
    ends = axes.transData.transform([(label.x, label.y) for label in kept]).reshape(-1, 2)
    wanted = axes.transAxes.inverted().transform(ends)[:, 1] if kept else np.empty(0)
    texts = [fill(f"{label.mark.label}: {label.text}".removesuffix(": ") if label.mark.grey else label.text, WIDEST)
             for label in kept]
    lines = [text.count("\n") + 1 for text in texts]
    places = spread(np.repeat(np.clip(wanted, 0.0, 1.0), lines), LINE/height)
    ends_at = np.cumsum(lines)
    for label, text, last, count in zip(kept, texts, ends_at, lines, strict=True):
        place, colour = float(places[last - count:last].mean()), mix(label.mark.colour, "black", 0.4)
        axes.annotate(text, (label.x, label.y), xytext=(BESIDE, place), textcoords="axes fraction", va="center",
                      ha="left", fontsize=SIZE, color=colour, annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": mix(label.mark.colour, "white", 0.4), "linewidth": 0.4,
                                  "shrinkA": 0.5, "shrinkB": 1.0, "relpos": (0.0, 0.5)})


def name_grey(axes: Axes) -> None:
    """Names of grey methods at the ends of their lines, which have them as gid, unless they stand there already."""
    ends: dict[str, np.ndarray] = {}
    for line in axes.get_lines():
        points = np.asarray(line.get_xydata(), dtype=float)
        points = points[np.isfinite(points).all(axis=1)]
        if (name := line.get_gid()) and len(points):
            last = points[points[:, 0].argmax()]
            ends[name] = max(ends.get(name, last), last, key=lambda point: point[0])
    if ends:
        figure = axes.get_figure()
        height = USED*axes.get_position().height*(figure.bbox.height/figure.dpi if figure else 1.0)*25.4
        end_labels(axes, [EndLabel(x, y, "", Mark(REST, "", "-", name)) for name, (x, y) in ends.items()], height)


def spread(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Places from 0 to 1 at least `gap` apart in the order of those wanted, with the least sum of squares of the
    distances from them: places that would be too close form a group around their mean. What does not fit lies below 0.
    """
    order = np.argsort(wanted, kind="stable")
    groups: list[list[float]] = []  # sum of (wanted - number*gap), number of members
    for number, place in enumerate(wanted[order]):
        groups.append([float(place) - number*gap, 1.0])
        while len(groups) > 1 and groups[-2][0]/groups[-2][1] > groups[-1][0]/groups[-1][1]:
            total, members = groups.pop()
            groups[-1] = [groups[-1][0] + total, groups[-1][1] + members]
    numbers, found = gap*np.arange(len(wanted)), np.empty(len(wanted))
    places = np.repeat([total/members for total, members in groups], [int(members) for _, members in groups]) + numbers
    found[order] = np.minimum(np.maximum(places, numbers), 1.0 - numbers[::-1])
    return found
