"""The benchmarks start: they are no part of the tests, so that nobody else would notice if a file
that they need was moved."""
import os
import shutil

import numpy as np
import pytest

import liestep
from benchmarks import against, ensembles, mechanisms, robots, shares, standard
from benchmarks.cases import CASES, CoreRun, CounterpartRun
from benchmarks.speed import difference
from benchmarks.study import PROGRAMS, QUICK_STUDY, ROOT, SNAKEMAKE, papers, run
from docs.site.source import shown
from liestep.simulation.runs.specification import specify


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    liestep.load_plugin(mechanisms.CHAIN)


def test_the_workflow_is_found(tmp_path):
    for folder in ("config", "papers"):
        shutil.copytree(ROOT/folder, tmp_path/folder)
    environment = {**os.environ, **PROGRAMS}
    wall, cpu = run([*SNAKEMAKE, "--dry-run", "--config", f"studies={QUICK_STUDY}"], tmp_path, environment)
    assert wall > 0.0
    assert cpu > 0.0
    assert "example2" in (tmp_path/"output.log").read_text()
    with pytest.raises(RuntimeError, match="unknown study 'nothing'"):
        run([*SNAKEMAKE, "--dry-run", "--config", "studies=nothing"], tmp_path, environment)


def test_each_paper_has_its_studies():
    found = papers()
    assert sorted(found) == sorted(path.parent.name for path in (ROOT/"papers").glob("*/studies"))
    assert QUICK_STUDY in found["twospheres2009"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("name", ["vi_sphere", "verlet", "boris"])
def test_the_counterpart_in_c_ends_in_the_same_state(name, statistics):
    case = next(case for case in CASES if case.integrator == name)
    core = CoreRun(case, statistics=statistics)
    assert difference(core, CounterpartRun(case, core, statistics=statistics)) == 0.0


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("name", ["1a", "1b"])
def test_the_twins_of_mechanisms_end_in_the_same_state(name):
    """Points and directions, in range space and by dense elimination."""
    for system, preset in (("body_chain", "double_pendulum_offset"), ("four_bar", "tilted")):
        spec = specify(system, "rkmk", preset=preset, steps=20, t_end=0.02, samples=2, statistics_every=20,
                       options=mechanisms.MAPS[name])
        _, gap = mechanisms.compared(spec)
        assert gap < 1e-12


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_generalized_alpha_ends_as_its_twin():
    """Round-off of 1e-16 m or rad is 1e-13 m/s in velocities and 1e-9 N in multipliers for these steps."""
    spec = specify("body_chain", "generalized_alpha", preset="double_pendulum_offset", steps=20, t_end=0.02, samples=2,
                   statistics_every=20, options={"action": "se3"})
    (run_core, end), (run_twin, other) = mechanisms.core_call(spec), mechanisms.alpha_call(spec)
    start = end.copy()
    run_core()
    run_twin()
    assert np.abs(end[:8] - other[:8]).max() < 1e-11
    assert np.abs(end[8:] - other[8:]).max() < 1e-6
    assert np.abs(end[:8] - start[:8]).max() > 0.01


def test_a_step_has_the_operations_of_its_stages_and_their_sums():
    """Four right-hand sides of 60, and sums of twelve numbers with two operations a term."""
    spec = specify("free_rigid_body", "rk4", preset="asymmetric", steps=1, t_end=0.01, samples=2)
    sums = shares.operations(spec) - 4*60
    assert 12*(2*4 + 2*3) <= sums <= 12*20


def test_many_starts_end_beside_heyoka():
    ours, *others = ensembles.compare(16, 1)
    assert ours["error"] < 1e-9
    assert others[0]["error"] > others[1]["error"]
    assert others[1]["error"] < 1e-9


def test_words_about_peers_come_from_the_table():
    from benchmarks import peers

    rows = [{"problem": "top", "error": 1e-4, "fastest": "heyoka"},
            {"problem": "top", "error": 1e-8, "fastest": "taylor"},
            {"problem": "rod", "error": 1e-8, "fastest": "taylor"}]
    assert peers.words(rows) == ["heyoka is the fastest for top at 1e-04.",
                                 "taylor is the fastest for top at 1e-08, rod at 1e-08."]
    curve = [(1e-4, 1.0), (1e-8, 4.0)]
    assert peers._at(curve, 1e-6) == pytest.approx(2.0)
    assert peers._at(curve, 1e-2) == 1.0
    assert peers.defect({"q": np.array([[1.0, 0.0, 0.0], [0.0, 1.0 + 1e-6, 0.0]])}) == pytest.approx(2e-6, rel=1e-5)
    assert peers.defect({"attitude": np.eye(3)*(1.0 + 1e-6)}) == pytest.approx(2e-6, rel=1e-5)


def test_a_checkout_beside_itself_ends_in_the_same_states(tmp_path, monkeypatch):
    monkeypatch.setattr(against, "CASES", CASES[:1])
    rows = list(against.compare(ROOT, tmp_path, 1, pairs=1))
    assert [(row["case"], row["statistics"], row["same state"]) for row in rows] == [
        (CASES[0].label, "no", "yes"), (CASES[0].label, "yes", "yes")]
    assert all(row["lowest"] <= row["this/other"] <= row["highest"] for row in rows)


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="is not the root of a checkout of liestep"):
        next(against.compare(tmp_path, tmp_path, 1))


