"""Systems of n rigid bodies: a sheet with all formulations from forces, torques and potential energies; fields,
observables and start of each."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.roles import System
from liestep.compile.sources import some_runs
from liestep.mechanics.contracts.formulated import Formulated, Observable, Starts, StateField
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameter, Parameters, Preset, Runner, Sheet, State
from liestep.mechanics.formulations.action import ACTIONS, CHART, ActionForm
from liestep.mechanics.formulations.rigid_bodies import components
from liestep.mechanics.formulations.work import declares, with_work

MOMENTUM = "kg m2 s-1"
Flags = tuple[bool, bool, bool]
POSITION = (StateField("position", "m", "position of the centre of mass", norm="relative"),
            StateField("velocity", "m s-1", "velocity of the centre of mass", norm="relative"))
ATTITUDE = (StateField("attitude", "1", "attitude R, body to space: column j is body axis j", ("body", "xyz", "axis"),
                       "attitude"),
            StateField("angular_momentum", MOMENTUM, "angular momentum about the centre of mass, spatial",
                       norm="relative"),
            StateField("angular_velocity", "rad s-1", "angular velocity, spatial", norm="derived"))


class Kept(NamedTuple):
    """Which components the motion conserves: of the total angular momentum about the origin, of the linear momentum
    and of the sum of the bodies' own angular momenta."""

    momentum: Flags
    linear: Flags = (False, False, False)
    spin: Flags = (False, False, False)


def norm_observable(column: int) -> Observable:
    """rodrigues2021 eq. (35), by the trapezoidal rule over every step, whatever is sampled."""
    return Observable("h1_norm_squared", slice(column, column + 1), "1", "integral of the sums over the bodies of"
                      " |x|^2 + |v|^2 + angle^2 + |angular velocity|^2, all in SI units", "plain", integral=True)


def observables(kept: Kept, moves: bool, potential: Mapping[str, str]) -> tuple[Observable, ...]:
    """Columns of `RigidBodies.observe`."""
    own = {"rotation_energy": "kinetic energy of the rotations", **potential}
    observables = [Observable("energy", slice(0, 1), "J", "total energy", statistics=("mean", "max", "mean_square")),
             Observable("momentum_map", slice(1, 4), MOMENTUM, "total angular momentum about the origin",
                        conserved=kept.momentum, stem="momentum_error")]
    if moves:
        observables += [Observable("linear_momentum", slice(4, 7), "kg m s-1", "total linear momentum",
                             conserved=kept.linear),
                  Observable("spin_momentum", slice(7, 10), MOMENTUM, "sum of the angular momenta of the bodies about"
                             " their centres", conserved=kept.spin)]
        own = {"translation_energy": "kinetic energy of the centres of mass", **own}
    first = 10 if moves else 4
    end = first + len(own)
    return (*observables, *(Observable(name, slice(column, column + 1), "J", text, "plain")
                      for column, (name, text) in enumerate(own.items(), first)),
            Observable("orthogonality_error", slice(end, end + 1), "1", "largest entry of |R^T R - 1| of all bodies",
                       "residual"), norm_observable(end + 1))


