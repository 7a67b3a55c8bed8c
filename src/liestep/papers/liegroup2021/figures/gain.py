"""What variable steps gain over as many constant ones: the paper's figures have one start and one tolerance."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.marks import marks
from liestep.figures.panels import cells, label_of, legend_below
from liestep.figures.style import DOUBLE, Results, drawing, new_figure
from liestep.study.tables.kinds.work import gains

CONSTANT, VARIABLE, QUANTITY, OVER = "rkmk5", "rkmk54", "error_final", "steps"
DARK = 0.5  # share of the colour scale above which figures are black


def _gains(results: Results) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Tolerances, largest first; gains (problems, tolerances), and which of them are lower bounds."""
    cells = [cell for cell in results.study.cells if cell.integrator == VARIABLE]
    tolerances = sorted({cell.spec.tolerance for cell in cells if cell.spec.tolerance is not None}, reverse=True)
    if not tolerances:
        raise InputError(f"study {results.study.name} has no runs of {VARIABLE}, which the figure needs")
    found = [gains(results.select(problem, VARIABLE).sort_values("tolerance", ascending=False),
                   results.select(problem, CONSTANT), QUANTITY, OVER) for problem in results.config.problems]
    return tolerances, np.array([values for values, _ in found]), np.array([bounds for _, bounds in found])


def _map(axes: Axes, results: Results, tolerances: list[float], values: np.ndarray, bounds: np.ndarray) -> None:
    scale = LogNorm(1.0, max(float(np.nanmax(values)), 10.0))
    texts = [[f"{'>' if bound else ''}{value:.2g}" if value < 100.0 else f"{value:.0f}" if value < np.inf else ""
              for value, bound in zip(*lines, strict=True)] for lines in zip(values, bounds, strict=True)]
    cells(axes, values, texts, [label_of(results, problem) for problem in results.config.problems],
          scale(values) <= DARK, cmap="cividis", norm=scale)
    axes.set_facecolor("0.85")
    axes.set_xticks(range(len(tolerances)), [f"{np.log10(tolerance):.0f}" for tolerance in tolerances])
    axes.set_xlabel("log10 of the tolerance")


@drawing("{title}: (a) error at the end of as many constant steps of RKMK5, interpolated between numbers of steps,"
         " divided by that of RKMK(5,4), for each start (elevation of both links; aside: also turning out of the"
         " vertical plane) and tolerance; >: fewer constant steps than the run takes leave the chart, so that the gain"
         " is at least this. (b, c) Errors over steps from the starts with the largest and the smallest median gain."
         " {runs}")
def gain(results: Results) -> Figure:
    """Raises InputError for a study without adaptive runs."""
    tolerances, values, bounds = _gains(results)
    styles = marks(results)
    figure = new_figure(DOUBLE, 92.0)
    shape = figure.add_gridspec(2, 2, width_ratios=(1.6, 1.0))
    _map(figure.add_subplot(shape[:, 0]), results, tolerances, values, bounds)
    figure.axes[0].set_title("(a) gain by variable steps")
    problems, median = list(results.config.problems), np.nanmedian(values, axis=1)
    upper = figure.add_subplot(shape[0, 1])
    lower = figure.add_subplot(shape[1, 1], sharex=upper, sharey=upper)
    for axes, place, letter in ((upper, int(np.nanargmax(median)), "b"), (lower, int(np.nanargmin(median)), "c")):
        for key in (CONSTANT, VARIABLE):
            rows = results.select(problems[place], key)
            rows = rows[rows["status"] == "ok"].sort_values(OVER)
            axes.loglog(rows[OVER], rows[QUANTITY], marker=styles[key].marker, markersize=2.5, **styles[key].line)
        axes.set(title=f"({letter}) {label_of(results, problems[place])}", ylabel="error at the end")
    lower.set_xlabel("steps")
    legend_below(figure, [styles[key] for key in (CONSTANT, VARIABLE)], 2)
    return figure
