"""Does a start fit the joints of a mechanism, and are they independent? (plain Python)"""
from collections.abc import Mapping

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE
from liestep.mechanics.contracts.norms import quaternion_matrix, rotation_quaternion
from liestep.mechanics.formulations.multibody.assembly import GROUND, ZERO, Assembly, Joint, Rows
from liestep.mechanics.formulations.multibody.mechanism import BLADE, DIRECTION, DRIVE, LINE, POINT, ROLL, SCREW

MOST_STEPS, REACHED = 50, 2e-15  # of the way to the joints: Newton steps, and relative |g| that needs no other
ANGLES = (DIRECTION, DRIVE)      # kinds whose residuals are no lengths
KINDS = {POINT: "point", DIRECTION: "direction", LINE: "line", SCREW: "screw", DRIVE: "drive", BLADE: "blade",
         ROLL: "rolling"}


def pose(assembly: Assembly, state: Mapping[str, np.ndarray], body: int) -> tuple[np.ndarray, ...]:
    """R, place and velocity of the centre of mass, and spatial rate of a body or of the ground."""
    if body == GROUND:
        return np.eye(3), ZERO, ZERO, ZERO
    turn, centre = state["attitude"][body], assembly.center_of_mass[body]
    rate = state["body_rate"][body]
    return (turn, state["position"][body] + turn @ centre,
            state["velocity"][body] + turn @ np.cross(rate, centre), turn @ rate)


