"""`liestep status` tells done from failed, stale, damaged and missing products, and why, without heavy libraries."""
import os
import subprocess
import sys

import netCDF4
import pytest
from commands import STUDY, contents, refused

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.simulation.runs.files import seal
from liestep.workflow import lock

WITH_REFERENCE = STUDY + "reference: true\nsamples: 11\nfigures: [convergence]\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder whose study has everything but its figure."""
    (tmp_path/"config"/"studies").mkdir(parents=True)
    (tmp_path/"config"/"studies"/"tiny.yaml").write_text(WITH_REFERENCE)
    monkeypatch.chdir(tmp_path)
    for command in (["sweep", "tiny", "bodies"], ["reference", "tiny", "bodies"], ["analyse", "tiny"]):
        assert main(["job", *command]) == 0
    return tmp_path


def status(capsys, *arguments: str) -> str:
    capsys.readouterr()
    assert main(["status", *arguments]) == 0
    return capsys.readouterr().out


def test_every_state_has_its_reason(place, capsys):
    before = contents(place)
    assert status(capsys) == ("tiny: runs 1 of 1, references 1 of 1, tables 4 of 4, figures 0 of 1 (1 missing)\n"
                              "  figures convergence.png: missing\n")
    assert contents(place) == before
    study, run = place/"config"/"studies"/"tiny.yaml", place/"results"/"tiny"/"runs"/"bodies"/"vi_sphere"/"h0.1.nc"
    study.write_text(WITH_REFERENCE.replace("[0.1]", "[0.1, 0.05]"))
    shown = status(capsys, "tiny")
    assert "runs bodies/vi_sphere/h0.05: missing" in shown
    assert "tables metrics.csv and 3 more: stale, made of other runs than the study asks for" in shown
    assert "tables energy.csv: stale" in status(capsys, "tiny", "--all")
    study.write_text(WITH_REFERENCE.replace("t_end: 1.0", "t_end: 2.0"))
    shown = status(capsys)
    assert "t_end was 1.0, is 2.0" in shown
    assert "references bodies: stale" in shown
    study.write_text(WITH_REFERENCE)
    content = run.read_bytes()
    with netCDF4.Dataset(run, "a") as data:
        data.source_hash = "0"*16
        seal(data, {name: data[name][...].data for name in data.variables})
    assert "runs bodies/vi_sphere/h0.1: stale, sources that it uses have changed" in status(capsys)
    run.write_bytes(content[:3000])
    assert "h0.1: damaged, results/tiny/runs/bodies/vi_sphere/h0.1.nc is not a readable NetCDF file" in status(capsys)
    run.write_bytes(content)
    with netCDF4.Dataset(run, "a") as data:
        data.status, data.message = "not_finite", "stopped after t = 0.3"
        seal(data, {name: data[name][...].data for name in data.variables})
    assert "h0.1: failed, stopped after t = 0.3" in status(capsys)


def test_tables_older_than_a_run_are_stale(place, capsys):
    run = place/"results"/"tiny"/"runs"/"bodies"/"vi_sphere"/"h0.1.nc"
    later = (place/"results"/"tiny"/"tables.md").stat().st_mtime + 10.0
    os.utime(run, (later, later))
    assert "tables metrics.csv and 3 more: stale, a run or a reference is newer" in status(capsys)


def test_a_running_workflow_is_reported(place, capsys):
    assert "workflow" not in status(capsys)
    other = "from liestep.workflow import lock; import sys; lock.take(); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", other], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        process.stdout.readline()
        assert f"a workflow is running in this folder (process {process.pid})" in status(capsys)
        with pytest.raises(InputError, match=f"process {process.pid}"):
            lock.take()
        process.kill()
    assert "workflow" not in status(capsys)


def test_wrong_requests(place, capsys):
    capsys.readouterr()
    assert "did you mean tiny?" in refused(["status", "tinny"], capsys)
    assert "there is no study in" in refused(["--config", "elsewhere", "status"], capsys)


def test_no_heavy_library_is_imported(place):
    code = ("import sys\nfrom liestep.api.command_line import main\nassert main(['status']) == 0\n"
            "sys.exit(', '.join({'pandas', 'matplotlib', 'scipy.integrate', 'heyoka', 'xarray',"
            " 'snakemake'}.intersection(sys.modules)) or None)")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
