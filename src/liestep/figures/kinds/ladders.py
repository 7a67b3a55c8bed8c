"""Generic figures against the step, one panel for each problem: state error, energy error and length error, iterations,
where runs end; of cost: work-precision, scaling with bodies."""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.compile.counters import evaluations_of
from liestep.errors import InputError
from liestep.figures.labels import MANY, EndLabel, end_labels, folded, name_together
from liestep.figures.marks import DASHDOT, DOTTED, Mark, marks
from liestep.figures.panels import by_method, grid, hollow, label_of, legend_below, logarithmic, slope_triangle
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, subplots
from liestep.files.textfiles import TableRow
from liestep.study.tables.kinds.orders import orders_table
from liestep.study.tables.metrics import over_steps
from liestep.study.tables.order import FLOOR_FACTOR, LARGEST_ERROR

NEAR = 0.1  # a whole number: an exponent that is so close to it, or within its uncertainty, has a triangle
PANEL = 38.0  # mm, height of a panel without its title and the label of its axis
ALIKE = 0.12  # decades: curves that are nowhere farther apart coincide
LEFT_OUT = ("numbers: observed order ± uncertainty; *: mean slope of a curve that is short or still changes its slope;"
            "\nno number: adaptive steps, or too few errors above round-off and below 0.1.")


def _ladder(results: Results, column: str, label: str, order: str | None, floor: bool) -> Figure:
    """Panels of `column` over the step, one legend. order: prefix in the order table ("", "energy_"), None: none."""
    metrics = over_steps(results.metrics)
    metrics = metrics.loc[metrics[column].notna() & (metrics["members"] == 1),
                          list(dict.fromkeys(("problem", "integrator", "status", "step", "error", "floor",
                                              "floor_reference", column)))]
    problems = [problem for problem in results.config.problems if (metrics["problem"] == problem).any()]
    orders = _orders(results) if order is not None else {}
    figure, axes = grid([label_of(results, problem) for problem in problems], 54.0, extra=12.0)
    styles, used, numbered = marks(results), set(), False
    for panel, problem in zip(axes, problems, strict=True):
        rows = metrics[metrics["problem"] == problem]
        complete = dict(iter(rows[rows["status"] == "ok"].groupby("integrator")))
        shown: list[_Curve] = []
        plain: list[tuple[Mark, np.ndarray]] = []  # those without orders
        anchors: dict[int, tuple[float, ...]] = {}
        for key in (key for key in styles if key in complete):
            runs = complete[key]
            x, y = runs["step"].to_numpy(float), runs[column].to_numpy(float)
            solid = admissible(runs) if floor else np.ones(len(x), dtype=bool)
            hollow(panel, x, y, styles[key], solid)
            used.add(key)
            finite = np.isfinite(y) & (y > 0.0)
            if finite.any() and order is None:
                plain.append((styles[key], np.stack([x, y])[:, finite][:, np.argsort(x[finite])]))
            if (found := orders.get((problem, key))) is None:
                continue
            if finite.any():
                shown.append(_Curve(styles[key], dict(zip(x[finite], y[finite], strict=True)), found, order or ""))
            number = _whole_order(found, order or "")
            if number is not None and solid.sum() > 1:
                constant = float(np.median(y[solid]/x[solid]**number))
                if number not in anchors or constant < anchors[number][0]:  # below the best is room for a triangle
                    anchors[number] = (constant, x[solid], y[solid])
        logarithmic(panel)
        if floor:
            _floor_band(panel, rows)
        for number, (_, x, y) in anchors.items() if len(complete) <= MANY else ():  # of more they would lie on curves
            slope_triangle(panel, x, y, number)
        panel.set(xlabel="step $h$ (s)", ylabel=label)
        numbered |= any(curve.star is not None for curve in shown)
        end_labels(panel, _labels(shown), PANEL)
        if metrics["integrator"].nunique() <= MANY:  # of more, all names stand there
            name_together(panel, plain, PANEL)
    legend_below(figure, [styles[key] for key in styles if key in used], note=LEFT_OUT if numbered else "")
    return figure


