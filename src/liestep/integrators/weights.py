"""Weights c_1 ... c_s of symmetric compositions Phi_(c_s h) o ... o Phi_(c_1 h) of a symmetric
one-step method of order 2, and drifts and kicks of symmetric splittings of T + V.

They are algebraic numbers, known to 15 digits or more; with numbers of many digits they are refined on their order
conditions.

A symmetric method of order 2 is exp(h X_1 + h^3 X_3 + h^5 X_5 + ...) with vector fields that do not commute, and the
substep w h has w^k X_k in place of X_k. In the free algebra of the letters 1, 3, 5, ... the word k_1 ... k_n has the
coefficient w^(k_1 + ... + k_n)/n! in one substep, and the sum over its cuts of products in a composition. The
composition has order p when its coefficients of all Lyndon words of grades below p are those of exp(h X_1); those of
even grade follow from the symmetry (Hairer, Lubich and Wanner 2006, III.3 and V.3).

A splitting exp(b_s B) exp(a_s A) ... exp(a_1 A) exp(b_0 B) has words of the letters A and B in the same way. Where A is
the flow of a kinetic energy that is quadratic in the momenta and B that of a potential, [B, [B, [B, A]]] = 0, and the
words of the Runge-Kutta-Nystroem conditions are those of the free algebra less this bracket and what follows from it:
`NYSTROEM` (Blanes and Moan 2002, section 2)."""
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from liestep.compile.precision import Convert, chosen_type, coefficients

Word = tuple[int, ...]
MOST_ITERATIONS = 20
DIFFERENCE = Fraction(1, 10**30)  # step of the central differences of the slopes


@cache
def words(order: int) -> tuple[Word, ...]:
    """Words of the odd letters with grades below `order`, the empty one first."""
    letters = range(1, order, 2)
    return tuple(word for length in range(order) for word in product(letters, repeat=length) if sum(word) < order)


@cache
def conditions(order: int) -> tuple[Word, ...]:
    """Lyndon words of odd grade below `order`, without the word 1, which the middle weight sees to."""
    return tuple(word for word in words(order) if sum(word) % 2 and word != (1,)
                 and all(word < word[i:] for i in range(1, len(word))))


@cache
def _begins(order: int) -> tuple[Word, ...]:
    """All beginnings of the words of `conditions`: what their coefficients follow from."""
    return tuple(sorted({word[:i] for word in conditions(order) for i in range(len(word) + 1)}))


@cache
def _parts(order: int) -> tuple[Word, ...]:
    return tuple(sorted({word[i:] for word in _begins(order) for i in range(len(word) + 1)}))


def residuals(half: Sequence[Any], order: int) -> list[Any]:
    """Coefficients that must vanish, in the order of `conditions`."""
    begins, parts = _begins(order), _parts(order)
    total: dict[Word, Any] = {word: 1 if word == () else 0 for word in begins}
    for weight in palindrome(half, 2*len(half) + 1):
        powers = [1]
        for _ in range(order):
            powers.append(powers[-1]*weight)
        one = {word: powers[sum(word)]/factorial(len(word)) for word in parts}
        total = {word: sum(total[word[:i]]*one[word[i:]] for i in range(len(word) + 1)) for word in begins}
    return [total[word] for word in conditions(order)]


# combinations of words (factor, word) whose coefficients must be those of exp(A + B), for each order; at five letters
# with three B, the combination is the one to which [A, [B, [B, [B, A]]]] does not contribute
_GRADE_3 = (((1, "AAB"),), ((1, "ABB"),))
NYSTROEM: dict[int, tuple[tuple[tuple[int, str], ...], ...]] = {
    4: _GRADE_3,
    6: (*_GRADE_3, ((1, "AAAAB"),), ((1, "AAABB"),), ((1, "AABAB"),), ((3, "AABBB"), (1, "ABABB")))}


def palindrome(half: Sequence[Any], count: int) -> list[Any]:
    """The numbers of a palindrome of length `count` that add up to 1, from those before the middle one, or before the
    two equal ones in the middle."""
    total = sum(half)
    if count % 2:
        return [*half, 1 - 2*total, *reversed(half)]
    last = (1 - 2*total)/2
    return [*half, last, last, *reversed(half)]


