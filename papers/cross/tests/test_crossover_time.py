"""Tables `crossover_time`, `validity` and `ensembles` from synthetic runs with known answers; horizons."""
from math import inf, isnan, nan
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from liestep_papers.cross.criteria import CrossoverTime, EqualError, Price, WinningOrder
from liestep_papers.cross.tables import crossover_time
from liestep_papers.cross.tables.crossover_time import (
    Curve,
    compare,
    crossover_times,
    interpolated,
    spent_in_a_period,
    takes_over,
)
from liestep_papers.cross.tables.ensembles import compared, summary
from liestep_papers.cross.tables.validity import largest_steps, validity_rows
from liestep_papers.cross.tables.which import cell
from place import study_of_paper
from pydantic import ValidationError

from liestep.figures.commands import make_figure
from liestep.simulation.references.reference import compute_reference, study_reference
from liestep.simulation.runs.files import write
from liestep.study.plan.config import ProblemConfig, StudyConfig, each_horizon
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse

TIMES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def test_the_time_is_the_first_from_which_on_the_error_stays_smaller():
    bounded = np.full(5, 2.5)
    assert takes_over(TIMES, bounded, TIMES) == 3.0            # 1, 2 < 2.5 < 3
    assert takes_over(TIMES, TIMES, bounded) == inf            # from the wrong side: never
    assert takes_over(TIMES, np.full(5, 0.5), TIMES) == 0.0    # always
    assert takes_over(TIMES, np.array([0.5, 9, 0.5, 9, 0.5]), np.ones(5)) == 5.0   # for good, not for the first time
    assert takes_over(TIMES, np.ones(5), np.ones(5)) == inf    # equal is not better


@pytest.mark.parametrize(("first", "second", "verdict", "winner", "time"), [
    (np.full(5, 2.5), TIMES, "takes over", "a", 3.0), (TIMES, np.full(5, 2.5), "takes over", "b", 3.0),
    (np.full(5, 0.1), TIMES, "from the start", "a", 0.0), (np.full(5, 5.0), 1.05*TIMES, "tie", "a", nan),
    (np.array([0.1, 0.1, inf, inf, inf]), TIMES, "takes over", "b", 3.0),    # a run that stopped does not win
    (np.full(5, inf), np.full(5, inf), "neither", "a", nan)])
def test_verdicts_of_a_pair(first, second, verdict, winner, time):
    row = compare({"a": {5.0: Curve(TIMES, first)}, "b": {5.0: Curve(TIMES, second)}}, "energy")
    assert (row["verdict"], row["method"]) == (verdict, winner)
    assert row["crossover_time"] == time or (isnan(row["crossover_time"]) and isnan(time))


def test_horizons_are_joined_and_only_common_ones_count():
    short, long = Curve(np.array([0.5, 1.0]), np.array([1.0, 1.0])), Curve(TIMES, 10.0*TIMES)
    rows = compare({"a": {1.0: short, 5.0: Curve(TIMES, np.full(5, 20.0))}, "b": {1.0: short, 5.0: long}}, "energy")
    assert (rows["method"], rows["crossover_time"]) == ("a", 3.0)
    assert compare({"a": {1.0: short}, "b": {5.0: long}}, "energy") is None
    both = compare({"a": {1.0: short, 5.0: long}, "b": {1.0: Curve(short.times, 2.0*short.errors)}}, "energy")
    assert both["t_end"] == 1.0


def test_who_keeps_both_momenta_ties():
    pair = {"a": {5.0: Curve(TIMES, np.full(5, 1e-16))}, "b": {5.0: Curve(TIMES, np.full(5, 1e-13))}}
    assert compare(pair, "momentum")["verdict"] == "tie"
    assert compare(pair, "energy")["verdict"] == "from the start"


def test_a_cost_counts_evaluations_not_steps_and_the_time_that_was_reached():
    run = {"force_evaluations": 1700, "rhs_evaluations": 0, "steps": 100, "time_reached": 20.0}
    assert spent_in_a_period(run, 2.0) == 170.0
    assert spent_in_a_period(run | {"time_reached": 10.0}, 2.0) == 340.0
    assert spent_in_a_period(run | {"force_evaluations": 0}, 2.0) == 10.0  # a free motion: a step counts as one
    assert spent_in_a_period(run | {"time_reached": 0.0}, 2.0) == 0.0


