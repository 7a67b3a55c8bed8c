"""Maps: runs over values of parameters share files, have the bits of single problems, and fail one by one."""
import cProfile
import re
from pathlib import Path

import numpy as np
import pytest

from liestep.errors import InputError
from liestep.figures.interactive.datasets import open_run
from liestep.figures.kinds.maps import map as draw_map
from liestep.files.records import recording
from liestep.simulation.runs import batches
from liestep.simulation.runs.files import RunFile, read
from liestep.simulation.runs.maps import ParameterMap, ShardSpecification
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.shards import carry_out_shard, cells_of
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.store import Store
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse
from liestep.workflow.report.provenance import runs_data, table_data
from liestep.workflow.status import items
from liestep.workflow.workflow import StudyProducts

PAGE = Path(__file__).parents[2]/"docs"/"maps.md"
EXAMPLE = re.findall(r"```yaml\n(title.*?)```", PAGE.read_text(), re.DOTALL)[0]
SNIPPET = re.findall(r"```\n(import liestep.*?)```", PAGE.read_text(), re.DOTALL)[0]
HEAD = "title: A map\nsamples: 3\nsteps: [0.1]\nintegrators: {rk4: }\nfigures: [map]\n"
BODIES = "{system: sphere_nbody, t_end: 1.0, %s}"
OWN = ("specification", "run_sha256", "source_hash")  # attributes that name a run


def study(text: str, folder: Path, name: str = "maps") -> Study:
    (folder/"config"/"studies").mkdir(parents=True, exist_ok=True)
    (folder/"config"/"studies"/f"{name}.yaml").write_text(text)
    return Study.find(name, folder/"config", folder/"results")


def one(problem: str, folder: Path, head: str = HEAD) -> Study:
    return study(f"{head}problems:\n  one: {problem}\n", folder)


def wrong_cells(spec: ShardSpecification, alone) -> list[int]:
    """Cells of a shard that differ in a bit from the run that their coordinates say."""
    content = carry_out_shard(spec)
    found = RunFile(Path(), content.attributes, {name: values for name, (_, values, _) in content.variables.items()})
    wrong = []
    for number, cell in enumerate(cells_of(found, spec)):
        single = alone({name: cell.attributes[variable]
                        for name, variable in zip(spec.map.names, spec.map.variables, strict=True)})
        same = all(np.array_equal(values, cell.variables[name]) for name, (_, values, _) in single.variables.items()
                   if not name.endswith("_blocks"))
        same = same and all(cell.attributes[name] == value for name, value in single.attributes.items()
                            if name not in OWN and value == value)
        wrong += [] if same else [number]
    return wrong


def bodies_alone(point):
    return carry_out(specify("sphere_nbody", "rk4", t_end=1.0, steps=10, samples=3, parameters=point))


def many(folder: Path) -> ShardSpecification:
    """More than 256 cells, and no multiple of what registers hold."""
    made = one(BODIES % "grid: {gamma: {from: 0.1, to: 2.0, count: 267}}", folder)
    (cell,) = made.cells
    assert isinstance(cell.spec, ShardSpecification)
    return cell.spec


@pytest.mark.slow
def test_many_cells_have_the_bits_of_as_many_problems(tmp_path):
    assert wrong_cells(many(tmp_path), bodies_alone) == []


def test_a_mutant_with_cells_in_another_order_than_their_coordinates_dies(tmp_path, monkeypatch):
    straight = ShardSpecification.cell
    monkeypatch.setattr(ShardSpecification, "cell", lambda spec, number: straight(spec, spec.count - 1 - number))
    spec = one(BODIES % "grid: {gamma: [0.1, 0.5, 1.0]}", tmp_path).cells[0].spec
    assert wrong_cells(spec, bodies_alone) == [0, 2]


@pytest.mark.slow
def test_numbers_of_arrays_and_adaptive_methods(tmp_path):
    head = HEAD.replace("steps: [0.1]", "tolerances: [1e-6]").replace("rk4: ", "ode45: ")
    made = one("{system: spherical_pendulum_chain, preset: paper_scaled, t_end: 0.5,"
               " grid: {gravity.2: [-1, -9.81], length.1: [0.5, 2]}}", tmp_path, head)
    spec = made.cells[0].spec
    preset = specify("spherical_pendulum_chain", "ode45", preset="paper_scaled", tolerance=1e-6).parameters

    def alone(point):
        gravity, length = preset["gravity"].copy(), preset["length"].copy()
        gravity[2], length[1] = point["gravity.2"], point["length.1"]
        return carry_out(specify("spherical_pendulum_chain", "ode45", preset="paper_scaled", t_end=0.5, samples=3,
                                 tolerance=1e-6, parameters={"gravity": gravity, "length": length}))

    assert spec.points.tolist() == [[-1, 0.5], [-1, 2], [-9.81, 0.5], [-9.81, 2]]  # the last one fastest
    assert wrong_cells(spec, alone) == []


