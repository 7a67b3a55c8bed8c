"""Error constants of methods of one order side by side: the freedom of the isotropy (section 2 of liegroup2021)."""
import numpy as np
from matplotlib.figure import Figure

from liestep.figures.kinds.ladders import admissible
from liestep.paper import DOUBLE, InputError, Results, drawing, label_of, marks, subplots


@drawing("{title}: e/h^p for the theoretical order p, median over the admissible runs (bar: all of them), divided by"
         " that of the first integrator of the study that has the same order on the same problem. {runs}")
def error_constants(results: Results) -> Figure:
    styles, rows = marks(results), []
    for problem in results.config.problems:
        first: dict[float, float] = {}
        for key in styles:
            runs = results.select(problem, key)
            runs = runs[(runs["status"] == "ok") & ~runs["adaptive"].astype(bool)]
            constants = (runs["error"]/runs["step"]**runs["order"]).to_numpy(float)[admissible(runs)]
            if constants.size:
                order = float(runs["order"].iloc[0])
                scale = first.setdefault(order, float(np.median(constants)))
                rows.append((f"{label_of(results, problem)}, " if len(results.config.problems) > 1 else "", key, order,
                             constants/scale))
    if not rows:
        raise InputError(f"study {results.study.name} has no admissible errors of fixed steps, which the figure"
                         " error_constants needs")
    figure, axes = subplots(DOUBLE, 6.0*len(rows) + 16.0)
    for place, (_, key, _, constants) in enumerate(rows):
        middle = float(np.median(constants))
        axes.plot([constants.min(), constants.max()], [place, place], color=styles[key].colour, linewidth=1.2)
        axes.plot([middle], [place], **styles[key].points)
        axes.annotate(f"{middle:.3g}", (constants.max(), place), xytext=(5.0, 0.0), textcoords="offset points",
                      va="center", fontsize=6.0, color="0.35")  # beside the line at 1
    axes.set_yticks(range(len(rows)),
                    [f"{problem}{styles[key].label}, order {order:g}" for problem, key, order, _ in rows])
    axes.set(ylim=(len(rows) - 0.5, -0.9), xscale="log", xmargin=0.08)
    axes.axvline(1.0, color="0.6", linewidth=0.6, zorder=0.8)
    axes.set_xlabel("error constant, relative")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(lambda x, position: f"{x:g}" if f"{x:.0e}"[0] in "235" else "")
    return figure
