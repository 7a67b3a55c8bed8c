"""Methods of components as straight-line machine code with the bits of their loops: `compile.straight.exact` finds the
expressions, here they are written as LLVM code. Nothing is fused or reordered, and no optimisation of LLVM runs that
could.

A routine is called as f(t, a, b, table, counters, out): a number, two arrays of arguments, the constants of the system,
the counters of evaluations, and the results. It reads all arguments before it writes a result, so that `out` may be
one of them, and gives what the method returns.
"""
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import cache_root
from liestep.compile.straight.exact import MOST_NODES, STALE, Leaf, Unset, decision_tree, leaves_of
from liestep.compile.straight.symbols import Node, Untraceable
from liestep.compile.straight.writer import CONDITIONS, Writer, vector
from liestep.files import sealed

HEAD = "define i64 @routine(double %t, ptr %a, ptr %b, ptr %table, ptr %counters, ptr %out)"
LARGE = 500          # operations of routines that are kept: smaller ones are traced in a few hundredths of a second
REFUSED = "refused"  # stands for the routines of a key that has none
LANES = 8  # numbers of the largest vector register


class Routine(NamedTuple):
    """Text of a routine and the numbers of its table."""

    text: str
    constants: np.ndarray
    operations: int


class Blocks(Writer):
    """A writer of blocks that branch."""

    def __init__(self) -> None:
        super().__init__()
        self.label = "entry"
        self.labels = 0
        self.operations = 0

    def begin(self, label: str) -> None:
        self.label = label
        self.lines.append(f"{label}:")

    def new_label(self, name: str) -> str:
        self.labels += 1
        return f"{name}{self.labels}"

    def read(self, array: str, i: int) -> str:
        place = self.write(f"getelementptr double, ptr %{array}, i64 {i}")
        return self.write(f"load double, ptr {place}")

    def store_all(self, values: Sequence[Any]) -> None:
        """Write results, None for one that stays. Neighbours are written by one instruction: whoever reads several at
        once would wait for single ones to reach the memory."""
        for at, width in parts_of(len(values)):
            part = values[at:at + width]
            if None in part or width == 1:
                for i, value in enumerate(part):
                    if value is not None:
                        self.store("out", at + i, value)
                continue
            joined = "undef"
            for i, value in enumerate(part):
                joined = self.write(f"insertelement {vector(width)} {joined}, double {self.operand(value)}, i32 {i}")
            place = self.write(f"getelementptr double, ptr %out, i64 {at}")
            self.lines.append(f"store {vector(width)} {joined}, ptr {place}, align 8")

    def constant(self, value: Any) -> Any:
        """A number of the system, read from the table where it is used."""
        known = super().constant(value)
        return self.read("table", self.table[float(value)]) if isinstance(known, str) else known


class Code:
    """Writes the nodes of a tree of decisions."""

    def __init__(self, writer: Blocks, inputs: Callable[[int], Any]):
        """inputs: the value of input number i."""
        self.on, self.inputs = writer, inputs

    def tree(self, tree: Any, known: dict[int, Any], end: Callable[[Leaf, list[Any]], None]) -> None:
        """Code of a tree; `end` gets each leaf with its values."""
        if isinstance(tree, Leaf):
            values = self.values(tree.outputs, known)
            end(tree, values)
            return
        left, right = (self.on.operand(value) for value in self.values([tree.left, tree.right], known))
        asked = self.on.write(f"fcmp {CONDITIONS[tree.op]} double {left}, {right}")
        yes, no = self.on.new_label("yes"), self.on.new_label("no")
        self.on.lines.append(f"br i1 {asked}, label %{yes}, label %{no}")
        for label, side in ((yes, tree.yes), (no, tree.no)):
            self.on.begin(label)
            self.tree(side, dict(known), end)

    def values(self, wanted: Sequence[Any], known: dict[int, Any]) -> list[Any]:
        """Registers of nodes; numbers and what is no number as they are."""
        for node in _missing(wanted, known):
            known[node.place] = self.node(node, known)
        return [known[value.place] if isinstance(value, Node) else value for value in wanted]

    def node(self, node: Node, known: dict[int, Any]) -> Any:
        if node.op == "input":
            return self.inputs(node.args[0])
        if node.op == "choice":
            choice, *nodes = node.args
            return self.choice(choice, [known[item.place] for item in nodes])
        if node.op == "part":
            return known[node.args[0].place][node.args[1]]
        self.on.operations += 1
        args = [known[item.place] if isinstance(item, Node) else self.on.constant(item) for item in node.args]
        if node.op == "neg":
            return self.on.mul(-1.0, args[0])
        if node.op in ("add", "sub", "mul", "div"):
            return getattr(self.on, node.op)(*args)
        return self.on.call({"abs": "fabs"}.get(node.op, node.op), *args)

    def choice(self, choice: Any, arguments: list[Any]) -> list[Any]:
        """Values of a kernel that branches: its ways meet in one block."""
        after = self.on.new_label("after")
        found: list[tuple[list[Any], str]] = []

        def end(leaf: Leaf, values: list[Any]) -> None:
            numbers = [value if isinstance(value, str) else self.on.constant(value) for value in values]
            found.append((numbers, self.on.label))
            self.on.lines.append(f"br label %{after}")

        Code(self.on, lambda i: arguments[i]).tree(choice.tree, {}, end)
        self.on.begin(after)
        return [self.on.write("phi double " + ", ".join(f"[ {self.on.operand(values[place])}, %{label} ]"
                                                        for values, label in found))
                for place in range(len(choice.truth))]


