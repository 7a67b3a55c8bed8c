"""L1 for expressions and jets: coefficients against mpmath's series, in plain numbers and as machine code; guards,
branches, and mutants of both."""
import ctypes
import math

import mpmath
import numpy as np
import pytest

from liestep.compile.straight import straight
from liestep.compile.straight.jets import PLAIN, Jet, merged, taylor_coefficients
from liestep.compile.straight.symbols import SYMBOLIC, Comparison, Untraceable, expressions, reachable

ORDER, TIME = 13, 0.375
sqrt, sin, cos, atan2, below = SYMBOLIC.sqrt, SYMBOLIC.sin, SYMBOLIC.cos, SYMBOLIC.atan2, SYMBOLIC.below
exp, log = SYMBOLIC.exp, SYMBOLIC.log
# a function of time by the package's operations, and the same by mpmath's
OPERATIONS = {
    "add": (lambda t: t*t + t, lambda t: t*t + t), "shift": (lambda t: 2.5 + t, lambda t: 2.5 + t),
    "subtract": (lambda t: sin(t) - t*t, lambda t: mpmath.sin(t) - t*t),
    "number less": (lambda t: 1.5 - sin(t), lambda t: 1.5 - mpmath.sin(t)),
    "scale": (lambda t: 0.3*sin(t), lambda t: mpmath.mpf(0.3)*mpmath.sin(t)),
    "negative": (lambda t: -(cos(t)), lambda t: -mpmath.cos(t)),
    "product": (lambda t: sin(t)*cos(2.0*t), lambda t: mpmath.sin(t)*mpmath.cos(2*t)),
    "square": (lambda t: sin(t)*sin(t), lambda t: mpmath.sin(t)**2),
    "merged": (lambda t: (sin(t)*cos(2.0*t) - t*t) - (cos(t)*cos(t) - 0.3*sin(3.0*t)),
               lambda t: mpmath.sin(t)*mpmath.cos(2*t) - t*t - mpmath.cos(t)**2 + mpmath.mpf(0.3)*mpmath.sin(3*t)),
    "power": (lambda t: (1.0 + sin(t))**5, lambda t: (1 + mpmath.sin(t))**5),
    "inverse": (lambda t: 1.0/(2.0 + sin(t)), lambda t: 1/(2 + mpmath.sin(t))),
    "quotient": (lambda t: cos(t)/(2.0 + sin(t)), lambda t: mpmath.cos(t)/(2 + mpmath.sin(t))),
    "quotient of a later one": (lambda t: sin(cos(t))/(2.0 + t), lambda t: mpmath.sin(mpmath.cos(t))/(2 + t)),
    "by a number": (lambda t: sin(t)/3.0, lambda t: mpmath.sin(t)/3),
    "root": (lambda t: sqrt(2.0 + sin(t)), lambda t: mpmath.sqrt(2 + mpmath.sin(t))),
    "sine": (lambda t: sin(t*t + 0.5), lambda t: mpmath.sin(t*t + mpmath.mpf(0.5))),
    "cosine": (lambda t: cos(t*t + 0.5), lambda t: mpmath.cos(t*t + mpmath.mpf(0.5))),
    "angle": (lambda t: atan2(sin(t) + 0.1, t - 2.0), lambda t: mpmath.atan((mpmath.sin(t) + mpmath.mpf(0.1))/(t - 2))
              + mpmath.pi),
    "angle with a constant": (lambda t: atan2(sin(t), 2.0), lambda t: mpmath.atan(mpmath.sin(t)/2)),
    "exponential": (lambda t: exp(sin(t) - t), lambda t: mpmath.exp(mpmath.sin(t) - t)),
    "logarithm": (lambda t: log(1.5 + sin(t)), lambda t: mpmath.log(mpmath.mpf(1.5) + mpmath.sin(t))),
}


def machine(found, order, width=1):
    """The same as `taylor_coefficients` by machine code: function of y and t -> (holds, coefficients)."""
    code = straight.jet_code(found, order, width=width)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p]*3)(straight.loaded(code.text).addresses["jet"])

    def run(start):
        y, table = np.array(start[:-1], dtype=float), code.constants.copy()
        out = np.full((order + 1)*len(y) + 4, np.nan)
        table[0] = start[-1]
        holds = call(y.ctypes.data, table.ctypes.data, out.ctypes.data)
        rows = out[:-4].reshape(order + 1, len(y))
        assert np.array_equal(out[-4:], [np.abs(rows[k]).max() for k in (0, 1, order - 1, order)]) or not holds
        return holds, rows

    return run


