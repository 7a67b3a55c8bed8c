"""A component's plain method as expressions that have the bits of its loops: it is run once on symbols
(`compile.tracing`), and only operations that give the same number for every argument are left out or shared.

Nothing is reordered, no zero is dropped (0 x is not 0 where x is infinite, x + 0 not x where x is -0), no division
becomes a product. A branch on a value is followed on both sides: the method becomes a tree of decisions with outputs
at its leaves. A branch inside a kernel of scalars (`@kernel`) is a small tree of its own, so that the branches of
several bodies do not multiply."""
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from liestep.compile import rows
from liestep.compile.straight.symbols import SYMBOLIC, Comparison, Graph, Node, Number, Untraceable, Value, guarded
from liestep.compile.tracing import copied, globals_of

MOST_NODES = 2_000  # operations on one way through a method; twice as many on all ways, what they share counted once
MOST_LEAVES = 64    # ways through a method
R = TypeVar("R")


class Unset:
    """No number: what an array of results holds before the method writes it, scratch that an earlier call left, and
    whatever is computed from them. It may be the result of a method only where that has failed."""

    __array_ufunc__ = None

    def operate(self, *others: Hashable) -> "Unset":
        return STALE

    def refuse(self, *others: Hashable) -> NoReturn:
        raise Untraceable("it branches on what an earlier call left")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = operate
    __neg__ = __abs__ = __pow__ = called = operate
    __lt__ = __le__ = __gt__ = __ge__ = __float__ = __bool__ = refuse


STALE = Unset()
RESULT = Unset()  # of an array of results, which may stay as it was


def _of_numbers(operation: Callable[..., R]) -> Callable[..., R]:
    """An operation whose last two arguments are numbers; STALE if one is none."""
    def apply(*args: Any) -> Any:
        return STALE if any(isinstance(x, Unset) for x in args[-2:]) else operation(*args)

    return apply


class Branches(Exception):
    """A kernel branches on a value."""


class ExactNode(Node):
    """A number in an expression that keeps its bits."""

    __hash__ = object.__hash__
    __slots__ = ()

    def __abs__(self) -> Node:
        return self.graph.node("abs", self)

    def __pow__(self, power: float) -> Value:
        if power != 2:
            raise Untraceable(f"the power {power!r} of a value{self.graph.line()}")
        return self*self


class ExactGraph(Graph):
    """The nodes of one run of a method. Arguments of a node are nodes or numbers."""

    kind = ExactNode
    most = MOST_NODES

    def __init__(self, forced: Sequence[bool], choices: dict):
        super().__init__(forced)
        self.choices, self.probing = choices, False
        self.marks: list[int] = []  # nodes at each decision

    def key(self, value: Hashable) -> Hashable:
        return value.hex() if isinstance(value, float) else super().key(value)

    def decide(self, asked: Comparison) -> bool:
        if self.probing and self.question(asked) not in self.answers:
            raise Branches
        side = super().decide(asked)
        if len(self.taken) > len(self.marks):
            self.marks.append(len(self.nodes))
        return side

    def own(self) -> int:
        """Nodes that no way before this one has made: those after the last decision that was forced."""
        return len(self.nodes) - (self.marks[len(self.forced) - 1] if self.forced else 0)

    def scale(self, factor: Number, x: Node) -> Value:
        """-x, the only factor that operators of nodes ask for."""
        return x.args[0] if x.op == "neg" else self.node("neg", x)

    def angle(self, y: Value, x: Value) -> Node:
        return self.node("atan2", y, x)

    @_of_numbers
    def add(self, a: Value, b: Value) -> Value:
        if is_minus_zero(a) or is_minus_zero(b):
            return b if is_minus_zero(a) else a
        if isinstance(b, Node) and b.op == "neg":
            return self.sub(a, b.args[0])
        if isinstance(a, Node) and a.op == "neg":
            return self.sub(b, a.args[0])
        return self.node("add", *sorted((a, b), key=_order))

    @_of_numbers
    def sub(self, a: Value, b: Value) -> Value:
        if not isinstance(b, Node) and b == 0 and not is_minus_zero(b):
            return a
        return self.add(a, b.args[0]) if isinstance(b, Node) and b.op == "neg" else self.node("sub", a, b)

    @_of_numbers
    def mul(self, a: Any, b: Any) -> Value:
        for number, other in ((a, b), (b, a)):
            if not isinstance(number, Node) and abs(number) == 1:
                return other if number > 0 else self.scale(-1.0, other)
        signs = [isinstance(x, Node) and x.op == "neg" for x in (a, b)]
        factors = [x.args[0] if negative else x for x, negative in zip((a, b), signs, strict=True)]
        product = self.node("mul", *sorted(factors, key=_order))
        return self.scale(-1.0, product) if sum(signs) == 1 else product

    @_of_numbers
    def div(self, a: Value, b: Value) -> Value:
        return a if not isinstance(b, Node) and b == 1 else self.node("div", a, b)


def is_minus_zero(x: Value) -> bool:
    return not isinstance(x, Node) and x == 0 and math.copysign(1.0, x) < 0.0


def _order(x: Value) -> tuple:
    """Nodes by their place, then numbers: sums and products of two do not depend on their order."""
    return (0, x.place) if isinstance(x, Node) else (1, x)


_REPLACED = {getattr(place, name): getattr(SYMBOLIC, name) for place in (rows, math)
             for name in ("sqrt", "sin", "cos", "exp", "log")}
