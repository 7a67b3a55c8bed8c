"""liestep.lgt.step: equations of one's own, against runs of liestep."""
from functools import cache

import numpy as np
import pytest
from mechanism_cases import hat

import liestep
from liestep import InputError, IntegrationError, simulate
from liestep.geometry.quaternion import from_rotation_vector, of_matrix
from liestep.lgt import step
from liestep.mechanics.contracts.formulated import quaternion_matrix
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.specification import specify, start_of

STEPS, H = 20, 0.01


@cache
def spring():
    """Parameters and start of a body on a spring, reference point off the centre of mass."""
    start = start_of("jointed_body", preset="spring_offset")
    return start.parameters, {name: value[0] for name, value in start.initial.items()}


def equations(group, turn_of):
    """f(q, V, t) of that body, written down anew about the reference point: M dV/dt = forces."""
    p, _ = spring()
    m, c, arm = p["mass"], p["center_of_mass"], p["center_of_mass"] + p["spring_point"]
    inertia = p["inertia"] + m*(c @ c*np.eye(3) - np.outer(c, c))

    def f(q, V, t):
        turn, w = turn_of(q[:-3]), V[:3]
        pull = turn.T @ (p["spring_stiffness"]*(p["spring_anchor"] - q[-3:] - turn @ arm))
        weight = m*turn.T @ p["gravity"]
        moment = np.cross(arm, pull) + np.cross(c, weight) - np.cross(w, inertia @ w)
        force = pull + weight - m*np.cross(w, np.cross(w, c))
        # in body axes: a of the reference point, then as the twist of the group has it
        found = np.linalg.solve(np.block([[inertia, m*hat(c)], [-m*hat(c), m*np.eye(3)]]),
                                np.concatenate([moment, force]))
        found[3:] = found[3:] - np.cross(w, V[3:]) if group == "se3" else turn @ found[3:]
        return found

    return f


def euler(angles):
    roll, pitch, yaw = angles
    parts = [np.array([np.cos(0.5*angle), *np.sin(0.5*angle)*axis])
             for angle, axis in ((yaw, np.eye(3)[2]), (pitch, np.eye(3)[1]), (roll, np.eye(3)[0]))]
    return quaternion_matrix(parts[0]) @ quaternion_matrix(parts[1]) @ quaternion_matrix(parts[2])


TURNS = {"quaternion": quaternion_matrix, "euler": euler,
         "rotation_vector": lambda x: quaternion_matrix(np.array(from_rotation_vector(tuple(x))))}


def first(group, attitude):
    _, state = spring()
    turn = of_matrix(state["attitude"]) if attitude == "quaternion" else np.zeros(3)  # the start is not turned
    assert np.array_equal(state["attitude"], np.eye(3))
    return np.concatenate([turn, state["position"]]), np.concatenate([state["body_rate"], state["velocity"]])


@pytest.mark.parametrize(("group", "chart", "attitude", "tableau"), [
    ("se3", "exp", "quaternion", "rk4"), ("so3_r3", "exp", "rotation_vector", "rk4"),
    ("so3_r3", "cayley", "quaternion", "rk4"), ("se3", "cayley", "euler", "rk4"),
    ("se3", "cayley2", "rotation_vector", "dormand_prince5")])
def test_equations_of_ones_own_end_where_runs_do(group, chart, attitude, tableau):
    f = equations(group, TURNS[attitude])
    q, V = first(group, attitude)
    for k in range(STEPS):
        q, V = liestep.lgt.step(f, q, V, H, group, chart, attitude, tableau, k*H)
    data = simulate("jointed_body", {"rk4": "rkmk", "dormand_prince5": "rkmk tableau=dormand_prince5"}[tableau],
                    preset="spring_offset",
                    step=H, t_end=STEPS*H, samples=2, options={"action": group, "chart": chart, "attitude": attitude})
    turn = TURNS[attitude](q[:-3])
    velocity = turn @ V[3:] if group == "se3" else V[3:]
    for found, name in ((turn, "attitude"), (q[-3:], "position"), (V[:3], "body_rate"), (velocity, "velocity")):
        assert np.abs(found - data[name].values[-1, 0]).max() < 2e-14*max(1.0, np.abs(found).max()), name


