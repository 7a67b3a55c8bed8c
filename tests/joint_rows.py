"""Residuals of the joints of a mechanism and their rows A, written down anew with rotation matrices: what the package's
own are compared with."""
import numpy as np

from liestep.mechanics.formulations.multibody.assembly import GROUND
from liestep.mechanics.formulations.multibody.mechanism import Kind

ZERO = np.zeros(3)


def pose(assembly, state, body):
    """R, place and velocity of the centre of mass, and spatial rate of a body or of the ground."""
    if body == GROUND:
        return np.eye(3), ZERO, ZERO, ZERO
    turn, centre, rate = state["attitude"][body], assembly.center_of_mass[body], state["body_rate"][body]
    return (turn, state["position"][body] + turn @ centre,
            state["velocity"][body] + turn @ np.cross(rate, centre), turn @ rate)


def group_residual(assembly, state, joint, rows):
    """(g, A V) of a group."""
    (r, x, v, w), (s, z, u, o) = pose(assembly, state, joint.a), pose(assembly, state, joint.b)
    vectors = [side @ vector for vector, side in zip(rows.vectors, (r, s, r, s, r, s), strict=False)]
    if rows.kind == Kind.DIRECTION:
        one, two = vectors[2:4]
        return one @ two, (w - o) @ np.cross(one, two)
    if rows.kind == Kind.EVEN:
        one, two, e, f = vectors[2:6]
        return e @ two - one @ f, (w - o) @ (np.cross(e, two) - np.cross(one, f))
    if rows.kind == Kind.GEAR:
        return 0.0, w @ vectors[4] + o @ vectors[5] + v @ rows.vectors[2] + u @ rows.vectors[3]
    if rows.kind == Kind.BLADE:
        return 0.0, vectors[2] @ (v + np.cross(w, vectors[0]))
    if rows.kind == Kind.ROLL:
        arm, axis, normal = vectors[0], vectors[2], vectors[3]
        down = (normal @ axis)*axis - normal
        size = np.linalg.norm(down)
        return ((normal @ (x + arm - vectors[1]) - rows.pitch*size)*normal,
                v + np.cross(w, arm + rows.pitch/size*down))
    if rows.kind == Kind.DRIVE:
        _, _, axis, _, e, f = vectors
        angle = np.arctan2(np.cross(e, f) @ axis, e @ f) - rows.vectors[0][0]
        return np.arctan2(np.sin(angle), np.cos(angle)), (o - w) @ axis
    near, far = x + vectors[0], z + vectors[1]
    there, here = v + np.cross(w, vectors[0]), u + np.cross(o, vectors[1])
    if rows.kind == Kind.POINT:
        return near - far, there - here
    if rows.kind == Kind.DISTANCE:
        gap = near - far
        return (gap @ gap/rows.pitch - rows.pitch)/2.0, gap @ (there - here)/rows.pitch
    normal = vectors[2]
    gap, rate = normal @ (far - near), normal @ (here - v - np.cross(w, far - x))
    if rows.kind == Kind.SCREW:
        wound = gap/rows.pitch - np.arctan2(np.cross(vectors[4], vectors[5]) @ normal, vectors[4] @ vectors[5])
        return (rows.pitch*np.arctan2(np.sin(wound), np.cos(wound)), rate - rows.pitch*(normal @ (o - w)))
    if rows.kind == Kind.SLIDE_DRIVE:
        return gap - rows.vectors[4][0], rate
    return gap, rate


def residuals(assembly, state):
    """(g, A V) of all groups (rows,)."""
    found = [group_residual(assembly, state, joint, rows) for joint, rows in assembly.groups]
    return tuple(np.concatenate([np.atleast_1d(part[k]) for part in found]) for k in range(2))


def jacobian(assembly, state):
    """A (rows, 6n) for the rates (body axes) and the velocities of the centres of mass (spatial), by body: A V at unit
    velocities."""
    n, columns = len(assembly.mass), []
    if not assembly.row_count:
        return np.zeros((0, 6*n))
    for column in range(6*n):
        body, part = divmod(column, 6)
        rates, velocities = np.zeros((n, 3)), np.zeros((n, 3))
        (rates if part < 3 else velocities)[body, part % 3] = 1.0
        velocities = velocities - np.einsum("bij,bj->bi", state["attitude"], np.cross(rates, assembly.center_of_mass))
        columns.append(residuals(assembly, {**state, "body_rate": rates, "velocity": velocities})[1])
    return np.array(columns).T
