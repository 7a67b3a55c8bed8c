"""Which tests `make.py check` leaves out: those of slow_tests.txt and those marked slow."""
import ast
import importlib.util
import re
from pathlib import Path

from conftest import LIMIT, slow_tests

TOP = Path(__file__).parents[2]
MODULES = {path.relative_to(TOP).as_posix(): path.read_text("utf-8") for path in TOP.glob("tests/*/**/test_*.py")}
# called from outside: through the package, plugins and workflows
OUTSIDE = {"api", "extend", "jobserver"}
ROOMS = {path.stem for path in (TOP/"src"/"liestep").iterdir() if not path.name.startswith(("_", "py"))}


def quick_modules() -> list[str]:
    return [name for name, text in MODULES.items() if name not in slow_tests() and "pytestmark = " not in text]


def test_every_slow_test_exists():
    for name in slow_tests():
        module, _, test = name.partition("::")
        assert module in MODULES, name
        assert not test or f"def {test.partition('[')[0]}(" in MODULES[module], name
    assert min(slow_tests().values()) >= LIMIT


def test_every_room_and_every_folder_has_quick_tests():
    imported = {node.module for name in quick_modules() for node in ast.walk(ast.parse(MODULES[name]))
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("liestep.")}
    assert {name.split(".")[1] for name in imported} >= ROOMS - OUTSIDE
    assert {Path(name).parent for name in quick_modules()} == {Path(name).parent for name in MODULES}


def test_check_leaves_out_the_slow_tests_and_continuous_integration_none():
    specification = importlib.util.spec_from_file_location("make", TOP/"make.py")
    make = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(make)
    assert "-m" not in make.TESTS[3:]
    assert re.search(r"^python3 make.py test$", (TOP/".ci"/"run").read_text("utf-8"), re.MULTILINE)
    called = []
    make.call = lambda *arguments, **variables: called.append((arguments, variables)) or 0
    assert make.check() == 0
    tests, variables = called[-1]
    assert tests[tests.index("-m", 3):][:2] == ("-m", "not slow")
    assert variables["PYTHONDONTWRITEBYTECODE"] == ""
