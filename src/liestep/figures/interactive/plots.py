"""Figures of data sets for people at work: one run, or several beside each other."""
import io
import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import matplotlib
import numpy as np
import xarray
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from liestep.errors import InputError, names_in, unknown
from liestep.figures.films.film import frame_of, method_of
from liestep.figures.films.motions import motion_of
from liestep.figures.interactive.datasets import KeptColumn, as_file, errors, kept, require_run
from liestep.figures.marks import shade
from liestep.figures.scenes.space import Scene, sphere_body, triad
from liestep.figures.style import DOUBLE, MM, RC
from liestep.simulation.catalogue import sheet

HEIGHT, LEAST = 108.0, 20.0     # mm
SCREEN = 130                   # dots per inch on a screen
DASHES = ("-", "--", ":", "-.")


class JupyterFigure(Figure):
    """A figure that Jupyter shows without being asked to load anything."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with matplotlib.rc_context(RC):
            self.savefig(buffer, format="png", dpi=SCREEN)
        return buffer.getvalue()


def _picture(size: tuple[float, float]) -> Figure:
    """Empty figure of a size in mm; where pyplot is in use, its current one."""
    look: dict[str, Any] = {"figsize": (size[0]*MM, size[1]*MM), "layout": "constrained"}
    if "matplotlib.pyplot" in sys.modules and "inline" not in matplotlib.get_backend():
        return sys.modules["matplotlib.pyplot"].figure(FigureClass=JupyterFigure, **look)
    figure = JupyterFigure(**look)
    FigureCanvasAgg(figure)
    return figure


def plot(data: "xarray.Dataset", *, quantities: Sequence[str] | None = None, span: tuple[float, float] | None = None,
         size: tuple[float, float] = (DOUBLE, HEIGHT)) -> Figure:
    """One figure of a run: the motion at its last sample with its trail, the energy's deviation from its start, those
    of other invariants, and the errors of the manifold (unit lengths, orthogonality) on a logarithmic axis.

    Args:
        data: data set of `simulate`, or of a file by `open_run`.
        quantities: name or names of the invariants and errors to show (default: all).
        span: first and last time (s) to show (default: the whole run).
        size: width and height in mm (default 180 and 108).

    Returns:
        A matplotlib figure; Jupyter shows it, `figure.savefig("run.png")` writes it. Where a program has imported
        pyplot, it is pyplot's current figure.

    Raises:
        InputError: a data set that is not of one run of liestep, a quantity that it does not have, a span without two
            samples, or a side of less than 20 mm.

    Example:
        liestep.plot(liestep.simulate("heavy_top", "slgi", step=0.01, t_end=2.0)).savefig("top.png")
    """
    require_run(data)
    data = _within(data, span)
    invariants, residuals = kept(data, "invariants"), kept(data, "residuals")
    if quantities is not None:
        quantities = names_in("quantities", quantities)
        names = [column.label.replace(" ", "_") for column in (*invariants, *residuals)]
        if strange := [name for name in quantities if name not in names]:
            raise InputError(unknown("quantity of this run", strange[0], names))
        invariants, residuals = ([column for column in found if column.label.replace(" ", "_") in quantities]
                                 for found in (invariants, residuals))
    if not (np.shape(size) == (2,) and all(LEAST <= side < math.inf for side in size)):
        raise InputError(f"size is {size!r}; allowed are a width and a height in mm, both at least {LEAST:g}")
    with matplotlib.rc_context(RC):
        figure = _picture(size)
        left, right = cast("list[SubFigure]", figure.subfigures(1, 2, width_ratios=(1.0, 1.2)))
        _motion(left.subplots(), data)
        panels = [(invariants[:1], False), (invariants[1:], False), (residuals, True)]
        if shown := [entry for entry in panels if entry[0]]:  # of equations without invariants there is the motion
            axes = np.atleast_1d(right.subplots(len(shown), 1, sharex=True))
            for panel, (series, logarithmic) in zip(axes, shown, strict=True):
                _lines(panel, data["time"].values, series, logarithmic)
            axes[-1].set_xlabel("time (s)")
        figure.suptitle(f"{sheet(data.attrs['problem']).title} by {method_of(data.attrs)}", fontsize=8.5)
    return figure


def _within(data: "xarray.Dataset", span: tuple[float, float] | None) -> "xarray.Dataset":
    """The samples within a span of time. Raises InputError: fewer than two."""
    if span is None:
        return data
    time = data["time"].values
    inside = np.flatnonzero((time >= span[0]) & (time <= span[1])) if np.shape(span) == (2,) else np.zeros(0)
    if len(inside) < 2:
        raise InputError(f"span is {span!r}, which holds fewer than two samples; the run has {len(time)} from"
                         f" {time[0]:g} to {time[-1]:g} s")
    return data.isel(time=slice(inside[0], inside[-1] + 1))


def _motion(axes: Axes, data: "xarray.Dataset") -> None:
    """The last sample as a scene; a state that no scene shows, as curves over time."""
    try:
        motion = motion_of(as_file(data))
    except InputError:
        name = next(name for name in data.data_vars if "time" in data[name].dims)
        axes.plot(data["time"].values, data[name].values.reshape(data.sizes["time"], -1))
        axes.set(xlabel="time (s)", ylabel=f"{name} ({data[name].attrs.get('units', '1')})")
        return
    _, near, far = frame_of(motion)
    if motion.sphere:
        sphere_body(axes)
    scene = Scene(axes, motion.view, fade=0.6, near=near, far=far)
    motion.draw(scene, data.sizes["time"] - 1)
    scene.draw()
    triad(axes, motion.view, (-0.02, 0.0, 0.2, 0.2))
    axes.set_title(f"t = {float(data['time'].values[-1]):.4g} s")


def _lines(axes: Axes, time: np.ndarray, series: Sequence[KeptColumn], logarithmic: bool) -> None:
    for line, dash in zip(series, DASHES*len(series), strict=False):
        axes.plot(time, _positive(line.values) if logarithmic else line.values, dash, label=line.label, linewidth=0.9)
    units = {line.units for line in series}
    head = ("error" if logarithmic else "deviation") + (f" ({units.pop()})" if len(units) == 1 else "")
    axes.set_yscale("log" if logarithmic else "linear")
    axes.set_title(f"{series[0].label}, {head}" if len(series) == 1 else head, fontsize=7.5)
    if len(series) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), borderaxespad=0.3, fontsize=6.0, handlelength=1.8)


def _positive(values: np.ndarray) -> np.ndarray:
    """Values for a logarithmic axis, without zeros."""
    return np.where(values > 0.0, values, np.nan)


def compare(runs: "Sequence[xarray.Dataset]") -> Figure:
    """Runs of one problem beside each other: distance of the state from the first run's (where the times agree),
    energy errors (else of the first invariant), and errors of the manifold, each on a logarithmic axis.

    Args:
        runs: two or more data sets of `simulate` or `open_run`, of the same problem, parameters and start.

    Returns:
        A matplotlib figure.

    Raises:
        InputError: fewer than two, a data set that is not of one run, or runs of different problems.

    Example:
        liestep.compare([liestep.simulate("sphere_nbody", name, step=0.01, t_end=5.0) for name in ("vi_sphere", "rk4")])
    """
    if not isinstance(runs, Sequence) or len(runs) < 2:
        raise InputError("compare needs a list of two or more data sets")
    for number, data in enumerate(runs):
        require_run(data, f"data set {number}")
        if data.attrs["problem"] != runs[0].attrs["problem"]:
            raise InputError(f"data set {number} is of {data.attrs['problem']}, data set 0 of"
                             f" {runs[0].attrs['problem']}; compare runs of one problem")
    with matplotlib.rc_context(RC):
        figure = _picture((DOUBLE, 70.0))
        axes = figure.subplots(1, 3)
        names = [str(data.attrs["integrator"]) for data in runs]
        drawn = [shade(name, names[:number].count(name)) for number, name in enumerate(names)]
        for number, data in enumerate(runs):
            style: dict[str, Any] = {"color": drawn[number], "label": method_of(data.attrs), "linewidth": 0.9,
                                     "linestyle": DASHES[drawn[:number].count(drawn[number]) % len(DASHES)]}
            _compared(axes, runs[0] if number else None, data, style)
        energy = next((f"|{column.label} - its start| ({column.units})" for column in kept(runs[0], "invariants")), "")
        heads = ((f"distance from {method_of(runs[0].attrs)}", "equal states" if axes[0].lines else "other times"),
                 (energy or "energy", "no error" if energy else "none"),
                 ("error of the manifold", "no error" if axes[2].lines else "none"))
        for panel, (title, nothing) in zip(axes, heads, strict=True):  # nothing: what an empty panel says
            panel.set(yscale="log", title=title, xlabel="time (s)")
            if not any(np.isfinite(line.get_ydata()).any() for line in panel.lines):
                panel.text(0.5, 0.5, nothing, transform=panel.transAxes, ha="center", va="center")
        figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(runs), 4))
    return figure


def _compared(axes: Sequence[Axes], first: xarray.Dataset | None, data: xarray.Dataset, style: dict[str, Any]) -> None:
    time, invariants, residuals = data["time"].values, kept(data, "invariants"), kept(data, "residuals")
    axes[1].plot(time, _positive(np.abs(invariants[0].values)) if invariants else np.full(len(time), np.nan), **style)
    if residuals:
        axes[2].plot(time, _positive(np.max([column.values for column in residuals], axis=0)), **style)
    if first is not None:
        with suppress(InputError):  # other sample times
            axes[0].plot(time, _positive(errors(data, first).to_array().max("variable").values), **style)