def field(function, count):
    return expressions(lambda symbols: function(*symbols), count + 1)


@pytest.mark.parametrize("name", OPERATIONS)
def test_coefficients_are_those_of_mpmath(name):
    own, exact = OPERATIONS[name]
    found = field(lambda y, t: (True, [own(t)]), 1)
    with mpmath.workdps(60):
        series = mpmath.taylor(exact, mpmath.mpf(TIME), ORDER)
        expected = [0.25] + [float(series[k]/(k + 1)) for k in range(ORDER)]
    plain = [line[0] for line in taylor_coefficients(found, [0.25, TIME], ORDER)]
    holds, compiled = machine(found, ORDER)([0.25, TIME])
    assert holds == 1
    for coefficients in (plain, compiled[:, 0]):
        assert np.abs(np.subtract(coefficients, expected)/np.maximum(1.0, np.abs(expected))).max() <= 1e-14


def test_solutions_feed_back():
    """1/(1 - t), and a pendulum against mpmath's own Taylor integrator."""
    found = field(lambda y, t: (True, [y*y]), 1)
    assert np.allclose(machine(found, 15)([1.0, 0.0])[1], 1.0, rtol=1e-14, atol=0)
    pendulum = field(lambda a, w, t: (True, [w, -2.0*sin(a)]), 2)
    with mpmath.workdps(30):
        flow = mpmath.odefun(lambda t, y: [y[1], -2*mpmath.sin(y[0])], 0, [mpmath.mpf(1), mpmath.mpf(0.5)])
        exact = [float(x) for x in flow(mpmath.mpf(1)/16)]
    rows = machine(pendulum, 15)([1.0, 0.5, 0.0])[1]
    assert np.abs(sum(rows[k]/16.0**k for k in range(16)) - exact).max() <= 4e-16


def test_polynomial_is_that_of_the_coefficients():
    found = field(lambda a, w, t: (True, [w, -2.0*sin(a)]), 2)
    code = straight.jet_code(found, 7)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p]*3)(straight.loaded(code.text).addresses["sum"])
    c, h, y = np.random.default_rng(1).normal(size=(8, 2)), np.array([0.3]), np.zeros(2)
    assert call(c.ctypes.data, h.ctypes.data, y.ctypes.data) == 1
    assert np.abs(y - sum(c[k]*0.3**k for k in range(8))).max() <= 1e-15


def test_equal_operations_are_one_and_zeros_are_left_out():
    found = field(lambda a, b, t: (True, [a*b + 0.0*t, b*a + 0.0]), 2)
    assert found.outputs[0] is found.outputs[1]
    assert len(found.nodes) == 4
    still = field(lambda a, b, t: (True, [0.0, a*a]), 2)   # a stays where it is: b grows linearly
    assert [line[1] for line in taylor_coefficients(still, [3.0, 1.0, 0.0], 4)] == [1.0, 9.0, 0, 0, 0]
    assert straight.jet_code(still, 9).operations == straight.jet_code(still, 3).operations


def test_other_parameters_have_the_same_code():
    codes = [straight.jet_code(field(lambda y, t, p=p: (True, [p*sin(y) + 0.1*p]), 1), 8) for p in (0.7, 0.9)]
    assert codes[0].text == codes[1].text
    assert not np.array_equal(codes[0].constants, codes[1].constants)


def test_products_are_fused_always_and_nothing_is_reordered():
    text = straight.jet_code(field(lambda y, t: (True, [y*sin(y)]), 1), 8).text
    assert "@llvm.fma.f64" in text
    assert not any(word in text for word in ("fast", "reassoc", "contract"))


def pivot(y, t):
    """As a factorisation: two guards, the second of which is asked for twice."""
    if not y > 0.0:
        return False, [0.0]
    rest = 2.0 - y
    if below(rest, 0.5) or below(rest, 0.5):
        return False, [0.0]
    return True, [1.0/y + sqrt(rest)]


def test_guards_are_checked_where_the_jet_is_evaluated():
    found = field(pivot, 1)
    assert [(guard.op, guard.wanted) for guard in found.guards] == [(">", True), ("<", False)]
    run = machine(found, 4)
    # a NaN passes the same guards as in loops: it fails "y > 0"
    assert [run([y, 0.0])[0] for y in (1.0, 1.499, 1.501, 1e-3, 0.0, -1.0, math.nan)] == [1, 1, 0, 1, 0, 0, 0]
    unguarded = machine(found._replace(guards=[]), 4)
    assert [unguarded([y, 0.0])[0] for y in (1.0, 1.501)] == [1, 1]


