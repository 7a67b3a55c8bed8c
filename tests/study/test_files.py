"""Files of runs: byte-identical, whole or absent, self-describing, and the same numbers however they were made."""
import json
import os
import re
import subprocess
import sys

import netCDF4
import numpy as np
import pytest

from liestep import InputError, simulate
from liestep.compile.status import Status
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs import files
from liestep.simulation.runs.files import is_current, read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

REQUESTS = {
    "fixed steps": ("sphere_nbody", "vi_sphere", {"step": 0.01, "t_end": 1.0}),
    "adaptive": ("sphere_nbody", "ode45",
                 {"tolerance": 1e-4, "t_end": 1.0, "samples": 11, "outputs": 101, "log_steps": True}),
    "replicas": ("sphere_nbody", "vi_sphere", {"step": 0.01, "t_end": 1.0, "replicas": 3}),
    "ensemble": ("sphere_nbody", "vi_sphere",
                 {"step": 0.01, "t_end": 1.0, "ensemble": {"members": 3, "amplitude": 1e-6, "seed": 5}}),
    "stopped early": ("sphere_nbody", "vi_sphere", {"step": 0.05, "t_end": 20.0}),
    "stopped at once": ("sphere_nbody", "rk4", {"step": 0.1, "t_end": 1.0, "initial": {
        "omega": [[0.0, 0.0, 1e200], [1e200, 0.0, 0.0], [0.0, 1e200, 0.0]]}}),
}
KINDS = pytest.mark.parametrize("key", REQUESTS)


def made(key, **more):
    problem, integrator, request = REQUESTS[key]
    spec = specify(problem, integrator, **request, **more)
    return spec, carry_out(spec)


@KINDS
def test_repetition_gives_the_same_bytes(key, tmp_path):
    for name in ("a.nc", "b.nc"):
        write(made(key)[1], tmp_path/name)
    assert (tmp_path/"a.nc").read_bytes() == (tmp_path/"b.nc").read_bytes()


