"""Modules that a stranger has put into a folder are not executed."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from place import TOP, Place

from liestep.simulation.runs.files import write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

SHADOWS = (  # modules that are imported at a start, by children, or late
    "numpy", "yaml", "netCDF4", "threading", "liestep", "json", "pandas", "pydantic", "multiprocessing", "socket",
    "tempfile", "struct", "base64", "numba", "scipy", "snakemake", "llvmlite", "matplotlib", "PIL", "cftime",
    "certifi", "ast", "inspect", "logging", "signal", "subprocess", "pickle", "hashlib", "hmac", "random", "selectors",
    "traceback", "uuid", "shutil", "secrets", "contextlib", "copyreg", "ctypes", "datetime", "decimal", "email",
    "fractions", "heapq", "importlib_metadata", "locale", "platform", "queue", "rich", "sitecustomize", "usercustomize")
TOLD = "UNTRUSTED_TOLD"  # environment: the file into which a shadow writes its name


def plant(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHADOWS:
        (folder/f"{name}.py").write_text(f"import os\nopen(os.environ[{TOLD!r}], 'a').write({str(folder/name)!r})\n"
                                         "raise ImportError('a shadow')\n")


@pytest.fixture
def place(tmp_path):
    """A working folder with shadows in it, beside its study and beside a foreign file."""
    assert len(set(SHADOWS)) == 50
    place = Place(tmp_path/"work")
    foreign = tmp_path/"work"/"foreign"
    for folder in (place.folder, place.study.parent, foreign):
        plant(folder)
    write(carry_out(specify("sphere_nbody", "rk4", step=0.1, t_end=0.5)), tmp_path/"run.nc")
    shutil.copy(tmp_path/"run.nc", foreign/"run.nc")
    place.environment[TOLD] = str(tmp_path/"told")
    return place


def executed(place: Place) -> str:
    told = Path(place.environment[TOLD])
    return told.read_text() if told.exists() else ""


def call(place: Place, *command: str) -> subprocess.CompletedProcess:
    environment = {**place.environment, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=place.folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("command", [("liestep",), (sys.executable, "-P", "-m", "liestep")])
def test_commands_import_nothing_from_the_folders(place, command):
    for arguments in (("check", "foreign/run.nc"), ("check", "tiny"), ("status",), ("list",)):
        done = call(place, *command, *arguments)
        assert done.returncode == 0, done.stderr
    assert executed(place) == ""


def test_a_program_in_the_folder_starts_children_that_import_nothing_from_it(place):
    """The working folder stands on the path of `python -m`: it is not handed on."""
    text = ("import sys; from pathlib import Path; from liestep.simulation.runs.opening import require_openable;"
            "sys.path.insert(0, str(Path().absolute())); sys.path.insert(0, ''); sys.argv[0] = '';"
            "require_openable(Path('foreign/run.nc'))")
    done = call(place, sys.executable, "-P", "-c", text)
    assert done.returncode == 0, done.stderr
    assert executed(place) == ""


@pytest.mark.slow
@pytest.mark.parametrize("snakefile", ["here", "package"])
def test_the_workflow_and_its_jobs_import_nothing_from_the_folders(place, snakefile):
    source = TOP/"Snakefile"
    if snakefile == "here":
        source = place.folder/"Snakefile"
        source.write_text((TOP/"Snakefile").read_text())
        (place.folder/"workflow").symlink_to(TOP/"workflow")
    done = call(place, "snakemake", "-s", str(source), "-c2", "--quiet")
    assert done.returncode == 0, done.stderr
    assert (place.folder/"results"/"manifest.json").is_file()
    assert executed(place) == ""
