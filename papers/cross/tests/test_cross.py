"""Studies of every integrator: what enters by itself, budgets of evaluations, refusals, and the tables `which` and
`matrix`, from synthetic runs with known winners and from one small study."""
import re
from math import ceil, inf, nan
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from liestep_papers.cross.tables import which as which_table
from liestep_papers.cross.tables.matrix import matrix_rows
from liestep_papers.cross.tables.which import which_page
from place import study_of_paper
from plugin_room import _nothing_stays  # noqa: F401

from liestep.errors import InputError
from liestep.simulation.catalogue import integrator_calls, own_integrators, sheet
from liestep.simulation.references.reference import compute_reference, study_reference
from liestep.simulation.runs.files import write
from liestep.simulation.runs.specification import specify
from liestep.study.plan.budget import evaluations_per_step, step_counts
from liestep.study.plan.config import IntegratorConfig
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.choice import choose
from liestep.study.tables.results import read_csv
from liestep.study.tables.tables import analyse

PLUGIN = Path(__file__).resolve().parents[3]/"tests"/"plugins"/"two_step.py"
KEYS = {re.sub(r" \w+=", "_", call) for call in integrator_calls() if call.split()[0] in own_integrators()}
EVERY = """title: Everything
samples: 11
every_integrator: true
evaluations: [250, 1000]
tolerances: [1e-4, 1e-6]
problems:
  top: {system: heavy_top, preset: asymmetric, t_end: 2}
  four: {system: sphere_nbody, preset: four_bodies, t_end: 2}
integrators:
  dmv4: {id: dmv, options: {order: 4, splitting: rkn4}}
"""
SMALL = """title: Small
samples: 6
reference: true
evaluations: [100, 400, 1600]
tolerances: [1e-4, 1e-7, 1e-10]
tables: [which, matrix]
problems:
  four: {system: sphere_nbody, preset: four_bodies, t_end: 1}
integrators: {vi_sphere: {}, sphere_split: {}, rk4: {}, ode45: {},
  euler: {id: rkmk, options: {tableau: euler}, steps: {counts: [5]}}}
"""


def planned(tmp_path, text):
    return study_of_paper(tmp_path, "cross", text)


def test_every_integrator_enters_by_itself_or_is_refused_in_a_sentence(tmp_path):
    study, names = planned(tmp_path, EVERY), {*KEYS, "dmv4"}
    for problem in ("top", "four"):
        runs = {key for one, _, key, _ in study.pairs() if one == problem}
        refused = {key for one, key in study.not_applicable if one == problem}
        assert runs | refused == names
        assert not runs & refused
    assert "three equal moments" in study.not_applicable["top", "rodrigues_exact"]
    assert study.not_applicable["four", "exact_split"] == "the system has no formulation rigid_bodies"
    assert all("\n" not in sentence for sentence in study.not_applicable.values())
    assert study.config.integrators["dmv4"].options["order"] == 4


def test_a_plugin_enters_without_a_change_elsewhere(tmp_path):
    study = planned(tmp_path, EVERY + f"plugins: [{PLUGIN}]\n")
    new = set(study.config.integrators) - {*KEYS, "dmv4"}
    assert len(new) == 1
    assert {problem for problem, _, key, _ in study.pairs() if key in new} == {"top", "four"}
    assert not set(planned(tmp_path, EVERY).config.integrators) & new


@pytest.mark.parametrize(("problem", "integrator", "count"), [
    ("sphere_nbody", "vi_sphere", 1), ("sphere_nbody", "vi_sphere weights=kl8", 17),
    ("sphere_nbody", "sphere_split", 14),
    ("sphere_nbody", "rk4", 4), ("heavy_top", "exact_split", 14), ("heavy_top", "cf4", 4)])
def test_evaluations_of_a_step(problem, integrator, count):
    assert evaluations_per_step(specify(problem, integrator, steps=10)) == count


