"""Variables of other codes that stand for a field of the state: dq/dt for an angular velocity, quaternions for
attitudes, angular velocities for angular momenta."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from liestep.mechanics.contracts.formulated import StateField

Fields = Mapping[str, np.ndarray]
Convert = Callable[[np.ndarray, Fields], np.ndarray]
LETTERS = {"xyz": "xyz", "wxyz": "wxyz"}  # dimensions whose indices are letters


@dataclass(frozen=True)
class StandIn:
    """`convert` makes the field (n, *shape of the field) from the values (n, *shape) and the fields that stand before
    it."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    convert: Convert


def attitude_of(quaternion: np.ndarray) -> np.ndarray:
    """Matrices (..., 3, 3), body to space, of quaternions (..., 4), scalar part first. They are not normalised: what a
    quaternion lacks in length is seen as a matrix that is not orthogonal."""
    w, v = quaternion[..., 0, None, None], quaternion[..., 1:]
    outer = v[..., :, None]*v[..., None, :]
    skew = np.cross(v[..., None, :], -np.eye(3))
    found: np.ndarray = (w*w - np.sum(v*v, axis=-1)[..., None, None])*np.eye(3) + 2.0*outer + 2.0*w*skew
    return found


def momentum_of(angular_velocity: np.ndarray, attitude: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """R J R^T w (..., 3), all spatial, for principal moments J (..., 3)."""
    body = np.einsum("...ij,...i->...j", attitude, angular_velocity)
    found: np.ndarray = np.einsum("...ij,...j->...i", attitude, moments*body)
    return found


def _across(directions: str) -> Convert:
    """q x dq/dt with the directions q of a field."""
    return lambda values, there: np.cross(there[directions], values)


def _turning(moments: np.ndarray) -> Convert:
    return lambda values, there: momentum_of(values, there["attitude"], moments)


def stand_ins(fields: Mapping[str, StateField], shapes: Mapping[str, tuple[int, ...]],
              moments: np.ndarray | None) -> dict[str, StandIn]:
    """Field -> what may stand for it; `moments` (n, 3) of rigid bodies."""
    found = {}
    for name, part in fields.items():
        dims, shape = part.dims, shapes[name]
        if part.tangent in fields and "velocity" not in fields:
            found[name] = StandIn("velocity", dims, shape, _across(part.tangent))
        elif part.norm == "attitude":
            found[name] = StandIn("quaternion", (*dims[:-2], "wxyz"), (*shape[:-2], 4),
                                  lambda values, there: attitude_of(values))
        elif name == "angular_momentum" and "attitude" in fields and moments is not None:
            inertia = moments if len(shape) == 2 else moments[0]
            found[name] = StandIn("angular_velocity", dims, shape, _turning(inertia))
    return found
