"""L1 for packs: their coefficients are those of single numbers, for every operation and every system; what they save;
mutants."""
import numpy as np
import pytest

from liestep.compile.straight import packs
from liestep.compile.straight.jets import Jet, Numbers, taylor_coefficients
from liestep.compile.straight.packs import Packed, Packing, packed
from liestep.compile.straight.straight import jet_code
from liestep.compile.straight.symbols import SYMBOLIC, Untraceable, expressions, reachable
from liestep.errors import InputError
from liestep.integrators.taylor import field_expressions
from liestep.simulation.catalogue import own_systems, sheet
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify
from tests.kernels.test_jets import machine

ORDER = 9
START = [0.3, -0.7, 1.1, 0.45, 0.9, -0.35, 0.2]  # two rows of three numbers and the time
ARRAYS = Numbers({"sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "atan2": np.arctan2})
sqrt, sin = SYMBOLIC.sqrt, SYMBOLIC.sin


def cross(a, b):
    return [a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]]


def dot(a, b):
    return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]


def times(number, a):
    return [number*x for x in a]


def plus(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


# rates of two rows; the operations of the packs that must be found
FIELDS = {
    "elementwise": (lambda p, q, t: [*plus(times(0.3, p), q), *[x - y*x for x, y in zip(p, q, strict=True)]],
                    {"add", "sub", "mul", "scale"}),
    "quotient": (lambda p, q, t: [*[x/(2.0 + y*y) for x, y in zip(p, q, strict=True)],
                                  *[1.0/(3.0 + x) for x in p]], {"div", "inverse", "shift", "mul"}),
    "root": (lambda p, q, t: [*[sqrt(2.0 + x*x) for x in p], *q], {"sqrt"}),
    "by a number": (lambda p, q, t: [*times(sin(t)*p[0], q), *[x/(2.0 + t) for x in p]], {"member", "mul", "div"}),
    "cross": (lambda p, q, t: [*cross(p, q), *cross(q, cross(p, q))], {"turn", "mul", "sub"}),
    "numbers": (lambda p, q, t: [p[0]*2.0 + 1.0, p[1]*3.0 + 1.5, p[2], q[0] - 0.5, 4.0*q[1], q[2] + 1.0],
                {"shift", "scale"}),
    "dot": (lambda p, q, t: [*times(dot(p, q) - dot(q, q), p), *times(1.0/dot(p, p), q)], {"dot", "mul"}),
    "factor": (lambda p, q, t: [*times(t - (0.5*p[0]*q[0] + 0.5*p[1]*q[1] + 0.5*p[2]*q[2]), p),
                                *times(p[0] - p[0]*q[0] - p[1]*q[1] - p[2]*q[2], q)], {"dot"}),
    "dot with what is gathered": (lambda p, q, t: [*times(p[0]*sin(t) + p[1]*q[0] + p[2]*t, q),
                                                   *times(dot(p, p), p)], {"dot", "gather"}),
    "gathered": (lambda p, q, t: [p[0]*sin(t), p[1]*q[2], p[2]*(t*t), *times(dot(p, p), q)], {"gather", "dot"}),
    "constant rows": (lambda p, q, t: [1.0, 2.0, 0.0, *times(dot(p, p), plus(p, q))], {"gather", "dot"}),
}


def field(function):
    return expressions(lambda s: (True, function(s[:3], s[3:6], s[6])), 7)


def flat(rows, width):
    """Coefficients of packs as those of their numbers."""
    return np.array([np.concatenate([np.zeros(width) if value is None else np.broadcast_to(value, width)
                                     for value in line]) for line in rows], dtype=float)


def by_packs(found, start, width, order=ORDER, jet=Jet):
    rows = [np.array(start[i:i + width]) for i in range(0, len(start) - 1, width)]
    return flat(jet(found, ARRAYS, [*rows, start[-1]]).rows(order), width)


@pytest.mark.parametrize("name", FIELDS)
def test_packs_have_the_coefficients_of_their_numbers(name):
    function, operations = FIELDS[name]
    found = field(function)
    rows = Packed(Packing(found, 3, one_depth=False)).expressions()
    assert operations <= {node.op for node in reachable(rows.outputs)}
    expected = np.array(taylor_coefficients(found, START, ORDER), dtype=float)
    assert np.abs(by_packs(rows, START, 3)/np.maximum(1.0, np.abs(expected))
                  - expected/np.maximum(1.0, np.abs(expected))).max() <= 2e-14
    holds, compiled = machine(found, ORDER, width=3)(START)
    assert holds == 1
    assert np.abs((compiled - expected)/np.maximum(1.0, np.abs(expected))).max() <= 2e-14


def traced(name, preset):
    try:
        formulated, _ = build(specify(name, "taylor", preset=preset, tolerance=1e-8, t_end=1e-3, samples=2))
        return formulated.start, field_expressions(formulated.problem, formulated.start.shape)
    except (InputError, Untraceable, ZeroDivisionError):
        return None


@pytest.mark.slow
def test_packs_have_the_coefficients_of_their_numbers_in_every_system():
    """Relative to the largest number of a coefficient: sums have another order."""
    order, seen = 5, set()
    for name in own_systems():
        case = traced(name, sheet(name).default_preset)
        if case is None:
            continue
        start, found = case
        rows, width = packed(found, start.shape[1])
        if width == 1:
            continue
        values = [*(start + 0.01*np.random.default_rng(1).normal(size=start.shape)).flat, 0.25]
        expected = np.array(taylor_coefficients(found, values, order), dtype=float)
        scale = np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))
        assert np.abs((by_packs(rows, values, width, order) - expected)/scale).max() <= 1e-12, name
        seen.add(name)
    assert {"free_rigid_body", "heavy_top", "sphere_nbody", "spherical_pendulum_chain",
            "spring_pendula", "dipole_array"} <= seen


