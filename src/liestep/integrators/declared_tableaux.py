"""Explicit tableaux that a study declares: checked like the known ones, and for the order that they claim.

    options: {tableau: {name: ralston, order: 2, a: [[], [2/3]], b: [1/4, 3/4]}}
"""
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

from liestep.errors import InputError, unknown
from liestep.integrators.tableaux import TABLEAUX, Row, Tableau
from liestep.mechanics.contracts.option import Option

KEYS = ("name", "order", "a", "b")
TOLERANCE = Fraction(1, 10**10)  # allowed error of the order conditions for coefficients given as decimals
LARGEST_ORDER = 10               # 719 rooted trees of order 10
Tree = tuple                     # a rooted tree is the sorted tuple of its subtrees


@cache
def _trees(vertices: int) -> tuple[Tree, ...]:
    """Rooted trees."""
    return tuple(tuple(sorted(forest)) for forest in set(_forests(vertices - 1, vertices - 1)))


def _forests(vertices: int, largest: int) -> Iterator[tuple[Tree, ...]]:
    """Multisets of trees with `vertices` vertices in all, none larger than `largest`, in decreasing size."""
    if vertices == 0:
        yield ()
    for size in range(min(vertices, largest), 0, -1):
        for tree in _trees(size):
            for rest in _forests(vertices - size, size):
                if not rest or (_size(rest[0]), rest[0]) <= (size, tree):
                    yield (tree, *rest)


def _size(tree: Tree) -> int:
    return 1 + sum(map(_size, tree))


def _density(tree: Tree) -> int:
    return _size(tree)*prod(map(_density, tree))


def classical_order(tableau: Tableau, largest: int, weights: Row | None = None) -> int:
    """Order of a tableau, or of other weights on its stages, at most `largest`: sum_i b_i phi_i(tree) = 1/density(tree)
    for all trees of so many vertices (Hairer, Norsett and Wanner 1993, II.2)."""
    chosen = tableau.b if weights is None else weights

    @cache
    def phi(tree: Tree) -> tuple[Fraction, ...]:
        children = [[sum((x*y for x, y in zip(row, phi(child), strict=True)), Fraction(0)) for row in tableau.a]
                    for child in tree]
        return tuple(prod((child[i] for child in children), start=Fraction(1)) for i in range(len(tableau.b)))

    for order in range(1, largest + 1):
        for tree in _trees(order):
            if (abs(sum(b*x for b, x in zip(chosen, phi(tree), strict=True)) - Fraction(1, _density(tree)))
                    > TOLERANCE):
                return order - 1
    return largest


def _number(value: Any) -> Fraction:
    """A decimal number or a fraction as text; floats stand for the decimals that they print."""
    try:
        return Fraction(str(value).replace(" ", "")) if not isinstance(value, bool) else Fraction("")
    except (ValueError, ZeroDivisionError):
        raise InputError(f"option tableau: {value!r} is not a number or a fraction like 1/3") from None


def numbers_of(values: Any, what: str) -> Row:
    """Fractions of a list in an option `tableau`; raises InputError."""
    if not isinstance(values, list | tuple):
        raise InputError(f"option tableau: {what} must be a list, not {values!r}")
    return tuple(map(_number, values))


def declared(given: Mapping[str, Any], keys: tuple[str, ...] = KEYS) -> Tableau:
    """Tableau of a mapping with these keys; c are the row sums of a.

    Raises:
        InputError: keys, shapes or numbers are wrong, it is not explicit, or it has not the order that it claims.
    """
    for key in given:
        if key not in keys:
            raise InputError(unknown("key of option tableau", key, keys))
    missing = [key for key in keys if key not in given]
    if missing:
        raise InputError(f"option tableau: {missing[0]} is missing (needed: {', '.join(keys)})")
    order, b = given["order"], numbers_of(given["b"], "b")
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= LARGEST_ORDER:
        raise InputError(f"option tableau: order must be a whole number from 1 to {LARGEST_ORDER}, not {order!r}")
    if not isinstance(given["a"], list | tuple):
        raise InputError("option tableau: a must be a list of rows")
    rows = [numbers_of(values, f"row {i + 1} of a") for i, values in enumerate(given["a"])]
    if len(rows) != len(b) or any(i > len(row) or len(row) > len(b) for i, row in enumerate(rows)):
        raise InputError(f"option tableau: b has {len(b)} weights, so that a must have {len(b)} rows, of lengths 0, 1,"
                         f" 2, ... or {len(b)}")
    a = tuple(row + (Fraction(0),)*(len(b) - len(row)) for row in rows)
    c = tuple(sum(row, Fraction(0)) for row in a)
    try:
        tableau = Tableau(str(given["name"]), order, "declared", a, b, c, TOLERANCE)
    except ValueError as error:
        raise InputError(f"option {error}") from None
    found = classical_order(tableau, order)
    if found < order:
        raise InputError(f"option tableau: {tableau.name} claims order {order} and has order {found}")
    return tableau


def written(tableau: Tableau) -> dict[str, Any]:
    """A tableau as options hold it: all numbers as shortest fractions, so that spellings do not matter."""
    return {"name": tableau.name, "order": tableau.order,
            "a": [list(map(str, row[:i])) for i, row in enumerate(tableau.a)], "b": list(map(str, tableau.b))}


def _normalise(value: Any) -> str | dict[str, Any]:
    """Name of a known tableau as it is, a mapping as `written`."""
    if isinstance(value, Mapping):
        return written(declared(value))
    if not isinstance(value, str) or value not in TABLEAUX:
        raise InputError(unknown("tableau", value, TABLEAUX))
    return value


TABLEAU = {"tableau": Option(
    "rk4", f"a known tableau ({', '.join(TABLEAUX)}), or one declared here; c are the row sums of a",
    normalise=_normalise, values="name | {name, order, a, b}")}


def tableau_of(options: Mapping[str, Any]) -> Tableau:
    """Tableau of a checked option `tableau`."""
    chosen = options["tableau"]
    return TABLEAUX[chosen] if isinstance(chosen, str) else declared(chosen)
