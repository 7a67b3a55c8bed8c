"""What a system file declares beside its equations: parameters, presets, conservation laws. One `SHEET` per file.

Adding a system means adding one file `systems/<id>.py` with a NamedTuple (fields = parameters, methods `potential` and
`gradient`) and a `SHEET = SphereSheet(...)`; it is then known everywhere under its file name.
"""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liestep.contracts.manifold import check_directions, check_tangent
from liestep.contracts.parameters import Parameter, Preset, has_truth
from liestep.errors import InputError, unknown


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Fact sheet of a mechanical system, the part that all systems share. `forms` and `actions` name the choices of the
    integrator options of these names, the default first."""

    title: str
    equations: str
    system: type                                  # the NamedTuple
    parameters: Mapping[str, Parameter]
    build: Callable[[dict], Any]                  # checked parameters -> instance of `system`
    conserved_momentum: Callable[[dict], tuple[bool, bool, bool]]  # which components of the momentum map are conserved
    presets: Mapping[str, Preset] = field(default_factory=dict)
    citation: str = ""
    # raises InputError where single parameters are fine, together not
    combination: Callable[[dict], None] = lambda parameters: None
    formulations: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    engines: tuple[str, str] = ("dop853", "taylor")  # of references: the first one's trajectory is kept

    def check(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, checked and normalised.

        Raises:
            InputError: unknown, missing or wrong parameter, or a combination that makes no system.
        """
        for name in parameters:
            if name not in self.parameters:
                raise InputError(unknown("parameter", name, self.parameters))
        missing = [name for name in self.parameters if name not in parameters]
        if missing:
            raise InputError(f"parameter {missing[0]} is missing")
        sizes: dict[str, int] = {}
        checked = {name: rule.check(name, parameters[name], sizes) for name, rule in self.parameters.items()}
        self.combination(checked)
        return checked

    def coupled(self, parameters: dict) -> bool:
        """Whether variational steps are implicit: see `Method.resolve`."""
        return False

    def state_shapes(self, parameters: dict) -> Mapping[str, tuple[int, ...]]:
        """Initial fields and their shapes."""
        raise NotImplementedError

    def check_manifold(self, state: Mapping[str, np.ndarray]) -> None:
        """Raises InputError when the state is off the manifold by more than MANIFOLD_TOLERANCE."""
        raise NotImplementedError

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raises InputError for options of an integrator that mean nothing on this system."""

    def kinetic_energy(self, parameters: dict, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        """(time,) from state fields with a leading time."""
        raise NotImplementedError

    def check_initial(self, parameters: dict, initial: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All initial fields as float64 arrays.

        Raises:
            InputError: wrong names or shapes, not finite, or off the manifold by more than MANIFOLD_TOLERANCE.
        """
        shapes = self.state_shapes(parameters)
        for name in initial:
            if name not in shapes:
                raise InputError(unknown("initial state field", name, shapes))
        state = {}
        for name, shape in shapes.items():
            if name not in initial:
                raise InputError(f"initial state field {name} is missing")
            if has_truth(initial[name]):
                raise InputError(f"initial {name} must be numbers, not true or false")
            try:
                state[name] = np.ascontiguousarray(np.array(initial[name], dtype=np.float64))
            except (TypeError, ValueError):
                raise InputError(f"initial {name} must be numbers") from None
            if state[name].shape != shape:
                raise InputError(f"initial {name} must be of shape {shape}, not {state[name].shape}")
            if not np.all(np.isfinite(state[name])):
                raise InputError(f"initial {name} must be finite numbers")
        self.check_manifold(state)
        return state


@dataclass(frozen=True, kw_only=True)
class SphereSheet(Sheet):
    """Fact sheet of a mechanical system on (S^2)^n with state q (n, 3), omega (n, 3)."""

    mass: Callable[[dict], np.ndarray]            # checked parameters -> (n,) or (n, n)
    formulations: tuple[str, ...] = ("sphere_lagrangian", "vector_field", "lie_action")
    forms: tuple[str, ...] = ("omega", "velocity")
    actions: tuple[str, ...] = ("tangent_spheres",)

    def bodies(self, parameters: dict) -> int:
        return int(np.shape(self.mass(parameters))[0])

    def coupled(self, parameters: dict) -> bool:
        return np.ndim(self.mass(parameters)) == 2

    def state_shapes(self, parameters: dict) -> Mapping[str, tuple[int, ...]]:
        n = self.bodies(parameters)
        return {"q": (n, 3), "omega": (n, 3)}

    def check_manifold(self, state: Mapping[str, np.ndarray]) -> None:
        check_directions("q", state["q"])
        check_tangent("omega", state["omega"], "q", state["q"])

    def check_options(self, options: Mapping[str, Any]) -> None:
        if options.get("mass") == "banded" and options.get("form") == "velocity":
            raise InputError("option mass is banded, which is for the omega form; the velocity form takes dense")

    def kinetic_energy(self, parameters: dict, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        mass = np.asarray(self.mass(parameters))
        mass = np.diag(mass) if mass.ndim == 1 else mass
        velocity = np.cross(fields["omega"], fields["q"])
        return 0.5*np.sum(velocity*np.einsum("ij,tjk->tik", mass, velocity), axis=(1, 2))


@dataclass(frozen=True, kw_only=True)
class BodySheet(Sheet):
    """Fact sheet of any other system: its file says what its state is and makes its formulations itself.

    `formulate(parameters, state, formulation, options)` returns a `liestep.contracts.formulated.Formulated`.
    """

    state: Mapping[str, tuple[int, ...]]                             # initial fields and their shapes
    manifold: Callable[[Mapping[str, np.ndarray]], None]             # raises InputError off the manifold
    formulate: Callable[[dict, Mapping[str, np.ndarray], str, Mapping[str, Any]], Any]
    kinetic: Callable[[dict, Mapping[str, np.ndarray]], np.ndarray]  # parameters, fields with leading time -> (time,)
    # parameters, start, times -> rows (time, m, 3)
    exact: Callable[[dict, Mapping[str, np.ndarray], np.ndarray], np.ndarray] | None = None

    def state_shapes(self, parameters: dict) -> Mapping[str, tuple[int, ...]]:
        return self.state

    def check_manifold(self, state: Mapping[str, np.ndarray]) -> None:
        self.manifold(state)

    def kinetic_energy(self, parameters: dict, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        return self.kinetic(parameters, fields)

    def check_options(self, options: Mapping[str, Any]) -> None:
        for name, neutral in (("projection", "none"), ("alpha", 0.0), ("beta", 0.0), ("mass", "dense")):
            if options.get(name, neutral) != neutral:
                raise InputError(f"option {name} is for systems on spheres only; {self.title} takes {neutral}")
