"""Problems as strangers bring them, of kinds that no page shows: right by MuJoCo, scipy or closed forms."""
from itertools import pairwise

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from urdf_robots import written

import liestep

SWING = """<mujoco><compiler angle="degree"/><default><joint damping=".3" armature=".02"/></default><worldbody>
<body pos="0 0 1"><joint axis="0 1 0" ref="10"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".04" mass="1.5"/>
<body pos=".4 0 0" euler="0 20 10"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
<body pos=".3 0 0"><joint type="slide" axis="1 0 0"/><geom type="box" size=".05 .04 .03"/></body></body></body>
</worldbody></mujoco>"""


def test_a_damped_robot_falls_from_rest_where_mujocos_falls(tmp_path):
    """The velocity of a body whose reference point is in a hinge of the ground is round-off: it is measured against the
    velocities of all bodies."""
    mujoco = pytest.importorskip("mujoco", reason="the extra robots is not installed")
    path = written(tmp_path, SWING, "swing.xml")
    robot = liestep.from_mjcf(path)
    run = robot.simulate("dop853", tolerance=1e-11, t_end=0.02, samples=2, compile=False)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    data = mujoco.MjData(model)
    for _ in range(200):
        mujoco.mj_step(model, data)
    assert np.abs(robot.coordinates(run)[0][-1] - data.qpos).max() < 1e-10
    assert run.attrs["rhs_evaluations"] < 1000


ONE = {"step": 0.01, "t_end": 0.5}
STARTS = [  # of one point, body or number: a system, its start with and without the dimension of the only one
    (lambda: liestep.system("point", mass=1.0, potential=lambda q: 9.81*q[2], start={"q": [1, 0, 0], "v": [0, 1, 0]}),
     {"q": [0, 0.6, 0.8], "v": [1, 0, 0]}, "v"),
    (lambda: liestep.system("body", mass=2.0, inertia=[1, 2, 2.5], start={"x": [0, 0, 0], "rate": [1, 0, 0]}),
     {"x": [1, 2, 3], "v": [0, 1, 0], "rate": [0.1, 2, 0.2]}, "rate"),
    (lambda: liestep.system("spring", lagrangian=lambda q, v: 0.5*v[0]**2 - q[0]**2, start={"q": 1.0, "v": 0.0}),
     {"q": 0.3, "v": 2.0}, "v"),
    (lambda: liestep.system("decay", rhs=lambda y: -y, start={"y": 1.0}), {"y": 2.0}, "y")]


@pytest.mark.parametrize(("made", "start", "name"), STARTS)
def test_a_run_takes_the_shapes_that_a_start_takes(made, start, name):
    system = made()
    own = {key: np.asarray(value)[None] for key, value in start.items()}
    bare, whole = (system.simulate("rk4", **ONE, initial=initial) for initial in (start, own))
    for field in bare.data_vars:
        assert bare[field].equals(whole[field])
    assert np.allclose(np.ravel(bare[name].values[0]), start[name], rtol=1e-14)
    several = {name: np.stack([start[name], 2*np.asarray(start[name])])}
    ends = liestep.ensemble(system, "rk4", **ONE, starts={**start, **several})
    field = [*system.sheet.state_shapes(system.sheet.check(system.sheet.presets["own"].parameters))][-1]
    assert np.array_equal(ends[field].values[0], bare[field].values[-1])
    assert not np.array_equal(ends[field].values[1], ends[field].values[0])


def test_other_shapes_of_a_start_are_refused():
    system = STARTS[0][0]()
    for given in ([[0, 0, 1], [0, 0, 1]], [1, 0], 1.0, [[[0, 0]]]):
        with pytest.raises(liestep.InputError, match=r"initial q must be of shape \(1, 3\), not"):
            system.simulate("rk4", **ONE, initial={"q": given})


@pytest.mark.parametrize("name", ["R", "attitude"])
def test_a_rotation_under_any_name_keeps_what_the_start_says(name):
    """The rate of the start stays that of the body, and a spatial one is turned, by scipy's own matrix."""
    body = liestep.system("body", inertia=[1, 2, 2.5], start={"R": np.eye(3), "rate": [0.1, 2, 0.2]})
    turn = Rotation.from_rotvec([0, 0, 1.0])
    rate = body.simulate("rk4", **ONE, initial={name: turn})["rate"].values[0]
    assert np.abs(rate - [0.1, 2, 0.2]).max() < 1e-15
    rate = body.simulate("rk4", **ONE, initial={name: turn, "omega": [1, 2, 3]})["rate"].values[0]
    assert np.abs(rate - turn.inv().apply([1, 2, 3])).max() < 1e-15


SERVOS = """<mujoco><option gravity="0 0 -9.81" integrator="RK4" timestep=".001"/><worldbody><body>
<joint name="shoulder" axis="0 1 0" damping=".3" armature=".02" ref="20" actuatorfrcrange="-20 15"/>
<geom type="capsule" size=".04" fromto="0 0 0 .4 0 0" mass="1.5" contype="0"/><body pos=".4 0 0">
<joint name="reach" type="slide" axis="1 0 0" damping="2"/><geom type="box" size=".05 .02 .02" mass=".4" contype="0"/>
</body></body></worldbody><actuator><position name="hold" joint="shoulder" kp="60" kv="4" gear="1.5"
 ctrlrange="-.5 .4"/><velocity name="pull" joint="reach" kv="30" gear="-2" forcerange="-9 7"/>
<motor name="lift" joint="shoulder" gear="2"/>
<position name="soft" joint="reach" kp="20" dampratio=".7"/><general name="any" joint="shoulder" gainprm="3"
 biastype="affine" biasprm=".4 -2 .3"/></actuator></mujoco>"""


