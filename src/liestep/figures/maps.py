"""Generic figures that are maps: the largest Lyapunov exponent over a grid of starts, and who wins where."""

import numpy as np
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.panels import grid, label_of
from liestep.figures.style import DOUBLE, Results, drawing, new_figure

LOW, HIGH = 2.0, 98.0  # percentiles that the colours span
SHOWN = ("nothing", "energy", "manifold", "symplectic form")  # to keep, in the map of winners
CLEAR = 4.0            # ratio of runner-up to winner from which the colour says no more


@drawing("{title}: largest Lyapunov exponent (1/s) from each start of a grid, over the time of the run: dark where the"
         " motion is regular. {runs}")
def exponent_map(results: Results) -> Figure:
    cells = [cell for cell in results.study.cells
             if cell.spec.exponents and cell.spec.ensemble is not None and len(cell.spec.ensemble.turns) == 2
             and not cell.spec.ensemble.first]
    if not cells:
        raise InputError(f"study {results.study.name} has no runs with exponents on a grid of two turns")
    figure, axes = grid([label_of(results, cell.problem) for cell in cells], 70.0, extra=2.0)
    for panel, cell in zip(axes, cells, strict=True):
        assert cell.spec.ensemble is not None
        one, other = cell.spec.ensemble.turns
        file = results.file(cell.problem, cell.integrator, cell.resolution)
        rates = np.asarray(file["lyapunov"]).reshape(one.count, other.count)
        low, high = np.nanpercentile(rates, (LOW, HIGH))
        shown = panel.pcolormesh(np.degrees(other.angles), np.degrees(one.angles), rates, cmap="cividis", vmin=low,
                                 vmax=high, shading="nearest", rasterized=True)
        panel.set_aspect("equal")
        panel.set_xlabel(f"turn of {other.field}[{other.index}] about {other.axis} (degrees)")
        panel.set_ylabel(f"turn of {one.field}[{one.index}] about {one.axis} (degrees)")
        bar = figure.colorbar(shown, ax=panel, extend="both")
        bar.set_label("largest exponent (1/s)")
    return figure


@drawing("{title}: the method that reaches each state error with the fewest evaluations of forces or right-hand sides,"
         " of all that keep what is named, and the factor that the runner-up needs (-: there is none, =: a tie within"
         " 10 %); empty where nobody got there. The darker, the clearer.")
def winners(results: Results) -> Figure:
    table = results.table("which")
    table = table[(table["scope"] == "problem") & (table["by"] == "evaluations")]
    if table.empty:
        raise InputError(f"study {results.study.name} has no table which by evaluations, which winners needs")
    problems, levels = list(dict.fromkeys(table["problem"])), sorted(table["error"].unique(), reverse=True)
    kept = [keep for keep in SHOWN if (table["keep"] == keep).any()]
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
                panel.text(k, i, f"{row['winner']}\n{margin}", ha="center", va="center", fontsize=5.0)
        panel.imshow(shade, cmap="Blues", vmin=1.0, vmax=2.0*CLEAR, aspect="auto")
        panel.set_xticks(range(len(levels)), [f"{level:.0e}" for level in levels])
        panel.set_yticks(range(len(problems)), [label_of(results, problem) for problem in problems])
        panel.tick_params(length=0)
        panel.set_title("whatever it keeps" if keep == "nothing" else f"keeps the {keep}")
        panel.grid(False)
    panel.set_xlabel("state error")
    return figure
