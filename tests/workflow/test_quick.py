"""`python3 make.py quick`: its study is complete, valid and not among those of `snakemake`."""
import runpy
import shutil
import subprocess
import sys

import yaml
from place import TOP

from liestep.study.plan.plan import Study, study_names
from liestep.workflow.workflow import page_of

QUICK = TOP/"config"/"quick"


def test_make_copies_every_file_of_the_quick_configuration():
    listed = runpy.run_path(str(TOP/"make.py"))["QUICK_FILES"]
    assert sorted(listed) == sorted(path.relative_to(QUICK).as_posix() for path in QUICK.rglob("*") if path.is_file())


def test_quick_study_is_valid_makes_a_film_and_figures_and_is_not_among_all(tmp_path):
    assert study_names(QUICK) == ["quick/double_pendulum"]
    assert "quick/double_pendulum" not in study_names(TOP/"config")
    config = Study.find("quick/double_pendulum", QUICK, tmp_path).config
    assert config.animations
    assert len(config.figures) >= 3
    assert not config.reference
    # claims, film and figures are on one page, the one that make.py names
    assert page_of("quick/double_pendulum") == yaml.safe_load((QUICK/"claims"/"quick.yaml").read_text())["paper"]
    done = subprocess.run([sys.executable, "-m", "liestep.api.command_line", "--config", str(QUICK), "check",
                           "quick/double_pendulum"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout.startswith("quick/double_pendulum: valid")) == (0, True), done.stderr


def test_quick_has_three_verdicts_about_its_own_runs():
    claims = yaml.safe_load((QUICK/"claims"/"quick.yaml").read_text())["claims"]
    assert len(claims) == 3
    study = yaml.safe_load((QUICK/"studies"/"quick"/"double_pendulum.yaml").read_text())
    for claim in claims:
        for run in claim["runs"]:
            assert run["study"] == "quick/double_pendulum"
            assert run["problem"] in study["problems"]
            assert run["integrator"] in study["integrators"]


def test_make_ends_with_the_place_of_the_page_that_has_everything(tmp_path, capsys):
    quick = runpy.run_path(str(TOP/"make.py"))["quick"]
    shutil.copytree(QUICK, tmp_path/"config"/"quick")
    results = tmp_path/"results"/"quick"/"results"
    results.mkdir(parents=True)
    (results/"claims.md").write_text("three verdicts")
    quick.__globals__.update(TOP=tmp_path, call=lambda *program, **variables: 0)
    assert quick() == 0
    page = results/"report"/f"{page_of('quick/double_pendulum')}.html"
    assert capsys.readouterr().out.splitlines() == ["three verdicts", f"open {page}"]
