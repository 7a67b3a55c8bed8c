"""What every formulation of a system offers: the component, its first state, and how rows are read as
named fields and observables; norms of fields: how far two values of one named part of the state are apart, what that is
divided by, and how a value is perturbed. A field names its norm, and so does every file."""
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.roles import Problem, Reader
from liestep.compile.status import Status
from liestep.compile.trees import made_once
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.varied import Varied, each

KINDS = ("invariant", "residual", "plain")
STATISTICS = ("mean", "max", "mean_square")
XYZ = ("x", "y", "z")
JOINTS = "joints"  # size of a residual: of lengths that of the mechanism, of directions 1
ROWS_AT_ONCE = 64  # moved copies of a state, in `Formulated.groups`


@dataclass(frozen=True)
class Norm:
    """What all norms offer; this one is the largest Euclidean distance of vectors (time, ..., k)."""

    name: str
    meaning: str
    trailing: tuple[int, ...] = ()  # sizes of the last dimensions that values must have, () for any
    scaled: bool = False            # whether distances are divided by the size of the reference

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(time,): largest distance over the bodies.

        Raises:
            InputError: the values have not the shape that the norm is for."""
        self.require(a)
        return _largest(self._gaps(a, b))

    def scale(self, reference: np.ndarray) -> float:
        """What distances are divided by: 1, or the largest size along the reference (1 where it stays at zero)."""
        self.require(reference)
        return float(self._sizes(reference).max()) or 1.0 if self.scaled else 1.0

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        """Shape of what moves a value x (no time).

        Raises:
            InputError: the norm's values follow from others, or x has not the shape that the norm is for."""
        self.require(x)
        return x.shape

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        """x moved by vectors in the units of the distance; any leading dimensions are those of several values."""
        return np.asarray(x + by)

    def require(self, values: np.ndarray) -> None:
        """Raises InputError unless the last dimensions of the values are what the norm is for."""
        if self.trailing and values.shape[-len(self.trailing):] != self.trailing:
            raise InputError(f"the norm {self.name} is for {self.meaning}, of shape"
                             f" (..., {', '.join(map(str, self.trailing))}); this field has shape {values.shape}")

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(((a - b)**2).sum(axis=-1)))

    def _sizes(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(np.sum(values*values, axis=-1)))


class DirectionNorm(Norm):
    """The chord between unit vectors."""

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        moved = x + by
        return np.asarray(moved/np.linalg.norm(moved, axis=-1)[..., None])


class AttitudeNorm(Norm):
    """Frobenius norm over sqrt(2): 2 sin(angle/2), the angle for close attitudes."""

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(0.5*((a - b)**2).sum(axis=(-2, -1))))

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        return (*super().moves(x)[:-2], 3)

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        return np.asarray(quaternion_matrix(rotation_quaternion(by)) @ x)


class QuaternionNorm(Norm):
    """2 min(|a - b|, |a + b|) of unit quaternions (scalar part first), which stand for the same attitude with either
    sign: 4 sin(angle/4), the angle for close attitudes."""

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(2.0*np.minimum(super()._gaps(a, b), super()._gaps(a, -b)))

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        return (*super().moves(x)[:-1], 3)

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        moved = quaternion_product(rotation_quaternion(by), x)
        return np.asarray(moved/np.linalg.norm(moved, axis=-1)[..., None])


class CoordinateNorm(Norm):
    """Largest difference of one component, for generalized coordinates."""

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(a - b))

    def _sizes(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(values))


class DerivedNorm(Norm):
    """Vectors that follow from other fields: compared like relative ones, but no part of the state error."""

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        raise InputError("a derived field follows from others and cannot be perturbed")


def _largest(gaps: np.ndarray) -> np.ndarray:
    """(time,): maximum over all other dimensions."""
    return np.asarray(gaps.reshape(len(gaps), prod(gaps.shape[1:])).max(axis=1))


