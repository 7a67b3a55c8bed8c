"""Forged results whose manifest and records agree: found by a hash that was kept elsewhere, or by making runs again."""
import json
import random
import shutil
import time
from pathlib import Path

import netCDF4
import pytest
from commands import STUDY

from liestep.api.command_line import main
from liestep.files import records
from liestep.files.records import FOLDER, file_sha256
from liestep.files.textfiles import write_text_atomically
from liestep.simulation.runs.files import write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.workflow.integrity import mend
from liestep.workflow.manifest import MANIFEST, _digest, _text, write_manifest
from liestep.workflow.workflow import configured


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the runs of a study, a table, and a manifest of them."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("config", "studies").mkdir(parents=True)
        Path("config", "studies", "tiny.yaml").write_text(STUDY.replace("[0.1]", "[0.1, 0.05, 0.025]"))
        assert main(["job", "sweep", "tiny", "bodies"]) == 0
        workflow = configured(Path("config"), Path("results"), [])
        for path in workflow.targets:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("made\n")
        write_manifest(workflow)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path/"copy")
    monkeypatch.chdir(tmp_path/"copy")
    return tmp_path/"copy"


def code(*words: str) -> int:
    try:
        return main(["verify", *words])
    except SystemExit as stop:
        return stop.code


def forged(name: str) -> None:
    """Take a product as it is into the manifest, and forget what was known of it."""
    content = json.loads(Path("results", MANIFEST).read_text())
    content.pop("sha256")
    content["products"][name]["sha256"] = file_sha256(Path("results", name))
    Path("results", MANIFEST).write_text(_text({**content, "sha256": _digest(content)}))
    shutil.rmtree(Path("results", FOLDER), ignore_errors=True)


def products() -> list[str]:
    return sorted(json.loads(Path("results", MANIFEST).read_text())["products"])


@pytest.mark.parametrize("seed", range(20))
def test_a_hash_kept_elsewhere_finds_forged_files(folder, seed):
    """Ten forgeries each: one byte of any product, the manifest and the records made to agree."""
    kept, chance = file_sha256(Path("results", MANIFEST)), random.Random(seed)
    assert code("--against", kept) == 0
    for _ in range(10):
        name = chance.choice(products())
        content = bytearray(Path("results", name).read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        Path("results", name).write_bytes(content)
        forged(name)
        assert code() == 0
        assert code("--against", kept) == 1


def test_a_run_with_other_numbers_is_found_by_making_it_again(folder, capsys):
    assert code("--recompute", "3") == 0
    path = Path("results/tiny/runs/bodies/vi_sphere/h0.1.nc")
    wanted = netCDF4.Dataset(path)
    content = carry_out(specify("sphere_nbody", "vi_sphere", step=0.1, t_end=1.0, parameters={"gamma": 1.0625}))
    content.attributes.update({name: wanted.getncattr(name) for name in ("specification", "run_sha256", "source_hash")})
    wanted.close()
    path.unlink()
    write(content, path)
    forged("tiny/runs/bodies/vi_sphere/h0.1.nc")
    assert code() == 0
    capsys.readouterr()
    assert code("--recompute", "3") == 1
    assert "h0.1.nc is not what config/studies/tiny.yaml makes" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["run", "study"])
def test_what_was_dropped_from_the_manifest_is_named(folder, what, capsys):
    """One run, or a study as a whole: the draw is from the studies, not from what the manifest tells."""
    content = json.loads(Path("results", MANIFEST).read_text())
    dropped = [name for name in content["products"] if name.startswith("tiny/runs/" if what == "study" else (
        "tiny/runs/bodies/vi_sphere/h0.1.nc"))]
    content["products"] = {name: entry for name, entry in content["products"].items() if name not in dropped}
    content["studies"] = [] if what == "study" else content["studies"]
    content.pop("sha256")
    Path("results", MANIFEST).write_text(_text({**content, "sha256": _digest(content)}))
    shutil.rmtree(Path("results", FOLDER))
    assert code() == 0
    capsys.readouterr()
    assert code("--recompute", "1") == 1
    said = capsys.readouterr().out
    assert len(dropped) == (3 if what == "study" else 1)
    for name in dropped:
        assert f"results/{name}, a run of config/studies/tiny.yaml, is not in results/manifest.json" in said


def test_a_forged_reference_is_found_by_making_it_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("config", "studies").mkdir(parents=True)
    Path("config", "studies", "tiny.yaml").write_text(STUDY.replace("problems:",
                                                                    "reference: true\nsamples: 3\nproblems:"))
    for job in ("sweep", "reference"):
        assert main(["job", job, "tiny", "bodies"]) == 0
    workflow = configured(Path("config"), Path("results"), [])
    for path in workflow.targets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("made\n")
    write_manifest(workflow)
    assert code("--recompute", "2") == 0
    name, = (each for each in products() if "/references/" in each)
    with netCDF4.Dataset(Path("results", name), "a") as file:
        file["energy"][1] += 1e-3
    forged(name)
    assert code() == 0
    capsys.readouterr()
    assert code("--recompute", "2") == 1
    assert f"results/{name} is not what config/studies/tiny.yaml makes" in capsys.readouterr().out


def test_a_clock_that_was_ahead_accuses_nothing_later(folder, monkeypatch):
    """A first call a day ahead, then one whose manifest differs: the second one's word counts."""
    shutil.rmtree(Path("results", FOLDER))
    Path("results", MANIFEST).unlink()
    workflow, now = configured(Path("config"), Path("results"), []), time.time_ns()
    for ahead, text in ((86_400*10**9, "made\n"), (0, "made again\n")):
        with monkeypatch.context() as patch:
            patch.setattr(records.time, "time_ns", lambda ahead=ahead: now + ahead)
            records._latest.cache_clear()  # another process
            patch.setattr(records, "_own", lambda process, ahead=ahead: f"{ahead}.txt")
            with records.recording(Path("results")):
                for path in workflow.targets:
                    write_text_atomically(path, text)
            write_manifest(workflow)
        assert code() == 0
        assert list(mend(workflow, remove=False)) == []


@pytest.mark.parametrize("words", [("--against", digest) for digest in ("abc", "g"*64, "")]
                         + [("--recompute", count) for count in ("0", "-1", "x")])
def test_bad_arguments_are_one_sentence(folder, words, capsys):
    assert code(*words) == 2
    assert capsys.readouterr().err.count("\n") == 1
