"""Legal names never collide: of rules, of folders beside files, in upper and lower case."""
from itertools import combinations
from pathlib import Path

import pytest
from commands import STUDY, refused

from liestep.api.command_line import main
from liestep.study.plan.names import study_files
from liestep.workflow.workflow import StudyProducts, brief, configured

LEGAL = ("a-b", "a_b", "a/b", "a.b", "a_b_c", "a/b_c", "a_b/c", "a/b/c", "a-b-c", "a__b", "a_/b", "a/_b", "a_", "_a",
         "ab", "a/b.c", "products_a", "a_b__c", "A_c", "a/runs_b")
TAKEN = ("claims.csv", "manifest.json", "report.html", "environment.json", "a/metrics.csv", "a/tables.md", "a/runs",
         "a/figures/b", "a/references", "a/LOGS", "Report/a", "a/animations", "errata.md", "b/cells.csv.gz", "a/x.nc",
         "Selection/b", "LOGS/a", "claims.CSV")
TWINS = (("a", "A"), ("a/b", "a/B"), ("one/Two", "One/two"), ("x-Y", "x-y"))


def written(*names: str) -> None:
    for name in names:
        path = Path("config", "studies", f"{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUDY)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_rules_and_files_of_legal_names_are_their_own():
    written(*LEGAL)
    workflow = configured(Path("config"), Path("results"), [])
    assert {products.name for products in workflow.studies} == set(LEGAL)
    assert len({products.rule.lower() for products in workflow.studies}) == len(LEGAL)
    assert all(products.rule.isidentifier() for products in workflow.studies)
    for one, other in combinations(workflow.studies, 2):
        files = [{path.as_posix().lower() for path in (*each.runs, *each.tables, each.page)} for each in (one, other)]
        assert not files[0] & files[1]


@pytest.mark.parametrize("name", TAKEN)
def test_names_of_products_are_reserved(name, capsys):
    written("a", name)
    said = refused(["check", "a"], capsys)
    assert "config/studies: the name of a study" in said
    assert "called so" in said or "holds other products" in said
    assert main(["new-study", name]) == 2
    assert "must not" in capsys.readouterr().err


@pytest.mark.parametrize("names", TWINS)
def test_twins_in_upper_and_lower_case_are_refused(names, capsys):
    written(*names)
    said = refused(["check", names[0]], capsys)
    assert "differ in upper and lower case only" in said
    assert all(f"{name}.yaml" in said for name in names)


@pytest.mark.parametrize("names", [("caf\u00e9", "cafe\u0301"), ("\u00fc", "u\u0308")])
def test_composed_and_decomposed_letters_are_refused(names, capsys):
    written(*names)
    assert "must be letters, digits" in refused(["status"], capsys)


@pytest.mark.parametrize(("key", "line"), [("bodies", "  Bodies: {system: sphere_nbody, t_end: 1.0}\n"),
                                           ("vi_sphere", "  VI_sphere: {id: vi_sphere, steps: [0.1]}\n")])
def test_keys_that_are_twins_are_refused(key, line, capsys):
    written("tiny")
    path = Path("config", "studies", "tiny.yaml")
    path.write_text(STUDY.replace(f"  {key}:", f"{line}  {key}:"))
    assert "differ in upper and lower case only" in refused(["check", "tiny"], capsys)


def test_a_mark_of_several_problems_is_that_of_no_problem():
    assert brief("a,b,c") == "a+2_more"
    assert {brief(name) for name in ("a", "a_and_2_more", "a,b,c")} == {"a", "a_and_2_more", "a+2_more"}


def test_all_studies_of_the_repository_keep_their_names(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    names = study_files()
    rules = {StudyProducts.rule.fget(type("Study", (), {"name": name})()) for name in names}
    assert len(rules) == len(names) > 100
