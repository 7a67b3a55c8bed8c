"""Calls that come again share what reads none of the parameters that differ; cells of a map are what each would be
alone."""
import numpy as np
import pytest

from liestep.compile.tracing import digest_of
from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import CellParameters, Cells, once
from liestep.mechanics.contracts.varied import NotAlike, Varied, each
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet, system_entry, system_ids
from liestep.simulation.runs import batches, members
from liestep.simulation.runs.maps import ParameterMap, Request, ShardSpecification, shards
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.shards import REFUSED, carry_out_shard
from liestep.simulation.runs.specification import specify, start_in

VALUES = (1.0, 0.99)  # relative


def parameters_of_cells(**values) -> CellParameters:
    found = CellParameters(Cells(frozenset({"varied"})))
    found.update(values)
    return found


def test_what_reads_no_varied_parameter_is_made_once():
    calls = []

    def kept(parameters, more):
        calls.append(more)
        return [parameters["other"]]

    first, again = (parameters_of_cells(varied=number, other=7.0) for number in (1.0, 2.0))
    again.cells = first.cells
    key = object()
    assert once(kept, first, key) is once(kept, again, key)
    assert once(kept, again, object()) == [7.0]  # of other arguments: made anew
    assert once(kept, {"other": 3.0}, key) == [3.0]  # no cell
    assert len(calls) == 3


@pytest.mark.parametrize("reads", [
    lambda parameters: parameters["varied"], lambda parameters: parameters.get("varied"),
    lambda parameters: dict(parameters)["varied"], lambda parameters: {**parameters}["varied"],
    lambda parameters: next(iter(parameters.values())), lambda parameters: (parameters | {})["varied"],
    lambda parameters: parameters.copy()["varied"], lambda parameters: "varied" in parameters and parameters["varied"]])
def test_every_way_to_read_a_varied_parameter_is_seen(reads):
    cells = Cells(frozenset({"varied"}))
    found = []
    for number in (1.0, 2.0, 3.0):
        parameters = CellParameters(cells)
        parameters.update(varied=number, other=0.0)
        found.append(once(reads, parameters))
    assert found == [1.0, 2.0, 3.0]


def varied(problem: str) -> list[tuple[str, list]]:
    """Parameters with numbers of a preset, and values near them."""
    facts = system_entry(problem).item
    given = facts.check(facts.presets[facts.default].parameters)
    return [(name, [value*factor for factor in VALUES]) for name, value in given.items()
            if facts.parameters[name].rule not in ("choice", "index", "integer") and np.size(value)]


def cell(problem: str, form: str, given: dict, cells: Cells | None) -> tuple | str:
    """Everything that a cell is made of, or the sentence that refuses it."""
    system = system_entry(problem)
    try:
        start = start_in(system, None, given, {}, cells)
        made = formulate(system.item, start.parameters, start.initial, form, {})
    except InputError as error:
        return str(error)
    fields = {name: values.tobytes() for name, values in made.to_fields(made.start[None]).items()}
    return (digest_of(made.problem), made.start.tobytes(), made.fields, made.observables, made.attributes, fields,
            made.formulation, [*start.parameters], {name: values.tobytes() for name, values in start.initial.items()})


@pytest.mark.parametrize("problem", system_ids())
def test_cells_are_made_as_they_would_be_alone(problem):
    facts, shared = system_entry(problem).item, 0
    preset = facts.presets[facts.default].parameters
    for form in facts.forms:
        unchanged = cell(problem, form, preset, None)
        for name, values in varied(problem):
            cells = Cells(frozenset({name}))
            for factor, value in zip(VALUES, values, strict=True):
                given = {**preset, name: value}
                alone = unchanged if factor == 1.0 else cell(problem, form, given, None)
                assert cell(problem, form, given, cells) == alone, (form, name)
            shared += sum(result is not None for result in cells.results.values())
    assert shared


def shard(problem: str, integrator: str, name: str, values: tuple[float, ...], **more) -> ShardSpecification:
    (made,) = shards(specify(problem, integrator, samples=2, parameters={name: values[0]}, **more),
                     ParameterMap((name,), (values,)), Request(None, {}, {}, {}))
    return made


def test_members_leave_the_integrator_that_they_share_as_it_was(monkeypatch):
    spec = specify("sphere_nbody", "ode45", tolerance=1e-6, t_end=1.0, samples=2,
                   ensemble={"members": 3, "amplitude": 1e-3, "seed": 1})
    right = carry_out(spec).variables["q"][1]
    run = batches.OneByOne.run

    def spoils(runs, k, part, pieces):
        run(runs, k, part, pieces)
        for item in part.integrator:
            if isinstance(item, np.ndarray):  # the tableau
                item[...] = 0

    monkeypatch.setattr(batches.OneByOne, "run", spoils)
    assert carry_out(spec).variables["q"][1].tobytes() == right.tobytes()
    monkeypatch.setattr(batches, "arrays", lambda item: iter(()))
    assert carry_out(spec).variables["q"][1].tobytes() != right.tobytes()


