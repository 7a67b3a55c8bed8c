"""The accessor of data sets of runs: `data.liestep.plot()`."""
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray
from numpy.typing import ArrayLike

from liestep.errors import InputError, require_arguments, unknown
from liestep.files.extras import extras
from liestep.mechanics.contracts.sheet import real_array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class RunAccessor:
    """What a data set of a run can do. Raises InputError for a data set that is not of liestep."""

    def __init__(self, data: xarray.Dataset):
        from liestep.figures.interactive.datasets import require_run

        require_run(data)
        self._data = data

    @property
    def code(self) -> str:
        """Which code made the run, with the seconds that it took and that compiling takes; empty for a file."""
        return str(self._data.encoding.get("code", ""))

    @extras()
    def plot(self, **arguments: Any) -> "Figure":
        """Motion, energy, other invariants and errors of the manifold in one figure.

        Args:
            arguments: `quantities`, `span` and `size` as of `liestep.plot`.
        """
        from liestep.figures.interactive.plots import plot

        require_arguments(plot, (self._data,), arguments)
        return plot(self._data, **arguments)

    @extras()
    def animate(self, path: Path | str = "run.gif", *, frames: int = 120, fps: int = 20, width: int = 480) -> Path:
        """Write a film of the motion and return its path. Raises InputError: another ending of the name, or a motion
        that cannot be drawn.

        Args:
            path: of the film (default run.gif); it ends with .gif, .webp or .mp4.
            frames: at most so many samples are shown (default 120).
            fps: frames in a second (default 20).
            width: in pixels (default 480).
        """
        from liestep.figures.films.film import animate
        from liestep.figures.interactive.datasets import as_file

        animate(as_file(self._data), Path(path), frames, fps, width)
        return Path(path)

    def errors(self, reference: xarray.Dataset) -> xarray.Dataset:
        """Error of each state field at each sample, in the field's norm, relative to its largest length where it has
        one. The attribute `error` is the largest. Raises InputError: another problem, or other sample times.

        Args:
            reference: another data set of the same motion, such as that of `liestep.reference`.
        """
        from liestep.figures.interactive.datasets import errors

        return errors(self._data, reference)

    def save(self, path: Path | str) -> None:
        """Write the run's file, as `liestep run` does: `open_run` and the commands `animate`, `check` and `judge` take
        it. Raises InputError: the name does not end with .nc, the data set was changed, the folder cannot be written,
        or a file of another run is there.

        Args:
            path: of the file; it ends with .nc.
        """
        from liestep.simulation.endings.going import AS_MADE, contents
        from liestep.simulation.runs.content import Content
        from liestep.simulation.runs.files import UNSEALED, write

        if Path(path).suffix.lower() != ".nc":
            raise InputError(f"{path} must end with .nc: runs are NetCDF files")
        if self._data.encoding.get(AS_MADE) != contents(self._data):
            raise InputError("the data set is not as simulate or open_run gave it, and a run's file says that its"
                             " specification makes what it holds: save it with to_netcdf")
        variables = sorted(self._data.variables.items(), key=lambda item: item[0] != "time")  # as in runs
        write(Content({str(name): (tuple(map(str, variable.dims)), variable.values, dict(variable.attrs))
                       for name, variable in variables},
                      {name: value for name, value in self._data.attrs.items() if name not in UNSEALED}), Path(path),
              replace=False)

    def go_on(self, *, t_end: float, **arguments: Any) -> xarray.Dataset:
        """The run from its last sample on, by the same method, step or tolerance, with its events and control: the bits
        are those of a run without a break where the method has no memory and the sample is on the grid of steps. Work
        and turns of joints go on. Raises InputError: the run failed, t_end is not behind it or off
        the grid, a state that the method does not show; IntegrationError: as `simulate`.

        Args:
            t_end: end time in s.
            arguments: `samples`, `times`, `stops`, `dense`, `progress`, `on_failure` as of `liestep.simulate`, and
                `until`, `events` or `control`, again, for a data set that was read: functions are not in files.
        """
        from liestep.simulation.endings.between import ROWS
        from liestep.simulation.endings.going import MAY_CHANGE, further
        from liestep.simulation.runs.simulation import made

        how = {name: arguments.pop(name) for name in ("dense", "progress", "on_failure") if name in arguments}
        if strange := [name for name in arguments if name not in MAY_CHANGE]:
            raise InputError(unknown("argument of go_on", strange[0], [*MAY_CHANGE, "dense", "progress", "on_failure"]))
        return made(further(self._data, t_end, arguments), **{"dense": ROWS in self._data, **how})

    def at(self, times: ArrayLike) -> xarray.Dataset:
        """State and observables within the run, which was made with `dense=True`. Each is one step of the method from
        the last node before it: of the method's order, on the manifold. Raises InputError: a data set without nodes, or
        a time outside of the run; IntegrationError: a partial step failed.

        Args:
            times: any times within the run, in s.
        """
        from liestep.simulation.endings.between import ROWS, Between, require_within
        from liestep.simulation.endings.going import specification_of
        from liestep.simulation.runs.own_names import Named, own_names

        data, wanted = self._data, np.atleast_1d(real_array("times", times))
        if wanted.ndim > 1:
            raise InputError("times must be a number or a list of numbers, not an array of more dimensions")
        if ROWS not in data:
            raise InputError("the data set has no nodes: simulate it with dense=True")
        run = Between(specification_of(data.attrs), data[ROWS].values)
        require_within(wanted, run.spec.t_start, float(data.attrs["time_reached"]))
        values = Named(run.fields(*run.at(wanted)), own_names(run.spec.sheet, run.spec.parameters), wanted)
        return xarray.Dataset({str(name): (data[name].dims, values[str(name)], data[name].attrs)
                               for name in data.data_vars if str(name) in values}, coords={"time": wanted},
                              attrs=data.attrs)


@cache
def register() -> None:
    """Make the accessor known to xarray."""
    xarray.register_dataset_accessor("liestep")(RunAccessor)
