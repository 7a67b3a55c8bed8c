"""The generic figure that is a map: a column of metrics.csv over the parameters, as a heat map."""
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from liestep.errors import InputError, unknown
from liestep.figures.marks import marks
from liestep.figures.panels import grid, label_of, size_of
from liestep.figures.style import Results, drawing
from liestep.simulation.runs.maps import ShardSpecification
from liestep.study.plan.maps import CELLS
from liestep.study.plan.plan import Cell
from liestep.study.tables.reading import numbers, rows, run_file

LOW, HIGH = 2.0, 98.0  # percentiles that the colours span
COLOURS = "cividis"
FAILED: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.6", "hatch": "/////"}
WIDE = 10.0  # a ratio of largest to smallest value above which colours are logarithmic


def quantity(results: Results) -> str:
    """What the colours are, and of which parameters not all values are shown."""
    others = sorted({name for cell in results.study.cells if isinstance(cell.spec, ShardSpecification)
                     for name in cell.spec.map.names[2:]})
    shown = results.config.map_quantity.replace("_", " ")
    if not others:
        return shown
    return f"{shown} (of samples all points, of grids those with the first value of {', '.join(others)})"


@drawing(numbers=quantity)
def map(results: Results) -> Figure:  # named as the study file names the figure
    name, every = results.config.map_quantity, []
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for cell in results.study.cells:
        if isinstance(cell.spec, ShardSpecification):
            groups.setdefault((cell.problem, cell.integrator, size_of(cell)), []).append(cell)
    titles = [f"{label_of(results, problem)}, {marks(results)[key].label}, {size}" for problem, key, size in groups]
    figure, axes = grid(titles, 70.0, extra=6.0)
    for panel, cells in zip(axes, groups.values(), strict=True):
        every.append(_rows(results, cells, name))
        _draw(figure, panel, cells[0].spec, every[-1], name)
    if any((rows["status"] != "ok").any() for rows in every):
        figure.legend(handles=[Patch(**FAILED, linewidth=0.4, label="did not come to its end")],
                      loc="outside lower center")
    return figure


def _rows(results: Results, cells: list[Cell], name: str) -> pandas.DataFrame:
    """Parameters, status and the quantity of each cell: of metrics.csv, or of the files of what is reduced."""
    if cells[0].spec.reduced:
        table = pandas.concat([pandas.DataFrame(rows(cell, cell.resolution, {key: values.dtype.type for key, values
                                                                             in numbers(run_file(cell))}))
                               for cell in cells], ignore_index=True)
    else:
        table = results.select(cells[0].problem, cells[0].integrator)
        table = table[table["resolution"].isin([cell.resolution for cell in cells])]
    known = list(table.select_dtypes("number").columns)
    if name not in known:
        where = CELLS if cells[0].spec.reduced else "metrics.csv"
        raise InputError(f"map_quantity: {unknown(f'number of {where}', name, known)}")
    return table


def _label(spec: ShardSpecification, axis: int) -> str:
    name = spec.map.names[axis]
    units = spec.sheet.parameters[name.partition(".")[0]].units
    return name if units == "1" else f"{name} ({units})"


def _draw(figure: Figure, panel: Axes, spec: ShardSpecification, rows: pandas.DataFrame, name: str) -> None:
    """One map: a line over one parameter, colours over two."""
    for variable, listed in zip(spec.map.variables[2:], spec.map.values[2:], strict=True):
        rows = rows[rows[variable] == listed[0]] if spec.map.is_grid else rows
    values = np.where(rows["status"] == "ok", rows[name], np.nan).astype(float)
    first = rows[spec.map.variables[0]].to_numpy(float)
    panel.set_xlabel(_label(spec, 0))
    if len(spec.map.names) == 1:
        order = np.argsort(first)
        panel.plot(first[order], values[order], ".-" if spec.map.is_grid else ".")
        panel.set_ylabel(name.replace("_", " "))
        if isinstance(_norm(values), LogNorm):
            panel.set_yscale("log")
        return
    second = rows[spec.map.variables[1]].to_numpy(float)
    panel.set_ylabel(_label(spec, 1))
    panel.grid(False)
    shown: ScalarMappable
    if spec.map.is_grid:
        panel.patch.set(**FAILED)
        x, column = np.unique(first, return_inverse=True)
        y, row = np.unique(second, return_inverse=True)
        table = np.full((len(y), len(x)), np.nan)
        table[row, column] = values
        shown = panel.pcolormesh(x, y, table, cmap=COLOURS, norm=_norm(values), shading="nearest", rasterized=True)
    else:
        done = np.isfinite(values)
        panel.scatter(first[~done], second[~done], color="0.6", marker="x", linewidth=0.6, s=9.0)
        shown = panel.scatter(first[done], second[done], c=values[done], cmap=COLOURS, norm=_norm(values), s=9.0)
    figure.colorbar(shown, ax=panel, extend="both").set_label(name.replace("_", " "))


def _norm(values: np.ndarray) -> Normalize:
    """Colours that most values span, by the logarithm of positive values over a wide range."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Normalize(0.0, 1.0)
    low, high = (float(value) for value in np.percentile(finite, (LOW, HIGH)))
    return LogNorm(low, high) if low > 0.0 and high > WIDE*low else Normalize(low, high)
