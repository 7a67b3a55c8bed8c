"""Methods for several lanes at once: in each lane the bits of the routine for one."""
import numpy as np
import pytest

from liestep.compile import rows
from liestep.compile.address import call_address
from liestep.compile.straight.exact import RESULT, STALE, exact
from liestep.compile.straight.routines import Call
from liestep.compile.straight.straight import loaded
from liestep.compile.straight.symbols import Untraceable
from liestep.lockstep.code import LaneTrace, lane_routine
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.machine_code.straight import MOST_NUMBERS, MOST_OPERATIONS
from liestep.simulation.machine_code.traced import Trace, field_methods
from tests.kernels.test_straight import bits

LANES = 4


def states(start, random):
    """One for each lane: the start, one near it, one with zeros of both signs, one whose squares are not finite."""
    found = np.array([start.ravel()]*LANES)
    found[1] += random.standard_normal(start.size)
    found[2].flat[random.integers(0, start.size, 2)] = 0.0, -0.0
    found[3].flat[random.integers(0, start.size)] = 1e200
    return found


@pytest.mark.parametrize("name", [name for name in system_ids() if "vector_field" in sheet(name).forms])
def test_lanes_have_the_bits_of_routines(name):
    facts = sheet(name)
    chosen = facts.presets[facts.default]
    parameters = facts.check(chosen.parameters)
    form = formulate(facts, parameters, chosen.initial(parameters), "vector_field", {})
    if form.start.size > MOST_NUMBERS:
        pytest.skip("too large")
    problem, random = form.problem, np.random.Generator(np.random.PCG64(4))
    for method in field_methods(form.start.shape, form.width)[1:]:
        try:
            one = Trace(problem, MOST_OPERATIONS).routines([method], form.start)[method.name]
        except Untraceable:
            continue
        several = LaneTrace(problem, LANES, MOST_OPERATIONS).routines([method], form.start)[method.name]
        given = states(form.start, random)
        size = form.width if method.out else form.start.size
        out, expected = np.zeros((size + (method.out is None), LANES)), np.zeros((LANES, size))
        call_address(loaded(several.text).addresses["routine"], np.ascontiguousarray(given.T), several.constants, out)
        for lane, state in enumerate(given):
            expected[lane] = state[:size] if method.out is None else 0.0
            call_address(loaded(one.text).addresses["routine"], 0.0, state, state, one.constants, problem.counters,
                         expected[lane])
        assert np.array_equal(bits(out[:size].T.copy()), bits(expected)), method.name


def lane_code(method, given, in_place=False, counted=()):
    """Results of a method of numbers in each lane; given: (numbers, lanes)."""
    given = np.array(given, dtype=float)
    found = lane_routine(lambda symbols: (Call(True, counted), list(method(*symbols))), len(given), given.shape[1], 100,
                         in_place=in_place)
    out = np.full((4, given.shape[1]), 7.0)
    call_address(loaded(found.text).addresses["routine"], given, found.constants, out)
    return out


def test_each_lane_takes_its_own_way():
    def method(a, b):
        return [a - b if a < b else (a if b > 0.0 else a*b), 0.0 if a < b else -0.0, 0.1 if a < b else a]

    given = np.array([[1.0, 2.0, 2.0, np.nan], [2.0, 1.0, -1.0, 1.0]])
    expected = np.array([method(*numbers) for numbers in given.T]).T
    assert np.array_equal(bits(lane_code(method, given)[:3]), bits(expected))


def test_a_kernel_that_branches_takes_each_lane_its_way():
    given = [[5.0, 0.1, np.nan, 2.0], [0.1, 5.0, 1.0, np.nan]]
    found = lane_code(lambda a, b: [exact(rows.larger)(a, b)*0.5], given)[0]
    assert np.array_equal(found, [2.5, 2.5, np.nan, 1.0], equal_nan=True)


def test_what_a_method_in_place_does_not_write_stays_and_the_sum_stands_behind():
    found = lane_code(lambda a, b: [a*2.0, RESULT], [[1.0, np.inf], [3.0, 4.0]], in_place=True)
    assert found.tolist() == [[2.0, np.inf], [3.0, 4.0], [5.0, np.inf], [7.0, 7.0]]


@pytest.mark.parametrize(("method", "choices"), [
    (lambda a: [a + STALE], {}), (lambda a: [RESULT], {}), (lambda a: [STALE], {"in_place": True}),
    (lambda a: [a], {"counted": (0, 1)})], ids=["scratch", "no result", "scratch in place", "counts"])
def test_methods_that_lanes_cannot_have_are_refused(method, choices):
    with pytest.raises(Untraceable):
        lane_code(method, [[1.0, 2.0]], **choices)
