"""What a system file declares beside its equations: parameters, presets, conservation laws. One `SHEET` per file.

Adding a system means adding one file `systems/<id>.py` with a NamedTuple (fields = parameters, methods `potential` and
`gradient`) and a `SHEET = SphereSheet(...)`; it is then known everywhere under its file name.
"""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MANIFOLD_TOLERANCE = 1e-12  # initial states further off the manifold are refused


class InputError(ValueError):
    """Something a person wrote is wrong; the message is one sentence: what, where, what is allowed."""


class PluginError(InputError):
    """The code of a plugin cannot be compiled: a single run is refused, a sweep records it as a failed run and goes on."""


@dataclass(frozen=True)
class Parameter:
    """One named parameter: `shape` uses letters for sizes that must agree between parameters ("n", "m") and integers."""

    units: str
    doc: str
    shape: tuple = ()
    rule: str = "finite"            # finite | positive | non-negative | index | choice
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> Any:
        """Normalised value (float, contiguous float64, int64 or str).

        Raises:
            InputError: wrong type, shape, sign, or not finite.
        """
        if self.rule == "choice":
            if not isinstance(value, str) or value not in self.choices:
                raise InputError(f"parameter {name} is {value!r}; allowed are {', '.join(self.choices)}")
            return value
        kind = np.int64 if self.rule == "index" else np.float64
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"parameter {name} must be numbers, not {value!r}") from None
        wanted = "a scalar" if not self.shape else "of shape (" + ", ".join(map(str, self.shape)) + ")"
        if array.ndim != len(self.shape):
            raise InputError(f"parameter {name} must be {wanted}, not of shape {array.shape}")
        for size, expected in zip(array.shape, self.shape, strict=True):
            expected = sizes.setdefault(expected, size) if isinstance(expected, str) else expected
            if size != expected:
                raise InputError(f"parameter {name} must be {wanted} with size {expected}, not of shape {array.shape}")
        if array.size == 0:
            raise InputError(f"parameter {name} must not be empty")
        if not np.all(np.isfinite(array)):
            raise InputError(f"parameter {name} must be finite numbers")
        if self.rule == "positive" and not np.all(array > 0.0):
            raise InputError(f"parameter {name} must be positive")
        if self.rule in ("non-negative", "index") and not np.all(array >= 0.0):
            raise InputError(f"parameter {name} must not be negative")
        if self.rule == "index" and not np.all((array == np.round(array)) & (array < 2**31)):
            raise InputError(f"parameter {name} must be integers below 2^31")
        if not self.shape:
            return int(array) if self.rule == "index" else float(array)
        return np.ascontiguousarray(array.astype(kind))


@dataclass(frozen=True)
class Preset:
    """Named parameters, initial state and end time of a system, each value with its source.

    kind: "printed" (in the paper), "scaled" (equivalent units), "inferred" (deduced from the paper's numbers), "guess"
    (free choice), "own" (not from a paper).
    """

    doc: str
    citation: str
    kind: str
    parameters: Mapping[str, Any]
    initial: Callable[[dict], dict[str, np.ndarray]]  # parameters -> state fields
    t_end: float


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Fact sheet of a mechanical system, the part that all systems share. `forms` and `actions` name the choices of the integrator
    options of these names, the default first."""

    title: str
    equations: str
    system: type                                  # the NamedTuple
    parameters: Mapping[str, Parameter]
    build: Callable[[dict], Any]                  # checked parameters -> instance of `system`
    conserved_momentum: Callable[[dict], tuple[bool, bool, bool]]  # which components of the momentum map are conserved
    presets: Mapping[str, Preset] = field(default_factory=dict)
    citation: str = ""
    combination: Callable[[dict], None] = lambda parameters: None  # raises InputError where single parameters are fine, together not
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

    `formulate(parameters, state, formulation, options)` returns a `liestep.formulations.formulated.Formulated`.
    """

    state: Mapping[str, tuple[int, ...]]                             # initial fields and their shapes
    manifold: Callable[[Mapping[str, np.ndarray]], None]             # raises InputError off the manifold
    formulate: Callable[[dict, Mapping[str, np.ndarray], str, Mapping[str, Any]], Any]
    kinetic: Callable[[dict, Mapping[str, np.ndarray]], np.ndarray]  # parameters, fields with leading time -> (time,)
    exact: Callable[[dict, Mapping[str, np.ndarray], np.ndarray], np.ndarray] | None = None  # parameters, start, times -> rows (time, m, 3)

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


def check_directions(name: str, q: np.ndarray) -> None:
    """Raises InputError when a row of q (n, 3) is not a unit vector."""
    length = np.abs(1.0 - np.sum(q*q, axis=1))
    worst = int(np.argmax(length))
    if length[worst] > MANIFOLD_TOLERANCE:
        raise InputError(f"initial {name}[{worst}] is not a unit vector: |1 - {name}.{name}| = {length[worst]:.3g}, allowed {MANIFOLD_TOLERANCE:g};"
                         " give full precision, for example sqrt(3)/2 instead of 0.8660")


def check_tangent(name: str, omega: np.ndarray, base: str, q: np.ndarray) -> None:
    """Raises InputError when a row of omega (n, 3) is not orthogonal to that of q."""
    slip = np.abs(np.sum(q*omega, axis=1))
    limit = MANIFOLD_TOLERANCE*np.maximum(1.0, np.linalg.norm(omega, axis=1))
    worst = int(np.argmax(slip - limit))
    if slip[worst] > limit[worst]:
        raise InputError(f"initial {name}[{worst}] is not orthogonal to {base}[{worst}]: |{base}.{name}| = {slip[worst]:.3g},"
                         f" allowed {MANIFOLD_TOLERANCE:g}")


def check_attitude(name: str, attitude: np.ndarray) -> None:
    """Raises InputError when a matrix (3, 3) or one of several (n, 3, 3) is not a rotation."""
    for k, matrix in enumerate(attitude.reshape(-1, 3, 3)):
        defect = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
        if defect > MANIFOLD_TOLERANCE or np.linalg.det(matrix) < 0.0:
            which = f"{name}[{k}]" if attitude.ndim == 3 else name
            raise InputError(f"initial {which} is not a rotation: the largest entry of |Q^T Q - 1| is {defect:.3g},"
                             f" allowed {MANIFOLD_TOLERANCE:g} and a positive determinant")


def unknown(what: str, name: str, allowed) -> str:
    """Sentence for an unknown name, closest match first."""
    import difflib

    close = difflib.get_close_matches(str(name), list(allowed), n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown {what} {name!r}{hint} (allowed: {', '.join(sorted(allowed))})"