def test_errors_are_interpolated_where_runs_enclose_a_cost_and_nowhere_else():
    runs = [(10.0, Curve(TIMES, np.full(5, 1e-2))), (1000.0, Curve(TIMES, np.full(5, 1e-6)))]
    assert interpolated(runs, 100.0).errors == pytest.approx(1e-4)
    assert interpolated(runs, 10.9).errors == pytest.approx(1e-2)      # near enough
    assert interpolated(runs, 9.0) is None
    assert interpolated([], 9.0) is None
    failed = [runs[0], (1000.0, Curve(TIMES, np.array([1e-6, 1e-6, inf, inf, inf])))]
    assert list(np.isinf(interpolated(failed, 100.0).errors)) == [False, False, True, True, True]


def test_a_run_that_stopped_has_no_error_after_its_end():
    file = SimpleNamespace(failed=True, attributes={"t_end": 5.0, "time_reached": 2.0})
    curve = crossover_time._blocks(file, np.array([0.1, 0.3, np.nan, np.nan, np.nan]))
    assert list(curve.errors) == [0.1, 0.3, inf, inf, inf]
    file.failed = False
    curve = crossover_time._blocks(file, np.array([0.1, np.nan, 0.2, 0.1, 0.1]))
    assert list(curve.errors) == [0.1, 0.1, 0.2, 0.2, 0.2]


ROWS = pandas.DataFrame([
    {"study": "s", "motion": "m", "quantity": "energy", "evaluations_per_period": cost, "method": method,
     "other": other, "verdict": verdict, "crossover_periods": periods}
    for cost, method, other, verdict, periods in (
        (10, "long", "short", "takes over", 50.0), (20, "long", "short", "takes over", 200.0),
        (10, "slow", "short", "takes over", 5000.0), (10, "short", "worse", "from the start", 0.0),
        (10, "even", "short", "tie", nan))])


@pytest.mark.parametrize(("method", "met", "undecided", "ours"), [
    ("long", True, False, 200.0), ("slow", False, False, 5000.0), ("worse", False, False, inf),
    ("even", False, True, nan)])
def test_the_claim_is_met_at_every_cost_and_from_the_right_side(method, met, undecided, ours):
    study = SimpleNamespace(table=lambda name: ROWS)
    choice = SimpleNamespace(study="s", problem="m_100", integrator=method)
    claim = SimpleNamespace(runs=[choice], against=[SimpleNamespace(study="s", problem="m_100", integrator="short")])
    outcome = CrossoverTime(kind="crossover_time", of="energy", at_most=1000.0).judge(claim, {"s": study})
    assert (outcome.met, outcome.undecided) == (met, undecided)
    assert outcome.ours == ours or (isnan(outcome.ours) and isnan(ours))
    assert list(crossover_times(ROWS, "m", "energy", "worse", "short")) == [(10, inf)]


def which(rows):
    return pandas.DataFrame([{"problem": "p", "by": "evaluations", "keep": keep, "error": error, "winner": winner,
                              "work": work, "verdict": "winner" if winner else "nobody"}
                             for keep, error, winner, work in rows])


def test_price_and_winning_order():
    table = which([("symplectic form", 1e-3, "vi", 30.0), ("no symplectic form", 1e-3, "rk", 20.0),
                   ("symplectic form", 1e-9, "", nan), ("no symplectic form", 1e-9, "dop", 90.0),
                   ("nothing", 1e-3, "rk", 20.0), ("nothing", 1e-9, "dop", 90.0)])
    metrics = pandas.DataFrame({"integrator": ["vi", "rk", "dop"], "order": [2, 4, 8]})
    study = SimpleNamespace(table=lambda name: table, metrics=metrics)
    claim = SimpleNamespace(runs=[SimpleNamespace(study="s", problem="p", integrator="rk")])
    price = {"kind": "price", "keep": "symplectic form", "against_keep": "no symplectic form"}
    assert Price(**price, at_least=1.0).judge(claim, {"s": study}).ours == pytest.approx(1.5)
    assert not Price(**price, at_most=1.0).judge(claim, {"s": study}).met
    assert WinningOrder(kind="winning_order", error=1e-6, order=4).judge(claim, {"s": study}).met
    assert not WinningOrder(kind="winning_order", error=1e-12, order=4).judge(claim, {"s": study}).met
    assert not WinningOrder(kind="winning_order", error=1e-2, order=4).judge(claim, {"s": study}).met


