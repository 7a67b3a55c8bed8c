"""Directions in which a start can be moved: a basis of the tangent space of the state's manifold. Symplectic forms of
systems on spheres and of a rigid body about a fixed point, and how much a step changes them.

On (S^2)^n the form is the differential of sum_ij M_ij v_i.dq_j with the velocities v_i = omega_i x q_i. On T*SO(3),
right trivialised, two tangents with dQ = hat(xi) Q and d pi give xi_1.d pi_2 - xi_2.d pi_1 - pi.(xi_1 x xi_2). Points
and tangents of forms are pairs of arrays of any numbers: (q, omega), rows (n, 3) each, or (rows Q e_1, Q e_2, Q e_3,
pi)."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import StateField, quaternion_product
from liestep.mechanics.contracts.sheet import Parameters, Sheet
from liestep.mechanics.formulations import formulate_standard

Direction = dict[str, np.ndarray]
# how far a start is moved to see whether it stays on its manifold to first order: of unit vectors and rotations, so in
# rad; other fields are bound by nothing that has a unit
SMALL = 1e-7


def span(facts: Sheet, parameters: Parameters, initial: Mapping[str, np.ndarray]) -> list[Direction]:
    """Directions that span the tangent space at a checked start of a system. Raises InputError: the system has
    constraints beyond unit lengths, tangency and rotations."""
    directions = basis(formulate_standard(facts, parameters, initial).fields, initial)
    for direction in directions:
        try:
            facts.check_initial(parameters, {name: value + SMALL*direction[name] for name, value in initial.items()})
        except InputError:
            raise InputError(f"the states of {facts.title} are bound by constraints, whose tangents are not known"
                             " here: derivatives need systems without joints, or directions of your own") from None
    return directions


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
        return across(value)
    if part.tangent:
        return across(state[part.tangent])
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


def across(directions: np.ndarray) -> list[np.ndarray]:
    """Two orthonormal vectors across each unit vector (..., 3)."""
    tried = []
    for body in np.ndindex(directions.shape[:-1]):
        q = directions[body]
        first = np.cross(np.eye(3)[int(np.argmin(np.abs(q)))], q)
        first /= np.sqrt(np.sum(first*first))
        tried += [_placed(directions, body, first), _placed(directions, body, np.cross(q, first))]
    return tried


Pair = tuple[np.ndarray, np.ndarray]
Form = Callable[[Pair, Pair, Pair], Any]  # (point, tangent, tangent)


def sphere_form(mass: np.ndarray) -> Form:
    """Form on (TS^2)^n of a mass matrix (n, n)."""
    def form(y: Pair, u: Pair, v: Pair) -> Any:
        (q, w), n = y, len(y[0])
        a, b = (np.cross(dw, q) + np.cross(w, dq) for dq, dw in (u, v))
        return sum(mass[i, j]*(np.sum(u[0][i]*b[j]) - np.sum(v[0][i]*a[j])) for i in range(n) for j in range(n))

    return form


def body_form(y: Pair, u: Pair, v: Pair) -> Any:
    """Form on T*SO(3)."""
    # xi of dQ = hat(xi) Q: half the sum of q_i x dq_i
    a, b = (np.cross(y[0], d[0]).sum(axis=0)/2 for d in (u, v))
    return np.sum(a*v[1]) - np.sum(b*u[1]) - np.sum(y[1]*np.cross(a, b))


def area_form(strength: np.ndarray) -> Form:
    """Form on (S^2)^n: the areas of the spheres with factors (n,). Its pairs hold the directions twice."""
    def form(y: Pair, u: Pair, v: Pair) -> Any:
        return np.sum(strength*np.sum(y[0]*np.cross(u[0], v[0]), axis=1))

    return form


def form_of(facts: Sheet, parameters: Parameters, state: Mapping[str, np.ndarray]) -> Form | None:
    """The form of a system; None where it is not known here."""
    if set(state) == {"q", "omega"} and facts.mass is not None:
        mass = np.asarray(facts.mass(parameters))
        return sphere_form(np.diag(mass) if mass.ndim == 1 else mass)
    return body_form if set(state) == {"attitude", "angular_momentum"} else None


def pair_of(fields: Mapping[str, np.ndarray]) -> Pair:
    """A point or tangent of named fields, for the forms of `form_of`."""
    if "q" in fields:
        return fields["q"], fields["omega"]
    return fields["attitude"].T, fields["angular_momentum"]


def changes(form: Form, before: tuple[Pair, Sequence[Pair]], after: tuple[Pair, Sequence[Pair]]) -> Pair:
    """(values, changes) of the form on all pairs of tangents (point, tangents) that a step carries along."""
    pairs = [(a, b) for a in range(len(before[1])) for b in range(a)]
    old, new = (np.array([form(point, moved[a], moved[b]) for a, b in pairs]) for point, moved in (before, after))
    return old, new - old
