"""Generic figures of long times and of large steps: errors at equal cost, who takes over when, largest steps along an
axis of problems."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.marks import Mark, marks
from liestep.figures.panels import grid, label_of, legend_below, logarithmic
from liestep.figures.style import Results, drawing
from liestep.study.tables.kinds.crossover_time import MotionHorizons, at_cost, joined, motions, spent

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
         " interpolated between the two that enclose it. A curve that ends stopped. {runs}", _shown)
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
    axes.plot(cost[times == 0.0], np.full(np.count_nonzero(times == 0.0), AT_ONCE*first), color=mark.colour,
              marker="v", linestyle="none")
    axes.plot(cost[np.isinf(times)], np.full(np.count_nonzero(np.isinf(times)), NEVER*last), color=mark.colour,
              marker="x", markeredgewidth=1.1, linestyle="none")


@drawing("{title}: the largest step of which, and of all smaller ones, the run comes to its end (hollow, pale), and the"
         " largest with a state error of at most 1e-4 likewise (full). Dotted: the ends of the ladders. {runs}")
def validity(results: Results) -> Figure:
    table = results.table("validity")
    names = list(dict.fromkeys(table["axis"]))
    figure, axes = grid([name.replace("_", " ") for name in names], 50.0, extra=16.0)
    styles, used = marks(results), set()
    for panel, name in zip(axes, names, strict=True):
        rows = table[table["axis"] == name]
        for key, mark in styles.items():
            own = rows[rows["integrator"] == key].sort_values("value")
            if own.empty:
                continue
            used.add(key)
            panel.plot(own["value"], own["completes"], color=mark.colour, alpha=0.35, linewidth=0.6)
            panel.plot(own["value"], own["completes"], **mark.points, markerfacecolor="white", alpha=0.5)
            panel.plot(own["value"], own["accurate"], **mark.line)
            panel.plot(own["value"], own["accurate"], **mark.points)
        for column in ("smallest", "largest"):
            ends = rows.groupby("value")[column].first()
            panel.plot(ends.index, ends, color="0.6", linewidth=0.6, linestyle=":")
        logarithmic(panel, xlabel=AXES.get(name, name.replace("_", " ")), ylabel="largest step (s)")
    legend_below(figure, [styles[key] for key in styles if key in used])
    return figure


AXES = {"spin": "spin (rad/s)", "energy": "kinetic energy at the start (J)", "approach": "closest approach (degrees)"}
