"""Symplecticity: |J^T Omega J - Omega| of one step in 60 digits, J by central differences. Forms:
`simulation.tangents.directions`."""
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import log10
from typing import Any, NamedTuple

import numpy as np

from liestep.mechanics.contracts.method import Keeps
from liestep.simulation.catalogue import integrator_calls, method, sheet
from liestep.simulation.runs.specification import complete_options, start_of
from liestep.simulation.tangents.directions import (
    Form,
    Pair,
    area_form,
    body_form,
    canonical_form,
    changes,
    sphere_form,
)
from liestep.tools.certify.number import functions_of, numbers
from liestep.tools.certify.orders import CASES, VORTICES, cases_of
from liestep.tools.certify.steps import REDUNDANT, Case, Step, largest, step_of

DIGITS = 60
DIFFERENCE = Fraction(1, 10**20)   # step of the central differences of J: an error of about 1e-40
HOLDS = -35.0                      # logarithm of the largest defect of a symplectic step
VISIBLE = -10.0                    # logarithm of the smallest defect of any other step of order <= LARGEST_ORDER
STEPS = (Fraction(1, 50), Fraction(1, 500))
SLOPE_ALLOWED = 0.1
CANONICAL = ("canonical_field", "separable_hamiltonian")  # formulations with the rows q and p
CHAIN, BODIES, TOP = CASES[0], CASES[1], CASES[3]
LARGEST_ORDER = 4                  # of the others: beyond, the defect is below VISIBLE


class Defect(NamedTuple):
    """Logarithms of the defects at STEPS, relative to the largest entry of Omega."""

    integrator: str
    options: Mapping[str, Any]
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
            return max(self.sizes) <= HOLDS
        return self.sizes[0] >= VISIBLE and abs(self.slope - self.order - 1) <= SLOPE_ALLOWED


def declared_symplectic(case: Case, integrator: str, options: Mapping[str, Any] | None = None) -> bool:
    """Whether the symplectic form is declared to be kept on a case."""
    facts = sheet(case.problem)
    parameters = start_of(case.problem, preset=case.preset, parameters=case.parameters).parameters
    declared = method(integrator).on(facts)
    return Keeps.SYMPLECTIC in declared.kept(complete_options(declared, facts, parameters, options or {}), facts,
                                             parameters)


def defect_of(case: Case, integrator: str, options: Mapping[str, Any] | None = None, sign: int = 1) -> Defect:
    """Defects of one method; `sign` -1 turns a term of the form on T*SO(3) round, so that nothing keeps it."""
    step = step_of(case, integrator, options, DIGITS)
    form: Form
    y, n = step.start, len(step.start)//2
    if step.formulation in CANONICAL:  # R^n x R^n
        basis = [_moved(y, (place, numbers(DIGITS).of(1))) for place in np.ndindex(y.shape)]
        form, pair = canonical_form, lambda y: (y[0], y[1])
    elif "attitude" in step.fields:  # T*SO(3), rows Q e_1, Q e_2, Q e_3, pi; rows beyond stay
        basis = [moved for axis in np.eye(3, dtype=int).astype(object)
                 for moved in (_moved(y, (slice(3), np.cross(axis[None], y[:3]))), _moved(y, (3, axis)))]
        form, pair = body_form(sign), lambda y: (y[:3], y[3])
    elif "omega" in step.fields:  # (TS^2)^n, rows q then omega: 4 for each body
        basis = [moved for i in range(n) for u in _tangents(y[i])
                 for moved in (_moved(y, (i, u), (n + i, -(y[n + i] @ u)*y[i])), _moved(y, (n + i, u)))]
        form, pair = sphere_form(_mass(case)), lambda y: (y[:n], y[n:])
    else:  # (S^2)^n, rows q: 2 for each
        basis = [_moved(y, (i, u)) for i in range(len(y)) for u in _tangents(y[i])]
        form, pair = area_form(step.problem.generator.pace), lambda y: (y, y)
    kind = numbers(DIGITS)
    sizes = tuple(_defect(step, kind.of(h), basis, form, pair) for h in STEPS)
    return Defect(integrator, options or {}, case.name, step.order, sizes,
                  declared_symplectic(case, integrator, options))


def defects() -> Iterator[Defect]:
    """Defects of all methods with fixed steps that are declared symplectic, and of all others of low order; not of
    those in redundant coordinates, whose rows are no point of a cotangent bundle, nor of those for charged particles,
    whose form has a part of the field that is not known here."""
    for name in integrator_calls():
        formulation = method(name).formulation
        if method(name).adaptive or formulation in {*REDUNDANT, "charged_particles"} - {*CANONICAL}:
            continue
        for case in cases_of(name, (CHAIN, BODIES, TOP)):
            if declared_symplectic(case, name) or (method(name).order <= LARGEST_ORDER and case is not BODIES):
                yield defect_of(case, name)
    yield defect_of(VORTICES[0], "rkmk tableau=heun")
    for theta in (0.0, 0.25):
        yield defect_of(TOP, "slgi", {"theta": theta})


def _defect(step: Step, h: Any, basis: list[np.ndarray], form: Form, pair: Callable[[np.ndarray], Pair]) -> float:
    size = numbers(DIGITS).of(DIFFERENCE)
    new = step(h)
    pushed = [(step(h, step.start + size*v) - step(h, step.start - size*v))/(2*size) for v in basis]
    values, changed = changes(form, (pair(step.start), [*map(pair, basis)]), (pair(new), [*map(pair, pushed)]))
    return (largest(changed)/largest(values)).exponent10()


def _mass(case: Case) -> np.ndarray:
    """Mass matrix (n, n) of a system on spheres."""
    mass = step_of(case, "vi_sphere", {}, DIGITS).problem.mass
    return mass.matrix if hasattr(mass, "matrix") else np.diag(mass.m)


def _moved(y: np.ndarray, *parts: tuple[Any, Any]) -> np.ndarray:
    """A tangent at y with these (place, value), zero elsewhere."""
    out = np.full(y.shape, numbers(DIGITS).of(0), dtype=object)
    for place, value in parts:
        out[place] = value
    return out


def _tangents(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two orthogonal unit vectors of the tangent plane of a sphere at q."""
    axis = np.array([int(k == int(np.argmin(np.abs(q.astype(float))))) for k in range(3)], dtype=object)
    first = np.cross(axis, q)
    first = first/functions_of(DIGITS).sqrt(first @ first)
    return first, np.cross(q, first)