def calls_of_plan(text: str, folder: Path) -> int:
    """Calls of functions, in Python or not, that a study's first cell takes."""
    profile = cProfile.Profile()
    assert profile.runcall(lambda: study(text, folder).cells[0].fingerprint)
    return sum(entry.callcount for entry in profile.getstats())


def test_a_map_is_planned_in_the_time_of_one_cell(tmp_path):
    """Whatever the number of cells in a file; what a map adds to the plan of a cell is counted in calls, not as a share
    of a plan that becomes cheaper."""
    single = EXAMPLE.replace("    grid: ", "    label: ").replace("{gamma", "'{gamma").replace("25}}", "25}}'")
    single = single.replace("figures: [map]", "figures: []")
    few = EXAMPLE.replace("25}}", "2}}")
    of_map, of_few, of_cell = [[calls_of_plan(text, tmp_path) for _ in range(2)][-1]
                               for text in (EXAMPLE, few, single)]
    assert of_map == of_few
    assert of_map <= of_cell + 1234
    assert len(EXAMPLE.splitlines()) <= 10


def test_shards_tables_status_report_and_figure(tmp_path):
    made = one(BODIES % "grid: {gamma: {from: 0.1, to: 2.0, count: 260}, mass.0: [1, 2, 3, 4]}", tmp_path,
               HEAD + "tables: [energy, momentum]\nmap_quantity: momentum_error_max\n")
    assert [cell.resolution for cell in made.cells] == ["h0.1", "h0.1_1000"]
    assert tuple(run_cells(made.cells)) == (2, 0, 0, 0)
    made.cells[1].path.unlink()
    assert tuple(run_cells(made.cells)) == (1, 1, 0, 0)
    analyse(made)
    results = StudyResults(made)
    table = results.metrics
    assert list(table["cell"]) == list(range(1040))
    assert list(table["parameter_mass_0"]) == [1.0, 2.0, 3.0, 4.0]*260
    assert table["parameter_gamma"].iloc[-1] == 2.0
    energy = results.table("energy")
    assert list(energy["parameter_gamma"]) == list(table["parameter_gamma"])
    assert "| cell | parameter_gamma | parameter_mass_0 | status |" in (made.folder/"tables.md").read_text()
    found = items(StudyProducts(made))
    assert [item.state for item in found if item.kind in ("runs", "tables")] == ["done"]*6
    assert len(runs_data(results)["rows"]) == 1040
    assert "parameter_gamma" in table_data(results, "energy")["columns"]
    mesh = draw_map(results).axes[0].collections[0]
    shown = np.asarray(mesh.get_array())
    assert shown.shape == (4, 260)
    one_row = table[(table["parameter_mass_0"] == 3.0)].sort_values("parameter_gamma")
    assert np.array_equal(shown[2], one_row["momentum_error_max"])
    file = read(made.cells[1].path)
    assert not [name for name in file.variables if name.endswith("_blocks")]
    assert file["energy"].shape == (40, 3)
    assert (file.attributes["first_cell"], file.attributes["cells"]) == (1000, 40)


def test_a_shard_fails_cell_by_cell(tmp_path):
    made = one("{system: heavy_top, preset: asymmetric, t_end: 1.0, grid: {length: [1, 5], mass: [2, 0.5]}}", tmp_path,
               HEAD + "tables: [energy]\n")
    assert run_cells(made.cells).failed == 1
    file = read(made.cells[0].path)
    assert file["status"].tolist() == [0, 0, 5, 0]
    assert file.attributes["status"] == "not_finite"
    assert re.match(r"1 of 4 cells did not come to their end; cell 2: stopped after t = 0\.\d: ",
                    file.attributes["message"])
    stopped = int(file["samples"][2])
    assert 0 < stopped < 3
    assert np.isfinite(file["energy"][2, :stopped]).all()
    assert np.isnan(file["energy"][2, stopped:]).all()
    assert np.isfinite(file["energy"][[0, 1, 3]]).all()
    analyse(made)
    results = StudyResults(made)
    assert list(results.metrics["status"]) == ["ok", "ok", "not_finite", "ok"]
    figure = draw_map(results)
    assert np.isnan(np.asarray(np.ma.filled(figure.axes[0].collections[0].get_array(), np.nan))).sum() == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["did not come to its end"]


