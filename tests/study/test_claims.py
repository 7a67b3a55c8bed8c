"""The judge of the claims: every criterion met and not met, runs that stopped early, claims about nothing."""
import math
import re

import pytest
from claim_results import ENSEMBLE, RESULTS, RK, VI, data_are_printed, runs  # noqa: F401

from liestep.claims.claimfile import Claim, ClaimFile
from liestep.claims.criteria import CRITERIA
from liestep.claims.judging import COLUMNS, describe, judge
from liestep.errors import InputError

pytestmark = pytest.mark.usefixtures("data_are_printed")
MET, MISSED, OPEN = "reproduced", "not reproduced", "undetermined"


def claim(kind, chosen=VI[:1], rule=None, **more):
    """A claim with criterion `kind` and its fields `rule`; `more` are fields of the claim."""
    given = {"id": "c", "statement": "s", "source": "section 1", "asserted_by": "paper", "known": False,
             "quantity": "error", "runs": chosen, **more}
    return Claim.model_validate({**given, "criterion": {"kind": kind, **(rule or {})}})


def row(*arguments, **more):
    table = judge(ClaimFile(paper="paper", citation="c", claims=[claim(*arguments, **more)]), RESULTS)
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 1
    return table.iloc[0]


def verdict(*arguments, **more):
    return row(*arguments, **more).verdict


@pytest.mark.parametrize(("printed", "tolerance", "expected"), [
    (1.23e-4, 0.0037, MET), (1.23e-4, 0.0036, MISSED), (1.239e-4, 0.0037, MET), (1.24e-4, 0.0037, MISSED)])
def test_relative_is_the_distance_of_the_ratio_from_one(printed, tolerance, expected):
    found = row("relative", rule={"tolerance": tolerance}, printed=printed)
    assert found.verdict == expected
    assert found.ratio == found.ours/printed


@pytest.mark.parametrize(("printed", "digits", "expected"), [
    (1.2345e-4, 5, MET), (1.234e-4, 4, MET), (1.23e-4, 3, MET), (1e-4, 1, MET),
    (1.2344e-4, 5, MISSED), (1.235e-4, 4, MISSED), (1.2345e-3, 5, MISSED), (-1.2345e-4, 5, MISSED)])
def test_digits_rounds_ours_to_the_printed_digits(printed, digits, expected):
    assert verdict("digits", rule={"digits": digits}, printed=printed) == expected


@pytest.mark.parametrize(("printed", "expected"), [(0.65e-4, MET), (2.4e-4, MET), (0.6e-4, MISSED), (2.5e-4, MISSED)])
def test_factor_holds_in_both_directions(printed, expected):
    assert verdict("factor", rule={"factor": 2.0}, printed=printed) == expected


@pytest.mark.parametrize(("limits", "expected", "ours"), [
    ({"at_most": 4e-15}, MET, 4e-15), ({"at_most": 3.9e-15}, MISSED, 4e-15), ({"at_least": 2e-15}, MET, 2e-15),
    ({"at_least": 2.1e-15}, MISSED, 2e-15), ({"at_most": 5e-15, "at_least": 1e-15}, MET, 4e-15),
    ({"at_most": 5e-15, "at_least": 3e-15}, MISSED, 2e-15), ({"at_most": 3e-15, "at_least": 1e-15}, MISSED, 4e-15)])
def test_limit_needs_every_run(limits, expected, ours):
    found = row("limit", runs(("p", "vi")), limits, quantity="length")
    assert (found.verdict, found.ours) == (expected, ours)


def test_energy_change_is_the_last_sample_minus_the_first():
    assert row("limit", rule={"at_least": 0.5}, quantity="energy_change").ours == 0.5
    assert verdict("limit", RK[:1], {"at_most": -0.75}, quantity="energy_change") == MET
    assert verdict("limit", RK[:1], {"at_least": 0.0}, quantity="energy_change") == MISSED


def test_ratio_pairs_the_runs_in_order():
    assert verdict("ratio", RK, {"at_least": 160.0}, against=VI) == MET  # 162.01 and 250
    assert verdict("ratio", RK, {"at_least": 165.0}, against=VI) == MISSED
    assert verdict("ratio", RK[::-1], {"at_least": 160.0}, against=VI) == MISSED  # 2.4 and 16667
    assert row("ratio", RK, {"at_least": 160.0}, against=VI).ours == 2e-2/1.23449e-4


@pytest.mark.parametrize(("limit", "expected"), [(0.42, MET), (0.41, MISSED)])
def test_ratio_against_one_run_uses_it_for_all(limit, expected):
    assert verdict("ratio", VI, {"at_most": limit}, against=RK[1:]) == expected  # 0.4115 and 0.004


@pytest.mark.parametrize(("tolerance", "inside"), [(0.9, 19), (0.91, 21)])
def test_a_printed_number_is_compared_with_95_percent_of_an_ensemble(tolerance, inside):
    found = row("relative", ENSEMBLE, {"tolerance": tolerance}, quantity="spread", printed=11.0)
    assert found.evidence == f"{inside} of 21 members, 1 .. 21"
    assert (found.verdict == "reproduced") == (inside == 21)
    assert found.ours == 11.0


