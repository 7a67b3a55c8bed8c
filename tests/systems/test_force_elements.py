"""Force elements, an author's forces and further joints of mechanisms: closed forms, scipy on equations written anew,
energy and work, index-3 methods, sentences."""
import joint_rows
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import liestep
from liestep.errors import InputError
from liestep.extend import (
    GROUND,
    Body,
    bushing,
    constant_velocity,
    distance,
    drive,
    gear,
    planar,
    prismatic,
    rack,
    revolute,
    rolling,
    screw,
    slide_drive,
    slider,
    spherical,
    spring_damper,
    torsion,
    universal,
)
from liestep.mechanics.formulations.multibody.family import jacobian, residuals
from liestep.simulation.runs.specification import start_of

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = np.eye(3)
ZERO = np.zeros(3)
J = [0.1, 0.2, 0.25]


def run(name, t_end=2.0, tolerance=1e-10, **given):
    return liestep.system(name, **given).simulate("dop853", tolerance=tolerance, t_end=t_end, samples=11)


def damped(t, x, v, k, c, m):
    """Of m x'' = -k x - c x', below critical damping."""
    a = c/(2.0*m)
    w = np.sqrt(k/m - a*a)
    return np.exp(-a*t)*(x*np.cos(w*t) + (v + a*x)/w*np.sin(w*t))


@pytest.mark.parametrize("c", [0.0, 0.9])
def test_two_bodies_on_a_spring_swing_with_the_reduced_mass(c):
    one, two, k, rest = 1.0, 2.0, 50.0, 0.8
    data = run("pair", bodies=[Body(one, J, x=[-0.5, 0, 0]), Body(two, J, x=[0.6, 0, 0], v=[0.3, 0, 0])],
               elements=[spring_damper(0, ZERO, 1, ZERO, stiffness=k, rest=rest, damping=c)])
    t, x = data["time"].values, data["position"].values[:, :, 0]
    expected = rest + damped(t, 1.1 - rest, 0.3, k, c, one*two/(one + two))
    np.testing.assert_allclose(x[:, 1] - x[:, 0], expected, atol=1e-8)
    assert data.attrs["momentum_conserved"] == "xyz"
    assert data.attrs["energy_error_max"] < 1e-8
    if c:
        stored = 0.5*k*(expected - rest)**2
        motion = 0.5*one*two/(one + two)*np.diff(data["velocity"].values[:, :, 0], axis=1)[:, 0]**2
        spent = stored + motion - stored[0] - motion[0]
        np.testing.assert_allclose(data["work"], spent, atol=1e-8)
        assert spent[-1] < -1.0


def hinged(elements, **start):
    return {"bodies": [Body(1.0, J, **start)], "joints": [revolute(GROUND, ZERO, THIRD, 0, ZERO, THIRD)],
            "elements": elements}


def test_a_torsion_pendulum_and_its_damper():
    k, c, rest = 3.0, 0.2, 2.5  # more than a quarter of a turn off
    data = run("torsion_pendulum", **hinged([torsion(GROUND, THIRD, FIRST, 0, FIRST, stiffness=k, rest=rest,
                                                     damping=c)], rate=[0, 0, 1.0]))
    angle = rest + damped(data["time"].values, -rest, 1.0, k, c, J[2])
    np.testing.assert_allclose(data["attitude"].values[:, 0, 0, 0], np.cos(angle), atol=1e-8)
    assert data.attrs["energy_error_max"] < 1e-8


def test_a_spring_that_is_wound_beyond_half_a_turn_says_so():
    """The angle is 3/w sin(w t) with w = sqrt(k/J): the run ends at 3.1 rad, and no chart or step is blamed."""
    rate = np.sqrt(0.02/J[2])
    with pytest.raises(liestep.IntegrationError, match=r"a run ends where the spring comes to 3\.1 rad") as ended:
        run("wound", t_end=10.0, **hinged([torsion(GROUND, THIRD, FIRST, 0, FIRST, stiffness=0.02)], rate=[0, 0, 3.0]))
    assert ended.value.time == pytest.approx(np.arcsin(3.1*rate/3.0)/rate, abs=0.01)
    assert "chart" not in str(ended.value)


