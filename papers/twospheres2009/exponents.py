"""The largest Lyapunov exponent over a grid of starts, as a map."""
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from liestep.paper import InputError, Results, drawing, grid, label_of

LOW, HIGH = 2.0, 98.0  # percentiles that the colours span


@drawing("{title}: largest Lyapunov exponent (1/s) from each start of a grid, over the time of the run: dark where the"
         " motion is regular. {runs}")
def exponent_map(results: Results) -> Figure:
    cells = [cell for cell in results.study.cells if cell.spec.exponents and cell.spec.ensemble is not None
             and len(cell.spec.ensemble.turns) == 2 and not cell.spec.ensemble.first]
    if not cells:
        raise InputError(f"study {results.study.name} has no runs with exponents on a grid of two turns")
    figure, axes = grid([label_of(results, cell.problem) for cell in cells], 70.0, extra=2.0)
    figure.set_figwidth(figure.get_figwidth()/(1 + (len(axes) == 1)))  # a square has no use for the whole width
    for panel, cell in zip(axes, cells, strict=True):
        assert cell.spec.ensemble is not None
        one, other = cell.spec.ensemble.turns
        file = results.file(cell.problem, cell.integrator, cell.resolution)
        rates = np.asarray(file["lyapunov"]).reshape(one.count, other.count)
        low, high = np.nanpercentile(rates, (LOW, HIGH))
        shown = panel.pcolormesh(np.degrees(other.angles), np.degrees(one.angles), rates, cmap="cividis", vmin=low,
                                 vmax=high, shading="nearest", rasterized=True)
        panel.set(aspect="equal", xlabel=_turn(other), ylabel=_turn(one))
        bar = figure.colorbar(shown, ax=panel, extend="both")
        bar.set_label("largest exponent (1/s)")
    return figure


def _turn(turned: Any) -> str:
    """Label of an axis of starts."""
    name = f"$q_{turned.index + 1}$" if turned.field == "q" else f"{turned.field.replace('_', ' ')} {turned.index + 1}"
    return f"rotation of {name} about {turned.axis} (degrees)"
