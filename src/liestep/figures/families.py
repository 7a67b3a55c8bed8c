"""Generic figures that compare families of integrators: who leads where, what the manifold costs, order and symplectic
form, close encounters."""
import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.compile.counters import evaluations_of
from liestep.errors import InputError
from liestep.figures.ladders import admissible
from liestep.figures.marks import PALETTE, marks
from liestep.figures.panels import grid, hollow, label_of, legend_below, logarithmic, slope_triangle
from liestep.figures.style import Results, drawing
from liestep.study.tables.kinds.work import at_equal_error

OPPONENTS = ("rk4", "dop853")               # shown beside the winners
REDUNDANT, MANIFOLD = "rk4", ("rkmk4", "cf4")  # the same order in redundant coordinates and on the manifold
SHOWN_LEVELS = (1e-6, 1e-8, 1e-10)
ROUND_OFF = 2.0e-15                         # below it a defect of the form has no slope


@drawing("{title}: state error against evaluations of forces or right-hand sides. The methods that win somewhere in"
         " the table which stand beside RK4 and DOP853. {runs} Winners whatever they keep, or with the symplectic form."
         " Hollow points lie within 30 floors of the reference or above 0.1.")
def leaders(results: Results) -> Figure:
    return _leaders(results, "evaluations", "evaluations")


@drawing("{title}: state error against processor time (s). The methods that win somewhere in the table which by"
         " seconds stand beside RK4 and DOP853. {runs} Winners whatever they keep, or with the symplectic form; a run"
         " is timed alone without statistics. Hollow points lie within 30 floors of the reference or above 0.1.")
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
    styles, used = marks(results, [*OPPONENTS, *table["winner"].value_counts().index][:len(PALETTE)]), set()
    for panel, problem in zip(axes, problems, strict=True):
        here = metrics[(metrics["problem"] == problem) & metrics["error"].notna() & (metrics[unit] > 0.0)]
        winners = {*table.loc[table["problem"] == problem, "winner"], *OPPONENTS}
        for key, mark in styles.items():
            rows = here[here["integrator"] == key]
            if key in winners and len(rows):
                hollow(panel, rows[unit], rows["error"], mark, admissible(rows))
                used.add(key)
        logarithmic(panel, xlabel=label, ylabel="state error")
    legend_below(figure, [styles[key] for key in styles if key in used])
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
    figure, axes = grid(["per step", *(f"at an error of {level:.0e}" for level in SHOWN_LEVELS)], 48.0, extra=12.0)
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


@drawing("{title}: state error, and largest change of the symplectic form in a step, against the step, with the slopes"
         " of the order p of the free motion and of p + 1. Hollow points lie within 30 floors or are round-off. {runs}")
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
    axes[1].set_xlabel("t (s)")
    axes[2].set_xlabel("evaluations")
    axes[1].set_ylabel("$\\max|E - E(0)|$ (J)")
    axes[2].set_ylabel("$|E(T) - E(0)|$ (J)")
    logarithmic(axes[0], x=False)
    logarithmic(axes[1], x=False)
    logarithmic(axes[2])
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
    label = results.config.integrators[str(best["integrator"])]
    axes.annotate(f"{(label and label.label) or best['integrator']}, {best['resolution']}", (0.03, 0.04),
                  xycoords="axes fraction", fontsize=6.5, color="0.45")
