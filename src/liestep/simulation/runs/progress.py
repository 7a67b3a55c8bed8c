"""A progress bar for single long runs: on a terminal only, never in a log file."""
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None] | None]:
    """Progress bar on a terminal, taken off it however the run ends; None when the output is a file."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(transient=True) as progress:
        task = progress.add_task(label, total=1.0)
        yield lambda fraction: progress.update(task, completed=fraction)
