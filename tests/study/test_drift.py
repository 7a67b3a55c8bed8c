"""Drift verdicts and ensemble helpers on synthetic deviations whose nature is known."""
from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liestep.study.tables.drift import confirm, drift_verdict
from liestep.study.tables.kinds.horizons import horizon

BLOCKS, SAMPLES = 100, 20
TIME = np.linspace(0.0, 4.0, 4*BLOCKS*SAMPLES + 1)
FAST = 103.3            # oscillations per unit of time are 10 FAST, so a block of the short run covers 10.33 periods
TINY = 1e-250           # scale that makes every deviation large against round-off


def judge(deviation, length=1, steps=1_000_000, scale=TINY, **options):
    """Verdict of the first `length` units of a deviation sampled at TIME; the samples stand for all steps."""
    count = length*BLOCKS*SAMPLES
    d = deviation[:count + 1] - deviation[0]
    return drift_verdict(TIME[:count + 1], d, d[1:].reshape(BLOCKS, -1).mean(axis=1), steps=steps,
                         scale=scale, **options)


def both(deviation, **options):
    """Verdicts of the short run, of the run of 4 T, and of the two together."""
    first, longer = judge(deviation, **options), judge(deviation, 4, **options)
    return first.verdict, longer.verdict, confirm(first, longer).verdict


def oscillation(phase=0.3):
    return np.sin(20.0*np.pi*FAST*TIME + phase)


def walk(seed, unit=2e-16):
    return unit*np.cumsum(np.random.default_rng(seed).standard_normal(TIME.size))*np.sqrt(500.0)


@pytest.mark.parametrize("phase", [0.0, 1.0, 1.6, 3.0, 5.0])
def test_bounded_oscillation(phase):
    assert both(oscillation(phase), period=0.1/FAST) == ("bounded",)*3
    estimate = judge(oscillation(phase))
    assert 1.7 < estimate.amplitude < 2.0
    assert abs(estimate.slope) < 0.02
    assert abs(estimate.growth) < 0.1


def test_a_bounded_deviation_states_its_bound():
    """|slope T| < x A holds for the slope that was put in, and the sentence prints an x that is not below it."""
    estimate = judge(oscillation() + 0.1*TIME)
    assert estimate.bound == max(abs(estimate.slope_low), abs(estimate.slope_high))/estimate.amplitude
    assert 0.1 < estimate.bound*estimate.amplitude < 0.15
    printed = float(estimate.reason.partition("|slope T| < ")[2].split()[0])
    assert estimate.bound <= printed <= 1.1*estimate.bound
    assert judge(np.zeros(TIME.size)).bound == 0.0
    assert judge(oscillation() + 0.3*TIME).verdict == "undecided"


def test_a_wide_interval_is_bounded_only_around_zero():
    """Block means that follow a slow cosine: the interval contains zero; with a slope it does
    not, although it stays inside A/2. A slower one wanders as a walk does."""
    deviation = oscillation() + 0.3*np.cos(6.0*np.pi*TIME)
    wide, tilted = judge(deviation), judge(deviation + 0.6*TIME)
    assert judge(oscillation() + 0.3*np.cos(4.0*np.pi*TIME)).verdict == "undecided"
    assert wide.slope_low < 0.0 < wide.slope_high
    assert 0.1 < wide.bound < 0.5
    assert wide.verdict == "bounded"
    assert tilted.slope_low > 0.0
    assert tilted.bound < 0.5
    assert tilted.verdict == "undecided"


def test_bounded_with_slow_part_and_chaos():
    rng = np.random.default_rng(2)
    assert both(oscillation() + 0.1*np.sin(2.0*np.pi*1.3*TIME)) == ("bounded",)*3
    assert both(rng.standard_normal(TIME.size)) == ("bounded",)*3
    assert judge(np.arange(TIME.size) % SAMPLES).amplitude == pytest.approx(0.9*(SAMPLES - 1))


@pytest.mark.parametrize(("rate", "verdicts"), [
    (0.02, ("bounded", "bounded", "bounded")), (0.1, ("bounded", "undecided", "undecided")),
    (0.6, ("undecided", "drift", "undecided")),
    (-1.2, ("drift", "drift", "drift")), (5.0, ("drift", "drift", "drift")), (-50.0, ("drift", "drift", "drift"))])
def test_linear_drift_under_an_oscillation(rate, verdicts):
    """The 5-95 % range A of a sine is 1.975: slopes up to 0.1 A = 0.2 are bounded, above A/2 = 0.99 they are drifts."""
    deviation = oscillation() + rate*TIME
    assert both(deviation) == verdicts
    estimate = judge(deviation)
    assert estimate.slope == pytest.approx(rate, abs=0.03)
    assert estimate.slope_low <= rate + 0.03
    assert estimate.slope_high >= rate - 0.03