def test_a_budget_counts_evaluations_not_steps():
    spec = specify("sphere_nbody", "vi_sphere weights=kl8", steps=10)
    assert step_counts(spec, [1700, 6800], 1, 1) == [100, 400]
    assert step_counts(spec, [1700, 1705, 6800], 25, 1) == [100, 400]
    with pytest.raises(InputError, match="budget of 16 is less than the 17 evaluations of one step"):
        step_counts(spec, [16], 1, 1)


def test_a_budget_too_small_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"line 4: evaluations: sphere_split on four: .* a budget of 10 is less"):
        _ = planned(tmp_path, SMALL.replace("[100, 400, 1600]", "[10]")).sweeps


def runs(problem, integrator, points, status="ok"):
    """Rows of metrics: (evaluations, error) of runs with falling steps."""
    return [{"study": "s", "problem": problem, "integrator": integrator, "status": status, "step": 1.0/work,
             "tolerance": nan, "t_end": 1.0, "error": error, "steps": work, "force_evaluations": work,
             "rhs_evaluations": 0, "seconds": nan, "cost": nan,
             "message": "stopped" if status != "ok" else ""} for work, error in points]


def results(rows, problems, integrators, refusals=()):
    entries = {key: entry or IntegratorConfig.model_validate({}) for key, entry in dict(integrators).items()}
    return SimpleNamespace(
        metrics=pandas.DataFrame(rows), config=SimpleNamespace(problems=problems, integrators=entries),
        study=SimpleNamespace(name="s", integrator_id=lambda key: "rkmk" if key == "rkmk4" else key,
                              not_applicable=dict(refusals), capped=lambda problem, integrator: ""))


TOP = SimpleNamespace(system="heavy_top", preset="asymmetric", parameters={}, initial={}, period=None)
QUADRATIC = [(10.0**k, 10.0**(-2*k)) for k in range(1, 4)]    # 1e-2 to 1e-6


def test_known_winners_ties_gaps_and_failures():
    half = [(0.5*work, error) for work, error in QUADRATIC]
    rows = [*runs("top", "rkmk", QUADRATIC), *runs("top", "rk4", [(1.05*w, e) for w, e in QUADRATIC]),
            *runs("top", "cg3", half, "not_converged"), *runs("top", "exact_split", [(5e3, 1e-12)])]
    found = which_table.which_rows(results(rows, {"top": TOP}, dict.fromkeys(("rkmk", "rk4", "cg3",
                                                                              "exact_split"))))
    by = {(row["error"], row["keep"]): row for row in found}
    first = by[1e-3, "nothing"]
    assert (first["winner"], first["runner_up"], first["verdict"]) == ("rkmk", "rk4", "tie")
    assert first["work"] == pytest.approx(10.0**1.5)
    assert first["ratio"] == pytest.approx(1.05)
    assert first["class"] == "top"
    assert by[1e-3, "symplectic form"]["winner"] == "exact_split"
    assert by[1e-9, "nothing"]["winner"] == "exact_split"
    assert by[1e-9, "nothing"]["runner_up"] == ""
    rows = [row for row in rows if row["integrator"] != "exact_split"]
    found = which_table.which_rows(results(rows, {"top": TOP}, dict.fromkeys(("rkmk", "rk4", "cg3"))))
    assert {row["verdict"] for row in found if row["error"] == 1e-9} == {"nobody"}
    assert all(row["winner"] != "cg3" for row in found)


def test_a_class_takes_the_geometric_mean_of_ratios():
    other = SimpleNamespace(system="heavy_top", preset="bruels_cardona", parameters={}, initial={}, period=None)
    rows = [*runs("a", "rk4", QUADRATIC), *runs("a", "cg3", [(2*w, e) for w, e in QUADRATIC]),
            *runs("b", "rk4", [(8*w, e) for w, e in QUADRATIC]), *runs("b", "cg3", QUADRATIC),
            *runs("b", "cf4", [(0.1*w, e) for w, e in QUADRATIC])]
    found = which_table.which_rows(results(rows, {"a": TOP, "b": other}, dict.fromkeys(("rk4", "cg3", "cf4"))))
    row = next(row for row in found if row["scope"] == "class" and row["error"] == 1e-3 and row["keep"] == "nothing")
    assert (row["winner"], row["runner_up"]) == ("cg3", "rk4")  # cf4 does not run on both
    assert row["ratio"] == pytest.approx(2.0)


