"""Public ids of the variational integrators on (S^2)^n: `vi_sphere` and its symmetric compositions."""
from typing import Any

from liestep.compile.precision import above_round_off
from liestep.errors import InputError
from liestep.integrators.composition import Composition
from liestep.integrators.variational_cayley import CayleyStep
from liestep.integrators.variational_sphere import ExplicitStep, MultiplierStep
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.keeping import VARIATIONAL
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options

OPTIONS = {
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


def _method(name: str, order: int, stages: int, source: str) -> Method:
    return Method(
        summary=f"order {order}, {stages} stage{'s'*(stages > 1)}, symmetric; explicit for diagonal"
        " mass, else implicit",
        order=order, formulation="sphere_lagrangian", symmetric=True,
        conserves=VARIATIONAL, citation=source,
        options=OPTIONS, resolve=_resolve,
        forces="half kicks by F at both ends, the last one solved to round-off: the same order; drag c on a mass m"
        f" converges up to a step of about {DRAG[name]} m/c (NOT_CONVERGED beyond)"
        + ("; vi_sphere_s4 has the same order and takes longer steps" if name == "y4" else ""),
        build=lambda options, tolerance, t_end: Composition(inner_step(options), composition_weights(name)))


METHODS = {
    "vi_sphere": _method("one", 2, 1, "twospheres2009 eqs. (22)-(30)"),
    "vi_sphere_y4": _method("y4", 4, 3, "Yoshida 1990"),
    "vi_sphere_s4": _method("s4", 4, 5, "Suzuki 1990"),
    "vi_sphere_y6": _method("y6", 6, 7, "Yoshida 1990, solution A"),
    "vi_sphere_kl6": _method("kl6", 6, 9, "Kahan and Li 1997"),
    "vi_sphere_kl8": _method("kl8", 8, 17, "Kahan and Li 1997"),
}