def test_a_torsion_spring_between_attitudes_has_the_square_of_the_angle():
    """Of a body with equal moments that starts at rest, 2 rad away about a slanted axis."""
    axis, k = np.array([2.0, -1.0, 2.0])/3.0, 1.7
    data = run("attitudes", bodies=[Body(1.0, [0.3]*3, R=Rotation.from_rotvec(2.0*axis).as_matrix())],
               elements=[bushing(GROUND, ZERO, 0, ZERO, np.diag([0, 0, 0, k, k, k]))])
    found = Rotation.from_matrix(data["attitude"].values[:, 0]).as_rotvec() @ axis
    np.testing.assert_allclose(found, 2.0*np.cos(np.sqrt(k/0.3)*data["time"].values), atol=1e-8)
    assert data.attrs["energy_error_max"] < 1e-9


def random_bushing(damping, seed=3):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(6, 6))
    frame = Rotation.random(random_state=seed)
    other = (Rotation.from_rotvec([0.2, -0.3, 0.1])*frame).as_matrix()
    points = random.normal(size=(2, 3))
    return bushing(0, points[0], 1, points[1], 0.05*matrix @ matrix.T, damping, frame.as_matrix(), other)


def test_a_bushing_pulls_with_the_slope_of_its_energy():
    """Full matrices, frames and points: energy and momentum are kept, and by damping the energy less its work."""
    turns = Rotation.from_rotvec([[0.4, -0.2, 0.1], [-0.2, 0.3, 0.5]]).as_matrix()
    bodies = [Body(1.0, J, R=turns[0], rate=[1.0, -0.5, 0.3]), Body(0.5, J, x=[0.5, -1, 0.2], R=turns[1], v=[1, 0, 1])]
    for damping in (None, 0.2*np.diag([0.5, 0.2, 0.1, 0.3, 0.2, 0.1])):
        data = run("bush", bodies=bodies, elements=[random_bushing(damping)], t_end=0.6)
        assert data.attrs["energy_error_max"] < 1e-8
        assert data.attrs["momentum_error_max_z"] < 1e-9
        if damping is not None:
            assert data["work"].values[-1] < -0.01
            assert (np.diff(data["work"]) < 0.0).all()


def test_actuators_and_friction_of_a_slide_follow_their_laws():
    law = {"effort": (0.4, 0.3, 2.0, 5.0), "friction": 0.7, "slip": 0.05, "stiffness": 4.0, "rest": 0.2}
    data = run("slide", bodies=[Body(2.0, J)], joints=[prismatic(GROUND, ZERO, FIRST, 0, ZERO, FIRST, SECOND, THIRD)],
               elements=[slider(GROUND, ZERO, FIRST, 0, ZERO, **law)])

    def rhs(t, y):
        push = 0.4 + 0.3*t + 2.0*np.sin(5.0*t) - 4.0*(y[0] - 0.2) - 0.7*y[1]/np.hypot(y[1], 0.05)
        return [y[1], push/2.0]

    expected = solve_ivp(rhs, (0.0, 2.0), [0.0, 0.0], "DOP853", data["time"].values, rtol=1e-12, atol=1e-12).y
    np.testing.assert_allclose(data["position"].values[:, 0, 0], expected[0], atol=1e-8)
    mechanical = 0.5*2.0*expected[1]**2 + 2.0*(expected[0] - 0.2)**2
    np.testing.assert_allclose(data["mechanical_energy"], mechanical, atol=1e-8)
    np.testing.assert_allclose(data["work"], mechanical - mechanical[0], atol=1e-8)


def test_a_function_of_length_and_rate_is_the_law_that_it_says():
    """A stiffening spring with a parameter that stays free."""
    def stiffening(x, rate, p):
        return -p.k*(x - 0.5)**3 - 0.1*rate

    system = liestep.system("stiffening", bodies=[Body(1.0, J, x=[1.0, 0, 0])], parameters={"k": 30.0},
                            elements=[spring_damper(GROUND, ZERO, 0, ZERO, function=stiffening)])
    for k in (30.0, 60.0):
        data = system.simulate("dop853", tolerance=1e-10, t_end=2.0, samples=5, parameters={"k": k})
        expected = solve_ivp(lambda t, y, k=k: [y[1], -k*(y[0] - 0.5)**3 - 0.1*y[1]], (0.0, 2.0), [1.0, 0.0], "DOP853",
                             data["time"].values, rtol=1e-12, atol=1e-12).y
        np.testing.assert_allclose(data["position"].values[:, 0, 0], expected[0], atol=1e-8)


