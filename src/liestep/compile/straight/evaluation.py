"""Which nodes of expressions are evaluated, and when."""
from collections.abc import Iterable, Sequence
from typing import Any

from liestep.compile.straight.symbols import Expressions, Node


def reachable(outputs: Iterable[Any]) -> list[Node]:
    """The nodes that outputs are made of, in an order in which they can be evaluated."""
    found: dict[int, Node] = {}
    waiting = [x for x in outputs if isinstance(x, Node)]
    while waiting:
        node = waiting.pop()
        if node.place not in found:
            found[node.place] = node
            waiting += [x for x in node.args if isinstance(x, Node)]
    return [found[place] for place in sorted(found)]


def merged(outputs: Sequence[Any]) -> set[int]:
    """Places of the nodes that occur nowhere but in one sum or difference."""
    nodes, users = reachable(outputs), dict[int, list[str]]()
    for name, values in [("", outputs), *((node.op, node.args) for node in nodes)]:
        for x in values:
            if isinstance(x, Node):
                users.setdefault(x.place, []).append(name)
    return {node.place for node in nodes if node.op in ("add", "sub", "mul", "scale", "dot")
            and users[node.place] in (["add"], ["sub"])}


def lateness(found: Expressions, outputs: Iterable[Any]) -> dict[int, int]:
    """How late the newest coefficient of each node is known, by its place: after those inputs whose rates are inputs,
    then after the others, whose rates end the order before, and after the operations on them."""
    late: dict[int, int] = {}
    last = len(found.nodes)
    for node in [*found.inputs, *reachable(outputs)]:
        rates = found.outputs[node.args[0]] if node.op == "input" and node is not found.inputs[-1] else 0.0
        if node.op == "input":
            late[node.place] = last if isinstance(rates, Node) and rates.op != "input" else 0
        else:
            late[node.place] = 1 + max((late[x.place] for x in node.args if isinstance(x, Node)), default=0)
    return late
