"""Headlines: named in claims files, checked, and shown with what the results say."""
import re
from pathlib import Path

import pytest

from liestep.claims.claimfile import FIRST, FIRST_OF_ALL, claim_files, load_claims
from liestep.claims.counting import PARTS, cards
from liestep.claims.errata import errata_files
from liestep.claims.judging import showing, studies_of, unit_of
from liestep.errors import InputError
from liestep.figures.commands import drawing_of
from liestep.study.plan.plan import Study
from liestep.study.tables.columns import KNOWN, STATISTIC
from liestep.workflow.workflow import Workflow

TOP = Path(__file__).resolve().parents[2]
CLAIM = ("  - {{id: {0}, statement: the {0} holds, {3}source: s, asserted_by: {2}, known: true, group: \"{1}\",\n"
         "     criterion: {{kind: none}}, setting: r, verdict: not testable,"
         " runs: [{{study: x, problem: p, integrator: vi_sphere}}]}}\n")
FILE = ("paper: paper\ngroups:\n  both: {type: KIND, reason: r}\nclaims:\n" + "".join(
    CLAIM.format(name, group, "paper", "quote: q, ") for name, group in (("alone", ""), ("a", "both"), ("b", "both")))
        + CLAIM.format("ours", "", "own", ""))


def written(folder, headlines, kind="parts", claims=FILE):
    path = folder/"paper.yaml"
    path.write_text(claims.replace("KIND", kind) + "headlines:\n" + "".join(f"  - {{{item}}}\n" for item in headlines))
    return path


@pytest.mark.parametrize(("item", "said"), [
    ("about: alne, figure: x/y", "headline: unknown group, or claim in no group 'alne'; did you mean alone?"),
    ("finding: a, figure: x/y", "headline: unknown group, or claim in no group 'a'"),
    ("about: both, figure: x/y", "headline: both appears twice"),
    ("about: alone, finding: ours, figure: x/y", "has one of the keys about, finding and misprint"),
    ("figure: x/y", "has one of the keys about, finding and misprint"), ("about: alone, figure: x", "figure"),
    ("about: alone", "every other headline a picture"), ("misprint: erratum 9, figure: x/y", "a misprint shows both"),
    ("misprint: 9", "misprint"),
    ("about: alone, figure: lost/drift", "the figure lost/drift is of no run of alone; its runs are of x")])
def test_a_wrong_headline_is_refused_with_file_and_line(tmp_path, item, said):
    path = written(tmp_path, ["finding: both, figure: x/y", item])
    with pytest.raises(InputError) as caught:
        load_claims([path])
    assert re.match(f"{re.escape(str(path))}, line 1[45]: ", str(caught.value))
    assert said in str(caught.value)


def test_a_paper_has_few_headlines(tmp_path):
    errata = [f"misprint: erratum {k}" for k in range(FIRST + 1)]
    assert len(load_claims([written(tmp_path, errata[:FIRST])]).headlines) == FIRST
    path = written(tmp_path, errata)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}, line 22: headline: more than {FIRST} of a paper$"):
        load_claims([path])


@pytest.mark.parametrize(("kind", "words", "verdict", "decides", "part"), [
    ("parts", ("reproduced", "not reproduced"), "not reproduced", "b", 2),
    ("universal", ("reproduced", "not reproduced"), "refuted", "b", 2),
    ("readings", ("not reproduced", "reproduced"), "confirmed", "b", 1),
    ("readings", ("undetermined", "not reproduced"), "undetermined", "a", 2)])