def late(y, t):
    """The other side of the first branch ends with False after a second one."""
    singular = below(y, 0.1)
    if t > 1e9:
        return False, [0.0]
    return not singular, [1.0/y]


def test_a_side_that_fails_later_is_a_guard():
    found = field(late, 1)
    assert len(found.guards) == 2
    assert [machine(found, 3)([y, 0.0])[0] for y in (0.2, 0.05)] == [1, 0]


def test_branches_on_values_are_refused_with_their_line():
    def branch(y, t):
        if y > 1.0:
            return True, [y]
        return True, [y*y]

    def largest(y, t):
        return True, [max(y, 2.0*t)]

    with pytest.raises(Untraceable, match=r"branches on a value \(test_jets.py, line \d+: if y > 1.0:\)"):
        field(branch, 1)
    with pytest.raises(Untraceable, match=r"line \d+: return True, \[max"):
        field(largest, 1)
    with pytest.raises(Untraceable, match="evaluated nowhere"):
        field(lambda y, t: (y > t and y < t and y > 2.0*t and False, [y]), 1)


@pytest.mark.parametrize(("function", "complaint"), [
    (lambda y, t: (True, [abs(y)]), r"abs\(\)"), (lambda y, t: (True, [math.exp(y)]), "float"),
    (lambda y, t: (True, [y**0.5]), "power 0.5"), (lambda y, t: (True, [y**-1]), "power -1"),
    (lambda y, t: (True, [sum((y + i)*(t + i*i) for i in range(3000))]), "more than 4000 operations")])
def test_what_leaves_arithmetic_is_refused(function, complaint):
    with pytest.raises(Untraceable, match=complaint):
        field(function, 1)


def test_what_occurs_twice_is_not_merged():
    def twice(x, y, t):
        product = sin(t)*y
        return True, [product + t, product - y*x]

    found = field(twice, 2)
    assert [found.nodes[place].op for place in sorted(merged(found.outputs))] == ["mul"]  # y x alone
    jet = Jet(found, PLAIN, [0.5, 0.25, TIME])
    assert len(jet.needed(found.outputs)) == len(reachable(found.outputs)) - 1


def test_comparisons_of_the_same_numbers_are_decided_once_asked():
    graph = field(lambda y, t: (True, [y]), 1).inputs[0].graph
    assert isinstance(graph.nodes[0] < 1.0, Comparison)
    assert not graph.taken


class WrongIndex(Jet):
    def pairs(self, a, b, k, sign=1.0):
        return super().pairs(a, b, k, sign)[:k + (k < 5)]


class WrongSign(Jet):
    """Merged products are never subtracted."""

    def negative(self, x, k):
        return self.coefficient(x, k)


class OneHalf(Jet):
    """Merged squares are not doubled."""

    def collect(self, sign, factors, k, terms):
        super().collect(sign, factors, k, terms._replace(half=terms.inner))


class WrongEnd(Jet):
    """The newest coefficient of a square is not doubled."""

    def once(self, what, x, make, k=0):
        return self.coefficient(x, 0) if what == "double" else super().once(what, x, make, k)


class WrongQuotient(Jet):
    """What is known late is added with the sign of the rest."""

    def less(self, factor, a, rest):
        return super().less(factor, a, self.times(-1.0, rest))


class DroppedZero(Jet):
    """A time whose second coefficient is not zero."""

    def _input(self, k, i):
        return self.start[i] if i == len(self.found.inputs) - 1 and k < 3 else super()._input(k, i)


class WrongRoot(Jet):
    def _sqrt(self, k, own, a):
        return self.coefficient(a, k) if k == 4 else super()._sqrt(k, own, a)


@pytest.mark.parametrize(("mutant", "name"), [(WrongIndex, "product"), (DroppedZero, "product"), (WrongRoot, "root"),
                                              (WrongEnd, "square"), (WrongQuotient, "root"),
                                              (WrongQuotient, "quotient of a later one"),
                                              (WrongSign, "merged"), (OneHalf, "merged")])
def test_wrong_recurrences_are_seen(mutant, name):
    found = field(lambda y, t: (True, [OPERATIONS[name][0](t)]), 1)
    right = np.array(taylor_coefficients(found, [0.25, TIME], ORDER), dtype=float)
    rows = [[0 if x is None else x for x in line] for line in mutant(found, PLAIN, [0.25, TIME]).rows(ORDER)]
    assert np.abs(np.array(rows, dtype=float) - right).max() > 1e-10
