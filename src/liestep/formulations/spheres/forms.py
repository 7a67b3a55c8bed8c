"""All formulations of a system on (S^2)^n from its fact sheet."""
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.contracts.formulated import Formulated, Observable, StateField
from liestep.contracts.sheet import SphereSheet
from liestep.core.counters import new_meter
from liestep.formulations.action import ActionForm
from liestep.formulations.spheres.components import (
    SphereGenerator,
    SphereLagrangian,
    SphereOmegaForm,
    SphereVelocityForm,
)
from liestep.formulations.spheres.mass import DiagonalMass, mass_component
from liestep.groups.tangent_spheres import TangentSpheres

PROJECTIONS = {"none": 0, "position": 1, "state": 2}
FIELDS = (StateField("q", "1", "directions of the bodies, spatial"),
          StateField("omega", "rad s-1", "angular velocities orthogonal to q, spatial", norm="relative", tangent="q"))


def sphere_observables(conserved: tuple[bool, bool, bool]) -> tuple[Observable, ...]:
    """Columns of `SphereLagrangian.observe`; `conserved` says which components of the momentum map are."""
    return (
        Observable("energy", slice(0, 1), "J", "total energy"),
        Observable("momentum_map", slice(1, 4), "kg m2 s-1", "momentum map of the simultaneous rotation of all"
                   " bodies, spatial", conserved=tuple(conserved), stem="momentum_error"),
        Observable("unit_length_error", slice(4, 5), "1", "mean over the bodies of |1 - q.q|", "residual",
                   statistics=("mean",)),
        Observable("unit_length_error_largest", slice(5, 6), "1", "maximum over the bodies of |1 - q.q|", "residual",
                   statistics=("max",), stem="unit_length_error"),
        Observable("tangency_error", slice(6, 7), "s-1", "maximum over the bodies of |q.omega|", "residual"),
    )


def formulate_sphere(sheet: SphereSheet, parameters: dict, state: Mapping[str, np.ndarray], formulation: str,
                     options: Mapping[str, Any]) -> Formulated:
    """Derive a formulation of a system with checked parameters and initial state."""
    matrix = np.asarray(sheet.mass(parameters))
    if options.get("solver") not in (None, "explicit") and matrix.ndim == 1:
        # an implicit solver on uncoupled bodies: the same map, to be compared with the explicit one
        matrix = np.diag(matrix)
    mass, meter = mass_component(matrix, options.get("mass", "dense")), new_meter()
    q, omega = state["q"], state["omega"]
    velocity = np.cross(omega, q)
    scratch = np.zeros_like
    lagrangian = SphereLagrangian(sheet.build(parameters), mass, scratch(q), meter)
    projection = PROJECTIONS[options.get("projection", "none")]
    start, to_fields = np.concatenate([q, omega]), _omega_fields
    if formulation == "sphere_lagrangian":
        problem = lagrangian
    elif formulation == "lie_action":
        generator = SphereGenerator(lagrangian, scratch(q), scratch(q), float(options.get("alpha", 0.0)),
                                    float(options.get("beta", 0.0)))
        problem = ActionForm(TangentSpheres(len(q)), generator, meter)
    elif options.get("form") == "velocity":
        problem = SphereVelocityForm(lagrangian, meter, scratch(q), projection)
        start, to_fields = np.concatenate([q, velocity]), _velocity_fields
    else:
        problem = SphereOmegaForm(lagrangian, meter, scratch(q), projection)
    momenta = mass.m[:, None]*velocity if isinstance(mass, DiagonalMass) else np.einsum("ij,jk->ik", matrix, velocity)
    return Formulated(problem, np.ascontiguousarray(start), FIELDS,
                      sphere_observables(sheet.conserved_momentum(parameters)), to_fields,
                      float(np.sum(np.linalg.norm(momenta, axis=1))))


def _omega_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    n = rows.shape[-2]//2
    return {"q": rows[..., :n, :], "omega": rows[..., n:, :]}


def _velocity_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    """omega = q x dq/dt, also for states off the manifold."""
    n = rows.shape[-2]//2
    q = rows[..., :n, :]
    return {"q": q, "omega": np.cross(q, rows[..., n:, :])}
