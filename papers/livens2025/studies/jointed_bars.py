"""Rigid bodies with spherical joints: a chain that hangs from the origin (own), and a closed loop of four bars, pushed
for one second (livens2025 section 5.5).

`rigid_chain`: body k holds its upper joint on the lower one of body k - 1, the first one on the origin; joints are
points of the bodies. The angular momentum along gravity is conserved, all of it without gravity.

`rigid_loop`: bars of square section 1 m x 1 m and length l, in a square about the origin; bars 0 and 2 along e2, bars 1
and 3 along e1. The load acts on bar 0 (`mechanics.formulations.constrained.bodies`): afterwards the linear momentum is
4 load s along e1, the angular momentum about the origin 3 load s, both exactly.

State fields of all forms: position (N, 3), attitude (N, 3, 3), momentum (N, 3), spin (N, 3), the angular momentum about
the centre of mass, spatial.
"""
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on
from liestep.compile.rows import FieldOfRows, unit
from liestep.compile.separate import new_addresses
from liestep.extend import (
    Counter,
    Form,
    Formulated,
    InputError,
    Observable,
    Option,
    Options,
    Parameter,
    Parameters,
    Preset,
    Sheet,
    State,
    StateField,
    Vector,
    add,
    axpy,
    borrows,
    check_attitude,
    cross,
    invariant_axes,
    new_counters,
    own,
    put,
    row,
    scale,
    sub,
    to_space,
)
from liestep.geometry.linalg import cholesky, cholesky_solve
from liestep.geometry.quaternion import matrices, space_parts
from liestep.mechanics.contracts.formulated import JOINTS, Joints
from liestep.mechanics.contracts.formulations import Component
from liestep.mechanics.contracts.manifold import most_off
from liestep.mechanics.contracts.sheet import Runner
from liestep.mechanics.formulations.constrained.bodies import FORCE, ROWS, TORQUE, Bodies, load_at
from liestep.mechanics.formulations.constrained.body_forms import MOMENTUM, euler_moments, quaternion_state
from liestep.mechanics.formulations.constrained.director_bodies import INNER, BodiesReader, DirectorBodies
from liestep.mechanics.formulations.constrained.quaternion_bodies import WIDTH, QuaternionBodies
from liestep.mechanics.formulations.coordinates import energies