def group_residual(assembly: Assembly, state: Mapping[str, np.ndarray], joint: Joint,
                   rows: Rows) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(g, A V) of a group at the start, and the sizes of the terms that are summed in them."""
    (r, x, v, w), (s, z, u, o) = pose(assembly, state, joint.a), pose(assembly, state, joint.b)
    vectors = [side @ vector for vector, side in zip(rows.vectors, (r, s, r, s, r, s), strict=False)]
    if rows.kind == DIRECTION:
        one, two = vectors[2:4]
        rate = np.atleast_1d((w - o) @ np.cross(one, two))
        return np.atleast_1d(one @ two), rate, 1.0, float(np.linalg.norm(w) + np.linalg.norm(o))
    if rows.kind in (BLADE, ROLL):
        return _rolling_residual(rows, vectors, x, v, w)
    if rows.kind == DRIVE:
        _, _, axis, _, e, f = vectors
        angle = np.arctan2(np.cross(e, f) @ axis, e @ f) - rows.vectors[0][0]
        return (np.atleast_1d(np.arctan2(np.sin(angle), np.cos(angle))), np.atleast_1d((o - w) @ axis),
                max(1.0, abs(rows.vectors[0][0])), float(np.linalg.norm(w) + np.linalg.norm(o)))
    near, far = x + vectors[0], z + vectors[1]
    there, here = v + np.cross(w, vectors[0]), u + np.cross(o, vectors[1])
    length = float(np.abs(near).max() + np.abs(far).max() + np.linalg.norm(vectors[0]) + np.linalg.norm(vectors[1]))
    speed = float(np.linalg.norm(v) + np.linalg.norm(u) + np.linalg.norm(w)*(length + np.linalg.norm(vectors[0]))
                  + np.linalg.norm(o)*(length + np.linalg.norm(vectors[1])))
    if rows.kind == POINT:
        return near - far, there - here, length, speed
    normal = vectors[2]
    slide = here - v - np.cross(w, far - x)
    gap, rate = normal @ (far - near), normal @ slide
    if rows.kind == SCREW:
        first, second = vectors[4] @ vectors[5], np.cross(vectors[4], vectors[5]) @ normal
        wound = gap/rows.pitch
        gap = rows.pitch*np.arctan2(np.sin(wound)*first - np.cos(wound)*second,
                                    np.cos(wound)*first + np.sin(wound)*second)
        rate -= rows.pitch*(normal @ (o - w))
        length, speed = length + abs(rows.pitch), speed + abs(rows.pitch)*float(np.linalg.norm(o) + np.linalg.norm(w))
    return np.atleast_1d(gap), np.atleast_1d(rate), length, speed


def _rolling_residual(rows: Rows, vectors: list[np.ndarray], place: np.ndarray, velocity: np.ndarray,
                      rate: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """`group_residual` of a body at `place` on the ground."""
    arm, axis = vectors[0], vectors[2]
    length, speed = float(np.linalg.norm(place) + np.linalg.norm(arm)) + rows.pitch, float(np.linalg.norm(velocity))
    if rows.kind == BLADE:
        return (np.zeros(1), np.atleast_1d(axis @ (velocity + np.cross(rate, arm))), length,
                speed + float(np.linalg.norm(rate)*np.linalg.norm(arm)))
    normal = vectors[3]
    down = (normal @ axis)*axis - normal
    size = float(np.linalg.norm(down))
    height = normal @ (place + arm - vectors[1]) - rows.pitch*size
    arm = arm + rows.pitch/size*down
    return (height*normal, velocity + np.cross(rate, arm), length,
            speed + float(np.linalg.norm(rate)*np.linalg.norm(arm)))


def wanted_rate(rows: Rows) -> float:
    """A V that the group asks for at the start: not zero of a drive."""
    if rows.kind != DRIVE:
        return 0.0
    first, second = rows.vectors[:2]
    return float(first[1] + second[0]*second[1])


def joint_label(assembly: Assembly, joint: Joint) -> str:
    """A joint in words: its number, kind and bodies."""
    number = next(k for k, other in enumerate(assembly.joints) if other is joint)
    a, b = ("the ground" if body == GROUND else f"body {body}" for body in (joint.a, joint.b))
    return f"joint {number} ({joint.name}, {a} to {b})"


def extent(assembly: Assembly, state: Mapping[str, np.ndarray]) -> float:
    """Largest length in m that is summed in a joint: what round-off of places is relative to."""
    return max((group_residual(assembly, state, joint, rows)[2] for joint, rows in assembly.groups
                if rows.kind not in ANGLES), default=1.0)


def check_joints(assembly: Assembly, state: Mapping[str, np.ndarray], tolerance: float) -> None:
    """Raises InputError for a start off a joint by more than `tolerance`, relative to the mechanism's extent, or off
    its velocity, relative to the terms summed there or 1 m/s or rad/s: a body at rest may move by round-off."""
    longest = extent(assembly, state)
    for joint, rows in assembly.groups:
        gap, rate, length, speed = group_residual(assembly, state, joint, rows)
        off, slip = float(np.abs(gap).max()), float(np.abs(rate - wanted_rate(rows)).max())
        allowed = tolerance*(length if rows.kind in ANGLES else longest)
        if off > allowed:
            raise InputError(f"the start is off {joint_label(assembly, joint)} by {off:.3g}, allowed {allowed:.1g};"
                             " liestep.consistent_start gives the nearest start that fits")
        if slip > tolerance*max(speed, 1.0):
            raise InputError(f"the velocity of the start breaks {joint_label(assembly, joint)} by {slip:.3g}, allowed"
                             f" {tolerance*max(speed, 1.0):.1g}; liestep.consistent_start gives the nearest start that"
                             " fits")


def jacobian(assembly: Assembly, state: Mapping[str, np.ndarray]) -> np.ndarray:
    """A (rows, 6n) for the rates (body axes) and the velocities of the centres of mass (spatial), by body."""
    n, groups = len(assembly.mass), assembly.groups
    found = np.zeros((assembly.row_count, 6*n))
    for column in range(6*n):
        body, part = divmod(column, 6)
        rates, velocities = np.zeros((n, 3)), np.zeros((n, 3))
        if part < 3:
            rates[body, part] = 1.0
        else:
            velocities[body, part - 3] = 1.0
        velocities = velocities - np.einsum("bij,bj->bi", state["attitude"], np.cross(rates, assembly.center_of_mass))
        moved = {**state, "body_rate": rates, "velocity": velocities}
        row = 0
        for joint, rows in groups:
            if body in (joint.a, joint.b):
                found[row:row + rows.size, column] = group_residual(assembly, moved, joint, rows)[1]
            row += rows.size
    return found


def check_rank(assembly: Assembly, state: Mapping[str, np.ndarray], most: int = 300) -> None:
    """Raises InputError for joints of which one follows from those before it, in the metric of the masses, which has no
    units of length; of more than `most` rows nothing is checked, their factorisation ends the run instead."""
    if not 0 < assembly.row_count <= most:
        return
    rows, basis = jacobian(assembly, state), np.zeros((0, 6*len(assembly.mass)))
    for i, (mass, inertia) in enumerate(zip(assembly.mass, assembly.inertia, strict=True)):
        rows[:, 6*i:6*i + 3] = np.linalg.solve(np.linalg.cholesky(inertia), rows[:, 6*i:6*i + 3].T).T
        rows[:, 6*i + 3:6*i + 6] /= np.sqrt(mass)
    starts, row = {}, 0
    for joint, part in assembly.groups:
        starts[id(joint), id(part)], row = row, row + part.size
    for joint, part in [(owner, group) for owner in assembly.joints for group in owner.rows]:
        row = starts[id(joint), id(part)]
        for k in range(part.size):
            vector = rows[row + k]/np.linalg.norm(rows[row + k])
            for _ in range(2):
                vector = vector - basis.T @ (basis @ vector)
            if np.linalg.norm(vector) < 1e-9:
                raise InputError(f"{joint_label(assembly, joint)} is redundant: a {KINDS[part.kind]} row of it follows"
                                 " from the joints before it; leave it out or take a joint with fewer rows")
            basis = np.vstack([basis, vector/np.linalg.norm(vector)])


def scaled_gap(assembly: Assembly, state: Mapping[str, np.ndarray]) -> float:
    """Largest |g|, of lengths relative to the mechanism's extent."""
    longest = extent(assembly, state)
    return max(float(np.abs(group_residual(assembly, state, joint, rows)[0]).max())
               / (1.0 if rows.kind in ANGLES else longest) for joint, rows in assembly.groups)


