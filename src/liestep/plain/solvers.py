"""The integrators in scipy's words: `liestep.solve`, and classes for `scipy.integrate.solve_ivp(..., method=...)`.

A right-hand side that can be traced (`liestep.system`) runs as a run of the package does, another one is called as it
is. The whole way is made at once; scipy then walks from node to node, so that events, t_eval and dense output are its
own.
"""
import inspect
import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DenseOutput, OdeSolver, solve_ivp

from liestep.compile.status import Status
from liestep.errors import InputError, number_or_nan, require_plain, unknown
from liestep.mechanics.contracts.sheet import real_array
from liestep.mechanics.formulations.turning import PARTS, layout
from liestep.plain import System, system
from liestep.plain.blackbox import black_box_of, real_rates
from liestep.simulation.catalogue import integrator_ids, own_integrators, plugin_entries
from liestep.simulation.catalogue import method as declared
from liestep.simulation.endings.between import Between, require_within
from liestep.simulation.endings.events import Event, event_function
from liestep.simulation.endings.search import Found, Occurrence, Search, first_of
from liestep.simulation.plugins.reads import digest_of_reads
from liestep.simulation.runs.execution import Outcome
from liestep.simulation.runs.numbers import positive
from liestep.simulation.runs.specification import specify_again

GROUPS = {"SO3": "R", "S2": "q", "R3": "x"}  # letters of PARTS
OFF = 1e-6  # share of a rate that may leave the group: a wrong formula has more, round-off less
TAKEN = ("rtol", "atol", "step", "max_step", "stops", "blackbox")


@cache
def names() -> dict[str, str]:
    """Names in scipy's words -> ids of integrators."""
    return {declared(name).scipy: name for name in own_integrators() if declared(name).scipy}


def _id_of(name: str) -> str | None:
    """The integrator of a name in scipy's words; most are ids in other letters, for which no file of others is read."""
    near = name.lower()
    return near if near in own_integrators() and declared(near).scipy == name else names().get(name)


def _factors(group: str) -> dict[str, int]:
    """How many of each factor; of R3 as many as there are, 0. Raises InputError: it is no product of GROUPS."""
    counts = {name: many for name, _, many in (factor.partition("^") for factor in str(group).split("x"))}
    known = [name for name in GROUPS if name in counts]
    if [*counts] != known or "^0" in group or "^x" in f"{group}x" or known == ["R3"] or counts.get("R3") or not all(
            many.isdigit() or not many for many in counts.values()):
        raise InputError(f"unknown group {group!r}; allowed are SO3, S2 and R3 in this order with x between, such as"
                         " SO3, SO3xR3 or SO3^2xS2^4xR3, where R3 is all further vectors; rigid motions are option"
                         " action: se3 of a liestep.system(field=...)")
    return {name: 0 if name == "R3" else int(many or 1) for name, many in counts.items()}


