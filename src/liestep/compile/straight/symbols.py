"""Expressions of a component's plain method: it is run on symbols (`compile.tracing`), and common parts are shared.

A branch on a value has a second side. It is a guard when that side ends at once with False ("cannot be evaluated"): a
pivot that is not positive, a radius that vanishes. The guard is then checked at run time. Any other branch would be
wrong somewhere, so that the method is refused, with the line that branches."""
import linecache
import math
import sys
import traceback
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import partial, reduce
from operator import attrgetter, mul
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from liestep.compile.tracing import Functions

MOST_NODES = 4_000      # operations of an expression; straight-line jets of more take minutes to compile
MOST_DECISIONS = 2_000  # guards of an expression
Number = float | Fraction
R = TypeVar("R")
_place = attrgetter("place")


class Untraceable(Exception):
    """A method cannot be written as expressions; the text says why and where."""


def _operator(name: str, *, turned: bool = False) -> Callable[["Node", "Value"], "Value"]:
    def apply(self: "Node", other: "Value") -> Any:
        operation = getattr(self.graph, name)
        return operation(other, self) if turned else operation(self, other)

    return apply


def _comparison(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: Comparison(self.graph, op, self, other)


class Node:
    """A number in an expression: `op` of `args`, the place in `graph`. Equal operations are one node."""

    __array_ufunc__ = None  # numpy's scalars leave arithmetic with nodes to these methods
    __hash__ = object.__hash__
    __slots__ = ("args", "graph", "op", "place")

    def __init__(self, graph: "Graph", op: str, args: tuple, place: int):
        self.graph, self.op, self.args, self.place = graph, op, args, place

    __add__, __sub__, __mul__, __truediv__ = map(_operator, ("add", "sub", "mul", "div"))
    __radd__, __rsub__, __rtruediv__ = (_operator(name, turned=True) for name in ("add", "sub", "div"))
    __rmul__ = __mul__
    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("<", "<=", ">", ">="))
    __eq__, __ne__ = map(_comparison, ("==", "!="))

    def __neg__(self) -> "Value":
        return self.graph.scale(-1.0, self)

    def __pow__(self, power: float) -> "Value":
        if power != int(power) or not 1 <= power <= 8:
            raise Untraceable(f"the power {power!r} of a value{self.graph.line()}")
        return reduce(mul, [self]*int(power))

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def called(self, op: str) -> "Node":
        """A function of the number."""
        return self.graph.node(op, self)


Value = Node | Number


class Comparison(NamedTuple):
    """left op right, decided when it is asked for."""

    graph: "Graph"
    op: str
    left: Value
    right: Value

    def __bool__(self) -> bool:
        return self.graph.decide(self)


class Guard(NamedTuple):
    """left op right must be `wanted` where the expressions hold; left and right are nodes or numbers."""

    op: str
    left: Value
    right: Value
    wanted: bool


