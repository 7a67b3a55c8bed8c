"""Numbers in a person's functions while these run once on symbols, and derivatives and values of the expressions: nodes
of the graph of `compile.straight.symbols` that numpy and `math` take for numbers. Terms are collected as they are
written: one division for each base, 1/r^3 = (1/r)^3, and equal operations are one node."""
import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from liestep.compile.straight.symbols import Graph, Node, Number, Untraceable, Value, reachable

MOST = 250_000  # operations of all functions of a system, before sums become loops
INSTEAD = "write it with numpy and math, as a table for np.interp, or give blackbox=True with an rhs or a field"
DECIDE = "write np.where(condition, a, b), np.maximum, np.minimum or np.abs"
EXACT = 2.0**-51  # of x, above the round-off of its angle and below the distance of evaluations from a jump
HOLDS = {"<": operator.lt, "<=": operator.le, "==": operator.eq}


def as_number(x: Any) -> Any:
    """A symbol or float of what stands for a number; None for anything else."""
    if isinstance(x, Symbol):
        return x
    if isinstance(x, Truth):
        return x.number()
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return as_number(x[()])
    return float(x) if isinstance(x, int | float | np.integer | np.floating | np.bool_) else None


def _operator(made: Callable[..., "Scalar | Truth"], *, turned: bool = False) -> Callable[["Arithmetic", Any], Any]:
    """made(graph, left, right) as a method of Python's operators."""
    def apply(self: "Arithmetic", other: Any) -> Any:
        x, y = as_number(self), as_number(other)
        if y is None:
            return NotImplemented
        return made(x.graph, *((y, x) if turned else (x, y)))

    return apply


def _calculation(name: str, *, turned: bool = False) -> Callable[["Arithmetic", Any], Any]:
    return _operator(lambda graph, x, y: getattr(graph, name)(x, y), turned=turned)


def _comparison(op: str, *, turned: bool = False, opposite: bool = False) -> Callable[["Arithmetic", Any], Any]:
    return _operator(lambda graph, x, y: Truth(graph, op, x, y, not opposite), turned=turned)


class Arithmetic:
    """Operators of symbols and of truth values, which count as 1 and 0; `plain.arrays` adds what numpy asks for."""

    __slots__ = ()
    ndim, shape, size = 0, (), 1

    __add__, __sub__, __mul__, __truediv__ = map(_calculation, ("add", "sub", "mul", "div"))
    __radd__, __rsub__, __rmul__, __rtruediv__ = (_calculation(x, turned=True) for x in ("add", "sub", "mul", "div"))
    __pow__, __rpow__ = _calculation("power"), _calculation("power", turned=True)
    __mod__, __rmod__ = _calculation("remainder"), _calculation("remainder", turned=True)
    __lt__, __le__, __eq__ = map(_comparison, HOLDS)
    __gt__, __ge__, __ne__ = (_comparison("<", turned=True), _comparison("<=", turned=True),
                              _comparison("==", opposite=True))

    def __hash__(self) -> int:
        raise Untraceable(f"it looks for {self!r} in a dictionary or a set: write np.select")

    def __bool__(self) -> bool:
        raise Untraceable(f"it branches on a value of the state or of a parameter: {DECIDE}")

    __neg__, __pos__, __abs__ = (lambda x: -1.0*x), (lambda x: x), (lambda x: select(x < 0.0, -x, x))


