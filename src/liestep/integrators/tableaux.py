"""Explicit Runge-Kutta tableaux as exact rationals, validated when they are made.

A tableau (a, b, c) is the method k_i = f(t + c_i h, y + h sum_j a_ij k_j), y+ = y + h sum_i b_i k_i.
`arrays()` gives them in the number type of the run (`liestep.compile.precision`), each entry rounded once. Those that a
study declares are checked like the known ones, and for the order that they claim:

    options: {tableau: {name: ralston, order: 2, a: [[], [2/3]], b: [1/4, 3/4]}}
"""
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

import numpy as np

from liestep.compile.precision import coefficients
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.sheet import Option

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

    @property
    def e5(self) -> np.ndarray:
        return coefficients(self.error5)

    @property
    def e3(self) -> np.ndarray:
        return coefficients(self.error3)

    @property
    def d(self) -> np.ndarray:
        return coefficients(self.dense)


def _row(text: str, length: int = 0) -> Row:
    """Fractions separated by blanks, or "index:value" for the non-zero ones; filled with zeros up to `length`."""
    entries = (item.split(":") if ":" in item else (i, item) for i, item in enumerate(text.split()))
    values = {int(i): Fraction(value) for i, value in entries}
    return tuple(values.get(i, Fraction(0)) for i in range(max(length, len(values))))


def triangle(c: str, rows: tuple[str, ...], b: str) -> dict[str, Any]:
    """Fields a, b, c of a tableau; rows are the lower triangle."""
    stages = len(rows)
    return {"a": tuple(_row(row, stages) for row in rows), "b": _row(b, stages), "c": _row(c)}


_DORMAND_PRINCE_B = "35/384 0 500/1113 125/192 -2187/6784 11/84"
CLASSICAL = "rk4"

_SIMPLE = (
    Tableau("euler", 1, "Euler 1768", **triangle("0", ("",), "1")),
    Tableau("midpoint", 2, "Runge 1895", **triangle("0 1/2", ("", "1/2"), "0 1")),
    Tableau("heun", 2, "Heun 1900", **triangle("0 1", ("", "1"), "1/2 1/2")),
    Tableau("kutta3", 3, "Kutta 1901", **triangle("0 1/2 1", ("", "1/2", "-1 2"), "1/6 2/3 1/6")),
    Tableau("rk4", 4, "Kutta 1901", **triangle("0 1/2 1/2 1", ("", "1/2", "0 1/2", "0 0 1"), "1/6 1/3 1/3 1/6")),
    EmbeddedTableau(
        "dormand_prince54", 5,
        "Dormand and Prince 1980, table 2; dense output of MATLAB's ode45 (Shampine and Reichelt 1997)",
        **triangle("0 1/5 3/10 4/5 8/9 1 1", (
            "", "1/5", "3/40 9/40", "44/45 -56/15 32/9", "19372/6561 -25360/2187 64448/6561 -212/729",
            "9017/3168 -355/33 46732/5247 49/176 -5103/18656", _DORMAND_PRINCE_B), _DORMAND_PRINCE_B),
        embedded=_row("5179/57600 0 7571/16695 393/640 -92097/339200 187/2100 1/40"), embedded_order=4,
        dense=tuple(_row(row, 4) for row in (
            "1 -183/64 37/12 -145/128", "", "0 1500/371 -1000/159 1000/371", "0 -125/32 125/12 -375/64",
            "0 9477/3392 -729/106 25515/6784", "0 -11/7 11/3 -55/28", "0 3/2 -4 5/2")), dense_order=4),
)

# Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd ed. 1993, II.5 and II.6; the decimals are
# those of their program DOP853.
_DOP853_C = (
    "0 0.0526001519587677318785587544488 0.0789002279381515978178381316732 0.11835034190722739672675719751 "
    "0.28164965809277260327324280249 0.333333333333333333333333333333 0.25 0.307692307692307692307692307692 "
    "0.651282051282051282051282051282 0.6 0.857142857142857142857142857142 1 1 0.1 0.2 0.777777777777777777777777777778"
)
_DOP853_A = (
    "",
    "0:0.0526001519587677318785587544488",
    "0:0.0197250569845378994544595329183 1:0.0591751709536136983633785987549",
    "0:0.0295875854768068491816892993775 2:0.0887627564304205475450678981324",
    "0:0.241365134159266685502369798665 2:-0.884549479328286085344864962717 3:0.924834003261792003115737966543",
    "0:0.037037037037037037037037037037 3:0.170828608729473871279604482173 4:0.125467687566822425016691814123",
    "0:0.037109375 3:0.170252211019544039314978060272 4:0.0602165389804559606850219397283 5:-0.017578125",
    "0:0.0370920001185047927108779319836 3:0.170383925712239993810214054705 4:0.107262030446373284651809199168 "
    "5:-0.0153194377486244017527936158236 6:0.00827378916381402288758473766002",
    "0:0.624110958716075717114429577812 3:-3.36089262944694129406857109825 4:-0.868219346841726006818189891453 "
    "5:27.5920996994467083049415600797 6:20.1540675504778934086186788979 7:-43.4898841810699588477366255144",
    "0:0.477662536438264365890433908527 3:-2.48811461997166764192642586468 4:-0.590290826836842996371446475743 "
    "5:21.2300514481811942347288949897 6:15.2792336328824235832596922938 7:-33.2882109689848629194453265587 "
    "8:-0.0203312017085086261358222928593",
    "0:-0.93714243008598732571704021658 3:5.18637242884406370830023853209 4:1.09143734899672957818500254654 "
    "5:-8.14978701074692612513997267357 6:-18.5200656599969598641566180701 7:22.7394870993505042818970056734 "
    "8:2.49360555267965238987089396762 9:-3.0467644718982195003823669022",
    "0:2.27331014751653820792359768449 3:-10.5344954667372501984066689879 4:-2.00087205822486249909675718444 "
    "5:-17.9589318631187989172765950534 6:27.9488845294199600508499808837 7:-2.85899827713502369474065508674 "
    "8:-8.87285693353062954433549289258 9:12.3605671757943030647266201528 10:0.643392746015763530355970484046",
    "0:0.0542937341165687622380535766363 5:4.45031289275240888144113950566 6:1.89151789931450038304281599044 "
    "7:-5.8012039600105847814672114227 8:0.31116436695781989440891606237 9:-0.152160949662516078556178806805 "
    "10:0.201365400804030348374776537501 11:0.0447106157277725905176885569043",
    "0:0.0561675022830479523392909219681 6:0.253500210216624811088794765333 7:-0.246239037470802489917441475441 "
    "8:-0.124191423263816360469010140626 9:0.15329179827876569731206322685 10:0.00820105229563468988491666602057 "
    "11:0.00756789766054569976138603589584 12:-0.008298",
    "0:0.0318346481635021405060768473261 5:0.0283009096723667755288322961402 6:0.0535419883074385676223797384372 "
    "7:-0.0549237485713909884646569340306 10:-0.000108347328697249322858509316994"
    " 11:0.000382571090835658412954920192323 12:-0.000340465008687404560802977114492"
    " 13:0.141312443674632500278074618366",
    "0:-0.428896301583791923408573538692 5:-4.69762141536116384314449447206 6:7.68342119606259904184240953878 "
    "7:4.06898981839711007970213554331 8:0.356727187455281109270669543021 12:-0.00139902416515901462129418009734 "
    "13:2.9475147891527723389556272149 14:-9.15095847217987001081870187138",
)
_DOP853_B = _DOP853_A[12]
_DOP853_B3 = ("0:0.244094488188976377952755905512 8:0.733846688281611857341361741547"
              " 11:0.0220588235294117647058823529412")