def _missing(wanted: Sequence[Any], known: dict[int, Any]) -> list[Node]:
    """Nodes that have to be evaluated for some, in the order of the method."""
    found: dict[int, Node] = {}
    todo = [value for value in wanted if isinstance(value, Node)]
    while todo:
        node = todo.pop()
        if node.place not in known and node.place not in found:
            found[node.place] = node
            todo.extend(item for item in node.args if isinstance(item, Node))
    return [found[place] for place in sorted(found)]


def add_counts(writer: Blocks, counted: Sequence[int]) -> None:
    """Add to the counters of evaluations."""
    for place, number in enumerate(counted):
        if number:
            where = writer.write(f"getelementptr i64, ptr %counters, i64 {place}")
            before = writer.write(f"load i64, ptr {where}")
            writer.lines.append(f"store i64 {writer.write(f'add i64 {before}, {number}')}, ptr {where}")


class Call(NamedTuple):
    """What one way through a method has returned, and what it has added to the counters."""

    value: bool
    counted: tuple[int, ...]


def routine(method: Callable, inputs: Sequence[tuple[str, int]], most: int = MOST_NODES) -> Routine:
    """Code of `method(symbols) -> (Call, outputs)`; inputs: array and place of each symbol, or ("t", 0); `most`
    operations on one way.

    Raises:
        Untraceable: see `decision_tree`.
    """
    tree, _ = decision_tree(method, len(inputs), most=most)
    if any(value is STALE for leaf in leaves_of(tree) if leaf.result.value for value in leaf.outputs):
        raise Untraceable("it reads what an earlier call left")
    writer = Blocks()

    def end(leaf: Leaf, values: list[Any]) -> None:
        numbers = [None if isinstance(value, Unset) else value if isinstance(value, str) else writer.constant(value)
                   for value in values]
        add_counts(writer, leaf.result.counted)
        writer.store_all(numbers)
        writer.lines.append(f"ret i64 {int(leaf.result.value)}")

    def read(i: int) -> str:
        array, place = inputs[i]
        return "%t" if array == "t" else writer.read(array, place)

    Code(writer, read).tree(tree, {}, end)
    body = "\n  ".join(writer.lines)
    text = "\n".join([*writer.declared, f"{HEAD} {{", "entry:", f"  {body}", "}"])
    return Routine(text, np.array(list(writer.table)), writer.operations)


