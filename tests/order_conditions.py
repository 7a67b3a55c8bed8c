"""What weights of compositions, and drifts and kicks of splittings, solve.

A symmetric method of order 2 is exp(h X_1 + h^3 X_3 + h^5 X_5 + ...) with vector fields that do not commute, and the
substep w h has w^k X_k in place of X_k. In the free algebra of the letters 1, 3, 5, ... the word k_1 ... k_n has the
coefficient w^(k_1 + ... + k_n)/n! in one substep, and the sum over its cuts of products in a composition. The
composition has order p when its coefficients of all Lyndon words of grades below p are those of exp(h X_1); those of
even grade follow from the symmetry (Hairer, Lubich and Wanner 2006, III.3 and V.3).

A splitting exp(b_s B) exp(a_s A) ... exp(a_1 A) exp(b_0 B) has words of the letters A and B in the same way. Where A is
the flow of a kinetic energy that is quadratic in the momenta and B that of a potential, [B, [B, [B, A]]] = 0, and the
words of the Runge-Kutta-Nystroem conditions are those of the free algebra less this bracket and what follows from it:
`NYSTROEM` (Blanes and Moan 2002, section 2)."""
from functools import cache
from itertools import product
from math import factorial

from liestep.integrators.weights import palindrome


@cache
def words(order):
    """Words of the odd letters with grades below `order`, the empty one first."""
    letters = range(1, order, 2)
    return tuple(word for length in range(order) for word in product(letters, repeat=length) if sum(word) < order)


@cache
def conditions(order):
    """Lyndon words of odd grade below `order`, without the word 1, which the middle weight sees to."""
    return tuple(word for word in words(order) if sum(word) % 2 and word != (1,)
                 and all(word < word[i:] for i in range(1, len(word))))


@cache
def _begins(order):
    """All beginnings of the words of `conditions`: what their coefficients follow from."""
    return tuple(sorted({word[:i] for word in conditions(order) for i in range(len(word) + 1)}))


@cache
def _parts(order):
    return tuple(sorted({word[i:] for word in _begins(order) for i in range(len(word) + 1)}))


def residuals(half, order):
    """Coefficients that must vanish, in the order of `conditions`."""
    begins, parts = _begins(order), _parts(order)
    total = {word: 1 if word == () else 0 for word in begins}
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
NYSTROEM = {
    4: _GRADE_3,
    6: (*_GRADE_3, ((1, "AAAAB"),), ((1, "AAABB"),), ((1, "AABAB"),), ((3, "AABBB"), (1, "ABABB")))}


def splitting_residuals(drifts, kicks, order):
    """What must vanish for a symmetric splitting of drifts (s,) and kicks (s + 1,): one number for each condition of
    `NYSTROEM`. That drifts and kicks add up to 1 is not among them."""
    chosen = NYSTROEM[order]
    begins = sorted({word[:i] for condition in chosen for _, word in condition for i in range(len(word) + 1)})
    total = {word: int(word == "") for word in begins}
    for place in range(len(drifts) + len(kicks)):
        letter, x = ("A", drifts[place//2]) if place % 2 else ("B", kicks[place//2])
        terms = [1]
        for k in range(1, order):
            terms.append(terms[-1]*x/k)
        total = {word: sum(total[word[:len(word) - i]]*terms[i]
                           for i in range(len(word) - len(word.rstrip(letter)) + 1)) for word in begins}
    return [sum(factor*(total[word]*factorial(len(word)) - 1)
                for factor, word in condition) for condition in chosen]