@dataclass(frozen=True)
class _Curve:
    """Points of one method, step -> error, with the row of its order."""

    mark: Mark
    points: dict[float, float]
    row: TableRow
    prefix: str

    def alike(self, other: "_Curve") -> bool:
        both = self.points.keys() & other.points.keys()
        return bool(both) and self.star == other.star and abs(self.slope - other.slope) < 0.5 and all(
            abs(np.log10(self.points[x]/other.points[x])) < ALIKE for x in both)

    @property
    def star(self) -> bool | None:
        """Whether the number is the slope of a line only; None: there is none."""
        kind = _estimate(self.row, self.prefix)[0]
        return None if self.row["adaptive"] or kind not in NUMBERED or len(self.points) < 2 else kind != "asymptotic"

    @property
    def slope(self) -> float:
        """Mean slope; curves that cross have different ones."""
        x, y = np.log([*self.points]), np.log([*self.points.values()])
        return float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else 0.0


NUMBERED = ("asymptotic", "short range", "pre-asymptotic")  # classes of estimates that have a number


def _labels(shown: Sequence[_Curve]) -> list[EndLabel]:
    """One label for all curves that coincide, at the end of the first: their order, and their names."""
    groups: list[list[_Curve]] = []
    for curve in shown:
        own = next((group for group in groups if group[0].alike(curve)), None)
        groups.append([curve]) if own is None else own.append(curve)
    return [EndLabel(x, group[0].points[x], _order_text(group), tuple(curve.mark for curve in group))
            for group in groups for x in (max(group[0].points),)]


@lru_cache(maxsize=1)
def _orders(results: Results) -> dict[tuple[str, str], TableRow]:
    return {(row["problem"], row["integrator"]): row for row in orders_table(over_steps(results.metrics))}


def _estimate(row: TableRow, prefix: str) -> tuple[str, float, float]:
    """Class, exponent and uncertainty."""
    return row[f"{prefix}class"], row[f"{prefix}order" if prefix else "p"], row[f"{prefix}u"]


def _order_text(group: Sequence[_Curve]) -> str:
    """Observed order of curves that coincide, with an uncertainty that holds those of all."""
    if group[0].star is None:
        return ""
    if group[0].star:
        return f"{np.mean([curve.slope for curve in group]):.2f}*"
    estimates = [_estimate(curve.row, curve.prefix)[1:] for curve in group]
    middle = float(np.mean([exponent for exponent, _ in estimates]))
    return f"{middle:.2f} ± {max(abs(exponent - middle) + own for exponent, own in estimates):.2f}"


def _whole_order(row: TableRow, prefix: str) -> int | None:
    """The whole number that a curve's exponent is, None where it is none: problems may show more than theory."""
    kind, exponent, uncertainty = _estimate(row, prefix)
    if row["adaptive"] or kind != "asymptotic":
        return None
    number = round(exponent)
    return number if number > 0 and abs(exponent - number) <= max(uncertainty, NEAR) else None


def admissible(runs: pandas.DataFrame) -> np.ndarray:
    """Points that order estimates may use."""
    error, floor = runs["error"].to_numpy(float), runs["floor"].fillna(runs["floor_reference"]).to_numpy(float)
    return (error >= FLOOR_FACTOR*floor) & (error <= LARGEST_ERROR)


def _floor_band(axes: Axes, rows: pandas.DataFrame) -> None:
    """Grey from the disagreement of the two reference engines downwards, where the limits of the errors show it."""
    level, errors = rows["floor_reference"].max(), rows.loc[rows["error"] > 0.0, "error"]
    bottom, top = errors.min()/3.0, 3.0*errors.max()
    axes.set_ylim(bottom, top)
    if level > bottom:
        axes.axhspan(bottom, level, color="0.87", linewidth=0.0, zorder=0.5)


@drawing()
def convergence(results: Results) -> Figure:
    return _ladder(results, "error", "state error", "", floor=True)


