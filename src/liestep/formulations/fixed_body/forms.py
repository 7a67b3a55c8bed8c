"""All formulations of a rigid body about a fixed point from its system: fields, observables and start of each."""
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.contracts.formulated import Formulated, Observable, StateField
from liestep.core.counters import new_meter
from liestep.formulations.action import ActionForm
from liestep.formulations.fixed_body.components import (
    AttitudeField,
    AttitudeGenerator,
    DualField,
    DualGenerator,
    QuadraticTop,
    RigidBody,
)
from liestep.groups.coadjoint_motion import CoadjointMotion
from liestep.groups.cotangent_rotation import CotangentRotation
from liestep.groups.product import product
from liestep.groups.rotation import Rotation
from liestep.groups.translation import Translation

STATE = {"attitude": (3, 3), "angular_momentum": (3,)}
FORMULATIONS = ("vector_field", "lie_action", "cotangent_rotation")
FORMS = ("attitude", "coadjoint")
ACTIONS = ("semidirect", "direct", "coadjoint")
MOMENTUM = "kg m2 s-1"
BODY_FIELDS = {"body_momentum": (MOMENTUM, "angular momentum in the body's axes"),
               "gravity_body": ("m s-2", "acceleration of gravity in the body's axes, Q^T gravity")}
AUXILIARY = StateField("auxiliary", "kg m s", "q of the quadratic Hamiltonian, in the body's axes", ("xyz",), "derived")


def invariant(name: str, column: int, units: str, text: str, conserved: bool = True) -> Observable:
    """An invariant of one column, named as its statistics are."""
    return Observable(name, slice(column, column + 1), units, text, conserved=(conserved,))


def _energy() -> Observable:
    return invariant("energy", 0, "J", "total energy")


def attitude_observables(conserved: tuple[bool, bool, bool], others: tuple[Observable, ...]) -> tuple[Observable, ...]:
    """Columns of a system's `observe`: energy, pi (3), orthogonality error, then its own from column 5."""
    momentum = Observable("momentum_map", slice(1, 4), MOMENTUM, "angular momentum about the fixed point, spatial",
                          conserved=conserved, stem="momentum_error")
    defect = Observable("orthogonality_error", slice(4, 5), "1", "largest entry of |Q^T Q - 1|", "residual")
    return (_energy(), momentum, defect, *others)


def formulate_rigid_body(system: Any, gravity: np.ndarray | None, state: Mapping[str, np.ndarray], formulation: str,
                         options: Mapping[str, Any], conserved: tuple[bool, bool, bool], others: tuple[Observable, ...],
                         dual: tuple[Observable, ...]) -> Formulated:
    """Derive a formulation of a system from a checked start.

    gravity is None for a free body. `others` are the system's own columns of `observe`, `dual` those of
    `dual_observe` after the energy.
    """
    meter, columns = new_meter(), state["attitude"].T
    body, semidirect = RigidBody(system, meter), options.get("action") != "direct"
    frame = [state["angular_momentum"]] if gravity is None else [state["angular_momentum"], gravity]
    fields, to_fields, observables = (attitude_fields(gravity), _attitude_reader(gravity),
                                      attitude_observables(conserved, others))
    start = np.concatenate([columns, state["angular_momentum"][None]])
    if "coadjoint" in (options.get("action"), options.get("form")):
        start, observables = np.array(frame) @ state["attitude"], (_energy(), *dual)
        fields = tuple(StateField(name, *BODY_FIELDS[name], ("xyz",), "relative")
                       for name in list(BODY_FIELDS)[:len(frame)])
        to_fields = _body_reader
        action = CoadjointMotion(2) if len(frame) == 2 else Rotation(1)
        problem = (DualField(system, meter)
                   if formulation == "vector_field" else ActionForm(action, DualGenerator(system), meter))
    elif formulation == "vector_field":
        problem = AttitudeField(body, meter)
    elif formulation == "lie_action":
        action = CotangentRotation(4) if semidirect else product((Rotation(3), 3), (Translation(1), 1))
        problem = ActionForm(action, AttitudeGenerator(body, semidirect), meter)
    elif formulation == "quadratic_rotation":
        problem, fields = QuadraticTop(system, meter), (*fields, AUXILIARY)
        start = np.concatenate([start, [np.zeros(3), -system.lever]])
    else:
        problem = body
    return Formulated(problem, np.ascontiguousarray(start), fields, observables, to_fields,
                      float(np.linalg.norm(state["angular_momentum"])))


def attitude_fields(gravity: np.ndarray | None) -> tuple[StateField, ...]:
    shown = list(BODY_FIELDS)[:1 if gravity is None else 2]
    return (StateField("attitude", "1", "attitude Q, body to space: column j is body axis j", ("xyz", "axis"),
                       "attitude"),
            StateField("angular_momentum", MOMENTUM, "angular momentum about the fixed point, spatial", ("xyz",),
                       "relative"),
            *(StateField(name, *BODY_FIELDS[name], ("xyz",), "derived") for name in shown))


def _attitude_reader(gravity: np.ndarray | None):
    def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
        columns, momentum = rows[..., :3, :], rows[..., 3, :]
        fields = {"attitude": np.swapaxes(columns, -1, -2), "angular_momentum": momentum,
                  "body_momentum": np.einsum("...ij,...j->...i", columns, momentum)}
        if gravity is not None:
            fields["gravity_body"] = columns @ gravity
        if rows.shape[-2] == 6:
            fields["auxiliary"] = rows[..., 4, :]
        return fields

    return to_fields


def _body_reader(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: rows[..., i, :] for i, name in zip(range(rows.shape[-2]), BODY_FIELDS, strict=False)}


def rotational_energy(parameters: dict, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """1/2 Pi.I^-1 Pi of state fields with a leading time, (time,)."""
    momentum = np.einsum("tij,ti->tj", fields["attitude"], fields["angular_momentum"])
    return 0.5*np.sum(momentum*momentum/parameters["inertia"], axis=1)


def about_axis(angle: float, axis: int) -> np.ndarray:
    """Rotation by an angle about a coordinate axis (3, 3), for starts."""
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i] = np.sin(angle)
    matrix[i, j] = -matrix[j, i]
    return matrix
