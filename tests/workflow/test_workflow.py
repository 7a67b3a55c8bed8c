"""The Snakemake workflow on tiny studies: what is made, what is kept, what a kill leaves behind, and
that bytes never differ."""
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pandas
import pytest
import ready
import yaml
from place import STUDY, TOP, Place, copied_package

from liestep.errors import InputError
from liestep.study.plan.names import study_files
from liestep.workflow.workflow import Workflow

pytestmark = pytest.mark.slow

ALL = {f"{problem} {run}" for problem in ("bodies", "pendulum")
       for run in ("vi_sphere h0.1", "vi_sphere h0.05", "rk4 h0.1")}


def make(folder: Path) -> None:
    """The study, all made."""
    assert Place(folder).make() == ALL


@pytest.fixture(scope="module")
def made(once) -> Place:
    return Place(once("tiny", make))


def test_changes_of_a_study_make_exactly_what_they_add(made, tmp_path):
    place = made.copy(tmp_path/"place")
    assert set(place.contents()) == {"report.html", "report/studies.html", "manifest.json", "environment.json",
                                     "tiny/metrics.csv", "tiny/energy.csv", "tiny/tables.md",
                                     *(f"tiny/runs/{name.replace(' ', '/')}.nc" for name in ALL)}
    before = place.contents()

    place.replace("steps: [0.1, 0.05]", "steps: [0.1, 0.05, 0.025]")
    assert place.make() == {"bodies vi_sphere h0.025", "pendulum vi_sphere h0.025"}
    assert len(pandas.read_csv(place.folder/"results"/"tiny"/"metrics.csv")) == 8

    place.replace("tables:", "  lie_euler: {id: rkmk, steps: [0.1]}\ntables:")
    assert place.make() == {"bodies lie_euler h0.1", "pendulum lie_euler h0.1"}
    assert len(pandas.read_csv(place.folder/"results"/"tiny"/"metrics.csv")) == 10

    place.replace("rk4: {", "rk4: {label: Kutta, ")
    place.replace("system: sphere_nbody, t_end: 0.5", "system: sphere_nbody, t_end: 0.5, parameters: {gamma: 2.0}")
    assert place.make() == {f"bodies {run}" for run in ("vi_sphere h0.1", "vi_sphere h0.05", "vi_sphere h0.025",
                                                        "rk4 h0.1", "lie_euler h0.1")}
    assert "Kutta" in (place.folder/"results"/"tiny"/"tables.md").read_text()
    assert all(place.contents()[name] == content for name, content in before.items() if "runs/pendulum" in name)
    (place.folder/"results"/"tiny"/"runs"/"pendulum"/"rk4"/"h0.1.nc").unlink()
    assert place.make() == {"pendulum rk4 h0.1"}
    assert "Nothing to be done" in place.call().stderr


def test_one_call_after_an_edit_of_a_source_leaves_nothing_stale(tmp_path):
    copied_package(tmp_path/"src")
    place = Place(tmp_path/"place", source=tmp_path/"src")
    assert place.make() == ALL
    table = place.folder/"results"/"tiny"/"metrics.csv"
    first = pandas.read_csv(table)

    def edit(name: str, old: str, new: str) -> None:
        path = tmp_path/"src"/"liestep"/name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    edit("mechanics/systems/sphere_nbody.py", "value -= self.gamma*2.0", "value -= self.gamma*6.0")
    assert place.make() == {name for name in ALL if name.startswith("bodies")}
    second = pandas.read_csv(table)
    changed = first["energy_error_mean"] != second["energy_error_mean"]
    assert list(changed) == list(first["problem"] == "bodies")
    assert "Nothing to be done" in place.call().stderr

    edit("integrators/runge_kutta.py", "self.a[s], h, work, s,", "self.a[s], 1.25*h, work, s,")
    assert place.make() == {name for name in ALL if "rk4" in name}
    changed = second["energy_error_mean"] != pandas.read_csv(table)["energy_error_mean"]
    assert list(changed) == list(first["integrator"] == "rk4")

    edit("compile/driver.py", '"""The time loops.', '"""All time loops.')
    assert place.make() == ALL
    assert "Nothing to be done" in place.call().stderr


def test_bytes_depend_neither_on_jobs_nor_on_granularity_nor_on_chance(tmp_path):
    first = Place(tmp_path/"first", compiled=True)
    assert first.make("--cores", "2") == ALL
    for name, options in {"alone": ("--cores", "1"), "sweep": ("--config", "granularity=sweep"),
                          "run": ("--config", "granularity=run")}.items():
        other = Place(tmp_path/name, compiled=True)
        assert other.make(*options) == ALL
        assert other.contents() == first.contents(), name
    assert other.make() == set()  # another granularity finds the same files up to date
    assert other.contents() == first.contents()
    other.replace("system: sphere_nbody,", "system: sphere_nbody, parameters: {gamma: 2.0},")
    assert other.make("--config", "granularity=run") == {name for name in ALL if name.startswith("bodies")}


