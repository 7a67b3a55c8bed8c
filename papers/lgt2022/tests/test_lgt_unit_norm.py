"""lgt2022, section 2: the unit norm of quaternions as a constraint with a multiplier "interferes with the dynamics"."""
from functools import cache

import numpy as np
import pytest

from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify, start_of


def component(preset, **options):
    start = start_of("jointed_body", preset=preset)
    form = formulate(sheet("jointed_body"), start.parameters, start.initial, "vector_field", options)
    return form, plain(form.problem)


@cache
def end(preset, steps, duration, projection):
    """| |Q| - 1 | and the change of the energy after classical Runge-Kutta steps, in plain Python."""
    form, problem = component(preset, projection=projection)
    seen, first = np.zeros(form.width), np.zeros(form.width)
    problem.observe(form.start, first)

    def slope(y):
        out = np.zeros_like(y)
        assert problem.rhs(0.0, y, out)
        return out

    y, h = form.start.copy(), duration/steps
    for _ in range(steps):
        one = slope(y)
        two = slope(y + 0.5*h*one)
        three = slope(y + 0.5*h*two)
        y = y + h/6.0*(one + 2.0*two + 2.0*three + slope(y + h*three))
        problem.project(y)
    problem.observe(y, seen)
    return abs(float(np.linalg.norm(y[0])) - 1.0), seen[0] - first[0]


def test_the_multiplier_pulls_as_baumgarte():
    """d|Q|^2/dt = -rate (|Q|^2 - 1), beside dQ/dt = Q (0, w)/2, which does not change the length."""
    form, problem = component("slow_top", projection="multiplier", stabilisation_rate=30.0)
    y, out = form.start.copy(), np.zeros_like(form.start)
    y[0] *= 1.01
    assert problem.rhs(0.0, y, out)
    assert 2.0*y[0] @ out[0] == pytest.approx(-30.0*(y[0] @ y[0] - 1.0), rel=1e-12)
    plain_field = component("slow_top")[1]
    other = np.zeros_like(out)
    assert plain_field.rhs(0.0, y, other)
    assert np.abs(y[0] @ other[0]) < 1e-13
    assert np.array_equal(out[1:], other[1:])


@pytest.mark.parametrize(("preset", "duration", "more"), [("slow_top", 0.5, 1.5), ("tilted_top", 0.25, 10.0)])
def test_it_interferes(preset, duration, more):
    """At equal step a multiplier leaves a longer defect than nothing at all, because stages leave the unit sphere and
    are pulled back; the energy changes by more than a hundredth of its own error. Both are errors of order 4."""
    wide, fine = (end(preset, steps, duration, "multiplier") for steps in (100, 200))
    assert fine[0] > more*end(preset, 200, duration, "none")[0]
    assert np.log2(wide[0]/fine[0]) == pytest.approx(4.0, abs=0.2)
    assert np.log2(wide[1]/fine[1]) == pytest.approx(4.0, abs=0.4)
    renormalised = end(preset, 200, duration, "position")
    assert renormalised[0] < 1e-15
    assert abs(fine[1]/renormalised[1] - 1.0) > 0.01


def test_only_quaternions_have_it():
    with pytest.raises(InputError, match="option projection is 'multiplier', which is for quaternions"):
        specify("jointed_body", "rk4", steps=10, options={"form": "matrix", "projection": "multiplier"})
    with pytest.raises(InputError, match="stabilisation_rate is 30"):
        specify("jointed_body", "rk4", steps=10, options={"projection": "position", "stabilisation_rate": 30.0})
    adaptive = specify("jointed_body", "dop853", tolerance=1e-6, options={"projection": "multiplier"})
    assert adaptive.options["projection"] == "multiplier"
