"""Redundant but consistent joints: the motion is that of independent ones, multipliers have least norm, Bricard's six
revolutes against a reduced equation, positions where joints depend on each other by chance."""
import joint_rows
import numpy as np
import pytest
from mechanism_cases import about_reference_points, dense
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import liestep
from liestep.errors import InputError
from liestep.extend import GROUND, Body, constant_velocity, revolute, spherical
from liestep.mechanics.systems.four_bar import assembled
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import specify, start_of

pytestmark = pytest.mark.slow

X, Y, Z = np.eye(3)
ZERO = np.zeros(3)
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1.0]])
AXES = [Y, Z, X, Y, Z, X]
THICK = 1e-4  # kg m2 of a rod about itself; the benchmark's rods are lines


def bricard():
    """IFToMM's benchmark: five rods of 1 m and 1 kg on the edges of a cube, six revolute joints, gravity along -y."""
    bodies, joints, centres = [], [], (CORNERS[:-1] + CORNERS[1:])/2.0
    for i, (centre, along) in enumerate(zip(centres, np.diff(CORNERS, axis=0), strict=True)):
        bodies.append(Body(1.0, (np.eye(3) - np.outer(along, along))/12.0 + THICK*np.outer(along, along), x=centre))
        joints.append(revolute(i - 1, CORNERS[i] - (centres[i - 1] if i else ZERO), AXES[i], i, CORNERS[i] - centre,
                               AXES[i]))
    joints.append(revolute(4, CORNERS[5] - centres[4], X, GROUND, CORNERS[5], X))
    return liestep.system("bricard", bodies=bodies, joints=joints, gravity=[0, -9.81, 0], t_end=10.0)


def loop(first, others):
    """(place, turn) of the rods after turns about the joints, in the axes that these have at the start."""
    place, turn, found = np.zeros(3), Rotation.identity(), []
    for angle, corner, axis, centre in zip([first, *others], CORNERS, AXES, (CORNERS[:-1] + CORNERS[1:])/2.0,
                                           strict=False):
        place = place + turn.apply(corner - Rotation.from_rotvec(angle*axis).apply(corner))
        turn = turn*Rotation.from_rotvec(angle*axis)
        found.append((place + turn.apply(centre), turn, place))
    return found


def closed(first, guess):
    def gap(others):
        _, turn, place = loop(first, others)[-1]
        return np.concatenate([place + turn.apply(CORNERS[5]) - CORNERS[5], turn.apply(X) - X])

    return least_squares(gap, guess, xtol=1e-15, ftol=1e-15, gtol=1e-15).x


def reduced(t_end):
    """The angle of the first rod by m(a) a'' + m'(a) a'^2/2 + V'(a) = 0, with m and V on a grid of closed loops."""
    grid, guess, mass, height = np.linspace(-0.35, 0.35, 281), np.zeros(4), [], []
    step = grid[1] - grid[0]
    found = {140: guess}
    for order in (range(141, 281), range(139, -1, -1)):
        guess = np.zeros(4)
        for k in order:
            guess = found[k] = closed(grid[k], guess)
    poses = [loop(a, found[k]) for k, a in enumerate(grid)]
    for k in range(1, len(grid) - 1):
        m = 0.0
        for i in range(5):
            v = (poses[k + 1][i][0] - poses[k - 1][i][0])/(2*step)
            w = (poses[k - 1][i][1].inv()*poses[k + 1][i][1]).as_rotvec()/(2*step)
            along = np.diff(CORNERS, axis=0)[i]
            m += v @ v + (w @ w - (w @ along)**2)/12.0 + THICK*(w @ along)**2
        mass.append(m)
        height.append(9.81*sum(poses[k][i][0][1] for i in range(5)))
    m, v = (np.polynomial.Chebyshev.fit(grid[1:-1], values, 12) for values in (mass, height))
    return solve_ivp(lambda t, y: [y[1], -(0.5*m.deriv()(y[0])*y[1]**2 + v.deriv()(y[0]))/m(y[0])], (0.0, t_end),
                     [0.0, 0.0], "DOP853", [t_end], rtol=1e-11, atol=1e-12).y[0, -1]


def test_bricard_keeps_its_energy_for_ten_seconds_and_has_rank_29():
    data = bricard().simulate("rkmk", step=0.002, samples=11, options={"stabilisation": "projection"})
    assert (data.attrs["status"], data.attrs["joint_rows"], data.attrs["joint_rank"]) == ("ok", 30, 29)
    assert data.attrs["redundant_rows"] == "a direction row of joint 5 (revolute, body 4 to the ground)"
    assert data.attrs["energy_error_max"] < 1e-9  # IFToMM allows 1e-3 J
    assert data.attrs["joint_error_max"] < 1e-12