def rotation_quaternion(turn: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation vectors (..., 3)."""
    half = 0.5*np.linalg.norm(turn, axis=-1)[..., None]
    return np.concatenate([np.cos(half), 0.5*np.sinc(half/np.pi)*turn], axis=-1)


def quaternion_product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hamilton's product (..., 4), scalar part first."""
    (a, b, c, d), (e, f, g, h) = np.moveaxis(p, -1, 0), np.moveaxis(q, -1, 0)  # rows of three take twice as long
    return np.stack([a*e - (b*f + c*g + d*h), a*f + e*b + (c*h - d*g), a*g + e*c + (d*f - b*h),
                     a*h + e*d + (b*g - c*f)], axis=-1)


def quaternion_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    conjugate = q*np.array([1.0, -1.0, -1.0, -1.0])
    columns = [quaternion_product(quaternion_product(q, np.broadcast_to(unit, q.shape)), conjugate)[..., 1:]
               for unit in np.eye(4)[1:]]
    return np.stack(columns, axis=-1)


NORMS: Mapping[str, Norm] = {norm.name: norm for norm in (
    DirectionNorm("direction", "unit vectors"),
    Norm("relative", "vectors that are compared with the largest one along the reference", scaled=True),
    AttitudeNorm("attitude", "rotation matrices", (3, 3)),
    QuaternionNorm("quaternion", "unit quaternions, up to their sign", (4,)),
    CoordinateNorm("coordinate", "generalized coordinates", scaled=True),
    DerivedNorm("derived", "what follows from other fields", scaled=True),
)}


def norm_of(name: str) -> Norm:
    """A norm by its name. Raises InputError for an unknown one."""
    if name not in NORMS:
        raise InputError(unknown("norm", name, NORMS))
    return NORMS[name]


@dataclass(frozen=True)
class Observable:
    """A group of columns of `observe`: an invariant (its statistics are of the deviation from the initial value), a
    residual (from zero; it vanishes for the exact motion), or a plain number (of the value itself).

    components: names of the columns; none for a single one, x, y, z if there are three and nothing else is said.
    conserved: whether the exact motion keeps each column of an invariant (default: all).
    statistics: of STATISTICS, over every counted point; default mean and max, for a plain observable none.
    stem: what the names of statistics begin with, default the name and, for invariants, `_error`.
    integral: the columns of `observe` are integrands; what is recorded is their integral over time from the start, by
    the trapezoidal rule over every step, whatever is sampled (plain only).
    size: what it is measured against, see `simulation.runs.content` (of residuals without units 1; JOINTS; None: it
    is not judged).

    Raises:
        InputError: an unknown kind or statistic, or numbers of names that do not fit the columns."""

    name: str
    columns: slice
    units: str
    long_name: str
    kind: str = "invariant"
    components: tuple[str, ...] = ()
    conserved: tuple[bool, ...] = ()
    statistics: tuple[str, ...] | None = None
    stem: str = ""
    integral: bool = False
    size: float | str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"observable {self.name}: {unknown('kind', self.kind, KINDS)}")
        for name in self.statistics or ():
            if name not in STATISTICS:
                raise InputError(f"observable {self.name}: {unknown('statistic', name, STATISTICS)}")
        if self.width == 3 and not self.components:
            object.__setattr__(self, "components", XYZ)
        if len(self.components) != (self.width if self.width > 1 else 0):
            raise InputError(f"observable {self.name} has {self.width} columns and {len(self.components)} names of"
                             " components: give one for each column, none for a single column")
        if self.kind == "invariant" and not self.conserved:
            object.__setattr__(self, "conserved", (True,)*self.width)
        if len(self.conserved) != (self.width if self.kind == "invariant" else 0):
            raise InputError(f"observable {self.name}: conserved has {len(self.conserved)} entries; an invariant has"
                             " one for each column, other observables none")
        if self.kind == "residual" and not (self.stem or self.name).endswith("_error"):
            raise InputError(f"observable {self.name} is a residual: its name must end in _error")
        if self.size is None and self.kind == "residual" and self.units == "1":
            object.__setattr__(self, "size", 1.0)
        if self.integral and self.kind != "plain":
            raise InputError(f"observable {self.name} is an integral: its kind must be plain, not {self.kind}")

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.columns.stop - self.columns.start)

    @property
    def is_energy(self) -> bool:
        """Whether it is an energy that the exact motion keeps."""
        return self.conserved == (True,) and "energy" in self.name

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Dimension of its variable beside time: none for a single column, xyz, or its own."""
        if self.width == 1:
            return ()
        return ("xyz",) if self.components == XYZ else (f"{self.name}_component",)

    @property
    def labels(self) -> tuple[str, ...]:
        """Suffix of the name of each column: "" for a single one, else "_" and the component."""
        return tuple(f"_{part}" for part in self.components) or ("",)

    @property
    def asked(self) -> tuple[str, ...]:
        """The statistics that files hold of it."""
        return (() if self.kind == "plain" else ("mean", "max")) if self.statistics is None else self.statistics

    def statistic(self, what: str) -> list[str]:
        """Names of a statistic (`what`, for example "max"), one for each column."""
        stem = self.stem or (f"{self.name}_error" if self.kind == "invariant" else self.name)
        return [f"{stem}_{what}{label}" for label in self.labels]

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Values (..., width) without the last dimension where there is one column."""
        return values[..., 0] if self.width == 1 else values

    def kept(self) -> Iterator[str]:
        """label=place in the file of each column that the exact motion keeps; a place is `variable` or
        `variable:index`."""
        stem = (self.stem or self.name).removesuffix("_error")
        for index, label in enumerate(self.labels):
            if self.kind == "residual" or self.conserved[index]:
                yield f"{stem}{label}={self.name}{f':{index}' if self.width > 1 else ''}"


