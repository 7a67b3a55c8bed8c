"""Words of verdicts: who may say which, what data and systems they need, and what a group of claims says together."""
import re
from types import SimpleNamespace

import pytest
from place import TOP

from liestep.claims.chance import Chance
from liestep.claims.claimfile import OWN, Claim, claim_files, load_claims
from liestep.claims.counting import joint_verdict, statements
from liestep.claims.criteria.base import Judgement
from liestep.claims.judging import verdict
from liestep.claims.quantities import systems_of
from liestep.errors import InputError
from liestep.study.plan.plan import Study

FILES = {paper: load_claims(files) for paper, files in claim_files(TOP/"config").items()}
ONE, TWO = {"heavy_top"}, {"heavy_top", "free_rigid_body"}
HELD, FAILED, OPEN = Judgement(True, 1.0, ""), Judgement(False, 1.0, ""), Judgement(False, 1.0, "", undecided=True)
RUN = {"study": "s", "problem": "p", "integrator": "rk4"}
FILE = """\
paper: paper
groups:
  both: {type: parts, reason: "first and second"}
claims:
  - {id: first, group: both, statement: s, source: x, asserted_by: own, known: false, criterion: {kind: none},
     setting: r, verdict: not testable}
  - {id: second, group: both, statement: s, source: x, asserted_by: own, known: false, criterion: {kind: none},
     setting: r, verdict: not testable}
"""


def claim(asserted_by="paper", scope="experiment", **more):
    source = "section 1 of a report" if asserted_by == "external" else "section 1"
    return Claim.model_validate({"id": "c", "statement": "s", "source": source, "asserted_by": asserted_by,
                                 "scope": scope, "known": False, "runs": [RUN], "quantity": "error",
                                 "criterion": {"kind": "limit", "at_most": 1.0}, **more})


@pytest.mark.parametrize(("asserted_by", "outcome", "expected"), [
    ("own", HELD, "met"), ("own", FAILED, "missed"), ("own", OPEN, "undetermined"),
    ("paper", HELD, "reproduced"), ("paper", FAILED, "not reproduced"), ("external", FAILED, "not reproduced")])
@pytest.mark.parametrize("scope", ["experiment", "general"])
def test_own_claims_are_met_or_missed_and_never_reproduced(asserted_by, outcome, expected, scope):
    found = verdict(claim(asserted_by, scope), outcome, missing=False, scan=None, systems=TWO)
    assert found == ("confirmed" if (asserted_by, scope) == ("external", "general") and outcome.met else expected)


@pytest.mark.parametrize(("asserted_by", "scope", "expected"), [
    ("paper", "experiment", "undetermined"), ("derived", "experiment", "undetermined"),
    ("paper", "general", "not reproduced"), ("external", "experiment", "not reproduced"),
    ("own", "experiment", "missed")])
def test_data_that_are_not_printed_refute_no_experiment_of_a_paper(asserted_by, scope, expected):
    assert verdict(claim(asserted_by, scope), FAILED, missing=True, scan=None) == expected


@pytest.mark.parametrize(("asserted_by", "systems", "criterion", "expected"), [
    ("paper", TWO, {"kind": "limit", "at_most": 1.0}, "reproduced"),
    ("paper", ONE, {"kind": "limit", "at_most": 1.0}, "confirmed"),
    ("derived", TWO, {"kind": "limit", "at_most": 1.0}, "confirmed"),
    ("paper", (), {"kind": "evidence", "paper": "twospheres2009", "check": "determinant"}, "reproduced")])
def test_a_general_statement_needs_the_papers_words_and_two_systems(asserted_by, systems, criterion, expected):
    found = claim(asserted_by, "general", criterion=criterion)
    assert verdict(found, HELD, missing=True, scan=None, systems=systems) == expected


def test_a_scan_that_finds_anything_only_calibrates():
    scan = {"over": ["step"], "runs": [RUN]}
    found = claim(verdict="recovered", scan=scan, printed=1.0, criterion={"kind": "digits", "digits": 3})
    for probability, expected in ((0.001, "recovered"), (0.0011, "calibrated")):
        scanned = Chance(5, 1, probability, probability, 1.0)
        assert verdict(found, HELD, missing=True, scan=scanned) == expected


@pytest.mark.parametrize("word", ["reproduced", "recovered", "calibrated", "confirmed"])
def test_an_own_claim_that_names_a_word_of_the_papers_is_refused_with_file_and_line(tmp_path, word):
    path = tmp_path/"claims.yaml"
    path.write_text(FILE.replace("criterion: {kind: none},\n     setting: r, verdict: not testable}\n  - {id: second",
                                 f"criterion: {{kind: drift, verdict: bounded}}, runs: [], verdict: {word}}}\n"
                                 "  - {id: second"))
    said = f"{path}, line 5: claims.0: a claim of our own is met or missed, never {word}: leave the key verdict out"
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        load_claims([path])