def test_drift_through_zero_is_seen_although_the_maximum_does_not_grow():
    deviation = oscillation() + np.where(TIME > 0.0, -4.0 + 7.0*TIME, 0.0)
    estimate = judge(deviation)
    assert estimate.growth < 0.1
    assert estimate.verdict == "drift"


def test_slope_that_turns_round_is_undecided():
    deviation = oscillation() + np.interp(TIME, (0.0, 0.5, 1.0), (0.0, 5.0, 3.0))
    estimate = judge(deviation)
    assert estimate.slope_low > estimate.amplitude/2
    assert estimate.half_slopes == pytest.approx((10.0, -4.0), abs=0.3)
    assert estimate.verdict == "undecided"


@pytest.mark.parametrize("envelope", [TIME, np.exp(5.0*TIME)*TIME])
def test_growing_amplitude_is_a_drift_without_slope(envelope):
    estimate = judge(envelope*oscillation())
    assert estimate.verdict == "drift"
    assert estimate.bound < 0.5
    assert estimate.growth > 0.9


def test_amplitude_that_grows_like_the_root_of_time_is_undecided():
    estimate = judge(np.sqrt(TIME)*oscillation())
    assert estimate.verdict == "undecided"
    assert 0.4 < estimate.growth < 0.6
    assert estimate.deciding_time >= 4.0*estimate.duration


def test_random_walk_of_round_off():
    """A fair number of walks: no two runs may confirm a drift, nearly all are recognised."""
    verdicts = [both(walk(seed), scale=1.0) for seed in range(40)]
    assert sum(confirmed == "round-off" for _, _, confirmed in verdicts) >= 34
    assert all(confirmed != "drift" for _, _, confirmed in verdicts)


def test_walk_above_round_off_is_not_called_round_off():
    assert all(judge(walk(seed, unit=1e-12), scale=1.0).verdict in ("undecided", "drift") for seed in range(10))


def test_biased_rounding_is_a_drift_although_it_is_below_the_round_off_limit():
    deviation = 1e-12*TIME + 2e-16*np.random.default_rng(0).standard_normal(TIME.size)
    estimate = judge(deviation, scale=1.0)
    assert estimate.largest < estimate.round_off == pytest.approx(100*2.22e-16*1e3, rel=1e-3)
    assert estimate.verdict == "drift"
    assert estimate.growth > 0.75


def test_round_off_that_grows_in_one_decade_only_is_no_drift():
    """Random walks do so now and then; the exponent alone would call it a drift."""
    estimate = judge(np.where(TIME > 0.3, 3e-13, 4e-15)*oscillation(), scale=1.0)
    assert estimate.growth > 0.75
    assert estimate.lasting_growth > 0.75
    assert estimate.verdict == "round-off"


def test_first_units_of_round_off_are_no_drift():
    assert both(np.zeros(TIME.size), scale=1.0) == ("bounded",)*3
    stairs = 3e-16*np.round(4.0*TIME)
    for deviation in (np.where(TIME > 0.2, 2.2e-16, 0.0), np.where(TIME > 0.5, -4.4e-16, 2.2e-16), stairs):
        assert judge(deviation, scale=1.0).verdict in ("bounded", "round-off")
        assert judge(deviation, scale=TINY).verdict in ("drift", "undecided")
    assert judge(stairs, 4, scale=1.0).verdict == "drift"  # sixteen steps, all upwards


def test_one_excursion_is_no_drift():
    """A close encounter: growth exponent above 0.75, but the deviation comes back."""
    estimate = judge(oscillation() + 100.0*np.exp(-((TIME - 0.37)/0.001)**2))
    assert estimate.growth > 0.75
    assert estimate.lasting_growth < 0.1
    assert estimate.verdict == "undecided"
    assert estimate.deciding_time == pytest.approx(100.0)


@pytest.mark.parametrize("rate", [2.5, -40.0])
def test_a_steady_drift_needs_no_long_blocks(rate):
    """Twice the longest period is enough; half as much, or a drift that is not steady, is not."""
    deviation = oscillation() + rate*TIME
    assert both(deviation, period=0.5) == ("drift",)*3
    assert "steady within" in judge(deviation, period=0.5).reason
    assert judge(deviation, period=0.51).verdict == "too short"
    curved = oscillation() + rate*np.minimum(TIME, 0.6)
    assert judge(curved).verdict == "drift"
    assert judge(curved, period=0.1).verdict == "too short"
    assert judge(oscillation(), period=0.5).verdict == "too short"


@settings(derandomize=True, deadline=None, max_examples=200)
@given(cycles=st.floats(2.0, 400.0), phase=st.floats(0.0, 6.3), second=st.floats(0.0, 2.0), shift=st.floats(0.0, 6.3),
       sawtooth=st.floats(-3.0, 3.0))
def test_no_modulation_with_a_known_period_is_a_steady_drift(cycles, phase, second, shift, sawtooth):
    """Sine, overtone and sawtooth of a period up to half of the run."""
    angle = 2.0*np.pi*cycles*TIME + phase
    deviation = np.sin(angle) + second*np.sin(2.0*angle + shift) + sawtooth*(angle/(2.0*np.pi) % 1.0)
    assert judge(deviation, period=1.0/cycles).verdict != "drift"


