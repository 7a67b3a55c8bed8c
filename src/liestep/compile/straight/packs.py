"""Rows of a state in vector registers: where the components x, y, z of something are made by the same operations, one
operation on a pack makes all of them.

Nothing in a number shows which others belong to it, so the search begins with the rows of the results. A row is a pack
if its members are made by one operation of packs, and so on down to the rows of the state. Sums of products of the
members of two packs are their `dot`. What fits nowhere stays a number: an operation spreads it over the pack that it
meets, and `gather` makes a pack of several."""
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from liestep.compile.straight.jets import merged
from liestep.compile.straight.symbols import Expressions, Graph, Guard, Node, Value, reachable

ELEMENTWISE = ("add", "sub", "mul", "div", "inverse", "sqrt")
COMMUTATIVE = ("add", "mul")
NEUTRAL = {"shift": 0.0, "scale": 1.0}
WIDEST = 4  # numbers of a pack
EFFORT = {"add": 2, "sub": 2, "shift": 1, "scale": 1, "member": 1, "turn": 1, "input": 0}  # others: a convolution
CONVOLUTION = 7  # instructions, for a jet of medium order
Members = tuple[int | float, ...]  # places of nodes; floats are numbers


class Made(NamedTuple):
    """How a pack is made: an operation, numbers that belong to it, and the packs or numbers that it takes."""

    op: str
    numbers: tuple = ()
    args: tuple[Members, ...] = ()


def packed(found: Expressions, width: int) -> tuple[Expressions, int]:
    """Expressions of rows of so many numbers, with one input for each row, and the numbers of an input; what was given
    and 1 where packs gain nothing."""
    for one_depth in (False, True) if 1 < width <= WIDEST else ():
        try:
            rows = Packed(Packing(found, width, one_depth)).expressions()
        except Entangled:
            continue
        if effort(rows) < effort(found):
            return rows, width
    return found, 1


class Entangled(Exception):
    """Two packs need each other."""


def effort(found: Expressions) -> int:
    """Instructions for one order of a jet, roughly."""
    return sum(len(node.args) if node.op == "gather" else EFFORT.get(node.op, CONVOLUTION)
               for node in reachable(results(found)))


def results(found: Expressions) -> list[Value]:
    """Outputs and both sides of all guards."""
    return [*found.outputs, *(side for guard in found.guards for side in (guard.left, guard.right))]


class Dot(NamedTuple):
    """Products in a sum that are a factor times the dot of two packs; places of their nodes there."""

    factor: float
    args: tuple[Members, ...]
    nodes: list[int]


