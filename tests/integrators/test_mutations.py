"""The tests of the tests: the checks of order, momentum, symmetry and manifold accept the package and
reject each mutant of it."""
import json
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import ready
from checks import states
from place import copied_package

from liestep.simulation.catalogue import sheet

HERE = Path(__file__).parents[1]/"mutants"
sys.path.insert(0, str(HERE))

from catalogue import MUTANTS, SOUND  # noqa: E402
from examine import T_END  # noqa: E402


@cache
def true_states(problem):
    """Accurate states of the package as it is."""
    spheres = "sphere_lagrangian" in sheet(problem[0]).forms
    return states(problem, *(("vi_sphere weights=kl8", 500) if spheres else ("rkmk tableau=dormand_prince5", 5000)),
                  T_END)


def verdict(folder, problem, integrator, options):
    """Failed checks of an integrator in the copy of the package in `folder`, found by plain
    Python in another process."""
    np.savez(folder/"true.npz", **true_states(problem))
    request = {"problem": problem, "integrator": integrator, "options": options, "true": str(folder/"true.npz")}
    (folder/"request.json").write_text(json.dumps(request))
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1"}
    done = ready.python(HERE/"examine.py", folder/"request.json", folder=folder, environment=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("problem", "integrator", "options"), SOUND,
                         ids=[f"{integrator}-{'-'.join(str(value) for _, value in options)}-{problem[0]}"
                            for problem, integrator, options in SOUND])
def test_the_package_passes(problem, integrator, options, tmp_path):
    copied_package(tmp_path)
    assert verdict(tmp_path, problem, integrator, dict(options)) == {}


def test_each_edit_fits_its_source():
    texts = [(mutant, (HERE.parents[1]/"src"/"liestep"/mutant.file).read_text()) for mutant in MUTANTS]
    assert [mutant.name for mutant, text in texts if text.count(mutant.old) != mutant.count] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_is_rejected(mutant, tmp_path):
    source = copied_package(tmp_path)/mutant.file
    source.write_text(source.read_text().replace(mutant.old, mutant.new))
    failed = verdict(tmp_path, mutant.problem, mutant.integrator, mutant.options)
    assert set(mutant.breaks) <= set(failed), failed
