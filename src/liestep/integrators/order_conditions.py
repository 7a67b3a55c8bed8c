"""Order conditions of symmetric compositions and of symmetric splittings, solved to any number of digits.

A symmetric method of order 2 is exp(h X_1 + h^3 X_3 + h^5 X_5 + ...) with vector fields that do not commute, and the
substep w h has w^k X_k in place of X_k. In the free algebra of the letters 1, 3, 5, ... the word k_1 ... k_n has the
coefficient w^(k_1 + ... + k_n)/n! in one substep, and the sum over its cuts of products in a composition. The
composition has order p when its coefficients of all Lyndon words of grades below p are those of exp(h X_1); those of
even grade follow from the symmetry (Hairer, Lubich and Wanner 2006, III.3 and V.3).

A splitting exp(b_s B) exp(a_s A) ... exp(a_1 A) exp(b_0 B) has words of the letters A and B in the same way. Where A is
the flow of a kinetic energy that is quadratic in the momenta and B that of a potential, [B, [B, [B, A]]] = 0, and the
words of the Runge-Kutta-Nystroem conditions are those of the free algebra less this bracket and what follows from it:
`NYSTROEM` (Blanes and Moan 2002, section 2).
"""
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import factorial
from typing import Any

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
    """All ends of these beginnings."""
    return tuple(sorted({word[i:] for word in _begins(order) for i in range(len(word) + 1)}))


def whole(half: Sequence[Any]) -> list[Any]:
    """All weights from those before the middle one."""
    return [*half, 1 - 2*sum(half), *reversed(half)]


def residuals(half: Sequence[Any], order: int) -> list[Any]:
    """Coefficients that must vanish, in the order of `conditions`."""
    begins, parts = _begins(order), _parts(order)
    total: dict[Word, Any] = {word: 1 if word == () else 0 for word in begins}
    for weight in whole(half):
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


def refined(half: Sequence[Fraction], order: int, convert: Callable[[Fraction], Any]) -> list[Any]:
    """All weights in numbers made by `convert`, by Newton's method from the weights before the middle."""
    if not half:
        return [convert(Fraction(1))]
    return whole(solved(half, lambda values: residuals(values, order), convert))


def solved(start: Sequence[Fraction], gaps: Callable[[list[Any]], list[Any]],
           convert: Callable[[Fraction], Any]) -> list[Any]:
    """Numbers made by `convert` for which all `gaps` vanish, by Newton's method of least change; stops when the
    largest gap no longer falls.

    The slopes are those of the start: from n right digits they give n more in every iteration.
    """
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
