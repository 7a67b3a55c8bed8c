"""Figures of rodrigues2021: 1 to 7, and own ones on drift rules, charts, diameters, contacts, codes, many particles."""
from dataclasses import replace
from fractions import Fraction

import numpy as np
from matplotlib.artist import setp
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from liestep.compile.counters import evaluations_of
from liestep.mechanics.systems.bonded_ring import circle, particle_diameter
from liestep.paper import (
    DASHED,
    DOUBLE,
    SINGLE,
    SOLID,
    Mark,
    Results,
    RunFile,
    drawing,
    first_run,
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
    subplots,
)


def slopes(axes: Axes, results: Results, problem: str, column: str, shown: dict[str, float | None],
           below: float = 0.4) -> None:
    """A column of metrics against the step for some integrators, each with a triangle of a slope (or none) under it."""
    for key, slope in shown.items():
        steps, errors = ladder(results, problem, key, column)
        axes.plot(steps, errors, marker=marks(results)[key].marker, linewidth=0.9, **marks(results)[key].line)
        if slope is not None:
            slope_triangle(axes, steps, errors, slope, below)
    logarithmic(axes, xlabel="step $h$ (s)")


PAIR = ("exact", "newmark")
# third derivative of the angle of the drift, over 6: angle = z + constant z^3
CONSTANTS = {"exact": 1.0/6.0, "newmark": -1.0/12.0, "exponential": 0.0, "richardson": 1.0/24.0}


@drawing("Three-dimensional pendulum, figure 1 of the paper. Top: as printed, with (i) energy error (38), (ii) error"
         " (37) of the norm of the trajectory, (iii) deviation of (R rho0).Omega from zero and (iv) of the length of R"
         " rho0 from one, at the largest step. Bottom: (v) the error of the trajectory itself in the same norm: its"
         " order is twice the slope of (37); (vi) error (37) again, with map (27), and that of the exact motion when"
         " the norm is taken on the run's steps (grey). {runs}")
def figure1(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 132.0)
    first, second, third, fourth, fifth, sixth = figure.subplots(2, 3).ravel()
    slopes(first, results, "pendulum", "energy_error_h0", {"exact": None, "newmark": 2})
    first.set_title("(i) energy, (38)")
    slopes(second, results, "pendulum", "h1_norm_error", {"exact": None, "newmark": 1}, below=2.7)
    second.set_title("(ii) norm of the trajectory, (37)")
    for axes, name, title in ((third, "axial_momentum", "(iii) $10^{15}\\,R\\rho_0\\cdot\\Omega$"),
                              (fourth, "lever_length", "(iv) $10^{15}\\,(|R\\rho_0| - 1)$")):
        for key in PAIR:
            file = first_run(results, "pendulum", key)
            axes.plot(file["time"], 1e15*file[name], marker=marks(results)[key].marker, markevery=10, linewidth=0.8,
                      **marks(results)[key].line)
        axes.set(xlabel="time (s)", xlim=(0.0, file["time"][-1]), title=title)
    slopes(fifth, results, "pendulum", "h1_error", {"exact": None, "newmark": 2, "euler": 1})
    fifth.set_title("(v) trajectory, $|q_h - q|/|q|$")
    slopes(sixth, results, "pendulum", "h1_norm_error", {"exact": None, "newmark": None, "euler": 0.5})
    steps, own = ladder(results, "pendulum", "exact", "h1_norm_error_sampled")
    sixth.plot(steps, own, color="0.6", marker=".", linewidth=0.8)
    sixth.set_title("(vi) (37) with (27), exact motion")
    legend_below(figure, [marks(results)[key] for key in (*PAIR, "euler")])
    return figure


@drawing("Drifts of an angle f(z) = z + c z^3 + ..., z = h|w|: energy error (38) and error of the trajectory"
         " against the step, of the pendulum (a, b) and of the ring (c, d). On the pendulum the smallest error of the"
         " trajectory is that of c = 0, that of the energy is Newmark's c = -1/12; on the ring the bonds decide and"
         " the rules are the same. {runs}")
