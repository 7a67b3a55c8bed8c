"""Ctrl-C ends a run within a piece, in one sentence, from Python, from the command line and on a terminal; pieces
change no bit of a run. Each run here would take hours: one that cannot be interrupted fails by the limit of its call.
"""
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from place import TOP

from liestep.compile import pieces
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify

TRIALS = 100 if os.environ.get("LIESTEP_FULL") == "1" else 6
LONG = {"fixed": ("rk4", {"step": 1e-7, "t_end": 1e4}), "implicit": ("slgi", {"step": 1e-6, "t_end": 1e4}),
        "adaptive": ("dop853", {"tolerance": 1e-13, "t_end": 1e8})}
RUN = ["run", "heavy_top", "rk4", "--step", "1e-7", "--t-end", "1e4", "-o", "run.nc"]
COMMAND = [sys.executable, "-m", "liestep.api.command_line", *RUN]


@pytest.fixture(autouse=True)
def _signal_is_heard():
    """Programs that a shell starts in the background ignore it, and so would those that the tests start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind", LONG)
def test_ctrl_c_in_python(kind, monkeypatch):
    """The signal comes at a time after the pieces have begun: before them, while a run is built, there is nothing to
    say but Python's own KeyboardInterrupt.
    """
    integrator, size = LONG[kind]
    spec = specify("heavy_top", integrator, samples=2, **size)
    run_once(specify("heavy_top", integrator, samples=2, **{**size, "t_end": 10*size.get("step", 1e-3)}))  # compiles
    enter = pieces.Pieces.__enter__

    def entered(own):
        enter(own)
        timer.start()
        return own

    monkeypatch.setattr(pieces.Pieces, "__enter__", entered)
    for trial in range(TRIALS):
        timer = threading.Timer(0.01 + 0.013*(trial % 20), os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt, match=r"interrupted: .* on heavy_top had come to t = .* of "):
            run_once(spec, limit=60.0)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        timer.join()


def test_ctrl_c_on_the_command_line_without_a_bar(tmp_path):
    for trial in range(max(1, TRIALS//10)):
        with subprocess.Popen(COMMAND, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(TOP/"src")}) as process:
            time.sleep(4.0 + 0.05*trial)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert said.startswith("liestep: interrupted")
        assert said.count("\n") == 1
        assert not list(tmp_path.glob("*.nc*"))


def test_ctrl_c_on_a_terminal(tmp_path):
    """Of a run of minutes, so that its bar moves: then the loop is under way."""
    own, other = pty.openpty()
    command = [part.replace("1e4", "1e2") for part in COMMAND]
    with subprocess.Popen(command, cwd=tmp_path, stdin=other, stdout=other, stderr=other, start_new_session=True,
                          env={**os.environ, "TERM": "xterm", "PYTHONPATH": str(TOP/"src")}) as process:
        os.close(other)
        shown = b""
        while b"  1 %" not in shown:
            shown += os.read(own, 1000)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        with suppress(OSError):  # the other end is closed
            while part := os.read(own, 1000):
                shown += part
    assert b"liestep: interrupted: rk4 on heavy_top had come to t =" in shown
    assert b"Traceback" not in shown


@pytest.mark.parametrize(("integrator", "size"), [("rk4", {"steps": 300}), ("vi_sphere", {"steps": 300}),
                                                  ("dop853", {"tolerance": 1e-12}), ("taylor", {"tolerance": 1e-9})])
def test_pieces_change_no_bit(monkeypatch, integrator, size):
    spec = specify("sphere_nbody", integrator, t_end=3.0, samples=11, **size)
    monkeypatch.setattr(pieces, "FIRST", 1e9)
    whole = run_once(spec)
    monkeypatch.setattr(pieces, "FIRST", 0.0)
    monkeypatch.setattr(pieces, "PIECE", 0.0)  # one step each
    parts = run_once(spec)
    assert np.array_equal(whole.outputs.states, parts.outputs.states)
    assert np.array_equal(whole.outputs.series, parts.outputs.series)
    assert np.array_equal(whole.outputs.block_sum, parts.outputs.block_sum)
    assert (whole.steps, whole.counters) == (parts.steps, parts.counters)


def test_pieces_that_end_early_for_ever_ask_for_a_number_of_steps():
    """A full log of steps ends a piece early: 400 such pieces overflowed a float."""
    own = pieces.Pieces(6)
    with own:
        for _ in range(1000):
            own.ended()
    assert own.steps == pieces.MOST


def test_another_handler_of_the_signal_is_called():
    """A program's own handler hears of Ctrl-C, though only when a piece has ended."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with pieces.Pieces(6) as own:
            os.kill(os.getpid(), signal.SIGINT)
            assert heard == []
            own.ended()
            assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_that_takes_longer_than_its_limit_says_how_far_it_came():
    with pytest.raises(ValueError, match=r"a run takes longer than 0\.2 s: it had come to t = .* of 10000 s"):
        run_once(specify("heavy_top", "rk4", step=1e-7, t_end=1e4, samples=2), limit=0.2)


def test_ctrl_c_that_the_compiler_lost_is_one_still():
    """An exception in LLVM's callback is printed and forgotten, and the code is missing later."""
    from liestep.compile.cache import _complaints

    with pytest.raises(KeyboardInterrupt), _complaints():
        raise RuntimeError("no compiled object yet for <Library 'advance' at 0x7ff2921ff050>")
    with pytest.raises(RuntimeError, match="another"), _complaints():
        raise RuntimeError("another")
