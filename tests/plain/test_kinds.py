"""Kinds of `liestep.system`: what a call means, what its help says, and what a type checker refuses."""
import inspect
import subprocess
import sys
import typing

import numpy as np
import pytest

import liestep
from liestep.errors import InputError
from liestep.plain.kinds import KINDS, meant


def f(**_):
    """Any function: only its name as an argument counts here."""


@pytest.mark.parametrize(("given", "title"), [
    ({"lagrangian": f, "start": {"q": 0, "v": 0}}, "a Lagrangian system"),
    ({"hamiltonian": f, "force": f, "start": {"q": 0, "momentum": 0}}, "a Hamiltonian system"),
    ({"rhs": f, "energy": f, "start": {"y": 0}}, "a system of first order"),
    ({"rhs": f, "blackbox": True, "start": {"y": 0}}, "a black box of first order"),
    ({"field": f, "start": {"q": 0}}, "a field on groups"),
    ({"field": f, "blackbox": True, "start": {"R": 0}}, "a black box on groups"),
    ({"magnetic": f, "mass": 1.0, "potential": f, "start": {"x": 0}}, "particles in a magnetic field"),
    ({"mass": 1.0, "force": f, "start": {"q": 0}}, "points on spheres"),
    ({"inertia": [1, 2, 2], "start": {"R": 0}}, "a body about a fixed point"),
    ({"inertia": [1, 2, 2], "start": {"x": 0, "R": 0}}, "free bodies"),
    ({"bodies": [], "gravity": [0, 0, -9.81], "potential": f}, "a mechanism")])
def test_a_call_is_of_the_kind_whose_arguments_it_has(given, title):
    assert meant(given).title == title


@pytest.mark.parametrize(("given", "sentence"), [
    ({"rhs": f, "hamiltonian": f, "start": {"y": [1.0]}}, "hamiltonian is no argument of a system of first order, whose"
     " arguments are rhs, energy, invariants; it is one of a Hamiltonian system"),
    ({"inertia": [1, 2, 2], "mass": 1.0, "start": {"R": np.eye(3)}}, "mass is no argument of a body about a fixed"
     " point, whose arguments are inertia, potential, torque; it is one of particles in a magnetic field, points on"
     " spheres, free bodies"),
    ({"rhs": f, "energy": f, "blackbox": True, "start": {"y": [1.0]}}, "energy is no argument of a black box of first"
     " order, whose arguments are rhs, blackbox; "),
    ({"rhs": f, "field": f, "blackbox": True, "start": {"R": np.eye(3)}}, "rhs is no argument of a black box on"
     " groups"),
    ({"potential": f, "start": {"q": [0, 0, 1.0]}}, "no system is made of potential alone: give mass (points on"
     " spheres)"),
    ({"potential": f}, "no system is made of potential alone: give magnetic (particles in a magnetic field), or mass"
     " (points on spheres), or inertia (a body about a fixed point or free bodies), or bodies (a mechanism)"),
    ({"joints": [], "gravity": [0, 0, 1.0]}, "no system is made of joints and gravity alone: give bodies (a"
     " mechanism)"),
    ({"inertia": [1, 2, 2], "start": {"x": [0, 0, 0], "z": 1.0}}, "start: unknown name 'z'"),
    ({"inertia": [1, 2, 2], "mass": 1.0, "force": f, "start": {"R": np.eye(3)}}, "start lacks 'x'; it has R")])
def test_mixed_kinds_are_one_sentence_with_the_kind_meant_and_what_does_not_belong(given, sentence):
    with pytest.raises(InputError) as caught:
        liestep.system("mixed", **given)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_kinds_are_the_overloads_and_help_shows_each_with_all_its_arguments():
    help_of, overloads = inspect.getdoc(liestep.system), typing.get_overloads(liestep.system)
    assert [one.overload for one in KINDS] == overloads
    assert {name for one in overloads for name in inspect.signature(one).parameters} == {
        *inspect.signature(liestep.system).parameters}
    for one in KINDS:
        assert one.text() in help_of


MIXED = '''import numpy as np
import liestep
from liestep.extend import GROUND, Body, revolute


def f(q: object, v: object) -> float:
    return 0.0


class Labelled:  # as a Series of pandas: no mapping, but with keys
    def keys(self) -> list[str]:
        return ["k"]

    def __getitem__(self, key: str) -> float:
        return 1.0


S, O, Z = {"q": [0.4, 0.0], "v": [0.0, 2.0]}, [0, 0, 0], (0, 0, 1.0)
liestep.system("good", lagrangian=f, force=f, start=S, parameters={"k": 1.0})
liestep.system("good", rhs=f, start={"y": [1.0]}, invariants={"one": f}).simulate("rk4", step=0.1)
liestep.system("good", rhs=f, start={"y": np.ones(3)}, blackbox=True)
liestep.system("good", mass=[1, 0.7], potential=f, start={"q": np.eye(3)[0]}, t_end=2.0)
liestep.system("good", inertia=(1, 2, 2.5), mass=1.0, start={"x": [0, 0, 0]}, torque=f)
liestep.system("good", bodies=[Body(1.0, [1, 1, 1])], gravity=[0, 0, -9.81], fit=True)
liestep.system("good", bodies=[Body(1.0, [1, 1, 1])], joints=[revolute(GROUND, O, Z, 0, O, Z)])
good = liestep.system("good", rhs=f, start={"y": [1.0]}, parameters=Labelled())
good.simulate("taylor", tolerance=1e-9, compile="auto")
good.recommend(error=1e-6, t_end=5.0)
revolute(GROUND, O, "z", 0, O, Z)  # wrong
good.simulate("taylor", tolerance=1e-9, compile="yes")  # wrong
good.recommend(error="small")  # wrong
good.capitalize()  # wrong
liestep.system("good", rhs=f, start=[1.0])  # wrong
liestep.system("mixed", lagrangian=f, rhs=f, start=S)  # wrong
liestep.system("mixed", rhs=f, start=S, gravity=[0, 0, 1])  # wrong
liestep.system("mixed", rhs=f, energy=f, blackbox=True, start=S)  # wrong
liestep.system("mixed", bodies=[Body(1.0, [1, 1, 1])], start=S)  # wrong
liestep.system("mixed", potential=f, start=S)  # wrong
liestep.system("mixed", lagrangian=f)  # wrong
liestep.system("mixed", mass=1.0, torque=f, start=S)  # wrong
liestep.system("mixed", magnetic=f, energy=f, start=S)  # wrong
'''


@pytest.mark.slow
def test_a_type_checker_finds_exactly_the_wrong_combinations(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: make the environment of the lock")
    (tmp_path/"mixed.py").write_text(MIXED)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "mixed.py"],
                          cwd=tmp_path, capture_output=True, text=True)
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == {k for k, line in enumerate(MIXED.splitlines(), 1) if line.endswith("# wrong")}, done.stdout
