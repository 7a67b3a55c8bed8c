"""Generic figures of distributions and growth: ensembles with printed values, separation, drift of invariants."""
from collections import Counter
from pathlib import Path

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.claims.claimfile import claim_files, load_claims
from liestep.errors import InputError
from liestep.figures.labels import EndLabel, end_labels
from liestep.figures.marks import marks
from liestep.figures.panels import curves, grid, label_of, legend_below, logarithmic, size_of, slope_triangle
from liestep.figures.scenes.space import mix
from liestep.figures.style import DOUBLE, Results, drawing, new_figure
from liestep.simulation.runs.files import RunFile
from liestep.study.plan.plan import Cell
from liestep.study.tables.chaos import interval
from liestep.study.tables.drift import rounded_up
from liestep.study.tables.errors import member_distances
from liestep.study.tables.kinds.crossover import energy_errors

STATISTICS = {"energy_error_mean": "mean energy error", "unit_length_error_mean": "mean unit length error",
              "orthogonality_error_mean": "mean orthogonality error"}  # those that all ensembles of a study have
CENTRAL = 0.9
FEW_DECADES = 30.0  # largest value over the median
PANEL = 34.0  # mm, height of a panel of the figure drift without its title and the label of its axis


def _ensembles(results: Results, need: str) -> list[tuple[Cell, RunFile]]:
    found = [(cell, results.file(cell.problem, cell.integrator, cell.resolution))
             for cell in results.study.cells if cell.spec.ensemble is not None and not cell.spec.ensemble.first]
    if not found:
        raise InputError(f"study {results.study.name} has no ensembles, which the figure {need} needs")
    return found


def printed_values(results: Results) -> dict[tuple[str, str, str], float]:
    """(problem, integrator, statistic) -> number printed in a paper, from claims judged by runs of this study."""
    root = next((folder.parent for folder in Path(results.study.path).resolve().parents if folder.name == "studies"),
                None)
    found = {}
    for paths in claim_files(root).values() if root else ():
        for claim in load_claims(paths).claims:
            for run in claim.runs:
                if run.study == results.study.name and claim.printed is not None:
                    found[run.problem, run.integrator, claim.quantity] = claim.printed
    return found


@drawing("{title}: each member's statistic divided by the median of its ensemble (dots; dash: unperturbed), the bar"
         " holds the central 90 %. Diamonds: number printed in the paper where a claim names one. {runs}")
def ensemble(results: Results) -> Figure:
    rows, printed = _ensembles(results, "ensemble"), printed_values(results)
    figure = new_figure(DOUBLE, 10.0*len(rows) + 22.0)
    shown = {name: title for name, title in STATISTICS.items() if all(name in file.variables for _, file in rows)}
    axes = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    styles = marks(results)
    for panel, (name, title) in zip(axes, shown.items(), strict=True):
        for place, (cell, file) in enumerate(rows):
            _strip(panel, place, file[name], styles[cell.integrator].colour,
                   printed.get((cell.problem, cell.integrator, name)))
        low, high = panel.dataLim.intervalx
        reach = 1.25*max(high, 1.0/max(low, 1e-6), 1.6)  # limits around 1 that hold all data, at least a factor 2
        panel.set(xscale="log", xlim=(1.0/reach, reach))
        panel.axvline(1.0, color="0.6", linewidth=0.6, zorder=0.8)
        panel.set(title=title, xlabel="value divided by the median")
        panel.xaxis.set_major_formatter("{x:g}")
        few = "235" if reach < FEW_DECADES else ""  # leading digits that are named between decades, where there is room
        panel.xaxis.set_minor_formatter(lambda x, position, few=few: f"{x:g}" if f"{x:.0e}"[0] in few else "")
        panel.tick_params(axis="x", which="minor", labelsize=6.0)
        panel.grid(axis="y", visible=False)
    count = Counter((cell.problem, cell.integrator) for cell, _ in rows)
    axes[0].set_yticks(range(len(rows)), [
        f"{label_of(results, cell.problem)}\n{styles[cell.integrator].label}"
        + f", {size_of(cell)}"*(count[cell.problem, cell.integrator] > 1) for cell, _ in rows])
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    return figure


