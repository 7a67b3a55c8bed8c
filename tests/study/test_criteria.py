"""Criteria on several runs or members: slopes, shares of ensembles, equal states; and claims in several files."""
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from claim_results import PLANNED, data_are_printed  # noqa: F401
from liestep_papers.rodrigues2021.quantities import TERMS

from liestep.claims.claimfile import Claim, ClaimFile, claim_files, load_claims
from liestep.claims.criteria import CRITERIA
from liestep.claims.criteria.base import Criterion
from liestep.claims.errata import Evidence
from liestep.claims.judging import judge
from liestep.claims.selection import member_values
from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile

pytestmark = pytest.mark.usefixtures("data_are_printed")
MET, MISSED = "reproduced", "not reproduced"
STEPS = (0.1, 0.05, 0.025, 0.0125)


def ladder(integrator, numbers, status=("ok",)*4):
    return [("p", integrator, f"h{step}", state, step, number, 8.0*step**3, "text")
            for step, number, state in zip(STEPS, numbers, status, strict=True)]


METRICS = pd.DataFrame(
    [*ladder("two", [3.0*step**2 for step in STEPS]), *ladder("bent", [step**(1.5 + step) for step in STEPS]),
     *ladder("stopped", [step**2 for step in STEPS], ("ok", "ok", "ok", "step_too_large")),
     *ladder("zero", [0.0, *(step**2 for step in STEPS[1:])]), *ladder("lost", [math.nan]*4),
     ("p", "one", "h0.1", "ok", 0.1, 1.0, 1.0, "text"), ("p", "same", "h0.1", "ok", 0.1, 1.0, 1.0, "text"),
     ("p", "near", "h0.1", "ok", 0.1, 1.0, 1.0, "text"), ("p", "longer", "h0.1", "ok", 0.1, 1.0, 1.0, "text"),
     ("p", "shifted", "h0.1", "ok", 0.1, 1.0, 1.0, "text"), ("p", "many", "h0.1", "not_converged", 0.1, 1.0, 1.0, "t"),
     ("p", "gone", "h0.1", "not_converged", 0.1, 1.0, 1.0, "t"), ("p", "ones", "h0.1", "ok", 0.1, 1.0, 1.0, "t"),
     ("p", "doubled", "h0.1", "ok", 0.1, 1.0, 1.0, "t"),
     ("p", "dead", "h0.1", "step_too_large", 0.1, 1.0, 1.0, "text")],
    columns=["problem", "integrator", "resolution", "status", "step", "error", "cost", "message"])
TIME = np.array([0.0, 1.0, 2.0])
Q = np.array([[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]])
FILES = {"one": {"time": TIME, "q": Q}, "same": {"time": TIME, "q": Q.copy()},
         "near": {"time": TIME, "q": Q + np.array([0.0, 1e-3, 1e-6])[:, None, None]},
         "longer": {"time": np.arange(4.0), "q": np.concatenate([Q, Q[:1]])}, "shifted": {"time": TIME + 0.5, "q": Q},
         "ones": {"spread": np.ones(4)}, "doubled": {"spread": np.array([2.0, 4.0, 6.0, 8.0])},
         "gone": {"spread": np.full(4, math.nan), "energy": np.ones((4, 3))},
         "many": {"time": TIME, "spread": np.array([1.0, 2.0, 3.0, math.nan]), "q": Q}}
RESULTS = {"s": SimpleNamespace(study=PLANNED, metrics=METRICS, file=lambda problem, integrator, resolution: RunFile(
    Path(integrator), {"status": "not_converged" if integrator == "gone" else "ok"}, FILES[integrator]))}


def row(kind, integrators, rule, against=(), quantity="error"):
    def choices(names):
        return [{"study": "s", "problem": "p", "integrator": name} for name in names]

    claim = Claim.model_validate({"id": "c", "statement": "s", "source": "x", "asserted_by": "paper", "known": False,
                                  "quantity": quantity, "runs": choices(integrators), "against": choices(against),
                                  "criterion": {"kind": kind, **rule}})
    return judge(ClaimFile(paper="paper", claims=[claim]), RESULTS).iloc[0]


