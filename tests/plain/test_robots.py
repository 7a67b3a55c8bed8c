"""Robots from MJCF and URDF files: MuJoCo's accelerations, mass matrices and biases on public models, coordinates in
and out, torques and motors, and what is left out."""
import json
import re
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import urdf_robots
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp
from urdf_robots import ARM, mjcf, written

import liestep
from liestep.compile.cache import loop_for
from liestep.errors import InputError
from liestep.geometry.groups.poses import MATRIX
from liestep.mechanics.contracts.formulated import quaternion_matrix, rotation_quaternion
from liestep.mechanics.formulations.multibody.components import MIXED
from liestep.mechanics.formulations.multibody.family import residuals
from liestep.mechanics.formulations.multibody.forms import Layout
from liestep.mechanics.formulations.multibody.inverse import LIMB, solve
from liestep.mechanics.formulations.multibody.mechanism import MOVING, PUSH, SPIN
from liestep.mechanics.formulations.probed import plain

mujoco = pytest.importorskip("mujoco", reason="the extra robots is not installed")
DOCS = Path(__file__).parents[2]/"docs"
PUBLIC = ("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum",
          "inverted_pendulum", "point", "pusher_v5", "reacher", "swimmer", "walker2d_v5")  # Farama's, of gymnasium
TINY = 1e-30  # a complex step

EVERY_JOINT = """<mujoco><compiler angle="radian"/><option gravity="1 -2 -9"/>
<default><geom type="box" size=".1 .2 .15"/></default><worldbody>
<body name="flyer" pos="0 0 1"><joint type="free" armature=".2" damping=".3"/><geom/>
 <body name="hanging" pos=".3 .1 0" euler=".1 .5 .2">
  <joint type="ball" pos="-.1 .05 .02" armature=".02" damping=".3"/><geom/>
  <body name="rail" pos="0 .4 .1" euler="1 .5 .2"><joint type="slide" axis="1 .2 0" damping="2" ref=".2"/>
   <joint type="slide" axis="1 1 .3" armature=".5"/><joint type="hinge" axis="0 .6 .8" pos=".1 0 .2" damping=".1"/>
   <geom/><body name="part" pos=".2 .3 .1" euler="0 .4 0"><geom mass="2"/>
    <body pos=".1 0 .2" euler=".3 0 0"><geom/></body></body></body></body></body>
<body pos="1 2 3" euler=".3 .2 .1">
 <body name="wrist" pos="0 1 0"><joint type="hinge" axis="1 0 0" pos="0 .1 0" armature=".3" damping=".2" ref=".4"/>
  <joint type="hinge" axis="0 .6 .8" pos="0 .1 0" armature=".1"/><geom/>
  <body name="hip" pos=".1 .2 .4" euler=".2 0 .3"><joint type="hinge" axis="0 0 1" damping=".2"/>
   <joint type="hinge" axis="1 0 0" armature=".1" damping=".1"/><joint type="hinge" axis="0 1 0" armature=".2"/><geom/>
   <body name="lift" pos=".3 0 0"><joint type="slide" axis="0 0 1" armature=".1" damping=".4"/><geom/>
    <body name="loose" pos="0 .3 .3"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
     <joint type="slide" axis="0 0 1"/><joint type="ball" damping=".2"/><geom/></body></body></body></body>
</body></worldbody></mujoco>"""


def reference(path):
    """MuJoCo's own model of a file, without contacts, limits, actuators, springs, tendons and fluid."""
    model, off = mujoco.MjModel.from_xml_path(str(path)), mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_ACTUATION) | int(off.mjDSBL_SPRING)
    model.opt.density = model.opt.viscosity = 0.0
    return model


def derivative(model, q, v):
    """q + i TINY dq/dt, by MuJoCo's definition of coordinates."""
    out = q + 0j
    for at, to, kind in zip(model.jnt_qposadr, model.jnt_dofadr, model.jnt_type, strict=True):
        first = 3*(kind == 0)
        out[at:at + (first or 1)] += 1j*TINY*v[to:to + (first or 1)]*(kind != 1)
        if kind < 2:
            w, x, y, z = q[at + first:at + first + 4]
            rate = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) @ v[to + first:to + first + 3]
            out[at + first:at + first + 4] += 0.5j*TINY*rate
    return out


