"""Runs that several studies ask for: made once, linked whole, never handed on when they are damaged, removed when
nobody needs them.

LIESTEP_TEST_SEED chooses other moments and bits; there are 5 kills and flips, with --all 12 and 40, with
LIESTEP_FULL=1 200 and 1,000.
"""
import errno
import multiprocessing
import os
import random
import shutil
import time
from pathlib import Path

import netCDF4
import pytest
from commands import refused
from trials import trials

from liestep.api.command_line import main
from liestep.files import ledger
from liestep.files.records import FOLDER, record, recording
from liestep.simulation.runs import files, store
from liestep.simulation.runs.files import read
from liestep.simulation.runs.specified import RunSpecification
from liestep.simulation.runs.store import STORE, Store
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.workflow import integrity, lock
from liestep.workflow.integrity import mend
from liestep.workflow.workflow import Workflow

SEED = int(os.environ.get("LIESTEP_TEST_SEED", "17"))
KILLS, FLIPS = trials(5, 12, 200), trials(5, 40, 1000)
HEAD = "title: One of several\nsamples: 6\ntables: [energy]\nintegrators:\n  rk4: {steps: [0.1, 0.05]}\n"


def text(*problems: str) -> str:
    return HEAD + "problems:\n" + "".join(
        f"  {key}: {{system: sphere_nbody, t_end: 1.0}}\n" for key in problems)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A working folder with the studies `first` and `second`, whose runs are the same."""
    (tmp_path/"config"/"studies").mkdir(parents=True)
    write("first", text("bodies"), tmp_path)
    write("second", text("others"), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, content: str, folder: Path = Path()) -> None:
    (folder/"config"/"studies"/f"{name}.yaml").write_text(content)


def make(name: str) -> tuple[int, int, int]:
    """Sweep a study as the command does; numbers of runs made, kept and linked."""
    with recording(Path("results")):
        found = run_cells(Study.find(name).cells, Store(Path("results")))
    return found.made, found.kept, found.linked


def runs(name: str) -> dict[str, bytes]:
    """Files of the runs of a study by resolution."""
    return {path.name: path.read_bytes() for path in sorted(Path("results", name).rglob("*.nc"))
            if not path.name.startswith(".")}


def stored() -> list[Path]:
    return sorted(Store(Path("results")).files())


def flip(path: Path, dice: random.Random) -> None:
    """One bit of a file, under all its names."""
    content = bytearray(path.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    with open(path, "r+b") as file:
        file.write(content)


def test_twenty_shared_runs_are_made_once(place):
    write("first", text(*(f"p{k}" for k in range(20))))
    assert make("first") == (2, 0, 38)
    for size in ("h0.1", "h0.05"):
        paths = list(Path("results").rglob(f"{size}.nc"))
        assert len(paths) == 20
        assert len({path.stat().st_ino for path in paths}) == 1
        assert paths[0].stat().st_nlink == 21
    assert make("first") == (0, 40, 0)
    assert make("second") == (0, 0, 2)
    cell = Study.find("second").cells[0]
    assert stored()[0].parent.name == stored()[0].name[:2]
    assert Store(Path("results")).place(cell.fingerprint) in stored()


def test_a_renamed_study_links_and_a_lost_store_loses_nothing(place):
    assert make("first") == (2, 0, 0)
    before = runs("first")
    Path("config/studies/first.yaml").rename("config/studies/renamed.yaml")
    assert make("renamed") == (0, 0, 2)
    assert runs("renamed") == before
    shutil.rmtree(Path("results")/STORE)
    assert make("renamed") == (0, 2, 0)
    assert make("second") == (0, 0, 2)  # what is kept has come back into the store


def test_a_run_of_other_sources_is_another_one(place, monkeypatch):
    make("first")
    monkeypatch.setattr(RunSpecification, "source_hash", "0123456789abcdef")
    assert make("second") == (2, 0, 0)
    hashes = {read(cell.path, ()).attributes["source_hash"] for cell in Study.find("second").cells}
    assert hashes == {"0123456789abcdef"}
    assert len(stored()) == 4  # both are kept: a fingerprint without sources would have room for one
    monkeypatch.undo()
    monkeypatch.chdir(place)
    write("third", text("bodies"))
    assert make("third") == (0, 0, 2)


def make_and_wait(name: str, start) -> None:
    start.wait()
    make(name)


def test_two_at_once_write_the_same_bytes(place):
    fork = multiprocessing.get_context("fork")
    for _ in range(3):
        start = fork.Barrier(2)
        both = [fork.Process(target=make_and_wait, args=(name, start)) for name in ("first", "second")]
        for process in both:
            process.start()
        for process in both:
            process.join()
            assert process.exitcode == 0
        assert runs("first") == runs("second")
        assert len(runs("first")) == 2
        assert len(stored()) == 2
        for path in stored():
            assert read(path).attributes["status"] == "ok"
        shutil.rmtree("results")


def churn(seed: int) -> None:
    """Make, lose and clean for ever."""
    dice = random.Random(seed)
    while True:
        for name in dice.sample(["first", "second"], 2):
            make(name)
        victims = [*Path("results").rglob("h*.nc"), *stored()]
        with recording(Path("results")):
            integrity.remove(Path("results"), dice.sample(victims, len(victims)//2))


def test_kills_while_linking_and_cleaning(place):
    make("first")
    expected, dice, fork = runs("first"), random.Random(SEED), multiprocessing.get_context("fork")
    for kill in range(KILLS):
        process = fork.Process(target=churn, args=(SEED + kill,))
        process.start()
        time.sleep(dice.uniform(0.0, 0.3))
        assert process.exitcode is None
        process.kill()
        process.join()
        for name in ("first", "second"):
            found = runs(name)
            assert found == {key: expected[key] for key in found}
        assert {path.read_bytes() for path in stored()} <= set(expected.values())
    make("first")
    make("second")
    assert runs("first") == runs("second") == expected


def test_a_flipped_bit_is_never_handed_on(place, capsys):
    make("first")
    expected, dice = runs("first"), random.Random(SEED)
    for _ in range(FLIPS):
        shutil.rmtree("results/second", ignore_errors=True)
        flip(dice.choice(stored()), dice)
        capsys.readouterr()
        assert make("second") == (1, 0, 1)
        said = capsys.readouterr().err
        assert said.count("is not recorded as this program has written it; removed, the run is made again\n") == 1
        assert runs("second") == expected


def damage_and_record() -> None:
    """One number of every stored file, with a record that says that it is ours."""
    with recording(Path("results")):
        for path in stored():
            with netCDF4.Dataset(path, "a") as data:
                data["energy"][1] = 7.0
            record(path, path)


def handed_on_damaged() -> bool:
    """Whether a damaged file gets a second name."""
    for name in ("first", "second"):
        shutil.rmtree(f"results/{name}", ignore_errors=True)
    make("first")
    damage_and_record()
    make("second")
    return any(read_energy(path) == 7.0 for path in Path("results/second").rglob("*.nc"))


def read_energy(path: Path) -> float:
    with netCDF4.Dataset(path) as data:
        return float(data["energy"][1])


def test_checksums_are_read_before_a_file_is_linked(place, capsys):
    assert not handed_on_damaged()
    said = capsys.readouterr().err
    assert "was changed after it was written: variable energy; removed, the run is made again" in said


def test_a_mutant_that_links_without_reading_checksums_dies(place, monkeypatch):
    monkeypatch.setattr(store, "require_current", lambda path, spec: files.require_current(path, spec, names=()))
    assert handed_on_damaged()


def test_a_damaged_path_leaves_the_store_too(place):
    make("first")
    make("second")
    expected, victim = runs("first"), Path("results/first/runs/bodies/rk4/h0.1.nc")
    flip(victim, random.Random(SEED))
    shutil.copytree("results", "copy")
    found = list(mend(Workflow({"studies": "all"})))
    assert [sentence.partition(" was ")[0] for sentence in found] == [
        str(victim), "results/second/runs/others/rk4/h0.1.nc"]
    assert len(stored()) == 1
    assert make("first") == (1, 1, 0)
    assert make("second") == (0, 1, 1)
    assert runs("first") == runs("second") == expected


def test_a_copied_folder_without_links_works(place, capsys):
    make("first")
    expected = runs("first")
    shutil.copytree("results", "elsewhere/results")
    shutil.copytree("config", "elsewhere/config")
    os.chdir("elsewhere")
    assert {path.stat().st_nlink for path in Path("results").rglob("*.nc")} == {1}
    assert make("first") == (0, 2, 0)
    assert make("second") == (0, 0, 2)
    assert runs("first") == runs("second") == expected
    shutil.rmtree(Path("results")/FOLDER)  # nobody can say what was written: runs are made again
    ledger._loaded.clear()
    shutil.rmtree("results/second")
    assert make("second") == (2, 0, 0)
    assert runs("second") == expected


def test_files_are_copied_where_links_fail(place, monkeypatch, capsys):
    def no_link(*_) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(store.os, "link", no_link)
    make("first")
    assert make("second") == (0, 0, 2)
    assert runs("first") == runs("second")
    assert {path.stat().st_nlink for path in Path("results").rglob("*.nc")} == {1}
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("liestep:")]
    assert said == [f"liestep: results/{STORE}: its file system or that of the results has no links between them; runs"
                    " are copied"]*2
    shutil.copy(stored()[0], stored()[1])  # and what is copied has been read
    shutil.rmtree("results/second")
    assert make("second") == (1, 0, 1)
    assert runs("first") == runs("second")


def test_a_store_that_cannot_be_written_costs_a_sentence(place, capsys):
    Path("results").mkdir()
    (Path("results")/STORE).write_text("no folder")
    assert make("first") == (2, 0, 0)
    assert make("second") == (2, 0, 0)
    assert f"liestep: runs are not kept for other studies: results/{STORE}: " in capsys.readouterr().err


def clean(capsys, *options: str) -> list[str]:
    assert main(["clean", *options]) == 0
    return capsys.readouterr().out.splitlines()


def test_clean_lists_and_then_removes_what_no_study_needs(place, capsys):
    assert clean(capsys) == ["every file belongs to a study"]
    make("first")
    make("second")
    Path("results/first/notes.txt").write_text("mine")
    shutil.copy(stored()[0], "results/first/mine.nc")
    before = {path for path in Path("results").rglob("*") if path.is_file()}
    assert clean(capsys) == ["every file belongs to a study"]
    Path("config/studies/first.yaml").unlink()
    write("second", text("others").replace("[0.1, 0.05]", "[0.1]"))
    gone = [f"results/first/runs/bodies/rk4/h{size}.nc" for size in ("0.05", "0.1")]
    gone += ["results/second/runs/others/rk4/h0.05.nc"]
    listed = clean(capsys)
    assert listed[:3] == gone
    assert listed[3].startswith(f"results/{STORE}/")
    assert listed[4].startswith("4 files, ")
    assert listed[4].endswith(", that no study needs: `liestep clean --yes` removes them")
    assert {path for path in Path("results").rglob("*") if path.is_file()} == before
    assert clean(capsys, "--yes")[:4] == listed[:4]
    after = {path for path in Path("results").rglob("*") if path.is_file()}
    assert before - after == {Path(name) for name in listed[:4]}
    assert not Path("results/first/runs").exists()
    assert make("second") == (0, 1, 0)
    assert clean(capsys) == ["every file belongs to a study"]


def test_clean_keeps_stored_runs_that_a_study_waits_for(place, capsys):
    make("first")
    Path("config/studies/first.yaml").unlink()
    assert len(clean(capsys, "--yes")) == 3
    assert len(stored()) == 2
    assert make("second") == (0, 0, 2)


def hold(ready) -> None:
    lock.take()
    ready.set()
    time.sleep(60)


def test_clean_is_refused_while_a_workflow_runs(place, capsys):
    make("first")
    Path("config/studies/first.yaml").unlink()
    before, fork = runs("first"), multiprocessing.get_context("fork")
    ready = fork.Event()
    process = fork.Process(target=hold, args=(ready,))
    process.start()
    try:
        assert ready.wait(30)
        capsys.readouterr()
        sentence = refused(["clean", "--yes"], capsys)
        assert f"a workflow is running in {place} (process {process.pid}); wait for it, or stop it" in sentence
    finally:
        process.kill()
        process.join()
    assert runs("first") == before
    assert len(clean(capsys, "--yes")) == 3


def test_clean_is_refused_when_a_study_cannot_be_read(place, capsys):
    make("first")
    write("first", "title: nothing else\n")
    capsys.readouterr()
    assert "config/studies/first.yaml, line 1" in refused(["clean", "--yes"], capsys)
    assert len(runs("first")) == 2
