"""States written by anybody's code, as CSV or NetCDF, read and checked against the layout of a problem's state.

CSV: a header with `time` and one column for each number, named field, then one index for each dimension, joined by
underscores: x, y, z for components in space, w, x, y, z for those of a quaternion, whole numbers from 0 for bodies and
body axes (`q_0_x`, `attitude_x_2`, `quaternion_0_w`). NetCDF: `time` and one variable for each field, (time, *shape).
Facts about the run (FACTS) are lines `# name = value` above the header, or global attributes."""
import dataclasses
import difflib
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from math import isfinite
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rotation_bench.liestep_judge import BadStates, attitude_of

COUNTERS = ("force_evaluations", "rhs_evaluations", "exponentials", "linear_solves", "iterations", "steps_accepted",
            "steps_rejected")
LARGEST = 1 << 30  # bytes of a file
Fields = Mapping[str, np.ndarray]
Convert = Callable[[np.ndarray, Fields], np.ndarray]
LETTERS = {"xyz": "xyz", "wxyz": "wxyz"}  # dimensions whose indices are letters


class Field(Protocol):
    """A part of a state: names of its dimensions, the kind of its distance ("attitude" for matrices), and the name of
    the field of directions to which it is tangent, or ""."""

    name: str
    dims: tuple[str, ...]
    norm: str
    tangent: str


@dataclass(frozen=True)
class StandIn:
    """`convert` makes the field (n, *shape of the field) from the values (n, *shape) and the fields that stand before
    it."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    convert: Convert


def momentum_of(angular_velocity: np.ndarray, attitude: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """R J R^T w (..., 3), all spatial, for principal moments J (..., 3)."""
    body = np.einsum("...ij,...i->...j", attitude, angular_velocity)
    return np.einsum("...ij,...j->...i", attitude, moments*body)


def stand_ins(fields: Mapping[str, Field], shapes: Mapping[str, tuple[int, ...]],
              moments: np.ndarray | None) -> dict[str, StandIn]:
    """Field -> what may stand for it; `moments` (n, 3) of rigid bodies."""
    found = {}
    for name, part in fields.items():
        dims, shape = part.dims, shapes[name]
        if part.tangent in fields and "velocity" not in fields:
            found[name] = StandIn("velocity", dims, shape,  # omega = q x dq/dt
                                  partial(lambda q, values, there: np.cross(there[q], values), part.tangent))
        elif part.norm == "attitude":
            found[name] = StandIn("quaternion", (*dims[:-2], "wxyz"), (*shape[:-2], 4),
                                  lambda values, there: attitude_of(values))
        elif name == "angular_momentum" and "attitude" in fields and moments is not None:
            inertia = moments if len(shape) == 2 else moments[0]
            found[name] = StandIn("angular_velocity", dims, shape, partial(
                lambda inertia, values, there: momentum_of(values, there["attitude"], inertia), inertia))
    return found


SPACING = 1e-9  # share of t_end by which a time may differ from equal spacing
NETCDF = (b"CDF", b"\x89HDF")  # first bytes of the two kinds of NetCDF files


def _number(text: Any) -> float:
    value = float(text)
    if not (isfinite(value) and value > 0.0):
        raise ValueError
    return value


def _count(text: Any) -> int:
    value = float(text)
    if value != int(value) or value < 0.0:
        raise ValueError
    return int(value)


TRUTH = {"true": True, "1": True, "false": False, "0": False}
FACTS: Mapping[str, tuple[Callable[[Any], Any], str]] = {  # name -> (reader, what it must be)
    "label": (str, "text"), "step": (_number, "a positive number"), "tolerance": (_number, "a positive number"),
    "order": (_number, "a positive number"), "seconds": (_number, "a positive number"),
    "symmetric": (lambda text: TRUTH[str(text).strip().lower()], "true or false"),
    **dict.fromkeys(("steps", *COUNTERS), (_count, "a whole number"))}


@dataclass(frozen=True)
class StateFile:
    """time: (n,), equally spaced from 0; fields: name -> (n, *shape); facts: what the file says about its run."""

    path: Path
    time: np.ndarray
    fields: Mapping[str, np.ndarray]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """What a file of one problem holds: fields and the shape of each; `optional` are further numbers, one for each
    time; `stand_ins` may be there instead of a field."""

    what: str                                # names problem and preset in error messages
    fields: Mapping[str, Field]
    shapes: Mapping[str, tuple[int, ...]]
    optional: tuple[str, ...] = ()
    stand_ins: Mapping[str, StandIn] = dataclasses.field(default_factory=dict)
    vouch: Callable[[Path], object] = str    # raises one of `refused` for a NetCDF file that is not to be opened
    refused: tuple[type[Exception], ...] = ()

    def columns(self, name: str) -> list[str]:
        """Names of the numbers of a field, or of the variable that stands for one, in C order."""
        stand_in = next((part for part in self.stand_ins.values() if part.name == name), None)
        dims = stand_in.dims if stand_in else self.fields[name].dims
        parts = [[LETTERS[dim][i] if dim in LETTERS else str(i) for i in range(size)]
                 for dim, size in zip(dims, self.shape(name), strict=True)]
        return ["_".join((name, *indices)) for indices in product(*parts)]

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a field, or of the variable that stands for one."""
        return next((part.shape for part in self.stand_ins.values() if part.name == name), self.shapes.get(name, ()))