def test_parameters_that_make_no_system_refuse_their_cell_only(tmp_path):
    made = one("{system: heavy_top, t_end: 0.002, parameters: {inertia: [1.0, 1.0, 1.0]},"
               " grid: {inertia.0: [1.0, 1.9], inertia.1: [1.0, 0.5]}}", tmp_path,
               HEAD.replace("0.1", "0.001") + "tables: [energy]\n")
    assert run_cells(made.cells).failed == 1
    file = read(made.cells[0].path)
    assert file["status"].tolist() == [0, 0, 0, -1]
    said = file.attributes["message"]
    assert said.startswith("1 of 4 cells did not come to their end; cell 3: parameter inertia is of no body")
    analyse(made)
    table = StudyResults(made).metrics
    assert list(table["status"]) == ["ok", "ok", "ok", "refused"]
    assert table["energy_error_max"].notna().tolist() == [True, True, True, False]
    assert table["message"].iloc[3].startswith("parameter inertia is of no body")


def tops_alone(point):
    return carry_out(specify("heavy_top", "rk4", preset="asymmetric", t_end=1.0, steps=10, samples=3, parameters={
        "gravity": [point["gravity.0"], 0.0, -9.81], "mass": point["mass"]}))


def test_cells_whose_files_hold_other_things_do_not_disturb_each_other(tmp_path, monkeypatch):
    """A component of the momentum has an error only where gravity lies along its axis."""
    spec = one("{system: heavy_top, preset: asymmetric, t_end: 1.0, parameters: {gravity: [0.0, 0.0, -9.81]},"
               " grid: {gravity.0: [0.0, 1.0, 2.0], mass: [1, 2]}}", tmp_path).cells[0].spec
    assert wrong_cells(spec, tops_alone) == []
    monkeypatch.setattr(batches.Part, "kind", ())
    assert wrong_cells(spec, tops_alone) == [2, 3, 4, 5]


def test_points_of_a_sample_fill_every_part_once(tmp_path):
    sample = ParameterMap(("a", "b"), ((1.0, 3.0), (-1.0, 0.0)), 50, 7)
    points = sample.points(0, 50)
    for values, (low, high) in zip(points.T, sample.values, strict=True):
        assert sorted(np.floor(50*(values - low)/(high - low)).astype(int)) == list(range(50))
    assert np.array_equal(sample.points(20, 10), points[20:30])
    assert not np.array_equal(ParameterMap(sample.names, sample.values, 50, 8).points(0, 50), points)
    made = one(BODIES % "sample: {ranges: {gamma: [0.5, 1.0]}, count: 4, seed: 2}", tmp_path)
    spec = made.cells[0].spec
    assert spec.canonical()["map"]["sample"] == {"ranges": {"gamma": [0.5, 1.0]}, "count": 4, "seed": 2}
    assert wrong_cells(spec, bodies_alone) == []


def test_a_shard_is_shared_like_a_run(tmp_path):
    results, text = tmp_path/"results", HEAD + "problems:\n  one: " + BODIES % "grid: {gamma: [0.1, 0.5]}" + "\n"
    first, second = study(text, tmp_path, "first"), study(text.replace("one", "two"), tmp_path, "second")
    with recording(results):
        assert run_cells(first.cells, Store(results)).made == 1
        assert tuple(run_cells(second.cells, Store(results))) == (0, 0, 0, 1)
    assert first.cells[0].path.samefile(second.cells[0].path)
    other = study(text.replace("[0.1, 0.5]", "[0.5, 0.1]"), tmp_path, "third")
    assert other.cells[0].spec.sha256 != first.cells[0].spec.sha256