def of_bodies(robot, model, q, v):
    """Accelerations of the joints from the mechanism's equations; mass matrix and bias from its bodies."""
    p, tree = robot.sheet.check(robot.sheet.presets["own"].parameters), robot.tree

    def centres(q, v):
        turn, _, rate, velocity = tree.motion(q, v)
        return np.stack([rate, velocity + turn @ np.cross(rate, p["center_of_mass"][:, :, None], axis=1)], axis=1)

    layout = Layout(tree.assembly(p), MATRIX, MIXED)
    motion, state = plain(layout.motion({})), tree.state(q, v)
    assert motion.evaluate(layout.start(state), 0)
    scratch = motion.mechanism.scratch[:MOVING*len(tree.names)].reshape(-1, MOVING, 3)
    jacobian = centres(q, np.eye(model.nv))
    bent = centres(derivative(model, q, v), v[:, None])[..., 0].imag/TINY
    rows, moved = jacobian.reshape(-1, model.nv), np.stack([scratch[:, SPIN], scratch[:, PUSH]], axis=1)
    spin = np.einsum("bij,bj->bi", p["inertia"], bent[:, 0]) + np.cross(
        (jacobian @ v)[:, 0], np.einsum("bij,bj->bi", p["inertia"], (jacobian @ v)[:, 0]))
    loads = np.stack([spin, p["mass"][:, None]*(bent[:, 1] - p["gravity"])], axis=1)
    weighed = np.stack([p["inertia"] @ jacobian[:, 0], p["mass"][:, None, None]*jacobian[:, 1]], axis=1)
    return (np.linalg.lstsq(rows, (moved - bent).ravel(), rcond=None)[0],
            rows.T @ weighed.reshape(-1, model.nv) + np.diag(p["armature"]), rows.T @ loads.ravel(), layout, state)


def compare(robot, model, seed):
    """Largest relative distances of accelerations, mass matrix and bias, and those of coordinates."""
    random, data = np.random.default_rng(seed), mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, random.uniform(-1.0, 1.0, model.nv), 1.0)
    data.qvel[:] = random.uniform(-2.0, 2.0, model.nv)
    mujoco.mj_forward(model, data)
    matrix, column = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    for k in range(model.nv):
        mujoco.mj_mulM(model, data, column, np.eye(model.nv)[k])
        matrix[k] = column
    *found, layout, state = of_bodies(robot, model, data.qpos.copy(), data.qvel.copy())
    far = [np.abs(one - other).max()/np.abs(other).max() for one, other in zip(
        found, (data.qacc, matrix, data.qfrc_bias), strict=True)]
    assert max(np.abs(values).max(initial=0.0) for values in residuals(layout.assembly, state)) < 1e-13
    q, v = robot.coordinates({name: value[None] for name, value in state.items()})
    turned = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, turned, 1.0, data.qpos, q[0])
    assert np.abs((turned + np.pi) % (2.0*np.pi) - np.pi).max() < 1e-13
    assert np.abs(v[0] - data.qvel).max() < 1e-12
    return far


@pytest.mark.parametrize("name", PUBLIC)
def test_public_models_move_as_in_mujoco(name):
    """Armature and damping included; all agree to 1e-12."""
    assets = pytest.importorskip("gymnasium", reason="the public models are not installed").__path__[0]
    path = Path(assets)/"envs"/"mujoco"/"assets"/f"{name}.xml"
    robot, model = liestep.from_mjcf(path, name="public"), reference(path)
    assert robot.tree.sizes == (model.nq, model.nv)
    for seed in range(2):
        assert max(compare(robot, model, seed)) < 1e-12


def test_every_kind_of_joint_moves_as_in_mujoco(tmp_path):
    """With armature, damping or both; slides askew, welded parts, a base that is turned, coordinates that begin off
    zero."""
    path = written(tmp_path, EVERY_JOINT)
    robot, model = liestep.from_mjcf(path), reference(path)
    assert robot.tree.names == ("flyer", "hanging", "rail", "wrist", "hip", "lift", "loose")
    for seed in range(3):
        assert max(compare(robot, model, seed)) < 1e-12


def test_articulated_bodies_move_as_rows_and_multipliers_say(tmp_path):
    """On the joints to rounding; off them, where rates have no inertia, up to squares of what joints are off by."""
    robot, random = liestep.from_mjcf(written(tmp_path, EVERY_JOINT)), np.random.default_rng(1)
    tree, p = robot.tree, robot.sheet.check(robot.sheet.presets["own"].parameters)
    state = tree.state(random.uniform(-0.5, 0.5, tree.sizes[0]), random.uniform(-1.0, 1.0, tree.sizes[1]))
    moved = {name: random.normal(size=(len(tree.names), 3)) for name in state}

    def distance(p, size):
        turn = quaternion_matrix(rotation_quaternion(size*moved["attitude"]))
        off = {name: turn @ state[name] if name == "attitude" else state[name] + size*moved[name] for name in state}
        layout, found = Layout(tree.assembly(p), MATRIX, MIXED), []
        for task in (0, -1):
            motion = plain(layout.motion({}))
            assert motion.evaluate(layout.start(off), task)
            scratch = motion.mechanism.scratch
            found.append([*scratch[:MOVING*len(moved["attitude"])].reshape(-1, MOVING, 3)[:, SPIN:].ravel(),
                          scratch[-1, 1]])
        assert np.abs(motion.mechanism.vectors[0]).max() > 1.0  # of the last task alone
        return np.abs(np.subtract(*found)).max()/np.abs(found[0]).max()

    heavy = p | {name: random.uniform(0.1, 0.3, tree.sizes[1]) for name in ("armature", "damping")}
    light = p | {name: 0.0*p[name] for name in ("armature", "damping")}
    assert max(distance(values, 0.0) for values in (p, heavy, light)) < 1e-13
    assert distance(light, 1e-3) < 1e-4
    assert distance(light, 1e-3)/distance(light, 1e-4) == pytest.approx(100.0, rel=0.2)


