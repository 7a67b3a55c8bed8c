"""Figures of twospheres2009. 1 and 3 to 5: motion (a), total energy (b) and unit length error (c) as in the paper, in
whose colours and dashes the variational integrator is red and solid, Runge-Kutta blue and dotted, with reprojection
black and dashed; in the motions gravity points down on paper. 2, 6 and 7: motions on the sphere, errors against the
step, and maps of kinetic energy. And what the data that the paper does not print decide: the sign of RK45's energy
change in example 4, and the numbers of example 5 over layout, step and duration."""
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, PowerNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch

from liestep.claims.selection import OWN_QUANTITY, member_values
from liestep.figures.scenes import looks
from liestep.figures.scenes.looks import Place
from liestep.geometry.icosphere import icosphere
from liestep.paper import (
    COLOURS,
    DASHDOT,
    DASHED,
    DOTTED,
    DOUBLE,
    SOLID,
    InputError,
    Results,
    RunFile,
    Scene,
    View,
    cells,
    directions,
    drawing,
    graticule,
    label_of,
    line_handle,
    logarithmic,
    marks,
    mix,
    new_figure,
    parameters,
    shade,
    slope_triangle,
    snapshots,
    sphere_body,
    subplots,
    trail,
    triad,
)

RED, BLUE, BLACK = "#D62728", "#1F4FBF", "#111111"
VI: dict[str, Any] = {"color": shade("vi_sphere"), "linestyle": SOLID, "linewidth": 0.9}
RK = {"color": shade("ode45"), "linestyle": DOTTED, "linewidth": 1.3}
PROJECTED = {"color": shade("rk2_midpoint", 1), "linestyle": DASHED, "linewidth": 0.9}
PRINTED = {"color": shade("vi_sphere", 1), "linestyle": DASHDOT, "linewidth": 0.9}
Curve = tuple[str, dict[str, Any], RunFile]


def run_with(results: Results, problem: str, integrator: str, **options: Any) -> RunFile:
    """First run of an integrator id with these options on a problem (by key). Raises InputError: the study has none."""
    for cell in results.study.cells:
        if (cell.problem == problem and cell.spec.integrator == integrator
                and all(cell.spec.options.get(name) == value for name, value in options.items())):
            return results.file(problem, cell.integrator, cell.resolution)
    wanted = " ".join([integrator, *(f"{name}={value}" for name, value in options.items())])
    raise InputError(f"study {results.study.name} has no run of {wanted} on problem {problem}, which the figure needs")


def problem_of(results: Results, system: str) -> str:
    """Key of the first problem with this system. Raises InputError: the study has none."""
    found = next((key for key, setup in results.config.problems.items() if setup.system == system), None)
    if found is None:
        raise InputError(f"study {results.study.name} has no problem with the system {system}, which the figure needs")
    return found


def energy_panel(axes: Axes, curves: list[Curve]) -> None:
    """Computed total energy against time, linear axes."""
    largest = max(float(np.abs(file["energy"]).max()) for *_, file in curves)
    power = int(np.floor(np.log10(largest))) if 0.0 < largest < 0.01 else 0
    for label, style, file in reversed(curves):
        axes.plot(file["time"], file["energy"]/10.0**power, label=label, **style)
    axes.set(xlabel="time (s)", ylabel=f"total energy ($10^{{{power}}}$ J)" if power else "total energy (J)",
             title="(b) computed total energy", xlim=(0.0, max(float(file["time"][-1]) for *_, file in curves)))


def length_panel(axes: Axes, curves: list[Curve]) -> None:
    """Mean of |1 - q.q| against time, logarithmic: samples pale, means over a hundredth of the run on top."""
    for label, style, file in reversed(curves):
        sampled = file["unit_length_error"]
        axes.plot(file["time"], np.where(sampled > 0.0, sampled, np.nan), color=mix(style["color"], "white", 0.65),
                  linewidth=0.4)
        means = file.blocks("unit_length_error", "mean")
        centres = (np.arange(means.size) + 0.5)/means.size*file.attributes["t_end"]
        axes.plot(centres, means, label=label, **style)
    axes.set(yscale="log", xlabel="time (s)", ylabel="mean $|1 - q_i\\cdot q_i|$", title="(c) unit length error",
             xlim=(0.0, max(float(file["time"][-1]) for *_, file in curves)))