def kept(key: str, traced: Callable[[], dict[str, Routine]]) -> dict[str, Routine]:
    """The routines of a key from the folder of the machine code, or new ones, which are kept there if they are large; a
    refusal too.

    Raises:
        Untraceable: why there is none.
    """
    path = cache_root()/f"trace-{hashlib.sha256(key.encode()).hexdigest()[:24]}.z"
    known = sealed.content(path)
    if known is not None:
        found = json.loads(zlib.decompress(known))
    else:
        try:
            found = {name: [new.text, [float(x).hex() for x in new.constants], new.operations]
                     for name, new in traced().items()}
        except Untraceable as error:
            found = {REFUSED: str(error)}
        if REFUSED in found or sum(operations for *_, operations in found.values()) >= LARGE:
            sealed.keep(path, zlib.compress(json.dumps(found).encode()))
    if REFUSED in found:
        raise Untraceable(found[REFUSED])
    return {name: Routine(text, np.array([float.fromhex(x) for x in constants]), operations)
            for name, (text, constants, operations) in found.items()}


def sum_of_stages(n: int) -> str:
    """Code of f(weights, h, k, count, y, out): out = y + h (weights_0 k_0 + ...) over the first `count` of k
    (s, n), weights that are zero left out but for the first; products first, in the order of the weights. Numbers of y
    share vector registers."""
    parts = parts_of(n)
    lines = ["entry:", "%w0 = load double, ptr %weights", "br label %first", "first:"]
    for part, (at, width) in enumerate(parts):
        lines += [*_spread("w0", width, f"b{part}"), *_read("k", at, width, f"k{part}"),
                  f"%s{part} = fmul {vector(width)} %b{part}, %k{part}"]
    lines += ["br label %loop", "loop:", "%r = phi i64 [ 1, %first ], [ %next, %end ]"]
    for part, (_, width) in enumerate(parts):
        lines.append(f"%o{part} = phi {vector(width)} [ %s{part}, %first ], [ %m{part}, %end ]")
    lines += ["%left = icmp slt i64 %r, %count", "br i1 %left, label %body, label %last", "body:",
              "%place = getelementptr double, ptr %weights, i64 %r", "%w = load double, ptr %place",
              "%used = fcmp une double %w, 0.0", "br i1 %used, label %add, label %end", "add:",
              f"%skip = mul i64 %r, {n}", "%slope = getelementptr double, ptr %k, i64 %skip"]
    for part, (at, width) in enumerate(parts):
        lines += [*_spread("w", width, f"c{part}"), *_read("slope", at, width, f"l{part}"),
                  f"%p{part} = fmul {vector(width)} %c{part}, %l{part}",
                  f"%a{part} = fadd {vector(width)} %p{part}, %o{part}"]
    lines += ["br label %end", "end:"]
    for part, (_, width) in enumerate(parts):
        lines.append(f"%m{part} = phi {vector(width)} [ %o{part}, %body ], [ %a{part}, %add ]")
    lines += ["%next = add i64 %r, 1", "br label %loop", "last:"]
    for part, (at, width) in enumerate(parts):
        lines += [*_spread("h", width, f"h{part}"), *_read("y", at, width, f"y{part}"),
                  f"%g{part} = fmul {vector(width)} %h{part}, %o{part}",
                  f"%z{part} = fadd {vector(width)} %g{part}, %y{part}"]
    for part, (at, width) in enumerate(parts):
        lines += [f"%d{part} = getelementptr double, ptr %out, i64 {at}",
                  f"store {vector(width)} %z{part}, ptr %d{part}, align 8"]
    body = "\n  ".join([*lines, "ret i64 1"])
    return f"define i64 @routine(ptr %weights, double %h, ptr %k, i64 %count, ptr %y, ptr %out) {{\n  {body}\n}}"


def parts_of(n: int) -> list[tuple[int, int]]:
    """Place and width of the vectors that n numbers fill."""
    parts, at = [], 0
    while at < n:
        width = next(size for size in (LANES, 4, 2, 1) if size <= n - at)
        parts.append((at, width))
        at += width
    return parts


def _spread(number: str, width: int, name: str) -> list[str]:
    """Lines that put one number into all places of a vector."""
    kind = vector(width)
    return [f"%{name}_one = insertelement {kind} undef, double %{number}, i32 0",
            f"%{name} = shufflevector {kind} %{name}_one, {kind} undef, <{width} x i32> zeroinitializer"]


def _read(array: str, at: int, width: int, name: str) -> list[str]:
    return [f"%{name}_at = getelementptr double, ptr %{array}, i64 {at}",
            f"%{name} = load {vector(width)}, ptr %{name}_at, align 8"]