@pytest.mark.parametrize(("problem", "sentence"), [
    ("grid: {}", "line 7: problems.one.grid: must not be empty"),
    ("grid: {gamma: []}", "line 7: problems.one.grid.gamma: must not be empty"),
    ("grid: {gama: [1, 2]}", "line 7: problems.one.grid.gama: unknown parameter 'gama'; did you mean gamma?"),
    ("grid: {gamma: [1, x]}", "must be a number, not 'x'"),
    ("grid: {gamma: [1, 1]}", "gamma: 1 appears twice"),
    ("grid: {gamma: {from: 0, to: 1, count: 1000}, mass.0: {from: 1, to: 2, count: 1000},"
     " mass.1: {from: 1, to: 2, count: 1000}}", "grid makes 1000000000 cells; at most 1000000 are allowed"),
    ("sample: {ranges: {gamma: [0, 1]}, count: 1000000000}", "sample makes 1000000000 cells; at most 1000000"),
    ("sample: {ranges: {gamma: [1, 0]}, count: 3}", "gamma must go from a smaller to a larger value, not from 1 to 0"),
    ("sample: {ranges: {}, count: 3}", "ranges: must not be empty"),
    ("sample: {ranges: {gamma: [0, 1]}, count: 3}, grid: {gamma: [1]}", "give grid or sample, not both"),
    ("grid: {mass: [1, 2]}", "mass has 3 numbers; choose one of them, mass.0 to mass.2"),
    ("grid: {mass.3: [1, 2]}", "mass has 3 numbers; choose one of them, mass.0 to mass.2"),
    ("grid: {gamma.0: [1, 2]}", "gamma is one number; leave out .0"),
    ("grid: {mass.0: [1, -2]}", "parameter mass.0 must be positive"),
    ("grid: {gamma: [1, 2]}, parameters: {gamma: 1}", "gamma stands under parameters too; give it once"),
    ("grid: {gamma: [1, 2]}, replicas: 3", "replicas is for single runs, not for maps"),
    ("grid: {gamma: [1, 2]}, exponents: 1", "exponents is for single runs, not for maps"),
    ("grid: {gamma: [1, 2]}, ensemble: {members: 2, amplitude: 0.1}", "ensemble is for single runs, not for maps"),
])
def test_wrong_maps_are_refused_in_one_sentence(problem, sentence, tmp_path):
    with pytest.raises(InputError) as error:
        assert one(BODIES % problem, tmp_path).cells
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert "maps.yaml, line 7: " in str(error.value)


@pytest.mark.parametrize(("line", "sentence"), [
    ("tables: [drift]", "tables: drift does not show maps, which problem one is; allowed are energy, momentum"),
    ("figures: [energy_error]", "figures: energy_error does not show maps, which problem one is; allowed are map"),
    ("reference: true", "reference: is not made of maps"), ("timing: true", "timing: is not made of maps"),
    ("animations: [one/rk4/h0.1]", "animations: is not made of maps")])
def test_what_cannot_show_maps_is_refused(line, sentence, tmp_path):
    head = HEAD.replace("figures: [map]\n", "") + line + "\n"
    with pytest.raises(InputError, match=re.escape(sentence)):
        one(BODIES % "grid: {gamma: [1, 2]}", tmp_path, head)


def test_the_figure_needs_a_map_and_a_number(tmp_path):
    with pytest.raises(InputError, match="the figure map shows problems with grid or sample; there is none"):
        one(BODIES % "label: x", tmp_path)
    made = one(BODIES % "grid: {gamma: [1, 2]}", tmp_path, HEAD + "map_quantity: energy_eror_max\n")
    run_cells(made.cells)
    analyse(made)
    with pytest.raises(InputError, match=r"unknown number of metrics\.csv 'energy_eror_max'; did you mean energy"):
        draw_map(StudyResults(made))


@pytest.mark.parametrize(("integrators", "setting", "kind"), [
    ("{rk4: {tolerances: [1e-6]}}", "tolerances", "of fixed steps"),
    ("{rk4: {outputs: 5}}", "outputs", "of fixed steps"), ("{ode45: {steps: [0.1]}}", "steps", "adaptive"),
    ("{ode45: {exponents: 1}}", "exponents", "adaptive")])
def test_settings_that_mean_nothing_for_a_method_are_refused(integrators, setting, kind, tmp_path):
    key = integrators[1:].partition(":")[0]
    head = "title: t\nsteps: [0.1]\ntolerances: [1e-6]\n"
    places = {f"integrators: {integrators}\nproblems:\n  one: {{system: sphere_nbody, t_end: 1.0}}\n": "integrators",
              f"integrators: {{{key}: }}\nproblems:\n  one: {{system: sphere_nbody, t_end: 1.0,"
              f" overrides: {integrators}}}\n": "overrides"}
    for text, place in places.items():
        with pytest.raises(InputError) as error:
            assert study(head + text, tmp_path).cells
        assert f"{setting} means nothing for {key}, which is {kind}; leave it out" in str(error.value)
        assert f"{place}.{key}.{setting}: " in str(error.value)
    assert study(head + f"integrators: {{{key}: }}\nproblems:\n  one: {{system: sphere_nbody, t_end: 1.0}}\n",
                 tmp_path).cells  # what stands higher is for other methods


def test_the_page_shows_what_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = study(EXAMPLE.replace("count: 40", "count: 4").replace("count: 25", "count: 3"), tmp_path)
    run_cells(made.cells)
    exec(SNIPPET, {})
    shown = float(capsys.readouterr().out.strip().splitlines()[-1])
    data = open_run(made.cells[0].path)
    assert shown == data.energy_error_max.values[data.parameter_gamma.values > 1.5].max() > 0.0
    assert set(made.cells[0].spec.map.variables) <= set(data.coords)