@pytest.mark.parametrize(("old", "new", "line", "said"), [
    ("  both: {type: parts, reason: \"first and second\"}\n", "  {}\n", 5,
     "group both of claim first has no type; give it one under groups"),
    ("type: parts, ", "", 3, "key groups.both.type is missing"),
    ("type: parts", "type: part", 3, "did you mean parts?"),
    (", reason: \"first and second\"", "", 3, "key groups.both.reason is missing"),
    ("\"first and second\"", "\"\"", 3, "groups.both.reason"),
    ("  both: {", "  all: {type: universal, reason: r}\n  both: {", 3, "group all has no claims"),
    ("{id: second, group: both, statement: s, source: x, asserted_by: own",
     "{id: second, group: both, statement: s, quote: q, source: x, asserted_by: derived", 7,
     "claim second is asserted by derived, first of the same group by own; a group is of the paper")])
def test_a_group_that_is_not_complete_is_refused_with_file_and_line(tmp_path, old, new, line, said):
    path = tmp_path/"claims.yaml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_claims([path])
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert said in str(caught.value)


def test_a_group_has_its_type_once_for_all_files(tmp_path):
    first, second = tmp_path/"a.yaml", tmp_path/"b.yaml"
    first.write_text(FILE)
    more = "paper: paper\nclaims:" + FILE.partition("claims:")[2].replace("id: ", "id: other_")
    second.write_text(more)
    assert [one.group for one in load_claims([first, second]).claims] == ["both"]*4
    second.write_text(more.replace("claims:", "groups: {both: {type: parts, reason: again}}\nclaims:"))
    with pytest.raises(InputError, match=f"^{re.escape(str(second))}, line 2: group both appears twice$"):
        load_claims([first, second])


@pytest.mark.parametrize(("kind", "verdicts", "expected"), [
    ("parts", ["reproduced", "confirmed"], "confirmed"),
    ("parts", ["reproduced", "not reproduced"], "not reproduced"),
    ("parts", ["confirmed", "undetermined"], "undetermined"), ("parts", ["met", "missed"], "missed"),
    ("parts", ["not reproduced", "undetermined"], "not reproduced"), ("parts", ["met", "met"], "met"),
    ("readings", ["not reproduced", "recovered"], "recovered"), ("readings", ["not reproduced", "confirmed"],
                                                                 "confirmed"),
    ("readings", ["reproduced", "not reproduced"], "confirmed"), ("readings", ["reproduced"]*2, "reproduced"),
    ("readings", ["undetermined", "calibrated", "recovered"], "calibrated"),
    ("readings", ["not reproduced", "undetermined"], "undetermined"),
    ("readings", ["not reproduced"]*2, "not reproduced"), ("universal", ["reproduced"]*2, "reproduced"),
    ("universal", ["reproduced", "not reproduced"], "refuted"),
    ("universal", ["undetermined", "not reproduced"], "refuted"), ("universal", ["met", "missed"], "missed"),
    ("universal", ["reproduced", "undetermined"], "undetermined"), ("", ["not testable"], "not testable")])
def test_the_type_of_a_group_says_how_its_claims_judge_together(kind, verdicts, expected):
    for found in (verdicts, verdicts[::-1]):
        assert joint_verdict(kind, found) == expected


def test_a_group_names_what_holds_and_what_does_not():
    rows = [{"claim": name, "group": "all", "group_type": "universal", "asserted_by": "paper", "verdict": word}
            for name, word in (("a", "not reproduced"), ("b", "confirmed"), ("c", "confirmed"))]
    (found,) = statements(rows)
    assert (found.verdict, found.members) == ("refuted", "universal: b, c confirmed; a not reproduced")


def test_systems_are_those_of_the_runs():
    problems = {"p": SimpleNamespace(system="heavy_top"), "q": SimpleNamespace(system="free_rigid_body")}
    studies = {"s": SimpleNamespace(config=SimpleNamespace(problems=problems))}
    assert systems_of([claim(), claim(runs=[{**RUN, "problem": "q"}])], studies) == TWO


@pytest.mark.parametrize("paper", FILES)
def test_no_claim_of_ours_can_be_reproduced_and_every_group_has_a_reason(paper):
    for one in FILES[paper].claims:
        if one.asserted_by == "own" and one.criterion.kind != "none":
            for systems in (ONE, TWO):
                assert verdict(one, HELD, missing=False, scan=None, systems=systems) in OWN
    for name, group in FILES[paper].groups.items():
        assert len(group.reason.split()) >= 5, name
        assert sum(one.group == name for one in FILES[paper].claims) >= 2, name


@pytest.mark.parametrize("paper", [paper for paper in FILES if paper not in ("cross", "external")])
def test_a_general_statement_on_one_system_is_not_reproduced_whatever_the_file_says(paper):
    claims = [one for one in FILES[paper].claims if one.scope == "general" and one.criterion.needs.runs != "none"]
    studies = {name: Study.find(name, TOP/"config") for one in claims for name in {run.study for run in one.runs}}
    for one in claims:
        systems = systems_of([one], studies)
        if len(systems) == 1 and one.asserted_by != "own":
            assert verdict(one, HELD, missing=True, scan=None, systems=systems) != "reproduced", one.id
