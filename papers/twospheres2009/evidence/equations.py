"""Evidence on the equations of twospheres2009, from random data with fixed seeds: the discrete ones, each evaluated as
printed and as corrected on motions that the variational integrator computes in multiplier form, which uses none of
them; the continuous ones; direction, inertia and potential of the elastic rod of example 4; and statements that no run
of a study shows."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liestep.mechanics.formulations import formulate
from liestep.paper import Evidence, sheet, simulate
from liestep.simulation.plugins.trial import plain


def size(vectors: np.ndarray) -> float:
    """Largest norm of a row (..., 3)."""
    return float(np.linalg.norm(vectors, axis=-1).max())


def hat(a: np.ndarray) -> np.ndarray:
    """The matrix with hat(a) b = a x b."""
    return np.cross(np.eye(3), a)


ROUND_OFF = 1e-11  # largest relative residual of an equation that holds


class PendulumStates(NamedTuple):
    """Consecutive states of a chain of pendula, step h; constant mass matrix and gradient of the potential."""

    q: np.ndarray         # (steps + 1, n, 3)
    omega: np.ndarray     # (steps + 1, n, 3)
    mass: np.ndarray      # (n, n)
    gradient: np.ndarray  # (n, 3)
    h: float

    def pull(self, vectors: np.ndarray) -> np.ndarray:
        """sum_j M_ij v_j, shape (..., n, 3)"""
        return np.einsum("ij,...jk->...ik", self.mass, vectors)

    def coupling(self, vectors: np.ndarray) -> np.ndarray:
        """sum_{j!=i} M_ij v_j, shape (..., n, 3)"""
        return np.einsum("ij,...jk->...ik", self.mass - np.diag(np.diag(self.mass)), vectors)


def pendulum_motion(preset: str = "paper_scaled", h: float = 0.01, steps: int = 200) -> PendulumStates:
    problem = "spherical_pendulum_chain"
    facts = sheet(problem)
    parameters = facts.check(facts.presets[preset].parameters)
    data = simulate(problem, "vi_sphere", preset=preset, step=h, t_end=h*steps, samples=steps + 1)
    q = data["q"].values
    assert facts.mass is not None
    return PendulumStates(q, data["omega"].values, facts.mass(parameters), _gradient(facts.build(parameters), q[0]), h)


def angular_matrix(mass: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Blocks M_ii I and -M_ij hat(q_i) hat(q_j) of eqs. (11) and (25), (3n, 3n)."""
    n = len(mass)
    return np.block([[mass[i, i]*np.eye(3) if i == j else -mass[i, j]*hat(q[i]) @ hat(q[j]) for j in range(n)]
                     for i in range(n)])


def two_sides(motion: PendulumStates) -> tuple[np.ndarray, np.ndarray]:
    """Left and right side of eq. (18) at all inner states, each (steps - 1, n, 3)."""
    q, h = motion.q, motion.h
    change = np.diff(q, axis=0)
    left = np.cross(q[1:-1], motion.pull(change[1:]))  # q_i x F_i q_i = q_i x (q_{k+1} - q_k)_i
    return left, np.cross(q[1:-1], motion.pull(change[:-1])) - h*h*np.cross(q[1:-1], motion.gradient)


def stray_zero(motion: PendulumStates | None = None) -> Evidence:
    """Eq. (18) along a computed motion: left side = right side, and, as printed, left side = right side = 0. Both
    residuals are relative to the size of the inertial term. Of a pendulum at rest both hold, which decides nothing."""
    motion = motion or pendulum_motion()
    left, right = two_sides(motion)
    scale = size(motion.pull(np.diff(motion.q, axis=0))) or 1.0
    corrected, printed = size(left - right)/scale, max(size(left), size(right))/scale
    return Evidence(corrected <= ROUND_OFF and printed >= 0.1,
                    "{steps:d} steps of the double pendulum, relative to the inertial terms: left minus right side"
                    " {corrected:.1e}; the larger of the two sides, which `= 0` says to vanish, {printed:.2g}",
                    {"steps": len(motion.q) - 1, "corrected": corrected, "printed": printed})


