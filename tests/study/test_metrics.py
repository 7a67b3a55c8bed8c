"""From runs to tables: a small study, made once, and the numbers of its tables computed again by hand."""
import math
from pathlib import Path

import numpy as np
import pandas
import pytest

from liestep.errors import InputError
from liestep.files.textfiles import write_text_atomically
from liestep.mechanics.formulations.symbolic import operations
from liestep.simulation.catalogue import sheet
from liestep.simulation.references.reference import compute_reference, study_reference
from liestep.simulation.runs.files import RunFile, write
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.errors import error_fields, reference_floor, replica_floor, state_error
from liestep.study.tables.kinds import Table
from liestep.study.tables.kinds.drift import _shared, energy_terms, longest_period
from liestep.study.tables.kinds.work import at_equal_error
from liestep.study.tables.liestep_tables import csv_text, markdown
from liestep.study.tables.metrics import COLUMNS, stopped_runs
from liestep.study.tables.results import StudyResults, read_csv
from liestep.study.tables.tables import analyse
from liestep.study.tables.timing import shortest, time_run, time_study

STUDY = """title: Small study
description: Three bodies over one second.
reference: true
timing: true
replicas: 3
samples: 11
tables: [orders, energy, momentum, work]
problems:
  bodies: {system: sphere_nbody, t_end: 1, label: three bodies}
integrators:
  vi_sphere: {steps: {counts: [20, 40, 80, 160, 320, 640]}, label: variational}
  coarse: {id: vi_sphere, steps: {counts: [20]}, options: {form: paper}}
  dop853: {tolerances: [1e-6, 1e-9]}
"""
DRIFT = """title: Drift
samples: 801
tables: [drift]
problems:
  short: {system: sphere_nbody, t_end: 4, steps: {counts: [800]}}
  long: {system: sphere_nbody, t_end: 16, steps: {counts: [3200]}, parameters: {gamma: 0.0}}
  free: {system: sphere_nbody, t_end: 4, steps: {counts: [800]}, parameters: {gamma: 0.0}}
integrators: {vi_sphere: {}}
"""
ENSEMBLE = """title: Horizons
samples: 101
ensemble: {members: 3, amplitude: 1e-9, seed: 4}
tables: [energy, horizons]
problems:
  bodies: {system: sphere_nbody, t_end: 5, steps: {counts: [1000]}}
integrators: {vi_sphere: {}}
"""
FAILING = """title: Failing
samples: 2
reference: true
tables: [orders, energy, momentum]
problems:
  bodies: {system: sphere_nbody, t_end: 2, steps: {counts: [2, 200]}}
integrators: {vi_sphere: {}}
"""


def make(folder, name, text, timing=False) -> Study:
    """Write a study, make all of its products, return it."""
    (folder/"studies").mkdir(exist_ok=True)
    (folder/"studies"/f"{name}.yaml").write_text(text)
    study = Study.find(name, folder, folder/"results")
    run_cells(study.cells)
    if study.config.reference:
        for problem in study.config.problems:
            path, spec = study_reference(study, problem)
            write(compute_reference(spec), path)
    if timing:
        time_study(study)
    analyse(study)
    return study


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return StudyResults(make(tmp_path_factory.mktemp("small"), "small", STUDY, timing=True))


