"""Standard problems of the literature as the test sets write them, against printed end states, and those with data of
our own against MuJoCo's accelerations, integrated by scipy."""
import runpy
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liestep

pytestmark = pytest.mark.slow

MECHANISMS = Path(__file__).parents[2]/"papers"/"testsets"/"studies"/"mechanisms.py"
# Andrews' squeezing mechanism: Hairer and Wanner 1996, VII.7; Test Set for Initial Value Problem Solvers, II-10
END = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
       0.5347301163226948, 1.048080741042263]  # beta, Theta, gamma, Phi, delta, Omega, epsilon at 0.03 s


def test_the_squeezer_ends_where_the_test_set_prints_it():
    """With nine redundant rows, by a tolerance of 3e-12."""
    squeezer = liestep.system("squeezer", t_end=0.03, **runpy.run_path(str(MECHANISMS))["squeezer"]())
    data = squeezer.simulate("dop853", tolerance=3e-12, samples=31)
    turn = data["attitude"].values
    angles = np.unwrap(np.arctan2(turn[:, :, 1, 0], turn[:, :, 0, 0]), axis=0)[-1]
    found = [angles[0], angles[1] - angles[0], angles[2], angles[3] - angles[4], angles[4], angles[5] - angles[6],
             angles[6]]
    np.testing.assert_allclose(found, END, rtol=1e-10, atol=1e-10)
    assert (data.attrs["joint_rank"], data.attrs["joint_rows"]) == (41, 50)
    assert data.attrs["energy_error_max"] < 1e-9


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def link(joint, body, centre, place, inner=""):
    """A body of MuJoCo's format in the axes of space at zero angles; centre and place are seen from its joint and from
    that above."""
    full = np.diag(body.inertia) if np.ndim(body.inertia) == 1 else np.asarray(body.inertia)
    return (f'<body pos="{numbers(place)}">{joint}<inertial pos="{numbers(centre)}" mass="{body.mass}" fullinertia="'
            f'{numbers(full[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])}"/>{inner}</body>')


def arm_of_mujoco(bodies):
    hinges = np.array([[0, 0, 0], [0, 0, 0.2], [0, 0, 0.5], [0, 0, 1.1], [0.2, 0, 1.25], [0.7, 0, 1.25],
                       [0.85, 0, 1.25]])
    axes, damping, text = ["0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"], [3.0, 2.0, 1.5, 0.6, 0.4, 0.1], ""
    for k in reversed(range(6)):
        text = link(f'<joint axis="{axes[k]}" damping="{damping[k]}"/>', bodies[k], bodies[k].x - hinges[k + 1],
                    hinges[k + 1] - hinges[k], text)
    efforts = np.array([[5, 0, 20, 3], [-60, 10, 5, 2], [-30, 0, 8, 5], [1, 0, 2, 7], [-5, 0, 1, 4], [0.2, 0, 0.1, 6]])
    return text, -9.81, 0.5, np.zeros(12), lambda t: efforts @ [1.0, t, 0.0, 0.0] + efforts[:, 2]*np.sin(
        efforts[:, 3]*t)


def satellite_of_mujoco(bodies):
    panels = ""
    for side in (1.0, -1.0):
        hinge, panel = '<joint axis="1 0 0" stiffness="{}" damping="{}"/>', (bodies[1], [0, 0.75*side, 0])
        outer = link(hinge.format(4, 0.3), *panel, [0, 1.5*side, 0])
        panels += link(hinge.format(7, 0.5), *panel, [0, 0.5*side, 0.1], outer)
    start = [0, 0, 0, 1, 0, 0, 0, -1.2, 2.3, 1.2, -2.3, 0.1, 0, 0.2, 0.1, 0.3, -0.2, 0, 0, 0, 0]
    return link("<freejoint/>", bodies[0], np.zeros(3), np.zeros(3), panels), 0.0, 2.0, start, lambda t: 0.0


@pytest.mark.parametrize(("name", "other"), [("arm", arm_of_mujoco), ("satellite", satellite_of_mujoco)])
def test_bodies_are_where_mujoco_has_them(name, other):
    given = runpy.run_path(str(MECHANISMS))[name]()
    text, gravity, t_end, start, applied = other(given["bodies"])
    model = mujoco.MjModel.from_xml_string(f'<mujoco><compiler angle="radian"/><option gravity="0 0 {gravity}"/>'
                                           f"<worldbody>{text}</worldbody></mujoco>")
    data, places = mujoco.MjData(model), model.nq

    def slope(t, y):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = y[:places], y[places:], applied(t)
        mujoco.mj_forward(model, data)  # this makes quaternions of unit length where it reads them
        if model.nq == model.nv:
            return np.concatenate([data.qvel, data.qacc])
        (a, *b), rate = y[3:7], data.qvel[3:6]
        turn = 0.5*np.concatenate([[-np.dot(b, rate)], a*rate + np.cross(b, rate)])
        return np.concatenate([data.qvel[:3], turn, data.qvel[6:], data.qacc])

    slope(t_end, solve_ivp(slope, (0.0, t_end), start, "DOP853", rtol=1e-11, atol=1e-11).y[:, -1])
    found = liestep.system(name, **given).simulate("dop853", tolerance=1e-11, t_end=t_end, samples=2)
    np.testing.assert_allclose(found["position"].values[-1], data.xipos[1:], rtol=0, atol=1e-9)
    assert np.abs(found["position"].values[-1] - found["position"].values[0]).max() > 0.1
