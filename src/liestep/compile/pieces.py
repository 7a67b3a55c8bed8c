"""Compiled loops run in pieces of about a tenth of a second, so that Ctrl-C ends them, somebody may watch, and a run of
far too many steps can be given up.

During a piece the signal is only noted: Python's handler would raise its exception within the call of machine code, and
Numba would report a SystemError. What cannot be interrupted is one step."""
import signal
import threading
from time import perf_counter
from types import FrameType
from typing import Any

PIECE = 0.1           # s of a piece
FIRST = 1e-3          # s of the first one for a fast method; its steps are counted by the next two numbers
LINEAR, QUADRATIC = 1.5e-8, 1e-9  # s a step of a fast method takes for each number of the state, and for each pair
SLOW = 10**6          # in place of the size of the state: the first piece is one step
GROWTH = 8.0          # a piece has at most so many times the steps of the one before
MOST = 2**40          # steps of a piece: those that end early, at a full log, would ask for ever more


class TooLong(Exception):
    """The pieces took longer than their limit."""


class Pieces:
    """Number of steps of the next piece, for a state of so many numbers; the bits of a run do not depend on it. limit:
    s after which the pieces end with TooLong. `with` notes Ctrl-C, if it would raise an exception here."""

    def __init__(self, numbers: int, limit: float | None = None):
        self.steps = max(1, int(FIRST/(LINEAR*numbers + QUADRATIC*numbers**2)))
        self.limit, self._noted = limit, False

    def __enter__(self) -> "Pieces":
        self._before: Any = None
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._before = signal.signal(signal.SIGINT, self._note)
        self._start = self._last = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        self._raise_noted()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted:  # pressed again within one long step
            self._before(number, frame)
        self._noted = True

    def _raise_noted(self) -> None:
        if self._noted:
            self._noted = False
            self._before(signal.SIGINT, None)

    def ended(self) -> None:
        """After each piece. Raises KeyboardInterrupt: Ctrl-C was pressed; TooLong."""
        now = perf_counter()
        taken, self._last = now - self._last, now
        self.steps = max(1, min(MOST, int(self.steps*min(GROWTH, PIECE/max(taken, 1e-9)))))
        self._raise_noted()
        if self.limit is not None and now - self._start > self.limit:
            raise TooLong
