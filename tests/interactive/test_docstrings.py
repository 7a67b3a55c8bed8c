"""Every argument of every public function has a line of its own in its docstring, with a unit where it has one."""
import inspect
import re

import pytest

import liestep
from liestep.api import functions as api
from liestep.figures.interactive.accessor import RunAccessor
from liestep.plain import System
from liestep.plain.kinds import KINDS, SHARED
from liestep.plain.robots import Robot

LINE = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.M)


def lines_of(function):
    """Lines of arguments by their names."""
    found = re.search(r"^Args:\n((?:    .*\n|\n)*)", f"{inspect.getdoc(function)}\n", re.M)
    return dict(LINE.findall(found[1])) if found else {}


def functions():
    for name in liestep.__all__:
        value = getattr(api, name, None) or getattr(liestep, name)
        if (inspect.isfunction(value) and name != "system") or name in ("Event", "Impact"):
            yield name, value
    yield "lgt.step", liestep.lgt.step
    for owner in (RunAccessor, System, Robot):
        yield from ((f"{owner.__name__}.{name}", value) for name, value in vars(owner).items()
                    if inspect.isfunction(value) and not name.startswith("_"))


@pytest.mark.parametrize(("name", "function"), list(functions()))
def test_each_argument_has_a_line(name, function):
    own = [key for key in inspect.signature(function).parameters if key != "self"]
    assert sorted(lines_of(function)) == sorted(own)


def test_each_argument_of_a_kind_of_system_has_a_line():
    shared = lines_of(liestep.system)
    assert {*shared} == {*SHARED}
    for kind in KINDS:
        own = {name for name in kind.signature.parameters if name not in SHARED or name == "start"}
        assert {*lines_of(kind.overload)} == own, kind.title


@pytest.mark.parametrize("name", ["step", "t_end", "t_start", "times", "sample", "max_step", "stops", "tolerance"])
def test_numbers_of_a_run_have_a_unit(name):
    assert re.search(r"\bin s\b|relative", lines_of(liestep.simulate)[name])
