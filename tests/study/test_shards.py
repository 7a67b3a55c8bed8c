"""Ensembles in shards have the members of one file, and are one ensemble for everybody who reads them."""
import numpy as np
import pytest
from ensembles import ensemble_states

from liestep.claims.selection import member_values
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.files.records import recording
from liestep.mechanics.contracts.formulated import perturbed
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs import starts
from liestep.simulation.runs.batches import Repeated
from liestep.simulation.runs.files import read
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.starts import each
from liestep.simulation.runs.store import Store
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse

HEAD = "title: An ensemble\nsamples: 3\nsteps: [0.1]\nintegrators: {rk4: }\ntables: [energy, horizons]\n"
BODIES = "{system: sphere_nbody, t_end: 1.0, ensemble: {members: %d, amplitude: 1e-3, seed: 5}%s}"
TURNS = ("{system: sphere_nbody, t_end: 1.0, grid: [{field: q, index: 0, axis: y, first: 0, last: 1, count: 3},"
         " {field: q, index: 1, axis: x, first: 0, last: 1, count: 3}]}")


@pytest.fixture
def small(monkeypatch) -> None:
    """At most four members share a file, also where their samples are not kept."""
    monkeypatch.setattr(starts, "MOST", 4)
    monkeypatch.setattr(starts, "MOST_REDUCED", 4)


def study(problem: str, folder, head: str = HEAD) -> Study:
    (folder/"config"/"studies").mkdir(parents=True, exist_ok=True)
    (folder/"config"/"studies"/"many.yaml").write_text(f"{head}problems:\n  one: {problem}\n")
    return Study.find("many", folder/"config", folder/"results")


def whole(members: int):
    return specify("sphere_nbody", "rk4", t_end=1.0, steps=10, samples=3,
                   ensemble={"members": members, "amplitude": 1e-3, "seed": 5})


def test_an_ensemble_in_one_file_keeps_its_text_and_its_members(tmp_path):
    (cell,) = study(BODIES % (1000, ""), tmp_path).cells
    assert cell.spec.canonical()["ensemble"] == {"members": 1000, "amplitude": 1e-3, "seed": 5, "first": 0,
                                                   "count": 0, "turns": []}
    assert cell.spec.sha256 == whole(1000).sha256
    fields = formulate_standard(sheet("sphere_nbody"), cell.spec.parameters, cell.spec.initial).fields
    random = np.random.Generator(np.random.PCG64(5))  # as before there were shards
    wanted = [cell.spec.initial, *each(perturbed(fields, cell.spec.initial, 1e-3, [(random, 999)]))]
    for found, state in zip(ensemble_states(cell.spec), wanted, strict=True):
        assert all(np.array_equal(found[name], state[name]) for name in state)


def test_a_thousand_and_one_members_are_two_files(tmp_path):
    cells = study(BODIES % (2001, ""), tmp_path).cells
    assert [cell.resolution for cell in cells] == ["h0.1", "h0.1_1000", "h0.1_2000"]
    assert [cell.spec.ensemble.size for cell in cells] == [1000, 1000, 1]
    assert cells[1].spec.canonical()["ensemble"] == {"members": 2001, "amplitude": 1e-3, "seed": 5, "first": 1000,
                                                     "count": 1000, "turns": []}
    assert len({cell.spec.sha256 for cell in cells}) == 3
    last = ensemble_states(cells[1].spec)
    assert not any(np.array_equal(last[0]["q"], state["q"]) for state in ensemble_states(cells[0].spec)[:50])


@pytest.mark.parametrize("problem", [BODIES % (10, ""), TURNS])
def test_shards_have_the_bits_of_one_file(problem, tmp_path, small):
    made = study(problem, tmp_path, HEAD.replace(", horizons", ""))
    assert [cell.resolution for cell in made.cells] == ["h0.1", "h0.1_4", "h0.1_8"]
    assert tuple(run_cells(made.cells)) == (3, 0, 0, 0)
    first = made.cells[0].spec
    assert first.ensemble is not None
    single = carry_out(specify("sphere_nbody", "rk4", t_end=1.0, steps=10, samples=3, ensemble={
        "members": first.ensemble.members, "amplitude": 1e-3, "seed": 5} if "grid" not in problem else
        {"turns": [vars(turn) for turn in first.ensemble.turns]}))
    found = StudyResults(made).file("one", "rk4", "h0.1")
    assert set(found.variables) == set(single.variables)
    for name, (_, values, _) in single.variables.items():
        assert np.array_equal(found[name], values), name


