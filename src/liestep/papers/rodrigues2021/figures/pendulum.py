"""Figure 1 of rodrigues2021, error constants of the drift rules, and charts of the attitude: the pendulum."""

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.panels import legend_below, line_handle
from liestep.figures.selection import first_run, ladder
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, subplots
from liestep.papers.rodrigues2021.figures.common import METHODS, slopes

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
    for key in PAIR:
        file = first_run(results, "pendulum", key)
        third.plot(file["time"], 1e15*file["axial_momentum"], marker=METHODS[key].marker, markevery=10, linewidth=0.8,
                   **METHODS[key].line)
        fourth.plot(file["time"], 1e15*file["lever_length"], marker=METHODS[key].marker, markevery=10, linewidth=0.8,
                    **METHODS[key].line)
    third.set_title("(iii) $10^{15}\\,R\\rho_0\\cdot\\Omega$")
    fourth.set_title("(iv) $10^{15}\\,(|R\\rho_0| - 1)$")
    for axes in (third, fourth):
        axes.set(xlabel="time (s)", xlim=(0.0, file["time"][-1]))
    slopes(fifth, results, "pendulum", "h1_error", {"exact": None, "newmark": 2, "euler": 1})
    fifth.set_title("(v) trajectory, $|q_h - q|/|q|$")
    slopes(sixth, results, "pendulum", "h1_norm_error", {"exact": None, "newmark": None, "euler": 0.5})
    steps, own = ladder(results, "pendulum", "exact", "h1_norm_error_sampled")
    sixth.plot(steps, own, color="0.6", marker=".", linewidth=0.8)
    sixth.set_title("(vi) (37) with (27), exact motion")
    legend_below(figure, [METHODS[key] for key in (*PAIR, "euler")])
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
    names = {key: f"{METHODS[key].label}, c = {value:.4g}" for key, value in CONSTANTS.items()}
    legend_below(figure, [line_handle(METHODS[key], name, marker=True) for key, name in names.items()])
    return figure


@drawing("Map (25) of the pendulum in charts. (a) length of the rescaled Rodrigues vector along the motion, which"
         " passes turns by pi again and again; (b) largest entry of the difference of the attitudes kept in a chart and"
         " as matrices. {runs}")
def chart(results: Results) -> Figure:
    figure, (size, gap) = subplots(DOUBLE, 70.0, 1, 2)
    plain = first_run(results, "chart_500", "newmark")
    trace = np.trace(plain["attitude"], axis1=1, axis2=2)
    skew = plain["attitude"] - np.swapaxes(plain["attitude"], 1, 2)
    sine = np.sqrt(0.125*np.sum(skew*skew, axis=(1, 2)))
    angle = np.arctan2(sine, 0.5*(trace - 1.0))
    shown = plain["time"] <= 100.0
    size.plot(plain["time"][shown], 2.0*np.tan(0.5*angle[shown]), color=METHODS["alpha"].colour, linewidth=0.8)
    size.set(yscale="log", xlabel="time (s)", title="(a) $|\\alpha|$")
    for key in ("alpha", "modified"):
        other, reference = first_run(results, "chart_5000", key), first_run(results, "chart_5000", "newmark")
        difference = np.abs(other["attitude"] - reference["attitude"]).max(axis=(1, 2))
        gap.plot(other["time"][1:], np.maximum.accumulate(difference)[1:], linewidth=0.9, **METHODS[key].line)
    gap.set(xscale="log", yscale="log", xlabel="time (s)", title="(b) largest difference of the attitudes so far")
    legend_below(figure, [METHODS[key] for key in ("alpha", "modified")], marker=False)
    return figure
