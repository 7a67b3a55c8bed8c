"""Two angles for each body: they turn back into directions, and their rates are those of the plugin's motion."""
import numpy as np
from liestep_papers.twospheres2009.evidence.angles import CHAIN, Chain, frame, start_of_angles

from liestep import simulate
from liestep.simulation.catalogue import sheet

Q = np.array([[0.36, 0.48, 0.8], [0.6, 0.64, 0.48], [0.48, -0.6, 0.64]])
VELOCITY = np.array([[0.2, 0.9, 0.5], [0.7, 0.1, 0.6], [0.3, -0.4, 0.8]])


def start():
    q = Q/np.linalg.norm(Q, axis=1)[:, None]
    return q, np.cross(q, VELOCITY)


def test_angles_and_directions_are_inverse_of_each_other():
    q, omega = start()
    a, b, polar, around = start_of_angles(q, omega)
    direction, down, along = frame(a, b)
    np.testing.assert_allclose(direction, q, rtol=0, atol=1e-15)
    np.testing.assert_allclose(polar[:, None]*down + (around*np.sin(a))[:, None]*along, np.cross(omega, q), rtol=0,
                               atol=1e-15)


def test_motion_in_angles_converges_in_fourth_order():
    q, omega = start()
    exact = simulate(CHAIN, "dop853", preset="chain3", initial={"q": q, "omega": omega}, t_end=0.5, samples=11,
                     tolerance=1e-12, options={"atol": 1e-13})["q"].values
    chain = Chain(**sheet(CHAIN).presets["chain3"].parameters)
    errors = [np.abs(chain.motion(q, omega, 0.5/steps, steps, steps//10) - exact).max() for steps in (100, 200)]
    assert errors[1] < 1e-8
    assert 3.7 < np.log2(errors[0]/errors[1]) < 4.3


def test_there_are_no_angles_at_a_pole():
    q, omega = np.array([[0.0, 0.0, 1.0]]), np.array([[1.0, 0.0, 0.0]])
    assert not np.isfinite(start_of_angles(q, omega)).all()
