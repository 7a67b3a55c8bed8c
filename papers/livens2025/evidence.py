"""Evidence for the errata of livens2025 and on what it says: products, moments and signs of its formulas; momenta,
joints, rankings and the parasite from runs."""
import numpy as np

from liestep import load_plugin
from liestep.geometry.quaternion import body_matrix, matrices, plus
from liestep.mechanics.presets._cone import ABOUT_CENTRE, ABOUT_TIP, AXIAL, DISTANCE, GRAVITY, MASS, PRECESSION, TILT
from liestep.paper import Evidence, simulate, start_of

from .studies import jointed_bars, mass_spring, spring_pendulum

CLOSE, APART = 1e-12, 1e-2


def _loaded(study) -> str:
    """The id of the last system that a file of the studies declares, which is known from then on."""
    return load_plugin(study.__file__)[-1]


def _spring(method, **asked):
    """A run of the spring pendulum."""
    return simulate(_loaded(spring_pendulum), method, **asked)


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
    data = _spring("eml", preset="spatial", step=h, t_end=h, samples=2)
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
    data = simulate(_loaded(mass_spring), "eml", preset="printed", initial=start, step=h, t_end=h, samples=2)
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
    start = start_of(_loaded(mass_spring), preset="printed").parameters
    one, two = start["mass"]
    return (np.array([[one, 0.0, 0.0], [0.0, two, two], [0.0, two, two]]),
            start["stiffness_factor"]*np.asarray(start["stiffness"]))


def lagrangian_scheme() -> Evidence:
    """Residuals of (85), with the sign of erratum 4, in positions and velocities of EML over 10 s of section 5.1."""
    h, (mass, (one, two)) = 0.1, _masses()
    data = simulate(_loaded(mass_spring), "eml", preset="printed", step=h, t_end=10.0, samples=101)
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


DRIFT = 1e-9


def spring_coefficients() -> Evidence:
    """x_1(10) of the mass-spring system with k/4 and k/2."""
    numbers = {preset: float(simulate(_loaded(mass_spring), "rk4", preset=preset, steps=10000)["q"].values[-1, 0])
               for preset in ("printed", "public_package")}
    return Evidence(abs(numbers["printed"] - numbers["public_package"]) >= 0.1,
                    "x_1(10) = {printed:.4f} m with k/4, {public_package:.4f} m with k/2; both start with 1 J", numbers)


def radial_derivative() -> Evidence:
    """Error and drifts of the spring pendulum with dT/dr correct and with r^2 for r."""
    exact = _spring("rk4", preset="printed", steps=20000)["position"].values[-1]
    numbers = {}
    for preset in ("printed", "misprint"):
        for step, name in ((0.01, "coarse"), (0.00125, "fine")):
            data = _spring("eml", preset=preset, step=step, options={"gradient": "gonzalez"})
            numbers[f"{preset}_{name}"] = float(np.abs(data["position"].values[-1] - exact).max())
        numbers[f"{preset}_energy"] = data.attrs["generalized_energy_error_max"]
    falls = numbers["printed_coarse"]/numbers["printed_fine"] >= 50.0
    stalls = numbers["misprint_coarse"]/numbers["misprint_fine"] <= 5.0
    return Evidence(falls and stalls and numbers["misprint_energy"] <= 1e-12,
                    "error at h = 0.01 and 0.00125: {printed_coarse:.2g} and {printed_fine:.2g} m with r,"
                    " {misprint_coarse:.2g} and {misprint_fine:.2g} m with r^2, whose generalized energy moves by"
                    " {misprint_energy:.1g} J", numbers)


def gonzalez_momentum() -> Evidence:
    """p_phi of the spring pendulum with two discrete derivatives."""
    numbers = {name: _spring("eml", preset="printed", step=0.01,
                       options={"gradient": name}).attrs["momentum_error_max_z"]
               for name in ("gonzalez", "equivariant")}
    return Evidence(numbers["gonzalez"] >= DRIFT >= 1e3*numbers["equivariant"],
                    "p_phi drifts by {gonzalez:.3g} kg m2/s with Gonzalez' derivative at h = 0.01, by {equivariant:.1g}"
                    " with phi out of its direction", numbers)


