"""Evidence on the mechanical data and energies printed in liegroup2021."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.papers.liegroup2021.evidence.algebra import rate, turn
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import hat, size

# Section 3.4.4
MASS, LENGTH, PRINTED_RATE = 15.0, 2.0, 4.61538
INERTIA = np.array([0.234375, 0.46875, 0.234375])
AXIS, GAMMA0, SPIN = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -9.81]), 150.0
GRAVITY = 9.81


def top_torque(gamma0: np.ndarray) -> np.ndarray:
    """Torque at Q = 1: minus the derivative of M l Gamma0.(Q chi) under rotations exp(hat(u)) Q."""
    return -np.array([rate(lambda s, axis=axis: MASS*LENGTH*np.dot(gamma0, turn(s*axis) @ AXIS)) for axis in np.eye(3)])


def top_gravity() -> Evidence:
    """The torque of the printed Hamiltonian and Gamma0 against those of forces up and down; g read twice."""
    torque = top_torque(GAMMA0)
    up, down = (np.cross(LENGTH*AXIS, [0.0, 0.0, sign*MASS*GRAVITY]) for sign in (1.0, -1.0))
    numbers = {"torque": size(torque), "up": size(torque - up), "down": size(torque - down),
               "twice": size(top_torque(GRAVITY*GAMMA0))}
    return Evidence(numbers["up"] <= 1e-9*numbers["torque"] and numbers["down"] >= numbers["torque"],
                    "at the start the torque is {torque:.4g} N m and differs by {up:.1e} from that of a force M g along"
                    " +e3, by {down:.4g} from one along -e3; with the factor g of the Hamiltonian besides Gamma0 it"
                    " would be {twice:.4g} N m", numbers)


def top_mirror() -> Evidence:
    """The printed top, and that with gravity down and the other rate about e3, are one motion turned by pi about e2."""
    flip = np.diag([-1.0, 1.0, -1.0])
    printed = simulate("heavy_top", "rkmk tableau=dormand_prince5", preset="printed", step=1e-4, t_end=0.2, samples=11)
    start = {"attitude": np.eye(3), "angular_momentum": INERTIA*[0.0, SPIN, PRINTED_RATE]}
    mirrored, same = (simulate("heavy_top", "rkmk tableau=dormand_prince5", preset="printed",
                               parameters={"gravity": [0.0, 0.0, -GRAVITY]},
                               initial=initial, step=1e-4, t_end=0.2, samples=11)
                      for initial in (start, {**start, "angular_momentum": INERTIA*[0.0, SPIN, -PRINTED_RATE]}))
    turned = flip @ mirrored["attitude"].values @ flip
    numbers = {"mirrored": float(np.abs(turned - printed["attitude"].values).max()),
               "same": float(np.abs(same["attitude"].values - printed["attitude"].values).max())}
    return Evidence(numbers["mirrored"] <= 1e-11 and numbers["same"] >= 0.01,
                    "over 0.2 s the attitude of the printed top differs by {mirrored:.1e} from that with gravity down"
                    " and w3(0) = +4.61538, turned by pi about e2, and by {same:.2g} from that with gravity down and"
                    " the printed rate", numbers)


def top_inertia() -> Evidence:
    """The rate 4.61538 is the spin times I2 over the moment about the fixed point for one of the readings."""
    rates = {"corrected": INERTIA[1]*SPIN/(INERTIA[0] + MASS*1.0**2),
             "steiner": INERTIA[1]*SPIN/(INERTIA[0] + MASS*LENGTH**2), "printed": INERTIA[1]*SPIN/INERTIA[0]}
    near = {name: abs(value - PRINTED_RATE) <= 5e-6 for name, value in rates.items()}
    return Evidence(near == {"corrected": True, "steiner": False, "printed": False},
                    "I2 150/I1' is {corrected:.6f} rad/s for l = 1 m and the inertia about the centre of mass,"
                    " {steiner:.6f} for l = 2 m, {printed:.6f} if the printed inertia is that about the fixed point;"
                    " printed 4.61538", rates)


def moving_energy(masses: np.ndarray, lengths: np.ndarray, rates: np.ndarray) -> float:
    """Kinetic energy of a chain from the velocities of its masses; rates are the dq/dt (n, 3)."""
    velocities = np.cumsum(lengths[:, None]*rates, axis=0)
    return 0.5*float(np.sum(masses*np.sum(velocities**2, axis=1)))


def chain_energy() -> Evidence:
    """Kinetic energy of five pendula from the velocities of the masses, and the two double sums."""
    random, n = np.random.default_rng(7), 5
    masses, lengths, v = random.uniform(0.5, 2.0, n), random.uniform(0.5, 2.0, n), random.standard_normal((n, 3))
    exact = moving_energy(masses, lengths, v)
    above = np.cumsum(masses[::-1])[::-1]  # sum of the masses from i on
    pairs = np.outer(lengths, lengths)*(v @ v.T)
    corrected = 0.5*float(np.sum(above[np.maximum.outer(np.arange(n), np.arange(n))]*pairs))
    diagonal = 0.5*float(np.sum(above*np.diag(pairs)))             # j = i, the only reading as a number
    # j summed as well, with the printed sum over j >= i of m_j
    row = 0.5*float(np.sum(above[:, None]*pairs))
    numbers = {"exact": exact, "corrected": corrected, "diagonal": diagonal, "row": row}
    return Evidence(
        abs(corrected/exact - 1.0) <= 1e-13 and all(abs(value/exact - 1.0) >= 0.01 for value in (diagonal, row)),
        "five random pendula: {exact:.6g} J from the velocities of the masses, {corrected:.6g} from the corrected sum;"
        " the printed one with j = i {diagonal:.6g}, with a sum over j {row:.6g}", numbers)


def payload_gravity() -> Evidence:
    """Force of gravity on the load from the printed U, and the acceleration of free fall of the system."""
    def potential(y: np.ndarray) -> float:
        return -0.4*GRAVITY*y[2] - sum(0.755*GRAVITY*(y - length*np.array([0.0, 0.0, 1.0]))[2] for length in (0.6, 0.8))

    force = -np.array([rate(lambda s, axis=axis: potential(s*axis)) for axis in np.eye(3)])
    run = simulate("quadrotor_payload", "rkmk", preset="uncontrolled",
                   initial={"load_velocity": [0.0, 0.0, 0.0], "omega": np.zeros((2, 3))}, step=1e-3,
                   t_end=0.01, samples=2)
    fall = float(run["load_velocity"].values[-1, 2])/0.01
    numbers = {"force": float(force[2]), "weight": (0.4 + 2.0*0.755)*GRAVITY, "fall": fall}
    return Evidence(abs(numbers["force"]/numbers["weight"] - 1.0) <= 1e-9 and abs(fall/GRAVITY - 1.0) <= 1e-9,
                    "the printed U pulls the system with {force:.4f} N along e3, its weight is {weight:.4f} N; without"
                    " control (37) gives v' = {fall:.4f} m/s2 along e3", numbers)


def link_rates() -> Evidence:
    """dq/dt = omega x q for a link that turns with a frame, with omega in space and in the frame."""
    random = np.random.default_rng(36)
    frame, fixed, body_rate = turn(random.standard_normal(3)), random.standard_normal(3), random.standard_normal(3)
    fixed /= np.linalg.norm(fixed)
    motion = rate(lambda s: frame @ turn(s*body_rate) @ fixed)
    q = frame @ fixed
    numbers = {"inertial": size(hat(frame @ body_rate) @ q - motion), "body": size(hat(body_rate) @ q - motion)}
    return Evidence(numbers["inertial"] <= 1e-9 and numbers["body"] >= 0.1,
                    "random link: dq/dt = omega x q holds to {inertial:.1e} for the inertial components of omega, to"
                    " {body:.2g} for those in a frame that turns with the link", numbers)
