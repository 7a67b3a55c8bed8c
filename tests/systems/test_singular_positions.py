"""Loops through positions where the rows that were chosen at the start depend on each other, though the mechanism does
not, and through those where it does: closed loops and energies."""
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liestep
from liestep.compile.status import IntegrationError
from liestep.extend import GROUND, Body, revolute

pytestmark = pytest.mark.slow

TESTSETS = Path(__file__).parents[2]/"papers"/"testsets"/"studies"
FIRST, SECOND = np.radians(40.0), np.radians(75.0)  # twists of Bennett's bars, whose lengths are as their sines
RATIO = np.sin(0.5*(SECOND + FIRST))/np.sin(0.5*(SECOND - FIRST))  # tan(turn_1/2) tan(turn_2/2)


def bar(turn, length, twist):
    """From a hinge to the next one, by Denavit and Hartenberg."""
    c, s, ct, st = np.cos(turn), np.sin(turn), np.cos(twist), np.sin(twist)
    found = np.eye(4)
    found[:3] = [[c, -s*ct, s*st, length*c], [s, c*ct, -c*st, length*s], [0.0, st, ct, 0.0]]
    return found


def bennett():
    """Bennett's loop of four bars with skew hinges, the fourth one the ground: 20 rows of rank 17."""
    long = np.sin(SECOND)/np.sin(FIRST)
    turns = 0.9, 2.0*np.arctan(RATIO/np.tan(0.45)), -0.9, -2.0*np.arctan(RATIO/np.tan(0.45))
    frames = [np.eye(4)]
    for turn, length, twist in zip(turns, (1.0, long, 1.0, long), (FIRST, SECOND)*2, strict=True):
        frames.append(frames[-1] @ bar(turn, length, twist))
    np.testing.assert_allclose(frames[-1], np.eye(4), atol=1e-14)
    points, axes = [frame[:3, 3] for frame in frames[:4]], [frame[:3, 2] for frame in frames[:4]]
    bodies = []
    for mass, one, two in zip((1.0, 2.0, 3.0), points, points[1:], strict=False):
        along = two - one
        bodies.append(Body(mass, mass/12.0*(np.eye(3)*(along @ along) - 0.99*np.outer(along, along)),
                           x=0.5*(one + two)))
    joints = []
    for k in range(4):
        a, b = (k - 1 if k else GROUND), (k if k < 3 else GROUND)
        p, q = (points[k] - (bodies[body].x if body != GROUND else 0.0) for body in (a, b))
        joints.append(revolute(a, p, axes[k], b, q, axes[k]))
    return {"bodies": bodies, "joints": joints, "gravity": [0.0, -3.0, -9.81]}, axes, points


def test_a_bennett_loop_passes_where_its_bars_lie_in_line():
    """There the 17 rows that were chosen at the start depend on each other, but the loop keeps its rank."""
    given, axes, points = bennett()
    system = liestep.system("bennett", **given)
    data = system.simulate("rkmk", step=0.002, t_end=4.0, samples=201, options={"stabilisation": "projection"})
    assert (data.attrs["joint_rank"], data.attrs["joint_rows"]) == (17, 20)
    assert data.attrs["energy_error_max"] < 1e-6
    assert data.attrs["joint_error_max"] < 1e-10
    turn = data["attitude"].values
    first = np.unwrap(np.arctan2(turn[:, 0] @ points[1] @ [0.0, 1.0, 0.0], turn[:, 0] @ points[1] @ [1.0, 0.0, 0.0]))
    assert first.min() < -0.5 < 0.5 < first.max()  # in line at zero
    hinge = turn[:, 0] @ axes[1]
    one, two = turn[:, 0] @ points[1], turn[:, 1] @ (points[2] - points[1])
    second = np.arctan2(np.einsum("ti,ti->t", np.cross(one, two), hinge), np.einsum("ti,ti->t", one, two))
    np.testing.assert_allclose(np.tan(0.5*first), RATIO/np.tan(0.5*second), atol=1e-8)


def test_a_bennett_loop_that_drifts_apart_says_what_holds_it():
    with pytest.raises(IntegrationError, match=r"redundant ones have drifted apart.*'projection'} against drift"):
        liestep.system("bennett", **bennett()[0]).simulate("dop853", tolerance=1e-8, t_end=4.0)


def test_forty_four_bars_pass_all_positions_in_line():
    """IFToMM's A02 with 40 windows, against the equation of one angle: 41 rods about their ends, 40 that do not turn.
    The benchmark allows 0.1 J."""
    windows, t_end = runpy.run_path(str(TESTSETS/"windows.py"))["windows"](40), 2.0
    system = liestep.system("windows", **windows)
    with pytest.raises(IntegrationError, match="'soft_projection' to pass"):
        system.simulate("rkmk", step=0.001, t_end=t_end, options={"stabilisation": "projection"})
    data = system.simulate("rkmk", step=0.001, t_end=t_end, samples=21, options={"stabilisation": "soft_projection"})
    known = solve_ivp(lambda t, y: [y[1], -9.81*60.5/(41.0/3.0 + 40.0)*np.cos(y[0])], (0.0, t_end),
                      [0.5*np.pi, -1.0], "DOP853", data["time"].values, rtol=1e-12, atol=1e-12).y[0]
    np.testing.assert_allclose(data["position"].values[:, 0, :2],
                               0.5*np.transpose([np.cos(known), np.sin(known)]), atol=1e-5)
    assert data.attrs["energy_error_max"] < 1e-3
    assert data.attrs["joint_error_max"] < 1e-9