def residuals(assembly: Assembly, state: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(g, A V less what is wanted) of all groups (rows,)."""
    found = [(*group_residual(assembly, state, joint, rows)[:2], wanted_rate(rows)) for joint, rows in assembly.groups]
    return np.concatenate([gap for gap, *_ in found]), np.concatenate([rate - wanted for _, rate, wanted in found])


def nearest_start(assembly: Assembly, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The state moved to the joints by Newton steps that are orthogonal in the metric of the masses, and its velocities
    by such a projection.

    Raises:
        InputError: the steps do not come to the joints: the start is too far off, or joints contradict each other.
    """
    found = {name: np.array(value, dtype=float) for name, value in state.items()}
    if assembly.row_count == 0:
        return found
    inverse = np.zeros((6*len(assembly.mass),)*2)
    for i, (mass, inertia) in enumerate(zip(assembly.mass, assembly.inertia, strict=True)):
        inverse[6*i:6*i + 3, 6*i:6*i + 3] = np.linalg.inv(inertia)
        inverse[6*i + 3:6*i + 6, 6*i + 3:6*i + 6] = np.eye(3)/mass
    before = np.inf
    for _ in range(MOST_STEPS):
        gap, rate = residuals(assembly, found)
        rows, off = jacobian(assembly, found), scaled_gap(assembly, found)
        # far from the origin round-off is above REACHED: a tenth of what `check_joints` allows may be left
        if off < REACHED or (off > 0.5*before and off <= 0.1*MANIFOLD_TOLERANCE):
            break
        before = off
        found = _moved(assembly, found, _pull(inverse, rows, gap))
    else:
        raise InputError(f"no start near the given one fits the joints: after {MOST_STEPS} steps it is still off by"
                         f" {np.abs(gap).max():.3g}")
    change = _pull(inverse, rows, rate).reshape(-1, 2, 3)
    found["body_rate"] = found["body_rate"] + change[:, 0]
    found["velocity"] = found["velocity"] + change[:, 1] - np.einsum(
        "bij,bj->bi", found["attitude"], np.cross(change[:, 0], assembly.center_of_mass))
    return found


def _pull(inverse: np.ndarray, rows: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """-M^-1 A^T (A M^-1 A^T)^-1 gap."""
    weighed = inverse @ rows.T
    solved: np.ndarray = -weighed @ np.linalg.lstsq(rows @ weighed, gap, rcond=None)[0]
    return solved


def _moved(assembly: Assembly, state: dict[str, np.ndarray], step: np.ndarray) -> dict[str, np.ndarray]:
    """Bodies turned and their centres of mass moved by a step (6n,)."""
    parts = step.reshape(-1, 2, 3)
    turns = quaternion_matrix(rotation_quaternion(parts[:, 0]))
    attitude = state["attitude"] @ turns
    centre = assembly.center_of_mass
    place = state["position"] + np.einsum("bij,bj->bi", state["attitude"], centre) + parts[:, 1]
    return state | {"attitude": attitude, "position": place - np.einsum("bij,bj->bi", attitude, centre)}
