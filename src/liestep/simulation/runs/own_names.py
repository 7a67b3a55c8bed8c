"""A system's own names of its state (R, x, v, rate, omega) beside those of its fields (attitude, position, ...). Both
stand in starts, resets, controllers, events and data."""
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from liestep.compile import rows
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.sheet import Parameters, Sheet, State, fitted, real_array
from liestep.mechanics.formulations.probed import plain

SAME = {"R": "attitude", "x": "position", "v": "velocity", "rate": "body_rate"}
COLUMNS = Functions(sqrt=np.sqrt, sin=np.sin, cos=np.cos, kernels=(  # of many states at once
    (rows.if_less, lambda left, right, a, b: np.where(left < right, a, b)),
    (rows.if_at_most, lambda left, right, a, b: np.where(left <= right, a, b)),
    (rows.if_equal, lambda left, right, a, b: np.where(left == right, a, b)), (rows.quotient, np.divide)))
Time = float | np.ndarray  # in s, or those of the states
AFFINE = 1e-9  # of the largest velocity: how far velocities may be from linear ones in the momenta


@dataclass(frozen=True)
class Own:
    """A name of a state field, or of what determines this field together with the others: `read(state, t)`, with any
    leading dimensions, t None where it is not known; `write(state, value, t)` gives the field."""

    field: str
    units: str = ""
    long_name: str = ""
    read: Callable[[State, Time], np.ndarray] | None = None
    dim: str = ""  # "": those of the field
    write: Callable[[State, np.ndarray, float], np.ndarray] | None = None


class Named(Mapping[str, np.ndarray]):
    """A state under all its names."""

    def __init__(self, fields: State, own: Mapping[str, Own], t: Any = None):
        self.fields, self.own, self.t = fields, own, t

    def __getitem__(self, name: str) -> np.ndarray:
        own = self.own.get(name)
        if own is None or name in self.fields:
            return self.fields[name]
        return self.fields[own.field] if own.read is None else own.read(self.fields, self.t)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.fields, *self.own)))

    def __len__(self) -> int:
        return len({*self.fields, *self.own})


def own_names(facts: Sheet, parameters: Parameters) -> dict[str, Own]:
    """Those of a system beside its fields, at checked parameters."""
    shapes = facts.state_shapes(parameters)
    names = {name: Own(field) for name, field in SAME.items() if field in shapes}
    if "attitude" in shapes and "angular_momentum" in shapes and facts.moments:
        names |= _turning(np.reshape(facts.moments(parameters), shapes["angular_momentum"]), facts.axes)
    elif "body_rate" in shapes:
        names["omega"] = Own("body_rate", "rad s-1", "angular velocity, spatial",
                             lambda s, t: _times(s["attitude"], s["body_rate"]),
                             write=lambda s, value, t: _times(np.swapaxes(s["attitude"], -1, -2), value))
    if shapes.keys() == {"q", "omega"}:
        names["v"] = Own("omega", "s-1", "rates dq/dt", lambda s, t: np.cross(s["omega"], s["q"]),
                         write=lambda s, value, t: np.cross(s["q"], value))
    if shapes.keys() == {"q", "momentum"} and hasattr(system := facts.build(parameters), "rates"):
        v = _Velocities(system)
        names["v"] = Own("momentum", "s-1", "velocities dq/dt", v.read, write=v.write)
    names |= {name: Own(*one) for name, one in facts.own().items()}
    return {name: one for name, one in names.items() if name not in shapes}


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return (matrix @ vector[..., None])[..., 0]


def _turning(moments: np.ndarray, axes: np.ndarray | None) -> dict[str, Own]:
    """Angular velocities of bodies with principal moments (..., 3) about axes (..., 3, 3) in them."""
    q = np.eye(3) if axes is None else np.reshape(axes, (*moments.shape, 3))
    back = np.swapaxes(q, -1, -2)
    inertia, inverse = (q*moments[..., None, :]) @ back, (q/moments[..., None, :]) @ back

    def rate(s: State, t: Time) -> np.ndarray:
        return _times(inverse, _times(np.swapaxes(s["attitude"], -1, -2), s["angular_momentum"]))

    def momentum(s: State, value: np.ndarray, t: float) -> np.ndarray:
        return _times(s["attitude"], _times(inertia, value))

    body = Own("angular_momentum", "rad s-1", "angular velocity in the body", rate, write=momentum)
    spatial = Own("angular_momentum", "rad s-1", "angular velocity, spatial",
                  lambda s, t: _times(s["attitude"], rate(s, t)),
                  write=lambda s, value, t: momentum(s, _times(np.swapaxes(s["attitude"], -1, -2), value), t))
    return {"rate": body, "body_rate": body, "omega": spatial, "angular_velocity": spatial}