def test_servos_of_a_file_drive_an_arm_where_mujocos_drive_it(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="the extra robots is not installed")
    path = written(tmp_path, SERVOS, "servos.xml")
    arm, model = liestep.from_mjcf(path, q=[0.5, 0.05]), mujoco.MjModel.from_xml_path(str(path))
    assert not any("actuator" in sentence for sentence in arm.left_out)
    data, random, ends = mujoco.MjData(model), np.random.default_rng(3), set()
    names = [model.actuator(k).name for k in range(model.nu)]
    for _ in range(200):
        data.qpos[:], data.qvel[:] = random.normal(0, 0.3, 2), random.normal(0, 0.5, 2)
        data.ctrl[:] = random.normal(0, 0.5, model.nu)
        mujoco.mj_forward(model, data)
        found = arm.actuate(dict(zip(names, data.ctrl, strict=True)), {"q": data.qpos, "v": data.qvel})["torque"]
        assert np.abs(found - data.qfrc_actuator).max() < 1e-12
        ends |= {k for k in (-20.0, 15.0) if found[0] == k} | {k for k in (-9.0, 7.0) if data.actuator_force[1] == k}
    assert ends == {-20.0, 15.0, -9.0, 7.0}

    run = arm.simulate("dop853", tolerance=1e-11, t_end=0.06, sample=0.02, samples=4, compile=False,
                       control=lambda t, state: arm.actuate({"hold": 0.3, "pull": np.cos(9*t)}, state))
    mujoco.mj_resetData(model, data)
    data.qpos[:] = [0.5, 0.05]
    for k in range(3):
        data.ctrl[:], data.qfrc_applied[:] = [0.3, np.cos(0.18*k), 0, 0, 0], 0.0
        mujoco.mj_forward(model, data)
        data.qfrc_applied[:], data.ctrl[:] = data.qfrc_actuator, 0.0
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)  # the torques are held
        for _ in range(20):
            mujoco.mj_step(model, data)
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    assert np.abs(run["q"].values[-1] - data.qpos).max() < 1e-9
    with pytest.raises(liestep.InputError, match=r"servo hold follows q and v: give actuate\(values, state\)"):
        arm.actuate({"lift": 1.0})


PLACES, PUSHES = np.array([0.0, 0.02, 0.03, 0.05, 0.06, 1.0]), np.array([0.0, 0.0, 50.0, 50.0, 0.0, 0.0])
PULSES = {"%": lambda t, p: np.interp(t % p.P, PLACES, PUSHES),
          "mod": lambda t: np.interp(np.mod(t, 1), PLACES, PUSHES)}


@pytest.mark.parametrize("pulse", PULSES)
def test_short_pulses_of_a_periodic_table_are_seen(pulse):
    """In 40 periods, of which steps of a calm swing would see some: beside scipy from corner to corner."""
    push = PULSES[pulse]
    swing = liestep.system("swing", lagrangian=lambda q, v: 0.5*v[0]**2 - 0.5*q[0]**2, parameters={"P": 1.0},
                           force=(lambda t, p: [push(t, p)]) if pulse == "%" else lambda t: [push(t)],
                           start={"q": [1.0], "v": [0.0]})
    found = swing.simulate("dop853", tolerance=1e-11, t_end=40.0, samples=2)["q"].values[-1, 0]
    y = np.array([1.0, 0.0])
    for n in range(40):
        for a, b in pairwise(PLACES):
            y = solve_ivp(lambda t, y, n=n: [y[1], np.interp(t - n, PLACES, PUSHES) - y[0]], (n + a, n + b), y,
                          "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert abs(found - y[0]) < 1e-9


def test_remainders_are_those_of_python():
    """Of negative numbers and moduli too; a stop is where they jump."""
    saw = liestep.system("saw", rhs=lambda t, y, p: [t % 0.7 - (t - 1.1) % p.c, y[0] % 2.0], parameters={"c": -0.3},
                         start={"y": [-3.3, 0.0]})
    known = saw.simulate("dop853", tolerance=1e-11, t_start=-2.0, t_end=1.0)["y"].values[-1, 0]
    corners = sorted({-2.0, 1.0, *np.round(0.7*np.arange(-2, 2), 9), *np.round(1.1 - 0.3*np.arange(1, 11), 9)})
    right = sum(0.5*(b - a)*sum(one % 0.7 - (one - 1.1) % -0.3 for one in (a + 1e-12, b - 1e-12))
                for a, b in pairwise(corners))
    assert abs(known + 3.3 - right) < 1e-9
    slope = np.diff(saw.simulate("rk4", step=1e-4, t_end=2e-4, t_start=0.0)["y"].values[:2, 1])[0]/1e-4
    assert abs(slope - -3.3 % 2.0) < 1e-4
