"""Two quadrotors carry a point mass on rigid massless links (liegroup2021 section 6).

The load is at y, quadrotor i at x_i = y - l_i q_i: the direction q_i points from the quadrotor to the load, dq_i/dt =
omega_i x q_i. e3 points along gravity, that is down. R_i turns body to space, dR_i/dt = R_i hat(Omega_i) with the body
rate Omega_i. Forces u_i act on the quadrotors, moments M_i (body) turn them; both come from the controller of
`_quadrotor_control`, which depends on time.

    T = 1/2 m_y |v|^2 + 1/2 sum_i (m_i |v - l_i omega_i x q_i|^2 + Omega_i.J_i Omega_i),
    U = -m_y g y_3 - sum_i m_i g (y - l_i q_i)_3
    M_q (v' - g e3) = sum_i (q_i.u_i - m_i l_i |omega_i|^2) q_i,  M_q = m_y 1 + sum_i m_i q_i q_i^T
    omega_i' = q_i x (v' - g e3)/l_i - q_i x u_i/(m_i l_i),  J_i Omega_i' = M_i - Omega_i x J_i Omega_i
    work' = sum_i (u_i.x_i' + M_i.Omega_i)

These are the equations (37) with v' eliminated. The work is integrated with the state: T + U - work is conserved
whatever the controller does. Without controller and moments the system is conservative, and its angular momentum
about e3 is conserved too.

The state error is that of the load and the links. Attitudes and body rates are left out: they do not act back on
the load (unless attitude_control is geometric), and under a constant moment the bodies spin so fast that their
error would hide all others.
"""
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.rows import Vector
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError
from liestep.geometry.groups.product import product
from liestep.geometry.groups.rotation import Rotation
from liestep.geometry.groups.tangent_spheres import TangentSpheres
from liestep.geometry.groups.translation import Translation
from liestep.mechanics.contracts.form import Form
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.manifold import check_attitude, check_directions, check_tangent
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Parameters, Sheet
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.systems._quadrotor_control import (
    BODIES,
    BODY_ROWS,
    LINKS,
    POSITION,
    RATES,
    ROWS,
    VELOCITY,
    PayloadControl,
)
from liestep.mechanics.systems._quadrotor_motion import PayloadField, PayloadGenerator, QuadrotorPayload

FIELDS = (
    StateField("load_position", "m", "position of the load, e3 down", ("xyz",), "relative"),
    StateField("load_velocity", "m s-1", "velocity of the load", ("xyz",), "relative"),
    StateField("attitude", "1", "attitudes of the quadrotors, body to space", ("body", "xyz", "axis"), "derived"),
    StateField("body_rate", "rad s-1", "angular velocities of the quadrotors, body frame", ("body", "xyz"), "derived"),
    StateField("q", "1", "directions from the quadrotors to the load, spatial"),
    StateField("omega", "rad s-1", "angular velocities of the links, orthogonal to q, spatial", norm="relative",
               tangent="q"),
)


def _observables(conserved: tuple[bool, bool, bool]) -> tuple[Observable, ...]:
    """Columns of `QuadrotorPayload.observe`."""
    return (
        Observable("energy", slice(0, 1), "J", "total energy without the work of the control"),
        Observable("momentum_map", slice(1, 4), "kg m2 s-1", "total angular momentum about the origin, spatial",
                   conserved=conserved, stem="momentum_error"),
        Observable("unit_length_error", slice(4, 5), "1", "mean over the links of |1 - q.q|", "residual",
                   statistics=("mean",)),
        Observable("unit_length_error_largest", slice(5, 6), "1", "maximum over the links of |1 - q.q|", "residual",
                   statistics=("max",), stem="unit_length_error"),
        Observable("tangency_error", slice(6, 7), "s-1", "maximum over the links of |q.omega|", "residual"),
        Observable("orthogonality_error", slice(7, 8), "1", "largest entry of |R^T R - 1| over the bodies", "residual"),
        Observable("work", slice(8, 9), "J", "work of the control forces and moments since the start", "plain"),
    )


