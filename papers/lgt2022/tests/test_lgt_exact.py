"""lgt2022: every local-global transition map against the group product, also by dual quaternions, and motions that are
known in closed form. In plain Python."""
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from mechanism_cases import action, chart_map, random_mechanism, unit
from scipy.spatial.transform import Rotation

import liestep
from liestep.compile.status import Status
from liestep.geometry.attitude import about_axis
from liestep.geometry.groups.poses import EULER, MATRIX, QUATERNION, ROTATION_VECTOR, Poses
from liestep.integrators.rkmk import METHODS
from liestep.mechanics.formulations.multibody.assembly import multiplier_rows
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import start_of

ATTITUDES = {"quaternion": QUATERNION, "rotation_vector": ROTATION_VECTOR, "matrix": MATRIX, "euler": EULER}
CHARTS = {"exp": 0, "cayley": 1, "cayley2": 2}
MAPS = list(product(("se3", "so3_r3"), CHARTS, ATTITUDES))


def poses(group, chart, attitude):
    return plain(Poses(2, ATTITUDES[attitude], int(group == "se3"), CHARTS[chart]))


def rows(attitude, turns, places):
    """State of two bodies at rest, from rotations and places."""
    blocks = []
    for turn, place in zip(turns, places, strict=True):
        width = 4 if attitude == "quaternion" else 3
        block = np.zeros((6 if attitude == "matrix" else 4, width))
        if attitude == "matrix":
            block[:3] = turn.as_matrix().T
        elif attitude == "quaternion":
            block[0] = turn.as_quat(scalar_first=True)
        else:
            block[0] = turn.as_rotvec() if attitude == "rotation_vector" else turn.as_euler("ZYX")[::-1]
        block[-3, :3] = place
        blocks.append(block)
    return np.concatenate(blocks)


def matrices(attitude, y):
    """Poses (2, 4, 4) of a state."""
    found = np.tile(np.eye(4), (2, 1, 1))
    for i, block in enumerate(np.split(y, 2)):
        if attitude == "matrix":
            turn = block[:3].T
        elif attitude == "quaternion":
            turn = Rotation.from_quat(block[0], scalar_first=True).as_matrix()
        else:
            x = block[0, :3]
            turn = (Rotation.from_rotvec(x) if attitude == "rotation_vector" else
                    Rotation.from_euler("ZYX", x[::-1])).as_matrix()
        found[i, :3, :3], found[i, :3, 3] = turn, block[-3, :3]
    return found


TURNS = Rotation.from_rotvec([[0.3, -1.1, 0.7], [-2.0, 0.4, 0.9]])
PLACES = np.array([[0.4, -0.2, 1.1], [-0.7, 0.5, 0.3]])


@pytest.mark.parametrize(("group", "chart", "attitude"), MAPS)
class TestMap:
    def test_it_is_the_group_product(self, group, chart, attitude):
        """To 5e-15, for steps from 1e-9 to beyond a radian."""
        mover, y = poses(group, chart, attitude), rows(attitude, TURNS, PLACES)
        for size in (0.0, 1e-9, 1e-3, 0.4, 1.3):
            xi = np.zeros((8, 3))
            for i in range(2):
                xi[4*i], xi[4*i + 1] = size*unit(np.array([1.0, -2.0, 0.5 + i])), [0.3, -0.4, 0.2 + i]
            out = y.copy()
            mover.act(xi, y, out)
            for i, (before, after) in enumerate(zip(matrices(attitude, y), matrices(attitude, out), strict=True)):
                wanted = before @ chart_map(chart, xi[4*i], xi[4*i + 1] if group == "se3" else np.zeros(3))
                wanted[:3, 3] += xi[4*i + 1] if group == "so3_r3" else 0.0
                assert np.abs(after - wanted).max() < 5e-15

    def test_log_inverts_it(self, group, chart, attitude):
        mover, y = poses(group, chart, attitude), rows(attitude, TURNS, PLACES)
        for size in (1e-9, 1e-3, 0.5, 2.0):
            xi = size*np.random.default_rng(4).normal(size=(8, 3))/3.0
            out, found = y.copy(), np.full((8, 3), np.nan)
            mover.act(xi, y, out)
            mover.log(y, out, found)
            assert np.abs(found - xi).max() < 1e-14

    def test_its_bracket_is_that_of_an_algebra(self, group, chart, attitude):
        mover = poses(group, chart, attitude)
        a, b, c = np.random.default_rng(5).normal(size=(3, 8, 3))

        def bracket(one, two):
            out = np.full((8, 3), np.nan)
            mover.bracket(one, two, out)
            return out

        assert np.array_equal(bracket(a, b), -bracket(b, a))
        assert np.abs(bracket(a, bracket(b, c)) + bracket(b, bracket(c, a)) + bracket(c, bracket(a, b))).max() < 2e-14
        assert np.abs(bracket(a, b)[0::4] + np.cross(a[0::4], b[0::4])).max() < 1e-15  # of the opposite group


