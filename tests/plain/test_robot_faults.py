"""Robot files and calls of robots that are refused, each in one sentence."""
import sys

import numpy as np
import pytest
import urdf_robots
from plugin_room import _nothing_stays  # noqa: F401
from urdf_robots import ARM, mjcf, written

import liestep
from liestep.errors import InputError
from liestep.extend import rotor

pytest.importorskip("mujoco", reason="the extra robots is not installed")


URDF_FAULTS = [
    ('<joint name="j2" type="fixed"><parent link="b"/><child link="a"/></joint>',
     "link a hangs on two joints, j and j2: a URDF has no loops"),
    ('<link name="c"/><link name="d"/><joint name="k" type="fixed"><parent link="c"/><child link="d"/></joint>'
     '<joint name="l" type="fixed"><parent link="d"/><child link="c"/></joint>', "the links c, d hang on each other"),
    ('<joint name="k" type="fixed"><parent link="arm"/><child link="b"/></joint>', "the parent of joint k: .*arm"),
    ('<joint name="k" type="fixed"><parent link="b"/></joint>', "the child of joint k: "),
    ('<link name="c"/>', "the links base, c hang on no joint: a URDF has one such link"),
    ('<link name="a"/>', "two links have the name a"), ("<link/>", "a <link> has no name"),
    ('<joint name="j"/>', "two joints have the name j"),
    ('<link name="c"/><joint name="k" type="screw"><parent link="b"/><child link="c"/></joint>', "joint k: .*screw"),
]


@pytest.mark.parametrize(("more", "said"), URDF_FAULTS)
def test_urdf_that_is_no_tree_is_refused_in_one_sentence(more, said, tmp_path):
    text = "".join(['<robot name="r"><link name="base"/>', urdf_robots.link("a"), urdf_robots.link("b"),
                    urdf_robots.joint("j", "base", "a"), urdf_robots.joint("i", "a", "b"), more, "</robot>"])
    refused_urdf(tmp_path, text, said)


def refused_urdf(folder, text, said):
    with pytest.raises(InputError, match=said) as caught:
        liestep.from_urdf(written(folder, text, "r.urdf"))
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('value="0.7"', 'value="-0.7"', "the mass of link a must not be negative"),
    ('value="0.7"', 'value="heavy"', "value of <mass> is 'heavy'; it must be 1 finite number"),
    ('xyz="1 2 0"', 'xyz="0 0 0"', "the axis of joint j must not be zero"),
    ('xyz="1 2 0"', 'xyz="0 0"', "xyz of <axis> is '0 0'; it must be 3 finite numbers"),
    ('iyy="0.02"', 'iyy="-0.02"', "link a, with those fixed to it, has the moments of inertia .*which no body has"),
    ('iyy="0.02"', 'iyy="0.5"', "link a, with those fixed to it, has the moments of inertia .*which no body has"),
    ('iyy="0.02"', "", "iyy of <inertia> is None; it must be 1 finite number"),
    ('<mass value="0.4"/>', '<mass value="0"/>', "link b, with those fixed to it, "),
    ('type="prismatic"', 'type="floating"', "joint k is floating; allowed is one on the ground"),
])
def test_urdf_with_wrong_numbers_is_refused_in_one_sentence(old, new, said, tmp_path):
    text = urdf_robots.text("unsorted moments, turned")
    assert old in text
    refused_urdf(tmp_path, text.replace(old, new, 1), said)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('<axis xyz="1 2 0"/>', '<axis xyz="1 2 0"/><axis xyz="0 0 1"/>', "line 1 repeats <axis>, of which <joint> has"),
    ('<mass value="0.7"/>', '<mass value="0.7"/><mass value="7"/>', "line 1 repeats <mass>, of which <inertial> has"),
])
def test_urdf_that_says_one_thing_twice_is_refused(old, new, said, tmp_path):
    text = urdf_robots.text("unsorted moments, turned")
    assert old in text
    refused_urdf(tmp_path, text.replace(old, new, 1), said)


