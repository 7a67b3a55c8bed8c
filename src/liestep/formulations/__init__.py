"""Formulations: the same system in the form a family of integrators needs, derived from its fact sheet."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from liestep.core.counters import new_meter
from liestep.formulations.action import ActionForm
from liestep.formulations.mass import DiagonalMass, mass_component
from liestep.formulations.sphere import SphereGenerator, SphereLagrangian, SphereOmegaForm, SphereVelocityForm
from liestep.groups.tangent_spheres import TangentSpheres
from liestep.systems.sheet import SphereSheet

PROJECTIONS = {"none": 0, "position": 1, "state": 2}


@dataclass(frozen=True)
class Observable:
    """A group of columns of `observe`: an invariant (deviation from its initial value) or a residual (deviation from zero).

    `mean` and `largest` name the statistics over all points, None for none.
    """

    name: str
    columns: slice
    units: str
    long_name: str
    residual: bool
    mean: str | None
    largest: str | None


SPHERE_OBSERVABLES = (
    Observable("energy", slice(0, 1), "J", "total energy", False, "energy_error_mean", "energy_error_max"),
    Observable("momentum_map", slice(1, 4), "kg m2 s-1", "momentum map of the simultaneous rotation of all bodies, spatial", False,
               "momentum_error_mean", "momentum_error_max"),
    Observable("unit_length_error", slice(4, 5), "1", "mean over the bodies of |1 - q.q|", True, "unit_length_error_mean", None),
    Observable("unit_length_error_largest", slice(5, 6), "1", "maximum over the bodies of |1 - q.q|", True, None, "unit_length_error_max"),
    Observable("tangency_error", slice(6, 7), "s-1", "maximum over the bodies of |q.omega|", True, "tangency_error_mean", "tangency_error_max"),
)


@dataclass(frozen=True)
class StateField:
    """One named part of the state: shape (body, xyz), units and meaning."""

    name: str
    units: str
    long_name: str


SPHERE_FIELDS = (StateField("q", "1", "directions of the bodies, spatial"),
                 StateField("omega", "rad s-1", "angular velocities orthogonal to q, spatial"))


@dataclass(frozen=True)
class Formulated:
    """A system ready for an integrator: the component, its first state, and how to read its rows."""

    problem: Any
    start: np.ndarray                                     # (m, 3)
    fields: tuple[StateField, ...]
    observables: tuple[Observable, ...]
    to_fields: Callable[[np.ndarray], dict[str, np.ndarray]]  # (samples, m, 3) -> name: (samples, body, xyz)
    momentum_scale: float                                 # sum_i |sum_j M_ij v_j| at the start


FORMULATIONS = ("sphere_lagrangian", "vector_field", "lie_action")


def formulate(sheet: SphereSheet, parameters: dict, state: Mapping[str, np.ndarray], formulation: str, options: Mapping[str, Any]) -> Formulated:
    """Derive `formulation` (one of FORMULATIONS) of a system with checked parameters and initial state."""
    matrix = np.asarray(sheet.mass(parameters))
    if options.get("solver") not in (None, "explicit") and matrix.ndim == 1:
        matrix = np.diag(matrix)  # an implicit solver on uncoupled bodies: the same map, to be compared with the explicit one
    mass, meter = mass_component(matrix), new_meter()
    q, omega = state["q"], state["omega"]
    velocity = np.cross(omega, q)
    scratch = np.zeros_like
    lagrangian = SphereLagrangian(sheet.build(parameters), mass, scratch(q), meter)
    start, to_fields = np.concatenate([q, omega]), _omega_fields
    if formulation == "sphere_lagrangian":
        problem = lagrangian
    elif formulation == "lie_action":
        generator = SphereGenerator(lagrangian, scratch(q), scratch(q), float(options.get("alpha", 0.0)), float(options.get("beta", 0.0)))
        problem = ActionForm(TangentSpheres(len(q)), generator, meter)
    elif options.get("form") == "velocity":
        projection = PROJECTIONS[options.get("projection", "none")]
        problem = SphereVelocityForm(lagrangian, meter, scratch(q), projection)
        start, to_fields = np.concatenate([q, velocity]), _velocity_fields
    else:
        projection = PROJECTIONS[options.get("projection", "none")]
        problem = SphereOmegaForm(lagrangian, meter, scratch(q), projection)
    momenta = mass.m[:, None]*velocity if isinstance(mass, DiagonalMass) else np.einsum("ij,jk->ik", mass.matrix, velocity)
    return Formulated(problem, np.ascontiguousarray(start), SPHERE_FIELDS, SPHERE_OBSERVABLES, to_fields,
                      float(np.sum(np.linalg.norm(momenta, axis=1))))


def _omega_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    n = rows.shape[-2]//2
    return {"q": rows[..., :n, :], "omega": rows[..., n:, :]}


def _velocity_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    """omega = q x dq/dt, also for states off the manifold."""
    n = rows.shape[-2]//2
    q = rows[..., :n, :]
    return {"q": q, "omega": np.cross(q, rows[..., n:, :])}
