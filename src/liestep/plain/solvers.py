"""The integrators in scipy's words: `liestep.solve`, and classes for `scipy.integrate.solve_ivp(..., method=...)`.

A right-hand side that can be traced (`liestep.system`) runs as a run of the package does, another one is called as it
is. The whole way is made at once; scipy then walks from node to node, so that events, t_eval and dense output are its
own.
"""
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from typing import Any

import numpy as np
from scipy.integrate import DenseOutput, OdeSolver, solve_ivp

from liestep.compile.status import Status
from liestep.errors import InputError, unknown
from liestep.plain import system
from liestep.plain.blackbox import black_box_of
from liestep.simulation.runs.dense import Between
from liestep.simulation.runs.execution import Outcome
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.until import nodes_of

GROUPS = ("SO3", "SO3xR3")
NAMES = {"DOP853": "dop853", "RK45": "ode45", "RK4": "rk4", "Gauss": "gauss", "Taylor": "taylor", "RKMK4": "rkmk",
         "RKMK853": "rkmk853", "LieTaylor": "lie_taylor"}


def _rows(y: Any) -> Any:
    """Rows R e_1, R e_2, R e_3 and x of numbers R (row by row), x."""
    return np.concatenate([np.reshape(y[:9], (3, 3)).T, np.reshape(y[9:], (-1, 3))])


def _generator(fun: Callable, t: Any, y: Any) -> Any:
    """(w, rates of x) of the rates of R and x: dR/dt = hat(w) R."""
    d, R = fun(t, y), np.reshape(y[:9], (3, 3))
    spin = np.reshape(d[:9], (3, 3)) @ R.T
    return [0.5*np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]), d[9:]]


def _traced(fun: Callable, grouped: bool, start: dict[str, np.ndarray]) -> str:
    """The system of a function that runs on symbols. Its own start is the same for all, so that it is one system for
    all starts, unless the function has no value there.

    Raises:
        InputError: the function does not run on symbols.
    """
    if not grouped:
        given: dict[str, Any] = {"rhs": lambda t, y: fun(t, y)}
    elif "x" not in start:
        given = {"field": lambda t, R: _generator(fun, t, np.ravel(R))[0]}
    else:
        given = {"field": lambda t, R, x: _generator(fun, t, np.concatenate([np.ravel(R), np.ravel(x)]))}
    usual = {name: np.eye(3) if name == "R" else 0.5 + 0.01*np.arange(value.size).reshape(value.shape)
             for name, value in start.items()}
    with suppress(InputError):
        return system("solved", start=usual, **given)
    return system("solved", start=start, **given)


def _called(fun: Callable, grouped: bool, start: dict[str, np.ndarray]) -> str:
    """The system of a function that is called."""
    if not grouped:
        return black_box_of("solved", lambda t, rows: np.reshape(fun(t, rows[0]), (1, -1)), start)

    def algebra(t: float, rows: np.ndarray) -> np.ndarray:
        w, u = _generator(lambda t, y: np.asarray(fun(t, y), dtype=float), t,
                          np.concatenate([rows[:3].T.ravel(), rows[3:].ravel()]))
        return np.concatenate([w[None], np.reshape(u, (-1, 3))])

    return black_box_of("solved", algebra, start)


