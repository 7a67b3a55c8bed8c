"""Winner, runner-up, tie and nobody, from tables alone."""
from math import inf, nan

import pytest

from liestep.study.tables.choice import choose


def table(*rows):
    return [dict(zip(("integrator", "error", "seconds", "evaluations"), row, strict=True)) for row in rows]


ROWS = table(("a", 1e-7, 3.0, 10), ("a", 9e-7, 1.0, 30), ("b", 1e-6, 1.05, 5), ("c", 1.1e-6, 0.1, 1),
             ("d", 1e-9, 5.0, 5))


def test_cheapest_of_those_that_meet_the_error_wins_and_a_tie_is_named():
    found = choose(ROWS, 1e-6)
    assert (found.winner, found.cost, found.runner_up, found.tie) == ("a", 1.0, "b", True)
    assert found.ratio == pytest.approx(1.05)


def test_another_column_is_another_cost():
    found = choose(ROWS, 1e-6, "evaluations")
    assert (found.winner, found.runner_up, found.ratio) == ("b", "d", 1.0)


def test_a_looser_error_lets_others_in_and_a_tighter_one_leaves_nobody():
    assert (choose(ROWS, 1e-5).winner, choose(ROWS, 1e-5).runner_up) == ("c", "a")
    nobody = choose(ROWS, 1e-10)
    assert (nobody.winner, nobody.runner_up, nobody.cost, nobody.tie) == (None, None, inf, False)


def test_who_is_alone_has_no_runner_up():
    found = choose(ROWS, 1e-9)
    assert (found.winner, found.runner_up, found.ratio) == ("d", None, inf)


def test_costs_and_errors_that_are_no_numbers_do_not_count():
    assert choose(table(("a", nan, 1.0, 1), ("b", 1e-7, nan, 1), ("c", 1e-7, inf, 1)), 1e-6).winner is None


def test_a_tie_ends_at_ten_per_cent():
    assert [choose(table(("a", 0.0, 1.0, 1), ("b", 0.0, cost, 1)), 1.0).tie for cost in (1.09, 1.11)] == [True, False]
