"""Machine code for several lanes at once, with the bits of `compile.straight` in each: an operation is one instruction
for all lanes. Of all arrays but the table of constants, each number is one for each lane, those of the lanes side by
side.

Jets (`compile.straight.straight`) are written by `LaneWriter`. Methods of components are routines f(a, table, out):
where one branches both ways are evaluated, from which each lane takes its own. A routine reads all arguments before it
writes a result, so that `out` may be `a`.
"""
from collections.abc import Callable, Sequence
from typing import Any

from liestep.compile.straight.exact import RESULT, Leaf, Unset, decision_tree, leaves_of
from liestep.compile.straight.routines import Blocks, Code
from liestep.compile.straight.straight import Routine
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.straight.writer import CONDITIONS, Writer
from liestep.simulation.machine_code.traced import Method, Trace


class LaneWriter(Writer):
    """A writer for several lanes: each value is a vector of one number for each lane, and each operation that on the
    numbers of one lane. A pack is a tuple of registers, each of which holds one component of all lanes."""

    def __init__(self, lanes: int) -> None:
        super().__init__()
        self.lanes = lanes
        self.kind, self.bits, self.yes = f"<{lanes} x double>", f"<{lanes} x i1>", "splat (i1 true)"

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

    def gather(self, values: Sequence[Any]) -> Any:
        return tuple(values)

    def member(self, pack: Any, i: int) -> Any:
        return pack[i]

    def turn(self, pack: Any, places: Sequence[int]) -> Any:
        return tuple(pack[i] for i in places)

    def size(self, value: Any) -> int:
        return len(value) if isinstance(value, tuple) else 0

    def read(self, array: str, i: int | str, width: int = 1, *, first: bool = False) -> Any:
        if width == 1:
            return super().read(array, i, first=first)
        return tuple(self.read(array, int(i) + k, first=first) for k in range(width))

    def number(self, i: int, *, first: bool = False) -> str:
        """The same for all lanes."""
        return str(self._spread((super().number(i, first=first), self.lanes), first=first))

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


class SideBySide(LaneWriter, Blocks):
    """A writer of methods for several lanes, in one block."""


class ChosenCode(Code):
    """Writes the nodes of a tree of decisions without branches."""

    def results(self, tree: Any, known: dict[int, Any]) -> list[Any]:
        """Values of a tree, those of a leaf that stay as they were from the inputs."""
        if isinstance(tree, Leaf):
            return [self.inputs(i) if isinstance(value, Unset) else value
                    for i, value in enumerate(self.values(tree.outputs, known))]
        left, right = map(self.on.operand, self.on.registers(self.values([tree.left, tree.right], known)))
        asked = self.on.write(f"fcmp {CONDITIONS[tree.op]} {self.on.kind} {left}, {right}")
        sides = [self.on.registers(self.results(side, dict(known))) for side in (tree.yes, tree.no)]
        return [yes if yes is no else
                self.on.write(f"select {self.on.bits} {asked}, {self.on.kind} {self.on.operand(yes)},"
                              f" {self.on.kind} {self.on.operand(no)}") for yes, no in zip(*sides, strict=True)]

    def choice(self, choice: Any, arguments: list[Any]) -> list[Any]:
        return ChosenCode(self.on, lambda i: arguments[i]).results(choice.tree, {})


def lane_routine(method: Callable, count: int, lanes: int, most: int, *, in_place: bool) -> Routine:
    """Code of `method(symbols) -> (Call, outputs)` of so many numbers; `most` operations on one way. in_place: it
    writes to its argument, and the code the sum of the results behind them, which is finite only where they are.
    Raises Untraceable, see `decision_tree`, and where it fails or counts evaluations on some way."""
    tree, _ = decision_tree(method, count, most=most)
    for leaf in leaves_of(tree):
        if not leaf.result.value or any(leaf.result.counted):
            raise Untraceable("it fails, or counts evaluations")
        if any(isinstance(value, Unset) and not (in_place and value is RESULT) for value in leaf.outputs):
            raise Untraceable("it reads what an earlier call left, or leaves results as they were")
    writer = SideBySide(lanes)
    code = ChosenCode(writer, lambda i: writer.read("a", i))
    results = writer.registers(code.results(tree, {}))
    for i, value in enumerate([*results, writer.whole(tuple(results))] if in_place else results):
        writer.store("out", i, value)
    writer.lines.append("ret i64 1")
    return writer.routine("ptr %a, ptr %table, ptr %out")


class LaneTrace(Trace):
    """The methods of one component as routines for several lanes."""

    def __init__(self, problem: Any, lanes: int, most: int):
        super().__init__(problem, most)
        self.lanes = lanes

    def code(self, method: Method) -> Routine:
        return lane_routine(lambda symbols: self.run(method, symbols), len(method.places), self.lanes, self.most,
                            in_place=method.out is None)
