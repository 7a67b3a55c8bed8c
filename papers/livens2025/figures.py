"""Figures 1 to 16 of livens2025, sketches of 1, 3, 10 and 14 drawn small, and own ones that compare many schemes."""
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.scenes import looks
from liestep.mechanics.contracts.method import Keeps
from liestep.mechanics.presets._cone import DISTANCE, PRECESSION, TILT
from liestep.paper import (
    DOUBLE,
    SINGLE,
    SOLID,
    Mark,
    Results,
    RunFile,
    Scene,
    View,
    cells,
    drawing,
    first_run,
    hollow,
    label_of,
    ladder,
    legend_below,
    line_handle,
    logarithmic,
    marks,
    mix,
    new_figure,
    parameters,
    slope_triangle,
    snapshots,
    subplots,
)

from .studies import jointed_bars, mass_spring, spring_pendulum

COMPONENTS = ("#0077BB", "#EE7733", "#009988")
PARTS = ("#CC3311", "#0077BB", "#222222")  # kinetic, potential, total
TINY = 1e-18                               # stands for zero on a logarithmic axis


def increments(file: RunFile, name: str, column: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Ends of steps and changes of an observable from sample to sample."""
    values = file[name] if column is None else file[name][:, column]
    return file["time"][1:], np.diff(values)


def dots(axes: Axes, time: np.ndarray, values: np.ndarray, colour: str) -> None:
    axes.plot(time, values, color=colour, marker=".", markersize=2.5, linestyle="none")
    axes.axhline(0.0, color="0.6", linewidth=0.5)


def jumps(axes: Axes, file: RunFile, name: str, scale: float, colour: str, column: int | None = None) -> None:
    """Increments of an observable at round-off, times `scale`, as points."""
    time, change = increments(file, name, column)
    dots(axes, time, scale*change, colour)


def against_time(axes: Axes, label: str, end: float, title: str = "") -> None:
    axes.set(xlim=(0.0, end), xlabel="time (s)", ylabel=label, title=title)


def components(axes: Axes, file: RunFile, name: str, labels: Sequence[str]) -> None:
    """Components of a vector against time."""
    for k, (colour, label) in enumerate(zip(COMPONENTS, labels, strict=True)):
        axes.plot(file["time"], file[name][:, k], color=colour, label=label)


MASSES, SPRING = "masses", "spring"
SOLVED = {"eml_printed": (COMPONENTS[1], "EML, stopped as printed"), "eml": (COMPONENTS[0], "EML, to round-off")}


def by_solver(results: Results, problem: str, scale: float, draw: Callable[[Axes, RunFile, str], object]
              ) -> tuple[Figure, Axes, float]:
    """Left what `draw` puts there, right increments of the energy times 10^scale; figure, left panel, end time."""
    figure, (left, right) = subplots(DOUBLE, 62.0, 1, 2)
    for key, (colour, _) in SOLVED.items():
        draw(left, file := first_run(results, problem, key), colour)
        jumps(right, file, "generalized_energy", 10.0**scale, colour)
    against_time(right, f"$E_{{n+1}} - E_n$ ($10^{{-{scale:g}}}$ J)", file["time"][-1], "(b) increments of (74)")
    legend_below(figure, [Line2D([], [], color=colour, marker=".", label=text) for colour, text in SOLVED.values()])
    return figure, left, file["time"][-1]


def _energies(axes: Axes, kinetic: np.ndarray, file: RunFile) -> None:
    time, total = file["time"], file["generalized_energy"]
    for values, colour, label in ((kinetic, PARTS[0], "kinetic"), (total - kinetic, PARTS[1], "potential"),
                                  (total, PARTS[2], "generalized")):
        axes.plot(time, values, color=colour, label=label)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    against_time(axes, "energy (J)", time[-1], "(b) energies, EML")


@drawing("Mass-spring system with a singular mass matrix. (a) sketch; (b) energies by EML, as in figure 1 of the paper."
         " {runs}")
def figure1(results: Results) -> Figure:
    figure, (sketch, energy) = subplots(DOUBLE, 58.0, 1, 2, width_ratios=(1.0, 1.3))
    file = first_run(results, MASSES, "eml")
    p = parameters(file)
    scene = Scene(sketch, View(-90.0, 8.0))
    mass_spring.draw(looks, scene, p, np.zeros(3))
    scene.draw(limits=(-0.2, 2.4, -0.6, 0.6))
    sketch.set_title("(a) system at rest")
    v, m = file["v"], p["mass"]
    _energies(energy, 0.5*(m[0]*v[:, 0]**2 + m[1]*(v[:, 1] + v[:, 2])**2), file)
    return figure


@drawing("Mass-spring system by EML: (a) constraint at every step, (b) increments of the generalized energy, with the"
         " solver until round-off and stopped as printed, as in figure 2 of the paper. {runs}")
def figure2(results: Results) -> Figure:
    figure, left, end = by_solver(results, MASSES, 15, lambda axes, file, colour: dots(
        axes, file["time"], 1e16*file["constraint_error"], colour))
    against_time(left, "$|g(q)|$ ($10^{-16}$ m$^2$)", end, "(a) constraint")
    return figure


@drawing("Spring pendulum: (a) sketch, (b) energies by EML, as in figure 3 of the paper. {runs}")
def figure3(results: Results) -> Figure:
    figure, (sketch, energy) = subplots(DOUBLE, 58.0, 1, 2, width_ratios=(1.0, 1.3))
    file = results.file(SPRING, "eml", "h0.01")
    scene = Scene(sketch, View(35.0, 25.0))
    looks.trail(scene, file["position"], looks.COLOURS[0], 0.9)
    spring_pendulum.draw(looks, scene, file["position"][-1])
    scene.draw()
    sketch.set_title("(a) motion in 1 s")
    _energies(energy, 0.5*np.sum(file["momentum"]**2, axis=1)/parameters(file)["mass"], file)
    return figure


@drawing("Spring pendulum by EML with the derivative of Gonzalez: increments of (a) the total energy (80) and (b) the"
         " generalized energy (74), as in figure 4 of the paper. {runs}")
def figure4(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 58.0, 1, 2)
    file = results.file(SPRING, "eml_gonzalez", "h0.01")
    for axes, at, name, number, power in zip(panels, "ab", ("total", "generalized"), (80, 74), (5, 15), strict=True):
        jumps(axes, file, f"{name}_energy", 10.0**power, COMPONENTS[0])
        against_time(axes, f"increment of ({number}) ($10^{{-{power}}}$ J)", file["time"][-1], f"({at}) {name} energy")
    return figure


@drawing("Energy is not accuracy: the spring pendulum with dT/dr correct and with r^2 for r. (a) largest error of the"
         " generalized energy and (b) error of the position against the step: the misprint keeps the energy at"
         " round-off and does not converge. {runs}")
def energy_is_not_accuracy(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 62.0, 1, 2)
    handles = []
    for problem, key, look, label in ((SPRING, "eml_gonzalez", "eml_gonzalez", "correct"),
                                      ("misprint", "eml_gonzalez", "eml", "misprint"),
                                      (SPRING, "mpl", "mpl", "MPL, correct")):
        mark = marks(results)[look]
        for axes, column in ((left, "generalized_energy_error_max"), (right, "error_position")):
            steps, values = ladder(results, problem, key, column)
            hollow(axes, steps, np.maximum(values, 1e-17), mark)
        handles.append(line_handle(mark, label, marker=True))
    logarithmic(left, xlabel="step $h$ (s)", ylabel="largest error of (74) (J)", title="(a) generalized energy")
    logarithmic(right, xlabel="step $h$ (s)", ylabel="relative error of the position", title="(b) position")
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


BODY = "body"
EDGES = np.array([3.0, 6.0, 8.0])/8.0                      # of the box, relative
LEAST_RATE, SATURATED, ROUND_OFF = 0.01, 30.0, 1e-8  # 1/s
BODY_TIMES = (0.0, 0.25, 0.75, 1.25, 1.75, 2.0)
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
    file = first_run(results, BODY, "eml")
    for axes, time in zip(snapshots(figure, (0.0, 0.0, 1.0, 1.0), BODY_TIMES, 3), BODY_TIMES, strict=True):
        scene = Scene(axes, View(35.0, 25.0))
        _box(scene, file["attitude"][int(np.argmin(np.abs(file["time"] - time)))])
        scene.draw(limits=(-0.75, 0.75, -0.75, 0.75))
    return figure


@drawing("Free body by EML: (a) generalized energy, (b) its increments, with the solver until round-off and stopped as"
         " printed, as in figure 6 of the paper. {runs}", shows=("generalized_energy",))
def figure6(results: Results) -> Figure:
    figure, left, end = by_solver(results, BODY, 12, lambda axes, file, colour: axes.plot(
        file["time"], file["generalized_energy"], color=colour))
    left.set_ylim(2480.0, 2520.0)
    against_time(left, "$E$ (J)", end, "(a) generalized energy")
    return figure


@drawing("Free body by EML: (a) constraint, (b) total energy (80), as in figure 7. {runs}", shows=("constraint_error",))
def figure7(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = first_run(results, BODY, "eml")
    dots(left, file["time"], 1e16*file["constraint_error"], COMPONENTS[0])
    right.plot(file["time"], file["total_energy"], color=COMPONENTS[0])
    against_time(left, "$|q\\cdot q - 1|/2$ ($10^{-16}$)", file["time"][-1], "(a) constraint")
    against_time(right, "$T(q, v) + V$ (J)", file["time"][-1], "(b) total energy")
    return figure


@drawing("Free body by EML: (a) components of the angular momentum, (b) their increments, as in figure 8 of the paper."
         " {runs}")
def figure8(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = first_run(results, BODY, "eml")
    components(left, file, "momentum_map", ("$L_1$", "$L_2$", "$L_3$, on $L_1$"))
    for k, colour in enumerate(COMPONENTS):
        jumps(right, file, "momentum_map", 1e14, colour, k)
    left.set_ylim(0.0, 220.0)
    left.legend(loc="upper right", ncols=3)
    against_time(left, "$L$ (kg m$^2$/s)", file["time"][-1], "(a) angular momentum")
    against_time(right, "increments ($10^{-14}$ kg m$^2$/s)", file["time"][-1], "(b) increments")
    return figure


@drawing("Free body over 10 s: seconds of the loop against the step for all unknowns (EML), the reduced (REML) and the"
         " null-space form (Null-EML), as in figure 9 of the paper; right: relative to EML. {runs}")
def figure9(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 62.0, 1, 2)
    steps, whole = ladder(results, BODY, "eml_full", "seconds")
    for key in ("eml_full", "eml", "eml_null"):
        mark = marks(results)[key]
        _, seconds = ladder(results, BODY, key, "seconds")
        hollow(left, steps, seconds, mark)
        hollow(right, steps, seconds/whole, mark)
    logarithmic(left, xlabel="step $h$ (s)", ylabel="time for 10 s (s)", title="(a) time")
    logarithmic(right, y=False, xlabel="step $h$ (s)", ylabel="relative to all unknowns",
                title="(b) what the reduction saves")
    right.set_ylim(0.0, 1.1)
    legend_below(figure, [marks(results)[key] for key in ("eml_full", "eml", "eml_null")])
    return figure


def rate_of_growth(time: np.ndarray, size: np.ndarray) -> float:
    """Slope of ln(size) in 1/s, by least squares over the samples from 1 s on, after the first swing, and before the
    first above SATURATED; NaN of fewer than three, or where all is round-off."""
    used = (np.cumsum(~(size <= SATURATED)) == 0) & (size > ROUND_OFF) & (time >= 1.0)
    return float(np.polyfit(time[used], np.log(size[used]), 1)[0]) if used.sum() > 2 else np.nan


@drawing("The parasite: free body. (a) |q.v|, or the largest |Dg v|, over 10 s by EML for several steps, (b) the rate"
         " at which it grows, d ln|Dg v|/dt from 1 s on while it is below 30, against the step; lower rates are"
         " drawn as 0.01/s, (c) the largest over 100 s. Hollow: the run stopped. {runs}")
def parasite(results: Results) -> Figure:
    figure, (left, middle, right) = subplots(DOUBLE, 72.0, 1, 3)
    colour = marks(results)["eml"].colour
    for resolution, share in SHADES.items():
        file = results.file(BODY, "eml", resolution)
        left.plot(file["time"], np.maximum(file["velocity_constraint_error"], TINY),
                  color=mix(colour, "white", share), linewidth=0.9, label=f"{resolution[1:]} s")
    left.set(yscale="log", ylim=(1e-6, 1e4))
    left.legend(title="EML, step", ncols=2, loc="lower right")
    against_time(left, "$|q\\cdot v|$ (1/s)", 10.0, "(a) growth")
    for key, mark in marks(results).items():
        short, long = results.select(BODY, key), results.select("long", key)
        files = (results.file(BODY, key, resolution) for resolution in short["resolution"])
        rates = np.array([rate_of_growth(file["time"], file["velocity_constraint_error"]) for file in files])
        hollow(middle, short["step"].to_numpy(), np.maximum(rates, LEAST_RATE), mark,
               (short["status"] == "ok").to_numpy())
        largest = long.get("velocity_constraint_error_max_reached", np.nan)  # of runs that stopped early
        largest = long["velocity_constraint_error_max"].fillna(largest).to_numpy()
        hollow(right, long["step"].to_numpy(), np.maximum(largest, TINY), mark, (long["status"] == "ok").to_numpy())
    logarithmic(middle, xlabel="step $h$ (s)", ylabel="rate (1/s)", title="(b) rate over 10 s")
    logarithmic(right, xlabel="step $h$ (s)", ylabel="largest $|Dg\\, v|$", title="(c) over 100 s")
    legend_below(figure, [*marks(results).values()])
    return figure


@drawing("What bounds the parasite: generalized energy (74), total energy (80) and energy H of attitude and momentum of"
         " the free body by (a) EML in quaternions, (b) EML in directors, (c) EMH, less 2500 J, h = 0.01 s. {runs}",
         shows=("total_energy",))
def definite(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 62.0)
    names = (("total_energy", "total energy (80)", COMPONENTS[1]), ("energy", "$H$", COMPONENTS[2]),
             ("generalized_energy", "generalized energy (74)", COMPONENTS[0]))
    for axes, key, title in zip(figure.subplots(1, 3), ("eml", "eml_directors", "emh"),
                                ("(a) EML", "(b) EML, directors", "(c) EMH"), strict=True):
        file = results.file(BODY, key, "h0.01")
        for name, _, colour in names:
            axes.plot(file["time"], np.maximum(np.abs(file[name] - file[name][0]), 1e-13), color=colour)
        axes.set(yscale="log", ylim=(1e-13, 1e5))
        against_time(axes, "$|E - E(0)|$ (J)", 10.0, title)
    legend_below(figure, [line_handle(Mark(colour, "o", SOLID, label), label) for _, label, colour in names])
    return figure


TOP = "top"
SHOWN = ("eml", "eml_printed", "emh", "mpl", "mph_x", "mph_a")


@drawing("Steady top: (a) sketch with the path of the axis; (b) absolute increments of the energy, as in figure 10 of"
         " the paper: H of attitude and momentum; of EML the generalized energy (74), which it keeps;"
         " pale: (74) of MPL. {runs}")
def figure10(results: Results) -> Figure:
    figure, (sketch, axes) = subplots(DOUBLE, 72.0, 1, 2, width_ratios=(1.0, 1.8))
    path = first_run(results, TOP, "eml")["attitude"][:, :, 2]
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
    styles = marks(results)
    pale = Mark(to_hex(mix(styles["mpl"].colour, "white", 0.6)), "o", SOLID, "MPL, (74)")
    for key, name, look in (*((key, "energy", {}) for key in SHOWN[2:]),
                            *((key, "generalized_energy", {}) for key in SHOWN[:2]),
                            ("mpl", "generalized_energy", {"color": pale.colour, "linestyle": SOLID, "zorder": 0.5})):
        time, change = increments(results.file(TOP, key, "h0.01"), name)
        axes.plot(time, np.maximum(np.abs(change), TINY), linewidth=0.7, **{**styles[key].line, **look})
    logarithmic(axes, x=False)
    against_time(axes, "|increment| (J)", 2.0, "(b) energy: (74) of EML, $H$ of the others")
    legend_below(figure, [*(line_handle(styles[key], styles[key].label) for key in SHOWN),
                          line_handle(pale, pale.label)])
    return figure


@drawing("Steady top by EML: (a) components of the angular momentum, (b) increments of the one about e3, as in figure"
         " 11 of the paper. {runs}")
def figure11(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 58.0, 1, 2)
    file = first_run(results, TOP, "eml")
    components(left, file, "momentum_map", ("$L_1$", "$L_2$", "$L_3$"))
    jumps(right, file, "momentum_map", 1e17, COMPONENTS[2], 2)
    left.legend(loc="upper left", ncols=3)
    left.set_ylim(-0.08, 0.11)
    against_time(left, "$L$ (kg m$^2$/s)", 2.0, "(a) angular momentum")
    against_time(right, "increment of $L_3$ ($10^{-17}$ kg m$^2$/s)", 2.0, "(b) increments of $L_3$")
    return figure


@drawing("Steady top: (a) height and (b) first component of the centre of mass by EML and EMH, with steady precession,"
         " as in figure 12 of the paper. {runs}")
def figure12(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 62.0)
    for axes, k, title, exact in zip(figure.subplots(1, 2), (2, 0), ("(a) vertical", "(b) horizontal"),
                                     (lambda t: np.cos(TILT) + 0.0*t,
                                      lambda t: np.sin(TILT)*np.sin(PRECESSION*t)), strict=True):
        for key in ("eml", "emh"):
            file = first_run(results, TOP, key)
            mark = marks(results)[key]
            axes.plot(file["time"], DISTANCE*file["attitude"][:, k, 2], linewidth=0.8, **mark.line)
        steady, = axes.plot(file["time"], DISTANCE*exact(file["time"]), color="0.6", linewidth=1.6, zorder=0.5,
                            label="steady precession")
        against_time(axes, "$z$ (m)" if k == 2 else "$x$ (m)", 2.0, title)
    legend_below(figure, [*(marks(results)[key] for key in ("eml", "emh")), steady], marker=False)
    return figure


@drawing("Steady top: error (121) of the centre of mass at t = 0.1 s against the step, as in figure 13 of the paper,"
         " with three readings of the Hamiltonian midpoint rule; MPL is MPH (b). {runs}", shows=("axis_error",))
def figure13(results: Results) -> Figure:
    figure, axes = subplots(SINGLE, 84.0)
    for key, mark in marks(results).items():
        hollow(axes, *ladder(results, TOP, key, "axis_error"), mark)
    slope_triangle(axes, *ladder(results, TOP, "mpl", "axis_error"), 2)
    logarithmic(axes, xlabel="step $h$ (s)", ylabel="error $e$")
    legend_below(figure, [*marks(results).values()])
    return figure


LOOP, STEP = "loop", "h0.1"
JOINED = ("eml", "mpl", "emh", "eml_directors", "rattle")
LOOP_TIMES = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
VIEW = View(-60.0, 40.0)


@drawing("Closed loop: (a) start, (b) time function of the load, as in figure 14 of the paper. {runs}")
def figure14(results: Results) -> Figure:
    figure, (sketch, axes) = subplots(DOUBLE, 58.0, 1, 2)
    file = results.file(LOOP, "eml", STEP)
    p = parameters(file)
    scene = Scene(sketch, VIEW)
    jointed_bars.draw(looks, scene, jointed_bars.ends(p, file["position"][0], file["attitude"][0]))
    scene.draw()
    sketch.set_title("(a) four bars")
    axes.plot([0.0, 0.5, 1.0, 2.0], [0.0, p["load"], 0.0, 0.0], color=COMPONENTS[0])
    against_time(axes, "$f(t)$ (N)", 2.0, "(b) load")
    return figure


@drawing("Closed loop: snapshots by EML, as in figure 15 of the paper; each seen from the centre of mass. {runs}")
def figure15(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 96.0, layout=None)
    file = results.file(LOOP, "eml", STEP)
    for axes, time in zip(snapshots(figure, (0.0, 0.0, 1.0, 1.0), LOOP_TIMES, 3), LOOP_TIMES, strict=True):
        k = int(np.argmin(np.abs(file["time"] - time)))
        scene = Scene(axes, VIEW)
        places = file["position"][k] - file["position"][k].mean(axis=0)
        jointed_bars.draw(looks, scene, jointed_bars.ends(parameters(file), places, file["attitude"][k]))
        scene.draw(limits=(-9.5, 9.5, -9.0, 9.0))
    return figure


@drawing("Closed loop by EML: (a) generalized energy, (b) angular momentum, as in figure 16 of the paper; (c), (d)"
         " their increments after the load, which the scale of the paper hides. {runs}")
def figure16(results: Results) -> Figure:
    figure, ((energy, momentum), (small, slip)) = subplots(DOUBLE, 108.0, 2, 2)
    file = results.file(LOOP, "eml", STEP)
    energy.plot(file["time"], file["generalized_energy"], color=COMPONENTS[0])
    components(momentum, file, "momentum_map", ("$L_1$", "$L_2$", "$L_3$, on $L_2$"))
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
         " the load, with quaternion joints (EML, MPL, EMH) and the linear joints of directors. Lines are narrower in"
         " the order of the legend, where they lie on each other. {runs}")
def joints(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 66.0)
    for axes, resolution in zip(figure.subplots(1, 2, sharey=True), ("h0.1", "h0.05"), strict=True):
        for width, key in zip(np.geomspace(4.0, 0.6, len(JOINED)), JOINED, strict=True):  # they lie on each other
            file = results.file(LOOP, key, resolution)
            mark = marks(results)[key]
            late = file["time"][1:] > 1.05
            change = np.abs(np.diff(file["momentum_map"], axis=0)).max(axis=1)
            axes.plot(file["time"][1:][late], np.maximum(change[late], 1e-15), linewidth=width, **mark.line)
        axes.set_yscale("log")
        against_time(axes, "largest increment (kg m$^2$/s)", 10.0, f"h = {resolution[1:]} s")
    legend_below(figure, [marks(results)[key] for key in JOINED], marker=False)
    return figure


def _errors(results: Results, axes: Axes, problem: str, x: str) -> dict[str, Line2D]:
    """State error over a column of every integrator of a problem; handles of the legend by their labels."""
    handles = {}
    for key, mark in marks(results).items():
        rows = results.select(problem, key)
        rows = rows[(rows["status"] == "ok") & (rows[x] > 0.0) & (rows["error"] > 0.0)].sort_values("step")
        if not rows.empty:
            hollow(axes, rows[x], rows["error"], mark)
            handles[mark.label] = line_handle(mark, mark.label, marker=True)
    logarithmic(axes)
    return handles


@drawing("Compositions: state error against the step. EMH, the Cayley scheme on SO(3) and the variational integrator"
         " have the order of their weights, also with a singular mass matrix; EML and MPL stay at 4, the projected EML"
         " at 3. Errors below that of the reference say nothing. {runs}")
def compositions(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 92.0)
    handles: dict[str, Line2D] = {}
    for axes, problem in zip(figure.subplots(1, 3), ("top", "body", "masses"), strict=True):
        handles |= _errors(results, axes, problem, "step")
        axes.set(xlabel="step $h$ (s)", title=label_of(results, problem))
        if problem == "top":
            axes.set_ylabel("state error")
    legend_below(figure, list(handles.values()), columns=4)
    return figure


@drawing("Largest step (s) of those tried with which each scheme completes the run; dark is large. A field without a"
         " number: no step completed; a dash: the scheme does not apply. {runs}")
def scheme_map(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 88.0)
    problems, keys = list(results.config.problems), list(marks(results))
    found, texts = np.full((len(keys), len(problems)), np.nan), [[""]*len(problems) for _ in keys]
    for j, problem in enumerate(problems):
        for i, key in enumerate(keys):
            rows = results.select(problem, key)
            found[i, j] = rows.loc[rows["status"] == "ok", "step"].max()
            texts[i][j] = "-" if rows.empty else "" if np.isnan(found[i, j]) else f"{found[i, j]:g}"
    cells(axes, found, texts, [mark.label for mark in marks(results).values()], found > 0.03, 7.0,
          cmap="Blues", norm=LogNorm(5e-4, 1.5))
    axes.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems])
    return figure


@drawing("Chains of bars, which are eliminated one after the other: seconds of a step against their number. {runs}")
def chain_scaling(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 66.0, 1, 2)
    numbers = np.array([1, 4, 16, 64, 256])
    for key in ("eml", "emh"):
        mark = marks(results)[key]
        seconds = np.array([ladder(results, f"bars_{n}", key, "seconds")[1][0]
                            / float(results.select(f"bars_{n}", key)["steps"].iloc[0]) for n in numbers])
        hollow(left, numbers, seconds, mark)
        hollow(right, numbers, seconds/numbers, mark)
        if key == "eml":
            guides = [line for few, power, dash, text in (
                (5, 1, SOLID, "proportional to the number of bars"), (4, 3, "--", "to its cube: one dense matrix"))
                for line in left.plot(numbers[:few], seconds[1]*(numbers[:few]/4.0)**power, color="0.6", linewidth=0.7,
                                      linestyle=dash, zorder=0.5, label=text)]
    logarithmic(left, xlabel="number of bars", ylabel="time of a step (s)", title="(a) time")
    logarithmic(right, xlabel="number of bars", ylabel="time of a step per bar (s)", title="(b) per bar")
    legend_below(figure, [*(marks(results)[key] for key in ("eml", "emh")), *guides])
    return figure


def _phrase(results: Results, problem: str) -> str:
    """What the finest runs on a problem say: the smallest error, and who declares to keep the energy and momenta."""
    looks, finest = marks(results), []
    for key in looks:
        rows = results.select(problem, key)
        rows = rows[rows["status"] == "ok"].sort_values("step")
        if not rows.empty:
            finest.append((looks[key].label, rows.iloc[0]))
    label, best = min(finest, key=lambda item: float(item[1]["error"]))
    kept = []
    for name, row in finest:
        spec = results.study.select(problem, row["integrator"])[0].spec
        facts = spec.method.on(spec.sheet).kept(spec.options, spec.sheet, spec.parameters)
        if {Keeps.ENERGY, Keeps.MOMENTUM} <= facts:
            kept.append(f"{name} ({float(row['error']):.1e})")
    text = f"{label_of(results, problem)}: {label} has the smallest error, {float(best['error']):.1e}"
    return text + (f"; energy and conserved momenta are kept by {', '.join(kept)}" if kept else
                   "; no scheme keeps energy and momenta")


def _price(results: Results, problem: str, scheme: str, rival: str) -> str:
    """How much longer a scheme takes for the error of a rival: linear interpolation of logarithms."""
    steps, errors = ladder(results, problem, scheme, "error")
    _, seconds = ladder(results, problem, scheme, "seconds")
    _, wanted = ladder(results, problem, rival, "error")
    _, paid = ladder(results, problem, rival, "seconds")
    k = len(wanted) - 1  # its largest error, that of its largest step
    power = np.polyfit(np.log(errors), np.log(seconds), 1)
    factor = float(np.exp(np.polyval(power, np.log(wanted[k])))/paid[k])
    looks = marks(results)
    return (f"For the error of {looks[rival].label} with h = {steps[k]:g} s, {wanted[k]:.1e}, {looks[scheme].label}"
            f" takes {factor:.1f} times its time ({label_of(results, problem)})")


def advice(results: Results) -> str:
    """The paragraph that says what to take, made from the study's table: errors in brackets."""
    phrases = [_phrase(results, problem) for problem in results.config.problems]
    return ". ".join([*(phrase[:1].upper() + phrase[1:] for phrase in phrases), _price(results, "top", "eml", "slgi")])


@drawing("What to take. {numbers}. Work: state error against (left) linear solves of implicit schemes and (right)"
         " seconds of all schemes. {runs}", advice)
def work(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure = new_figure(DOUBLE, 58.0*len(problems) + 12.0)
    handles: dict[str, Line2D] = {}
    for row, problem in zip(figure.subplots(len(problems), 2, sharey="row", squeeze=False), problems, strict=True):
        for axes, column, label in zip(row, ("linear_solves", "seconds"), ("linear solves", "time (s)"), strict=True):
            handles |= _errors(results, axes, problem, column)
            axes.set(xlabel=label, title=label_of(results, problem))
        row[0].set_ylabel("state error")
    legend_below(figure, list(handles.values()), columns=5)
    return figure
