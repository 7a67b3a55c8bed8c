"""Integrators from Livens' principle (Kinon and Betsch 2024, livens2025): positions, velocities and momenta are
independent, q' = v, p' = dL/dq - Dg^T lambda, p = dL/dv, g(q) = 0, so that the mass matrix may be singular.

eml keeps the generalized energy p.v - T + V to round-off, mpl is the midpoint rule of the same equations. In a unit
quaternion the mass matrix is singular along q, and the velocities of eml carry a parasite there, q.v, that grows
exponentially while the generalized energy stands still: see docs/energy_momentum.md before long runs. Chains of bodies
are eliminated one after the other by the reduced solver (`_linked_bodies`), in time proportional to their number.
"""
from collections.abc import Callable, Mapping
from typing import Any

from liestep.errors import InputError
from liestep.integrators._livens_null_space import NullSpaceStep
from liestep.integrators._livens_steps import RULES, FullStep, ReducedStep
from liestep.integrators.composition import COMPOSED, Composition
from liestep.integrators.weights import SCHEMES, composition_weights
from liestep.mechanics.contracts.keeping import IN_LINES, MOMENTA, OF_POSITIONS, Keeps
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options, Sheet

TIED_WEIGHTS = Option("one", "symmetric composition of the step; with joints momenta stay at order 2, positions at 4",
                      COMPOSED)
SOLVER = Option("reduced", "unknowns: reduced d and multipliers, full also v and p, null_space a rotation vector (one"
                " quaternion only); one map, three costs", ("reduced", "full", "null_space"))
STOP = {
    "stop": Option("round_off", "round_off: until the error left is round-off; printed: residual 1e-9 tested before the"
                   " update", ("round_off", "printed")),
    "tolerance": Option(1e-15, "error left in the increment of a step, as Newton's last two changes show it, relative"
                        " to the increment"),
    "iterations": Option(40, "Newton iterations, at most"),
}
GRADIENT = Option("equivariant", "discrete derivative of T and V where a system has no exact quotient: of Gonzalez, its"
                  " direction freed of the declared symmetries (equivariant) or not, or the mean value by Gauss points",
                  ("equivariant", "gonzalez", "average"))


def _resolve(options: Options) -> dict[str, Any]:
    """Raises InputError where a solver or a composition has no meaning."""
    if options.get("solver") == "null_space" and options.get("mass_matrix") is None:
        raise InputError("option solver is null_space, which is for the quaternion of a single body; allowed here are"
                         " reduced, full")
    if options.get("solver") == "null_space" and options.get("coordinates") != "quaternion":
        raise InputError("option solver is null_space, which is for coordinates quaternion; allowed here are reduced,"
                         " full")
    return dict(options)


def _inner(rule: int, options: Options) -> Any:
    settings = (options["stop"] == "printed", options["tolerance"], options["iterations"])
    if options["solver"] == "full":
        return FullStep(rule, *settings)
    if options["solver"] == "null_space":
        return NullSpaceStep(rule, *settings)
    return ReducedStep(rule, False, *settings)


def composed_order(highest: int) -> Callable[[Options, Sheet, Mapping[str, Any]], int]:
    """Order of the weights, but at most `highest`, and 2 for bodies with joints.

    The part of p along the constraints changes its sign in each step, which therefore is not near the identity. In
    eml and mpl it arises where there is a potential, in all schemes that do not project p where there are joints, whose
    constraints show in the momenta of the bodies: positions and attitudes reach 4 there.
    """
    def order(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> int:
        system = sheet.build(parameters)
        tied = hasattr(system, "joints") and system.joints() > 0
        return min(SCHEMES[options["weights"]].order, 2 if tied else highest)

    return order


def _energetic(options: Options, tolerance: float | None, t_end: float) -> Composition:
    return Composition(_inner(RULES[options["gradient"]], options), composition_weights(options["weights"]))


def _midpoint(options: Options, tolerance: float | None, t_end: float) -> Composition:
    return Composition(_inner(RULES["midpoint"], options), composition_weights(options["weights"]))


def _projected(options: Options, tolerance: float | None, t_end: float) -> Composition:
    inner = ReducedStep(RULES[options["gradient"]], True, options["stop"] == "printed", options["tolerance"],
                        options["iterations"])
    return Composition(inner, composition_weights(options["weights"]))


METHODS = {
    "eml": Method(
        summary="order 2, symmetric, implicit, for singular mass matrices and constraints; with a potential order 4"
        " at most by weights", order=2, formulation="constrained_lagrangian", symmetric=True,
        conserves=(*OF_POSITIONS, MOMENTA, IN_LINES, Keeps.BOUNDED),
        citation="livens2025 eqs. (72), (86), (103), remark 4.11",
        options={"solver": SOLVER, "gradient": GRADIENT, "weights": TIED_WEIGHTS, **STOP}, resolve=_resolve,
        order_for=composed_order(4), build=_energetic),
    "mpl": Method(
        summary="order 2, symmetric, implicit midpoint rule of Livens' equations; with a potential order 4 at most by"
        " weights", order=2, formulation="constrained_lagrangian", symmetric=True,
        conserves=(*OF_POSITIONS, MOMENTA, Keeps.BOUNDED),
        citation="livens2025, section 5.4", options={"solver": SOLVER, "weights": TIED_WEIGHTS, **STOP},
        resolve=_resolve, order_for=composed_order(4), build=_midpoint),
    "eml_p": Method(
        summary="order 2, 3 at most by weights, implicit, not symmetric: eml, then q.v of each quaternion is removed",
        order=2,
        formulation="constrained_lagrangian",
        conserves=(*OF_POSITIONS, MOMENTA, IN_LINES),
        citation="own; livens2025 remark 4.8",
        options={"gradient": GRADIENT, "weights": TIED_WEIGHTS, **STOP}, order_for=composed_order(3),
        build=_projected),
}
