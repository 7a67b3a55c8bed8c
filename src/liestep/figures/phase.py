"""Generic figures of states against each other, of problems in coordinates q and momenta: phase portraits and sections
of Poincare, one panel for each problem of a study."""
import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import marks
from liestep.figures.panels import Curve, curves, grid, label_of, legend_below
from liestep.figures.style import Results, drawing

NODES = np.arange(-1.0, 3.0)  # samples about a crossing, which lies between 0 and 1
STEPS = 50                    # halvings of that interval


def section_of(q: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """(k, 2) q_2 and its momentum where q_1 (n, d) becomes positive, by cubic polynomials through four equally spaced
    samples (Henon and Heiles 1964)."""
    first = np.flatnonzero((q[1:-2, 0] < 0.0) & (q[2:-1, 0] >= 0.0))
    low, high = np.zeros((2, len(first)))
    high += 1.0

    def at(column: np.ndarray, place: np.ndarray) -> np.ndarray:
        found = np.zeros(len(first))
        for k, node in enumerate(NODES):
            others = np.delete(NODES, k)
            found += column[first + k]*np.prod((place[:, None] - others)/(node - others), axis=1)
        return found

    for _ in range(STEPS):
        middle = 0.5*(low + high)
        below = at(q[:, 0], middle) < 0.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.stack([at(q[:, 1], low), at(momentum[:, 1], low)], axis=1)


def _shown(results: Results, freedoms: int) -> dict[str, list[Curve]]:
    """Problem -> its runs, where they have so many coordinates."""
    found = {problem: [curve for curve in curves(results, problem) if "momentum" in curve.file.variables
                       and np.shape(curve.file["q"])[1:] >= (freedoms,)] for problem in results.config.problems}
    return {problem: runs for problem, runs in found.items() if runs}


@drawing("{title}: the first momentum against its coordinate, at the stored samples. A motion of one degree of freedom"
         " that keeps its energy is one closed curve. {runs}")
def phase_portrait(results: Results) -> Figure:
    shown, styles = _shown(results, 1), marks(results)
    figure, axes = grid([label_of(results, problem) for problem in shown], 58.0, extra=12.0)
    for panel, found in zip(axes, shown.values(), strict=True):
        for curve in found:
            panel.plot(curve.file["q"][:, 0], curve.file["momentum"][:, 0], **styles[curve.key].line)
        panel.set(xlabel="$q_1$", ylabel="$p_1$")
    used = {curve.key for found in shown.values() for curve in found}
    legend_below(figure, [mark for key, mark in styles.items() if key in used], marker=False)
    return figure


@drawing("{title}: section of Poincare, q_2 and its momentum where q_1 passes zero upward, between stored samples by"
         " cubic polynomials. Points of a regular motion lie on curves, those of a chaotic one fill areas. {runs}")
def section(results: Results) -> Figure:
    shown, styles = _shown(results, 2), marks(results)
    figure, axes = grid([f"{label_of(results, problem)}: {styles[curve.key].label}" for problem, found in shown.items()
                         for curve in found], 62.0)
    for panel, curve in zip(axes, (curve for found in shown.values() for curve in found), strict=True):
        points = section_of(curve.file["q"], curve.file["momentum"])
        panel.plot(*points.T, linestyle="", marker=".", markersize=1.5, color=styles[curve.key].colour)
        panel.set(xlabel="$q_2$", ylabel="$p_2$")
    return figure
