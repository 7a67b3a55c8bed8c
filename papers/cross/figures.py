"""Figures that compare families of integrators: who wins and leads where, what the manifold costs, order and symplectic
form, close encounters, errors at equal cost, who takes over when, largest steps along an axis of problems."""
import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.compile.counters import evaluations_of
from liestep.figures.kinds.ladders import admissible
from liestep.figures.panels import by_method
from liestep.paper import (
    DOUBLE,
    InputError,
    Mark,
    Results,
    drawing,
    grid,
    hollow,
    label_of,
    legend_below,
    logarithmic,
    marks,
    new_figure,
    number,
    slope_triangle,
)
from liestep.study.tables.kinds.work import at_equal_error

from .tables.crossover_time import MotionHorizons, at_cost, joined, motions, spent

OPPONENTS = ("rk4", "dop853")               # shown beside the winners
REDUNDANT, MANIFOLD = "rk4", ("rkmk4", "cf4")  # the same order in redundant coordinates and on the manifold
SHOWN_LEVELS = (1e-6, 1e-8, 1e-10)
SHOWN = ("nothing", "energy", "manifold", "symplectic form")  # to keep, in the map of winners
CLEAR = 4.0                                 # ratio of runner-up to winner from which the colour says no more
ROUND_OFF = 2.0e-15                         # below it a defect of the form has no slope


@drawing("{title}: the method that reaches each state error with the fewest evaluations of forces or right-hand sides,"
         " of all that keep what is named. The number is the factor that the runner-up needs, the darker the clearer."
         " {runs} A dash: there is no runner-up; =: a tie within 10 %; empty: nobody got there.")
def winners(results: Results) -> Figure:
    table = results.table("which")
    table = table[(table["scope"] == "problem") & (table["by"] == "evaluations")]
    if table.empty:
        raise InputError(f"study {results.study.name} has no table which by evaluations, which winners needs")
    problems, levels = list(dict.fromkeys(table["problem"])), sorted(table["error"].unique(), reverse=True)
    kept = [keep for keep in SHOWN if (table["keep"] == keep).any()]
    styles = marks(results)
    figure = new_figure(DOUBLE, len(kept)*(6.5*len(problems) + 9.0) + 8.0)
    for panel, keep in zip(figure.subplots(len(kept), 1, squeeze=False, sharex=True)[:, 0], kept, strict=True):
        rows = table[table["keep"] == keep].set_index(["problem", "error"])
        shade = np.full((len(problems), len(levels)), np.nan)
        for i, problem in enumerate(problems):
            for k, level in enumerate(levels):
                row = rows.loc[(problem, level)]
                if row["verdict"] == "nobody":
                    continue
                ratio = row["ratio"]
                shade[i, k] = min(ratio, CLEAR) if ratio == ratio else CLEAR
                margin = "-" if ratio != ratio else "=" if row["verdict"] == "tie" else f"{ratio:.2g}"
                name = styles[row["winner"]].label.replace(", ", ",\n")  # one line would run into the next cell
                panel.text(k, i, f"{name}\n{margin}", ha="center", va="center", fontsize=5.0, linespacing=1.05)
        panel.imshow(shade, cmap="Blues", vmin=1.0, vmax=2.0*CLEAR, aspect="auto")
        panel.set_xticks(range(len(levels)), [*map(number, levels)])
        panel.set_yticks(range(len(problems)), [label_of(results, problem) for problem in problems])
        panel.tick_params(length=0)
        panel.set_title("whatever it keeps" if keep == "nothing" else f"keeps the {keep}")
        panel.grid(False)
    panel.set_xlabel("state error")
    return figure


@drawing("{title}: state error against evaluations of forces or right-hand sides, of RK4, DOP853 and the"
         " methods that win somewhere, of all methods or of those that keep the symplectic form. {runs}"
         " Hollow points lie within 30 times the error of the reference or above 0.1.")
def leaders(results: Results) -> Figure:
    return _leaders(results, "evaluations", "evaluations")


@drawing("{title}: state error against processor time (s), of RK4, DOP853 and the methods that win somewhere by"
         " seconds, of all methods or of those that keep the symplectic form. {runs} A run is timed alone without"
         " statistics. Hollow points lie within 30 times the error of the reference or above 0.1.")
def leaders_seconds(results: Results) -> Figure:
    return _leaders(results, "seconds", "processor time (s)")


