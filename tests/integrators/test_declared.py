"""What methods declare to keep, held against what short uncompiled runs measure; no decision reads a text."""
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from liestep import extend
from liestep.errors import InputError
from liestep.extend import ORBIT
from liestep.mechanics.contracts.method import Keeps, Lack, Method
from liestep.mechanics.formulations.fixed_body.forms import DeclaredBody
from liestep.simulation.catalogue import integrator_calls, method, sheet
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.specification import complete_options, specify, start_of
from liestep.study.tables.choice import KEEP
from liestep.tools.inspect.describe import describe
from liestep.tools.recommend.tournament import Tournament, request

EXAMPLE = Path(__file__).parents[2]/"docs"/"examples"/"ralston.py"
PROGRAM = Path(__file__).parents[1]/"measured_facts.py"
CASES = ("sphere_nbody:four_bodies:1", "heavy_top:asymmetric:0.5", "free_rigid_body:asymmetric:1",
         "spherical_pendulum_chain:paper_scaled:0.5", "henon_heiles:chaotic:1",
         "jointed_body:slow_top:0.3", "four_bar:tilted:0.1",
         "bonded_particles:cluster:0.002", "penning_trap:tilted:1", "abc_flow:chaotic:1")
ROUND_OFF = 1e-11        # relative, after 20 steps
LIES = {"MANIFOLD": "manifold", "MOMENTUM": "momentum", "ENERGY": "energy"}  # fact -> what a run shows
UNTRACED = {"lie_taylor"}  # its equations are traced for machine code only