def discrete_momentum(motion: PendulumStates) -> np.ndarray:
    """Right side of the formula before eq. (20) at all states but the last."""
    q = motion.q[:-1]
    inner = motion.pull(np.diff(motion.q, axis=0))/motion.h + 0.5*motion.h*motion.gradient
    return -np.cross(q, np.cross(q, inner))


def momentum_symbol() -> Evidence:
    """The formula before eq. (20) gives p of eq. (12), not q."""
    motion = pendulum_motion()
    q = motion.q[:-1]
    velocity = np.cross(motion.omega[:-1], q)
    p = np.diag(motion.mass)[:, None]*velocity - np.cross(q, np.cross(q, motion.coupling(velocity)))
    formula = discrete_momentum(motion)
    corrected, printed = size(formula - p)/size(p), float(np.linalg.norm(formula - q, axis=-1).min())
    return Evidence(corrected <= ROUND_OFF and printed >= 0.1,
                    "along a motion the right side differs from p of (12) by {corrected:.1e} of it, from q by at"
                    " least {printed:.2g}", {"corrected": corrected, "printed": printed})


def determines(q: np.ndarray, outer: int) -> float:
    """How well q_outer x [bracket of body 0] = 0 determines the bracket, which is orthogonal to q_0: the least size of
    the product over unit brackets. Zero: a bracket that does not vanish passes."""
    plane = np.linalg.svd(q[0][None])[2][1:]  # unit vectors orthogonal to q_0
    return float(np.linalg.svd(np.array([np.cross(q[outer], vector) for vector in plane]), compute_uv=False).min())


def bracket_index(angles: tuple[float, float] = (30.0, 90.0)) -> Evidence:
    """Does q_i x [ ... ] = 0 before eq. (20), or q_j x [ ... ] = 0 as printed, make the bracket vanish? For two
    directions at each of the angles (degrees) between them."""
    numbers = {"corrected": np.inf, "printed": np.inf}
    for angle in np.radians(angles):
        q = np.array([[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]])
        numbers["corrected"] = min(numbers["corrected"], determines(q, 0))
        numbers["printed"] = min(numbers["printed"], determines(q, 1))
    numbers["oblique"] = determines(np.array([[1.0, 0.0, 0.0], [np.sqrt(0.75), 0.5, 0.0]]), 1)
    return Evidence(numbers["corrected"] >= 1.0 - ROUND_OFF and numbers["printed"] <= ROUND_OFF,
                    "least size of the product for brackets of size 1: with q_i {corrected:.2g}, with q_j {printed:.1g}"
                    " where q_j is orthogonal to q_i, so that a bracket along q_j passes, and {oblique:.2g} at 30"
                    " degrees", numbers)


def legendre_signs() -> Evidence:
    """Eqs. (20), (22) and (24) hold along a motion with the printed signs, and with no other."""
    motion = pendulum_motion()
    q, omega, h = motion.q, motion.omega, motion.h
    change = np.diff(q, axis=0)
    diagonal = np.diag(motion.mass)[:, None]
    torque = 0.5*h*np.cross(q, motion.gradient)

    def residual(at: slice, force: float, coupling: float) -> float:
        """M_ii omega_i - coupling q_i x sum_{j!=i} M_ij (q_j x omega_j) = q_i x sum_j M_ij (q_{k+1} - q_k)_j/h
        + force (h/2) q_i x dV_i"""
        left = diagonal*omega[at] - coupling*np.cross(q[at], motion.coupling(np.cross(q[at], omega[at])))
        right = np.cross(q[at], motion.pull(change))/h + force*torque[at]
        return size(left - right)/size(left)

    start, end = slice(None, -1), slice(1, None)
    printed = max(residual(start, 1.0, 1.0), residual(end, -1.0, 1.0))
    flipped = min(residual(start, -1.0, 1.0), residual(end, 1.0, 1.0), residual(start, 1.0, -1.0),
                  residual(end, -1.0, -1.0))
    return Evidence(printed <= ROUND_OFF and flipped >= 1e-3,
                    "relative residual along a motion {printed:.1e} as printed, with any one sign changed at"
                    " least {flipped:.1g}", {"printed": printed, "flipped": flipped})