class Graph:
    """The nodes of one run of a method, in the order in which they can be evaluated."""

    kind = Node
    most = MOST_NODES

    def __init__(self, forced: Sequence[bool] = ()):
        self.nodes: list[Node] = []
        self.table: dict[tuple, Node] = {}
        self.forced = forced
        self.taken: list[tuple[Comparison, bool, str]] = []
        self.answers: dict[tuple, bool] = {}

    def node(self, op: str, *args: Hashable) -> Node:
        key = (op, *map(self.key, args))
        known = self.table.get(key)
        if known is None:
            if len(self.nodes) == self.most:
                raise Untraceable(f"it takes more than {self.most} operations")
            known = self.table[key] = self.kind(self, op, args, len(self.nodes))
            self.nodes.append(known)
        return known

    def forget(self, known: int) -> None:
        """Drop the nodes behind the first `known`."""
        del self.nodes[known:]
        self.table = {key: node for key, node in self.table.items() if node.place < known}

    def key(self, value: Hashable) -> Hashable:
        """What tells nodes and numbers apart, without comparing nodes."""
        return ("node", value.place) if isinstance(value, Node) else getattr(value, "value", value)

    def question(self, asked: Comparison) -> tuple:
        """What tells branches apart."""
        return asked.op, self.key(asked.left), self.key(asked.right)

    def scale(self, factor: Number, x: Node) -> Value:
        """factor*x for a number."""
        if x.op == "scale":
            factor, x = factor*x.args[0], x.args[1]
        if factor == 0:
            return 0.0
        return x if factor == 1 else self.node("scale", factor, x)

    def add(self, a: Value, b: Value) -> Value:
        if not isinstance(b, Node):
            return a if b == 0 else self.node("shift", b, a)
        if not isinstance(a, Node):
            return b if a == 0 else self.node("shift", a, b)
        if a.op == "scale" and a.args[0] == -1:
            return self.sub(b, a.args[1])
        if b.op == "scale" and b.args[0] == -1:
            return self.sub(a, b.args[1])
        return self.node("add", *sorted((a, b), key=_place))

    def sub(self, a: Value, b: Value) -> Value:
        if not isinstance(b, Node):
            return a if b == 0 else self.node("shift", -b, a)
        if not isinstance(a, Node):
            return self.add(a, self.scale(-1.0, b))
        if b.op == "scale" and b.args[0] == -1:
            return self.add(a, b.args[1])
        return 0.0 if a is b else self.node("sub", a, b)

    def mul(self, a: Any, b: Any) -> Value:
        if not isinstance(b, Node):
            return self.scale(b, a)
        factor: Any = 1.0
        if a.op == "scale":
            factor, a = a.args
        if b.op == "scale":
            factor, b = factor*b.args[0], b.args[1]
        product = self.node("mul", *sorted((a, b), key=_place))
        return product if factor == 1 else self.scale(factor, product)

    def div(self, a: Any, b: Any) -> Any:
        if not isinstance(b, Node):
            return self.scale(1/b, a)
        if isinstance(a, Node) and a.op == "scale":
            return self.scale(a.args[0], self.div(a.args[1], b))
        if not isinstance(a, Node):
            return 0.0 if a == 0 else self.scale(a, self.node("inverse", b))
        return self.node("div", a, b)

    def angle(self, y: Value, x: Value) -> Node:
        y, x = (value if isinstance(value, Node) else self.node("shift", value, self.node("scale", 0.0, other))
                for value, other in ((y, x), (x, y)))  # a constant as a node
        return self.node("atan2", y, x, x*x + y*y)

    def decide(self, asked: Comparison) -> bool:
        """The side of a branch: the forced ones first, then always True; a question that comes again has the same
        answer."""
        question = self.question(asked)
        if question in self.answers:
            return self.answers[question]
        number = len(self.taken)
        if number == MOST_DECISIONS:
            raise Untraceable(f"it branches on values more than {MOST_DECISIONS} times")
        side = self.forced[number] if number < len(self.forced) else True
        self.taken.append((asked, side, self.line()))
        self.answers[question] = side
        return side

    def line(self) -> str:
        """Where the method is: file, number and text of its line."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in (
                __name__, "liestep.compile.straight.exact"):
            frame = frame.f_back
        return "" if frame is None else line_of(frame.f_code.co_filename, frame.f_lineno)


def line_of(code: str, number: int) -> str:
    return f" ({code.rpartition('/')[2]}, line {number}: {linecache.getline(code, number).strip()})"


def place_of(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return line_of(last.filename, last.lineno or 0)


def _unary(op: str, plain: Callable) -> Callable:
    return lambda x: x.called(op) if hasattr(x, "called") else plain(x)


def _atan2(y: Any, x: Any) -> Value:
    symbol = next((value for value in (y, x) if hasattr(value, "called")), None)
    return math.atan2(y, x) if symbol is None else symbol.graph.angle(y, x)


# what stands for the functions of `compile.rows` while a method runs on symbols
SYMBOLIC = Functions(_unary("sqrt", math.sqrt), _unary("sin", math.sin), _unary("cos", math.cos),
                     below=lambda x, limit: x < limit, atan2=_atan2,
                     exp=_unary("exp", math.exp), log=_unary("log", math.log))


class Expressions(NamedTuple):
    """Outputs of a method as nodes or numbers, with the guards under which they hold."""

    inputs: list[Node]
    outputs: list[Value]
    guards: list[Guard]
    nodes: list[Node]


def reachable(outputs: Iterable[Hashable], known: Container[int] = ()) -> list[Node]:
    """The nodes that outputs are made of, in an order in which they can be evaluated; without those at known places."""
    found: dict[int, Node] = {}
    waiting = [x for x in outputs if isinstance(x, Node)]
    while waiting:
        node = waiting.pop()
        if node.place not in found and node.place not in known:
            found[node.place] = node
            waiting += [x for x in node.args if isinstance(x, Node)]
    return [found[place] for place in sorted(found)]


MOST_RUNS = 10_000  # of the method, to see where its branches lead
OPERATIONS = ("add", "sub", "mul", "div", "scale", "node")

Method = Callable[[list[Node]], tuple[Comparison | bool, Sequence[Value]]]


def expressions(method: Method, inputs: int, most: int = MOST_NODES) -> Expressions:
    """Outputs of `method(symbols) -> (evaluable, outputs)`, at most so many operations. Raises Untraceable where it
    branches on values otherwise than by guards, leaves arithmetic, or takes too many operations."""
    paths = _Paths(method, inputs, most)
    outputs = paths.first()
    nodes, taken = paths.way.nodes.copy(), paths.way.taken
    sides = [side for _, side, _ in taken]
    for number, (_, side, line) in enumerate(taken):
        if not paths.fail([*sides[:number], not side]):
            raise Untraceable(f"it branches on a value{line}")
    guards = [Guard(asked.op, asked.left, asked.right, side) for asked, side, _ in taken]
    return Expressions(nodes[:inputs], list(outputs), guards, nodes)


def guarded(method: Callable, symbols: list[Node]) -> tuple[Hashable, list[Value]]:
    """Result and outputs of one run of a method, with what leaves arithmetic as the reason why it cannot be traced."""
    try:
        with np.errstate(all="raise"):
            result, outputs = method(symbols)
            return _decided(result), [_decided(value) for value in outputs]
    except (TypeError, ValueError, ArithmeticError, AttributeError, IndexError, NotImplementedError) as error:
        raise Untraceable(f"{error}{place_of(error)}") from None


def _decided(value: R | Comparison) -> R | bool:
    return bool(value) if isinstance(value, Comparison) else value


class _Way(Graph):
    """One run of a method, and others that begin like it: while these take the same sides, their operations have the
    results of the first run, which takes a tenth of the time."""

    def __init__(self, forced: Sequence[bool], inputs: int, most: int):
        super().__init__(forced)
        self.most = most
        self.symbols = [self.node("input", i) for i in range(inputs)]
        self.results: list[Value] = []
        self.sides: list[bool] = []  # of the first run, once there are others
        self.size = 0
        for name in OPERATIONS:
            setattr(self, name, partial(self.remembered, getattr(Graph, name)))

    def remembered(self, operation: Callable[..., Value], *args: Value) -> Value:
        """Result of an operation, in place of those that it is made of."""
        at = len(self.results)
        result = operation(self, *args)
        self.results[at:] = [result]
        return result

    def restart(self, forced: Sequence[bool]) -> None:
        """Get ready for another run, which takes other sides than the first."""
        if not self.size:
            self.size, self.sides = len(self.nodes), [side for _, side, _ in self.taken]
        while len(self.nodes) > self.size:
            self.nodes.pop()
            self.table.popitem()
        self.forced, self.taken, self.answers = forced, [], {}
        results = iter(self.results)
        for name in OPERATIONS:
            setattr(self, name, lambda *_: next(results))

    def decide(self, asked: Comparison) -> bool:
        number, side = len(self.taken), super().decide(asked)
        if number < min(len(self.taken), len(self.sides)) and side != self.sides[number]:
            for name in OPERATIONS:
                self.__dict__.pop(name, None)
        return side


class _Paths:
    """The ways through a method, each one run of it with the sides of its first branches given."""

    def __init__(self, method: Method, inputs: int, most: int):
        self.method, self.inputs, self.most, self.runs = method, inputs, most, 0
        self.way: _Way

    def run(self) -> tuple[bool, Sequence[Value], list[bool]]:
        """Whether the method can be evaluated, what it returns, and the sides that it takes."""
        self.runs += 1
        if self.runs > MOST_RUNS:
            raise Untraceable("its branches on values lead too far")
        evaluable, outputs = guarded(self.method, self.way.symbols)
        return bool(evaluable), outputs, [side for _, side, _ in self.way.taken]

    def first(self) -> Sequence[Value]:
        """Outputs on a way on which the method can be evaluated, the sides True before those that are False."""
        forced: list[bool] = []
        while True:
            self.way = _Way(forced, self.inputs, self.most)
            evaluable, outputs, sides = self.run()
            if evaluable:
                return outputs
            while sides and not sides[-1]:
                sides.pop()
            if not sides:
                raise Untraceable("it can be evaluated nowhere")
            forced = [*sides[:-1], False]

    def fail(self, forced: list[bool]) -> bool:
        """Whether the method ends with False on all ways that begin like this."""
        self.way.restart(forced)
        evaluable, _, sides = self.run()
        return not evaluable and all(self.fail([*sides[:number], not sides[number]])
                                     for number in range(len(forced), len(sides)))
