"""Our own figures on the ring and on bodies with three moments: diameters, contacts, codes."""
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.panels import label_of, legend_below, line_handle, logarithmic
from liestep.figures.selection import first_run, ladder
from liestep.figures.style import DOUBLE, SINGLE, drawing, new_figure
from liestep.papers.rodrigues2021.figures.common import METHODS

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

CODES = ("lgvi", "dlm", "slgi", "rkmk4", "richardson")


@drawing("Which diameter of the ring is possible at h = 0.01: largest energy error over 100 s against D_t, crosses"
         " where the run stopped early. The line is D_t = 3 as printed. The limit of the axial bonds, h = D sqrt(m/K),"
         " is passed at the dotted line. {runs}")
def diameter(results: "StudyResults") -> Figure:
    figure = new_figure(SINGLE, 66.0)
    axes = figure.subplots()
    done: list[tuple[float, float]] = []
    stopped: list[tuple[float, float]] = []
    for problem in results.config.problems:
        cell = results.study.select(problem, "newmark")[0]
        row = results.select(problem, "newmark").iloc[0]
        size = float(cell.spec.parameters["ring_diameter"])
        share = float(row["energy_error_max"])/float(row["energy_start"])
        (done if row["status"] == "ok" else stopped).append((size, share))
    number, step = cell.spec.parameters["particles"], float(cell.spec.step or 0.0)
    stiffness, mass = cell.spec.parameters["axial_stiffness"], cell.spec.parameters["mass"]
    axes.plot(*np.array(done).T, color=METHODS["newmark"].colour, marker="o", linewidth=0.9)
    if stopped:
        axes.plot(*np.array(stopped).T, color="#CC3311", marker="x", linestyle="none", markersize=6.0)
    axes.axvline(3.0, color="0.5", linewidth=0.8)
    axes.axvline(step*np.sqrt(stiffness/mass)/np.sin(np.pi/number), color="0.5", linewidth=0.8, linestyle=":")
    logarithmic(axes)
    sizes = [size for size, _ in (*stopped, *done)]
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("diameter $D_t$ (m)")
    axes.set_ylabel("largest energy error / energy")
    return figure


@drawing("A ring of 8 particles without a wall: state error of map (25) and of its compositions against the step, for"
         " contact energies of rising regularity and without contacts. Under contact the compositions lose their order."
         " {runs}")
def contact(results: "StudyResults") -> Figure:
    problems, shown = list(results.config.problems), {key: METHODS[key] for key in results.config.integrators}
    figure = new_figure(DOUBLE, 70.0)
    panels = figure.subplots(1, len(problems), sharey=True)
    for axes, problem, letter in zip(panels, problems, "abcd", strict=False):
        for key, mark in shown.items():
            steps, errors = ladder(results, problem, key, "error")
            axes.plot(steps, errors, marker=mark.marker, linewidth=0.9, markerfacecolor="white", **mark.line)
        logarithmic(axes)
        axes.set_title(f"({letter}) {label_of(results, problem)}")
        axes.set_xlabel("step $h$ (s)")
    panels[0].set_ylabel("state error")
    legend_below(figure, [line_handle(mark, mark.label, marker=True) for mark in shown.values()])
    return figure


@drawing("Energy of an asymmetric top at h = 0.01: largest deviation up to the time. Implicit (LGVI, SLGI) and explicit"
         " (five turns) symplectic updates stay bounded; the Richardson quaternion update of molecular dynamics codes"
         " drifts, as a Lie group Runge-Kutta method does. {runs}")
def codes(results: "StudyResults") -> Figure:
    figure = new_figure(SINGLE, 72.0)
    axes = figure.subplots()
    for key in CODES:
        file = first_run(results, "top_40000", key)
        gap = np.maximum(np.abs(file["energy_blocks"][1]), np.abs(file["energy_blocks"][2]))
        end = (np.arange(len(gap)) + 1.0)*file["time"][-1]/len(gap)
        axes.plot(end, np.maximum.accumulate(gap), linewidth=1.0, **METHODS[key].line)
    logarithmic(axes)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("largest energy error so far (J)")
    legend_below(figure, [line_handle(METHODS[key], METHODS[key].label) for key in CODES])
    return figure
