"""Jobs without the start of a process each: the command that Snakemake starts hands its work over to the pool of the
workflow (`liestep.api.pool`), waits for it, and has its exit code. The work dies with the command. Whoever types the
command has no pool, and does the work himself. Imports of this module are light."""
import os
import signal
from contextlib import suppress

POOL = "LIESTEP_POOL"  # environment: the address of the pool


def hand_over(words: list[str]) -> int | None:
    """Have the pool carry out a command with this process's files, folder, environment; its exit code, None if not."""
    address = os.environ.get(POOL)
    if not address:
        return None
    from multiprocessing.connection import Client

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the job too, which then ends by itself
    try:
        with suppress(OSError), Client(address) as connection:
            connection.send((os.getpid(), os.getcwd(), dict(os.environ), words))
            try:
                return connection.recv()
            except (EOFError, OSError):  # the workflow was killed
                return 1
        return None
    finally:
        signal.signal(signal.SIGINT, before)