class _Velocities:
    """dq/dt of a system of q and momentum, which its equations give."""

    def __init__(self, system: Any):
        self.system = system
        self.moves: bool | None = None  # whether they depend on the time

    def read(self, state: State, t: Time) -> np.ndarray:
        q, momentum = (np.asarray(state[name]) for name in ("q", "momentum"))
        if t is None and self.moves is None:
            first = [part if part.dtype == object else part.reshape(-1, part.shape[-1])[0] for part in (q, momentum)]
            self.moves = any(map(np.any, self._rate(0.0, *first) - self._rate(1.37, *first)))
        if t is None and self.moves:
            raise InputError("v follows from momentum and the time here, which events do not know: take momentum")
        if q.dtype == object or q.ndim == 1:
            return self._rate(0.0 if t is None else t, q, momentum)
        times = np.broadcast_to(0.0 if t is None else t, q.shape[:-1])
        with suppress(Exception), np.errstate(all="ignore"):
            rates = np.stack([np.broadcast_to(first, q.shape[:-1]).astype(float) for first in self._rate(
                times, *(_entries(part) for part in (q, momentum)))], axis=-1)
            if np.allclose(rates[..., 0, :], self.read({"q": q[..., 0, :], "momentum": momentum[..., 0, :]},
                                                       times[..., 0]), equal_nan=True):
                return rates
        return np.stack([self.read({"q": first, "momentum": other}, time)
                         for first, other, time in zip(q, momentum, times, strict=True)])

    def _rate(self, t: Time, q: np.ndarray, momentum: np.ndarray) -> np.ndarray:
        columns = q.dtype == object
        system = plain_component(self.system, COLUMNS) if columns else plain(self.system)
        y, out = np.zeros((2, 3, len(q)), object if columns else float)
        y[0], y[1], y[2] = q, momentum, 0.0
        with np.errstate(all="ignore"):
            system.rates(t, y, out)
        return out[0]

    def write(self, state: State, value: np.ndarray, t: float) -> np.ndarray:
        """Momenta of velocities, which are linear in them. Raises InputError: they are not."""
        q, n = np.asarray(state["q"], dtype=float), len(value)
        shift, *columns = (self._rate(t, q, one) for one in (np.zeros(n), *np.eye(n)))
        with suppress(np.linalg.LinAlgError):
            found: np.ndarray = np.linalg.solve(np.transpose(columns) - shift[:, None], value - shift)
            if np.abs(self._rate(t, q, found) - value).max() <= AFFINE*np.abs(value).max(initial=1e-300):
                return found
        raise InputError("initial v is not linear in the momenta of this system: give momentum")


def _entries(values: np.ndarray) -> np.ndarray:
    """Values (..., n) as n objects."""
    columns = np.empty(values.shape[-1], dtype=object)
    columns[:] = list(np.moveaxis(values, -1, 0))
    return columns


def of_fields(facts: Sheet, parameters: Parameters, given: Mapping[str, Any],
              others: Callable[[], Mapping[str, Any]], t: float = 0.0) -> dict[str, Any]:
    """What was given of a state under any of its names, as fields. `others`: fields that are not given.

    Raises:
        InputError: an unknown name, two names of one field, or a wrong shape.
    """
    shapes = facts.state_shapes(parameters)
    fields = {key: fitted(real_array(f"initial {key}", x), shapes[key]) for key, x in given.items() if key in shapes}
    if len(fields) == len(given):
        return fields
    own, taken = own_names(facts, parameters), dict(zip(fields, fields, strict=True))
    for name in sorted((one for one in given if one not in shapes), key=lambda one: one not in SAME):
        if name not in own:
            raise InputError(unknown("initial state field", name, [*shapes, *own]))
        field = own[name].field
        if taken.setdefault(field, name) != name:
            raise InputError(f"initial has {taken[field]} and {name}, of which one follows from the other: give one of"
                             " them")
        if own[name].dim:
            raise InputError(f"initial {name} is of joints: give initial=robot.start(q, v)")
        value = fitted(real_array(f"initial {name}", given[name]), shapes[field])
        if value.shape != shapes[field] or not np.isfinite(value).all():
            raise InputError(f"initial {name} must be finite numbers of shape {shapes[field]}, not of {value.shape}")
        fields[name if own[name].write else field] = value
    rest = {name: fields.pop(name) for name in [*fields] if name not in shapes}
    if rest:
        state = facts.fields(parameters, {**others(), **fields})
        fields |= {own[name].field: own[name].write(state, value, t)  # type: ignore[misc]
                  for name, value in rest.items()}
    return fields
