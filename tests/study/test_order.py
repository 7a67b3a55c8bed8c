"""The order estimator on errors whose order is known: it must find it, and must refuse when it cannot be found."""
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liestep.study.tables.kinds.orders import orders_table
from liestep.study.tables.order import observed_order, order_verdict

SQRT2 = 0.1/np.sqrt(2.0)**np.arange(12)
COARSE = 0.1/10.0**(np.arange(4)/3.0)


def error_law(h, order, constant=0.5, correction=0.0, power=1, largest=0.09):
    """C h^p (1 + a h^s), scaled so that h/h_max = 1 gives about `largest`."""
    x = h/np.max(h)
    return constant*largest*x**order*(1.0 + correction*x**power)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("h", [SQRT2, 0.1/2.0**np.arange(5), COARSE])
def test_exact_power_law_is_found(order, h):
    estimate = observed_order(h, error_law(h, order), theory=order)
    assert estimate.classification == "asymptotic"
    assert abs(estimate.order - order) < 1e-9
    assert abs(estimate.order_plain - order) < 1e-9
    assert estimate.uncertainty == 0.02
    assert order_verdict(estimate, order)[0]
    for wrong in (order - 1, order - 0.1, order + 0.1, order + 1):
        assert not order_verdict(estimate, wrong)[0]


