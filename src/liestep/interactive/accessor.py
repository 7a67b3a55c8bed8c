"""The accessor of data sets of runs: `data.liestep.plot()`."""
from functools import cache
from typing import TYPE_CHECKING

import xarray

from liestep.interactive.datasets import require_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class RunAccessor:
    """What a data set of a run can do. Raises InputError for a data set that is not of liestep."""

    def __init__(self, data: xarray.Dataset):
        require_run(data)
        self._data = data

    def plot(self) -> "Figure":
        """Motion, energy, other invariants and errors of the manifold in one figure, see `liestep.plot`."""
        from liestep.interactive.plots import plot

        return plot(self._data)


@cache
def register() -> None:
    """Make the accessor known to xarray."""
    xarray.register_dataset_accessor("liestep")(RunAccessor)
