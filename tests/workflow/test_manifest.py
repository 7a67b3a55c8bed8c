"""The manifest names every product with its hash and origin; `verify` finds whatever was changed or lost;
nothing damaged is used."""
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import netCDF4
import pytest
from place import TOP, Place

from liestep.files.records import file_sha256

STUDY = """
title: Two integrators
reference: true
timing: true
samples: 11
problems:
  bodies: {system: sphere_nbody, t_end: 1.0}
integrators:
  vi_sphere: {steps: {counts: [10, 20, 40, 80]}}
  rk4: {steps: {counts: [10, 20, 40, 80]}}
tables: [orders, energy, work]
figures: [convergence, work_precision]
"""
RUN = "results/tiny/runs/bodies/rk4/h0.1.nc"


def make(folder: Path) -> None:
    """A place where everything is made."""
    where = Place(folder, compiled=True)
    where.study.write_text(STUDY)
    result = where.call()
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def made(once) -> Place:
    return Place(once("one_study", make), compiled=True)


@pytest.fixture
def place(made, tmp_path):
    """A copy of it, for tests that break something; times of the files are kept."""
    return made.copy(tmp_path/"copy")


def manifest(where: Place) -> dict:
    return json.loads((where.folder/"results"/"manifest.json").read_text())


def test_every_product_and_input_is_listed_with_its_hash(made):
    content = manifest(made)
    products = content["products"]
    assert set(products) == set(made.contents()) - {"manifest.json"}
    assert all(entry["sha256"] == file_sha256(made.folder/"results"/name) for name, entry in products.items())
    assert content["inputs"] == {name: file_sha256(made.folder/name)
                                 for name in ("config/config.yaml", "config/studies/tiny.yaml")}
    assert {name for name, entry in products.items() if entry["kind"] == "measured"} == {
        "environment.json", "report/studies.html", "tiny/timings.csv", "tiny/seconds.csv",
        *(f"tiny/figures/work_precision.{kind}" for kind in ("pdf", "png"))}
    with netCDF4.Dataset(made.folder/RUN) as data:
        entry = products[RUN.removeprefix("results/")]
        assert (entry["specification"], entry["sources"], entry["from"]) == (data.run_sha256, data.source_hash,
                                                                             ["config/studies/tiny.yaml"])
    known = {*content["inputs"], *products}
    for entry in products.values():
        for origin in entry["from"]:
            assert origin in known or any(name.startswith(f"{origin}/") for name in known), origin
    found = json.loads((made.folder/"results"/"environment.json").read_text())
    assert set(found["threads"].values()) == {1}
    assert found["packages"]["numpy"]
    assert found["processor"]


def verify(where: Place, *options: str) -> tuple[int, list[str]]:
    result = where.liestep("verify", *options)
    return result.returncode, (result.stdout + result.stderr).splitlines()


def test_verify_names_every_file(place):
    assert verify(place) == (0, [f"{len(manifest(place)['products'])} products and 2 inputs are what"
                                 " results/manifest.json says"])
    run, table, page = (place.folder/name for name in (RUN, "results/tiny/energy.csv", "results/report.html"))
    before = os.stat(run)
    with netCDF4.Dataset(run, "a") as data:
        data["energy"][3] += 1e-12
    os.utime(run, ns=(before.st_atime_ns, before.st_mtime_ns))  # nothing that Snakemake could see
    table.write_text(table.read_text().replace("1", "2", 1))
    page.unlink()
    place.study.write_text(STUDY + "# a remark\n")
    expected = {f"{RUN} was changed after it was written: variable energy",
                "results/tiny/energy.csv was changed after the manifest was written", "results/report.html is lost",
                "config/studies/tiny.yaml was changed after products were made from it"}
    code, sentences = verify(place)
    assert (code, set(sentences), len(sentences)) == (1, expected, 4)
    result = place.call("verify")
    assert result.returncode == 1
    assert expected <= set(result.stdout.splitlines())
    assert verify(place, "--repair")[1][-1] == "2 files removed; call snakemake to make what is missing"
    assert place.make() == {"bodies rk4 h0.1"}
    assert verify(place)[0] == 0


