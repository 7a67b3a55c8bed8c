"""What the data that twospheres2009 does not print decide: the sign of RK45's energy change in example 4, and the
numbers of example 5 over layout, step and duration."""
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from liestep.figures.panels import label_of
from liestep.figures.style import DOUBLE, drawing, new_figure

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

PRINTED = {"energy_error_mean": 8.5403e-10}                                             # of vi_sphere, example 5
PRINTED_RK = {"energy_error_mean": 2.9989e-7, "unit_length_error_mean": 1.7594e-4}      # of RK45
PLANES = ("xy", "xz", "yz")
REACH = 1.0  # colours reach a factor of ten either way


@drawing("{title} (a) Starts whose energy falls over 3 s, of those that reached the end (red: it grows, blue: falls);"
         " (b) energy change of each start, on a scale that is linear below 1e-4 J; at each tolerance the methods stand"
         " side by side in the order of (a), from above to below. {runs}")
def energy_signs(results: "StudyResults") -> Figure:
    methods = list(results.config.integrators)
    changes = {(cell.integrator, cell.spec.tolerance): _changes(results, cell) for cell in results.study.cells}
    tolerances = sorted({tolerance for _, tolerance in changes})
    figure = new_figure(DOUBLE, 78.0)
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    share = np.array([[np.mean(found[np.isfinite(found)] < 0.0) if np.isfinite(found).any() else np.nan
                       for found in (changes[key, tolerance] for tolerance in tolerances)] for key in methods])
    left.imshow(share, cmap="RdBu", vmin=0.0, vmax=1.0, aspect="auto")
    for i, key in enumerate(methods):
        for k, tolerance in enumerate(tolerances):
            found = changes[key, tolerance]
            whole = found[np.isfinite(found)]
            text = f"{np.count_nonzero(whole < 0.0)}/{whole.size}" if whole.size else "stopped"
            left.annotate(text, (k, i), ha="center", va="center", fontsize=6.5)
    labels = [results.config.integrators[key].label for key in methods]
    left.set_yticks(range(len(methods)), labels)
    left.set_xticks(range(len(tolerances)), [f"{tolerance:g}" for tolerance in tolerances])
    left.grid(False)
    left.set_title("(a) share that loses energy")
    _strips(right, methods, tolerances, changes)
    right.set_title("(b) energy change over 3 s (J)")
    for axes in (left, right):
        axes.set_xlabel("relative tolerance")
    return figure


def _changes(results: "StudyResults", cell) -> np.ndarray:
    """(members,) E(end) - E(0), NaN for one that stopped early."""
    energy = np.asarray(results.file(cell.problem, cell.integrator, cell.resolution)["energy"])
    return energy[:, -1] - energy[:, 0]


def _strips(axes: Axes, methods: list[str], tolerances: list[float], changes: dict) -> None:
    """One column of points for each method at each tolerance, on a scale that is linear below 1e-4 J."""
    colours = ("#4477AA", "#66CCEE", "#AA3377", "#EE99AA")
    for i, key in enumerate(methods):
        for k, tolerance in enumerate(tolerances):
            found = changes[key, tolerance]
            axes.scatter(np.full(found.size, k + 0.18*(i - 1.5)), found, s=5.0, color=colours[i], linewidths=0.0)
    axes.axhline(0.0, color="0.4", linewidth=0.6)
    axes.set_yscale("symlog", linthresh=1e-4)
    axes.set_xticks(range(len(tolerances)), [f"{tolerance:g}" for tolerance in tolerances])


@drawing("{title} Decimal logarithm of ours over printed (white: equal; a field says the ratio). Columns: planes of the"
         " grid. Top: mean energy variation of the variational integrator over step and duration; middle and bottom:"
         " that of ode45 and its unit length error over tolerance and duration. One setting would have to be white in"
         " all three. {runs}")
def dipole_scan(results: "StudyResults") -> Figure:
    figure = new_figure(DOUBLE, 118.0)
    panels = figure.subplots(3, len(PLANES), height_ratios=(6, 2, 2), sharex=True)
    image = None
    for column, plane in enumerate(PLANES):
        problems = [key for key in results.config.problems if key.startswith(f"{plane}_")]
        ends = [results.study.select(key)[0].spec.t_end for key in problems]
        rows = (("vi_sphere", "step", PRINTED, "energy_error_mean", "step (s)"),
                ("ode45", "tolerance", PRINTED_RK, "energy_error_mean", "energy\nRelTol"),
                ("ode45", "tolerance", PRINTED_RK, "unit_length_error_mean", "length\nRelTol"))
        for axes, (key, size, printed, quantity, label) in zip(panels[:, column], rows, strict=True):
            image = _map(axes, results, problems, key, size, quantity, printed[quantity])
            if column == 0:
                axes.set_ylabel(label)
        panels[0, column].set_title(label_of(results, problems[0]).partition(",")[0])
        panels[-1, column].set_xticks(range(len(ends)), [f"{end:g}" for end in ends])
        panels[-1, column].set_xlabel("duration (s)")
    assert image is not None
    figure.colorbar(image, ax=panels, shrink=0.6, label="log10(ours/printed)")
    return figure


def _map(axes: Axes, results: "StudyResults", problems: list[str], key: str, size: str, quantity: str,
         printed: float) -> AxesImage:
    """Ratio of a number of one method to the printed one, over problems (columns) and steps or tolerances (rows)."""
    table = results.metrics[results.metrics["integrator"] == key]
    sizes = sorted(set(table[size]))
    ratio = np.full((len(sizes), len(problems)), np.nan)
    for _, row in table.iterrows():
        if row["problem"] in problems and row["status"] == "ok":
            ratio[sizes.index(row[size]), problems.index(row["problem"])] = row[quantity]/printed
    image = axes.imshow(np.log10(ratio), cmap="RdBu_r", vmin=-REACH, vmax=REACH, aspect="auto", origin="lower")
    for (i, k), value in np.ndenumerate(ratio):
        axes.annotate(f"{value:.2g}", (k, i), ha="center", va="center", fontsize=5.6)
    axes.set_yticks(range(len(sizes)), [f"{value:g}" for value in sizes])
    axes.grid(False)
    return image
