"""The picture of the stored table, docs/other_codes.png: processor time at equal error, and energy in the long run."""
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from rotation_bench.liestep_judge import BOUNDED_GROWTH, DRIFT_GROWTH
from rotation_bench.other_codes import judging
from rotation_bench.other_codes.codes.liestep import labels

PICTURE = Path(__file__).resolve().parents[2]/"docs"/"other_codes.png"
OF_TABLE = "Source"  # key of the picture's comment that holds the hash of the table it was drawn from
COLOURS = {"liestep": "#000000", "diffrax": "#0072b2", "drake": "#d55e00", "exudyn": "#009e73", "heyoka": "#cc79a7",
           "mujoco": "#e69f00", "pinocchio": "#999999", "scipy": "#56b4e9", "sdof": "#8c564b",
           "dartpy": "#1b2a8f", "jsbsim": "#b30059", "lammps": "#8fce00", "pybullet": "#7f7f00", "rebound": "#9467bd"}
NAMES = {"dartpy": "DART", "drake": "Drake", "exudyn": "Exudyn", "jsbsim": "JSBSim", "lammps": "LAMMPS",
         "mujoco": "MuJoCo", "pinocchio": "Pinocchio", "pybullet": "Bullet", "rebound": "REBOUND"}  # else the id
POINTS = (("s", "white"), ("D", "0.85"), ("o", None))  # marker and its face at each level of the error
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


def label(code: str, method: str) -> str:
    """A code's name and its method: of liestep as in all figures, of others as they call it."""
    return f"{NAMES.get(code, code)}: {labels()[method] if code == 'liestep' else method.replace('_', ' ')}"


def draw(rows: Rows) -> Figure:
    """Two panels of work and one of the long run with one list of methods, by code; the names stand once."""
    shown = [*(work_points(rows, name) for name in SHORT), {part[:2]: part[2:] for part in long_points(rows)}]
    names = sorted({name for part in shown for name in part}, key=lambda name: (name[0] != "liestep", *name))
    places = {name: place for place, name in enumerate(names)}
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(180.0*MM, (3.6*len(names) + 28.0)*MM), layout="constrained")
        FigureCanvasAgg(figure)
        figure.get_layout_engine().set(w_pad=1.5*MM, h_pad=1.2*MM, wspace=0.02, hspace=0.03)
        panels = figure.subplots(1, 3, sharey=True)
        for axes, name, points in zip(panels, SHORT, shown, strict=False):
            _draw_work(axes, points, places)
            axes.set_title(f"{name.replace('_', ' ')}: work at equal error")
        _draw_long(panels[-1], long_points(rows), places)
        panels[0].set_yticks(range(len(names)), [label(*name) for name in names], fontsize=6.5)
        panels[0].set_ylim(len(names) - 0.4, -0.6)
        for text, (code, _) in zip(panels[0].get_yticklabels(), names, strict=True):
            text.set_color(COLOURS[code])
        figure.legend(handles=[
            Line2D([], [], color="0.3", linestyle="", marker=marker, markerfacecolor=face or "0.3", label=f"{level:g}")
            for level, (marker, face) in zip(judging.LEVELS, POINTS, strict=True)],
            title="error", loc="outside lower left", ncols=3)
        figure.legend(handles=[
            Line2D([], [], color="0.3", linestyle="", marker=growth_marker(growth), label=name)
            for growth, name in ((0.0, f"at most {BOUNDED_GROWTH:g}"), (0.5, "between"),
                                 (1.0, f"above {DRIFT_GROWTH:g}"))],
            title="growth exponent of the energy error", loc="outside lower right", ncols=3)
    return figure


def _draw_work(axes: Axes, points: Mapping[tuple[str, str], Sequence[tuple[float, float]]],
               places: Mapping[tuple[str, str], int]) -> None:
    looks = dict(zip(judging.LEVELS, POINTS, strict=True))
    for name, reached in points.items():
        colour = COLOURS[name[0]]
        axes.plot([time for time, _ in reached], [places[name]]*len(reached), color=colour, linewidth=0.7)
        for time, level in reached:
            marker, face = looks[level]
            axes.plot(time, places[name], marker, color=colour, markerfacecolor=face or colour)
    axes.set(xscale="log", xlabel="processor time (ms)")


def _draw_long(axes: Axes, points: Sequence[tuple[str, str, float, float]],
               places: Mapping[tuple[str, str], int]) -> None:
    for code, method, size, growth in points:
        axes.plot(max(size, LEAST), places[code, method], growth_marker(growth), color=COLOURS[code])
    axes.set(xscale="log", xlabel="largest deviation of the energy (J)", title="heavy top, 1,000 s")


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
