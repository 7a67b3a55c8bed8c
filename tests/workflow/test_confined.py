"""Paths that manifests, records and archives name stay inside the results: no file elsewhere is written or removed."""
import json
import os
import tarfile
from pathlib import Path

import pytest
from commands import STUDY

from liestep.api.command_line import main
from liestep.files import records
from liestep.files.records import FOLDER
from liestep.simulation.runs.store import STORE
from liestep.workflow.integrity import mend
from liestep.workflow.manifest import MANIFEST, _digest, _text
from liestep.workflow.workflow import configured

NAMES = ("../outside/victim.csv", "tiny/../../outside/victim.csv", "{outside}/victim.csv", "tiny/out/victim.csv",
         "./../outside/victim.csv", "../outside/.a.1.12345678.tmp", "//{outside}/victim.csv",
         "../outside/../outside/run.nc", "out/../../outside/victim.csv", "tiny/./out/victim.csv")
PLACES = ("products", "inputs", "wrote", "known", "plan")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a study, whose results hold a link to a folder outside."""
    outside, results = tmp_path/"outside", tmp_path/"results"
    (tmp_path/"config"/"studies").mkdir(parents=True)
    (tmp_path/"config"/"studies"/"tiny.yaml").write_text(STUDY)
    (tmp_path/"Snakefile").write_text("")
    outside.mkdir()
    for name in ("victim.csv", "run.nc", ".a.1.12345678.tmp", "notes.txt"):
        (outside/name).write_text("not yours")
        os.utime(outside/name, (1, 5e9))  # in the future
    (results/"tiny").mkdir(parents=True)
    (results/"tiny"/"out").symlink_to(outside)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def crafted(place: str, name: str) -> None:
    """Results whose manifest and records agree with each other, and name a file."""
    results, other = Path("results"), "0"*64
    content = {"format": 1, "studies": ["tiny"], "inputs": {}, "products": {}}
    if place == "products":
        content["products"][name] = {"kind": "data", "from": [], "sha256": other}
    if place == "inputs":
        content["inputs"][name] = other
    (results/MANIFEST).write_text(_text({**content, "sha256": _digest(content)}))
    if place == "wrote":
        records.append(results, "wrote", {name: other})
    if place == "known":
        records.append(results, "known", {name: [other, *records.notes("outside/victim.csv")]})
    if place == "plan":
        key = {"references": {name.removesuffix(".nc"): other}, "sweeps": [["bodies", "vi_sphere", {name: other}]]}
        records.append(results, "plan", {"tiny": ["", key]})


def state(folder: Path) -> dict[str, tuple]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (folder/"outside").iterdir()}


def attacked(folder: Path) -> None:
    for words in (("verify",), ("clean", "--yes"), ("verify", "--repair"), ("status",)):
        try:
            code = main(list(words))
        except SystemExit as stop:
            code = stop.code
        assert code in (0, 1, 2)
    list(mend(configured(Path("config"), Path("results"), [])))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_out_touches_nothing(folder, place, name, monkeypatch):
    monkeypatch.setattr("liestep.workflow.plans.Plans.find",
                        lambda plans, key, made_from: plans._known.get(key, (0, None))[1])
    before = state(folder)
    crafted(place, name.format(outside=folder/"outside"))
    attacked(folder)
    assert state(folder) == before


@pytest.mark.parametrize("linked", [FOLDER, STORE, "tiny"])
def test_links_that_lead_out_touch_nothing(folder, linked):
    """Whole folders of the results are links, for example from an archive that was unpacked."""
    target = folder/"results"/linked
    if linked == "tiny":
        (target/"out").unlink()
        target.rmdir()
    (folder/"outside"/"ab").mkdir()
    (folder/"outside"/"ab"/"1.2.nc").write_text("not yours")
    target.symlink_to(folder/"outside")
    before = {path: path.read_bytes() for path in (folder/"outside").rglob("*.*")}
    if linked != FOLDER:
        crafted("products", "tiny/victim.csv")
    attacked(folder)
    assert {path: path.read_bytes() for path in (folder/"outside").rglob("*.*")} == before


@pytest.mark.parametrize("line", ["[]", "{}", "[1]", "[1, 2, 3]", '["a", "b", "c"]', "[1, \"a\"]", "["*5000 + "]"*5000,
                                  '[1, "a", [1]]', '[null, "a", 1]', "1"])
def test_a_line_of_another_shape_counts_for_nothing(folder, line):
    (folder/"results"/FOLDER).mkdir()
    for kind in ("wrote", "known", "made", "plan"):
        with open(folder/"results"/FOLDER/"1.txt", "a", encoding="utf-8") as file:
            file.write(f"{kind} {records.short_hash(line)} {line}\n")
    attacked(folder)
    assert all(isinstance(name, str) for _, name, _ in records.entries(folder/"results", "known"))


@pytest.mark.parametrize("content", [[], 1, None, {"products": []}, {"products": {"a": 1}, "inputs": {}},
                                     {"products": {"a": {}}, "inputs": {}}, {"products": {}, "inputs": {"a": {}}}])
def test_a_manifest_of_another_shape_is_refused(folder, content, capsys):
    text = _text({**content, "sha256": _digest(content)}) if isinstance(content, dict) else json.dumps(content)
    (folder/"results"/MANIFEST).write_text(text)
    assert main(["verify"]) in (1, 2)
    assert "manifest" in capsys.readouterr().err


def test_an_archive_of_states_is_never_unpacked(tmp_path):
    from rotation_bench.other_codes import judging

    with tarfile.open(tmp_path/judging.ARCHIVE, "w:xz") as archive:
        for name, kind in (("../a", tarfile.SYMTYPE), ("/b", tarfile.LNKTYPE), ("c", tarfile.FIFOTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    assert judging.stored_files(tmp_path) == {}
    assert [path.name for path in tmp_path.iterdir()] == [judging.ARCHIVE]


def test_lost_products_and_dangling_links_are_named(folder):
    crafted("products", "tiny/metrics.csv")
    for said in ("results/tiny/metrics.csv is lost; to be made again",)*2:
        for remove in (False, True):
            assert list(mend(configured(Path("config"), Path("results"), []), remove)) == [said]
        if not (folder/"results"/"tiny"/"metrics.csv").is_symlink():
            (folder/"results"/"tiny"/"metrics.csv").symlink_to(folder/"nowhere")


@pytest.mark.parametrize("part", ["studies", "studies/more", "errata"])
def test_a_folder_that_cannot_be_read_is_named(folder, part, monkeypatch, capsys):
    (folder/"config"/part).mkdir(exist_ok=True)
    scan = os.scandir

    def refusing(path):
        if str(path).endswith(f"config/{part}"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert main(["clean"]) == 2
    assert f"cannot read config/{part}: Permission denied; what is in it would be overlooked" in capsys.readouterr().err


def test_marks_that_cannot_be_removed_do_not_end_a_dry_run(folder, monkeypatch):
    workflow = configured(Path("config"), Path("results"), [])
    mark, = workflow.marks
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda path, **_: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
        workflow.forget_lost()
    assert mark.exists()
    workflow.forget_lost()
    assert not mark.exists()