def splitting_residuals(drifts: Sequence[Any], kicks: Sequence[Any], order: int) -> list[Any]:
    """What must vanish for a symmetric splitting of drifts (s,) and kicks (s + 1,): one number for each condition of
    `NYSTROEM`. That drifts and kicks add up to 1 is not among them."""
    chosen = NYSTROEM[order]
    begins = sorted({word[:i] for condition in chosen for _, word in condition for i in range(len(word) + 1)})
    total: dict[str, Any] = {word: int(word == "") for word in begins}
    for place in range(len(drifts) + len(kicks)):
        letter, x = ("A", drifts[place//2]) if place % 2 else ("B", kicks[place//2])
        terms: list[Any] = [1]
        for k in range(1, order):
            terms.append(terms[-1]*x/k)
        total = {word: sum(total[word[:len(word) - i]]*terms[i]
                           for i in range(len(word) - len(word.rstrip(letter)) + 1)) for word in begins}
    return [sum(factor*(total[word]*factorial(len(word)) - 1)
                for factor, word in condition) for condition in chosen]


@cache
def refined(half: tuple[Fraction, ...], order: int, convert: Callable[[Fraction], Any]) -> list[Any]:
    """All weights in numbers made by `convert`, by Newton's method from the weights before the middle."""
    if not half:
        return [convert(Fraction(1))]
    return palindrome(solved(half, lambda values: residuals(values, order), convert), 2*len(half) + 1)


def solved(start: Sequence[Fraction], gaps: Callable[[list[Any]], list[Any]],
           convert: Callable[[Fraction], Any]) -> list[Any]:
    """Numbers made by `convert` for which all `gaps` vanish, by Newton's method of least change; stops when the largest
    gap no longer falls. The slopes are those of the start: from n right digits they give n more in every iteration."""
    best = [convert(x) for x in start]
    update = _least_change(best, gaps, convert(DIFFERENCE))
    now = best
    smallest = None
    for _ in range(MOST_ITERATIONS):
        found = gaps(now)
        size = max(map(abs, found))
        if smallest is not None and not size < smallest:
            break
        best, smallest = now, size
        now = [x - sum(u*r for u, r in zip(row, found, strict=True)) for x, row in zip(now, update, strict=True)]
    return best


def _least_change(start: list[Any], gaps: Callable[[list[Any]], list[Any]], step: Any) -> list[list[Any]]:
    """J^T (J J^T)^-1 of the slopes J of the gaps: the smallest change of the numbers for a change of gaps."""
    slopes = []  # slopes of all gaps along each number
    for j in range(len(start)):
        ends = [gaps([x + sign*step if i == j else x for i, x in enumerate(start)]) for sign in (1, -1)]
        slopes.append([(a - b)/(2*step) for a, b in zip(*ends, strict=True)])
    count = len(slopes[0])
    gram = [[sum(s[i]*s[k] for s in slopes) for k in range(count)] + [int(i == k) for k in range(count)]
            for i in range(count)]
    for i in range(count):
        pivot = max(range(i, count), key=lambda r: abs(gram[r][i]))
        gram[i], gram[pivot] = gram[pivot], gram[i]
        gram[i] = [x/gram[i][i] for x in gram[i]]
        for r in range(count):
            if r != i:
                gram[r] = [x - gram[r][i]*y for x, y in zip(gram[r], gram[i], strict=True)]
    return [[sum(s[i]*gram[i][count + k] for i in range(count)) for k in range(count)] for s in slopes]


@dataclass(frozen=True)
class Scheme:
    """Palindromic weights that raise a symmetric method of order 2 to `order`. Raises ValueError: not a palindrome, or
    the substeps do not add up to one step within 1 ulp."""

    name: str
    order: int
    source: str
    weights: tuple[float, ...]
    decimals: tuple[Fraction, ...] = ()  # the weights before the middle one, in all digits that are known

    def __post_init__(self) -> None:
        if self.weights != self.weights[::-1]:
            raise ValueError(f"composition {self.name}: the weights are not a palindrome")
        if abs(sum(map(Fraction, self.weights), Fraction(0)) - 1) > Fraction(2)**-52:
            raise ValueError(f"composition {self.name}: the weights do not add up to 1")


def _scheme(name: str, order: int, source: str, half: list[Decimal]) -> Scheme:
    """Scheme from the weights before the middle one, which makes the rounded weights add up to
    1 as closely as possible."""
    left = tuple(float(x) for x in half)
    middle = float(1 - 2*sum(map(Fraction, left)))
    return Scheme(name, order, source, (*left, middle, *left[::-1]), tuple(map(Fraction, half)))


def _decimals(text: str) -> list[Decimal]:
    return [Decimal(item) for item in text.split()]


def _jump(root: int, count: int = 2) -> Decimal:
    """1/(count - count^(1/root)), to 40 digits: the outer weight of Yoshida's (count 2) and Suzuki's
    (count 4) constructions."""
    with localcontext(prec=40):
        return 1/(count - Decimal(count)**(Decimal(1)/root))


def _triple_jump_of_y4() -> list[Decimal]:
    with localcontext(prec=40):
        inner, outer = _jump(3), _jump(5)
        y4 = [inner, 1 - 2*inner, inner]
        return [outer*x for x in y4] + [(1 - 2*outer)*inner]


_YOSHIDA = "Yoshida 1990, Phys. Lett. A 150, 262"
_KAHAN_LI = "Kahan and Li 1997, Math. Comp. 66, 1089"

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (
    Scheme("one", 2, "the method itself", (1.0,)),
    _scheme("y4", 4, f"{_YOSHIDA}, triple jump", [_jump(3)]),
    _scheme("s4", 4, "Suzuki 1990, Phys. Lett. A 146, 319", [_jump(3, 4)]*2),
    _scheme("y6", 6, f"{_YOSHIDA}, solution A of order 6", _decimals(
        "0.78451361047755726382 0.23557321335935813368 -1.17767998417887100695")),
    _scheme("y6j", 6, f"{_YOSHIDA}, triple jump of y4", _triple_jump_of_y4()),
    _scheme("kl6", 6, f"{_KAHAN_LI}, 9 stages", _decimals(
        "0.39216144400731413927925056 0.33259913678935943859974864 -0.70624617255763935980996482"
        " 0.08221359629355080023149045")),
    _scheme("kl8", 8, f"{_KAHAN_LI}, 17 stages", _decimals(
        "0.13020248308889008087881763 0.56116298177510838456196441 -0.38947496264484728640807860"
        " 0.15884190655515560089621075 -0.39590389413323757733623154 0.18453964097831570709183254"
        " 0.25837438768632204729397911 0.29501172360931029887096624")),
)}

WEIGHTS: dict[str, tuple[float, ...]] = {name: scheme.weights for name, scheme in SCHEMES.items()}


def composition_weights(name: str) -> np.ndarray:
    """Weights of a scheme (s,) in the number type of the run."""
    convert = chosen_type()
    scheme = SCHEMES[name]
    return np.array(scheme.weights if convert is None else refined(scheme.decimals, scheme.order, convert))


@dataclass(frozen=True)
class Nystroem:
    """A symmetric splitting into `order` for kinetic energies that are quadratic in the momenta: exact flows of V
    (kicks, one more than drifts) and T (drifts) in turns, a kick first. The halves are printed with 15 digits and
    polished to 40 on the order conditions."""

    name: str
    order: int
    source: str
    count: int                     # of drifts
    drifts: tuple[Fraction, ...]   # before the middle
    kicks: tuple[Fraction, ...]    # before the middle, without the outer ones of `outer_kick` False
    outer_kick: bool = True        # False: the first and the last kick are 0, a step begins and ends with a drift

    def spread(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """All drifts (s,) and kicks (s + 1,) from the numbers before the middle, drifts first."""
        split = len(self.drifts)
        drifts = palindrome(values[:split], self.count)
        if self.outer_kick:
            return drifts, palindrome(values[split:], self.count + 1)
        none = 0*values[0]  # in the type of the numbers
        return drifts, [none, *palindrome(values[split:], self.count - 1), none]

    def gaps(self, values: Sequence[Any]) -> list[Any]:
        """What the order conditions leave, from the numbers before the middle."""
        return splitting_residuals(*self.spread(values), self.order)

    @cache  # noqa: B019  there are few, and they stay
    def polished(self, convert: Convert) -> tuple[list[Any], list[Any]]:
        """Drifts and kicks as numbers made by `convert`."""
        return self.spread(solved((*self.drifts, *self.kicks), self.gaps, convert))


NYSTROEM_SCHEMES: dict[str, Nystroem] = {name: Nystroem(name, **entry | {
    part: tuple(map(Fraction, entry[part].split())) for part in ("drifts", "kicks")})
    for name, entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()}

# compositions as splittings: kick, drift, kick is the symmetric step of order 2
COMPOSED_SPLITTINGS = {"strang": "one", "y4": "y4", "s4": "s4", "kl6": "kl6", "kl8": "kl8"}
SPLITTING_ORDERS = ({name: SCHEMES[scheme].order for name, scheme in COMPOSED_SPLITTINGS.items()}
                    | {name: scheme.order for name, scheme in NYSTROEM_SCHEMES.items()})


def drifts_and_kicks(name: str) -> tuple[np.ndarray, ...]:
    """Drifts (s,) and kicks (s + 1,) of a splitting in the number type of the run."""
    if name in NYSTROEM_SCHEMES:
        scheme, convert = NYSTROEM_SCHEMES[name], chosen_type()
        if convert is None:
            return tuple(map(coefficients, scheme.spread((*scheme.drifts, *scheme.kicks))))
        return tuple(map(np.array, scheme.polished(convert)))
    weights = composition_weights(COMPOSED_SPLITTINGS[name])
    kicks = [weights[0], *(a + b for a, b in pairwise(weights)), weights[-1]]
    return weights, 0.5*np.array(kicks, weights.dtype)
