"""Order certificates: the local error of one step over eight decades of h in 150 digits.

The slope of the error between the two smallest steps, less one, is the order; at h = 1e-10 it differs from a whole
number by about 1e-8, so that one wrong digit of a coefficient in the ninth place shows. Pairs are certified for the new
state, the error estimate and the dense output."""
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite, log10
from typing import Any, NamedTuple

import numpy as np

from liestep.integrators.tableaux import PAIRS
from liestep.mechanics.contracts.sheet import Options
from liestep.simulation.catalogue import integrator_calls, method
from liestep.simulation.runs.specification import applicable, start_of
from liestep.tools.certify.number import numbers
from liestep.tools.certify.steps import OTHERWISE, Case, Step, flow_of, largest, step_of

DIGITS = 150
STEPS = (Fraction(1, 100), Fraction(1, 100)**4, Fraction(1, 100)**5)
SHARE = Fraction(1, 100)   # of a step, where dense output is compared: a time that other steps need as well
ALLOWED = 1e-6
ENOUGH = (0, 1, 3)   # of the cases of a method that has more than three: two systems on spheres and a top
# DOP853 is published with 30 decimals: its order ends where the error of a step reaches them
DECIMALS_STEPS = (Fraction(1, 400), Fraction(1, 1000))
DECIMALS_SHARE = DECIMALS_STEPS[1]/DECIMALS_STEPS[0]
DECIMALS_ALLOWED = 0.05
FLOW_SHARE = -3.0   # largest logarithm of the error of the flow divided by the smallest error of a step
# what the docstrings of the pairs say of their dense output
DENSE_ORDERS = {"cf_pair": 3, "dop853": 7, "ode45": 4, "ode45_norm": 4, "rkmk853": 7}
# methods that know their step before it is made: from the last coefficients, or from the fictitious time
WITHOUT_ESTIMATE = ("taylor", "lie_taylor", "sphere_regularised")
# of the methods that take any pair: its own extension, or a cubic polynomial through both ends
DENSE_ORDERS_OF_PAIRS = {"dormand_prince54": 4, "heun_euler21": 2}

CASES = (
    Case("chain of two pendula", "spherical_pendulum_chain", "orders"),
    Case("three bodies on the sphere", "sphere_nbody", "paper"),
    Case("rod of three elements", "elastic_rod", "no_gravity", {"elements": 3, "stiffness": 1.0}),
    Case("asymmetric top", "heavy_top", "asymmetric"),
    Case("asymmetric top, other inertia", "heavy_top", "asymmetric", {"inertia": [0.5, 1.1, 0.8]}),
    Case("asymmetric top, other axis", "heavy_top", "asymmetric", {"axis": [0.8, 0.0, 0.6], "length": 0.75}),
)

_TILTED = {"gravity": [0.48, 0.6, -0.64]}
PENDULA = (  # for methods that need three equal moments
    Case("spherical pendulum", "heavy_top", "rodrigues2021", _TILTED),
    Case("spherical pendulum, other inertia", "heavy_top", "rodrigues2021", {**_TILTED, "inertia": [0.5]*3}),
    Case("spherical pendulum, other axis", "heavy_top", "rodrigues2021", {"axis": [0.36, 0.48, 0.8], "length": 0.75}),
)
UNCOUPLED = (  # for methods that need a diagonal mass matrix, beside the bodies on the sphere above
    Case("four bodies on the sphere", "sphere_nbody", "four_bodies"),
    Case("three bodies on the sphere, other masses", "sphere_nbody", "paper", {"mass": [0.5, 1.25, 2.0]}),
)
SPRINGS = tuple(  # for methods that need canonical coordinates
    Case(f"two springs{words}", "mass_spring", "printed", {"mass": mass, "stiffness": stiffness})
    for words, mass, stiffness in (("", [2.0, 1.0], [4.0, 3.0]), (", other masses", [0.5, 1.25], [4.0, 3.0]),
                                   (", other stiffness", [2.0, 1.0], [1.0, 6.0])))
TRAPS = (Case("Penning trap", "penning_trap", "ideal"),
         Case("Penning trap, field off the axis", "penning_trap", "tilted"),
         Case("Penning trap, longer axis", "penning_trap", "tilted", {"axial": 0.5}))
VORTICES = tuple(Case(f"vortices, {name}", "sphere_vortices", name) for name in ("four", "pair", "ring"))


class Variant(NamedTuple):
    """Options of an integrator; `problem` when only one problem has them."""

    options: Mapping[str, Any]
    problem: str = ""


def _of(*chosen: Options | tuple[Options, str]) -> tuple[Variant, ...]:
    return tuple(Variant(*one) if isinstance(one, tuple) else Variant(one) for one in chosen)


def _each(key: str, *values: Any) -> tuple[Variant, ...]:
    """The defaults, and each of some values of one option."""
    return _of({}, *({key: value} for value in values))


