"""A progress bar for single long runs: on a terminal only, never in a log file."""
import sys
from collections.abc import Callable


def progress_bar(label: str) -> Callable[[float], None] | None:
    """Progress bar on a terminal; None when the output is a file."""
    if not sys.stderr.isatty():
        return None
    from rich.progress import Progress

    progress = Progress(transient=True)
    progress.start()
    task = progress.add_task(label, total=1.0)

    def advance(fraction: float) -> None:
        progress.update(task, completed=fraction)
        if fraction >= 1.0:
            progress.stop()

    return advance