def three_panels(curves: list[Curve], draw_motion: Callable[[Figure, Place], None], title: str) -> Figure:
    """Motion on the left, energy above length error on the right, one legend below them."""
    figure = new_figure(DOUBLE, 90.0, layout=None)
    draw_motion(figure, (0.01, 0.02, 0.5, 0.91))
    figure.text(0.015, 0.955, f"(a) {title}", fontsize=8.0)
    upper, lower = figure.add_axes((0.61, 0.64, 0.375, 0.3)), figure.add_axes((0.61, 0.205, 0.375, 0.28))
    energy_panel(upper, curves)
    length_panel(lower, curves)
    figure.align_ylabels([upper, lower])
    handles, labels = upper.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="lower center", bbox_to_anchor=(0.78, 0.0),
                  ncols=3 if len(curves) < 4 else 2)
    return figure


def _compared(results: Results, problem: str, others: list[Curve]) -> tuple[RunFile, list[Curve]]:
    """The variational run and all curves: it, the one by the printed formulas if there is one, the others."""
    vi = run_with(results, problem, "vi_sphere", form="increment")
    try:
        printed = [("VI, printed formulas", PRINTED, run_with(results, problem, "vi_sphere", form="paper"))]
    except InputError:
        printed = []
    return vi, [("VI", VI, vi), *printed, *others]


@drawing("Double spherical pendulum. (a) paths of both masses over the first 12 s, paler where earlier, the"
         " variational integrator as lines and ode45 as dots; the pendulum at the start (pale) and at the end of the"
         " paths, gravity points down. (b) total energy, (c) unit length error: means over hundredths of the run,"
         " samples pale. {runs}", shows=("energy_error",))
def figure1(results: Results) -> Figure:
    problem = problem_of(results, "spherical_pendulum_chain")
    rk = run_with(results, problem, "ode45")
    vi, curves = _compared(results, problem, [("ode45", RK, rk)])
    return three_panels(curves, lambda figure, place: pendulum(figure, place, vi, rk),
                        f"trajectory of the pendulum, 0 to {SHOWN:g} s")


@drawing("Four spherical pendula connected by springs. (a) the variational solution at four times, with the paths of"
         " the masses over the last 0.1 s; gravity points down. (b) total energy, (c) unit length error; the fixed-step"
         " methods at the first step of the study. {runs}")
def figure3(results: Results) -> Figure:
    problem = problem_of(results, "spring_pendula")
    rk, projected = (run_with(results, problem, "rk2_midpoint", projection=name) for name in ("none", "position"))
    vi, curves = _compared(results, problem, [("RK2 midpoint, q normalised", PROJECTED, projected),
                                              ("RK2 midpoint", RK, rk)])
    return three_panels(curves, lambda figure, place: springs(figure, place, vi), "motion of the pendula")


@drawing("Elastic rod after an impact. (a) the variational solution at several times, with its shadow on a horizontal"
         " plane; the first element is clamped, gravity points down. (b) total energy, which grows"
         " with ode45 here and falls in the paper; (c) unit length error. {runs}")
def figure4(results: Results) -> Figure:
    problem = problem_of(results, "elastic_rod")
    rk = run_with(results, problem, "ode45", form="omega")
    vi, curves = _compared(results, problem, [("ode45", RK, rk)])
    figure = three_panels(curves, lambda figure, place: rod(figure, place, vi), "deformation of the rod")
    change = rk["energy"][-1]/rk["energy"][0] - 1.0
    energy = figure.axes[-2]
    energy.text(0.03, 0.93, f"ode45 {'gains' if change > 0.0 else 'loses'} {100.0*abs(change):.1f} % of the energy",
                transform=energy.transAxes, va="top", color=RK["color"], fontsize=7.0)
    return figure


@drawing("Array of magnetic dipoles. (a) the variational solution at four times, with the paths of the north poles over"
         " the last 0.1 s; north red, south grey. (b) total energy, (c) unit length error. {runs}")
