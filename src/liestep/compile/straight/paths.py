"""The ways through a component's plain method on symbols: one way as expressions, and what else there is as guards.

A branch on a value has a second side. It is a guard when that side ends at once with False ("cannot be evaluated"): a
pivot that is not positive, a radius that vanishes. The guard is then checked at run time. Any other branch would be
wrong somewhere, so that the method is refused, with the line that branches."""
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.straight.symbols import MOST_NODES, Comparison, Expressions, Graph, Guard, Untraceable, place_of

MOST_RUNS = 10_000  # of the method, to see where its branches lead
OPERATIONS = ("add", "sub", "mul", "div", "scale", "node")

Method = Callable[[list[Any]], tuple[Any, Sequence[Any]]]


def expressions(method: Method, inputs: int, most: int = MOST_NODES) -> Expressions:
    """Outputs of `method(symbols) -> (evaluable, outputs)`, at most so many operations. Raises Untraceable where it
    branches on values otherwise than by guards, leaves arithmetic, or takes too many operations."""
    paths = _Paths(method, inputs, most)
    outputs = paths.first()
    nodes, taken = paths.way.nodes.copy(), paths.way.taken
    sides = [side for _, side, _ in taken]
    for number, (_, side, line) in enumerate(taken):
        if not paths.fail([*sides[:number], not side]):
            raise Untraceable(f"it branches on a value{line}")
    guards = [Guard(asked.op, asked.left, asked.right, side) for asked, side, _ in taken]
    return Expressions(nodes[:inputs], list(outputs), guards, nodes)


class _Way(Graph):
    """One run of a method, and others that begin like it: while these take the same sides, their operations have the
    results of the first run, which takes a tenth of the time."""

    def __init__(self, forced: Sequence[bool], inputs: int, most: int):
        super().__init__(forced)
        self.most = most
        self.symbols = [self.node("input", i) for i in range(inputs)]
        self.results: list[Any] = []
        self.sides: list[bool] = []  # of the first run, once there are others
        self.size = 0
        for name in OPERATIONS:
            setattr(self, name, partial(self.remembered, getattr(Graph, name)))

    def remembered(self, operation: Callable, *args: Any) -> Any:
        """Result of an operation, in place of those that it is made of."""
        at = len(self.results)
        result = operation(self, *args)
        self.results[at:] = [result]
        return result

    def restart(self, forced: Sequence[bool]) -> None:
        """Get ready for another run, which takes other sides than the first."""
        if not self.size:
            self.size, self.sides = len(self.nodes), [side for _, side, _ in self.taken]
        while len(self.nodes) > self.size:
            self.nodes.pop()
            self.table.popitem()
        self.forced, self.taken, self.answers = forced, [], {}
        results = iter(self.results)
        for name in OPERATIONS:
            setattr(self, name, lambda *_: next(results))

    def decide(self, asked: Comparison) -> bool:
        number, side = len(self.taken), super().decide(asked)
        if number < min(len(self.taken), len(self.sides)) and side != self.sides[number]:
            for name in OPERATIONS:
                self.__dict__.pop(name, None)
        return side


class _Paths:
    """The ways through a method, each one run of it with the sides of its first branches given."""

    def __init__(self, method: Method, inputs: int, most: int):
        self.method, self.inputs, self.most, self.runs = method, inputs, most, 0
        self.way: _Way

    def run(self) -> tuple[bool, Sequence[Any], list[bool]]:
        """Whether the method can be evaluated, what it returns, and the sides that it takes."""
        self.runs += 1
        if self.runs > MOST_RUNS:
            raise Untraceable("its branches on values lead too far")
        try:
            with np.errstate(all="raise"):
                evaluable, outputs = self.method(self.way.symbols)
            evaluable = bool(evaluable)
        except (TypeError, ValueError, ArithmeticError, AttributeError, IndexError) as error:
            raise Untraceable(f"{error}{place_of(error)}") from None
        return evaluable, outputs, [side for _, side, _ in self.way.taken]

    def first(self) -> Sequence[Any]:
        """Outputs on a way on which the method can be evaluated, the sides True before those that are False."""
        forced: list[bool] = []
        while True:
            self.way = _Way(forced, self.inputs, self.most)
            evaluable, outputs, sides = self.run()
            if evaluable:
                return outputs
            while sides and not sides[-1]:
                sides.pop()
            if not sides:
                raise Untraceable("it can be evaluated nowhere")
            forced = [*sides[:-1], False]

    def fail(self, forced: list[bool]) -> bool:
        """Whether the method ends with False on all ways that begin like this."""
        self.way.restart(forced)
        evaluable, _, sides = self.run()
        return not evaluable and all(self.fail([*sides[:number], not sides[number]])
                                     for number in range(len(forced), len(sides)))