@pytest.mark.parametrize(("problem", "integrator", "theory", "expected"), [
    ("p", "vi", 2.0, MET), ("p", "vi", 2.07, MET), ("p", "vi", 2.09, MISSED), ("q", "vi", 2.0, MET),
    ("p", "above", 2.0, MISSED), ("p", "early", 2.0, OPEN),
    ("p", "early", 3.0, OPEN), ("p", "stopped", 2.0, MISSED)])
def test_order_needs_the_class_and_theory_within_the_uncertainty(problem, integrator, theory, expected):
    assert verdict("order", runs((problem, integrator)), {"theory": theory}) == expected


def test_order_needs_every_problem():
    assert verdict("order", runs(("p", "vi"), ("q", "vi")), {"theory": 2.0}) == MET
    assert verdict("order", runs(("p", "vi"), ("p", "early")), {"theory": 2.0}) == OPEN
    assert verdict("order", runs(("p", "above"), ("p", "early")), {"theory": 2.0}) == MISSED
    assert row("order", runs(("p", "vi"), ("p", "above"), ("q", "vi")), {"theory": 2.0}).ours == 2.3  # the furthest


@pytest.mark.parametrize(("integrators", "wanted", "expected"), [
    (["vi"], "bounded", MET), (["rk"], "bounded", MISSED), (["rk"], "drift", MET), (["mixed"], "bounded", OPEN),
    (["mixed"], "drift", MISSED), (["mixed", "rk"], "bounded", MISSED), (["alone"], "bounded", OPEN),
    (["stopped"], "bounded", MISSED), (["vi", "rk"], "bounded", MISSED)])
def test_drift_needs_every_verdict_of_the_table(integrators, wanted, expected):
    assert verdict("drift", runs(*(("p", name) for name in integrators)), {"verdict": wanted},
                   quantity="energy") == expected


@pytest.mark.parametrize("integrator", ["stopped", "lost"])
@pytest.mark.parametrize(("kind", "rule"),
                         [("relative", {"tolerance": 1e9}), ("digits", {"digits": 5}), ("factor", {"factor": 1e9}),
                          ("limit", {"at_most": 1e9}), ("limit", {"at_least": 1e-9}), ("ratio", {"at_most": 1e9})])
def test_a_run_that_failed_never_passes(kind, rule, integrator):
    found = row(kind, runs(("p", integrator, "h0.1")), rule, printed=1.2345e-4, against=VI[:1])
    assert found.verdict == MISSED
    assert math.isnan(found.ours)


def test_one_failed_run_among_good_ones_does_not_pass():
    assert verdict("limit", runs(("p", "stopped")), {"at_most": 1e9}) == MISSED
    assert verdict("ratio", VI, {"at_most": 1e9}, against=runs(("p", "stopped"))) == MISSED


def test_energy_change_of_a_failed_run_never_passes():
    assert verdict("limit", runs(("p", "stopped", "h0.1")), {"at_least": 0.5}, quantity="energy_change") == MISSED


def test_how_far_a_run_came_is_known_although_it_stopped():
    stopped = runs(("p", "stopped", "h0.1"))
    assert row("limit", stopped, {"at_least": 2.5}, quantity="time_reached").ours == 2.5
    assert verdict("limit", stopped, {"at_least": 2.6}, quantity="time_reached") == MISSED
    assert verdict("ratio", stopped, {"at_most": 1.0}, against=stopped, quantity="time_reached") == MET


@pytest.mark.parametrize("word", ["reproduced", "calibrated", "confirmed"])
def test_the_claim_names_the_verdict_of_success(word):
    assert verdict("limit", rule={"at_most": 1.0}, verdict=word) == word
    assert verdict("limit", rule={"at_most": 0.0}, verdict=word) == MISSED


def test_untestable_claims_are_not_judged():
    for word in ("not testable", "undetermined"):
        found = row("none", [], verdict=word, setting="the reason")
        assert found.verdict == word
        assert math.isnan(found.ours)


@pytest.mark.parametrize(("kind", "chosen", "more", "sentence"), [
    ("limit", runs(("p", "vi", "h7")), {"rule": {"at_most": 1}},
     "claim c of paper: study made/up: unknown resolution 'h7' (allowed: h0.01, h0.1)"),
    ("limit", runs(("p", "euler")), {"rule": {"at_most": 1}},
     "claim c of paper: study made/up: unknown integrator 'euler' (allowed: lost, peak, rk, stopped, vi)"),
    ("limit", VI, {"rule": {"at_most": 1}, "quantity": "eror"},
     "claim c of paper: unknown quantity 'eror'; did you mean error? (allowed: energy_change, error, length,"
     " members, time_reached)"),
    ("relative", VI, {"rule": {"tolerance": 1}, "printed": 1},
     "claim c of paper: a printed number is compared with one run, not with 2"),
    ("ratio", VI, {"rule": {"at_most": 1}, "against": [*RK, *VI]},
     "claim c of paper: 2 runs cannot be compared with 4"),
    ("order", runs(("p", "euler")), {"rule": {"theory": 1}}, "claim c of paper: no order of p/euler in study made/up"),
    ("drift", runs(("p", "euler")), {"quantity": "energy"},
     "claim c of paper: no drift verdict of energy for p/euler in study made/up")])
