"""Which problems share a job."""
import pytest
from place import TOP

from liestep.workflow.workflow import TOGETHER, Workflow, equal_groups, together


@pytest.mark.parametrize("number", [1, TOGETHER, TOGETHER + 1, 3*TOGETHER])
def test_keys_are_dealt_out_in_turn(number):
    keys = [f"p{k}" for k in range(number)]
    groups = equal_groups(keys)
    assert sorted(key for group in groups for key in group) == sorted(keys)
    assert max(map(len, groups)) <= TOGETHER
    assert max(map(len, groups)) - min(map(len, groups)) <= 1
    assert groups[0][:2] == tuple(keys[::len(groups)][:2])


def test_runs_share_a_job_by_system_and_references_by_study():
    assert together([("a", 1), ("b", 2), ("c", 1)]) == [("a", "c"), ("b",)]
    made = Workflow({"studies": ["twospheres2009/convergence"]}, TOP/"config", TOP/"tests"/"no_results")
    assert [batch.arguments[1] for batch in made.references] == ["pendulum,three_bodies,springs,rod,dipoles"]
    assert len(made.batches) == made.references[0].size
