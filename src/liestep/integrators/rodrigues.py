"""Public ids of the maps for spherical rigid bodies: rodrigues2021 eqs. (23), (25), (27), (30) and their symmetric
compositions.

"q <- normalise(q + h/2 (0, w) q)" is the drift of `rodrigues_newmark`, the leapfrog of discrete-element codes is
`rodrigues_exp` shifted by half a kick, and a semi-implicit Euler step with an exponential is `rodrigues_euler` with
drift exp (the tests compute it).
"""
from typing import Any

from liestep.geometry.rodrigues import EXACT, EXPONENTIAL, NEWMARK
from liestep.integrators.composition import Composition
from liestep.integrators.kick_drift import ChartDrift, KickDrift
from liestep.integrators.kicks import needs_equal_moments
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.keeping import SMOOTH
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options

RULES = {"newmark": NEWMARK, "exact": EXACT, "exp": EXPONENTIAL}
DRIFT = {"drift": Option("newmark", "angle of the drift with z = h|w|: 2 arctan(z/2), arcsin z up to z = 1, or z",
                         tuple(RULES))}
CHART = {"chart": Option("none", "how attitudes are kept: matrices; alpha as printed, singular at a turn of pi;"
                         " modified Rodrigues parameters, singular at 2 pi", ("none", "alpha", "modified"))}


def _build(drift: str) -> Any:
    def build(options: Options, tolerance: float | None, t_end: float) -> Any:
        if options["chart"] == "none":
            return Composition(KickDrift(RULES[drift], 0.5, 0.5), composition_weights("one"))
        return ChartDrift(RULES[drift], options["chart"] == "modified")

    return build


def _map(drift: str, summary: str, source: str) -> Method:
    return Method(summary=f"order 2, one evaluation of the forces, explicit, symmetric, for equal moments; {summary}",
                  order=2, formulation="rigid_bodies", symmetric=True, conserves=SMOOTH, citation=source, options=CHART,
                  requires=needs_equal_moments, build=_build(drift))


def _composition(name: str, order: int, stages: int, source: str) -> Method:
    return Method(summary=f"order {order}, {stages} stages, explicit, symmetric, for equal moments", order=order,
                  formulation="rigid_bodies", symmetric=True, conserves=SMOOTH, citation=source, options=DRIFT,
                  requires=needs_equal_moments,
                  build=lambda options, tolerance, t_end: Composition(KickDrift(RULES[options["drift"]], 0.5, 0.5),
                                                                      composition_weights(name)))


METHODS = {
    "rodrigues_exact": _map("exact", "turns by arcsin h|w|", "rodrigues2021 eq. (23)"),
    "rodrigues_newmark": _map("newmark", "turns by 2 arctan(h|w|/2)", "rodrigues2021 eq. (25)"),
    "rodrigues_exp": _map("exp", "turns by h|w|", "Strang splitting into kick and free motion"),
    "rodrigues_euler": Method(
        summary="order 1, one evaluation of the forces, explicit, for equal moments: a whole kick, then the drift",
        order=1, formulation="rigid_bodies", citation="rodrigues2021 eqs. (27), (30)",
        conserves=SMOOTH,
        options=DRIFT, requires=needs_equal_moments,
        build=lambda options, tolerance, t_end: Composition(KickDrift(RULES[options["drift"]], 1.0, 0.0),
                                                            composition_weights("one"))),
    "rodrigues_y4": _composition("y4", 4, 3, "Yoshida 1990"),
    "rodrigues_s4": _composition("s4", 4, 5, "Suzuki 1990"),
    "rodrigues_kl6": _composition("kl6", 6, 9, "Kahan and Li 1997"),
    "rodrigues_kl8": _composition("kl8", 8, 17, "Kahan and Li 1997"),
}
