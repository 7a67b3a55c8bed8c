"""The wheel of the bench in a folder that has numpy beside it and nothing else."""
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_wheel_beside_numpy_alone(tmp_path):
    """Its files, its help, its example, and a sentence where a problem of another package is asked for."""
    def call(*words, code=0):
        done = subprocess.run([sys.executable, *map(str, words)], cwd=tmp_path, capture_output=True, text=True,
                              env={"PYTHONPATH": str(tmp_path/"target"), "PATH": os.environ["PATH"]})
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    assert tomllib.loads((BENCH/"pyproject.toml").read_text())["project"]["dependencies"] == ["numpy>=2.0"]
    source = shutil.copytree(BENCH, tmp_path/"source", ignore=shutil.ignore_patterns("__pycache__", "stored"))
    call("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, source)
    wheel, = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == {f"rotation_bench/{path.name}" for path in BENCH.iterdir()
                     if path.is_file() and path.name != "pyproject.toml"}
    call("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", tmp_path/"target", wheel)
    packages = Path(np.__file__).parents[1]
    for path in packages.glob("numpy*"):
        os.symlink(path, tmp_path/"target"/path.name)
    assert "--case" in call("-S", "-m", "rotation_bench", "judge", "--help")
    assert "free_asymmetric: right" in call("-S", tmp_path/"target"/"rotation_bench"/"example.py")
    (tmp_path/"one.csv").write_text("time,quaternion_w\n0,1\n")
    asked = ("-S", "-m", "rotation_bench", "judge", "one.csv")
    assert "no package that is installed brings others" in call(*asked, "--problem", "heavy_top", code=2)
