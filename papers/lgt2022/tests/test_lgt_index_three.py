"""lgt2022: index-3 methods against printed digits of a trial on other code, and the tangent against differences."""
import numpy as np
import pytest
from chain_loaded import _loaded  # noqa: F401
from fast_top import NAMED, TOP_RATE, error, top

from liestep import simulate
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import quaternion_matrix
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.multibody.assembly import (
    GROUND,
    Assembly,
    complement,
    drive,
    newton_seats,
    revolute,
    screw,
)
from liestep.mechanics.formulations.multibody.family import nearest_start
from liestep.mechanics.formulations.multibody.force_elements import Torque
from liestep.mechanics.formulations.multibody.forms import MechanismForms
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify, start_of

STEPS = (1000, 2000, 4000)
ALPHA = {"1a": (0.106, 2.56e-2, 6.33e-3), "1b": (7.40e-3, 1.84e-3, 4.58e-4), "1c": (0.263, 6.86e-2, 1.73e-2),
         "1d": (0.262, 6.84e-2, 1.72e-2)}


@pytest.mark.parametrize("name", NAMED)
def test_generalized_alpha_on_the_fast_top(name):
    """Errors, velocities of the joint, Newton's iterations; multipliers at the reference digits."""
    for steps, expected in zip(STEPS, ALPHA[name], strict=True):
        data = top(steps, name, "generalized_alpha", start="shift")
        assert error(data) == pytest.approx(expected, rel=0.006)
        assert data.attrs["joint_error_max"] < 1e-13
        assert data.attrs["iterations"] <= 3.1*steps
        if name in ("1a", "1d"):
            assert data.attrs["joint_rate_error_max"] < 1e-10
    slips = [top(steps, "1b", "generalized_alpha", start="shift").attrs["joint_rate_error_max"] for steps in STEPS]
    assert slips == pytest.approx([3.2e-2, 8.1e-3, 2.0e-3], rel=0.03)