def test_a_case_that_the_other_checkout_lacks_is_left_out(tmp_path):
    server = against.Server(ROOT, tmp_path)
    assert server.run("no such case", False) is None
    server.close()


def test_errors_that_peers_do_not_reach_have_no_time():
    from benchmarks import peers

    codes, defects = ("heyoka", *peers.METHODS), {("heyoka", 1e-4): 1e-7}
    errors = {(code, tolerance): tolerance for code in codes for tolerance in (1e-4, 1e-8)}
    errors["taylor", 1e-8] = float("nan")  # a run that stopped
    seconds = {(code, tolerance): 2.0 if code == "dop853" else 4.0 for code, tolerance in errors}
    found = peers.Curves(errors, seconds, dict.fromkeys(codes, 1.0), defects, 1e-9)
    row = found.row(1e-6)
    assert row["dop853/heyoka"] == pytest.approx(0.5)
    assert np.isnan(row["taylor/heyoka"])
    assert row["fastest"] == "dop853"
    assert found._replace(floor=1e-6).row(1e-6)["fastest"] == "none"
    assert np.isnan(peers._at([(1e-4, 1.0)], 1e-6))
    assert np.isnan(peers._at([], 1e-6))


def test_ratios_are_those_without_and_with_the_call_for_each_form_of_a_peer():
    from benchmarks import peers

    at, calls = {"heyoka": 40.0, "heyoka natural": 20.0, "taylor": 30.0}, {"heyoka": 1.0, "heyoka natural": 1.0,
                                                                            "taylor": 12.0}
    errors = {(code, 1e-6): 1e-6 for code in at}
    row = peers.Curves(errors, {(code, 1e-6): at[code] for code in at}, calls, {}, 1e-9).row(1e-6)
    assert {key: row[key] for key in row if "/" in key} == pytest.approx({
        "heyoka natural/heyoka": 0.5, "taylor/heyoka": 0.75, "taylor/heyoka natural": 1.5,
        "heyoka natural/heyoka with call": 21.0/41.0, "taylor/heyoka with call": 42.0/41.0,
        "taylor/heyoka natural with call": 2.0})
    assert row["fastest"] == "heyoka natural"


@pytest.mark.parametrize("label", ["free body", "heavy top", "satellite", "three bodies"])
def test_both_forms_of_a_peer_are_one_motion(label):
    from benchmarks import peers

    system, preset = next(found[1:3] for found in peers.PROBLEMS if found[0] == label)
    start = peers.start_at(system, preset)
    runs = [make(system, start, 2.0, 1e-15) for make in (peers.peer, peers.natural_peer)]
    for one in runs:
        one.call()
    given, natural = (one.fields() for one in runs)
    assert peers.distance(natural, {name: given[name] for name in start.initial}) < 1e-12
    assert peers.distance(natural, start.initial) > 0.1
    runs[1].idle()
    assert peers.distance(runs[1].fields(), start.initial) < 1e-15


