"""Where the processor time of jobs goes, and which jobs are first."""
from pathlib import Path

import pytest
from place import STUDY

from liestep.api.command_line import carry_out
from liestep.errors import InputError
from liestep.workflow import seconds
from liestep.workflow.workflow import TIMED, Workflow


def test_each_job_leaves_a_line_whatever_its_end(tmp_path, capsys):
    assert carry_out(["--results", str(tmp_path), "seconds"]) == 2
    assert "is not there: jobs of the workflow write it" in capsys.readouterr().err
    with pytest.raises(InputError), seconds.noted(tmp_path, ["job", "sweep", "mine/first", "a,b"]):
        raise InputError("no such study")
    seconds.note(tmp_path, ["job", "sweep", "mine/first", "c", "rk4"], 3.0)
    seconds.note(tmp_path, ["job", "claims", "mine"], 1.0)
    lines = list(seconds.table(tmp_path))
    assert lines[0].startswith("4 s of processor time in 3 jobs")
    assert [line.split()[:3] for line in lines if line.startswith(("sweep", "mine/first"))] == [
        ["sweep", "2", "3.0"], ["mine/first", "2", "3.0"]]
    assert lines[-3].split() == ["3.0", "sweep", "mine/first", "c", "rk4"]
    assert ",sweep,mine/first,\"a,b\"\n" in (tmp_path/seconds.FILE).read_text()


def test_the_longest_jobs_are_first_and_before_them_those_that_are_timed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, steps, more in (("short", "0.1", ""), ("long", "0.00001", ""), ("timed", "0.1", "timing: true\n")):
        path = Path("config", "studies", f"{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUDY.replace("[0.1]", f"[{steps}]") + more)
    workflow = Workflow({})
    order = sorted(workflow.marks, key=lambda mark: (-workflow.priority(mark), str(mark)))
    assert [mark.parts[1] for mark in order[:3]] == ["timed", "timed", "long"]
    assert workflow.priority(order[2]) < TIMED
