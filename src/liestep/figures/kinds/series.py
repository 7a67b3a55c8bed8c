"""Generic figures against time, one panel for each problem or run: energy, momentum and length errors, drift of
invariants, separation and statistics of ensembles with printed values. Curves of the first three are the largest
deviations over each hundredth of a run, from every step; stored samples stand pale behind few curves."""
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.errors import InputError
from liestep.figures.labels import MANY, EndLabel, end_labels, name_together
from liestep.figures.marks import Mark, marks
from liestep.figures.panels import curves, grid, label_of, legend_below, logarithmic, number, size_of, slope_triangle
from liestep.figures.scenes.space import mix
from liestep.figures.style import DOUBLE, Results, drawing, new_figure
from liestep.simulation.runs.files import RunFile
from liestep.study.plan.names import config_of
from liestep.study.plan.plan import Cell
from liestep.study.tables.drift import rounded_up
from liestep.study.tables.errors import member_distances

FEW = 3                # curves of a panel that still leave room for the samples
SAMPLES = (20, 1000)   # fewer are no curve, more a band
EARLY, FAR = 0.1, 1e3  # share of a run whose values do not set the range where all later ones are so many times larger
PANEL = 32.0           # mm, height of a panel without its title and the label of its axis
EPSILON = float(np.finfo(float).eps)
Deviations = Callable[[RunFile], np.ndarray]  # file -> the largest (blocks,), or those of samples (time,)


def _draw(results: Results, problems: list[str], blocks: Deviations, samples: Deviations, label: str) -> Figure:
    """One panel for each problem, one legend with the resolutions below."""
    shown = {problem: found for problem in problems if (found := curves(results, problem))}
    figure, axes = grid([label_of(results, problem) for problem in shown], 46.0, extra=12.0)
    styles = marks(results)
    sizes: dict[Mark, set[str]] = {}
    for panel, found in zip(axes, shown.values(), strict=True):
        drawn: list[tuple[Mark, np.ndarray]] = []
        for key, cell, file in found:
            points = _curve(panel, file, styles[key], blocks, samples, pale=len(found) <= FEW)
            if points.size:  # a logarithmic axis shows no zeros
                sizes.setdefault(styles[key], set()).add(size_of(cell))
                drawn.append((styles[key], points))
        end = max(cell.spec.t_end for _, cell, _ in found)
        _range(panel, end)
        logarithmic(panel, x=False)
        panel.set(xlabel="time (s)", xlim=(0.0, end))
        if len({key for runs in shown.values() for key, *_ in runs}) <= MANY:  # of more, all names stand there
            name_together(panel, drawn, PANEL)
    for panel in axes[::2]:
        panel.set_ylabel(label)
    # legends have the resolution where it is the same in all panels and no word of the label
    legend_below(figure, [replace(mark, size="" if len(sizes[mark]) > 1 or re.search(r"tolerance|\de-\d", mark.label)
                                  else f", {min(sizes[mark])}") for mark in dict.fromkeys(styles.values())
                          if mark in sizes], marker=False)
    return figure


def _range(axes: Axes, end: float) -> None:
    """Limits from the data that say something, after all data."""
    x, y = np.concatenate([np.asarray(line.get_xydata(), dtype=float) for line in axes.get_lines()]).T
    later = y[(x > EARLY*end) & (y > 0.0)]
    if later.size:
        axes.dataLim.intervaly = y[y >= later.min()/FAR].min(), np.nanmax(y)


def _curve(axes: Axes, file: RunFile, mark: Mark, blocks: Deviations, samples: Deviations, pale: bool) -> np.ndarray:
    """Draw a run; returns the points of its curve (2, points)."""
    if pale and SAMPLES[0] <= len(file["time"]) <= SAMPLES[1]:
        values = samples(file)
        axes.plot(file["time"], np.where(values > 0.0, values, np.nan), color=mix(mark.colour, "white", 0.7),
                  linewidth=0.4, zorder=1.5)
    largest = blocks(file)
    centres = (np.arange(largest.size) + 0.5)/largest.size*file.attributes["t_end"]
    kept = np.isfinite(largest) & (largest > 0.0)
    axes.plot(centres[kept], largest[kept], **mark.line)
    if file.failed and kept.any():
        axes.plot(centres[kept][-1], largest[kept][-1], marker="x", color=mark.colour, markersize=5.0)
    return np.stack([centres[kept], largest[kept]])


