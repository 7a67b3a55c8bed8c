"""Close encounters in fictitious time: what it reaches, identities, exact properties, outputs between steps, refusals.
Orders of steps and dense output: `test_certificates`."""
from fractions import Fraction

import numpy as np
import pytest
from rigid_cases import formulated

from liestep import simulate
from liestep.compile.counters import Counter
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.catalogue import method
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.tools.certify.number import numbers
from liestep.tools.certify.orders import CASES
from liestep.tools.certify.steps import step_of

pytestmark = pytest.mark.slow

NAME = "sphere_regularised"
STEP = 0.0148  # s of fictitious time


def built(step, **options):
    """Component in plain Python, problem, start, and the workspace after `start`."""
    chosen = {name: option.default for name, option in method(NAME).options.items()} | options
    component = plain(method(NAME).build(chosen, step, 1.0))
    case = formulated("sphere_nbody", "four_bodies", "sphere_lagrangian", mass="diagonal")
    problem, y = plain(case.problem), case.start.copy()
    work = component.workspace(problem, y)
    component.start(problem, 0.0, y, 1.0, work)
    return component, problem, y, work


def energy(problem, y):
    out = np.zeros(7)
    problem.observe(y, out)
    return out[0]


def run(problem, steps, component, y, work):
    for _ in range(steps):
        h = component.control.next_step[0]
        assert component.attempt(problem, 0.0, y, h, work) == (Status.OK, 0.0)
        component.accept(problem, y, work)
    return y


def test_close_encounters_of_three_bodies():
    """Through 0.2 degrees with 1,400 evaluations; fixed steps keep the energy to 0.05 with 3.2e5 of them."""
    data = simulate("sphere_nbody", NAME, preset="paper", tolerance=STEP, t_end=12.0, samples=2)
    assert data.attrs["force_evaluations"] <= 1400
    assert abs(data["energy"].values[1] - data["energy"].values[0]) <= 1e-4
    longer = simulate("sphere_nbody", NAME, preset="paper", tolerance=STEP, t_end=40.0, samples=201)
    assert longer["time"].values[-1] == 40.0
    assert longer.attrs["status"] == "ok"
    dense = simulate("sphere_nbody", NAME, preset="paper", tolerance=STEP, t_end=12.0, samples=60001)
    q = dense["q"].values
    angles = [np.arctan2(np.linalg.norm(np.cross(q[:, i], q[:, j]), axis=1), (q[:, i]*q[:, j]).sum(axis=1))
              for i, j in ((0, 1), (1, 2), (0, 2))]
    assert np.degrees(np.min(angles)) <= 0.25
    assert np.abs((longer["q"].values**2).sum(axis=2) - 1.0).max() <= 1e-12
    assert np.abs(longer["momentum_map"].values - longer["momentum_map"].values[0]).max() <= 1e-10


def test_without_slowing_down_it_is_sphere_split():
    """f' = 1 for c without bound: the same bits."""
    common = {"preset": "four_bodies", "t_end": 1.0, "samples": 2}
    for name in ("strang", "s4"):
        one = simulate("sphere_nbody", NAME, tolerance=0.0625, options={"c": 1e300, "splitting": name}, **common)
        other = simulate("sphere_nbody", "sphere_split", step=0.0625, options={"splitting": name}, **common)
        for field in ("q", "omega"):
            assert np.array_equal(one[field].values, other[field].values)


@pytest.mark.parametrize("name", ["strang", "s4", "kl8"])
def test_reversal_momentum_and_length(name):
    component, problem, y, work = built(0.05, splitting=name)
    first, momentum = y.copy(), y[4:].sum(axis=0)  # four unit masses
    run(problem, 3, component, y, work)
    assert np.abs(y[4:].sum(axis=0) - momentum).max() <= 1e-14
    assert np.abs((y[:4]**2).sum(axis=1) - 1.0).max() <= 1e-14
    y[4:] *= -1.0
    work.numbers[3] = -problem.potential(y[:4])
    component.look_ahead(problem, y, work)
    run(problem, 3, component, y, work)
    y[4:] *= -1.0
    assert np.abs(y - first).max() <= 1e-13


def test_outputs_are_steps_that_stop_at_the_wanted_time():
    component, problem, y, work = built(0.1)
    h, out = component.control.next_step[0], np.zeros_like(y)
    assert component.arrive(problem, y, 0.3*h, out, work.aside, work) == Status.OK
    s = 0.1*0.3  # fictitious time in the first approximation: as long as it takes, not that
    assert component.advance(problem, s, y.copy(), work.gradient.copy(), work.numbers) != 0.3*h
    for share in (1e-9, 0.3, 1.0):
        component.interpolate(problem, 0.0, y, h, share, out, work)
        assert np.abs((out[:4]**2).sum(axis=1) - 1.0).max() <= 1e-14
        assert np.abs((out[:4]*out[4:]).sum(axis=1)).max() <= 1e-14
    assert np.abs(out - work.new).max() <= 1e-15
    few = simulate("sphere_nbody", NAME, preset="four_bodies", tolerance=0.1, t_end=2.0, samples=2)
    many = simulate("sphere_nbody", NAME, preset="four_bodies", tolerance=0.1, t_end=2.0, samples=101)
    assert np.array_equal(few["q"].values[-1], many["q"].values[-1])
    assert few.attrs["steps_accepted"] == many.attrs["steps_accepted"]


