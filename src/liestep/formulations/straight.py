"""Small systems whose methods are machine code without loops (`core.routines`), with the bits of the methods
themselves. It is compiled apart from the time loops, and called by its address.

Vector fields have it, and with them the stages of integrators that offer it (`core.attempts`). Of Lie group actions the
map to the algebra, where the equations of motion are, and the observables have it; exponentials gain nothing and stay
as they are. So a time loop is compiled once for all systems, or all with the same action.
"""
import dis
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from types import FunctionType
from typing import Any

import numpy as np

from liestep.contracts.formulated import Formulated
from liestep.core.cache import compiles
from liestep.core.routines import Routine, kept, sum_of_stages
from liestep.core.sources import MARK, component_modules, source_hash
from liestep.core.straight import loaded
from liestep.core.symbols import Untraceable
from liestep.core.units import units_of
from liestep.formulations.machine import Machine, Seen, StraightAction, StraightField, StraightRates
from liestep.formulations.traced import LaneTrace, Trace, check_stage, field_methods, generator_methods

MOST_NUMBERS = 60  # of a state
MOST_KEPT = 100    # traces in memory
MOST_OPERATIONS = 8_000  # of a method, on one way
FEWEST = 100             # of equations of motion that are called by their address
MOST_STAGED = 2_000      # of a right-hand side all of whose stages are one routine


OFFERED = {"rhs", "stage", "project", "observe", "meter"}
OF_ACTIONS = {"algebra_rows", "algebra", "act", "dexpinv", "in_chart", "bracket", "log", "distance2", "project",
              "observe", "meter"}
_found: dict[str, dict[str, Routine] | Untraceable] = {}


def for_loop(formulated: Formulated, integrator: Any) -> tuple[Any, Any]:
    """Problem and integrator for the time loop of a run: with machine code where both have it, else as they are.
    Workspaces are made for the problem itself."""
    problem, y, width = formulated.problem, formulated.start, formulated.width
    with suppress(Untraceable):
        return straight(problem, y, width, integrator)
    for method in (straight_action, straight_vectors, straight_rates):
        with suppress(Untraceable):
            return method(problem, y, width, integrator), integrator
    return problem, integrator


def straight(problem: Any, y: np.ndarray, width: int, integrator: Any) -> tuple[Any, Any]:
    """The problem with methods in machine code for states like y, and the integrator with that of its stages.

    Raises:
        Untraceable: why there is none.
    """
    found = routines(problem, y, width, integrator)
    stages = loaded(found["stages"].text).addresses["routine"]
    return _field(problem, y, found), integrator.with_stages(stages, found["stages"].constants)


def straight_action(problem: Any, y: np.ndarray, width: int, integrator: Any) -> StraightAction:
    """The action with its map to the algebra in machine code for states like y, and its observables if they trace.

    Raises:
        Untraceable: why there is none.
    """
    found = action_routines(problem, y, width, integrator)
    form = seen = problem
    if "observe" in found:
        seen = Seen(_machine(found, "observe"), problem.meter)
        form = problem._replace(generator=None) if hasattr(problem, "generator") else problem
    return StraightAction(form, _machine(found, "algebra"), seen, problem.meter)


def action_routines(problem: Any, y: np.ndarray, width: int, integrator: Any) -> dict[str, Routine]:
    """The map to the algebra as a routine, and the observables if they trace.

    Raises:
        Untraceable: why there is none.
    """
    if not hasattr(problem, "algebra"):
        raise Untraceable("it is no action")
    if "algebra" not in _check_asked(problem, y, integrator, OF_ACTIONS):
        raise Untraceable("the integrator asks for no equations of motion")
    asked = generator_methods(y.shape, (problem.algebra_rows(), 3), width)

    def traced() -> dict[str, Routine]:
        with suppress(Untraceable):
            return Trace(problem, MOST_OPERATIONS).routines(asked, y)
        return Trace(problem, MOST_OPERATIONS).routines(asked[:1], y)

    found = _remembered(f"{asked!r} {digest_of(problem)}", (problem,), traced)
    _check_worth(found["algebra"])
    return found


