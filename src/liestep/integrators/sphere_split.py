"""Kicks and great circles on (S^2)^n for a diagonal mass matrix: both flows are exact, coefficients are data."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.rows import axpy, cross, dot, put, row, scale
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.so3 import coefficients, quadratic
from liestep.integrators.rigid_split import order_of_splitting, splitting
from liestep.integrators.weights import SPLITTING_ORDERS, drifts_and_kicks
from liestep.mechanics.contracts.formulations import SphereLagrangian
from liestep.mechanics.contracts.keeping import VARIATIONAL
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.sheet import Options, Parameters, Sheet

DEFAULT = "rkn6a"


@kernel
def kick_spheres(problem: SphereLagrangian, h: float, g: np.ndarray, y: np.ndarray) -> None:
    """omega_i -= (h/m_i) q_i x G_i with the gradient g (n, 3)."""
    n = y.shape[0]//2
    for i in range(n):
        put(y, n + i, axpy(-h/problem.body_mass(i), cross(row(y, i), row(g, i)), row(y, n + i)))


@kernel
def turn_spheres(problem: SphereLagrangian, h: float, y: np.ndarray) -> None:
    """q_i along the great circle about omega_i by the angle h|omega_i|."""
    n = y.shape[0]//2
    for i in range(n):
        u = scale(h, row(y, n + i))
        s, c, _ = coefficients(dot(u, u))
        put(y, i, quadratic(s, c, u, row(y, i)))
    problem.counters[Counter.EXPONENTIALS] += n


class SphereSplit(NamedTuple):
    """Symmetric, explicit, symplectic; one gradient for each kick, the last one of a step serves the next; no limit of
    the angle of a step."""

    drifts: np.ndarray  # (s,)
    kicks: np.ndarray   # (s + 1,); no gradient is taken where it is 0

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> Any:
        return np.zeros_like(y[:y.shape[0]//2])

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        if self.kicks[0] != 0.0:
            problem.gradient(y[:y.shape[0]//2], work)
        return Status.OK

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        if self.kicks[0] != 0.0:
            kick_spheres(problem, self.kicks[0]*h, work, y)
        for k in range(self.drifts.shape[0]):
            turn_spheres(problem, self.drifts[k]*h, y)
            if self.kicks[k + 1] != 0.0:
                problem.gradient(y[:y.shape[0]//2], work)
                kick_spheres(problem, self.kicks[k + 1]*h, work, y)
        return Status.OK


def needs_uncoupled_masses(parameters: Parameters, sheet: Sheet) -> str | None:
    """`Method.requires`: why it cannot run on coupled masses."""
    assert sheet.mass is not None
    if np.ndim(sheet.mass(parameters)) == 1:
        return None
    return "it is for a diagonal mass matrix, and the masses of this system are coupled (vi_sphere takes any)"


def require_diagonal(options: Options) -> dict[str, Any]:
    """`Method.resolve`: InputError for a full mass matrix."""
    if options["mass"] != "diagonal":
        raise InputError(f"option mass is {options['mass']}, and this method solves no equations of coupled masses;"
                         " allowed is diagonal (vi_sphere takes any)")
    return dict(options)


METHODS = {
    "sphere_split": Method(
        summary="order 6, or 2 to 8 by splitting; explicit kicks and great circles, diagonal mass",
        order=SPLITTING_ORDERS[DEFAULT], formulation="sphere_lagrangian", symmetric=True,
        conserves=VARIATIONAL,
        citation="McLachlan, Modin and Verdier 2014; Blanes and Moan 2002", options=splitting(DEFAULT),
        order_for=order_of_splitting, requires=needs_uncoupled_masses, resolve=require_diagonal,
        build=lambda options, tolerance, t_end: SphereSplit(*drifts_and_kicks(options["splitting"]))),
}
