"""Methods of components for several lanes at once, with the bits of `compile.straight.routines` in each: an operation
is one instruction for all lanes, and where a method branches both ways are evaluated, from which each lane takes its
own.

A routine is called as f(a, table, out): of `a` and `out` each number is one for each lane, those of the lanes side by
side. It reads all arguments before it writes a result, so that `out` may be `a`.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from liestep.compile.straight.exact import RESULT, Leaf, Unset, decision_tree, leaves_of
from liestep.compile.straight.routines import Blocks, Code, Routine
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.straight.writer import CONDITIONS, Writer

HEAD = "define i64 @routine(ptr %a, ptr %table, ptr %out)"


class SideBySide(Blocks):
    """A writer for several lanes, in one block."""

    def __init__(self, lanes: int) -> None:
        super().__init__()
        Writer.__init__(self, lanes)

    def read(self, array: str, i: int) -> str:
        """A number of each lane; of the table the same for all, where it is used."""
        if array == "table":
            one = super().read(array, i)
            joined = self.write(f"insertelement {self.kind} undef, double {one}, i32 0")
            return self.write(f"shufflevector {self.kind} {joined}, {self.kind} undef,"
                              f" <{self.lanes} x i32> zeroinitializer")
        place = self.write(f"getelementptr {self.kind}, ptr %{array}, i64 {i}")
        return self.write(f"load {self.kind}, ptr {place}, align 8")


class ChosenCode(Code):
    """Writes the nodes of a tree of decisions without branches."""

    def results(self, tree: Any, known: dict[int, Any]) -> list[Any]:
        """Values of a tree, those of a leaf that stay as they were from the inputs."""
        if isinstance(tree, Leaf):
            return [self.inputs(i) if isinstance(value, Unset) else value
                    for i, value in enumerate(self.values(tree.outputs, known))]
        left, right = (self.on.operand(value) for value in self.constants(self.values([tree.left, tree.right], known)))
        asked = self.on.write(f"fcmp {CONDITIONS[tree.op]} {self.on.kind} {left}, {right}")
        sides = [self.constants(self.results(side, dict(known))) for side in (tree.yes, tree.no)]
        return [yes if yes is no else
                self.on.write(f"select {self.on.bits} {asked}, {self.on.kind} {self.on.operand(yes)},"
                              f" {self.on.kind} {self.on.operand(no)}") for yes, no in zip(*sides, strict=True)]

    def constants(self, values: list[Any]) -> list[Any]:
        return [value if isinstance(value, str) else self.on.constant(value) for value in values]

    def choice(self, choice: Any, arguments: list[Any]) -> list[Any]:
        return ChosenCode(self.on, lambda i: arguments[i]).results(choice.tree, {})


def lane_routine(method: Callable, count: int, lanes: int, most: int, *, in_place: bool) -> Routine:
    """Code of `method(symbols) -> (Call, outputs)` of so many numbers; `most` operations on one way. in_place: it
    writes to its argument, and the code the sum of the results behind them, which is finite only where they are.

    Raises:
        Untraceable: see `decision_tree`; it fails or counts evaluations on some way.
    """
    tree, _ = decision_tree(method, count, most=most)
    for leaf in leaves_of(tree):
        if not leaf.result.value or any(leaf.result.counted):
            raise Untraceable("it fails, or counts evaluations")
        if any(isinstance(value, Unset) and not (in_place and value is RESULT) for value in leaf.outputs):
            raise Untraceable("it reads what an earlier call left, or leaves results as they were")
    writer = SideBySide(lanes)
    code = ChosenCode(writer, lambda i: writer.read("a", i))
    results = code.constants(code.results(tree, {}))
    for i, value in enumerate([*results, writer.whole(tuple(results))] if in_place else results):
        writer.store("out", i, value)
    body = "\n  ".join([*writer.lines, "ret i64 1"])
    text = "\n".join([*writer.declared, f"{HEAD} {{", f"  {body}", "}"])
    return Routine(text, np.array(list(writer.table)), writer.operations)
