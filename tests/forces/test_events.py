"""Events, output times and runs from any time in any direction, against closed forms and quadratures."""
import itertools

import numpy as np
import pytest
from force_cases import load
from mpmath import mp
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep import Event
from liestep.errors import InputError
from liestep.runs.specification import specify

CHAIN = "spherical_pendulum_chain"
ROTOR = {"parameters": {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, 0.0]},
         "initial": {"q": [[0.0, 0.0, 1.0]], "omega": [[0.0, 1.0, 0.0]]}}  # q = (sin t, 0, cos t)
TAYLOR = {"integrator": "taylor", "tolerance": 1e-13}


def run(integrator="taylor", **request):
    size = {} if {"step", "steps", "tolerance"} & set(request) else {"tolerance": 1e-13}
    return liestep.simulate(CHAIN, integrator, **{**ROTOR, **size, **request})


def of_sine(level, t_end, direction=0):
    """Times in (0, t_end], by the closed form, where sin t = level."""
    with mp.workdps(30):
        rise = mp.asin(mp.mpf(level))
        found = [(float(rise + 2*k*mp.pi), 1) for k in range(-1, 10)] + [
            (float(mp.pi - rise + 2*k*mp.pi), -1) for k in range(-1, 10)]
    return sorted(time for time, sign in found if 1e-9 < time <= t_end and direction in (0, sign))


CASES = [(level, t_end, direction) for level in (1.0 - 1e-6, 1.0 - 1e-10, 0.5, 0.0, -1.0 + 1e-6)
         for t_end, direction in itertools.product((2.0, 20.0), (0, 1, -1))][:28]


@pytest.mark.parametrize(("level", "t_end", "direction"), CASES)
def test_every_crossing_is_found_whatever_the_end(level, t_end, direction):
    data = run(t_end=t_end, until=Event(("q", (0, 0), level), direction, None))
    expected = of_sine(level, t_end, direction)
    assert data.attrs["events"] == len(expected)
    if not expected:
        assert data.attrs["event"] == "none"
        assert np.isnan(data.attrs["event_time"])
        return
    # where the crossing is almost a touch, an error e of the state moves it by e/|cos t|
    slack = 1e-10 if abs(level) < 0.9 else 3e-15/np.sqrt(1.0 - level**2) + 1e-10
    assert np.abs(data["event_times"].values - expected).max() < slack
    assert data.attrs["event_time"] == data["event_times"].values[0]
