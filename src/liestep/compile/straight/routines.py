"""Methods of components as straight-line machine code with the bits of their loops: `compile.straight.exact` finds the
expressions, here they are written as LLVM code. Nothing is fused or reordered, and no optimisation of LLVM runs that
could.

A routine is called as f(t, a, b, table, counters, out): a number, two arrays of arguments, the constants of the system,
the counters of evaluations, and the results. It reads all arguments before it writes a result, so that `out` may be
one of them, and gives what the method returns."""
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import cache_root, known
from liestep.compile.straight.exact import MOST_NODES, STALE, Branching, Leaf, Tree, Unset, decision_tree, leaves_of
from liestep.compile.straight.straight import Routine
from liestep.compile.straight.symbols import Node, Untraceable, Value, reachable
from liestep.compile.straight.writer import CONDITIONS, LLVMWriter, Register, Wide
from liestep.files import sealed

ARGUMENTS = "double %t, ptr %a, ptr %b, ptr %table, ptr %counters, ptr %out"
LARGE = 500          # operations of routines that are kept: smaller ones are traced in a few hundredths of a second
REFUSED = "refused"  # stands for the routines of a key that has none
LANES = 8  # numbers of the largest vector register


class Blocks(LLVMWriter):
    """A writer of blocks that branch."""

    def __init__(self) -> None:
        super().__init__()
        self.head = ["entry:"]
        self.label = "entry"
        self.labels = 0
        self.operations = 0

    def begin(self, label: str) -> None:
        self.label = label
        self.lines.append(f"{label}:")

    def new_label(self, name: str) -> str:
        self.labels += 1
        return f"{name}{self.labels}"

    def registers(self, values: Sequence[Register]) -> list[Register]:
        """Values that are no registers as constants."""
        return [value if isinstance(value, str) else self.constant(value) for value in values]

    def store_all(self, values: Sequence[Register | None]) -> None:
        """Write results, None for one that stays. Neighbours are written by one instruction: whoever reads several at
        once would wait for single ones to reach the memory."""
        for at, width in parts_of(len(values)):
            part = values[at:at + width]
            if None not in part:
                self.store("out", at, self.joined_in_one(part))
                continue
            for i, value in enumerate(part):
                if value is not None:
                    self.store("out", at + i, value)

    def joined_in_one(self, values: Sequence[Any]) -> Register:
        return self.gather(values) if len(values) > 1 else values[0]

    def from_table(self, place: int) -> str:
        """Read where it is used."""
        return self.read("table", place)

    def routine(self, signature: str) -> Routine:
        text = "\n".join([*self.declared, self.function(f"routine({signature})")])
        return Routine(text, np.array(list(self.table)), self.operations)


