"""Systems and integrators of somebody's own get the machine code that those of the package get, with the same bits."""
import inspect
from typing import Any, NamedTuple

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

from benchmarks.plugins import PAIRS, own_file, request
from liestep.api.command_line import main
from liestep.compile.sources import source_hash
from liestep.compile.status import Status
from liestep.compile.straight.routines import Routine
from liestep.compile.straight.symbols import Untraceable
from liestep.errors import InputError
from liestep.mechanics.contracts.formulations import PROTOCOLS
from liestep.simulation.catalogue import integrator_ids, method, plugin_entries, sheet, system_ids
from liestep.simulation.machine_code import straight
from liestep.simulation.machine_code.straight import StraightAction, StraightField, code_in_words, for_loop
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.specification import applicable, specify, start_of
from liestep.tools.inspect.describe import describe


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1]}-{pair[2]}")
def test_a_plugin_has_the_code_and_the_bits_of_the_package(tmp_path, pair):
    system, *rest = pair
    own, = load_plugin(own_file(tmp_path, system))
    found = []
    for name in (system, own):
        spec = request(name, *rest)
        formulated, integrator = build(spec)
        found.append((code_in_words(formulated, integrator), run_once(spec).outputs))
    source_hash.cache_clear()
    (words, first), (others, second) = found
    assert words == others
    assert first.states.tobytes() == second.states.tobytes()
    assert first.series.tobytes() == second.series.tobytes()
    assert words.startswith("straight-line code")


class Renamed(NamedTuple):
    """An integrator whose argument has another name than those of the package."""

    scale: float

    def workspace(self, system: Any, y: np.ndarray) -> Any:
        return (np.zeros_like(y),)

    def start(self, system: Any, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK

    def step(self, system: Any, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        system.algebra(t, y, work[0])
        return Status.OK


@pytest.mark.parametrize(("system", "integrator", "kind"), [("jointed_body", "rkmk", StraightAction),
                                                            ("spherical_pendulum_chain", "rk4", StraightField)])
def test_the_code_does_not_depend_on_names_in_an_integrator(system, integrator, kind):
    formulated, component = build(specify(system, integrator, steps=1, t_end=1e-3))
    for each in (component, Renamed(1.0)):
        assert isinstance(for_loop(formulated, each)[0], kind)


class Watched:
    """A problem that notes which of its methods and fields are asked for."""

    def __init__(self, problem):
        self.problem, self.asked = problem, set()

    def __getattr__(self, name):
        self.asked.add(name)
        return getattr(self.problem, name)


def of_kinds(name):
    """Systems in whose formulation an integrator has straight-line code; whether it runs there traces equations."""
    return [system for system in system_ids() if method(name).on(sheet(system)).formulation in straight.KINDS]


@pytest.mark.parametrize("name", [name for name in integrator_ids() if of_kinds(name)])
def test_integrators_call_what_the_protocol_of_their_formulation_declares(name):
    """At one step on the first system; the distance that not every action has is said in words there."""
    system = next(one for one in of_kinds(name) if applicable(one, name, start_of(one).parameters))
    formulated, component = build(request(system, sheet(system).default, name, 1e-3))
    protocol = PROTOCOLS[formulated.formulation]
    declared = {key for key, _ in inspect.getmembers(protocol, inspect.isfunction)} | {"counters", "distance2"}
    problem, y, integrator = Watched(plain(formulated.problem)), formulated.start.copy(), plain(component)
    work = integrator.workspace(formulated.problem, y)
    with np.errstate(all="ignore"):
        if hasattr(integrator, "step"):
            integrator.start(problem, 0.0, y, 1e-3, work)
            integrator.step(problem, 0.0, y, 1e-3, work)
        else:
            integrator.start(problem, 0.0, y, 1e-2, work)
            integrator.attempt(problem, 0.0, y, 1e-3, work)
            integrator.interpolate(problem, 0.0, y, 1e-3, 0.5, np.zeros_like(y), work)
    assert problem.asked <= declared
    assert hasattr(component, "makes_series") != bool({"rhs", "algebra"} & problem.asked)


def test_code_of_a_plugin_with_other_bits_than_its_loops_is_not_taken(tmp_path):
    """One operation is another one."""
    own, = load_plugin(own_file(tmp_path, "free_rigid_body"))
    formulated, component = build(specify(own, "rk4", steps=1, t_end=1e-3))
    found = straight._methods_used(formulated.problem, formulated.start, formulated.width, component, staged=False)
    given = formulated.problem, formulated.start, formulated.width
    assert straight._trusted(*given, found) == found
    text = found["rhs"].text.replace("fmul", "fadd", 1)
    with pytest.raises(Untraceable, match="compiled rhs gives other bits"):
        straight._trusted(*given, {"rhs": Routine(text, found["rhs"].constants, 1)})


def test_describe_says_which_code_a_run_gets_and_why(tmp_path, capsys):
    assert "Code: straight-line code for right-hand side" in describe("spherical_pendulum_chain", "rk4")
    assert "all stages of a step\n  together" in describe("spherical_pendulum_chain", "dop853")
    assert "Code: loops for everything: it takes more than 8000 operations" in describe("elastic_rod", "dop853")
    assert "the formulation rigid_bodies has no straight-line code" in describe("heavy_top", "lgvi")
    assert "fewer than 100 operations: in a long run a call costs as much" in describe("heavy_top", "rkmk")
    main(["--plugin", str(own_file(tmp_path, "free_rigid_body")), "describe", "own_free_rigid_body", "dop853"])
    assert "Code: straight-line code" in capsys.readouterr().out
    assert "own_free_rigid_body" in plugin_entries()
    with pytest.raises(InputError, match="vi_sphere cannot run on heavy_top"):
        describe("heavy_top", "vi_sphere")