def test_cells_of_large_states_run_alone(monkeypatch):
    monkeypatch.setattr("liestep.simulation.runs.members.MOST_NUMBERS", 1)
    spec = shard("sphere_nbody", "rk4", "gamma", (0.5, 1.0), steps=10, t_end=1.0)
    found = carry_out_shard(spec).variables["q"][1]
    for number, gamma in enumerate((0.5, 1.0)):
        alone = carry_out(specify("sphere_nbody", "rk4", steps=10, t_end=1.0, samples=2, parameters={"gamma": gamma}))
        assert found[number].tobytes() == alone.variables["q"][1].tobytes()


def test_cells_of_every_block_and_kind_are_what_each_would_be_alone(monkeypatch):
    made: list[int] = []
    run = batches.fixed
    monkeypatch.setattr(batches, "fixed", lambda spec, pairs, *of, **more: (
        made.append(len(pairs)), run(spec, pairs, *of, **more))[1])
    monkeypatch.setattr(members, "AT_ONCE", 5)
    values = (-9.81, -2.0, -3.0, 0.0, -1.0, 1.0, 0.0, 3.0, np.nan, 2.0, 5.0, 6.0, 7.0)  # no gravity: J is conserved
    (spec,) = shards(specify("spherical_pendulum_chain", "vi_sphere", samples=3, steps=20, t_end=1.0),
                     ParameterMap(("gravity.2",), (values,)), Request(None, {}, {}, {}))
    content = carry_out_shard(spec)
    assert made == [4, 1, 3, 1, 3]  # blocks of five, each with its kinds apart; the ninth value is refused
    assert "cell 8: parameter gravity must be finite numbers" in content.attributes["message"]
    for number, value in enumerate(values):
        if value != value:
            assert np.isnan(content.variables["q"][1][number]).all()
            assert content.variables["status"][1][number] == REFUSED
            continue
        alone = carry_out(specify("spherical_pendulum_chain", "vi_sphere", samples=3, steps=20, t_end=1.0,
                                  parameters={"gravity": [0.0, 0.0, value]}))
        for name in ("q", "omega", "energy", "momentum_map"):
            assert content.variables[name][1][number].tobytes() == alone.variables[name][1].tobytes(), (number, name)
        for name in ("energy_error_max", "momentum_error_max", "steps", "momentum_scale"):
            assert content.variables[name][1][number] == alone.attributes[name], (number, name)


def test_a_map_of_one_cell_is_the_run():
    found = carry_out_shard(shard("sphere_nbody", "rk4", "gamma", (0.5,), steps=10, t_end=1.0))
    alone = carry_out(specify("sphere_nbody", "rk4", steps=10, t_end=1.0, samples=2, parameters={"gamma": 0.5}))
    assert found.variables["q"][1][0].tobytes() == alone.variables["q"][1].tobytes()
    assert found.attributes["status"] == "ok"


def test_a_method_that_cannot_be_run_is_said_of_its_cells(monkeypatch):
    """What a part raises when it runs is that of its group."""
    spec = shard("sphere_nbody", "ode45", "gamma", (0.5, 1.0, 2.0), tolerance=1e-6, t_end=1.0)
    run, seen = batches.OneByOne.run, []

    def fails(runs, k, part, pieces):
        seen.append(part)
        if len(seen) == 2:
            raise InputError("no step can be made")
        run(runs, k, part, pieces)

    monkeypatch.setattr(batches.OneByOne, "run", fails)
    with pytest.raises(InputError, match="no step can be made"):
        carry_out_shard(spec)


class Filled(Cells):
    """What another thread has filled as soon as this one has seen that it is empty."""

    def __getattribute__(self, name):
        if name != "checked":
            return super().__getattribute__(name)
        asked = vars(self).setdefault("asked", [])
        asked.append(name)
        return dict(sheet("heavy_top").presets["printed"].parameters) if len(asked) > 1 else {}


def test_a_cell_that_another_thread_has_overtaken_is_checked_whole():
    facts = sheet("heavy_top")
    given = facts.presets["printed"].parameters
    assert [*facts.check(given, Filled(frozenset()))] == [*facts.check(given)]


def cells_at_once(problem: str, integrator: str, monkeypatch, **ranges: tuple[float, float]) -> int:
    """How many of 40 cells were built one by one; all have the bits of runs alone."""
    built: list[int] = []
    build = members.build
    monkeypatch.setattr(members, "build", lambda *given, **more: (built.append(1), build(*given, **more))[1])
    names = tuple(name.replace("_at_", ".") for name in ranges)
    (spec,) = shards(specify(problem, integrator, samples=3, steps=20, t_end=0.2),
                     ParameterMap(names, tuple(ranges.values()), 40, 1), Request(None, {}, {}, {}))
    content = carry_out_shard(spec)
    for number in range(spec.count):
        alone = carry_out(spec.cell(number))
        own = {name: values[number] for name, (_, values, _) in content.variables.items() if name != "time"}
        shared = {*own} & {*alone.variables}
        assert {part.name for part in build(spec)[0].fields} | {"energy"} <= shared
        for name in shared:
            assert own[name].tobytes() == alone.variables[name][1].tobytes(), (number, name)
        numbers = {name for name, value in alone.attributes.items() if isinstance(value, float)} & {*own}
        assert numbers
        assert {name: own[name] for name in numbers} == {name: alone.attributes[name] for name in numbers}, number
    return len(built)


