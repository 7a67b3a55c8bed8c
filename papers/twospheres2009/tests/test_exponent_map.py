"""The map of exponents over a grid of starts."""
import numpy as np
import pytest
from liestep_papers.twospheres2009.exponents import exponent_map

from liestep.errors import InputError
from liestep.simulation.runs.files import read
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults

STUDY = """title: A small map
problems:
  pendulum: {system: spherical_pendulum_chain, preset: orders, t_end: 1}
integrators:
  vi_sphere:
    steps: [0.01]
    exponents: 1
    grid:
      - {field: q, index: 0, axis: y, first: 0.1, last: 1.0, count: 3}
      - {field: q, index: 1, axis: x, first: 0.1, last: 2.5, count: 4}
samples: 2
"""


def test_map_shows_the_exponent_of_every_start(tmp_path):
    (tmp_path/"map.yaml").write_text(STUDY)
    study = Study(tmp_path/"map.yaml", "map", tmp_path/"results")
    run_cells(study.cells)
    panel = exponent_map(StudyResults(study)).axes[0]
    (mesh,) = panel.collections
    assert np.array_equal(np.asarray(mesh.get_array()).ravel(), read(study.cells[0].path)["lyapunov"])
    assert panel.get_xlabel() == "rotation of $q_2$ about x (degrees)"
    assert panel.get_ylabel() == "rotation of $q_1$ about y (degrees)"


def test_a_study_without_a_grid_has_none(tmp_path):
    (tmp_path/"map.yaml").write_text(STUDY[:STUDY.index("    exponents")] + "samples: 2\n")
    with pytest.raises(InputError, match="no runs with exponents on a grid of two turns"):
        exponent_map(StudyResults(Study(tmp_path/"map.yaml", "map", tmp_path/"results")))