SPLITTINGS = _each("splitting", "strang", "y4", "s4", "kl6", "kl8", "rkn4", "rkn6")  # the default is rkn6a
_CHAIN, _TOP = "spherical_pendulum_chain", "heavy_top"
VARIANTS: dict[str, tuple[Variant, ...]] = {
    "vi_sphere": _of({}, {"solver": "multipliers"}, {"solver": "newton"}, {"solver": "fixed_point"}, {"form": "paper"}),
    "slgi": _each("theta", 0.0, 0.25),
    "rk4": _of({}, ({"projection": "state"}, _CHAIN), ({"form": "velocity"}, _CHAIN), ({"form": "coadjoint"}, _TOP),
               ({"mass": "banded"}, _CHAIN)),
    "rkmk": _of({}, ({"action": "direct"}, _TOP), ({"action": "coadjoint"}, _TOP),
                ({"alpha": 0.5, "beta": 0.25}, _CHAIN), ({"chart": "cayley"}, _CHAIN), ({"chart": "cayley2"}, _TOP),
                ({"chart": "second_kind"}, _CHAIN), ({"chart": "second_kind"}, _TOP), {"tableau": "dop853"},
                {"tableau": "midpoint"}, {"tableau": "dop853", "dexpinv": 4}),
    "cf4": _of({}, ({"chart": "cayley"}, _TOP), ({"chart": "second_kind"}, _CHAIN)),
    "cf_pair": _of({}, ({"distance": "riemannian"}, _CHAIN), ({"distance": "riemannian"}, _TOP)),
    "runge_kutta": _each("tableau", "kutta3", "dormand_prince5", "dop853")[1:],
    "gauss": _each("stages", 1, 3, 4, 5, 6), "lobatto": _each("stages", 2, 4, 5),
    "verlet": _of({}, {"first": "position"}, {"first": "position", "weights": "s4"}),
    "boris": _of({}, {"rotation": "exact"}, {"rotation": "exact", "weights": "s4"}),
    "discrete_gradient": _each("rule", "mean_value", "itoh_abe"),
    "rkmk tableau=dormand_prince5": _each("dexpinv", 0, 1, 2),
    "rodrigues": _each("chart", "alpha", "modified"), "rodrigues kick=whole": _each("drift", "exact", "exp"),
    "campello": _each("phi", 0.5),
    # not on chains: where masses are coupled, the multipliers leave an error h^2 in velocities that alternates in sign
    # from step to step and does not add up, so that a single step is of order 1 and the method of order 2
    "eml": _of(({}, _TOP), ({"solver": "full"}, _TOP), ({"solver": "null_space"}, _TOP)), "eml_p": _of(({}, _TOP)),
    "mpl": _of(({}, _TOP), ({"solver": "full"}, _TOP), ({"solver": "null_space"}, _TOP)),
    "mph": _each("variant", "a", "x"),
    "emh": _each("weights", "s4", "kl8"), "em_rotation": _each("weights", "s4", "kl8"),
    "exact_split": SPLITTINGS, "sphere_split": SPLITTINGS,
    "dmv": _of({}, *({"order": order, "splitting": name} for order, name in ((2, "kl6"), (4, "rkn4"), (6, "rkn6")))),
    "sphere_regularised": _each("splitting", "y4", "s4", "kl6", "kl8"),
    "body_midpoint": _each("splitting", "s4"), "lie_midpoint": _each("splitting", "y4"),
    "taylor": _of({"order": 8}, {"order": 11}, {"order": 3}, ({"order": 6, "form": "omega"}, _CHAIN),
                  ({"order": 6, "form": "coadjoint"}, _TOP)),
    "lie_taylor": _each("order", 8, 11, 3)[1:],
    "rkmk_pair": _of({}, ({"chart": "cayley"}, _CHAIN),
                     *({"tableau": name} for name in PAIRS if name != "dormand_prince54"),
                     {"norm": "algebra"}, {"tableau": "bogacki_shampine32", "dexpinv": 1}),
}


class Certificate(NamedTuple):
    """What was found for one quantity of one integrator on one case; `slopes` are those of the error less one."""

    integrator: str
    options: str
    case: str
    quantity: str      # state | error estimate | dense output
    declared: int
    slopes: tuple[float, ...]
    allowed: float
    at_least: bool     # a truncated dexpinv may be better than declared on a problem, but not on all

    @property
    def found(self) -> float:
        return self.slopes[-1]

    @property
    def passed(self) -> bool:
        gap = self.found - self.declared
        return isfinite(gap) and -self.allowed <= gap and (self.at_least or gap <= self.allowed)


def able(case: Case, integrator: str) -> bool:
    """Whether an integrator can run on a case in many digits."""
    if method(integrator).formulation in OTHERWISE:
        return False
    start = start_of(case.problem, preset=case.preset, parameters=case.parameters)
    return applicable(case.problem, integrator, start.parameters)


def cases_of(integrator: str, cases: Sequence[Case] = CASES) -> list[Case]:
    """Those cases that an integrator can run on, or pendula for one that needs equal moments, vortices for one
    that needs a product of spheres, springs for one that needs canonical coordinates,
    a trap for one that needs a charged particle; for one that needs a diagonal mass matrix more of those."""
    found = next((able_ones for group in (cases, PENDULA, VORTICES, SPRINGS, TRAPS)
                  if (able_ones := [case for case in group if able(case, integrator)])), [])
    if not found or [case.problem for case in found] == [UNCOUPLED[0].problem]:
        found += [case for case in UNCOUPLED if able(case, integrator)]
    return found


