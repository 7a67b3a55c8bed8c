"""Evidence on the continuous equations of twospheres2009, from random data with a fixed seed, and on statements about
its equations that no run of a study shows."""
from collections.abc import Callable

import numpy as np

from liestep.claims.errata import Evidence
from liestep.mechanics.formulations import formulate
from liestep.papers.twospheres2009.evidence.discrete import ROUND_OFF, angular_matrix
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import hat, size


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
LARGEST = 1e-9  # of what holds up to round-off: differences of positions are divided by h^2


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
    return Evidence(numbers["corrected"] <= LARGEST and numbers["length"] <= 1e-12 and numbers["wrong"] >= 1e-2,
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
