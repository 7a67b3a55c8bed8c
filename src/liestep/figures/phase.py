"""Generic figures of states against each other, of problems in coordinates q and momenta: phase portraits and sections
of Poincare, one panel for each run."""
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import marks
from liestep.figures.panels import curves, grid, label_of
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


def _draw(results: Results, points: Callable[[np.ndarray, np.ndarray], np.ndarray], freedoms: int,
          labels: tuple[str, str]) -> Figure:
    """One panel for each run that time series show of problems with so many coordinates."""
    shown = [(label_of(results, problem), curve) for problem in results.config.problems
             for curve in curves(results, problem) if "momentum" in curve.file.variables
             and np.shape(curve.file["q"])[1:] == (freedoms,)]
    styles = marks(results)
    figure, axes = grid([f"{problem}: {styles[curve.key].label}" for problem, curve in shown], 62.0)
    for panel, (_, curve) in zip(axes, shown, strict=True):
        panel.plot(*points(curve.file["q"], curve.file["momentum"]).T, linestyle="", marker=".", markersize=1.5,
                   color=styles[curve.key].colour)
        panel.set(xlabel=labels[0], ylabel=labels[1])
    return figure


@drawing("{title}: momentum against coordinate of one degree of freedom, at the stored samples. A motion that keeps"
         " its energy is one closed curve. {runs}")
def phase_portrait(results: Results) -> Figure:
    return _draw(results, lambda q, momentum: np.concatenate([q, momentum], axis=1), 1, ("$q$", "$p$"))


@drawing("{title}: section of Poincare, q_2 and its momentum where q_1 passes zero upward, between stored samples by"
         " cubic polynomials. Points of a regular motion lie on curves, those of a chaotic one fill areas. {runs}")
def section(results: Results) -> Figure:
    return _draw(results, section_of, 2, ("$q_2$", "$p_2$"))