def test_the_map_of_winners_shows_margins_ties_and_gaps():
    from liestep_papers.cross.figures import winners

    rows = [*runs("top", "rkmk", QUADRATIC), *runs("top", "rk4", [(1.05*w, e) for w, e in QUADRATIC[:2]])]
    found = results(rows, {"top": SimpleNamespace(**vars(TOP), label="a top")}, dict.fromkeys(("rkmk", "rk4")))
    found.table = lambda name: pandas.DataFrame(which_table.which_rows(found))
    panel = winners(found).axes[0]
    assert panel.get_title(loc="left") == "whatever it keeps"
    assert [text.get_text() for text in panel.texts] == [
        "RKMK4\n=", "RKMK4\n=", "RKMK4\n-", "RKMK4\n-"]  # 1e-3 to 1e-6; nobody below
    assert [text.get_text() for text in panel.get_yticklabels()] == ["a top"]


def drawn(figure, rows, **more):
    """Axes of a figure of the room families from rows of metrics of a top."""
    from liestep_papers.cross import figures as families

    names = dict.fromkeys(row["integrator"] for row in rows)
    found = results([{"floor": nan, "floor_reference": 1e-15, **row} for row in rows],
                    {"top": SimpleNamespace(**vars(TOP), label="a top")}, names)
    found.config.timing = any(row["seconds"] == row["seconds"] for row in rows)
    found.table = lambda name: more.get(name, pandas.DataFrame(which_table.which_rows(
        found, which_table.CLOCK if name == "which_seconds" else which_table.COSTS)))
    return getattr(families, figure)(found).axes


@pytest.mark.parametrize("figure", ["leaders", "leaders_seconds"])
def test_leaders_are_the_methods_that_win_somewhere(figure):
    """cf4 wins nowhere; rk4 is shown beside the winners."""
    rows = [row | {"seconds": 1e-6*row["force_evaluations"]} for name, factor in (("rkmk", 1), ("cf4", 2), ("rk4", 3))
            for row in runs("top", name, [(factor*w, error) for w, error in QUADRATIC])]
    panel, = drawn(figure, rows)
    legend = {text.get_text() for text in panel.figure.legends[0].get_texts()}
    assert legend == {"RKMK4", "RK4"}
    unit = 1.0 if figure == "leaders" else 1e-6
    shown = sorted(x for line in panel.lines for x in line.get_xdata() if line.get_linestyle() == "None")
    assert shown == pytest.approx([unit*x for x in (10, 30, 100, 300, 1000, 3000)])


def test_the_price_of_the_manifold_is_that_of_a_step_and_of_an_error():
    """Twice the time of a step and half the error, as of a fourth-order method with 0.84 of the steps."""
    fourth = [(10.0*2**k, 1e-3*16.0**-k) for k in range(8)]
    rows = [row | {"seconds": factor*row["force_evaluations"], "steps": row["force_evaluations"]}
            for name, factor, better in (("rk4", 1.0, 1.0), ("rkmk4", 2.0, 2.0), ("cf4", 3.0, 1.0))
            for row in runs("top", name, [(w, error/better) for w, error in fourth])]
    for panel, ratio in zip(drawn("price_of_manifold", rows), (2.0, *[2.0*0.5**0.25]*3), strict=True):
        assert [line.get_xdata()[0] for line in panel.lines[:2]] == pytest.approx([ratio, 3.0])


def test_orders_and_changes_of_the_form_have_their_slopes():
    steps = [(2.0**k, 0.1*4.0**-k) for k in range(4)]
    rows = [row | {"resolution": f"h{row['step']}", "order": 2} for row in runs("top", "body_midpoint", steps)]
    table = pandas.DataFrame([{"integrator": "body_midpoint", "resolution": row["resolution"],
                               "symplectic_error": row["step"]**3} for row in rows])
    axes = drawn("order_and_form", rows, exponents=table)
    assert [text.get_text() for panel in axes for text in panel.texts] == ["2", "3"]
    with pytest.raises(InputError, match="has no changes of the symplectic form"):
        drawn("order_and_form", rows, exponents=table.assign(symplectic_error=nan))