def test_the_verdict_is_that_of_the_group_and_the_number_of_the_claim_that_decides(tmp_path, kind, words, verdict,
                                                                                   decides, part):
    file = load_claims([written(tmp_path, ["misprint: erratum 5a", "finding: both, figure: x/f",
                                           "about: ours, figure: x/f"], kind)])
    rows = [{"claim": name, "verdict": word, "printed": None, "ours": number}
            for name, word, number in zip(("a", "b", "ours"), (*words, "missed"), (1.0, 2.0, 3.0), strict=True)]
    errata = [{"erratum": "5a", "place": "p", "printed": "x", "correct": "y", "confirmed": True, "evidence": "e"}]
    own, group, misprint = cards(file, rows, errata)
    assert (own.part, own.verdict, own.ours, own.figure) == (PARTS[0], "missed", 3.0, ("x", "f"))
    assert (group.part, group.verdict, group.target) == (PARTS[part], verdict, decides)
    assert (group.ours, group.says) == ({"a": 1.0, "b": 2.0}[decides], "the a holds")
    assert (misprint.part, misprint.verdict, misprint.target) == (PARTS[3], "shown", "5a")
    assert misprint.numbers == [("printed", "x", ""), ("correct", "y", ""), ("numbers", "e", "")]
    assert [card.target for card in cards(file, rows)] == ["ours", decides]  # no errata table


def test_each_paper_has_headlines_and_all_papers_few():
    found = {paper: load_claims(files).headlines for paper, files in claim_files(TOP/"config").items()}
    papers = list(errata_files(TOP/"config"))
    assert all(found[paper] for paper in papers)
    assert sum(map(len, found.values())) <= FIRST_OF_ALL
    for paper in papers:
        assert {name for item in found[paper] for name in ("about", "finding", "misprint") if getattr(item, name)} == {
            "about", "finding", "misprint"}


@pytest.mark.parametrize(("item", "said"), [
    ("about: alone, figure: x/enrgy_error", "unknown figure of x 'enrgy_error'; did you mean energy_error?"),
    ("misprint: erratum 3", "unknown misprint 'erratum 3'")])
def test_a_headline_with_an_unknown_figure_or_erratum_is_refused_before_anything_is_made(tmp_path, item, said):
    for name, text in {"studies/x": "title: t\nproblems: {p: {system: spherical_pendulum_chain, t_end: 1.0}}\n"
                                        "integrators: {vi_sphere: {steps: [0.1]}}\nfigures: [energy_error]\n",
                       "errata/paper": "paper: paper\ncitation: c\nerrata:\n"
                                       "  - {number: 1, place: p, printed: x, correct: y, kind: misprint,"
                                       " text_only: words}\n"}.items():
        path = tmp_path/f"{name}.yaml"
        path.parent.mkdir()
        path.write_text(text)
    (tmp_path/"claims").mkdir()
    good = "misprint: erratum 1"
    path = written(tmp_path/"claims", [good])
    assert Workflow({}, tmp_path, tmp_path/"results").claims == {"paper": ["x"]}
    written(tmp_path/"claims", [good, item])
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}, line 15: headline: {said}')}"):
        Workflow({}, tmp_path, tmp_path/"results")


def test_the_picture_of_a_headline_draws_what_its_claims_measure():
    wrong = []
    for paper, files in claim_files(TOP/"config").items():
        whole = load_claims(files)
        for item in whole.headlines:
            study, _, name = item.figure.rpartition("/")
            judging = [one for one in whole.judging(item.name) if study in studies_of(one)]
            drawn = drawing_of(name).shows if name.startswith(paper) else ()
            if item.figure and not any(name in showing(one) or (one.quantity or "error").startswith(drawn or ("!",))
                                       for one in judging):
                wrong.append(f"{paper} {item.name}: {item.figure}")
    assert wrong == []


@pytest.mark.parametrize("paper", ["lgt2022", "liegroup2021", "livens2025", "rodrigues2021", "twospheres2009"])
def test_every_number_of_ours_has_a_unit(paper):
    """What is stated in the file, or what the tables' columns have; columns without units are listed as such."""
    claims = [one for one in load_claims(claim_files(TOP/"config")[paper]).claims if one.runs]
    studies = {name: Study.find(name, TOP/"config") for name in {study for one in claims for study in studies_of(one)}}
    without = {one.quantity for one in claims if not unit_of(one, studies)
               and one.criterion.kind not in ("state", "same_state")}
    assert [name for name in without if len(KNOWN.get(name, "")) < 4 and not STATISTIC.fullmatch(name)
            and not name.startswith("error_")] == []
