"""What variable steps gain: interpolation at equal numbers of steps, lower bounds, and the criterion."""
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from claim_results import claim_with
from liestep_papers.liegroup2021.criteria import Gain
from liestep_papers.liegroup2021.gains import gains
from pydantic import ValidationError

from liestep.claims.judging import describe
from liestep.errors import InputError

COUNTS = (50, 100, 200, 400)
ORDER = 5.0


def rows(integrator, pairs, status="ok"):
    return pd.DataFrame([("p", integrator, f"r{steps}", status, steps, error) for steps, error in pairs],
                        columns=["problem", "integrator", "resolution", "status", "steps", "error_final"])


LADDER = rows("constant", [(n, 1e6*float(n)**-ORDER) for n in COUNTS])


def found(adaptive, ladder=LADDER):
    return gains(adaptive, ladder, "error_final", "steps")


def test_power_laws_are_interpolated_exactly():
    """Between the numbers of steps, too; 7 is put in."""
    values, bounds = found(rows("adaptive", [(n, 1e6*float(n)**-ORDER/7.0) for n in (50, 71, 330, 400)]))
    np.testing.assert_allclose(values, 7.0, rtol=1e-12)
    assert not bounds.any()


def test_fewer_steps_than_any_constant_run_give_a_lower_bound():
    values, bounds = found(rows("adaptive", [(30, 1e6*50.0**-ORDER/3.0)]))
    assert values[0] == pytest.approx(3.0)
    assert bounds[0]


def test_constant_steps_that_stopped_are_left_out():
    ladder = LADDER.assign(status=["chart_limit", "ok", "ok", "ok"], error_final=[np.nan, *LADDER["error_final"][1:]])
    values, bounds = found(rows("adaptive", [(60, 1e6*100.0**-ORDER/2.0)]), ladder)
    assert values[0] == pytest.approx(2.0)
    assert bounds[0]


@pytest.mark.parametrize("adaptive", [rows("adaptive", [(401, 1e-9)]), rows("adaptive", [(100, 1e-9)], "not_finite")])
def test_nothing_is_known_beyond_the_ladder_or_of_stopped_runs(adaptive):
    values, bounds = found(adaptive)
    assert np.isnan(values).all()
    assert not bounds.any()


def test_nothing_is_known_without_constant_runs():
    assert np.isnan(found(rows("adaptive", [(100, 1e-9)]), LADDER.assign(status="chart_limit"))[0]).all()


def claim(rule, against=1):
    choice = {"study": "s", "problem": "p", "integrator": "adaptive"}
    return claim_with(Gain).model_validate({
        "id": "one", "statement": "s", "source": "section 1", "asserted_by": "own", "known": False, "runs": [choice],
        "against": [{**choice, "integrator": "constant"}]*against, "quantity": "error_final",
        "criterion": {"kind": "gain", **rule}})


def judged(rule, adaptive, against=1):
    given = claim(rule, against)
    return given.criterion.judge(given, {"s": SimpleNamespace(metrics=pd.concat([adaptive, LADDER]))})


def test_criterion_is_a_sentence_with_its_numbers():
    assert describe(claim({"at_least": 1.5})) == ("error_final of the compared runs at equal steps, divided by that of"
                                                  " the run, >= 1.5")


def test_criterion_that_cannot_fail_is_refused():
    with pytest.raises(ValidationError, match="the criterion cannot fail"):
        claim({"at_least": 0.0})


@pytest.mark.parametrize(("rule", "met"), [({"at_least": 1.9}, True), ({"at_least": 2.1}, False),
                                           ({"at_least": 3.9, "statistic": "median"}, True),
                                           ({"at_least": 4.1, "statistic": "median"}, False)])
def test_criterion_judges_each_run_or_their_median(rule, met):
    adaptive = rows("adaptive", [(100, 1e6*100.0**-ORDER/factor) for factor in (2.0, 4.0, 80.0)])
    assert judged(rule, adaptive).met == met


def test_criterion_is_not_met_by_a_run_without_comparison():
    assert not judged({"at_least": 1e-9}, rows("adaptive", [(100, 1e-9), (401, 1e-9)])).met


def test_criterion_needs_a_ladder_for_each_run():
    with pytest.raises(InputError, match="1 adaptive runs cannot be compared with 2 ladders"):
        judged({"at_least": 1.0}, rows("adaptive", [(100, 1e-9)]), against=2)
    with pytest.raises(InputError, match="unknown quantity 'steeps'; did you mean steps"):
        judged({"at_least": 1.0, "over": "steeps"}, rows("adaptive", [(100, 1e-9)]))
