"""What a run is made with: no file of the package that a run executes is missing among its sources, and they hold
nothing that it does not use."""
import ast
import json
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ready

import liestep
from liestep.compile import sources
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.machine_code.straight import KINDS
from liestep.simulation.runs.files import write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import TRACED, RunSpecification

PACKAGE = Path(liestep.__file__).parent
FIXED: dict[str, Any] = {"step": 0.01, "t_end": 0.04}
ADAPTIVE: dict[str, Any] = {"tolerance": 1e-3, "t_end": 0.1}
MEMBERS = {"members": 2, "amplitude": 1e-6, "seed": 0}
RUNS: dict[str, Callable[[], RunSpecification]] = {
    "verlet": lambda: specify("henon_heiles", "verlet", **FIXED),
    "rk4": lambda: specify("heavy_top", "rk4", **FIXED),
    "action": lambda: specify("heavy_top", "rkmk", **FIXED, options={"action": "direct"}),
    "redundant": lambda: specify("heavy_top", "vi_livens", **FIXED),
    "quaternion": lambda: specify("heavy_top", "rk4", **FIXED, options={"form": "quaternion"}),
    "sphere": lambda: specify("spherical_pendulum_chain", "vi_sphere", **FIXED),
    "adaptive": lambda: specify("heavy_top", "dop853", **ADAPTIVE),
    "mechanism": lambda: specify("four_bar", "rkmk", step=0.1, t_end=0.4),  # has a warning of its joints
    "members": lambda: specify("heavy_top", "rk4", **FIXED, ensemble=MEMBERS),
    "exponents": lambda: specify("heavy_top", "rk4", step=0.01, t_end=1.0, exponents=1),
    "replicas": lambda: specify("henon_heiles", "verlet", **FIXED, replicas=2),
    "until": lambda: specify("henon_heiles", "verlet", **FIXED, until=("q", (0,), 0.1)),
    "times": lambda: specify("heavy_top", "dop853", **ADAPTIVE, times=[0.01, 0.033]),
    "events": lambda: specify("henon_heiles", "verlet", **FIXED, events=liestep.Event(("q", (0,), 0.1), count=None)),
    "control": lambda: specify("heavy_top", "rk4", **FIXED, sample=0.02, control=lambda t, state: {
        "gravity": [0.0, 0.0, -9.0]}),
}
PLAIN = ("verlet", "rk4", "quaternion", "sphere", "adaptive")  # actions on a heavy top may be on poses, of mechanisms
NOT_IN_PLAIN_RUNS = ("multibody", "constrained", "batches", "members", "events", "legs", "control", "until", "tangents",
                     "paper", "plugins", "catalogue", "maps", "lanes", "many")


def executed(spec: RunSpecification, folder: Path) -> list[str]:
    """Files of the package with functions that are called when a run and its file are made."""
    found: set[str] = set()
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        write(carry_out(spec), folder/"run.nc")
    finally:
        sys.setprofile(None)
    return sorted(name for name in found if Path(name).is_relative_to(PACKAGE))


def report(names: list[str], folder: str) -> None:
    """Runs by their names, and what they execute; for a process of its own."""
    print(json.dumps({name: executed(RUNS[name](), Path(folder)) for name in names}))


def reported(folder: Path, names: list[str], **environment: str) -> dict[str, list[str]]:
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = ready.python("-c", f"import test_run_sources as t; t.report({names!r}, {str(folder)!r})", folder=folder,
                        environment={**os.environ, "PYTHONPATH": path, **environment})
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory) -> dict[str, list[str]]:
    """Files that runs execute without machine code, which calls no function that can be seen; tangents need it."""
    folder = tmp_path_factory.mktemp("runs")
    return reported(folder, [name for name in RUNS if name != "exponents"], NUMBA_DISABLE_JIT="1") | reported(
        folder, ["exponents"])


def missing(name: str, files: list[str]) -> set[str]:
    """Executed files that are no sources; the __init__ of a folder, which changes no number, has a docstring alone."""
    known = {str(path) for path in sources.closure(*RUNS[name]().modules).values()}
    return {file for file in files if file not in known and not (
        file.endswith("__init__.py") and len(ast.parse(Path(file).read_text("utf-8")).body) == 1)}


@pytest.mark.parametrize("name", RUNS)
def test_all_that_a_run_executes_is_among_its_sources(interpreted, name):
    assert len(interpreted[name]) > 20
    assert missing(name, interpreted[name]) == set()


def test_all_that_makes_machine_code_is_among_the_sources(tmp_path):
    """With an empty cache: the whole way to code without loops."""
    (files,) = reported(tmp_path, ["rk4"], LIESTEP_CACHE=str(tmp_path)).values()
    assert any("straight" in file for file in files)
    assert missing("rk4", files) == set()


def forget():
    for cached in sources.CACHES:
        cached.cache_clear()


def test_an_edit_of_each_file_that_a_run_executes_makes_it_anew(interpreted, tmp_path, monkeypatch):
    """One edit for all runs that execute the file: most of the time is hashing the package."""
    copy, specs, users = tmp_path/"liestep", {name: make() for name, make in RUNS.items()}, defaultdict(set)
    for name, spec in specs.items():
        for file in {*interpreted[name]} & {*map(str, sources.closure(*spec.modules).values())}:
            for path in (Path(file), Path(file).with_suffix(".toml")):
                if path.is_file():
                    users[path.relative_to(PACKAGE)].add(name)
    assert set().union(*users.values()) == set(RUNS)
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", copy)
    forget()
    try:
        before = {name: spec.source_hash for name, spec in specs.items()}
        for path, names in users.items():
            text = (copy/path).read_bytes()
            (copy/path).write_bytes(text + b"# edited\n")
            forget()
            assert [name for name in names if specs[name].source_hash == before[name]] == [], path
            (copy/path).write_bytes(text)
    finally:
        forget()


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_run_depends_on_nothing_that_other_runs_need(name):
    modules = {word for module in sources.closure(*RUNS[name]().modules) for word in module.split(".")}
    assert modules.isdisjoint(NOT_IN_PLAIN_RUNS)


@pytest.mark.parametrize(("name", "most"), [("verlet", 7_500), ("rk4", 11_500)])
def test_the_sources_of_a_plain_run_are_few(name, most):
    """Of rk4 on a heavy top 2,800 lines are those that make code without loops, by which its numbers go."""
    files = sources.closure(*RUNS[name]().modules).values()
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= most


def test_a_run_by_velocity_verlet_has_no_groups_and_no_code_without_loops():
    assert not any({"groups", "straight"} & {*module.split(".")} for module in sources.closure(
        *RUNS["verlet"]().modules))


def test_formulations_that_may_have_code_without_loops_are_those_that_runs_name():
    assert set(TRACED) == set(KINDS)


def test_statements_of_some_runs_are_left_out_whole(tmp_path):
    text = ("import a\nwith some_runs:\n    from b import (\n        c,\n    )\n    import d\n\nimport e\n"
            "def f():\n    with some_runs:\n        import g\n    import h\n")
    kept = [word for pair in sources.IMPORT.findall(sources.OF_SOME_RUNS.sub("", text)) for word in pair if word]
    assert [word.strip() for word in kept] == ["a", "e", "h"]


def test_what_forms_import_for_themselves_is_there():
    found = {module for name in system_ids() for form in sheet(name).forms.values() for module in form.needs}
    assert found
    assert all(sources.module_file(module) for module in found)