@pytest.mark.parametrize(("problem", "integrator", "ranges"), [
    ("free_rigid_body", "lgvi", {"inertia_at_0": (0.7, 0.9), "inertia_at_1": (0.8, 1.0)}),
    ("heavy_top", "rkmk", {"gravity_at_2": (-9.0, -5.0), "mass": (1.0, 2.0)}),
    ("heavy_top", "rk4", {"inertia_at_2": (0.24, 0.3)}),  # the start depends on it
    ("spherical_pendulum_chain", "vi_sphere", {"gravity_at_2": (-9.0, -5.0)}),
    ("henon_heiles", "verlet", {"strength": (0.5, 1.0)}),  # a plain number of its component
    ("abc_flow", "rk4", {"a": (0.5, 1.0), "c": (0.5, 1.0)})])
def test_cells_are_built_at_once_from_arrays(problem, integrator, ranges, monkeypatch):
    assert cells_at_once(problem, integrator, monkeypatch, **ranges) == 0


def test_cells_are_built_one_by_one_where_the_build_takes_plain_numbers(monkeypatch):
    mass = {"mass_at_0": (1.0, 2.0)}  # its matrix takes them
    assert cells_at_once("spherical_pendulum_chain", "vi_sphere", monkeypatch, **mass) == 40


def test_a_refused_cell_leaves_those_far_from_it_at_once(monkeypatch):
    monkeypatch.setattr(members, "FEWEST", 4)
    built, build = [], members.build
    monkeypatch.setattr(members, "build", lambda spec: (built.append(spec), build(spec))[1])
    values = (*np.linspace(0.5, 1.0, 37), np.nan, 0.2, 0.3)
    content = carry_out_shard(shard("henon_heiles", "verlet", "strength", values, steps=20, t_end=0.2))
    assert [*np.flatnonzero(content.variables["status"][1] == REFUSED)] == [37]
    assert len(built) == 4  # of the five last ones
    for number, strength in ((0, 0.5), (36, 1.0), (38, 0.2)):
        alone = carry_out(specify("henon_heiles", "verlet", steps=20, t_end=0.2, samples=2,
                                  parameters={"strength": strength}))
        assert content.variables["q"][1][number].tobytes() == alone.variables["q"][1].tobytes()


def test_cells_are_built_one_by_one_where_arrays_give_other_bits(monkeypatch):
    exact = Varied.__array_ufunc__

    def wrong(self, ufunc, method, *given, **named):
        made = exact(self, ufunc, method, *given, **named)
        return Varied(np.nextafter(made.values, np.inf)) if ufunc is np.multiply else made

    monkeypatch.setattr(Varied, "__array_ufunc__", wrong)
    assert cells_at_once("heavy_top", "rk4", monkeypatch, mass=(1.0, 2.0)) == 40


@pytest.mark.parametrize("function", [
    lambda a, x: a*x + 2.0 - x/a, lambda a, x: np.sqrt(np.abs(a[1:] - a[:-1]))*x, lambda a, x: np.cross(a, a[::-1])/x,
    lambda a, x: np.cumsum(a[::-1])[::-1], lambda a, x: np.outer(a, a).T @ a, lambda a, x: np.linalg.norm(a)*np.sin(x),
    lambda a, x: np.concatenate([a, [0.0], a]).reshape(-1, 1), lambda a, x: [*a][2]*a.sum(), lambda a, x: -a.max() + x,
    lambda a, x: np.stack([x, a[0]])*np.float64(3.0), lambda a, x: a if (a > 0.0).all() and x else -a,
    lambda a, x: np.linalg.eigvalsh(np.outer(a, a)), lambda a, x: np.swapaxes(np.outer(a, a + x), 0, 1)[1:, None]])
def test_arrays_of_members_have_the_bits_of_each(function):
    random = np.random.default_rng(2)
    many, numbers = random.uniform(0.5, 2.0, (50, 3)), random.uniform(0.5, 2.0, 50)
    found = function(Varied(many), Varied(numbers))
    for k in range(50):
        assert found.values[k].tobytes() == np.asarray(function(many[k], float(numbers[k]))).tobytes()


@pytest.mark.parametrize("function", [
    lambda a: a**2, lambda a: 1.0/(a - a), lambda a: a if a[0] > 1.0 else -a, lambda a: np.array([0.0, a[0]]),
    lambda a: np.ascontiguousarray(a), lambda a: a[a > 1.0], lambda a: np.flatnonzero(a > 1.0), lambda a: a.argmax()])
def test_where_members_part_or_plain_numbers_are_asked_for_it_is_said(function):
    with pytest.raises(NotAlike):
        function(Varied(np.random.default_rng(2).uniform(0.5, 2.0, (50, 3))))


def test_functions_of_plain_numbers_are_called_once():
    calls: list[int] = []
    assert each(lambda number: (calls.append(number), number)[1], 3) == 3
    assert calls == [3]