def test_each_element_has_its_own_function():
    """Two of them, on two bodies."""
    data = run("two_laws", bodies=[Body(1.0, J, x=[1.0, 0, 0]), Body(1.0, J, x=[0, 1.0, 0])], elements=[
        spring_damper(GROUND, ZERO, 0, ZERO, function=lambda x: -4.0*(x - 0.5)),
        spring_damper(GROUND, ZERO, 1, ZERO, function=lambda x: -9.0*(x - 0.5))])
    t, place = data["time"].values, data["position"].values
    np.testing.assert_allclose(place[:, 0, 0], 0.5 + 0.5*np.cos(2.0*t), atol=1e-8)
    np.testing.assert_allclose(place[:, 1, 1], 0.5 + 0.5*np.cos(3.0*t), atol=1e-8)


def test_potential_force_and_torque_of_an_author_on_a_mechanism():
    """A pendulum of two links: the same by a potential as by gravity and a spring, then pushed."""
    bodies = [Body(1.0, J, x=[0.5, 0, 0]), Body(1.5, J, x=[1.5, 0, 0])]
    joints = [spherical(GROUND, ZERO, 0, [-0.5, 0, 0]), spherical(0, [0.5, 0, 0], 1, [-0.5, 0, 0])]

    def weight(x, R, p):
        end = x[1] + 0.5*R[1][:, 0]
        return p.g*(x[0, 2] + 1.5*x[1, 2]) + 0.5*p.k*(end[1]**2 + (end[0] - 1)**2 + end[2]**2)

    one = run("by_potential", bodies=bodies, joints=joints, potential=weight, parameters={"g": 9.81, "k": 20.0})
    two = run("by_elements", bodies=bodies, joints=joints, gravity=[0, 0, -9.81],
              elements=[spring_damper(GROUND, FIRST, 1, [0.5, 0, 0], stiffness=20.0)])
    np.testing.assert_allclose(one["position"], two["position"], atol=1e-8)
    np.testing.assert_allclose(one["energy"], two["energy"], atol=1e-7)

    def pushed(t, v):
        return [[0, 0, 0], [0, np.sin(t), -0.3*v[1, 2]]]

    def twisted(omega):
        return [-0.2*omega[0], [0, 0, 0]]

    data = run("pushed", bodies=bodies, joints=joints, gravity=[0, 0, -9.81], force=pushed, torque=twisted)
    assert data.attrs["energy_error_max"] < 1e-8
    assert abs(data["work"].values[-1]) > 0.1


@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_index_three_methods_take_all_elements(damping):
    """Their error falls with the square of the step, against an explicit method of order 8."""
    system = liestep.system("all_elements", gravity=[0, 0, -9.81], bodies=[
        Body(1.0, J, x=[0.5, 0, 0]), Body(0.8, J, x=[1.2, 0, 0.3], rate=[1.0, 0.5, 0])], joints=[
        revolute(GROUND, ZERO, SECOND, 0, [-0.5, 0, 0], SECOND)], elements=[
        random_bushing(None if not damping else damping*np.eye(6)),
        spring_damper(GROUND, THIRD, 1, [0.2, 0, 0], stiffness=30.0, rest=0.6, damping=damping),
        torsion(GROUND, SECOND, FIRST, 0, FIRST, stiffness=5.0, damping=damping)])
    exact = system.simulate("dop853", tolerance=1e-10, t_end=0.5, samples=2)
    errors = []
    for steps in (100, 200):
        data = system.simulate("generalized_alpha", steps=steps, t_end=0.5, samples=2)
        errors.append(np.abs(data["position"].values[-1] - exact["position"].values[-1]).max())
    assert errors[1] < 3e-4
    assert errors[0]/errors[1] > 3.4