class Solver(OdeSolver):
    """An integrator of the package as scipy's `OdeSolver`.

    fun(t, y) gives dy/dt. On a group, y is R (9 numbers, row by row, body to space) and further vectors of R^3, and fun
    gives their rates as ever: of dR/dt only w of dR/dt = hat(w) R is used, so that R stays a rotation. Options: rtol
    and atol (a number) of adaptive methods, step of others, which is shortened to divide the span; blackbox: do not
    trace fun. Attributes: compiled, and reason, why fun was not traced.
    """

    integrator, group = "dop853", False
    t: float
    y: np.ndarray
    _outcome: Outcome

    def __init__(self, fun: Callable, t0: float, y0: Any, t_bound: float, vectorized: bool = False, *,
                 rtol: float = 1e-6, atol: float | None = None, step: float | None = None, blackbox: bool = False,
                 **unknowns: Any):
        for name in unknowns:
            if name in ("max_step", "min_step", "first_step"):
                raise InputError(f"{type(self).__name__}: {name} is not taken: adaptive methods choose their steps by"
                                 " rtol and atol, others take step, in s")
            raise InputError(f"{type(self).__name__}: {unknown('option', name, ('rtol', 'atol', 'step', 'blackbox'))}")
        super().__init__(fun, t0, y0, t_bound, vectorized)
        if self.group and (self.n < 9 or self.n % 3):
            raise InputError(f"y0 has {self.n} numbers; on a group it is R (9 numbers) and vectors of R^3")
        self.compiled, self.reason, self._place = not blackbox, "blackbox=True" if blackbox else "", 0
        if self.n and t0 != t_bound:
            self._between = self._whole_way(fun, rtol, atol, step)
            self.nfev = self._outcome.counters.get("rhs_evaluations", 0)

    def _whole_way(self, fun: Callable, rtol: float, atol: float | None, step: float | None) -> Between:
        y0, grouped = self.y, self.group
        start = {"y": y0}
        if grouped:
            start = {"R": y0[:9].reshape(3, 3), **({"x": y0[9:].reshape(-1, 3)} if self.n > 9 else {})}
        length = abs(self.t_bound - self.t)
        if self.compiled:
            try:
                known = _traced(fun, grouped, start)
            except InputError as error:
                self.compiled, self.reason = False, str(error)
        if not self.compiled:
            known = _called(self.fun_single, grouped, start)
        how: dict[str, Any] = {"tolerance": rtol, "options": {} if atol is None else {"atol": atol}}
        if step is not None:
            how = {"steps": max(1, ceil(length/step*(1.0 - 1e-12)))}
        initial = {"attitude" if name == "R" else name: value for name, value in start.items()}
        spec = specify(known, self.integrator, t_start=float(self.t), t_end=float(self.t_bound), initial=initial, **how)
        found = nodes_of(spec)
        assert found.outcome is not None
        self._outcome = found.outcome
        return found

    def _flat(self, rows: np.ndarray) -> np.ndarray:
        """y at times, (n, k), of rows (k, m, d)."""
        if self.group:
            rows = np.concatenate([np.swapaxes(rows[:, :3], 1, 2), rows[:, 3:]], axis=1)
        return rows.reshape(len(rows), -1).T

    def _step_impl(self) -> tuple[bool, str | None]:
        if self._place + 1 >= len(self._between.times):
            return False, f"the run ended: {Status(self._outcome.status).name.lower().replace('_', ' ')}"
        self._place += 1
        at = self._place
        self.y = self._flat(self._between.nodes[at:at + 1])[:, 0]
        last = at + 1 == len(self._between.times) and self._outcome.status == Status.OK
        self.t = self.t_bound if last else float(self._between.times[at])
        return True, None

    def _dense_output_impl(self) -> DenseOutput:
        return _Within(self, self._place - 1)


class _Within(DenseOutput):
    """The state within one step: the method's interpolant, or one of its steps."""

    def __init__(self, solver: Solver, number: int):
        super().__init__(solver.t_old, solver.t)
        self.solver, self.number = solver, number

    def _call_impl(self, t: np.ndarray) -> np.ndarray:
        shares = (np.atleast_1d(t) - self.t_old)/(self.t - self.t_old)
        rows, _ = self.solver._between.inside(slice(self.number, self.number + 1), shares)
        found = self.solver._flat(rows[0])
        return found[:, 0] if np.ndim(t) == 0 else found


def solver_class(method: str, group: str | None = None) -> type[Solver]:
    """The class of a method: a name of NAMES or the id of an integrator.

    Raises:
        InputError: a group that there is not.
    """
    if group is not None and group not in GROUPS:
        raise InputError(unknown("group", group, GROUPS))
    integrator = NAMES.get(method, method)
    grouped = group is not None or integrator in ("rkmk", "rkmk853", "lie_taylor")
    return type(method, (Solver,), {"integrator": integrator, "group": grouped, "__doc__": Solver.__doc__})


DOP853, RK45, RK4, Gauss, Taylor, RKMK4, RKMK853, LieTaylor = map(solver_class, NAMES)


def solve(fun: Callable, t_span: Sequence[float], y0: Any, method: str = "DOP853", t_eval: Any = None,
          dense_output: bool = False, events: Any = None, args: Sequence[Any] | None = None, *,
          group: str | None = None, **options: Any) -> Any:
    """Solve dy/dt = fun(t, y, *args) with an integrator of the package, in the words of `scipy.integrate.solve_ivp`.

    Args:
        fun: in numpy and math it is traced and runs as machine code (docs/my_system.md); what cannot be is called
            as it is. t_span: (t0, t1), forward or backward. y0: (n,).
        method: DOP853, RK45, RK4, Gauss, Taylor, or the id of any integrator of vector fields; RKMK4, RKMK853,
            LieTaylor or any id of one on groups with `group`. t_eval, dense_output, events, args: as scipy.
        group: SO3 or SO3xR3: y is R (9 numbers, row by row), and vectors of R^3 (see `Solver`).
        options: rtol (1e-6), atol (a number; default: rtol times the size of y) or step; blackbox=True calls fun.

    Returns:
        scipy's OdeResult: t, y (n, times), sol, t_events, y_events, nfev, status, message, success; and compiled,
        reason (why it was not).

    Raises:
        InputError: a wrong argument, or a method that cannot run on it.
    """
    made: list[Solver] = []

    class Chosen(solver_class(method, group)):  # type: ignore[misc]
        def __init__(self, *own: Any, **more: Any):
            made.append(self)
            super().__init__(*own, **more)

    Chosen.__name__ = method
    found = solve_ivp(fun, t_span, y0, Chosen, t_eval, dense_output, events, args=args, **options)
    found.compiled, found.reason = made[-1].compiled, made[-1].reason
    return found
