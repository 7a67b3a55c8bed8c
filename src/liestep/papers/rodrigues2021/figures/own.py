"""Our own figures on the ring and on bodies with three moments: diameters, contacts, codes, many particles."""

import numpy as np
from matplotlib.figure import Figure

from liestep.compile.counters import evaluations_of
from liestep.figures.marks import DASHED, SOLID, Mark
from liestep.figures.panels import label_of, legend_below, line_handle, logarithmic
from liestep.figures.selection import first_run, ladder
from liestep.figures.style import DOUBLE, SINGLE, Results, drawing, new_figure, subplots
from liestep.papers.rodrigues2021.figures.common import METHODS

CODES = ("lgvi", "dlm", "slgi", "rkmk4", "richardson")
WORK = ("newmark", "dlm", "lgvi", "richardson", "y4", "kl8", "rkmk4", "cf4", "ode45", "dop853")
SHAPES = {"ring": Mark("#0077BB", "o", SOLID, "ring"), "block": Mark("#CC3311", "s", DASHED, "cubic block")}


@drawing("Which diameter of the ring is possible at h = 0.01: largest energy error over 100 s against D_t, crosses"
         " where the run stopped early. The line is D_t = 3 as printed. The limit of the axial bonds, h = D sqrt(m/K),"
         " is passed at the dotted line. {runs}")
def diameter(results: Results) -> Figure:
    figure, axes = subplots(SINGLE, 66.0)
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
    axes.set(xlabel="diameter $D_t$ (m)", ylabel="largest energy error / energy")
    return figure


@drawing("A ring of 8 particles without a wall: state error of map (25) and of its compositions against the step, for"
         " contact energies of rising regularity and without contacts. Under contact the compositions lose their order."
         " {runs}")
def contact(results: Results) -> Figure:
    problems, shown = list(results.config.problems), {key: METHODS[key] for key in results.config.integrators}
    figure, panels = subplots(DOUBLE, 70.0, 1, len(problems), sharey=True)
    for axes, problem, letter in zip(panels, problems, "abcd", strict=False):
        for key, mark in shown.items():
            steps, errors = ladder(results, problem, key, "error")
            axes.plot(steps, errors, marker=mark.marker, linewidth=0.9, **mark.line)
        logarithmic(axes, title=f"({letter}) {label_of(results, problem)}", xlabel="step $h$ (s)")
    panels[0].set_ylabel("state error")
    legend_below(figure, [*shown.values()])
    return figure


@drawing("(a) A ring of 80 particles until t = 5 s, while it meets the wall: state error against evaluations of"
         " the forces, for explicit maps and their compositions, updates of other codes, Lie group and adaptive"
         " methods; the explicit maps of order two, the LGVI, the five turns and the Richardson update lie on one line."
         " (b) Energy of an asymmetric top at h = 0.01: largest deviation up to the time. Implicit (LGVI, SLGI) and"
         " explicit (five turns) symplectic updates stay bounded; the Richardson quaternion update of molecular"
         " dynamics codes drifts, as a Lie group Runge-Kutta method does. {runs}")
def codes(results: Results) -> Figure:
    figure, (work, energy) = subplots(DOUBLE, 88.0, 1, 2)
    metrics = results.metrics[results.metrics["problem"] == "ring"]
    metrics = metrics.assign(evaluations=evaluations_of(metrics))
    shown = [key for key in WORK if (metrics["integrator"] == key).any()]
    for key in shown:
        rows = metrics[(metrics["integrator"] == key) & metrics["error"].notna()]
        work.plot(rows["evaluations"], rows["error"], marker=METHODS[key].marker, linewidth=0.9, markersize=3.5,
                  **METHODS[key].line)
    work.axhspan(0.0, float(metrics["floor"].max()), color="0.88", linewidth=0.0)
    work.set(xlabel="evaluations of the forces", ylabel="state error", title="(a) ring of 80 particles, 5 s")
    for key in CODES:
        file = first_run(results, "top", key)
        gap = np.maximum(np.abs(file["energy_blocks"][1]), np.abs(file["energy_blocks"][2]))
        end = (np.arange(len(gap)) + 1.0)*file["time"][-1]/len(gap)
        energy.plot(end, np.maximum.accumulate(gap), linewidth=1.0, **METHODS[key].line)
    energy.set(xlabel="time (s)", ylabel="largest energy error so far (J)", title="(b) asymmetric top, h = 0.01")
    for axes in (work, energy):
        logarithmic(axes)
    legend_below(figure, [line_handle(METHODS[key], METHODS[key].label, marker=key in shown)
                          for key in dict.fromkeys((*shown, *CODES))], 4)
    return figure


@drawing("Time per particle and step of map (25) against the number of particles, rings and cubic blocks with contacts"
         " by a list of neighbours, without statistics. A list made by comparing all pairs would grow with the number"
         " of particles (dotted). {runs}")
def many(results: Results) -> Figure:
    figure = new_figure(SINGLE, 68.0)
    axes, highest = figure.subplots(), 0.0
    for shape, mark in SHAPES.items():
        rows = results.metrics[results.metrics["problem"].str.startswith(shape)]
        number = np.array([results.study.select(problem)[0].spec.initial["position"].shape[0]
                           for problem in rows["problem"]])
        cost = 1e9*rows["seconds"].to_numpy(float)/rows["steps"].to_numpy(float)/number
        axes.plot(number, cost, marker=mark.marker, linewidth=0.9, **mark.line)
        highest = max(highest, float(np.nanmax(cost)))
        if shape == "ring":
            axes.plot(number[:2], cost[0]*number[:2]/number[0], color="0.6", linestyle=":", linewidth=0.9)
    axes.set(xscale="log", ylim=(0.0, 1.25*highest), xlabel="number of particles",
             ylabel="nanoseconds per particle and step")
    legend_below(figure, [*SHAPES.values()])
    return figure
