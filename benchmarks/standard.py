"""Error over processor seconds of standard problems, beside scipy, heyoka and IDA.

Ours run on the systems of papers/testsets, as `peers` times them. The others have the forms of `standard_problems`, all
compiled: scipy's DOP853, Radau and LSODA the ordinary equations (the implicit ones with exact Jacobians), heyoka's
Taylor integrator the same as expressions, which have no systems of linear equations; IDA of SUNDIALS, by scikit-sundae,
the stabilised form of index two with the exact Jacobian. Nothing is compiled while it is timed. Errors are those of the
end, the largest difference over all numbers compared (none is larger than 6), from DOP853 at its smallest tolerance on
the other form; `floor` is our difference from it at ours. Nothing is installed: what is missing is left out."""
import csv
import io
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numba import njit
from scipy.integrate import solve_ivp

from benchmarks import peers, tables
from benchmarks.standard_problems import Standard, problems
from liestep.figures.style import DOUBLE, DPI, RC, subplots
from liestep.simulation.plugins.loading import load_plugin
from liestep.workflow.report.pictures import encoded

TOP = Path(__file__).resolve().parents[1]
STORED, PICTURE = TOP/"benchmarks"/"standard.csv", TOP/"docs"/"standard.webp"
REACHED = STORED.with_suffix(".md")
PIXELS, QUALITY = 900, 20  # of the picture
TESTSETS = TOP/"papers"/"testsets"/"studies"
TOLERANCES = tuple(10.0**-k for k in range(3, 14))
SMALLEST = 3e-14
LONGEST = 3.0  # seconds of one call: longer ones are left out, and smaller tolerances after a third of it
COMPLEX = 1e-30  # step of derivatives
COLOURS = {"liestep dop853": "#0077BB", "liestep rkmk853": "#33BBEE", "liestep taylor": "#004488",
           "scipy DOP853": "#EE7733", "scipy Radau": "#CC3311", "scipy LSODA": "#DDAA33", "heyoka": "#009988",
           "IDA": "#AA4499"}
MARKERS = dict(zip(COLOURS, "os^osv^D", strict=True))
SHOWN = 1e-1  # larger errors are not drawn
Call = Callable[[], np.ndarray]  # makes a run and returns the numbers that are compared


def jacobian_of(slope: Any) -> Any:
    """d slope / dy, compiled, by complex steps."""
    @njit
    def jacobian(t, y):  # type: ignore[no-untyped-def]
        n = len(y)
        out, moved = np.empty((n, n)), y.astype(np.complex128)
        for j in range(n):
            moved[j] += COMPLEX*1j
            out[:, j] = slope(t, moved).imag/COMPLEX
            moved[j] = y[j]
        return out

    return jacobian


def stabilised(problem: Standard) -> tuple[Any, Any]:
    """Residual of (q, v, lambda, mu) and rates, and its Jacobian: q' = v + A^T mu, M v' = f + A^T lambda, conditions
    and their rates."""
    assert problem.constrained is not None
    mass, force, conditions, matrix = problem.constrained

    @njit
    def residual(t, y, rates, n):  # type: ignore[no-untyped-def]
        out, q, v = np.empty_like(y), y[:n], y[n:2*n]
        a, m, f = matrix(t, q), mass(q), force(t, q, v)
        rows = a.shape[0]
        for i in range(n):
            out[i], out[n + i] = rates[i] - v[i], -f[i]
            for j in range(n):
                out[n + i] += m[i, j]*rates[n + j]
            for k in range(rows):
                out[i] -= a[k, i]*y[2*n + rows + k]
                out[n + i] -= a[k, i]*y[2*n + k]
        place, change = conditions(t, q, v)
        out[2*n:2*n + rows], out[2*n + rows:] = change, place
        return out

    @njit
    def jacobian(t, y, rates, n, weight):  # type: ignore[no-untyped-def]
        size = len(y)
        out, one, two = np.empty((size, size)), y.astype(np.complex128), rates.astype(np.complex128)
        for j in range(size):
            one[j] += COMPLEX*1j
            two[j] += weight*COMPLEX*1j
            out[:, j] = residual(t, one, two, n).imag/COMPLEX
            one[j], two[j] = y[j], rates[j]
        return out

    return residual, jacobian


def by_ours(problem: Standard, method: str) -> Callable[[float], Call]:
    def at(tolerance: float) -> Call:
        run = peers.ours(problem.system, peers.start_at(problem.system, "own"), method, problem.t_end, tolerance)

        def call() -> np.ndarray:
            run.call()
            return problem.from_fields(run.fields())

        return call

    return at


