"""Boris' method for charged particles and its symmetric compositions (Boris 1970; Qin et al. 2013, Phys. Plasmas 20,
084503: it conserves volume in phase space)."""
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    Certified,
    ChargedParticles,
    Keeps,
    Option,
    Places,
    Status,
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
from liestep.integrators.one_step import COMPOSED, WEIGHTS, OneStep, composed, weighted

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
