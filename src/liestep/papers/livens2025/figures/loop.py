"""Figures 14 to 16 of livens2025: the closed loop of bars, and what its joints do to the angular momentum."""

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import marks
from liestep.figures.panels import legend_below
from liestep.figures.scenes import looks
from liestep.figures.scenes.motion import parameters, snapshots
from liestep.figures.scenes.space import Scene, View
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, subplots
from liestep.papers.livens2025.figures.common import COMPONENTS, TINY, against_time, components, dots, increments

PROBLEM, STEP = "loop", "h0.1"
JOINED = ("eml", "mpl", "emh", "eml_directors", "rattle")
TIMES = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
VIEW = View(-60.0, 40.0)


@drawing("Closed loop: (a) start, (b) time function of the load, as in figure 14 of the paper. {runs}")
def figure14(results: Results) -> Figure:
    figure, (sketch, axes) = subplots(DOUBLE, 58.0, 1, 2)
    file = results.file(PROBLEM, "eml", STEP)
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
    file = results.file(PROBLEM, "eml", STEP)
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
    file = results.file(PROBLEM, "eml", STEP)
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
            file = results.file(PROBLEM, key, resolution)
            mark = marks(results)[key]
            late = file["time"][1:] > 1.05
            change = np.abs(np.diff(file["momentum_map"], axis=0)).max(axis=1)
            axes.plot(file["time"][1:][late], np.maximum(change[late], 1e-15), linewidth=0.9, **mark.line)
        axes.set_yscale("log")
        against_time(axes, "largest increment (kg m$^2$/s)", 10.0, f"{resolution[1:]} s")
    legend_below(figure, [marks(results)[key] for key in JOINED], marker=False)
    return figure
