"""Budgets of evaluations that are cut where an evaluation takes many operations."""
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from liestep_papers.cross.tables.matrix import matrix_rows
from place import study_of_paper

from liestep.errors import InputError
from liestep.mechanics.formulations.symbolic import operations
from liestep.simulation.runs.specification import start_of
from liestep.study.plan import budget
from liestep.study.plan.budget import Cap, cap_of

STUDY = """title: Caps
samples: 6
evaluations: [60, 240, 960]
operations: {operations}
tolerances: [1e-4]
tables: [matrix]
problems:
  four: {{system: sphere_nbody, preset: four_bodies, t_end: 1}}
  top: {{system: heavy_top, preset: asymmetric, t_end: 1}}
integrators: {{rk4: , cf4: {{steps: {{counts: [10]}}}}, dop853: }}
"""


def planned(tmp_path, operations):
    return study_of_paper(tmp_path, "cross", STUDY.format(operations=operations))


def each(system, preset):
    return cap_of(start_of(system, preset=preset), 10**9).each


def test_every_operation_counts_once():
    def call(component, y, out):
        out[0] = component[0]*y[0] + 2.0*y[1]/y[0] - y[1]

    assert operations((3.0,), call, np.array([2.0, 5.0])) == 5


def test_operations_of_an_evaluation_grow_with_the_pairs_of_bodies():
    """A pair of bodies costs the same in each count: 2, 4 and 8 bodies have 1, 6 and 28 pairs."""
    def count(n):
        q = [[np.cos(t), np.sin(t), 0.0] for t in 0.7*np.arange(n)]
        start = start_of("sphere_nbody", parameters={"mass": [1.0]*n, "gamma": 1.0},
                         initial={"q": q, "omega": np.zeros((n, 3))})
        return cap_of(start, 10**9).each

    alone = np.linalg.solve([[2.0, 1.0], [4.0, 6.0]], [count(2), count(4)])
    assert count(8) == pytest.approx([8.0, 28.0] @ alone)


def test_budgets_above_the_cap_are_replaced_by_it(tmp_path):
    most = 400*each("sphere_nbody", "four_bodies") + 1
    study = planned(tmp_path, most)
    steps = {(cell.problem, cell.integrator): [] for cell in study.cells}
    for cell in study.cells:
        steps[cell.problem, cell.integrator].append(cell.spec.steps)
    assert steps["four", "rk4"] == [15, 60, 100]
    assert steps["top", "rk4"] == [15, 60, 240]   # an evaluation of a top takes fewer operations
    assert steps["four", "cf4"] == [10]


def test_the_row_says_that_it_was_capped(tmp_path):
    known = cap_of(start_of("sphere_nbody", preset="four_bodies"), 10**9)
    cost, about = known.each, "" if known.counted else "about "  # kernels that are plain functions are not counted
    study = planned(tmp_path, 400*cost)
    runs = pandas.DataFrame([{"problem": problem, "integrator": name, "status": status, "step": 0.1, "error": 1e-3,
                              "tolerance": np.nan, "message": message}
                             for problem in ("four", "top") for name in ("rk4", "cf4", "dop853")
                             for status, message in (("ok", ""), ("not_finite", "stopped"))[:1 + (name == "rk4")]])
    found = matrix_rows(SimpleNamespace(metrics=runs, config=study.config, study=study))
    said = {(row["problem"], row["integrator"]): row["sentence"] for row in found}
    assert said["four", "rk4"] == (f"stopped; at most 400 evaluations instead of 960: an evaluation of the equations"
                                   f" takes {about}{cost} operations, and a run may take {400*cost}")
    assert said["top", "rk4"] == "stopped"
    assert said["four", "cf4"] == said["four", "dop853"] == ""   # steps are given; a pair chooses its own


def test_an_evaluation_that_takes_more_than_all_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"line 4: operations: rk4 on four: operations: one evaluation of the equations"
                                         " of sphere_nbody takes [0-9]+ operations, more than the 7 that a run may"):
        _ = planned(tmp_path, 7).sweeps


def test_equations_that_cannot_be_counted_are_estimated(monkeypatch):
    def refuse(*arguments):
        raise TypeError("only float64")

    monkeypatch.setattr(budget, "operations", refuse)
    cap = cap_of(start_of("sphere_nbody", preset="four_bodies"), 57_600)
    assert (cap.each, cap.evaluations) == (24**2, 100)
    assert "takes about 576 operations" in cap.sentence([50, 101])
    assert cap.sentence([100]) == ""


def test_a_cap_cuts_two_budgets_to_one():
    assert Cap(1000, 10, True).cut([40, 200, 400]) == [40, 100]
