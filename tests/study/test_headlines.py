"""Headlines: named in claims files, checked, and shown with what the results say."""
import re
from pathlib import Path

import pytest

from liestep.claims.claimfile import FIRST, FIRST_OF_ALL, claim_files, load_claims
from liestep.claims.counting import PARTS, cards
from liestep.claims.errata import errata_files
from liestep.errors import InputError
from liestep.workflow.workflow import Workflow

TOP = Path(__file__).resolve().parents[2]
CLAIM = ("  - {{id: {0}, statement: the {0} holds, {3}source: s, asserted_by: {2}, known: true, group: \"{1}\",\n"
         "     criterion: {{kind: none}}, setting: r, verdict: not testable}}\n")
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
    ("about: alone", "figure is missing"), ("misprint: 9, figure: x/y", "misprint")])
def test_a_wrong_headline_is_refused_with_file_and_line(tmp_path, item, said):
    path = written(tmp_path, ["finding: both, figure: x/y", item])
    with pytest.raises(InputError) as caught:
        load_claims([path])
    assert re.match(f"{re.escape(str(path))}, line 1[45]: ", str(caught.value))
    assert said in str(caught.value)


def test_a_paper_has_few_headlines(tmp_path):
    errata = [f"misprint: erratum {k}, figure: x/y" for k in range(FIRST + 1)]
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
    file = load_claims([written(tmp_path, ["misprint: erratum 5a, figure: s/t/f", "finding: both, figure: s/t/f",
                                           "about: ours, figure: s/t/f"], kind)])
    rows = [{"claim": name, "verdict": word, "printed": None, "ours": number}
            for name, word, number in zip(("a", "b", "ours"), (*words, "missed"), (1.0, 2.0, 3.0), strict=True)]
    errata = [{"erratum": "5a", "place": "p", "printed": "x", "correct": "y", "confirmed": True, "evidence": "e"}]
    own, group, misprint = cards(file, rows, errata)
    assert (own.part, own.verdict, own.ours, own.figure) == (PARTS[0], "missed", 3.0, ("s/t", "f"))
    assert (group.part, group.verdict, group.target) == (PARTS[part], verdict, decides)
    assert (group.ours, group.says) == ({"a": 1.0, "b": 2.0}[decides], "the a holds")
    assert (misprint.part, misprint.verdict, misprint.target) == (PARTS[3], "shown", "5a")
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
    ("about: alone, figure: stdy/energy_error", "unknown study 'stdy'; did you mean study?"),
    ("about: alone, figure: study/enrgy_error", "unknown figure of study 'enrgy_error'; did you mean energy_error?"),
    ("misprint: erratum 3, figure: study/energy_error", "unknown misprint 'erratum 3'")])
def test_a_headline_with_an_unknown_figure_or_erratum_is_refused_before_anything_is_made(tmp_path, item, said):
    for name, text in {"studies/study": "title: t\nproblems: {p: {system: spherical_pendulum_chain, t_end: 1.0}}\n"
                                        "integrators: {vi_sphere: {steps: [0.1]}}\nfigures: [energy_error]\n",
                       "errata/paper": "paper: paper\ncitation: c\nerrata:\n"
                                       "  - {number: 1, place: p, printed: x, correct: y, kind: misprint,"
                                       " text_only: words}\n"}.items():
        path = tmp_path/f"{name}.yaml"
        path.parent.mkdir()
        path.write_text(text)
    (tmp_path/"claims").mkdir()
    good = "misprint: erratum 1, figure: study/energy_error"
    path = written(tmp_path/"claims", [good])
    assert Workflow({}, tmp_path, tmp_path/"results").claims == {"paper": []}
    written(tmp_path/"claims", [good, item])
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}, line 15: headline: {said}')}"):
        Workflow({}, tmp_path, tmp_path/"results")
