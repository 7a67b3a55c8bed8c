"""Files of a ring are the same to the byte in another process, with other numbers of jobs, and after a kill."""
import os
import signal
import subprocess
import sys
import time

import pytest
from place import Place

from liestep.simulation.runs.files import write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

RING = {"particles": 6, "ring_diameter": 2.0, "gap": 0.05, "shear_law": "mean"}
STUDY = """
title: A ring meets the wall
problems:
  ring: {system: bonded_ring, preset: rescaled, t_end: 0.4,
         parameters: {particles: 6, ring_diameter: 2.0, gap: 0.05, shear_law: mean}}
integrators:
  newmark: {id: rodrigues, steps: {counts: [20, 40]}}
  lgvi: {steps: {counts: [20]}}
  slgi: {steps: {counts: [20]}}
samples: 5
tables: [energy, momentum]
"""


pytestmark = pytest.mark.slow  # workflows in plain Python


def place(folder):
    found = Place(folder)
    found.study.write_text(STUDY)
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Products of an undisturbed call."""
    where = place(tmp_path_factory.mktemp("undisturbed"))
    assert where.call().returncode == 0
    return where.contents()


def test_another_process_writes_the_same_bytes(tmp_path):
    arguments = {"parameters": RING, "step": 0.01, "t_end": 0.4, "samples": 5}
    write(carry_out(specify("bonded_ring", "rodrigues", **arguments)), tmp_path/"here.nc")
    code = ("import sys; from liestep.simulation.runs.specification import specify;"
            " from liestep.simulation.runs.outcomes import carry_out; from liestep.simulation.runs.files import write;"
            f" write(carry_out(specify('bonded_ring', 'rodrigues', **{arguments!r})), sys.argv[1])")
    subprocess.run([sys.executable, "-c", code, str(tmp_path/"there.nc")], check=True,
                   env=os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "NUMBA_DISABLE_JIT": "1"})
    assert (tmp_path/"there.nc").read_bytes() == (tmp_path/"here.nc").read_bytes()  # compiled here, plain Python there


def test_two_jobs_write_the_same_bytes(expected, tmp_path):
    where = place(tmp_path)
    result = where.call("--cores", "2", "--config", "granularity=sweep")
    assert result.returncode == 0, result.stderr
    found = where.contents("*.nc")
    assert found == {name: content for name, content in expected.items() if name.endswith(".nc")}
    assert len(found) == 4


def test_a_killed_workflow_is_finished_by_the_next_call(expected, tmp_path):
    where = place(tmp_path)
    process = subprocess.Popen(where.command, env=where.environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None and not where.contents("*.nc"):
        time.sleep(0.01)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    there = where.visible()
    assert any(name.endswith(".nc") for name in there)
    assert {name for name, content in there.items() if content != expected[name]} == set()
    assert set(there) != set(expected)
    assert where.call().returncode == 0
    assert where.contents() == expected
