"""Directions in which a start can be moved: a basis of the tangent space of the state's manifold."""
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import StateField
from liestep.mechanics.contracts.norms import quaternion_product
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate_standard

Direction = dict[str, np.ndarray]
# how far a start is moved to see whether it stays on its manifold to first order: of unit vectors and rotations, so in
# rad; other fields are bound by nothing that has a unit
SMALL = 1e-7


def span(facts: Sheet, parameters: Mapping[str, Any], initial: Mapping[str, np.ndarray]) -> list[Direction]:
    """Directions that span the tangent space at a checked start of a system. Raises InputError: the system has
    constraints beyond unit lengths, tangency and rotations."""
    found = basis(formulate_standard(facts, parameters, initial).fields, initial)
    for direction in found:
        try:
            facts.check_initial(parameters, {name: value + SMALL*direction[name] for name, value in initial.items()})
        except InputError:
            raise InputError(f"the states of {facts.title} are bound by constraints, whose tangents are not known"
                             " here: derivatives need systems without joints, or directions of your own") from None
    return found


def basis(fields: Iterable[StateField], state: Mapping[str, np.ndarray]) -> list[Direction]:
    """Directions that span the tangent space at a state, as derivatives of its fields; fields that follow from others
    have none. A field tangent to directions q moves with them: w.q stays zero."""
    fields = [part for part in fields if part.name in state]
    found: list[Direction] = []
    for part in fields:
        for move in _moves(part, state):
            direction = {part.name: move}
            for other in fields:
                if other.tangent == part.name:
                    w = state[other.name]
                    direction[other.name] = -np.sum(w*move, axis=-1)[..., None]*state[part.name]
            found.append({name: direction.get(name, np.zeros_like(value)) for name, value in state.items()})
    if not found:  # a start in other coordinates than the standard form's
        found = [{name: _placed(value, place, np.array(1.0)) if name == moved else np.zeros_like(value)
                  for name, value in state.items()} for moved in state for place in np.ndindex(state[moved].shape)]
    return found


def _moves(part: StateField, state: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    value = state[part.name]
    if part.norm == "derived":
        return []
    if part.norm == "direction":
        return _across(value)
    if part.tangent:
        return _across(state[part.tangent])
    if part.norm == "attitude":  # hat(e_k) R
        return [_placed(value, body, np.cross(axis, value[body].T).T)
                for body in np.ndindex(value.shape[:-2]) for axis in np.eye(3)]
    if part.norm == "quaternion":
        units = np.eye(4)[1:]
        return [_placed(value, body, 0.5*quaternion_product(unit, value[body]))
                for body in np.ndindex(value.shape[:-1]) for unit in units]
    return [_placed(value, place, np.array(1.0)) for place in np.ndindex(value.shape)]


def _placed(like: np.ndarray, place: tuple[int, ...], value: np.ndarray) -> np.ndarray:
    out = np.zeros_like(like)
    out[place] = value
    return out


def _across(directions: np.ndarray) -> list[np.ndarray]:
    """Two orthonormal vectors across each unit vector (..., 3)."""
    found = []
    for body in np.ndindex(directions.shape[:-1]):
        q = directions[body]
        first = np.cross(np.eye(3)[int(np.argmin(np.abs(q)))], q)
        first /= np.sqrt(np.sum(first*first))
        found += [_placed(directions, body, first), _placed(directions, body, np.cross(q, first))]
    return found
