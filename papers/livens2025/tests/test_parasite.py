"""The rate at which the velocity error of the free body grows, as its figure reads it off a run."""
import numpy as np
import pytest
from liestep_papers.livens2025.figures import ROUND_OFF, SATURATED, rate_of_growth

TIME = np.linspace(0.0, 10.0, 1001)


@pytest.mark.parametrize("rate", [0.5, 2.0, -0.3])
def test_an_exponential_has_its_rate(rate):
    assert rate_of_growth(TIME, 1e-3*np.exp(rate*TIME)) == pytest.approx(rate, rel=1e-12)


def test_the_first_second_and_what_follows_saturation_do_not_count():
    size = 1e-3*np.exp(2.0*TIME)
    size[TIME < 1.0] = 7.0
    first = int(np.argmax(size*(TIME >= 1.0) > SATURATED))
    size[first + 1:] = 1e-2  # back below: the run was saturated before
    assert rate_of_growth(TIME, size) == pytest.approx(2.0, rel=1e-12)


def test_round_off_and_runs_that_are_too_short_have_no_rate():
    assert np.isnan(rate_of_growth(TIME, np.full_like(TIME, 0.5*ROUND_OFF)))
    assert np.isnan(rate_of_growth(TIME[:102], 1e-3*np.exp(TIME[:102])))
    assert rate_of_growth(TIME[:103], 1e-3*np.exp(TIME[:103])) == pytest.approx(1.0, rel=1e-9)
