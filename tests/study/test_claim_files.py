"""Files of claims: the sentences for wrong ones, the claims of the papers, and the command that judges them."""
from pathlib import Path

import pytest
from claim_results import RESULTS, data_are_printed  # noqa: F401

from liestep.api.command_line import main
from liestep.claims.claimfile import claim_files, load_claims
from liestep.claims.errata import errata_files, load_errata
from liestep.claims.judging import COLUMNS
from liestep.claims.quantities import require_claim
from liestep.errors import InputError
from liestep.study.plan.plan import Study
from liestep.study.tables.results import read_csv

ROOT = Path(__file__).parents[2]
MISSED = "not reproduced"
GOOD = """\
paper: paper
citation: c
claims:
  - id: first
    statement: s
    source: x
    asserted_by: paper
    printed: 1e-3
    runs:
      - {study: made/up, problem: p, integrator: vi, resolution: h0.1}
    quantity: error
    criterion: {kind: relative, tolerance: 0.1}
    known: false
    quote: q
"""


@pytest.mark.parametrize(("old", "new", "line", "part"), [
    ("printed:", "printd:", 8, "unknown key 'printd'; did you mean printed?"),
    ("    printed: 1e-3\n", "", 4, "criterion relative needs a printed number other than zero"),
    ("printed: 1e-3", "printed: 0", 4, "criterion relative needs a printed number other than zero"),
    ("    runs:\n      - {study: made/up, problem: p, integrator: vi, resolution: h0.1}\n", "", 4,
     "criterion relative needs runs"),
    ("{kind: relative, tolerance: 0.1}", "{kind: limit}", 12, "give at_most, at_least or both"),
    ("{kind: relative, tolerance: 0.1}", "{kind: ratio, at_most: 1}", 4, "needs the runs to compare with"),
    ("{kind: relative, tolerance: 0.1}", "{kind: limit, at_least: 0.0}", 4,
     "the criterion cannot fail: every number from 0 to inf is >= 0"),
    ("{kind: relative, tolerance: 0.1}", "{kind: share, at_most: 1, within: {at_most: 2}}", 4,
     "the criterion cannot fail: every number from 0 to 1 is <= 1"),
    ("    statement: s\n",
     "    statement: the error is larger\n    against: [{study: s, problem: p, integrator: rk}]\n", 4,
     "a claim that says larger needs at_least above 1, not 1"),
    ("    known: false\n", "", 4, "key claims.0.known is missing"),
    ("tolerance: 0.1", "tolerance: -0.1", 12, "greater than 0, not -0.1"),
    ("tolerance: 0.1", "tolerance: wide", 12, "not 'wide'"),
    ("tolerance: 0.1", "tolerence: 0.1", 12, "tolerance"),
    ("kind: relative", "kind: relativ", 12, "'relativ'"),
    ("{kind: relative, tolerance: 0.1}", "{kind: factor, factor: 1}", 12, "greater than 1, not 1"),
    ("printed: 1e-3", "printed: small", 8, "not 'small'"),
    ("problem: p, ", "", 10, "problem is missing"),
    *[("statement: s", f"statement: {words}", 5, f"must say what it is about, and not begin with '{start}'")
      for words, start in (("The same with h = 0.2", "The same"), ("and on the pendulum", "and"), ("its slope", "its"),
                           ("so does the midpoint rule", "so"), ("it is kept", "it"), ("this holds", "this"))],
    ("    quote: q\n", "", 4, "claim first is asserted by paper: show the paper's words (key quote)"),
    ("id: first", "id: First Claim", 4, "claims.0.id"),
    ("known: false", "known: false\n    known: true", 14, "key known appears twice"),
    ("citation: c", "citation: [c", 3, "malformed YAML"),
    ("asserted_by: paper", "asserted_by: papr", 7, "must be 'paper', 'derived', 'own' or 'external', not 'papr'"),
    ("    asserted_by: paper\n", "", 4, "key claims.0.asserted_by is missing"),
    ("known: false", "known: false\n    verdict: recovered", 4, "recovered needs the scan that found the datum"),
    ("known: false", "known: false\n    scan: {over: [step], runs: []}", 14, "scan.runs: must not be empty"),
    ("known: false", "known: false\n    scan: {runs: [{study: s, problem: p, integrator: i}]}", 14, "over is missing"),
    ("known: false", "known: false\n    verdict: undetermined", 4, "is for claims without a criterion (kind none)"),
    ("{kind: relative, tolerance: 0.1}", "{kind: none}", 4, "needs the verdict undetermined or not testable"),
    ("{kind: relative, tolerance: 0.1}", "{kind: none}\n    verdict: undetermined", 4, "needs the reason"),
    ("known: false", "known: false\n    scope: general", 4, "a general statement has no printed number")])
def test_a_wrong_claims_file_gives_one_sentence_with_the_line(tmp_path, old, new, line, part):
    assert old in GOOD
    path = tmp_path/"claims.yaml"
    text = GOOD.replace(old, new)
    path.write_text(text.replace("{kind: relative, tolerance: 0.1}", "{kind: ratio, at_least: 1.0}")
                    if "larger" in new else text)
    with pytest.raises(InputError) as caught:
        load_claims([path])
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: ")
    assert part in message
    assert "\n" not in message