def test_a_call_at_the_end_of_a_motion_does_not_move():
    from benchmarks import peers
    from liestep.simulation.runs.specification import start_of

    start = start_of("free_rigid_body", preset="asymmetric")
    run = peers.peer("free_rigid_body", start, 1.0, 1e-8)
    run.call()
    moved = run.fields()["attitude"].copy()
    run.idle()
    assert np.array_equal(run.fields()["attitude"], start.initial["attitude"])
    assert peers.distance({"attitude": moved}, {"attitude": start.initial["attitude"]}) > 0.01


def test_other_libraries_move_like_heyoka(monkeypatch):
    """scipy on the compiled right-hand side; the expressions that JAX is given, on numbers."""
    from benchmarks import others, peers
    from liestep.compile.straight.jets import PLAIN, taylor_coefficients
    from liestep.integrators.taylor import field_expressions
    from liestep.mechanics.formulations import formulate
    from liestep.simulation.catalogue import sheet
    from liestep.simulation.runs.specification import start_of

    start = start_of("heavy_top", preset="asymmetric")
    field = formulate(sheet("heavy_top"), start.parameters, start.initial, "vector_field", {})
    runs = [peers.peer("heavy_top", start, 0.5, 1e-12), others.scipy_run(field, 0.5, 1e-12)]
    for one in runs:
        one.call()
    one, two = ({name: value.copy() for name, value in code.fields().items()} for code in runs)
    assert peers.distance(two, {name: one[name] for name in start.initial}) < 1e-10
    y, slope = field.start, np.zeros_like(field.start)
    assert others.loop_for(others.evaluate, field.problem)(field.problem, 0.0, y, slope)
    found = taylor_coefficients(field_expressions(field.problem, y.shape), [*y.flat, 0.0], 1, PLAIN)[1]
    assert np.abs(np.reshape(found, y.shape) - slope).max() < 1e-13*np.abs(slope).max()
    monkeypatch.setattr(others, "find_spec", lambda name: None)
    assert others.missing() == [f"diffrax is not installed; {others.REQUIREMENTS} has its version."]
    assert others.REQUIREMENTS == "rotation_bench/other_codes/requirements.txt"


def test_tables_of_the_page_are_those_of_the_last_record(tmp_path):
    from benchmarks import history

    for path in history.PAGES:
        page = path.read_text("utf-8")
        assert history.with_tables(page) == page, "python -m benchmarks peers --record"
    records = tmp_path/"history.jsonl"
    for value in (1.0, 2.0):
        history.append([("Heading", "speed", [{"case": "top", "ratio": value}])], records)
    assert [row["ratio"] for row in history.last("speed", records)][-1] == 2.0
    assert {"date", "commit", "processor", "table", "case"} <= set(history.last("speed", records)[0])


def test_table_of_standard_problems_is_made_from_the_stored_rows():
    """Between two tolerances the time of an error is a power of it, as a straight line in the figure."""
    rows = standard.stored_rows()
    made = standard.table(rows)
    assert standard.REACHED.read_text("utf-8") == made
    assert made in shown((ROOT/"docs"/"standard.md").read_text("utf-8"), ROOT/"docs") + "\n"
    two = [{"problem": "p", "code": "heyoka", "error": 10.0**-k, "seconds": 1e-3*k} for k in (4, 8, 12)]
    line = standard.table(two).splitlines()[-1].split(" | ")
    shares = [4.0*2.0**0.5, 8.0*1.5**0.25]
    assert line[-2] == ", ".join(f"{value:.2g}" for value in shares)
    assert set(line[1:-2]) == {""}


def test_robots_have_the_joints_of_their_names(tmp_path):
    for name, parents in robots.ROBOTS.items():
        path = tmp_path/"robot.urdf"
        path.write_text(robots.urdf(parents))
        robot = liestep.from_urdf(path)
        assert f"{len(parents)} joints" in name
        assert robot.start(np.zeros(len(parents)), np.zeros(len(parents)))["position"].shape == (len(parents), 3)
