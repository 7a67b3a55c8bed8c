"""`python3 make.py quick`: its study is complete, valid and not among those of `snakemake`."""
import os
import runpy
import shutil

import pytest
import ready
import yaml
from place import TOP

from liestep.study.plan.names import page_of, study_files
from liestep.study.plan.plan import Study

QUICK = TOP/"config"/"quick"


def test_make_copies_every_file_of_the_quick_study(tmp_path):
    """And no other."""
    origin = tmp_path/"config"/"quick"
    shutil.copytree(QUICK, origin)
    (origin/"left.pyc").write_bytes(b"")
    make = runpy.run_path(str(TOP/"make.py"))["quick"]
    make.__globals__.update(TOP=tmp_path, call=lambda *program, **variables: 1)
    assert make() == 1
    copied = tmp_path/"results"/"quick"/"config"
    wanted = {path.relative_to(origin) for path in origin.rglob("*.yaml")}
    assert {path.relative_to(copied) for path in copied.rglob("*") if path.is_file()} == wanted


@pytest.mark.parametrize("name", ["testsets", "classics"])
def test_studies_of_plain_functions_are_valid_and_made_when_named(name, tmp_path, capsys):
    """They are not among all: `apart` names them; make.py calls for all of them."""
    studies = [study for study in study_files(TOP/"config") if study.startswith(f"{name}/")]
    assert len(studies) == 2
    assert name in yaml.safe_load((TOP/"config"/"config.yaml").read_text())["apart"]
    for study in studies:
        require_valid("config", study, TOP)
    asked = []
    make = runpy.run_path(str(TOP/"make.py"))["paper"]
    make.__globals__["call"] = lambda *program, **variables: asked.append(program) or 1
    assert make(name) == 1
    assert asked == [("snakemake", "--config", f"studies={name}")]


def require_valid(config, study, folder):
    done = ready.run("liestep", "--config", str(config), "check", study, folder=folder, environment=os.environ)
    assert (done.returncode, done.stdout.startswith(f"{study}: valid")) == (0, True), done.stderr


def test_quick_study_is_valid_makes_two_films_and_a_figure_and_is_not_among_all(tmp_path):
    assert list(study_files(QUICK)) == ["quick/pendulum"]
    assert "quick/pendulum" not in study_files(TOP/"config")
    config = Study.find("quick/pendulum", QUICK, tmp_path).config
    assert {film.split("/")[1] for film in config.animations} == {"rk4", "vi_sphere"}  # one leaves, one stays
    assert config.figures == ["drift"]
    assert "python3 make.py quick" in config.next
    assert not config.reference
    # claims, film and figures are on one page, the one that make.py names
    assert page_of("quick/pendulum") == yaml.safe_load((QUICK/"claims"/"quick.yaml").read_text())["paper"]
    require_valid(QUICK, "quick/pendulum", tmp_path)


def test_quick_has_three_verdicts_about_its_own_runs():
    claims = yaml.safe_load((QUICK/"claims"/"quick.yaml").read_text())["claims"]
    assert len(claims) == 3
    study = yaml.safe_load((QUICK/"studies"/"quick"/"pendulum.yaml").read_text())
    for claim in claims:
        for run in claim["runs"]:
            assert run["study"] == "quick/pendulum"
            assert run["problem"] in study["problems"]
            assert run["integrator"] in study["integrators"]


def test_make_ends_with_the_place_of_the_page_that_has_everything(tmp_path, capsys):
    quick = runpy.run_path(str(TOP/"make.py"))["quick"]
    shutil.copytree(QUICK, tmp_path/"config"/"quick")
    results = tmp_path/"results"/"quick"/"results"
    results.mkdir(parents=True)
    (results/"claims.csv").write_text("claim,verdict\na,reproduced\nb,reproduced\nc,not reproduced\n")
    quick.__globals__.update(TOP=tmp_path, call=lambda *program, **variables: 0)
    assert quick() == 0
    page = results/"report"/f"{page_of('quick/pendulum')}.html"
    assert capsys.readouterr().out.splitlines() == [
        "statements: 2 reproduced, 1 not reproduced", f"the page: {page}"]
