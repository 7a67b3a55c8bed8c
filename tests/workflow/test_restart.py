"""Whatever is killed, and however: what exists is whole, one plain call makes the rest, and every byte is
that of an undisturbed call.

LIESTEP_TEST_SEED chooses other moments and victims; there are 3 kills of workflows, with --all 6, with LIESTEP_FULL=1
60.
"""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from place import LONGER, Place, alive, undisturbed
from trials import trials

from liestep.workflow.lock import LOCK

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("LIESTEP_TEST_SEED", "4"))
KILLS = ["workflow", "controller", "interrupt"]  # at least one process each
SEEDS = range(SEED, SEED + trials(1, 2, 20))
RUNS = trials(5, 8, 8)
CALLS = 12   # in which to find as many runs to kill
STDERR = "stderr.txt"
LATEST = 2.0  # seconds after the start of the work


def place(folder: Path) -> Place:
    found = Place(folder)
    found.study.write_text(LONGER)
    return found


def interruptible() -> None:
    """Ctrl-C works in children even if the tests themselves run in the background of a shell, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def begin(where: Place, prepare: Callable[[], None] = interruptible) -> subprocess.Popen:
    """Start the workflow in a group of its own and wait until it works, or has ended."""
    with open(where.folder/STDERR, "wb") as stderr:
        process = subprocess.Popen(where.command, env=where.environment, stdout=subprocess.DEVNULL, stderr=stderr,
                                   start_new_session=True, preexec_fn=prepare)
    while process.poll() is None and number(where.folder/LOCK) != process.pid:
        time.sleep(0.01)
    return process


def number(path: Path) -> int:
    return int(path.read_text() or 0) if path.is_file() else 0


def jobs(process: subprocess.Popen) -> list[psutil.Process]:
    """Everything that the workflow has started and that still works."""
    try:
        found = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child for child in found if alive(child)]


def is_sweep(process: psutil.Process) -> bool:
    """Whether this is the command of a sweep, not the shell around it, and works."""
    try:
        return alive(process) and "sweep" in process.cmdline() and "-c" not in process.cmdline()
    except psutil.NoSuchProcess:  # it has ended in between
        return False


def require_nothing_but(expected: dict[str, bytes], where: Place) -> None:
    found = where.visible()
    assert set(found) <= set(expected)
    assert [name for name, content in found.items() if content != expected[name]] == []


def require_finished(expected: dict[str, bytes], where: Place) -> None:
    """One plain call finishes, to the byte and without leftovers."""
    result = where.call()
    assert result.returncode == 0, result.stderr
    assert set(where.contents()) == set(expected)
    require_nothing_but(expected, where)
    verdict = where.liestep("verify")
    assert (verdict.returncode, verdict.stderr) == (0, ""), verdict.stdout


@pytest.fixture(scope="module")
def expected(once) -> dict[str, bytes]:
    """Products of an undisturbed call."""
    found = Place(once("undisturbed", undisturbed)).contents()
    assert len(found) == 12 + 2 + 1 + 4 + 4  # runs, tables, page, figure, report, its page, manifest and environment
    return found


def lose_some(where: Place, dice: random.Random) -> None:
    """Remove a third of the products, so that a finished workflow has something to do."""
    names = sorted(where.visible())
    for name in dice.sample(names, len(names)//3):
        (where.folder/"results"/name).unlink()


def killed(where: Place, kind: str, dice: random.Random, orphans: list[psutil.Process]) -> bool:
    """Start the workflow and kill it after a random time; False if it had just ended by itself when it was hit."""
    process = begin(where)
    time.sleep(dice.uniform(0.0, LATEST))
    if process.poll() is not None:  # everything was there, or made in time
        lose_some(where, dice)
        process = begin(where)
    if kind == "controller":
        orphans += jobs(process)
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGINT if kind == "interrupt" else signal.SIGKILL)
    return process.wait() != 0


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kills(expected, tmp_path, seed):
    where, dice = place(tmp_path), random.Random(seed)
    orphans: list[psutil.Process] = []
    for kind in dice.sample(KILLS, len(KILLS)):
        for _ in range(CALLS):
            hit = killed(where, kind, dice, orphans)
            require_nothing_but(expected, where)
            if hit:
                break
        assert hit, kind
    require_finished(expected, where)  # orphans may write at the same time
    psutil.wait_procs([child for child in orphans if alive(child)], timeout=1)


def test_random_kills_of_single_runs(expected, tmp_path):
    where, dice, killed = place(tmp_path), random.Random(SEED + 1), 0
    for _ in range(CALLS):
        process, before = begin(where), killed
        while process.poll() is None and killed < RUNS:
            time.sleep(dice.uniform(0.0, 0.25))  # a job in a fork takes half a second
            for child in jobs(process):
                if is_sweep(child):
                    child.kill()
                    killed += 1
                    break
        if killed >= RUNS:
            break
        process.wait()
        assert (process.returncode != 0) == (killed > before)
        require_nothing_but(expected, where)
        if killed == before:  # what killed jobs had finished was kept, so that all is made
            lose_some(where, dice)
    process.wait()
    assert killed == RUNS
    require_nothing_but(expected, where)
    require_finished(expected, where)


def test_a_second_workflow_in_the_same_folder_is_refused(expected, tmp_path):
    where = place(tmp_path)
    first = begin(where)
    os.kill(first.pid, signal.SIGSTOP)  # so that it cannot end before the second one has looked
    second = subprocess.run(where.command, env=where.environment, capture_output=True, text=True, check=False)
    os.kill(first.pid, signal.SIGCONT)
    assert first.poll() is None
    assert second.returncode != 0
    assert second.stderr.count("a workflow is running in") == 1
    assert f"(process {first.pid}); wait for it, or stop it" in second.stderr
    assert "Traceback" not in second.stderr
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    require_nothing_but(expected, where)


@pytest.fixture
def small_disk(tmp_path):
    """A folder `results` on a file system of 200 kB, and a function that makes it larger; None
    without the right to mount one."""
    results = tmp_path/"results"
    results.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=200k", "none", str(results))
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        yield None
        return
    yield lambda: subprocess.run(["mount", "-o", "remount,size=50m", str(results)], check=True)
    subprocess.run(["umount", str(results)], check=True)


def test_a_disk_that_is_too_small_is_refused_before_any_work(expected, small_disk, tmp_path):
    if not small_disk:
        pytest.skip("no right to mount a small disk")
    where = place(tmp_path)
    begin(where).wait()
    said = (tmp_path/STDERR).read_text()
    assert "liestep: the files need" in said
    assert "the disk of results has" in said
    assert "Traceback" not in said
    assert where.visible() == {}
    small_disk()
    require_finished(expected, where)


def test_a_disk_that_becomes_full(expected, tmp_path):
    """Files may not become as large as one of the runs: they end in the middle, as on a full disk."""
    largest = max(len(content) for name, content in expected.items() if name.endswith(".nc"))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1000, largest - 1000))

    where = place(tmp_path)
    process = begin(where, limit)
    process.wait()
    said = (tmp_path/STDERR).read_text()
    assert process.returncode != 0
    assert "liestep: cannot write results/tiny/runs/" in said
    assert "Traceback" not in said
    require_nothing_but(expected, where)
    require_finished(expected, where)


def test_the_lock_of_a_killed_workflow_is_gone(tmp_path):
    code = "import os, signal; from liestep.workflow import lock; lock.take(); os.kill(os.getpid(), signal.SIGKILL)"
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stderr) == (-signal.SIGKILL, "")


def test_jobs_end_with_a_workflow_whose_terminal_has_gone(expected, tmp_path):
    where = place(tmp_path)
    process = begin(where, lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    while not (found := jobs(process)) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    assert process.wait() == -signal.SIGHUP
    assert found
    assert psutil.wait_procs(found, timeout=30.0)[1] == []
    require_nothing_but(expected, where)
    require_finished(expected, where)