def drift_rules(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 128.0)
    panels, letters = figure.subplots(2, 2), iter("abcd")
    for row, problem in zip(panels, ("pendulum", "ring"), strict=True):
        for axes, column, title in zip(row, ("energy_error_h0", "h1_error"), ("energy error (38)", "trajectory"),
                                       strict=True):
            lowest = "exponential" if column == "h1_error" else "newmark"
            slopes(axes, results, problem, column, dict.fromkeys(CONSTANTS, None) | {lowest: 2})
            axes.set_title(f"({next(letters)}) {problem}: {title}")
    names = {key: f"{marks(results)[key].label}, c = {Fraction(value).limit_denominator(99)}"
             for key, value in CONSTANTS.items()}
    legend_below(figure, [line_handle(marks(results)[key], name, marker=True) for key, name in names.items()])
    return figure


@drawing("Map (25) of the pendulum in charts. (a) length of the rescaled Rodrigues vector along the motion, which"
         " passes turns by pi again and again; (b) largest entry of the difference of the attitudes kept in a chart and"
         " as matrices, dotted that of $R^TR - I$. {runs}", shows=("orthogonality_error",))
def chart(results: Results) -> Figure:
    figure, (size, gap) = subplots(DOUBLE, 70.0, 1, 2)
    plain = first_run(results, "chart_500", "newmark")
    trace = np.trace(plain["attitude"], axis1=1, axis2=2)
    skew = plain["attitude"] - np.swapaxes(plain["attitude"], 1, 2)
    sine = np.sqrt(0.125*np.sum(skew*skew, axis=(1, 2)))
    angle = np.arctan2(sine, 0.5*(trace - 1.0))
    shown = plain["time"] <= 100.0
    size.plot(plain["time"][shown], 2.0*np.tan(0.5*angle[shown]), color=marks(results)["alpha"].colour, linewidth=0.8)
    size.set(yscale="log", xlabel="time (s)", title="(a) $|\\alpha|$")
    for key in ("alpha", "modified"):
        other, reference = first_run(results, "chart_5000", key), first_run(results, "chart_5000", "newmark")
        difference = np.abs(other["attitude"] - reference["attitude"]).max(axis=(1, 2))
        for values, dash in ((difference, "-"), (other["orthogonality_error"], ":")):
            gap.plot(other["time"][1:], np.maximum(np.maximum.accumulate(values)[1:], 1e-17), linewidth=0.9,
                     color=marks(results)[key].colour, linestyle=dash)
    size.set_ylabel("length")
    gap.set(xscale="log", yscale="log", xlabel="time (s)", ylabel="entry", title="(b) largest differences so far")
    legend_below(figure, [replace(marks(results)[key], dash="-") for key in ("alpha", "modified")], marker=False)
    return figure


TIMES = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)
AXES = ("#CC3311", "#009988")
TURN = 180.0  # degrees at the ends of the colours


def turns(attitude: np.ndarray) -> np.ndarray:
    """Angle of the turns about z in degrees (n,), of attitudes (n, 3, 3) in the plane."""
    return np.degrees(np.arctan2(attitude[:, 1, 0], attitude[:, 0, 0]))


def _snapshot(axes: Axes, file: RunFile, diameter: float, time: float) -> EllipseCollection:
    """Particles as circles of their diameter, coloured by their turn, and the wall."""
    k = int(np.argmin(np.abs(file["time"] - time)))
    places = file["position"][k]
    spheres = EllipseCollection(np.full(len(places), diameter), np.full(len(places), diameter), np.zeros(len(places)),
                                units="xy", offsets=places[:, :2], offset_transform=axes.transData,
                                cmap="twilight_shifted", norm=Normalize(-TURN, TURN), edgecolor="0.2", linewidth=0.2)
    spheres.set_array(turns(file["attitude"][k]))
    axes.add_collection(spheres)
    axes.axvline(0.0, color="0.2", linewidth=1.5)
    axes.set_aspect("equal")
    axes.set_title(f"t = {file['time'][k]:g} s", fontsize=7.0)
    return spheres


@drawing("Impact of the ring, figure 3 of the paper: particles as circles of their diameter, coloured by their"
         " rotation, at eight times; the line is the wall. Top two rows: the printed shear law, bottom two: the"
         " frame-indifferent one. By map (25) with h = 0.001. Times beyond 17 s, or 26 s, are samples of a chaotic"
         " motion. {runs}")
