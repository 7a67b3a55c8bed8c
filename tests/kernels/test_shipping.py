"""Machine code in one file: another cache takes it from there, and nothing else."""
import base64
import hashlib
import importlib.util
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from test_damaged_code import folder, forked, small  # noqa: F401

from liestep.api.command_line import main
from liestep.compile import cache, shipping
from liestep.errors import InputError
from liestep.files import sealed


@pytest.fixture
def exported(folder, tmp_path_factory, monkeypatch):  # noqa: F811
    """A file of the machine code of a few functions, their numbers, and an empty cache."""
    numbers, file = forked(small), tmp_path_factory.mktemp("exported")/"code.zip"
    (folder/"answer-0123.txt").write_bytes(b"not machine code")
    names = sorted(path.name for path in folder.iterdir() if path.suffix != ".txt")
    assert shipping.export(file).startswith(f"{file}: {len(names)} files of machine code for Python")
    empty = tmp_path_factory.mktemp("empty")
    monkeypatch.setenv("LIESTEP_CACHE", str(empty))
    return file, numbers, names, empty


def test_another_cache_takes_all_code_and_compiles_nothing(exported, capsys):
    file, numbers, names, empty = exported
    assert main(["cache", "import", str(file)]) == 0
    assert f"{len(names)} files of machine code added, 0 were there" in capsys.readouterr().out
    times = {path.name: path.stat().st_mtime_ns for path in empty.iterdir()}
    assert sorted(times) == names
    assert forked(small) == numbers
    assert {path.name: path.stat().st_mtime_ns for path in empty.iterdir()} == times
    assert f"0 files of machine code added, {len(names)} were there" in shipping.take_in(file)


def test_an_installed_package_of_machine_code_is_read_after_the_cache(exported, folder, monkeypatch):  # noqa: F811
    _, numbers, names, empty = exported
    monkeypatch.setattr(cache, "SHIPPED", folder)
    assert forked(small) == numbers
    assert not list(empty.iterdir())
    (folder/names[0]).write_bytes((folder/names[0]).read_bytes()[:-1] + b"?")  # damaged: made anew, in the cache
    assert forked(small) == numbers
    assert [path.name for path in empty.iterdir()] == names[:1]


def test_the_wheel_of_machine_code_holds_the_files_and_their_digests(exported, folder, tmp_path):  # noqa: F811
    spec = importlib.util.spec_from_file_location("machine_code", Path(__file__).parents[2]/".ci"/"machine_code.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    names = exported[2]
    path = made.wheel(tmp_path, [folder/name for name in names])
    assert path.name.startswith(f"liestep_machine_code-{version('liestep')}-cp3")
    with ZipFile(path) as wheel:
        for name in names:
            assert sealed.unsealed(name, wheel.read(f"liestep_machine_code/{name}")) is not None
        (record,) = (name for name in wheel.namelist() if name.endswith("RECORD"))
        lines = dict(line.split(",", 1) for line in wheel.read(record).decode().splitlines())
        assert set(lines) == set(wheel.namelist())
        for name in set(lines) - {record}:
            digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
            assert lines[name] == f"sha256={digest},{len(wheel.read(name))}"
    assert {method for _, method, _ in made.RUNS} >= set(made.ADAPTIVE)


def test_code_of_another_machine_is_ignored_in_one_line(exported, tmp_path, monkeypatch):
    file, _, _, empty = exported
    with monkeypatch.context() as other:
        other.setattr(shipping, "machine", lambda: "Python 3.99, x86-64-v9")
        other.setattr(shipping, "machine_mark", lambda: "01234567")
        said = shipping.take_in(file)
        assert said.startswith(f"{file}: ignored: it is for Python 3.")
        assert said.endswith("Python 3.99, x86-64-v9")
        assert not list(empty.iterdir())
    shipping.take_in(file)
    monkeypatch.setattr(shipping, "machine_mark", lambda: "01234567")
    shipping.export(tmp_path/"other.zip")
    assert {name.split("-")[0] for name in ZipFile(tmp_path/"other.zip").namelist()} == {"machine", "trace"}


def test_damaged_files_end_in_a_sentence_and_leave_whole_code_only(exported):
    file, _, names, empty = exported
    data = file.read_bytes()
    for damaged in (data[:len(data)//2], data[:-1], b"", b"no archive", data[:300] + bytes(50) + data[350:]):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="is not whole, or no file of `liestep cache export`"):
            shipping.take_in(file)
        assert all(sealed.content(path) is not None for path in empty.iterdir())
    file.write_bytes(data)
    shipping.take_in(file)
    assert sorted(path.name for path in empty.iterdir()) == names


@pytest.mark.parametrize(("name", "taken"), [("../first-{}-0.nbc", False), ("/tmp/first-{}-0.nbc", False),
                                             ("answer-{}.txt", False), ("first-{}-0.nbc", None)])
def test_only_sealed_files_with_names_of_machine_code_are_taken(exported, tmp_path, name, taken):
    empty, file = exported[-1], tmp_path/"made.zip"
    with ZipFile(file, "w") as archive:
        archive.writestr(shipping.LABEL, cache.machine())
        archive.writestr(name.format(cache.machine_mark()), b"x"*40)
    if taken is None:
        with pytest.raises(InputError, match="not whole"):
            shipping.take_in(file)
    else:
        assert "0 files of machine code added, 0 were there" in shipping.take_in(file)
    assert not list(empty.iterdir())
    assert not list(empty.parent.glob("first-*"))


def test_a_cache_that_cannot_be_written_and_a_file_that_is_not_there(exported, monkeypatch, tmp_path, capsys):
    (tmp_path/"taken").write_text("a file where the folder should be")
    monkeypatch.setenv("LIESTEP_CACHE", str(tmp_path/"taken"))
    with pytest.raises(InputError, match="taken cannot be written: machine code is not kept there"):
        shipping.take_in(exported[0])
    assert main(["cache", "import", str(tmp_path/"nowhere.zip")]) == 2
    assert "nowhere.zip: No such file or directory" in capsys.readouterr().err
