"""Reference engine: heyoka's adaptive Taylor series on the multiplier formulation, in Cartesian coordinates q, v = dq/dt.

d^2q/dt^2 = M^-1 (-G + lambda_i q_i) with q_i.d^2q_i/dt^2 = -|v_i|^2, that is sum_j Minv_ij (q_i.q_j) lambda_j =
-|v_i|^2 + q_i.(M^-1 G)_i: an n x n Cholesky solve. It shares nothing with the omega form of twospheres2009 eqs. (9)-(11) but the
gradient and the mass matrix. The gradient is the system's own code, run once on symbolic expressions.
"""
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.core.tracing import Functions, plain_component
from liestep.systems.sheet import SphereSheet

LARGEST = 40  # bodies: the expressions of all pairs grow like n^2, the solution for the multipliers like n^3


class NotSymbolic(Exception):
    """The gradient of this system cannot be written as one expression, or it would be too large."""


class TaylorSeries:
    """The compiled series of one system from one start; tolerance is that of the step size control (default: round-off)."""

    def __init__(self, sheet: SphereSheet, parameters: dict, initial: Mapping[str, np.ndarray], tolerance: float | None = None):
        """Raises NotSymbolic: see there."""
        import heyoka

        q, omega = initial["q"], initial["omega"]
        self.n = q.shape[0]
        self.start = np.concatenate([q, np.cross(omega, q)]).ravel()
        # Compact mode and light optimisation: the rod of 10 elements compiles in 4 s, with the defaults in 10 s and more.
        self.series = heyoka.taylor_adaptive(_equations(sheet, parameters, self.n), self.start.tolist(), compact_mode=True, opt_level=1,
                                             high_accuracy=True, **({} if tolerance is None else {"tol": tolerance}))

    def trajectory(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and omega at `times` (the first one is the start), each (time, n, 3).

        Raises:
            RuntimeError: the integration stopped before the last time.
        """
        import heyoka

        self.series.time, self.series.state[:] = 0.0, self.start
        outcome, *_, states = self.series.propagate_grid(np.ascontiguousarray(times))
        if outcome != heyoka.taylor_outcome.time_limit:
            raise RuntimeError(f"the Taylor series stopped at t = {self.series.time:.6g}")
        states = states.reshape(len(times), 2, self.n, 3)
        return states[:, 0], np.cross(states[:, 0], states[:, 1])


def _equations(sheet: SphereSheet, parameters: dict, n: int) -> list[tuple]:
    """First-order system of heyoka expressions for q_1x, ..., v_nz."""
    import heyoka

    if n > LARGEST:
        raise NotSymbolic(f"{n} bodies are more than {LARGEST}")
    names = [[f"{word}{i}{axis}" for i in range(n) for axis in "xyz"] for word in "qv"]
    q, v = (np.array(heyoka.make_vars(*group), dtype=object).reshape(n, 3) for group in names)
    force = -symbolic_gradient(sheet.build(parameters), q)
    mass = np.asarray(sheet.mass(parameters))
    inverse = np.diag(1.0/mass) if mass.ndim == 1 else np.linalg.inv(mass)
    free = _apply(inverse, force)
    dot = np.array([[heyoka.sum(list(q[i]*q[j])) for j in range(n)] for i in range(n)], dtype=object)
    right = [-heyoka.sum(list(v[i]*v[i])) - heyoka.sum(list(q[i]*free[i])) for i in range(n)]
    multiplier = _solve(dot, inverse, right)
    acceleration = free + _apply(inverse, np.array(multiplier, dtype=object)[:, None]*q)
    return [*zip(q.flat, v.flat, strict=True), *zip(v.flat, acceleration.flat, strict=True)]


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


def symbolic_gradient(system: Any, q: np.ndarray) -> np.ndarray:
    """The system's `gradient` at symbols q (n, 3), as expressions.

    Raises:
        NotSymbolic: the code decides on values of q, or uses a function that expressions do not have.
    """
    import heyoka

    out = np.zeros(q.shape, dtype=object)
    try:
        plain_component(system, Functions(heyoka.sqrt, heyoka.sin, heyoka.cos)).gradient(q, out)
    except (TypeError, ValueError) as error:
        raise NotSymbolic(f"the gradient is not one expression: {error}") from None
    return np.array([value if isinstance(value, heyoka.expression) else heyoka.expression(float(value)) for value in out.flat],
                    dtype=object).reshape(q.shape)