@pytest.mark.parametrize(("symmetric", "power"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("correction", [-0.15, 0.1, 0.2])
def test_next_order_term_is_removed_by_fit_b(symmetric, power, correction):
    estimate = observed_order(COARSE, error_law(COARSE, 2, correction=correction, power=power), symmetric=symmetric)
    assert estimate.classification == "asymptotic"
    assert abs(estimate.order - 2.0) < 1e-6
    assert abs(estimate.order_plain - 2.0) > 0.015
    assert estimate.uncertainty >= abs(estimate.order_plain - estimate.order)


def test_correction_is_limited_so_that_p_minus_s_is_not_an_answer():
    """e = C h^4 is also the limit a -> infinity of C h^3 (1 + a h)."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        noisy = error_law(SQRT2, 4)*np.exp(0.002*rng.standard_normal(SQRT2.size))
        assert abs(observed_order(SQRT2, noisy).order - 4.0) < 0.1


def test_step_ratio_that_is_not_two():
    """Averaging log2 of error ratios at step ratio 2.63 certifies third order as fourth; true ratios do not."""
    h = 0.1/2.63**np.arange(6)
    error = error_law(h, 3)
    assert np.mean([np.log2(e1/e2) for e1, e2 in pairwise(error)]) > 4.0
    estimate = observed_order(h, error, theory=4)
    assert abs(estimate.order - 3.0) < 1e-9
    assert not order_verdict(estimate, 4)[0]
    assert order_verdict(estimate, 3)[0]
    assert all(slope == pytest.approx(3.0) for _, _, slope in estimate.slopes)


@pytest.mark.parametrize("share", [0.01, 0.1, 1.0])
def test_lower_order_contamination_does_not_pass(share):
    """A fourth-order method with a second-order defect of one per cent at the largest step."""
    error = error_law(SQRT2, 4, largest=0.05) + share*error_law(SQRT2, 2, largest=0.05)
    assert not order_verdict(observed_order(SQRT2, error, theory=4), 4)[0]


def test_value_above_theory_is_said_and_fails():
    estimate = observed_order(SQRT2, error_law(SQRT2, 3))
    passed, sentence = order_verdict(estimate, 2)
    assert not passed
    assert "1.000 above the theoretical 2, more than" in sentence
    passed, sentence = order_verdict(observed_order(SQRT2, error_law(SQRT2, 2.03)), 2)
    assert passed
    assert "0.030 above the theoretical 2, within" in sentence
    assert "below" in order_verdict(estimate, 4)[1]


def test_tolerance_of_the_verdict_is_at_least_005():
    estimate = observed_order(SQRT2, error_law(SQRT2, 2))
    assert order_verdict(replace(estimate, order=1.952), 2)[0]
    assert not order_verdict(replace(estimate, order=1.948), 2)[0]
    # a power that is no whole number leaves it by more and more towards the smallest steps
    assert observed_order(SQRT2, error_law(SQRT2, 1.952)).classification == "pre-asymptotic"


def test_points_below_the_floor_are_left_out():
    h, floor = SQRT2, 1e-9
    error = error_law(h, 6) + floor
    estimate = observed_order(h, error, floor=floor, theory=6)
    assert estimate.classification == "asymptotic"
    assert order_verdict(estimate, 6)[0]
    assert min(error[list(estimate.window)]) >= 30*floor
    assert len(estimate.window) == np.count_nonzero(error >= 30*floor)
    per_point = observed_order(h, error, floor=np.full(h.size, floor), theory=6)
    assert per_point == estimate


def test_limits_of_admissible_errors_are_inclusive():
    h = 10.0**-np.arange(1, 6)
    error = 0.1*(h/h[0])**2
    assert observed_order(h, error, floor=error[-1]/30*(1 - 1e-12)).window == (0, 1, 2, 3, 4)
    assert observed_order(h, error, floor=error[-1]/30*(1 + 1e-9)).window == (0, 1, 2, 3)
    assert observed_order(h, error*(1 + 1e-9)).window == (1, 2, 3, 4)


def test_too_few_points_because_of_the_floor():
    error = error_law(SQRT2, 8) + 1e-6
    estimate = observed_order(SQRT2, error, floor=1e-6, theory=8)
    assert estimate.classification == "floor-limited"
    assert not order_verdict(estimate, 8)[0]
    assert "below" in estimate.reason


def test_floor_that_was_not_given_is_no_order_zero():
    h = 0.1/2.0**np.arange(14)
    rng = np.random.default_rng(0)
    for _ in range(20):
        estimate = observed_order(h, h**4 + 1e-10*np.exp(0.02*rng.standard_normal(h.size)))
        assert estimate.classification == "floor-limited"
    assert "floor given is too low" in estimate.reason


def test_saturated_errors_are_not_lost_to_the_floor():
    """Errors of 1 to 20 below 30 floors: nothing was lost that a lower floor would bring back."""
    h = 0.1/2.0**np.arange(6)
    estimate = observed_order(h, 20.0/2.0**np.arange(6), floor=1.0)
    assert estimate.classification == "saturated"
    assert "6 errors are above 0.1" in estimate.reason
    few = observed_order(h, [20.0, 10.0, 5.0, 0.5, 0.09, 0.045], floor=np.r_[[1.0]*4, 1e-6, 1e-6])
    assert few.classification == "pre-asymptotic"
    assert "4 saturated" in few.reason
    both = observed_order(h, [20.0, 10.0, 0.5, 0.09, 0.01, 1e-3], floor=np.r_[[1.0]*3, 1e-6, 1e-3, 1e-3])
    assert both.classification == "floor-limited"
    assert "2 below, 3 saturated" in both.reason


def test_zero_errors_and_unknown_floors_are_not_admissible():
    estimate = observed_order(SQRT2, np.zeros(12))
    assert (estimate.classification, estimate.window, estimate.slopes) == ("floor-limited", (), ())
    assert np.isnan(estimate.order)
    assert np.isnan(estimate.order_plain)
    assert observed_order(SQRT2, error_law(SQRT2, 2), floor=np.nan).window == ()


@pytest.mark.parametrize("errors", [[np.nan]*5, [np.nan, np.inf, np.nan, np.nan, 1e-3]])
def test_fewer_than_two_finite_errors_failed(errors):
    estimate = observed_order(0.1/2.0**np.arange(5), errors)
    assert estimate.classification == "failed"
    assert f"{np.isfinite(errors).sum()} of 5 runs" in estimate.reason
    assert observed_order([0.1, 0.05], [1e-2, 2.5e-3]).classification == "pre-asymptotic"
    assert observed_order([], []).classification == "failed"


def test_failed_coarse_runs_do_not_matter_and_input_may_be_unsorted():
    error = error_law(SQRT2, 2)
    error[:2] = np.nan, np.inf
    order = np.random.default_rng(1).permutation(SQRT2.size)
    estimate = observed_order(SQRT2[order], error[order])
    assert estimate.classification == "asymptotic"
    assert [int(order[i]) for i in estimate.window] == list(range(2, 12))
    assert all(h1 > h2 for h1, h2, _ in estimate.slopes)


def test_a_gap_interrupts_the_window():
    error = error_law(SQRT2, 2)
    error[3] = np.nan
    assert observed_order(SQRT2, error).window == tuple(range(4, 12))
    error[3] = 0.2
    assert observed_order(SQRT2, error).window == tuple(range(4, 12))


def test_window_ends_where_slopes_leave_the_band():
    h = 0.1/2.0**np.arange(10)
    slopes = np.array([0.9, 1.4, 1.65, 1.8, 1.9, 1.95, 2.0, 2.0, 2.0])
    error = 0.08*np.exp(-np.log(2.0)*np.concatenate(([0.0], np.cumsum(slopes))))
    estimate = observed_order(h, error)
    assert estimate.window == tuple(range(3, 10))
    assert [slope for _, _, slope in estimate.slopes] == pytest.approx(slopes)
    assert estimate.classification == "asymptotic"


def test_inconsistent_slopes_are_pre_asymptotic():
    h = 0.1/2.0**np.arange(8)
    slopes = np.array([0.4, 0.8, 1.2, 1.6, 2.1, 2.6, 3.1])
    error = 0.08*np.exp(-np.log(2.0)*np.concatenate(([0.0], np.cumsum(slopes))))
    estimate = observed_order(h, error)
    assert estimate.classification == "pre-asymptotic"
    assert len(estimate.window) == 2
    assert np.isnan(estimate.order)
    assert estimate.order_plain == pytest.approx(3.1)


def test_noise_is_not_asymptotic_unless_theory_allows_more():
    wiggle = 0.03*np.array([1.0, -1.0, 1.0, -1.0])
    error = error_law(COARSE, 5)*np.exp(wiggle)
    narrow, wide = observed_order(COARSE, error, theory=4), observed_order(COARSE, error, theory=5)
    assert narrow.uncertainty == wide.uncertainty
    assert 0.15 < narrow.uncertainty <= 0.3
    assert (narrow.classification, wide.classification) == ("pre-asymptotic", "asymptotic")


def test_spans_that_suffice():
    below, above = (0.1/ratio**np.arange(4) for ratio in (1.847, 1.849))  # ratio^15 is 1e4 at 1.8478
    short = observed_order(below, error_law(below, 5))
    assert short.classification == "short range"
    assert short.order == pytest.approx(5.0)
    assert not order_verdict(short, 5)[0]
    assert observed_order(above, error_law(above, 5)).classification == "asymptotic"
    nine = 0.1/9.9**(np.arange(4)/3.0)
    assert observed_order(nine, error_law(nine, 1)).classification == "short range"
    three = observed_order(COARSE[:3], error_law(COARSE[:3], 8))
    assert three.classification == "pre-asymptotic"
    assert np.isnan([three.order, three.uncertainty]).all()
    assert three.order_plain == pytest.approx(8.0)
    assert observed_order(COARSE, error_law(COARSE, 1)).classification == "asymptotic"


def test_falling_slopes_of_a_term_of_higher_order_are_no_lower_order():
    """Four errors whose scatter a term of lower order happens to fit better, but with the order 5.09: those of RKMK5 on
    the asymmetric top."""
    h = np.array([0.02, 0.01, 0.005, 0.0025])
    slopes = np.array([5.064713504046991, 5.033117922135318, 4.987652268969615])
    error = 0.01*np.exp(-np.log(2.0)*np.concatenate(([0.0], np.cumsum(slopes))))
    estimate = observed_order(h, error, theory=5)
    assert estimate.classification == "asymptotic"
    assert order_verdict(estimate, 5)[0]


def test_what_the_floor_can_do_is_no_term_of_lower_order():
    """Errors of SLGI composed on a free body, 4.0015 to 3.9998 between steps, then 3.9916 where the declared floor is
    two thirds of a per cent of the error; without a floor the same fall is suspicious, and a term of order 2 stays so
    with a floor too."""
    h = 0.1*0.5**np.arange(6)
    error = np.array([1.0066953219736637e-05, 6.285439398439336e-07, 3.9273902880537104e-08, 2.45444919394215e-09,
                      1.5342624595304744e-10, 9.6450907836473e-12])
    def found(error, floor):
        return observed_order(h, error, floor=floor, theory=4, symmetric=True).classification

    assert found(error, 6.42e-14) == "asymptotic"
    assert found(error, 0.0) == "pre-asymptotic"
    for share in (3e-7, 1e-6, 1e-4):
        assert found(0.1*(h**4 + share*h**2), 6.42e-14) == "pre-asymptotic"
    assert observed_order(h, 0.1*(h**4 + 1e-4*h**3), floor=6.42e-14, theory=4).classification == "pre-asymptotic"


def test_the_floor_of_a_table_grows_with_the_number_of_steps():
    """CF4 on the asymmetric top: the last of six errors is 8 % above the law h^4, 1.3e-14 by 3200 roundings; Gauss with
    roundings of one sign, 0.5 eps each; and a term of lower order, which no such floor hides."""
    def table(errors, counts):
        rows = [{"study": "s", "problem": "p", "problem_label": "p", "integrator": "m", "integrator_id": "m",
                 "integrator_label": "m", "adaptive": False, "symmetric": False, "order": 4, "members": 1,
                 "status": "ok", "step": 1.0/n, "steps": n, "error": e, "floor": 4.8e-15, "floor_reference": 4.8e-15,
                 "energy_error_mean_relative": np.nan} for n, e in zip(counts, errors, strict=True)]
        return orders_table(pandas.DataFrame(rows))[0]

    counts = 100*2**np.arange(6)
    clean = np.array([14.784550, 14.832378, 14.855392, 14.869359, 14.906712, 16.207673])/counts**4.0
    assert table(clean, counts)["passed"]
    assert table(clean, counts)["floor"] == pytest.approx(2.0**-52*np.sqrt(3200.0))
    counts = np.array([50, 100, 200, 500, 1000, 2000, 5000])
    assert table(27.5/counts**4.0 + 0.5*2.0**-52*counts, counts)["passed"]
    assert not table(27.5/counts**4.0 + 1e-2/counts**3.0, 2*counts)["passed"]


def test_close_neighbours_are_thinned_and_rounded_sqrt2_is_not():
    for first in (4, 5, 8, 10, 13):
        counts = first*2**np.arange(5)
        h = 1.0/np.concatenate((counts, 1.4*counts))
        assert len(observed_order(h, error_law(h, 2)).window) == 10
    for first in (8, 10):
        counts = np.round(first*np.sqrt(2.0)**np.arange(9))
        assert len(observed_order(1/counts, error_law(1/counts, 2)).window) == 9
    h = 0.1/1.3**np.arange(12)
    estimate = observed_order(h, error_law(h, 2))
    assert estimate.window == (1, 3, 5, 7, 9, 11)
    doubled = np.concatenate((COARSE, COARSE))
    assert len(observed_order(doubled, error_law(doubled, 2)).window) == 4


@pytest.mark.parametrize(("h", "error", "floor"), [
    ([0.1, 0.05], [1e-3], 0.0), ([[0.1]], [[1e-3]], 0.0), ([0.1, -0.05], [1e-3, 1e-4], 0.0),
    ([0.1, np.nan], [1e-3, 1e-4], 0.0), ([0.1, 0.05], [1e-3, -1e-4], 0.0), ([0.1, 0.05], [1e-3, 1e-4], -1.0),
    ([0.1, 0.05], [1e-3, 1e-4], [0.0, 0.0, 0.0]), (np.ma.array([0.1, 0.05], mask=[0, 1]), [1e-3, 1e-4], 0.0),
    ([0.1, 0.05], [1e-3, 1e-4 + 1e-4j], 0.0), ([0.1, 0.05], np.ma.array([1e-3, 1e-4], mask=[0, 1]), 0.0)])
def test_bad_input_is_refused(h, error, floor):
    with pytest.raises(ValueError, match="must"):
        observed_order(h, error, floor=floor)


laws = st.tuples(st.sampled_from([1, 2, 3, 4, 6]), st.floats(-0.2, 0.2), st.integers(0, 2**32 - 1),
                 st.floats(0.0, 0.03))


def noisy(law):
    order, correction, seed, amplitude = law
    return error_law(SQRT2, order,
                     correction=correction)*np.exp(amplitude*np.random.default_rng(seed).standard_normal(12))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(law=laws, h_scale=st.floats(1e-6, 1e6), e_scale=st.floats(1e-3, 1.0))
def test_scaling_h_and_e_changes_nothing(law, h_scale, e_scale):
    error = noisy(law)
    first = observed_order(SQRT2, error, floor=1e-12, symmetric=True)
    second = observed_order(h_scale*SQRT2, e_scale*error, floor=e_scale*1e-12, symmetric=True)
    assert (first.classification, first.window) == (second.classification, second.window)
    assert (second.order, second.uncertainty) == pytest.approx((first.order, first.uncertainty), abs=1e-6, nan_ok=True)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(law=laws, seed=st.integers(0, 2**32 - 1))
def test_sequence_of_the_points_changes_nothing(law, seed):
    error, order = noisy(law), np.random.default_rng(seed).permutation(12)
    first, second = observed_order(SQRT2, error), observed_order(SQRT2[order], error[order])
    assert repr(replace(first, window=())) == repr(replace(second, window=()))
    assert first.window == tuple(int(order[i]) for i in second.window)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(law=laws)
def test_asymptotic_estimates_lie_near_the_truth(law):
    """u is no probability, but with noise up to three per cent of each error the truth is not farther than twice u."""
    estimate = observed_order(SQRT2, noisy(law), theory=law[0])
    if estimate.classification == "asymptotic":
        assert abs(estimate.order - law[0]) <= 2.0*max(estimate.uncertainty, 0.05)
        assert estimate.uncertainty <= (0.15 if law[0] <= 4 else 0.3)
