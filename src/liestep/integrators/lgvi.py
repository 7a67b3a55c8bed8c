"""The Lie group variational integrator of Lee, Leok and McClamroch for rigid bodies with any moments of inertia.

In body axes, with F = R_k^T R_(k+1) and the momentum P after the half kick, h hat(P) = F J_d - J_d F^T. For F = R(f) of
a rescaled Rodrigues vector f this is

    4/(4 + |f|^2) (J f + (f x J f)/2) = h P

which is solved by Newton's method; the spatial momentum does not change in the drift. For equal moments f is the closed
form of rodrigues2021 eq. (23), after which the equation has no solution near f = 0.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.method import Method
from liestep.contracts.option import Option
from liestep.contracts.sheet import Options
from liestep.core.counters import Counter
from liestep.core.rows import Vector, add, axpy, cross, dot, put, row, scale, sub
from liestep.core.status import Status
from liestep.geometry.attitude import to_body, to_space
from liestep.geometry.rodrigues import cayley
from liestep.geometry.so3 import quadratic
from liestep.integrators.composition import Composition
from liestep.integrators.kicks import kick, move
from liestep.integrators.weights import composition_weights


class LieGroupVariational(NamedTuple):
    """Order 2, symmetric, implicit in the attitude of each body alone; one evaluation of the forces per step.

    Symplectic, keeps momenta. Returns NOT_CONVERGED where Newton's method fails or meets a fold of the equation.
    """

    tolerance: float  # on the error left in f, relative to its size
    iterations: int   # at most

    def workspace(self, problem: Any, y: np.ndarray) -> Any:
        return np.zeros((2*problem.bodies(), 3), y.dtype)

    def start(self, problem: Any, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK if problem.forces(y, work) else Status.NOT_EVALUABLE

    def step(self, problem: Any, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = problem.bodies()
        kick(problem, 0.5*h, work, y)
        for i in range(n):
            ok, f = self.solve(problem, problem.moments(i), scale(h, to_body(y[3*i:3*i + 3], row(y, 3*n + i))))
            if not ok:
                return Status.NOT_CONVERGED
            u = to_space(y[3*i:3*i + 3], f)
            s, c = cayley(u)
            for k in range(3):
                put(y, 3*i + k, quadratic(s, c, u, row(y, 3*i + k)))
        move(problem, h, y)
        if not problem.forces(y, work):
            return Status.NOT_EVALUABLE
        kick(problem, 0.5*h, work, y)
        return Status.OK

    def solve(self, problem: Any, j: Vector, g: Vector) -> tuple[bool, Vector]:
        """f with J f + (f x J f)/2 = (1 + |f|^2/4) g, for moments j; from f = J^-1 g."""
        f = (g[0]/j[0], g[1]/j[1], g[2]/j[2])
        for _ in range(self.iterations):
            jf = (j[0]*f[0], j[1]*f[1], j[2]*f[2])
            residual = sub(axpy(0.5, cross(f, jf), jf), scale(1.0 + 0.25*dot(f, f), g))
            # columns of the derivative: J e + (e x J f + f x J e)/2 - (f.e)/2 g
            one = axpy(-0.5*f[0], g, axpy(0.5, add((0.0, -jf[2], jf[1]), (0.0, j[0]*f[2], -j[0]*f[1])),
                                          (j[0], 0.0, 0.0)))
            two = axpy(-0.5*f[1], g, axpy(0.5, add((jf[2], 0.0, -jf[0]), (-j[1]*f[2], 0.0, j[1]*f[0])),
                                          (0.0, j[1], 0.0)))
            three = axpy(-0.5*f[2], g, axpy(0.5, add((-jf[1], jf[0], 0.0), (j[2]*f[1], -j[2]*f[0], 0.0)),
                                            (0.0, 0.0, j[2])))
            volume = dot(one, cross(two, three))
            if not volume > 0.0:  # beyond a fold: no continuation of small steps
                return False, f
            problem.meter[Counter.LINEAR_SOLVES] += 1
            problem.meter[Counter.ITERATIONS] += 1
            step = (dot(residual, cross(two, three))/volume, dot(one, cross(residual, three))/volume,
                    dot(one, cross(two, residual))/volume)
            f = sub(f, step)
            # the error left is of the size of the square of the update
            change, size = dot(step, step), dot(f, f)
            if change*change <= self.tolerance*self.tolerance*size*size or change == 0.0:
                return True, f
        return False, f


OPTIONS = {"tolerance": Option(1e-15, "error left in the rotation of a step, relative to its size"),
           "iterations": Option(50, "Newton iterations of a body in a step, at most")}


def _method(name: str, order: int, stages: int, source: str) -> Method:
    def build(options: Options, tolerance: float | None, t_end: float) -> Any:
        return Composition(LieGroupVariational(options["tolerance"], options["iterations"]), composition_weights(name))

    return Method(summary=f"order {order}, {stages} stage{'s'*(stages > 1)}, symmetric, implicit in each attitude",
                  order=order, formulation="rigid_bodies", symmetric=True, citation=source, options=OPTIONS,
                  conserves="orthogonality, symplectic form, momentum maps; energy bounded where the forces are smooth",
                  build=build)


METHODS = {
    "lgvi": _method("one", 2, 1, "Lee, Leok and McClamroch 2007"),
    "lgvi_y4": _method("y4", 4, 3, "Lee, Leok and McClamroch 2007; Yoshida 1990"),
    "lgvi_kl8": _method("kl8", 8, 17, "Lee, Leok and McClamroch 2007; Kahan and Li 1997"),
}