def figure3(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 186.0, 4, 4, sharex=True, sharey=True)
    files = [first_run(results, problem, "newmark") for problem in ("ring", "objective")]
    for rows, file, law in zip((panels[:2], panels[2:]), files, ("printed shear", "frame-indifferent"), strict=True):
        for axes, time in zip(rows.flat, TIMES, strict=True):
            shown = _snapshot(axes, file, particle_diameter(parameters(file)), time)
        rows[0, 0].set_ylabel(f"{law}\ny (m)", fontsize=7.5)
    near = [np.argmin(np.abs(files[0]["time"] - time)) for time in TIMES]
    reach = np.concatenate([file["position"][near].reshape(-1, 3) for file in files])
    panels[0, 0].set(xlim=(-2.0, reach[:, 0].max() + 2.0), ylim=(reach[:, 1].min() - 2.0, reach[:, 1].max() + 2.0))
    for axes in panels[-1]:
        axes.set_xlabel("x (m)")
    bar = figure.colorbar(shown, ax=panels, location="bottom", shrink=0.5, aspect=40)
    bar.set_label("rotation of a particle (degrees)")
    return figure


def _name(axes: Axes, at: np.ndarray, text: str, colour: str = "black") -> None:
    axes.text(float(at[0]), float(at[1]), text, color=colour, ha="center", va="center")


@drawing("Two bonded particles of the ring, figure 2 of the paper, in a state of the impact: the bond that is sheared"
         " most. d0: direction of the bond at rest, carried by the rotation of each particle; d: its direction now; red"
         " and green: the first two body axes. {runs}")
def figure2(results: Results) -> Figure:
    file = first_run(results, "ring", "newmark")
    values = parameters(file)
    k = int(np.argmax(file["shear_energy"]))
    places, attitude, rest = file["position"][k], file["attitude"][k], circle(values)
    following = np.roll(np.arange(len(places)), -1)
    now, before = places - places[following], rest - rest[following]
    now, before = (part/np.linalg.norm(part, axis=1)[:, None] for part in (now, before))
    sheared = np.einsum("nij,nj->ni", attitude, before)
    i = int(np.argmin(np.sum(sheared*np.einsum("nij,nj->ni", attitude[following], now), axis=1)))
    j, radius = int(following[i]), 0.5*particle_diameter(values)
    figure, axes = subplots(SINGLE, 84.0)
    middle, across = 0.5*(places[i] + places[j])[:2], np.array([-now[i, 1], now[i, 0]])
    for body, name in ((i, "i"), (j, "j")):
        at = places[body, :2] - middle
        axes.add_patch(Circle(tuple(at), radius, facecolor="0.93", edgecolor="0.3"))
        for axis, colour in enumerate(AXES):
            tip = attitude[body, :2, axis]*0.8*radius
            axes.annotate("", at + tip, at, arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.0})
        carried = (attitude[body] @ before[i])[:2]*1.5*radius
        axes.annotate("", at + carried, at, arrowprops={"arrowstyle": "->", "color": "#0077BB", "linewidth": 1.4})
        _name(axes, at + 1.12*carried, f"$R_{name} d_0$", "#0077BB")
        _name(axes, at + 0.6*radius*across, f"${name}$")
    start, end = places[j, :2] - middle, places[i, :2] - middle
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 1.2})
    _name(axes, 0.5*end + 0.2*radius*across, "$d$")  # the circles touch in the middle
    reach = 1.9*radius + 0.5*np.abs(end - start).max()
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(f"bond of particles {i} and {j}, t = {file['time'][k]:g} s")
    return figure


ENERGIES = {"translation_energy": ("#0077BB", "-", "translation"), "rotation_energy": ("#33BBEE", "--", "rotation"),
            "bending_energy": ("#009988", "-", "bending $U^m$"), "shear_energy": ("#EE7733", "--", "shear $U^s$"),
            "axial_energy": ("#CC3311", "-", "axial $U^a$"), "contact_energy": ("#AA4499", ":", "contacts $U^{pp}$"),
            "wall_energy": ("#777777", "-.", "wall $U^{pw}$"), "energy": ("#000000", "-", "total")}
SHOWN = 25.0      # s of figure 4 and 6


@drawing("Impact of the ring, figure 4 of the paper: all energies by map (25). Left as printed, with the printed shear"
         " law; right the frame-indifferent one. The translation stays flat until the ring reaches the wall. {runs}")
