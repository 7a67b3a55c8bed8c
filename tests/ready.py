"""Calls of snakemake and liestep in forks of a process that has loaded both, and whose forks share one loaded fork
server for jobs. A call that makes a small study takes 7 s of processor time with interpreters of its own, 2.5 s so.

What is killed, limited or looked at from outside while it runs, and a package that is edited, have their own
interpreters.
"""
import atexit
import gc
import json
import multiprocessing
import multiprocessing.forkserver
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import psutil

PROGRAMS = {"snakemake": ("snakemake", "snakemake.cli"), "liestep": ("liestep.api.command_line",)*2}  # with their main
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # the Snakefile's, which are read with numpy
READ = ("NUMBA_", "PYTHON", "MPL", "LD_", "LIESTEP_CACHE")  # starts of the names that are read when something is loaded


class Server:
    """The process, and the processor time of its forks and their jobs so far."""

    def __init__(self, environment: Mapping[str, str]):
        self.seconds = 0.0
        self.process = subprocess.Popen([sys.executable, "-P", __file__], text=True, stdin=subprocess.PIPE,
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


def run(program: str, *words: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess:
    """Have a program of PROGRAMS carry out words in a folder, as `subprocess.run` with its outputs as text would."""
    if "PYTHONPATH" in environment:  # of another package
        return subprocess.run([sys.executable, "-m", PROGRAMS[program][0], *words], cwd=folder, env=environment,
                              capture_output=True, text=True)
    key = tuple(sorted((name, value) for name, value in environment.items() if name.startswith(READ)))
    if key not in _servers:
        _servers[key] = Server(environment)
    return _servers[key].run(program, words, folder, environment)


def _server_of_jobs() -> psutil.Process:
    """Load snakemake and start the fork server."""
    multiprocessing.set_forkserver_preload(["liestep.api.preload"])
    multiprocessing.forkserver.ensure_running()
    import snakemake.cli  # noqa: F401

    import liestep.workflow.workflow  # noqa: F401

    return psutil.Process(multiprocessing.forkserver._forkserver._forkserver_pid)


def _asked() -> list | None:
    """In a fork, what it has to do; in the server None, when nobody asks any more."""
    import liestep.api.preload  # noqa: F401

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


def _work(program: str, words: list[str], folder: str, environment: dict[str, str], texts: list[str]) -> None:
    """In a fork: the program, as if it had been called."""
    for number, path in enumerate((os.devnull, *texts)):
        os.dup2(os.open(path, os.O_RDWR | os.O_APPEND), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv = [program, *words]
    # it is no child of this process, which would look for it as for one
    multiprocessing.forkserver._forkserver.ensure_running = lambda: None
    sys.exit(sys.modules[PROGRAMS[program][1]].main(words))


if __name__ == "__main__":
    asked = _asked()
    if asked:
        _work(*asked)
