"""The picture of the stored table, docs/other_codes.png: processor time at equal error, and energy in the long run."""
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from rotation_bench.liestep_judge import BOUNDED_GROWTH, DRIFT_GROWTH
from rotation_bench.other_codes import judging

PICTURE = Path(__file__).resolve().parents[2]/"docs"/"other_codes.png"
OF_TABLE = "Source"  # key of the picture's comment that holds the hash of the table it was drawn from
COLOURS = {"liestep": "#000000", "diffrax": "#0072b2", "drake": "#d55e00", "exudyn": "#009e73", "heyoka": "#cc79a7",
           "mujoco": "#e69f00", "pinocchio": "#999999", "scipy": "#56b4e9", "sdof": "#8c564b",
           "dartpy": "#1b2a8f", "jsbsim": "#b30059", "lammps": "#8fce00", "pybullet": "#7f7f00", "rebound": "#9467bd"}
MARKERS = "osD^v<>P*X"
SHORT, LONG = ("free_body", "heavy_top"), "long_top"
MM, DPI = 1.0/25.4, 200  # inches in a mm; resolution
RC = {
    "font.family": "DejaVu Sans", "font.size": 7.0, "axes.titlesize": 8.0, "axes.labelsize": 7.5,
    "legend.fontsize": 7.0, "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "axes.linewidth": 0.6,
    "lines.linewidth": 1.0, "lines.markersize": 3.6, "lines.markeredgewidth": 0.8, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.minor.width": 0.4, "ytick.minor.width": 0.4, "xtick.direction": "in",
    "ytick.direction": "in", "xtick.top": True, "ytick.right": True, "axes.grid": True, "grid.linewidth": 0.4,
    "grid.color": "0.9", "axes.axisbelow": True, "legend.frameon": False, "legend.handlelength": 2.6,
    "legend.columnspacing": 1.4, "axes.titlelocation": "left", "axes.titlepad": 4.0, "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True, "savefig.facecolor": "white",
}
LEAST = 1e-16  # J; smaller deviations stand here
Rows = Sequence[Mapping[str, str]]


def work_points(rows: Rows, problem: str) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """(code, method) -> (milliseconds, error) at the levels that it reaches."""
    found = {}
    for row in rows:
        points = [(float(row[f"milliseconds_{level:.0e}"]), level) for level in judging.LEVELS
                  if row.get(f"milliseconds_{level:.0e}") not in (None, "", "nan")]
        if row["problem"] == problem and points:
            found[row["code"], row["method"]] = points
    return found


def long_points(rows: Rows) -> list[tuple[str, str, float, float]]:
    """(code, method, largest deviation of the energy in J, growth exponent) in the long run, best first."""
    return sorted(((row["code"], row["method"], float(row["energy_error"]), float(row["growth"]))
                   for row in rows if row["problem"] == LONG and row["energy_error"] and row["growth"]),
                  key=lambda part: part[2])


def growth_marker(exponent: float) -> str:
    """Circle, cross or triangle: no growth, undecided, steady growth, by the limits of the drift verdict."""
    return "o" if exponent <= BOUNDED_GROWTH else "^" if exponent > DRIFT_GROWTH else "x"


def draw(rows: Rows) -> Figure:
    """Two panels of work, one of the long run."""
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(180.0*MM, 190.0*MM), layout="constrained")
        FigureCanvasAgg(figure)
        figure.get_layout_engine().set(w_pad=1.5*MM, h_pad=1.2*MM, wspace=0.02, hspace=0.03)
        parts = figure.subplot_mosaic([["free_body", "long"], ["heavy_top", "long"]], width_ratios=[1.0, 1.0])
        for name in SHORT:
            _draw_work(parts[name], rows, name)
        _draw_long(parts["long"], long_points(rows))
    return figure


def _draw_work(axes: Axes, rows: Rows, problem: str) -> None:
    seen: dict[str, int] = {}
    for (code, method), points in work_points(rows, problem).items():
        number = seen[code] = seen.get(code, -1) + 1
        times, levels = zip(*points, strict=True)
        axes.plot(times, levels, color=COLOURS[code], marker=MARKERS[number % len(MARKERS)], markersize=3.0,
                  label=f"{code} {method.replace('_', ' ')}")
    axes.set(xscale="log", yscale="log", xlabel="processor time (ms)", ylabel="error",
             title=f"{problem.replace('_', ' ')}: work at equal error")
    axes.set_yticks(judging.LEVELS)
    axes.legend(fontsize=4.2, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.19), columnspacing=1.0)


def _draw_long(axes: Axes, points: Sequence[tuple[str, str, float, float]]) -> None:
    for place, (code, _, size, growth) in enumerate(points):
        axes.plot(max(size, LEAST), place, growth_marker(growth), color=COLOURS[code])
    axes.set_yticks(range(len(points)), [f"{code} {method.replace('_', ' ')}" for code, method, *_ in points],
                    fontsize=5.0)
    for label, (code, *_) in zip(axes.get_yticklabels(), points, strict=True):
        label.set_color(COLOURS[code])
    axes.minorticks_off()
    for growth, label in ((0.0, f"grows with exponent up to {BOUNDED_GROWTH:g}"), (0.5, "between"),
                          (1.0, f"grows with exponent above {DRIFT_GROWTH:g}")):
        axes.plot([], [], growth_marker(growth), color="0.4", label=label)
    axes.set(xscale="log", xlabel="largest deviation of the energy (J)", title="heavy top, 1,000 s",
             ylim=(-0.7, len(points) - 0.3))
    axes.legend(loc="lower right")


def table_hash(stored: Path = judging.STORED) -> str:
    return hashlib.sha256((stored/judging.TABLE).read_bytes()).hexdigest()


def write(stored: Path = judging.STORED, path: Path = PICTURE) -> None:
    """Draw the stored table; the picture names the table it shows. Its 4,000 colours become the 256 nearest to them,
    for a third of the bytes."""
    buffer, named = io.BytesIO(), PngInfo()
    draw(judging.stored_rows(stored)).savefig(buffer, dpi=DPI)
    named.add_text(OF_TABLE, table_hash(stored))
    with Image.open(buffer) as whole:
        few = whole.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True, pnginfo=named, dpi=whole.info["dpi"])