def straight_rates(problem: Any, y: np.ndarray, width: int, integrator: Any) -> StraightRates:
    """The vector field with its right-hand side in machine code for states like y.

    Raises:
        Untraceable: why there is none.
    """
    if "rhs" not in _check_asked(problem, y, integrator, OFFERED):
        raise Untraceable("the integrator asks for no equations of motion")
    asked = field_methods(y.shape, width)[:1]
    found = _remembered(f"{asked!r} {digest_of(problem)}", (problem,),
                        lambda: Trace(problem, MOST_OPERATIONS).routines(asked, y))
    _check_worth(found["rhs"])
    return StraightRates(problem, _machine(found, "rhs"), problem.meter)


def straight_vectors(problem: Any, y: np.ndarray, width: int, integrator: Any) -> StraightField:
    """`straight_field` where loops are not as fast; of integrators with jets of their own (`integrators.taylor`) it is
    the observables that count.

    Raises:
        Untraceable: why there is none.
    """
    found = _methods_used(problem, y, width, integrator, staged=False)
    if "rhs" in found:
        _check_worth(found["rhs"])
    return _field(problem, y, found)


def _check_worth(motion: Routine) -> None:
    if motion.operations < FEWEST:
        raise Untraceable(f"its equations of motion have fewer than {FEWEST} operations: a call costs as much")


def straight_field(problem: Any, y: np.ndarray, width: int, integrator: Any) -> StraightField:
    """The problem with methods in machine code for states like y, those that an integrator and its recorder call.

    Raises:
        Untraceable: why there are none.
    """
    return _field(problem, y, _methods_used(problem, y, width, integrator, staged=False))


def _field(problem: Any, y: np.ndarray, found: Mapping[str, Routine]) -> StraightField:
    sums = loaded(sum_of_stages(y.size)).addresses["routine"]
    return StraightField(_machine(found, "rhs"), _machine(found, "project"), _machine(found, "observe"), sums,
                         problem.meter)


def _machine(found: Mapping[str, Routine], name: str) -> Machine:
    """A routine in use; none for a method that is not called."""
    if name not in found:
        return Machine(0, np.zeros(0))
    return Machine(loaded(found[name].text).addresses["routine"], found[name].constants)


def routines(problem: Any, y: np.ndarray, width: int, integrator: Any) -> dict[str, Routine]:
    """The methods that an integrator and its recorder call, and all stages of a step, as routines.

    Raises:
        Untraceable: why there are none.
    """
    if not hasattr(integrator, "with_stages"):
        raise Untraceable("the integrator's stages are loops")
    return _methods_used(problem, y, width, integrator, staged=True)


def _methods_used(problem: Any, y: np.ndarray, width: int, integrator: Any, *, staged: bool) -> dict[str, Routine]:
    """The same, the stages of a step if `staged`."""
    names = _check_asked(problem, y, integrator, OFFERED)
    asked = [method for method in field_methods(y.shape, width) if method.name in names]

    def traced() -> dict[str, Routine]:
        check_stage(problem, y)
        trace = Trace(problem, MOST_OPERATIONS)
        found = trace.routines(asked, y)
        if staged:
            if found["rhs"].operations > MOST_STAGED:
                raise Untraceable(f"its right-hand side has more than {MOST_STAGED} operations")
            found["stages"] = trace.stages(asked[0], y.size, integrator.tableau())
        return found

    kind = type(integrator) if staged else None
    return _remembered(f"{asked!r} {kind} {digest_of(problem)}", (problem, integrator), traced)


def lane_routines(problem: Any, y: np.ndarray, width: int, integrator: Any, lanes: int) -> dict[str, Routine]:
    """The methods that an integrator with a jet of its own and its recorder call, for so many lanes at once.

    Raises:
        Untraceable: why there are none.
    """
    names = _check_asked(problem, y, integrator, OFFERED)
    asked = [method for method in field_methods(y.shape, width) if method.name in names]

    def traced() -> dict[str, Routine]:
        return LaneTrace(problem, lanes, MOST_OPERATIONS).routines(asked, y)

    return _remembered(f"{asked!r} {lanes} {digest_of(problem)}", (problem, integrator), traced)


