"""Figures 4 to 7 of rodrigues2021: energies, momenta and errors of the ring."""

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.panels import legend_below
from liestep.figures.selection import first_run
from liestep.figures.style import DOUBLE, Results, drawing, subplots
from liestep.papers.rodrigues2021.figures.common import METHODS, slopes

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
        for name, (colour, dash, _) in ENERGIES.items():
            axes.plot(file["time"][shown], file[name][shown], color=colour, linestyle=dash, linewidth=1.0)
        axes.set(title=title, xlim=(0.0, SHOWN), xlabel="time (s)")
    panels[0].set_ylabel("energy (J)")
    handles = [axes.get_lines()[k] for k in range(len(ENERGIES))]
    for handle, (_, _, label) in zip(handles, ENERGIES.values(), strict=True):
        handle.set_label(label)
    legend_below(figure, handles, 4)
    return figure


@drawing("Total energy of the ring. (a) figure 5 of the paper: maps (25) and (27) at h = 0.01 to 500 s; (b) ten times"
         " longer, means over hundredths of the run, with contacts between particles and without. The contact energy"
         " s^(5/2) has two continuous derivatives only, and the energy drifts upwards; without these contacts it does"
         " not. {runs}")
def figure5(results: Results) -> Figure:
    figure, (short, long) = subplots(DOUBLE, 78.0, 1, 2)
    for key in ("euler", "newmark"):
        file = first_run(results, "ring_500", key)
        short.plot(file["time"], file["energy"], linewidth=0.8, **METHODS[key].line)
    short.set(ylim=(0.0, 45.0), ylabel="total energy (J)", title="(a) 500 s")
    for problem, dash in (("ring_5000", "-"), ("smooth_5000", ":")):
        for key in ("euler", "newmark"):
            file = first_run(results, problem, key)
            means = file["energy_blocks"][0]
            centres = (np.arange(len(means)) + 0.5)*file["time"][-1]/len(means)
            long.plot(centres, 100.0*means/file["energy"][0], color=METHODS[key].colour, linestyle=dash, linewidth=1.0)
    long.set(ylabel="mean deviation (% of the energy)", title="(b) 5000 s: with contacts (line), without (dots)")
    for axes in (short, long):
        axes.set(xlabel="time (s)", xlim=(0.0, file["time"][-1] if axes is long else 500.0))
    legend_below(figure, [METHODS[key] for key in ("newmark", "euler")], marker=False)
    return figure


@drawing("Momenta of the ring, figure 6 of the paper, by maps (23) (circles) and (25) (triangles): top with the printed"
         " shear law, bottom with the frame-indifferent one. Left: linear momentum, of which P_x changes while the ring"
         " touches the wall; middle: what of P_y and P_z; right: sum of J Omega (34), and the total angular momentum"
         " about the origin. {runs}")
def figure6(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 112.0, 2, 3)
    for row, (problem, law) in enumerate((("ring", "printed"), ("objective", "frame-indifferent"))):
        for key in ("exact", "newmark"):
            file, mark = first_run(results, problem, key), METHODS[key]
            shown = file["time"] <= SHOWN
            time, every = file["time"][shown], {"markevery": 25, "marker": mark.marker}
            linear = file["linear_momentum"][shown]
            panels[row, 0].plot(time, linear[:, 0], color=mark.colour, linewidth=0.9, **every)
            for k, colour in ((1, "#0077BB"), (2, "#EE7733")):
                panels[row, 1].plot(time, 1e14*linear[:, k], color=colour, linewidth=0.8, **every)
            for name, colour in (("spin_momentum", "#009988"), ("momentum_map", "#AA4499")):
                panels[row, 2].plot(time, np.abs(file[name][shown] - file[name][0]).max(axis=1) + 1e-18, color=colour,
                                    linewidth=0.8, **every)
        panels[row, 0].set_title(f"({'ad'[row]}) $P_x$, {law} shear")
        panels[row, 1].set_title(f"({'be'[row]}) $10^{{14}}\\,P_y$ (blue), $P_z$ (orange)")
        panels[row, 2].set(title=f"({'cf'[row]}) $|\\Sigma J\\Omega|$ (green), $|L|$ (purple)", yscale="log",
                           ylim=(1e-18, 1.0))
        for axes in panels[row]:
            axes.set_xlim(0.0, SHOWN)
    for axes in panels[1]:
        axes.set_xlabel("time (s)")
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
    legend_below(figure, [METHODS[key] for key in ("exact", "newmark", "euler")])
    return figure
