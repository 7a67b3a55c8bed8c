"""Figures 5 to 9 of livens2025, the free body, and the parasite of its velocities."""
import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import SOLID, Mark, marks
from liestep.figures.panels import hollow, legend_below, line_handle, logarithmic
from liestep.figures.scenes.motion import snapshots
from liestep.figures.scenes.space import Scene, View, mix
from liestep.figures.style import DOUBLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.papers.livens2025.figures.common import COMPONENTS, TINY, against_time, components, dots, increments

PROBLEM = "body"
EDGES = np.array([3.0, 6.0, 8.0])/8.0                      # of the box, relative
LEAST_RATE, SATURATED, ROUND_OFF = 0.01, 30.0, 1e-8  # 1/s
TIMES = (0.0, 0.25, 0.75, 1.25, 1.75, 2.0)
SHADES = {"h0.05": 0.0, "h0.02": 0.15, "h0.01": 0.3, "h0.005": 0.45, "h0.002": 0.6, "h0.001": 0.72}


def _box(scene: Scene, attitude: np.ndarray) -> None:
    """Faces of the box in an attitude."""
    half = 0.5*EDGES
    for axis, colour in zip(range(3), COMPONENTS, strict=True):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0):
            corners = np.zeros((4, 3))
            corners[:, axis] = side*half[axis]
            corners[:, i] = half[i]*np.array([-1.0, 1.0, 1.0, -1.0])
            corners[:, j] = half[j]*np.array([-1.0, -1.0, 1.0, 1.0])
            ring = np.concatenate([corners, corners[:1]]) @ attitude.T
            scene.line(ring, mix(colour, "black", 0.2 if side > 0.0 else 0.45), 1.2, fade=0.4)


@drawing("Free body: snapshots of a box, as in figure 5 of the paper, by EML. {runs}")
def figure5(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 84.0, layout=None)
    file = first_run(results, PROBLEM, "eml")
    for axes, time in zip(snapshots(figure, (0.0, 0.0, 1.0, 1.0), TIMES, 3), TIMES, strict=True):
        scene = Scene(axes, View(35.0, 25.0))
        _box(scene, file["attitude"][int(np.argmin(np.abs(file["time"] - time)))])
        scene.draw(limits=(-0.75, 0.75, -0.75, 0.75))
    return figure


@drawing("Free body by EML: (a) generalized energy, (b) its increments, with the solver until round-off (blue) and as"
         " printed (orange), as in figure 6 of the paper. {runs}")