def figure4(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 84.0, 1, 2, sharey=True)
    for axes, problem, title in zip(panels, ("ring", "objective"), ("(a) printed shear", "(b) frame-indifferent shear"),
                                    strict=True):
        file = first_run(results, problem, "newmark")
        shown = file["time"] <= SHOWN
        for name, (colour, dash, label) in ENERGIES.items():
            axes.plot(file["time"][shown], file[name][shown], color=colour, linestyle=dash, linewidth=1.0, label=label)
        axes.set(title=title, xlim=(0.0, SHOWN), xlabel="time (s)")
    panels[0].set_ylabel("energy (J)")
    legend_below(figure, list(axes.get_lines()), 4)
    return figure


@drawing("Total energy of the ring. (a) figure 5 of the paper: maps (25) and (27) at h = 0.01 to 500 s; (b) ten times"
         " longer, means over hundredths of the run, with contacts between particles and without. The contact energy"
         " s^(5/2) has two continuous derivatives only, and the energy drifts upwards; without these contacts it does"
         " not. {runs}")
def figure5(results: Results) -> Figure:
    figure, (short, long) = subplots(DOUBLE, 78.0, 1, 2)
    for key in ("euler", "newmark"):
        file = first_run(results, "ring_500", key)
        short.plot(file["time"], file["energy"], linewidth=0.8, color=marks(results)[key].colour)
    short.set(ylim=(0.0, 45.0), ylabel="total energy (J)", title="(a) 500 s")
    for problem, dash in (("ring_5000", "-"), ("smooth_5000", ":")):
        for key in ("euler", "newmark"):
            file = first_run(results, problem, key)
            means = file["energy_blocks"][0]
            centres = (np.arange(len(means)) + 0.5)*file["time"][-1]/len(means)
            long.plot(centres, 100.0*means/file["energy"][0], color=marks(results)[key].colour, linestyle=dash,
                      linewidth=1.0)
    long.set(ylabel="mean deviation (% of the energy)", title="(b) 5000 s: with contacts (line), without (dots)")
    for axes, end in ((short, 500.0), (long, file["time"][-1])):
        axes.set(xlabel="time (s)", xlim=(0.0, end))
    legend_below(figure, [replace(marks(results)[key], dash="-") for key in ("newmark", "euler")], marker=False)
    return figure


@drawing("Momenta of the ring, figure 6 of the paper, by maps (23) and (25): top with the printed"
         " shear law, bottom with the frame-indifferent one. Left: linear momentum, of which P_x changes while the ring"
         " touches the wall; middle: P_y and P_z; right: sum of J Omega (34), and the total angular momentum"
         " about the origin; both paler by (25). {runs}", shows=("linear_momentum", "spin_momentum"))
def figure6(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 116.0, 2, 3)
    looks = {key: marks(results)[key] for key in ("exact", "newmark")}
    parts = {"P_y": "#0077BB", "P_z": "#555555", "|\\Sigma J\\Omega|": "#009988", "|L|": "#AA4499"}
    blue, grey, green, purple = parts.values()
    for row, (problem, law) in enumerate((("ring", "printed"), ("objective", "frame-indifferent"))):
        for (key, mark), pale in zip(looks.items(), (0.0, 0.5), strict=True):
            file = first_run(results, problem, key)
            shown = file["time"] <= SHOWN
            time, every = file["time"][shown], {"markevery": 25, "marker": mark.marker}
            linear = file["linear_momentum"][shown]
            panels[row, 0].plot(time, linear[:, 0], color=mark.colour, linewidth=0.9, **every)
            for k, colour in ((1, blue), (2, grey)):
                panels[row, 1].plot(time, 1e14*linear[:, k], color=mix(colour, "white", pale), linewidth=0.8, **every)
            for name, colour in (("spin_momentum", green), ("momentum_map", purple)):
                change = np.abs(file[name][shown] - file[name][0]).max(axis=1)
                panels[row, 2].plot(time, np.where(change > 0.0, change, np.nan), color=mix(colour, "white", pale),
                                    linewidth=0.8, **every)
        panels[row, 0].set_title(f"({'ad'[row]}) $P_x$, {law} shear")
        panels[row, 1].set_title(f"({'be'[row]}) $10^{{14}}\\,P_y$, $10^{{14}}\\,P_z$")
        panels[row, 2].set(title=f"({'cf'[row]}) changes of $|\\Sigma J\\Omega|$, $|L|$", yscale="log",
                           ylim=(1e-16, 1e-3))  # before the impact they are smaller
    setp(panels, xlim=(0.0, SHOWN))
    setp(panels[1], xlabel="time (s)")
    setp(panels[:, :2], ylabel="momentum (kg m/s)")
    setp(panels[:, 2], ylabel="largest change (kg m$^2$/s)")
    legend_below(figure, [*looks.values(), *(Line2D([], [], color=colour, label=f"${name}$")
                                             for name, colour in parts.items())])
    return figure


