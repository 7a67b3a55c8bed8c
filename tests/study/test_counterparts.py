"""Claims on printed and on corrected data: which conclusions survive the errata."""
import re

import pytest
from claim_results import RESULTS, STUDY, data_are_printed, runs  # noqa: F401
from pydantic import ValidationError

from liestep.claims.claimfile import Claim, ClaimFile
from liestep.claims.counting import surviving
from liestep.claims.judging import SURVIVAL, judge

pytestmark = pytest.mark.usefixtures("data_are_printed")
ERRATUM = "erratum 1: another method"


def claim(first, limit, **counterpart):
    """error of (p, first) at h = 0.1 at most `limit`; VI has 1.2e-4 there, RK 2e-2."""
    return {"id": "c", "statement": "s", "source": "t", "asserted_by": "paper", "runs": runs(("p", first, "h0.1")),
            "quantity": "error", "criterion": {"kind": "limit", "at_most": limit}, "known": True,
            **({"counterpart": {"errata": ERRATUM, **counterpart}} if counterpart else {})}


def row(*arguments, **counterpart):
    claims = ClaimFile(paper="paper", claims=[claim(*arguments, **counterpart)])
    return judge(claims, RESULTS).iloc[0]


@pytest.mark.parametrize(("first", "second", "data", "limit", "printed", "corrected", "survives"), [
    ("vi", "rk", "corrected", 1e-3, "met", "not met", "no"), ("vi", "rk", "printed", 1e-3, "not met", "met",
                                                              "only corrected"),
    ("rk", "vi", "corrected", 1e-3, "not met", "met", "only corrected"),
    ("vi", "rk", "corrected", 1.0, "met", "met", "yes"), ("vi", "rk", "printed", 1e-9, "not met", "not met",
                                                          "holds on neither")])
def test_the_criterion_is_judged_on_both_data(first, second, data, limit, printed, corrected, survives):
    found = row(first, limit, data=data, integrator={first: second})
    assert (found.on_printed, found.on_corrected, found.survives) == (printed, corrected, survives)
    assert found.errata == ERRATUM
    own = row(first, limit)
    assert (found.verdict, found.ours, found.evidence) == (own.verdict, own.ours, own.evidence)
    other = row(second, limit)
    assert (found.counterpart_ours, found.counterpart_evidence) == (other.ours, other.evidence)


def test_a_claim_without_a_counterpart_has_one_outcome():
    found = row("vi", 1e-3)
    assert (found.on_printed, found.on_corrected, found.survives) == ("met", "met", "one set of data")


def test_a_counterpart_replaces_only_what_it_names():
    changed = Claim.model_validate(claim("vi", 1.0, data="printed", resolution={"h0.1": "h0.01"})).on_other_data()
    assert changed is not None
    assert [(choice.study, choice.problem, choice.integrator, choice.resolution) for choice in changed.runs] == [
        (STUDY, "p", "vi", "h0.01")]


@pytest.mark.parametrize(("counterpart", "message"), [
    ({"data": "printed"}, "needs what it replaces"), ({"data": "true", "problem": {"p": "q"}}, "'printed' or"),
    ({"data": "printed", "problem": {"q": "p"}}, "replaces none of the claim's runs")])
def test_a_counterpart_that_replaces_nothing_is_refused(counterpart, message):
    with pytest.raises(ValidationError, match=re.escape(message)):
        Claim.model_validate(claim("vi", 1.0, **counterpart))


def test_summary_counts_what_survives():
    assert surviving([{"survives": "one set of data"}]) == ""
    rows = [{"survives": word} for word in (*SURVIVAL.values(), "yes", "one set of data")]
    assert surviving(rows) == ("Of 5 claims whose data have errata, 2 hold on printed and on corrected data, 1 hold on"
                             " the printed data only, 1 hold on the corrected data only, 1 hold on neither.")
