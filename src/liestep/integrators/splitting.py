"""Symmetric splittings of equations whose parts have known flows (McLachlan and Quispel 2002, Acta Numer. 11, 341).
Where each part keeps the volume of the state space, as shears do, the step does (Feng and Shang 1995, Numer. Math. 71,
451). Boris' method is one for charged particles (Boris 1970; Qin et al. 2013, Phys. Plasmas 20, 084503)."""
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    Certified,
    ChargedParticles,
    Keeps,
    Method,
    Option,
    Parts,
    Places,
    Status,
    Where,
    add,
    axpy,
    borrows,
    cos,
    cross,
    dot,
    put,
    row,
    scale,
    sin,
    sqrt,
)
from liestep.integrators.one_step import COMPOSED, WEIGHTS, OneStep, composed, order_of_weights, weighted
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


ROTATIONS = ("cayley", "exact")


@borrows(OneStep)
class Boris(NamedTuple):
    """Half a drift, half a push, the turn of the velocity about the field, half a push, half a drift: order 2,
    explicit, symmetric; each part keeps the volume, the turn the speed."""

    rotation: int  # of ROTATIONS

    def workspace(self, problem: ChargedParticles, y: np.ndarray) -> tuple[np.ndarray, ...]:
        n = y.shape[0]//2
        return np.zeros((n, 3), y.dtype), np.zeros((n, 3), y.dtype)

    def step(self, problem: ChargedParticles, t: float, y: np.ndarray, h: float,
             work: tuple[np.ndarray, ...]) -> Status:
        push, spin = work
        n = y.shape[0]//2
        for i in range(n):
            put(y, i, axpy(0.5*h, row(y, n + i), row(y, i)))
        problem.push(t + 0.5*h, y, push)
        problem.spin(t + 0.5*h, y, spin)
        for i in range(n):
            v = axpy(0.5*h, row(push, i), row(y, n + i))
            half = scale(0.5*h, row(spin, i))  # half the angle, its tangent for the exact turn
            if self.rotation == 1:
                angle = sqrt(dot(half, half))
                if angle > 0.0:
                    half = scale(sin(angle)/(angle*cos(angle)), half)
            between = add(v, cross(v, half))
            v = axpy(2.0/(1.0 + dot(half, half)), cross(between, half), v)
            v = axpy(0.5*h, row(push, i), v)
            put(y, n + i, v)
            put(y, i, axpy(0.5*h, v, row(y, i)))
        return Status.OK


METHODS = {
    "splitting": Method(
        summary="order 2, or 4 to 8 by weights; explicit, composes the flows of parts; Strang's splitting", order=2,
        formulation="parts", conserves=(VOLUME,), symmetric=True, order_for=order_of_weights,
        build=lambda options, tolerance, t_end: Splitting(composition_weights(options["weights"])),
        citation="Strang 1968, SIAM J. Numer. Anal. 5, 506", options={"weights": WEIGHTS},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=14)),
    "boris": composed(
        lambda options: Boris(ROTATIONS.index(options["rotation"])),
        summary="order 2, or 4 to 8 by weights; explicit, for charged particles, keeps the volume in phase space",
        formulation="charged_particles", forces="of time and position, at the middle of a step",
        conserves=(Keeps.VOLUME,), citation="Boris 1970; Qin et al. 2013, Phys. Plasmas 20, 084503",
        options={"rotation": Option("cayley", "turn of the velocity about the field: by twice the arc tangent of half"
                                    " the angle, or exact", ROTATIONS), "weights": WEIGHTS},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=8), certified=Certified((
            {}, {"rotation": "exact"}, {"rotation": "exact", "weights": "s4"}))),
}
