"""What trials measure: the largest error within an interval, and a call apart from its steps."""
from types import SimpleNamespace

import numpy as np
import pytest

from liestep.mechanics.contracts.formulated import StateField
from liestep.tools.recommend import search as searching
from liestep.tools.recommend import trials as module
from liestep.tools.recommend.classes import MethodGroup
from liestep.tools.recommend.tournament import Tournament
from liestep.tools.recommend.trials import FINER, INTERVALS, Trials, request

ASKED = request("henon_heiles", error=1e-6, t_end=5.0)
CALL, STEP = 12e-6, 0.2e-6


@pytest.fixture
def clock(monkeypatch):
    """Times of a model: a call takes CALL, each step STEP."""
    def time_run(spec):
        return CALL + STEP*(spec.steps or module._tried_steps(module.run_once(spec))), 3

    monkeypatch.setattr(module, "time_run", time_run)


@pytest.mark.parametrize(("name", "size"), [("rk4", 20), ("rk4", 4000), ("dop853", 1e-8)])
def test_the_time_of_a_call_is_not_that_of_its_steps(clock, name, size):
    trials = Trials(ASKED)
    found, seconds = trials.outcome(name, size)
    assert trials.rates[name] == pytest.approx(STEP, rel=1e-9)
    assert trials.calls[name] == pytest.approx(CALL, rel=1e-9)
    assert seconds == pytest.approx(CALL + STEP*module._tried_steps(found), rel=1e-9)


def test_noise_of_the_clock_gives_no_negative_time(monkeypatch):
    times = iter([1e-5, 2e-5])
    monkeypatch.setattr(module, "time_run", lambda spec: (next(times), 3))
    trials = Trials(ASKED)
    trials.outcome("rk4", 20)
    assert trials.rates["rk4"] == 1e-5/20
    assert trials.calls["rk4"] == 0.0


def test_a_short_run_is_not_dropped_for_the_time_of_its_call(monkeypatch):
    """Twice the steps of a run of 12 us of which 10 are its call: 14 us, not 24."""
    def outcome(name, size):
        return SimpleNamespace(error=(17.0/size)**4, status=None), 10.0 + size/10.0

    model = SimpleNamespace(request=SimpleNamespace(error=0.1), outcome=outcome, error=lambda found: found.error,
                            calls={"rk4": 10.0})
    monkeypatch.setattr(searching, "order_of", lambda asked, name, size: 4)
    row = searching.search(model, "rk4", 20.0, 5.0, 1e9)
    assert row.size == 40.0


@pytest.mark.parametrize(("size", "times"), [(20, 1), (40, 2), (60, 1), (100, 5), (200, 10), (400, 10)])
def test_errors_are_looked_at_as_often_as_the_steps_allow(size, times):
    assert ASKED.run("rk4", size).samples == times*INTERVALS + 1


def test_an_error_between_the_ends_of_intervals_counts():
    trials = Trials(ASKED)
    found, _ = trials.outcome("dop853", 1e-10)
    place = next(part for part in found.formulated.error_fields if part.counted)
    trials.fields, exact = (place,), module.values_of(found)
    assert isinstance(place, StateField)
    trials.reference = {name: value.copy() for name, value in exact.items()}
    moved = trials.reference[place.name]
    moved[FINER[0]*3 + 4] += 1.0  # inside the fourth interval
    history = trials.history(found)
    assert history.shape == (INTERVALS + 1,)
    assert np.flatnonzero(history).tolist() == [4]


@pytest.mark.parametrize(("names", "error", "won"), [
    (("sphere_split",), 1e-9, True), (("rk4", "rk2_heun"), 1e-3, True), (("rk4",), 1e-6, False),
    (("cf4",), 0.1, False)])
def test_winners_of_the_cross_study_are_known_with_their_errors(names, error, won):
    assert Tournament._won(SimpleNamespace(asked=SimpleNamespace(error=error)), MethodGroup(names, False)) == won


def tournament_with(monkeypatch, bound):
    """A tournament whose best candidate costs 1 s and whose classes have a given bound; what it compiles."""
    told = []
    tournament = Tournament.__new__(Tournament)
    tournament.asked, tournament.opened, tournament.table = SimpleNamespace(error=1e-3, budget=1.0), 0, []
    monkeypatch.setattr("liestep.tools.recommend.tournament.bound", lambda trials, name, measured: bound)
    monkeypatch.setattr(tournament, "_best", lambda: 1.0, raising=False)
    monkeypatch.setattr(tournament, "_play", lambda trials, group: None, raising=False)
    monkeypatch.setattr("liestep.tools.recommend.tournament.compile_classes", lambda asked, opened: told.extend(opened))
    return tournament, told


def test_a_winner_is_opened_however_many_classes_have_machine_code(monkeypatch):
    tournament, told = tournament_with(monkeypatch, 0.5)
    names = ("rkmk tableau=dormand_prince5", "rkmk853", "taylor", "ode45", "cf4")
    ready = [MethodGroup((name,), True) for name in names]
    trials = SimpleNamespace(work={}, over=False)
    rest = tournament._open(trials, [*ready, MethodGroup(("gauss",), False), MethodGroup(("rk4",), False)])
    assert told[0].names == ("rk4",)
    while rest:
        rest = tournament._open(trials, rest)
    assert MethodGroup(("gauss",), False) not in told
    assert set(ready) <= set(told)


@pytest.mark.parametrize(("bound", "opened"), [(0.75, [True, False]), (0.9, [True]), (1.1, [])])
def test_a_class_is_compiled_only_if_it_can_save_a_fifth(bound, opened, monkeypatch):
    tournament, told = tournament_with(monkeypatch, bound)
    rest = [MethodGroup(("cf4",), True), MethodGroup(("gauss",), False)]
    while rest:
        rest = tournament._open(SimpleNamespace(work={}, over=False), rest)
    assert [group.compiled for group in told] == opened
    expected = "at least 1.1 times the best" if bound > 1.0 else f"at most {1.0/bound:.2g} times as fast"
    assert all(expected in row.reason for row in tournament.table)
