"""Formulations: what a system offers to a family of integrators, as protocols of compiled components.

A component is a NamedTuple; its methods are compiled. Types are those of runs; certificates call the same methods with
other numbers. y is a state (m, d), where the form chooses m and d; t is a time in s; methods write their result to
`out`. Vectors are spatial unless it says otherwise. `counters` counts evaluations (`liestep.compile.counters`)."""
from typing import Protocol

import numpy as np

from liestep.compile.roles import Component as Component
from liestep.compile.rows import Vector
from liestep.compile.status import Status


class VectorField(Component, Protocol):
    """right-hand side in the embedding space"""

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """dy/dt (m, d); False where it cannot be evaluated."""

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        """out = y + h (weights_0 k_0 + ...) over the first `count` of the slopes k (s, m, d)."""

    def project(self, y: np.ndarray) -> None:
        """Return y to the manifold in place as the option `projection` says, after steps of methods with `projects`."""


class CanonicalField(VectorField, Protocol):
    """Hamilton's equations: coordinates in row 0 of y (2, n), momenta in row 1"""


class SeparableHamiltonian(Component, Protocol):
    """H = T(momentum) + V(q), coordinates in row 0 of y (2, n), momenta in row 1; forces may depend on time"""

    def drift(self, y: np.ndarray, out: np.ndarray) -> None:
        """dq/dt into row 0 of out, from the momenta alone."""

    def kick(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        """dp/dt into row 1 of out, from the coordinates alone."""

    def push(self, h: float, rates: np.ndarray, y: np.ndarray) -> None:
        """Move y for h by the last kick, which is in rates."""


class Parts(Component, Protocol):
    """dy/dt = f_0(y) + f_1(y) + ..., two parts or more, each with a known flow"""

    def parts(self) -> int:
        """How many."""

    def flow(self, i: int, h: float, y: np.ndarray, work: np.ndarray) -> None:
        """Move y for h along part i alone, exactly; h may be negative. work (m, d) is overwritten."""


class SkewGradient(Component, Protocol):
    """dy/dt = S(y) grad H(y) with a skew matrix S, so that H is conserved"""

    def hamiltonian(self, y: np.ndarray) -> float:
        """H in J."""

    def slope(self, y: np.ndarray, out: np.ndarray) -> None:
        """The gradient of H (m, d)."""

    def turn(self, y: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """S(y) g (m, d); False where it cannot be evaluated."""


class ChargedParticles(Component, Protocol):
    """positions in rows 0 to n - 1 of y (2n, 3), velocities behind: dv/dt = a(t, x) + v x b(t, x)"""

    def push(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        """a (n, 3) in m/s2, from the positions alone."""

    def spin(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        """b (n, 3) in rad/s, charge times field over mass, from the positions alone."""


class LieAction(Component, Protocol):
    """action of a Lie group and f: states -> algebra"""

    def algebra_rows(self) -> int:
        """Number d of rows of an element of the algebra."""

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """f(t, y) (d, 3) with y' = d/ds exp(s f(t, y)).y at s = 0; False where it cannot be evaluated."""

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        """exp(xi).y (m, 3) of xi (d, 3); out may be y itself."""

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        """dexpinv_sigma(v) (d, 3); False at the limit of the chart. out may be v itself."""

    def in_chart(self, sigma: np.ndarray) -> bool:
        """Whether sigma (d, 3) is within the limit of the chart."""

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        """[a, b] (d, 3); out may be a or b."""

    def project(self, y: np.ndarray) -> bool:
        """Return y to constraints that the action does not keep, in place, as far as the option `stabilisation`
        says; False where it cannot. After each step of the methods that declare `projects`."""

    def projects(self) -> bool:
        """Whether `project` moves states, so that f there is not f where a step ended."""


class SphereLagrangian(Component, Protocol):
    """mass matrix, potential and gradient on (S^2)^n"""

    def potential(self, q: np.ndarray) -> float:
        """V in J of directions q (n, 3), defined off the spheres too."""

    def forced(self) -> bool:
        """Whether there are forces F of time and velocity; without them the next three methods do nothing."""

    def force(self, t: float, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """F_i in J (n, 3), tangent to the spheres, conjugate to dq_i/dt = omega_i x q_i."""

    def set_power(self, q: np.ndarray, w: np.ndarray, f: np.ndarray, y: np.ndarray) -> None:
        """Write the power of F = f (n, 3) into the row of the work, the last one of y."""

    def add_work(self, h: float, y: np.ndarray) -> None:
        """Add h times that power to the work."""

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        """dV/dq_i in J (n, 3), the plain one in R^3: its radial part never matters."""

    def body_mass(self, i: int) -> float:
        """M_ii in kg m2 of a diagonal mass matrix (option mass: diagonal)."""

    def mass_entry(self, i: int, j: int) -> float:
        """M_ij of a full mass matrix (option mass: dense)."""

    def inverse_mass_entry(self, i: int, j: int) -> float:
        """(M^-1)_ij of coupled bodies (option mass: dense or banded)."""

    def inverse_band(self) -> int:
        """Largest |i - j| of the entries of M^-1 that are not zero; 0: it is full."""

    def solve_inertia(self, q: np.ndarray, out: np.ndarray) -> bool:
        """Solve A(q) x = out in place (n, 3), A_ij = -M_ij hat(q_i) hat(q_j), A_ii = M_ii; False where it cannot."""


class CotangentRotation(Component, Protocol):
    """T*SO(3), right trivialised: angular velocity and torque"""

    def inertia(self) -> Vector:
        """Principal moments of inertia in kg m2, a tuple of three, along the body's axes."""

    def torque(self, y: np.ndarray) -> Vector:
        """Torque in N m, a tuple of three, at the attitude in rows 0 to 2 of y (columns of Q)."""

    def torque_slope(self, y: np.ndarray, u: Vector) -> Vector:
        """d/de torque(exp(e hat u) Q) at e = 0, a tuple of three; u in rad, spatial."""

    def aim(self, t: float, h: float) -> None:
        """Say when a step of length h takes its torques: applied ones depend on time and on z/h below."""

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        """All torques at the attitude of `stage` within a step from y by the rotation vector z, in the body at y."""

    def add_work(self, stage: np.ndarray, z: Vector, y: np.ndarray) -> None:
        """Add the work of applied torques over that step to the last row of y, which is there only with them."""

    def carry(self, h: float, stage: np.ndarray, y: np.ndarray) -> None:
        """Advance the rows of y beyond attitude and momentum by h with the attitude of `stage`."""


class QuadraticRotation(CotangentRotation, Protocol):
    """T*(SO(3) x R^3) with a quadratic Hamiltonian"""


class RigidBodies(Component, Protocol):
    """n rigid bodies that turn, all or none of which move: forces and torques in one call

    Rows: 3n axes of the bodies in space, n spatial angular momenta about the centres; then, where they move, n
    positions and n velocities.
    """

    def bodies(self) -> int:
        """n."""

    def translates(self) -> bool:
        """Whether the bodies have positions."""

    def mass(self, i: int) -> float:
        """Mass in kg of body i; without meaning where the bodies do not move."""

    def moments(self, i: int) -> Vector:
        """Principal moments of inertia in kg m2 of body i, a tuple of three, along its axes."""

    def forces(self, y: np.ndarray, out: np.ndarray) -> bool:
        """Spatial torques in N m in rows 0 to n - 1, forces in N in rows n to 2n - 1, which stay as they are where the
        bodies do not move; False where they cannot be evaluated."""


class Coordinates(Component, Protocol):
    """redundant coordinates q with holonomic constraints g(q) = 0

    Methods with r and a add to them, a being the derivative of r by the end of the step, q1.
    """

    def size(self) -> int:
        """Number n of coordinates."""

    def bonds(self) -> int:
        """Number m of constraints."""

    def guess(self, h: float, q: np.ndarray, v: np.ndarray, d: np.ndarray) -> None:
        """An estimate d (n,) of the increment of q over h."""

    def admissible(self, q0: np.ndarray, q1: np.ndarray) -> Status:
        """OK, or why the coordinates cannot describe a step from q0 to q1."""

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        """r += h times the discrete derivative of V, less the loads at the middle of the step; a += d/dq1."""

    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        """g(q) (m,)."""

    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        """Dg(q) (m, n), all entries."""

    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        """a += s sum_k multipliers_k D^2 g_k (n, n)."""

    def work(self, t: float, h: float, q0: np.ndarray, q1: np.ndarray) -> float:
        """Work in J of the loads over a step, in the same discretisation as `forces`."""


class ConstrainedLagrangian(Coordinates, Protocol):
    """redundant coordinates q with velocities v, momenta p and holonomic constraints g(q) = 0; singular mass allowed

    State rows q, v, p (n,) and the multipliers (m,), padded with zeros to n numbers; a fifth row holds the work of
    loads. L = T(q, v) - V(q), g is quadratic. `rule` says which discrete derivatives T and V have between the ends of a
    step, see `integrators.livens`: 0 the midpoint rule, 1 equivariant, 2 of Gonzalez, 3 mean values. q1 and v1 are the
    end of the step; methods with r and a add to them, a being the derivative of r by alpha d/dq1 + beta d/dv1.
    """

    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        """r += 2 pbar - h dT, with the discrete derivatives pbar of T by v and dT by q."""

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        """out = 2 pbar (n,)."""

    def make_tangent(self, q: np.ndarray, v: np.ndarray) -> None:
        """Remove from v (n,) what is along unit quaternions in q."""


class ConstantMass(ConstrainedLagrangian, Protocol):
    """redundant coordinates with a constant regular mass matrix and holonomic constraints

    State rows as of `ConstrainedLagrangian`.
    """

    def inverse_mass(self, p: np.ndarray, out: np.ndarray) -> None:
        """out = M^-1 p (n,)."""


class QuaternionHamiltonian(Coordinates, Protocol):
    """unit quaternions (and positions) with their momenta, H = p.M^-1 p/2 + V with the regular augmented mass matrix

    State rows as of `ConstrainedLagrangian`; livens2025 eqs. (139)-(141) and appendix D.
    """

    def flow(self, kind: int, polar: float, h: float, q0: np.ndarray, p0: np.ndarray, q1: np.ndarray, p1: np.ndarray,
             r: np.ndarray, a: np.ndarray) -> None:
        """r[:n] -= h dH/dp, r[n:2n] += h dT/dq in the discretisation `kind` (`integrators.quaternion_hamiltonian`); a
        (2n, 2n) += the derivative by (q1, p1). polar: J_00 over tr J/2."""

    def velocity(self, polar: float, q: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        """out = M^-1 p (n,)."""


class LinkedBodies(Coordinates, Protocol):
    """what bodies with joints offer for the elimination of one body after the other

    A body has `width` coordinates from place i of q on and `inner` constraints of its own; joint k holds body k on body
    k - 1. Methods are those of `ConstrainedLagrangian` and `QuaternionHamiltonian` for body b alone, or for one end of
    a joint, the point x of a body; constraints stand in rows of `out` and entries of `multipliers` from `place` on.
    """

    def linked(self) -> bool:
        """Whether the bodies are an open chain in their order, without a load; asked in plain Python."""

    def number(self) -> int:
        """Of bodies."""

    def width(self) -> int:
        """Coordinates of a body."""

    def inner(self) -> int:
        """Constraints inside a body."""

    def body_kinetic(self, b: int, i: int, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray,
                     v1: np.ndarray, alpha: float, beta: float, r: np.ndarray, a: np.ndarray) -> None:
        """As `kinetic`."""

    def body_flow(self, b: int, i: int, n: int, kind: int, polar: float, h: float, q0: np.ndarray, p0: np.ndarray,
                  q1: np.ndarray, p1: np.ndarray, r: np.ndarray, a: np.ndarray) -> None:
        """As `flow`, of unit quaternions only; n: row of the momenta."""

    def body_weight(self, b: int, i: int, h: float, r: np.ndarray) -> None:
        """As `forces`: the weight."""

    def body_constraints(self, i: int, q: np.ndarray, place: int, out: np.ndarray) -> None:
        """As `constraints`."""

    def body_slopes(self, i: int, q: np.ndarray, place: int, out: np.ndarray) -> None:
        """Adds to zeros, or writes, the entries of `slopes` that are not zero."""

    def body_bend(self, i: int, s: float, place: int, multipliers: np.ndarray, a: np.ndarray) -> None:
        """As `bend`."""

    def end(self, i: int, q: np.ndarray, x: Vector) -> Vector:
        """Where the point x of the body is."""

    def end_slopes(self, i: int, q: np.ndarray, place: int, x: Vector, sign: float, out: np.ndarray) -> None:
        """out += sign times the derivative of `end`, three rows."""

    def end_bend(self, i: int, x: Vector, mu: Vector, a: np.ndarray) -> None:
        """a += second derivative of mu.end."""

    def arms(self, k: int) -> tuple[Vector, Vector]:
        """The two ends of joint k: points of body k and of body k - 1, or of space."""


class MetricAction(LieAction, Protocol):
    """action on states that have a Riemannian metric"""

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        """Squared Riemannian distance."""


class LieChart(LieAction, Protocol):
    """action of a Lie group that is free: two states of an orbit have local coordinates"""

    def log(self, y: np.ndarray, z: np.ndarray, out: np.ndarray) -> None:
        """X (d, 3) with act(X, y) = z."""


class IndexThree(LieChart, Protocol):
    """constrained equations of motion in local coordinates of n bodies: residual, tangent, multipliers"""

    def bodies(self) -> int:
        """Number n of bodies."""

    def joint_rows(self) -> int:
        """Number m of rows of joints."""

    def per_length(self) -> float:
        """One over the unit in which corrections of lengths are measured, 1/m."""

    def holds_velocities(self) -> bool:
        """Whether some of them are rows of velocities alone, for which A V = 0 stands instead of g = 0."""

    def velocity(self, y: np.ndarray, out: np.ndarray) -> None:
        """V of the state (2n, 3): rate and linear velocity of each body, native to the group."""

    def put_velocity(self, v: np.ndarray, y: np.ndarray) -> None:
        """Write V (2n, 3) into the state."""

    def advance(self, h: float, xi: np.ndarray) -> None:
        """The step of time into the increments xi (d, 3)."""

    def close(self, y: np.ndarray) -> bool:
        """Poses and velocities back to the joints; False where it cannot."""

    def work(self, y: np.ndarray) -> float:
        """Of torques and drives since the start, in J."""

    def put_work(self, work: float, y: np.ndarray) -> None:
        """Write it into the state."""

    def power(self, y: np.ndarray, factor: float, found: np.ndarray) -> float:
        """Of torques and drives at a state with factor times the multipliers `found`, in W."""

    def multipliers(self, factor: float, out: np.ndarray) -> None:
        """factor times the multipliers (m,) at the state of the last `algebra`, in an order of the component's own."""

    def put_multipliers(self, factor: float, found: np.ndarray, y: np.ndarray) -> None:
        """Write factor times multipliers (m,) of that order into the state."""

    def commutator(self, a: np.ndarray, b: np.ndarray, i: int) -> tuple[Vector, Vector]:
        """[a, b] of body i for rows (2n, 3) in the group's own algebra, two tuples of three."""

    def chart_defect(self, v: np.ndarray, i: int) -> tuple[Vector, Vector]:
        """k of body i with psi(h V + h^3 k) = exp(h V) to third order, two tuples of three; zero where psi is exp."""

    def newton(self, y: np.ndarray, u: np.ndarray, v: np.ndarray, dv: np.ndarray, past: np.ndarray,
               found: np.ndarray, s: float, cv: float, cc: float, ca: float, index: int, first: int = 1) -> float:
        """One correction of U (2n, 3) and of multipliers times s at y = (q psi(U), V), dV = cv dU + cc [dU, past],
        d(dV/dt) = ca dV, towards g = 0 (index 3) or A V = 0 (2); largest entry in U, inf for a singular
        matrix. Derivatives of forces may be those of the last correction with first = 1, of each step."""


PROTOCOLS: dict[str, type] = {
    "sphere_lagrangian": SphereLagrangian, "vector_field": VectorField, "lie_action": LieAction,
    "cotangent_rotation": CotangentRotation, "quadratic_rotation": QuadraticRotation, "lie_chart": LieChart,
    "index_three": IndexThree, "rigid_bodies": RigidBodies, "constrained_lagrangian": ConstrainedLagrangian,
    "constant_mass": ConstantMass, "quaternion_hamiltonian": QuaternionHamiltonian, "canonical_field": CanonicalField,
    "separable_hamiltonian": SeparableHamiltonian, "skew_gradient": SkewGradient, "charged_particles": ChargedParticles,
    "parts": Parts,
}
