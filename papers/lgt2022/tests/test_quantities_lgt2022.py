"""Numbers that the studies of lgt2022 define, on files made up."""
import json

import numpy as np
import pytest
from liestep_papers.lgt2022.quantities import entries, growth, length, predicted_change

from liestep.simulation.runs.simulation import simulate


class File:
    """What the functions read of a run's file."""

    def __init__(self, failed=False, centre=None, step=None, **variables):
        self.failed, self.variables = failed, variables
        self.attributes = {"specification": json.dumps({
            "parameters": {"center_of_mass": centre}, "integrator": "runge_kutta", "options": {"tableau": "rk4"},
            "initial": {"body_rate": [[0.0, 3.0, 4.0]]}})} | ({} if step is None else {"step": step})

    def __getitem__(self, name):
        return self.variables[name]


TIME = np.linspace(0.0, 2.0, 41)


def test_entries_take_what_both_files_have():
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    run = File(centre=[1.0, 0.0, 0.0], attitude=np.array([[turn]]*2), position=np.zeros((2, 1, 3)),
               body_rate=np.ones((2, 1, 3)), multiplier=np.array([[9.0], [2.0]]))
    whole = File(attitude=np.array([[np.eye(3)]]*2), position=np.zeros((2, 1, 3)), body_rate=np.full((2, 1, 3), 1.5),
                 multiplier=np.array([[0.0], [1.0]]))
    assert entries(run, whole) == pytest.approx({"attitude_entry_error": 1.0, "rate_entry_error": 0.5,
                                                 "center_error": np.sqrt(2.0), "multiplier_error": 1.0})
    assert set(entries(run, File(attitude=whole["attitude"]))) == {"attitude_entry_error"}
    assert entries(File(failed=True), whole) == entries(run, None) == {}


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_growth_is_the_exponent_of_the_largest_so_far(power):
    swinging = TIME**power*np.where(np.arange(41) % 2 == 0, 1.0, 0.0)
    assert growth(File(time=TIME, joint_error=TIME**power), None)["joint_error_growth"] == pytest.approx(power)
    assert growth(File(time=TIME, joint_error=swinging), None)["joint_error_growth"] == pytest.approx(power, abs=0.1)
    assert growth(File(time=TIME, joint_error=np.zeros(41)), None) == {}


def test_length_is_signed():
    assert length(File(quaternion_norm=np.array([1.0, 0.75])), None) == {"quaternion_length_change": -0.25}


def test_length_is_compared_with_the_stability_function():
    """Of order 4, |R(i y)|^2 = 1 - y^6/72 + y^8/576 (expanded by hand), y = h |w|/2 = 0.25, 20 steps."""
    change = (1.0 - 0.25**6/72 + 0.25**8/576)**10 - 1.0
    assert predicted_change("rk4", np.array([0.1]), 5.0, 2.0)[0] == pytest.approx(change, rel=1e-9)
    found = length(File(step=0.1, time=TIME, quaternion_norm=np.array([1.0, 1.0 + 1.02*change])), None)
    assert found["quaternion_length_ratio"] == pytest.approx(1.02, rel=1e-6)


def test_the_fifth_order_changes_length_as_its_stability_function_says():
    """|R(i y)|^2 - 1 of a method of order 5 begins with y^6 (2 c_6 - 1/360): c_6 = 1/600 of Dormand and Prince."""
    y = 0.01
    assert predicted_change("dormand_prince5", np.array([0.02]), 1.0, 0.02)[0] == pytest.approx(
        0.5*y**6*(1/360 - 2*1/600), rel=1e-3)


@pytest.mark.parametrize(("integrator", "options", "tableau", "close"), [
    ("rk2_midpoint", {}, "midpoint", 1e-10), ("rk4", {}, "rk4", 1e-7),
    ("runge_kutta", {"tableau": "dormand_prince5"}, "dormand_prince5", 1e-6)])
def test_a_body_that_turns_about_a_principal_axis_changes_length_by_the_stability_function(integrator, options, tableau,
                                                                                           close):
    """What the fast top has beyond it (3 to 4 % of orders 4 and 5) comes from its rate that turns in the body."""
    run = simulate("jointed_body", integrator, preset="bruels_cardona", steps=1000, t_end=1.0, samples=2,
                   options=options,
                   parameters={"gravity": [0, 0, 0]}, initial={"body_rate": [[0, 150.0, 0]], "velocity": [[0, 0, 0]]})
    found = float(run["quaternion_norm"][-1]) - 1.0
    assert found == pytest.approx(predicted_change(tableau, np.array([1e-3]), 150.0, 1.0)[0], rel=close)
