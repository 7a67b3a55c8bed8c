"""The maps for spherical rigid bodies: rodrigues2021 eqs. (23), (25), (27), (30) and their symmetric compositions.

"q <- normalise(q + h/2 (0, w) q)" is the drift newmark, the leapfrog of discrete-element codes is the drift exp shifted
by half a kick, and a semi-implicit Euler step with an exponential is a whole kick before the drift exp (the tests
compute it).

With the half kick w = Omega + h/(2J) tau the attitude turns about the fixed axis w by an angle f(h|w|). For three equal
moments of inertia this is the exact flow of a kinetic energy that depends on |pi| only, so that each rule for f gives
an exactly symplectic map that keeps every momentum of a symmetry.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import dot, put, row, scale, sqrt, unit
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.attitude import to_quaternion
from liestep.geometry.rodrigues import RULES, cayley, cayley_modified, compose, compose_modified, increment
from liestep.geometry.so3 import quadratic
from liestep.integrators.kicks import FreeMotion, RigidSplit, kicked, needs_equal_moments
from liestep.integrators.one_step import WEIGHTS, Composition, order_of_weights, weighted
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.method import SMOOTH, Certified, Method, Places, each
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet


@borrows(FreeMotion)
class FreeTurn(NamedTuple):
    """A turn about the angular velocity, for three equal moments of inertia. STEP_TOO_LARGE where rule 0 has h|w| > 1.
    """

    rule: int  # of `geometry.rodrigues.increment`

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: Any) -> Status:
        w = scale(1.0/problem.moments(i)[0], row(y, 3*problem.bodies() + i))
        s, c = increment(self.rule, h, w)
        if not abs(c) < np.inf:
            return Status.STEP_TOO_LARGE
        for k in range(3):
            put(y, 3*i + k, quadratic(s, c, w, row(y, 3*i + k)))
        return Status.OK


@borrows(FreeMotion)
class ChartDrift(NamedTuple):
    """`FreeTurn`, but the attitude is kept in a chart as printed: alpha_(k+1) = alpha_k (+) delta
    with rescaled Rodrigues vectors (rodrigues2021 eq. (5)), or the same with modified Rodrigues parameters.

    CHART_LIMIT where an attitude has no coordinates: turned by pi, or by 2 pi for modified parameters.
    """

    rule: int
    modified: bool

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> np.ndarray:
        return np.zeros((problem.bodies(), 3), y.dtype)

    def enter(self, problem: RigidBodies, y: np.ndarray, chart: np.ndarray) -> Status:
        for i in range(problem.bodies()):
            w, x1, x2, x3 = to_quaternion(y[3*i:3*i + 3])
            scalar = 1.0 + w if self.modified else 0.5*w
            if not scalar > 0.0 and not scalar < 0.0:
                return Status.CHART_LIMIT
            put(chart, i, (x1/scalar, x2/scalar, x3/scalar))
        return Status.OK

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, chart: np.ndarray) -> Status:
        w = scale(1.0/problem.moments(i)[0], row(y, 3*problem.bodies() + i))
        s, c = increment(self.rule, h, w)
        if not abs(c) < np.inf:
            return Status.STEP_TOO_LARGE
        delta = scale(2.0*s/(2.0 - c*dot(w, w)), w)
        if self.modified:
            d, v = compose_modified(row(chart, i), scale(0.5/(1.0 + sqrt(1.0 + 0.25*dot(delta, delta))), delta))
        else:
            d, v = compose(row(chart, i), delta)
        if not (d > 0.0 or d < 0.0):
            return Status.CHART_LIMIT
        alpha = (v[0]/d, v[1]/d, v[2]/d)
        put(chart, i, alpha)
        s, c = cayley_modified(alpha) if self.modified else cayley(alpha)
        for k in range(3):
            put(y, 3*i + k, quadratic(s, c, alpha, unit(k)))
        return Status.OK


OPTIONS = {
    "drift": Option("newmark", "angle of the drift with z = h|w|: 2 arctan(z/2), eq. (25); arcsin z up to z = 1, eq."
                    " (23); or z", tuple(RULES)),
    "kick": Option("half", "half a kick before and after the drift, or a whole one before it: order 1, eqs. (27), (30)",
                   ("half", "whole")),
    "weights": WEIGHTS,
    "chart": Option("none", "how attitudes are kept: matrices; alpha as printed, singular at a turn of pi;"
                    " modified Rodrigues parameters, singular at 2 pi", ("none", "alpha", "modified")),
}


def _resolve(options: Options) -> dict[str, Any]:
    if options["kick"] == "whole" and options["weights"] != "one":
        raise InputError(f"option weights is {options['weights']!r}, which composes symmetric steps: allowed with"
                         " kick = whole is one")
    if options["chart"] != "none" and (options["kick"], options["weights"]) != ("half", "one"):
        raise InputError(f"option chart = {options['chart']} is for kick = half and weights = one only")
    return dict(options)


def _build(options: Options, tolerance: float | None, t_end: float) -> RigidSplit | Composition:
    rule, share = RULES[options["drift"]], 0.5 if options["kick"] == "half" else 1.0
    if options["chart"] != "none":
        return kicked(ChartDrift(rule, options["chart"] == "modified"))
    return Composition(kicked(FreeTurn(rule), share), composition_weights(options["weights"]))


def _order(options: Options, sheet: Sheet, parameters: Parameters) -> int:
    return 1 if options["kick"] == "whole" else order_of_weights(options, sheet, parameters)


METHODS = {
    "rodrigues": Method(
        summary="order 2, 4, 6 or 8 by weights, one evaluation of the forces, explicit, symmetric, for equal moments:"
        " kick, turn about a fixed axis, kick", order=2, formulation="rigid_bodies", symmetric=True, conserves=SMOOTH,
        citation="rodrigues2021 eqs. (23), (25), (27), (30)", options=OPTIONS, resolve=_resolve, order_for=_order,
        symmetric_for=lambda options, sheet, parameters: options["kick"] == "half", requires=needs_equal_moments,
        calls={"drift=exact": {}, "drift=exp": {}, "kick=whole": {
            "order": 1, "symmetric": False, "certified": Certified(each("drift", "exact", "exp"))},
               **weighted("y4", "s4", "kl6", kl8={"places": Places(reference=2, stands_in=1)})}, build=_build,
        places=Places(likely=True), certified=Certified(
            each("chart", "alpha", "modified"),
            same=tuple(({}, "rodrigues", {"chart": chart}) for chart in ("alpha", "modified")))),
}