def by_scipy(problem: Standard, method: str) -> Callable[[float], Call]:
    slope, jacobian = problem.slope, jacobian_of(problem.slope)
    given = {} if method == "DOP853" else {"jac": jacobian}

    def at(tolerance: float) -> Call:
        def call() -> np.ndarray:
            found = solve_ivp(slope, (0.0, problem.t_end), problem.start, method, t_eval=[problem.t_end],
                              rtol=max(tolerance, SMALLEST), atol=tolerance, **given)
            return problem.from_state(found.y[:, -1]) if found.status == 0 else np.array([math.nan])

        return call

    return at


def by_heyoka(problem: Standard) -> Callable[[float], Call]:
    def at(tolerance: float) -> Call:
        import heyoka

        variables = heyoka.make_vars(*(f"y{k}" for k in range(len(problem.start))))
        slopes = in_expressions(problem.slope)(heyoka.time, np.array(variables))
        flow = heyoka.taylor_adaptive(list(zip(variables, slopes, strict=True)), problem.start.tolist(), tol=tolerance,
                                      compact_mode=len(variables) > 60)

        def call() -> np.ndarray:
            flow.time, flow.state[:] = 0.0, problem.start
            flow.propagate_until(problem.t_end)
            return problem.from_state(flow.state.copy())

        return call

    return at


def in_expressions(slope: Any) -> Any:
    """The same function of heyoka's expressions, with what it calls."""
    import heyoka

    def zeros(shape: Any, dtype: Any = None) -> np.ndarray:
        return np.full(shape, heyoka.expression(0.0))

    names: dict[str, Any] = {}
    for name, value in slope.py_func.__globals__.items():
        names[name] = FunctionType(value.py_func.__code__, names) if hasattr(value, "py_func") else value
    names["np"] = SimpleNamespace(sin=heyoka.sin, cos=heyoka.cos, sqrt=heyoka.sqrt, zeros=zeros,
                                  zeros_like=lambda y: zeros(len(y)), empty_like=lambda y: zeros(len(y)))
    return names[slope.py_func.__name__]


def by_ida(problem: Standard) -> Callable[[float], Call]:
    from sksundae.ida import IDA

    assert problem.constrained is not None
    residual, jacobian = stabilised(problem)
    first = problem.start if problem.constrained_start is None else problem.constrained_start
    n = len(first)//2
    mass, force, _, matrix = problem.constrained
    q, v = first[:n], first[n:]
    rows = len(matrix(0.0, q))
    slopes = problem.slope(0.0, problem.start)
    y, rates = np.concatenate([first, np.zeros(2*rows)]), np.zeros(2*(n + rows))
    # the multipliers of the start, from the accelerations there
    rates[:n] = v
    rates[n:2*n] = slopes[n:] if problem.constrained_start is None else force(0.0, q, v)
    pull = mass(q) @ rates[n:2*n] - force(0.0, q, v)
    y[2*n:2*n + rows] = np.linalg.lstsq(matrix(0.0, q).T, pull, rcond=None)[0]
    multipliers = np.arange(2*n, 2*(n + rows))
    seen = problem.from_constrained or problem.from_state

    def res(t: float, y: np.ndarray, rates: np.ndarray, out: np.ndarray) -> None:
        out[:] = residual(t, y, rates, n)

    def jac(t: float, y: np.ndarray, rates: np.ndarray, _: np.ndarray, weight: float, out: np.ndarray) -> None:
        out[:] = jacobian(t, y, rates, n, weight)

    def at(tolerance: float) -> Call:
        # errors of multipliers are not judged, as Petzold advises for index two
        atol = np.full(len(y), tolerance)
        atol[multipliers] = 1e10
        solver = IDA(res, jacfn=jac, rtol=tolerance, atol=atol, algebraic_idx=multipliers, max_num_steps=1_000_000)

        def call() -> np.ndarray:
            found = solver.solve([0.0, problem.t_end], y.copy(), rates.copy())
            return seen(np.asarray(found.y)[-1]) if found.success else np.array([math.nan])

        return call

    return at


def codes_of(problem: Standard) -> Iterator[tuple[str, Callable[[float], Call]]]:
    for method in problem.methods:
        if peers.runs_on(problem.system, "own", method):
            yield f"liestep {method}", by_ours(problem, method)
    for method in ("DOP853", "Radau", "LSODA"):
        yield f"scipy {method}", by_scipy(problem, method)
    if problem.heyoka:
        yield "heyoka", by_heyoka(problem)
    if problem.constrained is not None and find_spec("sksundae"):
        yield "IDA", by_ida(problem)


