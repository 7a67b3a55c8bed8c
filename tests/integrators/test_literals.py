"""Every float literal that the step methods execute, changed by 1e-6, is seen by a certificate."""
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from liestep.catalogue import integrator_ids, method
from liestep.certificates.flow import largest
from liestep.certificates.number import numbers
from liestep.certificates.orders import CASES, DIGITS, VARIANTS, Variant, cases_of, certificates_of
from liestep.certificates.steps import step_of
from liestep.core.status import IntegrationError

sys.path.insert(0, str(Path(__file__).parents[1]/"mutants"))

from literals import Literals, counted

CHAIN, BODIES, TOP = CASES[0], CASES[1], CASES[3]
# steps that execute most of them cheaply; all others come after them
EXECUTED_BY = (
    (CHAIN, "cf32a", {}), (CHAIN, "ode45", {}), (CHAIN, "rkmk54", {}), (CHAIN, "rkmk", {"tableau": "midpoint"}),
    (CHAIN, "rkmk5", {}), (CHAIN, "rk4", {"form": "velocity"}), (TOP, "rkmk4", {"action": "direct"}), (TOP, "slgi", {}),
    (CHAIN, "vi_sphere", {}), (CHAIN, "vi_sphere", {"form": "paper"}), (BODIES, "vi_sphere", {}),
    (BODIES, "vi_sphere", {"form": "paper"}), (CHAIN, "vi_sphere", {"solver": "newton"}),
    (CHAIN, "vi_sphere", {"solver": "newton", "form": "paper"}), (CHAIN, "vi_sphere", {"solver": "fixed_point"}),
    (CHAIN, "vi_sphere", {"solver": "fixed_point", "form": "paper"}))
# those of twospheres2009 and liegroup2021; implicit steps of mechanisms take minutes in 150 digits
FORMULATIONS = ("vector_field", "lie_action", "sphere_lagrangian", "cotangent_rotation", "quadratic_rotation")
# DOP853 has decimals of its own, which end where a change of 1e-6 begins to show
DECIMALS = ("dop853", "rkmk853")
# how far states are apart decides which steps are accepted, and no digit: test_norms.py and test_distances.py hold them
SIZES = ("geometry/distances.py", "integrators/error_norms.py")
# rotations in several charts whose literals change no order; tests/papers/rodrigues2021 holds the charts together
CHARTS = ("integrators/lgvi.py", "integrators/campello.py", "integrators/kick_drift.py", "geometry/rodrigues.py")
# literals that decide no digit: (function, beginning of the line) -> why
NO_DIGIT = {
    ("unit", ""): "matrix of Newton's method", ("newton_system", ""): "matrix of Newton's method",
    ("hat_column", ""): "matrix of Newton's method", ("solve", "work.a[i, j] = 2.0*"): "matrix of Newton's method",
    ("solve", "update, size = 0.0, 0.0"): "when the iteration ends",
    ("solve", "change, size = 0.0, 0.0"): "when the iteration ends",
    ("start", "work.multiplier[i] = 0.0"): "first guess of an iteration",
    ("step", "work.multiplier[i] = -0.5*h*h*dot(u, u)"): "first guess of an iteration",
    ("step", "put(work.f, i, scale(0.5*h, row(w, i)))"): "first guess of an iteration",
    ("replace_slope", ""): "when the iteration ends", ("step", "change = 0.0"): "when the iteration ends",
    ("step", "previous, done = 1.0"): "when the iteration ends", ("step", "done = settled("): "when the iteration ends",
    ("step", "k[s, i, j] = 0.0"): "first guess of an iteration",
    ("step", "problem.add_work(0.5*h, y)"): "zero without forces; tests/forces holds the work of forces",
    ("first", ""): "first step of a pair", ("attempt", "work.current["): "a flag",
    ("interpolate", "work.current["): "a flag"}


def exempt(literal, integrator):
    if literal.file in CHARTS + SIZES or (literal.function == "start" and method(integrator).adaptive):
        return True  # or the first step of a pair
    return any(literal.function == function and literal.text.startswith(text) for function, text in NO_DIGIT)


def length_gap(step):
    """Logarithm of how far a step of the increment form ends from the sphere, from 1e-20 beside it."""
    kind = numbers(DIGITS)
    y, small = step.start.copy(), kind.of(Fraction(1, 10**20))
    bodies = len(y)//2
    y[:bodies] = y[:bodies]*(1 + small)
    end = step(kind.of(Fraction(1, 100)), y)[:bodies]
    return largest((end*end).sum(axis=1) - 1).exponent10()


def seen(step, case, integrator, options):
    """What a certificate complains about."""
    try:
        found = [one.quantity for one in certificates_of(step, integrator, options, case) if not one.passed]
        if not found and integrator == "vi_sphere" and options.get("form") != "paper" and length_gap(step) > -35.0:
            found = ["length"]
    except IntegrationError as error:
        found = [str(error)]
    return found


def once(step, integrator):
    """One step, or one attempt of a pair with its dense output."""
    h, share = (numbers(DIGITS).of(Fraction(1, k)) for k in (100, 3))
    step.attempt(h, share) if method(integrator).adaptive else step(h)


def others():
    """All integrators of FORMULATIONS with their options on the same three problems."""
    for name in integrator_ids():
        for variant in VARIANTS.get(name, (Variant({}),)):
            if name not in DECIMALS and method(name).formulation in FORMULATIONS:
                yield from ((case, name, variant.options) for case in cases_of(name, (CHAIN, BODIES, TOP))
                            if variant.problem in ("", case.problem))


@pytest.fixture(scope="module")
def literals():
    found = Literals()
    with counted(found):
        yield found


@pytest.fixture(scope="module")
def killed(literals):
    """Literal -> what was seen, and those that no certificate has seen, over all steps of EXECUTED_BY."""
    dead, alive = {}, {}
    for case, name, options in (*EXECUTED_BY, *others()):
        literals.executed.clear()
        literals.wrong = None
        step = step_of(case, name, options, DIGITS)
        once(step, name)
        if all(literal in dead or exempt(literal, name) for literal in literals.executed):
            continue
        assert seen(step, case, name, options) == []
        for literal in list(literals.executed):
            if literal in dead or exempt(literal, name):
                continue
            literals.wrong = literal
            complaints = seen(step, case, name, options)
            (dead if complaints else alive)[literal] = complaints
        literals.wrong = None
    return dead, {literal for literal in alive if literal not in dead}


@pytest.mark.slow
def test_every_literal_of_a_step_is_seen_by_a_certificate(killed):
    dead, alive = killed
    assert [f"{one.file}, line {one.line}, column {one.column}: {one.text}" for one in alive] == []
    assert len(dead) > 60
    quantities = {name for names in dead.values() for name in names}
    assert {"state", "error estimate", "dense output", "length"} <= quantities
