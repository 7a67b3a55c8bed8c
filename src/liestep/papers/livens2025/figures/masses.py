"""Figures 1 to 4 of livens2025: mass-spring system and spring pendulum, and what the energy does not see."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.figures.marks import marks
from liestep.figures.panels import hollow, label_of, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.scenes import looks
from liestep.figures.scenes.motion import parameters
from liestep.figures.scenes.space import Scene, View
from liestep.figures.style import DOUBLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.papers.livens2025.figures.common import COMPONENTS, PARTS, against_time, dots, increments
from liestep.simulation.runs.files import RunFile

MASSES, SPRING = "masses", "spring"


def _energies(axes: Axes, time: np.ndarray, kinetic: np.ndarray, file: RunFile) -> None:
    total = file["generalized_energy"]
    for values, colour, label in ((kinetic, PARTS[0], "kinetic"), (total - kinetic, PARTS[1], "potential"),
                                  (total, PARTS[2], "generalized")):
        axes.plot(time, values, color=colour, label=label)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    against_time(axes, "energy (J)", time[-1])


@drawing("Mass-spring system with a singular mass matrix. (a) sketch; (b) energies by EML, as in figure 1 of the paper."
         " {runs}")
def figure1(results: Results) -> Figure:
    figure, (sketch, energy) = subplots(DOUBLE, 58.0, 1, 2, width_ratios=(1.0, 1.3))
    file = first_run(results, MASSES, "eml")
    p = parameters(file)
    scene = Scene(sketch, View(-90.0, 8.0))
    first = p["rest_length"]*np.eye(3)[0]
    looks.masses_in_a_row(scene, first, (2.0*p["rest_length"] + p["width"])*np.eye(3)[0], p["width"])
    scene.draw(limits=(-0.2, 2.4, -0.6, 0.6))
    sketch.set_title("(a) system at rest")
    v, m = file["v"], p["mass"]
    _energies(energy, file["time"], 0.5*(m[0]*v[:, 0]**2 + m[1]*(v[:, 1] + v[:, 2])**2), file)
    energy.set_title("(b) energies, EML")
    return figure


@drawing("Mass-spring system by EML: (a) constraint at every step, (b) increments of the generalized energy, with the"
         " solver until round-off (blue) and as printed (orange), as in figure 2 of the paper. {runs}")
def figure2(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    for key, colour in (("eml_printed", COMPONENTS[1]), ("eml", COMPONENTS[0])):
        file = first_run(results, MASSES, key)
        dots(left, file["time"], 1e16*file["constraint_error"], colour)
        time, change = increments(file, "generalized_energy")
        dots(right, time, 1e15*change, colour)
    against_time(left, "$|g(q)|$ ($10^{-16}$ m$^2$)", file["time"][-1], "(a) constraint")
    against_time(right, "$E_{n+1} - E_n$ ($10^{-15}$ J)", file["time"][-1], "(b) increments of (74)")
    return figure


@drawing("Spring pendulum: (a) sketch, (b) energies by EML, as in figure 3 of the paper. {runs}")
def figure3(results: Results) -> Figure:
    figure, (sketch, energy) = subplots(DOUBLE, 58.0, 1, 2, width_ratios=(1.0, 1.3))
    file = results.file(SPRING, "eml", "h0.01")
    scene = Scene(sketch, View(35.0, 25.0))
    looks.trail(scene, file["position"], looks.COLOURS[0], 0.9)
    looks.sprung(scene, file["position"][-1])
    scene.draw()
    sketch.set_title("(a) motion in 1 s")
    _energies(energy, file["time"], 0.5*np.sum(file["momentum"]**2, axis=1)/parameters(file)["mass"], file)
    energy.set_title("(b) energies, EML")
    return figure


@drawing("Spring pendulum by EML with the derivative of Gonzalez: increments of (a) the total energy (80) and (b) the"
         " generalized energy (74), as in figure 4 of the paper. {runs}")
def figure4(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = results.file(SPRING, "eml_gonzalez", "h0.01")
    time, change = increments(file, "total_energy")
    dots(left, time, 1e5*change, COMPONENTS[0])
    time, change = increments(file, "generalized_energy")
    dots(right, time, 1e15*change, COMPONENTS[0])
    against_time(left, "increment of (80) ($10^{-5}$ J)", file["time"][-1], "(a) total energy")
    against_time(right, "increment of (74) ($10^{-15}$ J)", file["time"][-1], "(b) generalized energy")
    return figure


@drawing("Energy is not accuracy: the spring pendulum with dT/dr correct and with r^2 for r. (a) largest error of the"
         " generalized energy and (b) error of the position against the step: the misprint keeps the energy at"
         " round-off and does not converge. {runs}")
def energy_is_not_accuracy(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 62.0, 1, 2)
    handles = []
    for problem, key, label in ((SPRING, "eml_gonzalez", "correct"), ("misprint", "eml_gonzalez", "misprint"),
                                (SPRING, "mpl", "MPL, correct")):
        mark = marks(results)["eml_gonzalez" if problem == SPRING and key != "mpl" else key if key == "mpl" else "eml"]
        for axes, column in ((left, "generalized_energy_error_max"), (right, "error_position")):
            steps, values = ladder(results, problem, key, column)
            hollow(axes, steps, np.maximum(values, 1e-17), mark)
        handles.append(line_handle(mark, label, marker=True))
    for axes, label, title in ((left, "largest error of (74) (J)", "(a) generalized energy"),
                               (right, "relative error of the position", "(b) position")):
        logarithmic(axes, xlabel="step $h$ (s)", ylabel=label, title=title)
    slope_triangle(right, *ladder(results, SPRING, "eml_gonzalez", "error_position"), 2)
    legend_below(figure, handles)
    return figure


@drawing("Three discrete derivatives: (left) largest error of the energy, (74) of the spring pendulum and H of the"
         " bodies on the sphere, (right) of the momentum, against the step. {runs}")
def gradients(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 112.0)
    rows = (("spring", "generalized_energy_error_max", "momentum_error_max_z", "$p_\\varphi$"),
            ("bodies", "energy_error_max", "momentum_error_max", "$L$"))
    for (left, right), (problem, energy, momentum, symbol) in zip(figure.subplots(2, 2), rows, strict=True):
        for key in ("eml", "eml_gonzalez", "eml_average"):
            mark = marks(results)[key]
            for axes, column in ((left, energy), (right, momentum)):
                steps, values = ladder(results, problem, key, column)
                hollow(axes, steps, np.maximum(values, 1e-17), mark)
        for axes, label in ((left, "largest error of the energy (J)"),
                            (right, f"largest error of {symbol} (kg m$^2$/s)")):
            logarithmic(axes, xlabel="step $h$ (s)", ylabel=label, title=label_of(results, problem))
    legend_below(figure, [marks(results)[key] for key in ("eml", "eml_gonzalez", "eml_average")])
    return figure