def _leaders(results: Results, unit: str, label: str) -> Figure:
    table = results.table("which_seconds" if unit == "seconds" else "which")
    table = table[(table["scope"] == "problem") & (table["by"] == unit) & (table["verdict"] != "nobody")
                  & table["keep"].isin(("nothing", "symplectic form"))]
    metrics = results.metrics
    metrics = metrics.assign(evaluations=evaluations_of(metrics))
    problems = [problem for problem in results.config.problems if (table["problem"] == problem).any()]
    figure, axes = grid([label_of(results, problem) for problem in problems], 46.0, extra=30.0)
    metrics = metrics[metrics["error"].notna() & (metrics[unit] > 0.0)]
    tables = {panel: metrics[(metrics["problem"] == problem) & metrics["integrator"].isin(
        {*table.loc[table["problem"] == problem, "winner"], *OPPONENTS})]
        for panel, problem in zip(axes, problems, strict=True)}
    used = by_method(results, tables, lambda panel, mark, rows: hollow(
        panel, rows[unit], rows["error"], mark, admissible(rows)))
    for panel in axes:
        logarithmic(panel, xlabel=label, ylabel="state error")
    legend_below(figure, used)
    return figure


@drawing("{title}: what it costs to stay on the manifold: RKMK4 and CF4 divided by RK4, which is of the same order in"
         " redundant coordinates, {numbers} of a step and at equal state error, for each problem on which all three"
         " run. {runs}", lambda results: _unit(results)[1])
def price_of_manifold(results: Results) -> Figure:
    unit, label = _unit(results)
    metrics = results.metrics
    metrics = metrics[(metrics["status"] == "ok") & (metrics[unit] > 0.0)]
    names = (REDUNDANT, *MANIFOLD)
    problems = [problem for problem in results.config.problems
                if set(names) <= set(metrics.loc[metrics["problem"] == problem, "integrator"])]
    figure, axes = grid(["per step", *(f"at an error of {number(level)}" for level in SHOWN_LEVELS)], 48.0, extra=12.0)
    styles = marks(results)
    for panel, level in zip(axes, (None, *SHOWN_LEVELS), strict=True):
        for k, name in enumerate(MANIFOLD):
            for i, problem in enumerate(problems):
                one, other = (_price(metrics[(metrics["problem"] == problem) & (metrics["integrator"] == key)], unit,
                                     level) for key in (name, REDUNDANT))
                panel.plot([one/other], [i + 0.3*(k - 0.5)], **styles[name].points)
        panel.axvline(1.0, color="0.6", linewidth=0.6)
        panel.set_yticks(range(len(problems)), [label_of(results, problem) for problem in problems])
        panel.set(ylim=(len(problems) - 0.5, -0.5), xlim=(0.0, None), xlabel=f"{label} divided by those of RK4")
    legend_below(figure, [styles[name] for name in MANIFOLD])
    return figure


def _unit(results: Results) -> tuple[str, str]:
    """Column of the metrics and its name: seconds where runs are timed, else flops."""
    timed = results.config.timing and results.metrics["seconds"].notna().any()
    return ("seconds", "seconds") if timed else ("cost", "flops")


def _price(runs: pandas.DataFrame, unit: str, level: float | None) -> float:
    """Of a step of the run of most steps, or at an error; NaN where the runs do not enclose it."""
    if level is None:
        longest = runs.loc[runs["steps"].idxmax()]
        return float(longest[unit]/longest["steps"])
    return next((float(row[unit]) for row in at_equal_error(runs, (unit,), (level,))), np.nan)


@drawing("{title}: state error, and largest change of the symplectic form in a step, against the step, with the"
         " slopes of the order p of the free motion and of p + 1. Hollow points lie within 30 times the error of the"
         " reference or are round-off. {runs}")
def order_and_form(results: Results) -> Figure:
    problem = next(iter(results.config.problems))
    metrics = results.metrics[results.metrics["problem"] == problem]
    form = results.table("exponents").set_index(["integrator", "resolution"])["symplectic_error"]
    if not form.notna().any():
        raise InputError(f"study {results.study.name} has no changes of the symplectic form, which order_and_form"
                         " needs")
    figure, axes = grid(["state error", "change of the form in a step"], 75.0, extra=14.0)
    styles, orders = marks(results), set()
    for key, mark in styles.items():
        rows = metrics[(metrics["integrator"] == key) & (metrics["status"] == "ok")].sort_values("step")
        defect = np.array([form[key, name] for name in rows["resolution"]])
        solid = admissible(rows)
        entry = results.config.integrators[key]
        order = float((entry.options if entry else {}).get("order", rows["order"].iloc[0]))  # of the free motion
        hollow(axes[0], rows["step"], rows["error"], mark, solid)
        hollow(axes[1], rows["step"], defect, mark, defect > ROUND_OFF)
        for k, (values, kept) in enumerate(((rows["error"].to_numpy(float), solid), (defect, defect > ROUND_OFF))):
            if np.count_nonzero(kept) > 1 and (k, order) not in orders:
                slope_triangle(axes[k], rows["step"].to_numpy(float)[kept], values[kept], order + k)
                orders.add((k, order))
    for panel, label in zip(axes, ("state error", "change of the symplectic form"), strict=True):
        logarithmic(panel, xlabel="step $h$ (s)", ylabel=label)
    legend_below(figure, [styles[key] for key in styles])
    return figure


