"""Derivatives and values of expressions of `plain.symbols`."""
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from liestep.compile.straight.symbols import reachable
from liestep.plain.symbols import HOLDS, PlainGraph, Symbol, Truth, select

FLOATS: dict[str, Callable] = {"sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan, "sin": math.sin, "cos": math.cos,
                               "exp": lambda x: math.exp(x) if x < 709.0 else math.inf, "atan2": math.atan2,
                               "log": lambda x: math.log(x) if x > 0 else -math.inf if x == 0 else math.nan}


def _slopes(node: Any) -> list[tuple[Any, Any]]:
    """(argument, d node/d argument) of an operation; a choice has none of its own."""
    op, a = node.op, node.args
    if op == "mul" and a[0] is a[1]:
        return [(a[0], 2.0*a[0])]
    x, y = (*a, None)[:2] if op not in ("select", "input") else (None, None)
    found: dict[str, Callable] = {
        "add": lambda: [(x, 1.0), (y, 1.0)], "sub": lambda: [(x, 1.0), (y, -1.0)], "mul": lambda: [(x, y), (y, x)],
        "inverse": lambda: [(x, -(node*node))], "scale": lambda: [(y, x)], "shift": lambda: [(y, 1.0)],
        "sqrt": lambda: [(x, 0.5/node)], "sin": lambda: [(x, x.cos())], "cos": lambda: [(x, -x.sin())],
        "exp": lambda: [(x, node)], "log": lambda: [(x, 1.0/x)],
        "atan2": lambda: [(x, y/(x*x + y*y)), (y, -(x/(x*x + y*y)))], "input": lambda: []}
    return [(x, slope) for x, slope in found[op]() if isinstance(x, Symbol)]


def _question(node: Any, op: str, left: Any, right: Any) -> Truth:
    return Truth(node.graph, op, left, right)


def times(slope: Any, d: Any) -> Any:
    """slope d; where the slope is a choice with zero, a choice of products: the derivative of a branch that is not
    taken may be infinite."""
    if isinstance(slope, Symbol) and slope.op == "select" and any(_is_zero(x) for x in slope.args[3:]):
        op, left, right, a, b = slope.args
        return select(_question(slope, op, left, right), *(0.0 if _is_zero(x) else times(x, d) for x in (a, b)))
    return slope*d


def plus(a: Any, b: Any) -> Any:
    """a + b; choices by the same question are one."""
    if isinstance(a, Symbol) and isinstance(b, Symbol) and a.op == b.op == "select":
        graph = a.graph
        if [*map(graph.key, a.args[1:3])] == [*map(graph.key, b.args[1:3])] and a.args[0] == b.args[0]:
            return select(_question(a, *a.args[:3]), plus(a.args[3], b.args[3]), plus(a.args[4], b.args[4]))
    return a + b


def _is_zero(x: Any) -> bool:
    return not isinstance(x, Symbol) and x == 0.0


def depending(outs: Sequence[Any], inputs: Sequence[Symbol]) -> set[int]:
    """Places of the nodes of expressions that depend on inputs."""
    found = {x.place for x in inputs}
    for node in reachable(outs):
        if any(isinstance(x, Symbol) and x.place in found for x in node.args):
            found.add(node.place)
    return found


def depends(out: Any, inputs: Sequence[Symbol]) -> bool:
    """Whether an expression depends on any of the inputs."""
    return isinstance(out, Symbol) and out.place in depending([out], inputs)


