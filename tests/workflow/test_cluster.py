"""Profiles for clusters: both run a small study on a real SLURM while one of its nodes dies, and every byte
is that of a local call."""
import fcntl
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
import slurm_cluster
import yaml
from place import LONGER, TOP, Place, undisturbed

PROFILES = TOP/"workflow"/"profiles"
# Loaded by Python in every job: having written its first run, a job waits until the gate is open, so that it can
# be killed in its middle.
GATE = """
import os, time

def replace(source, target, original=os.replace):
    original(source, target)
    while str(target).endswith(".nc") and not os.path.exists(os.environ["LIESTEP_TEST_GATE"]):
        time.sleep(0.05)

os.replace = replace
"""
PROMPT = ("--seconds-between-status-checks", "1")  # the generic profile waits longer than these jobs take
PATIENCE = 120  # seconds, far above what anything here takes


@pytest.fixture
def cluster():
    """A cluster of two nodes; one test at a time has it, in whatever process."""
    with open(Path(tempfile.gettempdir())/"liestep-slurm.lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        try:
            slurm_cluster.start()
        except slurm_cluster.Unavailable as reason:
            pytest.skip(str(reason))
        yield
        slurm_cluster.stop()


class Call:
    """A call of the workflow with a profile, in the background."""

    def __init__(self, folder: Path, profile: str, *targets: str, gate: Path):
        self.place = Place(folder)
        self.place.study.write_text(LONGER)
        (folder/"sitecustomize.py").write_text(GATE)
        self.place.environment |= {"PYTHONPATH": str(folder), "LIESTEP_TEST_GATE": str(gate)}
        self.said = folder/"said.txt"
        options = ("--workflow-profile", str(PROFILES/profile), *(PROMPT if profile == "generic" else ()))
        with open(self.said, "w") as output:
            self.process = subprocess.Popen([*self.place.command, *targets, *options], env=self.place.environment,
                                            stdout=output, stderr=output)

    def products(self) -> dict[str, bytes]:
        """All files but the description of the machine, once the call has ended well."""
        assert self.process.wait(PATIENCE) == 0, self.said.read_text()
        found = self.place.contents()
        found.pop("environment.json", None)
        return found

    def jobs_that_wait(self) -> int:
        return len(self.place.contents("*.nc"))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def wait_until(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def differences(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    """Names of files that are only here or there, or differ: a message with all of their bytes would hide them."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def test_a_dying_node_costs_retries_and_no_byte(cluster, once, tmp_path):
    calls, gate = [], tmp_path/"gate"
    expected = Place(once("undisturbed", undisturbed)).contents()  # by a local call
    del expected["environment.json"]
    try:
        calls.append(slurm := Call(tmp_path/"slurm", "slurm", gate=gate))
        wait_until(lambda: slurm.jobs_that_wait() == 2)  # one on each node
        problem = slurm_cluster.running("node2")[0].rpartition("_")[2]
        calls.append(generic := Call(tmp_path/"generic", "generic", "results/tiny/tables.md", gate=gate))
        wait_until(lambda: generic.jobs_that_wait() == 2)
        assert len(slurm_cluster.running("node2")) == 2  # one of each call
        assert slurm_cluster.kill_node("node2") > 2
        slurm_cluster.declare_dead("node2")
        gate.touch()
        assert len(expected) == 12 + 2 + 1 + 4 + 3  # runs, tables, page, figure, report, its page and manifest
        assert differences(slurm.products(), expected) == []
        generic.products()  # has ended; it makes no manifest
        assert differences(generic.place.visible(), {name: expected[name] for name in expected
                                                     if name.startswith("tiny/")}) == []  # tables with figures
        for call in (slurm, generic):
            said = call.said.read_text()
            assert (said.count("Error in rule"), said.count("Trying to restart job")) == (1, 1), said
        log = slurm.place.folder/"results"/"tiny"/"logs"/f"{problem}.log"
        assert ", 1 kept" in log.read_text()  # the retry has kept what its predecessor had made
        assert "Nothing to be done" in slurm.place.call().stderr  # here: it makes no difference where files were made
    finally:
        for call in calls:
            call.end()


@pytest.mark.parametrize("profile", ["slurm", "generic"])
def test_times_need_no_number_of_processors(profile, tmp_path):
    place = Place(tmp_path)
    place.study.write_text(LONGER + "timing: true\n")
    result = place.call("--dry-run", "--workflow-profile", str(PROFILES/profile))
    assert result.returncode == 0, result.stderr
    assert "tiny: time every run alone" in result.stdout + result.stderr


@pytest.mark.parametrize("profile", ["slurm", "generic"])
def test_every_option_is_explained(profile):
    lines = (PROFILES/profile/"config.yaml").read_text().splitlines()
    options = [number for number, line in enumerate(lines) if line[:1] not in ("", "#", " ")]
    assert len(options) == len(yaml.safe_load("\n".join(lines)))
    assert all(lines[number - 1].startswith("# ") for number in options)
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("profile", ["slurm", "generic"])
def test_what_profiles_share_is_the_same(profile):
    here, local = (yaml.safe_load((PROFILES/name/"config.yaml").read_text()) for name in (profile, "default"))
    assert ({name: here.get(name) for name in local if name != "cores"}
            == {name: value for name, value in local.items() if name != "cores"})


@pytest.mark.parametrize(("answer", "code", "expected"), [
    ("COMPLETED", 0, "success"), ("RUNNING", 0, "running"), ("PENDING", 0, "running"), ("NODE_FAIL", 0, "failed"),
    ("TIMEOUT", 0, "failed"), ("", 0, "failed"), ("slurm_load_jobs error: Invalid job id specified", 1, "failed"),
    ("slurm_load_jobs error: Unable to contact slurm controller", 1, "running"),
])
def test_status_of_a_job_is_one_word(answer, code, expected, tmp_path):
    """With a program in the place of squeue that gives this answer."""
    program = tmp_path/"squeue"
    program.write_text(f"#!/bin/sh\necho '{answer}'\nexit {code}\n")
    program.chmod(0o755)
    result = subprocess.run([PROFILES/"generic"/"status", "7"], env={"PATH": str(tmp_path)},
                            capture_output=True, text=True)
    assert (result.stdout, result.stderr) == (f"{expected}\n", "")


def test_a_cluster_that_is_not_ours_is_left_alone(tmp_path, monkeypatch):
    theirs = tmp_path/"slurm.conf"
    theirs.write_text("ClusterName=theirs\n")
    monkeypatch.setattr(slurm_cluster, "CONFIGURATION", theirs)
    monkeypatch.setattr(slurm_cluster, "PROGRAMS", ())
    monkeypatch.setattr(slurm_cluster.os, "geteuid", lambda: 0)
    with pytest.raises(slurm_cluster.Unavailable, match="left alone"):
        slurm_cluster.start()
    assert theirs.read_text() == "ClusterName=theirs\n"
