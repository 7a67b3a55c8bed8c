"""L0: order conditions of every tableau by rooted trees, of every composition by words in a free algebra."""
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as hairer

from liestep.integrators.tableaux import DOP853, PAIRS, TABLEAUX, EmbeddedTableau, Tableau, with_last_slope
from liestep.integrators.weights import SCHEMES, Scheme

EMBEDDED = TABLEAUX["dormand_prince54"]


@cache
def trees(order):
    """Rooted trees with `order` vertices; a tree is the sorted tuple of its subtrees."""
    return tuple(sorted(forests(order - 1, order - 1)))


@cache
def forests(vertices, largest):
    """Sorted tuples of trees with `vertices` vertices in all and at most `largest` in each."""
    if vertices == 0:
        return frozenset({()})
    found = set()
    for size in range(1, min(vertices, largest) + 1):
        for count in range(1, vertices//size + 1):
            for chosen in combinations_with_replacement(trees(size), count):
                found |= {tuple(sorted(chosen + rest)) for rest in forests(vertices - size*count, size - 1)}
    return frozenset(found)


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    return size(tree)*prod(map(density, tree))


def elementary_weights(tableau):
    """Function tree -> vector phi_i, in exact arithmetic; the order conditions are b.phi = 1/density."""
    @cache
    def phi(tree):
        children = [[sum(x*y for x, y in zip(row, phi(child), strict=True)) for row in tableau.a] for child in tree]
        return tuple(prod((child[i] for child in children), start=Fraction(1)) for i in range(len(tableau.b)))
    return phi


def defect(tableau, weights, order):
    """Largest |weights.phi(tree) - 1/density(tree)| over the trees of one order."""
    phi = elementary_weights(tableau)
    return max(abs(sum(w*x for w, x in zip(weights, phi(tree), strict=True)) - Fraction(1, density(tree)))
               for tree in trees(order))


def test_numbers_of_rooted_trees():
    assert [len(trees(order)) for order in range(1, 10)] == [1, 1, 2, 4, 9, 20, 48, 115, 286]


@pytest.mark.parametrize("name", [name for name in TABLEAUX if name != "dop853"])
def test_order_is_exactly_the_declared_one(name):
    tableau = TABLEAUX[name]
    assert all(defect(tableau, tableau.b, order) == 0 for order in range(1, tableau.order + 1))
    assert defect(tableau, tableau.b, tableau.order + 1) > Fraction(1, 10000)


def test_embedded_weights_have_exactly_their_order():
    assert all(defect(EMBEDDED, EMBEDDED.embedded, order) == 0 for order in range(1, EMBEDDED.embedded_order + 1))
    assert defect(EMBEDDED, EMBEDDED.embedded, EMBEDDED.embedded_order + 1) > Fraction(1, 10000)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_have_exactly_the_orders_that_they_declare(name):
    pair = PAIRS[name]
    for weights, order in ((pair.b, pair.order), (pair.embedded, pair.embedded_order)):
        assert all(defect(pair, weights, k) == 0 for k in range(1, order + 1))
        assert defect(pair, weights, order + 1) > Fraction(1, 10000)
    assert all(dense_defect(pair, pair.dense, k) == 0 for k in range(1, pair.dense_order + 1))
    assert pair.a[-1] == pair.b
    # slopes at both ends: those of the first and the last stage
    assert [row[0] for row in pair.dense] == [1, *[0]*(len(pair.b) - 1)]
    assert [sum((k + 1)*x for k, x in enumerate(row)) for row in pair.dense] == [*[0]*(len(pair.b) - 1), 1]


def test_a_pair_whose_last_stage_is_its_end_gets_no_other():
    again = with_last_slope(EMBEDDED, EMBEDDED.embedded, 4)
    assert (again.a, again.b, again.embedded) == (EMBEDDED.a, EMBEDDED.b, EMBEDDED.embedded)
    assert len(PAIRS["heun_euler21"].b) == 3


def dense_defect(tableau, dense, order):
    """Largest coefficient of sum_i dense_i(s) phi_i(tree) - s^order/density over the trees of one order."""
    phi = elementary_weights(tableau)
    worst = Fraction(0)
    for tree in trees(order):
        polynomial = [sum(row[power]*x for row, x in zip(dense, phi(tree), strict=True))
                      for power in range(len(dense[0]))]
        polynomial[order - 1] -= Fraction(1, density(tree))
        worst = max(worst, *map(abs, polynomial))
    return worst


def test_dense_output_of_ode45():
    assert all(dense_defect(EMBEDDED, EMBEDDED.dense, order) == 0 for order in range(1, EMBEDDED.dense_order + 1))
    assert EMBEDDED.dense_order == 4
    # once continuously differentiable: the slopes at both ends are those of the first and the last stage
    assert [row[0] for row in EMBEDDED.dense] == [1, 0, 0, 0, 0, 0, 0]
    assert [sum((k + 1)*x for k, x in enumerate(row)) for row in EMBEDDED.dense] == [0, 0, 0, 0, 0, 0, 1]
    assert EMBEDDED.a[-1] == EMBEDDED.b


LITERALS = Fraction("1e-24")  # 30-digit decimals, coefficients up to 43, products of up to eight of them


def test_dop853_has_order_8():
    tableau = TABLEAUX["dop853"]
    assert max(defect(tableau, tableau.b, order) for order in range(1, 9)) < LITERALS
    assert defect(tableau, tableau.b, 9) > Fraction(1, 10**6)


@pytest.mark.parametrize(("row", "order"), [("error5", 5), ("error3", 3)])
def test_dop853_error_weights(row, order):
    weights = [b - e for b, e in zip(DOP853.b, getattr(DOP853, row), strict=True)]
    assert max(defect(DOP853, weights, k) for k in range(1, order + 1)) < LITERALS
    assert defect(DOP853, weights, order + 1) > Fraction(1, 10**4)


def dop853_dense():
    """Dense output of DOP853 as polynomials in s, one per stage: rows of coefficients of s, s^2, ..., s^7."""
    unit = [[Fraction(i == j) for i in range(16)] for j in range(16)]
    change = DOP853.b
    first = [x - y for x, y in zip(unit[0], change, strict=True)]
    second = [2*y - x - z for x, y, z in zip(unit[0], change, unit[12], strict=True)]
    polynomials = [[] for _ in range(16)]
    for r, f in enumerate(reversed([change, first, second, *DOP853.dense])):
        for i, coefficients in enumerate(polynomials):
            total = [f[i] + (coefficients[0] if coefficients else 0), *coefficients[1:]]
            shifted = [Fraction(0), *total]
            if r % 2:  # times 1 - s
                shifted = [x - y for x, y in zip([*total, Fraction(0)], shifted, strict=True)]
            polynomials[i] = shifted
    return [coefficients[1:] for coefficients in polynomials]


def test_dop853_dense_output_has_order_7():
    dense = dop853_dense()
    assert {len(row) for row in dense} == {7}
    assert max(dense_defect(DOP853, dense, order) for order in range(1, 8)) < LITERALS


def test_dop853_agrees_bit_for_bit_with_the_numbers_in_scipy():
    a, b, c = DOP853.arrays()
    assert np.array_equal(a, hairer.A)
    assert np.array_equal(b[:12], hairer.B)
    assert not b[12:].any()
    assert np.array_equal(c, hairer.C)
    *_, e3, e5, d = DOP853.parts()
    assert np.array_equal(e5[:13], hairer.E5)
    assert np.allclose(e3[:13], hairer.E3, rtol=0, atol=2e-16)  # there the difference is taken after rounding
    assert np.array_equal(d, hairer.D)


def test_arrays_are_contiguous_float64_and_the_tableau_is_frozen():
    tableau = TABLEAUX["dormand_prince54"]
    arrays = (*tableau.arrays(), tableau.error_weights(), tableau.dense_rows())
    assert [x.shape for x in arrays] == [(7, 7), (7,), (7,), (7,), (7, 4)]
    assert all(x.dtype == np.float64 and x.flags.c_contiguous for x in arrays)
    assert np.array_equal(arrays[3], [71/57600, 0, -71/16695, 71/1920, -17253/339200, 22/525, -1/40])
    with pytest.raises(AttributeError):
        tableau.order = 6


half, one, zero = Fraction(1, 2), Fraction(1), Fraction(0)


@pytest.mark.parametrize(("a", "b", "c", "complaint"), [
    (((zero,), (half,)), (zero, one), (zero, half), "shapes"),
    (((zero, zero), (half, zero)), (zero, one), (zero,), "shapes"),
    (((zero, zero), (zero, half)), (zero, one), (zero, half), "not explicit"),
    (((zero, zero), (half, zero)), (zero, one), (zero, one), "row sums"),
    (((zero, zero), (half, zero)), (half, one), (zero, half), "weights"),
])
def test_wrong_tableaux_are_refused(a, b, c, complaint):
    with pytest.raises(ValueError, match=complaint):
        Tableau("wrong", 2, "none", a, b, c)


@pytest.mark.parametrize(("embedded", "dense", "complaint"), [
    ((one,), ((one,),), "shapes"), ((one, one), ((zero,), (one,)), "embedded weights"),
    ((one, zero), ((one,), (one,)), "dense output"),
])
def test_wrong_embedded_tableaux_are_refused(embedded, dense, complaint):
    with pytest.raises(ValueError, match=complaint):
        EmbeddedTableau("wrong", 2, "none", ((zero, zero), (half, zero)), (zero, one), (zero, half), embedded=embedded,
                        dense=dense)


def words(weight):
    """Words in the letters 1, 3, 5, 7, 9 of total weight up to `weight`."""
    found = [()]
    for word in found:
        found += [(*word, letter) for letter in range(1, weight - sum(word) + 1, 2)]
    return found


def composed(weights, order):
    """Coefficients of the words in the composition of exp(c A_1 + c^3 A_3 + c^5 A_5 + ...) over c in weights.

    Any symmetric method of order 2 has this form with non-commuting A_k h^k, so the composition has order p if and only
    if the words of weight <= p have the coefficients of exp(A_1): 1/m! for A_1^m, 0 for all others.
    """
    alphabet = words(order)
    product = {word: Fraction(not word) for word in alphabet}
    for c in map(Fraction, weights):
        factor = {word: c**sum(word)/factorial(len(word)) for word in alphabet}
        product = {word: sum(factor[word[:k]]*product[word[k:]] for k in range(len(word) + 1)) for word in alphabet}
    return product


@pytest.mark.parametrize("name", SCHEMES)
def test_composition_has_exactly_its_order(name):
    scheme = SCHEMES[name]
    product = composed(scheme.weights, scheme.order + 1)
    errors = {word: abs(float(x - (Fraction(1, factorial(len(word))) if set(word) <= {1} else 0)))
              for word, x in product.items()}
    assert max(x for word, x in errors.items() if sum(word) <= scheme.order) < 1e-13  # only the rounding of the weights
    assert max(x for word, x in errors.items() if sum(word) == scheme.order + 1) > 1e-4


@pytest.mark.parametrize(("name", "stages"),
                         [("one", 1), ("y4", 3), ("s4", 5), ("y6", 7), ("y6j", 9), ("kl6", 9), ("kl8", 17)])
def test_composition_weights_are_palindromes_that_add_up_to_one(name, stages):
    weights = SCHEMES[name].weights
    assert len(weights) == stages
    assert weights == weights[::-1]
    assert abs(sum(map(Fraction, weights)) - 1) <= Fraction(2)**-52
    middle = weights[stages//2]
    for k in range(3, SCHEMES[name].order, 2):
        # each weight is rounded once, the middle one also takes up the rounding of the others
        bound = k*2**-53*(sum(abs(c)**k for c in weights) + abs(middle)**(k - 1)*sum(map(abs, weights)))
        assert abs(sum(Fraction(c)**k for c in weights)) < bound


@pytest.mark.parametrize(("weights", "complaint"), [((0.5, 0.25, 0.25), "palindrome"), ((0.5, 0.1, 0.5), "add up")])
def test_wrong_compositions_are_refused(weights, complaint):
    with pytest.raises(ValueError, match=complaint):
        Scheme("wrong", 2, "none", weights)
