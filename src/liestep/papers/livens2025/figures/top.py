"""Figures 10 to 16 of livens2025: the steady conical top, the closed loop of bars, and what its joints do."""
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from liestep.figures.marks import SOLID, Mark, marks
from liestep.figures.panels import hollow, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.scenes import looks
from liestep.figures.scenes.motion import parameters, snapshots
from liestep.figures.scenes.space import Scene, View, mix
from liestep.figures.style import DOUBLE, SINGLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.papers.livens2025.cone import DISTANCE, PRECESSION, TILT
from liestep.papers.livens2025.figures.common import COMPONENTS, TINY, against_time, components, dots, increments, sizes

PROBLEM = "top"
SHOWN = tuple((key, "h0.01") for key in ("eml", "eml_printed", "emh", "mpl", "mph_x", "mph_a"))


@drawing("Steady top: (a) sketch with the path of the axis; (b) absolute increments of the energy, as in figure 10 of"
         " the paper: H of attitude and momentum; of EML the generalized energy (74), which it keeps;"
         " pale: (74) of MPL. {runs}")
def figure10(results: Results) -> Figure:
    figure, (sketch, axes) = subplots(DOUBLE, 72.0, 1, 2, width_ratios=(1.0, 1.8))
    path = first_run(results, PROBLEM, "eml")["attitude"][:, :, 2]
    scene = Scene(sketch, View(30.0, 15.0))
    looks.trail(scene, path[:60], COMPONENTS[0], 0.9)
    ring = np.linspace(0.0, 2.0*np.pi, 40)[:, None]
    side, other = np.cross(path[0], [0.0, 0.0, 1.0]), path[0]
    side = side/np.linalg.norm(side)
    rim = 4.0/3.0*other + 0.5*4.0/3.0*(np.cos(ring)*side + np.sin(ring)*np.cross(other, side))
    scene.line(rim, looks.METAL, 1.4)
    for k in (0, 8, 16, 24, 32):
        scene.line(np.stack([np.zeros(3), rim[k]]), looks.METAL, 1.0)
    scene.balls([other], looks.COLOURS[1], 5.0, lift=0.05)
    scene.draw()
    sketch.set_title("(a) cone on its tip")
    handles = sizes(axes, results, PROBLEM, SHOWN[2:], "energy")
    handles = sizes(axes, results, PROBLEM, SHOWN[:2], "generalized_energy") + handles
    time, change = increments(first_run(results, PROBLEM, "mpl"), "generalized_energy")
    pale = to_hex(mix(marks(results)["mpl"].colour, "white", 0.6))
    axes.plot(time, np.maximum(np.abs(change), TINY), color=pale, linewidth=0.7, zorder=0.5)
    handles.append(line_handle(Mark(pale, "o", SOLID, ""), "MPL, (74)"))
    against_time(axes, "|increment| (J)", 2.0, "(b) energy: (74) of EML, $H$ of the others")
    legend_below(figure, handles)
    return figure


@drawing("Steady top by EML: (a) components of the angular momentum, (b) increments of the one about e3, as in figure"
         " 11 of the paper. {runs}")
