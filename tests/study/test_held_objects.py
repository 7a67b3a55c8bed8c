"""A specification holds the sheet and the method of its run: nothing asks the catalogue for them again."""
import importlib
import json
import pickle
import sys
from itertools import combinations

import numpy as np
import pytest

import liestep
import liestep.simulation.plugins  # adds its finder to the catalogue when it is imported
from liestep.simulation import catalogue
from liestep.simulation.runs.maps import ParameterMap, Request, shards
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify, specify_again, specify_problem
from liestep.simulation.runs.specified import RunSpecification, _text_of


def visits(call) -> list[str]:
    """Functions of the catalogue that others enter during a call."""
    found = []

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename == catalogue.__file__ != frame.f_back.f_code.co_filename:
            found.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("size", [{"integrator": "rk4", "steps": 3}, {"integrator": "ode45", "tolerance": 1e-3}],
                         ids=["fixed", "adaptive"])
def test_a_simulation_visits_the_catalogue_at_most_three_times(size):
    """The first two calls of their kind ask once or twice more, for what calls like them share from then on."""
    for most in (5, 4, 3):
        found = visits(lambda: liestep.simulate("free_rigid_body", **size, t_end=0.1, samples=2))
        assert found
        assert len(found) <= most, found


def kinds() -> list[RunSpecification]:
    plain = specify("sphere_nbody", "rk4", steps=4, t_end=0.4, samples=3)
    (shard,) = shards(plain, ParameterMap(("gamma",), ((0.5, 1.0),)), Request(None, {}, {}, {}))
    members = specify("sphere_nbody", "rk4", steps=4, t_end=0.4, ensemble={"members": 3, "amplitude": 1e-3})
    return [plain, shard, members, specify_problem("heavy_top")]


@pytest.mark.parametrize("number", range(4))
def test_a_copy_for_another_process_is_the_same_run(number):
    """The functions of a sheet cannot be pickled: it is found again by its id."""
    spec = kinds()[number]
    copy = pickle.loads(pickle.dumps(spec))
    assert type(copy) is type(spec)
    assert (copy.sha256, copy.canonical()) == (spec.sha256, spec.canonical())
    assert copy.system is spec.system
    assert copy.declared is spec.declared
    if number == 0:
        assert np.array_equal(carry_out(copy).variables["q"][1], carry_out(spec).variables["q"][1])


def test_what_a_specification_holds_is_no_part_of_its_text():
    spec = kinds()[0]
    assert not {"system", "declared", "sheet", "method"} & {*spec.canonical()}
    assert "Sheet(" not in repr(spec)
    assert "Method(" not in repr(spec)


LARGE = np.random.default_rng(1).standard_normal((12, 3))


@pytest.mark.parametrize("array", [
    LARGE, LARGE[:, 0].repeat(3), np.ones(40), np.broadcast_to(LARGE[0], (12, 3)), LARGE[[0, 0, *range(10)]],
    LARGE[[*range(11), 0]], np.ones((11, 3)).cumsum(axis=0) % 2.0, np.array([[0.0], [-0.0]]*20), np.arange(36) // 18,
    np.array([[1, 2]]*20)])
def test_the_text_of_an_array_is_that_of_its_numbers(array):
    """Also where some of its rows are equal, all are, or only look so."""
    given = {"name": np.ascontiguousarray(array)}
    assert _text_of(given) == json.dumps({"name": array.tolist()})


@pytest.mark.parametrize("module", [f"liestep.integrators.{stem}" for stem in catalogue._files("integrators")])
def test_ids_are_read_from_files_as_they_are_declared(module):
    declared = [*getattr(importlib.import_module(module), "METHODS", ())]
    assert catalogue._keys(module, "METHODS") == declared
    assert {catalogue.integrator_entry(name).module for name in declared} <= {module}


@pytest.mark.parametrize("text", ["METHODS = {'a': 1} | more\n", "METHODS = {f'a{n}': n for n in (1, 2)}\n",
                                  "METHODS = {**more, 'a': 1}\n", "METHODS: dict[str, int] = made()\n"])
def test_a_table_that_is_not_written_out_is_not_taken_for_complete(text, tmp_path, monkeypatch):
    (tmp_path/"file.py").write_text(f"import os\n\n{text}")
    monkeypatch.setattr(catalogue, "module_file", lambda module: tmp_path/"file.py")
    with pytest.raises(AttributeError):
        catalogue._keys("any", "METHODS")


EVERY = ("step", "tolerance", "t_end", "preset", "parameters", "initial", "options", "samples", "steps",
         "statistics_every", "outputs", "log_steps", "exponents", "t_start", "times", "until", "events", "control",
         "sample", "max_step", "stops")
USUAL = {"statistics_every": 1, "log_steps": False, "exponents": 0, "steps": 10, "integrator": "rk4",
         "problem": "free_rigid_body"}
CALLS = [{}, {"preset": "symmetric"}, {"parameters": {"inertia": [1.0, 2.0, 2.5]}}, {"steps": 20}, {"samples": 3},
         {"t_end": 2.0}, {"t_start": 0.5}, {"options": {"form": "quaternion"}}, {"statistics_every": 2},
         {"initial": {"angular_momentum": [0.1, 0.2, 0.3]}}, {"stops": None, "parameters": {"inertia": 3*[1.5]}}]
CHAIN, LINKAGE = {"problem": "spherical_pendulum_chain"}, {"problem": "four_bar"}


@pytest.mark.parametrize(("one", "other"), [
    *combinations(CALLS, 2), ({"problem": "heavy_top"}, {}), ({"t_end": 1}, {"t_end": True}),
    (CHAIN | {"parameters": {"mass": [1.0, 2.0]}}, CHAIN | {"parameters": {"mass": [1.0, 2.0, 3.0]}}),
    (LINKAGE | {"parameters": {"joints": "revolutes"}}, LINKAGE | {"parameters": {"joints": "driven"}})])
def test_calls_that_come_again_are_those_made_anew(one, other):
    """Whatever one call has that another had not, also where it is refused; in turns, so that each finds what the other
    has left: more of them than are kept would find nothing."""
    for changes in (one, other)*3:
        given = dict.fromkeys(EVERY) | USUAL | changes
        found = []
        for how, asked in ((specify_again, given), (specify, {k: v for k, v in given.items() if v is not None})):
            try:
                found.append(how(**asked).sha256)
            except liestep.InputError as error:
                found.append(str(error))
        assert found[0] == found[1], changes