class Packing:
    """The search for packs in expressions; packs whose members are of one depth never need each other."""

    def __init__(self, found: Expressions, width: int, one_depth: bool):
        self.found, self.nodes, self.width, self.one_depth = found, found.nodes, width, one_depth
        self.merged = merged(results(found))
        self.uses = Counter(x.place for node in reachable(results(found)) for x in node.args if isinstance(x, Node))
        self.made: dict[Members, Made | None] = {}
        self.home: dict[int, tuple[Members, int]] = {}  # the pack that a number is made in, and its index there
        self.dots: dict[int, list[Dot]] = {}  # of sums
        self.kinds: dict[int, int] = {}
        self.alike: dict[tuple, int] = {}
        self.depth: dict[int, int] = {}  # longest way to an input
        for node in self.nodes:
            self.kinds[node.place] = self.kind(node)
            self.depth[node.place] = max((self.depth[x.place] for x in node.args if isinstance(x, Node)),
                                         default=0) + (node.op not in NEUTRAL)
        ids = [identity(x) for x in found.outputs]
        self.rows = [tuple(ids[i:i + width]) for i in range(0, len(ids), width)]
        for row in self.rows:
            self.settle(row)
        for node in reachable(results(found)):
            if node.op in ("add", "sub") and node.place not in self.merged and node.place not in self.home:
                self.find_dots(node)

    def kind(self, node: Node) -> int:
        """Equal for numbers that are made alike of other members of the same rows, but for numbers of the system."""
        if node.op in NEUTRAL:
            return self.kinds[node.args[1].place]
        if node.op == "input":
            key: tuple = ("input", node.args[0]//self.width)
        else:
            parts = [self.kinds[x.place] if isinstance(x, Node) else -1 for x in node.args]
            key = (node.op, *(sorted(parts) if node.op in COMMUTATIVE else parts))
        return self.alike.setdefault(key, len(self.alike))

    def node(self, x: int | float) -> Node | None:
        return self.nodes[x] if isinstance(x, int) else None

    # which numbers are packs

    def settle(self, members: Members) -> None:
        """Note that a pack will be made, with all that it takes."""
        if len(set(members)) == 1 or self.how(members) is None:
            return
        made = self.made[members]
        assert made is not None
        if made.op == "input":
            return
        for i, x in enumerate(members if made.op != "turn" else ()):
            if isinstance(x, int):
                self.home.setdefault(x, (members, i))
        for arg in made.args:
            self.settle(arg)

    def how(self, members: Members) -> Made | None:
        """How a pack is made of other packs, None if it is not; members are not all the same."""
        if members not in self.made:
            self.made[members] = None
            self.made[members] = self.search(members)
        return self.made[members]

    def search(self, members: Members) -> Made | None:
        nodes = [self.node(x) for x in members]
        given = [node for node in nodes if node is not None]
        if not given:
            return None
        ordered = tuple(sorted(members))
        if ordered != members and len(given) == len(set(members)) == self.width and self.how(ordered) is not None:
            return Made("turn", tuple(ordered.index(x) for x in members), (ordered,))
        ops = {node.op for node in given}
        for op in ("shift", "scale"):
            if op in ops:
                return self.with_numbers(op, members)
        if len(given) < len(members) or len(ops) > 1:
            return None
        if self.one_depth and len({self.depth[node.place] for node in given}) > 1:
            return None
        return self.elementwise(given) if given[0].op in ELEMENTWISE else self.row(given)

    def row(self, nodes: Sequence[Node]) -> Made | None:
        """A row of the state."""
        first = nodes[0].args[0] if nodes[0].op == "input" else -1
        whole = first % self.width == 0 and [node.args[0] for node in nodes] == list(range(first, first + self.width))
        return Made("input", (first//self.width,)) if first >= 0 and whole else None

    def with_numbers(self, op: str, members: Members) -> Made | None:
        """Numbers, neutral ones where a member has none, and the pack that they are added to or multiply."""
        nodes = [self.node(x) for x in members]
        numbers = tuple(float(node.args[0]) if node is not None and node.op == op else NEUTRAL[op] for node in nodes)
        rest = tuple(identity(node.args[1]) if node is not None and node.op == op else x
                     for node, x in zip(nodes, members, strict=True))
        if len(set(rest)) == 1 or self.how(rest) is None:
            return None
        return Made(op, (numbers[0] if len(set(numbers)) == 1 else numbers,), (rest,))

    def elementwise(self, nodes: Sequence[Node]) -> Made | None:
        """An operation of packs; one of two may be a number or be gathered."""
        best: tuple[int, Made | None] = (0, None)
        for args in self.arrangements(nodes):
            packs = sum(len(set(arg)) > 1 and self.how(arg) is not None for arg in args)
            same = sum(len(set(arg)) == 1 for arg in args)
            value = 2*packs + same if packs or (same and nodes[0].op == "mul") else 0
            if value > best[0]:
                best = value, Made(nodes[0].op, (), args)
        return best[1]

    def arrangements(self, nodes: Sequence[Node]) -> Iterable[tuple[Members, ...]]:
        """Arguments by place, for operations that commute in every order that puts like to like."""
        pairs = [[identity(x) for x in node.args] for node in nodes]
        if nodes[0].op not in COMMUTATIVE:
            yield tuple(zip(*pairs, strict=True))
            return
        for swaps in product((1, -1), repeat=len(pairs) - 1):
            turned = [pairs[0], *(pair[::step] for pair, step in zip(pairs[1:], swaps, strict=True))]
            if all(self.kind_of(one[0]) == self.kind_of(turned[0][0]) for one in turned) or swaps == (1,)*len(swaps):
                yield tuple(zip(*turned, strict=True))

    def kind_of(self, x: int | float) -> int:
        return self.kinds[x] if isinstance(x, int) else -1

    def find_dots(self, root: Node) -> None:
        """Products in a sum that belong together: alike, or all members of a row with something."""
        alike: dict[tuple, list[tuple[Node, Node]]] = {}
        rows: dict[tuple, list[tuple[Node, Node]]] = {}
        for factor, term, node in self.terms(root):
            if term.op == "mul":
                alike.setdefault((factor, self.kinds[term.place]), []).append((term, node))
        for (factor, _), pairs in alike.items():
            pairs.sort(key=lambda pair: min(x.place for x in pair[0].args))
            for i in range(0, len(pairs), self.width):
                if not self.is_dot(root, factor, pairs[i:i + self.width], all):
                    for pair in pairs[i:i + self.width]:
                        rows.setdefault((factor, min(self.kinds[x.place] for x in pair[0].args)), []).append(pair)
        for (factor, _), pairs in rows.items():
            self.is_dot(root, factor, pairs, any)

    def is_dot(self, root: Node, factor: float, pairs: Sequence[tuple[Node, Node]],
               enough: Callable[[Iterable[bool]], bool]) -> bool:
        """Whether products make a dot, of two packs or of one and what is gathered; if so, note it."""
        if len(pairs) != self.width:
            return False
        terms, nodes = zip(*pairs, strict=True)
        for args in self.arrangements(terms):
            if enough(len(set(arg)) > 1 and self.how(arg) is not None for arg in args):
                for arg in args:
                    self.settle(arg)
                self.dots.setdefault(root.place, []).append(Dot(factor, args, [node.place for node in nodes]))
                return True
        return False

    def terms(self, root: Node) -> list[tuple[float, Node, Node]]:
        """What a sum adds: a factor, what it multiplies, and the node of both without the sign."""
        added, waiting = [], [(1.0, root)]
        while waiting:
            sign, node = waiting.pop()
            if node is not root and node.place not in self.merged:
                added.append((sign, node, node))
            elif node.op in ("add", "sub"):
                first, second = node.args
                waiting += [(sign if node.op == "add" else -sign, second), (sign, first)]
            elif node.op == "scale" and self.uses[node.args[1].place] == 1:
                added.append((sign*node.args[0], node.args[1], node))
            else:
                added.append((sign, node, node))
        return added


class Packed:
    """The expressions of packs."""

    def __init__(self, plan: Packing):
        self.plan, self.graph = plan, Graph()
        self.graph.most = 20*len(plan.nodes)
        self.state = [self.graph.node("input", i) for i in range(len(plan.rows) + 1)]
        self.known: dict[Hashable, Any] = {}

    def expressions(self) -> Expressions:
        outputs = [self.gathered(row) for row in self.plan.rows]
        guards = [Guard(guard.op, self.number(identity(guard.left)), self.number(identity(guard.right)), guard.wanted)
                  for guard in self.plan.found.guards]
        return Expressions(self.state, outputs, guards, self.graph.nodes)

    def gathered(self, members: Members) -> Value:
        """A pack, of whatever its members are."""
        if len(set(members)) > 1 and self.plan.how(members) is not None:
            return self.pack(members)
        return 0.0 if set(members) == {0.0} else self.graph.node("gather", *map(self.number, members))

    def pack(self, members: Members) -> Value:
        """A pack, or the number that all members are."""
        return self.once(members, lambda: self.number(members[0]) if len(set(members)) == 1 else self.make(members))

    def once(self, what: Hashable, make: Callable[[], Value]) -> Value:
        """Raises Entangled for what is needed to make itself."""
        if what not in self.known:
            self.known[what] = None
            self.known[what] = make()
        if self.known[what] is None:
            raise Entangled
        return self.known[what]

    def make(self, members: Members) -> Value:
        made = self.plan.how(members)
        if made is None:
            return self.gathered(members)
        if made.op == "input":
            return self.state[made.numbers[0]]
        args = [self.pack(arg) for arg in made.args]
        return self.graph.node(made.op, *((*args, made.numbers) if made.op == "turn" else (*made.numbers, *args)))

    def number(self, x: int | float) -> Value:
        """A number by itself, taken from its pack if it is in one."""
        if isinstance(x, float):
            return x
        return self.once(x, lambda: self.single(self.plan.nodes[x]))

    def single(self, node: Node) -> Value:
        if node.op == "input":
            row, i = divmod(node.args[0], self.plan.width)
            return self.state[row] if row == len(self.plan.rows) else self.graph.node("member", self.state[row], i)
        if node.place in self.plan.home:
            members, i = self.plan.home[node.place]
            return self.graph.node("member", self.pack(members), i)
        if node.place in self.plan.dots:
            return self.sum(node)
        args = [self.number(x.place) if isinstance(x, Node) else x for x in node.args]
        return self.graph.node(node.op, *args)

    def sum(self, root: Node) -> Value:
        """A sum with its products of packs."""
        dots = self.plan.dots[root.place]
        within = {place for dot in dots for place in dot.nodes}
        total: Any = None
        for dot in dots:
            value = self.graph.node("dot", *map(self.pack, dot.args))
            total = self.plus(total, dot.factor, self.scaled(abs(dot.factor), value))
        for factor, term, node in self.plan.terms(root):
            if node.place not in within:
                negative = node is term and factor < 0.0
                total = self.plus(total, -1.0 if negative else 1.0, self.number(node.place) if node is term else
                                  self.graph.node("scale", factor, self.number(term.place)))
        return total

    def plus(self, total: Value | None, sign: float, value: Value) -> Value:
        if total is None:
            return self.scaled(math.copysign(1.0, sign), value)
        return self.graph.node("add" if sign > 0.0 else "sub", total, value)

    def scaled(self, number: float, value: Value) -> Value:
        return value if number == 1.0 else self.graph.node("scale", number, value)


def identity(x: Value) -> int | float:
    """Place of a node, or a number."""
    return x.place if isinstance(x, Node) else float(x)