def figure11(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = first_run(results, PROBLEM, "eml")
    components(left, file, "momentum_map", ("$L_1$", "$L_2$", "$L_3$"))
    time, change = increments(file, "momentum_map", 2)
    dots(right, time, 1e17*change, COMPONENTS[2])
    left.legend(loc="upper left", ncols=3)
    left.set_ylim(-0.08, 0.11)
    against_time(left, "$L$ (kg m$^2$/s)", 2.0, "(a) angular momentum")
    against_time(right, "increment of $L_3$ ($10^{-17}$ kg m$^2$/s)", 2.0, "(b) increments of $L_3$")
    return figure


@drawing("Steady top: (a) height and (b) first component of the centre of mass by EML and EMH, with steady precession"
         " (grey), as in figure 12 of the paper. {runs}")
def figure12(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 62.0)
    for axes, k, title, exact in zip(figure.subplots(1, 2), (2, 0), ("(a) vertical", "(b) horizontal"),
                                     (lambda t: np.cos(TILT) + 0.0*t,
                                      lambda t: np.sin(TILT)*np.sin(PRECESSION*t)), strict=True):
        for key in ("eml", "emh"):
            file = first_run(results, PROBLEM, key)
            mark = marks(results)[key]
            axes.plot(file["time"], DISTANCE*file["attitude"][:, k, 2], linewidth=0.8, **mark.line)
        axes.plot(file["time"], DISTANCE*exact(file["time"]), color="0.6", linewidth=1.6, zorder=0.5)
        against_time(axes, "$z$ (m)" if k == 2 else "$x$ (m)", 2.0, title)
    legend_below(figure, [marks(results)[key] for key in ("eml", "emh")], marker=False)
    return figure


@drawing("Steady top: error (121) of the centre of mass at t = 0.1 s against the step, as in figure 13 of the paper,"
         " with all three readings of the Hamiltonian midpoint rule; MPL and MPH (b) are one map. {runs}")
def figure13(results: Results) -> Figure:
    figure, axes = subplots(SINGLE, 84.0)
    for key, mark in marks(results).items():
        hollow(axes, *ladder(results, PROBLEM, key, "axis_error"), mark)
    slope_triangle(axes, *ladder(results, PROBLEM, "mpl", "axis_error"), 2)
    logarithmic(axes, xlabel="step $h$ (s)", ylabel="error $e$")
    legend_below(figure, [*marks(results).values()])
    return figure


LOOP, STEP = "loop", "h0.1"
JOINED = ("eml", "mpl", "emh", "eml_directors", "rattle")
TIMES = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
VIEW = View(-60.0, 40.0)


@drawing("Closed loop: (a) start, (b) time function of the load, as in figure 14 of the paper. {runs}")
def figure14(results: Results) -> Figure:
    figure, (sketch, axes) = subplots(DOUBLE, 58.0, 1, 2)
    file = results.file(LOOP, "eml", STEP)
    p = parameters(file)
    scene = Scene(sketch, VIEW)
    looks.bars(scene, looks.bar_ends(p, file["position"][0], file["attitude"][0]))
    scene.draw()
    sketch.set_title("(a) four bars")
    axes.plot([0.0, 0.5, 1.0, 2.0], [0.0, p["load"], 0.0, 0.0], color=COMPONENTS[0])
    against_time(axes, "$f(t)$ (N)", 2.0, "(b) load")
    return figure


@drawing("Closed loop: snapshots by EML, as in figure 15 of the paper; each seen from the centre of mass. {runs}")
def figure15(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 96.0, layout=None)
    file = results.file(LOOP, "eml", STEP)
    p = parameters(file)
    for axes, time in zip(snapshots(figure, (0.0, 0.0, 1.0, 1.0), TIMES, 3), TIMES, strict=True):
        k = int(np.argmin(np.abs(file["time"] - time)))
        scene = Scene(axes, VIEW)
        places = file["position"][k] - file["position"][k].mean(axis=0)
        looks.bars(scene, looks.bar_ends(p, places, file["attitude"][k]))
        scene.draw(limits=(-9.5, 9.5, -9.0, 9.0))
    return figure


@drawing("Closed loop by EML: (a) generalized energy, (b) angular momentum, as in figure 16 of the paper; (c), (d)"
         " their increments after the load, which the scale of the paper hides. {runs}")
def figure16(results: Results) -> Figure:
    figure, ((energy, momentum), (small, slip)) = subplots(DOUBLE, 108.0, 2, 2)
    file = results.file(LOOP, "eml", STEP)
    energy.plot(file["time"], file["generalized_energy"], color=COMPONENTS[0])
    components(momentum, file, "momentum_map", ("$L_1$", "$L_2$", "$L_3$"))
    momentum.legend(loc="center right")
    time, change = increments(file, "generalized_energy")
    late = time > 1.05
    dots(small, time[late], 1e12*change[late], COMPONENTS[0])
    for k, colour in enumerate(COMPONENTS):
        _, change = increments(file, "momentum_map", k)
        slip.plot(time[late], np.maximum(np.abs(change[late]), TINY), color=colour)
    slip.set(yscale="log", ylim=(1e-9, 1.0))
    for axes, label, title in ((energy, "$E$ (J)", "(a) generalized energy"),
                               (momentum, "$L$ (kg m$^2$/s)", "(b) angular momentum"),
                               (small, "increment of $E$ ($10^{-12}$ J)", "(c) increments of the energy"),
                               (slip, "|increment of $L$| (kg m$^2$/s)", "(d) increments of the momentum")):
        against_time(axes, label, 10.0, title)
    return figure


@drawing("Joints of the closed loop: largest increment of a component of the angular momentum from step to step, after"
         " the load, with quaternion joints (EML, MPL, EMH) and the linear joints of directors. {runs}")
def joints(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 66.0)
    for axes, resolution in zip(figure.subplots(1, 2, sharey=True), ("h0.1", "h0.05"), strict=True):
        for key in JOINED:
            file = results.file(LOOP, key, resolution)
            mark = marks(results)[key]
            late = file["time"][1:] > 1.05
            change = np.abs(np.diff(file["momentum_map"], axis=0)).max(axis=1)
            axes.plot(file["time"][1:][late], np.maximum(change[late], 1e-15), linewidth=0.9, **mark.line)
        axes.set_yscale("log")
        against_time(axes, "largest increment (kg m$^2$/s)", 10.0, f"{resolution[1:]} s")
    legend_below(figure, [marks(results)[key] for key in JOINED], marker=False)
    return figure