def _check_asked(problem: Any, y: np.ndarray, integrator: Any, offered: set[str]) -> set[str]:
    """The methods of a problem that an integrator and its recorder call.

    Raises:
        Untraceable: it calls others, or the problem is never traced.
    """
    if not compiles():
        raise Untraceable("compiling is switched off")
    if y.dtype != np.float64 or y.size > MOST_NUMBERS:
        raise Untraceable(f"its state has more than {MOST_NUMBERS} numbers")
    if any(hasattr(sys.modules.get(name), MARK) for name in component_modules(problem, integrator)):
        raise Untraceable("code of plugins is compiled with its loops, whose errors name its lines")
    names = names_used(integrator) | {"observe"}
    if not names <= offered:
        raise Untraceable(f"the integrator asks for {', '.join(sorted(names - offered))}")
    return names


def _remembered(key: str, parts: tuple[Any, ...], traced: Callable[[], dict[str, Routine]]) -> dict[str, Routine]:
    """What `traced` returns or raises, asked once for each key and the sources of the parts: a trace of a mechanism
    takes up to a second."""
    if key not in _found:
        if len(_found) == MOST_KEPT:
            _found.clear()
        try:
            _found[key] = kept(f"{source_hash(*component_modules(*parts), __name__)} {key}", traced)
        except Untraceable as error:
            _found[key] = error
    known = _found[key]
    if isinstance(known, Untraceable):
        raise known
    return known


def digest_of(problem: Any) -> str:
    """What tells components apart whose traces differ: their classes and all that they hold but for the counters."""
    digest = hashlib.sha256()
    for part in _content(problem, problem.meter):
        digest.update(part)
    return digest.hexdigest()


def _content(item: Any, meter: np.ndarray) -> Iterator[bytes]:
    """All that a trace of a component depends on: not the counters, nor the addresses of other machine code."""
    if isinstance(item, tuple):
        yield f"{type(item).__module__}.{type(item).__qualname__}{len(item)}(".encode()
        units = getattr(item, "units", None) if units_of(type(item)) else None
        for value in item:
            yield from _content(meter if value is units else value, meter)
    elif isinstance(item, np.ndarray):
        yield f"{item.dtype.str}{item.shape}".encode()
        yield b"" if item is meter else item.tobytes()
    else:
        yield f"{type(item).__name__} {item!r}".encode()


@cache
def _names(function: Callable) -> tuple[frozenset[str], tuple[Callable, ...]]:
    """Names of the fields and methods of `problem` in a function, and the kernels that it names."""
    steps = list(dis.get_instructions(function))
    found = {step.argval for last, step in pairwise(steps)
             if last.opname.startswith("LOAD_FAST") and step.opname in ("LOAD_ATTR", "LOAD_METHOD")
             and (last.argval if isinstance(last.argval, str) else last.argval[-1]) == "problem"}
    named = set(function.__code__.co_names)
    return frozenset(found), tuple(value.py_func for name, value in function.__globals__.items()
                                   if name in named and hasattr(value, "py_func"))


def names_used(integrator: Any) -> set[str]:
    """The fields and methods of a problem that an integrator names: `problem.name`, in its methods and kernels."""
    found: set[str] = set()
    todo, seen = list(_methods(integrator)), set()
    while todo:
        function = todo.pop()
        if function not in seen:
            seen.add(function)
            names, kernels = _names(function)
            found |= names
            todo.extend(kernels)
    return found


def _methods(component: Any) -> Iterator[Callable]:
    """All methods of a tree of components."""
    if isinstance(component, tuple):
        if hasattr(component, "_fields"):
            yield from (value for value in vars(type(component)).values()
                        if isinstance(value, FunctionType) and value.__module__ == type(component).__module__)
        for item in component:
            yield from _methods(item)
