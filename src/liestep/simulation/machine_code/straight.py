"""Small systems whose methods are machine code without loops (`compile.straight.routines`), with the bits of the
methods themselves. It is compiled separately from the time loops, and called by its address.

Vector fields have it, and with them the stages of integrators that offer it (`compile.straight.routines`). Of Lie group
actions the map to the algebra, where the equations of motion are, and the observables have it; exponentials gain
nothing and stay as they are. So a time loop is compiled once for all systems, or all with the same action."""
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import class_names, compiles, loop_for
from liestep.compile.dispatch import hands_on
from liestep.compile.driver import evaluate
from liestep.compile.interpreted import pays, spent
from liestep.compile.roles import Integrator, Problem
from liestep.compile.separate import call_address
from liestep.compile.sources import black_box, component_modules, of_plugins, source_hash
from liestep.compile.straight.routines import Routine, kept, sum_of_stages
from liestep.compile.straight.straight import loaded
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.tracing import digest_of
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import Component, LieChart, MetricAction
from liestep.simulation.machine_code.traced import Trace, Traced, check_stage, field_methods, generator_methods


class Machine(NamedTuple):
    """A routine in use."""

    address: int
    table: np.ndarray  # constants of the system

    def call(self, t: float, a: np.ndarray, b: np.ndarray, counters: np.ndarray, out: np.ndarray) -> bool:
        return call_address(self.address, t, a, b, self.table, counters, out) == 1


class StraightField(NamedTuple):
    """`VectorField` in machine code."""

    field: Machine
    projection: Machine
    observables: Machine
    stages: int         # address of the sum of stages
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.field.call(t, y, y, self.counters, out)

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        call_address(self.stages, weights, h, k, count, y, out)

    def project(self, y: np.ndarray) -> None:
        self.projection.call(0.0, y, y, self.counters, y)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.observables.call(0.0, y, y, self.counters, out)


class Observables(NamedTuple):
    """Observables in machine code."""

    code: Machine
    counters: np.ndarray

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.code.call(0.0, y, y, self.counters, out)


@hands_on("form", MetricAction, "distance2")
@hands_on("form", LieChart)
@hands_on("seen", Component, "observe")
class StraightAction(NamedTuple):
    """An action on states and a map to its algebra, as `mechanics.formulations.action.ActionForm`, that map in machine
    code."""

    form: Problem       # of the action; without its generator where `seen` needs none
    generator: Machine
    seen: Component     # what observes: `Observables` or the form
    counters: np.ndarray

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.generator.call(t, y, y, self.counters, out)


Pair = tuple[Problem, Integrator]  # what a time loop takes
MOST_NUMBERS = 60  # of a state
MOST_KEPT = 100    # traced problems in memory
MOST_OPERATIONS = 8_000  # of a method, on one way
FEWEST = 100             # of equations of motion that are called by their address in a long run
LONG = 1_000_000         # steps of a run that gains by a loop of its own for small equations: seconds of compiling
SHORT = 50_000           # steps that cost less than a trace, whatever their code
MOST_STAGED = 2_000      # of a right-hand side all of whose stages are one routine
_found: dict[str, dict[str, dict[str, Routine] | Untraceable]] = {}  # by digests of problems
_traced: set[tuple[str, ...]] = set()  # classes of traced components


def for_loop(formulated: Formulated, integrator: Integrator, steps: float = inf, *loop: Any) -> Pair:
    """Problem and integrator for the time loop of a run of so many steps: with machine code where both have it, else as
    they are. loop: its function, and what it takes beside them; a short run with numbers that were not traced takes its
    code without machine code, where it is there. Workspaces are made for the problem itself; bits do not depend on the
    number of steps."""
    plain, start = (formulated.problem, integrator), thread_time()
    known = loop and steps <= SHORT and class_names(plain[0]) in _traced  # the first of a class is traced anyway
    components = (loop[0], *plain[::-1], *loop[1:]) if known and digest_of(plain[0]) not in _found else ()
    if components and pays(*components):
        return plain
    found = next((made for made in _chosen(formulated, integrator, FEWEST if steps > LONG else 0)
                  if not isinstance(made, Untraceable)), plain)
    if components:
        spent(thread_time() - start, *components)
    return found