@hands_on("bodies", Component, "observe")
@borrows(FieldOfRows)
class JointedField(NamedTuple):
    """Vector field with the joints' accelerations solved for their forces; nothing is projected."""

    bodies: Bodies
    matrix: np.ndarray   # (3 K, 3 K) scratch
    force: np.ndarray    # (3 K,) joint forces
    moved: np.ndarray    # (N, 3) angular velocities
    pushed: np.ndarray   # (2 N, 3) accelerations and angular accelerations without joints
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        c = self.bodies
        self.counters[Counter.RHS_EVALUATIONS] += 1
        f = load_at(c.peak, t)
        for b in range(c.number()):
            i, w = ROWS*b, c.rate(y, b)
            put(self.moved, b, w)
            put(out, i, scale(1.0/c.mass[b], row(y, i + 4)))
            for k in range(3):
                put(out, i + 1 + k, cross(w, row(y, i + 1 + k)))
            put(out, i + 4, scale(c.mass[b], (c.gravity[0], c.gravity[1], c.gravity[2])))
            put(out, i + 5, (TORQUE*f if b == 0 else 0.0*f, 0.0*f, 0.0*f))
            if b == 0:
                out[i + 4, 0] += FORCE*f
            put(self.pushed, b, scale(1.0/c.mass[b], row(out, i + 4)))
            put(self.pushed, c.number() + b, c.inverse(y, b, sub(row(out, i + 5), cross(w, row(y, i + 5)))))
        if not self.join(y):
            return False
        for k in range(c.joints()):
            mu = (self.force[3*k], self.force[3*k + 1], self.force[3*k + 2])
            self.push(y, c.first[k], row(c.arm, k), mu, out)
            if c.second[k] >= 0:
                self.push(y, c.second[k], row(c.other, k), scale(-1.0, mu), out)
        return True

    def push(self, y: np.ndarray, b: int, x: Vector, mu: Vector, out: np.ndarray) -> None:
        """Add the force mu at the point x of body b to the rates of its momenta."""
        i = ROWS*b
        put(out, i + 4, add(row(out, i + 4), mu))
        put(out, i + 5, add(row(out, i + 5), cross(to_space(y[i + 1:], x), mu)))

    def acceleration(self, y: np.ndarray, b: int, x: Vector) -> Vector:
        """Of the point x of body b without joint forces."""
        r, w = to_space(y[ROWS*b + 1:], x), row(self.moved, b)
        turned = cross(row(self.pushed, self.bodies.number() + b), r)
        return add(row(self.pushed, b), add(turned, cross(w, cross(w, r))))

    def join(self, y: np.ndarray) -> bool:
        """Forces that keep the ends of all joints together; False where joints are redundant."""
        c = self.bodies
        for k in range(c.joints()):
            u = self.acceleration(y, c.first[k], row(c.arm, k))
            if c.second[k] >= 0:
                u = sub(u, self.acceleration(y, c.second[k], row(c.other, k)))
            for i in range(3):
                self.force[3*k + i] = -u[i]
            for j in range(k + 1):
                for i in range(3):
                    column = add(self.reply(y, k, j, 1, unit(i)), self.reply(y, k, j, -1, unit(i)))
                    for r in range(3):
                        self.matrix[3*k + r, 3*j + i] = column[r]
        if not cholesky(self.matrix, 3*c.joints()):
            return False
        cholesky_solve(self.matrix, self.force, 3*c.joints())
        return True

    def reply(self, y: np.ndarray, k: int, j: int, side: int, e: Vector) -> Vector:
        """Acceleration at the end `side` (1 first, -1 second) of joint k, with this sign, by the force e of joint j."""
        c = self.bodies
        b = c.first[k] if side > 0 else c.second[k]
        x = row(c.arm, k) if side > 0 else row(c.other, k)
        total = (0.0*e[0], 0.0*e[1], 0.0*e[2])
        if b < 0:
            return total
        q = y[ROWS*b + 1:]
        if b == c.first[j]:
            total = axpy(1.0/c.mass[b], e, cross(c.inverse(y, b, cross(to_space(q, row(c.arm, j)), e)), to_space(q, x)))
        if b == c.second[j]:
            turn = cross(c.inverse(y, b, cross(to_space(q, row(c.other, j)), e)), to_space(q, x))
            total = sub(total, axpy(1.0/c.mass[b], e, turn))
        return scale(float(side), total)


def redundant(bodies: Any, places: np.ndarray, attitudes: np.ndarray) -> bool:
    """Whether the joints' constraints depend on each other at positions (N, 3) and attitudes (N, 3, 3)."""
    if np.all(bodies.second < bodies.first) and len(set(bodies.first)) == len(bodies.first):
        return False  # a tree: each joint places a body of its own
    slopes = np.zeros((3*len(bodies.first), 6*len(bodies.mass)))
    for k, (a, b) in enumerate(zip(bodies.first, bodies.second, strict=True)):
        for body, x, sign in ((a, bodies.arm[k], 1.0), (b, bodies.other[k], -1.0)):
            if body >= 0:
                r = attitudes[body] @ x
                slopes[3*k:3*k + 3, 6*body:6*body + 3] += sign*np.eye(3)
                slopes[3*k:3*k + 3, 6*body + 3:6*body + 6] -= sign*np.cross(np.eye(3), r)
    longest = max(np.abs(bodies.arm).max(initial=0.0), np.abs(bodies.other).max(initial=0.0)) or 1.0
    slopes.reshape(len(slopes), -1, 6)[:, :, 3:] /= longest  # in any unit of length
    return bool(np.linalg.matrix_rank(slopes, tol=1e-10) < len(slopes))


PARTS = ("body", "quaternion_part")
FIELDS = (
    StateField("position", "m", "centres of mass", ("body", "xyz"), "relative"),
    StateField("attitude", "1", "attitudes, body to space", ("body", "xyz", "axis"), "attitude"),
    StateField("momentum", "kg m s-1", "linear momenta", ("body", "xyz"), "relative"),
    StateField("spin", MOMENTUM, "angular momenta about the centres of mass, spatial", ("body", "xyz"), "relative"),
)
MULTIPLIER = StateField("multiplier", "1", "multipliers: of each body, then three of each joint, in N",
                        ("constraint",), "derived")
