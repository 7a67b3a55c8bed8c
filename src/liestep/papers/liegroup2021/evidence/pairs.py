"""Evidence on the pairs of liegroup2021, section 4: orders of the solution that goes on and of the one beside it."""
from typing import NamedTuple

import numpy as np

from liestep.claims.errata import Evidence
from liestep.compile.status import Status
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.simulation import simulate
from liestep.simulation.runs.specification import specify

CHAIN, PRESET = "spherical_pendulum_chain", "orders"
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
