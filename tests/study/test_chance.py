"""How likely a scan finds a printed number by chance: against settings drawn at random, and for what is not a scan."""
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from claim_results import PLANNED, data_are_printed  # noqa: F401
from liestep_papers.twospheres2009.criteria import Quantile

from liestep.claims.chance import chance
from liestep.claims.claimfile import BY_CHANCE, Claim, ClaimFile
from liestep.claims.counting import changes, headline, predictions, statements
from liestep.claims.judging import judge
from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile

pytestmark = pytest.mark.usefixtures("data_are_printed")
COLUMNS = ["problem", "integrator", "resolution", "status", "step", "tolerance", "steps", "t_end", "error", "other"]


def study(numbers, other=None, status=None, file=None):
    """Results with one run of each number, at steps 1, 1/2, 1/3, ..."""
    rows = [("p", "vi", f"h{1.0/(k + 1):.6g}", status[k] if status else "ok", 1.0/(k + 1), math.nan, k + 1, 1.0, number,
             other[k] if other is not None else 1.0) for k, number in enumerate(numbers)]
    return {"s": SimpleNamespace(study=PLANNED, metrics=pd.DataFrame(rows, columns=COLUMNS), file=file)}


def claim(printed=1.0, digits=3, found="h1", over=("step",), name="one", quantity="error", verdict="recovered", **scan):
    return Claim.model_validate({
        "id": name, "statement": "s", "source": "x", "asserted_by": "paper", "known": False, "printed": printed,
        "runs": [{"study": "s", "problem": "p", "integrator": "vi", "resolution": found}], "quantity": quantity,
        "criterion": {"kind": "digits", "digits": digits}, "verdict": verdict,
        "scan": {"over": list(over), "runs": [{"study": "s", "problem": "p", "integrator": "vi"}], **scan}})


@pytest.mark.parametrize("digits", [1, 2])
def test_the_share_is_the_frequency_with_which_random_settings_match(digits):
    """Numbers of random size, none of which knows the printed one: counted and estimated from 400 of them."""
    random = np.random.default_rng(5)
    spread = np.exp(random.uniform(math.log(1e-3), math.log(1e3), 200_000))
    half = 0.5*10.0**(1 - digits)
    counted = float(np.mean((spread >= 2.0 - half) & (spread <= 2.0 + half)))
    estimated = []
    for k in range(20):
        one = claim(printed=2.0, digits=digits)
        estimated.append(chance(one, {"one": one}, study([2.0, *spread[400*k:400*(k + 1)]])).share)
    assert np.mean(estimated) == pytest.approx(counted, rel=0.2)


def test_two_numbers_multiply_only_if_two_data_were_varied():
    random = np.random.default_rng(6)
    numbers, others = (np.exp(random.uniform(-3.0, 3.0, 100)) for _ in range(2))
    results = study([1.0, *numbers], [1.0, *others])
    second = claim(name="two", quantity="other")
    known = {"two": second}
    single = chance(claim(), known, results).share
    both = {data: chance(claim(over=["x"]*data, jointly=["two"]), known, results).share for data in (1, 2)}
    assert both[2] < 0.05*both[1]
    assert 0.2*single < both[1] < single


def test_probability_is_that_of_at_least_one_match_and_hits_are_counted():
    numbers = [1.0, 1.0004, 3.0, 5.0, 0.2]
    found = chance(claim(), {}, study(numbers))
    assert (found.settings, found.hits) == (5, 2)
    assert found.probability == pytest.approx(1.0 - (1.0 - found.share)**5, rel=1e-12)


def test_sensitivity_is_the_slope_between_the_neighbours():
    steps = 1.0/np.arange(1, 7)
    found = chance(claim(printed=steps[2]**2, digits=5, found="h0.333333"), {}, study(steps**2))
    assert found.sensitivity == pytest.approx(2.0, rel=1e-12)


def test_failed_settings_were_tried_and_say_nothing():
    whole = chance(claim(), {}, study([1.0, 2.0, 3.0, 4.0]))
    failed = chance(claim(), {}, study([1.0, 2.0, 3.0, 4.0, 1.0], status=["ok"]*4 + ["step_too_large"]))
    assert failed.settings == 5
    assert failed.hits == 1
    assert failed.share < 1.0
    nothing = chance(claim(), {}, study([1.0, 1.0, 1.0], status=["ok", "not_converged", "not_converged"]))
    assert nothing.probability == 1.0
    assert whole.settings == 4


@pytest.mark.parametrize(("digits", "expected"), [(5, "recovered"), (2, "calibrated")])
def test_a_number_that_a_scan_finds_by_chance_is_not_recovered(digits, expected):
    results = study([1.0, 1.7, 3.0, 0.4, 9.0, 0.1])
    row = judge(ClaimFile(paper="paper", claims=[claim(digits=digits)]), results).iloc[0]
    assert row.verdict == expected
    assert (row.probability <= BY_CHANCE) == (expected == "recovered")
    assert (row.settings, row.hits, row.scanned) == (6, 1, "step")