JOINED = {
    "distance": ([Body(1.0, J, x=[1.0, 0, 0], v=[0, 0.5, 0]), Body(2.0, J, x=[1.0, 1.2, 0], rate=[1, 2, 0])], [
        distance(GROUND, ZERO, 0, [0, 0, 0.1], np.hypot(1.0, 0.1)), distance(0, [0.1, 0, 0], 1, [0, -0.2, 0],
                                                                            np.hypot(1.0, 0.1))]),
    "planar": ([Body(1.0, J, rate=[0, 1, 0]), Body(0.5, J, x=[0.5, 0, 0.2], v=[0.0, 0.3, -0.5], rate=[0, 1, 1.0])], [
        revolute(GROUND, ZERO, SECOND, 0, ZERO, SECOND), planar([0, 0, 0.2], THIRD, 1, ZERO, THIRD, a=0)]),
    "constant_velocity": ([Body(1.0, J, rate=[0.3, 1, 2.0]), Body(0.5, J, x=[0.1, 0, 0.8])], [
        spherical(GROUND, ZERO, 0, ZERO), constant_velocity(0, [0, 0, 0.4], THIRD, 1, [-0.1, 0, -0.4], THIRD)]),
    "gear": ([Body(1.0, J, rate=[0, 0, 2.0]), Body(1.0, J, x=[1, 0, 0], rate=[0, 0, -3.0])], [
        revolute(GROUND, ZERO, THIRD, 0, ZERO, THIRD), revolute(GROUND, FIRST, THIRD, 1, ZERO, THIRD),
        gear(0, THIRD, 1, THIRD, -1.5)]),
    "rack": ([Body(1.0, J, rate=[0, 0, 2.0]), Body(1.0, J, v=[0.5, 0, 0])], [
        revolute(GROUND, ZERO, THIRD, 0, ZERO, THIRD), prismatic(GROUND, ZERO, FIRST, 1, ZERO, FIRST, SECOND, THIRD),
        rack(0, THIRD, 1, FIRST, 0.25)])}


@pytest.mark.parametrize("kind", JOINED)
def test_further_joints_keep_energy_and_themselves(kind):
    """By rows that are written down anew, and by an index-3 method with derivatives of the reactions."""
    bodies, joints = JOINED[kind]
    system = liestep.system(f"joined_{kind}", bodies=bodies, joints=joints, gravity=[0, -9.81, 0], fit=True)
    start = start_of(system)
    assembly, random = system.sheet.build(start.parameters), np.random.default_rng(3)
    state = {name: value + (0.0 if name == "attitude" else 0.1*random.standard_normal(value.shape))
             for name, value in start.initial.items()}
    np.testing.assert_allclose(residuals(assembly, state), joint_rows.residuals(assembly, state), atol=1e-13)
    np.testing.assert_allclose(jacobian(assembly, state), joint_rows.jacobian(assembly, state), atol=1e-13)
    exact = system.simulate("dop853", tolerance=1e-10, t_end=0.5, samples=2)
    assert exact.attrs["energy_error_max"] < 1e-8
    assert exact.attrs["joint_error_max"] < 1e-8
    errors = [np.abs(system.simulate("generalized_alpha", steps=steps, t_end=0.5, samples=2, options={
        "index": 2})["position"].values[-1] - exact["position"].values[-1]).max() for steps in (100, 200)]
    assert errors[1] < 1e-3
    assert errors[0] > 3.4*errors[1] or errors[0] < 1e-12


def test_gears_and_racks_turn_by_their_ratio():
    for kind, found in (("gear", lambda data: data["body_rate"].values[:, 1, 2]/data["body_rate"].values[:, 0, 2]),
                        ("rack", lambda data: data["velocity"].values[:, 1, 0]/data["body_rate"].values[:, 0, 2])):
        bodies, joints = JOINED[kind]
        data = liestep.system(f"joined_{kind}", bodies=bodies, joints=joints, gravity=[0, -9.81, 0], fit=True).simulate(
            "dop853", tolerance=1e-10, t_end=0.5, samples=6)
        np.testing.assert_allclose(found(data), -1.5 if kind == "gear" else 0.25, atol=1e-10)


@pytest.mark.parametrize(("integrator", "sized"), [
    ("dop853", {"tolerance": 1e-10}), ("generalized_alpha", {"steps": 400})])
def test_a_driven_slide_follows_its_law_and_has_the_work_that_moves_it(integrator, sized):
    law = (0.1, 0.3, 0.2, 4.0)
    joints = [prismatic(GROUND, ZERO, FIRST, 0, ZERO, FIRST, SECOND, THIRD),
              slide_drive(GROUND, ZERO, FIRST, 0, ZERO, law)]
    data = liestep.system("driven_slide", bodies=[Body(2.0, J, x=[0.1, 0, 0], v=[1.1, 0, 0])], joints=joints).simulate(
        integrator, t_end=1.0, samples=6, **sized)
    t = data["time"].values
    np.testing.assert_allclose(data["position"].values[:, 0, 0], 0.1 + 0.3*t + 0.2*np.sin(4.0*t), atol=1e-8)
    speed = 0.3 + 0.8*np.cos(4.0*t)
    np.testing.assert_allclose(data["work"], speed**2 - speed[0]**2, atol=1e-8 if integrator == "dop853" else 1e-4)


ONE = [Body(1.0, J)]


