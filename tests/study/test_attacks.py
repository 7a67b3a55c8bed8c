"""Attacks on the rules of orders, growth and drift: made-up data that look like more than they are. What is certified
must be true of what was put in; what cannot be seen may stay open."""
import numpy as np
import pytest

from liestep.study.tables.drift import confirm, drift_verdict
from liestep.study.tables.kinds import growth
from liestep.study.tables.order import observed_order, order_verdict

BLOCKS, SAMPLES = 100, 20
TIME = np.linspace(0.0, 4.0, 4*BLOCKS*SAMPLES + 1)
FAST = 2.0*np.pi*1033.0
SEEDS = range(8)
LADDERS = {"sqrt2": 0.1/np.sqrt(2.0)**np.arange(12), "halves": 0.1/2.0**np.arange(7), "long": 0.1/2.0**np.arange(12),
           "2.63": 0.1/2.63**np.arange(6), "decades": 0.1/10.0**(np.arange(7)/2.0)}


def drift_of(deviation, length):
    """Estimate over the first `length` units of time."""
    count = length*BLOCKS*SAMPLES
    d = deviation[:count + 1] - deviation[0]
    return drift_verdict(TIME[:count + 1], d, d[1:].reshape(BLOCKS, -1).mean(axis=1), steps=1_000_000, scale=1e-250)


def slow(seed, size):
    """Correlated noise whose standard deviation is `size`, with memory over three blocks."""
    raw = np.random.default_rng(seed).standard_normal(TIME.size)
    kernel = np.exp(-np.arange(10*BLOCKS)/(3.0*SAMPLES))
    found = np.convolve(raw, kernel)[:TIME.size]
    return size*found/found.std()


@pytest.mark.parametrize("share", [0.05, 0.1, 0.34, 0.6])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_an_oscillation_with_a_slow_drift_is_never_certified_bounded(share, noise):
    """A drift of 0.05 A to 0.6 A in T; confirmed by 4 T it is never bounded, however the block means wander."""
    amplitude = 2.0*np.sin(0.45*np.pi)  # 5-95 % range of a sine
    for seed in SEEDS:
        deviation = (np.sin(FAST*TIME + seed) + share*amplitude*TIME*(-1)**seed + slow(seed, noise*amplitude))
        assert confirm(drift_of(deviation, 1), drift_of(deviation, 4)).verdict in ("undecided", "drift")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.02])
def test_the_bound_that_is_stated_holds(share):
    """What is certified bounded states a bound that the slope put in does not exceed."""
    certified = 0
    for seed in SEEDS:
        deviation = np.sin(FAST*TIME + seed) + share*TIME + slow(seed, 0.02)
        found = confirm(drift_of(deviation, 1), drift_of(deviation, 4))
        if found.verdict == "bounded":
            certified += 1
            assert 4.0*share <= found.bound*found.amplitude
    assert certified >= len(SEEDS)//2


@pytest.mark.parametrize("wiggle", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("power", [0.5, 1.2, 1.35, 1.5, 1.7, 2.5])
def test_powers_that_are_no_whole_number_get_no_name(power, wiggle):
    error = 1e-6*TIME**power*(1.0 + wiggle*np.sin(FAST/7.0*TIME))
    assert growth.judge(TIME, error, 0.0)["growth"] == "undecided"


@pytest.mark.parametrize("turn", [0.02, 0.1, 0.3, 1.0, 3.0, 10.0])
def test_linear_growth_that_turns_quadratic_is_not_called_linear_before_it_is(turn):
    """t + t^2/turn: linear only while the square is below the uncertainty, quadratic only when it has taken over."""
    found = growth.judge(TIME, 1e-6*(TIME + TIME**2/turn), 0.0)
    share = TIME[-1]/turn/(1.0 + TIME[-1]/turn)
    if found["growth"] == "linear":
        assert share < 0.2
    if found["growth"] == "quadratic":
        assert share > 0.9


def certified(h, error, floor=0.0, symmetric=False):
    """The orders 1 to 8 that would be certified."""
    return [order for order in range(1, 9)
            if order_verdict(observed_order(h, error, floor=floor, theory=order, symmetric=symmetric), order)[0]]


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("defect", [1e-4, 1e-3, 1e-2])
def test_a_small_term_of_lower_order_is_not_certified_away(ladder, defect):
    """h^4 + 1e-4 h^3 has the slope 4 wherever h is large, but it is a method of order 3."""
    h = LADDERS[ladder]
    assert set(certified(h, h**4 + defect*h**3)) <= {3}
    assert set(certified(h, h**2 + defect*h)) <= {1}


@pytest.mark.parametrize("seed", SEEDS)
def test_outliers_do_not_make_an_order(seed):
    """One error in twelve is wrong by a factor between 1.3 and 30, either way."""
    random, h = np.random.default_rng(seed), LADDERS["sqrt2"]
    for true in (2, 3, 4, 6):
        error = 0.5*h**true*np.exp(0.01*random.standard_normal(h.size))
        error[random.integers(h.size)] *= np.exp(random.choice([-1, 1])*random.uniform(np.log(1.3), np.log(30.0)))
        assert set(certified(h, error)) <= {true}


@pytest.mark.parametrize("level", [1e-5, 1e-8, 1e-11])
@pytest.mark.parametrize("ladder", LADDERS)
def test_an_undeclared_floor_does_not_make_an_order(level, ladder):
    h = LADDERS[ladder]
    for true in (2, 3, 4, 5, 6):
        for seed in SEEDS[:4]:
            random = np.random.default_rng(seed)
            error = np.hypot(0.5*h**true, level*np.exp(0.5*random.standard_normal(h.size)))
            assert set(certified(h, error)) <= {true}


@pytest.mark.parametrize("ratio", [1.5, 2.0, 2.63, 3.0])
def test_step_ratios_do_not_change_the_order(ratio):
    h = 0.1/ratio**np.arange(10)
    for true in (1, 2, 3, 4):
        assert certified(h, 0.7*h**true*(1.0 + h)) == [true]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_order_that_is_there_is_still_certified(seed):
    """Powers with a term of higher order and one per cent of scatter, which the suspicion of a lower one must not
    refuse."""
    random, h = np.random.default_rng(100 + seed), LADDERS["sqrt2"]
    for true in (1, 2, 3, 4):
        error = 0.5*h**true*(1.0 + random.uniform(-2.0, 5.0)*h)*np.exp(0.01*random.standard_normal(h.size))
        assert certified(h, error) == [true]