@pytest.mark.parametrize("free_base", [False, True])
def test_urdf_moves_as_in_mujoco(free_base, tmp_path):
    base = ('<link name="base"><inertial><mass value="2"/><inertia ixx=".1" iyy=".2" izz=".2" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>")
    path = written(tmp_path, ARM.read_text("utf-8").replace('<link name="base"/>', base), "a.urdf")
    spec = mujoco.MjSpec.from_file(str(path))
    if free_base:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    robot = liestep.from_urdf(path, free_base=free_base)
    assert robot.tree.sizes == ((10, 9) if free_base else (3, 3))
    assert max(compare(robot, model, 1)) < 1e-12


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", urdf_robots.ROBOTS)
def test_urdf_moves_as_in_pinocchio(name, free, tmp_path):
    """Mass matrix, bias and accelerations, with turned inertias, links on fixed joints and links without mass."""
    told = json.loads(urdf_robots.NUMBERS.read_text("utf-8"))[name][free]
    path = written(tmp_path, urdf_robots.text(name), "robot-1.2.urdf")
    if np.linalg.cond(told["mass"]) > 1e12:
        with pytest.raises(InputError, match="with those fixed to it, has no mass or no inertia about an axis"):
            liestep.from_urdf(path, free_base=free)
        return
    robot = liestep.from_urdf(path, free_base=free)
    assert robot.id.startswith("robot_1_2_")
    kinds = [("free", "ball", "slide", "hinge").index(joint.kind) for joint in robot.tree.joints]
    rates = [robot.tree.of[joint.body] for joint in robot.tree.joints]
    starts = {one.name: (at.start, to.start) for listed in rates for one, at, to in listed}
    model = SimpleNamespace(nv=robot.tree.sizes[1], jnt_type=kinds, jnt_qposadr=[
        starts[joint.name][0] for joint in robot.tree.joints], jnt_dofadr=[
        starts[joint.name][1] for joint in robot.tree.joints])
    q, v, mass, bias = (np.array(told[key]) for key in ("q", "v", "mass", "bias"))
    *found, layout, state = of_bodies(robot, model, q, v)
    damping = robot.sheet.presets["own"].parameters["damping"]
    assert max(damping) == (0.3 if "unsorted" in name else 0.0)
    for one, other in zip(found, (np.linalg.solve(mass, -bias - damping*v), mass, bias), strict=True):
        assert np.abs(one - other).max() < 1e-10*np.abs(other).max()
    assert max(np.abs(values).max(initial=0.0) for values in residuals(layout.assembly, state)) < 1e-13


def test_turns_between_few_samples_are_counted(tmp_path):
    """A pendulum that turns over, in a run whose samples say nothing of it; scipy's solution."""
    path = written(tmp_path, '<mujoco><worldbody><body><joint axis="0 1 0"/><inertial pos=".4 0 0" mass="2"'
                             ' diaginertia=".1 .2 .15"/></body></worldbody></mujoco>')
    robot = liestep.from_mjcf(path, q=[0.2], v=[-9.0])
    right = solve_ivp(lambda t, y: [y[1], 2.0*9.81*0.4*np.cos(y[0])/0.52], (0.0, 6.0), [0.2, -9.0], "DOP853",
                      rtol=1e-11, atol=1e-11).y[0, -1]
    assert right < -8.0*np.pi
    for how in ({"integrator": "rkmk", "step": 0.002}, {"integrator": "dop853", "tolerance": 1e-9}):
        for samples in (2, 4):
            run = robot.simulate(**how, t_end=6.0, samples=samples)
            assert robot.coordinates(run)[0][-1, 0] == pytest.approx(right, abs=1e-5)


def surface(folder, triangles):
    """The file of a mesh."""
    parts = [struct.pack("<12fH", 0.0, 0.0, 0.0, *np.ravel(three), 0) for three in triangles]
    (folder/"m.stl").write_bytes(bytes(80) + struct.pack("<I", len(parts)) + b"".join(parts))


def test_meshes_for_pictures_may_be_flat_or_many(tmp_path):
    inertial = '<inertial pos="0 0 1" mass="1" diaginertia=".1 .1 .1"/>'
    heights = [[(i, j, (7*i*i + 3*j*j) % 11) for j in range(9)] for i in range(9)]
    square = [((0, 0, 0), (1, 0, 0), (1, 1, 0)), ((0, 0, 0), (1, 1, 0), (0, 1, 0))]
    bumpy = [(heights[i][j], heights[i + 1][j], heights[i + k][j + 1])
             for i in range(8) for j in range(8) for k in (0, 1)]
    for triangles, many, letters in ((square, 1, 3000), (bumpy, 20, 300_000), (bumpy, 2000, 300_000)):
        surface(tmp_path, triangles)
        text = mjcf("<body><joint/>" + inertial + many*'<geom type="mesh" mesh="m"/>' + "</body>",
                    '<asset><mesh name="m" file="m.stl"/></asset>')
        robot = liestep.from_mjcf(written(tmp_path, text))
        assert robot.tree.sizes == (1, 1)
        assert len(robot.source) < letters
        assert len(robot.tree.shapes) == (many if many < 2000 else 0)
        assert ("All meshes are left out of pictures: too many." in robot.left_out) == (many == 2000)
    surface(tmp_path, square)
    shape = '<visual><geometry><mesh filename="package://r/{}"/></geometry></visual></link>'
    text = urdf_robots.text("mimic").replace("</link>", shape.format("m.stl"), 1).replace(
        "</link><joint", shape.format("../../gone.dae") + "<joint", 1)
    robot = liestep.from_urdf(written(tmp_path, text))
    assert len(robot.tree.shapes) == 1
    assert "The mesh gone of link right is left out: no STL or OBJ in the file's folder." in robot.left_out


@pytest.mark.slow
def test_a_run_goes_where_mujocos_goes_and_keeps_energy_less_work():
    """Both of order 4, in coordinates of joints there, in absolute coordinates here: their distance is."""
    model = mujoco.MjModel.from_xml_path(str(ARM))
    model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.dof_armature[:] = 0.02, 0.01, 0.03
    start, distances = ([0.3, -0.5, 1.0], [2.0, 0.5, -1.0]), []
    arm = liestep.from_urdf(ARM, q=start[0], v=start[1])
    for step in (0.002, 0.001):
        run = arm.simulate("rkmk", step=step, t_end=0.5, parameters={"armature": model.dof_armature}, samples=6,
                           options={"stabilisation": "projection"})
        data, model.opt.timestep = mujoco.MjData(model), step
        data.qpos[:], data.qvel[:] = start
        for _ in range(round(0.5/step)):
            mujoco.mj_step(model, data)
        q, v = arm.coordinates(run)
        assert q.shape == v.shape == (6, 3)
        assert np.abs(q[0] - start[0]).max() < 1e-15
        distances.append([np.abs(q[-1] - data.qpos).max(), np.abs(v[-1] - data.qvel).max(),
                          run.attrs["energy_error_max"]])
    assert np.max(distances[1]) < 1e-7
    assert np.abs(np.divide(*distances) - 16.0).max() < 4.0
    assert run["work"].values[-1] < -9.0  # of the damping
    assert run.attrs["joint_error_max"] < 1e-14
    assert run.attrs["left_out"] == " ".join(arm.left_out)
    with pytest.raises(InputError, match="it needs joints without rotors and sliders"):
        arm.simulate("generalized_alpha", step=0.01, t_end=0.1, parameters={"armature": model.dof_armature})
    damped = [arm.simulate(name, step=0.002, t_end=0.1) for name in ("generalized_alpha", "rkmk")]  # of the file
    assert np.abs(np.subtract(*(arm.coordinates(run)[0][-1] for run in damped))).max() < 1e-4


def test_angles_are_continuous_and_starts_fit(tmp_path):
    path = written(tmp_path, EVERY_JOINT)
    robot, model = liestep.from_mjcf(path), reference(path)
    turning = np.zeros((50, model.nq)) + model.qpos0
    turning[:, 15] = np.linspace(0.0, 12.0, 50)
    states = [robot.start(q) for q in turning]
    found, rates = robot.coordinates({name: np.array([state[name] for state in states]) for name in states[0]})
    assert np.abs(found[:, 15] - turning[:, 15]).max() < 1e-13
    assert not rates.any()
    state = robot.start(turning[3], np.linspace(-1.0, 1.0, model.nv))
    moved = state | {"position": state["position"] + 1e-3*np.eye(7, 3)}
    nearest = liestep.consistent_start(robot, initial=moved)
    p = robot.sheet.check(robot.sheet.presets["own"].parameters)
    assert np.abs(residuals(robot.tree.assembly(p), moved)[0]).max() > 1e-4
    assert max(np.abs(part).max() for part in residuals(robot.tree.assembly(p), nearest)) < 1e-13
    kinetic = robot.sheet.kinetic_energy(p, {name: value[None] for name, value in state.items()})
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = turning[3], np.linspace(-1.0, 1.0, model.nv)
    mujoco.mj_forward(model, data)
    weighed = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, weighed, data.qvel)
    assert kinetic[0] == pytest.approx(0.5*weighed @ data.qvel, rel=1e-13)


