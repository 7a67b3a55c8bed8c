"""What systems keep, found by numbers: torques and forces of a system at random states, in plain Python."""
from typing import Any

import numpy as np

from liestep.compile.tracing import PLAIN, plain_component

STATES, SMALL = 4, 1e-11  # random states, and what is round-off of a sum of torques
Flags = tuple[bool, bool, bool]


def plain(component: Any) -> Any:
    """The component with methods in plain Python."""
    return plain_component(component, PLAIN, np.float64)


def _turned(random: np.random.Generator) -> np.ndarray:
    """Rows R e_1, R e_2, R e_3 of a random rotation."""
    q, _ = np.linalg.qr(random.standard_normal((3, 3)))
    return np.ascontiguousarray(q*np.sign(np.linalg.det(q)))


def _flags(sums: list[np.ndarray], size: float) -> Flags:
    x, y, z = np.max(np.abs(sums), axis=0) <= SMALL*size
    return bool(x), bool(y), bool(z)


def kept_on_spheres(system: Any, n: int) -> Flags:
    """Axes about which the torques of n points on spheres sum to zero, see `spheres`."""
    random, system, sums, size = np.random.default_rng(1), plain(system), [], 1e-300
    for _ in range(STATES):
        q, g, f = random.standard_normal((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        q /= np.linalg.norm(q, axis=1)[:, None]
        system.gradient(q, g)
        if hasattr(system, "force"):
            system.force(random.random(), q, np.cross(q, random.standard_normal((n, 3))), f)
        sums.append(np.cross(q, f - g).sum(axis=0))
        size = max(size, np.abs(g).max(), np.abs(f).max())
    return _flags(sums, size)


def kept_of_body(system: Any) -> Flags:
    """Axes about which a body about a fixed point has no torque, see `fixed_body`."""
    random, system, sums, size = np.random.default_rng(1), plain(system), [], 1e-300
    for _ in range(STATES):
        q = _turned(random)
        torque = np.array(system.torque(q), dtype=float)
        if hasattr(system, "applied"):
            torque += np.array(system.applied(random.random(), q, tuple(random.standard_normal(3))), dtype=float)
        sums.append(torque)
        size = max(size, np.abs(torque).max())
    return _flags(sums, size)


def kept_of_bodies(system: Any, n: int) -> tuple[Flags, Flags]:
    """Axes about which the total torque of n free bodies is zero, and along which the total force is."""
    random, system, size = np.random.default_rng(1), plain(system), 1e-300
    turns, pushes = [], []
    for _ in range(STATES):
        y, out = random.standard_normal((6*n, 3)), np.zeros((2*n, 3))
        y[:3*n] = np.concatenate([_turned(random) for _ in range(n)])
        system.forces(y, out, np.zeros(1))
        if hasattr(system, "damp"):
            system.damp(y, random.standard_normal((n, 3)), out)
        arms = np.cross(y[4*n:5*n], out[n:])
        turns.append(out[:n].sum(axis=0) + arms.sum(axis=0))
        pushes.append(out[n:].sum(axis=0))
        size = max(size, np.abs(out).max(), np.abs(arms).max())
    return _flags(turns, size), _flags(pushes, size)