def test_bricard_moves_as_a_reduced_equation_of_one_angle():
    t_end = 0.3
    data = bricard().simulate("dop853", tolerance=1e-10, t_end=t_end, samples=2)
    turn = Rotation.from_matrix(data["attitude"].values[-1, 0]).as_rotvec()
    assert turn[1] == pytest.approx(reduced(t_end), abs=2e-5)
    assert abs(turn[1]) > 0.05


@pytest.mark.parametrize(("integrator", "sized"), [
    ("rkmk", {"steps": 400, "options": {"stabilisation": "projection"}}), ("dop853", {"tolerance": 1e-11}),
    ("generalized_alpha", {"steps": 2000})])
def test_four_revolutes_in_a_plane_move_as_independent_joints(integrator, sized):
    one, two = (liestep.simulate("four_bar", integrator, preset=preset, t_end=0.5, samples=6, **sized)
                for preset in ("redundant", "tilted"))
    np.testing.assert_allclose(one["position"], two["position"], atol=1e-8)
    assert (one.attrs["joint_rank"], one.attrs["joint_rows"]) == (17, 20)
    assert "joint_rank" not in two.attrs


@pytest.mark.parametrize("integrator", ["rkmk", "generalized_alpha"])
def test_multipliers_of_redundant_joints_have_least_norm(integrator):
    start = start_of("four_bar", preset="redundant")
    assembly = sheet("four_bar").build(start.parameters)
    data = liestep.simulate("four_bar", integrator, preset="redundant", steps=4, t_end=1e-3)
    rows = joint_rows.jacobian(assembly, start.initial)
    forces = about_reference_points(assembly, start.initial, rows)
    independent = sheet("four_bar").build(start_of("four_bar", preset="tilted").parameters)
    _, known = dense(independent, start.initial)  # the same forces by 17 multipliers
    wanted = about_reference_points(independent, start.initial,
                                    joint_rows.jacobian(independent, start.initial)).T @ known
    np.testing.assert_allclose(data["multiplier"].values[0], np.linalg.pinv(forces.T) @ wanted, rtol=0,
                               atol=1e-6*np.abs(known).max())


def test_two_shafts_by_a_joint_of_constant_velocity_turn_at_one_rate():
    """Between shafts in bearings it is redundant by two rows; a universal joint would swing by 1/cos."""
    bend = Rotation.from_rotvec(0.7*Y).as_matrix()
    bodies = [Body(1.0, [0.1, 0.2, 0.3], x=-0.5*Z, rate=[0, 0, 4.0]),
              Body(2.0, [0.1, 0.2, 0.3], x=0.5*bend[:, 2], R=bend, rate=[0, 0, 4.0])]
    system = liestep.system("shafts", bodies=bodies, joints=[
        revolute(GROUND, -Z, Z, 0, -0.5*Z, Z), revolute(GROUND, bend[:, 2], bend[:, 2], 1, 0.5*Z, Z),
        constant_velocity(0, 0.5*Z, Z, 1, -0.5*Z, Z)])
    data = system.simulate("rk4", step=0.002, t_end=2.0, samples=21, options={"stabilisation": "baumgarte"})
    np.testing.assert_allclose(data["body_rate"].values[:, :, 2], 4.0, atol=1e-6)
    assert data.attrs["joint_rank"] == 11


def test_joints_that_depend_on_each_other_in_one_position_alone_are_refused():
    given = sheet("four_bar").presets["tilted"].parameters | {"length": [1.0, 2.0, 1.5, 2.5], "gravity": [0.0]*3}
    start = assembled(sheet("four_bar").check(given), np.pi - 1e-12, 0.0)
    with pytest.raises(InputError, match="in this position alone, where the motion can branch; start elsewhere"):
        specify("four_bar", "rkmk", steps=10, parameters=given, initial=start)


def test_a_row_that_repeats_another_without_a_loop_and_joints_that_contradict_each_other_are_refused():
    bodies = [Body(1.0, [0.1, 0.2, 0.3])]
    with pytest.raises(InputError, match=r"the start is off joint 1 \(spherical, the ground to body 0\) by 0.1, .*;"
                                         " fit=True moves the bodies"):
        liestep.system("gaps", bodies=bodies, joints=[spherical(GROUND, ZERO, 0, ZERO),
                                                      spherical(GROUND, ZERO, 0, 0.1*X)])
    with pytest.raises(InputError, match="no start near the given one fits the joints"):
        liestep.system("gaps", bodies=bodies, fit=True, joints=[spherical(GROUND, ZERO, 0, ZERO),
                                                                spherical(GROUND, 2*X, 0, 0.1*X)])

