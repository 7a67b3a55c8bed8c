"""Figures 1 and 3 to 5 of twospheres2009: motion (a), total energy (b) and unit length error (c) as in the paper.

The paper's colours and dashes: variational integrator red and solid, Runge-Kutta blue and dotted, with
reprojection black and dashed. The other figures are in the module sphere (2, 6, 7). The motions (a) are drawn
by the module motion.
"""
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.marks import DASHDOT, DASHED, DOTTED, SOLID
from liestep.figures.scenes.colour import mix
from liestep.figures.selection import problems_of, run_with
from liestep.figures.style import DOUBLE, Results, drawing, new_figure
from liestep.papers.twospheres2009.figures import motion
from liestep.simulation.runs.files import RunFile

RED, BLUE, BLACK = "#D62728", "#1F4FBF", "#111111"
VI: dict[str, Any] = {"color": RED, "linestyle": SOLID, "linewidth": 0.9}
RK = {"color": BLUE, "linestyle": DOTTED, "linewidth": 1.3}
PROJECTED = {"color": BLACK, "linestyle": DASHED, "linewidth": 0.9}
PRINTED = {"color": "#F0A3A0", "linestyle": DASHDOT, "linewidth": 0.9}
Curve = tuple[str, dict[str, Any], RunFile]


def energy_panel(axes: Axes, curves: list[Curve], letter: str = "(b)") -> None:
    """Computed total energy against time, linear axes."""
    largest = max(float(np.abs(file["energy"]).max()) for *_, file in curves)
    power = int(np.floor(np.log10(largest))) if 0.0 < largest < 0.01 else 0
    for label, style, file in reversed(curves):
        axes.plot(file["time"], file["energy"]/10.0**power, label=label, **style)
    axes.set(xlabel="time (s)", ylabel=f"total energy ($10^{{{power}}}$ J)" if power else "total energy (J)",
             title=f"{letter} computed total energy", xlim=(0.0, max(float(file["time"][-1]) for *_, file in curves)))


def length_panel(axes: Axes, curves: list[Curve], letter: str = "(c)") -> None:
    """Mean over the bodies of |1 - q.q| against time, logarithmic: samples pale, means over a
    hundredth of the run on top."""
    for label, style, file in reversed(curves):
        sampled = file["unit_length_error"]
        axes.plot(file["time"], np.where(sampled > 0.0, sampled, np.nan), color=mix(style["color"], "white", 0.65),
                  linewidth=0.4)
        means = file.blocks("unit_length_error", "mean")
        centres = (np.arange(means.size) + 0.5)/means.size*file.attributes["t_end"]
        axes.plot(centres, means, label=label, **style)
    axes.set(yscale="log", xlabel="time (s)", ylabel="mean $|1 - q_i\\cdot q_i|$", title=f"{letter} unit length error",
             xlim=(0.0, max(float(file["time"][-1]) for *_, file in curves)))


def three_panels(curves: list[Curve], draw_motion: Callable[[Figure, motion.Place], None], title: str,
                 height: float = 90.0) -> Figure:
    """Motion on the left, energy above length error on the right, one legend below them."""
    figure = new_figure(DOUBLE, height, layout=None)
    draw_motion(figure, (0.01, 0.02, 0.5, 0.91))
    figure.text(0.015, 0.955, f"(a) {title}", fontsize=8.0)
    upper, lower = figure.add_axes((0.61, 0.64, 0.375, 0.3)), figure.add_axes((0.61, 0.205, 0.375, 0.28))
    energy_panel(upper, curves)
    length_panel(lower, curves)
    figure.align_ylabels([upper, lower])
    handles, labels = upper.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="lower center", bbox_to_anchor=(0.78, 0.0),
                  ncols=3 if len(curves) < 4 else 2)
    return figure


def _compared(results: Results, problem: str, others: list[Curve]) -> tuple[RunFile, list[Curve]]:
    """The variational run and all curves of the panels: it, the one by the printed formulas (larger round-off) if
    there is one, the others."""
    vi = run_with(results, problem, "vi_sphere", form="increment")
    try:
        printed = [("VI, printed formulas", PRINTED, run_with(results, problem, "vi_sphere", form="paper"))]
    except InputError:
        printed = []
    return vi, [("VI", VI, vi), *printed, *others]


@drawing("Double spherical pendulum. (a) paths of both masses over the first 12 s, paler where earlier, the"
         " variational integrator as lines and ode45 as dots; the pendulum at the start (pale) and at the end of the"
         " paths, gravity points down. (b) total energy, (c) unit length error: means over hundredths of the run,"
         " samples pale. {runs}")
def figure1(results: Results) -> Figure:
    problem = problems_of(results, "spherical_pendulum_chain")[0]
    rk = run_with(results, problem, "ode45")
    vi, curves = _compared(results, problem, [("RK45", RK, rk)])
    return three_panels(curves, lambda figure, place: motion.pendulum(figure, place, vi, rk, RED, BLUE),
                        f"trajectory of the pendulum, 0 to {motion.SHOWN:g} s")


@drawing("Four spherical pendula connected by springs. (a) the variational solution at four times, with the paths of"
         " the masses over the last 0.1 s; gravity points down. (b) total energy, (c) unit length error; the fixed-step"
         " methods at the first step of the study. {runs}")
def figure3(results: Results) -> Figure:
    problem = problems_of(results, "spring_pendula")[0]
    rk, projected = (run_with(results, problem, "rk2_midpoint", projection=name) for name in ("none", "position"))
    vi, curves = _compared(results, problem, [("RK2 with projection", PROJECTED, projected), ("RK2", RK, rk)])
    return three_panels(curves, lambda figure, place: motion.springs(figure, place, vi), "motion of the pendula")


@drawing("Elastic rod after an impact. (a) the variational solution at several times, with its shadow on a horizontal"
         " plane; the first element is clamped, gravity points down. (b) total energy, which grows"
         " with RK45 here and falls in the paper; (c) unit length error. {runs}")
def figure4(results: Results) -> Figure:
    problem = problems_of(results, "elastic_rod")[0]
    rk = run_with(results, problem, "ode45", form="omega")
    vi, curves = _compared(results, problem, [("RK45", RK, rk)])
    figure = three_panels(curves, lambda figure, place: motion.rod(figure, place, vi), "deformation of the rod")
    change = rk["energy"][-1]/rk["energy"][0] - 1.0
    energy = figure.axes[-2]
    energy.text(0.03, 0.93, f"RK45 {'gains' if change > 0.0 else 'loses'} {abs(change):.1%} of the energy",
                transform=energy.transAxes, va="top", color=BLUE, fontsize=7.0)
    return figure


@drawing("Array of magnetic dipoles. (a) the variational solution at four times, with the paths of the north poles over"
         " the last 0.1 s; north red, south grey. (b) total energy, (c) unit length error. {runs}")
def figure5(results: Results) -> Figure:
    problem = problems_of(results, "dipole_array")[0]
    vi, curves = _compared(results, problem, [("RK45", RK, run_with(results, problem, "ode45"))])
    return three_panels(curves, lambda figure, place: motion.dipoles(figure, place, vi), "motion of the dipoles")