class Symbol(Arithmetic, Node):
    """A node with the functions of numpy."""

    __slots__ = ()
    imag = 0.0
    graph: "PlainGraph"
    real = T = property(lambda self: self)

    def __repr__(self) -> str:
        return "a value of the state or of a parameter"

    def __float__(self) -> NoReturn:
        raise Untraceable(f"it turns {self!r}, itself or in foreign code, into a plain number: {INSTEAD}")

    __int__ = __complex__ = __float__

    def __index__(self) -> int:
        whole = self.graph.whole.get(self.args[0]) if self.op == "input" else None
        if whole is None:
            raise Untraceable("it takes a value of the state or of a parameter as an index or a number of repetitions")
        self.graph.fixed.add(self.args[0])
        return whole

    def __floordiv__(self, other: "Scalar") -> NoReturn:
        raise Untraceable("it rounds a value or takes its quotient (//), which jumps: write x - x % y, or np.where")

    __rfloordiv__ = __divmod__ = __floordiv__
    __round__ = __floor__ = __ceil__ = __trunc__ = lambda self, *digits: self // 1

    conjugate = item = copy = lambda self: self
    sqrt, sin, cos, exp, log = (lambda self, name=name: self.graph.node(name, self)
                                for name in ("sqrt", "sin", "cos", "exp", "log"))


class Truth(Arithmetic):
    """left op right, or its opposite where `wanted` is False; known when the code runs, not before."""

    __slots__ = ("graph", "left", "op", "right", "wanted")

    def __init__(self, graph: Any, op: str, left: "Scalar", right: "Scalar", wanted: bool = True):
        self.graph, self.op, self.left, self.right, self.wanted = graph, op, left, right, wanted

    def number(self) -> "Scalar":
        """1 where it holds, else 0."""
        return select(self, 1.0, 0.0)

    def __and__(self, other: "Scalar | Truth") -> "Truth | bool":
        return self.number()*_truth(other) != 0.0

    def __or__(self, other: "Scalar | Truth") -> "Truth | bool":
        return self.number() + _truth(other) != 0.0

    def __xor__(self, other: "Scalar | Truth") -> "Truth | bool":
        return self.number() != _truth(other)

    def __invert__(self) -> "Truth":
        return Truth(self.graph, self.op, self.left, self.right, not self.wanted)

    logical_not = __invert__
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


Scalar = Symbol | float
Part = tuple[Symbol, Scalar]  # an argument, and the derivative by it


def _truth(x: Scalar | Truth) -> Scalar:
    return x.number() if isinstance(x, Truth) else (x != 0).number() if isinstance(x, Symbol) else float(bool(x))


def angle(y: Any, x: Any) -> Symbol:
    """The angle of a point, one of whose coordinates is a symbol."""
    return (y if isinstance(y, Symbol) else x).graph.node("atan2", y, as_number(x))


def nearest(x: Scalar, y: Scalar) -> Scalar:
    """x less the nearest multiple of y."""
    turn = x*(2.0*math.pi/y)
    return angle(turn.sin(), turn.cos())*(y/(2.0*math.pi)) if isinstance(turn, Symbol) else 0.0  # of x = 0


