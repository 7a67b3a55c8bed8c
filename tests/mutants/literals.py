"""Every float literal of the step methods, one at a time, changed by 1e-6.

Step methods run as plain Python on numbers of many digits (`compile.tracing`). Here the copies of their functions have
each float literal replaced by a call, which notes that it was executed and returns the literal or, for the one under
test, a number that is wrong by CHANGE. Literals of a comparison are limits and guards: they decide no digit.
"""
import ast
import copy
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

from liestep.compile import tracing
from liestep.tools.certify.number import numbers

CHANGE = Fraction(1, 10**6)
ROOMS = ("integrators", "groups", "geometry")


class Literal(NamedTuple):
    """Where a literal stands, and its line."""

    file: str
    function: str
    line: int
    column: int
    value: float
    text: str


class Literals:
    """The literals that have been executed, and the one that is wrong now."""

    def __init__(self):
        self.executed: dict[Literal, None] = {}
        self.wrong: Literal | None = None
        self.kind = numbers(150)

    def __call__(self, literal):
        self.executed[literal] = None
        return self.kind.of(Fraction(literal.value) + CHANGE) if literal == self.wrong else literal.value


@cache
def tree_of(file):
    return ast.parse(Path(file).read_text("utf-8"))


class Replace(ast.NodeTransformer):
    """Each float literal becomes a call of the function `literal_`."""

    def __init__(self, file, function):
        self.function = function
        self.file = "/".join(Path(file).parts[-2:])
        self.lines = Path(file).read_text("utf-8").splitlines()
        self.found: list[Literal] = []

    def visit_Compare(self, node):
        return node

    def visit_Constant(self, node):
        if not isinstance(node.value, float):
            return node
        self.found.append(Literal(self.file, self.function, node.lineno, node.col_offset, node.value,
                                  self.lines[node.lineno - 1].strip()))
        call = ast.parse(f"literal_(literals_[{len(self.found) - 1}])", mode="eval").body
        return ast.copy_location(call, node)


@cache
def replaced(file, line):
    """Code of the function that begins in this line, with its literals replaced, and these."""
    function = next(node for node in ast.walk(tree_of(file)) if isinstance(node, ast.FunctionDef)
                    and min([node.lineno, *(item.lineno for item in node.decorator_list)]) == line)
    change = Replace(file, function.name)
    named = copy.deepcopy(function)
    named.name, named.decorator_list, named.returns = "function_", [], None
    for argument in named.args.args:
        argument.annotation = None
    named.body = [change.visit(statement) for statement in named.body]
    return compile(ast.fix_missing_locations(ast.Module([named], [])), file, "exec"), tuple(change.found)


@contextmanager
def counted(literals):
    """Inside, plain components are made with functions whose literals can be changed."""
    shipped = tracing.copied

    def copied(source, names):
        file = source.__code__.co_filename
        if Path(file).parent.name not in ROOMS:
            return shipped(source, names)
        code, found = replaced(file, source.__code__.co_firstlineno)
        names = {**names, "literal_": literals, "literals_": found}
        exec(code, names)
        function = names.pop("function_")
        function.__defaults__ = source.__defaults__
        return function

    for function in (tracing._plain, tracing._plain_by, tracing._class_with):
        function.cache_clear()
    tracing.copied = copied
    try:
        yield
    finally:
        tracing.copied = shipped
        for function in (tracing._plain, tracing._plain_by, tracing._class_with):
            function.cache_clear()