@drawing()
def energy_convergence(results: Results) -> Figure:
    if results.metrics["energy_error_mean_relative"].notna().any():
        return _ladder(results, "energy_error_mean_relative", "mean $|E - E(0)|/E_s$", "energy_", floor=False)
    return _ladder(results, "energy_error_mean", "mean $|E - E(0)|$ (J)", None, floor=False)


@drawing()
def length_convergence(results: Results) -> Figure:
    if results.metrics.get("unit_length_error_mean", pandas.Series()).notna().any():
        return _ladder(results, "unit_length_error_mean", "mean $|1 - q_i\\cdot q_i|$", None, floor=False)
    return _ladder(results, "quaternion_norm_error_max", "largest $|1 - Q\\cdot Q|$", None, floor=False)


@drawing()
def symplectic_error(results: Results) -> Figure:
    if "symplectic_error" not in results.metrics:
        raise InputError(f"study {results.study.name} has no changes of the symplectic form: ask for exponents")
    measured = results.metrics[results.metrics["symplectic_error"].notna()]
    styles, several = marks(results), measured["problem"].nunique() > 1
    figure, axes = subplots(DOUBLE, 6.0*len(measured) + 16.0)
    for place, row in enumerate(measured.itertuples()):
        axes.plot([max(row.symplectic_error, 1e-17)], [place], **styles[row.integrator].points)
    axes.set_yticks(range(len(measured)), [f"{label_of(results, row.problem)}, "*several + styles[row.integrator].label
                                        for row in measured.itertuples()])
    axes.set(ylim=(len(measured) - 0.5, -0.9), xscale="log", xlabel="change of the symplectic form by a step")
    return figure


COSTS = (("evaluations", "evaluations"), ("exponentials", "exponentials"), ("iterations", "solver iterations"),
         ("seconds", "seconds"))
# other runtimes: their overhead is not that of the core
RUNTIMES = {"scipy_dop853": "DOP853 of scipy", "heyoka_taylor": "Taylor series of heyoka"}
OTHERS = (Mark("#9A9A9A", "", DASHDOT, ""), Mark("#B08D57", "", DOTTED, ""))