FURTHER = (
    StateField("velocity", "m s-1", "velocities of the centres of mass, unknowns of their own", ("body", "xyz"),
               "derived"),
    StateField("quaternion", "1", "unit quaternions, scalar part first", PARTS, "derived"),
    StateField("quaternion_velocity", "s-1", "velocities of the quaternions, unknowns of their own", PARTS, "derived"),
    StateField("quaternion_momentum", MOMENTUM, "momenta of the quaternions, unknowns of their own", PARTS, "derived"),
    MULTIPLIER,
)
COORDINATES = Option("quaternion", "redundant coordinates: positions and unit quaternions (7 numbers a body, 1"
                     " constraint) or directors (12 numbers, 6 constraints, linear joints)",
                     ("quaternion", "directors"))
CONSTANT = Option("directors", "redundant coordinates with a constant mass matrix", ("directors",))


def own_length(bodies: Bodies, seen: State) -> float:
    """That of the arms of joints and of the distances between centres, in m."""
    centres, inner = seen["position"][0], bodies.second >= 0
    apart = np.linalg.norm(centres[bodies.first] - centres[bodies.second], axis=-1)[inner]
    arms = np.linalg.norm(np.concatenate([bodies.arm, bodies.other[inner]]), axis=-1)
    return float(max([*apart, *arms], default=0.0)) or float(np.sqrt((bodies.inertia.max(axis=-1)/bodies.mass).max()))


def gaps(bodies: Bodies, seen: State) -> tuple[float, float]:
    """See `Joints`: the ends of spherical joints, which have no directions."""
    ends = []
    for numbers, points in ((bodies.first, bodies.arm), (bodies.second, bodies.other)):
        turned = np.einsum("tkij,kj->tki", seen["attitude"][:, numbers], points)
        turned += seen["position"][:, numbers]
        ends.append(np.where((numbers >= 0)[:, None], turned, points))
    return float(np.abs(ends[0] - ends[1]).max(initial=0.0)), 0.0