def ends_of(energy, stored=None):
    time = np.arange(energy.size)*0.1
    mean = float(np.abs(energy[:301] - energy[0]).mean())
    rows = [("p", "vi", "h0.1", "ok", 0.1, math.nan, energy.size - 1, time[-1], 1.0, 1.0),
            ("p", "own", "h0.1", "ok", 0.1, math.nan, 300, time[300], mean, 1.0)]
    table = pd.DataFrame(rows, columns=[*COLUMNS[:-2], "energy_error_mean", "other"])
    file = RunFile(None, {}, {"time": time[::stored], "energy": energy[::stored]})
    return {"s": SimpleNamespace(study=PLANNED, metrics=table, file=lambda *keys: file)}


def over_ends(results, digits):
    printed = float(results["s"].metrics.energy_error_mean[1])
    one = claim(printed=float(f"{printed:.{digits - 1}e}"), digits=digits, quantity="energy_error_mean", ends=1.0)
    one = one.model_copy(update={"runs": [one.runs[0].model_copy(update={"integrator": "own", "resolution": "h0.1"})]})
    return chance(one, {}, results)


def test_every_stored_time_says_how_often_a_duration_matches():
    random = np.random.default_rng(7)
    energy = np.concatenate([[0.0], np.abs(random.standard_normal(20_000))])
    results = ends_of(energy)
    printed = float(results["s"].metrics.energy_error_mean[1])
    means = np.cumsum(energy)/np.arange(1, energy.size + 1)
    counted = float(np.mean([f"{value:.2e}" == f"{printed:.2e}" for value in means]))
    found = over_ends(results, 3)
    assert found.settings == 2000
    assert found.hits == sum(f"{value:.2e}" == f"{printed:.2e}" for value in means[10::10])
    assert found.share == pytest.approx(counted, rel=0.5)


def test_ends_need_every_step():
    with pytest.raises(InputError, match="one number for each step; p/vi stores 201 samples of 400 steps"):
        over_ends(ends_of(np.arange(401.0), stored=2), 3)


def test_an_ensemble_accepts_numbers_whose_interval_holds_the_printed_one():
    members = np.linspace(1.0, 3.0, 101)  # the central 90 % reach from 1.1 to 2.9, the median is 2
    results = study([2.0, 4.0, 0.5, 6.0, 40.0], file=lambda *keys: RunFile(None, {}, {"error": members}))
    one = claim(printed=2.4).model_copy(update={"criterion": Quantile(kind="quantile", level=0.9)})
    assert one.criterion.accepted(one, results) == pytest.approx((2.4*2.0/2.9, 2.4*2.0/1.1), rel=1e-12)
    found = chance(one, {}, results)
    assert (found.settings, found.hits) == (5, 2)
    assert found.probability > 0.1


@pytest.mark.parametrize(("numbers", "printed", "sentence"), [
    ([1.0, 2.0], 1.0, "a scan needs at least three settings, not 2"),
    ([1.0, 2.0, 3.0], -1.0, "a scan needs a printed number above zero")])
def test_what_is_no_scan_is_refused(numbers, printed, sentence):
    with pytest.raises(InputError, match=sentence):
        chance(claim(printed=printed), {}, study(numbers))


def test_statements_count_once_and_own_ones_apart():
    rows = [{"claim": name, "group": group, "asserted_by": by, "verdict": verdict, "known_beforehand": known,
             "changed_later": name in "ad", "group_type": "readings" if group else ""}
            for name, group, by, verdict, known in (
                ("a", "one", "paper", "not reproduced", True), ("b", "one", "derived", "recovered", True),
                ("c", "", "paper", "confirmed", False), ("d", "", "own", "missed", False),
                ("e", "", "external", "reproduced", True), ("f", "", "paper", "undetermined", False))]
    assert [(item.name, item.counted, item.verdict) for item in statements(rows)] == [
        ("one", "paper", "recovered"), ("c", "paper", "confirmed"), ("d", "own", "missed"),
        ("e", "external", "reproduced"), ("f", "paper", "undetermined")]
    assert headline(rows) == (
        "3 statements of the paper: 1 recovered, 1 confirmed, 1 undetermined; 1 control of our own: 1 missed;"
        " 1 number of another code: 1 reproduced. 2 predictions, 1 met. What decides 2 claims was changed after it"
        " was first written.")
    assert predictions([]) == "0 predictions, 0 met"
    assert headline([row for row in rows if row["claim"] == "e"]).startswith("1 number of another code: 1 reproduced.")


def test_without_a_history_nothing_is_said_of_changes():
    known = {"changed_later": False, "history": "first written"}
    unknown = {"changed_later": False, "history": "not in the history yet"}
    assert changes([unknown]) == "No log of edits lies here that could say whether a criterion was changed later"
    assert changes([unknown, known]) == "Nothing that decides a claim was changed after it was first written"
    assert changes([{**known, "changed_later": "True"}]).startswith("What decides 1 claim was")
