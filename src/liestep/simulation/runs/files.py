"""NetCDF files of runs: written whole or not at all, refused when incomplete, of another
specification, or changed afterwards.

Byte-identical for one specification and source: no wall-clock values, variables in fixed order, no HDF5 time
stamps. The attribute `checksums` holds a hash of all other attributes and one of each variable: whatever is
read is compared with it."""
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import netCDF4
import numpy as np

from liestep.errors import InputError
from liestep.files.textfiles import replacing
from liestep.simulation.runs.content import BLOCK_STATISTICS, BLOCKS_SUFFIX, FORMAT, Content
from liestep.simulation.runs.opening import require_openable

ATTRIBUTES = "attributes"  # key of `checksums` for the checksum of the attributes
PAGE = 1 << 16  # bytes of a NetCDF file beside its variables, about
MAY_LACK = ("spread_", "growth", "lyapunov")  # beginnings of the names of variables that may hold NaN
UNSEALED = ("checksums", "complete")


class Specification(Protocol):
    """What a file is made from: a run's specification, or that of a reference."""

    @property
    def sha256(self) -> str: ...

    @property
    def source_hash(self) -> str: ...


def write(content: Content, path: Path, *, replace: bool = True) -> None:
    """Check, write under a temporary name, flush to disk, rename. It is not read back: whoever reads it compares its
    checksums. Raises InputError: a value is NaN, the folder cannot be written, or the file exists and `replace` is
    False."""
    path = Path(path)
    if not replace:
        require_free(path, content.attributes["run_sha256"])
    _require_no_nan(content, path)
    with replacing(path) as temporary:
        try:
            _fill(content, temporary)
        except RuntimeError as error:  # how netCDF4 reports a full disk
            needed = sum(values.nbytes for _, values, _ in content.variables.values())
            left = shutil.disk_usage(path.parent).free
            raise OSError(f"no space left on its disk ({left} bytes)" if left < needed + PAGE else str(error)) from None


def require_free(path: Path, sha256: str) -> None:
    """Raises InputError when a file of anything else than this specification is there, or none can be written there."""
    if path.exists() and read_attribute(path, "run_sha256") != sha256:
        raise InputError(f"{path} exists and is of another specification; remove it or choose another name")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path}: {folder} is not a folder that can be written")


def _fill(content: Content, path: Path) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF4") as data:
        for dims, values, _ in content.variables.values():
            for name, size in zip(dims, values.shape, strict=True):
                if name not in data.dimensions:
                    data.createDimension(name, size)
        for name, (dims, values, attributes) in content.variables.items():
            data.createVariable(name, values.dtype, dims, fill_value=False).setncatts(attributes)
        data.setncatts({name: np.int32(value) if isinstance(value, int) and abs(value) < 2**31 else value
                        for name, value in content.attributes.items()})
        data.set_auto_maskandscale(False)  # a look at each variable for attributes that no file has
        # after all definitions, because returning to the define mode takes longer than writing
        for name, (_, values, _) in content.variables.items():
            data[name][...] = values
        seal(data, {name: values for name, (_, values, _) in content.variables.items()})
        data.complete = np.int32(1)  # written last: a file without it was never finished


def seal(data: netCDF4.Dataset, written: dict[str, np.ndarray]) -> None:
    """Set the attribute `checksums` of an open file to that of its attributes and of the variables written to it."""
    attributes = {name: data.getncattr(name) for name in data.ncattrs()}
    sums = {ATTRIBUTES: _attributes_checksum(attributes)} | {name: _checksum(values)
                                                              for name, values in written.items()}
    data.checksums = " ".join(f"{name}:{value}" for name, value in sums.items())


def _checksum(*values: Any) -> str:
    """16 hex digits of the sha256 of texts, numbers and arrays with their types and shapes."""
    digest = hashlib.sha256()
    for value in values:
        array = None if isinstance(value, str) else np.asarray(value)
        body = memoryview(value.encode()) if array is None else np.ascontiguousarray(array).data
        digest.update(f"{'str' if array is None else f'{array.dtype.str}{array.shape}'} {body.nbytes} ".encode())
        digest.update(body)
    return digest.hexdigest()[:16]


def _attributes_checksum(attributes: dict[str, Any]) -> str:
    return _checksum(*(part for name in sorted(attributes) if name not in UNSEALED
                       for part in (name, attributes[name])))


def _require_no_nan(content: Content, path: Path) -> None:
    """Raises InputError for NaN; only block statistics, spreads and exponents of an unfinished run may hold it, and
    the unfinished cells of a map."""
    for name, (_, values, _) in content.variables.items():
        whole = values[content.whole[name]] if name in content.whole and not content.whole[name].all() else values
        if np.isnan(whole).any() and not (name.endswith(BLOCKS_SUFFIX) or name.startswith(MAY_LACK)):
            raise InputError(f"cannot write {path}: variable {name} is not finite")


