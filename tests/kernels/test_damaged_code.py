"""Machine code on disk that is damaged is never called: the same numbers, and whole files after the same call.

A run or a few small functions are computed in a fork, so that a signal would be seen. LIESTEP_TEST_SEED chooses other
bits; there are 5 flips and 4 torn files, with --all 20 and 8, with LIESTEP_FULL=1 1,000 and 200.
"""
import os
import random
import shutil
import time
from collections.abc import Callable

import numpy as np
import pytest
from trials import trials

from liestep.compile import cache
from liestep.compile.straight import routines, straight
from liestep.files import sealed
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
from tests.kernels.test_separate import first, scaled, second

SEED = int(os.environ.get("LIESTEP_TEST_SEED", "11"))
FULL = bool(os.environ.get("LIESTEP_FULL"))
FLIPS, TORN = trials(5, 20, 1000), trials(4, 8, 200)
TEXT = (f"define i64 @routine({routines.ARGUMENTS}) {{\n"
        "  %s = fadd double %t, 1.5\n  store double %s, ptr %out\n  ret i64 1\n}")
ROUTINE = routines.Routine(TEXT, np.array([0.1, 0.7]), routines.LARGE)


def small() -> bytes:
    """Numbers of loops, methods compiled separately, straight-line code and a kept trace."""
    a, part, found = np.arange(6.0).reshape(2, 3), scaled(), []
    for loop in (first, second):
        out = np.ones(3)
        found += [cache.loop_for(loop, part)(part, a, out), *out]
    kept = routines.kept("a key", lambda: {"one": ROUTINE})["one"]
    code, out = straight._loaded.__wrapped__(kept.text), np.zeros(1)
    for t in kept.constants:
        assert straight_call(code, t, out) == 1
        found.append(out[0])
    return np.array(found).tobytes()


def straight_call(code: straight.Loaded, t: float, out: np.ndarray) -> int:
    from liestep.compile.separate import call_address

    return call_address(code.addresses["routine"], t, out, out, out, np.zeros(8, dtype=np.int64), out)


def real() -> bytes:
    outcome = run_once(specify("spherical_pendulum_chain", "taylor", tolerance=1e-8, t_end=0.2, samples=3))
    return outcome.outputs.states.tobytes() + outcome.outputs.series.tobytes()


def forked(compute: Callable[[], bytes]) -> bytes:
    """What a function returns in a fork of this process, which must not end by a signal or an exception."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, compute())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and nothing compiled in this process."""
    monkeypatch.setenv("LIESTEP_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_loops", {})
    monkeypatch.setattr(cache, "_separate", {})
    return tmp_path


def flipped(data: bytes, chosen: random.Random) -> bytes:
    copy = bytearray(data)
    copy[chosen.randrange(len(copy))] ^= 1 << chosen.randrange(8)
    return bytes(copy)


TEARS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "torn": lambda data, chosen: data[:chosen.randrange(len(data))], "zeroed": lambda data, _: bytes(len(data)),
    "halved": lambda data, _: data[:len(data)//2], "emptied": lambda data, _: b""}


def mended(folder, wanted: bytes, compute: Callable[[], bytes], names: set[str]) -> None:
    assert forked(compute) == wanted
    assert {path.name for path in folder.iterdir()} == names
    assert all(sealed.content(path) is not None for path in folder.iterdir())


def test_damaged_files_are_made_again_at_the_same_call(folder):
    wanted, chosen = forked(small), random.Random(SEED)
    whole = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    kinds = {path.name.split("-")[0] for path in whole}
    assert kinds == {"first", "second", "positive", "clear", "total", "straight", "trace"}
    damages = [flipped]*FLIPS + list(TEARS.values())*(TORN//4)
    for damage in damages:
        path = chosen.choice(list(whole))
        path.write_bytes(damage(whole[path], chosen))
        mended(folder, wanted, small, {each.name for each in whole})
    others = list(whole)
    for path, other in zip(others, others[1:] + others[:1], strict=True):  # whole files under each other's names
        path.write_bytes(whole[other])
    mended(folder, wanted, small, {each.name for each in whole})


@pytest.mark.slow
@pytest.mark.parametrize("tear", [*TEARS, "flipped"] if FULL else ["halved"])
def test_a_run_whose_machine_code_is_damaged_has_the_same_bits(folder, tear):
    wanted, chosen = forked(real), random.Random(SEED)
    names = {path.name for path in folder.iterdir()}
    assert {name.split("-")[0] for name in names} >= {"advance_adaptive", "straight"}
    for path in sorted(folder.iterdir()):
        path.write_bytes({**TEARS, "flipped": flipped}[tear](path.read_bytes(), chosen))
    mended(folder, wanted, real, names)


def test_whole_files_are_not_written_again(folder):
    wanted = forked(small)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert forked(small) == wanted
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_what_killed_processes_left_is_removed(folder):
    old, young, other = folder/".first-0123.77.abcdef12.tmp", folder/".straight-0123.o.77.abcdef12.tmp", folder/".ssh"
    for path in (old, young, other):
        path.write_bytes(b"x")
    long_ago = time.time() - 2*sealed.LEFT_OVER
    for path in (old, other):  # a folder of people's own files may have been named as the cache
        os.utime(path, (long_ago, long_ago))
    forked(small)
    assert {path.name for path in folder.iterdir() if path.name.startswith(".")} == {young.name, other.name}


def test_files_are_flushed_before_they_are_renamed(folder, monkeypatch):
    calls, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (calls.append("fsync"), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("replace"), replace(*paths)))
    assert sealed.keep(folder/"one", b"content")
    assert calls == ["fsync", "replace"]
    assert sealed.content(folder/"one") == b"content"


def test_a_damaged_file_has_no_content(folder):
    place = folder/"text"
    sealed.keep(place, b"a text")
    assert sealed.content(place) == b"a text"
    shutil.copy(place, folder/"whole")
    for damage in (flipped, *TEARS.values()):
        with open(place, "rb") as file:
            data = file.read()
        with open(place, "wb") as file:
            file.write(damage(data, random.Random(SEED)))
        assert sealed.content(place) is None
        shutil.copy(folder/"whole", place)
