"""Identities of the shipped steps to 60 digits: solvers of one map, adjoints, which methods are symmetric, and which
are symplectic: |J^T Omega J - Omega| of one step, J by central differences (forms: `simulation.tangents.directions`);
|det J - 1| of those that keep the volume of the state space. With the orders they are what `liestep certify` says."""
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import log10
from typing import NamedTuple

import numpy as np

from liestep.compile.status import IntegrationError
from liestep.errors import InputError
from liestep.mechanics.contracts.method import Keeps
from liestep.mechanics.contracts.sheet import Options
from liestep.simulation.catalogue import integrator_calls, method, own_integrators, ranked, sheet
from liestep.simulation.runs.specification import complete_options, start_of
from liestep.simulation.tangents import directions
from liestep.tools.certify import orders
from liestep.tools.certify.number import Number, numbers
from liestep.tools.certify.steps import REDUNDANT, Case, largest, step_of

DIGITS = 60
STEPS = (Fraction(1, 50), Fraction(1, 500))
HOLDS = -50.0   # logarithm of the largest difference of an identity that holds
FAILS = -30.0   # and of the smallest one of an identity that does not
DIFFERENCE = Fraction(1, 10**20)   # step of the central differences of J: an error of about 1e-40
SYMPLECTIC = -35.0                 # logarithm of the largest defect of a symplectic step
VISIBLE = -10.0                    # logarithm of the smallest defect of any other step of order <= LARGEST_ORDER
LARGEST_ORDER = 4                  # of the others: beyond, the defect is below VISIBLE
SLOPE_ALLOWED = 0.1
SHORT = orders.few(orders.CASES)   # two systems on spheres, whose masses are coupled and not, and a top
CANONICAL = ("canonical_field", "separable_hamiltonian")  # formulations with the rows q and p
FAILED = "  NOT CERTIFIED"

Same = tuple[Case, tuple[str, Options], tuple[str, Options]]


def _possible(case: Case, integrator: str, options: Options) -> bool:
    """Whether an integrator takes options on a case."""
    if not orders.able(case, integrator):
        return False
    try:
        step_of(case, integrator, options, DIGITS)
    except InputError:
        return False
    return True


@cache
def same_maps() -> tuple[Same, ...]:
    """The pairs of methods that are declared to be one map, each on the first case that both can run on."""
    found: list[Same] = []
    for name in own_integrators():
        declared = method(name).certified
        for own, other, options in declared.same:
            pair = (name, own), (other, options)
            everything = (*orders.CASES, *orders.INSTEAD) if other in own_integrators() else ()
            cases = orders.Variant({}, declared.formulation).of(everything)
            found += [(case, *pair) for case in cases if all(_possible(case, *side) for side in pair)][:1]
    return tuple(found)


class Identity(NamedTuple):
    """A difference of states that vanishes if `expected`; `size` is the logarithm of its largest component."""

    text: str
    case: str
    size: float
    expected: bool

    @property
    def passed(self) -> bool:
        return self.size <= HOLDS if self.expected else self.size >= FAILS


def _name(integrator: str, options: Options) -> str:
    return " ".join((integrator, *(f"{key}={value}" for key, value in options.items())))


def difference(case: Case, one: tuple[str, Options], other: tuple[str, Options]) -> float:
    """Logarithm of the largest difference of two methods after a step, over the rows that both have."""
    h = numbers(DIGITS).of(STEPS[0])
    steps = [step_of(case, name, options, DIGITS) for name, options in (one, other)]
    a, b = (step.standard(step(h)) for step in steps)
    rows = min(len(a), len(b))
    return largest(a[:rows] - b[:rows]).exponent10()


def return_gap(case: Case, integrator: str, options: Options, back: Options) -> float:
    """Logarithm of how far a step h, and a step -h with the options `back`, end from the start."""
    h = numbers(DIGITS).of(STEPS[0])
    there, again = (step_of(case, integrator, chosen, DIGITS) for chosen in (options, back))
    return largest(there.standard(again(-h, there(h))) - there.standard(there.start)).exponent10()


def identities(names: Sequence[str] = ()) -> Iterator[Identity]:
    """Of all methods, or of those named."""
    for case, first, second in same_maps():
        if not names or first[0] in names:
            yield Identity(f"{_name(*first)} = {_name(*second)}", case.name, difference(case, first, second), True)
    for name in names or own_integrators():
        for options, back in method(name).certified.adjoints:
            for case in orders.cases_of(name)[:1]:
                yield Identity(f"{_name(name, back)} is the adjoint of {_name(name, options)}", case.name,
                               return_gap(case, name, options, back), True)
    # a method is declared symmetric if and only if it is its own adjoint, on the first case that it can run on
    for name in names or integrator_calls():
        for variant in () if method(name).adaptive else orders.declared_variants(name):
            for case in orders.cases_of(name, variant.of(SHORT[::2]))[:1]:
                options = variant.options
                symmetric = step_of(case, name, options, DIGITS).symmetric
                yield Identity(f"{_name(name, options)} is {'' if symmetric else 'not '}symmetric", case.name,
                               return_gap(case, name, options, options), symmetric)


