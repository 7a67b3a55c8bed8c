"""How state errors grow with time, of the study error_growth."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.figures.panels import curves
from liestep.paper import (
    EndLabel,
    InputError,
    Results,
    drawing,
    end_labels,
    grid,
    label_of,
    legend_below,
    logarithmic,
    marks,
    slope_triangle,
)
from liestep.study.tables.errors import error_fields, error_history, reference_floor

from ..tables.growth import SPAN

PANEL = 38.0   # mm, height of a panel without its title and the label of its axis
BELOW = 0.3    # triangles stand at this share of the lowest curve
DECADES = 3.0  # decades of time that are shown


@drawing("{title}: largest state error up to time t. Beside each curve stands the exponent of its growth, with"
         " triangles for growth with t and with its square. {runs} The table `growth` fits the exponent to the last"
         " decade; grey: disagreement of the two reference engines.")
def growth(results: Results) -> Figure:
    problems = ([problem for problem in results.config.problems if curves(results, problem)]
                if results.config.reference else [])
    figure, axes = grid([label_of(results, problem) for problem in problems], 54.0, extra=12.0)
    used: set[str] = set()
    styles, table = marks(results), results.table("growth").set_index(["problem", "integrator", "resolution"])
    for panel, problem in zip(axes, problems, strict=True):
        reference, labels, shown, stopped = results.reference(problem), [], [], []
        for key, cell, file in curves(results, problem):
            place = (problem, key, cell.resolution)
            if place not in table.index:
                raise InputError(f"growth.csv has no row of {'/'.join(place)}; run `liestep job analyse"
                                 f" {results.study.name}` again")
            row = table.loc[place]
            if file.failed:
                stopped.append(styles[key].label)
                continue
            assert reference is not None
            fields, time = error_fields(file), file["time"]
            error = np.maximum.accumulate(error_history(fields, file.variables, reference))
            panel.plot(time[1:], np.where(error > 0.0, error, np.nan)[1:], **styles[key].line)
            fitted = row["exponent"] == row["exponent"]
            text = f"{row['exponent']:.2f} ± {row['uncertainty']:.2f}" if fitted else str(row["growth"])
            labels.append(EndLabel(time[-1], error[-1], text, (styles[key],)))
            used.add(key)
            shown.append((time, error, row))
            floor = reference_floor(reference, fields)
        logarithmic(panel)
        if shown:
            end = shown[0][0][-1]
            panel.set_xlim(max(end/10.0**DECADES, shown[0][0][1]), end)
            _triangles(panel, shown)
            panel.axhspan(panel.get_ylim()[0], max(floor, panel.get_ylim()[0]), color="0.87", linewidth=0.0, zorder=0.5)
            panel.axvline(end/SPAN, color="0.6", linewidth=0.5, linestyle=":")
        panel.set(xlabel="time t (s)", ylabel="largest state error up to t")
        end_labels(panel, labels, PANEL)
        if stopped:
            panel.text(0.03, 0.96, f"stopped early: {', '.join(stopped)}", transform=panel.transAxes, va="top",
                       fontsize=6.0, color="0.35")
    legend_below(figure, [styles[key] for key in styles if key in used], marker=False)
    return figure


def _triangles(axes: Axes, shown: list[tuple]) -> None:
    """One triangle for each whole exponent that the table found, side by side under all curves."""
    found = {row["growth"] for _, _, row in shown}
    end = min(time[-1] for time, _, _ in shown)
    for power, name, begin in ((1, "linear", 20.0), (2, "quadratic", 6.0)):
        if name in found:
            x, width = end/begin, 10.0**min(0.35, 1.6/power)  # of the triangle
            first, last = (min(float(np.interp(at, *curve[:2])) for curve in shown) for at in (x, width*x))
            slope_triangle(axes, [x], [min(first, last/width**power)], power, BELOW)