@pytest.fixture(scope="module")
def rows():
    """What each method keeps and declares on each case."""
    found = subprocess.run([sys.executable, PROGRAM, *CASES], capture_output=True, text=True, check=True,
                           env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    return json.loads(found.stdout)


def test_no_declaration_contradicts_what_runs_keep(rows):
    wrong = [(row["system"], row["integrator"], fact, row[shown]) for row in rows for fact, shown in LIES.items()
             if fact in row["declared"] and row.get(shown, 0.0) > ROUND_OFF]
    assert wrong == []
    assert {row["integrator"] for row in rows} | UNTRACED == set(integrator_calls())


def test_where_the_manifold_is_not_declared_it_is_lost_somewhere(rows):
    """So that no declaration is too modest; a start at rest does not show a loss, hence somewhere."""
    undeclared = [row for row in rows if "manifold" in row and "MANIFOLD" not in row["declared"]]
    lost = {row["integrator"] for row in undeclared if row["manifold"] > ROUND_OFF}
    assert {row["integrator"] for row in undeclared} == lost
    assert {"rk4", "ode45", "dop853", "eml", "bliedf order=2", "generalized_alpha"} <= lost


def kept(integrator, problem, preset, **options):
    facts, start = sheet(problem), start_of(problem, preset=preset)
    declared = method(integrator).on(facts)
    return declared.kept(complete_options(declared, facts, start.parameters, options), facts, start.parameters)


def test_facts_depend_on_options_and_systems():
    assert Keeps.MANIFOLD in kept("taylor", "heavy_top", "asymmetric")
    assert Keeps.MANIFOLD not in kept("taylor", "heavy_top", "asymmetric", form="attitude")
    assert Keeps.MANIFOLD in kept("rk4", "heavy_top", "asymmetric", form="orthonormal")
    assert Keeps.MANIFOLD in kept("rk4", "heavy_top", "asymmetric", form="quaternion")
    assert Keeps.SYMPLECTIC in kept("campello", "bonded_particles", "cluster", phi=1.0)
    assert Keeps.SYMPLECTIC not in kept("campello", "bonded_particles", "cluster", phi=0.5)
    assert not KEEP["energy"] & kept("eml_p", "heavy_top", "asymmetric")
    assert KEEP["energy"] & kept("eml_p", "spherical_pendulum_chain", "orders")
    assert Keeps.ENERGY in kept("dmv", "free_rigid_body", "asymmetric")
    assert not KEEP["energy"] & kept("dmv", "heavy_top", "asymmetric")
    assert Keeps.REVERSIBLE in kept("slgi", "heavy_top", "asymmetric", theta=0.5)
    assert Keeps.REVERSIBLE not in kept("slgi", "heavy_top", "asymmetric", theta=0.25)


def test_recommend_keeps_the_symplectic_form_and_says_what_the_others_keep():
    held = Tournament(request("heavy_top", preset="asymmetric", error=1e-3, keep="symplectic"))
    assert {"lgvi", "slgi", "exact_split"} <= set(held.eligible)
    assert not {"rk4", "taylor", "rkmk", "dmv", "em_rotation"} & set(held.eligible)
    reasons = {row.integrator: row.reason for row in held.table}
    assert reasons["rk4"] == "does not keep the symplectic form: it conserves nothing exactly"
    assert reasons["taylor"] == "does not keep the symplectic form: it conserves the manifold"
    assert "taylor" in Tournament(request("heavy_top", preset="asymmetric", error=1e-3, keep="manifold")).eligible


def test_the_sentence_is_made_from_the_facts_and_a_text_of_an_old_plugin_declares_nothing():
    assert method("campello").sentence == "the manifold; momentum maps; symplectic form for phi = 1 only"
    old = Method("order 2", 2, "vector_field", lambda options, tolerance, t_end: None, "unit length, momentum maps")
    facts, start = sheet("sphere_nbody"), start_of("sphere_nbody")
    assert old.kept({}, facts, start.parameters) == frozenset()
    assert old.sentence == ("unit length, momentum maps (in words only: `conserves` takes facts of"
                            " liestep.extend.Keeps)")
    orbit = Method("order 2", 2, "lie_action", lambda options, tolerance, t_end: None, conserves=ORBIT)
    assert orbit.kept({}, facts, start.parameters) == {Keeps.MANIFOLD}


def test_a_lack_says_whether_the_formulation_is_missing():
    assert method("sphere_split").lacks(sheet("sphere_nbody"), start_of("sphere_nbody").parameters) is None
    assert method("lgvi").lacks(sheet("sphere_nbody")) == Lack("the system has no formulation rigid_bodies", True)
    chain = start_of("spherical_pendulum_chain").parameters
    lack = method("sphere_split").lacks(sheet("spherical_pendulum_chain"), chain)
    assert not lack.formulation
    assert lack.reason.startswith("it is for a diagonal mass matrix")


OLD = """from liestep.extend import Keeps, Method, NamedTuple, Status
import numpy as np


class Euler(NamedTuple):
    share: float

    def workspace(self, problem, y):
        return np.zeros((1, *y.shape))

    def start(self, problem, t, y, h, work):
        return Status.OK

    def step(self, problem, t, y, h, work):
        known = problem.rhs(t, y, work[0])
        problem.stage(np.ones(1), h, work, 1, y, y)
        return Status.OK if known else Status.NOT_EVALUABLE


METHODS = {"%s": Method("order 1", 1, "vector_field", conserves=%s,
                        build=lambda options, tolerance, t_end: Euler(1.0))}
"""


@pytest.mark.parametrize(("fact", "changed"), [("MANIFOLD", "unit_length_error"), ("ENERGY", "energy"),
                                               ("MOMENTUM", "momentum_map")])
def test_a_plugin_whose_steps_contradict_its_declaration_is_refused(tmp_path, fact, changed):
    name = f"euler_{fact.lower()}"
    (tmp_path/f"{name}.py").write_text(OLD % (name, f"(Keeps.{fact},)"))
    with pytest.raises(InputError, match=f"declares to keep .* 20 steps change {changed} by .*; leave Keeps.{fact}"):
        load_plugin(tmp_path/f"{name}.py")


def test_a_plugin_with_a_text_runs_and_is_told_what_to_write(tmp_path):
    (tmp_path/"euler_text.py").write_text(OLD % ("euler_text", "'unit length'"))
    load_plugin(tmp_path/"euler_text.py")
    assert describe("euler_text").count("takes facts of liestep.extend.Keeps") == 1


def test_the_integrator_of_the_readme_is_certified():
    program = ("import sys; from liestep.api.command_line import main; sys.argv = ['liestep', '--plugin', sys.argv[1],"
               " 'certify', 'rk2_ralston']; main()")
    done = subprocess.run([sys.executable, "-c", program, EXAMPLE], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("rk2_ralston: certified"), done.stderr
    assert "declared 2, found 2.00000000" in done.stdout


@pytest.mark.parametrize("name", ["exp", "log", "tan"])
def test_functions_of_the_door_are_those_of_python_and_never_raise(name):
    for x in (-0.7, 0.3, 2.0, 600.0):
        wanted = math.nan if name == "log" and x < 0.0 else getattr(math, name)(x)
        for function in (getattr(extend, name), getattr(extend, name).py_func):
            assert function(x) == pytest.approx(wanted, rel=2**-52, nan_ok=True)
    assert math.isnan(getattr(extend, name).py_func(math.nan))
    assert extend.exp.py_func(1e4) == extend.exp(1e4) == math.inf
    assert extend.log.py_func(0.0) == extend.log(0.0) == -math.inf


def test_coadjoint_needs_the_equations_of_the_body_momentum():
    facts = sheet("heavy_top")
    class Bare(NamedTuple):
        scale: float
    declared = DeclaredBody(lambda parameters: Bare(1.0), lambda parameters: None, facts.conserved_momentum,
                        lambda parameters, first: (), None, None, None)
    with pytest.raises(InputError, match="option form is coadjoint, for which the system must have dual"):
        declared.check_form(start_of("heavy_top").parameters, {"form": "coadjoint"})


def test_a_body_without_them_loads_and_offers_the_other_forms(tmp_path):
    text = EXAMPLE.with_name("satellite.py").read_text().replace("def applied(", "def unused(")
    (tmp_path/"bare_satellite.py").write_text(text)
    assert load_plugin(tmp_path/"bare_satellite.py") == ("bare_satellite",)
    start = start_of("bare_satellite")
    for integrator, option in (("rk4", "form"), ("rkmk", "action")):
        with pytest.raises(InputError, match=f"option {option} is coadjoint, for which the system must have dual"):
            specify("bare_satellite", integrator, start=start, steps=10, options={option: "coadjoint"})


def test_a_word_that_nothing_is_kept_by_is_refused():
    with pytest.raises(InputError, match="unknown word for keep 'form'"):
        request("heavy_top", error=1e-3, keep="form")