def test_a_claim_about_nothing_is_refused(kind, chosen, more, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        row(kind, chosen, **more)


@pytest.mark.parametrize(("rule", "expected"), [
    ({"at_most": 1e-3}, MISSED), ({"at_most": 1e-3, "statistic": "median"}, MET),
    ({"at_most": 1e-4, "statistic": "median"}, MISSED)])
def test_the_median_of_the_runs_can_be_judged(rule, expected):
    assert verdict("limit", [*VI, *runs(("p", "rk", "h0.1"))], rule) == expected
    assert verdict("ratio", [*VI, *runs(("p", "rk", "h0.1"))], rule, against=ENSEMBLE) == expected
    stopped = [*VI, *runs(("p", "stopped", "h0.1"))]
    assert verdict("limit", stopped, {"at_most": 1.0, "statistic": "median"}) == MISSED


@pytest.mark.parametrize(("expected", "tolerance", "outcome"),
                         [([[3.0], [7.1]], 0.2, MET), ([[3.0], [7.1]], 0.05, MISSED)])
def test_state_is_the_last_sample(expected, tolerance, outcome):
    assert verdict("state", runs(("p", "peak", "h0.1")), {"expected": expected, "tolerance": tolerance},
                   quantity="vectors") == outcome


def test_features_of_a_stopped_run_never_pass():
    rule = {"expected": [1.0], "tolerance": 1e9}
    assert verdict("state", runs(("p", "stopped", "h0.1")), rule, quantity="energy") == MISSED


@pytest.mark.parametrize(("kind", "rule", "quantity", "words"), [
    ("state", {"expected": [1.0], "tolerance": 1.0, "indices": [[2, 0]]}, "vectors", "does not fit"),
    ("state", {"expected": [1.0], "tolerance": 1.0}, "scalr", "unknown quantity 'scalr'"),
    ("state", {"expected": [1.0], "tolerance": 1.0}, "vectors", "do not fit"),
    ("state", {"expected": [[1.0, 2.0], [1.0]], "tolerance": 1.0}, "vectors", "do not fit")])
def test_features_of_what_is_not_there_are_refused(kind, rule, quantity, words):
    with pytest.raises(InputError, match=words):
        row(kind, runs(("p", "peak", "h0.1")), rule, quantity=quantity)


def test_every_criterion_is_a_sentence_with_its_numbers():
    numbers = {"relative": ({"tolerance": 0.25}, "0.25"), "digits": ({"digits": 4}, "4"),
               "factor": ({"factor": 3.5}, "3.5"),
               "limit": ({"at_most": 2.5, "at_least": 1.5}, "<= 2.5 and >= 1.5"),
               "ratio": ({"at_most": 7.5}, "<= 7.5"), "order": ({"theory": 6.0}, "6"),
               "drift": ({"verdict": "round-off"}, "round-off"),
               "state": ({"expected": [3.0], "tolerance": 0.25}, "0.25 of [3.0]"),
               "slope": ({"at_least": 1.5, "over": "cost"}, "at least 3 runs on a straight line, >= 1.5 within"),
               "share": ({"at_least": 0.75, "within": {"at_most": 3.0}}, "the compared ensemble <= 3: >= 0.75"),
               "largest_step": ({"at_least": 0.5, "within": {"at_most": 3.0}},
                                "largest step that completes with error <= 3 divided by that of the compared runs: "
                                ">= 0.5"),
               "same_state": ({"tolerance": 1e-6}, "all samples of error within 1e-06")}
    numbers |= {"evidence": ({"paper": "twospheres2009", "check": "determinant"}, "determinant of twospheres2009")}
    assert {*numbers, "none"} <= set(CRITERIA)
    for kind, (rule, shown) in numbers.items():
        assert shown in describe(claim(kind, rule=rule, printed=1.0, against=RK))
    assert describe(claim("limit", rule={"at_least": 1.5})) == "error >= 1.5"


def test_a_group_is_named_in_every_row_of_its_claims():
    items = [claim("limit", rule={"at_most": limit}, id=name, group="both") for name, limit in (("a", 1.0), ("b", 0.0))]
    groups = {"both": {"type": "universal", "reason": "each run is an instance"}}
    table = judge(ClaimFile(paper="paper", citation="c", groups=groups, claims=[*items, claim("limit", rule={
        "at_most": 1.0}, asserted_by="own")]), RESULTS)
    assert list(table.verdict) == [MET, MISSED, "met"]
    assert list(table.group_type) == ["universal", "universal", ""]
    said = "refuted (universal: a reproduced; b not reproduced)"
    assert list(table.group_verdict) == [said, said, ""]
