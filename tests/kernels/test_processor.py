"""Code is compiled for the level of this processor and its widest registers, unless the user wants something else; bits
are the same."""
import os
import subprocess
import sys

import pytest
from llvmlite import binding

from liestep.compile import processor

RUN = """
import hashlib, liestep
from liestep.compile import interpreted, processor
interpreted.PAYS = 0.0
data = liestep.simulate("lennard_jones_sphere", "vi_sphere", preset="level2", step=0.01, t_end=0.2)
bits = data["q"].values.tobytes() + data["energy"].values.tobytes()
print("-prefer-256-bit" in processor.target()[2], hashlib.sha256(bits).hexdigest())
"""


@pytest.mark.skipif(not processor.has_wide_registers(), reason="this processor has no registers of 512 bits")
@pytest.mark.slow
def test_level_and_width_of_registers_change_no_bit():
    features = binding.get_host_cpu_features().flatten()
    wide, *narrow = (subprocess.run([sys.executable, "-c", RUN], env={**os.environ, **more}, capture_output=True,
                                    text=True, check=True).stdout.split()
                     for more in ({}, {"NUMBA_CPU_FEATURES": features},
                                  {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": ""}))
    assert wide[0] == "True"
    assert narrow == [["False", wide[1]]]*2


@pytest.mark.parametrize(("level", "missing"), [
    ("x86-64-v4", ""), ("x86-64-v3", "avx512vl"), ("x86-64-v2", "fma"), ("x86-64", "popcnt")])
def test_the_level_is_the_highest_of_which_nothing_is_missing(monkeypatch, level, missing):
    have = dict.fromkeys(" ".join(processor.LEVELS.values()).split(), True) | {missing: False}
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: have)
    monkeypatch.setattr(binding, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    assert processor._level() == (level, "-prefer-256-bit" if level == "x86-64-v4" else "")
    monkeypatch.setattr(binding, "get_process_triple", lambda: "aarch64-unknown-linux-gnu")
    assert processor._level()[0] == "generic"


LATE = """
import numba
numba.njit(lambda x: x + 1.0)(1.0)
from liestep.compile import cache, processor
from numba.core.registry import cpu_target
print((*cpu_target.target_context.codegen().magic_tuple(), ) == processor.target(), cache.machine())
"""


def test_code_of_a_compiler_that_was_ready_before_is_not_said_to_be_for_a_level():
    said = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True).stdout
    assert said.startswith("True")
    assert binding.get_host_cpu_features().flatten() in said


GENERATOR = """
import sys
from liestep.compile import cache, processor
__import__("liestep.api.preload") if sys.argv[1] == "server" else cache.compiling()
from numba.core.registry import cpu_target
print((*cpu_target.target_context.codegen().magic_tuple(), ) == processor.target(), *processor.target())
"""


def test_the_fork_server_compiles_for_the_same_processor_as_a_command():
    """Machine code of one that differs by a feature is not found by the other, which compiles everything again."""
    said = [subprocess.run([sys.executable, "-c", GENERATOR, who], capture_output=True, text=True, check=True).stdout
            for who in ("server", "command")]
    assert said[0] == said[1]
    assert said[0].startswith("True")