@pytest.mark.parametrize(("integrators", "rule", "expected"), [
    (["two"], {"at_least": 1.999999, "at_most": 2.000001}, MET), (["two"], {"at_least": 2.01}, MISSED),
    (["two"], {"at_most": 1.99}, MISSED), (["two", "bent"], {"at_least": 1.9}, MISSED),
    (["two"], {"over": "cost", "at_least": 0.66666, "at_most": 0.66667}, MET),
    (["two"], {"points": 4, "at_least": 1.9}, MET)])
def test_slope_is_the_exponent_of_all_runs(integrators, rule, expected):
    assert row("slope", integrators, rule).verdict == expected


def test_slope_is_that_of_least_squares():
    found = row("slope", ["bent"], {"at_least": 0.0})
    wanted = np.polyfit(np.log(STEPS), np.log([step**(1.5 + step) for step in STEPS]), 1)[0]
    assert found.ours == pytest.approx(wanted, rel=1e-12)
    assert "4 runs" in found.evidence


SIX = 0.1/2.0**np.arange(6)


def slope_of(monkeypatch, error, **limits):
    ladder = pd.DataFrame({"problem": "p", "integrator": "made", "resolution": [f"h{step}" for step in SIX],
                           "status": "ok", "step": SIX, "error": error, "message": "text"})
    monkeypatch.setitem(RESULTS, "s", SimpleNamespace(study=PLANNED, metrics=ladder))
    return row("slope", ["made"], {"points": 5, **limits})


@pytest.mark.parametrize("slopes", [(1.87, 0.44, 0.69, 0.93, 1.15),
                                    (0.6, 0.8, 1.0, 1.2, 1.4), (1.0, 1.0, 1.0, 0.9, 0.2)])
def test_a_slope_of_runs_on_no_straight_line_is_undetermined(monkeypatch, slopes):
    """The mean slope is between 0.8 and 1.2, that of no part of the runs is; the first are those of a pendulum."""
    error = 2.0**-np.concatenate(([0.0], np.cumsum(slopes)))
    found = slope_of(monkeypatch, error, at_least=0.8, at_most=1.2)
    assert 0.8 <= found.ours <= 1.2
    assert found.verdict == "undetermined"
    assert slope_of(monkeypatch, error, at_least=1.3, at_most=1.6).verdict == MISSED


def test_straight_slopes_still_pass(monkeypatch):
    """With 2 % of scatter 100 of 100, and with a term of higher order whose bend the limits allow."""
    passed = [slope_of(monkeypatch, SIX**2*np.exp(0.02*np.random.default_rng(seed).standard_normal(6)), at_least=1.9,
                       at_most=2.1).verdict for seed in range(100)]
    assert passed.count(MET) == 100
    assert slope_of(monkeypatch, SIX**2*(1.0 + 0.5*SIX), at_least=1.9, at_most=2.1).verdict == MET
    assert slope_of(monkeypatch, SIX**2*(1.0 + 5.0*SIX), at_least=1.9, at_most=2.2).verdict == "undetermined"


def test_evidence_confirms_or_refuses(monkeypatch):
    for confirmed, expected in ((True, MET), (False, MISSED)):
        found = Evidence(confirmed, "{x:.1f} of it", {"x": 2.0})
        monkeypatch.setattr("liestep.claims.criteria.computed.checks",
                            lambda paper, found=found: {"one": lambda: found})
        decided = row("evidence", [], {"paper": "p", "check": "one"})
        assert (decided.verdict, decided.evidence) == (expected, "2.0 of it")
    with pytest.raises(InputError, match=r"unknown check of p 'two' \(allowed: one\)"):
        row("evidence", [], {"paper": "p", "check": "two"})


