"""What the generic figures share: which runs they show, small multiples, legends beside the data."""
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, NullLocator
from numpy.typing import ArrayLike

from liestep.errors import InputError
from liestep.figures.labels import MANY, folded, name_ends
from liestep.figures.marks import Mark, marks
from liestep.figures.scenes.space import mix
from liestep.figures.style import DOUBLE, MM, RC, Results, new_figure
from liestep.simulation.runs.files import RunFile
from liestep.study.plan.plan import Cell

LINE = 4.0     # mm of a row of the legend
CHARACTER, MARGIN = 1.5, 15.0  # mm of a letter of a title, and of what stands beside a panel


def label_of(results: Results, problem: str) -> str:
    """How figures call a problem, in at most 60 letters."""
    label = results.config.problems[problem].label or problem
    return label if len(label) <= 60 else f"{label[:57]}..."


def number(value: float | None, digits: int = 6) -> str:
    """A number with so many digits, powers of ten without zeros in front: 1e-6."""
    return f"{float(f'{value:.{digits}g}'):g}".replace("e-0", "e-").replace("e+0", "e")


def size_of(cell: Cell) -> str:
    """Step or tolerance of a cell as text."""
    return f"tolerance {number(cell.spec.tolerance)}" if cell.spec.steps is None else f"h = {number(cell.spec.step)}"


def shown_cells(results: Results, problem: str) -> dict[str, Cell]:
    """Integrator key -> the one cell of a problem that time series show. Fixed steps: the largest step that most
    integrators completed, and for those without it their own largest completed step; adaptive: the largest completed
    tolerance. An integrator that completed nothing is shown at its smallest."""
    cells = [cell for cell in results.study.cells if cell.problem == problem]
    done = [cell for cell in cells if not results.failed(cell)]
    steps = {cell.resolution: cell.spec.step for cell in done if cell.spec.steps is not None}
    votes = Counter(cell.resolution for cell in done)
    common = max(steps, key=lambda name: (votes[name], steps[name]), default=None)
    chosen = {}
    for key in dict.fromkeys(cell.integrator for cell in cells):
        own = [cell for cell in done if cell.integrator == key]
        if own:
            chosen[key] = next((cell for cell in own if cell.resolution == common), max(own, key=coarseness))
        else:
            chosen[key] = min((cell for cell in cells if cell.integrator == key), key=coarseness)
    return chosen


def coarseness(cell: Cell) -> float:
    """Step or tolerance of a cell."""
    size = cell.spec.tolerance if cell.spec.steps is None else cell.spec.step
    assert size is not None
    return size


def curves(results: Results, problem: str) -> list[tuple[str, Cell, RunFile]]:
    """The runs of a problem that time series show, in the order of the study file: single ones with samples."""
    files = ((key, cell, results.file(problem, key, cell.resolution))
             for key, cell in shown_cells(results, problem).items() if cell.spec.ensemble is None)
    return [run for run in files if len(run[2]["time"])]