@pytest.mark.parametrize(("make", "said"), [
    (lambda: spring_damper(GROUND, ZERO, 0, ZERO, rest=-1.0), "natural length of a spring_damper must be a finite"
     " number of at least 0, not -1.0"),
    (lambda: spring_damper(GROUND, ZERO, 0, ZERO, stiffness=np.nan), "stiffness of a spring_damper must be a finite"
     " number of at least 0, not nan"),
    (lambda: torsion(GROUND, [0, 0, 2], FIRST, 0, FIRST), "axis of a torsion must be a unit vector, not of length 2"),
    (lambda: slider(GROUND, ZERO, FIRST, 0, ZERO, friction=1.0), "friction of a slider needs slip > 0"),
    (lambda: bushing(GROUND, ZERO, 0, ZERO, -np.eye(6)), "stiffness of a bushing must be a symmetric matrix without"),
    (lambda: bushing(GROUND, ZERO, 0, ZERO, np.eye(3)), "stiffness of a bushing must be finite numbers of shape"
     " (6, 6), not of shape (3, 3)"),
    (lambda: distance(GROUND, ZERO, 0, FIRST, -1.0), "length of a distance joint must be a positive number, not -1.0"),
    (lambda: distance(GROUND, ZERO, 0, FIRST, "1"), "length of a distance joint must be numbers, not '1'"),
    (lambda: rolling(0, ZERO, FIRST, 0.0, ZERO, THIRD), "radius of a rolling disc must be a positive number, not 0.0"),
    (lambda: made(elements=[spring_damper(GROUND, ZERO, 3, ZERO)]), "element 0 (spring_damper) is at body 3; bodies are"
     " numbered from 0 to 0, and GROUND is allowed"),
    (lambda: made(joints=[spherical(0, ZERO, 0, ZERO)]), "joint 0 (spherical) is between body 0 and itself"),
    (lambda: made(elements=[spring_damper(GROUND, ZERO, GROUND, FIRST)]), "element 0 (spring_damper) is between the"
     " ground and itself"),
    (lambda: made(joints=[spherical(GROUND, 0.3*FIRST, 0, ZERO)]), "the start is off joint 0 (spherical, the ground to"
     " body 0) by 0.3, allowed 3e-13; fit=True moves the bodies to the nearest start that fits, as"
     " liestep.consistent_start does"),
    (lambda: made(force=lambda x: [0.0, 0.0, 1.0]), "force"),
    (lambda: made(force=lambda x: [[0.0, 0.0, float("nan")]]), "force is nan at the start"),
    (lambda: made(elements=[spring_damper(GROUND, FIRST, 0, ZERO, function=lambda x: [x, x])]), "function of the"
     " spring_damper"),
    (lambda: made(elements=[spring_damper(GROUND, FIRST, 0, ZERO, function=lambda length: length)]), "length"),
    (lambda: made(elements=[spring_damper(GROUND, ZERO, 0, ZERO, stiffness=1.0, rest=0.5)]), "element 0 (spring_damper)"
     " has length zero at the start, where its force has no direction"),
    (lambda: made(joints=spring_damper(GROUND, ZERO, 0, ZERO)), "joints must be a list of Joint"),
    (lambda: made(lagrangian=lambda q: 0.0), "lagrangian is no argument of a mechanism, whose arguments are"
     " bodies, joints, elements, gravity, fit, potential, force, torque; it is one of a Lagrangian system"),
    (lambda: made(start={"x": ZERO}), "start is no argument of a mechanism"),
    (lambda: liestep.system("wrong", rhs=lambda y: y, start={"y": [1.0]}, gravity=[0, 0, -9.81]),
     "gravity is no argument of a system of first order, whose arguments are rhs, energy, invariants; it is one of a"
     " mechanism"),
    (lambda: liestep.system("wrong", bodies=[]), "bodies must hold one Body at least"),
    (lambda: liestep.system("wrong", body=ONE), "system: unknown argument 'body'; did you mean bodies?"),
    (lambda: spring_damper(GROUND, ZERO, 0, ZERO, ret=1.0), "'ret'; did you mean rest?"),
    (lambda: torsion(GROUND, THIRD, FIRST, 0, FIRST, stifness=1.0), "torsion: unknown argument 'stifness'; did you"
     " mean stiffness?"),
    (lambda: bushing(GROUND, ZERO, 0, ZERO, np.eye(6), dampng=1.0), "bushing: unknown argument 'dampng'; did you mean"),
    (lambda: revolute(GROUND, ZERO, THIRD, 0, ZERO), "missing a required argument: 'v'; it is called as revolute("),
    (lambda: revolute(GROUND, ZERO, 2*THIRD, 0, ZERO, THIRD), "axes of a joint must be unit vectors, not of length 2"),
    (lambda: gear(0, 2*THIRD, 1, THIRD, 2.0), "axes of a joint must be unit vectors, not of length 2"),
    (lambda: rack(0, THIRD, 1, 0.5*FIRST, 0.1), "axes of a joint must be unit vectors, not of length 0.5"),
    (lambda: gear(0, THIRD, 1, THIRD, 0.0), "ratio of a gear must be a finite number other than zero, not 0.0"),
    (lambda: screw(GROUND, ZERO, THIRD, 0, ZERO, THIRD, 0.0, FIRST, FIRST), "lead of a screw must be a finite number"),
    (lambda: universal(GROUND, ZERO, 2*THIRD, 0, ZERO, FIRST), "axes of a joint must be unit vectors"),
    (lambda: slide_drive(GROUND, ZERO, 2*FIRST, 0, ZERO, (0, 1, 0, 0)), "axes of a joint must be unit vectors"),
    (lambda: slide_drive(GROUND, ZERO, FIRST, 0, ZERO, (0, 1, 0)), "law of a slide_drive must be four finite numbers"),
    (lambda: drive(GROUND, THIRD, [0, 0.6, 0.8], 0, FIRST, (0, 1, 0, 0)), "e of a drive must be orthogonal to its axis"
     " u; their product is 0.8"),
    (lambda: torsion(GROUND, THIRD, [0, 0.6, 0.8], 0, FIRST), "e of a torsion must be orthogonal to its axis u"),
    (lambda: made(joints=[spherical(GROUND, ZERO, 0.5, ZERO)]), "joint 0 (spherical) is at body 0.5; bodies are"),
    (lambda: liestep.system("wrong", bodies=[Body(np.nan, J)]), "mass of body 0 must be a finite number, not"
     " nan"),
    (lambda: spherical(GROUND, [0, 0], 0, ZERO), "points and axes of a joint (spherical) must be three finite numbers"),
    (lambda: liestep.system("wrong", bodies=[Body(-1.0, J)]), "body 0 must have a positive mass"),
    (lambda: liestep.system("wrong", bodies=[Body(1.0, J, x=[1, 2])]), "x of body 0 must be finite numbers of shape"
     " (3,), not of shape (2,)")])