def read_states(path: Path, layout: Layout) -> StateFile:
    """Read a file of either kind. Raises BadStates: one sentence: what is wrong with the file, and where."""
    path = Path(path)
    try:
        found = path.stat()
        if not stat.S_ISDIR(found.st_mode) and (not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST):
            raise BadStates(f"cannot read {path}: it is no file, or has more than {LARGEST} bytes")
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError as error:
        raise BadStates(f"cannot read {path}: {error.strerror}") from None
    time, fields, facts = (_read_netcdf if start.startswith(NETCDF) else _read_csv)(path, layout)
    _check_numbers(path, time, fields)
    _check_times(path, time)
    for name in layout.fields:
        if name not in fields:
            stand_in = layout.stand_ins[name]
            fields[name] = stand_in.convert(fields.pop(stand_in.name), fields)
    return StateFile(path, time, fields, facts)


def _unknown_fact(name: str) -> str:
    close = difflib.get_close_matches(name, FACTS, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown fact {name!r}{hint} (allowed: {', '.join(FACTS)})"


def _fact(path: Path, where: str, name: str, value: Any) -> Any:
    convert, wanted = FACTS[name]
    try:
        return convert(value)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BadStates(f"{path}{where}: {name} must be {wanted}, not {value!r}") from None


def _read_csv(path: Path, layout: Layout) -> tuple:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadStates(f"{path} is neither NetCDF nor a text file with UTF-8") from None
    facts, first = {}, 0
    while first < len(lines) and (not lines[first].strip() or lines[first].startswith("#")):
        name, sign, value = (part.strip() for part in lines[first].lstrip("# ").partition("="))
        if sign:
            if name not in FACTS:
                raise BadStates(f"{path}, line {first + 1}: {_unknown_fact(name)}")
            facts[name] = _fact(path, f", line {first + 1}", name, value)
        first += 1
    if first == len(lines):
        raise BadStates(f"{path} has no header: the first line without # must be {_header(layout)}")
    header = [name.strip() for name in lines[first].split(",")]
    names = _choose(layout, lambda name: layout.columns(name)[0] in header)
    wanted = {name: layout.columns(name) for name in names}
    _check_header(path, layout, header, wanted)
    extra = {name: [name] for name in layout.optional if name in header}
    places = [header.index(column) for column in ("time", *chain.from_iterable((wanted | extra).values()))]
    rows = [_row(path, first + 2 + k, line, len(header), places)
            for k, line in enumerate(lines[first + 1:]) if line.strip()]
    if len(rows) < 2:
        raise BadStates(f"{path} needs at least two times, it has {len(rows)}")
    table, fields, column = np.array(rows), {}, 1
    for name in (*names, *extra):
        shape = layout.shape(name)
        size = int(np.prod(shape))
        fields[name] = table[:, column:column + size].reshape(len(table), *shape)
        column += size
    return table[:, 0], fields, facts


def _header(layout: Layout) -> str:
    return ",".join(["time", *chain.from_iterable(map(layout.columns, layout.fields))][:8]) + ",..."


def _choose(layout: Layout, there: Callable[[str], bool]) -> list[str]:
    """Names in the file: of each field, or of what stands for it where only that is there."""
    return [layout.stand_ins[name].name
            if name in layout.stand_ins and not there(name) and there(layout.stand_ins[name].name) else name
            for name in layout.fields]


def _check_header(path: Path, layout: Layout, header: list[str], columns: Mapping[str, list[str]]) -> None:
    wanted = list(chain.from_iterable(columns.values()))
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise BadStates(f"{path} has two columns {twice[0]!r}")
    for column in ("time", *wanted):
        if column not in header:
            close = difflib.get_close_matches(column, [name for name in header if name not in wanted], n=1, cutoff=0.6)
            raise BadStates(f"{path} has no column {column!r}{f' (is it {close[0]!r}?)' if close else ''};"
                             f" {layout.what} has the columns {_header(layout)}")
    stems = tuple(f"{name}_" for name in columns)
    foreign = [name for name in header if name not in wanted and name.startswith(stems) and name not in layout.optional]
    if foreign:
        raise BadStates(f"{path} has a column {foreign[0]!r}, but the last columns of {layout.what} are"
                         f" {', '.join(wanted[-3:])}: another number of bodies?")


def _row(path: Path, number: int, line: str, width: int, places: list[int]) -> list[float]:
    cells = line.split(",")
    if len(cells) != width:
        raise BadStates(f"{path}, line {number}: {len(cells)} values, the header has {width} columns")
    found = []
    for place in places:
        try:
            found.append(float(cells[place]))
        except ValueError:
            raise BadStates(f"{path}, line {number}: {cells[place].strip()!r} is not a number") from None
    return found


def _read_netcdf(path: Path, layout: Layout) -> tuple:
    try:
        import netCDF4
    except ImportError:
        raise BadStates(f"{path} is a NetCDF file, which needs the package netCDF4; CSV needs none") from None
    try:
        layout.vouch(path)
        with netCDF4.Dataset(path) as data:
            attributes = {name: data.getncattr(name) for name in data.ncattrs()}
            names = _choose(layout, lambda name: name in data.variables)
            for name in ("time", *names):
                if name not in data.variables:
                    raise BadStates(f"{path} has no variable {name!r}; {layout.what} needs time,"
                                     f" {', '.join(layout.fields)}")
            extra = [name for name in layout.optional if name in data.variables]
            found: dict[str, np.ndarray] = {name: np.ma.filled(np.ma.asarray(data[name][...], dtype=float), np.nan)
                    for name in ("time", *names, *extra)}
    except (BadStates, *layout.refused) as error:
        raise BadStates(str(error)) from None
    except Exception:  # of damaged files, netCDF4 raises anything
        raise BadStates(f"{path} is not a readable NetCDF file of numbers (truncated?)") from None
    time = found.pop("time")
    if time.ndim != 1 or time.size < 2:
        raise BadStates(f"{path}: time must be of shape (n,) with at least two times, not {time.shape}")
    for name, values in found.items():
        shape = layout.shape(name)
        if values.shape != (time.size, *shape):
            raise BadStates(f"{path}: {name} is of shape {values.shape}, for {layout.what} it must be"
                             f" {(time.size, *shape)}, time first")
    label = {"label": attributes["integrator"]} if "integrator" in attributes else {}
    facts = {name: _fact(path, "", name, value) for name, value in (label | attributes).items() if name in FACTS}
    return time, found, facts


def _check_numbers(path: Path, time: np.ndarray, fields: Mapping[str, np.ndarray]) -> None:
    for name, values in {"time": time, **fields}.items():
        bad = np.flatnonzero(~np.isfinite(values.reshape(time.size, -1)).all(axis=1))
        if bad.size:
            raise BadStates(f"{path}: {name} is not finite at sample {bad[0]} (t = {time[bad[0]]:g}): write only what"
                             " was computed before the code failed")


def _check_times(path: Path, time: np.ndarray) -> None:
    if time[0] != 0.0:
        raise BadStates(f"{path}: times must start at 0, not {time[0]!r}")
    if np.any(np.diff(time) <= 0.0):
        k = int(np.argmax(np.diff(time) <= 0.0)) + 1
        raise BadStates(f"{path}: times must increase, sample {k} has {time[k]!r} after {time[k - 1]!r}")
    even = np.arange(time.size)*(time[-1]/(time.size - 1))
    off = int(np.argmax(np.abs(time - even)))
    if abs(time[off] - even[off]) > SPACING*time[-1]:
        raise BadStates(f"{path}: times must be equally spaced, sample {off} is at {time[off]!r} instead"
                         f" of {even[off]!r}")
