"""The search for a step or a tolerance, on models of methods whose error and cost are known."""
from math import inf
from types import SimpleNamespace

import pytest

from liestep.tools.recommend import search as module
from liestep.tools.recommend.trials import INTERVALS

ORDER = 4


class Model:
    """error = (size0/n)^p for n steps, or tolerance^share; a method that fails with fewer than `least` steps."""

    def __init__(self, wanted, power=ORDER, scale=40.0, least=0, floor=0.0):
        self.request = SimpleNamespace(error=wanted)
        self.power, self.scale, self.least, self.floor, self.sizes = power, scale, least, floor, []
        self.calls = {"rk4": 0.0, "dop853": 0.0}

    def outcome(self, name, size):
        self.sizes.append(size)
        error = (size**self.power if name == "dop853" else
                 inf if size < self.least else max(self.floor, (self.scale/size)**self.power))
        steps = size**(-1/ORDER) if name == "dop853" else size
        return SimpleNamespace(error=error, status=SimpleNamespace(sentence="it is a model"), time_reached=0.0), steps

    def error(self, outcome):
        return outcome.error


@pytest.fixture(autouse=True)
def _order(monkeypatch):
    monkeypatch.setattr(module, "order_of", lambda request, name, size: ORDER)


@pytest.mark.parametrize("wanted", [1e-2, 1e-6, 1e-11])
@pytest.mark.parametrize(("power", "least"), [(4, 0), (3.4, 0), (4.6, 0), (4, 600)])
def test_steps_are_found_in_few_runs_near_the_fewest(wanted, power, least):
    model = Model(wanted, power, least=least)
    row = module.search(model, "rk4", 20.0, inf, inf)
    fewest = max(model.scale*wanted**(-1.0/power), least)
    assert row.error <= wanted
    assert fewest <= row.size <= 1.35*fewest + 2*INTERVALS
    assert len(model.sizes) <= 8
    assert all(size % INTERVALS == 0 for size in model.sizes)
    assert len(set(model.sizes)) == len(model.sizes)


@pytest.mark.parametrize("share", [0.6, 1.0, 1.5])
def test_tolerance_is_found_in_few_runs(share):
    row = module.search(Model(1e-6, share), "dop853", 1e-6, inf, inf)
    assert 0.4e-6 <= row.error <= 1e-6
    assert len(row.tried) <= 5


def test_method_is_dropped_when_it_would_cost_three_times_the_best():
    model = Model(1e-10)
    row = module.search(model, "rk4", 20.0, 100.0, inf)
    assert row.size is None
    assert "times the best" in row.reason
    assert model.scale*1e10**(1/ORDER) > 3*100 > max(model.sizes)


def test_error_that_no_longer_falls_ends_the_search():
    row = module.search(Model(1e-9, floor=3e-8), "rk4", 1000.0, inf, inf)
    assert row.size is None
    assert "falls no further than 3.0e-08" in row.reason
    assert len(row.tried) <= 4


def test_tolerance_below_round_off_is_not_asked_for():
    row = module.search(Model(1e-12, power=0.4), "dop853", 1e-12, inf, inf)
    assert row.size is None
    assert row.reason == "would need a tolerance below round-off"


def test_method_that_stops_says_how():
    row = module.search(Model(1e-6, least=10**9), "rk4", 20.0, inf, inf)
    assert row.size is None
    assert "stopped after t = 0: it is a model" in row.reason