@pytest.mark.parametrize("integrator", ["stopped", "zero", "lost"])
def test_a_slope_with_a_failed_run_or_a_zero_never_passes(integrator):
    found = row("slope", [integrator], {"at_least": -1e9, "at_most": 1e9})
    assert found.verdict == MISSED
    assert math.isnan(found.ours)


def test_a_slope_over_equal_numbers_never_passes():
    METRICS["same_for_all"] = 1.0
    assert row("slope", ["two"], {"over": "same_for_all", "at_least": -1e9}).verdict == MISSED


@pytest.mark.parametrize(("integrators", "rule", "against", "expected"), [
    (["two"], {"within": {"at_most": 0.04}, "at_most": 0.1, "at_least": 0.1}, (), MET),
    (["two"], {"within": {"at_most": 0.02}, "at_least": 0.05, "at_most": 0.05}, (), MET),
    (["two"], {"within": {"at_most": 1e-9}, "at_least": 0.0}, (), MISSED),
    (["stopped"], {"within": {"at_most": 1.0}, "at_least": 0.0}, (), MISSED),  # the smallest step fails
    (["two", "bent"], {"within": {"at_most": 0.01}, "at_least": 0.025, "at_most": 0.05}, (), MET),
    (["two"], {"within": {"at_most": 0.02}, "at_most": 0.5}, ["bent"], MISSED),
    (["two"], {"within": {"at_most": 0.02}, "at_least": 1.0, "at_most": 1.0}, ["bent"], MET),
    (["two"], {"within": {"at_most": 0.02}, "at_least": 0.0}, ["lost"], MISSED)])
def test_largest_step_is_that_below_which_all_complete(integrators, rule, against, expected):
    assert row("largest_step", integrators, rule, against)["verdict"] == expected


def test_a_tie_is_no_larger_step_and_says_nothing_at_the_end_of_the_ladders():
    larger = {"at_least": 1.5}
    below = row("largest_step", ["two"], {"within": {"at_most": 0.02}, **larger}, ["two"])
    at_end = row("largest_step", ["two"], {"within": {"at_most": 1e9}, **larger}, ["two"])
    one_fails = row("largest_step", ["two", "two"], {"within": {"at_most": 0.02}, **larger}, ["two", "lost"])
    assert (below["verdict"], at_end["verdict"], one_fails["verdict"]) == (MISSED, "undetermined", MISSED)


@pytest.mark.parametrize(("rule", "expected"), [
    ({"at_least": 0.5, "within": {"at_most": 2.0}}, MET), ({"at_least": 0.51, "within": {"at_most": 2.0}}, MISSED),
    ({"at_most": 0.25, "within": {"at_least": 3.0}}, MET), ({"at_least": 0.76, "within": {"at_most": 1e9}}, MISSED),
    ({"at_least": 0.75, "within": {"at_most": 1e9, "at_least": 0.0}}, MET)])
def test_share_counts_members_and_never_those_that_failed(rule, expected):
    found = row("share", ["many"], rule, quantity="spread")
    assert found.verdict == expected
    assert "of 4 members, 1 .. 3, median 2, 1 stopped early" in found.evidence


@pytest.mark.parametrize(("limit", "expected"), [(0.5, MET), (0.49, MISSED)])
def test_share_compares_each_member_with_itself_in_another_ensemble(limit, expected):
    found = row("share", ["many", "ones"], {"at_least": 0.75, "within": {"at_most": limit}}, ["doubled"], "spread")
    assert found.verdict == (MISSED if limit < 0.5 else expected)
    assert "p/many 3 of 4 members, 0.5 .. 0.5" in found.evidence or limit < 0.5


