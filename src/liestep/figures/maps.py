"""Generic figure of the largest Lyapunov exponent over a grid of starts."""
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.panels import grid, label_of
from liestep.figures.style import drawing

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

LOW, HIGH = 2.0, 98.0  # percentiles that the colours span


@drawing("{title}: largest Lyapunov exponent (1/s) from each start of a grid, over the time of the run: dark where the"
         " motion is regular. {runs}")
def exponent_map(results: "StudyResults") -> Figure:
    cells = [cell for cell in results.study.cells
             if cell.spec.exponents and cell.spec.ensemble is not None and len(cell.spec.ensemble.turns) == 2]
    if not cells:
        raise InputError(f"study {results.study.name} has no runs with exponents on a grid of two turns")
    figure, axes = grid([label_of(results, cell.problem) for cell in cells], 70.0, extra=2.0)
    for panel, cell in zip(axes, cells, strict=True):
        assert cell.spec.ensemble is not None
        one, other = cell.spec.ensemble.turns
        file = results.file(cell.problem, cell.integrator, cell.resolution)
        rates = np.asarray(file["lyapunov"]).reshape(one.count, other.count)
        low, high = np.nanpercentile(rates, (LOW, HIGH))
        shown = panel.pcolormesh(np.degrees(other.angles), np.degrees(one.angles), rates, cmap="cividis", vmin=low,
                                 vmax=high, shading="nearest", rasterized=True)
        panel.set_aspect("equal")
        panel.set_xlabel(f"turn of {other.field}[{other.index}] about {other.axis} (degrees)")
        panel.set_ylabel(f"turn of {one.field}[{one.index}] about {one.axis} (degrees)")
        bar = figure.colorbar(shown, ax=panel, extend="both")
        bar.set_label("largest exponent (1/s)")
    return figure
