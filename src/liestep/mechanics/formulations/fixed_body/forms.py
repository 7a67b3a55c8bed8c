"""Rigid bodies about a fixed point: a sheet with all formulations from torque, energy and coadjoint motion; fields,
observables and start of each.

What one formulation alone needs is imported where it is made: a run has one of them."""
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.roles import System
from liestep.compile.sources import some_runs
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated, Observable, Starts, StateField
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameter, Parameters, Preset, Sheet, State, once
from liestep.mechanics.formulations.action import ACTIONS, CHART, ActionForm
from liestep.mechanics.formulations.fixed_body import components
from liestep.mechanics.formulations.rigid_bodies.components import BodiesField, BodiesGenerator
from liestep.mechanics.formulations.work import declares, requires_forces, with_work

if TYPE_CHECKING:
    with some_runs:
        from liestep.mechanics.formulations.multibody.pinned import Pinned

PINNED = "liestep.mechanics.formulations.multibody.pinned"
REDUNDANT = "liestep.mechanics.formulations.constrained.body_forms"

STATE = {"attitude": (3, 3), "angular_momentum": (3,)}
MOMENTUM = "kg m2 s-1"
BODY_FIELDS = {"body_momentum": (MOMENTUM, "angular momentum in the body's axes"),
               "gravity_body": ("m s-2", "acceleration of gravity in the body's axes, Q^T gravity")}
COORDINATES = Option("quaternion", "redundant coordinates: a unit quaternion (4 numbers, 1 constraint) or directors (9"
                     " numbers, 6 constraints, constant mass)", ("quaternion", "directors"))
CONSTANT = Option("directors", "redundant coordinates with a constant mass matrix", ("directors",))
MASS_MATRIX = Option("singular", "mass matrix of the quaternion: singular, 4 G^T J G, or augmented by a moment J_00"
                     " along q, livens2025 eq. (140)", ("singular", "augmented"))
AUXILIARY = StateField("auxiliary", "kg m s", "q of the quadratic Hamiltonian, in the body's axes", ("xyz",), "derived")


def invariant(name: str, column: int, units: str, text: str, conserved: bool = True) -> Observable:
    """An invariant of one column, named as its statistics are."""
    return Observable(name, slice(column, column + 1), units, text, conserved=(conserved,))


ENERGY = invariant("energy", 0, "J", "total energy")


