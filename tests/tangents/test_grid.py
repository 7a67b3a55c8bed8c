"""Ensembles whose members start on a grid, their exponents."""
import numpy as np
import pytest
from ensembles import ensemble_states

from liestep.errors import InputError
from liestep.simulation.runs.files import read
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.tables import analyse

SIDE = {"field": "q", "index": 0, "axis": "y", "first": 0.0, "last": 1.0, "count": 3}
OTHER = SIDE | {"index": 1, "axis": "x", "count": 2}
STUDY = """title: A small map
problems:
  pendulum: {system: spherical_pendulum_chain, preset: orders, t_end: 10}
integrators:
  vi_sphere:
    steps: [0.01]
    exponents: 1
    grid:
      - {field: q, index: 0, axis: y, first: 0.1, last: 1.0, count: 3}
      - {field: q, index: 1, axis: x, first: 0.1, last: 2.5, count: 4}
samples: 2
tables: []
"""


def request(*turns, problem="spherical_pendulum_chain"):
    return specify(problem, "vi_sphere" if "chain" in problem else "rk4", steps=10,
                   ensemble={"turns": list(turns)})


def test_members_are_turned_the_last_side_fastest():
    spec = request(SIDE, OTHER)
    states = ensemble_states(spec)
    assert len(states) == spec.ensemble.members == 6
    q, w = spec.initial["q"], spec.initial["omega"]
    assert np.array_equal(states[0]["q"], q)
    c, s = np.cos(1.0), np.sin(1.0)
    about_y, about_x = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    assert np.allclose(states[1]["q"], [q[0], about_x @ q[1]], atol=1e-15, rtol=0)
    assert np.allclose(states[4]["q"], [about_y @ q[0], q[1]], atol=1e-15, rtol=0)
    assert np.allclose(states[5]["omega"], [about_y @ w[0], about_x @ w[1]], atol=1e-15, rtol=0)
    for state in states:
        assert np.abs(np.sum(state["q"]*state["omega"], axis=1)).max() < 1e-15


def test_a_grid_stands_in_the_specification_and_a_perturbation_has_none():
    assert request(SIDE).canonical()["ensemble"]["turns"] == [SIDE]
    plain = specify("sphere_nbody", "rk4", steps=10, ensemble={"members": 2, "amplitude": 0.1})
    assert plain.canonical()["ensemble"]["turns"] == []


@pytest.mark.parametrize(("change", "sentence"), [
    ({"field": "qq"}, "unknown state field to turn 'qq'; did you mean q?"),
    ({"index": 2}, r"turn of q: there is no vector 2; its shape is \(2, 3\)"),
    ({"axis": "w"}, "axis must be x, y or z, not 'w'"), ({"cont": 1}, "did you mean count?")])
def test_wrong_grids_are_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        request(SIDE | change)


def test_a_missing_key_of_a_turn_is_named():
    with pytest.raises(InputError, match="last of a turn is missing"):
        request({name: value for name, value in SIDE.items() if name != "last"})


def test_every_start_has_its_exponent(tmp_path):
    (tmp_path/"studies").mkdir()
    (tmp_path/"studies"/"map.yaml").write_text(STUDY)
    study = Study.find("map", tmp_path, tmp_path/"results")
    run_cells(study.cells)
    analyse(study)
    file = read(study.cells[0].path)
    assert file["lyapunov"].shape == (12,)
    assert np.ptp(file["lyapunov"]) > 0.0
    assert np.allclose(file["turn_q_0_y"].reshape(3, 4)[:, 0], [0.1, 0.55, 1.0])
    alone = specify("spherical_pendulum_chain", "vi_sphere", preset="orders", step=0.01, t_end=10.0, samples=2,
                    exponents=1, initial=ensemble_states(study.cells[0].spec)[7])
    assert carry_out(alone).attributes["lyapunov"] == file["lyapunov"][7]