class DeclaredBodies(NamedTuple):
    """What n rigid bodies declare; `masses` is None where they do not move."""

    build: Callable[[Parameters], System]
    masses: Callable[[Parameters], np.ndarray] | None
    moments: Callable[[Parameters], np.ndarray]
    kept: Callable[[Parameters], Kept]
    potential: Mapping[str, str]

    def bodies(self, parameters: Parameters) -> components.RigidBodies | components.DampedBodies:
        """The component that all formulations share."""
        inertia = np.ascontiguousarray(self.moments(parameters), dtype=np.float64)
        n, moves = len(inertia), self.masses is not None
        masses = np.ascontiguousarray(self.masses(parameters)) if self.masses else np.zeros(n)
        plain = components.RigidBodies(self.build(parameters), masses, inertia, moves, np.full((6*n, 3), np.nan),
                                       np.zeros(len(self.potential)), np.zeros((2*n, 3)), new_counters())
        if not declares(plain.system, "damp"):
            return plain
        column = self.columns(parameters)[-1].columns.stop
        return components.DampedBodies(plain, plain.system, np.zeros((n, 3)), np.zeros(1), column)

    def columns(self, parameters: Parameters) -> tuple[Observable, ...]:
        """Columns of `RigidBodies.observe`."""
        return observables(self.kept(parameters), self.masses is not None, self.potential)

    def rigid(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        bodies = self.bodies(parameters)
        return self.formulated(parameters, state, bodies, bodies)

    def vector_field(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        bodies = self.bodies(parameters)
        plain = bodies.plain if isinstance(bodies, components.DampedBodies) else bodies
        orthonormal = int(options["form"] == "orthonormal")
        return self.formulated(parameters, state, bodies,
                               components.BodiesField(bodies, np.zeros_like(plain.spare), plain.counters, orthonormal))

    def action(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        with some_runs:
            from liestep.geometry.groups.actions import CotangentRotations, Translation, in_coordinates, product

        bodies = self.bodies(parameters)
        plain = bodies.plain if isinstance(bodies, components.DampedBodies) else bodies
        n = len(plain.masses)
        factors: list[tuple[Any, int]] = [(in_coordinates(CotangentRotations(n), options["chart"]), 4*n)]
        if plain.moves:
            factors.append((Translation(2*n), 2*n))
        if bodies is not plain:
            factors.append((Translation(1), 1))
        generator = components.BodiesGenerator(bodies, np.zeros_like(plain.spare), True)
        return self.formulated(parameters, state, bodies, ActionForm(product(*factors), generator, plain.counters))

    def formulated(self, parameters: Parameters, state: State, bodies: Any, problem: Any) -> Formulated:
        """A component on the rows of all bodies; with forces of velocity one for their work follows."""
        inertia, moves = self.moments(parameters), self.masses is not None
        seen, damped = self.columns(parameters), isinstance(bodies, components.DampedBodies)
        if damped:
            seen = with_work(seen, seen[-1].columns.stop)
        starts = Starts(lambda states: rows_of(states, damped), lambda other: self._momentum_scale(parameters, other))
        return Formulated(problem, fields=(*(POSITION if moves else ()), *ATTITUDE), observables=seen,
                          to_fields=reader(inertia, moves), **starts.at(state))

    def _momentum_scale(self, parameters: Parameters, state: State) -> np.ndarray:
        """Sum of the sizes of all terms of the total angular momentum at the start."""
        total = np.linalg.norm(state["angular_momentum"], axis=-1).sum(axis=-1)
        if self.masses is not None:
            arms = np.linalg.norm(np.cross(state["position"], state["velocity"]), axis=-1)
            total = total + (self.masses(parameters) @ arms[..., None])[..., 0]
        return np.asarray(total)

    def forms(self) -> dict[str, Form]:
        field = Option("embedded", "all rows in the embedding space; orthonormal returns attitudes to the rotations"
                       " after each step", ("embedded", "orthonormal"), after_steps=("orthonormal",))
        return {"rigid_bodies": Form(self.rigid), "vector_field": Form(self.vector_field, {"form": field}),
                "lie_action": Form(self.action, CHART, needs=(ACTIONS,))}


def rows_of(states: State, damped: bool) -> np.ndarray:
    """Rows of states, (members, 4n, 3) or, with positions, (members, 6n, 3); one for the work follows."""
    momenta = states["angular_momentum"]
    parts = [np.swapaxes(states["attitude"], 2, 3).reshape(len(momenta), -1, 3), momenta]
    if "position" in states:
        parts += [states["position"], states["velocity"]]
    return np.concatenate([*parts, *([np.zeros((len(momenta), 1, 3))]*damped)], axis=1)


def reader(inertia: np.ndarray, moves: bool) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Function that reads rows (..., m, 3) as fields."""
    n = len(inertia)

    def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
        axes = rows[..., :3*n, :].reshape(*rows.shape[:-2], n, 3, 3)
        momentum = rows[..., 3*n:4*n, :]
        rate = np.einsum("...ij,...j->...i", axes, momentum)/inertia
        fields = {"position": rows[..., 4*n:5*n, :], "velocity": rows[..., 5*n:6*n, :]} if moves else {}
        return {**fields, "attitude": np.swapaxes(axes, -1, -2), "angular_momentum": momentum,
                "angular_velocity": np.einsum("...ij,...i->...j", axes, rate)}

    return to_fields


def state_shapes(n: int, moves: bool) -> dict[str, tuple[int, ...]]:
    """Shapes of the fields of a start."""
    found: dict[str, tuple[int, ...]] = {"position": (n, 3), "velocity": (n, 3)} if moves else {}
    return {**found, "attitude": (n, 3, 3), "angular_momentum": (n, 3)}


def rigid_bodies(*, title: str, equations: str, parameters: Mapping[str, Parameter],
                 build: Callable[[Parameters], System], moments: Callable[[Parameters], np.ndarray],
                 kept: Callable[[Parameters], Kept], potential: Mapping[str, str], presets: Mapping[str, Preset],
                 masses: Callable[[Parameters], np.ndarray] | None = None,
                 manifold: Callable[[Parameters, State], None] = lambda parameters, state: None,
                 **further: Any) -> Sheet:
    """Sheet of n bodies with state attitude (n, 3, 3), body to space, and angular_momentum (n, 3) about their centres,
    spatial, in kg m2/s; with `masses` (n,) in kg also position (n, 3) in m and velocity (n, 3) in m/s.

    `build` makes a NamedTuple with the method of `mechanics.formulations.rigid_bodies.components`; `moments` gives the
    principal moments (n, 3) in kg m2; `potential` names its energies, name -> meaning; `kept` says which momenta the
    motion conserves; `manifold` refuses starts beyond those whose attitudes are no rotations. `further` are fields of
    `Sheet`: citation, combination, engines, exact, symmetries. A system with forces of velocity says so by the
    method `damp`, see there."""
    declared = DeclaredBodies(build, masses, moments, kept, potential)

    def check(values: Parameters, state: State) -> None:
        check_attitude("attitude", state["attitude"])
        manifold(values, state)

    def kinetic_energy(values: Parameters, fields: State) -> np.ndarray:
        turned = np.einsum("tnij,tni->tnj", fields["attitude"], fields["angular_momentum"])
        total: np.ndarray = 0.5*np.sum(turned*turned/moments(values), axis=(1, 2))
        if masses is not None:
            total = total + 0.5*np.sum(masses(values)[:, None]*fields["velocity"]**2, axis=(1, 2))
        return total

    def requires(values: Parameters, method: Runner) -> str | None:
        # the kicks of `rigid_bodies` take forces of positions and attitudes, whatever the method does elsewhere
        if method.formulation == "rigid_bodies" and declares(build(values), "damp"):
            return ("its formulation has no forces that depend on velocities, and the system is damped (integrators on"
                    " vector_field or lie_action take them)")
        return None

    return Sheet(title=title, equations=equations, parameters=parameters, build=build, presets=presets,
                 requires=requires,
                 conserved_momentum=lambda values: kept(values).momentum,
                 state_shapes=lambda values: state_shapes(len(moments(values)), masses is not None), manifold=check,
                 kinetic_energy=kinetic_energy, forms=declared.forms(), moments=moments,
                 fallback=further.pop("fallback", "rigid_bodies"), **further)
