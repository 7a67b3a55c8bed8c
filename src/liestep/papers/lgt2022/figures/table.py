"""Figure 1 and table 1 of lgt2022, made from the code that the runs use."""
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.compile.tracing import Functions, plain_component
from liestep.figures.panels import label_of
from liestep.figures.style import DOUBLE, Results, drawing, subplots
from liestep.integrators.tableaux import TABLEAUX
from liestep.papers.lgt2022.transition_maps import NAMES, row_of
from liestep.simulation.runs.execution import build

PROBLEM, METHOD = "slow_top", "rkmk4_1a"
ABSOLUTE = {"1": "unit quaternion, position", "2": "rotation vector, position"}
LOCAL = {"a": "screw coordinates, SE(3)", "b": "rotation vector and position", "c": "Rodrigues vector and position",
         "d": "Rodrigues vector, SE(3)"}
PLAIN = Functions(np.sqrt, np.sin, np.cos, lambda x, limit: x < limit)
PLACES = (0.43, 1.5, 2.58, 3.57)  # of the columns of boxes
ARROWS = ((0.86, 0.99), (2.0, 2.13), (3.02, 3.14))
HEADS = ("local coordinates $X_i$", "map $q_i = \\tau(q_k, X_i)$", "model: $\\dot V_i$ at $(q_i, V_i)$",
         "$\\dot X_i = d\\psi^{-1}_{-X_i} V_i$")


def stages(problem: Any, start: np.ndarray, h: float) -> tuple[list[tuple[np.ndarray, ...]], np.ndarray]:
    """(X_i, state i, rates in the algebra, dX_i/dt) of one classical Runge-Kutta step, and the state after it."""
    tableau = TABLEAUX["rk4"]
    a, b = np.asarray(tableau.a, dtype=float), np.asarray(tableau.b, dtype=float)
    slopes: list[np.ndarray] = []
    found: list[tuple[np.ndarray, ...]] = []
    for i in range(len(b)):
        x: np.ndarray = np.zeros((problem.algebra_rows(), 3))
        for j in range(i):
            x = x + h*a[i, j]*slopes[j]
        state, rate, slope = start.copy(), np.zeros_like(x), np.zeros_like(x)
        problem.act(x, start, state)
        if not (problem.algebra(0.0, state, rate) and problem.dexpinv(x, rate, slope)):
            raise ValueError("a stage of the step of figure 1 cannot be evaluated")
        slopes.append(slope)
        found.append((x, state, rate, slope))
    end = start.copy()
    problem.act(h*sum(weight*slope for weight, slope in zip(b, slopes, strict=True)), start, end)
    return found, end


def _numbers(name: str, values: np.ndarray) -> str:
    return f"{name} = ({', '.join(f'{value:+.3f}' for value in values)})"


def _box(axes: Axes, x: float, y: float, lines: list[str], colour: str) -> None:
    axes.text(x, y, "\n".join(lines), ha="center", va="center", fontsize=5.2, family="DejaVu Sans Mono",
              bbox={"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "0.4", "linewidth": 0.6})


@drawing("The flow of figure 1 of the paper with the numbers of one classical Runge-Kutta step of the slow top through"
         " the map 1a: the local coordinates of a stage are zero, or the step times a sum of the slopes before it."
         " {runs}")
def figure1(results: Results) -> Figure:
    spec = results.study.select(PROBLEM, METHOD)[0].spec
    formulated, _ = build(spec)
    found, end = stages(plain_component(formulated.problem, PLAIN, np.float64), formulated.start, float(spec.step or 0))
    figure, axes = subplots(DOUBLE, 116.0)
    axes.set_axis_off()
    axes.set(xlim=(0.0, 4.0), ylim=(-0.9, 5.4))
    for place, head in zip(PLACES, HEADS, strict=True):
        axes.text(place, 4.55, head, ha="center", fontsize=7.0)
    _box(axes, 2.0, 5.15, ["start: " + _numbers("Q", formulated.start[0]), _numbers("r", formulated.start[1, :3]) + "  "
                           + _numbers("w", formulated.start[2, :3])], "#DDEAF5")
    for i, (x, state, rate, slope) in enumerate(found):
        y = 3.9 - i
        _box(axes, PLACES[0], y, [_numbers("x", x[0]), _numbers("y", x[1])], "#FCE7D6")
        _box(axes, PLACES[1], y, [_numbers("Q", state[0]), _numbers("r", state[1, :3])], "#DDEAF5")
        _box(axes, PLACES[2], y, [_numbers("w'", rate[2]), _numbers("v'", rate[3])], "#E2F1EA")
        _box(axes, PLACES[3], y, [_numbers("x'", slope[0]), _numbers("y'", slope[1])], "#FCE7D6")
        for begin, tip in ARROWS:
            axes.annotate("", (tip, y), (begin, y), arrowprops={"arrowstyle": "->", "linewidth": 0.7})
        if i < len(found) - 1:
            axes.annotate("", (PLACES[0], y - 0.68), (PLACES[3], y - 0.32), arrowprops={
                "arrowstyle": "->", "linewidth": 0.5, "color": "0.55", "connectionstyle": "arc3,rad=0"})
    _box(axes, 2.0, -0.35, [f"after {spec.step:g} s: " + _numbers("Q", end[0]), _numbers("r", end[1, :3]) + "  "
                            + _numbers("w", end[2, :3])], "#DDEAF5")
    return figure


@drawing("Table 1 of the paper, made from the code: the eight local-global transition maps, how far each is from the"
         " product of its group, its floating-point operations for one body, of the map and of the inverse"
         " differential, and the time of a Runge-Kutta step relative to quaternions as a state vector. {runs}")
def table1(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure, axes = subplots(DOUBLE, 66.0)
    axes.set_axis_off()
    head = ["", "absolute coordinates", "local coordinates", "defect", "map", "rate", *(
        label_of(results, problem) for problem in problems)]
    body = []
    for name in NAMES:
        row = row_of(name)
        times = [float(results.select(problem, f"rkmk4_{name}")["seconds"].iloc[0]
                       /results.select(problem, "quaternion")["seconds"].iloc[0]) for problem in problems]
        body.append([name, ABSOLUTE[name[0]], LOCAL[name[1]], f"{row.defect:.0e}", str(row.act), str(row.rate),
                     *(f"{value:.2f}" for value in times)])
    shown = axes.table(cellText=body, colLabels=head, loc="center", cellLoc="center",
                       colWidths=[0.04, 0.17, 0.19, 0.06, 0.05, 0.05, *([0.44/len(problems)]*len(problems))])
    shown.auto_set_font_size(False)
    shown.set_fontsize(6.0)
    shown.scale(1.0, 1.35)
    for (i, _), cell in shown.get_celld().items():
        cell.set_linewidth(0.4)
        if i == 0:
            cell.set_facecolor("#E8ECF0")
    return figure
