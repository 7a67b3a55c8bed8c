"""Standard problems of the literature as plain assemblies, against printed end states."""
import numpy as np
from scipy.spatial.transform import Rotation

import liestep
from liestep.extend import GROUND, Body, revolute, spring_damper, torsion

X, Y, Z = np.eye(3)
ZERO = np.zeros(3)

# Andrews' squeezing mechanism: Hairer and Wanner 1996, VII.7; Test Set for Initial Value Problem Solvers, II-10
MASS = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]
INERTIA = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5]
A, B, C = np.array([-0.06934, -0.00227, 0.0]), np.array([-0.03635, 0.03273, 0.0]), np.array([0.014, 0.072, 0.0])
START = [-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
         -0.222668390165885885, 1.23054744454982119]  # beta, Theta, gamma, Phi, delta, Omega, epsilon
END = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
       0.5347301163226948, 1.048080741042263]  # at 0.03 s


def squeezer():
    """Seven bodies, ten revolute joints, a spring and a constant torque; everything is in the plane."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    turns = [beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon]
    # from each body's joint to its centre of mass, and from the centre to other points, in body axes
    centre = [[0.00092, 0], [-0.01150, 0], [0.01043, -0.01874], [0, -(0.02 - 0.01421)], [0.02308, 0.00916],
              [0.02 - 0.01421, 0], [-0.00449, -0.01228]]
    arms = [np.array([*arm, 0.0]) for arm in centre]
    frames = [Rotation.from_rotvec(turn*Z).as_matrix() for turn in turns]
    crank, pin5, pin7 = 0.007*X, 0.04*X, -0.04*Y
    first = [ZERO, frames[0] @ crank, B, A + frames[4] @ pin5, A, A + frames[6] @ pin7, A]
    bodies = [Body(m, [i]*3, x=place + frame @ arm, R=frame)
              for m, i, place, frame, arm in zip(MASS, INERTIA, first, frames, arms, strict=True)]

    def hinge(a, p, b, q):
        """Points from the joint that each body's centre is given from."""
        return revolute(a, p - (arms[a] if a != GROUND else ZERO), Z, b, q - arms[b], Z)

    end = -0.028*X  # of the second body, where three others meet it
    joints = [hinge(GROUND, ZERO, 0, ZERO), hinge(0, crank, 1, ZERO), hinge(GROUND, B, 2, ZERO),
              hinge(1, end, 2, -0.035*Y), hinge(GROUND, A, 4, ZERO), hinge(4, pin5, 3, ZERO), hinge(1, end, 3, -0.02*Y),
              hinge(GROUND, A, 6, ZERO), hinge(6, pin7, 5, ZERO), hinge(1, end, 5, 0.02*X)]
    return liestep.system("squeezer", bodies=bodies, joints=joints, t_end=0.03, fit=True, elements=[
        spring_damper(GROUND, C, 2, np.array([0.02, -0.018, 0.0]) - arms[2], stiffness=4530.0, rest=0.07785),
        torsion(GROUND, Z, X, 0, X, effort=(0.033, 0.0, 0.0, 0.0))])


def test_the_squeezer_ends_where_the_test_set_prints_it():
    """With nine redundant rows, by a tolerance of 1e-11."""
    data = squeezer().simulate("dop853", tolerance=1e-11, samples=31)
    turn = data["attitude"].values
    angles = np.unwrap(np.arctan2(turn[:, :, 1, 0], turn[:, :, 0, 0]), axis=0)[-1]
    found = [angles[0], angles[1] - angles[0], angles[2], angles[3] - angles[4], angles[4], angles[5] - angles[6],
             angles[6]]
    np.testing.assert_allclose(found, END, rtol=1e-10, atol=1e-10)
    assert (data.attrs["joint_rank"], data.attrs["joint_rows"]) == (41, 50)
    assert data.attrs["energy_error_max"] < 1e-9