_DOP853_E5 = (
    "0:0.01312004499419488073250102996 5:-1.225156446376204440720569753 6:-0.4957589496572501915214079952 "
    "7:1.664377182454986536961530415 8:-0.350328848749973681688648729 9:0.3341791187130174790297318841 "
    "10:0.08192320648511571246570742613 11:-0.02235530786388629525884427845"
)
_DOP853_D = (
    "0:-8.4289382761090128651353491142 5:0.5667149535193777696253178359 6:-3.0689499459498916912797304727 "
    "7:2.384667656512069828772814968 8:2.1170345824450282767155149946 9:-0.8713915837779729920678990749 "
    "10:2.240437430260788275854177165 11:0.6315787787694688181557024929 12:-0.0889903364513333108206981174 "
    "13:18.148505520854727256656404962 14:-9.1946323924783554000451984436 15:-4.4360363875948939664310572",
    "0:10.427508642579134603413151009 5:242.28349177525818288430175319 6:165.20045171727028198505394887 "
    "7:-374.54675472269020279518312152 8:-22.113666853125306036270938578 9:7.7334326684722638389603898808 "
    "10:-30.674084731089398182061213626 11:-9.3321305264302278729567221706 12:15.697238121770843886131091075 "
    "13:-31.139403219565177677282850411 14:-9.3529243588444783865713862664 15:35.81684148639408375246589854",
    "0:19.985053242002433820987653617 5:-387.03730874935176555105901742 6:-189.17813819516756882830838328 "
    "7:527.80815920542364900561016686 8:-11.573902539959630126141871134 9:6.8812326946963000169666922661 "
    "10:-1.000605096691083840318386098 11:0.7777137798053443209286926574 12:-2.7782057523535084065932004339 "
    "13:-60.196695231264120758267380846 14:84.320405506677161018159903784 15:11.99229113618278932803513003",
    "0:-25.693933462703749003312586129 5:-154.18974869023643374053993627 6:-231.52937917604549567536039109 "
    "7:357.6391179106141237828534991 8:93.405324183624310003907691704 9:-37.458323136451633156875139351 "
    "10:104.09964950896230045147246184 11:29.840293426660503123344363579 12:-43.533456590011143754432175058 "
    "13:96.3245539591882829483949506 14:-39.177261675615439165231486172 15:-149.72683625798562581422125276",
)
_DOP853_SOURCE = "Hairer, Norsett and Wanner 1993, II.5"
_DOP853_TOLERANCE = Fraction("1e-27")

DOP853 = Dop853Tableau(
    "dop853_dense", 8, _DOP853_SOURCE, **triangle(_DOP853_C, _DOP853_A, _DOP853_B), tolerance=_DOP853_TOLERANCE,
    error5=_row(_DOP853_E5, 16),
    error3=tuple(x - y for x, y in zip(_row(_DOP853_B, 16), _row(_DOP853_B3, 16), strict=True)),
    dense=tuple(_row(row, 16) for row in _DOP853_D))

TABLEAUX: dict[str, Tableau] = {tableau.name: tableau for tableau in _SIMPLE}
TABLEAUX["dop853"] = Tableau(
    "dop853", 8, _DOP853_SOURCE, tuple(row[:12] for row in DOP853.a[:12]), DOP853.b[:12], DOP853.c[:12],
    _DOP853_TOLERANCE)
DORMAND_PRINCE54 = _SIMPLE[-1]  # stage 7 is only for the error and the next step
TABLEAUX["dormand_prince5"] = Tableau(
    "dormand_prince5", 5, DORMAND_PRINCE54.source, tuple(row[:6] for row in DORMAND_PRINCE54.a[:6]),
    DORMAND_PRINCE54.b[:6], DORMAND_PRINCE54.c[:6])


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


def from_decimals(options: Mapping[str, Any]) -> bool:
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