def test_another_process_gives_the_same_bytes(tmp_path):
    spec, content = made("adaptive")
    write(content, tmp_path/"here.nc")
    code = ("import sys; from liestep.simulation.runs.specification import specify;"
            " from liestep.simulation.runs.outcomes import carry_out; from liestep.simulation.runs.files import write;"
            f" write(carry_out(specify('sphere_nbody', 'ode45', **{REQUESTS['adaptive'][2]!r})), sys.argv[1])")
    subprocess.run([sys.executable, "-c", code, str(tmp_path/"there.nc")], check=True,
                   env=os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"})
    assert (tmp_path/"there.nc").read_bytes() == (tmp_path/"here.nc").read_bytes()
    assert is_current(tmp_path/"there.nc", spec)


@pytest.mark.parametrize("key", ["fixed steps", "adaptive"])
def test_a_progress_bar_changes_nothing(key):
    fractions = []
    spec, content = made(key)
    watched = carry_out(spec, fractions.append)
    assert all(np.array_equal(content.variables[name][1], watched.variables[name][1], equal_nan=True)
               for name in content.variables)
    assert content.attributes == watched.attributes
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


@KINDS
def test_what_is_read_is_what_was_computed(key, tmp_path):
    spec, content = made(key)
    write(content, tmp_path/"deep"/"run.nc")
    file = read(tmp_path/"deep"/"run.nc")
    assert list(file.variables) == list(content.variables)
    for name, (_, values, _) in content.variables.items():
        assert file[name].dtype == values.dtype == np.float64
        assert np.array_equal(file[name], values, equal_nan=True), name
    assert {name: value for name, value in file.attributes.items() if name != "complete"} == content.attributes
    assert file.failed == (key.startswith("stopped"))
    assert is_current(tmp_path/"deep"/"run.nc", spec)
    assert os.listdir(tmp_path/"deep") == ["run.nc"]


@KINDS
def test_files_follow_the_conventions(key, tmp_path):
    spec, content = made(key)
    write(content, tmp_path/"run.nc")
    with netCDF4.Dataset(tmp_path/"run.nc") as data:
        assert data.data_model == "NETCDF4"
        assert data.Conventions.startswith("CF-")
        assert all(getattr(data, name) for name in ("title", "source", "history", "references"))
        assert set(data.dimensions) <= {"time", "body", "xyz", "block", "statistic", "member", "step"}
        assert all(variable.long_name and variable.units for variable in data.variables.values())
        assert not any(name in variable.ncattrs() for variable in data.variables.values()
                       for name in ("_FillValue", "missing_value"))
        assert (data["time"].dimensions, data["time"].units) == (("time",), "s")
        assert data["q"].dimensions[-3:] == ("time", "body", "xyz")
        assert (data.problem, data.integrator, data.t_end) == (spec.problem, spec.integrator, spec.t_end)
        assert json.loads(data.specification) == json.loads(json.dumps(spec.canonical()))
        assert (data.run_sha256, data.source_hash) == (spec.sha256, spec.source_hash)
        assert method(spec.integrator).citation in data.references
        assert sheet(spec.problem).citation in data.references
        assert data.status in {status.name.lower() for status in Status}
        assert data.complete == 1
        assert not any(re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d", str(data.getncattr(name)))
                       for name in data.ncattrs())


def test_ensemble_and_replicas_are_what_they_say(tmp_path):
    _, single = made("fixed steps")
    _, members = made("ensemble")
    _, replicas = made("replicas")
    q = members.variables["q"]
    assert q[0] == ("member", "time", "body", "xyz")
    assert np.array_equal(q[1][0], single.variables["q"][1])
    assert 1e-7 < np.abs(q[1][1:, 0] - q[1][0, 0]).max() < 1e-5
    assert np.array_equal(replicas.variables["q"][1], single.variables["q"][1])
    spread = replicas.variables["spread_q"][1]
    assert 0.0 < spread[0] < 1e-15
    assert spread.max() < 1e-12
    assert members.variables["energy_error_mean"][1][0] == single.attributes["energy_error_mean"]


def test_blocks_are_mean_minimum_and_maximum_of_ten_steps_each(tmp_path):
    spec = specify("sphere_nbody", "rk4", step=1e-3, t_end=1.0, samples=1001)
    write(carry_out(spec), tmp_path/"run.nc")
    file = read(tmp_path/"run.nc")
    for name, shape in (("energy", (100, 10)), ("momentum_map", (100, 10, 3))):
        parts = (file[name] - file[name][0])[1:].reshape(shape)
        for statistic in ("mean", "min", "max"):
            assert np.allclose(file.blocks(name, statistic), getattr(parts, statistic)(axis=1), rtol=1e-9,
                               atol=1e-18), (name, statistic)
        assert np.allclose(file.block_extents(name), np.abs(parts).max(axis=1), rtol=1e-9, atol=1e-18)
        assert not np.allclose(file.blocks(name, "min"), file.blocks(name, "max"), rtol=1e-9, atol=1e-18)


def test_statistics_are_those_of_every_step():
    data = simulate("sphere_nbody", "rk4", step=0.01, t_end=1.0, samples=101)
    energy = np.abs(data.energy - data.energy[0])
    assert data.attrs["energy_error_mean"] == pytest.approx(float(energy.mean()), rel=1e-12)
    assert data.attrs["energy_error_max"] == float(energy.max())
    assert data.attrs["unit_length_error_mean"] == pytest.approx(float(data.unit_length_error.mean()), rel=1e-12)
    assert data.attrs["tangency_error_max"] == float(data.tangency_error.max())
    momentum = np.abs(data.momentum_map - data.momentum_map[0]).max("time")
    assert [data.attrs[f"momentum_error_max_{axis}"] for axis in "xyz"] == momentum.values.tolist()
    assert data.attrs["momentum_error_max"] == momentum.max()
    assert np.allclose(data.energy_blocks[0], (data.energy - data.energy[0])[1:], atol=1e-18)
    coarse = simulate("sphere_nbody", "rk4", step=0.01, t_end=1.0, samples=101, statistics_every=10)
    assert coarse.attrs["energy_error_mean"] == pytest.approx(float(energy[::10].mean()), rel=1e-12)
    assert coarse.attrs["statistics_points"] == 11


def test_samples_do_not_change_the_run():
    few, many = (simulate("sphere_nbody", "vi_sphere", step=0.01, t_end=1.0, samples=samples) for samples in (2, 101))
    assert np.array_equal(few.q[-1], many.q[-1])
    assert few.attrs["energy_error_mean"] == many.attrs["energy_error_mean"]
    assert few.attrs["run_sha256"] != many.attrs["run_sha256"]


def test_the_hash_names_the_numbers_not_their_writing():
    first = specify("sphere_nbody", "vi_sphere", step=0.01, t_end=1.0)
    same = specify("sphere_nbody", "vi_sphere", steps=100, t_end=1, preset="paper",
                   parameters={"mass": np.ones(3, dtype=int), "gamma": 1}, options={"form": "increment"})
    assert same.sha256 == first.sha256
    others = [{"t_end": 2.0}, {"steps": 200}, {"parameters": {"gamma": 1.0 + 2**-52}}, {"options": {"form": "paper"}},
              {"samples": 11}, {"replicas": 2}]
    hashes = {specify("sphere_nbody", "vi_sphere", **{"t_end": 1.0, "steps": 100} | other).sha256 for other in others}
    assert len(hashes | {first.sha256}) == 7


class Stop(Exception):
    """Stands for a killed process or a full disk."""


@pytest.mark.parametrize(("place", "error"), [
    ("_fill", OSError("No space left")), ("_fill", KeyboardInterrupt()), ("fsync", OSError("I/O error")),
    ("fsync", Stop())])
def test_an_interrupted_writer_leaves_the_old_file_and_nothing_else(place, error, tmp_path, monkeypatch):
    path = tmp_path/"run.nc"
    _, content = made("fixed steps")
    write(content, path)
    before = path.read_bytes()

    def fail(*_):
        raise error

    monkeypatch.setattr(os if place == "fsync" else files, place, fail)
    with pytest.raises(InputError if isinstance(error, OSError) else type(error)):
        write(made("adaptive")[1], path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.nc"]


def test_the_file_appears_complete_after_it_reached_the_disk(tmp_path, monkeypatch):
    """Checked, written and flushed under another name; then renamed."""
    calls = []

    def watch(owner, name):
        original = getattr(owner, name)

        def watched(*arguments):
            calls.append((name, (tmp_path/"run.nc").exists()))
            return original(*arguments)

        monkeypatch.setattr(owner, name, watched)

    for owner, name in ((files, "_require_no_nan"), (files, "_fill"), (os, "fsync"), (os, "replace")):
        watch(owner, name)
    write(made("fixed steps")[1], tmp_path/"run.nc")
    assert calls == [(name, False) for name in ("_require_no_nan", "_fill", "fsync", "replace")]
    assert read(tmp_path/"run.nc").attributes["status"] == "ok"


def test_a_value_that_is_not_finite_is_never_published(tmp_path):
    _, content = made("fixed steps")
    content.variables["q"][1][3, 0, 0] = np.nan
    with pytest.raises(InputError, match="variable q is not finite"):
        write(content, tmp_path/"run.nc")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["file/run.nc", "folder"])
def test_unwritable_outputs(path, tmp_path):
    (tmp_path/"file").write_text("in the way")
    (tmp_path/"folder").mkdir()
    with pytest.raises(InputError, match=f"cannot write .*{path}"):
        write(made("fixed steps")[1], tmp_path/path)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(tmp_path/"folder") == []
