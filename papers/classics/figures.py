"""States against each other: phase portraits and sections of Poincare."""
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.panels import curves
from liestep.paper import Results, drawing, grid, label_of, marks

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


def _states(results: Results, points: Callable[[np.ndarray, np.ndarray], np.ndarray], freedoms: int,
          labels: tuple[str, str]) -> Figure:
    """One panel for each run that time series show of problems with so many coordinates."""
    styles = marks(results)
    shown = [(f"{label_of(results, problem)}: {styles[key].label}", styles[key].colour, file)
             for problem in results.config.problems for key, _, file in curves(results, problem)
             if "momentum" in file.variables and np.shape(file["q"])[1:] == (freedoms,)]
    figure, axes = grid([title for title, *_ in shown], 62.0)
    for panel, (_, colour, file) in zip(axes, shown, strict=True):
        panel.plot(*points(file["q"], file["momentum"]).T, linestyle="", marker=".", markersize=1.5, color=colour)
        panel.set(xlabel=labels[0], ylabel=labels[1])
    return figure


@drawing("{title}: momentum against coordinate of one degree of freedom, at the stored samples. A motion that keeps its"
         " energy is one closed curve. {runs}")
def phase_portrait(results: Results) -> Figure:
    return _states(results, lambda q, momentum: np.concatenate([q, momentum], axis=1), 1, ("$q$", "$p$"))


@drawing("{title}: section of Poincare, q_2 and its momentum where q_1 passes zero upward, between stored samples by"
         " cubic polynomials. Points of a regular motion lie on curves, those of a chaotic one fill areas. {runs}")
def section(results: Results) -> Figure:
    return _states(results, section_of, 2, ("$q_2$", "$p_2$"))