def variants_of(integrator: str) -> Iterator[tuple[Mapping[str, Any], list[Case]]]:
    """Options of an integrator with the cases that certify them: three for its defaults and for a dexpinv that is cut,
    whose order is the smallest of all; the first, or one that a variant names, for what else may be chosen."""
    for place, (options, problem) in enumerate(VARIANTS.get(integrator, (Variant({}),))):
        cases = cases_of(integrator, [case for case in CASES if problem in ("", case.problem)])
        yield options, (cases[:1] if place and "dexpinv" not in options else
                        [cases[i] for i in ENOUGH] if len(cases) > len(ENOUGH) else cases)


def certify(integrator: str, options: Mapping[str, Any] | None = None,
            cases: Sequence[Case] = CASES) -> list[Certificate]:
    """Certificates of one integrator with these options on all cases that it can run on, or on those given. Raises
    InputError: unknown id or options; RoundedError: a float64 takes part in the digits."""
    return [one for case in cases_of(integrator, cases)
            for one in certificates_of(step_of(case, integrator, options, DIGITS), integrator, options or {}, case)]


def complete(found: Sequence[Certificate]) -> bool:
    """Whether all certificates of one integrator and its options pass, and no order is better than declared on every
    case."""
    gaps: dict[str, float] = {}
    for one in found:
        if one.at_least:
            gaps[one.quantity] = min(gaps.get(one.quantity, inf), one.found - one.declared)
    return bool(found) and all(one.passed for one in found) and all(
        abs(gap) <= found[0].allowed for gap in gaps.values())


def certify_all(names: Sequence[str] = ()) -> Iterator[list[Certificate]]:
    """Certificates of all integrators of the catalogue, or of those named, one list for each variant of options."""
    for name in names or integrator_calls():
        for options, cases in variants_of(name):
            if cases:
                yield certify(name, options, cases)


def certificates_of(step: Step, integrator: str, options: Mapping[str, Any], case: Case) -> list[Certificate]:
    """Certificates of an integrator that has been built on one case."""
    decimals = integrator == "rkmk853" or "dop853" in (integrator, options.get("tableau"))
    steps, share, allowed = ((DECIMALS_STEPS, DECIMALS_SHARE, DECIMALS_ALLOWED) if decimals else
                             (STEPS, SHARE, ALLOWED))
    kind = numbers(step.digits)
    if method(integrator).adaptive:
        # a partial step, and costly in many digits: once is enough
        dense = integrator != "sphere_regularised" or not options
        made = [step.attempt(kind.of(h), kind.of(share) if dense else None) for h in steps]
        errors = {"state": [_distance(step, case, h, state) for h, (state, _, _) in zip(steps, made, strict=True)]}
        if dense:
            errors["dense output"] = [_distance(step, case, share*h, between)
                                      for h, (_, _, between) in zip(steps, made, strict=True)]
        # h err5^2/sqrt(err5^2 + 0.01 err3^2) goes from h^6 to h^8 below the decimals
        if not decimals and integrator not in WITHOUT_ESTIMATE:
            errors["error estimate"] = [kind.of(estimate).exponent10() for _, estimate, _ in made]
    else:
        errors = {"state": [_distance(step, case, h, step(kind.of(h))) for h in steps]}
    # the control takes the estimate to the power 1/(q + 1) for an estimate of order q
    exponent = getattr(getattr(step.integrator, "control", None), "exponent", None)
    claims = {"state": step.order, "error estimate": 0 if exponent is None else round(1.0/float(exponent)) - 1,
              "dense output": DENSE_ORDERS.get(integrator.split()[0], step.order) if integrator != "rkmk_pair" else
              min(step.order, DENSE_ORDERS_OF_PAIRS.get(step.options["tableau"], 3))}
    sizes = [log10(float(h)) for h in steps]  # the same ratios everywhere
    text = ", ".join(f"{key}: {value}" for key, value in options.items())
    return [Certificate(integrator, text, case.name, quantity, claims[quantity],
                        tuple((logs[k] - logs[k + 1])/(sizes[k] - sizes[k + 1]) - 1.0 for k in range(len(steps) - 1)),
                        allowed, options.get("dexpinv", "exact") != "exact") for quantity, logs in errors.items()]


def _distance(step: Step, case: Case, h: Fraction, state: np.ndarray) -> float:
    """Logarithm of the largest difference from the flow over h; NaN where the flow itself is not good enough."""
    form = "coadjoint" if step.options.get("action") == "coadjoint" else (
        step.options.get("form", "") if step.formulation == "vector_field" else "")
    exact = flow_of(case, "" if form in ("omega", "attitude", "orthonormal") else form, h, step.digits)
    error = largest(step.standard(state)[:len(exact.state)] - exact.state).exponent10()
    return error if exact.error.exponent10() < error + FLOW_SHARE else float("nan")
