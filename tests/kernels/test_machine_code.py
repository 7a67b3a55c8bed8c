"""Machine code on disk: found by the sources it is made of, shared between processes, and never stale."""
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import liestep
from liestep.compile import sources

PACKAGE = Path(liestep.__file__).parent
# A short run whose bits depend on the potential's strength; prints a hash and how many loops came from disk.
PROGRAM = """
import hashlib
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
outcome = run_once(specify("sphere_nbody", "vi_sphere", steps=10, t_end=0.1))
print(hashlib.sha256(outcome.outputs.states.tobytes() + outcome.outputs.series.tobytes()).hexdigest())
"""


class Checkout:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder):
        self.source, self.cache = folder/"source", folder/"cache"
        shutil.copytree(PACKAGE, self.source/"liestep", ignore=shutil.ignore_patterns("__pycache__"))

    def start(self, **environment):
        environment = {**os.environ, "PYTHONPATH": str(self.source), "LIESTEP_CACHE": str(self.cache), **environment}
        return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run(self, **environment):
        """(hash, messages) of a run in a new process."""
        return self.result(self.start(**environment))

    @staticmethod
    def result(process):
        output, messages = process.communicate()
        assert process.returncode == 0, messages
        return output.splitlines()[-1], output + messages

    def plain(self):
        return self.run(NUMBA_DISABLE_JIT="1")[0]

    def loops(self):
        """Published folders; private ones, left behind, would be listed too."""
        return sorted(path.name for path in self.cache.iterdir())

    def replace(self, file, old, new):
        path = self.source/"liestep"/file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.mark.slow
def test_edits_of_a_system_and_of_what_it_imports_are_seen(checkout):
    first = checkout.run()[0]
    assert first == checkout.plain()
    checkout.replace("mechanics/systems/sphere_nbody.py", "f = -0.5*self.gamma", "f = -1.0*self.gamma")
    second = checkout.run()[0]
    assert second == checkout.plain() != first
    checkout.replace("compile/rows.py", "return s*u[0] + v[0], s*u[1] + v[1], s*u[2] + v[2]",
                     "return s*u[0] + v[0], s*u[1] + v[1], s*u[2] - v[2]")
    third = checkout.run()[0]
    assert third == checkout.plain() not in (first, second)


def test_edits_of_what_a_run_does_not_use_keep_its_machine_code(checkout):
    checkout.run()
    before = checkout.loops()
    checkout.replace("mechanics/systems/elastic_rod.py", "bend = 1.0 -", "bend = 2.0 -")
    assert "data saved" not in checkout.run(NUMBA_DEBUG_CACHE="1")[1]
    assert checkout.loops() == before


def parsed_imports(path):
    """Modules of this package that a file imports, by Python's own parser; `from a import b` may name a
    module or what is in one, and of a module of public names the module that has the name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module in sources.DOORS:
            found |= {sources.places(node.module)[alias.name] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "liestep" and sources.module_file(name)}


def test_no_import_is_overlooked(tmp_path):
    odd = tmp_path/"odd.py"
    odd.write_text("if True: import liestep.geometry.so3\ntry:\n    from liestep.geometry.groups import (  # two\n"
                   "        actions,\n        poses)\nfinally:\n    from liestep.compile import \\\n        driver"
                   " as loops; import liestep.api.command_line, liestep.api.functions as api\n")
    for path in (odd, *PACKAGE.rglob("*.py")):
        assert parsed_imports(path) <= sources._imports("liestep.odd", path, None), path
    assert len(parsed_imports(odd)) == 8


@pytest.mark.slow
def test_two_processes_compile_at_once(checkout):
    processes = [checkout.start() for _ in range(2)]
    first, second = (checkout.result(process)[0] for process in processes)
    assert first == second == checkout.plain()
    loops = checkout.loops()
    assert len(loops) == len({name.rsplit("-", 1)[0] for name in loops})  # one folder for each loop, none left behind
    again, messages = checkout.run(NUMBA_DEBUG_CACHE="1")
    assert again == first
    assert "data loaded" in messages
    assert "data saved" not in messages


@pytest.mark.slow
def test_a_clone_elsewhere_compiles_nothing_and_has_the_same_bits(tmp_path):
    first, second = Checkout(tmp_path/"first"), Checkout(tmp_path/"deeper"/"second")
    second.cache = first.cache
    wanted, messages = first.run(NUMBA_DEBUG_CACHE="1")
    assert "data saved" in messages
    for path in (second.source/"liestep").rglob("*.py"):
        os.utime(path, (0, 0))
    before = first.loops()
    found, messages = second.run(NUMBA_DEBUG_CACHE="1")
    assert found == wanted
    assert "data loaded" in messages
    assert "data saved" not in messages
    assert first.loops() == before
    assert not any(os.fsencode(tmp_path) in path.read_bytes() for path in first.cache.iterdir())


@pytest.mark.slow
def test_another_time_of_the_loops_file_changes_nothing(checkout):
    first = checkout.run()[0]
    driver = checkout.source/"liestep"/"compile"/"driver.py"
    os.utime(driver, (0, 0))  # older than the machine code
    assert checkout.run()[0] == first


@pytest.mark.slow
def test_unusable_cache_folder_is_a_warning(checkout):
    expected = checkout.run()[0]
    checkout.cache.rename(checkout.cache.with_name("kept"))
    checkout.cache.write_text("a file where the folder should be")
    found, messages = checkout.run()
    assert found == expected
    assert "machine code is not kept" in messages
