"""Commands do not load what they do not need: Numba costs a quarter of a second, pandas and Matplotlib as much."""
import os
import resource
import subprocess
import sys
from pathlib import Path

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
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = result.stdout.split()
    assert "liestep.mechanics.systems.free_rigid_body" in loaded
    assert len(loaded) <= 90, loaded
    assert not [name for name in loaded if name.startswith(("liestep_papers", "liestep.workflow", "liestep.study"))]


def test_planning_a_workflow_loads_neither_numba_nor_tables():
    code = ("import sys, yaml; from liestep.workflow.workflow import Workflow\n"
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


@pytest.mark.parametrize("command", ["list", "list heavy_top", "describe heavy_top", "describe rk4", "--version",
                                     "status twospheres2009/example1"])
def test_commands_without_numbers_start_within_15_times_an_empty_python(command, tmp_path):
    empty = spent(sys.executable, "-c", "pass")
    assert spent(sys.executable, "-c", PROGRAM, *command.split(), LIESTEP_CACHE=str(tmp_path)) <= 15*empty


def answer(command, folder, package=None):
    environment = {**os.environ, "LIESTEP_CACHE": str(folder), **({"PYTHONPATH": str(package)} if package else {})}
    return subprocess.run([sys.executable, "-c", PROGRAM, *command.split()], capture_output=True, text=True,
                          env=environment)


def test_kept_status_follows_studies_and_results(tmp_path):
    """Also an edit in place that gives a file its old time back."""
    study = tmp_path/"config"/"studies"/"tiny.yaml"
    study.parent.mkdir(parents=True)
    study.write_text("title: tiny\nproblems:\n  spring: {system: mass_spring, t_end: 1.0, steps: [0.5]}\n"
                     "integrators:\n  rk4: {}\n")

    def status():
        done = subprocess.run([sys.executable, "-c", PROGRAM, "status"], capture_output=True, text=True, cwd=tmp_path,
                              check=True, env={**os.environ, "LIESTEP_CACHE": str(tmp_path/"kept")})
        return done.stdout

    def kept():
        return len(list((tmp_path/"kept").glob("answer-*.txt")))

    assert "runs 0 of 1 (1 missing)" in status()
    assert status() == status()
    assert kept() == 1
    times = study.stat()
    study.write_text(study.read_text().replace("[0.5]", "[0.1]"))
    os.utime(study, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert study.stat().st_size == times.st_size
    assert "runs 0 of 1 (1 missing)" in status()
    assert kept() == 2
    made = tmp_path/"results"/"tiny"/"runs"/"spring"/"rk4"
    made.mkdir(parents=True)
    for name in ("step0.1.nc", "h0.1.nc"):
        (made/name).write_bytes(b"no file of a run")
    status()
    assert kept() == 3


def test_kept_answers_are_the_same_text_and_an_edit_makes_them_anew(tmp_path):
    source = tmp_path/"src"
    os.makedirs(source)
    subprocess.run(["cp", "-rL", str(Path(TOP)/"src"/"liestep"), str(source)], check=True)
    first, second = (answer("describe sphere_nbody", tmp_path, source).stdout for _ in range(2))
    assert first == second
    assert "sphere_nbody" in first
    assert list(tmp_path.glob("answer-*.txt"))
    system = source/"liestep"/"mechanics"/"systems"/"sphere_nbody.py"
    system.write_text(system.read_text().replace('title="', 'title="Edited: '))
    assert "Edited: " in answer("describe sphere_nbody", tmp_path, source).stdout


def test_answers_that_fail_or_name_a_plugin_are_not_kept(tmp_path):
    wrong = answer("describe heavy_to", tmp_path)
    assert wrong.returncode == 2
    assert "did you mean heavy_top?" in wrong.stderr
    plugin = Path(TOP)/"docs"/"examples"/"my_pendulum.py"
    assert "my_pendulum" in answer(f"--plugin {plugin} list", tmp_path).stdout
    assert not list(tmp_path.glob("answer-*.txt"))