def test_metrics_have_one_row_per_run_with_its_errors(small):
    metrics = small.metrics
    assert tuple(metrics.columns) == (*COLUMNS, "error_omega", "error_q", "warning", "seconds")
    warned = metrics[metrics["warning"].notna()]  # 1.1 % of the potential energy
    assert set(warned["resolution"]) == {"h0.05"}
    assert warned["warning"].str.contains("energy is off by").all()
    assert list(metrics["resolution"]) == [cell.resolution for cell in small.study.cells]
    reference = small.reference("bodies")
    for row in metrics.itertuples():
        run = small.file(row.problem, row.integrator, row.resolution)
        q, omega = run["q"] - reference["q"], run["omega"] - reference["omega"]
        chord = max(math.dist(a, b) for k in range(11) for a, b in zip(run["q"][k], reference["q"][k], strict=True))
        assert row.error_q == pytest.approx(chord, rel=1e-12)
        assert row.error_omega == pytest.approx(np.linalg.norm(omega, axis=2).max()/reference.attributes["scale_omega"],
                                                rel=1e-12)
        assert row.error == max(row.error_q, row.error_omega)
        assert row.error_final == pytest.approx(math.sqrt((q[-1]**2).sum() + (omega[-1]**2).sum()), rel=1e-12)
        assert row.floor == max(row.floor_reference, row.floor_replicas)
        assert 0.0 < row.floor_replicas < 1e-12
        assert row.energy_error_mean == run.attributes["energy_error_mean"]
        assert row.energy_error_mean_relative == row.energy_error_mean/reference.attributes["energy_scale"]
        assert row.energy_change == run["energy"][-1] - run["energy"][0]
        assert row.force_evaluations == run.attributes["force_evaluations"]
        assert row.step == (pytest.approx(1.0/row.steps))
        assert row.seconds > 0.0
        assert row.cost > 0.0
    assert list(metrics["problem_label"].unique()) == ["three bodies"]
    assert list(metrics["integrator_label"].unique()) == ["variational", "coarse", "dop853"]
    assert list(metrics["momentum_conserved"].unique()) == ["xyz"]


def test_errors_against_a_second_reference(tmp_path):
    """The distance of the last states from the run that a paper takes for its reference."""
    text = STUDY.replace("replicas: 3\n", "second_reference: strict\n").replace("timing: true\n", "")
    text = text.replace("[1e-6, 1e-9]", "[1e-6]") + "  strict: {id: dop853, tolerances: [1e-7]}\n"
    results = StudyResults(make(tmp_path, "second", text))
    last = {row.integrator: results.file(row.problem, row.integrator, row.resolution)
            for row in results.metrics.itertuples()}
    table = results.metrics.drop_duplicates("integrator", keep="last").set_index("integrator")
    for name, run in last.items():
        wanted = math.sqrt(sum(((run[part][-1] - last["strict"][part][-1])**2).sum() for part in ("q", "omega")))
        assert table.loc[name, "error_final_second"] == pytest.approx(wanted, rel=1e-12, abs=0.0)
    assert table.loc["strict", "error_final_second"] == 0.0 < table.loc["strict", "error_final"]


@pytest.mark.parametrize(("key", "message"), [("strikt", "unknown second_reference 'strikt'"),
                                              ("vi_sphere", "has 6 runs of bodies; it must be one")])
def test_a_second_reference_is_one_run(tmp_path, key, message):
    text = STUDY.replace("replicas: 3\n", f"second_reference: {key}\n").replace("timing: true\n", "")
    with pytest.raises(InputError, match=message):
        make(tmp_path, "second", text)


def test_metrics_repeat_byte_for_byte(small):
    path = small.study.folder/"metrics.csv"
    before = path.read_bytes()
    names = [path.name for path in analyse(small.study)]
    assert names == ["metrics.csv", "orders.csv", "energy.csv", "momentum.csv", "work.csv", "seconds.csv", "tables.md"]
    assert path.read_bytes() == before


def test_a_table_without_its_keys_is_not_written(small, monkeypatch):
    monkeypatch.setattr("liestep.study.tables.tables.table_of", lambda name, paper: Table(
        ("problem", "integrator", "t_end"), lambda results: [], readable=("t_end",)))
    before = (small.study.folder/"orders.csv").read_bytes()
    with pytest.raises(InputError, match="line 7: tables: orders has no column study, which is one of its keys"):
        analyse(small.study)
    assert (small.study.folder/"orders.csv").read_bytes() == before


