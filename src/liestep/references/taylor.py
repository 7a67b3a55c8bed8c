"""Reference engine: heyoka's adaptive Taylor series; on spheres of the multiplier formulation, in Cartesian
coordinates q, v = dq/dt.

d^2q/dt^2 = M^-1 (-G + lambda_i q_i) with q_i.d^2q_i/dt^2 = -|v_i|^2, that is sum_j Minv_ij (q_i.q_j) lambda_j =
-|v_i|^2 + q_i.(M^-1 G)_i: an n x n Cholesky solve. It shares nothing with the omega form of twospheres2009 eqs.
(9)-(11) but the gradient and the mass matrix. The gradient is the system's own code, run once on symbolic expressions.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from liestep.catalogue import sheet
from liestep.contracts.formulated import Formulated
from liestep.contracts.sheet import SphereSheet
from liestep.core.tracing import Functions, plain_component
from liestep.formulations import formulate
from liestep.runs.specification import RunSpecification

LARGEST = 40  # bodies: the expressions of all pairs grow like n^2, the solution for the multipliers like n^3


class NotSymbolic(Exception):
    """The gradient of this system cannot be written as one expression, or it would be too large."""


class TaylorSeries:
    """A compiled series of differential equations given as pairs (variable, derivative) of
    expressions; states are rows (m, d)."""

    def __init__(self, equations: list[tuple], start: np.ndarray, to_rows: Callable[[np.ndarray], np.ndarray],
                 tolerance: float | None):
        """tolerance is that of the step size control; None: round-off."""
        import heyoka

        self.start, self.to_rows, self.shape = start.ravel(), to_rows, start.shape
        # Compact mode and light optimisation: the rod of 10 elements compiles in 4 s, with the
        # defaults in 10 s and more.
        self.series = heyoka.taylor_adaptive(equations, self.start.tolist(), compact_mode=True, opt_level=1,
                                             high_accuracy=True, **({} if tolerance is None else {"tol": tolerance}))

    def trajectory(self, times: np.ndarray) -> np.ndarray:
        """Rows of the state, as in the first form of the vector field, at `times` (the first one is
        the start), (time, m, d).

        Raises:
            RuntimeError: the integration stopped before the last time.
        """
        import heyoka

        self.series.time, self.series.state[:] = 0.0, self.start
        outcome, *_, states = self.series.propagate_grid(np.ascontiguousarray(times))
        if outcome != heyoka.taylor_outcome.time_limit:
            raise RuntimeError(f"the Taylor series stopped at t = {self.series.time:.6g}")
        return self.to_rows(states.reshape(len(times), *self.shape))


def taylor_series(run: RunSpecification, tolerance: float | None = None) -> TaylorSeries:
    """The series of a system from one start: on spheres of the multiplier formulation, elsewhere of the vector field.

    Raises:
        NotSymbolic: see there.
    """
    facts = sheet(run.problem)
    if isinstance(facts, SphereSheet):
        q, omega = run.initial["q"], run.initial["omega"]
        start = np.concatenate([q, np.cross(omega, q)])
        return TaylorSeries(_equations(facts, run.parameters, q.shape[0]), start, _omega_rows, tolerance)
    formulated = formulate(facts, run.parameters, run.initial, "vector_field", {})
    return TaylorSeries(_traced(formulated), formulated.start, lambda rows: rows, tolerance)


def _omega_rows(rows: np.ndarray) -> np.ndarray:
    """(q, dq/dt) to (q, omega)."""
    n = rows.shape[1]//2
    return np.concatenate([rows[:, :n], np.cross(rows[:, :n], rows[:, n:])], axis=1)


def _traced(formulated: Formulated) -> list[tuple]:
    """The right-hand side of a vector field, run once on symbols."""
    import heyoka

    shape = formulated.start.shape
    y = np.array(heyoka.make_vars(*(f"y{i}_{k}" for i, k in np.ndindex(shape))), dtype=object).reshape(shape)
    out = np.zeros(shape, dtype=object)
    try:
        plain_component(formulated.problem, _functions()).rhs(heyoka.time, y, out)
    except (TypeError, ValueError) as error:
        raise NotSymbolic(f"the right-hand side is not one expression: {error}") from None
    return list(zip(y.flat, _expressions(out).flat, strict=True))


def _equations(facts: SphereSheet, parameters: dict, n: int) -> list[tuple]:
    """First-order system of heyoka expressions for q_1x, ..., v_nz."""
    import heyoka

    if n > LARGEST:
        raise NotSymbolic(f"{n} bodies are more than {LARGEST}")
    names = [[f"{word}{i}{axis}" for i in range(n) for axis in "xyz"] for word in "qv"]
    q, v = (np.array(heyoka.make_vars(*group), dtype=object).reshape(n, 3) for group in names)
    force = -symbolic_gradient(facts.build(parameters), q)
    mass = np.asarray(facts.mass(parameters))
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
    out = np.zeros(q.shape, dtype=object)
    try:
        plain_component(system, _functions()).gradient(q, out)
    except (TypeError, ValueError) as error:
        raise NotSymbolic(f"the gradient is not one expression: {error}") from None
    return _expressions(out)


def _functions() -> Functions:
    import heyoka

    return Functions(heyoka.sqrt, heyoka.sin, heyoka.cos)


def _expressions(values: np.ndarray) -> np.ndarray:
    """Numbers among expressions become expressions."""
    import heyoka

    return np.array([value if isinstance(value, heyoka.expression) else heyoka.expression(float(value))
                     for value in values.flat],
                    dtype=object).reshape(values.shape)