LEFT_OUT = """<mujoco><option density="1.2"/><compiler angle="radian"/>
<asset><mesh name="shape" file="nowhere.stl"/><texture name="sky" type="2d" file="../sky.png"/>
 <material name="red" texture="sky"/></asset>
<worldbody><geom name="floor" type="plane" size="1 1 1"/><light name="lamp"/><camera name="eye"/>
 <body name="arm" gravcomp="1">
  <joint name="j" axis="0 1 0" limited="true" range="-1 2" stiffness="3" frictionloss=".1"/>
  <geom name="rod" type="capsule" size=".1 .2" material="red"/><site name="tip"/></body>
 <body name="shaped"><inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/><joint name="k"/>
  <geom name="skin" type="mesh" mesh="shape"/></body></worldbody>
<tendon><fixed name="cord"><joint joint="j" coef="1"/></fixed></tendon>
<actuator><position name="motor" joint="j" kp="2"/></actuator>
<equality><joint name="tie" joint1="j" joint2="k"/></equality><sensor><jointpos name="gauge" joint="j"/></sensor>
<contact><exclude name="apart" body1="arm" body2="shaped"/></contact><keyframe><key name="home"/></keyframe></mujoco>"""


@pytest.mark.parametrize(("flag", "lost"), [("", "limits spring friction"), ('spring="disable"', "limits friction"),
                                            ('limit="disable"', "spring friction"), ('constraint="disable"', "spring"),
                                            ('frictionloss="disable"', "limits spring")])