def test_urdf_tells_limits_and_attributes_that_nobody_reads(tmp_path):
    text = urdf_robots.text("unsorted moments, turned").replace(
        '<axis xyz="1 2 0"/>', '<axis xyz="1 2 0"/><dynamics dampin="3"/>', 1).replace(
        "<robot ", '<robot xmlns:xacro="http://ros.org/wiki/xacro" ', 1)
    told = liestep.from_urdf(written(tmp_path, text, "r.urdf")).left_out
    assert told[0] == "dampin of <dynamics> in line 1 is left out."
    assert "Joint k loses its limits of effort and velocity (1, 1)." in told
    assert "xacro" not in " ".join(told)


BODY = '<body name="b">{}<geom size=".1"/></body>'
ENTITIES = ('<!DOCTYPE mujoco [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
            '<mujoco model="&b;"/>')


@pytest.mark.parametrize(("text", "said"), [
    (ENTITIES, r"line 1 declares a document type, which could hold entities"),
    ('<!DOCTYPE m SYSTEM "file:///etc/passwd"><mujoco/>', r"line 1 declares a document type"),
    ('<mujoco>\n<include file="../other.xml"/></mujoco>', r"line 2 names the file ../other.xml, which is outside the"),
    ('<mujoco><include file="/etc/hostname"/></mujoco>', r"names the file /etc/hostname, which is outside the folder"),
    ('<mujoco><include file="inner.xml"/></mujoco>', r"inner.xml: line 1 declares a document type"),
    ('<mujoco><include file="nowhere.xml"/></mujoco>', r"nowhere.xml"),
    (mjcf('<flexcomp name="f" type="mesh" file="/etc/passwd"/>'), r"reads the file /etc/passwd for <flexcomp>"),
    (mjcf('<body><joint/><geom type="mesh" mesh="m"/></body>', '<asset><mesh name="m" file="../m.stl"/></asset>'),
     r"the mesh ../m.stl is outside the folder of the model"),
    (mjcf('<body><joint/><geom type="mesh" mesh="m"/></body>',
          '<compiler meshdir=".."/><asset><mesh name="m" file="m.stl"/></asset>'), r"the mesh m.stl is outside"),
    (mjcf('<body><joint/><geom type="mesh" mesh="m"/></body>', '<asset><mesh name="m" file="m.stl"/></asset>'),
     r"Error opening file .*m.stl"),
    (mjcf('<replicate count="1000000000"><body><joint/><geom size="1"/></body></replicate>'),
     r"line 1 repeats <replicate> 1e\+09 times; allowed are 10000 repeated elements in all"),
    (mjcf('<replicate count="300"><replicate count="300"><geom size="1"/></replicate></replicate>'), r"repeats <rep"),
    (mjcf('<body><flexcomp name="f" type="grid" count="200 200 200"/></body>'), r"repeats <flexcomp> 8e\+06 times"),
    ("not XML at all", r"is no XML: syntax error"),
    ("<mujoco><worldbody></mujoco>", r"is no XML: mismatched tag"),
    ('<robot name="r"/>', r"begins with <robot>, not <mujoco>: liestep.from_urdf reads it"),
    ("<html/>", r"begins with <html>, not <mujoco>: it is no robot"),
    ("<mujoco><worldbodies/></mujoco>", r"unrecognized element .*line 1"),
    (mjcf('<body name="b"><joint/></body>'), r"mass and inertia of moving bodies must be larger than mjMINVAL"),
    (mjcf(BODY.format('<joint damping="nan"/>')), r"line 1 has NaN for a number of <joint>"),
    (mjcf(BODY.format("")), r"has no joint: nothing moves"),
    (mjcf(BODY.format('<joint/><joint type="slide"/>')),
     r"body b has the joints hinge slide; allowed are free, or slides and then ball or up to three hinges"),
    (mjcf(BODY.format('<joint name="j" axis="1 0 0"/><joint name="k" axis="1 1 0"/>')),
     r"hinges j, k of body b must go through one point, each orthogonal to the next"),
    (mjcf(BODY.format('<joint name="j" axis="1 0 0"/><joint name="k" axis="0 1 0" pos="1 0 0"/>')),
     r"hinges j, k of body b must go through one point"),
    (mjcf(BODY.format('<joint axis="1 0 0" armature="1"/><joint axis="0 1 0"/><joint axis="1 0 0"/>')),
     r"three not in one plane"),
    (mjcf(BODY.format(2*'<joint type="slide" axis="1 0 0" armature="1"/>')), r"slides of body b are not along indep"),
    (mjcf('<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'), r"must satisfy A \+ B >= C"),
])
def test_bad_files_are_refused_in_one_sentence(text, said, tmp_path):
    (tmp_path/"below").mkdir()
    written(tmp_path, "<mujoco/>", "other.xml")
    written(tmp_path/"below", ENTITIES, "inner.xml")
    with pytest.raises(InputError, match=said) as caught:
        liestep.from_mjcf(written(tmp_path/"below", text))
    assert str(tmp_path) in str(caught.value) or "body b" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_bad_input_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.xml"):
        liestep.from_mjcf(tmp_path/"nowhere.xml")
    with pytest.raises(InputError, match=r"begins with <mujoco>, not <robot>: liestep\.from_mjcf reads it"):
        liestep.from_urdf(written(tmp_path, "<mujoco/>"))
    for q in ([0.0, 1.0], [0.0, 1.0, np.nan]):
        with pytest.raises(InputError, match="q must be 3 finite numbers, of waist, shoulder, elbow"):
            liestep.from_urdf(ARM, q=q)
    with pytest.raises(InputError, match="v must be 3 finite numbers"):
        liestep.from_urdf(ARM).start([0.0, 0.0, 0.0], [1.0])
    with pytest.raises(InputError, match="quaternion of length zero"):
        liestep.from_mjcf(written(tmp_path, mjcf(BODY.format('<joint type="ball"/>'))), q=[0.0]*4)
    with pytest.raises(InputError, match="heavy_top is a system or an integrator already"):
        liestep.from_urdf(ARM, name="heavy_top")
    for inertia, damping in ((-1.0, 0.0), (1.0, -1.0), (float("nan"), 0.0)):
        with pytest.raises(InputError, match="inertia and damping of a rate must not be negative: "):
            rotor(0, np.eye(3)[0], 1, inertia, damping)
    with pytest.raises(InputError, match="name 'a b' must be letters"):
        liestep.from_urdf(ARM, name="a b")