@drawing()
def work_precision(results: Results) -> Figure:
    metrics = results.metrics
    metrics = metrics.assign(evaluations=evaluations_of(metrics))[metrics["error"].notna()]
    metrics = metrics[["problem", "integrator", "error", "floor", "floor_reference", *(name for name, _ in COSTS)]]
    least_errors = metrics.groupby("problem")["error"].min()
    problems = [problem for problem in results.config.problems if least_errors.get(problem, np.inf) < np.inf]
    problems = [problem for problem in problems if least_errors[problem] <= LARGEST_ERROR] or problems
    shown = metrics[metrics["problem"].isin(problems)]
    least = min(2, metrics["integrator"].nunique())
    costs = [(name, label) for name, label in COSTS if (shown[name] > 0).any()
             and shown.loc[shown[name] > 0, "integrator"].nunique() >= least]
    if not problems:
        raise InputError(f"study {results.study.name} has no state errors, which work_precision needs: set"
                         " `reference: true`")
    figure = new_figure(DOUBLE, 44.0*len(problems) + 15.0)
    axes = figure.subplots(len(problems), len(costs), squeeze=False, sharey="row", sharex="col")
    used: dict[Mark, None] = {}
    for row, problem in enumerate(problems):
        here = metrics[metrics["problem"] == problem]
        for panel, (name, label) in zip(axes[row], costs, strict=True):
            panel.set_title(f"({chr(97 + row)}) over {label}")
            drawn = by_method(results, {panel: here[here[name] > 0]}, partial(_cost, name))
            used |= dict.fromkeys(drawn)
            logarithmic(panel)
            if not drawn:
                panel.remove()
        for panel in [panel for panel in axes[row] if panel in figure.axes][:1]:
            panel.set_title(folded(f"({chr(97 + row)}) {label_of(results, problem)}", 90//len(costs)))
            panel.set_ylabel("state error")
            panel.tick_params(axis="y", which="both", labelleft=True)
    for column, (_, label) in enumerate(costs):
        kept = [panel for panel in axes[:, column] if panel in figure.axes]
        kept[-1].set_xlabel(label)
        for panel, below in zip(axes[:, column], [*axes[1:, column], None], strict=True):
            panel.tick_params(axis="x", which="both", labelbottom=below not in kept)
    others = _others(results, axes[:, -1], problems) if costs[-1][0] == "seconds" else []
    legend_below(figure, [*(mark for mark in marks(results).values() if mark in used), *others])
    return figure


def _cost(name: str, axes: Axes, mark: Mark, rows: pandas.DataFrame) -> None:
    """Curve of one integrator over this cost."""
    hollow(axes, rows[name], rows["error"], mark, admissible(rows), line=name != "seconds")
    if name == "seconds":  # a line through those that no other run beats in time and error: measured times scatter
        seconds, errors = rows[name].to_numpy(float), rows["error"].to_numpy(float)
        kept = front(seconds, errors)
        axes.plot(seconds[kept], errors[kept], **mark.line, linewidth=0.9)


def front(seconds: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Indices of the runs that are more accurate than every faster one, by growing time."""
    order = np.lexsort((errors, seconds))
    order = order[np.isfinite(errors[order]) & (errors[order] > 0.0)]
    return order[np.diff(np.minimum.accumulate(errors[order]), prepend=np.inf) < 0.0]


def _others(results: Results, axes: np.ndarray, problems: list[str]) -> list[Mark]:
    """Timings of other runtimes, from timings.csv."""
    table = results.table("timings")
    table = table[(table["runtime"] != "core") & table["error"].notna() & table["problem"].isin(problems)]
    handles = []
    for mark, name in zip(OTHERS, dict.fromkeys(table["integrator"]), strict=False):
        for panel, problem in zip(axes, problems, strict=True):
            rows = table[(table["problem"] == problem) & (table["integrator"] == name)].sort_values("tolerance")
            seconds, errors = rows["seconds"].to_numpy(float), rows["error"].to_numpy(float)
            kept = front(seconds, errors)
            panel.plot(seconds[kept], errors[kept], **mark.line, linewidth=1.3, zorder=1.5, marker="."*(len(kept) == 1))
        handles.append(replace(mark, label=f"{RUNTIMES.get(name, name)}, called from Python"))
    return handles


@drawing()
def iterations(results: Results) -> Figure:
    metrics = results.metrics
    metrics = metrics[(metrics["iterations"] > 0) & (metrics["status"] == "ok")]
    several = metrics.groupby("problem")["step"].nunique()
    problems = [problem for problem in results.config.problems if several.get(problem, 0) > 1]
    figure, axes = grid([label_of(results, problem) for problem in problems], 48.0, extra=12.0)
    metrics = metrics.assign(each=metrics["iterations"]/_solves(metrics)).sort_values("step", kind="stable")
    tables = {panel: metrics[metrics["problem"] == problem] for panel, problem in zip(axes, problems, strict=True)}
    used = by_method(results, tables, lambda panel, mark, rows: panel.plot(
        rows["step"], rows["each"], **mark.line, marker=mark.marker))
    for panel in axes:
        logarithmic(panel, y=False)
        panel.set(ylim=(0.0, None), xlabel="step $h$ (s)", ylabel="iterations per stage")
    legend_below(figure, used)
    return figure


def _solves(rows: pandas.DataFrame) -> pandas.Series:
    """Implicit solves of runs: one for each gradient but the first, which opens the run."""
    return (rows["force_evaluations"] - 1).clip(lower=1)


@drawing()
def scaling(results: Results) -> Figure:
    bodies = [len(next(iter(cell.spec.initial.values()))) for cell in results.study.cells]
    metrics = results.metrics.assign(bodies=bodies)
    metrics = metrics[metrics["status"] == "ok"]
    sizes = metrics.groupby("system")["bodies"].nunique()
    systems = [name for name in dict.fromkeys(metrics["system"]) if sizes[name] > 1]
    if not systems:
        raise InputError(f"study {results.study.name} has no system in several sizes, which the figure scaling needs")
    here = metrics[metrics["system"] == systems[0]]
    here = here.sort_values(["bodies", "step"]).groupby(["integrator", "bodies"], sort=False).first().reset_index()
    here = here.assign(per_step=here["iterations"]/_solves(here), cost=here["seconds"]/here["steps"])
    wanted = [(name, label) for name, label in (("per_step", "iterations per step"),
                                                ("cost", "seconds per step")) if here[name].gt(0).any()]
    figure, axes = grid([label for _, label in wanted], 62.0, extra=10.0)
    tables = {panel: here[here[name].gt(0)].assign(shown=here[name]).groupby("integrator").filter(
        lambda rows: len(rows) > 1) for panel, (name, _) in zip(axes, wanted, strict=True)}
    used = by_method(results, tables, lambda panel, mark, rows: panel.plot(
        rows["bodies"], rows["shown"], **mark.line, marker=mark.marker))
    for panel, (name, label) in zip(axes, wanted, strict=True):
        logarithmic(panel, y=name == "cost")
        if name == "cost":
            _guides(panel, here)
        else:
            panel.set_ylim(bottom=0.0)
        ticks = sorted(set(here["bodies"]))
        panel.set_xticks(ticks, [str(n) for n in ticks])
        panel.set_xticks([], minor=True)
        panel.set(xlabel="bodies n", ylabel=label)
    legend_below(figure, used)
    return figure


def _guides(axes: Axes, rows: pandas.DataFrame) -> None:
    """Growth like n and n^3 from below the cheapest method at the smallest size."""
    n = np.array(sorted(set(rows["bodies"])), dtype=float)
    start = 0.5*rows[rows["bodies"] == n[0]]["cost"].min()
    for power in (1, 3):
        values = start*(n/n[0])**power
        axes.plot(n, values, color="0.6", linewidth=0.6, linestyle="-", zorder=1.0)
        axes.annotate("n" if power == 1 else f"n$^{power}$", (n[-1], values[-1]), xytext=(-2, -4),
                      textcoords="offset points", ha="right", va="top", fontsize=6.5, color="0.45")


@drawing()
def failures(results: Results) -> Figure:
    metrics = results.metrics
    metrics = metrics[metrics["step"].notna() & (metrics["members"] == 1)].sort_values("step", kind="stable")
    problems = [problem for problem in results.config.problems if (metrics["problem"] == problem).any()]
    figure, axes = grid([label_of(results, problem) for problem in problems], 60.0, extra=10.0)
    tables = {panel: metrics[metrics["problem"] == problem] for panel, problem in zip(axes, problems, strict=True)}

    kept: dict[Axes, list[tuple[Mark, np.ndarray]]] = {panel: [] for panel in axes}

    def draw(panel: Axes, mark: Mark, rows: pandas.DataFrame) -> None:
        stopped = (rows["status"] != "ok").to_numpy(bool)
        x, y = rows["step"].to_numpy(float), rows["time_reached"].to_numpy(float)
        panel.plot(x, y, **mark.line)
        panel.plot(x[~stopped], y[~stopped], **mark.points)
        panel.plot(x[stopped], y[stopped], color=mark.colour, marker="x", markeredgewidth=1.1, linestyle="none")
        kept[panel].append((mark, np.stack([x, y])[:, y > 0.0]))

    used = by_method(results, tables, draw)
    for panel, table in tables.items():
        logarithmic(panel, xlabel="step $h$ (s)", ylabel="time reached (s)")
        panel.axhline(table["t_end"].max(), color="0.6", linewidth=0.6, linestyle=":")
        name_together(panel, kept[panel] if len(used) <= MANY else [], PANEL)
    legend_below(figure, used)
    return figure
