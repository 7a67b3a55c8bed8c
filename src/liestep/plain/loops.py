"""Expressions as lines of Python that `liestep` compiles: what is used once stands where it is used, and sums over
single rows, neighbours or all pairs of rows of a state are found and written as loops."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.straight.symbols import Node, reachable
from liestep.plain.symbols import Scalar, Symbol, gradient, input_text, substituted

FORMATS = {"add": "{} + {}", "sub": "{} - {}", "mul": "{}*{}", "inverse": "", "scale": "{}*{}",
           "shift": "{1} + {0}", "sqrt": "sqrt({})", "sin": "sin({})", "cos": "cos({})", "exp": "exp({})",
           "log": "log({})", "atan2": "atan2({}, {})"}
CHOICES = {"<": "if_less", "<=": "if_at_most", "==": "if_equal"}
LONGEST_SHOWN = 90  # characters of an expression within another one


def lines(results: Sequence[tuple[str, Scalar]], indent: str = "        ") -> list[str]:
    """Lines that write each expression to a target ("out[0, 1]"), or return it (""). What is used once stands where it
    is used."""
    nodes = reachable(x for _, x in results)
    divided = "quotient({}, {})" if any(node.op == "select" for node in nodes) else "{}/{}"  # a side may be infinite
    uses: dict[int, int] = {}
    for x in [x for _, x in results] + [x for node in nodes for x in node.args]:
        if isinstance(x, Node):
            uses[x.place] = uses.get(x.place, 0) + 1
    text: dict[int, str] = {}
    found: list[str] = []

    def part(x: Scalar) -> str:
        if isinstance(x, Node):
            return text[x.place]
        x = float(x)
        shown = f"np.inf*{1.0 if x > 0 else -1.0}" if x in (float("inf"), float("-inf")) else repr(x)
        return f"({shown})" if x < 0 or "*" in shown else shown

    def written(node: Node) -> str:
        if node.op == "select":
            op, *parts = node.args
            return f"{CHOICES[op]}({', '.join(map(part, parts))})"
        if node.op == "mul":
            for divisor, factor in (node.args, node.args[::-1]):
                if divisor.op == "inverse" and uses[divisor.place] == 1:
                    return divided.format(part(factor), part(divisor.args[0]))
        if node.op == "scale" and node.args[0] == -1.0:
            return f"-{part(node.args[1])}"
        if node.op == "scale" and node.args[1].op == "inverse" and uses[node.args[1].place] == 1:
            return divided.format(part(node.args[0]), part(node.args[1].args[0]))
        if node.op == "inverse":
            return divided.format("1.0", part(node.args[0]))
        return FORMATS[node.op].format(*map(part, node.args))

    for node in nodes:
        if node.op == "input":
            shown = input_text(node)
        else:
            shown = written(node)
            if "(" not in FORMATS.get(node.op, "("):
                shown = f"({shown})"
        if uses[node.place] > 1 or (node.op != "input" and len(shown) > LONGEST_SHOWN):
            found.append(f"{indent}t{len(found)} = {_bare(shown)}")
            shown = f"t{len(found) - 1}"
        text[node.place] = shown
    ends = {"": "return", "+": "="}  # of a target "total +" to which is added
    return found + [f"{indent}{target}{ends.get(target[-1:], ' =')} {_bare(part(x))}" for target, x in results]


def _bare(text: str) -> str:
    depth = 0
    for number, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if number == len(text) - 1 and text[0] == "(" else text
    return text


def operations(outs: Sequence[Scalar]) -> int:
    """Number of operations of expressions, what they share counted once."""
    return sum(node.op != "input" for node in reachable(outs))


FEWEST = 12  # equal terms that become a loop
NAMES = "ab"


class Loop(NamedTuple):
    """A term for rows a (and b), and the lines of the loops over them."""

    heads: list[str]
    term: Scalar
    inputs: list[Symbol]  # the symbols in it that are entries of rows


def terms_of(x: Any) -> list[tuple[float, Any]]:
    """(factor, node) of the terms of a sum; a number is a term too."""
    terms, waiting = [], [(1.0, x)]
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
            terms.append((factor, x))
    return terms


def in_row(x: Node) -> bool:
    """Whether an expression is an entry of an array, such as q[3, 0] or self.p_mass[3]."""
    return x.op == "input" and len(x.args) > 1


def shape_of(*values: Node | float) -> tuple[tuple, tuple[int, ...]]:
    """What terms that differ by their rows only have in common, and these rows in the order in which they occur."""
    nodes = reachable(values)
    number = {x.place: k for k, x in enumerate(nodes)}
    rows: list[int] = []
    parts: list[tuple] = []
    for x in nodes:
        if in_row(x):
            array, row, *columns = x.args
            if row not in rows:
                rows.append(row)
            parts.append(("input", array, rows.index(row), *columns))
        else:
            parts.append((x.op, *(("node", number[y.place]) if isinstance(y, Node) else y for y in x.args)))
    return (*parts, *(("node", number[x.place]) if isinstance(x, Node) else x for x in values)), tuple(rows)


def heads_of(rows: set[tuple[int, ...]], n: int) -> list[str] | None:
    """The lines of loops over so many rows; None where there is no simple one."""
    if rows == {(i,) for i in range(n)}:
        return [f"for a in range({n}):"]
    if rows == {(i, i + 1) for i in range(n - 1)}:
        return [f"for a in range({n - 1}):", "b = a + 1"]
    if rows == {(i, j) for j in range(n) for i in range(j)}:
        return [f"for a in range({n - 1}):", f"for b in range(a + 1, {n}):"]
    return None


def split(value: Scalar, n: int) -> tuple[Scalar, list[Loop]]:
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
            found = named(members[0][0], [members[0][1]])
            loops.append(Loop(heads, factor*substituted([members[0][1]], found)[0],
                              [x for x in found.values() if not x.args[0].startswith("self.")]))
    return rest, loops


def named(rows: Sequence[int], values: Sequence[Scalar]) -> dict[int, Any]:
    """Symbols of the rows a, b in place of those of some rows, by the places of these."""
    names = {}
    for x in reachable(values):
        if in_row(x):
            array, row, *columns = x.args
            names[x.place] = x.graph.node("input", array, NAMES[rows.index(row)], *columns)
    return names


def row_lines(values: Sequence[Sequence[Scalar]] | np.ndarray) -> tuple[list[str], list[Scalar]]:
    """Lines that write the rows of `out`, as a loop where each one is the same function of its row, and the expressions
    in them."""
    n, width = len(values), len(values[0])
    shapes = [shape_of(*row) for row in values]
    if n < FEWEST or any(shape != shapes[0][0] or rows not in ((), (i,)) for i, (shape, rows) in enumerate(shapes)):
        results = [(f"out[{i}, {k}]", values[i][k]) for i in range(n) for k in range(width)]
        return lines(results), [x for _, x in results]
    row = substituted(list(values[0]), named([0], list(values[0])))
    return [f"        for a in range({n}):", *lines([(f"out[a, {k}]", x) for k, x in enumerate(row)], " "*12)], row


def within(loop: Loop, results: Sequence[tuple[str, Scalar]]) -> list[str]:
    """The lines of a loop that add expressions to targets."""
    written, indent = [], "        "
    for head in loop.heads:
        written.append(indent + head)
        indent += "    " if head.endswith(":") else ""
    return written + lines([(f"{target} +", x) for target, x in results], indent)


def sum_lines(value: Scalar, n: int) -> tuple[list[str], list[Scalar]]:
    """Lines that return a sum, and the expressions in them."""
    rest, loops = split(value, n)
    if not loops:
        return lines([("", value)]), [value]
    written = lines([("total", rest)])
    for loop in loops:
        written += within(loop, [("total", loop.term)])
    return [*written, "        return total"], [rest, *(loop.term for loop in loops)]


def gradient_lines(value: Scalar, q: np.ndarray) -> tuple[list[str], list[Scalar]]:
    """Lines that write the slopes of a sum by the rows of q (n, 3) to those of `out`, and the expressions in them."""
    rest, loops = split(value, len(q))
    written, outs = row_lines(np.reshape(gradient(rest, list(q.flat)), q.shape))
    for loop in loops:
        slopes = gradient(loop.term, loop.inputs)
        written += within(loop, [("out" + input_text(x).removeprefix(x.args[0]), slope)
                               for x, slope in zip(loop.inputs, slopes, strict=True)])
        outs += slopes
    return written, outs