def _check(parameters: Parameters) -> None:
    formation = parameters["formation"]
    if np.any(np.abs(np.linalg.norm(formation, axis=1) - 1.0) > 1e-12):
        raise InputError("parameter formation must be two unit vectors to 1e-12; give full precision, for"
                         " example sqrt(3)/2")
    if np.any(np.abs(formation[:, 2]) < 1e-6) or np.linalg.norm(formation.sum(axis=0)) < 1e-6:
        raise InputError("parameter formation must be two directions with a vertical part and a sum that is not zero:"
                         " the links could not lift")
    if not np.any(parameters["heading"]):
        raise InputError("parameter heading must not be zero")
    if parameters["attitude_control"] == "geometric" and parameters["control"] == "none":
        raise InputError("attitude_control geometric follows the forces of the control: parameter control"
                         " must be tracking")


def _vector(values: np.ndarray) -> Vector:
    """Three numbers as a tuple of floats."""
    x, y, z = map(float, values)
    return x, y, z


def _build(parameters: Parameters) -> QuadrotorPayload:
    p = parameters
    formation, heading = p["formation"], p["heading"]
    control = PayloadControl(
        int(p["control"] == "tracking"), int(p["attitude_control"] == "geometric"), p["load_mass"], p["mass"],
        p["length"], p["inertia"], p["gravity"], p["load_gain"], p["link_gain"], p["attitude_gain"], p["path"],
        formation, 1.0/(formation[:, 2]*np.linalg.norm(formation.sum(axis=0))),
        _vector(heading/np.linalg.norm(heading)), _vector(p["moment"]), np.zeros((2, 3)))
    return QuadrotorPayload(p["load_mass"], p["mass"], p["length"], p["inertia"], p["gravity"], control,
                            np.zeros((2, 3)), np.zeros((2, 3)))


def _manifold(parameters: Parameters, state: Mapping[str, np.ndarray]) -> None:
    check_attitude("attitude", state["attitude"])
    check_directions("q", state["q"])
    check_tangent("omega", state["omega"], "q", state["q"])


def _bodies(rows: np.ndarray) -> np.ndarray:
    """(..., 2, 4, 3): the columns of each attitude, then its body rate."""
    return rows[..., BODIES:LINKS, :].reshape(*rows.shape[:-2], 2, BODY_ROWS, 3)


def _to_rows(state: Mapping[str, np.ndarray]) -> np.ndarray:
    rows = np.zeros((ROWS, 3), dtype=np.result_type(*state.values()))
    rows[POSITION], rows[VELOCITY] = state["load_position"], state["load_velocity"]
    _bodies(rows)[:, :3], _bodies(rows)[:, 3] = np.swapaxes(state["attitude"], 1, 2), state["body_rate"]
    rows[LINKS:RATES], rows[RATES:] = state["q"], state["omega"]
    return rows


def _to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    bodies = _bodies(rows)
    return {"load_position": rows[..., POSITION, :], "load_velocity": rows[..., VELOCITY, :],
            "attitude": np.swapaxes(bodies[..., :3, :], -1, -2), "body_rate": bodies[..., 3, :],
            "q": rows[..., LINKS:RATES, :], "omega": rows[..., RATES:, :]}


