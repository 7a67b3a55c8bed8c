"""Symmetric splittings of equations whose parts have known flows (McLachlan and Quispel 2002, Acta Numer. 11, 341).
Where each part keeps the volume of the state space, as shears do, the step does (Feng and Shang 1995, Numer. Math. 71,
451)."""
from typing import NamedTuple

import numpy as np

from liestep.extend import Keeps, Method, Parts, Places, Status, Where, borrows
from liestep.integrators.one_step import COMPOSED, WEIGHTS, OneStep, order_of_weights, weighted
from liestep.integrators.weights import composition_weights

VOLUME = Where(Keeps.VOLUME, "where every part keeps it", lambda options, sheet, parameters: sheet.volume)


@borrows(OneStep)
class Splitting(NamedTuple):
    """Order of the weights, explicit, symmetric: for each weight w the flows of the parts, in their order for w h/2 and
    back for w h/2; neighbours of one part are one flow."""

    weights: np.ndarray  # (s,)

    def workspace(self, problem: Parts, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(y)

    def step(self, problem: Parts, t: float, y: np.ndarray, h: float, work: np.ndarray) -> Status:
        last = problem.parts() - 1
        half = 0.5*h*self.weights[0]
        problem.flow(0, half, y, work)
        for s in range(self.weights.shape[0]):
            for i in range(1, last):
                problem.flow(i, half, y, work)
            problem.flow(last, 2.0*half, y, work)
            for i in range(last - 1, 0, -1):
                problem.flow(i, half, y, work)
            before = half
            half = 0.5*h*self.weights[s + 1] if s + 1 < self.weights.shape[0] else 0.0*h
            problem.flow(0, before + half, y, work)
        return Status.OK


METHODS = {
    "splitting": Method(
        summary="order 2, or 4 to 8 by weights; explicit, composes the flows of parts; Strang's splitting", order=2,
        formulation="parts", conserves=(VOLUME,), symmetric=True, order_for=order_of_weights,
        build=lambda options, tolerance, t_end: Splitting(composition_weights(options["weights"])),
        citation="Strang 1968, SIAM J. Numer. Anal. 5, 506", options={"weights": WEIGHTS},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=14)),
}