def figure6(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    for key, colour in (("eml_printed", COMPONENTS[1]), ("eml", COMPONENTS[0])):
        file = first_run(results, PROBLEM, key)
        left.plot(file["time"], file["generalized_energy"], color=colour)
        time, change = increments(file, "generalized_energy")
        dots(right, time, 1e12*change, colour)
    left.set_ylim(2480.0, 2520.0)
    against_time(left, "$E$ (J)", file["time"][-1], "(a) generalized energy")
    against_time(right, "$E_{n+1} - E_n$ ($10^{-12}$ J)", file["time"][-1], "(b) increments")
    return figure


@drawing("Free body by EML: (a) constraint, (b) total energy (80), as in figure 7 of the paper. {runs}")
def figure7(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = first_run(results, PROBLEM, "eml")
    dots(left, file["time"], 1e16*file["constraint_error"], COMPONENTS[0])
    right.plot(file["time"], file["total_energy"], color=COMPONENTS[0])
    against_time(left, "$|q\\cdot q - 1|/2$ ($10^{-16}$)", file["time"][-1], "(a) constraint")
    against_time(right, "$T(q, v) + V$ (J)", file["time"][-1], "(b) total energy")
    return figure


@drawing("Free body by EML: (a) components of the angular momentum, (b) their increments, as in figure 8 of the paper."
         " {runs}")
def figure8(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = first_run(results, PROBLEM, "eml")
    components(left, file, "momentum_map", ("$L_1$", "$L_2$", "$L_3$, on $L_1$"))
    for k, colour in enumerate(COMPONENTS):
        time, change = increments(file, "momentum_map", k)
        dots(right, time, 1e14*change, colour)
    left.set_ylim(0.0, 220.0)
    left.legend(loc="upper right", ncols=3)
    against_time(left, "$L$ (kg m$^2$/s)", file["time"][-1], "(a) angular momentum")
    against_time(right, "increments ($10^{-14}$ kg m$^2$/s)", file["time"][-1], "(b) increments")
    return figure


@drawing("Free body over 10 s: seconds of the loop against the step for all unknowns (EML), the reduced (REML) and the"
         " null-space form (Null-EML), as in figure 9 of the paper; right: relative to EML. {runs}")
def figure9(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 62.0, 1, 2)
    steps, whole = ladder(results, PROBLEM, "eml_full", "seconds")
    for key in ("eml_full", "eml", "eml_null"):
        mark = marks(results)[key]
        _, seconds = ladder(results, PROBLEM, key, "seconds")
        for axes, values in ((left, seconds), (right, seconds/whole)):
            axes.plot(steps, values, linewidth=0.9, **mark.line)
            axes.plot(steps, values, **mark.points)
    logarithmic(left)
    logarithmic(right, y=False)
    right.axhline(0.5, color="0.6", linewidth=0.5)
    right.set_ylim(0.0, 1.1)
    for axes, label, title in ((left, "time of 10 s (s)", "(a) time"),
                               (right, "relative to all unknowns", "(b) what the reduction saves")):
        axes.set(xlabel="step $h$ (s)", ylabel=label, title=title)
    legend_below(figure, [marks(results)[key] for key in ("eml_full", "eml", "eml_null")])
    return figure


def rate_of_growth(time: np.ndarray, size: np.ndarray) -> float:
    """Slope of ln(size) in 1/s, by least squares over the samples from 1 s on, after the first swing, and before the
    first above SATURATED; NaN of fewer than three, or where all is round-off."""
    used = (np.cumsum(~(size <= SATURATED)) == 0) & (size > ROUND_OFF) & (time >= 1.0)
    return float(np.polyfit(time[used], np.log(size[used]), 1)[0]) if used.sum() > 2 else np.nan


@drawing("The parasite: free body. (a) |q.v|, or the largest |Dg v|, over 10 s by EML for several steps, (b) the rate"
         " at which it grows, d ln|Dg v|/dt from 1 s on while it is below 30, against the step; rates below 0.01/s"
         " are drawn there, round-off has none, (c) the largest over 100 s. A run that stopped is hollow. {runs}")
def parasite(results: Results) -> Figure:
    figure, (left, middle, right) = subplots(DOUBLE, 72.0, 1, 3)
    colour = marks(results)["eml"].colour
    for resolution, share in SHADES.items():
        file = results.file(PROBLEM, "eml", resolution)
        left.plot(file["time"], np.maximum(file["velocity_constraint_error"], TINY),
                  color=mix(colour, "white", share), linewidth=0.9, label=f"{resolution[1:]} s")
    left.set(yscale="log", ylim=(1e-6, 1e4))
    left.legend(title="EML, step", ncols=2, loc="lower right")
    against_time(left, "$|q\\cdot v|$ (1/s)", 10.0, "(a) growth")
    for key, mark in marks(results).items():
        short, long = results.select(PROBLEM, key), results.select("long", key)
        files = (results.file(PROBLEM, key, resolution) for resolution in short["resolution"])
        rates = np.array([rate_of_growth(file["time"], file["velocity_constraint_error"]) for file in files])
        hollow(middle, short["step"].to_numpy(), np.maximum(rates, LEAST_RATE), mark,
               (short["status"] == "ok").to_numpy())
        hollow(right, long["step"].to_numpy(), np.maximum(long["velocity_constraint_error_max"].to_numpy(), TINY), mark,
               (long["status"] == "ok").to_numpy())
    for axes, label, title in ((middle, "rate (1/s)", "(b) rate over 10 s"),
                               (right, "largest $|Dg\\, v|$", "(c) over 100 s")):
        logarithmic(axes, xlabel="step $h$ (s)", ylabel=label, title=title)
    legend_below(figure, [*marks(results).values()])
    return figure


@drawing("What bounds the parasite: generalized energy (74), total energy (80) and energy H of attitude and momentum of"
         " the free body by (a) EML in quaternions, (b) EML in directors, (c) EMH, less 2500 J, h = 0.01 s. {runs}")
def definite(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 62.0)
    names = (("total_energy", "total energy (80)", COMPONENTS[1]), ("energy", "$H$", COMPONENTS[2]),
             ("generalized_energy", "generalized energy (74)", COMPONENTS[0]))
    for axes, key, title in zip(figure.subplots(1, 3), ("eml", "eml_directors", "emh"),
                                ("(a) EML", "(b) EML, directors", "(c) EMH"), strict=True):
        file = results.file(PROBLEM, key, "h0.01")
        for name, _, colour in names:
            axes.plot(file["time"], np.maximum(np.abs(file[name] - file[name][0]), 1e-13), color=colour)
        axes.set(yscale="log", ylim=(1e-13, 1e5))
        against_time(axes, "$|E - E(0)|$ (J)", 10.0, title)
    legend_below(figure, [line_handle(Mark(colour, "o", SOLID, label), label) for _, label, colour in names])
    return figure