def test_work_at_equal_error():
    rows = [{"problem": "p", "integrator": name, "resolution": f"h{k}", "status": "ok", "step": 2.0**-k,
             "tolerance": nan, "error": error*16.0**-k, "cost": cost*2.0**k}
            for name, error, cost in (("rk4", 1.0, 1.0), ("rkmk4", 0.5, 3.0)) for k in range(10)]
    study = SimpleNamespace(metrics=pandas.DataFrame(rows))
    choices = [SimpleNamespace(study="s", problem="p", integrator=name, resolution=None) for name in ("rkmk4", "rk4")]
    claim = SimpleNamespace(runs=choices[:1], against=choices[1:], quantity="cost")
    found = EqualError(kind="equal_error", levels=[1e-4, 1e-6, 1e-30], at_least=1.0).judge(claim, {"s": study})
    assert found.met
    assert found.ours == pytest.approx(3.0*0.5**0.25)      # an error half as large saves 2^(1/4) of the steps


def steps(*runs):
    return pandas.DataFrame([{"step": step, "steps": 1.0/step, "status": status, "error": error,
                              "force_evaluations": 10.0/step, "rhs_evaluations": 0, "message": status,
                              "adaptive": False, "problem": "p", "integrator": "i"} for step, status, error in runs])


def test_largest_steps_need_all_smaller_ones():
    found = largest_steps(steps((1.0, "ok", 1e-5), (0.5, "not_finite", nan), (0.25, "ok", 1e-3), (0.125, "ok", 1e-6)))
    assert (found["completes"], found["accurate"], found["evaluations"]) == (0.25, 0.125, 80.0)
    assert (found["sentence"], found["smallest"], found["largest"]) == ("not_finite", 0.125, 1.0)
    found = largest_steps(steps((1.0, "ok", 1e-3), (0.5, "not_converged", nan)))
    assert isnan(found["completes"])
    assert isnan(found["accurate"])
    lucky = largest_steps(steps((1.0, "ok", 1e-5), (0.5, "ok", 1e-3), (0.25, "ok", 1e-6)))
    assert (lucky["completes"], lucky["accurate"]) == (1.0, 0.25)


def test_only_problems_on_an_axis_are_in_the_table():
    table = steps((1.0, "ok", 1e-5))
    problems = {"p": SimpleNamespace(at={"spin": 2.0}), "q": SimpleNamespace(at={})}
    results = SimpleNamespace(study=SimpleNamespace(name="s"), select=lambda problem, integrator: table,
                              config=SimpleNamespace(problems=problems, integrators={"i": None}))
    rows = validity_rows(results)
    assert [(row["axis"], row["value"], row["problem"], row["completes"]) for row in rows] == [("spin", 2.0, "p", 1.0)]


def test_intervals_of_means():
    values = np.random.default_rng(18).normal(5.0, 2.0, (2000, 16))
    inside = [one["low"] <= 5.0 <= one["high"] for one in map(summary, values)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)   # Student's, with 15 degrees of freedom
    for count, printed in ((2, 12.706), (4, 3.182), (16, 2.131), (31, 2.042)):  # tables of t at 97.5 %
        one = summary(values[0, :count] if count <= 16 else values[:2, :].ravel()[:count])
        assert one["high"] - one["mean"] == pytest.approx(printed*one["standard_error"], rel=5e-4)


def test_means_are_compared_with_the_best_energy():
    rows = [{"integrator": name, "resolution": "h", "members": members, "mean": mean, "standard_error": 0.1,
             "energy_error": energy} for name, members, mean, energy in (
        ("best", 16, 1.0, 1e-9), ("near", 16, 1.3, 1e-3), ("far", 16, 1.5, 1e-3), ("few", 4, 1.0, 1e-3))]
    rows.append({"integrator": "gone", "resolution": "h", "members": 16, "verdict": "stopped"})
    assert [row["verdict"] for row in compared(rows)] == ["reference", "agrees", "differs", "too few", "stopped"]
    assert rows[2]["deviation"] == pytest.approx(0.5/np.sqrt(0.02))


