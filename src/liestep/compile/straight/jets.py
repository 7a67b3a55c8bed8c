"""Taylor coefficients of the solution of y' = f(t, y) from the expressions of f: recurrences of automatic
differentiation, order by order (Hairer, Norsett and Wanner 1993, I.8; Jorba and Zou 2005).

The recurrences are written once, on an arithmetic, where a Python number among the operands is a constant: `Numbers`
computes them on numbers of any kind, and `compile.straight.writer` writes them as machine code. None stands for a
coefficient that is zero for every start."""
import math
import operator
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from liestep.compile.straight.symbols import Expressions, Guard, Node, Number, Value, reachable

C = TypeVar("C")  # a coefficient: a number of any kind, the name of one in machine code, or a pack of them
R = TypeVar("R")
Constant = Number | tuple[Number, ...]


class Numbers:
    """Arithmetic of the numbers themselves, without fused operations; packs are arrays."""

    def __init__(self, functions: dict[str, Callable], one: Any = 1.0):
        """one: the number 1, in which fractions are written."""
        self.functions, self.one = functions, one

    add, sub, mul, div, part = map(staticmethod, (operator.add, operator.sub, operator.mul, operator.truediv,
                                                  operator.truediv))

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return a*b + c

    def call(self, name: str, *args: Any) -> Any:
        return self.functions[name](*args)

    def constant(self, value: Constant) -> Any:
        if isinstance(value, tuple):
            return np.array([self.constant(x) for x in value])
        return value.numerator*self.one/value.denominator if isinstance(value, Fraction) else value

    def gather(self, values: Sequence[Any]) -> Any:
        return np.array(values)

    def member(self, pack: Any, i: int) -> Any:
        return pack[i]

    def turn(self, pack: Any, places: Sequence[int]) -> Any:
        return pack[list(places)]

    def whole(self, pack: Any) -> Any:
        return sum(pack[1:], start=pack[0])


PLAIN = Numbers({"sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "atan2": math.atan2, "exp": math.exp,
                 "log": math.log})


SELF = ("inverse", "div", "sqrt", "atan2", "exp", "log")  # recurrences on coefficients of the node itself
CHAINS = 2  # partial sums of a long convolution, which a processor adds at the same time
Pairs = Sequence[tuple[C | None, C | None]]


