"""Forged results whose manifest and records agree: found by a hash that was kept elsewhere, or by making runs again."""
import json
import random
import shutil
from pathlib import Path

import netCDF4
import pytest
from commands import STUDY

from liestep.api.command_line import main
from liestep.files.records import FOLDER, file_sha256
from liestep.simulation.runs.files import write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
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
        assert code("--against", kept) == 2


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


@pytest.mark.parametrize("words", [("--against", digest) for digest in ("abc", "g"*64, "", "0"*64)]
                         + [("--recompute", count) for count in ("0", "-1", "x")])
def test_bad_arguments_are_one_sentence(folder, words, capsys):
    assert code(*words) == 2
    assert capsys.readouterr().err.count("\n") == 1