def code_in_words(formulated: Formulated, integrator: Integrator) -> str:
    """Which code the time loop of a run gets, and why not the faster ones."""
    refused: dict[str, None] = {}
    for made in _chosen(formulated, integrator):
        if not isinstance(made, Untraceable):
            return WORDS[type(made[0])] + ("" if made[1] is integrator else ", all stages of a step together")
        refused[str(made)] = None
    why = "; ".join(refused) or f"the formulation {formulated.formulation} has no straight-line code"
    return f"loops for everything: {why}"


def _chosen(formulated: Formulated, integrator: Integrator, fewest: int = FEWEST) -> Iterator[Pair | Untraceable]:
    """Problem and integrator with each kind of code that the formulation may have, the fastest first, or why there is
    none. An integrator calls no other methods of a problem than its formulation's protocol declares
    (`liestep.mechanics.contracts.formulations`), all of which the components here have."""
    problem, y, width = formulated.problem, formulated.start, formulated.width
    if black_box(problem):
        yield Untraceable("the system is a black box")
        return
    for method in KINDS.get(formulated.formulation, ()):
        try:
            made = method(problem, y, width, integrator, fewest)
            yield made if method is straight else (made, integrator)
        except Untraceable as error:
            yield error


# each of the next ones raises Untraceable where there is no such code, and says why


def straight(problem: Problem, y: np.ndarray, width: int, integrator: Any, fewest: int = FEWEST) -> Pair:
    """The problem with methods in machine code for states like y, and the integrator with that of its stages."""
    traced = routines(problem, y, width, integrator)
    stages = _machine(traced, "stages")
    return _field(problem, y, traced), integrator.with_stages(stages.address, stages.table)


def straight_action(problem: Problem, y: np.ndarray, width: int, integrator: Integrator,
                    fewest: int = FEWEST) -> StraightAction:
    """The action with its map to the algebra in machine code for states like y, and its observables if they trace."""
    traced = action_routines(problem, y, width, integrator, fewest)
    form = seen = problem
    if "observe" in traced:
        seen = Observables(_machine(traced, "observe"), problem.counters)
        form = problem._replace(generator=None) if hasattr(problem, "generator") else problem
    return StraightAction(form, _machine(traced, "algebra"), seen, problem.counters)


def action_routines(problem: Problem, y: np.ndarray, width: int, integrator: Integrator, fewest: int = FEWEST
                    ) -> dict[str, Routine]:
    """The map to the algebra as a routine, and the observables if they trace."""
    _check_size(y)
    if hasattr(integrator, "makes_series"):
        raise Untraceable("the integrator asks for no equations of motion: it has their series")
    asked = generator_methods(y.shape, (problem.algebra_rows(), 3), width)

    def traced() -> dict[str, Routine]:
        with suppress(Untraceable):
            return _trusted(problem, y, width, Trace(problem, MOST_OPERATIONS).routines(asked, y))
        return _trusted(problem, y, width, Trace(problem, MOST_OPERATIONS).routines(asked[:1], y))

    return _worth("algebra", _remembered(asked, "", problem, (), traced), fewest)


def _worth(name: str, found: dict[str, Routine], fewest: int) -> dict[str, Routine]:
    if name in found and found[name].operations < fewest:
        raise Untraceable(f"its equations of motion have fewer than {fewest} operations: in a long run a call costs as"
                          " much")
    return found


def straight_vectors(problem: Problem, y: np.ndarray, width: int, integrator: Integrator,
                     fewest: int = FEWEST) -> StraightField:
    """The problem with methods in machine code for states like y, those that an integrator and its recorder call, where
    loops are not as fast; of integrators with jets of their own (`integrators.taylor`) it is the observables that
    count."""
    return _field(problem, y, _worth("rhs", _methods_used(problem, y, width, integrator, staged=False), fewest))


def _field(problem: Problem, y: np.ndarray, found: Mapping[str, Routine]) -> StraightField:
    sums = loaded(sum_of_stages(y.size)).addresses["routine"]
    return StraightField(_machine(found, "rhs"), _machine(found, "project"), _machine(found, "observe"), sums,
                         problem.counters)


def _machine(found: Mapping[str, Routine], name: str) -> Machine:
    """A routine in use; none for a method that is not called."""
    if name not in found:
        return Machine(0, np.zeros(0))
    return Machine(loaded(found[name].text).addresses["routine"], found[name].constants)


