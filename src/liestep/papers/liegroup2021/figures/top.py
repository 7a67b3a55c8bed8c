"""Figures 2 and 3 of liegroup2021: the heavy top by symplectic Lie group integrators."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.marks import Mark, marks
from liestep.figures.panels import hollow, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.scenes.motion import parameters
from liestep.figures.scenes.space import Scene, View, graticule, mix, sphere_body, triad
from liestep.figures.style import DOUBLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.simulation.runs.files import RunFile

METHODS = ("slgi_0", "slgi_half", "slgi_1", "slgi_kk")  # keys of the study; SLGIKK is the same map as theta = 1/2
SLOPES = {"slgi_0": 1, "slgi_half": 2}
PROBLEM = "heavy_top"
VIEW = View(-60.0, 22.0)
CLOSE = 0.2  # s, shown large in figure 3
SWINGS = 0.1  # s of the third component in figure 2
FLOOR_COLOUR, FLOORS, NEAR = "0.87", 30.0, 0.1


def _data(file: RunFile) -> tuple[np.ndarray, np.ndarray]:
    """(m l Q^T Gamma0, Q chi), (time, 3) each; the paper's Gamma0 is minus the acceleration of gravity."""
    p = parameters(file)
    gamma = -p["mass"]*p["length"]*np.einsum("tji,j->ti", file["attitude"], p["gravity"])
    return gamma, file["attitude"] @ p["axis"]


def _sphere(axes: Axes, gamma: np.ndarray, colour: str, line: bool) -> float:
    """The curve of m l Q^T Gamma0 on its sphere, of which the radius is returned; without `line` as dots."""
    radius = float(np.linalg.norm(gamma[0]))
    sphere_body(axes)
    scene = Scene(axes, VIEW, fade=0.8)
    graticule(scene)
    points = 1.002*gamma/radius
    shades = [mix(colour, "white", share) for share in np.linspace(0.45, 0.0, len(points))]
    if line:
        scene.line(points, shades[1:], 0.7)
    else:
        scene.balls(points, shades, 0.9, edge=None)
    scene.balls(points[:1], "white", 4.0, lift=0.05, edge="0.2")
    scene.draw(limits=(-1.04, 1.04, -1.04, 1.04))
    triad(axes, VIEW, (-0.06, -0.08, 0.26, 0.26))
    return radius


def _order_panel(axes: Axes, results: Results, problem: str, column: str, floor: bool) -> None:
    """Errors against the step, solid above 30 floors; triangles where the last two errors have their slope."""
    level = results.metrics.loc[results.metrics["problem"] == problem, "floor"].max()
    for key, mark in _styles(results).items():
        steps, errors = ladder(results, problem, key, column)
        hollow(axes, steps, errors, mark, errors >= FLOORS*level)
        order = SLOPES.get(key)
        if order and abs(np.log(errors[1]/errors[0])/np.log(steps[1]/steps[0]) - order) < NEAR:
            slope_triangle(axes, steps, errors, order, below=0.5 if order > 1 else 3.0)
    logarithmic(axes)
    if floor and level > 0.0:
        axes.axhspan(0.3*level, level, color=FLOOR_COLOUR, linewidth=0.0, zorder=0.5)
        axes.set_ylim(bottom=0.3*level)
    axes.set_xlabel("step $h$ (s)")


def _styles(results: Results) -> dict[str, Mark]:
    return {key: marks(results)[key] for key in METHODS}


def _handles(results: Results) -> list[Line2D]:
    return [line_handle(mark, mark.label, marker=True) for mark in _styles(results).values()]


@drawing("Heavy top with the printed data: motion and order. (a) curve of m l Q^T Gamma0 on its sphere by theta = 1/2,"
         " paler where earlier, ring: start; (b) components of Q chi, the third one over the first 0.1 s; both at the"
         " largest step. (c) state error against the step: the larger of the error of the attitude and that of the"
         " angular momentum divided by its largest length. SLGIKK lies on theta = 1/2: it is the same map. {runs}")
