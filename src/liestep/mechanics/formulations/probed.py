"""What systems keep, found by numbers: torques and forces of a system at random states, in plain Python."""
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Any, TypeVar

import numpy as np

from liestep.compile.roles import System
from liestep.compile.tracing import PLAIN, plain_component

STATES, SMALL = 4, 1e-11  # random states, and what is round-off of a sum of torques
Flags = tuple[bool, bool, bool]
T = TypeVar("T")


def plain(component: Any) -> Any:
    """The component with methods in plain Python."""
    return plain_component(component, PLAIN, np.float64)


def _turned(random: np.random.Generator) -> np.ndarray:
    """Rows R e_1, R e_2, R e_3 of a random rotation."""
    q, _ = np.linalg.qr(random.standard_normal((3, 3)))
    return np.ascontiguousarray(q*np.sign(np.linalg.det(q)))


def _kept(component: Any, sample: Callable[[Any, np.random.Generator], tuple[list[np.ndarray], list[np.ndarray]]]
          ) -> list[Flags]:
    """For each of the sums of a sample, at random states: which components are zero beside the largest of the terms.
    `sample` gives sums (3,) and terms."""
    random, system = np.random.default_rng(1), plain(component)
    sums, terms = zip(*(sample(system, random) for _ in range(STATES)), strict=True)
    size = max(1e-300, *(float(np.abs(term).max()) for found in terms for term in found))
    flags = np.max(np.abs(sums), axis=0) <= SMALL*size
    return [(bool(x), bool(y), bool(z)) for x, y, z in flags]


def _once(find: Callable[..., T]) -> Callable[..., T]:
    """`find` of a component and sizes, remembered: every run asks, and the sums of many bodies take milliseconds. What
    cannot be pickled is examined each time."""
    @lru_cache(64)
    def known(kind: Any, values: bytes, sizes: tuple[int, ...]) -> T:
        return find(kind(*pickle.loads(values)), *sizes)

    @wraps(find)
    def found(system: System, *sizes: int) -> T:
        with suppress(pickle.PicklingError, AttributeError, TypeError):
            kind: Any = type(system)
            return known(kind, pickle.dumps(tuple(system)), sizes)
        return find(system, *sizes)

    return found


@_once
def kept_on_spheres(system: System, n: int) -> Flags:
    """Axes about which the torques of n points on spheres sum to zero, see `spheres`."""
    def sample(system: System, random: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
        q, g, f = random.standard_normal((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        q /= np.linalg.norm(q, axis=1)[:, None]
        system.gradient(q, g)
        if hasattr(system, "force"):
            system.force(random.random(), q, np.cross(q, random.standard_normal((n, 3))), f)
        return [np.cross(q, f - g).sum(axis=0)], [g, f]

    return _kept(system, sample)[0]


@_once
def kept_of_body(system: System) -> Flags:
    """Axes about which a body about a fixed point has no torque, see `fixed_body`."""
    def sample(system: System, random: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
        q = _turned(random)
        torque = np.array(system.torque(q), dtype=float)
        if hasattr(system, "applied"):
            torque += np.array(system.applied(random.random(), q, tuple(random.standard_normal(3))), dtype=float)
        return [torque], [torque]

    return _kept(system, sample)[0]


@_once
def kept_of_bodies(system: System, n: int) -> tuple[Flags, Flags]:
    """Axes about which the total torque of n free bodies is zero, and along which the total force is."""
    def sample(system: System, random: np.random.Generator) -> tuple[list[np.ndarray], list[np.ndarray]]:
        y, out = random.standard_normal((6*n, 3)), np.zeros((2*n, 3))
        y[:3*n] = np.concatenate([_turned(random) for _ in range(n)])
        system.forces(y, out, np.zeros(1))
        if hasattr(system, "damp"):
            system.damp(y, random.standard_normal((n, 3)), out)
        arms = np.cross(y[4*n:5*n], out[n:])
        return [out[:n].sum(axis=0) + arms.sum(axis=0), out[n:].sum(axis=0)], [out, arms]

    turning, pushed = _kept(system, sample)
    return turning, pushed