def routines(problem: Problem, y: np.ndarray, width: int, integrator: Integrator) -> dict[str, Routine]:
    """The methods that an integrator and its recorder call, and all stages of a step, as routines."""
    if not hasattr(integrator, "with_stages"):
        raise Untraceable("the integrator's stages are loops")
    return _methods_used(problem, y, width, integrator, staged=True)


def _methods_used(problem: Problem, y: np.ndarray, width: int, integrator: Any, *, staged: bool) -> dict[str, Routine]:
    _check_size(y)
    asked = field_methods(y.shape, width)[1 if hasattr(integrator, "makes_series") else 0:]  # that may be called

    def traced() -> dict[str, Routine]:
        check_stage(problem, y)
        trace = Trace(problem, MOST_OPERATIONS)
        found = trace.routines(asked, y)
        if staged:
            if found["rhs"].operations > MOST_STAGED:
                raise Untraceable(f"its right-hand side has more than {MOST_STAGED} operations")
            found["stages"] = trace.stages(asked[0], y.size, integrator.tableau())
        return _trusted(problem, y, width, found)

    key, parts = (str(type(integrator)), (integrator,)) if staged else ("field", ())
    return _remembered(asked, key, problem, parts, traced)


def _check_size(y: np.ndarray) -> None:
    if not compiles():
        raise Untraceable("compiling is switched off")
    if y.dtype != np.float64 or y.size > MOST_NUMBERS:
        raise Untraceable(f"its state has more than {MOST_NUMBERS} numbers")


def _trusted(problem: Problem, y: np.ndarray, width: int, found: dict[str, Routine]) -> dict[str, Routine]:
    """The routines of a problem; those of a plugin after its methods have been compiled as loops, which names the lines
    of what compiled code does not know, and have given the same bits: plain Python knows more, of whole numbers for
    example. At two states, at one of which nothing is zero. Raises Untraceable where they have not."""
    if not of_plugins(problem):
        return found
    counted = problem.counters.copy()
    for name in found.keys() & LOOPS.keys():
        shape = (width,) if name == "observe" else (problem.algebra_rows(), 3) if name == "algebra" else y.shape
        for state in (y, y + np.linspace(1e-3, 2e-3, y.size).reshape(y.shape)):
            out, wanted = np.zeros(shape), np.zeros(shape)
            told = loop_for(LOOPS[name], problem)(problem, 0.25, state, wanted)
            same = told == _machine(found, name).call(0.25, state, state, problem.counters, out)
            problem.counters[:] = counted
            if not same or (told and out.tobytes() != wanted.tobytes()):
                raise Untraceable(f"its compiled {name} gives other bits than plain Python")
    return found


def _algebra(problem: Problem, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    return problem.algebra(t, y, out)


def _observe(problem: Problem, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    problem.observe(y, out)
    return True


LOOPS: dict[str, Callable[..., bool]] = {"rhs": evaluate, "algebra": _algebra, "observe": _observe}


def _remembered(asked: Sequence[Traced], key: str, problem: Problem, parts: tuple[Integrator, ...],
                traced: Callable[[], dict[str, Routine]]) -> dict[str, Routine]:
    """What `traced` returns or raises, asked once for the methods, each key, the problem and the sources of all parts
    and of this module: a trace of a mechanism takes up to a second."""
    digest, key = digest_of(problem), f"{asked!r} {key}"
    if digest not in _found and len(_found) == MOST_KEPT:
        _found.clear()
    if key not in (found := _found.setdefault(digest, {})):
        try:
            found[key] = kept(f"{source_hash(*component_modules(problem, *parts), __name__)} {key} {digest}", traced)
        except Untraceable as error:
            found[key] = error
        _traced.add(class_names(problem))
    known = found[key]
    if isinstance(known, Untraceable):
        raise known
    return known


KINDS: dict[str, tuple[Callable, ...]] = {
    "vector_field": (straight, straight_vectors), "lie_action": (straight_action,), "lie_chart": (straight_action,)}
WORDS = {StraightField: "straight-line code for right-hand side (where it is called), projection and observables",
         StraightAction: "straight-line code for the map to the algebra, and for the observables if they have it"}