def test_a_kill_in_the_middle_and_another_call_give_the_same_bytes(tmp_path):
    steps = "steps: {counts: [100, 200, 400, 800]}"
    undisturbed, place = Place(tmp_path/"undisturbed"), Place(tmp_path/"killed")
    for each in (undisturbed, place):
        each.replace("steps: [0.1, 0.05]", steps)
    process = subprocess.Popen(place.command, env=place.environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    while len(place.contents("*.nc")) < 2 and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    whole = {name: content for name, content in place.contents("*.nc").items() if not Path(name).name.startswith(".")}
    assert len(whole) >= 2
    assert not (place.folder/"results"/"tiny"/"metrics.csv").exists()
    made = place.make()
    everything = undisturbed.make()
    assert made < everything  # complete files are kept
    expected = undisturbed.contents()
    assert {name: place.contents()[name] for name in expected} == expected
    assert all(expected[name] == content for name, content in whole.items())


def test_a_full_study_with_references_times_orders_and_figures(tmp_path):
    place = Place(tmp_path, compiled=True)
    place.study.write_text("""
title: All products
reference: true
timing: true
problems:
  bodies: {system: sphere_nbody, t_end: 2.5}
integrators:
  vi_sphere: {steps: {counts: [1, 40, 80, 160, 320]}}
tables: [orders, energy, momentum, work]
figures: [convergence]
samples: 2
""")
    assert len(place.make()) == 5
    folder = tmp_path/"results"/"tiny"
    for name in ("references/bodies.nc", "timings.csv", "tables.md", "figures/convergence.pdf",
                 "figures/convergence.png"):
        assert (folder/name).is_file()
    for name in ("orders", "energy", "momentum", "work"):
        assert len(pandas.read_csv(folder/f"{name}.csv")) >= 1
    metrics = pandas.read_csv(folder/"metrics.csv")
    assert list(metrics["status"] == "ok") == [False, True, True, True, True]  # a run that stops early is a result
    assert metrics["error"][1:].notna().all()
    assert "Nothing to be done" in place.call().stderr
    assert 'id="figure/tiny/convergence"' in (tmp_path/"results"/"report"/"studies.html").read_text()
    report = place.call("--report", str(tmp_path/"report.html"))
    assert report.returncode == 0, report.stderr
    assert "convergence.png" in (tmp_path/"report.html").read_text()


@pytest.mark.parametrize(("file", "text", "expected"), [
    ("studies/tiny.yaml", STUDY.replace("steps: [0.1]", "steps: [0.1"), "line 8: malformed YAML"),
    ("studies/tiny.yaml", STUDY.replace("steps: [0.1]", "steps: [0.3]"), "the nearest valid steps are 0.25 and 0.5"),
    ("studies/tiny.yaml", STUDY + "figures: [energy_eror]\n", "did you mean energy_error?"),
    ("config.yaml", "studies: [tinny]\n", "unknown study 'tinny'; did you mean tiny?"),
    ("config.yaml", "granularity: runs\n", "granularity: must be 'problem', 'sweep' or 'run', not 'runs'"),
    ("config.yaml", "granularty: run\n", "unknown key 'granularty'; did you mean granularity?"),
    ("claims/paper.yaml", """
paper: paper
citation: none
claims:
  - id: one
    statement: x
    source: x
    quote: x
    asserted_by: paper
    runs: [{study: tiny, problem: bodies, integrator: vi_sphere, resolution: h0.2}]
    quantity: energy_error_mean
    criterion: {kind: limit, at_most: 1.0}
    verdict: confirmed
    known: false
""", "claim one: unknown resolution 'h0.2'; did you mean h0.1?"),
])
def test_wrong_configuration_is_one_sentence(file, text, expected, tmp_path, monkeypatch):
    Place(tmp_path)
    (tmp_path/"config"/file).parent.mkdir(exist_ok=True)
    (tmp_path/"config"/file).write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refusal:
        Workflow(yaml.safe_load((tmp_path/"config"/"config.yaml").read_text()))
    assert str(refusal.value).startswith("config/")
    assert expected in str(refusal.value)


@pytest.mark.parametrize(("file", "content", "expected"), [
    ("studies/tiny.yaml", STUDY.replace("steps: [0.1]", "steps: [0.1").encode(),
     "studies/tiny.yaml, line 8: malformed YAML"),
    ("config.yaml", b"studies: [tiny\n", "config.yaml, line 1: malformed YAML"),
    ("config.yaml", b"\xff\xfe\0", "config.yaml is not a text file")])
def test_snakemake_stops_with_that_sentence_before_anything_runs(file, content, expected, tmp_path):
    place = Place(tmp_path)
    (tmp_path/"config"/file).write_bytes(content)
    result = place.call()
    assert result.returncode != 0
    sentence, = (line for line in result.stderr.splitlines() if not line.startswith("Using workflow specific profile"))
    assert sentence.startswith(f"liestep: config/{expected}")
    assert not (tmp_path/"results").exists()


def test_claims_and_errata_are_those_of_the_papers_that_are_made():
    names = [name for name in study_files(TOP/"config") if name.startswith("twospheres2009/")]
    whole, part = (Workflow({"studies": chosen}, TOP/"config", TOP/"tests"/"no_results")
                   for chosen in (names, names[1:]))
    assert list(whole.claims) == list(whole.errata) == ["twospheres2009"]
    assert not part.claims  # a claim needs a study that is not made
    assert list(part.errata) == ["twospheres2009"]


def test_stale_and_damaged_files_are_refused(made, tmp_path):
    place = made.copy(tmp_path/"place")
    path = place.folder/"results"/"tiny"/"runs"/"bodies"/"rk4"/"h0.1.nc"
    content, table = path.read_bytes(), (place.folder/"results"/"tiny"/"metrics.csv").read_bytes()
    path.write_bytes(content[:len(content)//2])
    result = place.liestep("job", "analyse", "tiny")
    assert result.returncode == 2
    assert "h0.1.nc is not a readable NetCDF file" in result.stderr
    shutil.copy(path.parents[1]/"vi_sphere"/"h0.1.nc", path)
    result = place.liestep("job", "analyse", "tiny")
    assert result.returncode == 2
    assert "h0.1.nc is of another specification" in result.stderr
    assert (place.folder/"results"/"tiny"/"metrics.csv").read_bytes() == table
    assert place.liestep("job", "sweep", "tiny", "bodies").returncode == 0
    assert path.read_bytes() == content


def test_a_job_that_fails_keeps_what_it_has_finished(tmp_path):
    """The next call makes only what the job had not made."""
    place = Place(tmp_path)
    text = (TOP/"docs"/"examples"/"my_pendulum.py").read_text("utf-8")
    assert "def build(p):\n" in text
    # a function of another package that looks at the disk: os.path.exists would be refused with the plugin's line
    check = ("    import numpy\n    there = numpy.lib.npyio.DataSource('.').exists('repaired')\n"
             "    assert p['length'] < 2.0 or there, 'not yet'\n")
    (tmp_path/"own.py").write_text(text.replace("def build(p):\n", f"def build(p):\n{check}"), "utf-8")
    place.study.write_text("""
title: Two lengths
plugins: [own.py]
problems:
  short: {system: own, t_end: 0.5}
  long: {system: own, t_end: 0.5, parameters: {length: 3.0}}
integrators:
  vi_sphere: {steps: [0.1, 0.05]}
tables: [energy]
""")
    result = place.call()
    assert result.returncode != 0
    assert "tiny long vi_sphere h0.1: " in result.stderr
    assert "AssertionError: not yet" in result.stderr
    runs = tmp_path/"results"/"tiny"/"runs"
    assert sorted(path.relative_to(runs).as_posix() for path in runs.rglob("*.*")) == ["short/vi_sphere/h0.05.nc",
                                                                                       "short/vi_sphere/h0.1.nc"]
    (tmp_path/"repaired").touch()
    assert place.make() == {"long vi_sphere h0.1", "long vi_sphere h0.05"}
    assert sorted(path.name for path in runs.rglob("*.nc")) == ["h0.05.nc", "h0.05.nc", "h0.1.nc", "h0.1.nc"]
    assert "Nothing to be done" in place.call().stderr


def test_every_line_of_the_profile_is_explained():
    blocks = (TOP/"workflow"/"profiles"/"default"/"config.yaml").read_text().strip().split("\n\n")
    for block in blocks[1:]:
        assert block.startswith("# ")
        assert len(yaml.safe_load(block)) == 1


def test_braces_in_the_name_of_a_folder_are_no_pattern(tmp_path):
    """Snakemake formats some paths."""
    place = Place(tmp_path/"a {b} c"/"work")
    for name in ("Snakefile", "workflow", "environment.yml"):
        (shutil.copytree if (TOP/name).is_dir() else shutil.copy)(TOP/name, tmp_path/"a {b} c"/name)
    done = ready.run("snakemake", "-s", str(tmp_path/"a {b} c"/"Snakefile"), "--directory", str(place.folder), "-n",
                     folder=place.folder, environment=place.environment)
    assert done.returncode == 0, done.stderr
    assert "tiny: 3 runs of bodies" in done.stdout + done.stderr
