"""A system or a file of integrators that nothing borrows from can go: the rest of the package works without an edit;
what is declared with the names that plugins import."""
import ast
import os

import pytest
import ready
from place import copied_package

from liestep.files import PACKAGE

SYSTEMS = ("spherical_pendulum_chain", "sphere_nbody", "penning_trap", "spring_pendula", "dipole_array",
           "henon_heiles", "bonded_ring", "elastic_rod")
METHODS = ("splitting", "verlet", "runge_kutta", "lie_adams", "bliedf", "generalized_alpha", "discrete_gradient",
           "commutator_free")
WORKS = """
import sys
import liestep
from liestep.api.command_line import main
from liestep.figures.marks import mark_of
from liestep.simulation.catalogue import integrator_calls, integrator_ids, ranked, sheet, system_ids
from liestep.simulation.references.reference import specify_reference
from liestep.workflow.starting import study_text
from liestep.tools.certify.orders import CASES, certify_all, complete, variants_of
from liestep.simulation.runs.specification import applicable
from liestep.tools.inspect.check_system import _gradient_checks
from liestep.tools.recommend.tournament import Tournament, request

assert main(["list"]) == 0
assert sys.argv[1] not in {*system_ids(), *integrator_ids()}
assert len({mark_of(name).label for name in integrator_calls()}) == len(integrator_calls())
for name in system_ids():
    assert study_text("mine", name) and specify_reference(name, samples=3).sha256
assert all(cases for name in ("cf4", "gauss", "lgvi") for _, cases in variants_of(name))
assert all(complete(found) for found in certify_all(["campello"]))
assert len(Tournament(request("heavy_top", error=1e-3)).engines) == 2
assert all(row.ok for row in _gradient_checks("dipole_array", None, sheet("dipole_array")))
assert len([name for name in ranked("shown") if applicable("dipole_array", name)]) >= 2
liestep.plot(liestep.simulate("heavy_top", "mpl", steps=20, t_end=0.1))
"""


def imported(path):
    """Modules of the package that a file imports from."""
    return {node.module for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
            and node.module.startswith("liestep")}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_is_written_as_a_plugin_would_be(name):
    """Beside the names of `liestep.extend` only with what it shares with systems of its kind, in a file beside it."""
    others = imported(PACKAGE/"mechanics"/"systems"/f"{name}.py") - {"liestep.extend"}
    assert all(module.startswith("liestep.mechanics.systems._") for module in others)


@pytest.mark.parametrize("name", METHODS)
def test_a_file_of_integrators_is_written_as_a_plugin_would_be(name):
    """Beside the names of `liestep.extend` only with files of its own room."""
    assert all(module.startswith("liestep.integrators.") for module in
               imported(PACKAGE/"integrators"/f"{name}.py") - {"liestep.extend"})


@pytest.mark.parametrize("gone", ["mechanics/systems/sphere_nbody", "mechanics/systems/henon_heiles",
                                  "mechanics/systems/penning_trap", "integrators/runge_kutta",
                                  "integrators/vi_sphere", "integrators/embedded"])
def test_the_others_work_without_a_system_or_a_method(gone, tmp_path):
    package = copied_package(tmp_path)
    (package/f"{gone}.py").unlink()
    done = ready.python("-c", WORKS, gone.rpartition("/")[2], folder=tmp_path,
                        environment=dict(os.environ, PYTHONPATH=str(tmp_path), MPLBACKEND="agg"))
    assert done.returncode == 0, done.stderr
