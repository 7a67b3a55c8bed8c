"""Public ids of the variational integrators on (S^2)^n: `vi_sphere` and its symmetric compositions."""
from typing import Any

from liestep.compile.precision import above_round_off
from liestep.errors import InputError
from liestep.integrators.composition import WEIGHTS, Composition, order_of_weights, weighted
from liestep.integrators.variational_cayley import CayleyStep
from liestep.integrators.variational_sphere import ExplicitStep, MultiplierStep
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.keeping import VARIATIONAL
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options

OPTIONS = {
    "weights": WEIGHTS,
    "solver": Option("auto", "how the step is solved; auto is explicit for diagonal mass and multipliers otherwise",
                     ("auto", "explicit", "multipliers", "newton", "fixed_point")),
    "form": Option("increment", "increment never subtracts q+ - q; paper is the printed form, with larger round-off",
                   ("increment", "paper")),
    "tolerance": Option(1e-15, "implicit solvers: error left, relative to the largest unknown"),
    "iterations": Option(50, "implicit solvers: at most so many iterations"),
}


# largest c h/m of a drag -c v on one mass m with which the iterations of all substeps converge, also those with
# negative steps, which y4 has the longest of; measured
DRAG = {"one": 1.2, "y4": 0.7, "s4": 1.9, "y6": 0.9, "kl6": 1.5, "kl8": 2.1}


def _resolve(options: Options) -> dict[str, Any]:
    """Replace solver = auto; an explicit step leaves the solver's numbers out of the specification. An implicit one on
    uncoupled bodies is the same map, to be compared with the explicit one: it takes their mass as a full matrix."""
    options, diagonal = dict(options), options["mass"] == "diagonal"
    if options["solver"] == "auto":
        options["solver"] = "explicit" if diagonal else "multipliers"
    if options["solver"] != "explicit":
        return options | {"mass": "dense"}
    if not diagonal:
        raise InputError("option solver = explicit needs a diagonal mass matrix; allowed here are multipliers, newton,"
                         " fixed_point")
    return {name: value for name, value in options.items() if name not in ("tolerance", "iterations")}


def inner_step(options: Options) -> Any:
    """The one-step component that the options describe."""
    increment = options["form"] == "increment"
    if options["solver"] == "explicit":
        return ExplicitStep(increment, above_round_off(4))
    if options["solver"] == "multipliers":
        return MultiplierStep(increment, options["tolerance"], options["iterations"], above_round_off(4))
    return CayleyStep(options["solver"] == "newton", increment, options["tolerance"], options["iterations"],
                      above_round_off(3))


METHODS = {
    "vi_sphere": Method(
        summary="order 2, 4, 6 or 8 by weights, symmetric; explicit for diagonal mass, else implicit", order=2,
        formulation="sphere_lagrangian", symmetric=True, conserves=VARIATIONAL,
        citation="twospheres2009 eqs. (22)-(30)", options=OPTIONS, resolve=_resolve,
        order_for=order_of_weights, calls=weighted("y4", "s4", "y6", "kl6", "kl8"),
        forces="half kicks by F at both ends, the last one solved to round-off: the same order; drag c on a mass m"
        f" converges up to a step of about {DRAG['one']} m/c (NOT_CONVERGED beyond), with weights"
        f" {', '.join(f'{name} {limit} m/c' for name, limit in DRAG.items() if name != 'one')}: s4 takes longer steps"
        " than y4",
        build=lambda options, tolerance, t_end: Composition(inner_step(options),
                                                            composition_weights(options["weights"]))),
}
