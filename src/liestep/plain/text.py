"""Expressions as lines of Python that `liestep` compiles."""
from collections.abc import Sequence
from typing import Any

from liestep.compile.straight.symbols import Node, reachable

FORMATS = {"add": "{} + {}", "sub": "{} - {}", "mul": "{}*{}", "inverse": "", "scale": "{}*{}",
           "shift": "{1} + {0}", "sqrt": "sqrt({})", "sin": "sin({})", "cos": "cos({})", "exp": "exp({})",
           "log": "log({})", "atan2": "atan2({}, {})"}
CHOICES = {"<": "if_less", "<=": "if_at_most", "==": "if_equal"}
LONGEST = 90  # characters of an expression within another one


def lines(results: Sequence[tuple[str, Any]], indent: str = "        ") -> list[str]:
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

    def part(x: Any) -> str:
        if isinstance(x, Node):
            return text[x.place]
        x = float(x)
        shown = f"np.inf*{1.0 if x > 0 else -1.0}" if x in (float("inf"), float("-inf")) else repr(x)
        return f"({shown})" if x < 0 or "*" in shown else shown

    def written(node: Any) -> str:
        if node.op == "select":
            op, *parts = node.args
            return f"{CHOICES[op]}({', '.join(map(part, parts))})"
        if node.op == "mul":
            for one, two in (node.args, node.args[::-1]):
                if one.op == "inverse" and uses[one.place] == 1:
                    return divided.format(part(two), part(one.args[0]))
        if node.op == "scale" and node.args[0] == -1.0:
            return f"-{part(node.args[1])}"
        if node.op == "scale" and node.args[1].op == "inverse" and uses[node.args[1].place] == 1:
            return divided.format(part(node.args[0]), part(node.args[1].args[0]))
        if node.op == "inverse":
            return divided.format("1.0", part(node.args[0]))
        return FORMATS[node.op].format(*map(part, node.args))

    for node in nodes:
        if node.op == "input":
            shown = node.args[0]
        else:
            shown = written(node)
            if "(" not in FORMATS.get(node.op, "("):
                shown = f"({shown})"
        if uses[node.place] > 1 or (node.op != "input" and len(shown) > LONGEST):
            found.append(f"{indent}t{len(found)} = {_bare(shown)}")
            shown = f"t{len(found) - 1}"
        text[node.place] = shown
    ends = {"": "return", "+": "="}  # of a target "total +" to which is added
    return found + [f"{indent}{target}{ends.get(target[-1:], ' =')} {_bare(part(x))}" for target, x in results]


def _bare(text: str) -> str:
    """Without the brackets around all of it."""
    depth = 0
    for number, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if number == len(text) - 1 and text[0] == "(" else text
    return text


def operations(outs: Sequence[Any]) -> int:
    """Number of operations of expressions, what they share counted once."""
    return sum(node.op != "input" for node in reachable(outs))