def figure5(results: Results) -> Figure:
    problem = problem_of(results, "dipole_array")
    vi, curves = _compared(results, problem, [("ode45", RK, run_with(results, problem, "ode45"))])
    return three_panels(curves, lambda figure, place: dipoles(figure, place, vi), "motion of the dipoles")


DOWN = (0.0, 0.0, -1.0)  # gravity is along +e3
SHOWN = 12.0  # s of the paths in figure 1


def pendulum(figure: Figure, place: Place, vi: RunFile, rk: RunFile) -> None:
    """Paths of the masses until SHOWN, and the links at t = 0 (pale) and at SHOWN."""
    axes = figure.add_axes(place)
    view = View(35.0, 16.0, DOWN)
    scene = Scene(axes, view, fade=0.5)
    data, times = parameters(vi), np.arange(0.0, SHOWN + 1e-9, 0.04)
    lines, points = (looks.chain_joints(data, directions(file, at)) for file, at in ((vi, times), (rk, times[::3])))
    for body in range(1, lines.shape[1]):
        looks.trail(scene, lines[:, body], RED, 0.9)
        colours = [mix(BLUE, "white", share) for share in np.linspace(0.75, 0.0, len(points))]
        scene.balls(points[:, body], colours, 1.7, lift=0.02, edge=None)
    for q, share in ((vi["q"][0], 0.55), (directions(vi, SHOWN)[0], 0.0)):
        joints = looks.chain_joints(data, q)
        looks.chain(scene, joints, [RED]*(len(joints) - 1), pale=share, fade=0.0)
    scene.draw()
    triad(axes, view)


def springs(figure: Figure, place: Place, vi: RunFile) -> None:
    """Pendula below a plate, springs between the centres of their links, paths of the masses over the last 0.1 s."""
    data = parameters(vi)
    pivots = np.array(data["pivots"])
    pivots = pivots - pivots.mean(axis=0)
    data = {**data, "pivots": pivots}
    view, times = View(62.0, 24.0, DOWN), (0.0, 0.1, 0.2, 0.3)
    for k, (axes, time) in enumerate(zip(snapshots(figure, place, times), times, strict=True)):
        scene = Scene(axes, view, fade=0.45, near=0.14, far=-0.14)
        low, high = pivots.min(axis=0) - 0.03, pivots.max(axis=0) + 0.03
        plate = np.array([[low[0], low[1], 0.0], [high[0], low[1], 0.0], [high[0], high[1], 0.0],
                          [low[0], high[1], 0.0]])
        scene.polygons([plate], [looks.PLATE], lift=-1.0)
        scene.line(plate[[0, 1, 2, 3, 0]], looks.EDGE, 0.5, lift=-0.9, fade=0.0)
        if time > 0.0:
            paths = looks.spring_masses(data, directions(vi, np.linspace(max(time - 0.1, 0.0), time, 30)))
            for body, colour in enumerate(looks.body_colours(len(pivots))):
                looks.trail(scene, paths[:, body], colour, 1.0)
        looks.springs(scene, data, directions(vi, time)[0])
        scene.draw(limits=(-0.125, 0.125, -0.15, 0.07))
        if k == 0:
            triad(axes, view, (-0.02, 0.0, 0.26, 0.26))