@pytest.mark.parametrize(("name", "preset", "share"), [
    ("free_rigid_body", "asymmetric", 0.4), ("heavy_top", "asymmetric", 0.45), ("sphere_nbody", "paper", 0.45),
    ("spherical_pendulum_chain", "orders", 0.5)])
def test_packs_save_half(name, preset, share):
    start, found = traced(name, preset)
    rows, width = packed(found, start.shape[1])
    assert width == 3
    assert packs.effort(rows) <= share*packs.effort(found)


def test_what_gains_nothing_stays_as_it_is():
    found = field(lambda p, q, t: [sin(t), p[0]*t, q[1], p[2], p[1]*p[1], q[0]])
    assert packed(found, 3) == (found, 1)
    assert packed(found, 1) == (found, 1)
    assert packed(found, 6) == (found, 1)  # wider than registers


def test_packs_that_need_each_other_are_not_made():
    """The same operations one after the other: (a, b, c) would need itself."""
    def ladder(p, q, t):
        a = p[0]*q[0]
        b = p[1]*(q[1]*a)
        return [a, b, p[2]*(q[2]*b), *times(dot(p, p), q)]

    found = field(ladder)
    with pytest.raises(packs.Entangled):
        Packed(Packing(field(lambda p, q, t: [p[0]*q[0], p[1]*(p[0]*q[0]), p[2]*(p[1]*(p[0]*q[0])), *q]), 3,
                       one_depth=False)).expressions()
    rows, width = packed(found, 3)
    assert width == 3
    expected = np.array(taylor_coefficients(found, START, ORDER), dtype=float)
    assert np.allclose(by_packs(rows, START, 3), expected, rtol=0, atol=2e-14*np.abs(expected).max())


def test_guards_are_those_of_the_numbers():
    def guarded(s):
        length = dot(s[:3], s[:3])
        if not length > 1.0:
            return False, [0.0]*6
        return True, [*times(1.0/length, s[3:6]), *s[:3]]

    found = expressions(guarded, 7)
    run = machine(found, 4, width=3)
    assert run([1.0, 0.5, 0.5, *START[3:]])[0] == 1
    assert run([0.5, 0.5, 0.5, *START[3:]])[0] == 0


class WrongTurn(Jet):
    def _turn(self, k, a, places):
        return super()._turn(k, a, places[::-1])


class WrongMember(Jet):
    def _member(self, k, a, i):
        return super()._member(k, a, (i + 1) % 3)


class NoSign(Jet):
    """Products of packs are never subtracted."""

    def collect(self, sign, factors, k, terms):
        super().collect(abs(sign), factors, k, terms)


class HalfWhole(Jet):
    """A dot without its last component."""

    def whole(self, pack):
        return None if pack is None else pack[0] + pack[1]


@pytest.mark.parametrize(("mutant", "name"), [(WrongTurn, "cross"), (WrongMember, "by a number"), (NoSign, "cross"),
                                              (HalfWhole, "dot")])
def test_wrong_operations_of_packs_are_seen(mutant, name):
    found = field(FIELDS[name][0])
    rows = Packed(Packing(found, 3, one_depth=False)).expressions()
    expected = np.array(taylor_coefficients(found, START, ORDER), dtype=float)
    assert np.abs(by_packs(rows, START, 3, jet=mutant) - expected).max() > 1e-6


def test_numbers_of_packs_are_those_of_the_system():
    """Other parameters have the same code: numbers of packs are in the table too."""
    def shifted(number):
        return field(lambda p, q, t: [p[0] + number, p[1] + 2.0*number, p[2], *times(dot(p, q), q)])

    codes = [jet_code(shifted(number), 6, width=3) for number in (0.7, 0.9)]
    assert codes[0].text == codes[1].text
    assert not np.array_equal(codes[0].constants, codes[1].constants)
    assert Numbers({}).constant((1.0, 2.0)).tolist() == [1.0, 2.0]