def test_observed_order_of_the_variational_step(small):
    orders = small.table("orders").set_index("integrator")
    row = orders.loc["vi_sphere"]
    assert row["class"] == "asymptotic"
    assert bool(row["passed"])
    assert abs(row["p"] - 2.0) <= 0.05
    assert row["window_h_min"] == 1.0/640
    assert orders.loc["coarse", "class"] != "asymptotic"
    assert pandas.isna(orders.loc["dop853", "passed"])


def test_invariants_in_the_tables(small):
    momentum, energy = small.table("momentum"), small.table("energy")
    variational = momentum[momentum["integrator"] == "vi_sphere"]
    assert (variational["momentum_error_max_relative"] < 1e-14).all()
    assert (variational["unit_length_error_max"] < 1e-14).all()
    means = energy[energy["integrator"] == "vi_sphere"]["energy_error_mean"].to_numpy()
    assert (np.log2(means[:-1]/means[1:]) > 1.8).all()


def test_page_shows_every_table(small):
    text = (small.study.folder/"tables.md").read_text()
    assert text.startswith("# Small study\n\nThree bodies over one second.\n")
    for name in ("orders", "energy", "momentum", "work"):
        assert f"\n## {name}\n" in text
    assert "heyoka_taylor" in set(small.table("seconds")["integrator"])


def test_results_of_another_state_are_refused(small, tmp_path):
    folder = tmp_path/"results"
    path = tmp_path/"small.yaml"
    path.write_text(STUDY.replace("20, 40,", "20, 50,"))
    changed = StudyResults(Study(path, "small", folder))
    with pytest.raises(InputError, match=r"metrics.csv does not exist"):
        _ = changed.metrics
    changed.study.folder = small.study.folder
    with pytest.raises(InputError, match=r"another state of the study; run `liestep job analyse small`"):
        _ = changed.metrics
    with pytest.raises(InputError, match="unknown"):
        small.file("bodies", "vi_sphere", "h0.3")
    with pytest.raises(InputError, match=r"small\.yaml, line 7: tables: the table drift is read here, but not made"):
        small.table("drift")


def test_failed_run_stays_a_row_without_error(tmp_path):
    results = StudyResults(make(tmp_path, "failing", FAILING))
    failed, good = results.metrics.itertuples()
    assert (failed.status, good.status) == ("step_too_large", "ok")
    assert math.isnan(failed.error)
    assert math.isnan(failed.error_final)
    assert math.isnan(failed.energy_error_max)
    assert math.isnan(failed.energy_error_mean)
    assert math.isnan(failed.energy_change)
    assert failed.energy_error_max_reached >= 0.0  # up to time_reached
    assert results.metrics.sort_values("energy_error_max").iloc[0].status == "ok"
    assert stopped_runs(results.metrics) == (f"1 of 2 runs stopped early: {failed.integrator} {failed.resolution} on"
                                             f" {failed.problem} (step_too_large)")
    assert "90 degrees" in failed.message
    assert good.error < 0.1
    row = results.table("orders").iloc[0]
    assert row["class"] == "failed"
    assert row["failed"] == 1


def synthetic(q, omega, **attributes):
    """A file in memory with two samples of one body."""
    return RunFile(
        "file", {"status": "ok", "scale_omega": 4.0, "error_norms": "q:direction omega:relative", **attributes},
        {"time": np.array([0.0, 1.0]), "q": np.array(q, float)[:, None], "omega": np.array(omega, float)[:, None]})


def test_what_a_motion_does_not_keep_has_a_change_and_no_error(tmp_path):
    """Gravity keeps the vertical component of the momentum of a top only."""
    path = tmp_path/"top.yaml"
    path.write_text("title: Top\nproblems: {p: {system: heavy_top, preset: asymmetric, t_end: 0.1}}\n"
                    "integrators: {cf4: {steps: {counts: [10]}}}\nsamples: 11\ntables: [momentum]\n")
    study = Study(path, "top", tmp_path/"results")
    run_cells(study.cells)
    analyse(study)
    row, = StudyResults(study).metrics.to_dict("records")
    assert row["momentum_conserved"] == "z"
    assert math.isnan(row["momentum_error_max_x"])
    assert row["momentum_change_max_x"] > 1e-3 > row["momentum_error_max_z"] >= 0.0
    assert "momentum_change_max_x" in (study.folder/"momentum.csv").read_text()