def measured(problem: Standard, repeats: int) -> Iterator[dict[str, Any]]:
    """One row for each code and tolerance."""
    exact = by_scipy(problem, "DOP853")(SMALLEST)()
    runs: dict[tuple[str, float], Call] = {}
    errors = {}
    for name, code in codes_of(problem):
        for tolerance in TOLERANCES:
            call = code(tolerance)
            with warnings.catch_warnings(action="ignore"):
                call()
                begin = time.process_time()
                found = call()
            spent = time.process_time() - begin
            if spent < LONGEST:
                runs[name, tolerance] = call
                errors[name, tolerance] = float(np.abs(found - exact).max()) if found.shape == exact.shape else math.nan
            if spent > LONGEST/3:
                break
    with warnings.catch_warnings(action="ignore"):
        seconds = peers.timed([partial(_done, call) for call in runs.values()], repeats, time.process_time)
    ours = [error for (name, _), error in errors.items() if name.startswith("liestep") and error == error]
    for (name, tolerance), spent in zip(runs, seconds, strict=True):
        yield {"problem": problem.label, "code": name, "tolerance": tolerance, "error": errors[name, tolerance],
               "seconds": spent, "floor": min(ours, default=math.nan)}


def _done(call: Call) -> None:
    call()


def compare(repeats: int = 3, chosen: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Rows of all problems, or of those with chosen labels."""
    for name in ("testset_problems", "mechanisms", "windows"):
        load_plugin(TESTSETS/f"{name}.py")
    for problem in problems():
        if not chosen or problem.label in chosen:
            yield from measured(problem, repeats)


def reached(rows: Sequence[Mapping[str, Any]], targets: Sequence[float] = (1e-6, 1e-9)) -> Iterator[dict[str, Any]]:
    """Milliseconds of each code at errors, between its tolerances; "none" where it does not get there."""
    for label in dict.fromkeys(row["problem"] for row in rows):
        own = [row for row in rows if row["problem"] == label]
        for target in targets:
            at = {code: peers._at([(row["error"], row["seconds"]) for row in own
                                   if row["code"] == code and row["error"] == row["error"]], target)
                  for code in dict.fromkeys(row["code"] for row in rows)}
            yield {"problem": label, "error": target,
                   **{code: 1e3*value if value == value else "none" for code, value in at.items()}}


def draw(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """One panel of each problem: error of the end over processor seconds, best at the lower left."""
    labels = list(dict.fromkeys(row["problem"] for row in rows))
    with matplotlib.rc_context(RC):
        figure, panels = subplots(DOUBLE, 55.0*(-(-len(labels)//3) + 0.3), -(-len(labels)//3), 3)
        for axes, label in zip(panels.flat, labels, strict=False):
            for code, colour in COLOURS.items():
                points = np.array([(float(row["seconds"]), float(row["error"])) for row in rows
                                   if (row["problem"], row["code"]) == (label, code) and float(row["error"]) < SHOWN])
                if len(points):
                    axes.loglog(*points.T, color=colour, marker=MARKERS[code], label=code, markersize=2.8,
                                linestyle="-" if code.startswith("liestep") else "--")
            axes.set(title=label, xlabel="processor time (s)")
        for axes in np.atleast_2d(panels)[:, 0]:
            axes.set_ylabel("error at the end")
        handles = {text: handle for axes in panels.flat for handle, text in zip(*axes.get_legend_handles_labels(),
                                                                                strict=True)}
        figure.legend([handles[code] for code in COLOURS if code in handles],
                      [code for code in COLOURS if code in handles], loc="outside lower center", ncols=4)
    return figure


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Milliseconds at both errors as a table of Markdown; empty where a code does not run the problem."""
    lines = [["problem", *COLOURS], ["---"]*(len(COLOURS) + 1)]
    for label in dict.fromkeys(row["problem"] for row in rows):
        at = list(reached([row for row in rows if row["problem"] == label]))
        lines.append([label, *(", ".join(_written(one[code]) for one in at) if code in at[0] else ""
                               for code in COLOURS)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _written(milliseconds: float | str) -> str:
    return milliseconds if isinstance(milliseconds, str) else f"{milliseconds:.{2 if milliseconds < 99.5 else 3}g}"


def stored_rows() -> list[dict[str, Any]]:
    with STORED.open(newline="") as file:
        return [{**row, **{key: float(row[key]) for key in ("error", "seconds")}} for row in csv.DictReader(file)]


def store(rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows, table and figure, where the page of standard problems shows them."""
    tables.write_csv(STORED, rows)
    draw_stored()


def draw_stored() -> None:
    """The table and the figure of the stored rows."""
    rows = stored_rows()
    REACHED.write_text(table(rows), "utf-8")
    with matplotlib.rc_context(RC):
        draw(rows).savefig(image := io.BytesIO(), dpi=DPI)
    PICTURE.write_bytes(encoded(image.getvalue(), PIXELS, QUALITY)[0])
