"""What all Newton iterations share must not lose a number that is not one."""
import numpy as np
import pytest

from liestep.integrators._newton import correct, largest, settled


@pytest.mark.parametrize("place", range(3))
def test_a_residual_that_is_not_a_number_stays_visible(place):
    residual = np.array([3.0, 1.0, 2.0])
    residual[place] = np.nan
    assert np.isnan(largest(residual, 3))


@pytest.mark.parametrize("place", range(3))
def test_an_update_that_is_not_a_number_never_looks_converged(place):
    unknowns, update = np.ones(3), np.zeros(3)
    update[place] = np.nan
    change, size = correct(unknowns, update, 3)
    assert np.isnan(change)
    assert np.isnan(size)
    assert not settled(change, 1.0, size, 1.0, 1e-15)


def test_sizes_of_a_correction():
    unknowns = np.array([1.0, -3.0])
    assert correct(unknowns, np.array([0.5, -1.0]), 2) == (1.0, 2.0)
    assert list(unknowns) == [0.5, -2.0]