def test_state_error_by_hand():
    reference = synthetic([[1, 0, 0], [0, 1, 0]], [[0, 0, 4], [0, 0, 2]])
    run = synthetic([[1, 0, 0], [0, 1, 0.3]], [[0, 0.8, 4], [0, 0, 2.4]])
    error = state_error(run, reference)
    assert (error.parts["q"], error.parts["omega"]) == (pytest.approx(0.3), pytest.approx(0.2))
    assert error.error == pytest.approx(0.3)
    assert error.final == pytest.approx(0.5)  # sqrt(0.3^2 + 0.4^2)
    run.attributes["status"] = "not_finite"
    assert math.isnan(state_error(run, reference).error)
    run.attributes["status"] = "ok"
    run.variables["time"] = np.array([0.0, 1.001])
    with pytest.raises(InputError, match="different sample times"):
        state_error(run, reference)


def test_floors_by_hand():
    reference = synthetic([[1, 0, 0], [0, 1, 0]], [[0, 0, 4], [0, 0, 2]])
    reference.variables |= {"disagreement_q": np.array([0.0, 3e-14]), "disagreement_omega": np.array([1e-15, 5e-14])}
    assert reference_floor(reference, error_fields(reference)) == 5e-14
    assert math.isnan(replica_floor(reference, reference))  # no replicas
    reference.variables |= {"spread_q": np.array([0.0, 1e-13]), "spread_omega": np.array([0.0, 8e-13])}
    assert replica_floor(reference, reference) == pytest.approx(2e-13)


def test_cost_counts_operations():
    """126 operations of three pairs: d, p and their squares 16, u w 1, f 5, f w and f u 2, scale 6, add and sub 12."""
    spec = specify("sphere_nbody", "vi_sphere", steps=10)
    system = sheet("sphere_nbody").build(spec.parameters)
    assert operations(system, lambda plain, q, out: plain.gradient(q, out), spec.initial["q"]) == 126
    counters = dict.fromkeys(("force_evaluations", "rhs_evaluations", "linear_solves", "exponentials"), 0)
    cost = sheet("sphere_nbody").cost(spec.parameters, spec.initial)
    assert cost(spec.options, counters | {"force_evaluations": 11}) == 11*(126 + 180)
    # diagonal mass
    assert cost(spec.options, counters | {"force_evaluations": 11, "rhs_evaluations": 11}) == 11*(126 + 180)
    pendulum = specify("spherical_pendulum_chain", "vi_sphere", steps=10)
    newton = specify("spherical_pendulum_chain", "vi_sphere", steps=10, options={"solver": "newton"})
    cost = sheet("spherical_pendulum_chain").cost(pendulum.parameters, pendulum.initial)
    assert cost(pendulum.options, counters | {"linear_solves": 3}) == pytest.approx(3*(2*2**3/3 + 2*2**2))
    assert cost(newton.options, counters | {"linear_solves": 3}) == pytest.approx(3*(90*2**2 + 2*6**3/3 + 2*6**2))
    banded = specify("spherical_pendulum_chain", "rk4", steps=10, options={"mass": "banded"})
    assert cost(banded.options, counters | {"rhs_evaluations": 3}) == 3*110*2
    assert (cost(banded.options, counters | {"force_evaluations": 3})
            == cost(pendulum.options, counters | {"force_evaluations": 3}) - 3*12*2**2)


