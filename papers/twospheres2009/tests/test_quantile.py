"""The criterion on ensembles: the printed number among the members, failed members, what cannot be asked."""
import math
import re

import pytest
from claim_results import ENSEMBLE, RESULTS, VI, claim_with, data_are_printed, runs  # noqa: F401
from liestep_papers.twospheres2009.criteria import Quantile
from pydantic import ValidationError

from liestep.claims.claimfile import ClaimFile
from liestep.claims.judging import describe, judge, showing
from liestep.errors import InputError

pytestmark = pytest.mark.usefixtures("data_are_printed")
MET, MISSED = "reproduced", "not reproduced"
CLAIM = claim_with(Quantile)


def claim(chosen=ENSEMBLE, level=0.9, printed=10.0, quantity="spread"):
    return CLAIM.model_validate({
        "id": "c", "statement": "s", "source": "section 1", "asserted_by": "paper", "known": False, "printed": printed,
        "quantity": quantity, "runs": chosen, "criterion": {"kind": "quantile", "level": level}})


def row(*arguments, **more):
    table = judge(ClaimFile.model_construct(paper="paper", citation="c", groups={}, claims=[claim(*arguments, **more)]),
                  RESULTS)
    return table.iloc[0]


@pytest.mark.parametrize(("printed", "level", "expected"), [
    (2.0, 0.9, MET), (20.0, 0.9, MET), (1.9, 0.9, MISSED), (20.1, 0.9, MISSED), (6.0, 0.5, MET), (5.9, 0.5, MISSED)])
def test_quantile_asks_for_the_central_interval(printed, level, expected):
    found = row(level=level, printed=printed)
    assert (found.verdict, found.ours) == (expected, 11.0)
    assert "21 members" in found.evidence


@pytest.mark.parametrize(("printed", "level", "said"), [
    (10.0, 0.9, "90% interval 2 .. 20 of 21 members, printed at quantile 0.45"),   # 9 below, itself half: 9.5/21
    (10.5, 0.5, "50% interval 6 .. 16 of 21 members, printed at quantile 0.48"), (99.0, 0.9, "at quantile 1.00")])
def test_a_quantile_says_where_the_printed_number_lies_among_the_members(printed, level, said):
    assert row(level=level, printed=printed).evidence.endswith(said)


@pytest.mark.parametrize("integrator", ["stopped", "lost"])
def test_an_ensemble_with_a_failed_member_never_passes(integrator):
    found = row(runs(("many", integrator, "h0.1")))
    assert found.verdict == MISSED
    assert math.isnan(found.ours)


@pytest.mark.parametrize(("chosen", "more", "sentence"), [
    ([*ENSEMBLE, *VI], {}, "claim c of paper: a quantile needs one ensemble run, not 3"),
    (runs(("p", "vi")), {}, "claim c of paper: a quantile needs one ensemble run, not 2"),
    (ENSEMBLE, {"quantity": "eror"}, "claim c of paper: unknown quantity 'eror' (allowed: energy, spread)")])
def test_a_claim_about_nothing_is_refused(chosen, more, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        row(chosen, printed=1, **more)


@pytest.mark.parametrize(("level", "said"), [(0.0, "greater than 0"), (1.0, "less than 1")])
def test_a_level_is_a_probability(level, said):
    with pytest.raises(ValidationError, match=said):
        claim(level=level)


def test_it_is_a_sentence_with_its_level_and_names_its_figure():
    assert "80%" in describe(claim(level=0.8))
    assert showing(claim()) == ("ensemble",)
