"""All stages of an explicit Runge-Kutta method on one vector field as straight-line machine code: tableau and
right-hand side are in the code, states and slopes in vector registers.

The operations are those of the loops, in their order: slope = w_0 k_0, then w_r k_r + slope for each weight that is not
zero, then h slope + y; nothing is fused.
"""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.straight.exact import STALE, Leaf, Unset, decision_tree, leaves_of
from liestep.compile.straight.routines import Blocks, Code, Routine, add_counts, parts_of, vector
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.straight.writer import literal

HEAD = "define i64 @routine(double %t, double %h, ptr %y, ptr %k, ptr %new, ptr %out, ptr %table, ptr %counters)"


class Tableau(NamedTuple):
    """Rows of weights. Each but the last of `a` is a stage, the last one the new state, where the slope is evaluated as
    well; `sums` are sums of slopes that are asked for beside it (errors)."""

    a: Sequence[Sequence[float]]
    c: Sequence[float]
    sums: Sequence[Sequence[float]]


class _Vectors:
    """Rows of n numbers in vector registers."""

    def __init__(self, writer: Blocks, n: int):
        self.on, self.size, self.parts = writer, n, parts_of(n)

    def load(self, array: str, offset: int = 0) -> list[str]:
        found = []
        for at, width in self.parts:
            place = self.on.write(f"getelementptr double, ptr %{array}, i64 {offset + at}")
            found.append(self.on.write(f"load {vector(width)}, ptr {place}, align 8"))
        return found

    def store(self, array: str, values: list[str], offset: int = 0) -> None:
        for (at, width), value in zip(self.parts, values, strict=True):
            place = self.on.write(f"getelementptr double, ptr %{array}, i64 {offset + at}")
            self.on.lines.append(f"store {vector(width)} {value}, ptr {place}, align 8")

    def spread(self, number: str) -> list[str]:
        """One number in all places."""
        found = []
        for _, width in self.parts:
            one = self.on.write(f"insertelement {vector(width)} undef, double {number}, i32 0")
            found.append(self.on.write(f"shufflevector {vector(width)} {one}, {vector(width)} undef,"
                                       f" <{width} x i32> zeroinitializer"))
        return found

    def apply(self, operation: str, a: list[str], b: list[str]) -> list[str]:
        return [self.on.write(f"{operation} {vector(width)} {x}, {y}")
                for (_, width), x, y in zip(self.parts, a, b, strict=True)]

    def constant(self, value: float) -> list[str]:
        return [f"splat (double {literal(value)})"]*len(self.parts)

    def combine(self, weights: Sequence[float], slopes: list[list[str]]) -> list[str]:
        """w_0 k_0 + ..."""
        total = self.apply("fmul", self.constant(weights[0]), slopes[0])
        for weight, slope in zip(weights[1:len(slopes)], slopes[1:], strict=True):
            if weight != 0.0:
                total = self.apply("fadd", self.apply("fmul", self.constant(weight), slope), total)
        return total

    def number(self, values: list[str], i: int) -> str:
        part = next(number for number, (at, width) in enumerate(self.parts) if at <= i < at + width)
        at, width = self.parts[part]
        return self.on.write(f"extractelement {vector(width)} {values[part]}, i32 {i - at}")

    def joined(self, numbers: list[Any]) -> list[str]:
        """Numbers put into vector registers."""
        found = []
        for at, width in self.parts:
            value = "undef"
            for i in range(width):
                number = self.on.operand(numbers[at + i])
                value = self.on.write(f"insertelement {vector(width)} {value}, double {number}, i32 {i}")
            found.append(value)
        return found


def attempt(method: Any, n: int, tableau: Tableau) -> Routine:
    """Code of f(t, h, y, k, new, out, table, counters): slopes k_1 ... of a step from y, k_0 being known, the new
    state, and the sums, one after the other in `out`. It returns 0 where a slope cannot be evaluated.

    method: the right-hand side on symbols, see `liestep.compile.straight.routines.routine`; inputs are the time and n
    numbers.

    Raises:
        Untraceable: the right-hand side is none of expressions, branches otherwise than by guards, or reads what an
            earlier call left.
    """
    tree, _ = decision_tree(method, n + 1)
    good = [leaf for leaf in leaves_of(tree) if leaf.result.value]
    if len(good) != 1:
        raise Untraceable("its right-hand side branches on values")
    if any(value is STALE for value in good[0].outputs):
        raise Untraceable("it reads what an earlier call left")
    counted = good[0].result.counted
    writer = Blocks()
    rows = _Vectors(writer, n)
    y, step, slopes = rows.load("y"), rows.spread("%h"), [rows.load("k")]
    for stage in range(1, len(tableau.a)):
        total = rows.combine(tableau.a[stage], slopes)
        state = rows.apply("fadd", rows.apply("fmul", step, total), y)
        if stage == len(tableau.a) - 1:
            rows.store("new", state)
        time = writer.add("%t", writer.mul(float(tableau.c[stage]), "%h"))
        slopes.append(_slope(writer, rows, tree, [time, state], [stage - 1, counted]))
        rows.store("k", slopes[-1], stage*n)
    add_counts(writer, [(len(tableau.a) - 1)*number for number in counted])
    for place, weights in enumerate(tableau.sums):
        rows.store("out", rows.apply("fadd", rows.combine(weights, slopes), rows.constant(0.0)), place*n)
    body = "\n  ".join([*writer.lines, "ret i64 1"])
    text = "\n".join([*writer.declared, f"{HEAD} {{", "entry:", f"  {body}", "}"])
    return Routine(text, np.array(list(writer.table)), writer.operations)


def _slope(writer: Blocks, rows: _Vectors, tree: Any, point: list[Any], done: list[Any]) -> list[str]:
    """The right-hand side at a time and state, after so many evaluations with their counts."""
    time, state = point
    evaluated, counted = done
    after = writer.new_label("stage")
    found: list[Any] = []

    def end(leaf: Leaf, values: list[Any]) -> None:
        if leaf.result.value:
            for i, value in enumerate(values):
                if isinstance(value, Unset):  # it stays, as in the loops
                    found.append(writer.read("k", (evaluated + 1)*rows.size + i))
                else:
                    found.append(value if isinstance(value, str) else writer.constant(value))
            writer.lines.append(f"br label %{after}")
        else:
            add_counts(writer, [evaluated*all_before + now
                                for all_before, now in zip(counted, leaf.result.counted, strict=True)])
            writer.lines.append("ret i64 0")

    Code(writer, lambda i: time if i == 0 else rows.number(state, i - 1)).tree(tree, {}, end)
    writer.begin(after)
    return rows.joined(found)
