"""Generic figures against time: energy, momentum and length errors, and growth of the state error, one panel for each
problem of a study. Curves of the first three are the largest deviations over each hundredth of a run, from every step;
the stored samples stand pale behind them where few curves share a panel."""
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.labels import EndLabel, end_labels
from liestep.figures.marks import Mark, marks
from liestep.figures.panels import (
    Curve,
    curves,
    grid,
    label_of,
    legend_below,
    logarithmic,
    size_of,
    triangle,
    triangle_width,
)
from liestep.figures.scenes.space import mix
from liestep.figures.style import Results, drawing
from liestep.simulation.runs.files import RunFile
from liestep.study.tables.errors import error_fields, error_history, reference_floor
from liestep.study.tables.kinds.growth import SPAN

FEW = 3                # curves of a panel that still leave room for the samples
EPSILON = float(np.finfo(float).eps)
Blocks = Callable[[RunFile], np.ndarray]   # file -> (blocks,) largest deviations
Samples = Callable[[RunFile], np.ndarray]  # file -> (time,) deviations


def _draw(results: Results, problems: list[str], blocks: Blocks, samples: Samples, label: str) -> Figure:
    """One panel for each problem, one legend with the resolutions below."""
    shown = {problem: curves(results, problem) for problem in problems}
    shown = {problem: found for problem, found in shown.items() if found}
    figure, axes = grid([label_of(results, problem) for problem in shown], 46.0, extra=12.0)
    styles = marks(results)
    for panel, found in zip(axes, shown.values(), strict=True):
        for curve in found:
            _curve(panel, curve, styles[curve.key], blocks, samples, pale=len(found) <= FEW)
        logarithmic(panel, x=False)
        panel.set(xlabel="time (s)", xlim=(0.0, max(curve.cell.spec.t_end for curve in found)))
    for panel in axes[::2]:
        panel.set_ylabel(label)
    legend_below(figure, _labelled(list(shown.values()), styles), marker=False)
    return figure


def _curve(axes: Axes, curve: Curve, mark: Mark, blocks: Blocks, samples: Samples, pale: bool) -> None:
    file = curve.file
    if pale:
        values = samples(file)
        axes.plot(file["time"], np.where(values > 0.0, values, np.nan), color=mix(mark.colour, "white", 0.7),
                  linewidth=0.4, zorder=1.5)
    largest = blocks(file)
    centres = (np.arange(largest.size) + 0.5)/largest.size*file.attributes["t_end"]
    kept = np.isfinite(largest) & (largest > 0.0)
    axes.plot(centres[kept], largest[kept], **mark.line)
    if file.failed and kept.any():
        axes.plot(centres[kept][-1], largest[kept][-1], marker="x", color=mark.colour, markersize=5.0)


def _labelled(shown: list[list[Curve]], styles: dict[str, Mark]) -> list[Mark]:
    """Marks of what is shown; labels have the resolution where it is the same in all panels."""
    sizes: dict[str, set[str]] = {}
    for found in shown:
        for curve in found:
            sizes.setdefault(curve.key, set()).add(size_of(curve.cell))
    return [replace(mark, label=f"{mark.label}, {next(iter(sizes[key]))}" if len(sizes[key]) == 1 else mark.label)
            for key, mark in styles.items() if key in sizes]


@drawing("{title}: largest |E(t) - E(0)| in each hundredth of the run. A level curve keeps its energy, a rising one"
         " loses or gains it. {runs} Values are over all steps (adaptive methods: over their outputs); pale: stored"
         " samples. At every problem the largest step that most fixed-step integrators completed; a cross ends a run"
         " that stopped early.")
def energy_error(results: Results) -> Figure:
    return _draw(results, list(results.config.problems), lambda file: file.block_extents("energy"),
                 lambda file: np.abs(file["energy"] - file["energy"][0]), "$|E(t) - E(0)|$ (J)")


@drawing("{title}: mean over the bodies of |1 - q.q|, in each hundredth of the run. Methods on the sphere stay at"
         " round-off, others leave it. {runs} Values are means over all steps (adaptive methods: over their outputs);"
         " pale: stored samples, exact zeros left out.")
def length_error(results: Results) -> Figure:
    figure = _draw(results, list(results.config.problems), lambda file: file.blocks("unit_length_error", "mean"),
                   lambda file: file["unit_length_error"], "mean $|1 - q_i\\cdot q_i|$")
    for axes in figure.axes:
        if axes.axison:
            axes.axhline(EPSILON, color="0.6", linewidth=0.5, linestyle=":", zorder=1.0)
            axes.annotate("$\\varepsilon$", (1.0, EPSILON), xycoords=("axes fraction", "data"), xytext=(2, 0),
                          textcoords="offset points", va="center", fontsize=7.0, color="0.45")
    return figure


def conserved_axes(file: RunFile) -> list[int]:
    """Components of the momentum map that the problem conserves."""
    return ["xyz".index(axis) for axis in file.attributes["momentum_conserved"].replace("none", "")]


@drawing("{title}: largest deviation of the conserved components of the momentum map in each hundredth of the run."
         " Methods that keep the momentum stay at round-off. {runs} Values are over all steps (adaptive methods: over"
         " their outputs), divided by J_s, the sum of the bodies' |M dq/dt| at the start. Problems that conserve no"
         " component are left out; if there are no others, the change of all components is shown, which is physical."
         " Systems without the map have no panel.")
def momentum_error(results: Results) -> Figure:
    first = {problem: found[0].file for problem in results.config.problems if (found := curves(results, problem))}
    offered = [problem for problem, file in first.items() if "momentum_map" in file.variables]
    kept = [problem for problem in offered if conserved_axes(first[problem])]
    figure = _draw(results, kept or offered, lambda file: _momentum(file, file.block_extents("momentum_map")),
                   lambda file: _momentum(file, file["momentum_map"] - file["momentum_map"][0]), "$|J(t) - J(0)|/J_s$")
    for axes in figure.axes if not kept else ():
        if axes.axison:
            axes.set_title(f"{axes.get_title(loc='left')}: no component is conserved")
    return figure


def _momentum(file: RunFile, change: np.ndarray) -> np.ndarray:
    """Largest conserved component, or of all, of changes (n, 3) of the momentum map, relative."""
    scale = float(file.attributes["momentum_scale"])
    return np.abs(change[:, conserved_axes(file) or [0, 1, 2]]).max(axis=1)/(scale if scale > 0.0 else 1.0)


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
        for curve in curves(results, problem):
            place = (problem, curve.key, curve.cell.resolution)
            if place not in table.index:
                raise InputError(f"growth.csv has no row of {'/'.join(place)}; run `liestep job analyse"
                                 f" {results.study.name}` again")
            row = table.loc[place]
            if curve.file.failed:
                stopped.append(styles[curve.key].label)
                continue
            assert reference is not None
            fields = error_fields(curve.file)
            time, error = (curve.file["time"],
                           np.maximum.accumulate(error_history(fields, curve.file.variables, reference)))
            panel.plot(time[1:], np.where(error > 0.0, error, np.nan)[1:], **styles[curve.key].line)
            fitted = row["exponent"] == row["exponent"]
            text = f"{row['exponent']:.2f} ± {row['uncertainty']:.2f}" if fitted else str(row["growth"])
            labels.append(EndLabel(time[-1], error[-1], text, styles[curve.key]))
            used.add(curve.key)
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
            x = end/begin
            width = triangle_width(power)
            first, last = (min(float(np.interp(at, time, error)) for time, error, _ in shown) for at in (x, width*x))
            triangle(axes, x, BELOW*min(first, last/width**power), power)