def _shapes(group: str, n: int) -> dict[str, tuple[int, ...]]:
    """Shapes of R, q and x in y (n,). Raises InputError: another number."""
    factors = _factors(group)
    left = n - 9*factors.get("SO3", 0) - 3*factors.get("S2", 0)
    if left < 0 or left % 3 or ("R3" not in factors and left):
        raise InputError(f"y0 has {n} numbers, which are none of the group {group}: R is 9, row by row, a vector 3")
    shapes = {GROUPS[name]: (many,)*(f"{name}^" in group) + (3,)*(1 + (name == "SO3"))
              for name, many in factors.items() if many}
    return {**shapes, **({"x": (left//3, 3)} if left else {})}


def _parts(y: ArrayLike, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """R, q and x of numbers y (..., n)."""
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    return {letter: np.reshape(numbers, (*np.shape(y)[:-1], *shapes[letter]))
            for letter, numbers in zip(shapes, np.split(np.asarray(y), ends, axis=-1), strict=True)}


def _require_tangent(rates: dict[str, np.ndarray], at: dict[str, np.ndarray]) -> None:
    """Raises InputError: rates of R or q at the start that leave the group, of which `_generator` would read a part."""
    if "R" in at:
        turned = rates["R"] @ np.swapaxes(at["R"], -1, -2)
        if np.abs(turned + np.swapaxes(turned, -1, -2)).max() > OFF*np.abs(turned).max():
            raise InputError("dR/dt of the function leaves the rotations at the start: dR/dt R^T must be antisymmetric")
    if "q" in at and np.abs((rates["q"]*at["q"]).sum(-1)).max() > OFF*np.abs(rates["q"]).max():
        raise InputError("dq/dt of the function leaves the sphere at the start: it must be orthogonal to q")


def _generator(fun: Callable, shapes: dict[str, tuple[int, ...]], t: Any, y: np.ndarray) -> list[np.ndarray]:
    """w of all R and q and rates of x, of the rates of all: dR/dt = hat(w) R, dq/dt = w x q."""
    rates, at = _parts(fun(t, y), shapes), _parts(y, shapes)
    if "R" in rates:
        spin = np.moveaxis(rates["R"] @ np.swapaxes(at["R"], -1, -2), (-2, -1), (0, 1))
        rates["R"] = 0.5*np.stack([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]], axis=-1)
    if "q" in rates:
        rates["q"] = np.cross(at["q"], rates["q"])
    return list(rates.values())


MOST_KNOWN = 100
_known: dict[Hashable, System | None] = {}  # by what a function reads; None: no parameter stands for its arguments


def _system_of(fun: Callable, args: Sequence[Any], start: dict[str, np.ndarray]) -> tuple[System, dict[str, Any]]:
    """The system of fun(t, y, *args), and values of its parameters, which stand for those arguments that are floats or
    arrays of them. It is traced once as long as all that it reads stays. Raises InputError as `_traced`."""
    free = {f"argument_{k}": x for k, x in enumerate(args) if isinstance(x, float) or
            (isinstance(x, np.ndarray) and x.dtype.kind == "f")}
    rest = [None if f"argument_{k}" in free else x for k, x in enumerate(args)]
    with suppress(InputError):  # of what has no digest, or runs on these arguments alone
        key = (digest_of_reads((fun, rest)), *map(np.shape, args), *((name, x.shape) for name, x in start.items()))
        if key not in _known or (_known[key] and str(_known[key]) not in plugin_entries()):
            if len(_known) >= MOST_KNOWN:
                _known.clear()
            _known[key] = None
            found = _traced(lambda t, y, p: fun(t, y, *(
                p[f"argument_{k}"] if f"argument_{k}" in free else x for k, x in enumerate(args))), start, free)
            _known[key] = found if "define the system anew" not in found.source else None
        if known := _known[key]:
            return known, free
    return _traced(lambda t, y, p: fun(t, y, *args), start, {}), {}


def _traced(fun: Callable, start: dict[str, np.ndarray], parameters: dict[str, float | np.ndarray]) -> System:
    """The system of a function of t, y and parameters that runs on symbols. Its own start is the same for all, so that
    it is one system for all starts, unless the function has no value there.

    Raises:
        InputError: the function does not run on symbols.
    """
    shapes = {letter: value.shape for letter, value in start.items()}

    def field(t: Any, p: Any, R: ArrayLike = (), q: ArrayLike = (), x: ArrayLike = ()) -> ArrayLike:
        found = _generator(lambda t, y: fun(t, y, p), shapes, t, np.concatenate([np.ravel(item) for item in (R, q, x)]))
        return found if len(found) > 1 else found[0]

    given: dict[str, Any] = {"rhs": lambda t, y, p: fun(t, y, p)} if "y" in start else {"field": field}
    given["parameters"] = parameters
    usual = {name: np.broadcast_to(np.eye(3)[0] if name == "q" else np.eye(3), value.shape) if name in ("R", "q") else
             0.5 + 0.01*np.arange(value.size).reshape(value.shape) for name, value in start.items()}
    with suppress(InputError):
        return system("solved", start=usual, **given)
    return system("solved", start=start, **given)


def _called(fun: Callable, start: dict[str, np.ndarray], flat: Callable[[np.ndarray], np.ndarray]) -> str:
    """The system of a function that is called; flat: y (n, 1) of rows (1, m, 3)."""
    if "y" in start:
        return black_box_of("solved", lambda t, rows: np.reshape(fun(t, rows[0]), (1, -1)), start)
    shapes = {letter: value.shape for letter, value in start.items()}

    def algebra(t: float, rows: np.ndarray) -> np.ndarray:
        found = _generator(lambda t, y: real_rates(fun(t, y)), shapes, t, flat(rows[None])[:, 0])
        return np.concatenate([np.reshape(rates, (-1, 3)) for rates in found])

    return black_box_of("solved", algebra, start)


def _require_arguments(what: str, function: Callable, args: Sequence[Any] | None) -> None:
    """Raises InputError: a function of (t, y, *args) takes more or fewer arguments."""
    if not callable(function) or not (args is None or isinstance(args, Sequence | np.ndarray)):
        raise InputError(f"{what} must be a function of (t, y, *args), and args a tuple, not {function!r} and {args!r}")
    code = function.__code__ if isinstance(function, FunctionType) else None
    if code and not code.co_kwonlyargcount and code.co_argcount == 2 + len(() if args is None else args):
        return  # asking for a signature takes as long as some runs
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(0.0, 0.0, *(args or ()))
    except TypeError:
        raise InputError(f"{what} is a function of {signature} and is called with t, y and {len(args or ())} further"
                         " arguments: give the others as args=(...)") from None


def _event(event: Callable, args: Sequence[Any]) -> Event:
    """An event of scipy. Raises InputError: no function, or a wrong `terminal` or `direction`."""
    given = [getattr(event, name, None) or 0.0 for name in ("terminal", "direction")]
    terminal, way = (1.0 if value is True else number_or_nan(value) for value in given)
    if not callable(event) or not terminal >= 0 or terminal != int(terminal) or way != way:
        raise InputError("events must be functions of (t, y) whose attribute terminal is a boolean or a positive"
                         f" integer, and direction a number, not {event!r}")
    _require_arguments("an event", event, args)
    return Event(lambda state: np.squeeze(event(state["t"], state["y"], *args))[()], int(np.sign(way)),
                 int(terminal) or None)


class Solver(OdeSolver):
    """An integrator of the package as scipy's `OdeSolver`.

    fun(t, y) gives dy/dt. On a group, y is all R (9 numbers, row by row, body to space), unit vectors q and further
    vectors x, and fun gives their rates as ever: of dR/dt only w of dR/dt = hat(w) R is used, of dq/dt only w of
    dq/dt = w x q, so that R stays a rotation and q a unit vector. Options: rtol and atol (a number, or one for each of
    y) of adaptive methods, max_step and stops (as `liestep.simulate`), step of others, which is shortened to divide the
    span; blackbox: do not trace fun. Attributes: compiled, and reason, why fun was not traced.
    """

    integrator, group = "", ""
    t: float
    y: np.ndarray
    found: Found | None = None  # none where nothing is to be done
    _outcome: Outcome

    def __init__(self, fun: Callable, t0: float, y0: ArrayLike, t_bound: float, vectorized: bool = False, *,
                 rtol: float | None = None, atol: Any = None, step: float | None = None, blackbox: bool = False,
                 max_step: float | None = None, stops: Sequence[float] | None = None,
                 _call: tuple[tuple[Callable, Sequence[Any]], Sequence[Event], list["Solver"]] | None = None,
                 **unknowns: Any):
        for name in unknowns:
            if name in ("min_step", "first_step"):
                raise InputError(f"{type(self).__name__}: {name} is not taken: adaptive methods choose their steps by"
                                 " rtol and atol, others take step, in s")
            raise InputError(f"{type(self).__name__}: {unknown('option', name, TAKEN)}")
        super().__init__(lambda t, y: real_rates(fun(t, y)), t0, real_array("y0", y0), t_bound, vectorized)
        self._shapes: dict[str, tuple[int, ...]] = _shapes(self.group, self.n) if self.group else {"y": (self.n,)}
        self.compiled, self.reason, self._place = not blackbox, "blackbox=True" if blackbox else "", 0
        self.own, self.events, made = _call or ((fun, ()), (), [])
        made.append(self)
        if self.n and t0 != t_bound:
            self.found = self._whole_way(rtol, atol, step, {"max_step": max_step, "stops": stops})
            self._between, last = self.found.between, self.found.last
            self._states = self._flat(self._between.nodes)
            assert self._between.outcome is not None
            self._outcome, self.times = self._between.outcome, self._between.times
            if last is not None:  # the run ends within a step
                self.times, self.t_bound = self.times[:last.step + 1 + (last.share > 0.0)].copy(), last.time
            if last is not None or self._outcome.status == Status.OK:
                self.times = np.append(self.times[:-1], self.t_bound)
            self.nfev = self._outcome.counters.get("rhs_evaluations", 0)

    def _whole_way(self, rtol: float | None, atol: Any, step: float | None, limits: dict[str, Any]) -> Found:
        start, values = _parts(self.y, self._shapes) if self.group else {"y": self.y}, dict[str, Any]()
        length = abs(self.t_bound - self.t)
        if self.compiled:
            try:
                known: System | str
                known, values = _system_of(*self.own, start)
            except InputError as error:
                self.compiled, self.reason = False, str(error)
        if not self.compiled:
            known = _called(self.fun_single, start, self._flat)
        if self.group:
            _require_tangent(_parts(self.fun_single(self.t, self.y), self._shapes), start)
        adaptive = "atol" in declared(self.integrator).options
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None and not adaptive:
                raise InputError(f"{type(self).__name__} takes no {name}, as its steps are fixed: leave it out")
        if self.group and np.shape(atol) == (self.n,):  # of a field the least
            atol = [float(np.min(tolerances)) for tolerances in _parts(real_array("atol", atol), self._shapes).values()]
        how: dict[str, Any] = {"tolerance": 1e-6 if rtol is None and adaptive else rtol,
                               "options": {} if atol is None else {"atol": atol}}
        if step is not None:
            how = {"steps": max(1, math.ceil(length/positive("step", step)*(1.0 - 1e-12)))}
        initial = {PARTS[name].name if name in PARTS else name: value for name, value in start.items()}
        spec = specify_again(known, integrator=self.integrator, t_start=float(self.t), t_end=float(self.t_bound),
                             initial=initial, parameters=values, samples=2, **how, **limits)
        return first_of([Search(event_function(event, {}, {}), event, self.seen) for event in self.events], spec, True)

    def seen(self, between: Between, steps: Any, shares: np.ndarray, whole: bool = False) -> dict[str, np.ndarray]:
        """t and y at shares of some steps, all in one row."""
        rows, _ = between.inside(steps, shares, whole)
        return {"t": between.times_of(steps, shares), "y": self._flat(rows.reshape(-1, *rows.shape[2:])).T}

    def of_event(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Times of an event and y there, (times, n)."""
        own = [hit for k, hit in self.found.earlier + self.found.together if k == number] if self.found else []
        return np.array([hit.time for hit in own]), np.array([self.state_at(hit) for hit in own])

    def state_at(self, one: Occurrence) -> np.ndarray:
        """y at an event."""
        rows, _ = self._between.inside(slice(one.step, one.step + 1), np.array([one.share]), one.whole)
        return self._flat(rows[0])[:, 0]

    def _flat(self, rows: np.ndarray) -> np.ndarray:
        """y at times, (n, k), of rows (k, m, d)."""
        if self.group:
            parts = [PARTS[letter].values_of(rows[:, at], self._shapes[letter])
                     for letter, (at, _) in layout(self._shapes).items()]
            rows = np.concatenate([np.reshape(values, (len(rows), -1)) for values in parts], axis=1)
        return rows.reshape(len(rows), -1).T

    def _step_impl(self) -> tuple[bool, str | None]:
        if self._place + 1 >= len(self.times):
            return False, f"the run ended: {Status(self._outcome.status).name.lower().replace('_', ' ')}"
        self._place += 1
        at, last = self._place, self.found.last if self.found else None
        self.t = float(self.times[at])
        self.y = self.state_at(last) if last and self.t == last.time else self._states[:, at].copy()
        return True, None

    def _dense_output_impl(self) -> DenseOutput:
        return _Within(self, self._place - 1)


class _Within(DenseOutput):
    """The state within one step: the method's interpolant, or one of its steps."""

    def __init__(self, solver: Solver, number: int):
        super().__init__(solver.t_old, solver.t)
        self.solver, self.number = solver, number

    def _call_impl(self, t: np.ndarray) -> np.ndarray:
        times, solver = np.atleast_1d(t), self.solver
        require_within(times, float(solver.times[0]), float(solver.times[-1]))
        if ((times < self.t_min) | (times > self.t_max)).any():
            rows, _ = solver._between.at(times)
        else:
            step = slice(self.number, self.number + 1)
            rows = solver._between.inside(step, (times - self.t_old)/solver._between.lengths[step])[0][0]
        found = solver._flat(rows)
        return found[:, 0] if np.ndim(t) == 0 else found


@cache
def solver_class(method: str, group: str | None = None) -> type[Solver]:
    """The class of a method: a name in scipy's words or the id of an integrator.

    Raises:
        InputError: a method or a group that there is not.
    """
    named = _id_of(str(method))
    if named is None and str(method).partition(" ")[0] not in integrator_ids():
        raise InputError(f"{unknown('method', str(method), names())}, or the id of an integrator as rk4")
    integrator = named or method
    if group is not None:
        _factors(group)
    elif declared(integrator).scipy and declared(integrator).formulation == "lie_action":
        group = "SO3xR3"
    return type(method, (Solver,), {"integrator": integrator, "group": group or "", "__doc__": Solver.__doc__})


def __getattr__(name: str) -> Any:
    """The class of an integrator by its name in scipy's words: DOP853, RK45, RK4, ..."""
    if name.startswith("_") or _id_of(name) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return solver_class(name)


def solve(fun: Callable, t_span: Sequence[float], y0: ArrayLike, method: str = "DOP853",
          t_eval: ArrayLike | None = None, dense_output: bool = False, events: Any = None,
          args: Sequence[Any] | None = None, *, group: str | None = None, **options: Any) -> Any:
    """Solve dy/dt = fun(t, y, *args) with an integrator of the package, in the words of `scipy.integrate.solve_ivp`.

    Args:
        fun: in numpy and math it is traced and runs as machine code (docs/my_system.md); what cannot be is called
            as it is.
        t_span: (t0, t1), forward or backward, in s or the unit of your own time.
        y0: start, (n,), in units of your own.
        method: DOP853, RK45, RK4, Gauss, Taylor, or the id of any integrator of vector fields; RKMK4, RKMK853,
            LieTaylor or any id of one on groups with `group`.
        t_eval: times at which y is given (default: the ends of steps).
        dense_output: give `sol`, a function of t within t_span.
        events: functions of (t, y, *args), as scipy, or a list of them, found as those of `simulate(until=)`, within
            steps too (default: none).
        args: further arguments of fun and events (default: none).
        group: SO3, SO3xR3, S2, SO3^2xS2^4xR3 and so on: y is all R (9 numbers each, row by row), unit vectors, and
            further vectors of R^3, see `Solver` (default: y is a vector).
        options: rtol (1e-6), atol (a number, or one for each of y; default: rtol times its size), max_step, stops,
            or step; blackbox=True calls fun.

    Returns:
        scipy's OdeResult: t, y (n, times), sol, t_events, y_events, nfev, status, message, success; and compiled,
        reason (why it was not).

    Raises:
        InputError: a wrong argument, a method that cannot run on it, or rates that leave the group.
    """
    _require_arguments("fun", fun, args)
    made: list[Solver] = []
    several = [] if events is None else events if isinstance(events, list | tuple) else [events]
    call = (fun, args or ()), [_event(event, args or ()) for event in several], made
    for name, value in {"t_span": t_span, "t_eval": t_eval, **options}.items():
        require_plain(name, value)
    solution = solve_ivp(fun, t_span, y0, solver_class(str(method), None if group is None else str(group)), t_eval,
                         dense_output, args=args, _call=call, **options)
    solution.compiled, solution.reason = made[-1].compiled, made[-1].reason
    if events is not None:
        each = [made[-1].of_event(k) for k in range(len(several))]
        solution.t_events, solution.y_events = [t for t, _ in each], [y for _, y in each]
        if made[-1].found and made[-1].found.last:
            solution.status, solution.message = 1, "A termination event occurred."
    return solution