def test_tables_show_one_ensemble(tmp_path, small):
    made = study(BODIES % (10, ""), tmp_path)
    run_cells(made.cells)
    analyse(made)
    results = StudyResults(made)
    assert list(results.metrics["members"]) == [10]
    means = np.concatenate([read(cell.path)["energy_error_mean"] for cell in made.cells])
    assert means.shape == (10,)
    (row,) = results.table("energy").to_dict("records")
    assert [row[f"member_{kind}"] for kind in ("low", "median", "high")] == list(np.quantile(means, (0.05, 0.5, 0.95)))
    (horizon,) = results.table("horizons").to_dict("records")
    assert horizon["members"] == 10
    file = results.file("one", "rk4", "h0.1")
    assert member_values(file, "energy_change").shape == (10,)
    parts = [np.linalg.norm(file["q"][k, -1] - file["q"][0, -1], axis=-1).max() for k in range(1, 10)]
    assert horizon["separation_end"] >= 0.9*max(parts) > 0.0


def stopping(number: int):
    """`Repeated.run`, but the member of this number stops half way."""
    straight = Repeated.run

    def run(repeated, states, **kept):
        made, row = straight(repeated, states, **kept), number - repeated.spec.ensemble.first
        if 0 <= row < len(made.status):
            made.status[row], made.time_reached[row] = Status.NOT_FINITE, 0.5
            kept = made.samples[row] - 1
            made.outputs.filled[row, 0] = kept
            made.outputs.states[row, kept:] = made.outputs.series[row, kept:] = np.nan
        return made

    return run


def test_a_member_that_stops_is_that_of_the_ensemble(tmp_path, small, monkeypatch):
    monkeypatch.setattr(Repeated, "run", stopping(5))
    made = study(BODIES % (10, ""), tmp_path, HEAD.replace(", horizons", ""))
    assert run_cells(made.cells).failed == 1
    assert [read(cell.path).attributes["status"] for cell in made.cells] == ["ok", "not_finite", "ok"]
    analyse(made)
    results = StudyResults(made)
    (row,) = results.metrics.to_dict("records")
    assert (row["status"], row["time_reached"], row["members"]) == ("not_finite", 0.5, 10)
    assert results.failed(made.cells[0])
    assert results.file("one", "rk4", "h0.1")["q"].shape[:2] == (10, 2)  # samples that all have


def test_a_lost_shard_is_made_alone_and_shards_are_shared(tmp_path, small):
    made, store = study(BODIES % (10, ""), tmp_path), Store(tmp_path/"results")
    with recording(tmp_path/"results"):
        assert tuple(run_cells(made.cells, store)) == (3, 0, 0, 0)
        before = made.cells[1].path.read_bytes()
        made.cells[1].path.unlink()
        assert tuple(run_cells(made.cells, store)) == (0, 2, 0, 1)
        made.cells[1].path.unlink()
        assert tuple(run_cells(made.cells)) == (1, 2, 0, 0)
    assert made.cells[1].path.read_bytes() == before


def test_a_mutant_whose_shards_start_alike_dies(tmp_path, small, monkeypatch):
    straight = starts.Ensemble.states
    monkeypatch.setattr(starts.Ensemble, "states", lambda spec, parts, initial, most=1: straight(
        starts.Ensemble(spec.members, spec.amplitude, spec.seed, spec.turns, 0, spec.count), parts, initial, most))
    with pytest.raises(AssertionError):
        test_shards_have_the_bits_of_one_file(BODIES % (10, ""), tmp_path, None)


def test_too_many_members_are_refused_before_they_take_memory(tmp_path):
    with pytest.raises(InputError, match="the ensemble has 1000000000 members; at most 1000000 are allowed") as error:
        assert study(BODIES % (10**9, ""), tmp_path).cells
    assert "many.yaml, line 7: " in str(error.value)


def test_the_message_names_the_member_and_what_is_kept_of_it(tmp_path, small, monkeypatch):
    monkeypatch.setattr(Repeated, "run", stopping(5))
    made = study(BODIES % (10, ", reduced: true"), tmp_path, HEAD.replace(", horizons", ""))
    assert run_cells(made.cells).failed == 1
    file = read(made.cells[1].path)
    assert file.attributes["message"].startswith(
        "1 of 4 members did not come to their end; member 5: stopped after t = 0.5: ")
    assert file.attributes["status"] == "not_finite"
    assert np.isnan(file["q_end"]).all(axis=(1, 2)).tolist() == [False, True, False, False]
    assert file["time_reached"].tolist() == [1.0, 0.5, 1.0, 1.0]
    assert np.isfinite(file["energy_high"]).all()
    analyse(made)
    (row,) = StudyResults(made).metrics.to_dict("records")
    assert (row["trajectories"], row["trajectories_ok"], row["status"]) == (10, 9, "not_finite")
