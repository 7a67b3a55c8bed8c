"""Explicit Runge-Kutta tableaux as exact rationals, validated when they are made.

A tableau (a, b, c) is the method k_i = f(t + c_i h, y + h sum_j a_ij k_j), y+ = y + h sum_i b_i k_i; the known ones
stand in tableaux.toml. `arrays()` gives them in the number type of the run (`liestep.compile.precision`), each entry
rounded once. Those that a study declares are checked like the known ones, and for the order that they claim:

    options: {tableau: {name: ralston, order: 2, a: [[], [2/3]], b: [1/4, 3/4]}}"""
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from liestep.compile.precision import coefficients
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.sheet import Option, Options

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Tableau:
    """Explicit Runge-Kutta method of s stages. Raises ValueError: wrong shapes, an implicit entry, a row sum that is
    not c_i, or weights that do not add up to 1."""

    name: str
    order: int
    source: str
    a: tuple[Row, ...]                  # (s, s), strictly lower triangular
    b: Row                              # (s,)
    c: Row                              # (s,)
    tolerance: Fraction = Fraction(0)   # of the sums: not zero for coefficients known as decimals only

    def __post_init__(self) -> None:
        stages = len(self.b)
        self._require(len(self.a) == len(self.c) == stages and all(len(row) == stages for row in self.a),
                      "shapes differ")
        self._require(not any(x for i, row in enumerate(self.a) for x in row[i:]), "not explicit")
        self._require(all(self._close(sum(row), c) for row, c in zip(self.a, self.c, strict=True)),
                      "row sums are not c")
        self._require(self._close(sum(self.b), 1), "weights do not add up to 1")

    def _require(self, condition: bool, complaint: str) -> None:
        if not condition:
            raise ValueError(f"tableau {self.name}: {complaint}")

    def _close(self, x: Any, y: Any) -> bool:
        return abs(x - y) <= self.tolerance

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(a, b, c)"""
        return coefficients(self.a), coefficients(self.b), coefficients(self.c)


@dataclass(frozen=True)
class EmbeddedTableau(Tableau):
    """Tableau with weights of a lower order on the same stages and a continuous extension. y(t + s h) = y + h sum_i
    (dense_i1 s + dense_i2 s^2 + ...) k_i, 0 <= s <= 1. Raises ValueError also when the embedded weights do not add up
    to 1 or the extension does not end at y+."""

    embedded: Row = ()              # (s,)
    embedded_order: int = 0
    dense: tuple[Row, ...] = ()     # (s, degree)
    dense_order: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(len(self.embedded) == len(self.dense) == len(self.b), "shapes differ")
        self._require(self._close(sum(self.embedded), 1), "embedded weights do not add up to 1")
        self._require(all(self._close(sum(row), b) for row, b in zip(self.dense, self.b, strict=True)),
                      "dense output misses y+")

    def error_weights(self) -> np.ndarray:
        """b - embedded, (s,): the error estimate is h times their sum with the slopes."""
        return coefficients([x - y for x, y in zip(self.b, self.embedded, strict=True)])

    def dense_rows(self) -> np.ndarray:
        """(s, degree)"""
        return coefficients(self.dense)


@dataclass(frozen=True)
class Dop853Tableau(Tableau):
    """DOP853 with 16 stages: 12 of the method, f(y+) (stage 12), and 3 that only the dense output of order 7 needs. The
    dense output is y + s (F0 + (1 - s) (F1 + s (F2 + (1 - s) (F3 + s (F4 + (1 - s) (F5 + s F6)))))) with F0 = y+ - y,
    F1 = h k_0 - F0, F2 = 2 F0 - h (k_0 + k_12), F_(3 + r) = h sum_j d_rj k_j. Raises ValueError also when error weights
    do not add up to 0."""

    error5: Row = ()            # (16,) minus the weights of order 5
    error3: Row = ()            # (16,) minus the weights of order 3
    dense: tuple[Row, ...] = () # (4, 16)

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in (self.error5, self.error3, *self.dense):
            self._require(len(row) == len(self.b), "shapes differ")
        for row in (self.error5, self.error3):
            self._require(self._close(sum(row), 0), "error weights do not add up to 0")

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(a, c, e3, e5, d); row 12 of a holds the weights b."""
        return (coefficients(self.a), coefficients(self.c), coefficients(self.error3), coefficients(self.error5),
                coefficients(self.dense))


