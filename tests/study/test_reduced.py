"""What is reduced: last state, extrema, slope and status of each trajectory; few files, little memory, one table."""
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

from liestep.errors import InputError
from liestep.figures.kinds.maps import map as draw_map
from liestep.simulation.runs import starts
from liestep.simulation.runs.execution import block_means, run_once
from liestep.simulation.runs.files import read
from liestep.simulation.runs.shards import carry_out_shard
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.liestep_judge import slope_of
from liestep.study.tables.reading import write_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse
from liestep.workflow.report import provenance
from liestep.workflow.workflow import StudyProducts

HEAD = "title: Reduced\nreduced: true\nsteps: [0.1]\nintegrators: {rk4: }\ntables: [energy]\nfigures: [map]\n"
BODIES = "{system: sphere_nbody, t_end: 1.0, %s}"


def study(problem: str, folder: Path, head: str = HEAD) -> Study:
    (folder/"config"/"studies").mkdir(parents=True, exist_ok=True)
    (folder/"config"/"studies"/"small.yaml").write_text(f"{head}problems:\n  one: {problem}\n")
    return Study.find("small", folder/"config", folder/"results")


@pytest.fixture(scope="module")
def grid(tmp_path_factory) -> Study:
    made = study(BODIES % "grid: {gamma: [0.1, 0.5, 1.0]}", tmp_path_factory.mktemp("grid"))
    run_cells(made.cells)
    return made


def test_the_numbers_are_those_of_all_steps(grid):
    found = read(grid.cells[0].path)
    assert "time" not in found.variables
    for number, gamma in enumerate((0.1, 0.5, 1.0)):
        full = run_once(specify("sphere_nbody", "rk4", t_end=1.0, steps=10, samples=11, parameters={"gamma": gamma}))
        time, series = np.arange(11)*0.1, full.outputs.series
        fields = full.formulated.to_fields(full.outputs.states)
        for part in full.formulated.fields:
            assert np.array_equal(found[f"{part.name}_end"][number], fields[part.name][-1])
        for seen in full.formulated.observables:
            values = series[:, seen.columns]
            apart = values - values[0]*(seen.kind == "invariant")
            low, high, slope = (found[f"{seen.name}_{kind}"][number].reshape(-1) for kind in ("low", "high", "slope"))
            assert np.array_equal(low, apart.min(axis=0))
            assert np.array_equal(high, apart.max(axis=0))
            assert np.array_equal(found[f"{seen.name}_start"][number].reshape(-1), values[0])
            assert np.array_equal(found[f"{seen.name}_end"][number].reshape(-1), values[-1])
            wanted = np.polyfit(time[1:], apart[1:], 1)[0]
            assert np.allclose(slope, wanted, rtol=1e-9, atol=1e-12*np.abs(apart).max())


@pytest.mark.parametrize(("steps", "every", "integrator"), [
    (1000, 1, "rk4"), (250, 1, "rk4"), (1001, 3, "rk4"), (60, 7, "rk4"), (250, 1, "ode45")])
def test_the_slope_is_that_of_the_blocks(steps, every, integrator):
    size = {"steps": steps, "statistics_every": every} if integrator == "rk4" else {
        "tolerance": 1e-6, "outputs": steps + 1}
    spec = specify("sphere_nbody", integrator, t_end=2.0, samples=2, **size, ensemble={"members": 2, "amplitude": 1e-3})
    outcome, content = run_once(spec), carry_out_shard(replace(spec, reduced=True))
    recorder, found = outcome.outputs, np.concatenate([
        content.variables[f"{part.name}_slope"][1][0].reshape(-1) for part in outcome.formulated.observables])
    counted = np.arange(every, steps + 1, every)
    block = (counted - 1)*100//steps
    filled = np.unique(block)
    times = np.array([counted[block == one].mean() for one in filled])*2.0/steps
    weight = np.array([np.count_nonzero(block == one) for one in filled])
    wanted = np.polyfit(times, block_means(recorder)[filled], 1, w=np.sqrt(weight))[0]
    assert np.allclose(found, wanted, rtol=1e-8, atol=1e-16)
    if steps == 1000:  # that of the table drift
        assert found[0] == pytest.approx(slope_of(block_means(recorder)[:, 0])[0]/2.0, rel=1e-11)


