"""The workflow's pool: what a job does in a fork is what the command does by itself, and the fork ends with the
command."""
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from liestep.api import pool
from liestep.api.pool import THREADS
from liestep.files.records import FOLDER
from liestep.workflow.handover import POOL, hand_over
from tests.place import Place, alive, copied_package

SWEEP = ("job", "sweep", "tiny", "bodies", "vi_sphere")
# In the place of the process of the workflow.
SCRIPT = f"""
import os, sys
from liestep.api import pool
pool.start()
print(os.environ["{POOL}"], flush=True)
sys.stdin.read()
"""


@contextmanager
def served(where: Place) -> Iterator[psutil.Process]:
    """A process with a pool that the commands of a place ask."""
    where.environment.update(THREADS)
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], env=where.environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    where.environment[POOL] = process.stdout.readline().strip()
    assert where.environment[POOL]
    try:
        yield psutil.Process(process.pid)
    finally:
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert not Path(where.environment[POOL]).exists()


def begin(where: Place, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "liestep.api.command_line", *arguments], cwd=where.folder,
                            env=where.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def done(where: Place, *arguments: str) -> tuple[int, str, bool]:
    """Exit code and messages of a command, and whether another process did the work."""
    shutil.rmtree(where.folder/"results", ignore_errors=True)
    command = begin(where, *arguments)
    messages = command.communicate()[1]
    writers = {int(path.name.partition(".")[0]) for path in (where.folder/"results"/FOLDER).glob("*.txt")}
    return command.returncode, messages, bool(writers) and command.pid not in writers


def forks(server: psutil.Process) -> list[psutil.Process]:
    """Jobs at work: forks of the fork server, which is a child of the workflow's process."""
    return [fork for child in server.children() for fork in child.children()]