def grid(titles: list[str], row_height: float, extra: float = 8.0, columns: int = 2) -> tuple[Figure, list[Axes]]:
    """Figure with a panel for each title, with letters for several; heights in mm. Raises InputError: no title."""
    if not titles:
        raise InputError("the figure has nothing to show: no run of the study offers what it needs")
    columns = min(columns, len(titles))
    rows = -(-len(titles)//columns)
    figure = new_figure(DOUBLE, rows*row_height + extra)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in axes[len(titles):]:
        panel.remove()
    for panel in axes[:len(titles)]:
        panel.set_gid(f"{columns} {row_height}")
    _letter(list(axes[:len(titles)]), titles)
    return figure, list(axes[:len(titles)])


def _letter(axes: list[Axes], titles: list[str]) -> None:
    """Titles that stay beside those of the next panel."""
    columns = min(len(titles), int(str(axes[0].get_gid()).split()[0]))
    for k, (title, panel) in enumerate(zip(titles, axes, strict=True)):
        panel.set_title(folded(f"({chr(97 + k)}) {title}" if len(titles) > 1 else title,
                               int((DOUBLE/columns - MARGIN)/CHARACTER)), loc="left")


def leave_out(figure: Figure) -> str:
    """Remove those panels of a grid that show nothing (no finite number, one value, or runs that end at once) while
    others show something; returns a sentence that names them, for the caption."""
    axes = [panel for panel in figure.axes if panel.get_gid()]
    gone = [panel for panel in axes if _bare(panel)]
    kept = [panel for panel in axes if panel not in gone]
    if not gone or not kept:
        return ""
    titles = {panel: LETTER.sub("", " ".join(panel.get_title(loc="left").split())) for panel in axes}
    columns, height = map(float, str(axes[0].get_gid()).split())
    rows, width = -(-len(kept)//int(columns)), min(int(columns), len(kept))
    figure.set_figheight(figure.get_figheight() - (-(-len(axes)//int(columns)) - rows)*height*MM)
    for panel in gone:
        panel.remove()
    places, labels = figure.add_gridspec(rows, width), {panel.get_ylabel() for panel in axes}
    for k, panel in enumerate(kept):
        panel.set_subplotspec(places[k//width, k % width])
        if "" in labels:  # one stands on the left of each row
            panel.set_ylabel("" if k % width else max(labels))
    with matplotlib.rc_context(RC):
        _letter(kept, [titles[panel] for panel in kept])
    names = ", ".join(titles[panel] for panel in gone)
    return f" Left out, because all values are equal, none is finite, or all runs end at once: {names}."


LETTER = re.compile(r"^\([a-z]\) ")
EQUAL = 1.05  # ratio of values that are called equal
BRIEF = 0.05  # share of an axis: runs that end within it are a vertical line
LEAST_DECADES = 1.5  # of a logarithmic axis of values: round-off that scatters by a factor of two is no slope


def _bare(panel: Axes) -> bool:
    """Whether a panel has nothing but lines that have one value, none that its axis shows, or end where time begins."""
    if panel.collections or panel.images or panel.patches:
        return False
    points = np.concatenate([np.zeros((0, 2)), *(
        np.asarray(line.get_xydata(), dtype=float) for line in panel.get_lines()
        if line.get_gid() or np.size(line.get_ydata()) > 2)])  # others are levels
    x, values = points[np.isfinite(points[:, 1]) & ((points[:, 1] > 0.0) | (panel.get_yscale() != "log"))].T
    return (not len(values) or np.ptp(values) <= (EQUAL - 1.0)*np.abs(values).max()
            or (panel.get_xscale() == "linear" and x.max() <= BRIEF*panel.get_xlim()[1]))


def by_method(results: Results, panels: Mapping[Axes, pandas.DataFrame],
              draw: Callable[[Axes, Mark, pandas.DataFrame], object]) -> list[Mark]:
    """Let `draw` put each integrator's rows of a panel's table into it; returns the marks for the legend."""
    styles, used = marks(results), set[str]()
    for axes, table in panels.items():
        own = dict(iter(table.groupby("integrator")))
        used |= own.keys()
        for key in styles:
            if key in own:
                draw(axes, styles[key], own[key])
    return [styles[key] for key in styles if key in used]


def line_handle(mark: Mark, label: str = "", marker: bool = False) -> Line2D:
    """Legend entry of a mark."""
    return Line2D([], [], color=mark.colour, linestyle=mark.dash, marker=mark.marker if marker else "",
                  label=label or mark.label + mark.size)


def legend_below(figure: Figure, entries: Sequence[Line2D | Mark], columns: int | None = None,
                 marker: bool = True, note: str = "") -> None:
    """One legend below all panels; a mark is a line alone without `marker`; of more than MANY marks the names stand at
    the ends of their lines too, in at most two columns of panels and unless a `note` explains what stands there."""
    drawn = [entry for entry in entries if isinstance(entry, Mark)]
    several = len({round(axes.get_position().x0, 2) for axes in figure.axes}) > 2
    for axes in figure.axes if not (note or several) and len(drawn) > MANY else ():
        name_ends(axes, drawn)
    handles = [line_handle(entry, marker=marker) if isinstance(entry, Mark) else entry for entry in entries]
    if handles:
        longest = max(len(str(handle.get_label())) for handle in handles)
        fitting = max(1, int(figure.get_figwidth()*25.4/(13.0 + 1.45*longest)))
        columns = columns or min(len(handles), fitting)
        rows = -(-len(handles)//columns) + 1.5*bool(note)
        figure.set_figheight(figure.get_figheight() + max(0.0, rows - 2.0)*LINE*MM)  # panels keep their height
        figure.legend(handles=handles, loc="outside lower center", ncols=columns,
                      title=note or None, title_fontsize=6.0, alignment="left")


def hollow(axes: Axes, x: ArrayLike, y: ArrayLike, mark: Mark, solid: ArrayLike = True, line: bool = True) -> None:
    """Line (if `line`) through all finite points; those that do not count, not `solid`, are hollow and paler."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    solid = np.broadcast_to(np.asarray(solid, dtype=bool), x.shape)
    kept = np.flatnonzero(np.isfinite(y) & (y > 0.0))
    order = kept[np.argsort(x[kept], kind="stable")]
    x, y, solid = x[order], y[order], solid[order]
    both = solid[:-1] & solid[1:]
    # one line for all parts of the same shade: few lines are drawn faster than many
    ends = [0, *(np.flatnonzero(both[:-1] != both[1:]) + 1), len(both)]
    for begin, end in pairwise(ends):
        if line and begin < end:
            shade = mark.colour if both[begin] else mix(mark.colour, "white", 0.5)
            axes.plot(x[begin:end + 1], y[begin:end + 1], **{**mark.line, "color": shade}, linewidth=0.9)
    axes.plot(x[solid], y[solid], **mark.points)
    axes.plot(x[~solid], y[~solid], **mark.points, markerfacecolor="white", markeredgewidth=0.7)


def logarithmic(axes: Axes, x: bool = True, y: bool = True, **labels: str) -> None:
    """Logarithmic axes, after the data: y spans at least `LEAST_DECADES`, minor ticks have labels where fewer than two
    powers of ten stand on the axis, at 2 and 5; labels are those of `Axes.set`: xlabel, ylabel, title."""
    for wanted, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        if wanted:
            getattr(axes, f"set_{axis.axis_name}scale")("log")
            low, high = np.log10(axis.get_view_interval())
            if axis is axes.yaxis and (missing := LEAST_DECADES - (high - low)) > 0.0:
                low, high = low - 0.5*missing, high + 0.5*missing
                axes.set_ylim(10.0**low, 10.0**high)
            several = np.floor(high) > np.ceil(low)
            if several and axis is axes.yaxis:
                axis.set_minor_locator(NullLocator())  # minor ticks would take a third of the time of drawing
            elif several:
                axis.set_minor_formatter(NullFormatter())
                axis.set_tick_params(which="minor", length=1.2)
            else:
                axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
                axis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf)))
    axes.set(**labels)


def cells(axes: Axes, values: np.ndarray, texts: Sequence[Sequence[str]], rows: Sequence[str],
          dark: np.ndarray, size: float = 6.5, **colours: Any) -> AxesImage:
    """Values (rows, columns) as colours, those of `imshow`, with a text of `size` pt in each, white on `dark` ones."""
    shown = axes.imshow(values, aspect="auto", **colours)
    for i, k in np.ndindex(values.shape):
        axes.text(k, i, texts[i][k], ha="center", va="center", fontsize=size, color="white" if dark[i, k] else "black")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0.0)
    axes.grid(False)
    return shown


def slope_triangle(axes: Axes, steps: ArrayLike, errors: ArrayLike, order: float, below: float = 0.4) -> None:
    """Triangle of a slope: its sharp corner is a point of the curve times `below`; both axes are logarithmic."""
    steps, errors = np.asarray(steps, dtype=float), np.asarray(errors, dtype=float)
    k = int(np.argsort(steps)[(len(steps) - 1)//3])
    x, y, width = steps[k], below*errors[k], 10.0**min(0.35, 1.6/order)  # steep ones are narrow
    corners = [(x, y), (x*width, y), (x*width, y*width**order), (x, y)]
    axes.plot(*zip(*corners, strict=True), color="0.25", linewidth=0.6, zorder=4.0)
    axes.annotate(f"{order:g}", (x*width, y*width**(0.5*order)), xytext=(1.5, 0.0), textcoords="offset points",
                  va="center", ha="left", fontsize=6.5, color="0.25",
                  path_effects=[withStroke(linewidth=1.5, foreground="white")], zorder=5.0)