def figure2(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 78.0, layout=None)
    files = {key: first_run(results, PROBLEM, key) for key in METHODS}
    gamma, _ = _data(files["slgi_half"])
    ball = figure.add_axes((0.01, 0.17, 0.3, 0.7))
    styles = _styles(results)
    radius = _sphere(ball, gamma, styles["slgi_half"].colour, line=True)
    figure.text(0.012, 0.945, f"(a) $M\\ell\\,Q^{{T}}\\Gamma_0$, radius {radius:.4g} N m", fontsize=8.0)
    figure.text(0.385, 0.945, f"(b) $Q\\chi$, h = {results.study.select(PROBLEM, 'slgi_half')[0].spec.step:g} s",
                fontsize=8.0)
    for k in range(3):
        axes = figure.add_axes((0.385, (0.725, 0.505, 0.2)[k], 0.24, 0.195))
        factor = (1.0, 1.0, 1e3)[k]  # the third one is small: the axis turns almost in a horizontal plane
        for key, mark in styles.items():
            axes.plot(files[key]["time"], factor*_data(files[key])[1][:, k], linewidth=0.7, **mark.line)
        axes.set_ylabel(f"$10^3 (Q\\chi)_{k + 1}$" if factor > 1.0 else f"$(Q\\chi)_{k + 1}$")
        axes.set_xlim(0.0, files["slgi_half"]["time"][-1] if k < 2 else SWINGS)
        axes.tick_params(labelbottom=k > 0)
    axes.set_xlabel("time (s)")
    errors = figure.add_axes((0.725, 0.19, 0.265, 0.73))
    _order_panel(errors, results, PROBLEM, "error", floor=False)
    errors.set_ylabel("state error")
    figure.text(0.725, 0.945, "(c) order", fontsize=8.0)
    figure.legend(handles=_handles(results), loc="lower center", ncols=4, bbox_to_anchor=(0.5, 0.0))
    return figure


@drawing("Heavy top: errors of attitude and angular momentum against the step, with the floor. Top: printed data,"
         " bottom: inertia about the fixed point. Hollow points lie within 30 floors of the reference (grey). {runs}")
def figure2_parts(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 118.0, 2, 2)
    for row, (problem, name) in enumerate(((PROBLEM, "printed data"),
                                           ("bruels_cardona", "inertia about the fixed point"))):
        for column, (part, title, label) in enumerate((("error_attitude", "attitude", "error of $Q$"),
                                                       ("error_angular_momentum", "angular momentum",
                                                        "relative error of $\\pi$"))):
            _order_panel(panels[row, column], results, problem, part, floor=True)
            panels[row, column].set(ylabel=label, title=f"({'abcd'[2*row + column]}) {name}: {title}")
    legend_below(figure, _handles(results))
    return figure


@drawing("Heavy top over 6000 steps: energy and motion. Top: energy error at every step by theta = 1/2 (a) and theta ="
         " 0 (b); inset: the first 0.2 s. Bottom: m l Q^T Gamma0 after every step, paler where earlier;"
         " ring: start. {runs}")
def figure3(results: Results) -> Figure:
    figure, styles = new_figure(DOUBLE, 122.0, layout=None), marks(results)
    for column, (key, theta, power) in enumerate((("slgi_half", "1/2", -3), ("slgi_0", "0", 0))):
        file = first_run(results, PROBLEM, key)
        deviation = (file["energy"] - file["energy"][0])/10.0**power
        energy = figure.add_axes((0.075 + 0.51*column, 0.62, 0.4, 0.32))
        close = energy.inset_axes((0.42, 0.28, 0.5, 0.44))
        energy.plot(file["time"], deviation, color=mix(styles[key].colour, "white", 0.5), linewidth=0.3)
        close.plot(file["time"], deviation, color=styles[key].colour, linewidth=0.7, marker=".", markersize=3.0)
        energy.set_xlim(0.0, file["time"][-1])
        close.set_xlim(0.0, CLOSE)
        energy.set(xlabel="time (s)", ylabel=f"$H - H_0$ ($10^{{{power}}}$ J)" if power else "$H - H_0$ (J)",
                   title=f"({'ab'[column]}) energy error, $\\theta = {theta}$")
        ball = figure.add_axes((0.13 + 0.51*column, 0.0, 0.3, 0.45))
        radius = _sphere(ball, _data(file)[0], styles[key].colour, line=False)
        figure.text(0.03 + 0.51*column, 0.47, f"({'cd'[column]}) $M\\ell\\,Q^{{T}}\\Gamma_0$, radius {radius:.4g} N m",
                    fontsize=8.0)
    return figure