@drawing()
def energy_error(results: Results) -> Figure:
    return _draw(results, list(results.config.problems), lambda file: file.block_extents("energy"),
                 lambda file: np.abs(file["energy"] - file["energy"][0]), "$|E(t) - E(0)|$ (J)")


@drawing()
def length_error(results: Results) -> Figure:
    figure = _draw(results, list(results.config.problems), lambda file: file.blocks("unit_length_error", "mean"),
                   lambda file: file["unit_length_error"], "mean $|1 - q_i\\cdot q_i|$")
    for axes in figure.axes:
        axes.axhline(EPSILON, color="0.6", linewidth=0.5, linestyle=":", zorder=1.0)
        axes.annotate("$\\varepsilon$", (1.0, EPSILON), xycoords=("axes fraction", "data"), xytext=(1.5, 0.0),
                      textcoords="offset points", va="center", fontsize=7.0, color="0.45")
    return figure


def conserved_axes(file: RunFile) -> list[int]:
    """Components of the momentum map that the problem conserves."""
    return ["xyz".index(axis) for axis in file.attributes["momentum_conserved"].replace("none", "")]


@drawing()
def momentum_error(results: Results) -> Figure:
    first = {problem: found[0][2] for problem in results.config.problems if (found := curves(results, problem))}
    kept = [problem for problem, file in first.items() if "momentum_map" in file.variables and conserved_axes(file)]
    return _draw(results, kept, lambda file: _momentum(file, file.block_extents("momentum_map")),
                 lambda file: _momentum(file, file["momentum_map"] - file["momentum_map"][0]), "$|J(t) - J(0)|/J_s$")


def _momentum(file: RunFile, change: np.ndarray) -> np.ndarray:
    """Largest conserved component of changes (n, 3) of the momentum map, relative."""
    scale = float(file.attributes["momentum_scale"])
    return np.abs(change[:, conserved_axes(file)]).max(axis=1)/(scale if scale > 0.0 else 1.0)


STATISTICS = {"energy_error_mean": "mean energy error", "unit_length_error_mean": "mean unit length error",
              "orthogonality_error_mean": "mean orthogonality error"}  # those that all ensembles of a study have
CENTRAL = 0.9
FEW_DECADES = 30.0  # largest value over the median
DRIFT_PANEL = 34.0  # mm, height of a panel of the figure drift without its title and the label of its axis


def _ensembles(results: Results, need: str) -> list[tuple[Cell, RunFile]]:
    files = [(cell, results.file(cell.problem, cell.integrator, cell.resolution))
             for cell in results.study.cells if cell.spec.ensemble is not None and not cell.spec.ensemble.first]
    if not files:
        raise InputError(f"study {results.study.name} has no ensembles, which the figure {need} needs")
    return files


def printed_values(results: Results) -> dict[tuple[str, str, str], float]:
    """(problem, integrator, statistic) -> number printed in a paper, from claims judged by runs of this study."""
    from liestep.claims.claimfile import claim_files, load_claims

    root = config_of(results.study.path)
    curves = {}
    for paths in claim_files(root).values() if root else ():
        for claim in load_claims(paths).claims:
            for run in claim.runs:
                if run.study == results.study.name and claim.printed is not None:
                    curves[run.problem, run.integrator, claim.quantity] = claim.printed
    return curves


@drawing()
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
    axes[0].set_yticks(range(len(rows)), [f"{label_of(results, cell.problem)}\n{styles[cell.integrator].label}"
        + f", {size_of(cell)}"*(count[cell.problem, cell.integrator] > 1) for cell, _ in rows])
    axes[0].set_ylim(len(rows) - 0.35, -0.65)
    return figure