def test_what_a_file_switches_off_is_not_lost(flag, lost, tmp_path):
    text = (f'<mujoco><option><flag {flag}/></option><worldbody><body><joint axis="0 1 0" stiffness="3" springref="1"'
            ' frictionloss="1" range="-1 1"/><inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody>'
            "</mujoco>")
    said = liestep.from_mjcf(written(tmp_path, text, "a.xml")).left_out
    assert [word for word in ("limits", "spring", "friction") if any(word in one for one in said)] == lost.split()


def test_parts_without_names_are_called_as_no_other(tmp_path):
    inertial = '<inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/>'
    robot = liestep.from_mjcf(written(tmp_path, '<mujoco><worldbody><body><joint axis="0 1 0"/>' + inertial
                                      + '<body name="body_1"><joint name="joint_0" axis="0 1 0"/>' + inertial
                                      + '</body></body></worldbody><actuator><motor joint="joint_0"/>'
                                      '<motor name="motor_0" joint="joint_0"/></actuator></mujoco>', "a.xml"))
    assert (robot.tree.names, robot.tree.labels, [motor.name for motor in robot.tree.motors]) == (
        ("body_1_", "body_1"), ["joint_0_", "joint_0"], ["motor_0_", "motor_0"])
    assert robot.torque({"joint_0": 3.0})["torque"].tolist() == [0.0, 3.0]


def test_everything_that_is_left_out_is_told(tmp_path):
    robot = liestep.from_mjcf(written(tmp_path, LEFT_OUT))
    said = " ".join(robot.left_out)
    for words in ("geom floor is left out: it touches", "geom rod is left out but for its mass",
                  "geom skin is left out:", "mesh shape", "texture sky", "material red", "light lamp", "camera eye",
                  "site tip", "tendon cord",
                  "The servo motor acts only by `actuate`.",
                  "equality tie", "sensor gauge", "exclusion of a contact apart", "keyframe home",
                  "The fluid", "body arm is moved from outside", "Joint j loses its limits (-1, 2).",
                  "Joint j loses its spring (3", "Joint j loses its dry friction (0.1)."):
        assert words in said
    assert all(re.fullmatch(r"[A-Z][^.]*(\.\d[^.]*)*\.", sentence) for sentence in robot.left_out)
    assert robot.sheet.presets["own"].parameters["mass"][1] == 1.0
    text = ARM.read_text("utf-8").replace("<limit lower", '<mimic joint="waist"/><limit lower').replace(
        "</robot>", '<transmission name="gear"><actuator name="m"/></transmission></robot>')
    said = liestep.from_urdf(written(tmp_path, text, "arm.urdf")).left_out
    assert said[:3] == ("<mimic> in line 23 is left out.", "<mimic> in line 27 is left out.",
                        "<transmission> gear is left out.")


