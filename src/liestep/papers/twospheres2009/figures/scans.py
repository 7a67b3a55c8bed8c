"""What the data that twospheres2009 does not print decide: the sign of RK45's energy change in example 4, and the
numbers of example 5 over layout, step and duration."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from liestep.claims.selection import OWN_QUANTITY, member_values
from liestep.figures.panels import cells, label_of
from liestep.figures.style import DOUBLE, Results, drawing, subplots

PRINTED = {"energy_error_mean": 8.5403e-10}                                             # of vi_sphere, example 5
PRINTED_RK = {"energy_error_mean": 2.9989e-7, "unit_length_error_mean": 1.7594e-4}      # of RK45
PLANES = ("xy", "xz", "yz")
REACH = 1.0  # colours reach a factor of ten either way
DARK = 0.7   # share of the reach of the colours from which on text in a field is white


@drawing("{title} (a) Starts whose energy falls over 3 s (red: it grows, blue: it falls; grey: not run, or a"
         " start stopped early); (b) energy change of each start, linear below 1e-4 J; at each"
         " tolerance the methods stand side by side in the order of (a), from above to below. {runs}")
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
    left.set_facecolor("0.85")
    texts = [[f"{round(value*one.size)}/{one.size}" if np.isfinite(value) else "stopped" if one.size else ""
              for one, value in zip(*lines, strict=True)] for lines in zip(found, share, strict=True)]
    cells(left, share, texts, [_lines(results, key) for key in methods], np.abs(share - 0.5) > DARK/2.0,
          cmap="RdBu", vmin=-0.15, vmax=1.15)
    left.set_xticks(range(len(tolerances)), [f"{tolerance:g}" for tolerance in tolerances])
    left.set_title("(a) share that loses energy")
    _strips(right, methods, tolerances, changes, [_lines(results, key).replace("\n", " ") for key in methods])
    right.set_title("(b) energy change over 3 s (J)")
    for axes in (left, right):
        axes.set_xlabel("relative tolerance")
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
    largest = max((float(np.abs(found[np.isfinite(found)]).max()) for found in changes.values()
                   if np.isfinite(found).any()), default=1.0)
    axes.set_ylim(-0.1*largest, 4.0*largest)
    axes.legend(loc="upper right", fontsize=6.0, handletextpad=0.1)
    axes.set_xticks(range(len(tolerances)), [f"{tolerance:g}" for tolerance in tolerances])


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
        rows = (("vi_sphere", "step", PRINTED, "energy_error_mean", "step (s)"),
                ("ode45", "tolerance", PRINTED_RK, "energy_error_mean", "energy\nRelTol"),
                ("ode45", "tolerance", PRINTED_RK, "unit_length_error_mean", "length\nRelTol"))
        for axes, (key, size, printed, quantity, label) in zip(panels[:, column], rows, strict=True):
            image = _map(axes, results, problems, key, size, quantity, printed[quantity])
            axes.tick_params(labelleft=column == 0)
            axes.set_ylabel(label if column == 0 else "")
        panels[0, column].set_title(label_of(results, problems[0]).partition(",")[0])
        panels[-1, column].set_xticks(range(len(ends)), [f"{end:g}" for end in ends])
        panels[-1, column].set_xlabel("duration (s)")
    assert image is not None
    figure.colorbar(image, ax=panels, shrink=0.6, label="log10(ours/printed)")
    return figure


def _map(axes: Axes, results: Results, problems: list[str], key: str, size: str, quantity: str,
         printed: float) -> AxesImage:
    """Ratio of a number of one method to the printed one, over problems (columns) and steps or tolerances (rows)."""
    table = results.metrics[results.metrics["integrator"] == key]
    sizes = sorted(set(table[size]))
    ratio = np.full((len(sizes), len(problems)), np.nan)
    for _, row in table.iterrows():
        if row["problem"] in problems and row["status"] == "ok":
            ratio[sizes.index(row[size]), problems.index(row["problem"])] = row[quantity]/printed
    texts = [[f"{value:.2g}" if value < 100.0 else f"{value:.0f}" for value in line] for line in ratio]
    powers = np.log10(ratio)
    return cells(axes, powers, texts, [f"{value:g}" for value in sizes], np.abs(powers) > DARK*REACH, 5.6,
                 cmap="RdBu_r", vmin=-REACH, vmax=REACH, origin="lower")
