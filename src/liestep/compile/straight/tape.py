"""Taylor coefficients by loops over a tape, for expressions that are too large for straight-line code
(`compile.straight.straight`): the recurrences of `compile.straight.jets`, compiled once for all systems.

An entry of the tape writes one row of coefficients. Sums, differences, factors and shifts are written as one sum of
numbers, rows and products of rows, with what occurs nowhere else merged into it; the convolutions of the products are
loops over rows that are contiguous in memory. Nothing is fused or reordered: plain Python gives the same bits.

Measured on a chain of 200 pendula: half the products of a square take 1.05 of the time, entries in order of their shape
1.04, those on the longest path first 1.0. Convolutions of four numbers at once would take 0.8 (0.7 on a rod), but are
beyond plain loops."""
from collections.abc import Hashable, Iterable, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import atan2, cos, exp, log, sin, sqrt
from liestep.compile.straight.symbols import Expressions, Node, Value, reachable

MOST_OPERATIONS = 200_000  # of an expression: a trace of as many takes five seconds and 100 MB

SUM, QUOTIENT, ROOT, TURN, ANGLE, EXP, LOG = range(7)  # what becomes of the sum of an entry
KINDS = {"atan2": ANGLE, "inverse": QUOTIENT, "exp": EXP, "log": LOG}  # entries that read nothing but rows
SUMS = ("add", "sub", "shift", "scale")
COMPARED = ("<", "<=", ">", ">=", "==", "!=")


@kernel
def convolved(c: np.ndarray, a: int, b: int, k: int, first: int, last: int) -> float:
    """sum_j a_j b_(k - j) for j = first ... last, of the rows a and b of c."""
    total = 0.0
    for j in range(first, last + 1):
        total += c[a, j]*c[b, k - j]
    return total


@kernel
def sloped(c: np.ndarray, a: int, b: int, k: int, last: int) -> float:
    """sum_j j a_j b_(k - j) for j = 1 ... last."""
    total = 0.0
    for j in range(1, last + 1):
        total += j*c[a, j]*c[b, k - j]
    return total