def times(p, q):
    """Hamilton product."""
    return np.array([p[0]*q[0] - p[1:] @ q[1:], *(p[0]*q[1:] + q[0]*p[1:] + np.cross(p[1:], q[1:]))])


def dual(turn, place):
    """Unit dual quaternion Q + e (0, r) Q/2 of a pose."""
    q = turn.as_quat(scalar_first=True)
    return q, 0.5*times(np.array([0.0, *place]), q)


def dual_times(one, two):
    return times(one[0], two[0]), times(one[0], two[1]) + times(one[1], two[0])


def dual_exponential(x, y):
    """exp of the dual vector (x + e y)/2: cosine and sine of the dual angle, moved along the axis of the screw."""
    angle = np.linalg.norm(x)
    axis, slide = x/angle, x @ y/angle
    moment = (y - slide*axis)/angle
    c, s = np.cos(0.5*angle), np.sin(0.5*angle)
    return (np.array([c, *(s*axis)]),
            np.array([-0.5*slide*s, *(s*moment + 0.5*slide*c*axis)]))


def test_combination_1a_is_the_product_of_dual_quaternions():
    mover, y = poses("se3", "exp", "quaternion"), rows("quaternion", TURNS, PLACES)
    for size in (1e-3, 0.7, 3.0, 6.0):
        xi = np.zeros((8, 3))
        for i in range(2):
            xi[4*i], xi[4*i + 1] = size*unit(np.array([0.4, 1.0, -0.6 + i])), [0.3, -0.4, 0.2 + i]
        out = y.copy()
        mover.act(xi, y, out)
        for i in range(2):
            q, far = dual_times(dual(TURNS[i], PLACES[i]), dual_exponential(xi[4*i], xi[4*i + 1]))
            conjugate = q*np.array([1.0, -1.0, -1.0, -1.0])
            assert np.abs(out[4*i] - q).max() < 2e-15
            assert np.abs(out[4*i + 1, :3] - 2.0*times(far, conjugate)[1:]).max() < 2e-14/min(size, 1.0)
            assert abs(q @ far) < 1e-15  # a unit dual quaternion stays one


def turned(angle, chart):
    """Error of R after one step of rk4 that turns by an angle (rad) at a constant rate."""
    axis = np.array([0.0, 0.0, 1.0])
    q, V = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([*(angle*axis), 0, 0, 0])
    q, _ = liestep.lgt.step(lambda q, V, t: np.zeros(6), q, V, 1.0, "so3_r3", chart)
    exact = Rotation.from_rotvec(angle*axis).as_matrix()
    return np.abs(Rotation.from_quat(q[:4], scalar_first=True).as_matrix() - exact).max()


def test_a_constant_rotation_in_one_step():
    """The exponential is exact up to 2 pi, the Cayley map loses the rotation, its second order later."""
    for angle in (0.5, 1.0, 2.0, 3.0, 6.28):
        assert turned(angle, "exp") < 4e-15
    sizes = [turned(angle, "cayley") for angle in (0.5, 1.0, 2.0, 3.0)]
    assert sizes == pytest.approx([1.31e-5, 3.23e-4, 1.16e-2, 0.203], rel=0.005)
    later = [turned(angle, "cayley2") for angle in (0.5, 1.0, 2.0, 3.0)]
    assert later == pytest.approx([8.74e-7, 2.52e-5, 6.99e-4, 4.89e-3], rel=0.005)