def _strip(axes: Axes, place: int, values: np.ndarray, colour: str, printed: float | None) -> None:
    """One ensemble as a row; members are shifted up and down in their order, so that they can be distinguished."""
    values = values[np.isfinite(values)]
    middle = float(np.median(values)) if values.size > 1 else 0.0
    if middle == 0.0:
        axes.text(0.5, place, "zero" if values.size > 1 else "stopped early", transform=axes.get_yaxis_transform(),
                  ha="center", va="center")
        return
    low, high = interval(values, CENTRAL)
    axes.barh(place, (high - low)/middle, left=low/middle, height=0.48, color=mix(colour, "white", 0.75),
              linewidth=0.0, zorder=1.0)
    shift = 0.2*np.sin(2.4*np.arange(values.size))
    axes.scatter(values[1:]/middle, place + shift[1:], s=5.0, color=colour, linewidths=0.0, zorder=2.0)
    axes.scatter(values[:1]/middle, [place], s=60.0, marker="|", color="0.1", linewidths=0.9, zorder=3.0)
    text = f"median {middle:.4g}"
    if printed is not None:
        axes.scatter([printed/middle], [place], s=26.0, marker="D", color="0.1", edgecolors="white",
                     linewidths=0.6, zorder=4.0)
        text += f", printed {printed:.5g}"
    axes.annotate(text, (0.99, place + 0.49), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=5.8,
                  color="0.35")


@drawing("{title}: distance of the perturbed members from the unperturbed one. Above the dotted line states are no"
         " longer compared. {runs} The distance is the largest over bodies and parts of the state, each in its norm"
         " (vectors divided by the largest one of the unperturbed motion).")
def separation(results: Results) -> Figure:
    from liestep.study.tables.kinds.horizons import LIMIT

    rows = _ensembles(results, "separation")
    figure, axes = grid([label_of(results, cell.problem) for cell, _ in rows], 42.0, extra=10.0, columns=3)
    styles = marks(results)
    for panel, (cell, file) in zip(axes, rows, strict=True):
        mark = styles[cell.integrator]
        for member in member_distances(file):
            panel.plot(file["time"], np.where(member > 0.0, member, np.nan), color=mix(mark.colour, "white", 0.35),
                       linewidth=0.7)
        panel.axhline(LIMIT, color="0.3", linewidth=0.7, linestyle=":")
        logarithmic(panel, x=False)
        panel.set(xlim=(0.0, cell.spec.t_end), xlabel="time (s)")
    for panel in axes[::3]:
        panel.set_ylabel("distance of members")
    used = [styles[key] for key in dict.fromkeys(cell.integrator for cell, _ in rows)]
    legend_below(figure, [Line2D([], [], color=mark.colour, label=mark.label) for mark in used])
    return figure


@drawing("{title}: largest |E - E(0)| up to time t. Beside each curve stands the verdict of the drift test: a bounded"
         " curve stays level, a drift grows. {runs} Values are from the extrema of each hundredth of a run over all"
         " steps (adaptive methods: over their outputs). Bounded: with the x of |slope T| < x A for the amplitude A;"
         " drift: with the change of the block means over the run in J. The triangle is linear growth; problems whose"
         " runs are too short for the test are left out.")
def drift(results: Results) -> Figure:
    table = results.table("drift")
    table = table[table["invariant"] == "energy"]
    judged = {*table.loc[table["verdict"] != "too short", "problem"]}
    problems = [problem for problem in results.config.problems if problem in judged or not judged]
    figure, axes = grid([label_of(results, problem) for problem in problems], 50.0, extra=12.0)
    styles, used = marks(results), set()
    verdicts = {(row["problem"], row["integrator"], row["resolution"]): _verdict(row) for _, row in table.iterrows()}
    for panel, problem in zip(axes, problems, strict=True):
        labels: list[EndLabel] = []
        grown: list[tuple[float, int, np.ndarray, np.ndarray]] = []
        for curve in curves(results, problem):
            mark, file = styles[curve.key], curve.file
            extent = energy_errors(file)
            ends = (np.arange(extent.size) + 1.0)/extent.size*file.attributes["t_end"]
            panel.plot(ends, np.where(extent > 0.0, extent, np.nan), **mark.line)
            verdict = verdicts.get((problem, curve.key, curve.cell.resolution), "")
            last = int(np.flatnonzero(extent > 0.0)[-1]) if (extent > 0.0).any() else 0
            labels.append(EndLabel(ends[last], extent[last] or np.nan, verdict, mark))
            used.add(curve.key)
            grown.append((extent[-1]/extent[0] if extent[0] > 0.0 else 0.0, len(grown), ends, extent))
        logarithmic(panel)
        growth, _, ends, extent = max(grown, default=(0.0, 0, np.empty(0), np.empty(0)))
        if growth > 10.0:
            slope_triangle(panel, ends, extent, 1)
        panel.set(xlabel="time (s)", ylabel="$\\max_{s\\leq t}|E(s) - E(0)|$ (J)")
        end_labels(panel, labels, PANEL)
    legend_below(figure, [styles[key] for key in styles if key in used], marker=False)
    return figure


def _verdict(row: pandas.Series) -> str:
    """Verdict of a row of the drift table with its number."""
    if row["verdict"] == "bounded":
        return f"bounded, {rounded_up(row['bound'])}"
    return f"drift, {row['slope']:.1e}" if row["verdict"] == "drift" else str(row["verdict"])
