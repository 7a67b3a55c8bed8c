"""Steps of rigid bodies with torques, and series of the discrete Moser-Veselov map: what every start keeps, random
moments order by order, a symmetric body in closed form, the separatrix, evaluations. In plain Python."""
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mpmath import mp
from plain_runs import stepped
from rigid_cases import formulated
from scipy.spatial.transform import Rotation

from liestep.compile.counters import Counter, new_counters
from liestep.integrators.rigid_split import exact_flow
from liestep.mechanics.formulations.fixed_body.components import RigidBody
from liestep.mechanics.systems._free_motion import free_motion
from liestep.mechanics.systems.free_rigid_body import FreeRigidBody
from liestep.simulation.catalogue import method
from liestep.simulation.plugins.trial import plain
from liestep.tools.certify.number import numbers
from liestep.tools.certify.orders import certificates_of
from liestep.tools.certify.steps import Case, step_of

ORDERS = (2, 4, 6, 8, 10)
METHODS = {"exact": ("exact_split", {}), "exact strang": ("exact_split", {"splitting": "strang"}), "dmv": ("dmv", {}),
           "dmv2": ("dmv", {"order": 2, "splitting": "kl6"}), "body": ("body_midpoint", {"splitting": "y4"}),
           "lie": ("lie_midpoint", {})}
SIGNS = np.array([1.0, -1.0, -1.0])


def inertia(seed, symmetric):
    random = np.random.default_rng(seed)
    a, b = random.uniform(0.3, 2.0, 2)
    if symmetric:
        return [float(a), float(a), float(random.uniform(0.1, 1.9)*a)]
    return [float(a), float(b), float(random.uniform(abs(a - b) + 0.05, a + b))]


def end(name, parameters, attitude, momentum, h, steps=2):
    """Attitude and angular momentum of a top after some steps."""
    integrator, options = METHODS[name]
    declared = method(integrator)
    chosen = {key: option.default for key, option in declared.options.items()} | options
    case = formulated("heavy_top", "asymmetric", "rigid_bodies", parameters,
                      {"attitude": attitude, "angular_momentum": momentum})
    y = stepped(plain(declared.build(chosen, None, 1.0)), plain(case.problem), case.start, h, steps)
    return y[:3].T, y[3]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(METHODS)), st.integers(0, 2**31), st.booleans())
@example("body", 126, True)
def test_what_every_step_of_a_top_keeps(name, seed, symmetric):
    """The momentum along gravity and, of symmetric tops, about the axis; steps back return; a turn of space, gravity
    with it, turns the motion; axes in another order do not change it."""
    random = np.random.default_rng(seed)
    moments, h = np.array(inertia(seed, symmetric)), 0.05
    attitude, momentum = Rotation.random(random_state=seed).as_matrix(), random.standard_normal(3)
    # the discrete free motion ends at a fold, beyond 1.5 rad in the longest part of a step
    assume("dmv" not in name or np.linalg.norm(attitude.T @ momentum/moments)*h < 0.8)
    axis, gravity = random.standard_normal(3), random.standard_normal(3)*5.0
    axis = np.array([0.0, 0.0, 1.0]) if symmetric else axis/np.linalg.norm(axis)
    top = {"inertia": moments, "axis": axis, "gravity": gravity, "mass": 1.2, "length": 0.4}
    q, p = end(name, top, attitude, momentum, h)
    assert np.abs(q - attitude).max() >= 1e-3
    assert abs((p - momentum) @ gravity) <= 1e-14*np.linalg.norm(gravity)*(1.0 + np.linalg.norm(momentum))
    if symmetric:
        assert abs(p @ q[:, 2] - momentum @ attitude[:, 2]) <= 1e-13
    back, old = end(name, top, q, p, -h)
    assert max(np.abs(back - attitude).max(), np.abs(old - momentum).max()) <= 1e-13
    turn = Rotation.random(random_state=seed + 1).as_matrix()
    turned = end(name, top | {"gravity": turn @ gravity}, turn @ attitude, turn @ momentum, h)
    assert max(np.abs(turned[0] - turn @ q).max(), np.abs(turned[1] - turn @ p).max()) <= 1e-12
    order = random.permutation(3)
    frame = np.eye(3)[:, order]
    frame[:, 0] *= np.linalg.det(frame)
    other = end(name, top | {"inertia": moments[order], "axis": frame.T @ axis}, attitude @ frame, momentum, h)
    assert max(np.abs(other[0] - q @ frame).max(), np.abs(other[1] - p).max()) <= 1e-12


@pytest.mark.parametrize(("splitting", "count"), [
    ("strang", 1), ("y4", 3), ("rkn4", 6), ("rkn6", 11), ("rkn6a", 14), ("kl8", 17)])
