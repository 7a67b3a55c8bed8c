"""L1 for jets by loops over a tape: coefficients against mpmath's series and straight-line code, the same bits compiled
and in plain Python, guards, and what stands on the tape."""
import math

import mpmath
import numpy as np
import pytest
from test_jets import OPERATIONS, ORDER, TIME, field, machine, pivot, sin, sqrt

from liestep.compile import rows
from liestep.compile.cache import loop_for
from liestep.compile.separate import new_addresses
from liestep.compile.straight.tape import QUOTIENT, ROOT, SUM, TURN, tape_of
from liestep.compile.tracing import Functions, plain_component
from liestep.integrators.taylor import LoopedJet

PLAIN = Functions(rows.sqrt.py_func, rows.sin.py_func, rows.cos.py_func, below=rows.below.py_func,
                  atan2=rows.atan2.py_func, exp=rows.exp.py_func, log=rows.log.py_func)


def evaluate(jet, t, y, out):
    return jet.evaluate(t, y, out)


def looped(found, order):
    """The same as `machine` by loops, whose plain run must give the same bits."""
    jet = LoopedJet(tape_of(found, order), new_addresses(LoopedJet), np.zeros(len(found.inputs) - 1, dtype=np.int64))
    loop, plain = loop_for(evaluate, jet), plain_component(jet, PLAIN, np.float64)

    def run(start):
        y = np.array([start[:-1]], dtype=float)
        out, again = (np.full((order + 1)*y.size + 4, np.nan) for _ in range(2))
        holds = loop(jet, float(start[-1]), y, out)
        with np.errstate(all="ignore"):
            assert plain.evaluate(float(start[-1]), y, again) == holds
        assert np.array_equal(out, again, equal_nan=True)
        rows = out[:-4].reshape(order + 1, y.size)
        assert np.array_equal(out[-4:], [np.fmax.reduce(np.abs(rows[k]), initial=0.0) for k in (0, 1, order - 1, order)]
                              ) or not holds
        return holds, rows

    return run


@pytest.mark.parametrize("name", OPERATIONS)
def test_coefficients_are_those_of_mpmath(name):
    own, exact = OPERATIONS[name]
    with mpmath.workdps(60):
        series = mpmath.taylor(exact, mpmath.mpf(TIME), ORDER)
        expected = [0.25] + [float(series[k]/(k + 1)) for k in range(ORDER)]
    holds, found = looped(field(lambda y, t: (True, [own(t)]), 1), ORDER)([0.25, TIME])
    assert holds
    assert np.abs(np.subtract(found[:, 0], expected)/np.maximum(1.0, np.abs(expected))).max() <= 1e-14


def mixed(x, y, z, t):
    """All kinds of sums: with factors, numbers and products, some that occur twice; a rate that is a number."""
    size = sqrt(x*x + y*y + 0.5)
    both, twice = x*y - 3.0*t, x + z*t
    turned = sin(2.0*both + 1.0)/size
    return True, [0.3*(both + turned*z + 0.4) - 0.7*x + twice, 1.5, y - 0.25*(z*z - both*turned) - twice]


def test_coefficients_are_those_of_straight_line_code():
    found, start = field(mixed, 3), [0.3, -0.7, 1.1, TIME]
    loops, straight = (code(found, 15)(start)[1] for code in (looped, machine))
    assert np.abs(loops - straight).max() <= 1e-14*np.abs(straight).max()
    still = field(lambda a, b, c, d, t: (True, [b, b, a*a, 0.0]), 4)
    loops, straight = (code(still, 9)([3.0, 1.0, 0.5, 2.0, 0.0])[1] for code in (looped, machine))
    assert np.allclose(loops, straight, rtol=1e-14, atol=0.0)


def test_solutions_feed_back():
    """1/(1 - t), also with a tape whose numbers are those of another start."""
    run = looped(field(lambda y, t: (True, [y*y]), 1), 15)
    for _ in range(2):
        assert not np.isfinite(run([math.nan, 0.0])[1][1:]).any()
        assert np.allclose(run([1.0, 0.0])[1], 1.0, rtol=1e-14, atol=0)


def test_what_occurs_once_is_merged():
    tape = tape_of(field(mixed, 3), 4)
    assert tape.kind.tolist() == [ROOT, SUM, SUM, SUM, TURN, QUOTIENT, SUM, SUM, SUM]
    last = tape.kind.tolist().index(QUOTIENT) + 1   # 0.3 both + 0.3 turned z + 0.12 - 0.7 x + twice
    assert tape.constant[last] == 0.3*0.4
    assert tape.linear[last + 1] - tape.linear[last] == 3
    assert tape.product[last + 1] - tape.product[last] == 1


def guarded(y, t):
    """A guard on a number that nothing else takes."""
    if not sin(3.0*y) + 2.0*t > 0.5:
        return False, [0.0]
    return pivot(y, t)


def test_guards_are_checked_where_the_jet_is_evaluated():
    run, straight = looped(field(pivot, 1), 4), machine(field(pivot, 1), 4)
    for y in (1.0, 1.499, 1.501, 1e-3, 0.0, -1.0, math.nan):
        assert run([y, 0.0])[0] == straight([y, 0.0])[0]
    tape = tape_of(field(guarded, 1), 4)
    assert tape.needed < len(tape.kind)   # the rest has coefficients 0 alone
    run, straight = looped(field(guarded, 1), 4), machine(field(guarded, 1), 4)
    for start in ([0.5, 0.0], [0.9, 0.0], [0.9, 0.1], [1.2, 0.5], [1.2, 0.1]):
        assert run(start)[0] == straight(start)[0]


@pytest.mark.parametrize(("compare", "wanted"), [
    (lambda y: y < 1.0, [1, 0, 0]), (lambda y: y <= 1.0, [1, 1, 0]), (lambda y: y > 1.0, [0, 0, 1]),
    (lambda y: y >= 1.0, [0, 1, 1]), (lambda y: y == 1.0, [0, 1, 0]), (lambda y: y != 1.0, [1, 0, 1])])
def test_all_comparisons_are_guards(compare, wanted):
    for sign in (True, False):
        run = looped(field(lambda y, t, sign=sign: (bool(compare(y)) == sign, [y]), 1), 2)
        assert [run([y, 0.0])[0] == sign for y in (0.5, 1.0, 1.5)] == [bool(one) for one in wanted]
