"""Spherical coordinates of the spring pendulum end a run where they are singular: at a pole and at the radius 0."""
import numpy as np
import pytest
from livens_systems import systems

from liestep import IntegrationError, simulate
from liestep.compile.status import Status

_loaded = systems("spring_pendulum")
# swings in a meridian from 0.3 rad towards the pole; pressed through the centre, where the spring does not stop it
POLE = {"q": [1.0, 0.3, 0.0], "v": [0.0, -1.0, 0.0]}
CENTRE = {"q": [1.0, 1.0, 0.0], "v": [-20.0, 0.0, 0.0]}
CASES = pytest.mark.parametrize(("initial", "status", "word", "until"), [
    (POLE, Status.POLE_REACHED, "the coordinate theta", (0.25, 0.3)),
    (CENTRE, Status.RADIUS_NOT_POSITIVE, "the coordinate r ", (0.03, 0.2))], ids=["pole", "radius"])
METHODS = pytest.mark.parametrize("integrator", ["eml", "mpl"])


@CASES
@METHODS
def test_the_status_and_the_part_before_it_are_kept(initial, status, word, until, integrator):
    data = simulate("spring_pendulum", integrator, preset="spatial", initial=initial, step=0.005, t_end=1.0,
                    on_failure="return")
    assert data.attrs["status"] == status.name.lower()
    assert until[0] <= data.attrs["time_reached"] <= until[1]
    assert word in data.attrs["message"]
    assert np.all(np.isfinite(data["q"]))
    assert np.all(data["q"][:, 0] > 0.0)
    assert np.all((data["q"][:, 1] > 0.0) & (data["q"][:, 1] < np.pi))


@CASES
@METHODS
def test_a_single_call_raises_the_sentence(initial, status, word, until, integrator):
    with pytest.raises(IntegrationError, match=word) as caught:
        simulate("spring_pendulum", integrator, preset="spatial", initial=initial, step=0.005, t_end=1.0)
    assert caught.value.status == status
    assert until[0] <= caught.value.time <= until[1]
    assert str(caught.value).endswith(status.sentence)


@METHODS
def test_cartesian_coordinates_pass_through_both(integrator):
    for initial in (POLE, CENTRE):
        data = simulate("spring_pendulum", integrator, preset="spatial", initial=initial, step=0.005, t_end=1.0,
                        options={"coordinates": "cartesian"})
        assert data.attrs["status"] == "ok"
