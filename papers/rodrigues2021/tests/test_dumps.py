"""Dumps of codes that write quaternions and angular velocities are judged as our own fields are."""
import netCDF4
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liestep import simulate
from rotation_bench import judgement
from rotation_bench.judgement import Request, judge, problem_of
from rotation_bench.liestep_judge import BadStates
from rotation_bench.states import read_states

MOMENTS = [0.6, 0.9, 0.4]
RING = {"particles": 3, "ring_diameter": 2.0, "gap": 0.05, "shear_law": "mean", "inertia": MOMENTS}


def layout_of(*names):
    return judgement.layout_of(problem_of(*names))


def quaternions(attitude):
    """Scalar part first, of matrices (..., 3, 3), by scipy."""
    found = Rotation.from_matrix(attitude.reshape(-1, 3, 3)).as_quat()[:, [3, 0, 1, 2]]
    return found.reshape(*attitude.shape[:-2], 4)


@pytest.fixture(scope="module")
def ring():
    return simulate("bonded_ring", "dlm", parameters=RING, step=0.01, t_end=2.0, samples=51)


def dump(ring, path, length=1.0):
    """CSV as a dump of a particle code would be converted: positions, velocities, quaternions, angular velocities."""
    parts = {"position": ("xyz", ring["position"].values), "velocity": ("xyz", ring["velocity"].values),
             "quaternion": ("wxyz", length*quaternions(ring["attitude"].values)),
             "angular_velocity": ("xyz", ring["angular_velocity"].values)}
    header = ["time", *(f"{name}_{body}_{letter}" for name, (letters, _) in parts.items() for body in range(3)
                        for letter in letters)]
    table = np.column_stack([ring.time.values, *(values.reshape(51, -1) for _, values in parts.values())])
    path.write_text("\n".join(["# label = dump", ",".join(header),
                               *(",".join(f"{value:.17g}" for value in row) for row in table)]) + "\n")
    return path


def test_a_dump_is_the_run(ring, tmp_path):
    states = read_states(dump(ring, tmp_path/"dump.csv"), layout_of("bonded_ring", None, RING))
    assert np.abs(states.fields["attitude"] - ring["attitude"].values).max() <= 2e-15
    assert np.abs(states.fields["angular_momentum"] - ring["angular_momentum"].values).max() <= 1e-14
    assert "quaternion" not in states.fields


def test_a_dump_is_judged(ring, tmp_path):
    found = judge([dump(ring, tmp_path/"dump.csv")], Request("bonded_ring", parameters=RING, without_reference=True))
    row, = found["errors"]
    assert row["energy_error_max"] == pytest.approx(float(np.abs(ring["energy"] - ring["energy"][0]).max()), rel=1e-9)
    assert row["momentum_error_max"] <= 1e-12


def test_a_quaternion_of_another_length_is_seen(ring, tmp_path):
    """It is not normalised in silence: the start is refused, because it is no rotation."""
    with pytest.raises(BadStates, match="attitude"):
        judge([dump(ring, tmp_path/"dump.csv", 1.001)],
              Request("bonded_ring", parameters=RING, without_reference=True))


def test_netcdf_of_a_single_body(tmp_path):
    top = simulate("heavy_top", "lgvi", preset="asymmetric", step=0.01, t_end=1.0, samples=11)
    body = np.einsum("tij,ti->tj", top["attitude"].values, top["angular_momentum"].values)/MOMENTS
    with netCDF4.Dataset(tmp_path/"top.nc", "w") as data:
        for name, size in (("time", 11), ("wxyz", 4), ("xyz", 3)):
            data.createDimension(name, size)
        data.createVariable("time", "f8", ("time",))[:] = top.time.values
        data.createVariable("quaternion", "f8", ("time", "wxyz"))[:] = quaternions(top["attitude"].values)
        data.createVariable("angular_velocity", "f8", ("time", "xyz"))[:] = np.einsum(
            "tij,tj->ti", top["attitude"].values, body)
    states = read_states(tmp_path/"top.nc", layout_of("heavy_top", "asymmetric"))
    assert np.abs(states.fields["attitude"] - top["attitude"].values).max() <= 2e-15
    assert np.abs(states.fields["angular_momentum"] - top["angular_momentum"].values).max() <= 1e-14
    (tmp_path/"few.csv").write_text("time,quaternion_w,quaternion_x,quaternion_y\n0,1,0,0\n1,1,0,0\n")
    with pytest.raises(BadStates, match="has no column 'quaternion_z'"):
        read_states(tmp_path/"few.csv", layout_of("heavy_top", "asymmetric"))
