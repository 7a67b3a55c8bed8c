"""Forms of a rigid body about a fixed point in redundant coordinates: first state, fields and observables.

The fields `attitude` and `angular_momentum` are those of the other forms (spatial momentum, E(q) p/2 of a quaternion),
so that all methods have one reference; so is the energy, H of these two."""
from collections.abc import Mapping

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.roles import System
from liestep.compile.separate import new_addresses
from liestep.errors import InputError
from liestep.geometry.quaternion import body_matrix, matrices, minus, of_matrix, plus, space_parts
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.sheet import MOMENTS_TOLERANCE
from liestep.mechanics.formulations.constrained.director_bodies import DirectorBodies, FixedReader
from liestep.mechanics.formulations.constrained.quaternion_bodies import MULTIPLIER, QuaternionBody
from liestep.mechanics.formulations.coordinates import energies, legendre

MOMENTUM = "kg m2 s-1"
PARTS = ("quaternion_part",)
QUATERNION_FIELDS = (
    StateField("quaternion", "1", "unit quaternion of the attitude, scalar part first", PARTS, "derived"),
    StateField("quaternion_velocity", "s-1", "velocity of the quaternion, an unknown of its own", PARTS, "derived"),
    StateField("quaternion_momentum", MOMENTUM, "momentum of the quaternion, an unknown of its own", PARTS, "derived"),
    StateField("multiplier", "J", "multiplier of (|q|^2 - 1)/2", ("constraint",), "derived"),
)


def quaternion_residuals(first: int) -> tuple[Observable, ...]:
    """Three columns: constraints of positions, velocities and momenta."""
    texts = {"constraint_error": ("1", "|q.q - 1|/2"), "velocity_constraint_error": ("s-1", "|q.v|"),
             "momentum_constraint_error": (MOMENTUM, "|q.p|")}
    return tuple(Observable(name, slice(first + k, first + k + 1), *text, "residual")
                 for k, (name, text) in enumerate(texts.items()))


def weight_matrix(lever: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """S (4, 4), symmetric, with 1/2 q.S q = -gravity.R(q) lever: S = -2 (lever^-)^T gravity^+, livens2025 eq. (137)."""
    return np.ascontiguousarray(-2*minus(lever).T.dot(plus(gravity)))


def quaternion_state(inertia: np.ndarray, state: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, v, p) of attitude and angular momentum, q.v = q.p = 0."""
    q = of_matrix(state["attitude"])
    body = state["attitude"].T @ state["angular_momentum"]
    g = body_matrix(q)
    return q, g.T @ (body/inertia)/2, 2*(g.T @ body)


def quaternion_body(system: System, inertia: np.ndarray, lever: np.ndarray, gravity: np.ndarray,
                    state: Mapping[str, np.ndarray], own: tuple[Observable, ...], shared: tuple[StateField, ...],
                    augmented: bool) -> Formulated:
    """Formulation `constrained_lagrangian` in coordinates `quaternion`; `own` are the system's observables, `shared`
    the fields of its attitude form."""
    q, v, p = quaternion_state(inertia, state)
    first = own[-1].columns.stop
    unit = 1 + 0*q[0]  # in the number type of the state, so that the products in S keep all digits
    half_trace = 0.5*(inertia[0] + inertia[1] + inertia[2])  # J_00 = tr J/2, livens2025 eq. (140)
    problem = QuaternionBody(system, inertia, weight_matrix(lever*unit, gravity*unit),
                             half_trace if augmented else 0.0, first, np.zeros((4, 3), q.dtype), new_counters())
    observables = (*own, *energies(first), *quaternion_residuals(first + 2), legendre(first + 5, MOMENTUM))
    return Formulated(problem, np.ascontiguousarray(np.array([q, v, p, 0*q])), (*shared, *QUATERNION_FIELDS),
                      observables, quaternion_fields,
                      float(np.linalg.norm(state["angular_momentum"])))


def director_body(system: System, inertia: np.ndarray, lever: np.ndarray, gravity: np.ndarray,
                  state: Mapping[str, np.ndarray], own: tuple[Observable, ...],
                  shared: tuple[StateField, ...]) -> Formulated:
    """The same in coordinates `directors`, nine numbers with six constraints; also formulation `constant_mass`."""
    attitude, momentum = state["attitude"], state["angular_momentum"]
    directors = attitude.T
    rate = attitude @ ((attitude.T @ momentum)/inertia)
    unit = 1 + 0*attitude[0, 0]  # in the number type of the state, so that sums and products keep all digits
    mass = np.repeat(euler_moments(inertia*unit), 3)
    weight = ((lever*unit)[:, None]*gravity).ravel()
    velocity = np.cross(rate[None], directors).ravel()
    first = own[-1].columns.stop
    none = np.zeros(0, dtype=np.int64)
    problem = DirectorBodies(mass, weight, 0, none, none, np.zeros((0, 3)), np.zeros((0, 3)), 0.0,
                             FixedReader(system, np.zeros((4, 3), attitude.dtype)), first, first + 2, new_counters(),
                             new_addresses(DirectorBodies))
    residuals = (Observable("constraint_error", slice(first + 2, first + 3), "1", "largest defect of the six"
                            " constraints", "residual"),
                 Observable("velocity_constraint_error", slice(first + 3, first + 4), "s-1", "largest |Dg v|",
                            "residual"))
    fields = (*shared, StateField("multiplier", "J", "multipliers of the six constraints", ("constraint",), "derived"))
    start = np.ascontiguousarray(np.array([directors.ravel(), velocity, mass*velocity, 0*velocity]))
    return Formulated(problem, start, fields, (*own, *energies(first), *residuals), director_fields,
                      float(np.linalg.norm(momentum)))


def euler_moments(inertia: np.ndarray) -> np.ndarray:
    """E_i = (J_j + J_k - J_i)/2 (..., 3): moments of the directors; zero along the normal of a flat body.

    Raises:
        InputError: a moment is negative: the triangle inequality is broken."""
    moments: np.ndarray = np.sum(inertia, axis=-1, keepdims=True)/2 - inertia
    limit = MOMENTS_TOLERANCE*float(np.max(inertia))
    if not np.all(moments >= -limit):
        raise InputError("option coordinates is directors, which needs moments of inertia none of which is above the"
                         " sum of the other two; allowed here is quaternion")
    return np.where(np.abs(moments) <= limit, 0.0, moments)


def director_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Fields of rows q, v, p, multipliers (..., 4, 9)."""
    directors, push = (rows[..., k, :].reshape(*rows.shape[:-2], 3, 3) for k in (0, 2))
    return {"attitude": np.swapaxes(directors, -1, -2), "angular_momentum": np.sum(np.cross(directors, push), axis=-2),
            "multiplier": rows[..., MULTIPLIER, :6]}


def quaternion_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Fields of rows q, v, p, multiplier (..., 4, 4)."""
    q, p = rows[..., 0, :], rows[..., 2, :]
    return {"attitude": matrices(q), "angular_momentum": space_parts(q, p)/2, "quaternion": q,
            "quaternion_velocity": rows[..., 1, :], "quaternion_momentum": p,
            "multiplier": rows[..., MULTIPLIER, :1]}