class DeclaredBody(NamedTuple):
    """What a rigid body about a fixed point declares. `gravity` gives None for a free body; `invariants(parameters,
    first)` are the system's own columns of `observe` and `dual_observe`, from column `first`; `measures` those of
    `observe` alone."""

    build: Callable[[Parameters], System]
    gravity: Callable[[Parameters], np.ndarray | None]
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]
    invariants: Callable[[Parameters, int], tuple[Observable, ...]]
    measures: Callable[[Parameters, int], tuple[Observable, ...]]
    lever: Callable[[Parameters], np.ndarray] | None = None  # see `fixed_body`
    mass_center: Callable[[Parameters], tuple[float, np.ndarray]] | None = None

    def body(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        """Formulations `cotangent_rotation` and `rigid_bodies`."""
        body = components.RigidBody(self.build(parameters), new_counters())
        return self.attitude(parameters, state, self.driven(parameters, body))

    def has_applied(self, parameters: Parameters) -> bool:
        """Whether the system declares a torque of time and velocity."""
        return declares(self.build(parameters), "applied")

    def driven(self, parameters: Parameters, body: "components.RigidBody | components.QuadraticTop"
               ) -> "components.RigidBody | components.QuadraticTop | components.DrivenBody":
        """The body with the torques that its system applies, if it does."""
        if not declares(body.system, "applied"):
            return body
        start = self.observables(parameters)[-1].columns.stop
        return components.DrivenBody(body, body.system, body.counters, np.zeros(3), start)

    def quadratic(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        """Formulation `quadratic_rotation`, with the rows q and p more."""
        system = self.build(parameters)
        problem = self.driven(parameters, components.QuadraticTop(system, new_counters()))
        plain = self.attitude(parameters, state, problem)
        start = np.concatenate([plain.start[:4], [np.zeros(3), -system.lever], plain.start[4:]])
        return replace(plain, start=start, fields=(*plain.fields, AUXILIARY), starts=None)

    def vector_field(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        system, counters = self.build(parameters), new_counters()
        if options["form"] == "coadjoint":
            return self.dual(parameters, state, components.DualField(system, counters))
        body = self.driven(parameters, components.RigidBody(system, counters))
        if options["form"] == "quaternion":
            torques = system if declares(system, "body_torque") else components.TurnedTorque(system)
            own = isinstance(body, components.DrivenBody) and declares(system, "body_applied")
            loads = system if own else components.TurnedTorque(body)
            field = components.QuaternionField(body, torques, loads, np.zeros((5, 3)), counters)
            return self.quaternion(parameters, state, field)
        return self.attitude(parameters, state, BodiesField(body, np.zeros((1, 3)), counters,
                                                            int(options["form"] == "orthonormal")))

    def quaternion(self, parameters: Parameters, state: State, problem: Any) -> Formulated:
        """`QuaternionField`, with the fields and observables of the attitude state."""
        from liestep.geometry.quaternion import matrices, of_matrix

        plain, inertia = self.attitude(parameters, state, problem), parameters["inertia"]
        assert plain.starts is not None
        attitude_rows = plain.starts.rows

        def rows(states: State) -> np.ndarray:
            attitudes, given = attitude_rows(states), states["attitude"]
            q = of_matrix(given if given.strides[0] else given[:1])  # once if they are the same for all
            found = np.zeros((len(attitudes), attitudes.shape[1] - 1, 3))
            found[:, 0], found[:, 2, 0], found[:, 3:] = q[:, 1:], q[:, 0], attitudes[:, 4:]
            found[:, 1] = np.einsum("mij,mj->mi", attitudes[:, :3], attitudes[:, 3])/(2.0*inertia)
            return found

        def to_fields(found: np.ndarray) -> dict[str, np.ndarray]:
            attitude = matrices(np.concatenate([found[..., 2, :1], found[..., 0, :]], axis=-1))
            momentum = np.einsum("...ij,...j->...i", attitude, 2.0*inertia*found[..., 1, :])[..., None, :]
            return plain.to_fields(np.concatenate([np.swapaxes(attitude, -1, -2), momentum], axis=-2))

        return replace(plain, to_fields=to_fields, **Starts(rows, _momentum_scale).at(state))

    def action(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        with some_runs:
            from liestep.geometry.groups.actions import (
                Attitudes,
                CoadjointMotions,
                CotangentRotations,
                SphereRotations,
                Translation,
                in_coordinates,
                product,
            )

        system, counters, chosen = self.build(parameters), new_counters(), options["action"]
        chart = options["chart"]
        if "reference_point" in options:
            return self.pinned.action(parameters, state, options, attitude_fields(self.gravity(parameters)))
        if chosen == "coadjoint":
            coadjoint = SphereRotations(1) if self.gravity(parameters) is None else CoadjointMotions(1)
            return self.dual(parameters, state,
                             ActionForm(in_coordinates(coadjoint, chart), components.DualGenerator(system), counters))
        parts: list[tuple[Any, int]] = [(in_coordinates(Attitudes(1), chart), 3), (Translation(1), 1)]
        if chosen == "semidirect":
            parts = [(in_coordinates(CotangentRotations(1), chart), 4)]
        if declares(system, "applied"):
            parts.append((Translation(1), 1))
        action = product(*parts)
        body = self.driven(parameters, components.RigidBody(system, counters))
        generator = BodiesGenerator(body, np.zeros((1, 3)), chosen == "semidirect")
        return self.attitude(parameters, state, ActionForm(action, generator, counters))

    @property
    def pinned(self) -> "Pinned":
        """The body in absolute coordinates."""
        with some_runs:
            from liestep.mechanics.formulations.multibody.pinned import Pinned

        assert self.mass_center is not None
        return Pinned(self.mass_center, self.gravity, self.conserved_momentum)

    def redundant(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        """Formulations `constrained_lagrangian` and `constant_mass`."""
        with some_runs:
            from liestep.mechanics.formulations.constrained.body_forms import director_body, quaternion_body

        if options["coordinates"] == "directors":
            return director_body(self.build(parameters), *self.weighted(parameters), state,
                                 self.observables(parameters), attitude_fields(None)[:2])
        return quaternion_body(self.build(parameters), *self.weighted(parameters), state, self.observables(parameters),
                               attitude_fields(None)[:2], options["mass_matrix"] == "augmented")

    def weighted(self, parameters: Parameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inertia, lever m l chi and gravity, zero for a free body."""
        assert self.lever is not None
        gravity = self.gravity(parameters)
        return parameters["inertia"], self.lever(parameters), np.zeros(3) if gravity is None else gravity

    def observables(self, parameters: Parameters) -> tuple[Observable, ...]:
        """Columns of the system's `observe`: energy, pi (3), orthogonality error, then its own from column 5."""
        own = self.invariants(parameters, 5)
        measured = self.measures(parameters, own[-1].columns.stop if own else 5)
        momentum = Observable("momentum_map", slice(1, 4), MOMENTUM, "angular momentum about the fixed point, spatial",
                              conserved=self.conserved_momentum(parameters), stem="momentum_error")
        defect = Observable("orthogonality_error", slice(4, 5), "1", "largest entry of |Q^T Q - 1|", "residual")
        energy = replace(ENERGY, statistics=("mean", "max", "mean_square")) if measured else ENERGY
        return (energy, momentum, defect, *own, *measured)

    def attitude(self, parameters: Parameters, state: State, problem: Any) -> Formulated:
        """A component on rows Q e_1, Q e_2, Q e_3, pi; with applied torques one for the work follows."""
        (columns, fields, reader), applied = once(self.seen, parameters), self.has_applied(parameters)
        if applied:
            columns = with_work(columns, columns[-1].columns.stop)

        def rows(states: State) -> np.ndarray:
            momentum = states["angular_momentum"][:, None]
            work = [np.zeros_like(momentum)]*applied
            return np.concatenate([np.swapaxes(states["attitude"], 1, 2), momentum, *work], axis=1)

        return Formulated(problem, fields=fields, observables=columns, to_fields=reader,
                          **Starts(rows, _momentum_scale).at(state))

    def seen(self, parameters: Parameters) -> tuple[tuple[Observable, ...], tuple[StateField, ...], Callable]:
        """Observables and fields of states, and what reads the fields."""
        gravity = self.gravity(parameters)
        return self.observables(parameters), attitude_fields(gravity), partial(_read_attitude, gravity=gravity)

    def check_form(self, parameters: Parameters, options: Options) -> None:
        """Raises InputError for the coadjoint motion of a body with applied torques, or without its equations."""
        for name, allowed in (("form", "attitude"), ("action", "semidirect, direct")):
            if options.get(name) == "coadjoint" and self.has_applied(parameters):
                raise InputError(f"option {name} is coadjoint, which has no torques of time and velocity, and the"
                                 f" system has; allowed is {allowed}")
            if options.get(name) == "coadjoint" and not hasattr(self.build(parameters), "dual"):
                raise InputError(f"option {name} is coadjoint, for which the system must have dual and dual_observe;"
                                 f" allowed is {allowed}")

    def dual(self, parameters: Parameters, state: State, problem: Any) -> Formulated:
        """A component on the rows Pi and, with gravity, Gamma."""
        gravity, momentum = self.gravity(parameters), state["angular_momentum"]
        frame = [momentum] if gravity is None else [momentum, gravity]
        fields = tuple(StateField(name, *BODY_FIELDS[name], ("xyz",), "relative")
                       for name in list(BODY_FIELDS)[:len(frame)])
        return Formulated(problem, np.ascontiguousarray(np.array(frame) @ state["attitude"]), fields,
                          (ENERGY, *self.invariants(parameters, 1)), _body_reader, float(_momentum_scale(state)))

    def forms(self, quadratic: bool) -> dict[str, Form]:
        """All formulations; `quadratic` says whether the potential is one of `QuadraticTop`."""
        field = {"form": Option("attitude", "attitude integrates (Q, pi) in the embedding space, orthonormal returns Q"
                                " to the rotations after each step, quaternion integrates a unit quaternion and the"
                                " body rate and returns it to length one, coadjoint integrates the body's angular"
                                " momentum and gravity", ("attitude", "orthonormal", "quaternion", "coadjoint"),
                                after_steps=("orthonormal", "quaternion"), whole=("orthonormal", "quaternion"))}
        action = {"action": Option("semidirect", "action of the group: on T*SO(3), of the direct product of SO(3) and"
                                   " R^3, or the coadjoint one", ("semidirect", "direct", "coadjoint"))}
        forms = {"vector_field": Form(self.vector_field, field, self.check_form),
                 "lie_action": Form(self.action, action | CHART, self.check_form, (ACTIONS,)),
                 "cotangent_rotation": Form(self.body), "rigid_bodies": Form(self.body)}
        if self.mass_center is not None:
            with some_runs:
                from liestep.mechanics.formulations.multibody.pinned import POSES, pose_options

            poses = Option("semidirect", f"{action['action'].doc}; on poses in absolute coordinates, SE(3) or"
                           " SO(3) x R^3", (*action["action"].choices, *POSES))
            forms["lie_action"] = Form(self.action, {"action": poses} | pose_options() | CHART, self.pinned.check,
                                       (ACTIONS, PINNED))
            forms |= self.pinned.forms(lambda parameters: attitude_fields(self.gravity(parameters)))
        if quadratic:
            forms["quadratic_rotation"] = Form(self.quadratic)
        if self.lever is not None:
            redundant = {"coordinates": COORDINATES, "mass_matrix": MASS_MATRIX}
            forms["constrained_lagrangian"] = Form(self.redundant, redundant, _check_redundant, (REDUNDANT,))
            forms["constant_mass"] = Form(self.redundant, {"coordinates": CONSTANT}, needs=(REDUNDANT,))
            forms["quaternion_hamiltonian"] = Form(lambda parameters, state, options: self.redundant(
                parameters, state, {"coordinates": "quaternion", "mass_matrix": "singular"}), needs=(REDUNDANT,))
        return forms


def needs_thickness(parameters: Parameters, method: Any,
                    mass_center: Callable[[Parameters], tuple[float, np.ndarray]] | None = None) -> str | None:
    """Why a method that inverts the mass matrix of directors, or of poses, cannot run: a flat body, or one without an
    inertia about its centre of mass."""
    if method.formulation == "constant_mass":
        with some_runs:
            from liestep.mechanics.formulations.constrained.body_forms import euler_moments

        if not np.all(euler_moments(parameters["inertia"]) > 0.0):
            return "a flat body, whose largest moment is the sum of the others, has a singular mass matrix in directors"
    if mass_center is not None and method.formulation in ("lie_chart", "index_three"):
        with some_runs:
            from liestep.mechanics.formulations.multibody.pinned import why_not

        return why_not(parameters["inertia"], *mass_center(parameters))
    return None


def _check_redundant(parameters: Parameters, options: Options) -> None:
    """Raises InputError for directors of a body that has none, or with the other mass matrix of quaternions."""
    if options["coordinates"] == "directors":
        with some_runs:
            from liestep.mechanics.formulations.constrained.body_forms import euler_moments

        euler_moments(parameters["inertia"])
        if options.get("mass_matrix") == "augmented":
            raise InputError("option mass_matrix is augmented, which is for coordinates quaternion; directors have one"
                             " mass matrix, singular is ignored there")


def attitude_fields(gravity: np.ndarray | None) -> tuple[StateField, ...]:
    shown = list(BODY_FIELDS)[:1 if gravity is None else 2]
    return (StateField("attitude", "1", "attitude Q, body to space: column j is body axis j", ("xyz", "axis"),
                       "attitude"),
            StateField("angular_momentum", MOMENTUM, "angular momentum about the fixed point, spatial", ("xyz",),
                       "relative"),
            *(StateField(name, *BODY_FIELDS[name], ("xyz",), "derived") for name in shown))


def _momentum_scale(state: State) -> np.ndarray:
    momentum = state["angular_momentum"][..., None, :]
    return np.asarray(np.sqrt(momentum @ np.swapaxes(momentum, -1, -2))[..., 0, 0].real)  # `norm` takes longer


def _read_attitude(rows: np.ndarray, gravity: np.ndarray | None) -> dict[str, np.ndarray]:
    columns, momentum = rows[..., :3, :], rows[..., 3, :]
    fields = {"attitude": np.swapaxes(columns, -1, -2), "angular_momentum": momentum,
              "body_momentum": np.einsum("...ij,...j->...i", columns, momentum)}
    if gravity is not None:
        fields["gravity_body"] = columns @ gravity
    if rows.shape[-2] >= 6:
        fields["auxiliary"] = rows[..., 4, :]
    return fields


def _body_reader(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: rows[..., i, :] for i, name in zip(range(rows.shape[-2]), BODY_FIELDS, strict=False)}


def rotational_energy(parameters: Parameters, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """1/2 Pi.I^-1 Pi of state fields with a leading time, (time,). The coadjoint form has Pi and no attitude."""
    momentum = (np.einsum("tij,ti->tj", fields["attitude"], fields["angular_momentum"]) if "attitude" in fields else
                fields["body_momentum"])
    return 0.5*np.sum(momentum*momentum/parameters["inertia"], axis=1)


def fixed_body(*, title: str, equations: str, parameters: Mapping[str, Parameter],
               build: Callable[[Parameters], System],
               conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]],
               invariants: Callable[[Parameters, int], tuple[Observable, ...]], presets: Mapping[str, Preset],
               gravity: Callable[[Parameters], np.ndarray | None] = lambda parameters: None, quadratic: bool = False,
               measures: Callable[[Parameters, int], tuple[Observable, ...]] = lambda parameters, first: (),
               lever: Callable[[Parameters], np.ndarray] | None = None,
               mass_center: Callable[[Parameters], tuple[float, np.ndarray]] | None = None, **further: Any) -> Sheet:
    """Sheet of a body with state attitude (3, 3), body to space, and angular_momentum (3,), spatial, in kg m2/s.

    `build` makes a NamedTuple with the methods listed in `mechanics.formulations.fixed_body.components`; the parameter
    `inertia` holds the principal moments (3,) in kg m2. gravity gives (3,) in m/s2, spatial, None for a free body;
    `invariants(parameters, first)` are the system's own columns of `observe` and `dual_observe`, from column `first`,
    `measures(parameters, first)` further ones of `observe`; with them the file has the mean square of the energy error;
    `quadratic` offers the formulation quadratic_rotation; `lever` gives l (3,) in kg m, in the body, of V =
    -gravity.(Q l), zeros without forces, and offers the formulations in redundant coordinates; `mass_center` gives the
    mass in kg and the centre of mass (3,) in m, and offers absolute coordinates. `further` are fields of `Sheet`:
    citation, combination, engines, exact, fallback, requires, symmetries."""
    if lever is not None:
        further.setdefault("requires", lambda values, method: needs_thickness(values, method, mass_center))
    declared = DeclaredBody(build, gravity, conserved_momentum, invariants, measures, lever, mass_center)
    further["requires"] = requires_forces("torques", declared.has_applied, further.get("requires"))
    return Sheet(title=title, equations=equations, parameters=parameters, build=build, presets=presets,
                 conserved_momentum=conserved_momentum, state_shapes=lambda values: STATE,
                 manifold=lambda values, state: check_attitude("attitude", state["attitude"]), stacked=True,
                 forms=declared.forms(quadratic), kinetic_energy=rotational_energy,
                 moments=lambda values: values["inertia"][None], **further)