def test_multipliers_begin_with_order_two_after_the_correction():
    """The error over [h, 0.1] against that of a run with 16 times as many steps of an explicit method."""
    exact = simulate("jointed_body", "rkmk tableau=dormand_prince5", preset="bruels_cardona", t_end=0.1, steps=6400,
                     samples=401)
    wanted = exact["multiplier"].values

    def errors(name, start):
        found = []
        for steps in (50, 100, 200, 400):
            data = simulate("jointed_body", "generalized_alpha", preset="bruels_cardona", t_end=0.1, steps=steps,
                            samples=steps + 1, options=NAMED[name] | {"start": start})
            found.append(np.abs(data["multiplier"].values[1:] - wanted[::400//steps][1:]).max())
        return found

    assert errors("1b", "plain") == pytest.approx([252.0, 115.0, 57.5, 26.0], rel=0.01)
    assert errors("1b", "corrected") == pytest.approx([8.5, 2.14, 0.537, 0.134], rel=0.01)
    assert errors("1c", "corrected") == pytest.approx([13.8, 3.31, 0.829, 0.207], rel=0.01)
    assert errors("1a", "plain") == pytest.approx([26.8, 6.5, 1.62, 0.405], rel=0.01)


def test_bliedf_on_the_fast_top():
    def rate(data):
        return float(np.abs(data["body_rate"].values[-1, 0] - TOP_RATE).max())

    for steps, first, second, third in zip(STEPS, (0.509, 0.120, 2.71e-2), (2.82e-2, 6.10e-3, 1.41e-3),
                                           (9.71e-3, 1.24e-3, 1.57e-4), strict=True):
        assert error(top(steps, "1a", "bliedf order=2")) == pytest.approx(first, rel=0.01)
        assert error(top(steps, "1b", "bliedf order=2")) == pytest.approx(second, rel=0.01)
        assert error(top(steps, "1b", "bliedf")) == pytest.approx(third, rel=0.01)
    on, off = ([rate(top(steps, "1b", "bliedf", commutator=word)) for steps in STEPS] for word in ("on", "off"))
    assert np.log2(on[1]/on[2]) == pytest.approx(3.0, abs=0.02)
    assert np.log2(off[1]/off[2]) == pytest.approx(1.9, abs=0.1)


OFF, ON = 0.1, 1e-8  # how far the state is off its joints; rows of a screw are derivatives of its angle on them only
TANGENTS = [("four_bar", "unequal"), ("jointed_body", "spring_offset"), ("body_chain", "double_pendulum_offset"),
            ("jointed_body", "cylindrical"), ("jointed_body", "screw"), ("jointed_body", "sleigh"),
            ("jointed_body", "wobbling_disc"), ("four_bar", "driven"), ("four_bar", "loaded")]


@pytest.mark.parametrize("index", [3, 2])
@pytest.mark.parametrize("name", ["1a", "1b", "1c", "1d"])
@pytest.mark.parametrize(("system", "preset"), TANGENTS)
def test_tangent_is_the_derivative_of_the_residual(system, preset, name, index):
    """One Newton correction of a linearised state, in plain Python: J (dU, dl) of central differences of the residual
    must be what the correction was solved for, r = -J x."""
    start = start_of(system, preset=preset)
    form = formulate(sheet(system), start.parameters, start.initial, "index_three", NAMED[name])
    problem = plain(form.problem)
    check_tangent(problem, form.start, index, ON if preset in ("screw", "driven") else OFF)


def two_bodies(*joints, torques=()):
    """What two free bodies with joints between them declare, and a state."""
    random = np.random.default_rng(8)
    inertia = np.array([np.diag([1.0, 2.0, 2.5]), np.diag([0.8, 0.7, 1.1])])
    assembly = Assembly(np.array([1.0, 2.0]), inertia, random.normal(size=(2, 3)), np.array([0.3, 0.2, -9.81]), joints,
                        torques)
    state = {"attitude": quaternion_matrix(np.array([[0.5, 0.5, 0.5, 0.5], [0.1, 0.7, 0.7, 0.1]])),
             **{name: random.normal(size=(2, 3)) for name in ("position", "body_rate", "velocity")}}
    return MechanismForms(lambda parameters: assembly, lambda parameters: (False,)*3), nearest_start(assembly, state)


@pytest.mark.parametrize("index", [3, 2])
@pytest.mark.parametrize("options", [NAMED["1a"], NAMED["1c"]])
def test_tangent_of_screws_between_two_bodies(options, index):
    """Both bodies move the line, its point, and the angle."""
    u, v = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    joint = screw(0, np.array([0.1, 0.2, 0.3]), u, 1, np.array([-0.2, 0.4, 0.1]), v, 0.7, complement(u)[0],
                  complement(v)[0])
    declared, state = two_bodies(joint)
    form = declared.index_three({}, state, {"attitude": "quaternion", "chart": "exp"} | options)
    check_tangent(plain(form.problem), form.start, index, ON)


@pytest.mark.parametrize("index", [3, 2])
@pytest.mark.parametrize("options", [NAMED["1a"], NAMED["1c"]])
def test_tangent_of_drives_and_torques_between_two_bodies(options, index):
    """Both bodies turn the axis; the damper couples bodies that no joint couples as well."""
    u, v, law = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0]), (0.3, 1.2, 0.4, 2.0)
    hinge = revolute(0, np.array([0.1, 0.2, 0.3]), u, 1, np.array([-0.2, 0.4, 0.1]), v)
    motors = [Torque(0, v, 1, 0.7, 1.3, 2.0, 0.4), Torque(1, u, GROUND, 0.4)]
    for joints, torques, off in (([hinge, drive(0, u, complement(u)[0], 1, complement(v)[0], law)], (), ON),
                                 ([], motors, OFF)):
        declared, state = two_bodies(*joints, torques=torques)
        form = declared.index_three({}, state, {"attitude": "quaternion", "chart": "exp"} | options)
        form.start[8, 0] = 0.6  # the clock is behind two bodies of four rows
        check_tangent(plain(form.problem), form.start, index, off)


def check_tangent(problem, start, index, off):
    n, m, random = problem.bodies(), problem.joint_rows(), np.random.default_rng(3)
    u, v0, d0, past = (random.normal(size=(2*n, 3)) for _ in range(4))
    found, s, cv, cc, ca = random.normal(size=m), 0.3, 1.7, 0.4, 2.1

    def residual(u, found):
        xi = np.zeros((problem.algebra_rows(), 3))
        xi[0:4*n:4], xi[1:4*n:4] = u[0::2], u[1::2]
        y = start.copy()
        problem.act(xi, start, y)
        v = cv*u + v0
        for i in range(n):
            v[2*i:2*i + 2] += cc*np.array(problem.commutator(u, past, i))
        dv = ca*v + d0
        problem.put_velocity(v, y)
        problem.newton(y, u.copy(), v, dv, past, found.copy(), s, cv, cc, ca, index)
        loads = problem.loads.reshape(-1).copy()
        problem.poses.generator.motion.evaluate(y, 1)  # the differences of newton leave other rows
        held, moving = problem.poses.generator.motion.mechanism.vectors[1:]
        gaps = np.where(problem.slides == 1, moving/cv, held if index == 3 else moving/cv)
        return np.concatenate([loads, gaps]), y, v, dv

    here, y, v, dv = residual(off*u, found)
    moved, multipliers = off*u, found.copy()
    problem.newton(y, moved, v, dv, past, multipliers, s, cv, cc, ca, index)
    step, change = moved - off*u, multipliers - found
    e = 1e-6/max(1.0, np.abs(step).max())
    slope = (residual(off*u + e*step, found + e*change)[0] - residual(off*u - e*step, found - e*change)[0])/(2.0*e)
    assert np.abs(slope + here).max() < 1e-6*max(1.0, np.abs(here).max())


def test_the_newton_matrix_of_a_chain_is_a_narrow_band():
    for bodies in (10, 100):
        start = start_of("body_chain", preset=f"chain_{bodies}")
        assert newton_seats(sheet("body_chain").build(start.parameters))[1] <= 14


@pytest.mark.parametrize(("options", "said"), [
    ({"rho": 1.0}, "option rho must be a number from 0 to below 1, not 1.0"),
    ({"rho": -0.1}, "option rho must be a number from 0 to below 1, not -0.1"),
    ({"rho": "high"}, "option rho must be a number from 0 to below 1, not 'high'"),
    ({"twist": "mixed"}, "option twist does not exist for index_three of Rigid body on a joint"),
    ({"start": "late"}, "option start is 'late'; allowed are corrected, shift, plain")])
def test_wrong_options_of_generalized_alpha_are_refused(options, said):
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        specify("jointed_body", "generalized_alpha", steps=10, options=options)


@pytest.mark.parametrize("name", ["1a", "1b"])
def test_index_two_keeps_positions_and_velocities_of_joints(name):
    """Order 2 of attitudes, rates and multipliers, for every start; g and A V at round-off at every step, also where
    index 3 leaves A V = O(h^2)."""
    errors = []
    for steps in STEPS:
        data = top(steps, name, "generalized_alpha", index=2)
        assert data.attrs["joint_error_max"] < 1e-13
        assert data.attrs["joint_rate_error_max"] < 1e-12
        assert data.attrs["iterations"] <= 3.1*steps
        errors.append(error(data))
    assert np.log2(errors[1]/errors[2]) == pytest.approx(2.0, abs=0.05)
    if name == "1b":  # a sixth of index 3
        assert errors[0] < 0.25*ALPHA["1b"][0]


@pytest.mark.parametrize(("system", "preset", "counts"), [("body_chain", "double_pendulum", (200, 400, 800)),
                                                          ("four_bar", "unequal", (400, 800, 1600)),
                                                          ("jointed_body", "screw", (250, 500, 1000))])
def test_index_two_of_loops_chains_and_screws(system, preset, counts):
    """Order 2 against a projected run of order 5, of poses and multipliers."""
    options = {"action": "so3_r3"}
    exact = simulate(system, "rkmk tableau=dormand_prince5", preset=preset, steps=counts[-1], samples=2,
                     options=options | {"stabilisation": "projection"})
    errors = []
    for steps in counts:
        data = simulate(system, "generalized_alpha", preset=preset, steps=steps, samples=2,
                        options=options | {"index": 2})
        assert data.attrs["joint_error_max"] < 1e-12
        assert data.attrs["joint_rate_error_max"] < 1e-11
        errors.append([np.abs(data[key].values[-1] - exact[key].values[-1]).max()
                       for key in ("attitude", "multiplier")])
    for column in (0, 1):
        assert np.log2(errors[1][column]/errors[2][column]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "method", "options", "order"), [
    ("sleigh", "generalized_alpha", {}, 2.0), ("wobbling_disc", "generalized_alpha", {}, 2.0),
    ("wobbling_disc", "generalized_alpha", {"index": 2}, 2.0), ("wobbling_disc", "bliedf", {}, 3.0)])