def test_an_encounter_shows_angles_and_energies(small):
    from liestep_papers.cross.figures import encounter

    from liestep.study.tables.results import StudyResults

    found = StudyResults(small)
    distance, energy, work = encounter(found).axes[:3]
    q = found.file("four", "rk4", "h0.0025")["q"]
    cosines = np.einsum("tik,tjk->tij", q, q)[:, *np.triu_indices(4, 1)]
    assert distance.lines[0].get_ydata() == pytest.approx(np.degrees(np.arccos(cosines)).min(axis=1), rel=1e-5)
    changes = found.metrics.set_index(["integrator", "resolution"])["energy_change"].abs()
    assert changes["rk4", "h0.0025"] in [y for line in work.lines for y in line.get_ydata()]
    assert len(energy.lines) == len(work.lines) == 5


def test_outcomes_of_the_matrix():
    rows = [*runs("top", "rk4", [(10, 1e-2)]), *runs("top", "rk4", [(20, nan)], "not_finite"),
            *runs("top", "cf4", [(10, nan)], "chart_limit")]
    found = matrix_rows(results(rows, {"top": TOP}, dict.fromkeys(("rk4", "cf4", "campello")),
                                            {("top", "campello"): "three equal moments"}))
    assert [(row["integrator"], row["outcome"], row["completed"]) for row in found] == [
        ("rk4", "partly", 1), ("cf4", "failed", 0), ("campello", "refused", 0)]
    assert [row["sentence"] for row in found] == ["stopped", "stopped", "three equal moments"]


@pytest.mark.parametrize(("system", "kind"), [
    ("sphere_nbody", "spheres"), ("spherical_pendulum_chain", "chain"), ("heavy_top", "top"),
    ("free_rigid_body", "free body"), ("bonded_ring", "bodies"), ("four_bar", "constrained")])
def test_classes_follow_from_formulations(system, kind):
    facts = sheet(system)
    assert which_table.class_of(facts, facts.check(facts.presets[facts.default].parameters)) == kind


def test_failed_runs_and_infinite_costs_never_win():
    table = [{"integrator": "a", "error": nan, "work": 1.0}, {"integrator": "b", "error": 1e-9, "work": inf},
             {"integrator": "c", "error": 1e-9, "work": 3.0}]
    assert choose(table, 1e-6, "work").winner == "c"
    assert choose(table[:2], 1e-6, "work").winner is None


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    study = planned(folder, SMALL)
    made(study)
    return study


def made(study):
    for sweep in study.sweeps:
        run_cells(sweep.cells)
    path, asked = study_reference(study, "four")
    write(compute_reference(asked), path)
    analyse(study)


def test_recommendations_of_a_small_study_meet_their_error(small, tmp_path):
    """Every step and tolerance that the table names, run again, meets its error within a factor of two; steps are
    shortened until they end at the samples."""
    assert list(read_csv(small.folder/"matrix.csv", ()).set_index("integrator")["outcome"]) == ["ok"]*5
    which = read_csv(small.folder/"which.csv", ())
    rows = which[(which["by"] == "evaluations") & (which["verdict"] != "nobody")].drop_duplicates(["winner", "error"])
    rows = rows.assign(size=[row["tolerance"] if row["winner"] == "ode45" else 5*ceil(0.2/row["step"] - 1e-9)
                             for row in rows.to_dict("records")])
    assert {"sphere_split", "ode45", "rk4"} & set(rows["winner"])
    assert len(rows) >= 8
    lines = []
    for name, own in rows.groupby("winner"):
        sizes = sorted(set(own["size"]), reverse=True)
        lines.append(f"  {name}: " + (f"{{tolerances: {sizes}}}" if name == "ode45" else
                                      f"{{steps: {{counts: {[int(size) for size in sizes[::-1]]}}}}}"))
    text = SMALL.replace("evaluations: [100, 400, 1600]\ntolerances: [1e-4, 1e-7, 1e-10]\n", "")
    again = planned(tmp_path, text.partition("integrators:")[0] + "integrators:\n" + "\n".join(lines))
    made(again)
    metrics = read_csv(again.folder/"metrics.csv", ())
    metrics = metrics.assign(size=metrics["tolerance"].fillna(metrics["steps"]))
    for row in rows.to_dict("records"):
        own = metrics[(metrics["integrator"] == row["winner"]) & (abs(metrics["size"]/row["size"] - 1.0) < 1e-9)]
        assert own["error"].item() <= 2.0*row["error"]