@pytest.mark.slow
def test_example_of_the_page(monkeypatch, capsys):
    page = (DOCS/"robots.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert max(len(example.splitlines()) for example in examples) <= 12
    assert len(page.split()) <= 350
    monkeypatch.chdir(DOCS/"examples")
    names = {"__name__": "__main__"}
    exec(examples[0], names)
    *said, angles = capsys.readouterr().out.strip().splitlines()
    assert "Joint elbow loses its limits (-2.5, 2.5)." in said
    assert angles.startswith("[")
    exec(examples[1], names)
    assert np.abs(names["held"]["q"].values[-1] - [0.8, -0.2, 0.5]).max() < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_masses_biases_and_torques_of_joints_are_mujocos(seed, tmp_path):
    """Also their power, for every kind of joint."""
    path = written(tmp_path, EVERY_JOINT)
    robot, model = liestep.from_mjcf(path), reference(path)
    random, data = np.random.default_rng(seed), mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, random.uniform(-1.0, 1.0, model.nv), 1.0)
    data.qvel[:], data.qfrc_applied[:] = random.uniform(-2.0, 2.0, (2, model.nv))
    mujoco.mj_forward(model, data)
    q, v, matrix, column = data.qpos.copy(), data.qvel.copy(), np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    for k in range(model.nv):
        mujoco.mj_mulM(model, data, column, np.eye(model.nv)[k])
        matrix[k] = column
    assert np.abs(robot.mass_matrix(q) - matrix).max() < 1e-14*np.abs(matrix).max()
    assert np.abs(robot.bias(q, v) - data.qfrc_bias).max() < 1e-13*np.abs(data.qfrc_bias).max()
    assert np.abs(robot.inverse_dynamics(q, v, data.qacc) - data.qfrc_applied).max() < 1e-11
    p = {**robot.sheet.check(robot.sheet.presets["own"].parameters), "torque": data.qfrc_applied.copy()}
    layout = Layout(robot.tree.assembly(p), MATRIX, MIXED)
    motion = plain(layout.motion({}))
    assert motion.evaluate(layout.start(robot.tree.state(q, v)), 0)
    power = v @ (data.qfrc_applied - p["damping"]*v)
    assert abs(motion.mechanism.scratch[-1, 1] - power) < 1e-12*np.abs(v*data.qfrc_applied).sum()
    scratch = motion.mechanism.scratch[:MOVING*len(robot.tree.names)].reshape(-1, MOVING, 3)
    known = of_bodies(robot, model, q, v)  # without torques: they add M^-1 torque
    turn, _, rate, velocity = robot.tree.motion(q, np.eye(model.nv))
    rows = np.stack([rate, velocity + turn @ np.cross(rate, p["center_of_mass"][:, :, None], axis=1)], axis=1)
    other = plain(Layout(robot.tree.assembly({**p, "torque": 0.0*v}), MATRIX, MIXED).motion({}))
    assert other.evaluate(layout.start(robot.tree.state(q, v)), 0)
    still = other.mechanism.scratch[:MOVING*len(robot.tree.names)].reshape(-1, MOVING, 3)
    gained = np.stack([scratch[:, SPIN] - still[:, SPIN], scratch[:, PUSH] - still[:, PUSH]], axis=1)
    found = np.linalg.lstsq(rows.reshape(-1, model.nv), gained.ravel(), rcond=None)[0]
    assert np.abs(found + known[0] - data.qacc).max() < 1e-12*np.abs(data.qacc).max()


DRIVEN = """<mujoco>{}<worldbody><body name="stand" pos="1 0 0"><geom type="sphere" size=".2"/></body>
<body><joint name="a" axis="1 0 0" pos="0 1 0" armature=".1" damping="2"/><geom type="box" size=".1 .2 .3"/>
 <body pos=".5 1 0"><joint name="b" type="slide" axis="0 1 0"/><geom type="box" size=".1 .1 .1"/></body></body>
</worldbody><actuator>{}</actuator></mujoco>"""


