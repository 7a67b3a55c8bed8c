"""Data sets of runs: whether they are, how they are opened, and what they say about their observables."""
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray

from liestep.errors import InputError
from liestep.simulation.endings.going import AS_MADE, contents
from liestep.simulation.runs.files import RunFile, read
from liestep.study.tables.drift import kept_variables
from liestep.study.tables.errors import counted, error_fields


class KeptColumn(NamedTuple):
    """One column that the exact motion keeps, along the samples: its deviation from the start, or from zero."""

    label: str
    units: str
    values: np.ndarray  # (time,)


def require_run(data: xarray.Dataset, name: str = "the data set") -> None:
    """Raises InputError unless data is a data set of one run of liestep."""
    if not isinstance(data, xarray.Dataset):
        raise InputError(f"{name} is a {type(data).__name__}; allowed are data sets of liestep.simulate and of run"
                         " files (liestep.open_run)")
    if "run_sha256" not in data.attrs or "invariants" not in data.attrs or "time" not in data:
        raise InputError(f"{name} is not of a run of liestep (its attribute run_sha256 or invariants is missing);"
                         " allowed are data sets of liestep.simulate and of run files (liestep.open_run)")
    if "member" in data.sizes:
        raise InputError(f"{name} holds an ensemble; allowed are single runs")
    if "time" not in data.sizes:
        raise InputError(f"{name} has no dimension time: select its samples by a list, such as isel(time=[0])")
    if data.sizes["time"] == 0:
        raise InputError(f"{name} has no sample: {data.attrs.get('message', 'the run stopped at once')}")


def open_run(path: Path | str) -> xarray.Dataset:
    """The data set of a run's file, as `simulate` would have returned it.

    Args:
        path: file that `liestep run` or the workflow has written.

    Raises:
        InputError: the file is missing, damaged, incomplete or of another program.
    """
    read(Path(path))  # compares all checksums
    with xarray.open_dataset(path, decode_times=False, engine="netcdf4") as data:
        found = data.load().set_coords("time")
    found.encoding[AS_MADE] = contents(found)
    return found


def as_file(data: xarray.Dataset) -> RunFile:
    """The data set as what figures and films read."""
    return RunFile(Path("the data set"), dict(data.attrs), {str(name): data[name].values for name in data.variables})


def kept(data: xarray.Dataset, attribute: str) -> list[KeptColumn]:
    """Deviations of everything that the attribute `invariants` or `residuals` lists, in its order."""
    columns = []
    for label, place in kept_variables(data.attrs, attribute).items():
        if place.variable in data:
            values = data[place.variable].values.reshape(data.sizes["time"], -1)[:, place.index or 0]
            columns.append(KeptColumn(label.replace("_", " "), str(data[place.variable].attrs.get("units", "1")),
                                    np.abs(values) if place.residual else values - values[0]))
    return columns


def errors(data: xarray.Dataset, reference: xarray.Dataset) -> xarray.Dataset:
    """Errors of a run's fields, see `RunAccessor.errors`."""
    require_run(reference, "the reference")
    if data.attrs["problem"] != (other := reference.attrs["problem"]):
        raise InputError(f"the reference is of {other}, the data set of {data.attrs['problem']}")
    time = data["time"].values
    if len(time) != reference.sizes["time"] or not np.allclose(time, reference["time"].values, rtol=1e-9, atol=0.0):
        raise InputError(f"the reference has other sample times: {reference.sizes['time']} up to"
                         f" {float(reference['time'][-1])!r}, the data set {len(time)} up to {float(time[-1])!r}")
    fields = [field for field in error_fields(as_file(data)) if field.name in reference and field.name in data]
    distances = {field.name: ("time", field.distance(data[field.name].values, reference[field.name].values)
                         / field.measure.scale(reference[field.name].values)) for field in fields}
    largest = max(float(distances[field.name][1].max()) for field in counted(fields))
    return xarray.Dataset(distances, coords={"time": data["time"]}, attrs={"error": largest})