def test_several_bodies_and_the_time():
    """Two bodies in one array; a force of time."""
    def f(q, V, t):
        assert q.shape == (2, 7)
        found = np.zeros_like(V)
        found[:, 3] = t
        return found

    q, V = np.array([[1.0, 0, 0, 0, 0, 0, 0], [0.0, 1, 0, 0, 1, 2, 3]]), np.zeros((2, 6))
    assert step is liestep.lgt.step
    q, V = step(f, q, V, 0.1, group="so3_r3", t=2.0)
    assert np.allclose(V[:, 3], 0.1*2.05, rtol=1e-15)
    assert np.allclose(q[:, 4] - [0.0, 1.0], 0.5*0.01*2.0 + 1e-3/6.0, rtol=1e-13)


@pytest.mark.parametrize(("changes", "said"), [
    ({"group": "se4"}, "unknown group 'se4'"), ({"chart": "log"}, "unknown chart 'log'"),
    ({"attitude": "matrix"}, "unknown attitude 'matrix'"), ({"tableau": "rk5"}, "unknown tableau 'rk5'"),
    ({"q": np.zeros(6)}, r"q is of shape \(6,\); allowed are finite numbers of shape \(7,\)"),
    ({"V": np.zeros((1, 6))}, r"allowed is one row for each body"),
    ({"f": lambda q, V, t: np.zeros(3)}, r"f gives an array of shape \(3,\); allowed is that of V, \(6,\)"),
    ({"order": 4}, "order")])
def test_wrong_calls_are_one_sentence(changes, said):
    call = {"f": lambda q, V, t: np.zeros(6), "q": np.array([1.0, 0, 0, 0, 0, 0, 0]), "V": np.zeros(6), "h": 0.1}
    with pytest.raises(InputError, match=said):
        liestep.lgt.step(**(call | changes))


def test_a_turn_that_leaves_the_chart_stops():
    q, V = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0.0, 0, 32.0, 0, 0, 0])
    with pytest.raises(IntegrationError, match="so3_r3, chart cayley: stopped"):
        liestep.lgt.step(lambda q, V, t: np.zeros(6), q, V, 0.4, "so3_r3", "cayley")


@pytest.mark.parametrize("group", ["se3", "so3_r3"])
def test_order_in_the_chart_of_the_second_kind(group):
    """Order 4 against the exponential with many steps, and refused by implicit methods."""
    inertia = np.diag([1.0, 2.0, 3.0])

    def f(q, V, t):
        w, u = V[:3], V[3:]
        drift = -np.cross(w, u) if group == "se3" else np.zeros(3)
        return np.concatenate([np.linalg.solve(inertia, np.cross(inertia @ w, w)), drift])

    def end(steps, chart):
        q, V = np.array([1.0, 0, 0, 0, 0.1, 0.2, 0.3]), np.array([0.9, 1, -0.7, 1, -0.5, 0.7])
        for _ in range(steps):
            q, V = step(f, q, V, 1.0/steps, group=group, chart=chart)
        return np.concatenate([q*np.sign(q[0]), V])

    exact = end(80, "exp")
    one, two = (np.abs(end(steps, "second_kind") - exact).max() for steps in (10, 20))
    assert np.log2(one/two) == pytest.approx(4.0, abs=0.35)
    with pytest.raises(InputError, match="option chart is 'second_kind'; allowed are exp, cayley, cayley2"):
        specify("jointed_body", "generalized_alpha", steps=10, options={"chart": "second_kind", "action": group})
    assert method("cf4").order_of({"chart": "second_kind"}, sheet("jointed_body"), {}) == 1