def test_share_of_several_ensembles_needs_every_one():
    rule = {"at_least": 0.75, "within": {"at_most": 3.0}}
    assert row("share", ["many", "ones"], rule, quantity="spread").verdict == MET
    found = row("share", ["many", "doubled"], rule, quantity="spread")
    assert (found.verdict, found.ours) == (MISSED, 0.25)
    assert "p/doubled 1 of 4 members" in found.evidence


def test_share_of_stopped_members_is_zero_for_stored_numbers_and_unknown_for_samples():
    few = {"at_most": 0.05, "within": {"at_most": 3.0}}
    assert row("share", ["gone"], few, quantity="spread").verdict == MET
    found = row("share", ["gone"], few, quantity="energy_change")
    assert found.verdict == MISSED
    assert math.isnan(found.ours)


@pytest.mark.parametrize(("limits", "refused"), [
    ({"at_least": 0.95}, False), ({"at_least": 0.94}, True), ({"at_most": 0.05}, False), ({"at_most": 0.06}, True)])
def test_95_percent_of_an_ensemble_decide(limits, refused):
    rule = CRITERIA["share"].model_validate({"kind": "share", "within": {"at_most": 1.0}, **limits})
    if not refused:
        rule.require()
        return
    with pytest.raises(InputError, match="95% of members decide"):
        rule.require()


def test_a_quantity_of_a_paper_is_taken_from_each_member():
    place = np.zeros((2, 3, 4, 3))
    place[..., 0] = [0.0, 1.0, 2.0, 3.0]
    place[..., 1] = [0.0, 1.0, 0.0, 1.0]
    place[1, 2, 3, 0] = 6.0
    speed = np.zeros((2, 3, 4, 3))
    speed[1, -1, :, 0] = 0.5
    ones = np.ones((2, 3))
    file = RunFile(Path("many"), {"status": "ok"}, {
        "time": TIME, "position": place, "velocity": speed, "energy": ones, "translation_energy": ones,
        **{f"{term}_energy": ones for term in TERMS}})
    assert member_values(file, "rebound_speed", "rodrigues2021/x").tolist() == [0.0, 0.5]
    assert member_values(file, "diameter_change", "rodrigues2021/x").tolist() == [0.0, 1.0]


def test_share_of_energy_changes_is_that_of_last_minus_first_samples():
    energy = np.array([[1.0, 9.0, 0.5], [1.0, -9.0, 1.5], [2.0, 0.0, 1.0]])
    file = RunFile(Path("many"), {"status": "ok"}, {"energy": energy})
    assert member_values(file, "energy_change").tolist() == [-0.5, 0.5, -1.0]
    assert np.array_equal(member_values(file, "energy"), energy)
    stopped = RunFile(Path("many"), {"status": "step_too_small"}, {"energy": energy[:, :2]})
    assert np.isnan(member_values(stopped, "energy_change")).all()


@pytest.mark.parametrize(("others", "rule", "expected", "ours"), [
    (["same"], {}, MET, 0.0), (["near"], {}, MISSED, 1e-3), (["near"], {"tolerance": 1.1e-3}, MET, 1e-3),
    (["near"], {"tolerance": 2e-6, "samples": "last"}, MET, 1e-6),
    (["near"], {"tolerance": 0.5e-6, "samples": "last"}, MISSED, 1e-6)])
def test_same_state_is_the_largest_difference(others, rule, expected, ours):
    found = row("same_state", ["one"], rule, others, "q")
    assert found.verdict == expected
    assert found.ours == pytest.approx(ours, rel=1e-9)


def test_same_state_needs_every_pair():
    assert row("same_state", ["one", "one"], {}, ["same", "near"], "q").verdict == MISSED
    assert row("same_state", ["one", "same"], {}, ["same", "one"], "q").verdict == MET
    assert row("same_state", ["one", "dead"], {}, ["same", "same"], "q").verdict == MISSED  # it stopped early


