"""Commands do not load what they do not need: Numba costs a quarter of a second, pandas and Matplotlib as much."""
import os
import resource
import subprocess
import sys

import pytest
from place import TOP

HEAVY = ("numba", "llvmlite", "scipy", "pandas", "matplotlib", "heyoka", "xarray")
CALL = """
import sys
from liestep.api import command_line as cli
try:
    cli.main(sys.argv[2:])
except SystemExit:
    pass
print("loaded:", *(name for name in sys.argv[1].split(",") if name in sys.modules))
"""


@pytest.mark.parametrize(("command", "allowed"), [
    ("--version", ()), ("list", ()), ("list heavy_top", ()), ("describe heavy_top", ()), ("describe rkmk", ()),
    ("check liegroup2021/heavy_top", ()), ("status liegroup2021/heavy_top", ()),
    ("job claims liegroup2021", ("pandas",))])
def test_command_loads_only_what_it_needs(command, allowed, tmp_path):
    arguments = ["--config", str(TOP/"config"), "--results", str(tmp_path), *command.split()]
    result = subprocess.run([sys.executable, "-c", CALL, ",".join(HEAVY), *arguments], capture_output=True, text=True)
    assert "Traceback" not in result.stderr
    loaded = result.stdout.splitlines()[-1].split()[1:]
    assert set(loaded) <= set(allowed)


def test_a_run_loads_its_system_and_its_integrator_not_all():
    """An id is found without importing each file, and presets of papers where a file does not have them."""
    code = ("import sys, liestep\n"
            "liestep.simulate('free_rigid_body', 'rk4', steps=3, t_end=0.1, samples=2)\n"
            "print(*sorted(name for name in sys.modules if name.partition('.')[0] == 'liestep'))")
    for _ in range(2):  # the first one may have to compile
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = result.stdout.split()
    assert "liestep.mechanics.systems.free_rigid_body" in loaded
    assert len(loaded) <= 90, loaded
    assert not [name for name in loaded if name.startswith(("liestep_papers", "liestep.workflow", "liestep.study"))]


def test_planning_a_workflow_loads_neither_numba_nor_tables():
    code = ("import sys, yaml; from pathlib import Path; from liestep.workflow.workflow import Workflow\n"
            "from liestep.study.plan.names import paper_folders\n"
            "from liestep.study.plan.papers import read_paper\n"
            "from liestep.study.tables.kinds import table_of\n"
            "for paper in map(read_paper, paper_folders(Path('config')).values()):\n"
            "    list(table_of(name, paper) for name in paper.tables)\n"
            "import liestep.workflow.manifest, liestep.workflow.products, liestep.workflow.sources\n"
            "Workflow({'studies': 'liegroup2021/heavy_top'})\n"
            f"print('loaded:', *(name for name in {HEAVY} if name in sys.modules))")
    result = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "loaded:", result.stderr


def spent(*command, **environment):
    """Processor seconds of a program: the least of four calls."""
    found = []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, **environment})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


PROGRAM = "import sys; from liestep.api.command_line import main; sys.exit(main())"


@pytest.mark.parametrize(("command", "times"), [
    ("--version", 15), ("list", 100), ("list heavy_top", 100), ("describe heavy_top", 100), ("describe rk4", 100),
    ("status twospheres2009/example1", 100)])
def test_commands_without_numbers_start_within_so_many_times_an_empty_python(command, times):
    empty = spent(sys.executable, "-c", "pass")
    assert spent(sys.executable, "-c", PROGRAM, *command.split()) <= times*empty
