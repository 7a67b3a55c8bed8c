"""Methods that are compiled separately and called by their address: the same numbers, one code for all loops."""
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from liestep.compile import cache
from liestep.compile.dispatch import separate
from liestep.compile.separate import new_addresses

pytestmark = pytest.mark.slow

# ten bodies are too large for straight code
CHAIN = Path(__file__).parents[2]/"papers"/"lgt2022"/"studies"/"body_chain.py"

TWICE = """
import hashlib
import sys
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
load_plugin(sys.argv[1])
for name in ("rkmk", "cf4"):
    outcome = run_once(specify("body_chain", name, preset="chain_10", steps=5, t_end=0.01))
    print(hashlib.sha256(outcome.outputs.states.tobytes() + outcome.outputs.series.tobytes()).hexdigest())
"""


FOREIGN = """
import numba
import numpy as np
from liestep.compile.dispatch import compiler
from test_separate import scaled, second
numba.njit(**compiler().PLAIN_OPTIONS)(second)(scaled(), np.ones((2, 3)), np.ones(3))
"""


class Scaled(NamedTuple):
    """What a component may ask for: numbers of both kinds, arrays of both ranks, all results."""

    factor: float
    addresses: np.ndarray

    @separate(2, 1, float, int)
    def total(self, a: np.ndarray, out: np.ndarray, shift: float, k: int) -> float:
        out[k] = shift
        return self.factor*a[1, k] + shift

    @separate(1)
    def positive(self, a: np.ndarray) -> bool:
        return a[0] > 0.0

    @separate(1)
    def clear(self, a: np.ndarray) -> None:
        a[0] = 0.0


def first(part, a, out):
    """A loop that calls all three, with whole numbers where a method takes float64."""
    if part.positive(out):
        part.clear(out)
    return part.total(a, out, 3, 1)


def second(part, a, out):
    return 2.0*part.total(a, out, 1.0, 0)


def scaled(factor=2.0):
    return Scaled(factor, new_addresses(Scaled))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(cache, "_loops", {})
    monkeypatch.setattr(cache, "_separate", {})
    return tmp_path


def test_loops_share_the_machine_code_of_a_method(folder):
    a, part = np.arange(6.0).reshape(2, 3), scaled()
    for loop, wanted in ((first, 11.0), (second, 14.0)):
        out = np.ones(3)
        assert cache.loop_for(loop, part)(part, a, out) == wanted == loop(scaled(), a, np.ones(3))
        np.testing.assert_array_equal(out, [0.0, 3.0, 1.0] if loop is first else [1.0, 1.0, 1.0])
    assert len(set(part.addresses)) == 3
    assert 0 not in part.addresses
    assert sorted(path.name.split("-")[0] for path in folder.iterdir()) == ["clear", "first", "positive", "second",
                                                                            "total"]
    other = scaled(5.0)  # its own numbers, the same machine code
    assert cache.loop_for(second, other)(other, a, np.ones(3)) == 32.0
    np.testing.assert_array_equal(other.addresses, part.addresses)


def test_a_call_with_another_kind_of_array_is_inlined(folder):
    part = scaled()._replace(factor=np.float64(2.0))
    every_other, out = np.ones((2, 6))[:, ::2], np.ones(3)
    assert cache.compiling()[0].njit(**cache.compiler().PLAIN_OPTIONS)(second)(part, every_other, out) == 6.0
    np.testing.assert_array_equal(part.addresses, new_addresses(Scaled))  # nothing was asked for an address


def test_a_loop_of_another_compiler_ends_with_a_sentence():
    """There is no way back from a wrong address in machine code."""
    done = subprocess.run([sys.executable, "-c", FOREIGN], capture_output=True, text=True, cwd=Path(__file__).parent,
                          check=False)
    assert done.returncode < 0
    assert "call the loop that liestep.compile.cache.loop_for gives" in done.stderr


def test_integrators_share_the_machine_code_of_a_mechanism(tmp_path, monkeypatch):
    monkeypatch.setenv("LIESTEP_CACHE", str(tmp_path))

    def hashes():
        return subprocess.run([sys.executable, "-c", TWICE, CHAIN], check=True, capture_output=True, text=True).stdout

    cold = hashes()
    names = [path.name.split("-")[0] for path in tmp_path.glob("*.nbc")]
    assert sorted(names) == ["advance", "advance", "evaluate", "observe"]
    assert hashes() == cold  # from disk, at other addresses; one that is lost is made again: test_damaged_code.py
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert hashes() == cold


class Bare(NamedTuple):
    factor: float


def times_factor(part, a):
    return part.factor*a[0]


def test_only_components_with_units_are_looked_at_again(folder, monkeypatch):
    asked, prepare = [], cache.prepare
    monkeypatch.setattr(cache, "prepare", lambda *parts: asked.append(parts) or prepare(*parts))
    loop, a = cache.loop_for(times_factor, Bare(2.0)), np.ones(3)
    assert [loop(Bare(factor), a) for factor in (2.0, 3.0, 4.0)] == [2.0, 3.0, 4.0]
    assert len(asked) == 1
    loop, a = cache.loop_for(second, scaled()), np.ones((2, 3))
    assert [loop(scaled(factor), a, np.ones(3)) for factor in (2.0, 3.0)] == [6.0, 8.0]  # new addresses each time
    assert len(asked) == 3
