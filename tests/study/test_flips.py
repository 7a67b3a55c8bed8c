"""One flipped bit anywhere in any file: a sentence that names the file, or exactly what was written; never a
traceback, never another value.

LIESTEP_TEST_SEED chooses other bits; there are 100, with --all 200, with LIESTEP_FULL=1 1,000.
"""
import os
import random
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import netCDF4
import numpy as np
import pandas
import pytest
from commands import main
from test_malformed_files import FILM, JUDGE, REFERENCE, RUN, made  # noqa: F401
from trials import trials

from liestep.claims.claimfile import load_claims
from liestep.claims.errata import load_errata
from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile, read
from liestep.study.plan.plan import Study
from liestep.study.tables.results import StudyResults
from liestep.workflow.manifest import read_manifest, verify
from liestep.workflow.report.pictures import checked, picture
from liestep.workflow.report.verdicts import paper_claims, paper_errata
from liestep.workflow.workflow import StudyProducts, Workflow, require_config

SEED = int(os.environ.get("LIESTEP_TEST_SEED", "11"))
FLIPS = trials(100, 200, 1000)
TABLES = ("metrics", "orders", "drift", "energy", "work", "timings")
Reader = Callable[[], object]


def results() -> StudyResults:
    return StudyResults(Study.find("tiny"))


def verdicts() -> object:
    workflow = Workflow({"studies": "all"})
    claims = paper_claims(workflow.claim_files.values(), workflow.results, {}, {}, {})
    return claims, paper_errata(workflow.errata, workflow.folder, workflow.results)


def film() -> bytes:
    return checked(StudyProducts(Study.find("tiny")).animations[0])


READERS: dict[str, Reader] = {
    RUN: lambda: read(Path(RUN)), REFERENCE: lambda: read(Path(REFERENCE)),
    **{f"results/tiny/{name}.csv": (lambda: results().metrics) if name == "metrics" else (
        lambda name=name: results().table(name)) for name in TABLES},
    "results/claims.csv": verdicts, "results/errata.csv": verdicts,
    "results/manifest.json": lambda: read_manifest(Path("results")), FILM: film,
    "results/tiny/figures/energy_error.png": lambda: picture(Path("results/tiny/figures/energy_error.png"), 800, 64),
    "config/studies/tiny.yaml": lambda: Study.find("tiny").sweeps,
    "config/claims/paper.yaml": lambda: load_claims([Path("config/claims/paper.yaml")]),
    "config/errata/twospheres2009.yaml": lambda: load_errata("twospheres2009", Path("config")),
    "config/config.yaml": lambda: require_config(Path("config/config.yaml"))}
WRITTEN_BY_PEOPLE = ("config/",)       # any value that is valid is one that a person may mean
LOOKED_AT = (".png", ".gif")           # another pixel is no error of the reader; the manifest finds it
BINARY = 3                             # a file of numbers is chosen so many times as often as another


@pytest.fixture
def place(made, tmp_path, monkeypatch):  # noqa: F811
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def same(first: object, second: object) -> bool:
    if isinstance(first, RunFile):
        return first.attributes == second.attributes and all(
            np.array_equal(values, second.variables[name], equal_nan=True) for name, values in first.variables.items())
    if isinstance(first, pandas.DataFrame):
        return first.equals(second)
    return repr(first) == repr(second)


def test_one_flipped_bit(place):
    dice = random.Random(SEED)
    names = [name for name in READERS for _ in range(BINARY if name.endswith(".nc") else 1)]
    expected = {name: reader() for name, reader in READERS.items()}
    refused, watched = 0, listed()
    for number in range(FLIPS):
        name = names[number % len(names)]
        path = Path(name)
        content = path.read_bytes()
        where, bit = dice.randrange(len(content)), dice.randrange(8)
        path.write_bytes(content[:where] + bytes([content[where] ^ 1 << bit]) + content[where + 1:])
        sentence = found = None
        try:
            found = READERS[name]()
        except InputError as error:
            sentence = str(error)
        if sentence is not None:
            refused += 1
            assert "\n" not in sentence
            assert path.name.split(".")[0] in sentence, (name, where, bit)
        elif not name.startswith(WRITTEN_BY_PEOPLE) and path.suffix not in LOOKED_AT:
            assert same(found, expected[name]), (name, where, bit)
        if name in watched:
            assert [complaint.path for complaint in verify(Path("results"))] == [path]
        path.write_bytes(content)
    assert refused > FLIPS//3