@drawing("{title}: smallest angle between two bodies and largest |E - E(0)| up to a time, of the runs of the last"
         " problem; change of the energy at the end against evaluations of forces or right-hand sides, of the runs of"
         " the first. {runs}")
def encounter(results: Results) -> Figure:
    problems = list(results.config.problems)
    metrics = results.metrics
    metrics = metrics.assign(evaluations=evaluations_of(metrics))[metrics["status"] == "ok"]
    ends, motion = (metrics[metrics["problem"] == problem] for problem in (problems[0], problems[-1]))
    figure, axes = grid(["distance", "energy over time", "energy over work"], 55.0, extra=14.0)
    styles, used = marks(results), set()
    _distance(axes[0], results, motion)
    for key, mark in styles.items():
        rows = ends[ends["integrator"] == key].sort_values("evaluations")
        axes[2].plot(rows["evaluations"], np.abs(rows["energy_change"]), **mark.line, marker=mark.marker)
        shown = motion[motion["integrator"] == key]
        if shown.empty:
            continue
        used.add(key)
        file = results.file(problems[-1], key, str(shown["resolution"].iloc[-1]))
        energy = np.asarray(file["energy"], dtype=float)
        largest = np.maximum.accumulate(np.abs(energy - energy[0]))
        axes[1].plot(file["time"][1:], largest[1:], **mark.line)
    logarithmic(axes[0], x=False)
    logarithmic(axes[1], x=False, xlabel="t (s)", ylabel="$\\max|E - E(0)|$ (J)")
    logarithmic(axes[2], xlabel="evaluations", ylabel="$|E(T) - E(0)|$ (J)")
    legend_below(figure, [styles[key] for key in styles if key in used])
    return figure


def _distance(axes: Axes, results: Results, metrics: pandas.DataFrame) -> None:
    """Smallest angle between two bodies of the run that keeps the energy best."""
    best = metrics.loc[metrics["energy_error_max"].idxmin()]
    file = results.file(str(best["problem"]), str(best["integrator"]), str(best["resolution"]))
    q = np.asarray(file["q"], dtype=float)
    first, second = np.triu_indices(q.shape[1], 1)
    sines = np.linalg.norm(np.cross(q[:, first], q[:, second]), axis=-1)
    angles = np.arctan2(sines, np.einsum("tik,tik->ti", q[:, first], q[:, second]))
    axes.plot(file["time"], np.degrees(angles.min(axis=1)), color="0.3", linewidth=0.9)
    axes.set(xlabel="t (s)", ylabel="smallest angle (degrees)")
    axes.annotate(f"by {marks(results)[str(best['integrator'])].label}", (0.03, 0.04),
                  xycoords="axes fraction", fontsize=6.5, color="0.45")


AT_ONCE, NEVER = 0.3, 3.0   # where times before the first and after the last time are drawn, in those times
BESIDE = 1.02               # methods at the same cost are drawn beside each other by this factor


def _shown(results: Results) -> str:
    """What is compared: the state where the study has references."""
    return "state" if results.config.reference else "energy"


def _title(results: Results, motion: MotionHorizons) -> str:
    """The problem's label without the number of periods."""
    return label_of(results, motion.horizons[0][1]).rpartition(", ")[0]


@drawing("{title}: largest {numbers} error up to a time, at the middle one of the three equal costs, which stands above"
         " each panel in evaluations of forces or right-hand sides in a period; where no run has this cost,"
         " interpolated between the two that enclose it. A curve ends where its run stopped. {runs}", _shown)
def equal_cost(results: Results) -> Figure:
    quantity, found = _shown(results), motions(results)
    titles = [f"{_title(results, motion)}, {_middle(motion):g} per period" for motion in found]
    figure, axes = grid(titles, 50.0, extra=14.0)
    styles, used = marks(results), set()
    for panel, motion in zip(axes, found, strict=True):
        for key, mark in styles.items():
            parts = at_cost(spent(results, motion, key, [quantity])[quantity], _middle(motion))
            if parts:
                curve = joined(parts, sorted(parts))
                shown = np.isfinite(curve.errors) & (curve.errors > 0.0)
                panel.plot(curve.times[shown]/motion.period, curve.errors[shown], **mark.line)
                used.add(key)
        logarithmic(panel, xlabel="periods", ylabel="$\\max|E - E(0)|$ (J)" if quantity == "energy" else "state error")
    legend_below(figure, [styles[key] for key in styles if key in used], marker=False)
    return figure