def test_work_at_equal_error_is_interpolated_in_log_log():
    steps = np.array([40.0, 80.0, 160.0])
    runs = pandas.DataFrame({"error": 50.0/steps**3, "step": 1.0/steps, "tolerance": np.nan, "steps": steps,
                             "iterations": 3.0*steps, "cost": 5.0*steps, "exponentials": 0.0})
    row, = at_equal_error(runs.sample(frac=1.0, random_state=1),
                                     ("steps", "iterations", "cost", "exponentials"))
    assert row["error"] == 1e-4
    wanted = 5e5**(1.0/3.0)
    assert row["steps"] == pytest.approx(wanted, rel=1e-12)
    assert row["cost"] == pytest.approx(5.0*wanted, rel=1e-12)
    assert row["iterations"] == pytest.approx(3.0*wanted, rel=1e-12)
    assert row["exponentials"] == 0.0


def test_drift_rows_are_confirmed_by_the_same_run_over_four_times_its_length(tmp_path):
    study = make(tmp_path, "drift", DRIFT)
    table = StudyResults(study).table("drift").set_index(["problem", "invariant"])
    assert set(table.index.get_level_values("invariant")) == {"energy", "momentum_x", "momentum_y", "momentum_z",
                                                              "unit_length"}
    assert table.loc[("free", "energy"), "confirmed_by"] == "long"
    # other parameters, or too short
    assert table["confirmed_by"].dropna().index.get_level_values("problem").unique().tolist() == ["free"]
    assert set(table.loc["long", "confirms"]) == {"free"}
    assert table.loc["long", "verdict"].tolist() == table.loc["free", "verdict"].tolist()
    alone = table[table["confirmed_by"].isna() & table["confirms"].isna()]
    assert not set(alone["verdict"]) & {"bounded", "round-off", "drift"}
    free = table.loc["free"]
    assert free.loc["energy", "largest"] < free.loc["energy", "round_off"]
    assert "drift" not in set(free["verdict"])
    assert free.loc["energy", "period"] == pytest.approx(2.0*math.pi, rel=0.4)  # great circles at 1 rad/s


def test_an_ensemble_has_the_drift_verdict_that_95_percent_of_its_members_have(tmp_path):
    each = "ensemble: {members: 16, amplitude: 1e-12, seed: 3}\n"
    (tmp_path/"many").mkdir()
    (tmp_path/"alone").mkdir()
    many = StudyResults(make(tmp_path/"many", "drift", DRIFT + each)).table("drift").set_index(["problem", "invariant"])
    alone = StudyResults(make(tmp_path/"alone", "drift", DRIFT)).table("drift").set_index(["problem", "invariant"])
    regular = [("free", "energy"), ("long", "energy"), ("free", "unit_length")]
    assert many.loc[regular, "verdict"].tolist() == alone.loc[regular, "verdict"].tolist()
    assert many.loc[("free", "energy"), "confirmed_by"] == "long"
    assert many.loc[("free", "energy"), "reason"].startswith("of 16 starts within round-off: ")

    one = {"verdict": "bounded", "bound": 0.01, "reason": "narrow"}
    other = {"verdict": "drift", "bound": 7.0, "reason": "wide"}
    assert _shared([one]*19 + [other])["verdict"] == "bounded"
    assert _shared([one]*15 + [other])["verdict"] == "undecided"
    assert _shared([one]*15 + [other])["reason"] == (
        "of 16 starts within round-off: bounded 15, drift 1; the widest bound: wide")
    assert _shared([other]) is other


