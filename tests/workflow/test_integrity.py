"""Random tampering with every kind of product: one plain call makes it again to the byte, or names it.

LIESTEP_TEST_SEED chooses other victims; there are 20 tamperings, with --all 40, with LIESTEP_FULL=1 200.
"""
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import netCDF4
import pytest
from place import Place
from trials import trials

from liestep.files.records import FOLDER, last
from liestep.simulation.runs.files import seal
from liestep.simulation.runs.store import STORE

SEED = int(os.environ.get("LIESTEP_TEST_SEED", "7"))
SEEDS = range(SEED, SEED + trials(1, 2, 10))
TOGETHER = 20  # tamperings before a call
STUDY = """
title: Two integrators
reference: true
timing: true
samples: 11
problems:
  bodies: {system: sphere_nbody, preset: four_bodies, t_end: 1.0}
integrators:
  vi_sphere: {steps: {counts: [10, 20, 40, 80]}}
  rk4: {steps: {counts: [10, 20, 40, 80]}}
tables: [orders, energy, work]
figures: [convergence, energy_error]
animations: [bodies/rk4/h0.1]
"""
OTHER = """
title: Another study
problems:
  bodies: {system: sphere_nbody, t_end: 1.0}
integrators:
  rk4: {steps: {counts: [10]}}
tables: [energy]
figures: [energy_error]
"""
CLAIMS = """
paper: paper
citation: c
claims:
  - {id: one, statement: s, quote: q, source: p, asserted_by: paper, scope: general,
     quantity: energy_error_max, criterion: {kind: limit, at_most: 1.0}, known: false,
     runs: [{study: tiny, problem: bodies, integrator: vi_sphere}]}
"""
ERRATA = ("paper: twospheres2009\ncitation: c\nerrata:\n  - {number: 1, place: p, printed: x, correct: y,"
          " kind: misprint, text_only: words}\n")
# other bytes every time
MEASURED = ("environment.json", "timings.csv", "seconds.csv", "report.html", "studies.html", "report/studies.html",
            "manifest.json")


def make(folder: Path) -> None:
    """Two studies, claims and errata, all made."""
    where = Place(folder, compiled=True)
    where.study.write_text(STUDY)
    for name, text in {"studies/other.yaml": OTHER, "claims/paper.yaml": CLAIMS,
                       "errata/twospheres2009.yaml": ERRATA}.items():
        path = where.folder/"config"/name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    result = where.call()
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def made(once) -> Place:
    return Place(once("two_studies", make), compiled=True)


@pytest.fixture
def place(made, tmp_path) -> Place:
    """A copy of it to break something in."""
    return made.copy(tmp_path/"copy")


def victims(where: Place) -> list[Path]:
    """Every product, the manifest, and the marks of jobs."""
    return sorted(path for path in (where.folder/"results").rglob("*")
                  if path.is_file() and not {"logs", FOLDER, STORE}.intersection(path.parts))