def joint_momentum() -> Evidence:
    """Angular momentum of the closed loop from one step to the next, and its prediction from the joint forces."""
    h = 0.1
    data = simulate(_loaded(jointed_bars), "eml", preset="livens2025", step=h, t_end=4.0, samples=41)
    momentum, time = data["momentum_map"].values, data["time"].values
    late = np.flatnonzero(time > 1.05)[:-1]
    found = np.array([momentum[k + 1] - momentum[k] for k in late])
    predicted = np.array([_joint_impulse(data, k, h) for k in late])
    numbers = {"largest": float(np.abs(found).max()), "gap": float(np.abs(found - predicted).max())}
    return Evidence(numbers["largest"] >= 1e-5 and numbers["gap"] <= 1e-5*numbers["largest"],
                    "largest increment for 1 s < t < 4 s {largest:.3g} kg m2/s at h = 0.1; h sum mu x g(q_m) gives it"
                    " up to {gap:.1g}", numbers)


def _joint_impulse(data, k: int, h: float) -> np.ndarray:
    """h sum over the joints of mu x g(q_m) for the step after sample k (3,)."""
    bodies = jointed_bars.loop_bodies(start_of("rigid_loop", preset="livens2025").parameters)
    q = 0.5*(data["quaternion"].values[k] + data["quaternion"].values[k + 1])
    x = 0.5*(data["position"].values[k] + data["position"].values[k + 1])
    turned, mu = matrices(q), data["multiplier"].values[k + 1, 4:].reshape(4, 3)
    total = np.zeros(3)
    for j in range(4):
        a, b = bodies.first[j], bodies.second[j]
        gap = x[a] + turned[a] @ bodies.arm[j] - x[b] - turned[b] @ bodies.other[j]
        total += h*np.cross(mu[j], gap)
    return total


def midpoint_maps() -> Evidence:
    """MPL against the three midpoint rules of the Hamiltonian form on the steady top, h = 0.005, t = 0.1."""
    def last(method, **options):
        return simulate("heavy_top", method, preset="livens2025", step=0.005, t_end=0.1, samples=2,
                        options=options)["quaternion"].values[-1]

    livens = last("mpl")
    numbers = {variant: float(np.abs(last("mph", variant=variant) - livens).max()) for variant in "axb"}
    return Evidence(numbers["b"] <= 1e-11 and min(numbers["a"], numbers["x"]) >= 1e-3,
                    "MPL differs from MPH by {b:.1g} with |q_m|^-4 in both equations (a midpoint rule), by {a:.2g}"
                    " without it (another one), by {x:.2g} with it in one equation (none)", numbers)


def ranking() -> Evidence:
    """Errors of the attitude of the free body at t = 2, h = 0.001."""
    exact = simulate("free_rigid_body", "rkmk", preset="livens2025", step=1e-4, samples=2)["attitude"].values[-1]
    numbers = {name: float(np.linalg.norm(simulate("free_rigid_body", name, preset="livens2025", step=1e-3,
                                                   samples=2)["attitude"].values[-1] - exact))
               for name in ("eml", "emh")}
    return Evidence(numbers["emh"] < 0.5*numbers["eml"],
                    "free body, h = 0.001: error {eml:.3g} of EML, {emh:.3g} of EMH", numbers)


def parasite() -> Evidence:
    """q.v and the range of (80) of the free body at t = 2 and 10, h = 0.01."""
    runs = {end: simulate("free_rigid_body", "eml", preset="livens2025", step=0.01, t_end=end) for end in (2.0, 10.0)}
    numbers = {"early": runs[2.0].attrs["velocity_constraint_error_max"],
               "late": runs[10.0].attrs["velocity_constraint_error_max"],
               "range": float(np.ptp(runs[10.0]["total_energy"].values)),
               "kept": runs[10.0].attrs["generalized_energy_error_max"]}
    return Evidence(numbers["late"] >= 10.0*numbers["early"] and numbers["range"] >= 250.0,
                    "|q.v| grows from {early:.3g} (t < 2 s) to {late:.3g} 1/s (t < 10 s), (80) moves by {range:.3g} of"
                    " 2500 J while (74) moves by {kept:.1g} J", numbers)


def augmented_mass() -> Evidence:
    """Where Livens' scheme with the augmented mass matrix stops on the free body."""
    numbers = {f"t{k}": simulate("free_rigid_body", "eml", preset="livens2025", step=step, on_failure="return",
                                 options={"mass_matrix": "augmented"}).attrs["time_reached"]
               for k, step in enumerate((0.02, 0.01, 0.005))}
    return Evidence(max(numbers.values()) < 1.0,
                    "it stops at {t0:.3g}, {t1:.3g}, {t2:.3g} s of 2 s with h = 0.02, 0.01, 0.005", numbers)
