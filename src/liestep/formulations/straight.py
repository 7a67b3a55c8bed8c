"""Vector fields of small systems whose methods are machine code without loops (`core.routines`), with the bits of the
methods themselves, for integrators whose stages are (`core.attempts`). Their time loop is compiled once for all
systems: the machine code of a system is compiled apart, and called by its address."""
import dis
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.formulated import Formulated
from liestep.core.address import call_address
from liestep.core.cache import compiles
from liestep.core.routines import Routine, sum_of_stages
from liestep.core.sources import MARK, component_modules
from liestep.core.straight import loaded
from liestep.core.symbols import Untraceable
from liestep.formulations.traced import Trace, check_stage, field_methods

MOST_NUMBERS = 60  # of a state
MOST_KEPT = 100    # traces in memory


class Machine(NamedTuple):
    """A routine in use."""

    address: int
    table: np.ndarray  # constants of the system

    def call(self, t: float, a: np.ndarray, b: np.ndarray, meter: np.ndarray, out: np.ndarray) -> bool:
        return call_address(self.address, t, a, b, self.table, meter, out) == 1


class StraightField(NamedTuple):
    """`VectorField` in machine code."""

    field: Machine
    projection: Machine
    observables: Machine
    stages: int         # address of the sum of stages
    meter: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.field.call(t, y, y, self.meter, out)

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        call_address(self.stages, weights, h, k, count, y, out)

    def project(self, y: np.ndarray) -> None:
        self.projection.call(0.0, y, y, self.meter, y)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.observables.call(0.0, y, y, self.meter, out)


OFFERED = {"rhs", "stage", "project", "observe", "meter"}
_found: dict[str, dict[str, Routine] | Untraceable] = {}


def for_loop(formulated: Formulated, integrator: Any) -> tuple[Any, Any]:
    """Problem and integrator for the time loop of a run: with machine code where both have it, else as they are.
    Workspaces are made for the problem itself."""
    try:
        return straight(formulated.problem, formulated.start, formulated.width, integrator)
    except Untraceable:
        return formulated.problem, integrator


def straight(problem: Any, y: np.ndarray, width: int, integrator: Any) -> tuple[Any, Any]:
    """The problem with methods in machine code for states like y, and the integrator with that of its stages.

    Raises:
        Untraceable: why there is none.
    """
    found = routines(problem, y, width, integrator)
    stages = loaded(found["stages"].text).addresses["routine"]
    return _field(problem, y, found), integrator.with_stages(stages, found["stages"].constants)


def straight_field(problem: Any, y: np.ndarray, width: int, integrator: Any) -> StraightField:
    """The problem with methods in machine code for states like y, those that an integrator and its recorder call.

    Raises:
        Untraceable: why there are none.
    """
    return _field(problem, y, _methods_used(problem, y, width, integrator))


def _field(problem: Any, y: np.ndarray, found: Mapping[str, Routine]) -> StraightField:
    def machine(name: str) -> Machine:
        return Machine(loaded(found[name].text).addresses["routine"], found[name].constants) if name in found else (
            Machine(0, np.zeros(0)))

    sums = loaded(sum_of_stages(y.size)).addresses["routine"]
    return StraightField(machine("rhs"), machine("project"), machine("observe"), sums, problem.meter)


def routines(problem: Any, y: np.ndarray, width: int, integrator: Any) -> dict[str, Routine]:
    """The methods that an integrator and its recorder call, and all stages of a step, as routines.

    Raises:
        Untraceable: why there are none.
    """
    if not hasattr(integrator, "with_stages"):
        raise Untraceable("the integrator's stages are loops")
    return _methods_used(problem, y, width, integrator)


def _methods_used(problem: Any, y: np.ndarray, width: int, integrator: Any) -> dict[str, Routine]:
    """The same, with stages where the integrator's are machine code."""
    if not compiles():
        raise Untraceable("compiling is switched off")
    if y.dtype != np.float64 or y.size > MOST_NUMBERS:
        raise Untraceable(f"its state has more than {MOST_NUMBERS} numbers")
    if any(hasattr(sys.modules.get(name), MARK) for name in component_modules(problem, integrator)):
        raise Untraceable("code of plugins is compiled with its loops, whose errors name its lines")
    names = names_used(integrator) | {"observe"}
    if not names <= OFFERED:
        raise Untraceable(f"the integrator asks for {', '.join(sorted(names - OFFERED))}")
    asked = [method for method in field_methods(y.shape, width) if method.name in names]
    key = f"{asked!r} {type(integrator)} {digest_of(problem)}"
    if key not in _found:
        if len(_found) == MOST_KEPT:
            _found.clear()
        try:
            trace = Trace(problem)
            found = trace.routines(asked)
            if hasattr(integrator, "with_stages"):
                check_stage(problem, y)
                found["stages"] = trace.stages(asked[0], y.size, integrator.tableau())
            _found[key] = found
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
    """All that a trace of a component depends on."""
    if isinstance(item, tuple):
        yield f"{type(item).__module__}.{type(item).__qualname__}{len(item)}(".encode()
        for value in item:
            yield from _content(value, meter)
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
