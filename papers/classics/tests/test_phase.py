"""Phase portraits and sections of Poincare of a study with a closed form."""
import numpy as np
import pytest
from liestep_papers.classics.figures import phase_portrait, section, section_of
from plugin_room import _nothing_stays  # noqa: F401

from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults

PLUGIN = """import liestep

def oscillators(q, momentum):
    return 0.5*(momentum @ momentum) + 0.5*q[0]**2 + q[-1]**2*(len(q) - 1)

def made(name, q):
    return liestep.system(f"{name}_in_phase", hamiltonian=oscillators, start={"q": q, "momentum": [1.0]*len(q)}).sheet

SHEETS = {"phase_one": made("one", [0.0]), "phase_two": made("two", [0.0, 0.5])}
"""
STUDY = """title: "oscillators"
plugins: [in_phase.py]
samples: 401
steps: {counts: [400]}
problems:
  one: {system: phase_one, t_end: 40.0}
  two: {system: phase_two, t_end: 40.0}
integrators:
  gauss: {}
"""


def crossings(t):
    """q_2 and its momentum of the second oscillator, whose frequency is the square root of 2."""
    w = np.sqrt(2.0)
    return np.stack([0.5*np.cos(w*t) + np.sin(w*t)/w, np.cos(w*t) - 0.5*w*np.sin(w*t)], axis=1)


def test_a_section_of_oscillators():
    """q_1 = sin t passes zero upward at whole turns."""
    t = np.linspace(-0.5, 60.0, 3001)
    found = section_of(np.stack([np.sin(t), crossings(t)[:, 0]], 1), np.stack([np.cos(t), crossings(t)[:, 1]], 1))
    exact = crossings(2.0*np.pi*np.arange(10))
    assert found.shape == exact.shape
    assert np.abs(found - exact).max() < 1e-7
    assert section_of(np.ones((5, 2)), np.ones((5, 2))).shape == (0, 2)


def test_both_figures_of_a_study(tmp_path):
    (tmp_path/"in_phase.py").write_text(PLUGIN, "utf-8")
    (tmp_path/"study.yaml").write_text(STUDY, "utf-8")
    study = Study(tmp_path/"study.yaml", "study", tmp_path/"results")
    run_cells(study.cells)
    results = StudyResults(study)
    [panel] = phase_portrait(results).axes
    assert np.hypot(*panel.lines[0].get_data()) == pytest.approx(1.0, abs=1e-7)
    [panel] = section(results).axes
    exact = crossings(2.0*np.pi*np.arange(1, 7))
    assert np.stack(panel.lines[0].get_data(), 1) == pytest.approx(exact, abs=1e-4)
