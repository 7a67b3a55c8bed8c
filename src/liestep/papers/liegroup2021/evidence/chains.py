"""Evidence on chains of liegroup2021: the limit of many links, and Hamilton's equations (q, pi) of N pendula."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import hat, size

CHAIN = "spherical_pendulum_chain"
LINKS = (5, 10, 20, 40, 80)
TOTAL = 5.0    # m
TIMES = (0.5, 1.0, 1.5, 2.0)
GRAVITY = 9.81


def chain_limit() -> Evidence:
    """Places of the tip of chains of N links of 5/N m from the printed start: differences between N and 2 N, and the
    power of N with which they fall."""
    root, tips = np.sqrt(0.5), []
    for n in LINKS:
        run = simulate(CHAIN, "dop853", preset="total5_20", tolerance=1e-8, t_end=TIMES[-1], samples=21,
                       options={"atol": 1e-10}, parameters={"mass": [1.0]*n, "length": [TOTAL/n]*n},
                       initial={"q": [[root, 0.0, root]]*n, "omega": [[0.0, 1.0, 0.0]]*n})
        samples = [int(np.argmin(np.abs(run["time"].values - t))) for t in TIMES]
        tips.append(TOTAL/n*run["q"].values[samples].sum(axis=1))
    gaps = np.linalg.norm(np.diff(np.array(tips), axis=0), axis=-1)  # (doublings, times)
    rates = [-float(np.polyfit(np.log2(LINKS[:-1]), np.log2(gaps[:, k]), 1)[0]) for k in range(len(TIMES))]
    numbers = {f"rate{k}": rate for k, rate in enumerate(rates)} | {
        "first": float(gaps[0].max()), "last": float(gaps[-1].max()), "slowest": float(gaps[-1].min())}
    return Evidence(bool(np.all(np.diff(gaps, axis=0) < 0.0)) and min(rates) >= 0.4,
                    "the tip moves by at most {first:.2g} m from N = 5 to 10 and by at most {last:.2g} m from 40 to 80,"
                    " less at every doubling and at each of 0.5, 1, 1.5 and 2 s, like N to the power -{rate0:.2f},"
                    " -{rate1:.2f}, -{rate2:.2f} and -{rate3:.2f}", numbers)


def hamiltonian_chain() -> Evidence:
    """Three pendula: (q', pi') of the package's vector field, pi = R(q) omega, against the generator of
    (dH/dpi, dH/dq) and of the printed order; derivatives of H by complex steps."""
    random = np.random.default_rng(52)
    n, facts = 3, sheet(CHAIN)
    lengths, masses = [0.8, 1.1, 0.7], [1.3, 0.6, 0.9]
    parameters = facts.check({"mass": masses, "length": lengths, "gravity": [0.0, 0.0, -GRAVITY]})
    assert facts.mass is not None
    mass = np.asarray(facts.mass(parameters))
    q = random.standard_normal((n, 3))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    omega = np.cross(q, random.standard_normal((n, 3)))
    beyond = np.array([sum(masses[i:]) for i in range(n)])

    def inertia(q: np.ndarray) -> np.ndarray:
        blocks = [[mass[i, i]*np.eye(3) if i == j else mass[i, j]*hat(q[i]).T @ hat(q[j]) for j in range(n)]
                  for i in range(n)]
        return np.block(blocks)

    def energy(q: np.ndarray, momentum: np.ndarray):
        rates = np.linalg.solve(inertia(q), momentum.ravel())
        return 0.5*momentum.ravel() @ rates + GRAVITY*np.sum(beyond*lengths*q[:, 2])

    def slope(of_momentum: bool) -> np.ndarray:
        out = np.zeros((n, 3))
        for i in range(n):
            for k in range(3):
                changed, moved = q.astype(complex), momentum.astype(complex)
                (moved if of_momentum else changed)[i, k] += 1e-30j
                out[i, k] = energy(changed, moved).imag/1e-30
        return out

    momentum = (inertia(q) @ omega.ravel()).reshape(n, 3)
    made = formulate(facts, parameters, {"q": q, "omega": omega}, "vector_field", {"mass": "dense"})
    out = np.zeros((2*n, 3))
    plain(made.problem).rhs(0.0, np.concatenate([q, omega]), out)
    small = 1e-30
    ahead = inertia(q + small*1j*out[:n]) @ (omega + small*1j*out[n:]).ravel()
    motion = np.concatenate([out[:n], ahead.imag.reshape(n, 3)/small])
    by_momentum, by_direction = slope(True), slope(False)

    def generator(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([np.cross(u, q), np.cross(u, momentum) + np.cross(v, q)])

    numbers = {"corrected": size(generator(by_momentum, by_direction) - motion),
               "printed": size(generator(by_direction, by_momentum) - motion), "motion": size(motion)}
    return Evidence(numbers["corrected"] <= 1e-11*numbers["motion"] and numbers["printed"] >= 0.1*numbers["motion"],
                    "three pendula, (q', pi') of size {motion:.3g}: Hamilton's equations as the generator of (dH/dpi,"
                    " dH/dq) on SE(3)^3 differ from the Lagrangian motion by {corrected:.1e}, in the printed order by"
                    " {printed:.3g}", numbers)