def test_slow_modulation_is_too_short_when_its_period_is_known():
    for cycles in (0.5, 1.0, 3.0, 10.0):
        estimate = judge(np.sin(2.0*np.pi*cycles*TIME), period=1.0/cycles)
        assert estimate.verdict == "too short"
        assert estimate.deciding_time == pytest.approx(500.0/cycles)
        assert judge(np.sin(2.0*np.pi*cycles*TIME)).verdict != "bounded"
    assert judge(oscillation(), period=1.0/500.0).verdict == "bounded"
    assert judge(oscillation(), period=1.01/500.0).verdict == "too short"


@pytest.mark.parametrize("cycles", [3.0, 5.0, 10.0])
def test_confirmation_refuses_a_slow_modulation(cycles):
    for phase in np.linspace(0.0, 6.0, 7):
        assert both(np.sin(2.0*np.pi*cycles*TIME + phase))[2] in ("undecided", "bounded")


def test_confirm_combines_verdicts():
    first, longer = judge(oscillation()), judge(oscillation(), 4)
    assert confirm(first, longer) == longer
    weaker = confirm(first, replace(longer, verdict="round-off"))
    assert weaker.verdict == "round-off"
    for other in ("drift", "undecided", "too short"):
        combined = confirm(first, replace(longer, verdict=other))
        assert combined.verdict == "undecided"
        assert combined.deciding_time >= 4.0*longer.duration
        assert other in combined.reason


def test_bootstrap_is_seeded_and_its_interval_has_the_right_width():
    rng = np.random.default_rng(5)
    noise = rng.standard_normal(TIME.size)
    assert judge(noise, seed=1) == judge(noise, seed=1)
    assert judge(noise, seed=1).slope_low != judge(noise, seed=2).slope_low
    estimates = [judge(rng.standard_normal(TIME.size)) for _ in range(40)]
    width = np.mean([e.slope_high - e.slope_low for e in estimates])
    assert width == pytest.approx(2.0*1.96*np.sqrt(12.0/BLOCKS/SAMPLES/BLOCKS)*10.0, rel=0.15)
    assert sum(e.slope_low <= 0.0 <= e.slope_high for e in estimates) >= 33


def test_bad_input_is_refused():
    d = oscillation()
    good = {"time": TIME, "deviation": d, "block_mean": np.zeros(BLOCKS), "steps": 1000}
    bad = [{"deviation": np.where(TIME > 3.0, np.nan, d)}, {"steps": 0}, {"scale": -1.0}, {"period": 0.0},
           {"block_mean": np.zeros(10)}, {"time": TIME[:500], "deviation": d[:500]}, {"time": TIME**16}]
    assert drift_verdict(**good).duration == 4.0
    for change in bad:
        with pytest.raises(ValueError, match=r"must|needed|needs"):
            drift_verdict(**(good | change))


@settings(derandomize=True, deadline=None, max_examples=15)
@given(exponent=st.integers(-60, 60), stretch=st.floats(1e-3, 1e3), rate=st.sampled_from([0.0, 0.9, 3.0]),
       sign=st.sampled_from([-1, 1]))
def test_units_change_nothing(exponent, stretch, rate, sign):
    d = oscillation() - oscillation()[0] + rate*TIME
    means = d[1:].reshape(BLOCKS, -1).mean(axis=1)
    factor = sign*2.0**exponent
    first = drift_verdict(TIME, d, means, steps=1000, scale=1e-3)
    second = drift_verdict(stretch*TIME, factor*d, factor*means, steps=1000, scale=1e-3*abs(factor))
    assert second.verdict == first.verdict
    assert second.growth == pytest.approx(first.growth, abs=1e-12)
    assert second.slope == pytest.approx(factor*first.slope, rel=1e-12)
    assert second.amplitude == pytest.approx(abs(factor)*first.amplitude, rel=1e-12)


def test_horizon_of_exponential_growth():
    time = np.linspace(0.0, 20.0, 81)
    separation = 1e-12*np.exp(time)
    for times, distances, limit, found in (
            (time, separation, 1e-6, log(1e6)), (time, separation, 1e-9, log(1e3)),
            ([0.0, 2.0, 4.0], [0.0, 0.0, 1.0], 1e-6, 3.0), ([0.0, 1.0], [1e-3, 1.0], 1e-6, 0.0)):
        assert horizon(np.array(times), np.array(distances), 1e-12, limit) == pytest.approx(found, abs=1e-9)
    assert horizon(time, np.minimum(separation, 9.9e-7), 1e-12, 1e-6) is None
    assert horizon(np.arange(4.0), np.array([1e-12, 1.5e-6, 1e-8, 1.0]), 1e-12, 1e-6) < 1.0
