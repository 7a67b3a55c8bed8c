"""What the figures of lgt2022 share. They find runs by the keys of the study files in config/studies/lgt2022."""
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.figures.marks import DASHDOT, DASHED, DOTTED, SOLID, Mark, marks
from liestep.figures.panels import label_of, legend_below, logarithmic
from liestep.figures.scenes.space import mix
from liestep.figures.style import DOUBLE, Results, ladder, new_figure

LEAST = 1e-16  # a residual of zero is drawn here
LOST = "#CC3311"
# group and chart -> letter of the paper, colour, marker; cayley2 is our own addition
MAPS = {("se3", "exp"): ("a", "#0077BB", "o"), ("so3_r3", "exp"): ("b", "#EE7733", "s"),
        ("so3_r3", "cayley"): ("c", "#009988", "^"), ("se3", "cayley"): ("d", "#AA4499", "D"),
        ("so3_r3", "cayley2"): ("c", "#882255", "v"), ("se3", "cayley2"): ("d", "#882255", "v")}
STABILISED = {"none": SOLID, "baumgarte": DOTTED, "projection": DASHED}
RHO = 0.9  # of generalized-alpha, if a study says nothing else
DIFFERENCES = {1: ("v", DOTTED), 2: ("^", DASHED), 3: ("o", SOLID)}  # order of bliedf -> look
NATIVE = {"se3": "body", "so3_r3": "mixed"}
VECTORS = {"none": ("#222222", "P"), "position": ("#707070", "X"), "stages": ("#A8A8A8", "*")}


def looks(results: Results) -> dict[str, Mark]:
    """Key of every integrator of a study -> its mark: colour and marker say group and chart, grey is for attitudes as
    state vectors; dashes say velocities that are not native, the stabilisation, or an index-3 method; of backward
    differences dash and marker say the number of steps."""
    found: dict[str, Mark] = {}
    colour: Any
    marker: Any
    for key, mark in marks(results).items():
        options = next(cell.spec.options for cell in results.study.cells if cell.integrator == key)
        if "chart" not in options:
            colour, marker = VECTORS.get(str(options.get("projection")), ("#222222", "P"))
            if options.get("form") == "euler":
                colour, marker = LOST, "X"
            found[key] = replace(mark, colour=colour, marker=marker if results.study.integrator_id(key) == "rk4"
                                 else mark.marker, dash=DASHED)
            continue
        _, colour, marker = MAPS[options["action"], options["chart"]]
        dash = STABILISED.get(str(options.get("stabilisation")), DASHDOT)
        name = results.study.integrator_id(key)
        if name == "bliedf":
            marker, dash = DIFFERENCES[options["order"]]
            dash = DASHDOT if options.get("commutator") == "off" else dash
        if name.startswith("cf"):
            colour, marker = mix(colour, "black", 0.45), mark.marker
        if options.get("twist", "native") not in ("native", NATIVE[options["action"]]):
            colour, dash = mix(colour, "black", 0.45), DOTTED
        if options.get("attitude", "quaternion") != "quaternion":
            colour, dash = mix(colour, "white", 0.5), DOTTED
        if options.get("stabilisation") == "projection":
            colour = mix(colour, "black", 0.3)
        if "stabilisation" not in options and "rho" in options and options["rho"] != RHO:
            colour = mix(colour, "black" if options["rho"] < RHO else "white", 0.45)
        found[key] = replace(mark, colour=colour, marker=marker, dash=dash)
    return found


def curve(axes: Axes, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, mark: Mark) -> None:
    """Line with hollow markers; numbers below LEAST are drawn there."""
    axes.plot(x, np.maximum(y, LEAST), marker=mark.marker, markersize=3.8, linewidth=0.8, markerfacecolor="white",
              **mark.line)


def over_steps(axes: Axes, results: Results, problem: str, column: str) -> None:
    """A column of metrics over the step for the methods with complete runs; both axes logarithmic."""
    for key, mark in looks(results).items():
        if (results.select(problem, key)["status"] == "ok").any():
            steps, values = ladder(results, problem, key, column)
            curve(axes, steps, np.abs(values), mark)
    logarithmic(axes, xlabel="step (s)")


def legend(figure: Figure, results: Results) -> None:
    """Legend of the methods below all panels."""
    legend_below(figure, [*looks(results).values()])


def panels(results: Results, column: str, label: str, height: float, problems: Sequence[str] = ()) -> Figure:
    """A column of metrics over the step, one panel for each problem, one legend for all."""
    problems = list(problems or results.config.problems)
    rows = -(-len(problems)//4)
    figure = new_figure(DOUBLE, height*rows + 14.0)
    found = np.atleast_1d(figure.subplots(rows, -(-len(problems)//rows), sharey=True)).ravel()
    for axes, problem, letter in zip(found, problems, "abcdefgh", strict=False):
        over_steps(axes, results, problem, column)
        axes.set_title(f"({letter}) {label_of(results, problem)}")
    for axes in found[len(problems):]:
        axes.set_visible(False)
    for axes in found[::-(-len(problems)//rows)]:
        axes.set_ylabel(label)
    legend(figure, results)
    return figure
