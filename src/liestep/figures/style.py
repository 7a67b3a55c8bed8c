"""How figures look (sizes and fonts), and which runs and problems of a study they ask for; what the study does not have
is named. Fonts come with matplotlib, so a figure does not depend on the fonts of a machine."""
import inspect
import tomllib
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile

if TYPE_CHECKING:
    from liestep.study.tables.results import StudyResults

Results: TypeAlias = "StudyResults"
MM = 1.0/25.4
SINGLE, DOUBLE = 90.0, 180.0  # widths in mm
DPI = 200                     # resolution of the PNG files

RC: dict[Any, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Empty figure of a size in mm, without the interactive machinery of pyplot."""
    figure = Figure(figsize=(width*MM, height*MM), layout=layout)
    FigureCanvasAgg(figure)
    if layout == "constrained":
        engine = cast(ConstrainedLayoutEngine, figure.get_layout_engine())
        engine.set(w_pad=1.5*MM, h_pad=1.2*MM, wspace=0.02, hspace=0.03)
    return figure


def subplots(width: float, height: float, *shape: int, **options: Any) -> tuple[Figure, Any]:
    """Empty figure of a size in mm and its panels, as matplotlib's `subplots` gives them."""
    figure = new_figure(width, height)
    return figure, figure.subplots(*shape, **options)


class Drawing(Protocol):
    """A function that draws a figure, with the template of its caption and the function that makes its {numbers}."""

    caption: str
    numbers: Callable[[Results], str]
    shows: tuple[str, ...]

    def __call__(self, results: Results) -> Figure: ...


def drawing(caption: str = "", numbers: Callable[[Results], str] = lambda results: "", shows: tuple[str, ...] = ()
            ) -> Callable[[Callable[[Results], Figure]], Drawing]:
    """Mark a function `StudyResults -> Figure` as a drawing with a caption template, see `liestep.figures.captions`, by
    default that of its name in the file .toml beside its module; `numbers` makes the text that stands for {numbers} in
    it; `shows`: first parts of the names of the quantities that a figure of a paper draws, for headlines."""
    def wrap(function: Callable[[Results], Figure]) -> Drawing:
        @wraps(function)
        def draw(results: Results) -> Figure:
            with matplotlib.rc_context(RC):
                return function(results)
        drawn = cast(Drawing, draw)
        drawn.caption = caption or tomllib.loads(
            Path(inspect.getfile(function)).with_suffix(".toml").read_text("utf-8"))[function.__name__]
        drawn.caption.format(title="", t_end="", numbers="", runs="")  # a wrong one raises where it stands
        drawn.numbers = numbers
        drawn.shows = shows
        return drawn
    return wrap


def first_run(results: Results, problem: str, integrator: str) -> RunFile:
    """The run of an integrator on a problem (by key), of several the first. Raises InputError: the study has none."""
    return results.file(problem, integrator, results.study.select(problem, integrator)[0].resolution)


def ladder(results: Results, problem: str, integrator: str, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and a column of metrics of all complete runs of a pair, by growing step. Raises InputError: none."""
    rows = results.select(problem, integrator)
    rows = rows[(rows["status"] == "ok") & rows[column].notna()].sort_values("step")
    if rows.empty:
        raise InputError(f"study {results.study.name} has no complete run of {integrator} on {problem}, which"
                         " the figure needs")
    return rows["step"].to_numpy(float), rows[column].to_numpy(float)