@drawing("Convergence on the ring, figure 7 of the paper: (i) energy error (38), (ii) error (37) of the norm of the"
         " trajectory, and (iii) the error of the trajectory itself, against the step. {runs}")
def figure7(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 72.0, 1, 3)
    wanted: tuple[tuple[str, str, dict[str, float | None]], ...] = (
        ("energy_error_h0", "(i) energy, (38)", {"exact": None, "newmark": 2, "euler": 1}),
        ("h1_norm_error", "(ii) norm of the trajectory, (37)", {"exact": None, "newmark": 1, "euler": None}),
        ("h1_error", "(iii) trajectory, $|q_h - q|/|q|$", {"exact": None, "newmark": 2, "euler": None}))
    for axes, (column, title, shown) in zip(panels, wanted, strict=True):
        slopes(axes, results, "ring", column, shown)
        axes.set_title(title)
    legend_below(figure, [marks(results)[key] for key in ("exact", "newmark", "euler")])
    return figure


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
        ended = row["status"] == "ok"
        share = float(row["energy_error_max" if ended else "energy_error_max_reached"])/float(row["energy_start"])
        (done if ended else stopped).append((size, share))
    number, step = cell.spec.parameters["particles"], float(cell.spec.step or 0.0)
    stiffness, mass = cell.spec.parameters["axial_stiffness"], cell.spec.parameters["mass"]
    axes.plot(*np.array(done).T, color=marks(results)["newmark"].colour, marker="o", linewidth=0.9)
    if stopped:
        axes.plot(*np.array(stopped).T, color="#CC3311", marker="x", linestyle="none", markersize=6.0)
    axes.axvline(3.0, color="0.5", linewidth=0.8)
    axes.axvline(step*np.sqrt(stiffness/mass)/np.sin(np.pi/number), color="0.5", linewidth=0.8, linestyle=":")
    logarithmic(axes)
    sizes = [size for size, _ in (*stopped, *done)]
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.set(xlabel="diameter $D_t$ (m)", ylabel="largest energy error / energy")
    legend_below(figure, [replace(marks(results)["newmark"], dash=SOLID), Mark("#CC3311", "x", "", "stopped early")])
    return figure


@drawing("A ring of 8 particles without a wall: state error of map (25) and of its compositions against the step, for"
         " contact energies of rising regularity and without contacts. Under contact the compositions lose their order."
         " {runs}", shows=("error",))
def contact(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure, panels = subplots(DOUBLE, 70.0, 1, len(problems), sharey=True)
    for axes, problem, letter in zip(panels, problems, "abcd", strict=False):
        slopes(axes, results, problem, "error", dict.fromkeys(results.config.integrators))
        axes.set_title(f"({letter}) {label_of(results, problem)}")
    panels[0].set_ylabel("state error")
    legend_below(figure, [marks(results)[key] for key in results.config.integrators])
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
        work.plot(rows["evaluations"], rows["error"], marker=marks(results)[key].marker, linewidth=0.9, markersize=3.5,
                  **marks(results)[key].line)
    work.set(xlabel="evaluations of the forces", ylabel="state error", title="(a) ring of 80 particles, 5 s")
    for key in CODES:
        file = first_run(results, "top", key)
        gap = np.maximum(np.abs(file["energy_blocks"][1]), np.abs(file["energy_blocks"][2]))
        end = (np.arange(len(gap)) + 1.0)*file["time"][-1]/len(gap)
        energy.plot(end, np.maximum.accumulate(gap), linewidth=1.0, **marks(results)[key].line)
    energy.set(xlabel="time (s)", ylabel="largest energy error so far (J)", title="(b) asymmetric top, h = 0.01")
    for axes in (work, energy):
        logarithmic(axes)
    legend_below(figure, [line_handle(marks(results)[key], marks(results)[key].label, marker=key in shown)
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