def gradient(out: Any, inputs: Sequence[Any]) -> list[Any]:
    """Derivatives of an expression by its inputs, backwards: a few operations for each one of the expression."""
    if not isinstance(out, Symbol):
        return [0.0]*len(inputs)
    needed = depending([out], inputs)
    slopes: dict[int, Any] = {out.place: 1.0}
    for node in reversed(reachable([out])):
        slope = slopes.get(node.place)
        if slope is None or node.place not in needed:
            continue
        if node.op == "select":
            op, left, right, *sides = node.args
            asked = _question(node, op, left, right)
            parts = [(sides[0], select(asked, slope, 0.0)), (sides[1], select(asked, 0.0, slope))]
        else:
            parts = [(x, times(slope, d)) for x, d in _slopes(node) if x.place in needed]
        for x, term in parts:
            if isinstance(x, Symbol) and x.place in needed:
                slopes[x.place] = plus(slopes[x.place], term) if x.place in slopes else term
    return [slopes.get(x.place, 0.0) for x in inputs]


def along(outs: Sequence[Any], inputs: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
    """Derivatives of expressions along a direction of their inputs, forwards."""
    slopes: dict[int, Any] = {x.place: d for x, d in zip(inputs, directions, strict=True)}

    def slope(x: Any) -> Any:
        return slopes[x.place] if isinstance(x, Symbol) else 0.0

    for node in reachable(outs):
        if node.place in slopes:
            continue
        if node.op == "select":
            op, left, right, a, b = node.args
            slopes[node.place] = select(_question(node, op, left, right), slope(a), slope(b))
            continue
        total: Any = 0.0
        for x, d in _slopes(node):
            if not _is_zero(slopes[x.place]):
                total = plus(total, times(slopes[x.place], d))
        slopes[node.place] = total
    return [slope(x) for x in outs]


def substituted(outs: Sequence[Any], found: Mapping[int, Any]) -> list[Any]:
    """Expressions with others in place of the nodes at some places."""
    done = dict(found)

    def value(x: Any) -> Any:
        return done[x.place] if isinstance(x, Symbol) else x

    for node in reachable(outs):
        if node.place not in done:
            changed = any(isinstance(x, Symbol) and done[x.place] is not x for x in node.args)
            done[node.place] = _again(node, [value(x) for x in node.args]) if changed else node
    return [value(x) for x in outs]


def _again(node: Any, a: list[Any]) -> Any:
    """The operation of a node on other arguments."""
    graph: PlainGraph = node.graph
    if node.op in ("add", "sub", "mul"):
        return getattr(graph, node.op)(*a) if any(isinstance(x, Symbol) for x in a) else computed(node.op, a)
    if not any(isinstance(x, Symbol) for x in a):
        return computed(node.op, a)
    special = {"inverse": lambda: graph.inverse(a[0]), "scale": lambda: graph.scale(*a), "shift": lambda: a[1] + a[0],
               "select": lambda: select(Truth(graph, *a[:3]), *a[3:])}
    return special[node.op]() if node.op in special else graph.node(node.op, *a)


def computed(op: str, a: Sequence[Any], functions: Mapping[str, Callable] = FLOATS) -> Any:
    """An operation on numbers."""
    if op in functions:
        return functions[op](*a)
    if op == "select":
        return a[3] if HOLDS[a[0]](a[1], a[2]) else a[4]
    if op == "inverse":
        return 1/a[0] if a[0] else a[0] + math.inf
    return {"add": lambda: a[0] + a[1], "shift": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1]}.get(
        op, lambda: a[0]*a[1])()


def evaluated(outs: Sequence[Any], values: Mapping[str, Any], functions: Mapping[str, Callable] = FLOATS,
              number: Callable = float) -> list[Any]:
    """Values of expressions at values of their inputs by name."""
    done: dict[int, Any] = {}

    def value(x: Any) -> Any:
        return done[x.place] if isinstance(x, Symbol) else number(x)

    for node in reachable(outs):
        if node.op == "input":
            done[node.place] = number(values[node.args[0]])
        elif node.op == "select":
            op, left, right, a, b = node.args
            done[node.place] = value(a) if HOLDS[op](value(left), value(right)) else value(b)
        else:
            done[node.place] = computed(node.op, [value(x) for x in node.args], functions)
    return [value(x) for x in outs]
