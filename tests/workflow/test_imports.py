"""Commands do not load what they do not need: Numba costs a quarter of a second, pandas and Matplotlib as much."""
import subprocess
import sys

import pytest
from place import TOP

HEAVY = ("numba", "llvmlite", "scipy", "pandas", "matplotlib", "heyoka", "xarray")
CALL = """
import sys
from liestep import cli
try:
    cli.main(sys.argv[2:])
except SystemExit:
    pass
print("loaded:", *(name for name in sys.argv[1].split(",") if name in sys.modules))
"""


@pytest.mark.parametrize(("command", "allowed"), [
    ("--version", ()), ("list", ()), ("list heavy_top", ()), ("describe heavy_top", ()), ("describe rkmk", ()),
    ("check liegroup2021/heavy_top", ()), ("status liegroup2021/heavy_top", ()), ("claims", ("pandas",))])
def test_command_loads_only_what_it_needs(command, allowed, tmp_path):
    arguments = ["--config", str(TOP/"config"), "--results", str(tmp_path), *command.split()]
    result = subprocess.run([sys.executable, "-c", CALL, ",".join(HEAVY), *arguments], capture_output=True, text=True)
    assert "Traceback" not in result.stderr
    loaded = result.stdout.splitlines()[-1].split()[1:]
    assert set(loaded) <= set(allowed)


def test_planning_a_workflow_loads_neither_numba_nor_tables():
    code = ("import sys, yaml; from liestep.pipeline.workflow import Workflow\n"
            "import liestep.pipeline.manifest, liestep.pipeline.products, liestep.report.sources\n"
            "Workflow({'studies': 'liegroup2021/heavy_top'})\n"
            f"print('loaded:', *(name for name in {HEAVY} if name in sys.modules))")
    result = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "loaded:", result.stderr