def test_blades_and_rolling_discs(preset, method, options, order):
    """Order of poses and multipliers against an explicit method of order 5; velocities of the rows at round-off, of
    index 2 also the height of the disc."""
    exact = simulate("jointed_body", "rkmk tableau=dormand_prince5", preset=preset, steps=3200, samples=2)
    errors = []
    for steps in (400, 800):
        data = simulate("jointed_body", method, preset=preset, steps=steps, samples=2, options=options)
        assert data.attrs["joint_rate_error_max"] < 1e-13
        if "index" in options or preset == "sleigh":
            assert data.attrs["joint_error_max"] < 1e-14
        errors.append([np.abs(data[key].values[-1] - exact[key].values[-1]).max()
                       for key in ("attitude", "position", "multiplier")])
    assert np.log2(np.divide(*errors)) == pytest.approx([order]*3, abs=0.03)


def test_index_two_is_for_joints():
    with pytest.raises(InputError, match="option index is 2, which is for joints, and there are none; allowed is 3"):
        specify("jointed_body", "generalized_alpha", preset="free", steps=10, options={"index": 2})
    with pytest.raises(InputError, match="option index is 1; allowed are 3, 2"):
        specify("jointed_body", "generalized_alpha", steps=10, options={"index": 1})
    assert "index" not in specify("jointed_body", "generalized_alpha", steps=10).options


@pytest.mark.slow
@pytest.mark.parametrize(("iterations", "status"), [(1, "not_converged"), (25, "ok")])
def test_an_iteration_that_does_not_converge_stops_the_run(iterations, status):
    """The sentence says that a smaller step helps; nothing of the failed step is in the data."""
    data = simulate("jointed_body", "generalized_alpha", preset="bruels_cardona", steps=1000, t_end=0.01, samples=2,
                    options={"iterations": iterations}, on_failure="return")
    assert data.attrs["status"] == status
    if status != "ok":
        assert "stopped after t = 0: the nonlinear equations" in data.attrs["message"]
        assert "take a smaller step" in data.attrs["message"]
        assert np.isnan(data["attitude"].values[1:]).all()