def test_a_missing_extra_is_one_sentence_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    monkeypatch.setattr("builtins.__import__", _without(__import__))
    with pytest.raises(InputError, match=r'mujoco, which is not installed: pip install "liestep\[robots\]"'):
        liestep.from_urdf(ARM)


def _without(found):
    def importing(name, *rest, **more):
        if name == "mujoco":
            raise ModuleNotFoundError("No module named 'mujoco'", name="mujoco")
        return found(name, *rest, **more)
    return importing


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda arm: arm.torque({"elbo": 1.0}), "torque: unknown joint 'elbo'; did you mean elbow?"),
    (lambda arm: arm.torque({"elbow": [1.0, 2.0]}), "torque of joint elbow must be 1 numbers, not of shape (2,)"),
    (lambda arm: arm.bias([0.0], np.zeros(3)), "q must be 3 finite numbers, of waist, shoulder, elbow"),
    *((lambda arm, a=a: arm.inverse_dynamics(np.zeros(3), np.zeros(3), a), f"a must be {said}") for a, said in (
        ([1.0], "3 finite numbers, of waist, shoulder, elbow"),
        ([np.nan, 0.0, 0.0], "3 finite numbers, of waist, shoulder, elbow"), ("abc", "numbers, not 'abc'"),
        ([1j, 0.0, 0.0], "real numbers"), (np.ones(3) + 1j, "real numbers"), ([True, False, True], "numbers, not true"),
        (np.ma.array(np.ones(3), mask=[0, 1, 0]), "numbers, not a masked array"))),
    (lambda arm: arm.simulate("rkmk", step=0.01, initial={"q": np.zeros(3)}), "initial q is of joints: give"
     " initial=robot.start(q, v)"),
    (lambda arm: arm.simulate("rkmk", step=0.01, sample=0.01, control=lambda t, state: {"torque": [1.0]}),
     "control at t = 0.0: torque has the shape (1,); it must have (3,)")])
def test_wrong_torques_are_one_sentence(call, sentence):
    with pytest.raises(InputError) as caught:
        call(liestep.from_urdf(ARM))
    assert sentence in str(caught.value)