class Jointed(NamedTuple):
    """What a system of bodies with joints declares: `bodies(parameters)`, and which momenta it keeps."""

    bodies: Callable[[Parameters], Bodies]
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]
    conserved_linear: Callable[[Parameters], tuple[bool, bool, bool]]

    def sheet(self, **declared: Any) -> Sheet:
        """Sheet of such a system, in all formulations."""
        forms = {"vector_field": Form(self.vector_field),
                 "constrained_lagrangian": Form(self.redundant, {"coordinates": COORDINATES}, self.check),
                 "quaternion_hamiltonian": Form(self.quaternions),
                 "constant_mass": Form(self.redundant, {"coordinates": CONSTANT})}
        return Sheet(build=self.bodies, conserved_momentum=self.conserved_momentum, state_shapes=self.shapes,
                     manifold=self.manifold, kinetic_energy=self.kinetic, forms=forms, requires=self.requires,
                     fallback="vector_field", **declared)

    def shapes(self, parameters: Parameters) -> dict[str, tuple[int, ...]]:
        n = len(self.bodies(parameters).mass)
        return {"position": (n, 3), "attitude": (n, 3, 3), "momentum": (n, 3), "spin": (n, 3)}

    def kinetic(self, parameters: Parameters, fields: State) -> np.ndarray:
        """(time,)"""
        bodies = self.bodies(parameters)
        turned = np.einsum("tbij,tbi->tbj", fields["attitude"], fields["spin"])
        return 0.5*(np.sum(fields["momentum"]**2/bodies.mass[:, None], axis=(1, 2))
                    + np.sum(turned**2/bodies.inertia, axis=(1, 2)))

    def check(self, parameters: Parameters, options: Options) -> None:
        """Raises InputError for directors of bodies that have none."""
        if options["coordinates"] == "directors":
            euler_moments(self.bodies(parameters).inertia)

    def requires(self, parameters: Parameters, method: Runner) -> str | None:
        """Why a method that inverts the mass matrix of directors cannot run: a flat body."""
        flat = method.formulation == "constant_mass" and not np.all(
            euler_moments(self.bodies(parameters).inertia) > 0.0)
        return "a flat body has a singular mass matrix in directors" if flat else None

    def manifold(self, parameters: Parameters, state: State) -> None:
        """Raises InputError for attitudes that are none, open joints, ends that move apart, and redundant joints."""
        check_attitude("attitude", state["attitude"])
        bodies = self.bodies(parameters)
        speeds = state["momentum"]/bodies.mass[:, None]
        rates = np.einsum("bij,bj,bkj,bk->bi", state["attitude"], 1.0/bodies.inertia, state["attitude"], state["spin"])
        longest = float(max(np.abs(bodies.arm).max(initial=0.0), np.abs(bodies.other).max(initial=0.0)))
        fall = np.sqrt(np.linalg.norm(bodies.gravity)*longest)
        fastest = max(np.abs(speeds).max(), np.abs(rates).max()*longest, fall)
        for k in range(len(bodies.first)):
            ends = []
            for b, x in ((bodies.first[k], bodies.arm[k]), (bodies.second[k], bodies.other[k])):
                r = state["attitude"][b] @ x
                moving = (state["position"][b] + r, speeds[b] + np.cross(rates[b], r))
                ends.append(moving if b >= 0 else (x, np.zeros(3)))
            gap, slip = (float(np.abs(one - other).max()) for one, other in zip(*ends, strict=True))
            place = f"joint {k} of body {bodies.first[k]} and " + (
                f"body {bodies.second[k]}" if bodies.second[k] >= 0 else "the ground")
            allowed = [most_off()*max(least, float(np.abs(part).max()))
                       for least, part in zip((longest, fastest), ends[0], strict=True)]
            if gap > allowed[0]:
                raise InputError(f"the initial state opens {place} by {gap:.3g} m, allowed {allowed[0]:.3g}")
            if slip > allowed[1]:
                raise InputError(f"the ends of {place} move apart at {slip:.3g} m/s at the start, allowed"
                                 f" {allowed[1]:.3g}")
        if redundant(bodies, state["position"], state["attitude"]):
            raise InputError("the joints are redundant at the start: their constraints depend on each other; leave out"
                             " one of them")

    def observables(self, parameters: Parameters, coordinates: str) -> tuple[Observable, ...]:
        """Columns of `Bodies.observe`, and of what its users add in coordinates."""
        loaded = self.bodies(parameters).peak > 0.0
        kind = "plain" if loaded else "invariant"
        flags = () if loaded else tuple(self.conserved_momentum(parameters))
        straight = () if loaded else tuple(self.conserved_linear(parameters))
        observables = [Observable("energy", slice(0, 1), "J", "energy of positions, attitudes and momenta", kind),
                 Observable("momentum_map", slice(1, 4), MOMENTUM, "angular momentum about the origin", kind,
                            conserved=flags, stem="" if loaded else "momentum_error"),
                 Observable("linear_momentum", slice(4, 7), "kg m s-1", "total linear momentum", kind,
                            conserved=straight),
                 Observable("constraint_error", slice(7, 8), "1", "largest joint gap (m) or defect of coordinates",
                            "residual", size=JOINTS)]
        if not coordinates:
            return tuple(observables)
        observables += [Observable(part.name, part.columns, part.units, part.long_name, kind) for part in energies(8)]
        residuals = ["velocity_constraint_error"]
        if coordinates == "quaternion":
            residuals.append("momentum_constraint_error")
        observables += [Observable(name, slice(10 + k, 11 + k), "1", RESIDUALS[name], "residual")
                  for k, name in enumerate(residuals)]
        last = observables[-1].columns.stop
        if loaded:
            observables += [Observable("work", slice(last, last + 1), "J", "work of the load", "plain"),
                      Observable("energy_less_work", slice(last + 1, last + 2), "J",
                                 "generalized energy less the work of the load")]
        return tuple(observables)

    def formulated(self, parameters: Parameters, problem: Any, start: np.ndarray, fields: tuple[StateField, ...],
                   coordinates: str, reader: Callable) -> Formulated:
        read = reader(start)
        scale = float(np.sum(np.linalg.norm(read["spin"] + np.cross(read["position"], read["momentum"]), axis=-1)))
        return Formulated(problem, np.ascontiguousarray(start), fields, self.observables(parameters, coordinates),
                          reader, scale, joints=Joints(partial(own_length, self.bodies(parameters)),
                                                       partial(gaps, self.bodies(parameters))))

    def vector_field(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        bodies = self.bodies(parameters)
        n, k = len(bodies.mass), len(bodies.first)
        start = np.concatenate([state["position"][:, None], np.swapaxes(state["attitude"], 1, 2),
                                state["momentum"][:, None], state["spin"][:, None]], axis=1).reshape(ROWS*n, 3)
        problem = JointedField(bodies, np.zeros((3*k, 3*k)), np.zeros(3*k), np.zeros((n, 3)), np.zeros((2*n, 3)),
                               new_counters())
        return self.formulated(parameters, problem, start, FIELDS, "", _row_fields)

    def quaternions(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        bodies = self.bodies(parameters)
        n = len(bodies.mass)
        q, v, p = (np.array(part) for part in zip(*(quaternion_state(bodies.inertia[b], {
            "attitude": state["attitude"][b], "angular_momentum": state["spin"][b]}) for b in range(n)), strict=True))
        rows = np.zeros((5 if bodies.peak > 0.0 else 4, WIDTH*n))
        speeds = state["momentum"]/bodies.mass[:, None]
        for k, (straight, turning) in enumerate(((state["position"], q), (speeds, v), (state["momentum"], p))):
            rows[k] = np.concatenate([straight, turning], axis=1).ravel()
        problem = QuaternionBodies(bodies, np.zeros((ROWS*n, 3)), new_counters(), new_addresses(QuaternionBodies))
        bonds = n + 3*len(bodies.first)
        return self.formulated(parameters, problem, rows, (*FIELDS, *FURTHER), "quaternion",
                               lambda found: _quaternion_fields(found, n, bonds))

    def redundant(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        if options["coordinates"] == "quaternion":
            return self.quaternions(parameters, state, options)
        bodies = self.bodies(parameters)
        n, bonds = len(bodies.mass), INNER*len(bodies.mass) + 3*len(bodies.first)
        moments = euler_moments(bodies.inertia)
        mass = np.concatenate([np.repeat(bodies.mass[:, None], 3, axis=1), np.repeat(moments, 3, axis=1)], axis=1)
        weight = np.concatenate([bodies.mass[:, None]*bodies.gravity, np.zeros((n, 9))], axis=1).ravel()
        rates = np.einsum("bij,bj,bkj,bk->bi", state["attitude"], 1.0/bodies.inertia, state["attitude"], state["spin"])
        directors = np.swapaxes(state["attitude"], 1, 2)
        rows = np.zeros((5 if bodies.peak > 0.0 else 4, 12*n))
        rows[0] = np.concatenate([state["position"], directors.reshape(n, 9)], axis=1).ravel()
        rows[1] = np.concatenate([state["momentum"]/bodies.mass[:, None],
                                  np.cross(rates[:, None], directors).reshape(n, 9)], axis=1).ravel()
        rows[2] = mass.ravel()*rows[1]
        problem = DirectorBodies(mass.ravel(), weight, 3, bodies.first, bodies.second, bodies.arm, bodies.other,
                                 bodies.peak, BodiesReader(bodies, np.zeros((ROWS*n, 3))), 8, 7, new_counters(),
                                 new_addresses(DirectorBodies))
        return self.formulated(parameters, problem, rows, (*FIELDS, FURTHER[0], MULTIPLIER), "directors",
                               lambda found: _director_fields(found, n, bonds))


RESIDUALS = {"velocity_constraint_error": "largest |Dg v|", "momentum_constraint_error": "largest |q.p|"}


def _row_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    parts = rows.reshape(*rows.shape[:-2], -1, ROWS, 3)
    return {"position": parts[..., 0, :], "attitude": np.swapaxes(parts[..., 1:4, :], -1, -2),
            "momentum": parts[..., 4, :], "spin": parts[..., 5, :]}


def _quaternion_fields(rows: np.ndarray, n: int, bonds: int) -> dict[str, np.ndarray]:
    q, v, p = (rows[..., k, :].reshape(*rows.shape[:-2], n, WIDTH) for k in range(3))
    turn, twist = q[..., 3:], p[..., 3:]
    return {"position": q[..., :3], "attitude": matrices(turn), "momentum": p[..., :3],
            "spin": 0.5*space_parts(turn, twist), "velocity": v[..., :3], "quaternion": turn,
            "quaternion_velocity": v[..., 3:], "quaternion_momentum": twist, "multiplier": rows[..., 3, :bonds]}


def _director_fields(rows: np.ndarray, n: int, bonds: int) -> dict[str, np.ndarray]:
    q, v, p = (rows[..., k, :].reshape(*rows.shape[:-2], n, 4, 3) for k in range(3))
    return {"position": q[..., 0, :], "attitude": np.swapaxes(q[..., 1:, :], -1, -2), "momentum": p[..., 0, :],
            "spin": np.sum(np.cross(q[..., 1:, :], p[..., 1:, :]), axis=-2), "velocity": v[..., 0, :],
            "multiplier": rows[..., 3, :bonds]}


def standing(parameters: Parameters, places: np.ndarray, turns: np.ndarray) -> dict[str, np.ndarray]:
    """A start at rest."""
    return {"position": places, "attitude": turns, "momentum": np.zeros_like(places), "spin": np.zeros_like(places)}


def chain_bodies(parameters: Parameters) -> Bodies:
    n = len(parameters["mass"])
    ends = np.concatenate([np.zeros((1, 3)), parameters["lower_joint"][:-1]])
    return Bodies(parameters["mass"], parameters["inertia"], np.arange(n), np.arange(n) - 1, parameters["upper_joint"],
                  ends, parameters["gravity"], 0.0)


def hanging(parameters: Parameters, turns: np.ndarray, rates: np.ndarray) -> dict[str, np.ndarray]:
    """Start from attitudes (n, 3, 3) and spatial angular velocities (n, 3), joints closed in place and velocity."""
    state = standing(parameters, np.zeros_like(parameters["upper_joint"]), turns)
    end, speed = np.zeros(3), np.zeros(3)
    for k in range(len(turns)):
        upper, lower = (turns[k] @ parameters[name][k] for name in ("upper_joint", "lower_joint"))
        state["position"][k] = end - upper
        motion = speed - np.cross(rates[k], upper)
        state["momentum"][k] = parameters["mass"][k]*motion
        state["spin"][k] = turns[k] @ (parameters["inertia"][k]*(turns[k].T @ rates[k]))
        end, speed = state["position"][k] + lower, motion + np.cross(rates[k], lower)
    return state


def _swinging(parameters: Parameters) -> dict[str, np.ndarray]:
    """All bodies upright, the first two turning in different directions."""
    n = len(parameters["mass"])
    rates = np.zeros((n, 3))
    rates[0] = (0.6, 0.3, 0.2)
    rates[1:2] = (-0.4, 0.8, 0.1)
    return hanging(parameters, np.tile(np.eye(3), (n, 1, 1)), rates)


def bars(n: int) -> dict:
    """Bars of 1 m and 1 kg with a square section of 0.2 m, hanging along -e3."""
    across, along = (1.0 + 0.04)/12.0, 0.08/12.0
    return {"mass": [1.0]*n, "inertia": [[across, across, along]]*n, "upper_joint": [[0.0, 0.0, 0.5]]*n,
            "lower_joint": [[0.0, 0.0, -0.5]]*n, "gravity": [0.0, 0.0, -9.81]}


def loop_bodies(parameters: Parameters) -> Bodies:
    """m = density l, J = m (l^2 + 1)/12 across and m/6 along each bar."""
    ring = np.arange(4)
    length = parameters["length"]
    mass = parameters["density"]*length
    across, along = mass*(length*length + 1.0)/12.0, mass*2.0/12.0
    up, right = np.array([0.0, 0.5*length, 0.0]), np.array([0.5*length, 0.0, 0.0])
    upright, lying = [across, along, across], [along, across, across]
    return Bodies(np.full(4, mass), np.array([upright, lying]*2), ring, (ring + 1) % 4,
                  np.array([up, -right, -up, right]), np.array([right, up, -right, -up]), np.zeros(3),
                  parameters["load"])


def _free(parameters: Parameters) -> tuple[bool, bool, bool]:
    return (parameters["load"] == 0.0,)*3


def _square(parameters: Parameters) -> State:
    """Bars of the loop at rest on the sides of a square about the origin."""
    half = 0.5*parameters["length"]
    places = half*np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    return standing(parameters, places, np.tile(np.eye(3), (4, 1, 1)))


def ends(parameters: Parameters, position: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Ends (..., n, 2, 3) of bars (m): of a chain its joints, of the loop half a length along e2 and e1 in turn."""
    if "upper_joint" in parameters:
        arms = np.stack([np.asarray(parameters["upper_joint"]), np.asarray(parameters["lower_joint"])], axis=1)
    else:
        half = 0.5*float(parameters["length"])*np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]*2)
        arms = np.stack([half, -half], axis=1)
    return position[..., None, :] + np.einsum("...nij,nkj->...nki", attitude, arms)


def draw(looks: Any, scene: Any, bars: np.ndarray) -> None:
    """Bars (n, 2, 3) with balls at their joints. looks: `liestep.figures.scenes.looks`."""
    few = len(bars) <= looks.FEW_LINKS
    for bar, colour in zip(bars, looks.body_colours(len(bars)), strict=True):
        scene.line(bar, colour, 3.2 if few else 1.2, outline=0.7, fade=0.3)
    if few:
        scene.balls(bars.reshape(-1, 3), looks.PIVOT, 3.5, lift=0.05, fade=0.1)


def film(file: Any, parameters: Parameters, films: Any) -> Any:
    """Bars with joints; the loop is seen from above."""
    moving = ends(parameters, file["position"], file["attitude"])
    view = films.against(parameters["gravity"]) if "gravity" in parameters else films.View(-60.0, 50.0)
    return films.FilmScene(view, lambda scene, k: draw(films.looks, scene, moving[k]), moving.reshape(-1, 3))


CHAIN = Jointed(chain_bodies, lambda parameters: invariant_axes([parameters["gravity"]]),
                lambda parameters: (False, False, False))
LOOP = Jointed(loop_bodies, _free, _free)
SHEETS = {
    "rigid_chain": CHAIN.sheet(
        title="Chain of rigid bodies",
        equations="m_i d2x_i/dt2 = m_i gravity + joint forces; dL_i/dt = moments of joint forces",
        citation="own; joints as in livens2025 section 5.5",
        parameters={
            "mass": Parameter("kg", "masses", ("n",), "positive"),
            "inertia": Parameter("kg m2", "principal moments about the centres of mass", ("n", 3), "moments"),
            "upper_joint": Parameter("m", "point of each body that is held, from its centre of mass", ("n", 3)),
            "lower_joint": Parameter("m", "point of each body that holds the next one", ("n", 3)),
            "gravity": Parameter("m s-2", "acceleration vector of gravity", (3,)),
        },
        symmetries=("gravity",),
        default_preset="four_bars",
        motion=film,
        presets={
            "four_bars": own("four bars of 1 m, the first two turning", bars(4), _swinging, 4.0),
            "long": own("64 bars of 1 m", bars(64), _swinging, 1.0),
            **{f"bars_{n}": own(f"{n} bars of 1 m", bars(n), _swinging, 1.0) for n in (1, 16, 256)},
        },
    ),
    "rigid_loop": LOOP.sheet(
        title="Closed loop of four bars",
        equations="M_i d2x_i/dt2 = sum of joint forces and load; dL_i/dt = sum of moments of joint forces and load",
        citation="livens2025 section 5.5, eqs. (122)-(128)",
        parameters={
            "length": Parameter("m", "length of the bars", (), "positive"),
            "density": Parameter("kg m-1", "mass of a bar for each metre", (), "positive"),
            "load": Parameter("N", "largest value of f(t)", (), "non-negative"),
        },
        default_preset="livens2025",
        motion=film,
        presets={"livens2025": Preset(
            "four bars of 10 m in a square, pushed for one second",
            "livens2025 section 5.5; numbers of table 5 from the authors' public code", "inferred",
            {"length": 10.0, "density": 1.0, "load": 100.0}, _square, 10.0)},
    ),
}