def _strip(axes: Axes, place: int, values: np.ndarray, colour: str, printed: float | None) -> None:
    """One ensemble as a row; members are shifted up and down in their order, so that they can be distinguished."""
    values = values[np.isfinite(values)]
    middle = float(np.median(values)) if values.size > 1 else 0.0
    if middle == 0.0:
        axes.text(0.5, place, "zero" if values.size > 1 else "stopped early", transform=axes.get_yaxis_transform(),
                  ha="center", va="center")
        return
    low, high = np.quantile(values, (0.5 - 0.5*CENTRAL, 0.5 + 0.5*CENTRAL))
    axes.barh(place, (high - low)/middle, left=low/middle, height=0.48, color=mix(colour, "white", 0.75),
              linewidth=0.0, zorder=1.0)
    shift = 0.2*np.sin(2.4*np.arange(values.size))
    axes.scatter(values[1:]/middle, place + shift[1:], s=5.0, color=colour, linewidths=0.0, zorder=2.0)
    axes.scatter(values[:1]/middle, [place], s=60.0, marker="|", color="0.1", linewidths=0.9, zorder=3.0)
    texts = [(0.01, "left", f"median {number(middle, 4)}")]  # beside the line at 1, which no text crosses
    if printed is not None:
        axes.scatter([printed/middle], [place], s=26.0, marker="D", color="0.1", edgecolors="white",
                     linewidths=0.6, zorder=4.0)
        texts.append((0.99, "right", f"printed {number(printed, 5)}"))
    for x, side, text in texts:
        axes.annotate(text, (x, place + 0.49), xycoords=("axes fraction", "data"), ha=side, va="bottom", fontsize=5.8,
                      color="0.35")


@drawing()
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


@drawing()
def drift(results: Results) -> Figure:
    table = results.table("drift")
    table = table[table["invariant"] == "energy"]
    judged = {*table.loc[table["verdict"].isin(("bounded", "drift")), "problem"]}
    problems = [problem for problem in results.config.problems if problem in judged or not judged]
    figure, axes = grid([label_of(results, problem) for problem in problems], 50.0, extra=12.0)
    styles, used = marks(results), set()
    verdicts = {(row["problem"], row["integrator"], row["resolution"]): _verdict(row) for _, row in table.iterrows()}
    for panel, problem in zip(axes, problems, strict=True):
        labels: list[EndLabel] = []
        grown: list[tuple[float, int, np.ndarray, np.ndarray]] = []
        for key, cell, file in curves(results, problem):
            mark, extent = styles[key], np.fmax.accumulate(file.block_extents("energy"))
            ends = (np.arange(extent.size) + 1.0)/extent.size*file.attributes["t_end"]
            panel.plot(ends, np.where(extent > 0.0, extent, np.nan), **mark.line)
            verdict = verdicts.get((problem, key, cell.resolution), "")
            labels.append(EndLabel(ends[-1], extent[-1] or np.nan, verdict, (mark,)))
            used.add(key)
            grown.append((extent[-1]/extent[0] if extent[0] > 0.0 else 0.0, len(grown), ends, extent))
        logarithmic(panel)
        growth, _, ends, extent = max(grown, default=(0.0, 0, np.empty(0), np.empty(0)))
        if growth > 10.0:
            slope_triangle(panel, ends, extent, 1)
        panel.set(xlabel="time (s)", ylabel="$\\max_{s\\leq t}|E(s) - E(0)|$ (J)")
        end_labels(panel, labels, DRIFT_PANEL)
    legend_below(figure, [styles[key] for key in styles if key in used], marker=False)
    return figure


def _verdict(row: pandas.Series) -> str:
    """Verdict of a row of the drift table with its number."""
    if row["verdict"] == "bounded":
        return f"bounded, {number(float(rounded_up(row['bound'])))}"
    return f"drift, {number(row['slope'], 2)}" if row["verdict"] == "drift" else str(row["verdict"])