def _row(text: str, length: int = 0) -> Row:
    """Fractions separated by blanks, or "index:value" for the non-zero ones; filled with zeros up to `length`."""
    entries = (item.split(":") if ":" in item else (i, item) for i, item in enumerate(text.split()))
    values = {int(i): Fraction(value) for i, value in entries}
    return tuple(values.get(i, Fraction(0)) for i in range(max(length, len(values))))


def fields(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a tableau of the file."""
    stages = len(entry["a"])
    return {"name": name, "order": entry["order"], "source": entry["source"], "b": _row(entry["b"], stages),
            "a": tuple(_row(row, stages) for row in entry["a"]), "c": _row(entry["c"])}


CLASSICAL = "rk4"
GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_OF_PAIR, _OF_853 = GIVEN["dormand_prince54"], GIVEN["dop853_dense"]
DORMAND_PRINCE54 = EmbeddedTableau(  # stage 7 is only for the error and the next step
    **fields("dormand_prince54", _OF_PAIR), embedded=_row(_OF_PAIR["embedded"]),
    embedded_order=_OF_PAIR["embedded_order"], dense=tuple(_row(row, 4) for row in _OF_PAIR["dense"]),
    dense_order=_OF_PAIR["dense_order"])
DOP853 = Dop853Tableau(
    **fields("dop853_dense", _OF_853), tolerance=Fraction("1e-27"), error5=_row(_OF_853["error5"], 16),
    error3=tuple(x - y for x, y in zip(_row(_OF_853["b"], 16), _row(_OF_853["b3"], 16), strict=True)),
    dense=tuple(_row(row, 16) for row in _OF_853["dense"]))


def _first(stages: int, of: Tableau, name: str) -> Tableau:
    """The first stages of a tableau alone."""
    return Tableau(name, of.order, of.source, tuple(row[:stages] for row in of.a[:stages]), of.b[:stages],
                   of.c[:stages], of.tolerance)


TABLEAUX: dict[str, Tableau] = {tableau.name: tableau for tableau in (
    *(Tableau(**fields(name, entry)) for name, entry in GIVEN["simple"].items()), DORMAND_PRINCE54,
    _first(12, DOP853, "dop853"), _first(6, DORMAND_PRINCE54, "dormand_prince5"))}


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
    known = classical_order(tableau, order)
    if known < order:
        raise InputError(f"option tableau: {tableau.name} claims order {order} and has order {known}")
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


def tableau_of(options: Options) -> Tableau:
    chosen = options["tableau"]
    return TABLEAUX[chosen] if isinstance(chosen, str) else declared(chosen)


def from_decimals(options: Options) -> bool:
    """`Method.decimals`: whether the coefficients of the tableau are known as decimals only."""
    return "tableau" in options and bool(tableau_of(options).tolerance)


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


PAIRS: dict[str, EmbeddedTableau] = {pair.name: pair for pair in (
    DORMAND_PRINCE54, *(with_last_slope(Tableau(**fields(name, entry)), _row(entry["embedded"], len(entry["a"])),
                                        entry["embedded_order"]) for name, entry in GIVEN["pairs"].items()))}


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
    lower = classical_order(tableau, tableau.order, embedded)
    if lower != order:
        raise InputError(f"option tableau: the embedded weights of {tableau.name} claim order {order} and have order"
                         f" {lower}{' or more' if lower == tableau.order else ''}")
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


def pair_of(options: Options) -> EmbeddedTableau:
    chosen = options["tableau"]
    return PAIRS[chosen] if isinstance(chosen, str) else declared_pair(chosen)