def listed() -> set[str]:
    """Everything that the manifest knows."""
    content = read_manifest(Path("results"))
    return {*(f"results/{name}" for name in content["products"]), *content["inputs"]}


def test_commands_name_the_flipped_file(place, capsys):
    """Through the commands that people call: exit code 0 or 2, and one sentence."""
    dice = random.Random(SEED + 1)
    for name, command in ((RUN, ["check", RUN]), (RUN, ["judge", RUN, *JUDGE, "--no-reference"]),
                          (REFERENCE, ["check", REFERENCE]), ("results/tiny/energy.csv", ["job", "claims"]),
                          ("results/manifest.json", ["verify"]), ("results/manifest.json", ["verify", "--repair"]),
                          (RUN, ["status"]), (RUN, ["verify"]))*(FLIPS//50):
        path = Path(name)
        content = path.read_bytes()
        changed = bytearray(content)
        changed[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        path.write_bytes(changed)
        capsys.readouterr()
        try:
            code = main(list(command))
        except SystemExit as stop:
            code = stop.code
        assert code in (0, 1, 2)
        assert "Traceback" not in capsys.readouterr().err
        path.write_bytes(content)


def test_another_start_is_not_judged_with_a_changed_state(place, capsys):
    """A file of this program that was changed is not taken for one of another code."""
    path = Path(RUN)
    content = bytearray(path.read_bytes())
    values = read(path)["q"].tobytes()
    content[content.find(values) + len(values)//2] ^= 1
    path.write_bytes(content)
    assert main(["judge", RUN, *JUDGE, "--no-reference"]) == 2
    assert f"{RUN} was changed after it was written: variable q" in capsys.readouterr().err


@pytest.fixture(scope="module")
def endless(tmp_path_factory) -> bytes:
    """A NetCDF file with one flipped bit (in the size of the first object of its heap) that the library never ends
    reading."""
    path = tmp_path_factory.mktemp("endless")/"whole.nc"
    with netCDF4.Dataset(path, "w") as data:
        for name in ("time", "xyz"):
            data.createDimension(name, 3)
        for name, dimensions in (("time", ("time",)), ("q", ("time", "xyz"))):
            data.createVariable(name, "f8", dimensions, fill_value=False).units = "1"
    content = bytearray(path.read_bytes())
    content[content.find(b"GCOL") + 24] ^= 1 << 6
    path.write_bytes(content)
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, 0.5)
        with suppress(Exception), netCDF4.Dataset(path):
            pass
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    return bytes(content)


def test_a_file_that_the_library_never_ends_reading_is_named(place, endless):
    for _ in range(2):  # the child process that was stopped is replaced
        Path("other.nc").write_bytes(endless)
        with pytest.raises(InputError, match=r"other\.nc is damaged: the NetCDF library does not finish reading it"):
            read(Path("other.nc"))
    assert read(Path(RUN)).attributes["complete"] == 1


@pytest.mark.slow
def test_every_command_names_a_file_that_the_library_never_ends_reading(place, endless, capsys):
    content = Path(RUN).read_bytes()
    for command, expected in (("check", 2), ("judge", 2), ("animate", 2), ("status", 0), ("verify", 1)):
        Path(RUN).write_bytes(endless)
        words = {"check": [RUN], "judge": [RUN, *JUDGE, "--no-reference"], "animate": [RUN]}.get(command, [])
        capsys.readouterr()
        try:
            code = main([command, *words])
        except SystemExit as stop:
            code = stop.code
        assert code == expected, command
        said = capsys.readouterr()
        assert "does not finish reading it" in said.out + said.err, command
    Path(RUN).write_bytes(content)
    assert main(["verify"]) == 0
