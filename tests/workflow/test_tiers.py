"""Which tests `make.py check` runs: some cases of each test function that is not slow, within a budget. Which tests
`make.py test` leaves to releases."""
import ast
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import (
    CASES,
    LIMIT,
    MEASURED,
    left_to_releases,
    longest_first,
    quick_cases,
    release_tests,
    seconds_in,
    slow_tests,
)
from place import TOP

MODULES = {path.relative_to(TOP).as_posix(): path.read_text("utf-8") for path in TOP.glob("tests/*/**/test_*.py")}
# called from outside: through the package (`liestep.lgt` too), plugins, papers and workflows
OUTSIDE = {"api", "extend", "lgt", "paper"}
ROOMS = {path.stem for path in (TOP/"src"/"liestep").iterdir() if not path.name.startswith(("_", "py"))}


def quick_modules() -> list[str]:
    return [name for name, text in MODULES.items()
            if name not in {*slow_tests(), *release_tests()} and "pytestmark = pytest.mark.slow" not in text]


# s of processor time for the quick tests, their preparation included: two cores have 120 in a minute, of which two
# collections take 20, style and types 8
BUDGET = 90.0
UNMEASURED = 0.5  # s that a module counts as until it is measured
DAILY = 875.0     # s of processor time for the slow tests of a day; may only shrink
WHOLE = 1675.0    # and for those of releases, too


def test_quick_tests_fit_their_budget():
    seconds = seconds_in(MEASURED)
    assert set(seconds) <= set(MODULES)
    assert sum(seconds.get(name, UNMEASURED) for name in quick_modules()) <= BUDGET


def test_slow_tests_of_a_day_fit_their_budget():
    daily = slow_tests().keys() - left_to_releases([*slow_tests()])
    assert sum(slow_tests()[name] for name in daily) <= DAILY


def test_all_slow_tests_fit_their_budget():
    assert sum(slow_tests().values()) <= WHOLE


def test_releases_have_the_listed_tests_and_all_slow_cases_but_one(monkeypatch):
    names = [f"tests/test_x.py::test_y[{k}]" for k in range(12)]
    monkeypatch.setattr("conftest.slow_tests", lambda: dict.fromkeys(names[:9], 2.0) | {names[5]: 1.5})
    left = left_to_releases(names)
    assert left == {*names[:9]} - {names[5]}
    monkeypatch.setattr("conftest.slow_tests", lambda: dict.fromkeys(names[:9], 2.0))
    left = left_to_releases(names)
    assert len(left) == 8
    assert not left & {*names[9:]}
    assert left_to_releases(names[::-1]) == left
    listed = f"{min(name for name in release_tests() if '::' in name)}[case]"
    assert left_to_releases([listed, *names[9:]]) == {listed}


def test_modules_with_the_longest_tests_begin_and_all_stay_together(monkeypatch):
    seconds = {"a.py::one": 15.0, "b.py::one[x]": 15.0, "b.py": 6.0, "d.py": 60.0}
    monkeypatch.setattr("conftest.slow_tests", lambda: seconds)
    items = [SimpleNamespace(nodeid=f"{module}.py::{test}") for module in "abcd" for test in ("two", "one")]
    assert [item.nodeid for item in longest_first(items)] == [
        f"{module}.py::{test}" for module in "dbac" for test in ("two", "one")]


def test_quick_cases_are_few_and_always_the_same():
    names = [f"tests/test_x.py::test_y[{k}]" for k in range(100)]
    chosen = quick_cases(names)
    assert {names[0], names[-1]} < chosen
    assert len(chosen) == CASES
    assert chosen == quick_cases(names)
    assert {name for name in names if name in quick_cases(names[:50]) | quick_cases(names[50:])} > {names[49]}
    for few in ([], names[:1], names[:2]):
        assert quick_cases(few) == set(few)


def test_every_module_that_is_not_slow_as_a_whole_has_quick_tests():
    """A test function that takes no cases, or whose cases are not all listed."""
    for name in quick_modules():
        functions = [node for node in ast.parse(MODULES[name]).body
                     if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
                     and not any("slow" in ast.unparse(part) for part in node.decorator_list)]
        assert any(f"{name}::{node.name}" not in slow_tests() for node in functions), f"list all of {name} as slow"


def test_every_listed_test_exists():
    for name in {*slow_tests(), *release_tests()}:
        module, _, test = name.partition("::")
        assert module in MODULES, name
        assert not test or f"def {test.partition('[')[0]}(" in MODULES[module], name
    assert min(slow_tests().values()) >= LIMIT


def test_every_room_and_every_folder_has_quick_tests():
    imported = {node.module for name in quick_modules() for node in ast.walk(ast.parse(MODULES[name]))
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("liestep.")}
    assert {name.split(".")[1] for name in imported} >= ROOMS - OUTSIDE
    assert {Path(name).parent for name in quick_modules()} == {Path(name).parent for name in MODULES}


def loaded_make():
    specification = importlib.util.spec_from_file_location("make", TOP/"make.py")
    make = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(make)
    return make


@pytest.mark.parametrize("chosen", [None, "/somewhere/else"])
def test_tests_keep_their_machine_code_in_this_folder_or_in_that_of_the_caller(chosen, monkeypatch):
    monkeypatch.delenv("LIESTEP_TEST_CACHE", raising=False)
    if chosen:
        monkeypatch.setenv("LIESTEP_TEST_CACHE", chosen)
    make, called = loaded_make(), []
    monkeypatch.setattr(make, "make_environment", lambda: None)
    monkeypatch.setattr(make, "call", lambda *arguments, **variables: called.append(variables) or 0)
    make.main(["test"])
    make.check()
    found = {variables["LIESTEP_TEST_CACHE"] for variables in called if "LIESTEP_TEST_CACHE" in variables}
    assert found == {chosen or str(TOP/".cache"/"machine-code")}
    assert len(called) == 4


def test_check_leaves_out_the_slow_tests_and_continuous_integration_none():
    make = loaded_make()
    assert not {"-m", "--quick"} & {*make.TESTS[3:]}
    assert re.search(r"^python3 make.py test --all$", (TOP/".ci"/"run").read_text("utf-8"), re.MULTILINE)
    called = []
    make.call = lambda *arguments, **variables: called.append((arguments, variables)) or 0
    assert make.check() == 0
    tests, variables = called[-1]
    assert "--quick" in tests
    assert variables["PYTHONDONTWRITEBYTECODE"] == ""