@pytest.mark.parametrize(("kind", "integrators", "rule", "against", "quantity", "sentence"), [
    ("slope", ["one"], {"at_least": 1.0}, [], "error",
     "the slope of p/one in study s needs 3 runs, which are not there: 1"),
    ("slope", ["two"], {"at_least": 1.0}, [], "eror", "unknown quantity 'eror'; did you mean error?"),
    ("slope", ["two"], {"at_least": 1.0, "over": "stp"}, [], "error", "unknown quantity 'stp'; did you mean step?"),
    ("slope", ["two"], {"at_least": 1.0, "over": "message"}, [], "error", "unknown quantity 'message'"),
    ("share", ["two"], {"at_least": 1.0, "within": {"at_most": 1.0}}, [], "spread",
     "a share needs one ensemble run, not 4"),
    ("share", ["many"], {"at_least": 1.0, "within": {"at_most": 1.0}}, [], "q", "one number of each member"),
    ("share", ["many"], {"at_least": 1.0, "within": {"at_most": 1.0}}, [], "sprad", "unknown quantity 'sprad'"),
    ("same_state", ["one"], {}, ["same", "same"], "q", "1 runs cannot be compared with 2"),
    ("same_state", ["one"], {}, ["two"], "q", "criterion same_state needs one run, not 4"),
    ("same_state", ["one"], {}, ["longer"], "q",
     "q of the two runs cannot be compared: shapes (3, 1, 3) and (4, 1, 3)"),
    ("same_state", ["one"], {}, ["shifted"], "q", "at times that must be the same"),
    ("same_state", ["one"], {}, ["same"], "w", "unknown quantity 'w'")])
def test_what_cannot_be_judged_is_refused(kind, integrators, rule, against, quantity, sentence):
    with pytest.raises(InputError, match=f"^claim c of paper: .*{re.escape(sentence)}"):
        row(kind, integrators, rule, against, quantity)


def test_every_criterion_judges_and_has_a_sentence_for_the_schema():
    assert len(CRITERIA) >= 14
    for kind, item in CRITERIA.items():
        assert item.__doc__, kind
        assert item.judge is not Criterion.judge, kind


PART = """paper: {paper}
claims:
  - {{id: {claim}, statement: s, quote: q, source: x, asserted_by: paper, known: false, setting: r,
     verdict: not testable, criterion: {{kind: none}}}}
"""


def folder(tmp_path, **parts):
    place = tmp_path/"claims"/"paper"
    place.mkdir(parents=True)
    for name, (paper, claim) in parts.items():
        (place/f"{name}.yaml").write_text(PART.format(paper=paper, claim=claim))
    return claim_files(tmp_path)["paper"]


def test_files_of_a_folder_are_one_paper_in_the_order_of_their_names(tmp_path):
    found = load_claims(folder(tmp_path, b=("liegroup2021", "second"), a=("liegroup2021", "first")))
    assert [claim.id for claim in found.claims] == ["first", "second"]
    assert found.citation == ""  # a folder of a paper would have one
    files = claim_files(Path(__file__).parents[2]/"config")["liegroup2021"]
    assert load_claims(files).citation.startswith("E. Celledoni")


@pytest.mark.parametrize(("second", "sentence"), [
    (("paper", "first"), "b.yaml, line 3: claim first appears twice"),
    (("other", "second"),
     "b.yaml, line 1: paper is other, in a.yaml it is paper; the files of a folder are of one paper")])
def test_parts_that_do_not_fit_are_refused(tmp_path, second, sentence):
    paths = folder(tmp_path, a=("paper", "first"), b=second)
    with pytest.raises(InputError, match=re.escape(sentence)):
        load_claims(paths)


def test_a_file_beside_a_folder_is_refused(tmp_path):
    folder(tmp_path, a=("paper", "first"))
    (tmp_path/"claims"/"paper.yaml").write_text(PART.format(paper="paper", claim="other"))
    with pytest.raises(InputError, match=r"paper are in paper.yaml and in the folder paper; keep one of the two"):
        claim_files(tmp_path)