def rod(figure: Figure, place: Place, vi: RunFile) -> None:
    """The rod at several times in colour, its shadow on a plane below, the clamp as a block."""
    data = parameters(vi)
    axes = figure.add_axes(place)
    view, times = View(115.0, 22.0, DOWN), (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
    scene = Scene(axes, view, fade=0.25)
    floor = 0.55
    for ends in (*([[x, -0.3, floor], [x, 0.3, floor]] for x in np.linspace(0.0, 1.2, 7)),
                 *([[0.0, y, floor], [1.2, y, floor]] for y in np.linspace(-0.3, 0.3, 4))):
        scene.line(np.array(ends), "#C4CBD3", 0.4, lift=-10.0, fade=0.0)
    colours = colormaps["viridis"](np.linspace(0.0, 0.92, len(times)))[:, :3]
    for q, colour in zip(directions(vi, times), colours, strict=True):
        joints = looks.rod_joints(data, q)
        shadow = joints.copy()
        shadow[:, 2] = floor
        scene.line(shadow, mix(tuple(colour), "white", 0.6), 1.4, lift=-9.0, fade=0.0)
        looks.rod(scene, joints, tuple(colour))
    wall = 0.07*np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]])
    scene.polygons([wall], [looks.PLATE], lift=-5.0)
    scene.line(wall[[0, 1, 2, 3, 0]], looks.EDGE, 0.5, lift=-4.9, fade=0.0)
    scene.draw()
    triad(axes, view)
    left, bottom, width, _ = place  # legend of the times: one coloured dash each, below the scene
    bar = figure.add_axes((left + 0.32*width, bottom, 0.66*width, 0.07))
    bar.set_axis_off()
    bar.set(xlim=(-0.7, len(times) - 0.3), ylim=(0.0, 1.0))
    for k, (time, colour) in enumerate(zip(times, colours, strict=True)):
        bar.plot([k - 0.3, k + 0.3], [0.8, 0.8], color=colour, linewidth=2.4, solid_capstyle="round")
        bar.text(k, 0.55, f"{time:g} s" if k == len(times) - 1 else f"{time:g}", ha="center", va="top", fontsize=7.0)


def dipoles(figure: Figure, place: Place, vi: RunFile) -> None:
    """Needles on their pivots with the paths of the north poles over the last 0.1 s."""
    data, times = parameters(vi), (0.0, 0.2, 0.4, 10.0)
    positions = np.array(data["positions"])
    normal = np.linalg.svd(positions - positions.mean(axis=0))[2][-1]
    up = normal if abs(normal[2]) > 0.5 else np.array([0.0, 0.0, 1.0])
    up = up*np.sign(up[2])
    view = View(-40.0, 42.0 if abs(normal[2]) > 0.5 else 15.0, up)
    for k, (axes, time) in enumerate(zip(snapshots(figure, place, times), times, strict=True)):
        scene = Scene(axes, view, fade=0.35)
        reach = positions.max() + 0.016
        corners = np.array([[-0.016, -0.016], [reach, -0.016], [reach, reach], [-0.016, reach]])
        plane = np.zeros((4, 3))
        plane[:, [i for i in range(3) if abs(normal[i]) < 0.5]] = corners
        scene.polygons([plane], ["#EEF1F4"], lift=-1.0)
        if time > 0.0:
            paths = positions + looks.dipole_tips(data, directions(vi, np.linspace(max(time - 0.1, 0.0), time, 25)))
            for body in range(len(positions)):
                looks.trail(scene, paths[:, body], looks.NORTH, 0.7)
        looks.dipoles(scene, data, directions(vi, time)[0])
        scene.draw()
        if k == 0:
            triad(axes, view, (-0.04, -0.08, 0.34, 0.34))


HEAT = LinearSegmentedColormap.from_list("blue-green-yellow-red", ["#2B4C9B", "#2E9E6B", "#F4D03F", "#C0261F"])
EMPTY = "#BDBDBD"
MAP_LEVEL = 4                          # 5120 faces
MAP_TIMES = (0.0, 0.25, 0.5, 0.75, 5.0)
NARROW = "molecules_narrow"            # problem of the study


@drawing("Three bodies on the sphere. (a) paths over {t_end} s by the variational integrator at the smallest step,"
         " paler where earlier; balls mark the end, rings the start. Mean energy error (b) and mean unit length error"
         " (c) over all steps against the step size; the paper does not say which Runge-Kutta method of order two it"
         " used, so two methods in two forms are drawn. Crosses at the top: runs that stopped early. The"
         " variational integrator by the printed formulas lies under the other one in (b). {runs}",
         shows=("energy_error",))
