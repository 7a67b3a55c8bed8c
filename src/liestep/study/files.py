"""NetCDF files of runs: written whole or not at all, refused when incomplete or of another specification.

Byte-identical for one specification and source: no wall-clock values, variables in fixed order, no HDF5 time stamps.
"""
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import netCDF4
import numpy as np

from liestep.study.content import FORMAT, Content
from liestep.study.execution import run_source_hash
from liestep.study.specification import RunSpecification
from liestep.systems.sheet import InputError


def write(content: Content, path: Path, *, replace: bool = True) -> None:
    """Write under a temporary name, check, flush to disk, rename.

    Raises:
        InputError: the folder cannot be written, or the file exists and `replace` is False.
    """
    path = Path(path)
    if not replace:
        require_free(path, content.attributes["run_sha256"])
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fill(content, temporary)
        _verify(content, temporary)
        _flush(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # gone, or never made
            temporary.unlink()


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
            variable = data.createVariable(name, values.dtype, dims, fill_value=False)
            variable.setncatts(attributes)
            variable[...] = values
        data.setncatts({name: np.int32(value) if isinstance(value, int) and abs(value) < 2**31 else value
                        for name, value in content.attributes.items()})
        data.complete = np.int32(1)  # last: a file without it was never finished


def _verify(content: Content, path: Path) -> None:
    """Read back what was written; only block statistics of an unfinished run may be NaN."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        for name, (_, values, _) in content.variables.items():
            if not np.array_equal(data[name][...], values, equal_nan="_block_" in name or name.startswith("spread_")):
                raise OSError(f"variable {name} is not finite or was not written")


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass
class RunFile:
    """A complete file in memory: attributes, and variables as arrays."""

    path: Path
    attributes: dict
    variables: dict[str, np.ndarray]

    @property
    def failed(self) -> bool:
        return self.attributes["status"] != "ok"

    def __getitem__(self, name: str) -> np.ndarray:
        return self.variables[name]


Names = tuple[str, ...] | Callable[[dict], tuple[str, ...]] | None  # of variables, or attributes -> names; None for all


def read(path: Path, names: Names = None) -> RunFile:
    """Read a run's file (only `names` of its variables, if given).

    Raises:
        InputError: missing, not NetCDF, not a file of this program, or not complete.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} does not exist")
    try:
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            attributes = {name: data.getncattr(name) for name in data.ncattrs()}
            _require_complete(path, attributes)
            chosen = tuple(data.variables) if names is None else names(attributes) if callable(names) else names
            variables = {name: np.asarray(data[name][...]) for name in chosen if name in data.variables}
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a readable NetCDF file (truncated or foreign); remove it and run again") from None
    return RunFile(path, attributes, variables)


def _require_complete(path: Path, attributes: dict) -> None:
    if "run_sha256" not in attributes or "format" not in attributes:
        raise InputError(f"{path} is not a file of liestep: attribute run_sha256 is missing")
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


def is_current(path: Path, spec: RunSpecification, source: str | None = None) -> bool:
    """Whether the file is complete and of this specification and today's sources (`source`: their hash, default that of a run)."""
    try:
        attributes = read(path, ()).attributes
    except InputError:
        return False
    return attributes["run_sha256"] == spec.sha256 and attributes.get("source_hash") == (source or run_source_hash(spec))


def require_current(path: Path, spec: RunSpecification, source: str | None = None, names: Names = None) -> RunFile:
    """Read a file (only `names` of its variables, if given) that must be of this specification and source (`source`: hash of the
    sources, default that of a run).

    Raises:
        InputError: see `read`; or another specification or source.
    """
    file = read(path, names)
    if file.attributes["run_sha256"] != spec.sha256:
        raise InputError(f"{path} is of another specification than the study asks for; run the study again")
    if file.attributes["source_hash"] != (source or run_source_hash(spec)):
        raise InputError(f"{path} was made by other sources than today's; run the study again")
    return file