def test_one_point_has_no_slope(tmp_path):
    made = study("{system: free_rigid_body, t_end: 0.1, grid: {inertia.2: [2.0, 2.2]}}", tmp_path)
    run_cells(made.cells)
    found = read(made.cells[0].path)
    assert "energy_slope" not in found.variables
    assert np.isfinite(found["energy_high"]).all()
    write_cells(made)
    rows = pandas.read_csv(made.folder/"cells.csv.gz")
    assert rows["status"].eq("ok").all()


def test_one_row_stands_for_all_and_the_table_has_each(tmp_path, monkeypatch):
    monkeypatch.setattr(starts, "MOST", 4)
    monkeypatch.setattr(starts, "MOST_REDUCED", 4)
    monkeypatch.setattr("liestep.simulation.runs.maps.MOST", 4)
    made = study(BODIES % "grid: {gamma: {from: 0.1, to: 1.0, count: 10}}", tmp_path)
    assert [cell.resolution for cell in made.cells] == ["h0.1", "h0.1_4", "h0.1_8"]
    run_cells(made.cells)
    assert made.folder/"cells.csv.gz" in analyse(made)
    assert made.folder/"cells.csv.gz" in StudyProducts(made).tables
    (row,) = StudyResults(made).metrics.to_dict("records")
    files = [read(cell.path) for cell in made.cells]
    largest = np.concatenate([file["energy_error_max"] for file in files])
    assert row["energy_error_max"] == largest.max()
    assert row["energy_error_mean"] == pytest.approx(np.mean(np.concatenate([f["energy_error_mean"] for f in files])))
    assert (row["trajectories"], row["trajectories_ok"], row["status"], row["steps"]) == (10, 10, "ok", 10)
    table = pandas.read_csv(made.folder/"cells.csv.gz")
    assert table["number"].tolist() == list(range(10))
    for name in ("energy_error_max", "parameter_gamma", "energy_slope"):
        assert np.array_equal(table[name], np.concatenate([file[name] for file in files]))
    content = (made.folder/"cells.csv.gz").read_bytes()
    write_cells(made)
    assert (made.folder/"cells.csv.gz").read_bytes() == content
    line, = draw_map(StudyResults(made)).axes[0].lines
    assert np.array_equal(line.get_ydata(), largest)
    assert np.array_equal(line.get_xdata(), np.linspace(0.1, 1.0, 10))


def test_a_cell_that_stops_leaves_the_others(tmp_path):
    made = study("{system: heavy_top, preset: asymmetric, t_end: 1.0, grid: {length: [1, 5], mass: [2, 0.5]}}",
                 tmp_path)
    assert run_cells(made.cells).failed == 1
    file = read(made.cells[0].path)
    assert file["status"].tolist() == [0, 0, 5, 0]
    assert 0.0 < file["time_reached"][2] < 1.0
    assert np.isnan(file["energy_end"]).tolist() == [False, False, True, False]
    assert np.isnan(file["energy_slope"]).tolist() == [False, False, True, False]
    assert np.isfinite(file["energy_high"]).all()
    analyse(made)
    (row,) = StudyResults(made).metrics.to_dict("records")
    assert (row["status"], row["trajectories"], row["trajectories_ok"]) == ("not_finite", 4, 3)
    assert row["time_reached"] == file["time_reached"][2]
    assert [text.get_text() for text in draw_map(StudyResults(made)).legends[0].get_texts()] == [
        "did not come to its end"]


def test_100_000_cells_are_planned_in_seconds_and_lie_in_100_small_files(tmp_path):
    start = time.thread_time()
    made = study(BODIES % "grid: {gamma: {from: 0.1, to: 2.0, count: 2000}, mass.0: {from: 1, to: 2, count: 50}}",
                 tmp_path)
    products = StudyProducts(made)
    assert len(products.runs) == 100
    assert len({cell.fingerprint for cell in products.cells}) == 100
    assert time.thread_time() - start <= 10.0
    run_cells(made.cells[:1])
    file = read(made.cells[0].path)
    numbers = sum(values.size for name, values in file.variables.items())
    assert numbers >= 80*1000
    assert made.cells[0].path.stat().st_size <= 50*numbers
    assert made.cells[0].path.stat().st_size <= 12*numbers