def test_evaluations_of_a_step(splitting, count):
    """The torque of the last kick of a step serves the first one of the next; rkn6a begins with a drift."""
    case = formulated("heavy_top", "asymmetric", "rigid_bodies")
    problem = plain(case.problem)
    stepped(plain(method("exact_split").build({"splitting": splitting}, None, 1.0)), problem, case.start, 0.01, 3)
    assert problem.counters[Counter.FORCE_EVALUATIONS] == 3*count + (splitting != "rkn6a")


def test_the_lie_midpoint_rule_turns_a_sphere_by_the_exponential():
    case = formulated("free_rigid_body", "asymmetric", "rigid_bodies", {"inertia": [0.8]*3})
    chosen = {key: option.default for key, option in method("lie_midpoint").options.items()}
    y = stepped(plain(method("lie_midpoint").build(chosen, None, 1.0)), plain(case.problem), case.start, 0.5)
    turn = Rotation.from_rotvec(0.5*case.start[3]/0.8)
    assert np.abs(y[:3] - turn.apply(case.start[:3])).max() <= 1e-14


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_modified_moments_of_random_bodies_have_their_order(order, seed):
    """Series against definition: the map with modified moments is the flow of the free body to this order."""
    body, options = Case(f"body {seed}", "free_rigid_body", "asymmetric", {"inertia": inertia(seed, False)}), {
        "order": order, "splitting": "strang"}
    found = certificates_of(step_of(body, "dmv", options), "dmv", options, body)[0]
    assert found.slopes[-1] == pytest.approx(order, abs=1e-8)


def turned_about(axis, angle):
    """Rotation matrix of mpmath about a unit vector."""
    hat = mp.matrix([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return mp.eye(3) + mp.sin(angle)*hat + (1 - mp.cos(angle))*hat*hat


@pytest.mark.parametrize("order", ORDERS)
def test_frequencies_of_a_symmetric_body_in_closed_form(order):
    """With moments a, a, c the flow is a turn about pi at |pi|/a after one about the body's axis at Pi_3 (1/c - 1/a):
    sines and cosines, no solver and no series. The step differs by h^(order + 1)."""
    a, c = 1.25, 0.75
    step = step_of(Case("symmetric body", "free_rigid_body", "asymmetric", {"inertia": [a, a, c]}), "dmv",
                   {"order": order, "splitting": "strang"})
    with mp.workdps(150):
        def rows(y):
            return mp.matrix([[mp.make_mpf(x.value) for x in line] for line in y])

        start = rows(step.start)
        q, p = start[:3, :].T, start[3, :].T
        size, sizes = mp.norm(p), []
        for h in (mp.mpf(10)**-8, mp.mpf(10)**-10):
            spin = turned_about((mp.mpf(0), mp.mpf(0), mp.mpf(1)), h*(q.T*p)[2]*(1/mp.mpf(c) - 1/mp.mpf(a)))
            exact = turned_about([x/size for x in p], h*size/a)*q*spin
            new = rows(step(numbers(150).of(Fraction(1, round(1/h)))))[:3, :].T
            sizes.append(mp.log10(max(map(abs, new - exact))))
    assert float(sizes[0] - sizes[1])/2.0 - 1.0 == pytest.approx(order, abs=1e-6)


@pytest.mark.parametrize("radians", [1.0, 10.0, 20.0])
@pytest.mark.parametrize("signs", [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)])
def test_exact_flow_at_the_separatrix(signs, radians):
    """|Pi|^2 = 2 T I_2: Pi_2 = L tanh(rate t + u_0) and the others are multiples of sech, so that the momentum in the
    body is elementary. 1 - m sn^2 sn^2 vanishes there for large times. Round-off grows like exp(|rate| t)."""
    moments = np.array([1.5, 1.0, 0.6])
    one, two, three = moments
    body = np.array([signs[0]*np.sqrt((one/three)*(two - three)/(one - two)), 0.3, signs[1]])
    size = np.linalg.norm(body)
    turn = Rotation.random(random_state=4).as_matrix()
    problem = plain(RigidBody(FreeRigidBody(moments), new_counters()))
    y = np.ascontiguousarray(np.concatenate([turn.T, (turn @ body)[None]]))
    flow = plain(exact_flow())
    flow.flow(problem, 0, radians, y, flow.workspace(problem, y))
    rate = -signs[0]*signs[1]*size*np.sqrt((1.0/two - 1.0/one)*(1.0/three - 1.0/two))
    u = np.arctanh(body[1]/size) + rate*radians
    expected = np.array([body[0]*np.cosh(np.arctanh(0.3/size))/np.cosh(u), size*np.tanh(u),
                         body[2]*np.cosh(np.arctanh(0.3/size))/np.cosh(u)])
    limit = 1e-14 + 1e-15*np.exp(abs(rate)*radians)
    assert np.abs(y[:3] @ (turn @ body) - expected).max() <= limit
    assert np.abs(y[:3].T - free_motion(moments, turn, turn @ body, np.array([radians]))[0][0]).max() <= limit