class Defect(NamedTuple):
    """Logarithms of the defects at STEPS, relative to the largest entry of Omega."""

    integrator: str
    options: Options
    case: str
    order: int
    sizes: tuple[float, ...]
    declared: bool    # symplectic

    @property
    def slope(self) -> float:
        """Order of the defect in h."""
        return (self.sizes[0] - self.sizes[1])/log10(STEPS[0]/STEPS[1])

    @property
    def passed(self) -> bool:
        if self.declared:
            return max(self.sizes) <= SYMPLECTIC
        return self.sizes[0] >= VISIBLE and abs(self.slope - self.order - 1) <= SLOPE_ALLOWED


def declared_to_keep(case: Case, integrator: str, options: Options | None = None) -> frozenset[Keeps]:
    """What is declared to be kept on a case."""
    facts = sheet(case.problem)
    parameters = start_of(case.problem, preset=case.preset, parameters=case.parameters).parameters
    declared = method(integrator).on(facts)
    return declared.kept(complete_options(declared, facts, parameters, options or {}), facts, parameters)


def defect_of(case: Case, integrator: str, options: Options | None = None) -> Defect:
    """Defects of one method."""
    step = step_of(case, integrator, options, DIGITS)
    form: directions.Form
    pair: Callable[[np.ndarray], directions.Pair]
    y, n = step.start, len(step.start)//2
    if step.formulation in CANONICAL:  # R^n x R^n
        basis = [_moved(y, (place, numbers(DIGITS).of(1))) for place in np.ndindex(y.shape)]
        form, pair = lambda y, u, v: np.sum(u[0]*v[1]) - np.sum(u[1]*v[0]), lambda y: (y[0], y[1])
    elif "attitude" in step.fields:  # T*SO(3), rows Q e_1, Q e_2, Q e_3, pi; rows beyond stay
        basis = [moved for axis in np.eye(3, dtype=int).astype(object)
                 for moved in (_moved(y, (slice(3), np.cross(axis[None], y[:3]))), _moved(y, (3, axis)))]
        form, pair = directions.body_form, lambda y: (y[:3], y[3])
    elif "omega" in step.fields:  # (TS^2)^n, rows q then omega: 4 for each body
        basis = [moved for i in range(n) for u in directions.across(y[i])
                 for moved in (_moved(y, (i, u), (n + i, -(y[n + i] @ u)*y[i])), _moved(y, (n + i, u)))]
        mass = step_of(case, ranked("shown", "sphere_lagrangian")[0], {}, DIGITS).problem.mass
        matrix = mass.matrix if hasattr(mass, "matrix") else np.diag(mass.m)
        form, pair = directions.sphere_form(matrix), lambda y: (y[:n], y[n:])
    else:  # (S^2)^n, rows q: 2 for each
        basis = [_moved(y, (i, u)) for i in range(len(y)) for u in directions.across(y[i])]
        form, pair = directions.area_form(step.problem.generator.pace), lambda y: (y, y)

    def size(h: Number) -> float:
        new = step(h)
        pushed = [(step(h, y + move*v) - step(h, y - move*v))/(2*move) for v in basis]
        values, changed = directions.changes(form, (pair(y), [*map(pair, basis)]), (pair(new), [*map(pair, pushed)]))
        return (largest(changed)/largest(values)).exponent10()

    move = numbers(DIGITS).of(DIFFERENCE)
    return Defect(integrator, options or {}, case.name, step.order, tuple(map(size, map(numbers(DIGITS).of, STEPS))),
                  Keeps.SYMPLECTIC in declared_to_keep(case, integrator, options))


