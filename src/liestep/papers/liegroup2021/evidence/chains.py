"""Evidence on chains of pendula of liegroup2021: the limit of many links, Hamilton's equations (q, pi), orders of both
solutions of the pairs of section 4, and the reference and step control of figures 8 and 10."""
from typing import Any, NamedTuple

import numpy as np

from liestep.claims.errata import Evidence
from liestep.compile.status import Status
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.simulation import simulate
from liestep.simulation.runs.specification import specify
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


PRESET = "orders"
STEPS = (0.05, 0.025, 0.0125)
NEAR = 0.15  # of a slope and an order


class Pair(NamedTuple):
    """Orders that the paper states: of the solution that goes on, and of the other one."""

    name: str
    integrator: str
    order: int
    beside: int


PAIRS = (Pair("rkmk54", "rkmk_pair", 5, 4), Pair("cf43", "cf_pair", 4, 3), Pair("cf32a", "cf_pair scheme=cf32a", 3, 2),
         Pair("cf32b", "cf_pair scheme=cf32b", 3, 2))


def _attempt(integrator: str, h: float) -> tuple[np.ndarray, float]:
    """q and omega after one attempt of a pair, and its estimate of the error."""
    printed = {"norm": "algebra"} if integrator == "rkmk_pair" else {"distance": "euclidean"}
    spec = specify(CHAIN, integrator, preset=PRESET, tolerance=1e-9, options=printed)
    declared, options = method(integrator).on(sheet(CHAIN)), dict(spec.options)
    formulated = formulate(sheet(CHAIN), spec.parameters, spec.initial, declared.formulation, options)
    component, problem = plain(declared.build(options, spec.tolerance, 1.0)), plain(formulated.problem)
    y = formulated.start.copy()
    work = plain(component.workspace(problem, y))
    component.start(problem, 0.0, y, h, work)
    status, error = component.attempt(problem, 0.0, y, h, work)
    assert status == Status.OK
    component.accept(problem, y, work)
    return y.ravel(), float(error)


def _exact(h: float) -> np.ndarray:
    run = simulate(CHAIN, "dop853", preset=PRESET, tolerance=1e-14, t_end=h, samples=2, options={"atol": 1e-15})
    return np.concatenate([run[name].values[-1].ravel() for name in ("q", "omega")])


def pair_orders() -> Evidence:
    """Errors of one step of the solution that goes on, against an accurate one, and differences of the two solutions:
    slopes less one are the orders. No if a pair's other solution had the order of the first."""
    exact, numbers, gaps = {h: _exact(h) for h in STEPS}, {}, []
    for pair in PAIRS:
        found = [_attempt(pair.integrator, h) for h in STEPS]
        errors = [float(np.linalg.norm(y - exact[h])) for (y, _), h in zip(found, STEPS, strict=True)]
        for name, sizes, order in (("order", errors, pair.order), ("beside", [e for _, e in found], pair.beside)):
            slopes = np.diff(np.log(sizes))/np.diff(np.log(STEPS)) - 1.0
            numbers[f"{pair.name}_{name}"] = float(slopes[-1])
            gaps.append(abs(float(slopes[-1]) - order))
    return Evidence(max(gaps) <= NEAR, "orders of both solutions, one step of two pendula: RKMK(5,4) {rkmk54_order:.2f}"
                    " and {rkmk54_beside:.2f}, CF4(3) {cf43_order:.2f} and {cf43_beside:.2f}, CF3(2)"
                    " {cf32a_order:.2f} and {cf32a_beside:.2f}, {cf32b_order:.2f} and {cf32b_beside:.2f}", numbers)


TOLERANCE = 1e-6
RELATIVE, ABSOLUTE = 1e-6, 1e-12    # of the reference in the public code


def final_state(preset: str, integrator: str, tolerance: float,
                options: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """q and omega at T = 3 as one vector, and the attributes of the run."""
    run = simulate("spherical_pendulum_chain", integrator, preset=preset, tolerance=tolerance,
                   options=options, samples=2)
    return np.concatenate([run[name].values[-1].ravel() for name in ("q", "omega")]), run.attrs


def reference_bias() -> Evidence:
    """Error of ode45 with the tolerances of the public code's reference, beside that of RKMK(5,4)."""
    numbers: dict[str, float] = {}
    for preset, name in (("unit_2", "two"), ("total5_20", "twenty")):
        exact, _ = final_state(preset, "dop853", 1e-13, {"atol": 1e-14})
        reference, _ = final_state(preset, "ode45", RELATIVE, {"atol": ABSOLUTE, "mass": "dense"})
        pair, _ = final_state(preset, "rkmk_pair", TOLERANCE, {"norm": "algebra", "exponent": "quarter"})
        numbers |= {f"{name}_reference": float(np.linalg.norm(reference - exact)),
                    f"{name}_pair": float(np.linalg.norm(pair - exact)),
                    f"{name}_seen": float(np.linalg.norm(pair - reference))}
    comparable = all(numbers[f"{name}_reference"] >= 0.1*numbers[f"{name}_pair"] for name in ("two", "twenty"))
    return Evidence(comparable, "error at T = 3 of ode45 at RelTol 1e-6, AbsTol 1e-12: {two_reference:.2g} for N = 2,"
                    " {twenty_reference:.2g} for N = 20, L = 5/N; of RKMK(5,4) at 1e-6: {two_pair:.2g} and"
                    " {twenty_pair:.2g}, which against that reference look like {two_seen:.2g} and {twenty_seen:.2g}",
                    numbers)


def control_exponent() -> Evidence:
    """RKMK(5,4) with the exponent 1/(1 + min(p, p~)) = 1/5 and with 1/4 of the public code, N = 2."""
    exact, _ = final_state("unit_2", "dop853", 1e-13, {"atol": 1e-14})
    numbers: dict[str, float] = {}
    for name, exponent in (("text", "default"), ("code", "quarter")):
        state, found = final_state("unit_2", "rkmk_pair", TOLERANCE, {"norm": "algebra", "exponent": exponent})
        numbers |= {f"{name}_steps": int(found["steps_accepted"]), f"{name}_rejected": int(found["steps_rejected"]),
                    f"{name}_error": float(np.linalg.norm(state - exact))}
    alike = 0.2 <= numbers["code_error"]/numbers["text_error"] <= 5.0
    return Evidence(alike and numbers["code_rejected"] > numbers["text_rejected"],
                    "N = 2 at 1e-6: {text_steps:d} steps, {text_rejected:d} rejected, error {text_error:.2g} with the"
                    " exponent 1/5; {code_steps:d}, {code_rejected:d}, {code_error:.2g} with 1/4", numbers)
