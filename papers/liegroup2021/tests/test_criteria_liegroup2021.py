"""The criteria of this paper's claims: when a variable is extreme, and how far its extremum is from the median."""
from pathlib import Path
from types import SimpleNamespace

import pytest
from claim_results import RESULTS, STUDY, claim_with, data_are_printed, runs  # noqa: F401
from liestep_papers.liegroup2021.criteria import Contrast, Extremum
from pydantic import ValidationError

from liestep.claims.claimfile import ClaimFile
from liestep.claims.judging import describe, judge
from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile

pytestmark = pytest.mark.usefixtures("data_are_printed")
MET, MISSED = "reproduced", "not reproduced"
PEAK = runs(("p", "peak", "h0.1"))
UNEVEN = {"time": [0.0, 1.0, 2.0], "series": [2.0, -6.0, 1.0], "touching": [0.0, 1.0, 2.0]}


def claim(kind, rule, chosen=PEAK, quantity="scalar"):
    return claim_with(Extremum, Contrast).model_validate({
        "id": "c", "statement": "s", "source": "section 1", "asserted_by": "paper", "known": False, "runs": chosen,
        "quantity": quantity, "criterion": {"kind": kind, **rule}})


def verdict(*given, results=RESULTS, **more):
    return judge(ClaimFile(paper="paper", citation="c", claims=[claim(*given, **more)]), results).iloc[0].verdict


@pytest.mark.parametrize(("rule", "quantity", "expected"), [
    ({"at_least": 0.9, "at_most": 1.1}, "scalar", MET), ({"at_least": 1.1}, "scalar", MISSED),
    ({"at_most": 1.1, "prominence": 4.0}, "scalar", MET), ({"at_most": 1.1, "prominence": 6.0}, "scalar", MISSED),
    ({"at_least": 3.0, "of": "smallest"}, "scalar", MET), ({"at_most": 2.0, "of": "smallest"}, "scalar", MISSED),
    ({"at_most": 0.0, "rate": True}, "scalar", MET),
    ({"at_least": 2.0, "indices": [[1, 0]]}, "vectors", MET),
    ({"at_least": 2.0, "indices": [[1, 0], [0, 0]]}, "vectors", MISSED)])
def test_extremum_is_the_time_of_a_variable(rule, quantity, expected):
    assert verdict("extremum", rule, quantity=quantity) == expected


def test_extremum_of_a_stopped_run_never_passes():
    assert verdict("extremum", {"at_least": 0.0}, runs(("p", "stopped", "h0.1")), quantity="energy") == MISSED


@pytest.mark.parametrize(("rule", "quantity", "words"), [
    ({"at_most": 1.0, "indices": [[2, 0]]}, "vectors", "does not fit"), ({"at_most": 1.0}, "vectors", "does not fit"),
    ({"at_most": 1.0}, "scalr", "unknown quantity 'scalr'")])
def test_extremum_of_what_is_not_there_is_refused(rule, quantity, words):
    with pytest.raises(InputError, match=words):
        verdict("extremum", rule, quantity=quantity)


@pytest.mark.parametrize(("rule", "words"), [
    ({"indices": []}, "at least 1 item"), ({"indices": [[0, -1]]}, "greater than or equal to 0"),
    ({"of": "larges"}, "'largest' or 'smallest'"), ({"prominence": 0.5}, "greater than or equal to 1")])
def test_malformed_values_are_refused(rule, words):
    with pytest.raises(ValidationError, match=words):
        claim("extremum", {"at_most": 1.0, **rule})


@pytest.mark.parametrize(("of", "limits", "quantity", "expected"), [
    ("largest", {"at_least": 3.0, "at_most": 3.01}, "series", MET), ("largest", {"at_most": 2.9}, "series", MISSED),
    ("smallest", {"at_least": 2.0, "at_most": 2.01}, "series", MET), ("smallest", {"at_least": 2.1}, "series", MISSED),
    ("smallest", {"at_most": 1e300}, "touching", MISSED)])
def test_contrast_is_the_factor_from_the_median(of, limits, quantity, expected):
    """A zero has no upper limit."""
    results = {STUDY: SimpleNamespace(**{**vars(RESULTS[STUDY]), "file": lambda *_: RunFile(Path("p"), {}, UNEVEN)})}
    assert verdict("contrast", {"of": of, **limits}, quantity=quantity, results=results) == expected


def test_criteria_are_sentences_with_their_numbers():
    assert describe(claim("extremum", {"at_least": 1.5, "prominence": 2.5})) == (
        "time of the largest |scalar|, a factor 2.5 from the median, >= 1.5")
    assert describe(claim("contrast", {"of": "smallest", "at_most": 3.5})) == (
        "factor between the smallest |scalar| and the median <= 3.5")