def _field(parameters: Parameters, state: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> Formulated:
    return _formulated(PayloadField(_build(parameters), np.zeros((6, 3)), new_counters(),
                                    int(options["form"] == "orthonormal")), parameters, state)


def _action(parameters: Parameters, state: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> Formulated:
    body = ((Rotation(3), 3), (Translation(1), 1))
    action = product((Translation(3), BODIES), *body, *body, (TangentSpheres(2), ROWS - LINKS))
    generator = PayloadGenerator(_build(parameters), np.zeros((6, 3)))
    return _formulated(ActionForm(action, generator, new_counters()), parameters, state)


def _formulated(problem: Any, parameters: Parameters, state: Mapping[str, np.ndarray]) -> Formulated:
    return Formulated(problem, _to_rows(state), FIELDS, _observables(_conserved(parameters)), _to_fields,
                      _momentum_scale(parameters, state))


def _momentum_scale(parameters: Parameters, state: Mapping[str, np.ndarray]) -> float:
    length, mass, position, velocity = (parameters["length"][:, None], parameters["mass"], state["load_position"],
                                        state["load_velocity"])
    places, velocities = position - length*state["q"], velocity - length*np.cross(state["omega"], state["q"])
    terms = [parameters["load_mass"]*np.linalg.norm(np.cross(position, velocity)),
             *(mass*np.linalg.norm(np.cross(places, velocities), axis=1)),
             *np.linalg.norm(parameters["inertia"]*state["body_rate"], axis=1)]
    return float(np.sum(terms))


def _conserved(parameters: Parameters) -> tuple[bool, bool, bool]:
    free = parameters["control"] == "none" and not np.any(parameters["moment"])
    return free and parameters["gravity"] == 0.0, free and parameters["gravity"] == 0.0, free


def _kinetic(parameters: Parameters, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    velocity, rate = fields["load_velocity"], fields["body_rate"]
    bodies = velocity[:, None] - parameters["length"][:, None]*np.cross(fields["omega"], fields["q"])
    return 0.5*(parameters["load_mass"]*np.sum(velocity*velocity, axis=1)
                + np.sum(parameters["mass"]*np.sum(bodies*bodies, axis=2), axis=1)
                + np.sum(parameters["inertia"]*rate*rate, axis=(1, 2)))


def desired_path(parameters: Parameters, time: np.ndarray) -> np.ndarray:
    """Desired position of the load at each time, (time, 3)."""
    return np.stack(np.broadcast_arrays(*_arrays(parameters).desired(time)[0]), axis=-1)


def desired_directions(parameters: Parameters, time: np.ndarray, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """Directions q_id that the controller asks of the links, (time, 2, 3), from load_position and
    load_velocity (time, 3)."""
    control, zero = _arrays(parameters), (0.0, 0.0, 0.0)
    force = control.load_force(time, tuple(fields["load_position"].T), tuple(fields["load_velocity"].T))
    _, *frame = control.frame(force, zero, zero)
    axes = np.array([axis[0] for axis in frame])  # (axis, xyz, time)
    return np.einsum("ka,axt->tkx", parameters["formation"], axes)


def _arrays(parameters: Parameters) -> PayloadControl:
    """The controller as plain Python on arrays, for the figures: one definition of what is desired."""
    return plain_component(_build(parameters).control, Functions(np.sqrt, np.sin, np.cos))


def _tilted(degrees: float) -> list[list[float]]:
    """Directions from two quadrotors above the load, tilted to both sides in the plane of e1 and e3."""
    angle = math.radians(degrees)
    return [[math.sin(angle), 0.0, math.cos(angle)], [-math.sin(angle), 0.0, math.cos(angle)]]


def start(parameters: Parameters, degrees: float = 80.0) -> dict[str, np.ndarray]:
    """At rest at (-2, 0, 0), links tilted by 80 degrees."""
    return {"load_position": np.array([-2.0, 0.0, 0.0]), "load_velocity": np.zeros(3),
            "attitude": np.stack([np.eye(3)]*2), "body_rate": np.zeros((2, 3)), "q": np.array(_tilted(degrees)),
            "omega": np.zeros((2, 3))}


def _steep_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """The same with 45 degrees. From 80 degrees F comes within 0.3 N of zero, where its frame turns faster than the
    bodies can: of nine attitude gains (w^2, 2 w), w = 10 to 200 rad/s, four lost the load; from 45 degrees none did."""
    return start(parameters, 45.0)


def _moving_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """The same place, with everything moving: links at 2 to 4 rad/s, bodies at 3 to 4 rad/s, load at 2 m/s."""
    state = start(parameters)
    turns = np.array([[1.0, 2.0, -2.0], [2.0, -3.0, 1.0]])
    return state | {"load_velocity": np.array([1.0, 1.5, -1.0]),
                    "body_rate": np.array([[1.0, -2.0, 3.0], [2.0, 3.0, 1.0]]), "omega": np.cross(state["q"], turns)}


STILL = {  # the numbers of the authors' public code, but no moments
    "load_mass": 0.4, "mass": [0.755, 0.755], "length": [0.6, 0.8], "inertia": [[0.0820, 0.0845, 0.1377]]*2,
    "gravity": 9.81, "control": "tracking", "load_gain": [12.0, 5.0], "link_gain": [16.0, 5.0],
    "formation": [[0.5, 0.0, 3.0**0.5/2.0], [-0.5, 0.0, 3.0**0.5/2.0]], "heading": [0.0, -1.0, 0.0],
    "path": [[-2.5, 0.0, -0.75], [1.0, 0.0, -5.0], [0.0, 0.0, 1.0]],
    "moment": [0.0, 0.0, 0.0], "attitude_control": "none", "attitude_gain": [1600.0, 80.0],
}

SHEET = Sheet(
    title="Two quadrotors with a suspended load",
    equations="M_q (v' - g e3) = sum_i (q_i.u_i - m_i l_i |omega_i|^2) q_i; omega_i' = q_i x (v' - g e3)/l_i - q_i x"
    " u_i/(m_i l_i); J_i Omega_i' = M_i - Omega_i x J_i Omega_i; q_i' = omega_i x q_i; R_i' = R_i hat(Omega_i)",
    citation="liegroup2021 section 6, eq. (37)",
    parameters={
        "load_mass": Parameter("kg", "mass of the load, a point", (), "positive"),
        "mass": Parameter("kg", "masses of the quadrotors", (2,), "positive"),
        "length": Parameter("m", "lengths of the massless links", (2,), "positive"),
        "inertia": Parameter("kg m2", "principal moments of inertia of each quadrotor", (2, 3), "moments"),
        "gravity": Parameter("m s-2", "acceleration of gravity along +e3, which points down"),
        "control": Parameter("1", "tracking: forces that let the load follow the path; none: no forces", (), "choice",
                             ("tracking", "none")),
        "load_gain": Parameter("s-2, s-1", "gains on position and velocity of the load", (2,), "non-negative"),
        "link_gain": Parameter("s-2, s-1", "gains on direction and rate of the links", (2,), "non-negative"),
        "formation": Parameter("1", "desired link directions in the frame of the load's force, unit vectors", (2, 3)),
        "heading": Parameter("1", "direction that fixes the frame's turn about the force; only its direction counts",
                             (3,)),
        "path": Parameter("m, m s-1, m s-2, ...",
                          "desired load position: coefficients of 1, t, t^2, ...; one row: hover", ("k", 3)),
        "moment": Parameter("N m", "constant moment on each quadrotor, body frame, added to that of attitude_control",
                            (3,)),
        "attitude_control": Parameter("1", "geometric: thrusts act along the third body axes, which follow the forces;"
                                      " none: forces act in any direction", (), "choice", ("none", "geometric")),
        "attitude_gain": Parameter("s-2, s-1", "gains of the geometric attitude control, times inertia", (2,),
                                   "non-negative"),
    },
    combination=_check,
    build=_build,
    state_shapes=lambda parameters: {
        "load_position": (3,), "load_velocity": (3,), "attitude": (2, 3, 3), "body_rate": (2, 3), "q": (2, 3),
        "omega": (2, 3)},
    manifold=_manifold,
    kinetic_energy=_kinetic,
    conserved_momentum=_conserved,
    forms={
        "vector_field": Form(_field, {"form": Option(
            "embedded", "all rows in the embedding space; orthonormal returns attitudes to rotations, links to unit"
            " length and their rates to tangents after each step", ("embedded", "orthonormal"),
            after_steps=("orthonormal",))}),
        "lie_action": Form(_action, {"action": Option("direct_product", "action of the group", ("direct_product",))}),
    },
    default_preset="paper",
    presets={
        "no_moment": Preset("without moments the bodies keep their attitudes", "liegroup2021 section 6; numbers of the"
                            " authors' public code", "own", STILL, start, 5.0),
        "attitude_control": Preset("quadrotors push along their own axes, which a geometric controller turns towards"
                                   " the forces; links start at 45 degrees", "Lee, Leok and McClamroch 2010", "own",
                                   STILL | {"attitude_control": "geometric"}, _steep_start, 5.0),
        "uncontrolled": Preset("links and bodies in free fall, everything moving: conservative", "none", "own",
                               STILL | {"control": "none"}, _moving_start, 5.0),
    },
)
