"""What the figures of livens2025 share. They find runs by the keys of the study files in config/studies/livens2025.
Figures 1 to 4 are in the module masses, 5 to 9 and the parasite in body, 10 to 16 in top; the sketches on the left of
figures 1, 3, 10 and 14 of the paper are drawn small."""
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes

from liestep.figures.marks import marks
from liestep.figures.panels import line_handle, logarithmic
from liestep.figures.style import Results
from liestep.simulation.runs.files import RunFile

COMPONENTS = ("#0077BB", "#EE7733", "#009988")
PARTS = ("#CC3311", "#0077BB", "#222222")  # kinetic, potential, total
TINY = 1e-18                               # stands for zero on a logarithmic axis


def increments(file: RunFile, name: str, column: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Ends of steps and changes of an observable from sample to sample."""
    values = file[name] if column is None else file[name][:, column]
    return file["time"][1:], np.diff(values)


def dots(axes: Axes, time: np.ndarray, values: np.ndarray, colour: str) -> None:
    """Increments at round-off: points, in the units of a power of ten."""
    axes.plot(time, values, color=colour, marker=".", markersize=2.5, linestyle="none")
    axes.axhline(0.0, color="0.6", linewidth=0.5)


def against_time(axes: Axes, label: str, end: float, title: str = "") -> None:
    axes.set(xlim=(0.0, end), xlabel="time (s)", ylabel=label, title=title)


def sizes(axes: Axes, results: Results, problem: str, keys: Iterable[tuple[str, str]], name: str) -> list:
    """|increments| of an observable of several integrators (key, resolution) on a logarithmic axis; their handles."""
    handles, looks = [], marks(results)
    for key, resolution in keys:
        time, change = increments(results.file(problem, key, resolution), name)
        axes.plot(time, np.maximum(np.abs(change), TINY), linewidth=0.7, **looks[key].line)
        handles.append(line_handle(looks[key], looks[key].label))
    logarithmic(axes, x=False)
    return handles


def components(axes: Axes, file: RunFile, name: str, labels: Sequence[str]) -> None:
    """Components of a vector against time."""
    for k, (colour, label) in enumerate(zip(COMPONENTS, labels, strict=True)):
        axes.plot(file["time"], file[name][:, k], color=colour, label=label)
