"""L4: the observed order of every fixed-step integrator by the study's own estimator, from both sides, on two nonlinear problems."""
from functools import cache

import numpy as np
import pytest
from checks import BODIES, FIXED, NAMES, PENDULUM, VARIATIONAL, Flow

from liestep.analysis.order import observed_order, order_verdict
from liestep.core.cache import loop_for
from liestep.core.driver import advance
from liestep.core.recorder import new_recorder
from liestep.core.status import Status
from liestep.integrators import method
from liestep.integrators.runge_kutta import ExplicitRungeKutta
from liestep.integrators.tableaux import TABLEAUX
from liestep.study.execution import run_once
from liestep.study.specification import specify

T_END, SAMPLES = 2.0, 11
FLOOR = 5e-14  # two references with 700 and 1000 steps differ by 3e-14 and 5e-14
COUNTS = {1: [100*4**k for k in range(7)], 2: [20*2**k for k in range(8)], 4: [20*2**k for k in range(8)],
          6: [10, 20, 30, 40, 60, 80, 110, 160, 230], 8: [10, 20, 30, 40, 60, 80, 110]}


def states(problem, name, steps, **options):
    """q and omega (samples, 2n, 3) at common times, None when the run fails."""
    outcome = run_once(specify(problem[0], name, preset=problem[1], t_end=T_END, steps=steps, samples=SAMPLES, options=options))
    if outcome.status != Status.OK:
        return None
    fields = outcome.formulated.to_fields(outcome.outputs.states)
    return np.concatenate([fields["q"], fields["omega"]], axis=1)


@cache
def reference(problem, steps=1000):
    return states(problem, "vi_sphere_kl8", steps)


def state_error(rows, true):
    """Largest chord between directions, or distance of angular velocities over their largest value; inf for a failed run."""
    if rows is None:
        return np.inf
    n = rows.shape[1]//2
    gap = np.linalg.norm(rows - true, axis=2)
    return max(gap[:, :n].max(), gap[:, n:].max()/np.linalg.norm(true[:, n:], axis=2).max())


@pytest.mark.parametrize("problem", [BODIES, PENDULUM], ids=NAMES.get)
def test_references_agree(problem):
    assert state_error(reference(problem, 700), reference(problem)) <= FLOOR


def estimate(problem, name, **options):
    declared = method(name)
    counts = COUNTS[declared.order]
    errors = [state_error(states(problem, name, steps, **options), reference(problem)) for steps in counts]
    return observed_order([T_END/steps for steps in counts], errors, floor=FLOOR, theory=declared.order, symmetric=declared.symmetric)


@pytest.mark.parametrize(("problem", "name"), [(problem, name) for problem in (BODIES, PENDULUM) for name in FIXED
                                               if not (problem == PENDULUM and method(name).order == 8)],
                         ids=lambda item: NAMES.get(item, item))
def test_observed_order_is_the_order_claimed(problem, name):
    """Order 8 reaches the floor of the pendulum before four points are asymptotic, hence on the bodies only."""
    found = estimate(problem, name)
    passed, sentence = order_verdict(found, method(name).order)
    assert passed, f"{sentence}; {found.reason}"


@pytest.mark.parametrize("solver", ["newton", "fixed_point"])
def test_order_of_the_other_solvers(solver):
    found = estimate(PENDULUM, "vi_sphere_y4", solver=solver)
    passed, sentence = order_verdict(found, 4)
    assert passed, sentence


def test_velocity_form_has_the_same_order():
    passed, sentence = order_verdict(estimate(BODIES, "rk4", form="velocity"), 4)
    assert passed, sentence


def compiled(flow):
    """The compiled loop that serves an integrator on a problem, and the number of its specialisations."""
    work = flow.component.workspace(flow.problem, flow.start)
    flow(flow.start, 0.01)
    loop = loop_for(advance, flow.component, flow.problem, new_recorder(flow.start.shape[0], np.zeros(7), 1, 0), work)
    return loop, len(loop.call.signatures)


def test_one_specialisation_serves_all_weights_and_another_all_tableaux():
    compositions = {compiled(Flow(BODIES, name)) for name in VARIATIONAL}
    assert [count for _, count in compositions] == [1]
    flows = [Flow(BODIES, name) for name in ("rk2_midpoint", "rk2_heun", "rk4")]
    other = Flow(BODIES, "rk4")
    other.component = ExplicitRungeKutta(*TABLEAUX["dop853"].arrays())
    families = {compiled(flow) for flow in (*flows, other)}
    assert [count for _, count in families] == [1]
    assert families != compositions