def until(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(condition())


@pytest.fixture(scope="module")
def where(tmp_path_factory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("served"))
    with served(place) as place.server:
        yield place


def test_a_fork_writes_the_same_bytes_and_messages_as_the_command(where):
    code, messages, elsewhere = done(where, *SWEEP)
    runs = where.contents("*.nc")
    assert (code, elsewhere, len(runs)) == (0, True, 2), messages
    alone = Place(where.folder/"alone")
    assert done(alone, *SWEEP) == (0, messages, False)
    assert alone.contents("*.nc") == runs


def test_a_film_is_drawn_in_a_fork(where):
    assert done(where, *SWEEP)[0] == 0
    command = begin(where, "animate", "results/tiny/runs/bodies/vi_sphere/h0.1.nc", "-o", "film.gif")
    seen = until(lambda: forks(where.server))
    assert (seen, command.communicate(), command.returncode) == (True, ("film.gif: 6 frames\n", ""), 0)
    assert (where.folder/"film.gif").is_file()


def test_a_wrong_name_is_the_commands_sentence_and_exit_code(where):
    code, messages, _ = done(where, "job", "sweep", "tyni", "bodies")
    assert code == 2
    assert messages.startswith("liestep: unknown study 'tyni'")
    assert done(where, "job", "sweep")[0] == 2


@pytest.mark.parametrize("change", [{"LIESTEP_CACHE": "elsewhere"}, {"OMP_NUM_THREADS": "2"}])
def test_another_environment_is_declined(where, change):
    other = Place(where.folder/next(iter(change)))
    other.environment = {**where.environment, **change}
    code, messages, elsewhere = done(other, *SWEEP)
    assert (code, elsewhere) == (0, False), messages


def test_the_prompt_is_no_other_environment(where):
    """An activated environment exports it, and the shell of a job drops it."""
    other = Place(where.folder/"prompt")
    other.environment = {**where.environment, "PS1": "$ "}
    assert done(other, *SWEEP)[::2] == (0, True)


def test_an_edit_of_the_package_is_declined(tmp_path):
    source = tmp_path/"source"
    copied_package(source)
    place = Place(tmp_path/"place", source=source)
    with served(place):
        assert done(place, *SWEEP)[::2] == (0, True)
        with open(source/"liestep"/"compile"/"driver.py", "a") as file:
            file.write("# edited\n")
        assert done(place, *SWEEP)[::2] == (0, False)


def test_a_fork_ends_with_its_command(tmp_path):
    place = Place(tmp_path/"place")
    place.replace("[0.1, 0.05]", "[0.000001]")
    with served(place) as server:
        command = begin(place, *SWEEP)
        assert until(lambda: forks(server))
        fork, = forks(server)
        command.kill()
        command.communicate()
        assert until(lambda: not alive(fork))


def test_ctrl_c_before_a_job_has_begun_is_not_lost(tmp_path):
    """While the fork server loads the package it hears nothing: the command remembers."""
    place = Place(tmp_path/"place")
    place.replace("[0.1, 0.05]", "[0.000001]")
    with served(place) as server:
        command = begin(place, *SWEEP)
        assert until(server.children)
        time.sleep(0.2)
        for _ in range(2):
            command.send_signal(signal.SIGINT)
            time.sleep(0.2)
        messages = command.communicate(timeout=20)[1]
        assert (command.returncode, "Traceback" in messages) == (130, False)
        assert begin(place, "job", "sweep").wait() == 2  # by the server, which is loaded then
        assert until(lambda: not forks(server))


def test_without_a_pool_the_command_does_its_job(tmp_path):
    place = Place(tmp_path/"place")
    place.environment[POOL] = str(tmp_path/"nothing")
    assert done(place, *SWEEP)[::2] == (0, False)


def test_a_killed_job_is_the_commands_exit_code(tmp_path):
    place = Place(tmp_path/"place")
    place.replace("[0.1, 0.05]", "[0.000001]")
    with served(place) as server:
        command = begin(place, *SWEEP)
        assert until(lambda: forks(server))
        forks(server)[0].kill()
        assert (command.wait(), command.communicate()[1]) == (137, "")


def test_on_another_system_or_in_too_long_a_folder_there_is_no_pool(tmp_path, monkeypatch):
    monkeypatch.delenv(POOL, raising=False)
    monkeypatch.setattr("multiprocessing.util.get_temp_dir", lambda: str(tmp_path/("long"*30)))
    pool.start()
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(pool, "Listener", None)
    pool.start()
    assert POOL not in os.environ
    assert hand_over(list(SWEEP)) is None


@pytest.mark.slow
def test_a_workflow_without_a_pool_makes_the_same_runs(tmp_path):
    """As on another system: every job does its work itself."""
    customised = tmp_path/"customised"
    customised.mkdir()
    (customised/"sitecustomize.py").write_text(
        "import multiprocessing.connection\n\n"
        f"def refused(**given):\n    open({str(tmp_path/'refused')!r}, 'w').close()\n    raise OSError\n\n"
        "multiprocessing.connection.Listener = refused\n")
    found = {}
    for name in ("with", "without"):
        place = Place(tmp_path/name)
        path = place.environment.get("PYTHONPATH", "")
        place.environment["PYTHONPATH"] = os.pathsep.join([str(customised)]*(name == "without") + [path])
        place.make("--cores", "1", "--until", "sweep")
        found[name] = place.contents("*.nc")
        assert (tmp_path/"refused").exists() == (name == "without")
    assert len(found["with"]) == 6
    assert found["with"] == found["without"]


@pytest.mark.slow
def test_the_fork_server_compiles_once_what_all_loops_share(tmp_path):
    """Only where no machine code is kept: otherwise its jobs hardly compile."""
    kept = tmp_path/"kept"
    for folder in (kept, tmp_path/"empty"):
        (folder/"advance-0").mkdir(parents=True)
    (tmp_path/"empty"/"advance-0").rmdir()
    for folder, loops in ((kept, 0), (tmp_path/"empty", 1)):
        subprocess.run([sys.executable, "-c", "import liestep.api.preload"], check=True,
                       env={**os.environ, "LIESTEP_CACHE": str(folder)})
        assert len(list(folder.rglob("*.nbc"))) == loops