def edit(path: Path, dice: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def secretly(path: Path, dice: random.Random) -> None:
    """With the times of before."""
    before = os.stat(path)
    edit(path, dice)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap(path: Path, dice: random.Random) -> None:
    other = dice.choice([each for each in path.parent.iterdir() if each.is_file()])
    for source, target in ((path, "x"), (other, path), ("x", other)):
        if Path(source) != Path(target):
            os.replace(path.parent/source, path.parent/target)


def delete(path: Path, _: random.Random) -> None:
    path.unlink()


def shorten(path: Path, dice: random.Random) -> None:
    os.truncate(path, dice.randrange(path.stat().st_size))


def date(path: Path, dice: random.Random) -> None:
    time = dice.choice([0.0, 1e9, 4e9])
    os.utime(path, (time, time))


def forge(path: Path, dice: random.Random) -> None:
    """Another value, with checksums that fit it; and without the marks of the jobs."""
    if path.suffix != ".nc":
        return secretly(path, dice)
    with netCDF4.Dataset(path, "a") as data:
        data["energy"][...] = data["energy"][...]*1.5
        data.energy_error_max = 0.0
        seal(data, {name: data[name][...].data for name in data.variables})
    for mark in path.parents[2].glob("*.made"):
        mark.unlink()


KINDS: tuple[Callable[[Path, random.Random], None], ...] = (edit, secretly, swap, delete, shorten, date, forge)


def require_mended(before: dict[str, bytes], chosen: list[tuple[str, str]], where: Place) -> None:
    """One plain call, after which every product has its bytes or was named; the next has nothing to do."""
    result = where.call()
    assert result.returncode == 0, result.stderr
    after = where.contents()
    assert set(after) == set(before)
    wrong = [name for name, content in before.items()
             if after[name] != content and Path(name).name not in MEASURED and f"results/{name}" not in result.stderr]
    assert wrong == [], chosen
    verdict = where.liestep("verify")
    assert verdict.returncode == 0, (chosen, verdict.stdout, verdict.stderr)
    assert not any(path.stat().st_mtime > path.stat().st_ctime + 100 for path in victims(where))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_tampering_is_mended_or_named(place, seed):
    dice, before, chosen = random.Random(seed), place.contents(), []
    for path in dice.sample(victims(place), TOGETHER):
        kind = dice.choice(KINDS)
        if path.is_file() and path.stat().st_size:  # not lost with another one
            kind(path, dice)
            chosen.append((kind.__name__, str(path.relative_to(place.folder))))
    assert len(chosen) >= TOGETHER - 3
    require_mended(before, chosen, place)
    assert "Nothing to be done" in place.call().stderr


def test_the_sentence_says_what_was_wrong(place):
    """A spreadsheet that saves a table, an edited verdict, swapped runs, and a forged run whose mark is lost."""
    folder = place.folder/"results"
    (folder/"tiny"/"metrics.csv").write_bytes((folder/"tiny"/"metrics.csv").read_bytes().replace(b"\n", b"\r\n"))
    (folder/"claims.csv").write_text((folder/"claims.csv").read_text().replace("confirmed", "reproduced"))
    runs = folder/"tiny"/"runs"/"bodies"
    one, two = runs/"rk4"/"h0.1.nc", runs/"vi_sphere"/"h0.1.nc"
    for source, target in ((one, runs/"x"), (two, one), (runs/"x", two)):
        os.replace(source, target)
    forge(runs/"rk4"/"h0.05.nc", random.Random(SEED))
    changed = ("tiny/metrics.csv", "claims.csv", "tiny/runs/bodies/rk4/h0.1.nc", "tiny/runs/bodies/vi_sphere/h0.1.nc",
               "tiny/runs/bodies/rk4/h0.05.nc")
    assert place.call("--dry-run").stderr.count("would be removed, to be made again") == len(changed)
    assert place.liestep("verify").stdout.count("\n") == len(changed)
    said = place.call().stderr
    for name in changed:
        assert f"liestep: results/{name} was changed after it was made; removed, to be made again" in said
    assert place.liestep("verify").returncode == 0


PAGES = {"selection/report.html", "selection/report/studies.html"}


def test_verdicts_of_one_selection_do_not_stand_beside_the_report_of_another(place):
    selected = place.folder/"results"/"selection"
    assert place.call("--config", "studies=tiny").returncode == 0
    assert (selected/"claims.csv").is_file()
    said = place.call("--config", "studies=other").stderr
    assert "results/selection/claims.csv is of other studies; removed\n" in said
    assert {path.name for path in selected.rglob("*.*")} == {"report.html", "studies.html"}
    assert place.liestep("verify").returncode == 0
    shutil.copy(place.folder/"results"/"claims.csv", selected)
    found = place.liestep("verify")
    assert found.returncode == 1
    assert found.stdout == "results/selection/claims.csv is no product of the last complete call\n"
    (selected/"claims.csv").unlink()
    (place.folder/"config"/"studies"/"other.yaml").unlink()
    assert "results/selection/report.html" in place.liestep("clean", "--yes").stdout
    assert not selected.exists()


def test_a_selection_keeps_what_others_made(place):
    folder, before = place.folder/"results", place.contents()
    listed = json.loads((folder/"manifest.json").read_text())
    result = place.call("--config", "studies=other")
    assert result.returncode == 0, result.stderr
    after = place.contents()
    assert {name: content for name, content in after.items() if name in before and name not in MEASURED} == {
        name: content for name, content in before.items() if name not in MEASURED}
    assert after["report.html"] == before["report.html"]
    assert set(after) - set(before) == PAGES
    now = json.loads((folder/"manifest.json").read_text())
    assert set(now["products"]) == {*listed["products"], *PAGES}
    assert now["inputs"] == listed["inputs"]
    assert sorted(now["studies"]) == sorted(listed["studies"])
    (folder/"tiny"/"energy.csv").unlink()
    assert "results/tiny/energy.csv is lost" in place.liestep("verify").stdout
    assert "results/tiny/energy.csv is lost; call snakemake for all studies" in place.call(
        "--config", "studies=other").stderr
    assert place.call().returncode == 0
    assert place.liestep("verify").returncode == 0
    (place.folder/"config"/"studies"/"other.yaml").unlink()
    assert place.call().returncode == 0
    assert not any(name.startswith("other/") for name in json.loads((folder/"manifest.json").read_text())["products"])


def test_a_copied_folder_is_hashed_once_and_then_not_read(place):
    """A copy has other times, which are no tampering."""
    for path in victims(place):
        path.touch()
    said = place.call("--dry-run")
    assert "again" not in said.stderr
    place.call()
    results = place.folder/"results"
    known = last(results, "known")
    assert "Nothing to be done" in place.call().stderr
    assert last(results, "known") == known
    for path in (results/FOLDER).glob("*.txt"):
        path.write_text("no record")
    assert "Nothing to be done" in place.call().stderr
    # second names of runs are read by a sweep that lacks a file only
    assert set(last(results, "known")) >= {name for name in known if not name.startswith(f"{STORE}/")}
