"""System calls of writing that fail: EIO, ENOSPC, EINTR, short writes, one at a time. Nothing has wrong bytes, nothing
is lost, what fails is said in a sentence, and the same job once more makes what an undisturbed one makes.

LIESTEP_TEST_SEED chooses other calls; with LIESTEP_FULL=1 there are up to 1,000 faults instead of 40."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SEED = os.environ.get("LIESTEP_TEST_SEED", "3")
COUNT = "1000" if os.environ.get("LIESTEP_FULL") else "40"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="needs Linux and a C compiler")
def test_a_call_that_fails_leaves_nothing_wrong(tmp_path):
    library = tmp_path/"faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, TESTS/"faults.c", "-ldl"], check=True)
    (tmp_path/"here").mkdir()
    done = subprocess.run([sys.executable, TESTS/"faulty_calls.py", SEED, COUNT], cwd=tmp_path/"here",
                          env={**os.environ, "LD_PRELOAD": str(library), "NUMBA_DISABLE_JIT": "1"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *sentences, last = done.stdout.splitlines()
    assert sentences == []
    made, possible = map(int, re.match(r"(\d+) of (\d+) faults", last).groups())
    assert made == min(int(COUNT), possible) >= 40
