"""The tests of the tests of the cross study: each mutant of the package fails the test that is named beside it."""
import os
import sys
from pathlib import Path

import pytest
import ready
from place import copied_package, paper_code

TOP = Path(__file__).parents[2]
sys.path.insert(0, str(TOP/"tests"/"mutants"))

from families import FAMILY_MUTANTS  # noqa: E402


def outcome(folder, tests):
    """(exit code, text) of tests in plain Python with the package and its bytecode in the folder, not the one kept."""
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("LIESTEP_TEST_CACHE", None)
    if (folder/"papers").is_dir():
        environment["LIESTEP_TEST_PAPERS"] = str(folder)
    done = ready.python("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests, folder=TOP,
                        environment=environment)
    return done.returncode, done.stdout + done.stderr


def test_the_package_passes(tmp_path):
    copied_package(tmp_path)
    code, text = outcome(tmp_path, sorted({mutant.killed_by for mutant in FAMILY_MUTANTS}))
    assert code == 0, text


def test_each_edit_fits_its_source():
    places = {mutant: TOP/("" if mutant.file.startswith("papers/") else "src/liestep")/mutant.file
              for mutant in FAMILY_MUTANTS}
    assert [mutant.name for mutant, path in places.items() if path.read_text().count(mutant.old) != 1] == []


@pytest.mark.parametrize("mutant", FAMILY_MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_fails_its_test(mutant, tmp_path):
    source = copied_package(tmp_path)/mutant.file
    if mutant.file.startswith("papers/"):
        source = paper_code(tmp_path, "cross")/Path(mutant.file).relative_to("papers/cross")
    source.write_text(source.read_text().replace(mutant.old, mutant.new))
    code, text = outcome(tmp_path, [mutant.killed_by])
    assert code == 1, text      # tests ran and failed; errors of collection have other codes
    assert "AssertionError" in text or "\nE       assert " in text, text
