"""Calls of snakemake and liestep in forks of a process that has loaded both, and whose forks share one loaded fork
server for jobs. A call that makes a small study takes 7 s of processor time with interpreters of its own, 2.5 s so.

An edited package (that of PYTHONPATH) is imported in forks of a process that has loaded all LIBRARIES and no package:
of the 2 s in which an interpreter loads what it needs, 0.4 s are the package's.

What is killed, limited or looked at from outside while it runs has its own interpreters.
"""
import atexit
import gc
import importlib
import json
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.util
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

PROGRAMS = {"snakemake": ("snakemake", "snakemake.cli"), "liestep": ("liestep.api.command_line",)*2}  # with their main
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # the Snakefile's, which are read with numpy
LIBRARIES = ("PIL.Image", "matplotlib.pyplot", "netCDF4", "numba", "pandas", "pytest", "scipy.integrate",
             "scipy.optimize", "snakemake.cli", "xarray", "yaml")
READ = ("NUMBA_", "PYTHON", "MPL", "LD_", "LIESTEP_CACHE")  # starts of the names that are read when something is loaded


class Server:
    """The process, and the processor time of its forks and their jobs so far."""

    def __init__(self, loaded: str, environment: Mapping[str, str]):
        self.seconds = 0.0
        self.process = subprocess.Popen([sys.executable, "-P", __file__, loaded], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**environment, **dict.fromkeys(THREADS, "1")})
        atexit.register(self.process.communicate)

    def run(self, program: str, words: tuple[str, ...], folder: Path,
            environment: Mapping[str, str]) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as place:
            texts = [Path(place)/name for name in ("stdout", "stderr")]
            for path in texts:
                path.touch()
            print(json.dumps((program, words, str(folder), dict(environment), list(map(str, texts)))),
                  file=self.process.stdin, flush=True)
            code, seconds = self.process.stdout.readline().split()
            self.seconds = float(seconds)
            return subprocess.CompletedProcess([program, *words], int(code), *(path.read_text() for path in texts))


_servers: dict[tuple[tuple[str, str], ...], Server] = {}


def seconds() -> float:
    """Processor time of all calls so far."""
    return sum(server.seconds for server in _servers.values())


def _server(loaded: str, environment: Mapping[str, str]) -> Server:
    """The one whose forks find the environment in which its modules were loaded."""
    read = {name: value for name, value in environment.items() if name.startswith(READ) and name != "PYTHONPATH"}
    key = (("", loaded), *sorted(read.items()))
    if key not in _servers:
        _servers[key] = Server(loaded, {name: value for name, value in environment.items() if name != "PYTHONPATH"})
    return _servers[key]


def run(program: str, *words: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess:
    """Have a program of PROGRAMS carry out words in a folder, as `subprocess.run` with its outputs as text would."""
    if "PYTHONPATH" in environment:  # of another package
        return python("-m", PROGRAMS[program][0], *words, folder=folder, environment=environment)
    return _server("package", environment).run(program, words, folder, environment)


def python(*words: str | Path, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess:
    """What an interpreter does with words (-c CODE, -m MODULE or a file, and arguments) and the package of
    PYTHONPATH."""
    return _server("libraries", environment).run("python", tuple(map(str, words)), folder, environment)


def _server_of_jobs() -> psutil.Process:
    """Load snakemake and start the fork server."""
    multiprocessing.set_forkserver_preload(["liestep.api.preload"])
    multiprocessing.forkserver.ensure_running()
    import snakemake.cli  # noqa: F401

    import liestep.workflow.workflow  # noqa: F401

    return psutil.Process(multiprocessing.forkserver._forkserver._forkserver_pid)


def _forked(_program: str, words: list[str], descriptors: list[int]) -> int:
    """In the place of `spawnv_passfds` of multiprocessing: run its code in a fork, with these descriptors alone."""
    fork = os.fork()
    if not fork:
        for number in sorted(map(int, os.listdir("/proc/self/fd"))):
            if number > 2 and number not in descriptors:
                with suppress(OSError):
                    os.close(number)
        code = 0
        try:  # nothing goes on in the code of the process that was forked
            exec(words[-1], {})
        except SystemExit:
            pass
        except BaseException:
            sys.excepthook(*sys.exc_info())
            code = 1
        os._exit(code)
    return fork


def _asked(loaded: str) -> list | None:
    """In a fork, what it has to do; in the server None, when nobody asks any more."""
    for name in LIBRARIES if loaded == "libraries" else ("liestep.api.preload",):
        importlib.import_module(name)
    jobs = None
    for line in sys.stdin:
        asked = json.loads(line)
        if asked[0] == "snakemake" and not jobs:
            jobs = _server_of_jobs()
        gc.freeze()
        fork = os.fork()
        if not fork:
            return asked
        code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
        print(code, sum(os.times()[2:4]) + (sum(jobs.cpu_times()[2:4]) if jobs else 0.0), flush=True)
    return None


def _interpret(words: list[str]) -> None:
    """In a fork without the package."""
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    with suppress(ModuleNotFoundError):
        importlib.import_module("sitecustomize")
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(words[1], {"__name__": "__main__"})
    elif words[0] == "-m":
        if words[1] == "snakemake":  # its fork server for jobs loads the package once more, and nothing else
            multiprocessing.util.spawnv_passfds = _forked
            multiprocessing.set_forkserver_preload(["liestep.api.preload"])
            multiprocessing.forkserver.ensure_running()
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")


def _work(program: str, words: list[str], folder: str, environment: dict[str, str], texts: list[str]) -> None:
    """In a fork: the program, as if it had been called."""
    for number, path in enumerate((os.devnull, *texts)):
        os.dup2(os.open(path, os.O_RDWR | os.O_APPEND), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    if program == "python":
        return _interpret(words)
    sys.argv = [program, *words]
    # it is no child of this process, which would look for it as for one
    multiprocessing.forkserver._forkserver.ensure_running = lambda: None
    sys.exit(sys.modules[PROGRAMS[program][1]].main(words))


def _end(work: Callable[..., None], *arguments: Any) -> None:
    """Work, and end as an interpreter does, which then takes 0.13 s more to let go of two thousand modules."""
    try:
        work(*arguments)
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    asked = _asked(sys.argv[1])
    if asked:
        _end(_work, *asked)