def test_longest_period_and_energy_terms():
    time = np.linspace(0.0, 100.0, 2001)
    q = np.stack([np.cos(math.pi*time), np.sin(math.pi*time), 1e-4*np.sin(0.01*time)], axis=-1)[:, None]
    assert longest_period(time, q) == pytest.approx(2.0, rel=0.03)  # the slow component hardly moves
    spec = specify("sphere_nbody", "vi_sphere", steps=10, t_end=0.1)
    state = {name: values[None] for name, values in spec.initial.items()} | {"energy": np.array([2.0])}
    kinetic = 0.5*(1.1**2 + 2.0)
    assert energy_terms(spec, RunFile(Path(), {}, state)) == pytest.approx(kinetic + abs(2.0 - kinetic))
    top = specify("heavy_top", "rk4", steps=10, t_end=0.1, options={"form": "coadjoint"})
    state = {"body_momentum": np.array([[3.0, 4.0, 5.0]]), "energy": np.array([1.0])}
    kinetic = 0.5*float(np.sum(np.array([9.0, 16.0, 25.0])/top.parameters["inertia"]))
    assert energy_terms(top, RunFile(Path(), {}, state)) == pytest.approx(kinetic + abs(1.0 - kinetic))


def test_ensemble_rows_have_quantiles_and_a_horizon(tmp_path):
    results = StudyResults(make(tmp_path, "ensemble", ENSEMBLE))
    energy, horizon = results.table("energy").iloc[0], results.table("horizons").iloc[0]
    assert energy["members"] == 3
    assert energy["member_low"] <= energy["member_median"] <= energy["member_high"]
    file = results.file("bodies", "vi_sphere", "h0.005")
    apart = np.linalg.norm(file["q"][1:] - file["q"][:1], axis=3).max(axis=(0, 2))
    assert horizon["separation_end"] >= apart[-1] > 1e-8  # the close encounter at t = 3.6 magnifies 1e-9
    assert pandas.isna(horizon["horizon"]) == (horizon["separation_end"] < 1e-6)
    assert "floor" in results.metrics.columns
    assert results.metrics["error"].isna().all()


def test_timing_of_runs_and_of_failures():
    seconds, repeats = time_run(specify("sphere_nbody", "vi_sphere", steps=100, t_end=1.0))
    assert seconds > 0.0
    assert repeats >= 3
    seconds, _ = time_run(specify("sphere_nbody", "vi_sphere", steps=2, t_end=2.0))
    assert math.isnan(seconds)
    times = iter([0.03, 0.01, 0.02, 0.005])
    assert shortest(lambda: next(times)) == (0.01, 3)


def test_timings_list_other_runtimes_with_their_errors(small):
    timings = small.table("timings")
    core, other = timings[timings["runtime"] == "core"], timings[timings["runtime"] == "other runtime"]
    assert list(core["run_sha256"]) == list(small.metrics["run_sha256"])
    assert set(other["integrator"]) == {"scipy_dop853", "heyoka_taylor"}
    for _, rows in other.groupby("integrator"):
        tolerances, errors = rows["tolerance"].to_numpy(), rows["error"].to_numpy()
        assert (np.diff(tolerances) < 0.0).all()
        assert errors[-1] < 1e-10 < 10.0*errors[0]


def test_csv_reads_back_the_same_values(tmp_path):
    path = tmp_path/"table.csv"
    rows = [{"a": 0.1 + 0.2, "b": "none", "c": True, "d": np.int64(3)},
            {"a": math.nan, "b": 'with "quotes", and commas', "c": False},
            {"a": np.float64(5e-324), "b": "NA", "c": np.bool_(True), "d": 1}]
    write_text_atomically(path, csv_text("abcd", rows))
    table = read_csv(path)
    assert table["a"].tolist()[::2] == [0.1 + 0.2, 5e-324]
    assert math.isnan(table["a"][1])
    assert table["b"].tolist() == ["none", 'with "quotes", and commas', "NA"]
    assert table["c"].tolist() == [True, False, True]
    assert math.isnan(table["d"][1])
    with pytest.raises(InputError, match="cannot write"):
        write_text_atomically(path/"below.csv", "")
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


def test_markdown_is_readable():
    text = markdown(["name", "value"], [{"name": "a|b", "value": 0.123456789}, {"name": "c", "value": math.nan}])
    assert text == "| name | value |\n| --- | --- |\n| a\\|b | 0.12346 |\n| c |  |\n"
