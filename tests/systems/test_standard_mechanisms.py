"""Standard problems of the literature as the test sets write them, against printed end states."""
import runpy
from pathlib import Path

import numpy as np

import liestep

MECHANISMS = Path(__file__).parents[2]/"config"/"testsets"/"studies"/"testsets"/"mechanisms.py"
# Andrews' squeezing mechanism: Hairer and Wanner 1996, VII.7; Test Set for Initial Value Problem Solvers, II-10
END = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
       0.5347301163226948, 1.048080741042263]  # beta, Theta, gamma, Phi, delta, Omega, epsilon at 0.03 s


def test_the_squeezer_ends_where_the_test_set_prints_it():
    """With nine redundant rows, by a tolerance of 1e-11."""
    squeezer = liestep.system("squeezer", t_end=0.03, **runpy.run_path(str(MECHANISMS))["squeezer"]())
    data = squeezer.simulate("dop853", tolerance=1e-11, samples=31)
    turn = data["attitude"].values
    angles = np.unwrap(np.arctan2(turn[:, :, 1, 0], turn[:, :, 0, 0]), axis=0)[-1]
    found = [angles[0], angles[1] - angles[0], angles[2], angles[3] - angles[4], angles[4], angles[5] - angles[6],
             angles[6]]
    np.testing.assert_allclose(found, END, rtol=1e-10, atol=1e-10)
    assert (data.attrs["joint_rank"], data.attrs["joint_rows"]) == (41, 50)
    assert data.attrs["energy_error_max"] < 1e-9