def figure2(results: Results) -> Figure:
    problem = problem_of(results, "sphere_nbody")
    figure = new_figure(DOUBLE, 76.0, layout=None)
    _bodies(figure.add_axes((0.0, 0.05, 0.335, 0.86)), _runs(results, problem, "vi_sphere")[0][1])
    figure.text(0.015, 0.945, "(a) trajectories of the bodies", fontsize=8.0)
    left, right = figure.add_axes((0.415, 0.3, 0.235, 0.61)), figure.add_axes((0.755, 0.3, 0.235, 0.61))
    for axes, name, title, label in ((left, "energy_error_mean", "(b) energy error", "mean $|E(t) - E(0)|$ (J)"),
                                     (right, "unit_length_error_mean", "(c) unit length error",
                                      "mean $|1 - q_i\\cdot q_i|$")):
        for key, mark in marks(results).items():
            runs = _runs(results, problem, key)
            steps, errors = np.array([(step, file.attributes[name]) for step, file in runs if not file.failed]
                                     ).reshape(-1, 2).T
            size, place = (7.5, 1.9) if key == "vi_sphere_printed" else (4.2, 2.0)  # under the points of the other form
            axes.plot(steps, errors, **mark.line, marker=mark.marker, markersize=size, zorder=place)
            stopped = [step for step, file in runs if file.failed]
            axes.plot(stopped, [0.97]*len(stopped), transform=axes.get_xaxis_transform(), color=mark.colour,
                      marker="x", markersize=4.0, linestyle="none")
            if key == "vi_sphere" and name == "energy_error_mean":
                slope_triangle(axes, steps, errors, 2)
        logarithmic(axes, xlabel="step $h$ (s)", ylabel=label, title=title)
    figure.legend(handles=[line_handle(mark, marker=True) for mark in marks(results).values()], loc="lower center",
                  bbox_to_anchor=(0.7, 0.0), ncols=2)
    return figure


def _runs(results: Results, problem: str, integrator: str) -> list[tuple[float, RunFile]]:
    """Steps and files of all runs of an integrator (by key), by growing step."""
    return sorted(((cell.spec.step or np.inf, results.file(problem, integrator, cell.resolution))
                   for cell in results.study.cells if (cell.problem, cell.integrator) == (problem, integrator)),
                  key=itemgetter(0))


def _bodies(axes: Axes, file: RunFile) -> None:
    view = View(-125.0, 22.0)
    sphere_body(axes)
    scene = Scene(axes, view, fade=0.8)
    graticule(scene)
    paths = directions(file, np.linspace(0.0, file.attributes["t_end"], 1500))
    for body, colour in zip(range(paths.shape[1]), COLOURS, strict=False):
        trail(scene, 1.002*paths[:, body], colour, 1.3)
        scene.balls([paths[0, body]], "white", 4.5, lift=0.05, edge=colour)
        scene.balls([paths[-1, body]], colour, 7.5, lift=0.05)
    scene.draw(limits=(-1.04, 1.04, -1.04, 1.04))
    triad(axes, view, (-0.02, -0.06, 0.22, 0.22))


@drawing("Molecular dynamics on the sphere, 642 molecules. (a) paths of the molecules over the first 0.25 s, coloured"
         " by their kinetic energy at the start; balls mark the end, the far side is left out. (b) total"
         " energy over all steps: mean and range of each hundredth of the run. {runs}")
def figure6(results: Results) -> Figure:
    problem = problem_of(results, "lennard_jones_sphere")
    file = run_with(results, problem, "vi_sphere", form="increment")
    figure = new_figure(DOUBLE, 80.0, layout=None)
    axes = figure.add_axes((0.0, 0.02, 0.42, 0.9))
    figure.text(0.015, 0.945, "(a) initial trajectories", fontsize=8.0)
    view = View(0.0, 20.0)
    sphere_body(axes)
    scene = Scene(axes, view, fade=0.85)
    graticule(scene)
    kinetic = _kinetic(file, 0)
    norm = PowerNorm(0.5, 0.0, float(kinetic.max()))
    paths = directions(file, np.linspace(0.0, ARC, 24))
    front = view(paths[-1])[:, 2] > -0.05
    for body, colour in enumerate(HEAT(norm(kinetic))[:, :3]):
        if front[body]:
            scene.line(1.002*paths[:, body], tuple(colour), 0.9)
            scene.balls([paths[-1, body]], tuple(colour), 2.6, lift=0.01, edge=None)
    scene.draw(limits=(-1.04, 1.04, -1.04, 1.04))
    axes.set_rasterization_zorder(1000.0)  # hundreds of paths and balls
    triad(axes, view, (-0.02, -0.04, 0.2, 0.2))
    _colour_bar(figure, (0.435, 0.2, 0.012, 0.55), norm, "kinetic energy at the start (J)")
    energy = figure.add_axes((0.65, 0.2, 0.335, 0.71))
    _all_steps(energy, file)
    energy.ticklabel_format(axis="y", useOffset=False)
    return figure


