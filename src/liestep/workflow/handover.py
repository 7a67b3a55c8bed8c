"""Jobs without the start of a process each: the command that Snakemake starts hands its work over to the pool of the
workflow (`liestep.api.pool`), waits for it, and has its exit code. The work dies with the command. Whoever types the
command has no pool, and does the work himself. Imports of this module are light."""
import os
import signal
import time
from contextlib import suppress

PATIENCE = 2.0  # s for a job that ends after Ctrl-C
POOL = "LIESTEP_POOL"  # environment: the address of the pool


def hand_over(words: list[str]) -> int | None:
    """Have the pool carry out a command with this process's files, folder, environment; its exit code, None if not."""
    address = os.environ.get(POOL)
    if not address:
        return None
    from multiprocessing.connection import Client

    told: list[float] = []  # when Ctrl-C was pressed
    before = signal.signal(signal.SIGINT, lambda *_: told.append(time.monotonic()))
    try:
        with suppress(OSError), Client(address) as connection:
            connection.send((os.getpid(), os.getcwd(), dict(os.environ), words))
            try:
                # Ctrl-C reaches the job too, which then ends by itself, unless it had not begun: then the pool ends it
                while not connection.poll(0.1*PATIENCE):
                    if told and time.monotonic() > told[0] + PATIENCE:
                        return 130
                return connection.recv()
            except (EOFError, OSError):  # the workflow was killed
                return 1
        return None
    finally:
        signal.signal(signal.SIGINT, before)
