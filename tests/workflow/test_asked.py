"""What a call asks for: studies by ids, folders, patterns; files, whose studies alone are planned; printed figures."""
from pathlib import Path

import pytest
from place import STUDY, TOP, Place

from liestep.errors import InputError
from liestep.study.plan.names import belonging, selected
from liestep.workflow.making import call_for, make, printed

KNOWN = ("alone", "mine/first", "mine/inner/second", "paper/figure", "paper/figure/deep")


@pytest.mark.parametrize(("wanted", "names"), [
    ("mine", ["mine/first", "mine/inner/second"]), ("mine/inner/", ["mine/inner/second"]),
    ("mine/*,alone", ["mine/first", "mine/inner/second", "alone"]), ("*/f*t", ["mine/first"]),
    (["alone", "mine/first,alone"], ["alone", "mine/first"]), ("paper/figure", ["paper/figure"]), ([], []),
])
def test_studies_are_named_by_ids_folders_and_patterns(wanted, names):
    assert selected(wanted, KNOWN) == names


@pytest.mark.parametrize(("wanted", "expected"), [
    ("mien", "unknown study 'mien'; did you mean mine?"), ("alone,,mine", "unknown study ''"),
    ("mine/f*x", r"unknown study 'mine/f\*x'"),
])
def test_what_means_no_study_is_one_sentence(wanted, expected):
    with pytest.raises(InputError, match=expected.replace("?", r"\?")):
        selected(wanted, KNOWN)


@pytest.mark.parametrize(("paths", "names"), [
    (["mine/first/metrics.csv"], ["mine/first"]), (["paper/figure/deep/tables.md"], ["paper/figure/deep"]),
    (["report/paper.html"], ["paper/figure", "paper/figure/deep"]), (["report/studies.html"], ["alone"]),
    (["mine/first/metrics.csv", "alone/tables.md"], ["mine/first", "alone"]),
    (["mine/first/metrics.csv", "claims.csv"], None), (["report.html"], None), ([], None), (["../alone/x"], None),
])
def test_a_file_belongs_to_its_study_and_a_page_to_its_paper(paths, names):
    assert belonging(map(Path, paths), KNOWN) == names


def test_a_call_for_a_page_plans_its_studies_alone(tmp_path):
    place = Place(tmp_path)
    (place.study.parent/"mine").mkdir()
    (place.study.parent/"mine"/"other.yaml").write_text(STUDY.replace("0.5", "5.0"))
    page = place.call("results/report/studies.html")
    assert page.returncode == 0, page.stderr
    assert "liestep: to make: 6 runs, " in page.stderr
    assert "tiny/metrics.csv" in (tmp_path/"results"/"report"/"studies.html").read_text()
    assert not (tmp_path/"results"/"mine").exists()


def test_every_printed_figure_is_drawn_by_a_study_of_its_paper():
    known = printed(TOP/"config")
    assert len({(item.paper, item.name) for item in known}) == len(known) > 40
    words, said = call_for(["twospheres2009", "3"], TOP/"config", Path("results"))
    assert words == ["snakemake", "results/twospheres2009/example3/figures/twospheres2009.figure3.pdf"]
    assert said.startswith("figure3 of twospheres2009 is drawn by ")


@pytest.mark.parametrize(("what", "expected"), [
    (["twospheres2009", "figure33"], "unknown printed figure of twospheres2009 'figure33'; did you mean figure3?"),
    (["twosphere", "3"], "unknown paper with printed figures 'twosphere'; did you mean twospheres2009?"),
    (["crosss"], "unknown study 'crosss'; did you mean cross?"),
])
def test_unknown_figures_and_studies_name_the_closest(what, expected, capsys):
    with pytest.raises(InputError) as stop:
        call_for(what, TOP/"config", Path("results"))
    assert str(stop.value).startswith(expected)


def test_a_command_says_the_call_and_calls(monkeypatch, capsys):
    monkeypatch.setattr("subprocess.call", lambda words: words[2:] != ["snakemake", "--config", "studies=cr*,lgt2022",
                                                                      "-n"])
    assert make(["cr*", "lgt2022"], TOP/"config", Path("results"), ["-n"]) == 0
    assert capsys.readouterr().out == "command: snakemake --config studies=cr*,lgt2022\n"
