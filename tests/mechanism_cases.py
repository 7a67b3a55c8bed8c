"""Mechanisms of any shape, and their equations of motion written down anew, dense, about the reference points."""
import numpy as np
from joint_rows import jacobian, residuals
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from liestep.mechanics.formulations.multibody import assembly as joints
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly
from liestep.mechanics.formulations.multibody.family import nearest_start
from liestep.mechanics.formulations.multibody.force_elements import Spring
from liestep.mechanics.formulations.multibody.forms import MechanismForms
from liestep.mechanics.formulations.multibody.redundancy import dependent

KINDS = ("spherical", "revolute", "universal", "cylindrical", "prismatic", "screw")
DEFAULTS = {"action": "se3", "chart": "exp", "attitude": "quaternion", "twist": "native", "stabilisation": "none",
            "stabilisation_rate": 20.0}


def hat(c):
    return np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])


def chart_map(chart, x, y):
    """psi(x, y) of a chart as a matrix (4, 4)."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = hat(x), y
    if chart == "exp":
        return expm(matrix)
    part = 0.5 if chart == "cayley" else 0.25
    once = np.linalg.solve(np.eye(4) - part*matrix, np.eye(4) + part*matrix)
    return once if chart == "cayley" else once @ once


def equations(assembly, state):
    """M (6n, 6n), f (6n,), A (m, 6n) and gamma (m,) of M dV/dt + A^T lambda = f, A dV/dt = -gamma about the reference
    points with mixed velocities, as lgt2022 has them; gamma by differences of A V along the motion."""
    n = len(assembly.mass)
    mass, force = np.zeros((6*n, 6*n)), np.zeros(6*n)
    for i in range(n):
        turn, w, c = state["attitude"][i], state["body_rate"][i], assembly.center_of_mass[i]
        k = assembly.mass[i]
        inertia = assembly.inertia[i] + k*(c @ c*np.eye(3) - np.outer(c, c))
        a = 6*i
        mass[a:a + 3, a:a + 3], mass[a:a + 3, a + 3:a + 6] = inertia, k*hat(c) @ turn.T
        mass[a + 3:a + 6, a:a + 3], mass[a + 3:a + 6, a + 3:a + 6] = -k*turn @ hat(c), k*np.eye(3)
        force[a:a + 3] = -np.cross(w, inertia @ w) + np.cross(c, k*turn.T @ assembly.gravity)
        force[a + 3:a + 6] = k*assembly.gravity - k*turn @ np.cross(w, np.cross(w, c))
    for spring in assembly.elements:
        i, turn, (anchor, point) = spring.b, state["attitude"][spring.b], spring.vectors
        arm = assembly.center_of_mass[i] + point
        pull = spring.rows[0, 0]*(anchor - state["position"][i] - turn @ arm)
        force[6*i:6*i + 3] += np.cross(arm, turn.T @ pull)
        force[6*i + 3:6*i + 6] += pull
    gamma = (rate_after(assembly, state, 1e-5) - rate_after(assembly, state, -1e-5))/2e-5
    return mass, force, about_reference_points(assembly, state, jacobian(assembly, state)), gamma


def about_reference_points(assembly, state, rows):
    """Columns for velocities of the reference points from those for velocities of the centres of mass."""
    change = np.eye(6*len(assembly.mass))
    for i, (c, turn) in enumerate(zip(assembly.center_of_mass, state["attitude"], strict=True)):
        change[6*i + 3:6*i + 6, 6*i:6*i + 3] = -turn @ hat(c)
    return rows @ change


def dense(assembly, state):
    """Rates of the body rates and of the reference points' velocities (6n,), and multipliers, by a dense solve."""
    mass, force, rows, gamma = equations(assembly, state)
    matrix = np.block([[mass, rows.T], [rows, np.zeros((len(rows),)*2)]])
    solution = np.linalg.solve(matrix, np.concatenate([force, -gamma]))
    return solution[:len(mass)], solution[len(mass):]


def rate_after(assembly, state, time):
    """A V after bodies moved on with constant body rates and velocities of the reference points."""
    turned = state["attitude"] @ Rotation.from_rotvec(time*state["body_rate"]).as_matrix()
    moved = {**state, "attitude": turned, "position": state["position"] + time*state["velocity"]}
    return residuals(assembly, moved)[1] if assembly.row_count else np.zeros(0)


