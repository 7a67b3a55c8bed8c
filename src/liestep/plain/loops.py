"""Sums over single rows, neighbours or all pairs of rows of a state, found in an expression and written as loops."""
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.straight.symbols import Node, reachable
from liestep.plain.derive import gradient, substituted
from liestep.plain.text import lines

FEWEST = 12  # equal terms that become a loop
ROW = re.compile(r"(.*)\[(\d+)(.*)\]")  # of an input such as q[3, 0] or self.p_mass[3]
NAMES = "ab"


class Loop(NamedTuple):
    """A term for rows a (and b), and the lines of the loops over them."""

    heads: list[str]
    term: Any
    inputs: list[Any]  # the symbols in it that are entries of rows


def terms_of(x: Any) -> list[tuple[float, Any]]:
    """(factor, node) of the terms of a sum; a number is a term too."""
    found, waiting = [], [(1.0, x)]
    while waiting:
        factor, x = waiting.pop()
        op = x.op if isinstance(x, Node) else ""
        if op in ("add", "sub"):
            waiting += [(factor if op == "add" else -factor, x.args[1]), (factor, x.args[0])]
        elif op == "scale":
            waiting.append((factor*x.args[0], x.args[1]))
        elif op == "shift":
            waiting += [(factor, x.args[0]), (factor, x.args[1])]
        else:
            found.append((factor, x))
    return found


def shape_of(*values: Any) -> tuple[tuple, tuple[int, ...]]:
    """What terms that differ by their rows only have in common, and these rows in the order in which they occur."""
    nodes = reachable(values)
    number = {x.place: k for k, x in enumerate(nodes)}
    rows: list[int] = []
    parts: list[tuple] = []
    for x in nodes:
        match = ROW.fullmatch(x.args[0]) if x.op == "input" else None
        if match:
            row = int(match[2])
            if row not in rows:
                rows.append(row)
            parts.append(("input", match[1], rows.index(row), match[3]))
        else:
            parts.append((x.op, *(("node", number[y.place]) if isinstance(y, Node) else y for y in x.args)))
    ends = (("node", number[x.place]) if isinstance(x, Node) else x for x in values)
    return (*parts, *ends), tuple(rows)


def heads_of(rows: set[tuple[int, ...]], n: int) -> list[str] | None:
    """The lines of loops over so many rows; None where there is no simple one."""
    if rows == {(i,) for i in range(n)}:
        return [f"for a in range({n}):"]
    if rows == {(i, i + 1) for i in range(n - 1)}:
        return [f"for a in range({n - 1}):", "b = a + 1"]
    if rows == {(i, j) for j in range(n) for i in range(j)}:
        return [f"for a in range({n - 1}):", f"for b in range(a + 1, {n}):"]
    return None


def split(value: Any, n: int) -> tuple[Any, list[Loop]]:
    """A sum over n rows as what is no loop, and loops."""
    groups: dict[tuple, list[tuple[tuple[int, ...], Any]]] = {}
    rest: Any = 0.0
    for factor, node in terms_of(value):
        if not isinstance(node, Node):
            rest = rest + factor*node
            continue
        shape, rows = shape_of(node)
        groups.setdefault((factor, shape), []).append((rows, node))
    loops = []
    for (factor, _), members in groups.items():
        places = {rows for rows, _ in members}
        heads = heads_of(places, n) if len(members) >= FEWEST and len(places) == len(members) else None
        if heads is None:
            for _, node in members:
                rest = rest + factor*node
        else:
            loops.append(looped(factor, *members[0], heads))
    return rest, loops


def looped(factor: float, rows: tuple[int, ...], node: Any, heads: list[str]) -> Loop:
    """The loop of a term at some rows."""
    found = named(rows, [node])
    inputs = [x for x in found.values() if not x.args[0].startswith("self.")]
    return Loop(heads, factor*substituted([node], found)[0], inputs)


def named(rows: Sequence[int], values: Sequence[Any]) -> dict[int, Any]:
    """Symbols of the rows a, b in place of those of some rows, by the places of these."""
    found = {}
    for x in reachable(values):
        match = ROW.fullmatch(x.args[0]) if x.op == "input" else None
        if match:
            found[x.place] = x.graph.node("input", f"{match[1]}[{NAMES[rows.index(int(match[2]))]}{match[3]}]")
    return found


def row_lines(values: Any) -> tuple[list[str], list[Any]]:
    """Lines that write the rows of `out`, as a loop where each one is the same function of its row, and the expressions
    in them."""
    n, width = len(values), len(values[0])
    found = [shape_of(*row) for row in values]
    if n < FEWEST or any(shape != found[0][0] or rows not in ((), (i,)) for i, (shape, rows) in enumerate(found)):
        results = [(f"out[{i}, {k}]", values[i][k]) for i in range(n) for k in range(width)]
        return lines(results), [x for _, x in results]
    row = substituted(list(values[0]), named([0], list(values[0])))
    return [f"        for a in range({n}):", *lines([(f"out[a, {k}]", x) for k, x in enumerate(row)], " "*12)], row


def within(loop: Loop, results: Sequence[tuple[str, Any]]) -> list[str]:
    """The lines of a loop that add expressions to targets."""
    found, indent = [], "        "
    for head in loop.heads:
        found.append(indent + head)
        indent += "    " if head.endswith(":") else ""
    return found + lines([(f"{target} +", x) for target, x in results], indent)


def sum_lines(value: Any, n: int) -> tuple[list[str], list[Any]]:
    """Lines that return a sum, and the expressions in them."""
    rest, loops = split(value, n)
    if not loops:
        return lines([("", value)]), [value]
    found = lines([("total", rest)])
    for loop in loops:
        found += within(loop, [("total", loop.term)])
    return [*found, "        return total"], [rest, *(loop.term for loop in loops)]


def gradient_lines(value: Any, q: Any) -> tuple[list[str], list[Any]]:
    """Lines that write the slopes of a sum by the rows of q (n, 3) to those of `out`, and the expressions in them."""
    rest, loops = split(value, len(q))
    found, outs = row_lines(np.reshape(gradient(rest, list(q.flat)), q.shape))
    for loop in loops:
        slopes = gradient(loop.term, loop.inputs)
        found += within(loop, [("out" + x.args[0][x.args[0].index("["):], slope)
                               for x, slope in zip(loop.inputs, slopes, strict=True)])
        outs += slopes
    return found, outs