class Code:
    """Writes the nodes of a tree of decisions."""

    def __init__(self, writer: Blocks, inputs: Callable[[int], Register]):
        """inputs: the value of input number i."""
        self.on, self.inputs = writer, inputs

    def tree(self, tree: Tree, known: dict[int, Any], end: Callable[[Leaf, list[Any]], None]) -> None:
        """Code of a tree; `end` gets each leaf with its values."""
        if isinstance(tree, Leaf):
            values = self.values(tree.outputs, known)
            end(tree, values)
            return
        left, right = map(self.on.operand, self.values([tree.left, tree.right], known))
        asked = self.on.write(f"fcmp {CONDITIONS[tree.op]} double {left}, {right}")
        yes, no = self.on.new_label("yes"), self.on.new_label("no")
        self.on.lines.append(f"br i1 {asked}, label %{yes}, label %{no}")
        for label, side in ((yes, tree.yes), (no, tree.no)):
            self.on.begin(label)
            self.tree(side, dict(known), end)

    def values(self, wanted: Sequence[Value], known: dict[int, Any]) -> list[Any]:
        """Registers of nodes; numbers and what is no number as they are."""
        for node in reachable(wanted, known):
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
        if node.op in ("add", "sub", "mul", "div"):
            return getattr(self.on, node.op)(*args)
        return self.on.call({"abs": "fabs", "neg": "fneg"}.get(node.op, node.op), *args)

    def choice(self, choice: Branching, arguments: list[Register]) -> list[str]:
        """Values of a kernel that branches: its ways meet in one block."""
        after = self.on.new_label("after")
        found: list[tuple[list[Register], str]] = []

        def end(leaf: Leaf, values: list[Any]) -> None:
            found.append((self.on.registers(values), self.on.label))
            self.on.lines.append(f"br label %{after}")

        Code(self.on, lambda i: arguments[i]).tree(choice.tree, {}, end)
        self.on.begin(after)
        return [self.on.write("phi double " + ", ".join(f"[ {self.on.operand(values[place])}, %{label} ]"
                                                        for values, label in found))
                for place in range(len(choice.truth))]


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
    operations on one way. Raises Untraceable, see `decision_tree`."""
    tree, _ = decision_tree(method, len(inputs), most=most)
    if any(value is STALE for leaf in leaves_of(tree) if leaf.result.value for value in leaf.outputs):
        raise Untraceable("it reads what an earlier call left")
    writer = Blocks()

    def end(leaf: Leaf, values: list[Any]) -> None:
        numbers = [None if isinstance(value, Unset) else writer.registers([value])[0] for value in values]
        add_counts(writer, leaf.result.counted)
        writer.store_all(numbers)
        writer.lines.append(f"ret i64 {int(leaf.result.value)}")

    def read(i: int) -> str:
        array, place = inputs[i]
        return "%t" if array == "t" else writer.read(array, place)

    Code(writer, read).tree(tree, {}, end)
    return writer.routine(ARGUMENTS)


def kept(key: str, traced: Callable[[], dict[str, Routine]]) -> dict[str, Routine]:
    """The routines of a key from the folder of the machine code, or new ones, which are kept there if they are large; a
    refusal too. Raises Untraceable where there is none, and says why."""
    path = cache_root()/f"trace-{hashlib.sha256(key.encode()).hexdigest()[:24]}.z"
    data = known(path)
    if data is not None:
        texts = json.loads(zlib.decompress(data))
    else:
        try:
            texts = {name: [new.text, [float(x).hex() for x in new.constants], new.operations]
                     for name, new in traced().items()}
        except Untraceable as error:
            texts = {REFUSED: str(error)}
        if REFUSED in texts or sum(operations for *_, operations in texts.values()) >= LARGE:
            sealed.keep(path, zlib.compress(json.dumps(texts).encode()))
    if REFUSED in texts:
        raise Untraceable(texts[REFUSED])
    return {name: Routine(text, np.array([float.fromhex(x) for x in constants]), operations)
            for name, (text, constants, operations) in texts.items()}


@cache
def sum_of_stages(n: int) -> str:
    """Code of f(weights, h, k, count, y, out): out = y + h (weights_0 k_0 + ...) over the first `count` of k
    (s, n), weights that are zero left out but for the first; products first, in the order of the weights. Numbers of y
    share vector registers."""
    parts, on = parts_of(n), Blocks()
    first = on.read("weights", 0)
    starts = [on.mul(first, on.read("k", *part)) for part in parts]
    on.lines += ["br label %loop", "loop:", "%r = phi i64 [ 1, %entry ], [ %next, %end ]"]
    totals = [Wide(f"%o{at}", width) for at, width in parts]
    for total, start in zip(totals, starts, strict=True):
        on.lines.append(f"{total} = phi {on.of(total.width)} [ {start}, %entry ], [ {total}e, %end ]")
    on.lines += ["%left = icmp slt i64 %r, %count", "br i1 %left, label %body, label %last", "body:"]
    weight = on.read("weights", "%r")
    on.lines += [f"%used = fcmp une double {weight}, 0.0", "br i1 %used, label %add, label %end", "add:",
                 f"%skip = mul i64 %r, {n}", "%slope = getelementptr double, ptr %k, i64 %skip"]
    sums = [on.add(on.mul(weight, on.read("slope", *part)), total) for part, total in zip(parts, totals, strict=True)]
    on.lines += ["br label %end", "end:"]
    for total, added in zip(totals, sums, strict=True):
        on.lines.append(f"{total}e = phi {on.of(total.width)} [ {total}, %body ], [ {added}, %add ]")
    on.lines += ["%next = add i64 %r, 1", "br label %loop", "last:"]
    new = [on.add(on.mul("%h", total), on.read("y", *part)) for part, total in zip(parts, totals, strict=True)]
    for (at, _), value in zip(parts, new, strict=True):
        on.store("out", at, value)
    on.lines.append("ret i64 1")
    return on.function("routine(ptr %weights, double %h, ptr %k, i64 %count, ptr %y, ptr %out)")


def parts_of(n: int) -> list[tuple[int, int]]:
    """Place and width of the vectors that n numbers fill."""
    parts, at = [], 0
    while at < n:
        width = next(size for size in (LANES, 4, 2, 1) if size <= n - at)
        parts.append((at, width))
        at += width
    return parts


STAGE_ARGUMENTS = "double %t, double %h, ptr %y, ptr %k, ptr %new, ptr %out, ptr %table, ptr %counters"


class Weights(NamedTuple):
    """Rows of weights. Each but the last of `a` is a stage, the last one the new state, where the slope is evaluated as
    well; `sums` are sums of slopes that are asked for beside it (errors)."""

    a: Sequence[Sequence[float]]
    c: Sequence[float]
    sums: Sequence[Sequence[float]]


class _Rows:
    def __init__(self, writer: Blocks, n: int):
        self.on, self.size, self.parts = writer, n, parts_of(n)

    def load(self, array: str) -> list[Register]:
        return [self.on.read(array, *part) for part in self.parts]

    def store(self, array: str, values: Sequence[Register], offset: int = 0) -> None:
        for (at, _), value in zip(self.parts, values, strict=True):
            self.on.store(array, offset + at, value)

    def scaled(self, number: Register, values: list[Register]) -> list[Register]:
        return [self.on.each("fmul", number, value) for value in values]

    def plus(self, a: list[Register], b: list[Register]) -> list[Register]:
        return [self.on.add(x, y) for x, y in zip(a, b, strict=True)]

    def combine(self, weights: Sequence[float], slopes: list[list[Register]]) -> list[Register]:
        """w_0 k_0 + ..."""
        total = self.scaled(weights[0], slopes[0])
        for weight, slope in zip(weights[1:len(slopes)], slopes[1:], strict=True):
            if weight != 0.0:
                total = self.plus(self.scaled(weight, slope), total)
        return total

    def number(self, values: list[Register], i: int) -> Register:
        one, k = next((value, i - at) for value, (at, width) in zip(values, self.parts, strict=True) if i < at + width)
        return self.on.member(one, k) if isinstance(one, Wide) else one

    def joined(self, numbers: list[Register]) -> list[Register]:
        """Numbers put into vector registers."""
        return [self.on.joined_in_one(numbers[at:at + width]) for at, width in self.parts]


def attempt(method: Callable[[list[Node]], tuple[Call, list[Value]]], n: int, tableau: Weights) -> Routine:
    """Code of f(t, h, y, k, new, out, table, counters): slopes k_1 ... of a step from y, k_0 being known, the new
    state, and the sums, one after the other in `out`. It returns 0 where a slope cannot be evaluated. method: the
    right-hand side on symbols, see `liestep.compile.straight.routines.routine`; inputs are the time and n numbers.
    Raises Untraceable where it is none of expressions, branches otherwise than by guards, or reads what an earlier call
    left."""
    tree, _ = decision_tree(method, n + 1)
    good = [leaf for leaf in leaves_of(tree) if leaf.result.value]
    if len(good) != 1:
        raise Untraceable("its right-hand side branches on values")
    if any(value is STALE for value in good[0].outputs):
        raise Untraceable("it reads what an earlier call left")
    counted = good[0].result.counted
    writer = Blocks()
    rows = _Rows(writer, n)
    y, slopes = rows.load("y"), [rows.load("k")]
    for stage in range(1, len(tableau.a)):
        state = rows.plus(rows.scaled("%h", rows.combine(tableau.a[stage], slopes)), y)
        if stage == len(tableau.a) - 1:
            rows.store("new", state)
        time = writer.add("%t", writer.mul(float(tableau.c[stage]), "%h"))
        slopes.append(_slope(writer, rows, tree, [time, state], [stage - 1, counted]))
        rows.store("k", slopes[-1], stage*n)
    add_counts(writer, [(len(tableau.a) - 1)*number for number in counted])
    for place, weights in enumerate(tableau.sums):
        rows.store("out", [writer.add(value, 0.0) for value in rows.combine(weights, slopes)], place*n)
    writer.lines.append("ret i64 1")
    return writer.routine(STAGE_ARGUMENTS)


def _slope(writer: Blocks, rows: _Rows, tree: Tree, point: list[Any], done: list[Any]) -> list[Register]:
    """The right-hand side at a time and state, after so many evaluations with their counts."""
    time, state = point
    evaluated, counted = done
    after = writer.new_label("stage")
    found: list[Register] = []

    def end(leaf: Leaf, values: list[Any]) -> None:
        if leaf.result.value:
            for i, value in enumerate(values):
                if isinstance(value, Unset):  # it stays, as in the loops
                    found.append(writer.read("k", (evaluated + 1)*rows.size + i))
                else:
                    found.extend(writer.registers([value]))
            writer.lines.append(f"br label %{after}")
        else:
            add_counts(writer, [evaluated*all_before + now
                                for all_before, now in zip(counted, leaf.result.counted, strict=True)])
            writer.lines.append("ret i64 0")

    Code(writer, lambda i: time if i == 0 else rows.number(state, i - 1)).tree(tree, {}, end)
    writer.begin(after)
    return rows.joined(found)
