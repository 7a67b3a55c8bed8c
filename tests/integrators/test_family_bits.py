"""Splittings and the spherical midpoint rule: machine code gives the bits of plain Python, failures included."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS/"kernels"))

from test_core_quality import PACKAGE, fingerprint  # noqa: E402

CASES = [
    ("heavy_top", "exact_split", {"preset": "asymmetric", "steps": 10, "t_end": 5.0}),
    ("heavy_top", "dmv", {"preset": "asymmetric", "steps": 10, "t_end": 1.0}),
    ("heavy_top", "dmv", {"preset": "bruels_cardona", "steps": 2, "t_end": 1.0}),  # turns too far
    ("heavy_top", "body_midpoint", {"preset": "asymmetric", "steps": 20, "t_end": 1.0}),
    ("heavy_top", "lie_midpoint", {"preset": "asymmetric", "steps": 20, "t_end": 1.0, "options": {"splitting": "y4"}}),
    ("sphere_nbody", "sphere_split", {"preset": "four_bodies", "steps": 20, "t_end": 2.0}),
    ("sphere_nbody", "sphere_regularised", {"preset": "paper", "tolerance": 0.05, "t_end": 2.0, "samples": 5}),
    ("sphere_vortices", "spherical_midpoint", {"preset": "four", "steps": 20, "t_end": 1.0}),
]


@pytest.fixture(scope="module")
def plain():
    """Fingerprints of all cases by plain Python, in one process."""
    program = ("import json, test_core_quality as one, test_family_bits as other;"
               " print(json.dumps([one.fingerprint(*case) for case in other.CASES]))")
    folders = (PACKAGE.parent, TESTS, TESTS/"kernels", TESTS/"integrators")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(map(str, folders))}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{case[1]}-{k}" for k, case in enumerate(CASES)])
def test_machine_code_gives_the_bits_of_plain_python(plain, index):
    found = fingerprint(*CASES[index])
    assert found == plain[index]
    assert found[0] == ("TURN_TOO_LARGE" if index == 2 else "OK")
