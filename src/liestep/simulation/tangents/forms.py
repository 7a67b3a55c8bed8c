"""Symplectic forms of systems on spheres and of a rigid body about a fixed point, and how much a step changes them.

On (S^2)^n the form is the differential of sum_ij M_ij v_i.dq_j with the velocities v_i = omega_i x q_i. On T*SO(3),
right trivialised, two tangents with dQ = hat(xi) Q and d pi give xi_1.d pi_2 - xi_2.d pi_1 - pi.(xi_1 x xi_2).

Points and tangents are pairs of arrays of any numbers: (q, omega), rows (n, 3) each, or (rows Q e_1, Q e_2, Q e_3, pi).
"""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from liestep.mechanics.contracts.sheet import Sheet

Pair = tuple[np.ndarray, np.ndarray]
Form = Callable[[Pair, Pair, Pair], Any]  # (point, tangent, tangent)


def sphere_form(mass: np.ndarray) -> Form:
    """Form on (TS^2)^n of a mass matrix (n, n)."""
    def form(y: Pair, u: Pair, v: Pair) -> Any:
        (q, w), n = y, len(y[0])
        a, b = (np.cross(dw, q) + np.cross(w, dq) for dq, dw in (u, v))
        return sum(mass[i, j]*(np.sum(u[0][i]*b[j]) - np.sum(v[0][i]*a[j])) for i in range(n) for j in range(n))

    return form


def body_form(sign: int = 1) -> Form:
    """Form on T*SO(3); `sign` -1 turns one of its terms round, so that nothing keeps it."""
    def form(y: Pair, u: Pair, v: Pair) -> Any:
        # xi of dQ = hat(xi) Q: half the sum of q_i x dq_i
        a, b = (np.cross(y[0], d[0]).sum(axis=0)/2 for d in (u, v))
        return np.sum(a*v[1]) - np.sum(b*u[1]) - sign*np.sum(y[1]*np.cross(a, b))

    return form


def area_form(strength: np.ndarray) -> Form:
    """Form on (S^2)^n: the areas of the spheres with factors (n,). Its pairs hold the directions twice."""
    def form(y: Pair, u: Pair, v: Pair) -> Any:
        return np.sum(strength*np.sum(y[0]*np.cross(u[0], v[0]), axis=1))

    return form


def form_of(facts: Sheet, parameters: Mapping[str, Any], state: Mapping[str, np.ndarray]) -> Form | None:
    """The form of a system; None where it is not known here."""
    if set(state) == {"q", "omega"} and facts.mass is not None:
        mass = facts.mass(parameters)
        return sphere_form(np.diag(mass) if mass.ndim == 1 else mass)
    return body_form() if set(state) == {"attitude", "angular_momentum"} else None


def pair_of(fields: Mapping[str, np.ndarray]) -> Pair:
    """A point or tangent of named fields, for the forms of `form_of`."""
    if "q" in fields:
        return fields["q"], fields["omega"]
    return fields["attitude"].T, fields["angular_momentum"]


def changes(form: Form, before: tuple[Pair, Sequence[Pair]], after: tuple[Pair, Sequence[Pair]]) -> tuple[Any, Any]:
    """(values, changes) of the form on all pairs of tangents (point, tangents) that a step carries along."""
    pairs = [(a, b) for a in range(len(before[1])) for b in range(a)]
    old, new = (np.array([form(point, moved[a], moved[b]) for a, b in pairs]) for point, moved in (before, after))
    return old, new - old