def test_horizons_stand_for_problems_and_budgets_grow_with_them():
    problem = ProblemConfig(system="heavy_top", label="top", period=2.0, horizons=[10, 1000], evaluations=[30, 60])
    found = each_horizon({"top": problem, "other": ProblemConfig(system="heavy_top")}, None)
    assert {key: (one.t_end, one.evaluations, one.label) for key, one in found.items()} == {
        "top_10": (20.0, [300, 600], "top, 10 periods"), "top_1000": (2000.0, [30000, 60000], "top, 1000 periods"),
        "other": (None, None, None)}
    plain = ProblemConfig(system="heavy_top", period=2.0, horizons=[10])
    assert each_horizon({"top": plain}, [7])["top_10"].evaluations == [70]
    assert each_horizon({"top": plain}, None)["top_10"].evaluations is None


@pytest.mark.parametrize(("problems", "sentence"), [
    ({"top": {"system": "heavy_top", "horizons": [1]}}, "horizons need a period, and no t_end"),
    ({"top": {"system": "heavy_top", "horizons": [1], "period": 1.0, "t_end": 2.0}}, "need a period, and no t_end"),
    ({"top": {"system": "heavy_top", "horizons": [1], "period": 1.0}, "top_1": {"system": "heavy_top"}},
     "two problems have the key top_1"),
    ({"t"*59: {"system": "heavy_top", "horizons": [10], "period": 1.0}}, "more than 60 letters"),
    ({"top": {"system": "heavy_top", "at": {"a": 1.0, "b": 2.0}}}, "at most 1 item")])
def test_bad_horizons(problems, sentence):
    with pytest.raises(ValidationError, match=sentence):
        StudyConfig.model_validate({"title": "t", "problems": problems, "integrators": {"rk4": None}})


SMALL = """title: Small
samples: 6
reference: true
tables: [crossover_time, validity]
tolerances: [1e-1, 1e-3, 1e-5]
problems:
  top:
    {label: a top, system: heavy_top, preset: slow_symmetric, period: 2, horizons: [1, 4],
     evaluations: [60, 120, 240], at: {spin: 1}}
integrators: {rk4: {}, dop853: {}}
"""


@pytest.mark.slow
def test_a_small_study_has_tables_and_figures(tmp_path):
    """RK4 and DOP853 on a top: the row of each cost says who has the smaller error of the two files at the end."""
    study = study_of_paper(tmp_path, "cross", SMALL)
    for sweep in study.sweeps:
        run_cells(sweep.cells)
    for problem in study.config.problems:
        path, asked = study_reference(study, problem)
        write(compute_reference(asked), path)
    analyse(study)
    results = StudyResults(study)
    table = results.table("crossover_time")
    assert set(table["quantity"]) == {"energy", "momentum", "manifold", "state"}
    row = table[table["quantity"] == "state"].iloc[-1]
    runs = results.select("top_4", "rk4")
    rk4 = runs.loc[(runs["rhs_evaluations"] - 4*row["evaluations_per_period"]).abs().idxmin(), "error"]
    assert row["error" if row["method"] == "rk4" else "error_other"] == pytest.approx(rk4)
    validity = results.table("validity")
    assert list(validity["axis"]) == ["spin", "spin"]    # two horizons; adaptive methods have no step
    assert set(validity["integrator"]) == {"rk4"}
    for name in ("cross.equal_cost", "cross.crossover_time", "cross.validity"):
        picture = make_figure(results, name)[0]
        assert picture.stat().st_size > 10_000


def test_a_cell_of_the_page_says_tie_and_nobody():
    row = {"winner": "rkmk5", "step": 0.1, "tolerance": nan, "work": 120.0, "runner_up": "rk4", "ratio": 1.05,
           "verdict": "tie"}
    assert cell(row, "{:.4g}") == "**rkmk5**, step 0.1, 120<br>tie: rk4 1.05"
    assert cell(row | {"verdict": "wins"}, "{:.4g}") == "**rkmk5**, step 0.1, 120<br>rk4 1.05"
    assert cell(row | {"verdict": "nobody"}, "{:.4g}") == "nobody"
