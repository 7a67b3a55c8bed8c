"""Labels at the ends of curves, beside the panel. Curves that end at one place share one."""
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from liestep.figures.marks import Mark
from liestep.figures.scenes.space import mix

USED = 0.7           # share of its place that a panel keeps beside titles, labels and the legend
SIZE = 5.8           # pt
LINE = 2.6           # mm between labels
WIDEST = 28          # characters of a line
MOST = 4             # names in a label
MANY = 8             # methods of a figure; of more, the names also stand at the ends of their lines
WHOLE = re.compile(r"\$[^$]*\$| = |(?<=[A-Za-z]) (?:\d+\b|\(\w\))|\d more")  # formulas, names: no line breaks them
BESIDE = 1.035       # where labels begin, in widths of the panel
NAMED = "named"      # gid of lines whose names stand beside the panel
NEAR = 0.03          # of the height of a panel: curves that are nowhere farther apart coincide


@dataclass(frozen=True)
class EndLabel:
    """A text for the curves of these marks, which end at (x, y)."""

    x: float
    y: float
    text: str
    marks: tuple[Mark, ...]

    @property
    def lines(self) -> str:
        names = [mark.label for mark in self.marks[:MOST]]
        more = len(self.marks) - MOST
        text = "; ".join([*names, *([f"{more} more"] if more > 0 else [])])
        return folded(f"{self.text}: {text}" if self.text else text, WIDEST)

    @property
    def colour(self) -> str:
        return self.marks[0].colour if len(self.marks) == 1 else "0.35"


def folded(text: str, width: int) -> str:
    """A text in lines of at most so many characters; formulas and names with their numbers stay whole."""
    return fill(WHOLE.sub(lambda match: match[0].replace(" ", "\0"), text), width).replace("\0", " ")


def end_labels(axes: Axes, labels: list[EndLabel], height: float) -> None:
    """Write labels to the right of a panel of `height` mm with its final limits, each as near to the end of its curve
    as the others allow, with a thin line from there; those of the same text that would cover each other are one."""
    if not (kept := [label for label in labels if np.isfinite(label.x) and np.isfinite(label.y)]):
        return
    axes.get_ylim()  # which brings the limits up to date
    for line in axes.get_lines():
        line.set_gid(NAMED)  # here, and not once more
    ends = axes.transData.transform([(label.x, label.y) for label in kept]).reshape(-1, 2)
    at = np.clip(axes.transAxes.inverted().transform(ends)[:, 1], 0.0, 1.0)
    joined: list[tuple[float, EndLabel]] = []
    for k in np.argsort(at, kind="stable"):
        last = joined[-1] if joined else None
        if last and last[1].text == kept[k].text and at[k] - last[0] < 0.5*LINE/height:
            joined[-1] = (last[0], replace(last[1], marks=(*last[1].marks, *kept[k].marks)))
        else:
            joined.append((float(at[k]), kept[k]))
    texts = [label.lines for _, label in joined]
    lines = [text.count("\n") + 1 for text in texts]
    places = spread(np.repeat([place for place, _ in joined], lines), LINE/height)
    for (_, label), text, last_line, count in zip(joined, texts, np.cumsum(lines), lines, strict=True):
        place, colour = float(places[last_line - count:last_line].mean()), mix(label.colour, "black", 0.4)
        axes.annotate(text, (label.x, label.y), xytext=(BESIDE, place), textcoords="axes fraction", va="center",
                      ha="left", fontsize=SIZE, color=colour, annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": mix(label.colour, "white", 0.4), "linewidth": 0.4,
                                  "shrinkA": 0.5, "shrinkB": 1.0, "relpos": (0.0, 0.5)})


def together(axes: Axes, curves: Sequence[np.ndarray]) -> list[list[int]]:
    """Numbers of those curves (2, points) that coincide in a panel with its final scales and limits, in groups."""
    groups: list[list[int]] = []
    axes.get_ylim()  # which brings the limits up to date
    heights = [(axes.transScale + axes.transLimits).transform(points.T)[:, 1] for points in curves]
    for k, points in enumerate(curves):
        own = next((group for group in groups if np.array_equal(points[0], curves[group[0]][0])
                    and np.abs(heights[k] - heights[group[0]]).max() < NEAR), None)
        groups.append([k]) if own is None else own.append(k)
    return [group for group in groups if len(group) > 1]


def name_together(axes: Axes, curves: Iterable[tuple[Mark, np.ndarray]], height: float) -> None:
    """One label for curves that coincide, as `end_labels`."""
    kept = [(mark, points) for mark, points in curves if points.size]
    end_labels(axes, [EndLabel(x[-1], y[-1], "", tuple(kept[k][0] for k in group)) for group in together(
        axes, [points for _, points in kept]) for x, y in (kept[group[0]][1],)], height)


def _named(axes: Axes) -> dict[str, np.ndarray]:
    """Finite points (n, 2) of all lines that have a name as gid, by their names."""
    parts: dict[str, list[np.ndarray]] = {}
    for line in axes.get_lines():
        points = np.asarray(line.get_xydata(), dtype=float)
        if (name := line.get_gid()) and name != NAMED and len(points := points[np.isfinite(points).all(axis=1)]):
            parts.setdefault(name, []).append(points)
    return {name: np.unique(np.concatenate(own), axis=0) for name, own in parts.items()}


def coinciding(figure: Figure) -> str:
    """Sentences with the methods whose curves coincide, where no label beside the panel names them."""
    found: dict[str, dict[str, None]] = {}
    for panel in figure.axes:
        curves, title = _named(panel), " ".join(panel.get_title("left").split())
        place = (*re.findall(r"^\(\w+\)", title), f"“{title}”" if title else "an untitled panel")[0]
        for group in together(panel, [points.T for points in curves.values()]):
            found.setdefault("; ".join([*curves][k] for k in group), {})[place] = None
    return "".join(" Curves that coincide" + f" in {', '.join(places)}"*(len(figure.axes) > 1) + f": {names}."
                   for names, places in found.items())


def name_ends(axes: Axes, marks: Iterable[Mark]) -> None:
    """Names of methods at the ends of their lines, which have their labels as gid, unless they stand there already."""
    ends = {name: points[-1] for name, points in _named(axes).items()}
    labels = [EndLabel(ends[mark.label][0], ends[mark.label][1], "", (mark,)) for mark in marks if mark.label in ends]
    figure = axes.get_figure()
    end_labels(axes, labels, USED*axes.get_position().height*(figure.bbox.height/figure.dpi if figure else 1.0)*25.4)


def spread(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Places at least `gap` apart in the order of those wanted, with the least sum of squares of the distances from
    them: from 0, below which lies what does not fit, to a gap below 1, so that the title stands free."""
    order, numbers, found = np.argsort(wanted, kind="stable"), gap*np.arange(len(wanted)), np.empty(len(wanted))
    places = isotonic_regression(wanted[order] - numbers).x + numbers if len(wanted) else numbers
    found[order] = np.minimum(np.maximum(places, numbers), 1.0 - gap - numbers[::-1])
    return found
