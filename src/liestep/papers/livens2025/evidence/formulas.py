"""Evidence on formulas of livens2025: products, the top's moments, signs."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.geometry.quaternion import body_matrix, plus
from liestep.papers.livens2025.cone import ABOUT_CENTRE, ABOUT_TIP, AXIAL, DISTANCE, GRAVITY, MASS, PRECESSION, TILT
from liestep.simulation.runs.simulation import simulate
from liestep.simulation.runs.specification import start_of

CLOSE, APART = 1e-12, 1e-2


def product_exponential() -> Evidence:
    """exp(a^+/2) by scipy against Q_l(a) and against Q_l of the unit quaternion exp(0, a/2)."""
    from scipy.linalg import expm

    a = np.array([0.7, -0.4, 1.1])
    half = 0.5*np.linalg.norm(a)
    matrix = expm(0.5*plus(a))
    turn = np.concatenate([[np.cos(half)], np.sin(half)*a/(2.0*half)])
    unit, pure = (np.column_stack([q, body_matrix(q).T]) for q in (turn, np.concatenate([[0.0], a])))
    numbers = {"unit": float(np.abs(matrix - unit).max()), "pure": float(np.abs(matrix - pure).max())}
    return Evidence(numbers["unit"] <= CLOSE and numbers["pure"] >= APART,
                    "exp(a^+/2) differs from Q_l(exp(0, a/2)) by {unit:.1g}, from Q_l(a) by {pure:.2g}", numbers)


def kinetic_energy() -> Evidence:
    """Energy of the printed start of the free body with and without the factor 1/2."""
    found = float(simulate("free_rigid_body", "eml", preset="livens2025", steps=1, t_end=0.01)["energy"].values[0])
    rate, inertia = np.array([10.0, 20.0, 20.0]), np.array([6.0, 8.0, 3.0])
    numbers = {"half": float(0.5*rate @ (inertia*rate)), "whole": float(rate @ (inertia*rate)), "shown": 2500.0,
               "ours": found}
    return Evidence(numbers["half"] == numbers["shown"] != numbers["whole"] and abs(found - 2500.0) <= 1e-9,
                    "Omega.J Omega/2 = {half:g} J, as figure 6 shows; Omega.J Omega = {whole:g} J", numbers)


def balance_of_energy() -> Evidence:
    """Both sides of (75), with the factor h in the last term and without, for a step of the spring pendulum."""
    h = 0.01
    data = simulate("spring_pendulum", "eml", preset="spatial", step=h, t_end=h, samples=2)
    q, p, v = (data[name].values for name in ("q", "p", "v"))
    total, generalized = data["total_energy"].values, data["generalized_energy"].values
    kinetic = 0.5*(total - generalized + np.sum(p*v, axis=1))
    lagrangian = 2.0*kinetic - total
    push = 0.5*(p[0] + p[1]) @ (v[1] - v[0])
    left = (p[1] - p[0]) @ (q[1] - q[0]) + h*push
    by_position = h*(lagrangian[1] - lagrangian[0]) - h*push  # h dL.(q1 - q0), as directionality gives it
    numbers = {"with": abs(left - by_position - h*push), "without": abs(left - by_position - push)}
    return Evidence(numbers["with"] <= CLOSE and numbers["without"] >= APART*abs(push),
                    "the sides differ by {with:.1g} J s with the factor h in pbar.(v1 - v0), by {without:.2g} J s"
                    " without it", numbers)


def sign_of_forces() -> Evidence:
    """(85) with the printed and with the other sign of the springs, against the exact acceleration at small h."""
    h = 1e-3
    start = {"q": [0.3, 1.4, -0.2], "v": [0.0, 0.0, 0.0]}
    data = simulate("mass_spring", "eml", preset="printed", initial=start, step=h, t_end=h, samples=2)
    push = (data["p"].values[1] - data["p"].values[0])[2]/h
    x = -0.2
    force = -0.75*2.0*x*(1.0 + 2.0*x*x)
    numbers = {"found": float(push), "minus": float(force), "plus": float(-force)}
    return Evidence(abs(push - force) <= 1e-3 and abs(push + force) >= APART,
                    "the second spring pushes with {found:.4f} N; -dV/dx = {minus:.4f} N, +dV/dx = {plus:.4f} N",
                    numbers)


def top_moments() -> Evidence:
    """Largest change of the height of the centre of mass over 0.2 s with the moments as printed and as corrected."""
    found = {}
    for name, moments in (("corrected", [ABOUT_TIP, ABOUT_TIP, AXIAL]),
                          ("printed", [ABOUT_CENTRE, ABOUT_CENTRE, AXIAL + MASS*DISTANCE**2])):
        one, three = moments[0], moments[2]
        spin = MASS*GRAVITY*DISTANCE/(three*PRECESSION) + (one - three)/three*PRECESSION*np.cos(TILT)
        c, s = np.cos(TILT), np.sin(TILT)
        attitude = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        rate = attitude.T @ [0.0, 0.0, PRECESSION] + [0.0, 0.0, spin]
        # what turns is the cone, whatever moments the condition (118) is filled with
        true = np.array([ABOUT_TIP, ABOUT_TIP, AXIAL])
        start = {"attitude": attitude, "angular_momentum": attitude @ (true*rate)}
        data = simulate("heavy_top", "rkmk", preset="livens2025", initial=start, step=1e-4, t_end=0.2, samples=51)
        height = data["attitude"].values[:, 2, 2]
        found[name] = float(np.abs(height - np.cos(TILT)).max())
    return Evidence(found["corrected"] <= 1e-8 and found["printed"] >= APART,
                    "filled into (118), J1 = J2 about the tip and J3 about the axis give a precession whose height"
                    " changes by {corrected:.1g}; (114) as printed one that changes by {printed:.2g}", found)


def cone_moments() -> Evidence:
    """(113) of the cone in numbers."""
    numbers = {"across": ABOUT_CENTRE, "along": AXIAL}
    return Evidence(all(abs(value/5.3014e-4 - 1.0) <= 1e-5 for value in numbers.values()),
                    "{across:.6g} and {along:.6g} kg m2", numbers)


def _masses() -> tuple[np.ndarray, np.ndarray]:
    """(108) of section 5.1 and the coefficients of the springs in (109)."""
    start = start_of("mass_spring", preset="printed").parameters
    one, two = start["mass"]
    return (np.array([[one, 0.0, 0.0], [0.0, two, two], [0.0, two, two]]),
            start["stiffness_factor"]*np.asarray(start["stiffness"]))


def lagrangian_scheme() -> Evidence:
    """Residuals of (85), with the sign of erratum 4, in positions and velocities of EML over 10 s of section 5.1."""
    h, (mass, (one, two)) = 0.1, _masses()
    data = simulate("mass_spring", "eml", preset="printed", step=h, t_end=10.0, samples=101)
    q, v, mu = (data[name].values for name in ("q", "v", "multiplier"))
    pull = (q[1:] + q[:-1])*(1.0 + q[1:]**2 + q[:-1]**2)*[one, 0.0, two]  # difference quotients of c (x^2 + x^4)
    gap = 0.5*(q[1:, 1] + q[:-1, 1] - q[1:, 0] - q[:-1, 0])
    joint = mu[1:]*gap[:, None]*[-1.0, 1.0, 0.0]
    pushed = (v[1:] - v[:-1]) @ mass
    numbers = {"path": float(np.abs(q[1:] - q[:-1] - 0.5*h*(v[1:] + v[:-1])).max()),
               "balance": float(np.abs(pushed + h*(pull + joint)).max()),
               "scale": float(np.abs(pushed).max()), "other": float(np.abs(pushed - h*(pull - joint)).max())}
    return Evidence(max(numbers["path"], numbers["balance"]) <= CLOSE and numbers["other"] >= APART,
                    "100 steps of EML, up to {scale:.2g} kg m/s each, leave {path:.1g} m and {balance:.1g} kg m/s of"
                    " (85), {other:.2g} kg m/s with the printed sign", numbers)


def singular_mass() -> Evidence:
    """(108): its rank, and a velocity that the momentum does not hold."""
    mass = _masses()[0]
    numbers = {"rank": int(np.linalg.matrix_rank(mass)), "momentum": float(np.abs(mass @ [0.0, 1.0, -1.0]).max())}
    return Evidence(numbers["rank"] == 2 and numbers["momentum"] == 0.0,
                    "the mass matrix of three coordinates has rank {rank}: v and v + (0, 1, -1) m/s have momenta that"
                    " differ by {momentum:g}, so that p = M v has no inverse", numbers)