def _middle(motion: MotionHorizons) -> float:
    return sorted(motion.budgets)[len(motion.budgets)//2]


@drawing("{title}: number of periods after which the {numbers} error of a method stays below that of the adaptive"
         " method of the study at the same cost. Triangles down: from the start; crosses: not within the longest"
         " horizon; ties are left out. {runs}", _shown)
def crossover_time(results: Results) -> Figure:
    table = results.table("crossover_time")
    table = table[table["quantity"] == _shown(results)]
    adaptive = set(results.metrics.loc[results.metrics["adaptive"].astype(bool), "integrator"])
    if not adaptive:
        raise InputError(f"study {results.study.name} has no adaptive method, with which crossover_time compares")
    found = motions(results)
    figure, axes = grid([_title(results, motion) for motion in found], 50.0, extra=18.0)
    styles, used = marks(results), set()
    for panel, motion in zip(axes, found, strict=True):
        rows = table[table["motion"] == motion.name]
        last = motion.horizons[-1][0]/motion.period
        first = motion.horizons[0][0]/motion.period/100.0
        for k, (key, mark) in enumerate(styles.items()):
            points = [(row["evaluations_per_period"], np.inf if row["method"] in adaptive else row["crossover_periods"])
                      for row in rows.to_dict("records") if key not in adaptive and key in (row["method"], row["other"])
                      and adaptive & {row["method"], row["other"]} and row["verdict"] not in ("tie", "neither")]
            if points:
                used.add(key)
                _points(panel, np.array(points)*(BESIDE**(k - 0.5*len(styles)), 1.0), mark, first, last)
        panel.axhline(last, color="0.6", linewidth=0.6, linestyle=":")
        panel.set_ylim(0.5*AT_ONCE*first, 2.0*NEVER*last)
        logarithmic(panel)
        panel.set_xticks(motion.budgets, [f"{budget:g}" for budget in motion.budgets])
        panel.set_xticks([], minor=True)
        panel.set(xlim=(motion.budgets[0]/1.3, 1.3*motion.budgets[-1]), xlabel="evaluations in a period",
                  ylabel="periods until it takes over")
    ends = (Mark("0.3", "v", "", "from the start"), Mark("0.3", "x", "", "not within the longest horizon"))
    legend_below(figure, [*(styles[key] for key in styles if key in used), *ends])
    return figure


def _points(axes: Axes, points: np.ndarray, mark: Mark, first: float, last: float) -> None:
    """Points (n, 2) of one method; times of zero and infinity stand below and above the others."""
    cost, times = points.T
    inside = np.isfinite(times) & (times > 0.0)
    axes.plot(cost[inside], times[inside], **mark.line, linewidth=0.7)
    axes.plot(cost[inside], times[inside], **mark.points)
    for here, height, marker in ((times == 0.0, AT_ONCE*first, "v"), (np.isinf(times), NEVER*last, "x")):
        if here.any():  # not lines: a panel with nothing else shows something
            axes.scatter(cost[here], np.full(np.count_nonzero(here), height), s=13.0, color=mark.colour, marker=marker)


@drawing("{title}: the largest step such that it and all smaller steps complete the run (hollow, pale) and have a state"
         " error of at most 1e-4 (full). Dotted: the smallest and the largest step tried. {runs}")
def validity(results: Results) -> Figure:
    table = results.table("validity")
    names = list(dict.fromkeys(table["axis"]))
    figure, axes = grid([AXES.get(name, name).partition(" (")[0] for name in names], 50.0, extra=16.0)
    table = table.sort_values("value", kind="stable")
    tables = {panel: table[table["axis"] == name] for panel, name in zip(axes, names, strict=True)}

    def draw(panel: Axes, mark: Mark, rows: pandas.DataFrame) -> None:
        panel.plot(rows["value"], rows["completes"], color=mark.colour, alpha=0.35, linewidth=0.6)
        named = mark.label if rows["accurate"].isna().all() else None  # names stand at full points where there are any
        panel.plot(rows["value"], rows["completes"], **(mark.points | {"gid": named}), markerfacecolor="white",
                   alpha=0.5)
        panel.plot(rows["value"], rows["accurate"], **mark.line)
        panel.plot(rows["value"], rows["accurate"], **mark.points)

    used = by_method(results, tables, draw)
    for (panel, rows), name in zip(tables.items(), names, strict=True):
        for column in ("smallest", "largest"):
            ends = rows.groupby("value")[column].first()
            panel.plot(ends.index, ends, color="0.6", linewidth=0.6, linestyle=":")
        logarithmic(panel, xlabel=AXES.get(name, name), ylabel="largest step (s)")
    legend_below(figure, used)
    return figure


AXES = {"spin": "spin (rad/s)", "energy": "kinetic energy at the start (J)", "approach": "closest approach (degrees)",
        "stiffness_pendula": "stiffness of the springs (N/m)", "stiffness_rod": "stiffness of the rod (N m)",
        "stiffness_ring": "stiffness of the bonds (J)"}