def test_the_energy_with_the_wrong_sign_loses_the_order():
    """T + E_0 for T - E_0: great circles and kicks no longer see the same time."""
    defects = []
    for sign in (1.0, -1.0):
        errors = []
        for step in (0.1, 0.05):
            component, problem, y, work = built(step)
            before = energy(problem, y)
            work.numbers[0] *= sign
            component.look_ahead(problem, y, work)
            run(problem, round(0.4/step), component, y, work)
            errors.append(abs(energy(problem, y) - before))
        defects.append(np.log2(errors[0]/errors[1]))
    assert defects[0] >= 1.8
    assert defects[1] <= 0.5


@pytest.mark.parametrize(("problem", "request_", "said"), [
    ("sphere_nbody", {"options": {"splitting": "rkn4"}}, "option splitting is 'rkn4'; allowed are strang, y4, s4, kl6"),
    ("sphere_nbody", {"options": {"c": -1}}, "option c must be energies or a positive number, not -1"),
    ("sphere_nbody", {"options": {"mass": "dense"}}, "allowed is diagonal"),
    ("spherical_pendulum_chain", {}, "masses of this system are coupled"),
    ("sphere_nbody", {"initial": {"q": [[1, 0, 0], [0, 1, 0], [0, 1, 0]]}}, "bodies 1 and 2 are at one point"),
    ("sphere_nbody", {"initial": {"q": [[1, 0, 0], [-1, 0, 0], [0, 1, 0]]}}, "bodies 0 and 1 are at antipodes"),
])
def test_refusals(problem, request_, said):
    initial = request_.get("initial")
    more = {**request_, "initial": {**initial, "omega": [[0, 0, 1]]*3}} if initial else request_
    with pytest.raises(InputError, match=said):
        specify(problem, NAME, tolerance=0.01, **more)


def test_bodies_without_force_may_meet():
    at = {"q": [[1, 0, 0], [1, 0, 0]], "omega": [[0, 0, 1]]*2}
    assert specify("sphere_nbody", NAME, tolerance=0.01, initial=at, parameters={"mass": [1, 1], "gamma": 0.0}).initial


def test_budgets_choose_the_fictitious_step(tmp_path):
    """The study's tolerances are errors of pairs: they say nothing of it."""
    (tmp_path/"study.yaml").write_text(
        "title: Budget\nsamples: 2\nevaluations: [200, 800]\ntolerances: [1e-9]\n"
        "problems:\n  four: {system: sphere_nbody, preset: four_bodies, t_end: 1}\n"
        "integrators: {sphere_regularised: {}, own: {id: sphere_regularised, tolerances: [0.1]}}\n")
    study = Study(tmp_path/"study.yaml", "study", tmp_path/"results")
    asked = {sweep.integrator: [cell.spec.tolerance for cell in sweep.cells] for sweep in study.sweeps}
    assert asked["own"] == [0.1]
    spent = [simulate("sphere_nbody", NAME, preset="four_bodies", tolerance=step, t_end=1.0, samples=2
                      ).attrs["force_evaluations"] for step in asked[NAME]]
    for count, budget in zip(spent, (200, 800), strict=True):
        assert 0.5*budget <= count <= 2.0*budget
    (tmp_path/"study.yaml").write_text((tmp_path/"study.yaml").read_text().replace("[200, 800]", "[1]").replace(
        "{sphere_regularised: {}", "{sphere_regularised: {options: {splitting: s4}}"))
    with pytest.raises(InputError, match="a budget of 1 is less than the 5 evaluations of one step"):
        _ = Study(tmp_path/"study.yaml", "study", tmp_path/"results").sweeps


def test_a_given_time_is_met_in_many_digits_by_the_secant():
    """Newton's method with dt/ds at the end of the step gains four digits each time at this h: 35 corrections."""
    step = step_of(CASES[1], NAME)
    h, before = numbers(150).of(Fraction(1, 100)), step.problem.counters[Counter.EXPONENTIALS]
    step.attempt(h, None)
    steps = (step.problem.counters[Counter.EXPONENTIALS] - before)//3  # of three bodies, one drift each
    assert 2 + 4 < steps <= 2 + 12  # with those that look ahead
