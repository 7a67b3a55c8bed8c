"""The spherical midpoint method on products of spheres (McLachlan, Modin and Verdier 2014, Phys. Rev. E 89, 061301)."""
from functools import partial
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.roles import Arrays
from liestep.compile.rows import Vector, add, copy, dot, put, row, scale, sqrt, sub
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.groups.actions import SphereRotations
from liestep.geometry.rodrigues import cayley
from liestep.geometry.so3 import quadratic
from liestep.integrators._newton import STAGNATION, iterate
from liestep.integrators.one_step import OneStep, first_formulated, refused
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.method import VARIATIONAL, Method
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet


@kernel
def midpoint(a: Vector, b: Vector) -> tuple[Vector, float]:
    """The point of the sphere between a and b of equal length, and that length over |a + b|/2."""
    middle = add(a, b)
    size = dot(middle, middle)
    ratio = 1.0
    if size > 0.0:
        ratio = 2.0*sqrt(dot(a, a)/size)
    return scale(0.5*ratio, middle), ratio


@borrows(OneStep)
class SphericalMidpoint(NamedTuple):
    """y' = y + h w(m) x m, m_i = |y_i| (y_i + y'_i)/|y_i + y'_i|: order 2, implicit, symmetric, symplectic; linear
    invariants that are Casimirs of no sphere, such as sum Gamma_i q_i, are kept. Each vector turns by the Cayley map of
    h |y_i|/|y_i + y'_i| 2 w_i(m), which keeps its length whatever m is; the iteration on m goes on until its changes no
    longer shrink: what it left of them would add up over the steps, because without its end the map is not
    symplectic."""

    tolerance: float  # 0: of that alone
    iterations: int

    def workspace(self, problem: LieAction, y: np.ndarray) -> Arrays:
        return np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)

    def step(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        copy(y, work[0])
        status, _ = iterate(self, (problem, t, h, y, work), 0, 0.0, self.iterations)
        if status == Status.OK:
            copy(work[0], y)
        return status

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        problem, t, h, y, work = given
        new, middle, spin = work
        for i in range(y.shape[0]):
            put(middle, i, midpoint(row(y, i), row(new, i))[0])
        if not problem.algebra(t + 0.5*h, middle, spin):
            return Status.NOT_EVALUABLE, x, previous, False
        change, size = 0.0, 0.0
        for i in range(y.shape[0]):
            a, old = row(y, i), row(new, i)
            u = scale(h*midpoint(a, old)[1], row(spin, i))
            s, c = cayley(u)
            put(new, i, quadratic(s, c, u, a))
            gap = sub(row(new, i), old)
            change, size = max(change, dot(gap, gap)), max(size, dot(a, a))
        problem.counters[Counter.ITERATIONS] += 1
        change, size = sqrt(change), sqrt(size)
        if not change < np.inf:
            return Status.NOT_FINITE, x, change, False
        done = change*change <= self.tolerance*size*previous or 0.0 < previous <= change <= STAGNATION*size
        return Status.OK, x, change, done


def _require_spheres(options: Options, sheet: Sheet, parameters: Parameters) -> None:
    """Raises InputError for an action other than rotations of single vectors."""
    other = InputError("it needs a phase space that is a product of spheres; of a free body that is option action"
                       " coadjoint, and option chart must be exp")
    if options.get("action", "coadjoint") != "coadjoint":
        raise other
    formulated = first_formulated(sheet, parameters, "lie_action", options)
    action = getattr(formulated and formulated.problem, "action", None)
    if formulated and not isinstance(action, SphereRotations):
        raise other


PREFERRED = ({"action": "coadjoint"},)

METHODS = {
    "spherical_midpoint": Method(
        summary="order 2, implicit, on products of spheres: point vortices, the momentum of a free body",
        order=2, formulation="lie_action", symmetric=True,
        conserves=VARIATIONAL,
        citation="McLachlan, Modin and Verdier 2014, Phys. Rev. E 89, 061301", prefers=PREFERRED,
        options={"tolerance": Option("stagnation", "of the fixed-point iteration: error left, relative to the largest"
                                     " vector; stagnation iterates until changes no longer shrink", ("stagnation",),
                                     numbers="positive"),
                 "iterations": Option(100, "at most", numbers="whole")},
        combination=_require_spheres, requires=partial(refused, _require_spheres, "lie_action", PREFERRED),
        build=lambda options, tolerance, t_end: SphericalMidpoint(
            0.0 if options["tolerance"] == "stagnation" else options["tolerance"], options["iterations"])),
}
