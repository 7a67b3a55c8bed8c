"""Norms of state fields: how far two values of one named part of the state are apart, what that is divided by, and how
a value is perturbed. A field names its norm, and so does every file.

All arrays have a leading time, except what is perturbed. Distances are in the field's own units, not scaled.
"""
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from liestep.errors import InputError, unknown


@dataclass(frozen=True)
class Norm:
    """What all norms offer; this one is the largest Euclidean distance of vectors (time, ..., k)."""

    name: str
    meaning: str
    trailing: tuple[int, ...] = ()  # sizes of the last dimensions that values must have, () for any
    scaled: bool = False            # whether distances are divided by the size of the reference

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(time,): largest distance over the bodies.

        Raises:
            InputError: the values have not the shape that the norm is for.
        """
        self.require(a)
        return _largest(self._gaps(a, b))

    def scale(self, reference: np.ndarray) -> float:
        """What distances are divided by: 1, or the largest size along the reference (1 where it stays at zero)."""
        self.require(reference)
        return float(self._sizes(reference).max()) or 1.0 if self.scaled else 1.0

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        """Shape of what moves a value x (no time).

        Raises:
            InputError: the norm's values follow from others, or x has not the shape that the norm is for.
        """
        self.require(x)
        return x.shape

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        """x moved by vectors in the units of the distance; any leading dimensions are those of several values."""
        there: np.ndarray = x + by
        return there

    def require(self, values: np.ndarray) -> None:
        """Raises InputError unless the last dimensions of the values are what the norm is for."""
        if self.trailing and values.shape[-len(self.trailing):] != self.trailing:
            raise InputError(f"the norm {self.name} is for {self.meaning}, of shape"
                             f" (..., {', '.join(map(str, self.trailing))}); this field has shape {values.shape}")

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gaps: np.ndarray = np.sqrt(((a - b)**2).sum(axis=-1))
        return gaps

    def _sizes(self, values: np.ndarray) -> np.ndarray:
        sizes: np.ndarray = np.sqrt(np.sum(values*values, axis=-1))
        return sizes


class DirectionNorm(Norm):
    """The chord between unit vectors."""

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        moved = x + by
        unit: np.ndarray = moved/np.linalg.norm(moved, axis=-1)[..., None]
        return unit


class AttitudeNorm(Norm):
    """Frobenius norm over sqrt(2): 2 sin(angle/2), the angle for close attitudes."""

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gaps: np.ndarray = np.sqrt(0.5*((a - b)**2).sum(axis=(-2, -1)))
        return gaps

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        return (*super().moves(x)[:-2], 3)

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        turned: np.ndarray = quaternion_matrix(rotation_quaternion(by)) @ x
        return turned


class QuaternionNorm(Norm):
    """2 min(|a - b|, |a + b|) of unit quaternions (scalar part first), which stand for the same attitude with either
    sign: 4 sin(angle/4), the angle for close attitudes."""

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gaps: np.ndarray = 2.0*np.minimum(super()._gaps(a, b), super()._gaps(a, -b))
        return gaps

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        return (*super().moves(x)[:-1], 3)

    def moved(self, x: np.ndarray, by: np.ndarray) -> np.ndarray:
        moved = quaternion_product(rotation_quaternion(by), x)
        unit: np.ndarray = moved/np.linalg.norm(moved, axis=-1)[..., None]
        return unit


class CoordinateNorm(Norm):
    """Largest difference of one component, for generalized coordinates."""

    def _gaps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gaps: np.ndarray = np.abs(a - b)
        return gaps

    def _sizes(self, values: np.ndarray) -> np.ndarray:
        sizes: np.ndarray = np.abs(values)
        return sizes


class DerivedNorm(Norm):
    """Vectors that follow from other fields: compared like relative ones, but no part of the state error."""

    def moves(self, x: np.ndarray) -> tuple[int, ...]:
        raise InputError("a derived field follows from others and cannot be perturbed")


def _largest(gaps: np.ndarray) -> np.ndarray:
    """(time,): maximum over all other dimensions."""
    worst: np.ndarray = gaps.reshape(len(gaps), prod(gaps.shape[1:])).max(axis=1)
    return worst


def rotation_quaternion(turn: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation vectors (..., 3)."""
    half = 0.5*np.linalg.norm(turn, axis=-1)[..., None]
    return np.concatenate([np.cos(half), 0.5*np.sinc(half/np.pi)*turn], axis=-1)


def quaternion_product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hamilton's product (..., 4), scalar part first."""
    u, v = p[..., 1:], q[..., 1:]
    scalar = p[..., :1]*q[..., :1] - np.sum(u*v, axis=-1, keepdims=True)
    return np.concatenate([scalar, p[..., :1]*v + q[..., :1]*u + np.cross(u, v)], axis=-1)


def quaternion_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    conjugate = q*np.array([1.0, -1.0, -1.0, -1.0])
    columns = [quaternion_product(quaternion_product(q, np.broadcast_to(unit, q.shape)), conjugate)[..., 1:]
               for unit in np.eye(4)[1:]]
    return np.stack(columns, axis=-1)


NORMS: Mapping[str, Norm] = {norm.name: norm for norm in (
    DirectionNorm("direction", "unit vectors"),
    Norm("relative", "vectors that are compared with the largest one along the reference", scaled=True),
    AttitudeNorm("attitude", "rotation matrices", (3, 3)),
    QuaternionNorm("quaternion", "unit quaternions, up to their sign", (4,)),
    CoordinateNorm("coordinate", "generalized coordinates", scaled=True),
    DerivedNorm("derived", "what follows from other fields", scaled=True),
)}


def norm_of(name: str) -> Norm:
    """A norm by its name. Raises InputError for an unknown one."""
    if name not in NORMS:
        raise InputError(unknown("norm", name, NORMS))
    return NORMS[name]