def cut(run: Path) -> None:
    run.write_bytes(run.read_bytes()[:-100])


def edited(change: Callable[[netCDF4.Dataset], object]) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        with netCDF4.Dataset(run, "a") as data:
            change(data)

    return damage


DAMAGES = {"rk4 h0.1": cut,
           "rk4 h0.05": edited(lambda data: data.setncattr("energy_error_max", 0.5*data.energy_error_max)),
           "vi_sphere h0.1": edited(lambda data: data["energy"].__setitem__(3, data["energy"][3] + 1e-12)),
           "vi_sphere h0.05": edited(lambda data: data.renameVariable("energy", "power"))}


def test_a_plain_call_makes_damaged_runs_again(place):
    """Truncated; another attribute; another number; a variable less."""
    runs = {name: place.folder/"results"/"tiny"/"runs"/"bodies"/f"{name.replace(' ', '/')}.nc" for name in DAMAGES}
    before, tables = {run: run.read_bytes() for run in runs.values()}, place.contents("*.csv")
    for name, damage in DAMAGES.items():
        damage(runs[name])
        assert place.liestep("check", str(runs[name].relative_to(place.folder))).returncode == 2
    changed = {run: run.read_bytes() for run in runs.values()}
    assert place.call("--dry-run").returncode == 0
    assert {run: run.read_bytes() for run in runs.values()} == changed
    assert place.make() == {f"bodies {name}" for name in DAMAGES}
    assert {run: run.read_bytes() for run in runs.values()} == before
    assert {name: text
            for name, text in place.contents("*.csv").items() if "timings" not in name and "seconds" not in name} == {
                name: text for name, text in tables.items() if "timings" not in name and "seconds" not in name}


def test_a_damaged_manifest_is_one_sentence(place):
    path = place.folder/"results"/"manifest.json"
    text = path.read_text()
    for content, sentence in ((text.replace("data", "date", 1), "was changed after it was written"),
                              (text[:500], "is not a readable manifest"), ("[]", "was changed"),
                              (None, "does not exist")):
        path.unlink() if content is None else path.write_text(content)
        code, lines = verify(place)
        assert code == 2
        assert len(lines) == 1
        assert lines[0].startswith("liestep: results/manifest.json")
        assert sentence in lines[0]
    assert place.make() == set()
    assert path.read_text() == text


def test_another_checkout_and_an_empty_cache_give_the_same_bytes(made, tmp_path):
    """Everything that the manifest calls data, from one job at a time instead of two, and code
    that is compiled again."""
    for name in ("src", "workflow", "profiles", "config/config.yaml", "Snakefile", "environment.yml",
                 "rotation_bench/liestep_judge.py", "rotation_bench/liestep_tables.py"):
        target = tmp_path/"checkout"/name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (TOP/name).is_dir() else shutil.copy)(TOP/name, target)
    other = Place(tmp_path/"elsewhere", compiled=True, source=tmp_path/"checkout"/"src")
    other.study.write_text(STUDY)
    command = [sys.executable, "-m", "snakemake", "-s", str(tmp_path/"checkout"/"Snakefile"), "--directory",
               str(other.folder), "--cores", "1"]
    result = subprocess.run(command, env={**other.environment, "LIESTEP_CACHE": str(tmp_path/"cache")},
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert any(Path(tmp_path/"cache").iterdir())
    first, second = (manifest(where) for where in (made, other))
    assert first["inputs"] == second["inputs"]
    for products in (first["products"], second["products"]):
        for entry in products.values():
            if entry["kind"] == "measured":
                del entry["sha256"]
    assert first == {**second, "sha256": first["sha256"]}