def test_numbers_with_an_exponent_and_double_claims(tmp_path):
    path = tmp_path/"claims.yaml"
    path.write_text(GOOD)
    assert load_claims([path]).claims[0].printed == 1e-3
    path.write_text(GOOD + GOOD[GOOD.index("  - id"):])
    with pytest.raises(InputError, match="claim first appears twice"):
        load_claims([path])


# test sets load plugins that take most of the seconds that one may: tests/workflow/test_quick.py
@pytest.mark.parametrize("paper", [paper for paper in claim_files(ROOT/"config") if paper != "testsets"])
def test_the_claims_of_the_papers_can_be_judged(paper):
    """As the workflow asks before the first run: runs, methods, quantities, tables, ensembles, printed data."""
    claims = load_claims(claim_files(ROOT/"config")[paper]).claims
    studies = {name: Study.find(name, ROOT/"config") for name in {choice.study for one in claims
                                                                  for choice in one.choices}}
    for one in claims:
        require_claim(one, studies)


def test_what_rests_on_a_public_code_names_repository_file_and_commit():
    found = [entry for paper in errata_files(ROOT/"config") for entry in load_errata(paper, ROOT/"config").errata]
    found += [one for files in claim_files(ROOT/"config").values() for one in load_claims(files).claims]
    resting = [one for one in found if "public code" in str(one)]
    assert len(resting) >= 10
    for one in resting:
        assert one.code, one.id


@pytest.fixture
def workplace(tmp_path, monkeypatch, data_are_printed):  # noqa: F811
    """Config with one claims file; every study has RESULTS."""
    (tmp_path/"config"/"claims").mkdir(parents=True)
    (tmp_path/"config"/"claims"/"paper.yaml").write_text(
        GOOD.replace("statement: s", "statement: \"|q| = 1\"").replace("quote: q", "quote: it is one"))
    monkeypatch.setattr(Study, "find", lambda name, config, results: name)
    monkeypatch.setattr("liestep.study.tables.results.StudyResults", RESULTS.__getitem__)
    return ["--config", str(tmp_path/"config"), "--results", str(tmp_path/"results"), "job", "claims"], tmp_path


def test_the_command_writes_table_and_page(workplace):
    arguments, folder = workplace
    assert main(arguments) == 0
    table = read_csv(folder/"results"/"claims.csv")
    assert tuple(table.columns) == COLUMNS
    assert list(table.verdict) == [MISSED]
    assert table.ours[0] == 1.23449e-4
    page = (folder/"results"/"claims.md").read_text()
    assert "1 claim. 1 statement of the paper: 1 not reproduced. 1 prediction, 0 met." in page
    cells = r"| not reproduced | first | \|q\| = 1 | it is one | x | paper |  | error | 0.001 | 0.00012345 | 0.12345 |"
    assert cells in page
    first = {path.name: path.read_bytes() for path in (folder/"results").glob("claims.*")}
    assert main(arguments) == 0
    assert {path.name: path.read_bytes() for path in (folder/"results").glob("claims.*")} == first


def test_a_wrong_claim_leaves_the_old_products(workplace, capsys):
    arguments, folder = workplace
    assert main(arguments) == 0
    before = {path.name: path.read_bytes() for path in (folder/"results").glob("claims.*")}
    (folder/"config"/"claims"/"paper.yaml").write_text(GOOD.replace("quantity: error", "quantity: eror"))
    assert main(arguments) == 2
    assert capsys.readouterr().err.splitlines()[-1] .startswith("liestep: claim first of paper: unknown quantity"
                                                                " 'eror'; did you mean error?")
    assert {path.name: path.read_bytes() for path in (folder/"results").glob("claims.*")} == before


def test_a_claim_that_fails_hides_no_other_claim(workplace, capsys):
    """Not one behind it, nor another paper; nothing is written."""
    arguments, folder = workplace
    place, one = folder/"config"/"claims", GOOD[GOOD.index("  - id"):]
    (place/"other.yaml").write_text(GOOD.replace("paper: paper", "paper: other"))
    (place/"paper.yaml").write_text(GOOD.replace("quantity: error", "quantity: eror") + one.replace("first", "second")
                                    + one.replace("first", "third").replace("error", "erorr"))
    assert main(arguments) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line[:16] for line in said] == ["other: 1 claim. ", "liestep: claim f"]
    assert [word in said[-1] for word in ("first of paper: ", "second", "third of paper: ")] == [True, False, True]
    assert not (folder/"results"/"claims.csv").exists()


def test_no_claims_and_unknown_studies_are_refused(tmp_path, capsys):
    arguments = ["--config", str(tmp_path), "--results", str(tmp_path/"results"), "job", "claims"]
    assert main(arguments) == 2
    assert "there is no file with claims" in capsys.readouterr().err
    (tmp_path/"claims").mkdir()
    (tmp_path/"claims"/"paper.yaml").write_text(GOOD)
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("liestep: claim first of paper: there is no study in")
    other = tmp_path/"studies"/"made"/"other.yaml"
    other.parent.mkdir(parents=True)
    other.write_text("title: t\nproblems:\n  a: {system: sphere_nbody}\nintegrators:\n  vi_sphere: {steps: [0.1]}\n")
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("liestep: claim first of paper: unknown study 'made/up'")
    assert not (tmp_path/"results").exists()
