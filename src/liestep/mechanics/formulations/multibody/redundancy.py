"""Redundant joints: which rows follow from others, their names, and the multipliers of least norm (plain Python).

Rows are compared in the metric of the masses, which has no units of length. They are chosen one by one, the largest
part that the chosen ones do not have first, so that the factorisation of the chosen ones is as good as it can be; the
others rest, with multiplier zero. Of all multipliers that give the same forces the least ones are recorded."""
from collections.abc import Iterator

import numpy as np

from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, Joint, Rows, multiplier_rows
from liestep.mechanics.formulations.multibody.mechanism import MOVING, Kind, Mechanism

NAMES: dict[int, str] = {**{kind: kind.name.lower() for kind in Kind}, Kind.ROLL: "rolling",
                         Kind.EVEN: "constant velocity", Kind.SLIDE_DRIVE: "drive"}
DEPENDENT = 1e-9  # part of a row of unit length that counts as none
EQUAL = 0.999     # of the largest part: as large, so that round-off does not choose
MOST = 300, 1000  # rows of a tree, and with loops, beyond which nothing is checked


def numbered(assembly: Assembly) -> Iterator[tuple[Joint, Rows, slice]]:
    """The groups and their rows in the order of multipliers."""
    first = 0
    for joint, rows in assembly.groups:
        yield joint, rows, slice(first, first + rows.size)
        first += rows.size


def joint_label(assembly: Assembly, joint: Joint) -> str:
    """A joint in words: its number, kind and bodies."""
    number = next(k for k, other in enumerate(assembly.joints) if other is joint)
    a, b = ("the ground" if body == GROUND else f"body {body}" for body in (joint.a, joint.b))
    return f"joint {number} ({joint.name}, {a} to {b})"


def rows_of(assembly: Assembly, mechanism: Mechanism) -> np.ndarray:
    """A (rows, 6n) of an evaluated mechanism for the rates (body axes) and the velocities of the centres of mass
    (spatial), by body; zero in rows that hold nothing."""
    n = len(assembly.mass)
    slopes, incidents = np.zeros((assembly.row_count, n, 2, 3)), mechanism.scratch[MOVING*(n + 1):]
    for i in range(n):
        for k in range(mechanism.first[i], mechanism.first[i + 1]):
            slopes[mechanism.place[k], i] = incidents[3*k + 1], incidents[3*k]
    held = np.repeat([rows.kind < Kind.SLIDER for _, rows in assembly.groups],
                     [rows.size for _, rows in assembly.groups])
    return np.where(held[:, None], slopes[multiplier_rows(assembly)].reshape(-1, 6*n), 0.0)


def has_loops(assembly: Assembly) -> bool:
    """Whether joints close a loop; a tree has no redundant joints."""
    root = list(range(len(assembly.mass) + 1))

    def top(body: int) -> int:
        while root[body] != body:
            body = root[body]
        return body

    for joint in assembly.joints:
        if all(rows.kind >= Kind.SLIDER for rows in joint.rows):  # holds nothing
            continue
        one, two = top(joint.a % len(root)), top(joint.b % len(root))
        if one == two:
            return True
        root[one] = two
    return False


def weighed(assembly: Assembly, rows: np.ndarray) -> np.ndarray:
    """Rows (m, 6n) in the metric of the masses, of unit length."""
    reduced = rows.copy()
    for i, (mass, inertia) in enumerate(zip(assembly.mass, assembly.inertia, strict=True)):
        reduced[:, 6*i:6*i + 3] = np.linalg.solve(np.linalg.cholesky(inertia), reduced[:, 6*i:6*i + 3].T).T
        reduced[:, 6*i + 3:6*i + 6] /= np.sqrt(mass)
    sizes = np.linalg.norm(reduced, axis=1)[:, None]
    return reduced/np.where(sizes > 0.0, sizes, 1.0)


def dependent(assembly: Assembly, rows: np.ndarray) -> tuple[tuple[int, ...], np.ndarray]:
    """The rows of A (m, 6n) that follow from the others, and an orthonormal basis of these (r, 6n) in that metric. Rows
    that hold nothing do not count."""
    left, basis = weighed(assembly, rows), np.zeros((0, rows.shape[1]))
    held = [lines for _, part, lines in numbered(assembly) if part.kind < Kind.SLIDER]
    waiting = [k for lines in held for k in range(lines.start, lines.stop)]
    while waiting:
        sizes = np.linalg.norm(left[waiting], axis=1)
        if sizes.max() < DEPENDENT:
            break
        best = waiting[int(np.argmax(sizes >= EQUAL*sizes.max()))]
        vector = left[best] - basis.T @ (basis @ left[best])
        vector /= np.linalg.norm(vector)
        waiting.remove(best)
        left[waiting] -= np.outer(left[waiting] @ vector, vector)
        basis = np.vstack([basis, vector])
    return tuple(sorted(waiting)), basis


def names_of(assembly: Assembly, idle: tuple[int, ...]) -> list[str]:
    """The joints that have such rows, and which."""
    return [f"a {NAMES[rows.kind]} row of {joint_label(assembly, joint)}" for joint, rows, part in numbered(assembly)
            for _ in set(idle) & set(range(part.start, part.stop))]


def least(rows: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """The multipliers (m,) of least norm that give the same A^T lambda; those of rows that hold nothing stay."""
    held, least_ones = np.any(rows != 0.0, axis=1), multipliers.copy()
    least_ones[held] = np.linalg.lstsq(rows[held].T, rows[held].T @ multipliers[held], rcond=1e-7)[0]
    return least_ones
