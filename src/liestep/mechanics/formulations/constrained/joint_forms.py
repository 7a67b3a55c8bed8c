"""Forms of rigid bodies with spherical joints: first states, fields and observables of all coordinates.

State fields of all forms: position (N, 3), attitude (N, 3, 3), momentum (N, 3), spin (N, 3), the angular momentum about
the centre of mass, spatial.
"""
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.separate import new_addresses
from liestep.errors import InputError
from liestep.geometry.quaternion import matrices, space_parts
from liestep.mechanics.contracts.formulated import JOINTS, Formulated, Joints, Observable, StateField
from liestep.mechanics.contracts.manifold import check_attitude, most_off
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameters, Runner, Sheet, State
from liestep.mechanics.formulations.constrained.bodies import ROWS, Bodies, JointedField, redundant
from liestep.mechanics.formulations.constrained.body_forms import MOMENTUM, euler_moments, quaternion_state
from liestep.mechanics.formulations.constrained.director_bodies import INNER, BodiesReader, DirectorBodies
from liestep.mechanics.formulations.constrained.quaternion_bodies import WIDTH, QuaternionBodies
from liestep.mechanics.formulations.coordinates import energies

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
        found = [Observable("energy", slice(0, 1), "J", "energy of positions, attitudes and momenta", kind),
                 Observable("momentum_map", slice(1, 4), MOMENTUM, "angular momentum about the origin", kind,
                            conserved=flags, stem="" if loaded else "momentum_error"),
                 Observable("linear_momentum", slice(4, 7), "kg m s-1", "total linear momentum", kind,
                            conserved=straight),
                 Observable("constraint_error", slice(7, 8), "1", "largest joint gap (m) or defect of coordinates",
                            "residual", size=JOINTS)]
        if not coordinates:
            return tuple(found)
        found += [Observable(part.name, part.columns, part.units, part.long_name, kind) for part in energies(8)]
        residuals = ["velocity_constraint_error"]
        if coordinates == "quaternion":
            residuals.append("momentum_constraint_error")
        found += [Observable(name, slice(10 + k, 11 + k), "1", RESIDUALS[name], "residual")
                  for k, name in enumerate(residuals)]
        last = found[-1].columns.stop
        if loaded:
            found += [Observable("work", slice(last, last + 1), "J", "work of the load", "plain"),
                      Observable("energy_less_work", slice(last + 1, last + 2), "J",
                                 "generalized energy less the work of the load")]
        return tuple(found)

    def formulated(self, parameters: Parameters, problem: Any, start: np.ndarray, fields: tuple[StateField, ...],
                   coordinates: str, reader: Callable) -> Formulated:
        found = reader(start)
        scale = float(np.sum(np.linalg.norm(found["spin"] + np.cross(found["position"], found["momentum"]), axis=-1)))
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
        for row, (straight, turning) in enumerate(((state["position"], q), (speeds, v), (state["momentum"], p))):
            rows[row] = np.concatenate([straight, turning], axis=1).ravel()
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


def standing(parameters: Mapping[str, Any], places: np.ndarray, turns: np.ndarray) -> dict[str, np.ndarray]:
    """A start at rest."""
    return {"position": places, "attitude": turns, "momentum": np.zeros_like(places), "spin": np.zeros_like(places)}