_REPLACED |= dict.fromkeys((rows.atan2, math.atan2), _of_numbers(SYMBOLIC.atan2))
_IN_MATH = SimpleNamespace(**{name: _REPLACED.get(value, value) for name, value in vars(math).items()
                              if callable(value) or isinstance(value, float)})


class Leaf(NamedTuple):
    """The end of one way through a method: what it returned, and the nodes of the way."""

    graph: ExactGraph
    result: Any
    outputs: list[Value]


class Branch(NamedTuple):
    """left op right decides between two ways."""

    op: str
    left: Value
    right: Value
    yes: "Tree"
    no: "Tree"


Tree = Leaf | Branch


def decision_tree(method: Callable, inputs: int, choices: dict | None = None,
                  most: int = MOST_NODES) -> tuple[Tree, set[Hashable]]:
    """Leaves and branches of `method(symbols) -> (result, outputs)`, and the results of all ways; `most` operations on
    one way. Raises Untraceable where it leaves arithmetic, has too many ways or operations, or reads what it has not
    written."""
    runs: list[ExactGraph] = []
    results: set[Hashable] = set()

    def explore(forced: list[bool]) -> Tree:
        if len(runs) == MOST_LEAVES:
            raise Untraceable(f"it branches on values in more than {MOST_LEAVES} ways")
        graph = ExactGraph(forced, {} if choices is None else choices)
        runs.append(graph)
        graph.most = most
        result, outputs = guarded(method, [graph.node("input", i) for i in range(inputs)])
        if sum(other.own() for other in runs) > 2*most:
            raise Untraceable(f"it takes more than {2*most} operations on all its ways")
        results.add(result)
        tree: Tree = Leaf(graph, result, outputs)
        sides = [side for _, side, _ in graph.taken]
        for number in range(len(sides) - 1, len(forced) - 1, -1):
            asked, side = graph.taken[number][0], sides[number]
            other = explore([*sides[:number], not side])
            tree = Branch(asked.op, asked.left, asked.right, *((tree, other) if side else (other, tree)))
        return tree

    return explore([]), results


class Branching:
    """The ways through a kernel of scalars that branches on values, as a tree over its arguments; equal calls share
    it."""

    def __init__(self, tree: Tree, truth: tuple[bool, ...]):
        """truth: which of its results are truth values."""
        self.tree, self.truth = tree, truth


@cache
def exact(function: Callable) -> Callable:
    """A copy of the function in which all kernels that it names, at any depth, are plain Python; those that branch on
    scalars are nodes of their own."""
    if function in _REPLACED:
        return _REPLACED[function]
    source = getattr(function, "py_func", function)
    names = {name: exact(value) if hasattr(value, "py_func") or (isinstance(value, Hashable) and callable(value)
                                                                 and value in _REPLACED) else
             _IN_MATH if value is math else value for name, value in globals_of(source).items()}
    copy = copied(source, {**names, "__builtins__": __builtins__})
    return _merged(copy) if hasattr(function, "py_func") else copy


def _merged(kernel: Callable) -> Callable:
    """The kernel; where it branches on values that are scalars, one node for all of its ways."""
    def call(*args: Any) -> Any:
        leaves = list(_flat(args))
        graph: Any = next((value.graph for value in leaves if isinstance(value, Node)), None)
        if graph is None or any(isinstance(value, np.ndarray) or hasattr(value, "_fields") for value in leaves):
            return kernel(*args)
        outer, graph.probing = graph.probing, True
        try:
            return kernel(*args)
        except Branches:
            return _chosen(kernel, args, graph)
        finally:
            graph.probing = outer

    return call


def _chosen(kernel: Callable, args: tuple, graph: ExactGraph) -> Any:
    nodes = list({value.place: value for value in _flat(args) if isinstance(value, Node)}.values())
    numbers = {value.place: number for number, value in enumerate(nodes)}

    def among(value: Hashable, symbols: Sequence[Hashable]) -> Any:
        if isinstance(value, tuple):
            return tuple(among(item, symbols) for item in value)
        return symbols[numbers[value.place]] if isinstance(value, Node) else value

    key = (kernel, repr(among(args, [f"#{number}" for number in range(len(nodes))])))
    branching = graph.choices.get(key)
    if branching is None:
        tree, shape = decision_tree(lambda symbols: _results(kernel(*among(args, symbols))), len(nodes), graph.choices)
        kinds = {tuple(isinstance(value, bool) for value in leaf.outputs) for leaf in leaves_of(tree)}
        if len(kinds) != 1 or len(shape) != 1:
            raise Untraceable(f"a kernel returns numbers of several kinds{graph.line()}")
        branching = graph.choices[key] = Branching(tree, kinds.pop()), shape.pop()
    choice, single = branching
    node = graph.node("choice", choice, *nodes)
    parts = tuple(graph.node("part", node, place) for place in range(len(choice.truth)))
    values = tuple(Comparison(graph, "!=", part, 0.0) if truth else part
                   for part, truth in zip(parts, choice.truth, strict=True))
    return values[0] if single else values


def _results(value: Any) -> tuple[bool, list[Value]]:
    """Whether a kernel returns one value, and its values."""
    single = not isinstance(value, tuple) or isinstance(value, Comparison)
    values = [value] if single else list(value)
    if any(item is None or (isinstance(item, tuple) and not isinstance(item, Comparison)) for item in values):
        raise Untraceable("a kernel that branches returns other things than numbers")
    return single, values


def _flat(values: tuple) -> Iterator[Hashable]:
    for value in values:
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            yield from _flat(value)
        else:
            yield value


def leaves_of(tree: Tree) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from leaves_of(tree.yes)
        yield from leaves_of(tree.no)
