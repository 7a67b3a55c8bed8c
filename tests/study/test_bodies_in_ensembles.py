"""Ensembles, replicas and horizons of a system that has neither q nor omega, and the mutants of the contracts that they
stand on."""
import os
from pathlib import Path

import numpy as np
import pytest
import ready
from ensembles import ensemble_states
from place import copied_package

from liestep.figures.kinds.series import separation
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.errors import error_fields, member_distances
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse

TESTS = Path(__file__).parents[1]
STUDY = """
title: Ensemble of tops
problems:
  top: {system: heavy_top, t_end: 1.0}
integrators:
  rkmk4: {id: rkmk, ensemble: {members: 4, amplitude: 1.0e-8, seed: 2}}
steps: {counts: [200]}
samples: 21
reference: false
tables: [energy, horizons]
"""


def made(folder):
    (folder/"studies").mkdir()
    (folder/"studies"/"tops.yaml").write_text(STUDY)
    study = Study.find("tops", folder, folder/"results")
    run_cells(study.cells)
    analyse(study)
    return StudyResults(study)


def test_members_of_a_body_start_on_the_manifold_at_the_amplitude():
    spec = specify("heavy_top", "rk4", steps=10, ensemble={"members": 5, "amplitude": 1e-6, "seed": 1})
    first, *others = ensemble_states(spec)
    assert len(others) == 4
    for state in others:
        check_attitude("attitude", state["attitude"])
        for name, values in state.items():
            assert 1e-7 < np.abs(values - first[name]).max() < 1e-5, name


def test_a_body_has_horizons_and_their_figure(tmp_path):
    results = made(tmp_path)
    file = results.file("top", "rkmk4", results.study.cells[0].resolution)
    assert [part.name for part in error_fields(file)] == ["attitude", "angular_momentum"]
    apart = member_distances(file)
    assert apart.shape == (3, 21)
    by_hand = [np.sqrt(0.5*((file["attitude"][1:] - file["attitude"][0])**2).sum(axis=(-1, -2))),
               np.linalg.norm(file["angular_momentum"][1:] - file["angular_momentum"][0], axis=-1)
               / np.linalg.norm(file["angular_momentum"][0], axis=-1).max()]
    assert np.allclose(apart, np.max(by_hand, axis=0), rtol=1e-12, atol=0.0)
    horizon = results.table("horizons").iloc[0]
    assert horizon["separation_end"] == pytest.approx(apart[:, -1].max())
    assert len(separation(results).axes[0].lines) == 3 + 1


def test_replicas_of_a_body_have_a_spread_in_its_norms(tmp_path):
    from liestep.simulation.runs.outcomes import carry_out

    content = carry_out(specify("heavy_top", "rk4", steps=200, t_end=1.0, samples=5, replicas=3))
    for name in ("attitude", "angular_momentum"):
        assert 0.0 < content.variables[f"spread_{name}"][1][-1] < 1e-10


@pytest.mark.parametrize(("file", "old", "new", "test"), [
    ("mechanics/contracts/formulated.py", "or 1.0 if self.scaled else 1.0", "*0.0 or 1.0", "kernels/test_norms.py"),
    ("simulation/runs/execution.py", "copy(y, self.states[slot])", "copy(y[:, :3], self.states[slot])",
     "integrators/test_wide_states.py::test_the_fourth_number_reaches_the_file"),
], ids=["a norm without scale", "a recorder that drops the last column"])
def test_mutants_of_the_contracts_are_rejected(tmp_path, file, old, new, test):
    copied_package(tmp_path)
    call = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", TESTS/test)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    environment.pop("LIESTEP_TEST_CACHE", None)  # its bytecode is that of other folders
    sound = ready.python(*call, folder=TESTS.parent, environment=environment)
    assert sound.returncode == 0, sound.stdout
    source = tmp_path/"liestep"/file
    assert source.read_text().count(old) == 1, "the edit no longer fits the source"
    source.write_text(source.read_text().replace(old, new))
    broken = ready.python(*call, folder=TESTS.parent, environment=environment)
    assert broken.returncode == 1, broken.stdout