@pytest.mark.parametrize(("before", "motors", "left"), [
    ('<compiler settotalmass="7"/>', '<motor joint="a"/>', ""),
    ("", '<motor joint="a" gear="3" armature="10" damping="7"/><motor joint="b" gear="-2" armature=".5"/>', ""),
    ('<option><flag damper="disable"/></option>', '<motor joint="a" gear="3" damping="7"/>', ""),
    ('<option actuatorgroupdisable="1"/>', '<motor joint="a" group="1"/><motor joint="b" group="2"/>', "0"),
    ('<option><flag actuation="disable"/></option>', '<motor joint="a"/><motor joint="b"/>', "01"),
    ("", '<motor joint="a" delay=".1" nsample="10"/><motor joint="b"/>', "0"),
    ("", '<general joint="a" dyntype="integrator"/><motor joint="b" gear="3"/>', "0"),
])
def test_what_a_file_says_of_its_motors_and_of_its_mass_acts_as_in_mujoco(before, motors, left, tmp_path):
    """A static body takes part of a total mass; motors have inertia and damping, and are named by the file's number."""
    path = written(tmp_path, DRIVEN.format(before, motors))
    robot, model = liestep.from_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    data, matrix = mujoco.MjData(model), np.zeros((2, 2))
    data.qpos[:], data.qvel[:] = (0.3, -0.2), (0.7, 0.4)
    data.ctrl[:] = controls = [0.0 if str(k) in left else 0.5 + k for k in range(model.nu)]
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, matrix, data.qM)
    q, v = data.qpos.copy(), data.qvel.copy()
    given = {f"motor_{k}": value for k, value in enumerate(controls) if str(k) not in left}
    torque = robot.actuate(given)["torque"]
    assert np.abs(torque - data.qfrc_actuator).max() < 1e-14
    assert np.abs(robot.mass_matrix(q) - matrix).max() < 1e-14*matrix.max()
    assert np.abs(robot.inverse_dynamics(q, v, data.qacc) - torque).max() < 1e-12
    assert [f"The actuator {k} is left out." for k in left] == [one for one in robot.left_out if "actuator" in one]


@pytest.mark.slow
def test_compiled_joint_dynamics_have_the_same_bits(tmp_path):
    robot = liestep.from_mjcf(written(tmp_path, EVERY_JOINT))
    joints, tree = robot.tree.joint_space(robot._parameters), robot.tree
    (n, m), size = tree.sizes, LIMB*(len(tree.names) + 1) + 2*tree.sizes[1]
    made = []
    for call in (solve, loop_for(solve, joints)):
        random = np.random.default_rng(4)
        made.append((np.zeros((m, m)), np.zeros(m)))
        call(joints, random.normal(size=n), random.normal(size=m), np.zeros((size, 3)), *made[-1])
    assert all(map(np.array_equal, *made))
    assert np.linalg.eigvalsh(made[0][0]).min() > 0.0


def test_the_identity_of_a_run_does_not_hold_what_a_robot_remembers():
    arm = liestep.from_urdf(ARM, q=[0.0, -0.5, 1.0])

    def still(t, state):
        return {"torque": arm.bias(state["q"], 0*state["v"])}

    first, second = (arm.simulate("rkmk", step=0.005, t_end=0.01, control=still, sample=0.005) for _ in range(2))
    assert first.attrs["run_sha256"] == second.attrs["run_sha256"]


def test_coordinates_of_members_are_those_of_their_runs():
    """Elbows of members on both sides of a half turn."""
    arm, elbows = liestep.from_urdf(ARM), (1.0, 3.0, -3.0)
    members = [arm.start([0.0, -0.5, elbow]) for elbow in elbows]
    starts = {name: np.stack([one[name] for one in members]) for name in members[0]}
    ends, rows = (arm.coordinates(arm.ensemble("rkmk", step=0.005, t_end=0.01, starts=starts, keep=keep))
                  for keep in ("end", "samples"))
    for k, elbow in enumerate(elbows):
        q, v = arm.coordinates(arm.simulate("rkmk", step=0.005, t_end=0.01, initial=members[k]))
        assert abs(q[0, 2] - elbow) < 1e-12
        assert all(map(np.array_equal, (rows[0][k], rows[1][k], ends[0][k], ends[1][k]), (q, v, q[-1], v[-1])))


