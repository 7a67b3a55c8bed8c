"""A step above the limit of the axial bonds is said beforehand; a run that blows up is a failed run."""
import numpy as np
import pytest

from liestep import simulate
from liestep.api.command_line import main
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import start_of

LIMIT = 3.0*np.sin(np.pi/80.0)/np.sqrt(200.0)  # D sqrt(m/K^a) of the printed ring
STUDY = """
title: Steps on both sides of the limit
problems:
  ring: {system: bonded_ring, preset: as_printed, t_end: 1}
integrators:
  newmark: {id: rodrigues, steps: [0.01, 0.005]}
  rk4: {steps: [0.01]}
"""


def test_the_limit_is_that_of_the_bonds():
    """And of a mass of two and one: r0 sqrt(2/(K (1/m_1 + 1/m_2)))."""
    values = start_of("bonded_ring", preset="as_printed").parameters
    assert sheet("bonded_ring").largest_step(values) == pytest.approx(LIMIT, rel=1e-12)
    pair = start_of("bonded_particles", preset="cluster", parameters={"mass": [2.0, 1.0, 1.0, 1.0], "bonds": [[0, 1]],
                                                                      "bending_stiffness": [1.0],
                                                                      "axial_stiffness": [100.0],
                                                                      "shear_stiffness": [1.0]}).parameters
    assert sheet("bonded_particles").largest_step(pair) == pytest.approx(np.sqrt(2.0/(100.0*1.5)), rel=1e-12)
    free = start_of("bonded_ring", parameters={"axial_stiffness": 0.0}).parameters
    assert sheet("bonded_ring").largest_step(free) == np.inf


def test_check_warns_of_steps_above_it(tmp_path, capsys):
    path = tmp_path/"config"/"studies"/"steps.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(STUDY)
    assert main(["--config", str(tmp_path/"config"), "check", str(path)]) in (0, None)
    said = capsys.readouterr().out
    assert "warning: step 0.01 of newmark on ring is above 0.008328 s, where explicit steps are unstable" in said
    assert said.count("warning") == 1


def test_a_run_that_blows_up_is_a_failed_run():
    data = simulate("bonded_ring", "rodrigues", preset="as_printed", step=0.01, t_end=2.0, samples=201,
                    on_failure="return")
    assert data.attrs["status"] == "not_evaluable"
    assert 0.1 <= float(data.attrs["time_reached"]) <= 1.0
    assert np.isfinite(data["energy"].values).all()
    assert float(data["energy"].max()) <= 1e8  # of 40 J at the start, not 1e200