@dataclass(frozen=True)
class StateField:
    """One named part of the state.

    norm: name of its norm, see `liestep.mechanics.contracts.formulated`. tangent: a field of unit vectors to which its
    vectors are orthogonal. counted: whether its error enters the state error; one that does not (multipliers) has a
    column of its own.

    Raises:
        InputError: there is no norm of this name."""

    name: str
    units: str
    long_name: str
    dims: tuple[str, ...] = ("body", "xyz")
    norm: str = "direction"
    tangent: str = ""
    counted: bool = True

    def __post_init__(self) -> None:
        try:
            norm_of(self.norm)
        except InputError as error:
            raise InputError(f"state field {self.name}: {error}") from None

    @property
    def measure(self) -> Norm:
        """The norm itself."""
        return norm_of(self.norm)

    @property
    def independent(self) -> bool:
        """Whether it has an error of its own."""
        return self.norm != "derived"

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(time,): largest distance over bodies, not scaled; errors as `Norm.distance`."""
        try:
            return self.measure.distance(a, b)
        except InputError as error:
            raise InputError(f"state field {self.name}: {error}") from None


def perturbed(fields: Iterable[StateField], state: Mapping[str, np.ndarray], amplitude: float,
              draws: Iterable[tuple[np.random.Generator, int]]) -> dict[str, np.ndarray]:
    """Initial states, each field (count, ...), with every counted field moved by its norm, in the order of the fields;
    those that are tangent to another one are made orthogonal to its new value. Other parts of the state stay. draws:
    generators, each with the number of states that have its numbers, one after the other.

    Raises:
        InputError: no part of the state can be perturbed."""
    parts = [part for part in fields if part.name in state and part.independent and part.counted]
    if not parts:
        raise InputError("no part of the initial state has a norm by which it could be perturbed")
    moves = [part.measure.moves(state[part.name]) for part in parts]
    ends = np.cumsum([prod(shape) for shape in moves])
    numbers = np.concatenate([random.standard_normal((count, ends[-1])) for random, count in draws])
    drawn = np.split(amplitude*numbers, ends[:-1], axis=1)
    count, moved = len(numbers), dict[str, np.ndarray]()
    for part, by, shape in zip(parts, drawn, moves, strict=True):
        start = state[part.name]
        value = part.measure.moved(np.broadcast_to(start, (count, *start.shape)), by.reshape(count, *shape))
        for _ in range(2 if part.tangent else 0):  # the second time removes what the first left by round-off
            base = moved.get(part.tangent, state[part.tangent])
            value -= np.sum(value*base, axis=-1)[..., None]*base
        moved[part.name] = value
    return {name: moved.get(name, np.broadcast_to(values, (count, *np.shape(values))))
            for name, values in state.items()}


@lru_cache(maxsize=8)
def _grouping(to_fields: Callable[..., dict[str, np.ndarray]], shape: tuple[int, ...], numbers: bytes
              ) -> tuple[np.ndarray, int]:
    """`Formulated.grouping`, once for cells of a map that start alike."""
    start, numbers_of = np.frombuffer(numbers).reshape(shape).copy(), dict[frozenset[str], int]()
    groups = np.zeros(len(start), dtype=np.int64)
    largest = float(np.abs(start).max(initial=0.0)) or 1.0
    known = to_fields(start[None])
    for first in range(0, len(groups), ROWS_AT_ONCE):
        places = np.arange(first, min(first + ROWS_AT_ONCE, len(groups)))
        moved = np.repeat(start[None], len(places), axis=0)
        own = moved[places - first, places]
        moved[places - first, places] = own + 1e-3*np.where(own == 0.0, largest, own)
        fields = to_fields(moved)
        for place in places:
            changed = frozenset(name for name, value in fields.items()
                                if not np.array_equal(value[place - first], known[name][0]))
            groups[place] = numbers_of.setdefault(changed, len(numbers_of))
    return groups, numbers_of.get(frozenset(), len(numbers_of))


class Starts(NamedTuple):
    """How a component whose numbers do not depend on the start begins elsewhere: rows (members, m, d) of fields
    (members, ...), and `Formulated.momentum_scale` at one state or at those of members."""

    rows: Callable[[Mapping[str, np.ndarray]], np.ndarray]
    scale: Callable[[Mapping[str, np.ndarray]], np.ndarray | float] = lambda states: 0.0

    def at(self, state: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """What `Formulated` holds of a start, and this."""
        (start,) = self.rows({name: (values if isinstance(values, Varied) else np.asarray(values))[None]
                              for name, values in state.items()})
        return {"start": start.copy(), "momentum_scale": each(lambda own: float(self.scale(own)), state),
                "starts": self}


class Joints(NamedTuple):
    """What residuals of joints are measured against; of times, fields and observables at the samples of a run."""

    length: Callable[[Mapping[str, np.ndarray]], float]  # the mechanism's own at the start, wherever its origin is
    # the largest residual in m, and of what has no unit
    gaps: Callable[[Mapping[str, np.ndarray]], tuple[float, float]]


class Sight(NamedTuple):
    """What controllers see of states, where machine code reads them."""

    component: Reader    # its `read(t, y)` writes the numbers
    numbers: np.ndarray  # (size,)
    pieces: Mapping[str, Callable[[np.ndarray], np.ndarray]]  # by name, each of a copy of the numbers
    # turns go on from a time and what was counted there
    recount: Callable[[float, Mapping[str, np.ndarray]], None] | None = None


@made_once
def _told(observables: tuple[Observable, ...]) -> tuple[np.ndarray, str, str]:
    """Which columns are invariants, and what `Formulated.attributes` says of invariants and residuals."""
    invariants = " ".join(item for part in observables if part.kind == "invariant" for item in part.kept())
    residuals = " ".join(item for part in observables if part.kind == "residual" and part.units == "1"
                         and "mean" in part.asked for item in part.kept())
    return np.repeat([part.kind == "invariant" for part in observables], [part.width for part in observables]
                     ), invariants, residuals


@dataclass(frozen=True)
class Formulated:
    """A system ready for an integrator: the component, its first state, and how to read its rows.

    Raises:
        InputError: columns of observables that do not follow each other from the energy in column 0."""

    problem: Problem
    start: np.ndarray                                     # (m, d), the form chooses m and d
    fields: tuple[StateField, ...]
    observables: tuple[Observable, ...]
    to_fields: Callable[[np.ndarray], dict[str, np.ndarray]]  # (samples, m, d) -> name: (samples, *dims)
    # size of the terms that are summed in the momentum, at the start
    momentum_scale: float
    # (status, rows where a run ended) -> the status that says why, where the form knows it better
    ending: Callable[[Status, np.ndarray], Status] = lambda status, rows: status
    starts: Starts | None = None                          # None: the component is made anew for another start
    formulation: str = ""                                 # its name, from which follows what integrators may call
    notes: Mapping[str, str | float] = field(default_factory=dict)  # further attributes of runs
    # what follows from states in a row, for samples and controllers: of (times, fields), and of the last ones before
    shown: tuple[StateField, ...] = ()
    showing: Callable[..., dict[str, np.ndarray]] = lambda times, fields, before=None: {}
    # `to_fields` without those for which equations with the parameters are solved; None: there are none
    bare: Callable[[np.ndarray], dict[str, np.ndarray]] | None = None
    apart: bool = False  # each number has a scale of its own
    clock: int | None = None  # row whose first number is the time
    joints: Joints | None = None  # of forms with an observable of size JOINTS
    sight: Sight | None = None  # None: controllers get what `bare` or `to_fields`, and `showing`, give

    def __post_init__(self) -> None:
        column = 0
        for part in self.observables:
            if part.columns.start != column or (column == 0 and (part.name, part.width) != ("energy", 1)):
                raise InputError(f"observable {part.name} has columns {part.columns.start} to"
                                 f" {part.columns.stop - 1}: the energy must have column 0, and each observable must"
                                 " begin where the last one ended")
            column = part.columns.stop

    @property
    def groups(self) -> np.ndarray:
        """(m,): rows with the same number enter the same fields, and have one scale: the largest of their numbers."""
        return self.grouping[0]

    @property
    def grouping(self) -> tuple[np.ndarray, int]:
        """`groups`, and which one enters no field, as the work of forces or a clock; if there is none, one more."""
        groups, left_out = _grouping(self.bare or self.to_fields, self.start.shape,
                                     np.asarray(self.start, np.float64).tobytes())
        return groups.copy(), left_out

    @property
    def width(self) -> int:
        """Number of columns of `observe`."""
        return int(self.observables[-1].columns.stop)

    @property
    def invariant_columns(self) -> np.ndarray:
        """(width,): which columns of `observe` are invariants."""
        return _told(self.observables)[0]

    @property
    def error_fields(self) -> list[StateField]:
        """The fields that have a distance from a reference of their own."""
        return [part for part in self.fields if part.independent]

    @property
    def momentum_axes(self) -> str:
        """Axes of the conserved components of the momentum map; empty where there is none."""
        flags = next((part.conserved for part in self.observables if part.name == "momentum_map"), ())
        return "".join(axis for axis, flag in zip("xyz", flags, strict=False) if flag)

    @property
    def changes(self) -> dict[str, str]:
        """Statistics of what the exact motion does not keep, and what tables call them: they are no errors."""
        return {name: name.replace("_error_", "_change_") for part in self.observables if part.kind == "invariant"
                for what in part.asked for name, kept in zip(part.statistic(what), part.conserved, strict=True)
                if not kept}

    @property
    def attributes(self) -> dict[str, str | float]:
        """What files say about fields and observables.

        `invariants`: label=place of everything that the exact motion keeps; `residuals`: the same of the dimensionless
        ones with a mean; `error_norms`: field:norm, with :apart for a field that is not counted in the state error;
        and `notes`."""
        _, invariants, residuals = _told(self.observables)
        norms = [f"{part.name}:{part.norm}{'' if part.counted else ':apart'}" for part in self.error_fields]
        return {
            "momentum_scale": self.momentum_scale, "momentum_conserved": self.momentum_axes or "none",
            "invariants": invariants, "residuals": residuals, "error_norms": " ".join(norms),
            **self.notes}