def test_the_page_says_what_the_table_says(small):
    page = (small.folder/"which.md").read_text()
    which = read_csv(small.folder/"which.csv", ())
    assert "## four\n\n`sphere_nbody`, class spheres, to t = 1 s" in page
    lines = [line.split(" | ") for line in page.splitlines() if line.startswith("| 1e-")]
    assert len(lines) == len(set(which["error"]))   # by evaluations alone: nothing was timed
    for line in lines:
        row = which[(which["error"] == float(line[0].strip("| "))) & (which["keep"] == "nothing")
                    & (which["by"] == "evaluations")].iloc[0]
        if row["verdict"] == "nobody":
            assert line[1] == "nobody"
        else:
            assert line[1].startswith(f"**{row['winner']}**, ")
            assert f", {row['work']:.4g}" in line[1]
            assert isinstance(row["runner_up"], str) <= (f"{row['runner_up']} {row['ratio']:.3g}" in line[1])
    assert not (small.folder/"which_seconds.csv").exists()


def test_a_plugin_is_in_the_matrix_and_on_the_page_without_a_change_elsewhere(tmp_path):
    study = planned(tmp_path, EVERY + f"plugins: [{PLUGIN}]\n")
    new, = set(study.config.integrators) - {*KEYS, "dmv4"}
    metrics = pandas.DataFrame([*runs("top", new, QUADRATIC),
                                *runs("top", "rk4", [(2.0*w, error) for w, error in QUADRATIC])])
    found = SimpleNamespace(metrics=metrics, config=study.config, study=study)
    assert {(row["integrator"], row["outcome"]) for row in matrix_rows(found)} >= {(new, "ok")}
    page = which_page(found, which_table.which_rows(found))
    assert f"| 1e-03 | **{new}**, step" in page
    assert "rk4 2" in page


def test_times_have_a_table_of_their_own():
    """By evaluations rkmk wins, by seconds rk4; the page shows both, the table of evaluations neither time."""
    rows = [*runs("top", "rkmk", QUADRATIC), *runs("top", "rk4", [(2.0*w, error) for w, error in QUADRATIC])]
    found = results([row | {"seconds": {"rkmk": 3e-6, "rk4": 1e-6}[row["integrator"]]*row["force_evaluations"]}
                     for row in rows], {"top": SimpleNamespace(**vars(TOP), label="a top")},
                    dict.fromkeys(("rkmk", "rk4")))
    found.config.title = "Some"
    counted, timed = which_table.which_rows(found), which_table.which_rows(found, which_table.CLOCK)
    assert {row["by"] for row in counted} == {"evaluations"}
    first = [next(row for row in table if row["error"] == 1e-3 and row["keep"] == "nothing")
             for table in (counted, timed)]
    assert [(row["by"], row["winner"]) for row in first] == [("evaluations", "rkmk"), ("seconds", "rk4")]
    page = which_page(found, [*counted, *timed])
    places = [page.index(text) for text in ("By evaluations", "**rkmk**", "By processor time", "**rk4**")]
    assert places == sorted(places)
    assert " s<br>rkmk 1.5" in page


def test_what_is_not_counted_has_no_cost():
    """An exact free motion evaluates nothing, and its flops are not counted: a cost of zero would win everything."""
    runs = pandas.DataFrame({"integrator": ["exact_split", "rk4"], "status": "ok", "error": 1e-12, "step": 0.1,
                             "tolerance": nan, "cost": [0.0, 3.0]})
    assert {name: at[1e-11]["cost"] for name, at in which_table.costs_at(runs, "cost").items()} == {"rk4": 3.0}