def _all_steps(axes: Axes, file: RunFile) -> None:
    """Energy over all steps: mean and range of each hundredth of the run; single samples would show false beats."""
    mean, low, high = (file["energy"][0] + file.blocks("energy", name) for name in ("mean", "min", "max"))
    ends = np.linspace(0.0, file.attributes["t_end"], mean.size + 1)
    axes.stairs(high, ends, baseline=low, fill=True, color="#F0B7B7", linewidth=0.0, label="range")
    axes.plot(0.5*(ends[1:] + ends[:-1]), mean, label="mean", **VI)
    axes.set(xlim=(0.0, ends[-1]), xlabel="time (s)", ylabel="total energy (J)",
             title="(b) computed total energy, all steps")
    axes.legend(loc="best", fontsize=7.0)


ARC = 0.25  # s, length of the paths of figure 6


def _kinetic(file: RunFile, sample: int) -> np.ndarray:
    """Kinetic energy of each molecule; their masses are 1 kg."""
    omega = file["omega"][sample]
    return 0.5*np.sum(omega*omega, axis=1)


def _colour_bar(figure: Figure, place: Place, norm: Normalize, label: str) -> None:
    bar = figure.colorbar(ScalarMappable(norm, HEAT), cax=figure.add_axes(place), label=label)
    bar.outline.set_linewidth(0.5)
    bar.ax.grid(False)


@drawing("Kinetic energy on the 5120 faces of the icosphere at five times: mean over the molecules in a face and in the"
         " faces that share a corner with it, grey where there is none. Front: the side of the vortices; back: the"
         " opposite side; below the front from narrower vortices of the same kinetic energy, which do not merge at the"
         " start (the paper prints neither width nor strength). One colour scale for all. {runs}")
def figure7(results: Results) -> Figure:
    problem = problem_of(results, "lennard_jones_sphere")
    file = run_with(results, problem, "vi_sphere", form="increment")
    narrow = run_with(results, NARROW, "vi_sphere", form="increment")
    vertices, faces = icosphere(MAP_LEVEL)
    rows = [("front", file, View(0.0, 20.0)), ("back", file, View(180.0, -20.0)), ("narrower", narrow, View(0.0, 20.0))]
    samples = [int(np.argmin(np.abs(file["time"] - time))) for time in MAP_TIMES]
    found = {name: [face_values(vertices, faces, run["q"][k], _kinetic(run, k)) for k in samples]
             for name, run, _ in rows if name != "back"}
    found["back"] = found["front"]
    norm = PowerNorm(0.5, 0.0, float(np.nanmax([values[0] for values in found.values()])))
    figure = new_figure(DOUBLE, 115.0, layout=None)
    for column, k in enumerate(samples):
        for row, (name, _, view) in enumerate(rows):
            axes = figure.add_axes((0.005 + 0.181*column, 0.645 - 0.304*row, 0.176, 0.295))
            _map(axes, view, vertices[faces], found[name][column], norm)
            if column == 0:
                axes.text(0.0, 0.96, name, transform=axes.transAxes, va="bottom", fontsize=7.0)
            if row == 0:
                axes.set_title(f"({'abcde'[column]}) t = {file['time'][k]:g} s", loc="center")
    _colour_bar(figure, (0.922, 0.12, 0.014, 0.72), norm, "mean kinetic energy (J)")
    figure.legend(handles=[Patch(color=EMPTY, label="no molecule near the face")], loc="lower center",
                  bbox_to_anchor=(0.45, -0.01))
    return figure