def matrix_index() -> Evidence:
    """omega_{k+1} of three pendula from (25), with hat(q_1) of step k and k+1 in the last entry of the first row."""
    motion = pendulum_motion("chain3", h=0.05, steps=20)
    before, q, omega, h = motion.q[-2], motion.q[-1], motion.omega[-1], motion.h
    right = (np.cross(q, motion.pull(q - before))/h - 0.5*h*np.cross(q, motion.gradient)).ravel()
    corrected = angular_matrix(motion.mass, q)
    printed = corrected.copy()
    printed[:3, -3:] = -motion.mass[0, -1]*hat(before[0]) @ hat(q[-1])
    error = {name: size(np.linalg.solve(matrix, right).reshape(-1, 3) - omega)/size(omega)
             for name, matrix in (("printed", printed), ("corrected", corrected))}
    return Evidence(error["corrected"] <= ROUND_OFF and error["printed"] >= 1e-3,
                    "three pendula, h = 0.05: omega of (25) differs from that of the multiplier step by {corrected:.1e}"
                    " of it with the index k+1, by {printed:.1e} with k", error)


def unit_rows(random: np.random.Generator, n: int) -> np.ndarray:
    """Random unit vectors, (n, 3)."""
    q = random.standard_normal((n, 3))
    return q/np.linalg.norm(q, axis=1)[:, None]


