"""Taylor series of systems on (S^2)^n: the multiplier formulation in Cartesian coordinates q, v = dq/dt.

d^2q/dt^2 = M^-1 (-G + lambda_i q_i) with q_i.d^2q_i/dt^2 = -|v_i|^2, that is sum_j Minv_ij (q_i.q_j) lambda_j =
-|v_i|^2 + q_i.(M^-1 G)_i: an n x n Cholesky solve. It shares nothing with the omega form of twospheres2009 eqs.
(9)-(11) but the gradient and the mass matrix."""
from collections.abc import Mapping

import numpy as np

from liestep.compile.roles import System
from liestep.mechanics.formulations.symbolic import NotSymbolic, SeriesEquations, traced
from liestep.mechanics.formulations.work import declares

MOST_BODIES = 40  # bodies: the expressions of all pairs grow like n^2, the solution for the multipliers like n^3


def multiplier_series(system: System, mass: np.ndarray, state: Mapping[str, np.ndarray]) -> SeriesEquations:
    """Equations from a system with `gradient`, its mass (n,) or (n, n), and a start q, omega (n, 3).

    Raises:
        NotSymbolic: see there."""
    q, omega = state["q"], state["omega"]
    start = np.concatenate([q, np.cross(omega, q)]).ravel()
    if declares(system, "force"):
        start = np.append(start, 0.0)
    return SeriesEquations(_equations(system, mass, len(q)), start, _to_rows)


def _to_rows(values: np.ndarray) -> np.ndarray:
    """(q, dq/dt) (time, 6n), with forces and the work (time, 6n + 1), to rows q, omega and work (time, 2n or 2n + 1,
    3)."""
    n, work = divmod(values.shape[1], 6)
    rows = values[:, :6*n].reshape(len(values), -1, 3)
    parts = [rows[:, :n], np.cross(rows[:, :n], rows[:, n:])]
    if work:
        parts.append(values[:, -1:, None]*np.array([1.0, 0.0, 0.0]))
    return np.concatenate(parts, axis=1)


def _forces(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The part of the system's forces tangent to the spheres, as expressions; errors as of `traced`."""
    import heyoka

    forces = traced(system, "force", q.shape, lambda plain, out: plain.force(heyoka.time, q, np.cross(q, v), out))
    return np.array([f - heyoka.sum(list(a*f))/heyoka.sum(list(a*a))*a for a, f in zip(q, forces, strict=True)],
                    dtype=object)


def _equations(system: System, mass: np.ndarray, n: int) -> list[tuple]:
    """First-order system of heyoka expressions for q_1x, ..., v_nz."""
    import heyoka

    if n > MOST_BODIES:
        raise NotSymbolic(f"{n} bodies are more than {MOST_BODIES}")
    names = [[f"{word}{i}{axis}" for i in range(n) for axis in "xyz"] for word in "qv"]
    q, v = (np.array(heyoka.make_vars(*group), dtype=object).reshape(n, 3) for group in names)
    force, power = -traced(system, "gradient", q.shape, lambda plain, out: plain.gradient(q, out)), []
    if declares(system, "force"):
        push = _forces(system, q, v)
        force = force + push
        power = [(heyoka.make_vars("work"), heyoka.sum(list((push*v).flat)))]
    inverse = np.diag(1.0/mass) if mass.ndim == 1 else np.linalg.inv(mass)
    free = _apply(inverse, force)
    dot = np.array([[heyoka.sum(list(q[i]*q[j])) for j in range(n)] for i in range(n)], dtype=object)
    right = [-heyoka.sum(list(v[i]*v[i])) - heyoka.sum(list(q[i]*free[i])) for i in range(n)]
    multiplier = _solve(dot, inverse, right)
    acceleration = free + _apply(inverse, np.array(multiplier, dtype=object)[:, None]*q)
    return [*zip(q.flat, v.flat, strict=True), *zip(v.flat, acceleration.flat, strict=True), *power]


def _apply(inverse: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """sum_j Minv_ij x_j, leaving out zeros; (n, 3) expressions."""
    import heyoka

    out = np.empty_like(columns)
    for i, line in enumerate(inverse):
        for k in range(3):
            out[i, k] = heyoka.sum([float(m)*columns[j, k] for j, m in enumerate(line) if m != 0.0])
    return out


def _solve(dot: np.ndarray, inverse: np.ndarray, right: list) -> list:
    """Solution of sum_j Minv_ij (q_i.q_j) x_j = right_i by L D L^T, which needs no square roots."""
    import heyoka

    n = len(right)
    if not np.any(inverse - np.diag(np.diag(inverse))):
        return [right[i]/(float(inverse[i, i])*dot[i, i]) for i in range(n)]
    scaled, lower, x = np.zeros((n, n), dtype=object), np.zeros((n, n), dtype=object), list(right)  # L D and L
    for j in range(n):
        for i in range(j, n):
            scaled[i, j] = float(inverse[i, j])*dot[i, j] - heyoka.sum([scaled[i, k]*lower[j, k] for k in range(j)])
            if i > j:
                lower[i, j] = scaled[i, j]/scaled[j, j]
    for i in range(n):
        x[i] = x[i] - heyoka.sum([lower[i, k]*x[k] for k in range(i)])
    for i in reversed(range(n)):
        x[i] = x[i]/scaled[i, i] - heyoka.sum([lower[k, i]*x[k] for k in range(i + 1, n)])
    return x
