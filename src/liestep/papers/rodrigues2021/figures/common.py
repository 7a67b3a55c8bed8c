"""What the figures of rodrigues2021 share: marks as in the paper, and curves against the step."""

from matplotlib.axes import Axes

from liestep.figures.marks import DASHDOT, DASHED, DOTTED, SOLID, Mark
from liestep.figures.panels import logarithmic, slope_triangle
from liestep.figures.selection import ladder
from liestep.figures.style import Results

METHODS = {  # circles, triangles and squares are the paper's
    "exact": Mark("#CC3311", "o", SOLID, "(23) exact"),
    "newmark": Mark("#0077BB", "v", DASHED, "(25) Newmark"),
    "euler": Mark("#009988", "s", DOTTED, "(27) Euler"),
    "exponential": Mark("#EE7733", "^", DASHDOT, "exponential drift"),
    "richardson": Mark("#882255", "D", DASHED, "Richardson"),
    "lgvi": Mark("#222222", "x", SOLID, "LGVI"),
    "dlm": Mark("#AA8800", "P", DASHDOT, "five turns"),
    "slgi": Mark("#7A08FE", "*", DOTTED, "SLGI"),
    "rkmk4": Mark("#117733", "h", DASHED, "RKMK4"),
    "cf4": Mark("#44AA99", "H", DOTTED, "CF4"),
    "ode45": Mark("#999933", "<", DASHED, "ode45"),
    "dop853": Mark("#666666", ">", DASHDOT, "DOP853"),
    "y4": Mark("#EE7733", "^", DASHED, "Yoshida 4"),
    "s4": Mark("#CC9900", "s", SOLID, "Suzuki 4"),
    "kl6": Mark("#AA4499", "p", DASHDOT, "Kahan-Li 6"),
    "kl8": Mark("#332288", "D", SOLID, "Kahan-Li 8"),
    "alpha": Mark("#EE7733", "^", SOLID, "in $\\alpha$"),
    "modified": Mark("#009988", "s", DASHED, "in modified Rodrigues parameters"),
}


def slopes(axes: Axes, results: Results, problem: str, column: str, shown: dict[str, float | None],
           below: float = 0.4) -> None:
    """A column of metrics against the step for some integrators (by key), each with a triangle of a slope that lies by
    the factor `below` under its curve, or none."""
    for key, slope in shown.items():
        steps, errors = ladder(results, problem, key, column)
        axes.plot(steps, errors, marker=METHODS[key].marker, linewidth=0.9, **METHODS[key].line)
        if slope is not None:
            slope_triangle(axes, steps, errors, slope, below)
    logarithmic(axes, xlabel="step $h$ (s)")
