"""Explicit tableaux that a study declares: checked like the known ones, and for the order that they claim.

    options: {tableau: {name: ralston, order: 2, a: [[], [2/3]], b: [1/4, 3/4]}}
"""
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

from liestep.errors import InputError, unknown
from liestep.integrators.tableaux import DORMAND_PRINCE54, TABLEAUX, EmbeddedTableau, Row, Tableau, triangle
from liestep.mechanics.contracts.sheet import Option

KEYS = ("name", "order", "a", "b")
TOLERANCE = Fraction(1, 10**10)  # allowed error of the order conditions for coefficients given as decimals
LARGEST_ORDER = 10               # 719 rooted trees of order 10
Tree = tuple                     # a rooted tree is the sorted tuple of its subtrees


@cache
def _trees(vertices: int) -> tuple[Tree, ...]:
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
    """Tableau of a mapping with these keys; c are the row sums of a. Raises InputError: keys, shapes or numbers are
    wrong, it is not explicit, or it has not the order that it claims."""
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
    chosen = options["tableau"]
    return TABLEAUX[chosen] if isinstance(chosen, str) else declared(chosen)


PAIR_KEYS = (*KEYS, "embedded", "embedded_order")


def with_last_slope(tableau: Tableau, embedded: Row, embedded_order: int) -> EmbeddedTableau:
    """The pair with f(y+) as its last stage, added where the tableau has not got it (the next step needs it anyway),
    and the cubic Hermite polynomial through both ends as dense output, of order 3 or that of the tableau. Raises
    ValueError as `EmbeddedTableau`."""
    a, b, c, zero = tableau.a, tableau.b, tableau.c, (Fraction(0),)
    if a[-1] != b:
        a = (*(line + zero for line in a), b + zero)
        b, c, embedded = b + zero, (*c, Fraction(1)), embedded + zero
    last = len(b) - 1
    dense = tuple((Fraction(int(i == 0)), 3*b[i] - (2 if i == 0 else 0) - (1 if i == last else 0),
                   -2*b[i] + (1 if i in (0, last) else 0)) for i in range(last + 1))
    return EmbeddedTableau(tableau.name, tableau.order, tableau.source, a, b, c, tableau.tolerance, embedded,
                           embedded_order, dense, min(3, tableau.order))


def _known(name: str, source: str, orders: tuple[int, int], c: str, rows: tuple[str, ...],
           weights: tuple[str, str]) -> EmbeddedTableau:
    """rows are the lower triangle, weights those of both methods."""
    tableau = Tableau(name, orders[0], source, **triangle(c, rows, weights[0]))
    return with_last_slope(tableau, tuple(map(Fraction, weights[1].split())), orders[1])


PAIRS: dict[str, EmbeddedTableau] = {pair.name: pair for pair in (
    DORMAND_PRINCE54,
    _known("heun_euler21", "Heun 1900 with Euler's method", (2, 1), "0 1", ("", "1"), ("1/2 1/2", "1 0")),
    _known("bogacki_shampine32", "Bogacki and Shampine 1989, Appl. Math. Lett. 2, 321", (3, 2), "0 1/2 3/4 1",
           ("", "1/2", "0 3/4", "2/9 1/3 4/9"), ("2/9 1/3 4/9 0", "7/24 1/4 1/3 1/8")),
    _known("fehlberg54", "Fehlberg 1969, NASA TR R-315, the weights of order 5", (5, 4), "0 1/4 3/8 12/13 1 1/2",
           ("", "1/4", "3/32 9/32", "1932/2197 -7200/2197 7296/2197", "439/216 -8 3680/513 -845/4104",
            "-8/27 2 -3544/2565 1859/4104 -11/40"),
           ("16/135 0 6656/12825 28561/56430 -9/50 2/55", "25/216 0 1408/2565 2197/4104 -1/5 0")),
    _known("cash_karp54", "Cash and Karp 1990, ACM Trans. Math. Softw. 16, 201", (5, 4), "0 1/5 3/10 3/5 1 7/8",
           ("", "1/5", "3/40 9/40", "3/10 -9/10 6/5", "-11/54 5/2 -70/27 35/27",
            "1631/55296 175/512 575/13824 44275/110592 253/4096"),
           ("37/378 0 250/621 125/594 0 512/1771",
            "2825/27648 0 18575/48384 13525/55296 277/14336 1/4")),
)}


def declared_pair(given: Mapping[str, Any]) -> EmbeddedTableau:
    """Pair of a mapping. Raises InputError: it is no pair of explicit methods of the two orders that it claims."""
    tableau = declared(given, PAIR_KEYS)
    embedded, order = numbers_of(given["embedded"], "embedded"), given["embedded_order"]
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order < tableau.order:
        raise InputError(f"option tableau: embedded_order must be a whole number from 1 to {max(1, tableau.order - 1)},"
                         f" below that of the method, not {order!r}")
    if len(embedded) != len(tableau.b):
        raise InputError(f"option tableau: embedded has {len(embedded)} weights and b has {len(tableau.b)}")
    try:
        pair = with_last_slope(tableau, embedded, order)
    except ValueError as error:
        raise InputError(f"option {error}") from None
    found = classical_order(tableau, tableau.order, embedded)
    if found != order:
        raise InputError(f"option tableau: the embedded weights of {tableau.name} claim order {order} and have order"
                         f" {found}{' or more' if found == tableau.order else ''}")
    return pair


def _normalise_pair(value: Any) -> str | dict[str, Any]:
    """Name of a known pair as it is; a mapping with all numbers as shortest fractions."""
    if not isinstance(value, Mapping):
        if not isinstance(value, str) or value not in PAIRS:
            raise InputError(unknown("embedded tableau", value, PAIRS))
        return value
    declared_pair(value)
    embedded = numbers_of(value["embedded"], "embedded")
    return {**written(declared(value, PAIR_KEYS)), "embedded": list(map(str, embedded)),
            "embedded_order": value["embedded_order"]}


PAIR = {"tableau": Option(
    "dormand_prince54", f"a known pair ({', '.join(PAIRS)}), or one declared here; c are the row sums of a",
    normalise=_normalise_pair, values="name | {name, order, a, b, embedded, embedded_order}")}


def pair_of(options: Mapping[str, Any]) -> EmbeddedTableau:
    chosen = options["tableau"]
    return PAIRS[chosen] if isinstance(chosen, str) else declared_pair(chosen)
