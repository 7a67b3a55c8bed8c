"""Figures 2, 6 and 7 of twospheres2009: motions on the sphere, errors against the step, and maps of kinetic energy."""
from operator import itemgetter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, PowerNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy.sparse import csr_array

from liestep.figures.panels import logarithmic, slope_triangle
from liestep.figures.scenes.looks import COLOURS, trail
from liestep.figures.scenes.motion import Place, directions
from liestep.figures.scenes.space import Scene, View, graticule, sphere_body, triad
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, problems_of, run_with
from liestep.geometry.icosphere import icosphere
from liestep.papers.twospheres2009.figures.panels import BLUE, RED, VI
from liestep.simulation.runs.files import RunFile

HEAT = LinearSegmentedColormap.from_list("blue-green-yellow-red", ["#2B4C9B", "#2E9E6B", "#F4D03F", "#C0261F"])
EMPTY = "#BDBDBD"
MAP_LEVEL = 4                          # 5120 faces
MAP_TIMES = (0.0, 0.25, 0.5, 0.75, 5.0)
NARROW = "molecules_narrow"            # problem of the study
METHODS_2 = (  # label, style, integrator id, form
    ("VI", {"color": RED, "marker": "o"}, "vi_sphere", "increment"),
    ("VI, printed formulas", {"color": "#F0A3A0", "marker": "o", "linestyle": "-.", "zorder": 1.9}, "vi_sphere",
     "paper"),
    ("RK2 midpoint, $\\dot q$ form", {"color": BLUE, "marker": "s"}, "rk2_midpoint", "velocity"),
    ("RK2 midpoint, $\\omega$ form", {"color": "#7FA3E0", "marker": "s", "linestyle": "--"}, "rk2_midpoint", "omega"),
    ("RK2 Heun, $\\dot q$ form", {"color": "#123274", "marker": "D", "linestyle": "-."}, "rk2_heun", "velocity"),
    ("RK2 Heun, $\\omega$ form", {"color": "#5BB8D0", "marker": "D", "linestyle": ":"}, "rk2_heun", "omega"),
)


@drawing("Three bodies on the sphere. (a) paths over {t_end} s by the variational integrator at the smallest step,"
         " paler where earlier; balls mark the end, rings the start. Mean energy error (b) and mean unit length error"
         " (c) over all steps against the step size; the paper does not say which Runge-Kutta method of order two it"
         " used, so two methods in two forms are drawn. Crosses at the top: runs that stopped early. The"
         " variational integrator by the printed formulas lies under the other one in (b). {runs}")
def figure2(results: Results) -> Figure:
    problem = problems_of(results, "sphere_nbody")[0]
    figure = new_figure(DOUBLE, 76.0, layout=None)
    _bodies(figure.add_axes((0.0, 0.05, 0.335, 0.86)), _runs(results, problem, "vi_sphere", "increment")[0][1])
    figure.text(0.015, 0.945, "(a) trajectories of the bodies", fontsize=8.0)
    left, right = figure.add_axes((0.415, 0.3, 0.235, 0.61)), figure.add_axes((0.755, 0.3, 0.235, 0.61))
    for axes, name, title, label in ((left, "energy_error_mean", "(b) energy error", "mean $|E(t) - E(0)|$ (J)"),
                                     (right, "unit_length_error_mean", "(c) unit length error",
                                      "mean $|1 - q_i\\cdot q_i|$")):
        for method, style, integrator, form in METHODS_2:
            runs = _runs(results, problem, integrator, form)
            steps, errors = np.array([(step, file.attributes[name]) for step, file in runs if not file.failed]
                                     ).reshape(-1, 2).T
            size = 7.5 if form == "paper" else 4.2  # lies under the points of the other form
            axes.plot(steps, errors, label=method, markersize=size, **style)
            stopped = [step for step, file in runs if file.failed]
            axes.plot(stopped, [0.97]*len(stopped), transform=axes.get_xaxis_transform(), color=style["color"],
                      marker="x", markersize=4.0, linestyle="none")
            if form == "increment" and name == "energy_error_mean":
                slope_triangle(axes, steps, errors, 2)
        logarithmic(axes, xlabel="step $h$ (s)", ylabel=label, title=title)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.665, 0.0), ncols=3, columnspacing=0.9,
                  handlelength=2.2)
    return figure


def _runs(results: Results, problem: str, integrator: str, form: str) -> list[tuple[float, RunFile]]:
    """Steps and files of all runs, by growing step."""
    return sorted(((cell.spec.step or np.inf, results.file(problem, cell.integrator, cell.resolution))
                   for cell in results.study.cells if (cell.problem, cell.spec.integrator) == (problem, integrator)
                   and cell.spec.options.get("form") == form), key=itemgetter(0))


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
    problem = problems_of(results, "lennard_jones_sphere")[0]
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
        if not front[body]:
            continue
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
    problem = problems_of(results, "lennard_jones_sphere")[0]
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


def containing(vertices: np.ndarray, faces: np.ndarray, points: np.ndarray) -> csr_array:
    """1 where a face holds a point (m, n): it lies inside the three planes through the face's edges."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.stack([np.cross(a, b), np.cross(b, c), np.cross(c, a)])
    normals = normals/np.linalg.norm(normals, axis=2, keepdims=True)
    inside = [np.flatnonzero((normals @ point >= -TIE).all(axis=0)) for point in points]
    number = np.repeat(np.arange(len(points)), [len(found) for found in inside])
    return csr_array((np.ones(number.size, dtype=int), (np.concatenate(inside), number)),
                     shape=(len(faces), len(points)))


def neighbours(faces: np.ndarray, vertices: int) -> csr_array:
    """Number of vertices that two faces share (m, m); 3 on the diagonal."""
    corner = csr_array((np.ones(faces.size, dtype=int), (np.repeat(np.arange(len(faces)), 3), faces.ravel())),
                       shape=(len(faces), vertices))
    return corner @ corner.T
