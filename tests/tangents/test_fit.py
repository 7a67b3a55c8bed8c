"""The example that fits moments of inertia to measured attitudes."""
import runpy

import numpy as np
import pytest

from tests.place import TOP

pytestmark = pytest.mark.slow


def test_intervals_hold_the_true_moments_in_nine_trials_of_ten():
    example = runpy.run_path(str(TOP/"docs"/"examples"/"fit_inertia.py"))
    inside = np.zeros(3)
    for seed in range(100):
        found, width = example["trial"](seed)
        inside += np.abs(found - example["TRUE"]) <= width
        assert np.all(width < 0.02*example["TRUE"])
    assert np.all(inside >= 90)
    assert np.all(inside <= 99)  # an interval that is too wide is none of 95 %