def tangential(vectors: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Rows without their part along q."""
    return vectors - np.sum(vectors*q, axis=1)[:, None]*q


def difference_gradient(potential: Callable[[np.ndarray], float], q: np.ndarray) -> np.ndarray:
    """Gradient (n, 3) by central differences."""
    step, found = 1e-6, np.zeros_like(q)
    for place in np.ndindex(q.shape):
        shift = np.zeros_like(q)
        shift[place] = step
        found[place] = (potential(q + shift) - potential(q - shift))/(2.0*step)
    return found


def force_sign(problem: str, numbers: dict[str, float],
               term: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Evidence:
    """Eq. (7) has + q_i x (q_i x dV/dq_i), the printed equation - q_i x (q_i x S_i) with S_i = sum_{j!=i}
    term(q_i, q_j): right if the tangential parts of S and -dV/dq agree. Twelve bodies of unit mass, `numbers`
    are the other parameters."""
    facts, n = sheet(problem), 12
    q = unit_rows(np.random.default_rng(33), n)
    system = facts.build(facts.check({"mass": np.ones(n), **numbers}))
    gradient = tangential(difference_gradient(system.potential, q), q)
    total = tangential(np.array([sum(term(q[i], q[j]) for j in range(n) if j != i) for i in range(n)]), q)
    printed, flipped = size(total + gradient)/size(gradient), size(total - gradient)/size(gradient)
    return Evidence(printed <= 1e-6 and flipped >= 0.1,
                    "twelve random bodies: the sum differs from central differences of -V by {printed:.1e} of them, of"
                    " +V by {flipped:.2g}", {"printed": printed, "flipped": flipped})


def nbody_sign() -> Evidence:
    """Sign of eq. (33)."""
    return force_sign("sphere_nbody", {"gamma": 1.0}, lambda a, b: b/(1.0 - np.dot(a, b)**2)**1.5)


def lennard_jones_sign() -> Evidence:
    """Sign of eq. (39)."""
    epsilon, sigma = 0.01, 0.9

    def term(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(a - b)
        return 4.0*epsilon*(a - b)/r*(12.0*sigma**12/r**13 - 6.0*sigma**6/r**7)

    return force_sign("lennard_jones_sphere", {"epsilon": epsilon, "sigma": sigma}, term)


def determinant() -> Evidence:
    """The two determinants after eq. (11) and their closed form."""
    random = np.random.default_rng(11)
    q = unit_rows(random, 2)
    m11, m22 = random.uniform(2.0, 3.0, 2)
    m12 = random.uniform(0.5, 1.5)
    mass = np.array([[m11, m12], [m12, m22]])
    velocity = np.block([[m11*np.eye(3), -m12*hat(q[0]) @ hat(q[0])], [-m12*hat(q[1]) @ hat(q[1]), m22*np.eye(3)]])
    factors = (m11*m22 - m12**2*np.dot(*q)**2)*(m11*m22 - m12**2)
    numbers = {"velocity": float(np.linalg.det(velocity)), "angular": float(np.linalg.det(angular_matrix(mass, q))),
               "corrected": float(m11*m22*factors), "printed": float(m11**2*m22**2*factors)}
    exact = numbers["angular"]
    agree = all(abs(numbers[name]/exact - 1.0) <= ROUND_OFF for name in ("velocity", "corrected"))
    return Evidence(agree and abs(numbers["printed"]/exact - 1.0) >= 0.1,
                    "random data: matrix of (8) {velocity:.6g}, of (11) {angular:.6g}; closed form with M11 M22"
                    " {corrected:.6g}, as printed {printed:.6g}", numbers)


class GreatCircles:
    """Two bodies on great circles q(t) with a variation xi(t) x q(t), constant dV/dq; derivatives are exact."""

    def __init__(self, seed: int):
        random = np.random.default_rng(seed)
        self.mass, self.gradient = np.array([[2.0, 0.7], [0.7, 1.0]]), random.standard_normal((2, 3))
        frames = np.array([np.linalg.qr(random.standard_normal((3, 3)))[0] for _ in range(2)])
        self.first, self.second = frames[:, :, 0], frames[:, :, 1]
        self.rate = np.array([[1.3], [-0.8]])
        self.c, self.d = random.standard_normal((2, 2, 3))

    def at(self, t: float) -> tuple[np.ndarray, ...]:
        """q, dq/dt, d2q/dt2, xi = (c + d t) x q, dxi/dt"""
        cos, sin = np.cos(self.rate*t), np.sin(self.rate*t)
        q = cos*self.first + sin*self.second
        v = self.rate*(cos*self.second - sin*self.first)
        spin = self.c + self.d*t
        return q, v, -self.rate*self.rate*q, np.cross(spin, q), np.cross(self.d, q) + np.cross(spin, v)

    def variation(self, t: float) -> float:
        """Variation of the Lagrangian, with eqs. (3) and (4)."""
        q, v, _, xi, dxi = self.at(t)
        return float(np.sum((np.cross(dxi, q) + np.cross(xi, v))*(self.mass @ v))
                     - np.sum(np.cross(xi, q)*self.gradient))

    def interior(self, t: float) -> float:
        """Integrand that is left after integration by parts."""
        q, _, a, xi, _ = self.at(t)
        return -float(np.sum(xi*np.cross(q, self.mass @ a + self.gradient)))

    def boundary_printed(self, t: float) -> float:
        q, v, a, xi, _ = self.at(t)
        return float(np.sum(xi*(np.cross(v, self.mass @ v) + np.cross(q, self.mass @ a))))

    def boundary_corrected(self, t: float) -> float:
        q, v, _, xi, _ = self.at(t)
        return float(np.sum(xi*np.cross(q, self.mass @ v)))


def boundary_term() -> Evidence:
    """Variation of an action over 1 s by Gauss quadrature, directly and by parts as before eq. (5)."""
    motion = GreatCircles(14)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    exact, interior = (0.5*float(np.dot(weights, [integrand(0.5*(x + 1.0)) for x in nodes]))
                       for integrand in (motion.variation, motion.interior))
    corrected, printed = (interior + term(1.0) - term(0.0)
                          for term in (motion.boundary_corrected, motion.boundary_printed))
    return Evidence(abs(corrected - exact) <= 1e-10 and abs(printed - exact) >= 0.1,
                    "variation of an action {exact:.6g}; after integration by parts corrected {corrected:.6g},"
                    " printed {printed:.6g}", {"exact": exact, "corrected": corrected, "printed": printed})


SYSTEMS = {  # system -> preset, step: an explicit, a coupled and a stiff one
    "spring_pendula": ("paper", 5e-3), "spherical_pendulum_chain": ("paper_scaled", 0.01),
    "elastic_rod": ("paper", 1e-4)}
ROUND_OFF = 1e-9  # of what holds up to round-off: differences of positions are divided by h^2


def two_step_map() -> Evidence:
    """Eqs. (18)-(19) along motions of vi_sphere, which computes with velocities: the residual of (18), relative to its
    terms, and the change of length by (19); with half the force as a wrong map."""
    numbers: dict[str, float] = {"corrected": 0.0, "length": 0.0, "wrong": np.inf}
    for problem, (preset, h) in SYSTEMS.items():
        facts = sheet(problem)
        parameters = facts.check(facts.presets[preset].parameters)
        system = facts.build(parameters)
        q = simulate(problem, "vi_sphere", preset=preset, step=h, t_end=50*h, samples=51)["q"].values
        gradient = np.array([_gradient(system, state) for state in q])
        change = np.diff(q, axis=0)
        assert facts.mass is not None
        mass = facts.mass(parameters)
        inertia = np.einsum("ij,kjx->kix", mass if mass.ndim == 2 else np.diag(mass), change)
        left = np.cross(q[1:-1], inertia[1:] - inertia[:-1])
        torque = h*h*np.cross(q[1:-1], gradient[1:-1])
        scale = size(torque) + size(left)
        numbers["corrected"] = max(numbers["corrected"], size(left + torque)/scale)
        numbers["wrong"] = min(numbers["wrong"], size(left + 0.5*torque)/scale)
        numbers["length"] = max(numbers["length"], float(np.abs(np.sum(q*q, axis=-1) - 1.0).max()))
    return Evidence(numbers["corrected"] <= ROUND_OFF and numbers["length"] <= 1e-12 and numbers["wrong"] >= 1e-2,
                    "50 steps of three systems: residual of (18) at most {corrected:.1e} of its terms, with half the"
                    " force at least {wrong:.1e}; |1 - q.q| at most {length:.1e}", numbers)


def _gradient(system, q: np.ndarray) -> np.ndarray:
    out = np.zeros_like(q)
    system.gradient(q, out)
    return out


def global_equations() -> Evidence:
    """Rates of q.q, q.omega (eqs. 9-11) and q.q' (eqs. 7-8) at random states of three systems, relative to those of
    the state; and at velocities with a part along q, where nothing is said."""
    random = np.random.default_rng(9)
    numbers = {"omega": 0.0, "velocity": 0.0, "outside": np.inf}
    for problem, (preset, _) in SYSTEMS.items():
        facts = sheet(problem)
        parameters = facts.check(facts.presets[preset].parameters)
        n = len(facts.presets[preset].initial(parameters)["q"])
        q = unit_rows(random, n)
        turning, moving = tangential(random.standard_normal((n, 3)), q), tangential(random.standard_normal((n, 3)), q)
        numbers["omega"] = max(numbers["omega"], _leaving(problem, parameters, q, turning, "omega"))
        numbers["velocity"] = max(numbers["velocity"], _leaving(problem, parameters, q, moving, "velocity"))
        numbers["outside"] = min(numbers["outside"], _leaving(problem, parameters, q, moving + q, "velocity"))
    return Evidence(max(numbers["omega"], numbers["velocity"]) <= 1e-12 and numbers["outside"] >= 0.1,
                    "random states of three systems: the derivative of the constraints is at most {omega:.1e} of"
                    " those of the state for (9)-(11), {velocity:.1e} for (7)-(8); with velocities that"
                    " leave the tangent space at least {outside:.1e}", numbers)


def _leaving(problem: str, parameters, q: np.ndarray, rates: np.ndarray, form: str) -> float:
    """Largest derivative of q.q/2, relative to that of q, or of q.omega (q.q'), relative to that of the rates."""
    facts = sheet(problem)
    omega = rates if form == "omega" else np.cross(q, rates)
    made = formulate(facts, parameters, {"q": q, "omega": omega}, "vector_field", {"form": form})
    state = np.concatenate([q, rates])
    out = np.zeros_like(state)
    plain(made.problem).rhs(0.0, state, out)
    moved, accelerated = out[:len(q)], out[len(q):]
    length, tangency = np.sum(q*moved, axis=1), np.sum(q*accelerated + moved*rates, axis=1)
    return float(max(np.abs(length).max()/np.abs(moved).max(), np.abs(tangency).max()/np.abs(accelerated).max()))


def rod_sheet(**changes: Any) -> Any:
    """Fact sheet of the rod and its checked parameters as printed."""
    facts = sheet("elastic_rod")
    return facts, facts.check({**facts.presets["paper"].parameters, **changes})


def horizontal_rod() -> Evidence:
    """Angle between the rod at the start and gravity."""
    facts, parameters = rod_sheet()
    gravity = parameters["gravity"]
    corrected, printed = (float(np.degrees(np.arctan2(np.linalg.norm(np.cross(gravity, q)), np.dot(gravity, q))))
                          for q in (facts.presets["paper"].initial(parameters)["q"][0], (0.0, 0.0, 1.0)))
    return Evidence(abs(corrected - 90.0) <= 1e-9 and abs(printed - 90.0) >= 1.0,
                    "angle between gravity and the rod, said to be horizontal: {corrected:g} degrees with [1,0,0],"
                    " {printed:g} as printed", {"corrected": corrected, "printed": printed})


def rod_energy(mass: np.ndarray, length: np.ndarray, rates: np.ndarray) -> float:
    """Kinetic energy of joined uniform rods with dq_i/dt = rates[i], by Gauss quadrature (exact)."""
    nodes, weights = np.polynomial.legendre.leggauss(3)
    total, joint = 0.0, np.zeros(3)
    for m, extent, rate in zip(mass, length, rates, strict=True):
        speed = joint + 0.5*(nodes[:, None] + 1.0)*extent*rate
        total += 0.25*m*float(np.dot(weights, np.sum(speed*speed, axis=1)))
        joint = joint + extent*rate
    return total


def rod_matrix(mass: np.ndarray, length: np.ndarray, *, diagonal: str, coupling: str) -> np.ndarray:
    """Inertia matrix before eq. (36), diagonal and coupling each "printed" or "corrected"."""
    n = len(mass)
    matrix = np.zeros((n, n))
    for i in range(n):
        outer = mass[i]*(n - 1 - i) if diagonal == "printed" else mass[i + 1:].sum()
        matrix[i, i] = (mass[i]/3.0 + outer)*length[i]**2
        for j in range(i):  # max(i, j) = i
            if coupling == "printed":
                value = 0.5*np.sum(mass[i:]*length[i:]**2)
            else:
                value = (0.5*mass[i] + mass[i + 1:].sum())*length[i]*length[j]
            matrix[i, j] = matrix[j, i] = value
    return matrix


def matrix_energy(matrix: np.ndarray, rates: np.ndarray) -> float:
    return 0.5*float(np.sum(rates*(matrix @ rates)))


def decides(numbers: dict[str, float]) -> bool:
    """The corrected number is the exact one, the printed one is more than 1 % off."""
    return (abs(numbers["corrected"]/numbers["exact"] - 1.0) <= 1e-12
            and abs(numbers["printed"]/numbers["exact"] - 1.0) >= 0.01)


def rod_diagonal() -> Evidence:
    """M_ii: six unequal rods of which only one turns, and the same with equal masses."""
    random = np.random.default_rng(7)
    mass, length, rates = random.uniform(0.5, 1.5, 6), random.uniform(0.5, 1.5, 6), np.zeros((6, 3))
    rates[1] = random.standard_normal(3)
    numbers = {"exact": rod_energy(mass, length, rates)}
    equal = {}
    for form in ("corrected", "printed"):
        numbers[form] = matrix_energy(rod_matrix(mass, length, diagonal=form, coupling="corrected"), rates)
        equal[form] = matrix_energy(rod_matrix(np.ones(6), length, diagonal=form, coupling="corrected"), rates)
    numbers["equal"] = abs(equal["printed"]/equal["corrected"] - 1.0)
    return Evidence(decides(numbers) and numbers["equal"] <= 1e-12,
                    "kinetic energy of unequal uniform rods of which one turns: quadrature {exact:.6g} J, corrected"
                    " {corrected:.6g} J, printed {printed:.6g} J; equal masses: relative difference {equal:.0e}",
                    numbers)


def rod_coupling() -> Evidence:
    """M_ij against ten uniform rods with the data of example 4; the system must offer both inertias."""
    facts, parameters = rod_sheet()
    n = parameters["elements"]
    mass, length = (np.full(n, parameters[name]/(n + 1)) for name in ("mass", "length"))
    rates = np.random.default_rng(36).standard_normal((n, 3))
    numbers = {"exact": rod_energy(mass, length, rates)}
    offered = True
    for form, inertia in (("corrected", "consistent"), ("printed", "printed")):
        matrix = rod_matrix(mass, length, diagonal="corrected", coupling=form)
        numbers[form] = matrix_energy(matrix, rates)
        offered = offered and np.allclose(matrix, facts.mass(rod_sheet(inertia=inertia)[1]), rtol=1e-12, atol=0.0)
    return Evidence(decides(numbers) and offered,
                    "kinetic energy of ten uniform rods with random velocities: quadrature {exact:.6g} J, corrected"
                    " {corrected:.6g} J, printed {printed:.6g} J", numbers)


def rod_equation() -> Evidence:
    """The coefficient of the first coupling in eq. (36) against the correct M_12."""
    _, parameters = rod_sheet()
    n = parameters["elements"]
    unit = parameters["mass"]*parameters["length"]**2
    mass, length = (np.full(n, parameters[name]/(n + 1)) for name in ("mass", "length"))
    rates = np.zeros((n, 3))
    energies = []
    for pattern in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0)):
        rates[:2, 0] = pattern
        energies.append(rod_energy(mass, length, rates))
    numbers = {"exact": energies[0] - energies[1] - energies[2], "corrected": (n - 1.5)/(n + 1)**3*unit,
               "printed": (n - 1)/(2*(n + 1)**3)*unit}
    return Evidence(decides(numbers), "coupling of the first two of ten rods: quadrature {exact:.6g} kg m2, corrected"
                    " {corrected:.6g} kg m2, printed {printed:.6g} kg m2", numbers)


def spring_sum() -> Evidence:
    """Joints that resist bending when the sum covers the spring term, and when that stands once with i = n."""
    facts, parameters = rod_sheet(gravity=[0.0, 0.0, 0.0])
    n, straight = parameters["elements"], parameters["clamp"]
    bent = np.array([np.cos(0.1), np.sin(0.1), 0.0])
    corrected = printed = 0
    for joint in range(n):
        q = np.array([straight]*joint + [bent]*(n - joint))
        corrected += facts.build(parameters).potential(q) > 0.0
        printed += 0.5*parameters["stiffness"]*(1.0 - np.dot(q[-2], q[-1]))**2 > 0.0
    return Evidence(corrected == n and printed < n,
                    "joints of the straight rod that resist a bend of 0.1 rad: {corrected:d} of {joints:d} with the sum"
                    " over both terms, {printed:d} with a single spring term",
                    {"corrected": int(corrected), "printed": int(printed), "joints": n})
