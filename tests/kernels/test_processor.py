"""Code is compiled for the widest registers of this processor, unless the user wants something
else; bits are the same."""
import os
import subprocess
import sys

import pytest
from llvmlite import binding

from liestep.compile import processor

RUN = """
import hashlib, liestep
from liestep.compile import processor
data = liestep.simulate("lennard_jones_sphere", "vi_sphere", preset="level2", step=0.01, t_end=0.2)
bits = data["q"].values.tobytes() + data["energy"].values.tobytes()
print("-prefer-256-bit" in processor.describe(), hashlib.sha256(bits).hexdigest())
"""


@pytest.mark.skipif(not processor.has_wide_registers(), reason="this processor has no registers of 512 bits")
@pytest.mark.slow
def test_the_width_of_registers_changes_no_bit():
    features = binding.get_host_cpu_features().flatten()
    wide, narrow = (subprocess.run([sys.executable, "-c", RUN], env={**os.environ, **more}, capture_output=True,
                                   text=True, check=True).stdout.split()
                    for more in ({}, {"NUMBA_CPU_FEATURES": features}))
    assert (wide[0], narrow[0]) == ("True", "False")
    assert wide[1] == narrow[1]


GENERATOR = """
import sys
from liestep.compile import cache, processor
__import__("liestep.api.preload") if sys.argv[1] == "server" else cache.compiling()
from numba.core.registry import cpu_target
print((*cpu_target.target_context.codegen().magic_tuple()[1:], ) == processor.target(), processor.describe())
"""


def test_the_fork_server_compiles_for_the_same_processor_as_a_command():
    """Machine code of one that differs by a feature is not found by the other, which compiles everything again."""
    said = [subprocess.run([sys.executable, "-c", GENERATOR, who], capture_output=True, text=True, check=True).stdout
            for who in ("server", "command")]
    assert said[0] == said[1]
    assert said[0].startswith("True")
