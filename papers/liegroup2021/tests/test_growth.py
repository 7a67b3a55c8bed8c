"""Growth of errors in time and crossovers of energy errors, from made-up histories with known answers."""
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from liestep_papers.liegroup2021.figures import long_time
from liestep_papers.liegroup2021.tables import crossover, growth

from liestep.figures import style
from liestep.simulation.runs.files import RunFile

TIME = np.linspace(0.0, 400.0, 8001)
WIGGLE = 1.0 + 0.3*np.sin(2.0*np.pi*TIME)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_powers_are_found_under_oscillations(power):
    found = growth.judge(TIME, 1e-6*WIGGLE*(TIME/100.0)**power, 0.0)
    assert abs(found["exponent"] - power) <= found["uncertainty"] <= 0.1
    assert abs(found["exponent_quarter"] - power) <= found["uncertainty_quarter"] <= 0.1
    assert found["growth"] == {1: "linear", 2: "quadratic", 3: "cubic"}[power]


def test_an_error_that_stays_is_constant():
    assert growth.judge(TIME, 1e-6*WIGGLE, 0.0)["growth"] == "constant"


@pytest.mark.parametrize("power", [0.85, 1.2, 1.8, 2.4])
def test_powers_between_whole_numbers_have_no_name(power):
    assert growth.judge(TIME, 1e-6*WIGGLE*(TIME/100.0)**power, 0.0)["growth"] == "undecided"


def test_an_exponent_that_is_not_sure_has_no_name():
    """t^2 under a factor that is periodic in log t, with the period 4: both spans have 2.007 +- 0.135."""
    found = growth.judge(TIME, 1e-9*TIME**2*np.exp(0.15*np.sin(2.0*np.pi*np.log(TIME + 1e-9)/np.log(4.0) + 1.5)), 0.0)
    assert abs(found["exponent"] - 2.0) < 0.01
    assert 0.1 < found["uncertainty"] == pytest.approx(found["uncertainty_quarter"], abs=1e-4)
    assert found["growth"] == "undecided"


def test_a_name_needs_both_spans():
    """Linear up to 40 and quadratic from 40 on: the fit over the last decade alone is sure of the square."""
    found = growth.judge(TIME, 1e-9*np.maximum(TIME, TIME**2/40.0), 0.0)
    assert found["exponent"] == pytest.approx(2.0, abs=1e-6)
    assert found["exponent_quarter"] < 1.6
    assert found["growth"] == "undecided"
    assert "up to T/4, 2.00 +- 0.05 (quadratic) up to T" in found["reason"]


def test_a_quarter_below_the_floor_confirms_nothing():
    found = growth.judge(TIME, 1e-6*TIME/100.0, 5e-9)
    assert found["growth"] == "undecided"
    assert found["reason"].startswith("floor-limited up to T/4, 1.00")


def test_two_powers_are_undecided():
    found = growth.judge(TIME[:2001], 1e-6*(TIME/100.0 + (TIME/100.0)**2)[:2001], 0.0)
    assert found["growth"] == "undecided"
    # the local exponent 1 + x/(1 + x) has the means 1.15 and 1.37 over the halves
    assert 0.1 <= found["uncertainty"] <= 0.12
    assert 1.25 < found["exponent"] < 1.5


def test_powers_of_opposite_sign_are_undecided():
    error = np.abs(TIME/400.0 - 4.0*(TIME/400.0)**2)
    assert growth.judge(TIME, 1e-6*error, 0.0)["growth"] == "undecided"


def test_floor_and_saturation_are_named():
    assert growth.judge(TIME, 1e-6*TIME/400.0, 1e-8)["growth"] == "floor-limited"
    assert growth.judge(TIME, 1e-6*TIME/400.0, 8e-10)["growth"] == "linear"
    assert growth.judge(TIME, 0.5*TIME/400.0, 0.0)["growth"] == "saturated"
    assert growth.judge(TIME, np.zeros_like(TIME), 0.0)["growth"] == "floor-limited"


def results(*histories):
    """Complete runs of one problem with these largest deviations of the energy in ten parts; None
    for one that stopped early."""
    names = [f"m{k}" for k in range(len(histories))]
    metrics = pd.DataFrame([{"problem": "p", "problem_label": "P", "integrator": name, "resolution": "h1",
                             "t_end": 10.0, "members": 1, "status": "ok" if history is not None else "newton_failed"}
                            for name, history in zip(names, histories, strict=True)])
    files = {name: RunFile(Path(name), {}, {"energy_blocks": np.array([np.zeros(10), -0.5*np.array(history), history])})
             for name, history in zip(names, histories, strict=True) if history is not None}
    return SimpleNamespace(metrics=metrics, study=SimpleNamespace(name="s"),
                           file=lambda problem, integrator, resolution: files[integrator])


def test_crossover_is_the_first_part_from_which_on_the_error_is_larger():
    drifting, bounded = np.arange(1.0, 11.0), np.full(10, 4.5)
    row, = crossover.crossover_rows(results(drifting, bounded))
    assert (row["integrator"], row["other"], row["crossover"]) == ("m0", "m1", 5.0)
    assert (row["first"], row["last"], row["other_first"], row["other_last"]) == (1.0, 10.0, 4.5, 4.5)
    assert tuple(row) == crossover.COLUMNS


def test_no_crossover_of_one_that_stays_better_or_stopped():
    assert crossover.crossover_rows(results(np.full(10, 1.0), np.full(10, 2.0))) == []
    assert crossover.crossover_rows(results(np.arange(1.0, 11.0), None)) == []


def test_an_error_that_falls_again_counts_by_its_largest_value():
    row, = crossover.crossover_rows(results([1.0]*4 + [9.0] + [1.0]*5, np.full(10, 4.5)))
    assert row["crossover"] == 5.0


def test_triangles_of_growth_stand_side_by_side_under_all_curves():
    axes = style.new_figure(60.0, 60.0).subplots()
    time = np.linspace(0.0, 1000.0, 4001)
    shown = [(time, 1e-6*time, {"growth": "linear"}), (time, 1e-9*time**2, {"growth": "quadratic"}),
             (time, np.where(time < 150.0, 4e-6, 4e-6*time), {"growth": "faster"})]
    long_time._triangles(axes, shown)
    first, second = (np.array(line.get_data()) for line in axes.get_lines())
    for corners, power in ((first, 1), (second, 2)):
        x, y = corners
        assert np.log(y[2]/y[0])/np.log(x[2]/x[0]) == pytest.approx(power)
        assert 10.0 < x.min() < x.max() < 600.0
        at = np.geomspace(x[0], x[2], 50)
        lowest = np.min([np.interp(at, time, error) for _, error, _ in shown], axis=0)
        assert (y[0]*(at/x[0])**power < 0.5*lowest).all()
    assert first[0].max() < second[0].min()