def defects(names: Sequence[str] = ()) -> Iterator[Defect]:
    """Defects of all methods, or of those named, with fixed steps that are declared symplectic, and of all others of
    low order; not of those in redundant coordinates and of sums of parts, whose rows are no point of a cotangent
    bundle, nor of those for charged particles, whose form has a part of the field that is not known here. Options are
    tried where something else is kept with them, and one method that keeps no form on a product of spheres."""
    for name in names or integrator_calls():
        declared = method(name)
        if declared.adaptive or declared.formulation in {*REDUNDANT, "charged_particles", "parts"} - {*CANONICAL}:
            continue
        cases = orders.cases_of(name, SHORT)
        for case in cases:
            if Keeps.SYMPLECTIC in declared_to_keep(case, name) or (
                    not names and declared.order <= LARGEST_ORDER and case not in SHORT[1:2]):
                yield defect_of(case, name)
        for variant in orders.declared_variants(name):
            for case in variant.of(cases)[:1]:
                facts = [declared_to_keep(case, name, options) for options in ({}, variant.options)]
                if facts[0] != facts[1] and Keeps.SYMPLECTIC in facts[0] | facts[1]:
                    yield defect_of(case, name, variant.options)
    both = {"lie_action", "vector_field"}
    for case in [case for case in orders.INSTEAD if sheet(case.problem).forms.keys() == both and not names][:1]:
        yield defect_of(case, next(name for name in integrator_calls() if method(name).order == 2
                                   and method(name).formulation == "lie_action" and orders.able(case, name)
                                   and Keeps.SYMPLECTIC not in declared_to_keep(case, name)))


def volume_defect(case: Case, integrator: str, options: Options | None = None) -> Defect:
    """|det J - 1| of one method."""
    step, kind = step_of(case, integrator, options, DIGITS), numbers(DIGITS)
    move = kind.of(DIFFERENCE)
    basis = [_moved(step.start, (place, kind.of(1))) for place in np.ndindex(step.start.shape)]

    def size(h: Number) -> float:
        left = np.array([((step(h, step.start + move*v) - step(h, step.start - move*v))/(2*move)).ravel()
                         for v in basis], dtype=object)
        return abs(kind.context.det(kind.context.matrix(left.tolist())) - 1).exponent10()

    return Defect(integrator, options or {}, case.name, step.order, tuple(map(size, map(kind.of, STEPS))),
                  Keeps.VOLUME in declared_to_keep(case, integrator, options))


def volume_defects(names: Sequence[str] = ()) -> Iterator[Defect]:
    """Of all methods, or of those named, that are declared to keep the volume; of all, also of one that is not."""
    for name in names or integrator_calls():
        declared = {getattr(fact, "fact", fact) for fact in method(name).conserves}
        for variant in orders.declared_variants(name) if Keeps.VOLUME in declared else ():
            yield from (volume_defect(case, name, variant.options) for case in orders.cases_of(name)[:1])
    for case in [case for case in orders.INSTEAD if "parts" in sheet(case.problem).forms and not names][:1]:
        yield volume_defect(case, ranked("shown", "vector_field")[0])


def _moved(y: np.ndarray, *parts: tuple[int | slice | tuple[int, ...], Number | np.ndarray]) -> np.ndarray:
    """A tangent at y with these (place, value), zero elsewhere."""
    out = np.full(y.shape, numbers(DIGITS).of(0), dtype=object)
    for place, value in parts:
        out[place] = value
    return out


def report(integrators: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Lines of text, each with whether it passed: orders, identities and symplecticity of some integrators, or of all.
    Raises InputError: unknown id, a rounded coefficient, or a step that fails."""
    try:
        for found in orders.certify_all(integrators):
            first, passed = found[0], orders.complete(found)
            options = f" ({first.options})" if first.options else ""
            yield f"{first.integrator}{options}: {'certified' if passed else FAILED.strip()}", passed
            for certificate in found:
                bound = "at least " if certificate.at_least else ""
                yield (f"  {certificate.quantity:15} {certificate.case:30} declared {bound}{certificate.declared}, "
                       f"found {certificate.found:.9f}{'' if certificate.passed else FAILED}"), True
        limits = f"up to 1e{HOLDS:.0f} where one holds, 1e{FAILS:.0f} and more where not"
        yield f"identities in {DIGITS} digits, largest difference; {limits}", True
        for same in identities(integrators):
            yield f"  {same.text:66} {10.0**same.size:.1e}{'' if same.passed else FAILED}", same.passed
        for what, fact, kept in (("J^T Omega J - Omega", "symplectic", defects(integrators)),
                                 ("det J - 1", "volume", volume_defects(integrators))):
            for k, defect in enumerate(kept):
                if not k:
                    yield f"|{what}| of one step, h = {float(STEPS[0]):g} and {float(STEPS[1]):g}", True
                kind = fact if defect.declared else f"slope {defect.slope:.3f} of {defect.order + 1}"
                sizes = " ".join(f"{10.0**size:.1e}" for size in defect.sizes)
                name = _name(defect.integrator, defect.options)
                yield f"  {name:24} {defect.case:30} {sizes} {kind}{'' if defect.passed else FAILED}", defect.passed
    except IntegrationError as error:
        raise InputError(str(error)) from None
