"""The workflow's job server: it loads what jobs need once, and does each in a fork of itself.

`liestep.workflow.handover` starts it and hands commands over. A fork is like a fresh process: it has the command's
folder, environment, standard files and process group, writes under names of its own, and is killed when the command
is. The server loads a module when the first job needs it, so that it costs no more than that job would have. When a
file of the package has changed since the server started, or a command has another environment, it declines, and the
command does its job itself.
"""
import fcntl
import gc
import importlib
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

from liestep.api.command_line import main
from liestep.files import PACKAGE
from liestep.workflow.handover import DECLINED, SERVER, receive

RUNS = ("liestep.study.plan.sweep", "liestep.study.plan.plan", "liestep.study.plan.listing")
TABLES = ("liestep.workflow.products", "liestep.study.tables.results", "liestep.study.tables.tables")
FIGURES = ("liestep.figures.drawing",)
# Commands of jobs, with the modules that they load. Times are taken in a fresh process.
COMMANDS: dict[str, tuple[str, ...]] = {
    "sweep": RUNS,
    "reference": (*RUNS, "liestep.simulation.references.reference", "scipy.integrate"),
    "products": (*RUNS, *TABLES, *FIGURES),
    "analyse": (*RUNS, *TABLES),
    "figure": (*RUNS, *TABLES, *FIGURES),
    "claims": (*RUNS, *TABLES), "errata": RUNS, "report": (*RUNS, *TABLES), "manifest": RUNS,
}
COMPILING = ("sweep", "reference", "errata")  # commands that compile or load machine code
OWN = ("_", "SHLVL", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "TEMPDIR", SERVER)  # may differ between jobs


def serve(place: str) -> None:
    """Do jobs until standard input ends, which it does with the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the jobs
    state = _files()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(128)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                break
            _reap(os.WNOHANG)
            with listener.accept()[0] as connection, suppress(OSError, EOFError, ValueError):
                _take(connection, state, listener)
    os.unlink(place)
    os.rmdir(os.path.dirname(place))
    _reap(0)  # so that their processor time is counted


def _reap(how: int) -> None:
    """Forget jobs that have ended; with 0, wait for all."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, how)[0]:
            pass


def _files() -> list[tuple[str, int, int, int]]:
    """All files of the package, with what changes when they do."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        notes = path.stat()
        found.append((str(path), notes.st_size, notes.st_mtime_ns, notes.st_ino))
    return sorted(found)


def _take(connection: socket.socket, state: list[tuple[str, int, int, int]], listener: socket.socket) -> None:
    """Start a job in a fork, or decline it."""
    request, descriptors = receive(connection)
    try:
        if not _fits(request) or not _prepared(request["arguments"][0]) or _files() != state:
            connection.sendall(bytes([DECLINED]))
        elif os.fork() == 0:
            listener.close()
            _work(connection, request, descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _fits(request: dict[str, Any]) -> bool:
    """Whether this is a job, and whether its environment is that of this process."""
    environments = [{name: value for name, value in each.items() if name not in OWN}
                    for each in (request["environment"], os.environ)]
    return environments[0] == environments[1] and next(iter(request["arguments"]), "") in COMMANDS


@cache
def _prepared(command: str) -> bool:
    """Load what a command needs; False when that fails, which the command then says itself."""
    try:
        for module in COMMANDS[command]:
            importlib.import_module(module)
        if command in COMPILING:
            _prepare_compiler()
    except Exception:
        return False
    gc.collect()
    gc.freeze()  # the collector of a fork would copy all pages
    return True


def _prepare_compiler() -> None:
    from liestep.compile.dispatch import compiler
    from liestep.compile.sources import package_modules
    from liestep.simulation.catalogue import own_systems, sheet

    for module in package_modules(
            "liestep.geometry", "liestep.mechanics.formulations", "liestep.mechanics.systems", "liestep.integrators"):
        importlib.import_module(module)
    for name in own_systems():
        len(sheet(name).presets)  # with those of the papers
    if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
        compiler().load_types()
        _compile_first()


def _compile_first() -> None:
    """Compile one loop where no machine code is kept yet: its functions that all loops have, and what Numba loads with
    them, are a quarter of the time of a loop, which the forks need not spend again."""
    from liestep.compile.cache import cache_root

    if not any(cache_root().glob("advance-*")):
        from liestep.simulation.runs.execution import run_once
        from liestep.simulation.runs.specification import specify

        run_once(specify("free_rigid_body", "rk4", steps=1, t_end=1e-3))


def _work(connection: socket.socket, request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Do a job in this fork, and end."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _follow(connection)
        with suppress(OSError):  # another session: Ctrl-C ends the command, and with it this fork
            os.setpgid(0, request["group"])
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        tempfile.tempdir = None
        sys.argv = ["liestep", *request["arguments"]]
        code = main(request["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        fcntl.fcntl(connection, fcntl.F_SETFL, 0)
        with suppress(OSError):
            connection.sendall(bytes([code]))
        os._exit(code)


def _follow(connection: socket.socket) -> None:
    """Let the kernel end this fork (signal SIGIO) when the command at the other end of the connection ends."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
    with suppress(BlockingIOError):
        if not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):  # it ended before that
            os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1])
