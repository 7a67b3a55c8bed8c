"""Order certificates: the local error of one step over eight decades of h in 150 digits.

The slope of the error between the two smallest steps, less one, is the order; at h = 1e-10 it differs from a whole
number by about 1e-8, so that one wrong digit of a coefficient in the ninth place shows. Pairs are certified for the new
state, the error estimate and the dense output."""
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite, log10
from typing import NamedTuple

import numpy as np

from liestep.mechanics.contracts.sheet import Options
from liestep.simulation.catalogue import integrator_calls, method, own_systems, sheet
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


def _declared(use: str) -> tuple[Case, ...]:
    """The trials that systems of the package declare for a use, in their order."""
    cases = [(trial.place, Case(trial.name, name, trial.preset, trial.parameters))
             for name in own_systems() for trial in sheet(name).trials if trial.use == use]
    return tuple(case for _, case in sorted(cases, key=lambda item: item[0]))


CASES, INSTEAD, FURTHER = map(_declared, ("first", "instead", "further"))


class Variant(NamedTuple):
    """Options of an integrator; `formulation` that a system must have which has them."""

    options: Options
    formulation: str = ""

    def of(self, cases: Iterable[Case]) -> list[Case]:
        """Those cases whose systems have them."""
        return [case for case in cases if self.formulation in ("", *sheet(case.problem).forms)]


def declared_variants(integrator: str) -> tuple[Variant, ...]:
    """What the method declares to be certified."""
    return tuple(Variant(*declared) if isinstance(declared, tuple) else Variant(declared)
                 for declared in method(integrator).certified.options)


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
    """Those cases that an integrator can run on, or of INSTEAD for one that needs equal moments, a product of spheres,
    canonical coordinates or charged particles; for one that needs a diagonal mass matrix more of those."""
    fitting = next((able_ones for group in (cases, INSTEAD)
                  if (able_ones := [case for case in group if able(case, integrator)])), [])
    further = [case for case in FURTHER if {case.problem} >= {other.problem for other in fitting}]
    return fitting + [case for case in further if able(case, integrator)]


def variants_of(integrator: str) -> Iterator[tuple[Options, list[Case]]]:
    """Options of an integrator with the cases that certify them: three for its defaults and for a dexpinv that is cut,
    whose order is the smallest of all; the first for what else may be chosen, and for its defaults driven."""
    timed = method(integrator).formulation in ("vector_field", "lie_action") and method(integrator).traced is None
    for place, variant in enumerate(declared_variants(integrator)):
        cases = cases_of(integrator, variant.of(CASES))
        yield variant.options, (cases[:1] if place and "dexpinv" not in variant.options else
                                few(cases) if len(cases) > len(ENOUGH) else cases) + [
            replace(case, name=f"{case.name}, driven", driven=True) for case in cases[:1] if timed and not place]


def few(cases: Sequence[Case]) -> list[Case]:
    """Those of ENOUGH."""
    return [cases[i] for i in ENOUGH if i < len(cases)]


def certify(integrator: str, options: Options | None = None, cases: Sequence[Case] = CASES) -> list[Certificate]:
    """Certificates of one integrator with these options on all cases that it can run on, or on those given. Raises
    InputError: unknown id or options; RoundedError: a float64 takes part in the digits."""
    return [certificate for case in cases_of(integrator, cases) for certificate in certificates_of(
        step_of(case, integrator, options, DIGITS), integrator, options or {}, case)]


def complete(found: Sequence[Certificate]) -> bool:
    """Whether all certificates of one integrator and its options pass, and no order is better than declared on every
    case."""
    gaps: dict[str, float] = {}
    for result in found:
        if result.at_least:
            gaps[result.quantity] = min(gaps.get(result.quantity, inf), result.found - result.declared)
    return bool(found) and all(result.passed for result in found) and all(
        abs(gap) <= found[0].allowed for gap in gaps.values())


def certify_all(names: Sequence[str] = ()) -> Iterator[list[Certificate]]:
    """Certificates of all integrators of the catalogue, or of those named, one list for each variant of options."""
    for name in names or integrator_calls():
        for options, cases in variants_of(name):
            if cases:
                yield certify(name, options, cases)


def certificates_of(step: Step, integrator: str, options: Options, case: Case) -> list[Certificate]:
    """Certificates of an integrator that has been built on one case."""
    declared = method(integrator)
    decimals = declared.decimals(options)
    steps, share, allowed = ((DECIMALS_STEPS, DECIMALS_SHARE, DECIMALS_ALLOWED) if decimals else
                             (STEPS, SHARE, ALLOWED))
    kind = numbers(step.digits)
    if declared.adaptive:
        # a partial step, and costly in many digits: once is enough
        dense = not (declared.fictitious and options)
        made = [step.attempt(kind.of(h), kind.of(share) if dense else None) for h in steps]
        errors = {"state": [_distance(step, case, h, state) for h, (state, _, _) in zip(steps, made, strict=True)]}
        if dense:
            errors["dense output"] = [_distance(step, case, share*h, between)
                                      for h, (_, _, between) in zip(steps, made, strict=True)]
        # h err5^2/sqrt(err5^2 + 0.01 err3^2) goes from h^6 to h^8 below the decimals
        if not decimals and declared.estimates:
            errors["error estimate"] = [kind.of(estimate).exponent10() for _, estimate, _ in made]
    else:
        errors = {"state": [_distance(step, case, h, step(kind.of(h))) for h in steps]}
    # the control takes the estimate to the power 1/(q + 1) for an estimate of order q
    exponent = getattr(getattr(step.integrator, "control", None), "exponent", None)
    claims = {"state": step.order, "error estimate": 0 if exponent is None else round(1.0/float(exponent)) - 1,
              "dense output": min(step.order, declared.dense_order(step.options))}
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
