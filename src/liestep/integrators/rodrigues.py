"""The maps for spherical rigid bodies: rodrigues2021 eqs. (23), (25), (27), (30) and their symmetric compositions.

"q <- normalise(q + h/2 (0, w) q)" is the drift newmark, the leapfrog of discrete-element codes is the drift exp shifted
by half a kick, and a semi-implicit Euler step with an exponential is a whole kick before the drift exp (the tests
compute it).
"""
from collections.abc import Mapping
from typing import Any

from liestep.errors import InputError
from liestep.geometry.rodrigues import EXACT, EXPONENTIAL, NEWMARK
from liestep.integrators.composition import WEIGHTS, Composition, order_of_weights, weighted
from liestep.integrators.kick_drift import ChartDrift, KickDrift
from liestep.integrators.kicks import needs_equal_moments
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.keeping import SMOOTH
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options, Sheet

RULES = {"newmark": NEWMARK, "exact": EXACT, "exp": EXPONENTIAL}
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


def _build(options: Options, tolerance: float | None, t_end: float) -> Any:
    rule, share = RULES[options["drift"]], 0.5 if options["kick"] == "half" else 1.0
    if options["chart"] != "none":
        return ChartDrift(rule, options["chart"] == "modified")
    return Composition(KickDrift(rule, share, 1.0 - share), composition_weights(options["weights"]))


def _order(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> int:
    return 1 if options["kick"] == "whole" else order_of_weights(options, sheet, parameters)


METHODS = {
    "rodrigues": Method(
        summary="order 2, 4, 6 or 8 by weights, one evaluation of the forces, explicit, symmetric, for equal moments:"
        " kick, turn about a fixed axis, kick", order=2, formulation="rigid_bodies", symmetric=True, conserves=SMOOTH,
        citation="rodrigues2021 eqs. (23), (25), (27), (30)", options=OPTIONS, resolve=_resolve, order_for=_order,
        symmetric_for=lambda options, sheet, parameters: options["kick"] == "half", requires=needs_equal_moments,
        calls={"drift=exact": {}, "drift=exp": {}, "kick=whole": {"order": 1, "symmetric": False},
               **weighted("y4", "s4", "kl6", "kl8")}, build=_build),
}