class Tape(NamedTuple):
    """Entries e = 0 ... in an order in which they can be evaluated, and what they read. Rows of coefficients are those
    of y_1 ... y_n and t, then those of the entries."""

    kind: np.ndarray      # (entries,) SUM ... LOG
    row: np.ndarray       # (entries,) that is written; TURN writes the cosine into the next one
    reads: np.ndarray     # (entries, 3) rows besides the sum: divisor; angle; y, x, x^2 + y^2
    constant: np.ndarray  # (entries,)
    linear: np.ndarray    # (entries + 1,) terms of entry e are linear[e] ... linear[e + 1]
    factor: np.ndarray    # (terms,)
    place: np.ndarray     # (terms,) row
    product: np.ndarray   # (entries + 1,) products of entry e
    weight: np.ndarray    # (products,)
    left: np.ndarray      # (products,) row
    right: np.ndarray     # (products,) row
    outputs: np.ndarray   # (n,) rows of the derivatives of y
    needed: int           # entries of which more than coefficients 0 are needed
    guards: np.ndarray    # (guards, 4) number in COMPARED, rows of both sides, 1 where it must hold
    c: np.ndarray         # (rows, order + 1) coefficients

    def enter(self, k: int, t: float, y: np.ndarray) -> None:
        """Coefficients k of y and of time, from those of the derivatives or from the values."""
        c, n = self.c, self.outputs.shape[0]
        for i in range(n):
            c[i, k] = y[i//y.shape[1], i % y.shape[1]] if k == 0 else c[self.outputs[i], k - 1]/k
        c[n, k] = t if k == 0 else 1.0 if k == 1 else 0.0

    def advance(self, k: int, entries: int) -> None:
        c = self.c
        for e in range(entries):
            total = self.constant[e] if k == 0 else 0.0
            for p in range(self.linear[e], self.linear[e + 1]):
                total += self.factor[p]*c[self.place[p], k]
            for p in range(self.product[e], self.product[e + 1]):
                total += self.weight[p]*convolved(c, self.left[p], self.right[p], k, 0, k)
            if self.kind[e] == SUM:
                c[self.row[e], k] = total
            else:
                self.close(e, k, total)

    def close(self, e: int, k: int, total: float) -> None:
        """Coefficient k of an entry that is more than its sum."""
        c, row, kind = self.c, self.row[e], self.kind[e]
        a, b = self.reads[e, 0], self.reads[e, 1]
        if kind == QUOTIENT:
            c[row, k] = (total - convolved(c, a, row, k, 1, k))/c[a, 0]
        elif kind == ROOT:
            c[row, k] = sqrt(total) if k == 0 else (total - convolved(c, row, row, k, 1, k - 1))/(2.0*c[row, 0])
        elif kind == TURN:
            c[row, k] = sin(c[a, 0]) if k == 0 else sloped(c, a, row + 1, k, k)/k
            c[row + 1, k] = cos(c[a, 0]) if k == 0 else -sloped(c, a, row, k, k)/k
        elif kind == EXP:
            c[row, k] = exp(c[a, 0]) if k == 0 else sloped(c, a, row, k, k)/k
        elif kind == LOG:
            c[row, k] = log(c[a, 0]) if k == 0 else (k*c[a, k] - sloped(c, row, a, k, k - 1))/(k*c[a, 0])
        elif k == 0:
            c[row, k] = atan2(c[a, 0], c[b, 0])
        else:  # (x^2 + y^2) angle' = x y' - y x'
            square = self.reads[e, 2]
            turned = sloped(c, a, b, k, k) - sloped(c, b, a, k, k) - sloped(c, row, square, k, k - 1)
            c[row, k] = turned/(k*c[square, 0])

    def holds(self) -> bool:
        for g in range(self.guards.shape[0]):
            asked, left, right = self.guards[g, 0], self.c[self.guards[g, 1], 0], self.c[self.guards[g, 2], 0]
            holds = (left < right if asked == 0 else left <= right if asked == 1 else left > right if asked == 2 else
                     left >= right if asked == 3 else left == right if asked == 4 else left != right)
            if holds != (self.guards[g, 3] == 1):
                return False
        return True


Terms = tuple[float, list[tuple[float, int]], list[tuple[float, ...]]]  # number, rows and products with factors


class TapeEntry(NamedTuple):
    """One entry of a tape, before they are joined in arrays."""

    kind: int
    row: int
    reads: tuple[int, ...]
    constant: float
    linear: list[tuple[float, int]]
    products: list[tuple[float, int, int]]


class Entries:
    """The entries that nodes take, added one after the other."""

    def __init__(self, found: Expressions, kept: set[int]):
        """kept: places of the nodes with a row of their own."""
        self.kept = kept
        # of places and of numbers
        self.rows: dict[Hashable, int] = {node.place: i for i, node in enumerate(found.inputs)}
        self.next_row = len(found.inputs)
        self.entries: list[TapeEntry] = []

    def row(self, value: Value) -> int:
        """Row of a node that has one, or of a number."""
        if isinstance(value, Node):
            return self.rows[value.place]
        key = ("number", float(value))
        if key not in self.rows:
            self.rows[key] = self.add(SUM, (), float(value), [], [])
        return self.rows[key]

    def add(self, kind: int, reads: Sequence[Node], *terms: Any) -> int:
        """A new entry; its row."""
        row = self.next_row
        self.next_row += 2 if kind == TURN else 1
        self.entries.append(TapeEntry(kind, row, tuple(self.row(node) for node in reads), *terms))
        return row

    def write(self, node: Node) -> None:
        """The entry of a node, or that of sine and cosine together."""
        if node.op in ("sin", "cos"):
            key = ("turn", node.args[0].place)
            if key not in self.rows:
                self.rows[key] = self.add(TURN, node.args, 0.0, [], [])
            self.rows[node.place] = self.rows[key] + (node.op == "cos")
        elif node.op in KINDS:
            constant = 1.0 if node.op == "inverse" else 0.0
            self.rows[node.place] = self.add(KINDS[node.op], node.args, constant, [], [])
        elif node.op in ("div", "sqrt"):
            kind = QUOTIENT if node.op == "div" else ROOT
            self.rows[node.place] = self.add(kind, node.args[1:], *self.terms(node.args[0]))
        else:
            self.rows[node.place] = self.add(SUM, (), *self.terms(node, node))

    def terms(self, start: Node, own: Node | None = None) -> Terms:
        """A node as a number, rows and products with factors; `own` is not read but taken apart."""
        constant, linear, products = 0.0, [], []
        waiting: list[tuple[float, Node]] = [(1.0, start)]
        while waiting:
            factor, node = waiting.pop()
            if node.place in self.kept and node is not own:
                linear.append((factor, self.row(node)))
            elif node.op in ("add", "sub"):
                waiting += [(factor if node.op == "add" else -factor, node.args[1]), (factor, node.args[0])]
            elif node.op == "mul":
                products.append((factor, *map(self.row, node.args)))
            else:
                number = float(node.args[0])
                constant += factor*number if node.op == "shift" else 0.0
                waiting.append((factor if node.op == "shift" else factor*number, node.args[1]))
        return constant, linear, products


def in_rows(nodes: Sequence[Node], wanted: Sequence[Value]) -> set[int]:
    """Places of the nodes that need a row of their own. All others are merged where they are added: sums and products
    that occur once, and shifts and factors of others."""
    needed = {value.place for value in wanted if isinstance(value, Node)}
    users: dict[int, int] = {}
    for node in reversed(nodes):
        own = (node.place in needed or node.op not in (*SUMS, "mul")
               or (users[node.place] > 1 and node.op not in ("shift", "scale")))
        if own:
            needed.add(node.place)
        added = node.args if node.op in (*SUMS, "sqrt") else node.args[:1] if node.op == "div" else ()
        for place, x in enumerate(node.args):
            if isinstance(x, Node) and place < len(added):
                users[x.place] = users.get(x.place, 0) + (1 if own else users[node.place])
            elif isinstance(x, Node):
                needed.add(x.place)
    return needed


def tape_of(found: Expressions, order: int) -> Tape:
    """Tape of the coefficients 0 to `order` of y, whose inputs are y_1 ... y_n and t."""
    sides = [side for guard in found.guards for side in (guard.left, guard.right)]
    first = reachable([*found.inputs, *found.outputs])
    later = reachable(sides, {node.place for node in first})  # for guards alone
    new = Entries(found, in_rows(sorted([*first, *later], key=lambda node: node.place), [*found.outputs, *sides]))
    for node in first:
        if node.place in new.kept and node.op != "input":
            new.write(node)
    outputs = [new.row(value) for value in found.outputs]
    needed = len(new.entries)
    for node in later:
        if node.place in new.kept:
            new.write(node)
    guards = [(COMPARED.index(guard.op), new.row(guard.left), new.row(guard.right), int(guard.wanted))
              for guard in found.guards]
    return joined(new, outputs, needed, guards, order)


def joined(new: Entries, outputs: list[int], needed: int, guards: Sequence[Sequence[int]], order: int) -> Tape:
    entries = new.entries
    kind, row, reads, constant, linear, products = zip(*entries, strict=True) if entries else [()]*6
    return Tape._make((
        places(kind), places(row), places((*rows, 0, 0, 0)[:3] for rows in reads).reshape(-1, 3), np.array(constant),
        starts(linear), *columns(linear, 2), starts(products), *columns(products, 3), places(outputs), needed,
        places(guards).reshape(-1, 4), np.zeros((new.next_row, order + 1))))


def places(values: Iterable[Any]) -> np.ndarray:
    """Whole numbers without sign: compiled code does not ask whether they are counted from the end, which takes a
    quarter of the time of a jet."""
    return np.array(list(values), dtype=np.uint32)


def starts(parts: Iterable[Sized]) -> np.ndarray:
    """Where each part begins when they stand one after the other, and where the last one ends."""
    return places(np.cumsum([0, *map(len, parts)]))


def columns(parts: Iterable[Sequence[tuple[float, ...]]], count: int) -> list[np.ndarray]:
    """Factors of all terms, and their rows."""
    lines = [term for part in parts for term in part]
    return [np.array([line[i] for line in lines], dtype=np.uint32 if i else np.float64) for i in range(count)]