def rates(assembly, state, **options):
    form = action(assembly, state, **options)
    problem, out = plain(form.problem), np.zeros((form.problem.algebra_rows(), 3))
    assert problem.algebra(0.0, form.start, out)
    return out, plain(problem.generator.motion.mechanism).vectors[0].copy()


@pytest.mark.parametrize("twist", ["body", "mixed"])
def test_a_symmetric_top_precesses_steadily(twist):
    """R = Rz(p t) Rx(a) Rz(s t) with I3 (s + p cos a) p - I1 p^2 cos a = m g l: the rate in the body is known."""
    start = start_of("jointed_body", preset="slow_top")
    p, assembly = start.parameters, sheet("jointed_body").build(start.parameters)
    mass, arm = p["mass"], 0.3
    across, axial = p["inertia"][0, 0] + mass*arm**2, p["inertia"][2, 2]
    for tilt, precession in ((0.6, 3.0), (1.2, -2.0), (2.0, 1.5)):
        spin = (mass*9.81*arm/precession - (axial - across)*precession*np.cos(tilt))/axial
        turn = about_axis(tilt, 0)
        w = np.array([0.0, precession*np.sin(tilt), spin + precession*np.cos(tilt)])
        state = {"attitude": turn[None], "body_rate": w[None], "position": (turn @ [0.0, 0.0, arm])[None],
                 "velocity": (turn @ np.cross(w, [0.0, 0.0, arm]))[None]}
        out, force = rates(assembly, state, twist=twist)
        wanted = np.array([precession*spin*np.sin(tilt), 0.0, 0.0])
        assert np.abs(out[2] - wanted).max() < 1e-12*max(1.0, np.abs(wanted).max(), spin**2)
        # Newton's law of the whole body: the centre goes round, the joint carries weight and centripetal force
        inward = mass*precession**2*arm*np.sin(tilt)*np.array([0.0, 1.0, 0.0])
        assert np.abs(-force - inward - [0.0, 0.0, mass*9.81]).max() < 1e-11*np.abs(force).max()


def test_an_upright_top_sleeps():
    start = start_of("jointed_body", preset="sleeping_top")
    assembly = sheet("jointed_body").build(start.parameters)
    w = np.array([0.0, 0.0, 30.0])
    state = {"attitude": np.eye(3)[None], "body_rate": w[None], "position": np.array([[0.0, 0.0, 0.3]]),
             "velocity": np.zeros((1, 3))}
    out, force = rates(assembly, state)
    assert np.abs(out[2:]).max() < 1e-14
    assert force == pytest.approx([0.0, 0.0, -9.81], abs=1e-14)


def test_a_chain_in_free_fall_feels_no_joint():
    """Nothing holds it, no body turns: all points fall alike, and joints carry nothing."""
    assembly, state = random_mechanism(8, ("spherical", "revolute", "universal"))
    inner = [joint for joint in assembly.joints if min(joint.a, joint.b) >= 0]
    falling = replace(assembly, joints=inner, elements=[])
    assert inner
    state = {**state, "body_rate": np.zeros((3, 3)), "velocity": np.tile([0.3, -0.2, 0.5], (3, 1))}
    out, force = rates(falling, state, action="so3_r3", twist="mixed")
    assert np.abs(out[2::4]).max() < 1e-13
    assert np.abs(out[3::4] - assembly.gravity).max() < 1e-13
    assert np.abs(force).max() < 1e-13


