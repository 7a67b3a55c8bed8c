"""Operations of a Taylor step, counted in its machine code: a clock that no other program disturbs."""
import csv
from pathlib import Path

import pytest

from liestep.compile.straight.straight import jet_code
from liestep.integrators.taylor import field_expressions
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify

HISTORY = Path(__file__).with_name("operations.csv")  # the last row of a case counts; a better count gets a new row
ALARM = 0.03
CASES = (("free_rigid_body", "asymmetric"), ("heavy_top", "asymmetric"), ("spherical_pendulum_chain", "orders"),
         ("sphere_nbody", "paper"))


def counted(system, preset, orders):
    formulated, _ = build(specify(system, "taylor", preset=preset, tolerance=1e-8, t_end=1.0, samples=2))
    found = field_expressions(formulated.problem, formulated.start.shape)
    return {order: jet_code(found, order, width=formulated.start.shape[1]).operations for order in orders}


def outside(now, before):
    """Whether a count differs from that of the history by more than the alarm."""
    return abs(now - before) > ALARM*before


@pytest.mark.slow
@pytest.mark.parametrize(("system", "preset"), CASES)
def test_a_step_takes_as_many_operations_as_before(system, preset):
    with HISTORY.open() as file:
        kept = {int(row["order"]): int(row["operations"]) for row in csv.DictReader(file)
                if (row["system"], row["preset"]) == (system, preset)}
    assert sorted(kept) == [11, 15]
    now = counted(system, preset, kept)
    changed = {order: (kept[order], now[order]) for order in kept if outside(now[order], kept[order])}
    assert not changed, f"more than {ALARM:.0%} apart (before, now); a row for {HISTORY.name} if it is meant"


def test_the_alarm_rings_beyond_three_percent():
    assert not outside(103, 100)
    assert outside(104, 100)
    assert outside(96, 100)
