"""The pool of the workflow: it does jobs in forks of a process that has the package loaded.

Python, Numba and matplotlib take 0.5 to 1.3 s to load, a job of warm runs less than that. The fork server of the
standard library loads them once (`liestep.api.preload`). Commands ask a thread of the workflow's process for a job
(`liestep.workflow.handover`). When a file of the package has changed since the start, or a command has another
environment, the pool declines, and the command does the job itself."""
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, Listener, wait

from liestep.files import PACKAGE
from liestep.workflow.handover import POOL
from liestep.workflow.patches import without_main_module

OWN = ("_", "SHLVL", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "TEMPDIR", "PS1")  # may differ; bash drops PS1
# Set by Snakemake for jobs of one thread; libraries read them when they are loaded.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                         "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
_turn = threading.Lock()  # of two threads that ask for the same exit code only one would get it


def start() -> None:
    """Do the jobs of this process's commands from now on. On other systems than Linux, where forks are not safe beside
    threads, and in a folder whose name is too long for a socket, they do their work themselves."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        listener = Listener(family="AF_UNIX", backlog=128)  # in a folder that nobody else can enter
        os.environ.update({POOL: str(listener.address), **THREADS})
        multiprocessing.get_context("forkserver").set_forkserver_preload(["liestep.api.preload"])
        without_main_module()
        threading.Thread(target=_listen, args=(listener, _files()), daemon=True).start()


def _listen(listener: Listener, loaded: dict[str, tuple[int, int]]) -> None:
    while True:
        with suppress(OSError, EOFError):
            threading.Thread(target=_serve, args=(listener.accept(), loaded), daemon=True).start()


def _serve(connection: Connection, loaded: dict[str, tuple[int, int]]) -> None:
    """Do a job, or decline it; end it when its command is killed."""
    with connection, suppress(OSError, EOFError):
        asked = connection.recv()
        environment, words = asked[2:]  # of a command in a rule; times are taken in a fresh process
        alone = words[:1] not in (["job"], ["animate"]) or words[:2] == ["job", "time"]
        if alone or _common(environment) != _common(os.environ) or _files() != loaded:
            connection.send(None)
            return
        with _turn:
            job = multiprocessing.get_context("forkserver").Process(target=_work, args=asked)
            job.start()
        if connection in wait([job.sentinel, connection]):
            job.kill()
        with _turn:
            job.join()
        code = job.exitcode or 0
        connection.send(code if code >= 0 else 128 - code)


def _work(command: int, folder: str, environment: dict[str, str], words: list[str]) -> None:
    """A job, in a fork, with the files of the process that asks for it."""
    from liestep.api.command_line import carry_out

    for number in (1, 2):
        with suppress(OSError):  # a socket cannot be opened; then it is that of the workflow
            os.dup2(os.open(f"/proc/{command}/fd/{number}", os.O_WRONLY | os.O_APPEND), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv = ["liestep", *words]
    sys.exit(carry_out(words))


def _common(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in OWN}


def _files() -> dict[str, tuple[int, int]]:
    """All files of the package, with what changes when they do."""
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in PACKAGE.rglob("*")
            if path.suffix in (".py", ".pyi", ".toml")}