class Jet(Generic[C]):
    """Coefficients of all nodes of expressions, with inputs y_1 ... y_n and t: `coefficient(node, k)` after those of
    smaller k."""

    def __init__(self, found: Expressions, arithmetic: Any, start: Sequence[C | None]):
        """start: values of y and t."""
        self.found, self.on, self.start = found, arithmetic, start
        self.known: dict[tuple, Any] = {}
        sides = [side for guard in found.guards for side in (guard.left, guard.right)]
        self.merged = merged([*found.outputs, *sides])
        self.late = lateness(found, [*found.outputs, *sides])

    def rows(self, order: int) -> Iterable[list[C | None]]:
        """Coefficients of y, in order 0, 1, ... `order`."""
        needed = self.needed(self.found.outputs)
        for k in range(order + 1):
            yield [self.coefficient(node, k) for node in self.found.inputs[:-1]]
            for node in needed if k < order else ():
                self.coefficient(node, k)

    def needed(self, outputs: Iterable[Value]) -> list[Node]:
        """The nodes that outputs are made of and whose coefficients occur somewhere."""
        return [node for node in reachable(outputs) if node.place not in self.merged]

    def coefficient(self, x: Value, k: int) -> C | None:
        """Coefficient k of a node or a number; None for zero."""
        if not isinstance(x, Node):
            return None if k or x == 0 else self.on.constant(x)
        own = (x,) if x.op in SELF else ()
        return self.once("", x, lambda: getattr(self, f"_{x.op}")(k, *own, *x.args), k)

    def guard_value(self, guard: Guard) -> tuple[C, C]:
        """Both sides of a guard, of coefficients 0."""
        sides = []
        for side in (guard.left, guard.right):
            for node in self.needed([side]):
                self.coefficient(node, 0)
            value = self.coefficient(side, 0)
            sides.append(self.on.constant(0.0) if value is None else value)
        return sides[0], sides[1]

    # None is zero

    def plus(self, a: C | None, b: C | None) -> C | None:
        return b if a is None else a if b is None else self.on.add(a, b)

    def minus(self, a: C | None, b: C | None) -> C | None:
        if b is None:
            return a
        return self.on.mul(-1.0, b) if a is None else self.on.sub(a, b)

    def times(self, a: C | float | None, b: C | None) -> C | None:
        return None if a is None or b is None else self.on.mul(a, b)

    def part(self, a: C | None, k: int) -> C | None:
        """a/k for a whole number k."""
        return a if a is None or k == 1 else self.on.part(a, k)

    def chained(self, total: C | None, pairs: Sequence[tuple[C, C]], count: int) -> C | None:
        """total + sum of products in so many chains, the first of which begins with the total."""
        chains = [total, *[None]*(count - 1)]
        for i, (a, b) in enumerate(pairs):
            before = chains[i % count]
            chains[i % count] = self.on.mul(a, b) if before is None else self.on.fma(a, b, before)
        for other in chains[1:]:
            chains[0] = self.plus(chains[0], other)
        return chains[0]

    def convolved(self, pairs: Iterable[tuple[C | None, C | None]]) -> C | None:
        """Sum of products whose newest factors are those of the first and the last pair."""
        kept = given(list(pairs))
        inner, ends = kept[1:-1], kept[:1] + kept[1:][-1:]
        return self.chained(self.chained(None, inner, chains_of(inner)), ends, 1)

    def pairs(self, a: Node, b: Node, k: int, sign: float = 1.0, first: int = 0) -> Pairs[C]:
        """a_j, sign b_(k - j) for j = `first` ... k"""
        second = self.coefficient if sign > 0.0 else self.negative
        return [(self.coefficient(a, j), second(b, k - j)) for j in range(first, k + 1)]

    def negative(self, x: Node, k: int) -> C | None:
        """-x_k"""
        return self.once("minus", x, lambda: self.times(-1.0, self.coefficient(x, k)), k)

    def slope(self, x: Node, j: int) -> C | None:
        """j x_j"""
        return self.coefficient(x, 1) if j == 1 else self.once(
            "slope", x, lambda: self.times(float(j), self.coefficient(x, j)), j)

    def once(self, what: str, x: Node, make: Callable[[], R], k: int = 0) -> R:
        key = (what, x.place, k)
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    # one recurrence for each operation

    def _input(self, k: int, i: int) -> C | None:
        if k == 0:
            return self.start[i]
        if i == len(self.found.inputs) - 1:
            return self.on.constant(1.0) if k == 1 else None
        return self.part(self.coefficient(self.found.outputs[i], k - 1), k)

    def _add(self, k: int, a: Node, b: Node) -> C | None:
        return self.combined(k, [(1.0, a), (1.0, b)])

    def _sub(self, k: int, a: Node, b: Node) -> C | None:
        return self.combined(k, [(1.0, a), (-1.0, b)])

    def combined(self, k: int, waiting: list[tuple[float, Node]]) -> C | None:
        """Coefficient k of a sum of nodes with signs. What is merged is not evaluated for itself: its products are
        added at once, and squares are doubled together."""
        products, dots = self.no_terms(), self.no_terms()
        while waiting:
            sign, node = waiting.pop()
            if node.place not in self.merged:
                products.late.append((self.late[node.place], sign, self.coefficient(node, k)))
            elif node.op in ("add", "sub"):
                first, second = node.args
                waiting += [(sign if node.op == "add" else -sign, second), (sign, first)]
            elif node.op == "scale":
                number, value = self.on.constant(signed(sign, node.args[0])), self.coefficient(node.args[1], k)
                products.late.append((self.late[node.args[1].place], 1.0, Pair(number, value)))
            else:
                self.collect(sign, node.args, k, dots if node.op == "dot" else products)
        if dots.late:
            products.late.append((max(late for late, *_ in dots.late) + 1, 1.0, self.whole(self.total(dots))))
        return self.total(products)

    def no_terms(self) -> "Terms[C]":
        return Terms([], [], [])

    def collect(self, sign: float, factors: Sequence[Node], k: int, terms: "Terms[C]") -> None:
        """Add the convolution of two nodes to the terms of a sum; of squares half the inner products."""
        a, b = factors
        pairs = self.pairs(a, b, k, sign)
        if a is b and k > 0:
            terms.half.extend(pairs[1:(k + 1)//2])
            terms.inner.extend(pairs[k//2:k//2 + 1] if k % 2 == 0 else [])
            double = self.once("double", a, lambda: self.times(2.0, self.coefficient(a, 0)))
            terms.late.append((self.late[a.place], 1.0, Pair(double, pairs[0][1])))
            return
        terms.inner.extend(pairs[1:-1])
        terms.late.append((self.late[b.place], 1.0, Pair(*pairs[0])))
        if k > 0:
            terms.late.append((self.late[a.place], 1.0, Pair(*pairs[-1])))

    def total(self, terms: "Terms[C]") -> C | None:
        """A sum; what is known last is added last, so that the rest does not wait for it."""
        total, half = (self.chained(None, pairs, chains_of(pairs)) for pairs in (given(terms.inner), given(terms.half)))
        if half is not None:
            total = self.times(2.0, half) if total is None else self.on.fma(2.0, half, total)
        for _, sign, term in sorted(terms.late, key=lambda term: term[0]):
            if isinstance(term, Pair):
                total = self.chained(total, given([term]), 1)
            else:
                total = self.plus(total, term) if sign > 0.0 else self.minus(total, term)
        return total

    # packs, see `liestep.compile.straight.packs`

    def whole(self, pack: C | None) -> C | None:
        return None if pack is None else self.on.whole(pack)

    def _dot(self, k: int, a: Node, b: Node) -> C | None:
        return self.whole(self._mul(k, a, b))

    def _member(self, k: int, a: Node, i: int) -> C | None:
        value = self.coefficient(a, k)
        return None if value is None else self.on.member(value, i)

    def _turn(self, k: int, a: Node, places: Sequence[int]) -> C | None:
        value = self.coefficient(a, k)
        return None if value is None else self.on.turn(value, places)

    def _gather(self, k: int, *members: Value) -> C | None:
        values = [self.coefficient(x, k) for x in members]
        return None if values.count(None) == len(values) else self.on.gather(
            [0.0 if value is None else value for value in values])

    def _shift(self, k: int, number: Constant, a: Node) -> C | None:
        value = self.coefficient(a, k)
        return value if k else self.plus(self.on.constant(number), value)

    def _scale(self, k: int, number: Constant, a: Node) -> C | None:
        value = self.coefficient(a, k)
        return None if value is None else self.on.mul(self.on.constant(number), value)

    def _mul(self, k: int, a: Node, b: Node) -> C | None:
        terms = self.no_terms()
        self.collect(1.0, (a, b), k, terms)
        return self.total(terms)

    def _inverse(self, k: int, own: Node, b: Node) -> C | None:
        if k == 0:
            return self.on.div(1.0, self.coefficient(b, 0))
        rest = self.convolved(self.pairs(b, own, k, first=1))
        return self.times(self.negative(own, 0), rest)

    def _div(self, k: int, own: Node, a: Node, b: Node) -> C | None:
        inverse = self.once("inverse", b, lambda: self.on.div(1.0, self.coefficient(b, 0)))
        if k == 0:
            return self.times(self.coefficient(a, 0), inverse)
        rest = self.convolved(self.pairs(b, own, k, first=1))
        if self.late[a.place] <= self.late[b.place]:
            return self.times(inverse, self.minus(self.coefficient(a, k), rest))
        return self.less(inverse, self.coefficient(a, k), self.times(self.times(-1.0, inverse), rest))

    def less(self, factor: C | None, a: C | None, rest: C | None) -> C | None:
        """factor a + rest, for an a that is known late."""
        return rest if a is None else self.times(factor, a) if rest is None else self.on.fma(factor, a, rest)

    def _sqrt(self, k: int, own: Node, a: Node) -> C | None:
        if k == 0:
            return self.on.call("sqrt", self.coefficient(a, 0))
        half = self.once("half of inverse", own, lambda: self.on.div(0.5, self.coefficient(own, 0)))
        rest = self.times(2.0, self.convolved((self.coefficient(own, j), self.coefficient(own, k - j))
                                           for j in range(1, (k + 1)//2)))
        if k % 2 == 0:
            middle = self.coefficient(own, k//2)
            if middle is not None:
                rest = self.on.mul(middle, middle) if rest is None else self.on.fma(middle, middle, rest)
        return self.less(half, self.coefficient(a, k), self.times(self.times(-1.0, half), rest))

    def _sin(self, k: int, a: Node) -> C | None:
        return self.turned(a, k)[0]

    def _cos(self, k: int, a: Node) -> C | None:
        return self.turned(a, k)[1]

    def turned(self, a: Node, k: int) -> tuple[C | None, C | None]:
        """Coefficients k of sine and cosine of a."""
        return self.once("turned", a, lambda: self.turn(a, k), k)

    def turn(self, a: Node, k: int) -> tuple[C | None, C | None]:
        if k == 0:
            angle = self.coefficient(a, 0)
            angle = self.on.constant(0.0) if angle is None else angle
            return self.on.call("sin", angle), self.on.call("cos", angle)
        sine, cosine = (self.convolved((self.slope(a, j), self.turned(a, k - j)[part]) for j in range(1, k + 1))
                        for part in (1, 0))
        return self.part(sine, k), self.times(-1.0, self.part(cosine, k))

    def _exp(self, k: int, own: Node, a: Node) -> C | None:
        if k == 0:
            return self.on.call("exp", self.coefficient(a, 0))
        return self.part(self.convolved((self.slope(a, j), self.coefficient(own, k - j)) for j in range(1, k + 1)), k)

    def _log(self, k: int, own: Node, a: Node) -> C | None:
        """a log' = a'"""
        if k == 0:
            return self.on.call("log", self.coefficient(a, 0))
        inverse = self.once("inverse", a, lambda: self.on.div(1.0, self.coefficient(a, 0)))
        rest = self.convolved((self.slope(own, j), self.coefficient(a, k - j)) for j in range(1, k))
        return self.part(self.times(inverse, self.minus(self.slope(a, k), rest)), k)

    def _atan2(self, k: int, own: Node, y: Node, x: Node, square: Node) -> C | None:
        """(x^2 + y^2) angle' = x y' - y x'"""
        if k == 0:
            return self.on.call("atan2", self.coefficient(y, 0), self.coefficient(x, 0))
        inverse = self.once("inverse", square, lambda: self.on.div(1.0, self.coefficient(square, 0)))
        one = self.convolved((self.coefficient(x, k - j), self.slope(y, j)) for j in range(1, k + 1))
        other = self.convolved((self.coefficient(y, k - j), self.slope(x, j)) for j in range(1, k + 1))
        rest = self.convolved((self.slope(own, j), self.coefficient(square, k - j)) for j in range(1, k))
        return self.part(self.times(inverse, self.minus(self.minus(one, other), rest)), k)


Pair = namedtuple("Pair", ("first", "second"))  # factors of a product


class Terms(NamedTuple, Generic[C]):
    """Terms of a sum: products of older coefficients, those of squares once, and what is as new as the sum, products or
    values with signs; the numbers say which of it is known first."""

    inner: list[tuple[C | None, C | None]]
    half: list[tuple[C | None, C | None]]
    late: list[tuple[int, float, Any]]


def signed(sign: float, number: Constant) -> Any:
    """A number or numbers with a sign; fractions stay exact."""
    if isinstance(number, tuple):
        return tuple(signed(sign, x) for x in number)
    return -number if sign < 0.0 else number


def chains_of(pairs: Pairs[C]) -> int:
    return min(CHAINS, max(1, len(pairs)//3))


def given(pairs: Pairs[C]) -> list[tuple[C, C]]:
    """Products that are not zero for every start."""
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def taylor_coefficients(found: Expressions, start: Sequence[Any], order: int,
                        arithmetic: Any = PLAIN) -> list[list[Any]]:
    """Coefficients 0 to `order` of y from values of y and t, on numbers."""
    return [[0 if value is None else value for value in line] for line in Jet(found, arithmetic, start).rows(order)]


def merged(outputs: Sequence[Value]) -> set[int]:
    """Places of the nodes that occur nowhere but in one sum or difference."""
    nodes, users = reachable(outputs), dict[int, list[str]]()
    for name, values in [("", outputs), *((node.op, node.args) for node in nodes)]:
        for x in values:
            if isinstance(x, Node):
                users.setdefault(x.place, []).append(name)
    return {node.place for node in nodes if node.op in ("add", "sub", "mul", "scale", "dot")
            and users[node.place] in (["add"], ["sub"])}


def lateness(found: Expressions, outputs: Iterable[Value]) -> dict[int, int]:
    """How late the newest coefficient of each node is known, by its place: after those inputs whose rates are inputs,
    then after the others, whose rates end the order before, and after the operations on them."""
    late: dict[int, int] = {}
    last = len(found.nodes)
    for node in [*found.inputs, *reachable(outputs)]:
        rates = found.outputs[node.args[0]] if node.op == "input" and node is not found.inputs[-1] else 0.0
        if node.op == "input":
            late[node.place] = last if isinstance(rates, Node) and rates.op != "input" else 0
        else:
            late[node.place] = 1 + max((late[x.place] for x in node.args if isinstance(x, Node)), default=0)
    return late