@pytest.mark.slow
def test_a_process_takes_less_than_a_gigabyte(tmp_path):
    study(BODIES % "ensemble: {members: 30000, amplitude: 1e-6}", tmp_path, HEAD.replace("figures: [map]\n", ""))
    sweep = "import sys; from liestep.api.command_line import main; sys.exit(main(sys.argv[1:]))"
    # by a small process of its own: the peak of memory that a process reports is at least that of the one it is made by
    script = ("import os, subprocess, sys\n"
              f"sweep = subprocess.Popen([sys.executable, '-c', {sweep!r}, 'job', 'sweep', 'small', 'one'])\n"
              "_, status, used = os.wait4(sweep.pid, 0)\n"
              "print(status, used.ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    status, kilobytes = map(int, done.stdout.splitlines()[-1].split())
    assert status == 0
    assert kilobytes*1024 <= 1024**3
    assert len(list((tmp_path/"results"/"small"/"runs").rglob("*.nc"))) == 3


@pytest.mark.parametrize(("problem", "head", "sentence"), [
    (BODIES % "label: x", HEAD, "reduced is for maps (grid, sample) and ensembles; leave it out for single runs"),
    (BODIES % "exponents: 1, ensemble: {members: 2, amplitude: 1e-6}", HEAD.replace("figures: [map]\n", ""),
     "exponents has no place among what reduced keeps; leave out one of them"),
    (BODIES % "replicas: 2, ensemble: {members: 2, amplitude: 1e-6}", HEAD.replace("figures: [map]\n", ""),
     "replicas has no place among what reduced keeps; leave out one of them"),
    (BODIES % "ensemble: {members: 2, amplitude: 1e-6}", HEAD.replace("energy]", "horizons]"),
     "tables: horizons does not show maps or what is reduced, which problem one is; allowed are energy, momentum")])
def test_what_cannot_be_reduced_is_refused(problem, head, sentence, tmp_path):
    with pytest.raises(InputError, match=re.escape(sentence)):
        assert study(problem, tmp_path, head).cells


def test_a_number_that_the_map_has_not_is_refused(grid):
    other = study(BODIES % "grid: {gamma: [0.1, 0.5, 1.0]}", grid.folder.parents[1],
                  HEAD + "map_quantity: energy_eror_max\n")
    analyse(other)
    with pytest.raises(InputError, match=r"unknown number of cells\.csv\.gz 'energy_eror_max'; did you mean energy"):
        draw_map(StudyResults(other))


def test_the_report_shows_aggregates_of_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "MOST_ROWS", 5)
    made = study(BODIES % "grid: {gamma: [0.1, 0.5, 1.0, 1.1, 1.2, 1.4]}", tmp_path,
                 HEAD.replace("reduced: true\n", "samples: 3\n").replace("[0.1]", "[0.1, 0.05]"))
    run_cells(made.cells)
    analyse(made)
    results = StudyResults(made)
    runs = provenance.runs_data(results)
    assert (runs["count"], len(runs["rows"])) == (12, 2)
    first = dict(zip(runs["columns"], runs["rows"][0], strict=True))
    values = results.metrics["energy_error_max"][:6]
    assert first["energy_error_max_high"] == pytest.approx(values.max(), rel=1e-7)
    assert first["energy_error_max_median"] == pytest.approx(np.median(values), rel=1e-7)
    assert first["energy_error_max_low"] == pytest.approx(values.min(), rel=1e-7)
    assert (first["runs"], first["ok"], first["resolution"], first["path"]) == (6, 6, "h0.1", "runs/one/rk4/h0.1.nc")
    assert "energy_error_max_high" in runs["shown"]
    assert list(runs["headings"][runs["columns"].index(
        "energy_error_max_median")]) == ["largest energy error, median", "J"]
    table = provenance.table_data(results, "energy")
    assert len(table["rows"]) == 2
    assert table["rows"][1][table["columns"].index("runs")] == 6
    monkeypatch.setattr(provenance, "MOST_ROWS", 12)
    assert len(provenance.runs_data(results)["rows"]) == 12
