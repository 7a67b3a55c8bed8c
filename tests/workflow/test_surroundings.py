"""Streams that are closed or full, settings that are no numbers, a cache that is no folder, little memory: one sentence
and the right exit code."""
import os
import subprocess
import sys

import pytest
import ready

RUN = ("run", "sphere_nbody", "rk4", "--step", "0.1", "--t-end", "0.5", "-o", "run.nc")
PLAIN = {"NUMBA_DISABLE_JIT": "1"}


def call(folder, words, shell: str = "", **environment: str) -> subprocess.CompletedProcess:
    """liestep through a shell, which closes or redirects its streams or limits it."""
    before, _, after = shell.partition("|")
    text = f'{before} exec "$@" {after}'
    return subprocess.run(["bash", "-c", text, "bash", sys.executable, "-P", "-m", "liestep", *words], cwd=folder,
                          env={**os.environ, **PLAIN, **environment}, capture_output=True, text=True)


@pytest.mark.parametrize(("words", "shell", "code"), [
    (RUN, "|> /dev/full", 1), (("list",), "|> /dev/full", 1),
    (("nonsense",), "|2> /dev/full", 2), (RUN, "|2>&-", 0), (RUN, "|<&-", 0), (RUN, "|>&- 2>&- <&-", 0),
    (("nonsense",), "|2>&-", 2), (("list", "x"), "|>&- 2>&-", 2)])
def test_streams(tmp_path, words, shell, code):
    done = call(tmp_path, words, shell)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (code != 0 and "2>" not in shell)
    assert (tmp_path/"run.nc").is_file() == (words == RUN)
    if words == RUN and code == 0:
        # nothing else stands in the file
        assert ready.run("liestep", "check", "run.nc", folder=tmp_path, environment=os.environ).returncode == 0


@pytest.mark.parametrize(("name", "value", "said"), [
    ("NUMBA_DISABLE_JIT", "yes", "must be 0 or 1, not 'yes'"),
    ("NUMBA_NUM_THREADS", "abc", "must be 1 or more, not 'abc'"),
    ("NUMBA_NUM_THREADS", "0", "must be 1 or more, not '0'"),
    ("NUMBA_NUM_THREADS", "-1", "must be 1 or more, not '-1'")])
def test_settings_that_are_no_numbers(tmp_path, name, value, said):
    done = call(tmp_path, RUN, **{name: value})
    assert (done.returncode, done.stderr) == (2, f"liestep: {name} {said}\n")


@pytest.mark.parametrize("cache", ["file/below", "/dev/null", "/proc/liestep"])
def test_a_cache_that_is_no_folder_costs_time_only(tmp_path, cache):
    (tmp_path/"file").touch()
    done = call(tmp_path, ("list",), LIESTEP_CACHE=cache)
    assert (done.returncode, done.stderr) == (0, "")
    assert call(tmp_path, RUN, LIESTEP_CACHE=cache).returncode == 0


@pytest.mark.parametrize("kilobytes", [200_000, 300_000, 400_000])
def test_little_memory(tmp_path, kilobytes):
    done = call(tmp_path, RUN, f"ulimit -v {kilobytes};|", OPENBLAS_NUM_THREADS="1")
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