def _map(axes: Axes, view: View, corners: np.ndarray, values: np.ndarray, norm: Normalize) -> None:
    """Faces turned towards the viewer, slightly darker towards the rim."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    projected = view(corners)
    middle = projected.mean(axis=1)
    front = middle[:, 2]/np.linalg.norm(middle, axis=1) > 0.0
    colours = HEAT(norm(np.nan_to_num(values[front])))[:, :3]
    colours[np.isnan(values[front])] = to_rgb(EMPTY)
    shade = 0.72 + 0.28*np.sqrt(np.clip(middle[front, 2], 0.0, 1.0))
    colours = colours*shade[:, None]
    axes.add_collection(PolyCollection(projected[front][:, :, :2], facecolors=colours, edgecolors=colours,
                                       linewidths=0.25, rasterized=True))
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))


TIE = 1e-9  # a point so close to an edge or corner lies in all faces that meet there


def face_values(vertices: np.ndarray, faces: np.ndarray, points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Value of each face (m,): mean of `values` (n,) over the points (n, 3) in the face and in the faces that share a
    vertex with it. vertices: (v, 3) unit vectors; faces: (m, 3), counter-clockwise from outside. A point within TIE of
    a boundary counts in every face there, but once in a mean. A face without any point in its neighbourhood is NaN."""
    members = ((neighbours(faces, len(vertices)) @ containing(vertices, faces, points)) > 0).astype(float)
    count = np.asarray(members.sum(axis=1)).ravel()
    return np.where(count > 0.0, (members @ values)/np.maximum(count, 1.0), np.nan)


def containing(vertices: np.ndarray, faces: np.ndarray, points: np.ndarray) -> Any:
    """Sparse, 1 where a face holds a point (m, n): it lies inside the three planes through the face's edges."""
    from scipy.sparse import csr_array

    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.stack([np.cross(a, b), np.cross(b, c), np.cross(c, a)])
    normals = normals/np.linalg.norm(normals, axis=2, keepdims=True)
    inside = [np.flatnonzero((normals @ point >= -TIE).all(axis=0)) for point in points]
    number = np.repeat(np.arange(len(points)), [len(found) for found in inside])
    return csr_array((np.ones(number.size, dtype=int), (np.concatenate(inside), number)),
                     shape=(len(faces), len(points)))


def neighbours(faces: np.ndarray, vertices: int) -> Any:
    """Sparse number of vertices that two faces share (m, m); 3 on the diagonal."""
    from scipy.sparse import csr_array

    corner = csr_array((np.ones(faces.size, dtype=int), (np.repeat(np.arange(len(faces)), 3), faces.ravel())),
                       shape=(len(faces), vertices))
    return corner @ corner.T


# of example 5: method, its size, quantity, printed number, label
SCANS = (("vi_sphere", "step", "energy_error_mean", 8.5403e-10, "step (s)"),
         ("ode45", "tolerance", "energy_error_mean", 2.9989e-7, "ode45, energy\ntolerance"),
         ("ode45", "tolerance", "unit_length_error_mean", 1.7594e-4, "ode45, length\ntolerance"))
PLANES = ("xy", "xz", "yz")
REACH = 1.0  # colours reach a factor of ten either way
DARK = 0.7   # share of the reach of the colours from which on text in a field is white


@drawing("{title} (a) Starts whose energy falls over 3 s (red: it grows, blue: it falls; grey: not run, or a"
         " start stopped early); (b) energy change of each start, linear below 1e-4 J; at each"
         " tolerance the methods stand side by side in the order of (a), from above to below. {runs}",
         shows=("energy_change",))
def energy_signs(results: Results) -> Figure:
    methods = list(results.config.integrators)
    changes = {(cell.integrator, cell.spec.tolerance): member_values(
        results.file(cell.problem, cell.integrator, cell.resolution), OWN_QUANTITY)
        for cell in results.study.cells if cell.spec.tolerance is not None}
    tolerances = sorted({tolerance for _, tolerance in changes})
    figure, (left, right) = subplots(DOUBLE, 70.0, 1, 2, width_ratios=(1.0, 1.25))
    found = [[changes.get((key, tolerance), np.empty(0)) for tolerance in tolerances] for key in methods]
    share = np.array([[np.mean(one < 0.0) if one.size and np.isfinite(one).all() else np.nan for one in row]
                      for row in found])
    texts = [[f"{round(value*one.size)}/{one.size}" if np.isfinite(value) else "stopped" if one.size else ""
              for one, value in zip(*lines, strict=True)] for lines in zip(found, share, strict=True)]
    cells(left, share, texts, [_lines(results, key) for key in methods], np.abs(share - 0.5) > DARK/2.0,
          cmap="RdBu", vmin=-0.15, vmax=1.15)
    left.set(facecolor="0.85", title="(a) share that loses energy")
    _strips(right, methods, tolerances, changes, [_lines(results, key).replace("\n", " ") for key in methods])
    right.set_title("(b) energy change over 3 s (J)")
    for axes in (left, right):
        axes.set(xlabel="relative tolerance", xticks=range(len(tolerances)),
                 xticklabels=[f"{tolerance:g}" for tolerance in tolerances])
    return figure


