"""L4: the observed order of every fixed-step integrator by the study's own estimator, from both sides,
on two nonlinear problems."""
from functools import cache

import numpy as np
import pytest
from checks import BODIES, COUNTS, FLOOR, NAMES, PAIRS, PENDULUM, VARIATIONAL, Flow, estimate, state_error, states

from liestep.compile.cache import loop_for
from liestep.compile.driver import advance
from liestep.integrators.runge_kutta import ExplicitRungeKutta
from liestep.integrators.tableaux import TABLEAUX
from liestep.integrators.weights import SPLITTING_ORDERS
from liestep.simulation.catalogue import method
from liestep.simulation.runs.execution import new_recorder
from liestep.study.tables.order import order_verdict


@cache
def reference(problem):
    return states(problem, "vi_sphere weights=kl8", 1000)


@pytest.mark.parametrize("problem", [BODIES, PENDULUM], ids=NAMES.get)
def test_references_agree(problem):
    """What is left is round-off: over 11 numbers of steps from 500 to 2000 it scatters from 2.3e-14 to 9.5e-14."""
    for steps in (600, 750):
        assert state_error(states(problem, "vi_sphere weights=kl8", steps), reference(problem)) <= FLOOR


def observed(problem, name, **options):
    return estimate(problem, name, reference(problem), COUNTS[method(name).order], **options)


# Too few asymptotic points above the floor: order 8 reaches it before; Dormand and Prince's error of order 6
# hides the one of order 5; Casas and Owren's slopes fall from 4.5 to 4.0 too slowly. The latter two show their
# orders in test_lie_integrators. The small error of order 6 of Blanes and Moan's splitting leads over less than
# half a decade of h; its other splittings follow below, its own order is in test_one_step.
UNSEEN = {(PENDULUM, "vi_sphere weights=kl8"), (BODIES, "rkmk tableau=dormand_prince5"), (PENDULUM, "rkmk4_2comm"),
          (BODIES, "sphere_split")}


@pytest.mark.parametrize(("problem", "name"), [pair for pair in PAIRS if pair not in UNSEEN],
                         ids=lambda item: NAMES.get(item, item))
def test_observed_order_is_the_order_claimed(problem, name):
    found = observed(problem, name)
    passed, sentence = order_verdict(found, method(name).order)
    assert passed, f"{sentence}; {found.reason}"


@pytest.mark.parametrize("solver", ["newton", "fixed_point"])
def test_order_of_the_other_solvers(solver):
    found = observed(PENDULUM, "vi_sphere weights=y4", solver=solver)
    passed, sentence = order_verdict(found, 4)
    assert passed, sentence


@pytest.mark.parametrize("splitting", ["strang", "y4", "s4", "kl6", "rkn6"])
def test_order_of_the_splittings(splitting):
    order = SPLITTING_ORDERS[splitting]
    found = estimate(BODIES, "sphere_split", reference(BODIES), COUNTS[order], splitting=splitting)
    passed, sentence = order_verdict(found, order)
    assert passed, f"{sentence}; {found.reason}"


def test_velocity_form_has_the_same_order():
    passed, sentence = order_verdict(observed(BODIES, "rk4", form="velocity"), 4)
    assert passed, sentence


def compiled(flow):
    """The compiled loop that serves an integrator on a problem, and the number of its specialisations."""
    work = flow.component.workspace(flow.problem, flow.start)
    flow(flow.start, 0.01)
    loop = loop_for(advance, flow.component, flow.problem, new_recorder(flow.start.shape, np.zeros(7), 1, 0), work)
    return loop, len(loop.call.signatures)


def test_one_specialisation_serves_all_weights_and_another_all_tableaux():
    compositions = {compiled(Flow(BODIES, name)) for name in VARIATIONAL if name.startswith("vi_sphere")}
    assert [count for _, count in compositions] == [1]
    flows = [Flow(BODIES, name) for name in ("rk2_midpoint", "rk2_heun", "rk4")]
    other = Flow(BODIES, "rk4")
    other.component = ExplicitRungeKutta(*TABLEAUX["dop853"].arrays())
    families = {compiled(flow) for flow in (*flows, other)}
    assert [count for _, count in families] == [1]
    assert families != compositions