@pytest.mark.slow
def test_an_arm_held_by_pd_with_gravity_compensation_goes_where_mujocos_goes():
    arm, model = liestep.from_urdf(ARM, q=[0.0, -0.5, 1.0]), reference(ARM)
    model.dof_damping[:], model.opt.integrator = [0.5, 0.3, 0.2], mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 0.0005
    goal, data, still = np.array([0.8, -0.2, 0.5]), mujoco.MjData(model), mujoco.MjData(model)

    def torque(bias, q, v):
        return bias + [60, 60, 30]*(goal - q) - [8, 8, 4]*v

    run = arm.simulate("dop853", tolerance=1e-11, t_end=2.0, sample=0.01, samples=3, control=lambda t, state: {
        "torque": torque(arm.bias(state["q"], 0*state["v"]), state["q"], state["v"])})
    data.qpos[:] = [0.0, -0.5, 1.0]
    for _ in range(200):
        still.qpos[:] = data.qpos
        mujoco.mj_forward(model, still)
        data.qfrc_applied[:] = torque(still.qfrc_bias, data.qpos, data.qvel)
        for _ in range(20):
            mujoco.mj_step(model, data)
    assert np.abs(run["q"].values[-1] - data.qpos).max() < 1e-9
    assert np.abs(run["v"].values[-1] - data.qvel).max() < 1e-8
    assert np.abs(run["torque"].values[0] - torque(arm.bias([0.0, -0.5, 1.0], np.zeros(3)), np.array(
        [0.0, -0.5, 1.0]), np.zeros(3))).max() < 1e-12


MOTORS = """<mujoco><compiler angle="radian"/><option timestep="0.001" integrator="RK4"/><worldbody><body>
<joint name="shoulder" axis="0 1 0" damping=".3" armature=".02"/>
<geom type="capsule" size=".04" fromto="0 0 0 .4 0 0" mass="1.5" contype="0"/><body pos=".4 0 0">
<joint name="reach" type="slide" axis="1 0 0" damping="2"/><geom type="box" size=".05 .02 .02" mass=".4" contype="0"/>
</body></body></worldbody><actuator>{}<motor name="out" joint="reach" gear="-3" forcerange="-2 2" forcelimited="true"/>
<motor name="lift" joint="shoulder" gear="20" ctrlrange="-.25 .15" ctrllimited="true"/></actuator></mujoco>"""


@pytest.mark.slow
def test_motors_of_a_file_drive_an_arm_where_mujocos_drive_it(tmp_path):
    """By their names, in another order than the joints; both come to the end of their ranges."""
    servo = '<position name="servo" joint="reach" kp="3" timeconst="1"/>'
    arm = liestep.from_mjcf(written(tmp_path, MOTORS.format(servo)), q=[0.2, 0.05])
    assert any("actuator servo" in sentence for sentence in arm.left_out)
    assert not any("actuator lift" in sentence for sentence in arm.left_out)
    model = mujoco.MjModel.from_xml_string(MOTORS.format(""))
    data = mujoco.MjData(model)
    data.qpos[:] = [0.2, 0.05]

    def values(t, q, v):
        return {"lift": -0.3 + 0.5*np.sin(3.0*t) - 0.1*v[0], "out": 40.0*q[1] + v[1] + 4.0*np.cos(2.0*t)}

    run = arm.simulate("dop853", tolerance=1e-11, t_end=2.0, sample=0.02, samples=101,
                       control=lambda t, state: arm.actuate(values(t, state["q"], state["v"])))
    ends = set()
    for k in range(100):
        asked = values(0.02*k, data.qpos, data.qvel)
        ends |= {name for name, (low, high) in {"lift": (-0.25, 0.15), "out": (-2.0, 2.0)}.items()
                 if not low <= asked[name] <= high}
        data.ctrl[:] = asked["out"], asked["lift"]
        for _ in range(20):
            mujoco.mj_step(model, data)
    assert ends == {"lift", "out"}
    assert np.abs(run["q"].values[-1] - data.qpos).max() < 1e-9
    assert np.abs(run["v"].values[-1] - data.qvel).max() < 1e-8
    for wrong, words in (({"lif": 1.0}, "actuate: unknown motor 'lif'; did you mean lift?"),
                         ({"servo": 1.0}, "unknown motor 'servo'"),
                         ({"lift": [1.0, 2.0]}, "motor lift takes one finite number, not [1.0, 2.0]")):
        with pytest.raises(InputError, match=re.escape(words)):
            arm.actuate(wrong)


@pytest.mark.parametrize(("joint", "at"), [("<freejoint/>", 3), ('<joint type="ball"/>', 0)])
def test_quaternions_are_continuous_over_full_turns(tmp_path, joint, at):
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.02"/>'
    path = written(tmp_path, mjcf(f"<body>{joint}{inertial}</body>", '<option gravity="0 0 0"/>'))
    robot = liestep.from_mjcf(path, v=[*[0.0]*(at + 2), 4.0])
    q, _ = robot.coordinates(robot.simulate("rkmk", step=0.01, t_end=5.0, samples=51))
    half = 2.0*np.linspace(0, 5, 51)  # of the angle about z
    assert q[:, at:] == pytest.approx(np.transpose([np.cos(half), 0*half, 0*half, np.sin(half)]), abs=1e-9)