def mixed_rates(state, twist, out):
    """Rates of the body rates and of the spatial velocities (6n,) from rows (4n, 3) of `algebra` with a twist."""
    found = np.zeros(6*(len(out)//4))
    for i in range(len(out)//4):
        turn, w, v = (state[name][i] for name in ("attitude", "body_rate", "velocity"))
        spin, push = out[4*i + 2], out[4*i + 3]
        if twist == "body":
            push = turn @ (push + np.cross(w, turn.T @ v))
        elif twist == "spatial":
            push = push + np.cross(spin, state["position"][i]) + np.cross(turn @ w, v)
            spin = turn.T @ spin
        found[6*i:6*i + 3], found[6*i + 3:6*i + 6] = spin, push
    return found


def declared(assembly):
    """The forms of an assembly."""
    return MechanismForms(lambda parameters: assembly, lambda parameters: (False, False, False))


def action(assembly, state, forms=None, **options):
    """The formulation `lie_action` with its options, others at their defaults."""
    return (forms or declared(assembly)).action({}, state, DEFAULTS | options)


def unit(vector):
    return vector/np.linalg.norm(vector)


def joint(kind, a, b, poses, random):
    """A joint between two bodies, fitted to where they are; poses: (R, centre of mass) of each, the ground last."""
    (turn, place), (other, far) = poses[a], poses[b]
    p, u, offset, lead = random.normal(size=3), unit(random.normal(size=3)), random.normal(), random.uniform(0.5, 1.5)
    e = unit(np.cross(u, random.normal(size=3)))
    slides = kind in ("cylindrical", "prismatic", "screw")
    q = other.T @ (place + turn @ (p + (offset*u if slides else 0.0)) - far)
    carried = other.T @ turn
    if kind == "spherical":
        return joints.spherical(a, p, b, q)
    if kind == "universal":
        return joints.universal(a, p, u, b, q, carried @ e)
    if kind in ("revolute", "cylindrical"):
        return getattr(joints, kind)(a, p, u, b, q, carried @ u)
    if kind == "prismatic":
        return joints.prismatic(a, p, u, b, q, carried @ u, e, carried @ np.cross(u, e))
    angle = 2.0*np.pi*offset/lead
    return joints.screw(a, p, u, b, q, carried @ u, lead, e, carried @ (np.cos(angle)*e + np.sin(angle)*np.cross(u, e)))


def random_mechanism(seed, kinds, loop=None):
    """(assembly, state): a tree whose body i hangs by a joint of kind i on the ground or a body before it, one spring,
    and maybe a joint that closes a loop; turning bodies, reference points anywhere. None where joints are redundant."""
    random, n = np.random.default_rng(seed), len(kinds)
    turns = Rotation.random(n, random_state=seed).as_matrix().reshape(-1, 3, 3)
    poses = [*((turn, random.normal(size=3)) for turn in turns), (np.eye(3), np.zeros(3))]
    made = [joint(kind, int(random.integers(GROUND, i)), i, poses, random) for i, kind in enumerate(kinds)]
    if loop is not None:
        made.append(joint(loop, n - 1, GROUND, poses, random))
    inertia = []
    for axes in Rotation.random(n, random_state=seed + 1).as_matrix().reshape(-1, 3, 3):
        first, second = random.uniform(0.2, 1.0, 2)
        third = random.uniform(abs(first - second) + 0.05, first + second)
        matrix = axes @ np.diag([first, second, third]) @ axes.T
        inertia.append(0.5*(matrix + matrix.T))
    springs = [Spring(n - 1, random.normal(size=3), random.normal(size=3), 20.0)]
    found = Assembly(random.uniform(0.5, 2.0, n), np.array(inertia), random.normal(size=(n, 3)),
                     np.array([1.0, -2.0, -9.0]), made, springs)
    places = np.array([place for _, place in poses[:-1]]) - np.einsum("bij,bj->bi", turns, found.center_of_mass)
    state = {"attitude": turns, "position": places, "body_rate": random.normal(size=(n, 3)),
             "velocity": random.normal(size=(n, 3))}
    if dependent(found, jacobian(found, state))[0]:
        return None
    return found, nearest_start(found, state)