def test_reactions_of_the_ground_are_what_newton_asks_for():
    """A tree with one joint on the ground: d/dt of all momentum less the weights and the spring."""
    assembly, state = random_mechanism(5, ("revolute", "universal", "spherical"))
    (ground,) = [joint for joint in assembly.joints if min(joint.a, joint.b) < 0]
    out, multipliers = rates(assembly, state, action="so3_r3", twist="mixed")
    (spring,) = assembly.elements
    anchor, point = spring.vectors
    arm = state["attitude"][spring.b] @ (assembly.center_of_mass[spring.b] + point)
    force = -spring.rows[0, 0]*(anchor - state["position"][spring.b] - arm)
    for i, mass in enumerate(assembly.mass):
        turn, w, c = state["attitude"][i], state["body_rate"][i], assembly.center_of_mass[i]
        moved = out[4*i + 3] + turn @ (np.cross(out[4*i + 2], c) + np.cross(w, np.cross(w, c)))
        force = force + mass*(moved - assembly.gravity)
    owners = np.concatenate([[joint is ground and part.size == 3]*part.size for joint, part in assembly.groups])
    held = multipliers[multiplier_rows(assembly)][owners]
    assert ground.a < 0  # rows are P_ground - P_body: the multiplier is the force on the body
    assert np.abs(held - force).max() < 1e-12*np.abs(held).max()


def test_screw_coordinates_of_a_pose_are_not_free_of_singularities():
    """Section 6.4 (2): taken as absolute attitude, X = log(C) of a body that turns and moves along a line. At a
    half turn the vector jumps to its opposite and takes its translation along, while C goes on; not so X of a step."""
    action = poses("se3", "exp", "quaternion")
    angles = np.linspace(0.1, 2.0*np.pi - 0.1, 200)
    states = [rows("quaternion", Rotation.from_rotvec([[0.0, 0.0, angle]]*2), [[0.5*angle, -0.2, 0.0]]*2)
              for angle in angles]
    whole, steps = np.zeros((len(angles), 8, 3)), np.zeros((len(angles) - 1, 8, 3))
    for k, state in enumerate(states):
        action.log(states[0], state, whole[k])
        if k:
            action.log(states[k - 1], state, steps[k - 1])
    turned = whole[:, 0, 2]
    assert np.abs(np.diff(turned)).max() == pytest.approx(2.0*np.pi, abs=0.05)
    assert np.abs(np.diff(whole[:, 1], axis=0)).max() > 1.0
    assert np.abs(turned).max() < np.pi + 1e-12
    np.testing.assert_allclose(steps[:, 0, 2], angles[1] - angles[0], rtol=1e-11)
    assert np.abs(np.diff(steps[:, 1], axis=0)).max() < 0.02


class Faster(NamedTuple):
    """A body whose rate grows with time: no stage leaves the chart, the end of the step does."""

    action: Any
    first: float
    last: float

    def algebra_rows(self):
        return self.action.algebra_rows()

    def algebra(self, t, y, out):
        out[:] = 0.0
        out[0, 0] = self.first + t*(self.last - self.first)
        return True

    def act(self, xi, y, out):
        self.action.act(xi, y, out)

    def dexpinv(self, sigma, v, out):
        return self.action.dexpinv(sigma, v, out)

    def in_chart(self, sigma):
        return self.action.in_chart(sigma)

    def project(self, y):
        return True


@pytest.mark.parametrize(("chart", "limit"), [("exp", 2.0*np.pi), ("cayley", 40.0), ("cayley2", 80.0)])
@pytest.mark.parametrize("where", ["stage", "end", "nowhere"])
def test_a_chart_can_be_left_at_a_stage_and_at_the_end_of_a_step(chart, limit, where):
    """limit: of |X|, where the Rodrigues vector of a Cayley map is 20."""
    first, last = {"stage": (1.2, 0.2), "end": (0.8, 1.6), "nowhere": (0.02, 0.03)}[where]
    problem = Faster(plain(Poses(1, QUATERNION, 1, CHARTS[chart])), first*limit, last*limit)
    method = plain(METHODS["rkmk"].build({"tableau": "heun", "dexpinv": "exact"}, None, 1.0))
    y = np.zeros((4, 4))
    y[0, 0] = 1.0
    before, work = y.copy(), method.workspace(problem, y)
    status = method.step(problem, 0.0, y, 1.0, work)
    assert status == (Status.OK if where == "nowhere" else Status.CHART_LIMIT)
    assert np.array_equal(y, before) == (where != "nowhere")