def test_what_makes_no_mechanism_is_refused_in_a_sentence(make, said):
    with pytest.raises(InputError) as caught:
        make()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def made(**given):
    return liestep.system("wrong", bodies=ONE, **given)


@pytest.mark.parametrize(("method", "size"), [("rk4", {"step": 0.01}), ("dop853", {"tolerance": 1e-8})])
def test_a_torsion_spring_past_half_a_turn_ends_the_run(method, size):
    """There its angle would jump by a turn. A damper alone has no angle and goes on."""
    def turning(name, **law):
        return liestep.system(name, bodies=[Body(1.0, [0.1, 0.2, 0.3], rate=[12.0, 0.0, 0.0])], t_end=2.0,
                              joints=[revolute(GROUND, ZERO, FIRST, 0, ZERO, FIRST)],
                              elements=[torsion(GROUND, FIRST, SECOND, 0, SECOND, **law)])

    with pytest.raises(liestep.IntegrationError, match=r"stopped after t = 0\.(29|3).*torsion spring.*3\.1 rad"):
        turning("wound", stiffness=1.0).simulate(method, **size)
    assert turning("unwound", damping=0.1).simulate(method, **size).attrs["status"] == "ok"


def test_joints_that_drift_far_warn_with_the_remedy():
    """A link that turns by 0.9 rad in a step; small steps stay."""
    arm = liestep.system("drifting", bodies=[Body(1.0, [0.1, 0.1, 0.1], x=[1, 0, 0], v=[0, 9.0, 0], rate=[0, 0, 9.0])],
                         joints=[revolute(GROUND, ZERO, THIRD, 0, [-1, 0, 0], THIRD)])
    with pytest.warns(UserWarning, match=r"joints are off by up to .*options={'stabilisation': 'baumgarte'}"):
        far = arm.simulate("rk4", step=0.1, t_end=10.0)
    assert far.attrs["status"] == "ok"
    assert far.attrs["joint_error_max"] > 0.01
    assert "warning" not in arm.simulate("rk4", step=0.001, t_end=1.0).attrs