def select(condition: Scalar | Truth, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    if isinstance(condition, Symbol):
        condition = condition != 0.0
    if not isinstance(condition, Truth):
        return a if condition else b
    a, b = as_number(a), as_number(b)
    if a is None or b is None:
        raise TypeError("it chooses between things that are no numbers")
    if not isinstance(condition.left, Symbol) and not isinstance(condition.right, Symbol):
        return a if HOLDS[condition.op](condition.left, condition.right) == condition.wanted else b
    return condition.graph.choice(condition.op, condition.left, condition.right,
                                  *((a, b) if condition.wanted else (b, a)))


def odd(x: Any, of_size: Any) -> Any:
    """-f(|x|) where x is negative, else f(|x|)."""
    return select(x < 0.0, -of_size, of_size)


def _excess(x: Any, power: Any) -> Any:
    """What the rounding of power = exp(x) takes from x; nothing where x is large."""
    return (x - (power + 1e-307).log())/(1.0 + x*x)


def _expm1(x: Any, *, even: bool = True) -> Any:
    """exp(x) - 1, or sinh(x) without its even part: right to round-off at small x, without a choice."""
    power = x.exp()
    if even:
        return (power - 1.0) + power*_excess(x, power)
    return 0.5*((power - 1.0)*(1.0 + 1.0/power) + (power + 1.0/power)*_excess(x, power))


def _log1p(x: Any) -> Any:
    """log(1 + x), and what the rounding of 1 + x takes from it."""
    total = 1.0 + x
    return total.log() + (x - (total - 1.0))/total


SPECIAL: dict[str, Callable[[Any], Any]] = {  # right to round-off at small numbers, whose digits 1 + x would lose
    "expm1": _expm1, "sinh": lambda x: _expm1(x, even=False), "log1p": _log1p,
    "tanh": lambda x: odd(x, -_expm1(-2.0*abs(x)))/(2.0 + _expm1(-2.0*abs(x))),
    "arcsinh": lambda x: odd(x, _log1p(abs(x) + x*x/(1.0 + (x*x + 1.0).sqrt()))),
    "arccosh": lambda x: _log1p((x - 1.0) + ((x - 1.0)*(x + 1.0)).sqrt()),
    "arctanh": lambda x: 0.5*(_log1p(x) - _log1p(-x)), "cbrt": lambda x: odd(x, abs(x)**(1.0/3.0))}


class PlainGraph(Graph):
    """The expressions of all functions of a system. Their branches are nodes of their own: nothing is decided."""

    kind = Symbol
    most = MOST

    def __init__(self) -> None:
        super().__init__()
        self.whole: dict[str, int] = {}  # parameters that are whole numbers, by what the code calls them
        self.fixed: set[str] = set()     # those whose value the code depends on: lengths of loops, indices
        self.values: dict[str, float] = {}  # of all inputs at the start
        self.rounded: set[int] = set()   # places of nodes of which only round-off is asked

    def node(self, op: str, *args: Hashable) -> Any:
        if any(isinstance(x, float) and x != x for x in args):
            raise Untraceable("it computes with NaN")
        return super().node(op, *args)

    def choice(self, op: str, left: Scalar, right: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """a where left op right, else b."""
        return a if self.key(a) == self.key(b) else self.node("select", op, left, right, a, b)

    def add(self, a: Value, b: Value) -> Value:
        (x, first), (y, second) = _scaled(a), _scaled(b)
        if first is second:
            return self.scale(x + y, first)
        if x == y and abs(x) != 1.0:
            return self.scale(x, self.add(first, second))
        for u, v in ((a, b), (b, a)) if isinstance(a, Node) and isinstance(b, Node) else ():
            parts = [(None, u), *((u.args, u.args[::-1]) if u.op == "add" else ())]
            for other, term in parts:  # u + v, or other + part + v
                circle = _circle(term, v)
                if circle is not None:
                    return circle if other is None else self.add(other, circle)
        return super().add(a, b)

    def sub(self, a: Value, b: Value) -> Value:
        (x, first), (y, second) = _scaled(a), _scaled(b)
        if first is second:
            return self.scale(x - y, first)
        return self.scale(x, self.sub(first, second)) if x == y and abs(x) != 1.0 else super().sub(a, b)

    def scale(self, factor: Number, x: Value) -> Value:
        return factor*x if not isinstance(x, Node) else super().scale(factor, x)

    def mul(self, a: Value, b: Value) -> Value:
        (x, a), (y, b) = _scaled(a), _scaled(b)
        if not isinstance(a, Node) or not isinstance(b, Node):
            return self.scale(x*y*(b if isinstance(a, Node) else a), a if isinstance(a, Node) else b)
        return self.scale(x*y, self._product(a, b))

    def _product(self, a: Node, b: Node) -> Value:
        if a is b:
            return a.args[0] if a.op == "sqrt" else super().mul(a, b)
        for first, second in ((a, b), (b, a)):
            if first.op == "inverse" and first.args[0] is second:
                return 1.0
            if first.op == "inverse" and first.args[0].op == "sqrt" and first.args[0].args[0] is second:
                return first.args[0]
            if second.op == "mul" and second.args[0] is not second.args[1] and any(first is x for x in second.args):
                return self.mul(second.args[second.args[0] is first], self.mul(first, first))  # x (y x) = y x^2
        return super().mul(a, b)

    def div(self, a: Value, b: Value) -> Value:
        if not isinstance(b, Node):
            return super().div(a, b) if b else a*math.copysign(math.inf, b)
        return a*self.inverse(b)

    def inverse(self, x: Value) -> Value:
        """1/x: a power of the inverse of its base."""
        if not isinstance(x, Node):
            return 1.0/x
        if x.op == "scale":
            return self.scale(1.0/x.args[0], self.inverse(x.args[1]))
        if x.op == "inverse":
            return x.args[0]
        base, halves = _base(x)
        if ("sqrt", self.key(base)) in self.table and (halves % 2 or _never_negative(base)):
            return self.power(self.node("inverse", self.node("sqrt", base)), float(halves))
        return self.power(self.node("inverse", base), halves/2) if halves % 2 == 0 else self.node("inverse", x)

    def ordered(self, a: np.ndarray) -> list[int]:
        """An order of the rows of a matrix without small pivots at the start; a positive definite one needs none."""
        at = np.reshape(evaluated([as_number(x) for x in a.flat], self.values), a.shape)
        known = np.isfinite(at).all()
        even = known and np.abs(at - at.T).max() <= 1e-12*np.abs(at).max()
        return pivots(at) if known and not (even and np.linalg.eigvalsh(at).min() > 0.0) else [*range(len(a))]

    def remainder(self, x: Scalar, y: Scalar) -> Scalar:
        """x % y, by the angle of x in turns of y: right to the round-off of x; of multiples of y zero, not y."""
        rest = nearest(x, y)
        square = rest*rest
        self.rounded |= {square.place} if isinstance(square, Symbol) else set()
        return select(rest*y < 0.0, select(square < EXACT**2*x*x, 0.0, rest + y), rest)

    def power(self, x: Any, a: Scalar) -> Value:
        """x^a: products, roots and a division where 2 a is a whole number, else exp(a log x). For x < 0 only the
        first holds: an int among the parameters stays this number, a whole one where x is not positive at the start."""
        name = a.args[0] if isinstance(a, Symbol) and a.op == "input" else ""
        value = self.values.get(name, 0.5)
        symbolic = isinstance(x, Symbol)
        if value == round(value) and (not _never_negative(x) and (
                name in self.whole or not evaluated([x], self.values)[0] > 0.0) if symbolic else not x > 0.0):
            self.whole[name] = a = int(value)
            self.fixed.add(name)
        if not symbolic:
            if isinstance(a, Symbol) and not x > 0.0:
                raise ValueError(f"{x} to the power of a parameter that is not whole")
            return (a*math.log(x)).exp() if isinstance(a, Symbol) else float(x)**a
        if isinstance(a, Symbol) or 2.0*a != int(2.0*a):
            return (a*x.log()).exp()
        halves = 2.0*a
        result, square, count = (x.sqrt() if halves % 2 else 1.0), x, int(abs(halves))//2
        while count:
            result = square*result if count & 1 else result
            square, count = (square*square if count > 1 else square), count >> 1
        return self.inverse(result) if a < 0 else result


def _circle(a: Value, b: Value) -> Value | None:
    """a + b = m f^2 of a = m (f cos x)^2 and b = m (f sin x)^2; None of others."""
    if not isinstance(a, Node) or not isinstance(b, Node) or not a.op == b.op == "mul":
        return None
    if a.args[0] is a.args[1] and b.args[0] is b.args[1]:
        f = _common(a.args[0], b.args[0])
        return None if f is None else f*f
    return _shared(a, b, _circle)


def _common(a: Node, b: Node) -> Value | None:
    """f of a = f cos x and b = f sin x, or the other way round; None of others."""
    if {a.op, b.op} == {"sin", "cos"} and a.args[0] is b.args[0]:
        return 1.0
    return _shared(a, b, _common) if a.op == b.op == "mul" else None


def _shared(a: Node, b: Node, rest: Callable[[Node, Node], Value | None]) -> Value | None:
    """What two products have in common by a factor that both have and `rest` of the others; None without."""
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        if a.args[i] is b.args[j]:
            found = rest(a.args[1 - i], b.args[1 - j])
            if found is not None:
                return a.args[i]*found
    return None


def _scaled(x: Value) -> tuple[Any, Value]:
    """(number, node) of a multiple of a node; numbers are multiples of nothing else."""
    return x.args if isinstance(x, Node) and x.op == "scale" else (1.0, x)


def _base(x: Node) -> tuple[Node, int]:
    """(y, k) with x = y^(k/2) by products and roots."""
    if x.op == "sqrt":
        return x.args[0], 1
    if x.op == "mul":
        left, right = _base(x.args[0]), _base(x.args[1])
        if left[0] is right[0]:
            return left[0], left[1] + right[1]
    return x, 2


def _never_negative(x: Node) -> bool:
    """Whether a value is a sum of squares and the like, whose root is known not to be NaN."""
    signs: dict[int, bool] = {}
    for node in reachable([x]):
        op, a = node.op, node.args
        signs[node.place] = op in ("exp", "sqrt") or (op == "mul" and a[0] is a[1]) or (
            op in ("mul", "add", "scale", "shift", "inverse", "select")
            and all(signs[y.place] if isinstance(y, Node) else y >= 0.0 for y in a[-2:]))
    return signs[x.place]


OPERATIONS: dict[str, Callable] = {
    "add": operator.add, "shift": operator.add, "sub": operator.sub, "mul": operator.mul, "scale": operator.mul,
    "inverse": lambda x: 1/x if x else x + math.inf, "select": lambda op, x, y, a, b: a if HOLDS[op](x, y) else b,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan, "sin": math.sin, "cos": math.cos, "atan2": math.atan2,
    "exp": lambda x: math.exp(x) if x < 709.0 else math.inf,
    "log": lambda x: math.log(x) if x > 0 else -math.inf if x == 0 else math.nan}


def _slopes(node: Any) -> list[Part]:
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


def times(slope: Scalar, d: Scalar) -> Scalar:
    """slope d; where the slope is a choice with zero, a choice of products: the derivative of a branch that is not
    taken may be infinite."""
    if isinstance(slope, Symbol) and slope.op == "select" and any(_is_zero(x) for x in slope.args[3:]):
        branches = (0.0 if _is_zero(x) else times(x, d) for x in slope.args[3:])
        return select(Truth(slope.graph, *slope.args[:3]), *branches)
    return slope*d


def plus(a: Scalar, b: Scalar) -> Scalar:
    """a + b; choices by the same question are one."""
    if isinstance(a, Symbol) and isinstance(b, Symbol) and a.op == b.op == "select":
        graph = a.graph
        if [*map(graph.key, a.args[1:3])] == [*map(graph.key, b.args[1:3])] and a.args[0] == b.args[0]:
            return select(Truth(graph, *a.args[:3]), plus(a.args[3], b.args[3]), plus(a.args[4], b.args[4]))
    return a + b


def _is_zero(x: Scalar) -> bool:
    return not isinstance(x, Symbol) and x == 0.0


def depending(outs: Sequence[Scalar], inputs: Sequence[Symbol]) -> set[int]:
    """Places of the nodes of expressions that depend on inputs."""
    places = {x.place for x in inputs}
    for node in reachable(outs):
        if any(isinstance(x, Symbol) and x.place in places for x in node.args):
            places.add(node.place)
    return places


def depends(out: Scalar, inputs: Sequence[Symbol]) -> bool:
    """Whether an expression depends on any of the inputs."""
    return isinstance(out, Symbol) and out.place in depending([out], inputs)


def gradient(out: Scalar, inputs: Sequence[Symbol]) -> list[Any]:
    """Derivatives of an expression by its inputs, backwards: a few operations for each one of the expression."""
    if not isinstance(out, Symbol):
        return [0.0]*len(inputs)
    needed = depending([out], inputs)
    slopes: dict[int, Scalar] = {out.place: 1.0}
    for node in reversed(reachable([out])):
        slope = slopes.get(node.place)
        if slope is None or node.place not in needed:
            continue
        if node.op == "select":
            asked = Truth(node.graph, *node.args[:3])
            parts = [(node.args[3], select(asked, slope, 0.0)), (node.args[4], select(asked, 0.0, slope))]
        else:
            parts = [(x, times(slope, d)) for x, d in _slopes(node) if x.place in needed]
        for x, term in parts:
            if isinstance(x, Symbol) and x.place in needed:
                slopes[x.place] = plus(slopes[x.place], term) if x.place in slopes else term
    return [slopes.get(x.place, 0.0) for x in inputs]


def along(outs: Sequence[Scalar], inputs: Sequence[Symbol], directions: Sequence[Scalar]) -> list[Scalar]:
    """Derivatives of expressions along a direction of their inputs, forwards."""
    slopes: dict[int, Scalar] = {x.place: d for x, d in zip(inputs, directions, strict=True)}

    def slope(x: Scalar) -> Scalar:
        return slopes[x.place] if isinstance(x, Symbol) else 0.0

    for node in reachable(outs):
        if node.place in slopes:
            continue
        if node.op == "select":
            slopes[node.place] = select(Truth(node.graph, *node.args[:3]), *map(slope, node.args[3:]))
            continue
        total: Scalar = 0.0
        for x, d in _slopes(node):
            if not _is_zero(slopes[x.place]):
                total = plus(total, times(slopes[x.place], d))
        slopes[node.place] = total
    return [slope(x) for x in outs]


def substituted(outs: Sequence[Scalar], found: Mapping[int, Scalar]) -> list[Scalar]:
    """Expressions with others in place of the nodes at some places."""
    done: dict[int, Any] = dict(found)

    def value(x: Scalar) -> Scalar:
        return done[x.place] if isinstance(x, Symbol) else x

    for node in reachable(outs):
        if node.place not in done:
            changed = any(isinstance(x, Symbol) and done[x.place] is not x for x in node.args)
            done[node.place] = _again(node, [value(x) for x in node.args]) if changed else node
    return [value(x) for x in outs]


def _again(node: Any, a: list[Any]) -> Scalar:
    graph: PlainGraph = node.graph
    if not any(isinstance(x, Symbol) for x in a):
        return OPERATIONS[node.op](*a)
    if node.op == "shift":
        return a[1] + a[0]
    if node.op == "select":
        return select(Truth(graph, *a[:3]), *a[3:])
    return (getattr(graph, node.op)(*a) if node.op in ("add", "sub", "mul", "scale", "inverse") else
            graph.node(node.op, *a))


def input_text(node: Node) -> str:
    """What the code calls an input: an array and the place in it, or a number."""
    name, *index = node.args
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def evaluated(outs: Sequence[Value], values: Mapping[str, float]) -> list[float]:
    """Values of expressions at values of their inputs by name."""
    done: dict[int, float] = {}

    def value(x: Any) -> float:
        return done[x.place] if isinstance(x, Symbol) else x

    for node in reachable(outs):
        done[node.place] = (values[input_text(node)] if node.op == "input" else
                            OPERATIONS[node.op](*map(value, node.args)))
    return [value(x) for x in outs]


def pivots(a: np.ndarray) -> list[int]:
    """An order of the rows of a matrix in which elimination has no small pivots."""
    a, order = a.copy(), list(range(len(a)))
    for k in range(len(a)):
        best = k + int(np.argmax(np.abs(a[k:, k])))
        if abs(a[k, k]) < 0.1*abs(a[best, k]):
            a[[k, best]], order[k], order[best] = a[[best, k]], order[best], order[k]
        a[k + 1:] -= np.outer(a[k + 1:, k]/a[k, k], a[k])
    return order