def _lines(results: Results, key: str) -> str:
    """Label of an integrator in two lines."""
    entry = results.config.integrators[key]
    return ((entry.label if entry else None) or key).replace(", ", ",\n")


def _strips(axes: Axes, methods: list[str], tolerances: list[float], changes: dict, labels: list[str]) -> None:
    """One column of points for each method at each tolerance, on a scale that is linear below 1e-4 J."""
    colours = ("#4477AA", "#66CCEE", "#AA3377", "#EE99AA")
    for i, key in enumerate(methods):
        for k, tolerance in enumerate(tolerances):
            found = changes.get((key, tolerance), np.empty(0))
            axes.scatter(np.full(found.size, k + 0.18*(i - 1.5)), found, s=5.0, color=colours[i], linewidths=0.0,
                         label=labels[i] if k == 0 else None)
    axes.axhline(0.0, color="0.4", linewidth=0.6)
    axes.set_yscale("symlog", linthresh=1e-4)
    seen = np.concatenate([[0.0], *changes.values()])
    axes.set_ylim(3.0*np.nanmin(seen), 40.0*np.nanmax(seen))  # with room for the legend
    axes.legend(loc="upper right", fontsize=6.0, handletextpad=0.1, ncols=2)


@drawing("{title} Decimal logarithm of ours over printed (white: equal; a field says the ratio). Columns: planes of the"
         " grid. Top: mean energy variation of the variational integrator over step and duration; middle and bottom:"
         " that of ode45 and its unit length error over tolerance and duration. One setting would have to be white in"
         " all three. {runs}")
def dipole_scan(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 100.0, 3, len(PLANES), height_ratios=(5, 2, 2), sharex=True)
    image = None
    for column, plane in enumerate(PLANES):
        problems = [key for key in results.config.problems if key.startswith(f"{plane}_")]
        ends = [results.study.select(key)[0].spec.t_end for key in problems]
        for axes, (key, size, quantity, printed, label) in zip(panels[:, column], SCANS, strict=True):
            image = _ratios(axes, results, problems, key, size, quantity, printed)
            axes.tick_params(labelleft=column == 0)
            axes.set_ylabel(label if column == 0 else "")
        panels[0, column].set_title(label_of(results, problems[0]).partition(",")[0])
        panels[-1, column].set(xlabel="duration (s)", xticks=range(len(ends)), xticklabels=[f"{end:g}" for end in ends])
    assert image is not None
    figure.colorbar(image, ax=panels, shrink=0.6, label="log10(ours/printed)")
    return figure


def _ratios(axes: Axes, results: Results, problems: list[str], key: str, size: str, quantity: str,
         printed: float) -> AxesImage:
    """Ratio of a number of one method to the printed one, over problems (columns) and steps or tolerances (rows)."""
    table = results.metrics[results.metrics["integrator"] == key]
    sizes = sorted(set(table[size]))
    done = table[table["status"] == "ok"].pivot_table(quantity, size, "problem", "last")
    ratio = done.reindex(sizes, columns=problems).to_numpy(float)/printed
    texts = [[f"{value:.2g}" if value < 100.0 else f"{value:.0f}" for value in line] for line in ratio]
    powers = np.log10(ratio)
    return cells(axes, powers, texts, [f"{value:g}" for value in sizes], np.abs(powers) > DARK*REACH, 5.6,
                 cmap="RdBu_r", vmin=-REACH, vmax=REACH, origin="lower")