@dataclass
class RunFile:
    """A complete file in memory: attributes, and variables as arrays."""

    path: Path
    attributes: dict[str, Any]
    variables: dict[str, np.ndarray]

    @property
    def failed(self) -> bool:
        return self.attributes["status"] != "ok"

    def __getitem__(self, name: str) -> np.ndarray:
        return self.variables[name]

    def members(self) -> "Iterator[RunFile]":
        """Each member of an ensemble as a run of its own."""
        for k in range(len(next(values for name, values in self.variables.items() if name != "time"))):
            yield replace(self, variables={name: values if name == "time" else values[k]
                                           for name, values in self.variables.items()})

    def blocks(self, observable: str, statistic: str) -> np.ndarray:
        """(blocks,) or (blocks, 3): mean, min or max of the signed deviation over equal parts of the run,
        from every counted point."""
        return self[f"{observable}{BLOCKS_SUFFIX}"][BLOCK_STATISTICS.index(statistic)]

    def block_extents(self, observable: str) -> np.ndarray:
        """(blocks,) or (blocks, 3): largest |deviation| in each of those parts."""
        return np.maximum(np.abs(self.blocks(observable, "min")), np.abs(self.blocks(observable, "max")))


# of variables, or attributes -> names; None for all
Names = tuple[str, ...] | Callable[[dict[str, Any]], tuple[str, ...]] | None


def read(path: Path, names: Names = None) -> RunFile:
    """Read a run's file (only `names` of its variables, if given). Raises InputError: missing, not NetCDF, not a file
    of this program, not complete, or an attribute or a variable that is read was changed."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} {'is not a file' if path.exists() and not path.is_dir() else 'does not exist'}")
    try:
        require_openable(path)
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            attributes = {name: data.getncattr(name) for name in data.ncattrs()}
            _require_complete(path, attributes)
            checksums = _checksums(path, attributes, set(data.variables))
            chosen = tuple(data.variables) if names is None else names(attributes) if callable(names) else names
            variables = {name: np.asarray(data[name][...]) for name in chosen if name in data.variables}
    except InputError:
        raise
    except Exception:  # of damaged files, netCDF4 raises anything
        raise InputError(f"{path} is not a readable NetCDF file (truncated or foreign); remove"
                         " it and run again") from None
    for name, values in variables.items():
        if _checksum(values) != checksums[name]:
            raise InputError(f"{path} was changed after it was written: variable {name}; remove it and run again")
    return RunFile(path, attributes, variables)


def _checksums(path: Path, attributes: dict[str, Any], variables: set[str]) -> dict[str, str]:
    """Take `checksums` out of the attributes, and compare all that needs no variable's values."""
    sums = dict(part.split(":", 1) for part in str(attributes.pop("checksums", "")).split() if ":" in part)
    if sums.pop(ATTRIBUTES, None) != _attributes_checksum(attributes) or set(sums) != variables:
        raise InputError(f"{path} was changed after it was written: attributes or names of variables; remove"
                         " it and run again")
    return sums


def _require_complete(path: Path, attributes: dict[str, Any]) -> None:
    if "run_sha256" not in attributes or "format" not in attributes:
        raise InputError(f"{path} is not a run of liestep: attribute run_sha256 is missing")
    if "checksums" not in attributes:  # written before the file gets its name
        raise InputError(f"{path} is not a run of liestep: it has no checksums, `to_netcdf` or another program has"
                         " written it: read it with xarray.open_dataset; a data set's `liestep.save(path)` writes runs")
    if attributes.get("complete") != 1:
        raise InputError(f"{path} is incomplete: its writer was interrupted; remove it and run again")
    if attributes["format"] != FORMAT:
        raise InputError(f"{path} has file format {attributes['format']}, this program reads {FORMAT}; run it again")


def read_attribute(path: Path, name: str) -> str | None:
    """One global attribute of a complete file, None when the file is missing, damaged, foreign or incomplete."""
    try:
        return read(path, ()).attributes.get(name)
    except InputError:
        return None


def is_current(path: Path, spec: Specification) -> bool:
    """Whether the file is complete and of this specification and today's sources."""
    try:
        require_current(path, spec, ())
    except InputError:
        return False
    return True


def require_current(path: Path, spec: Specification, names: Names = None) -> RunFile:
    """Read a file (only `names` of its variables, if given) that must be of this specification and today's sources.
    Raises InputError: see `read`; or another specification or source."""
    file = read(path, names)
    if file.attributes["run_sha256"] != spec.sha256:
        raise InputError(f"{path} is of another specification than the study asks for; run the study again")
    if file.attributes.get("source_hash") != spec.source_hash:
        raise InputError(f"{path} was made by other sources than today's; run the study again")
    return file
