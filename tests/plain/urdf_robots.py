"""Robots of URDF files whose inertias are easily read wrongly, beside pinocchio's numbers. As a program it writes
`pinocchio.json` (`pip install pin`, 4.1): python tests/plain/urdf_robots.py."""
import json
import tempfile
from pathlib import Path

import numpy as np

NUMBERS = Path(__file__).with_name("pinocchio.json")
ARM = Path(__file__).parents[2]/"docs"/"examples"/"arm.urdf"


def written(folder, text, name="model.xml"):
    (folder/name).write_text(text, "utf-8")
    return folder/name


def mjcf(inside, before=""):
    return f"<mujoco>{before}<worldbody>{inside}</worldbody></mujoco>"


def link(name, mass=1.0, moments=(0.03, 0.02, 0.04), at="0.1 -0.2 0.3", rpy="0 0 0", products=(0.0, 0.0, 0.0)):
    (xx, yy, zz), (xy, xz, yz) = moments, products
    return (f'<link name="{name}"><inertial><origin xyz="{at}" rpy="{rpy}"/><mass value="{mass}"/><inertia ixx="{xx}"'
            f' iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"/></inertial></link>')


def joint(name, a, b, kind="revolute", axis="0 0 1", at="0.2 0.1 0.3", rpy="0.3 -0.4 0.5", inside=""):
    return (f'<joint name="{name}" type="{kind}"><parent link="{a}"/><child link="{b}"/>'
            f'<origin xyz="{at}" rpy="{rpy}"/><axis xyz="{axis}"/>{inside}'
            '<limit lower="-1" upper="2" effort="1" velocity="1"/></joint>')


def empty(name):
    return f'<link name="{name}"/>'


ROBOTS = {
    "unsorted moments, turned": [
        empty("world"), link("a", 0.7, (0.05, 0.02, 0.04), rpy="1 0.2 -0.7", products=(0.004, -0.003, 0.002)),
        link("b", 0.4, (0.02, 0.04, 0.03), rpy="0 1.5707963267948966 0"), joint("j", "world", "a", axis="1 2 0"),
        joint("k", "a", "b", "prismatic", "0 1 1", inside='<dynamics damping="0.3"/>')],
    "chains of fixed joints": [
        link("base", 3.0), link("f1", 0.5, (0.01, 0.03, 0.02)), joint("x", "base", "f1", "fixed"), empty("f2"),
        joint("y", "f1", "f2", "fixed"), link("f3", 2.0, (0.2, 0.1, 0.15), rpy="0 0 0.4"),
        joint("z", "f2", "f3", "fixed"), link("arm"), joint("j", "f2", "arm", "continuous", "0 1 0"), empty("t1"),
        joint("u", "arm", "t1", "fixed"), link("t2", 1.5, (0.3, 0.2, 0.4)), joint("w", "t1", "t2", "fixed"),
        link("point", 0.2, (0.0, 0.0, 0.0)), joint("v", "t2", "point", "fixed")],
    "mimic": [
        empty("base"), link("left", 0.3), link("right", 0.2), joint("l", "base", "left", "prismatic", "0 2 0"),
        joint("r", "base", "right", "prismatic", "0 -1 0", inside='<mimic joint="l" multiplier="-1"/>')],
    "hip of three axes": [
        link("pelvis", 5.0), empty("v1"), empty("v2"), link("leg", 2.0),
        joint("x", "pelvis", "v1", axis="1 0 0"), joint("y", "v1", "v2", axis="0 1 0", at="0 0 0", rpy="0 0 0"),
        joint("z", "v2", "leg", axis="0 0 1", at="0 0 0", rpy="0 0 0")],
    "axes askew without mass between": [
        link("base", 2.0), link("trunk"), empty("between"), link("hand", 0.4), joint("a", "base", "trunk"),
        joint("b", "trunk", "between", axis="1 0.5 0"), joint("c", "between", "hand", axis="0 1 1")],
    "thin rod and a slide": [
        empty("base"), link("rod", 1.0, (0.1, 0.1, 0.0), "0 0 0.4"), joint("a", "base", "rod", axis="1 0 0"),
        link("slider", 0.5), joint("b", "rod", "slider", "prismatic", "0 0 1"), empty("between"),
        joint("c", "slider", "between", axis="0 1 0"), link("tip", 0.3), joint("d", "between", "tip", axis="1 1 0")],
}


def text(name):
    return f'<robot name="r">{"".join(ROBOTS[name])}</robot>'


def start(name, free):
    """Angles, and with a free base its place and unit quaternion before them; rates."""
    count = sum('type="fixed"' not in part for part in ROBOTS[name] if part.startswith("<joint"))
    random = np.random.default_rng(len(name) + free)
    q, v = random.uniform(-1.0, 1.0, count + 7*free), random.uniform(-2.0, 2.0, count + 6*free)
    q[3:7*free] /= np.linalg.norm(q[3:7*free]) if free else 1.0
    return q, v


def numbers(pinocchio, path, q, v, free):
    """Mass matrix and bias in the coordinates of `Tree`: of a free base the spatial velocity and the body rate."""
    given = (pinocchio.JointModelFreeFlyer(),) if free else ()
    model = pinocchio.buildModelFromUrdf(str(path), *given)
    data, places, own = model.createData(), pinocchio.neutral(model), np.zeros((model.nv, len(v)))
    slope = np.zeros_like(own)  # dV/dt
    if free:
        places[:7] = *q[:3], *q[4:7], q[3]
        turn, (x, y, z) = pinocchio.Quaternion(*q[3:7]).matrix(), v[3:6]
        own[:3, :3], own[3:6, 3:6] = turn.T, np.eye(3)
        slope[:3, :3] = -np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ turn.T
    order = [part.partition('"')[2].partition('"')[0] for part in depth_first(path)]
    for k, joint_name in enumerate(order):
        held, angle = model.joints[model.getJointId(joint_name)], q[7*free + k]
        places[held.idx_q:held.idx_q + held.nq] = [np.cos(angle), np.sin(angle)] if held.nq == 2 else [angle]
        own[held.idx_v, 6*free + k] = 1.0
    half = np.triu(pinocchio.crba(model, data, places))
    full = half + np.triu(half, 1).T
    bias = pinocchio.nle(model, data, places, own @ v) + full @ slope @ v
    return {"q": q.tolist(), "v": v.tolist(), "mass": (own.T @ full @ own).tolist(), "bias": (own.T @ bias).tolist()}


def depth_first(path):
    """Joints that move in the order of the file, which here is that of the tree."""
    return [part for part in path.read_text("utf-8").split("<joint ")[1:] if 'type="fixed"' not in part]


if __name__ == "__main__":
    import pinocchio

    found = {}
    for each in ROBOTS:
        file = Path(tempfile.mkdtemp())/"robot.urdf"
        file.write_text(text(each), "utf-8")
        found[each] = [numbers(pinocchio, file, *start(each, free), free) for free in (False, True)]
    NUMBERS.write_text(json.dumps({"pinocchio": pinocchio.__version__, **found}) + "\n", "utf-8")
