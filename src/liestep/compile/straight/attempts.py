"""All stages of an explicit Runge-Kutta method on one vector field as straight-line machine code: tableau and
right-hand side are in the code, states and slopes in vector registers.

The operations are those of the loops, in their order: slope = w_0 k_0, then w_r k_r + slope for each weight that is not
zero, then h slope + y; nothing is fused."""
from collections.abc import Sequence
from typing import Any, NamedTuple

from liestep.compile.straight.exact import STALE, Leaf, Unset, decision_tree, leaves_of
from liestep.compile.straight.routines import Blocks, Code, add_counts, parts_of
from liestep.compile.straight.straight import Routine
from liestep.compile.straight.symbols import Untraceable

ARGUMENTS = "double %t, double %h, ptr %y, ptr %k, ptr %new, ptr %out, ptr %table, ptr %counters"


class Tableau(NamedTuple):
    """Rows of weights. Each but the last of `a` is a stage, the last one the new state, where the slope is evaluated as
    well; `sums` are sums of slopes that are asked for beside it (errors)."""

    a: Sequence[Sequence[float]]
    c: Sequence[float]
    sums: Sequence[Sequence[float]]


class _Rows:
    """Rows of n numbers in vector registers."""

    def __init__(self, writer: Blocks, n: int):
        self.on, self.size, self.parts = writer, n, parts_of(n)

    def load(self, array: str) -> list[Any]:
        return [self.on.read(array, *part) for part in self.parts]

    def store(self, array: str, values: list[Any], offset: int = 0) -> None:
        for (at, _), value in zip(self.parts, values, strict=True):
            self.on.store(array, offset + at, value)

    def scaled(self, number: Any, values: list[Any]) -> list[Any]:
        return [self.on.each("fmul", number, value) for value in values]

    def plus(self, a: list[Any], b: list[Any]) -> list[Any]:
        return [self.on.add(x, y) for x, y in zip(a, b, strict=True)]

    def combine(self, weights: Sequence[float], slopes: list[list[Any]]) -> list[Any]:
        """w_0 k_0 + ..."""
        total = self.scaled(weights[0], slopes[0])
        for weight, slope in zip(weights[1:len(slopes)], slopes[1:], strict=True):
            if weight != 0.0:
                total = self.plus(self.scaled(weight, slope), total)
        return total

    def number(self, values: list[Any], i: int) -> Any:
        found = next((value, i - at) for value, (at, width) in zip(values, self.parts, strict=True) if i < at + width)
        return self.on.member(*found) if self.on.size(found[0]) else found[0]

    def joined(self, numbers: list[Any]) -> list[Any]:
        """Numbers put into vector registers."""
        return [self.on.joined_in_one(numbers[at:at + width]) for at, width in self.parts]


def attempt(method: Any, n: int, tableau: Tableau) -> Routine:
    """Code of f(t, h, y, k, new, out, table, counters): slopes k_1 ... of a step from y, k_0 being known, the new
    state, and the sums, one after the other in `out`. It returns 0 where a slope cannot be evaluated.

    method: the right-hand side on symbols, see `liestep.compile.straight.routines.routine`; inputs are the time and n
    numbers. Raises Untraceable where it is none of expressions, branches otherwise than by guards, or reads what an
    earlier call left."""
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
    return writer.routine(ARGUMENTS)


def _slope(writer: Blocks, rows: _Rows, tree: Any, point: list[Any], done: list[Any]) -> list[Any]:
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
                    found.extend(writer.registers([value]))
            writer.lines.append(f"br label %{after}")
        else:
            add_counts(writer, [evaluated*all_before + now
                                for all_before, now in zip(counted, leaf.result.counted, strict=True)])
            writer.lines.append("ret i64 0")

    Code(writer, lambda i: time if i == 0 else rows.number(state, i - 1)).tree(tree, {}, end)
    writer.begin(after)
    return rows.joined(found)
