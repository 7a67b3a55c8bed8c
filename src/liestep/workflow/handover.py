"""Jobs without the start of a process each: hand a command over to the workflow's job server, and start that server.

Python, Numba and matplotlib take 0.5 to 1.3 s to load, a job of warm runs less than that. The job server
(`liestep.api.jobserver`) has loaded them once and does each job in a fork of itself. The command that Snakemake starts
stays the job's process: it waits for the fork, has its exit code, and the fork dies with it. Whoever types the command
has no server, and does the same work himself. Imports of this module are light.
"""
import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

SERVER = "LIESTEP_JOB_SERVER"  # environment: the socket of the server
DECLINED = 254                 # not an exit code of any command: the command does the job itself
LONGEST = 100                  # bytes of a socket's name; systems allow 104 to 108
# What the server needs: forks that are safe beside threads, Linux's signal at the end of a connection, descriptors that
# are sent through a socket.
LINUX = sys.platform == "linux" and hasattr(os, "fork") and hasattr(socket, "send_fds")
# Set by Snakemake for jobs of one thread; the libraries of the server read them when it loads them.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                         "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")


def hand_over(arguments: list[str]) -> int | None:
    """Have the job server carry out a command with this process's files, folder and environment; returns its exit
    code, None when there is no server or it declines."""
    place = os.environ.get(SERVER)
    if not place or not LINUX:
        return None
    request = json.dumps({"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ),
                          "group": os.getpgid(0)}).encode()
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(request)
        answer = _answer(connection)
        return None if answer == bytes([DECLINED]) else answer[0] if answer else 1
    return None


def _answer(connection: socket.socket) -> bytes:
    """The exit code; empty when the job died. Ctrl-C reaches the job too, which then ends by itself."""
    while True:
        with suppress(KeyboardInterrupt):
            return connection.recv(1)


def start() -> None:
    """Start a job server for the jobs of this process; it ends with this process, however that ends. Without one
    (on another system than Linux, or its socket's name is too long, or it does not start) jobs do their work
    themselves."""
    if not LINUX:
        return
    folder = Path(tempfile.mkdtemp(prefix="liestep-"))  # nobody else can enter it
    place = str(folder/"jobs")
    if len(os.fsencode(place)) > LONGEST:
        folder.rmdir()
        return
    # a pipe that is closed when this process ends tells the server to end
    process = subprocess.Popen([sys.executable, "-m", "liestep.api.jobserver", place], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env={**os.environ, **THREADS})
    assert process.stdout is not None
    if process.stdout.readline():  # it listens
        os.environ[SERVER] = place
    atexit.register(process.communicate)  # closes the pipe and waits, so that the server's processor time is counted


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What `hand_over` has sent: the request, and the descriptors of its standard files. Raises EOFError."""
    head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    if len(head) < 8 or len(descriptors) < 3:
        raise EOFError
    size, parts = int.from_bytes(head, "big"), []
    while size > 0:
        part = connection.recv(min(size, 1 << 16))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return json.loads(b"".join(parts)), list(descriptors)
