"""Own figures of livens2025 that compare many schemes: compositions, largest steps, chains, work."""
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.marks import marks
from liestep.figures.panels import cells, hollow, label_of, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.style import DOUBLE, Results, drawing, ladder, new_figure, subplots


def _ladders(results: Results, axes: Axes, problem: str, x: str, y: str) -> list[Line2D]:
    """Column y over column x of every integrator of a problem; handles of the legend."""
    handles = []
    for key, mark in marks(results).items():
        rows = results.select(problem, key)
        rows = rows[(rows["status"] == "ok") & (rows[x] > 0.0) & (rows[y] > 0.0)].sort_values("step")
        if not rows.empty:
            hollow(axes, rows[x].to_numpy(float), rows[y].to_numpy(float), mark)
            handles.append(line_handle(mark, mark.label, marker=True))
    logarithmic(axes)
    return handles


@drawing("Compositions: state error against the step. EMH, the Cayley scheme on SO(3) and the variational integrator"
         " have the order of their weights, also with a singular mass matrix; EML and MPL stay at 4, the projected EML"
         " at 3. Errors below the floor of the reference say nothing. {runs}")
def compositions(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 92.0)
    handles: dict[str, Line2D] = {}
    for axes, problem in zip(figure.subplots(1, 3), ("top", "body", "masses"), strict=True):
        for handle in _ladders(results, axes, problem, "step", "error"):
            handles.setdefault(str(handle.get_label()), handle)
        axes.set(xlabel="step $h$ (s)", title=label_of(results, problem))
        if problem == "top":
            axes.set_ylabel("state error")
            for key, order in (("eml_p_s4", 3), ("eml_kl6", 4)):
                slope_triangle(axes, *ladder(results, problem, key, "error"), order)
    legend_below(figure, list(handles.values()), columns=4)
    return figure


@drawing("Largest step (s) of those tried with which each scheme completes the run; dark is large. A field without a"
         " number: no step completed; a dash: the scheme does not apply. {runs}")
def scheme_map(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 88.0)
    problems, keys = list(results.config.problems), list(marks(results))
    found, texts = np.full((len(keys), len(problems)), np.nan), [[""]*len(problems) for _ in keys]
    for j, problem in enumerate(problems):
        for i, key in enumerate(keys):
            rows = results.select(problem, key)
            found[i, j] = rows.loc[rows["status"] == "ok", "step"].max()
            texts[i][j] = "-" if rows.empty else "" if np.isnan(found[i, j]) else f"{found[i, j]:g}"
    cells(axes, found, texts, [mark.label for mark in marks(results).values()], found > 0.03, 7.0,
          cmap="Blues", norm=LogNorm(5e-4, 1.5))
    axes.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems])
    return figure


@drawing("Chains of bars: seconds of a step against the number of bars, which are eliminated one after the other; grey:"
         " in proportion to their number, and to its cube, as factoring one matrix would take. {runs}")
def chain_scaling(results: Results) -> Figure:
    figure, (left, right) = subplots(DOUBLE, 66.0, 1, 2)
    numbers = np.array([1, 4, 16, 64, 256])
    for key in ("eml", "emh"):
        mark = marks(results)[key]
        seconds = np.array([ladder(results, f"bars_{n}", key, "seconds")[1][0]
                            / float(results.select(f"bars_{n}", key)["steps"].iloc[0]) for n in numbers])
        hollow(left, numbers, seconds, mark)
        hollow(right, numbers, seconds/numbers, mark)
        if key == "eml":
            left.plot(numbers, seconds[1]*numbers/4.0, color="0.6", linewidth=0.7, zorder=0.5)
            left.plot(numbers[:4], seconds[1]*(numbers[:4]/4.0)**3, color="0.6", linewidth=0.7, dashes=(3, 2),
                      zorder=0.5)
    logarithmic(left)
    logarithmic(right)
    for axes, label, title in ((left, "time of a step (s)", "(a) time"),
                               (right, "time of a step and a bar (s)", "(b) for each bar")):
        axes.set(xlabel="number of bars", ylabel=label, title=title)
    legend_below(figure, [marks(results)[key] for key in ("eml", "emh")])
    return figure


EXACT = 1e-9  # an invariant is kept if its largest error is below this share of its size


def _phrase(results: Results, problem: str) -> str:
    """What the finest runs on a problem say: the smallest error, and who keeps the energy and the momentum."""
    looks, finest = marks(results), []
    for key in looks:
        rows = results.select(problem, key)
        rows = rows[rows["status"] == "ok"].sort_values("step")
        if not rows.empty:
            finest.append((looks[key].label, rows.iloc[0]))
    label, best = min(finest, key=lambda item: float(item[1]["error"]))
    scale = float(best["energy_scale"])
    kept = []
    for name, row in finest:
        generalized = row.get("generalized_energy_error_max", np.nan)
        energy = np.fmin(float(row["energy_error_max"]), np.inf if np.isnan(generalized) else float(generalized))
        relative = row.get("momentum_error_max_relative", np.nan)
        if energy <= EXACT*scale and not float(relative) > EXACT:
            kept.append(f"{name} ({float(row['error']):.1e})")
    text = f"{label_of(results, problem)}: the smallest error has {label}, {float(best['error']):.1e}"
    return text + (f"; energy and conserved momenta are kept by {', '.join(kept)}" if kept else
                   "; no scheme keeps energy and momenta")


def _price(results: Results, problem: str, scheme: str, rival: str) -> str:
    """How much longer a scheme takes for the error of a rival: linear interpolation of logarithms."""
    steps, errors = ladder(results, problem, scheme, "error")
    _, seconds = ladder(results, problem, scheme, "seconds")
    _, wanted = ladder(results, problem, rival, "error")
    _, paid = ladder(results, problem, rival, "seconds")
    k = len(wanted) - 1  # its largest error, that of its largest step
    power = np.polyfit(np.log(errors), np.log(seconds), 1)
    factor = float(np.exp(np.polyval(power, np.log(wanted[k])))/paid[k])
    looks = marks(results)
    return (f"For the error of {looks[rival].label} with h = {steps[k]:g} s, {wanted[k]:.1e}, {looks[scheme].label}"
            f" takes {factor:.1f} times its time ({label_of(results, problem)})")


def advice(results: Results) -> str:
    """The paragraph that says what to take, made from the study's table: errors in brackets."""
    phrases = [_phrase(results, problem) for problem in results.config.problems]
    return ". ".join([*(phrase[:1].upper() + phrase[1:] for phrase in phrases), _price(results, "top", "eml", "slgi")])


@drawing("What to take. {numbers}. Work: state error against (left) linear solves of implicit schemes and (right)"
         " seconds of all schemes. {runs}", advice)
def work(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure = new_figure(DOUBLE, 58.0*len(problems) + 12.0)
    handles: dict[str, Line2D] = {}
    for row, problem in zip(figure.subplots(len(problems), 2, sharey="row", squeeze=False), problems, strict=True):
        for axes, column, label in zip(row, ("linear_solves", "seconds"), ("linear solves", "time (s)"), strict=True):
            for handle in _ladders(results, axes, problem, column, "error"):
                handles.setdefault(str(handle.get_label()), handle)
            axes.set(xlabel=label, title=label_of(results, problem))
        row[0].set_ylabel("state error")
    legend_below(figure, list(handles.values()), columns=5)
    return figure
