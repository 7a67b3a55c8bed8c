"""Machine code for several lanes at once, with the bits of `compile.straight` in each: an operation is one instruction
for all lanes. Of all arrays but the table of constants, each number is one for each lane, those of the lanes side by
side.

Jets (`compile.straight.straight`) are written by `LaneWriter`. Methods of components are routines f(a, table, out):
where one branches both ways are evaluated, from which each lane takes its own. A routine reads all arguments before it
writes a result, so that `out` may be `a`.
"""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liestep.compile.straight.exact import RESULT, Leaf, Unset, decision_tree, leaves_of
from liestep.compile.straight.routines import Blocks, Code, Routine
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.straight.writer import CONDITIONS, Writer, literal, sum_of
from liestep.simulation.machine_code.traced import Method, Trace

HEAD = "define i64 @routine(ptr %a, ptr %table, ptr %out)"


class LaneWriter(Writer):
    """A writer for several lanes: each value is a vector of one number for each lane, and each operation that on the
    numbers of one lane. A pack is a tuple of registers, each of which holds one component of all lanes."""

    def __init__(self, lanes: int) -> None:
        super().__init__()
        self.lanes = self.times = lanes
        self.kind, self.bits, self.yes = f"<{lanes} x double>", f"<{lanes} x i1>", "splat (i1 true)"

    def as_kind(self, x: Any, width: int) -> str:
        return x if isinstance(x, str) else f"splat (double {literal(x)})"

    def call(self, name: str, *args: Any) -> Any:
        if name != "atan2":
            return super().call(name, *args)
        joined = "undef"
        for lane in range(self.lanes):  # it takes one number after the other
            parts = [self.write(f"extractelement {self.kind} {self.operand(x)}, i32 {lane}") for x in args]
            value = self.apply("@atan2", "double", parts)
            joined = self.write(f"insertelement {self.kind} {joined}, double {value}, i32 {lane}")
        return joined

    def each(self, operation: str, *args: Any) -> Any:
        packs = [len(x) for x in args if isinstance(x, tuple)]
        if not packs:
            return super().each(operation, *args)
        return tuple(self.each(operation, *(x[i] if isinstance(x, tuple) else x for x in args))
                     for i in range(packs[0]))

    def suffix(self, width: int) -> str:
        return f"v{self.lanes}f64"

    def gather(self, values: Sequence[Any]) -> Any:
        return tuple(values)

    def member(self, pack: Any, i: int) -> Any:
        return pack[i]

    def turn(self, pack: Any, places: Sequence[int]) -> Any:
        return tuple(pack[i] for i in places)

    def size(self, value: Any) -> int:
        return len(value) if isinstance(value, tuple) else 0

    def load(self, array: str, i: int, name: str, width: int = 1) -> list[str]:
        if width == 1:
            return super().load(array, i, name)
        return [line for k in range(width) for line in self.load(array, i + k, f"{name}_{k}")]

    def loaded(self, name: str, width: int = 1) -> Any:
        return f"%{name}" if width == 1 else tuple(f"%{name}_{k}" for k in range(width))

    def load_constant(self, i: int, name: str) -> list[str]:
        """The same for all lanes."""
        read, value = super().load_constant(i, name)
        return [read, f"%s{value[1:]}", f"%i{name} = insertelement {self.kind} undef, double %s{name}, i32 0",
                f"%{name} = shufflevector {self.kind} %i{name}, {self.kind} undef, <{self.lanes} x i32>"
                " zeroinitializer"]

    def store(self, array: str, i: int, value: Any) -> None:
        if not isinstance(value, tuple):
            super().store(array, i, value)
            return
        for k, each in enumerate(value):
            self.store(array, i + k, each)

    def as_whole(self, holds: str) -> str:
        """Bit l is 1 where all comparisons of lane l hold."""
        joined = self.write(f"bitcast {self.bits} {holds} to i{self.lanes}")
        return self.write(f"zext i{self.lanes} {joined} to i64")

    def sum_code(self, n: int, order: int) -> str:
        """That of each lane with its own step."""
        writer = LaneWriter(self.lanes)
        for i in range(n):
            total = ""
            for k in range(order, -1, -1):
                place = writer.write(f"getelementptr {writer.kind}, ptr %c, i64 {k*n + i}")
                value = writer.write(f"load {writer.kind}, ptr {place}, align 8")
                total = writer.add(value, -0.0) if k == order else writer.fma("%h0", total, value)
            writer.store("y", i, total)
        return sum_of([*writer.load("h", 0, "h0"), *writer.lines, "ret i64 1"])


class SideBySide(LaneWriter, Blocks):
    """A writer of methods for several lanes, in one block."""

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


class LaneTrace(Trace):
    """The methods of one component as routines for several lanes."""

    def __init__(self, problem: Any, lanes: int, most: int):
        super().__init__(problem, most)
        self.lanes = lanes

    def code(self, method: Method) -> Routine:
        return lane_routine(lambda symbols: self.run(method, symbols), len(method.places), self.lanes, self.most,
                            in_place=method.out is None)
