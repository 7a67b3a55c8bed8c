"""Splittings, mechanisms and bodies on joints: machine code gives the bits of plain Python, failures included, and
has no reference counts."""
import sys
from pathlib import Path

import pytest

from liestep.compile.cache import prepare
from liestep.compile.driver import advance

sys.path.insert(0, str(Path(__file__).parents[1]/"kernels"))

from test_core_quality import fingerprint, fixed_arguments, machine_code, plain_fingerprints

CASES = [
    ("heavy_top", "exact_split", {"preset": "asymmetric", "steps": 10, "t_end": 5.0}),
    ("heavy_top", "dmv", {"preset": "asymmetric", "steps": 10, "t_end": 1.0}),
    ("heavy_top", "dmv", {"preset": "bruels_cardona", "steps": 2, "t_end": 1.0}),  # turns too far
    ("heavy_top", "body_midpoint", {"preset": "asymmetric", "steps": 20, "t_end": 1.0}),
    ("heavy_top", "lie_midpoint", {"preset": "asymmetric", "steps": 20, "t_end": 1.0, "options": {"splitting": "y4"}}),
    ("sphere_nbody", "sphere_split", {"preset": "four_bodies", "steps": 20, "t_end": 2.0}),
    ("sphere_nbody", "sphere_regularised", {"preset": "paper", "tolerance": 0.05, "t_end": 2.0, "samples": 5}),
    ("free_rigid_body", "spherical_midpoint", {"preset": "asymmetric", "steps": 20, "t_end": 1.0}),
    # methods of these are compiled separately and called by their addresses
    ("four_bar", "rkmk", {"preset": "tilted", "steps": 5, "t_end": 0.05}),
    ("four_bar", "rkmk", {"preset": "tilted", "steps": 5, "t_end": 0.05, "options": {"stabilisation": "projection"}}),
    ("four_bar", "generalized_alpha", {"preset": "tilted", "steps": 5, "t_end": 0.005}),
    ("four_bar", "bliedf", {"preset": "tilted", "steps": 6, "t_end": 0.006}),
    ("free_rigid_body", "eml", {"steps": 3, "t_end": 0.003, "options": {"coordinates": "directors"}}),
]
TOO_FAR = 2


@pytest.fixture(scope="module")
def plain():
    return plain_fingerprints(CASES)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{case[1]}-{k}" for k, case in enumerate(CASES)])
def test_machine_code_gives_the_bits_of_plain_python(plain, index):
    found = fingerprint(*CASES[index])
    assert found == plain[index]
    assert found[0] == ("TURN_TOO_LARGE" if index == TOO_FAR else "OK")


@pytest.mark.parametrize(("problem", "integrator"), [("four_bar", "rkmk"), ("jointed_body", "generalized_alpha")])
def test_no_reference_counts_beside_methods_compiled_separately(problem, integrator):
    arguments = fixed_arguments(problem, integrator)
    prepare(*arguments)
    assert "NRT_" not in machine_code(advance, arguments)
