"""Members that share one component have the bits of runs alone, those beside one that fails too."""
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from ensembles import ensemble_states

from liestep.compile.status import Status
from liestep.compile.tracing import digest_of
from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate, general
from liestep.simulation.many import blocks
from liestep.simulation.runs import batches
from liestep.simulation.runs.execution import Outcome, Recorder, build, run_once, slope_weights
from liestep.simulation.runs.members import members
from liestep.simulation.runs.shards import carry_out_shard
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

EXACT = ("baseline", "filled", "largest", "series", "states", "total")
BLOCKS = ("block_count", "block_sum", "block_low", "block_high")

DECLARED = ("bonded_particles", "bonded_ring", "dipole_array", "elastic_rod", "free_rigid_body",
            "heavy_top", "sphere_nbody", "spherical_pendulum_chain", "spring_pendula")


def many(problem: str, integrator: str, amplitude: float = 1e-3, **more) -> RunSpecification:
    return specify(problem, integrator, samples=3, ensemble={"members": 12, "amplitude": amplitude, "seed": 3}, **more)


def reduced(one: Recorder, spec: RunSpecification) -> list[np.ndarray]:
    """What is kept of the blocks of a run by fixed steps: extrema, and the sum of weighted means over its divisor."""
    weights, size = slope_weights(one.points, one.every, spec.t_end)
    means = one.block_sum/np.maximum(one.block_count, 1)[:, None]
    return [one.block_low.min(axis=0), one.block_high.max(axis=0), sum(
        (weight*mean for weight, mean in zip(weights, means, strict=True)), np.zeros(len(one.largest)))/size]


def same(one: Outcome, alone: Outcome, kept: np.ndarray | None, spec: RunSpecification) -> bool:
    """Whether a member is the run from its start, to the last bit."""
    return ((one.status, one.steps, one.time_reached, one.counters, one.formulated.attributes)
            == (alone.status, alone.steps, alone.time_reached, alone.counters, alone.formulated.attributes)
            and all(getattr(one.outputs, name).tobytes() == getattr(alone.outputs, name).tobytes()
                    for name in (*EXACT, *(BLOCKS if kept is None else ())))
            and (kept is None or kept.tobytes() == np.array(reduced(alone.outputs, spec)).tobytes()))


def wrong(spec: RunSpecification) -> list[int]:
    """Members that differ from the run alone."""
    ((numbers, run),) = members(spec)
    made, states = run(), ensemble_states(spec)
    assert list(numbers) == list(range(len(states))) == list(range(len(made.status))) == list(range(12))
    kept = made.reduced if spec.reduced and spec.steps else [None]*12
    return [k for k, state in enumerate(states) if not same(made.member(k), run_once(spec, state), kept[k], spec)]


@pytest.mark.parametrize(("problem", "integrator"), [
    ("free_rigid_body", "rk4"), ("sphere_nbody", "vi_sphere"), ("bonded_ring", "rodrigues")])
def test_members_have_the_bits_of_runs_alone(problem, integrator):
    spec = replace(many(problem, integrator, steps=20, t_end=1.0), reduced=True)
    assert wrong(spec) == []
    without_blocks = replace(spec, reduced=False)
    assert [run().outputs.block_sum.shape[0] for _, run in members(without_blocks)] == [1]


@pytest.mark.skipif(blocks.width() == 1, reason="no lanes")
def test_a_shard_takes_lanes_where_they_pay_for_the_whole_ensemble(monkeypatch):
    """The file has the same bytes, and the extrema of its blocks are those of members made one after the other."""
    spec = replace(specify("free_rigid_body", "rk4", samples=2, steps=20, t_end=1.0, ensemble={
        "members": 24, "amplitude": 1e-3, "seed": 3}), reduced=True)
    shard = replace(spec, ensemble=replace(spec.ensemble, first=0, count=12))
    sizes, made, of_kind = [], [], blocks.of_kind

    def seen(run, pairs, y, kind, *more, **kept):
        sizes.append(kind.size)
        return of_kind(run, pairs, y, kind, *more, **kept)

    monkeypatch.setattr(blocks, "of_kind", seen)
    steps = blocks.LINEAR*build(spec)[0].start.size*spec.steps
    for pays in (12.5*steps, 24.5*steps):  # more than the shard has, and than all have
        monkeypatch.setattr(blocks, "PAYS", pays)
        made.append(carry_out_shard(shard).variables)
    assert sizes == [blocks.width(), 1]
    assert made[0].keys() == made[1].keys()
    assert all(made[0][name][1].tobytes() == values.tobytes() for name, (_, values, _) in made[1].items())


@pytest.mark.parametrize(("problem", "integrator", "size"), [
    ("sphere_nbody", "ode45", {"tolerance": 1e-5}), ("jointed_body", "rk4", {"steps": 20}),
    ("spherical_pendulum_chain", "rattle", {"steps": 40})])
def test_members_with_components_of_their_own_run_together(problem, integrator, size):
    spec = replace(many(problem, integrator, t_end=1.0, **size), reduced=True)
    assert batches.Repeated(spec).possible == (integrator == "ode45")  # whose component is that of all
    assert wrong(spec) == []


@pytest.mark.parametrize(("problem", "integrator", "size", "amplitude"), [
    ("heavy_top", "rkmk", {"steps": 60, "t_end": 1.0}, 0.1),
    ("spherical_pendulum_chain", "vi_sphere", {"steps": 20, "t_end": 5.0}, 0.3)])
def test_a_member_that_fails_keeps_its_status_and_the_others_their_bits(problem, integrator, size, amplitude):
    spec = replace(many(problem, integrator, amplitude, **size), reduced=True)
    assert wrong(spec) == []
    content = carry_out_shard(spec)
    status, steps = (content.variables[name][1] for name in ("status", "steps"))
    failed = status != Status.OK
    assert 0 < failed.sum() < 12
    assert (steps[~failed] == spec.steps).all()
    assert (steps[failed] > 0).all()
    first = int(np.argmax(failed))
    assert f"{failed.sum()} of 12 members did not come to their end; member {first}: " in content.attributes["message"]


def test_members_find_the_component_as_it_was(monkeypatch):
    spec = replace(many("sphere_nbody", "vi_sphere", steps=20, t_end=1.0), reduced=True)
    make, numbers = blocks.Components.make, blocks.Components.numbers

    def spoiled(self):
        made = make(self)
        made[1][...] = np.nan  # the numbers of a thread's components
        return made

    monkeypatch.setattr(blocks.Components, "make", spoiled)
    assert wrong(spec) == []
    monkeypatch.setattr(blocks.Components, "numbers", lambda self: numbers(self)*np.nan)
    assert wrong(spec) == list(range(12))


def check_starts(facts: Sheet, parameters, states, form: str, options) -> bool:
    """The component that is made from another start is the same, and its rows and momentum are those declared; False
    where nothing is declared."""
    first, *_ = made = [formulate(facts, parameters, state, form, options) for state in states]
    if first.starts is None:
        return False
    stacked = {key: np.stack([state[key] for state in states]) for key in states[0]}
    rows, scales = first.starts.rows(stacked), np.broadcast_to(first.starts.scale(stacked), len(states))
    for state, one, row, scale in zip(states, made, rows, scales, strict=True):
        assert digest_of(one.problem) == digest_of(first.problem), (form, options)
        assert one.start.tobytes() == np.ascontiguousarray(row).tobytes(), (form, options)
        assert first.starts.scale(state) == one.momentum_scale == scale, (form, options)
    return True


@pytest.mark.parametrize("problem", DECLARED)
def test_what_a_form_declares_of_other_starts_is_what_it_makes_of_them(problem):
    spec = specify(problem, "rk4", steps=10, ensemble={"members": 4, "amplitude": 1e-2})
    states, declared = ensemble_states(spec), set()
    for name, form in spec.sheet.forms.items():
        for option in ("form", "action", "mass"):
            for choice in form.options[option].choices if option in form.options else ("",):
                with suppress(InputError):  # not at these parameters
                    if check_starts(spec.sheet, spec.parameters, states, name, {option: choice} if choice else {}):
                        declared.add(name)
    assert declared >= {"vector_field", "lie_action"}


class Rates(NamedTuple):
    """dy/dt = y."""

    unit: float

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = self.unit*y[0]

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = 0.0


@pytest.mark.parametrize(("family", "fields"), [(general.first_order, ("y",)), (general.canonical, ("q", "momentum"))])
def test_systems_of_equations_declare_their_starts(family, fields):
    facts = family(size=2, kept={"energy": False}, build=lambda values: Rates(1.0), title="", equations="",
                   parameters={}, presets={}, citation="")
    drawn = np.random.default_rng(1)
    states = [{name: drawn.standard_normal(2) for name in fields} for _ in range(3)]
    assert check_starts(facts, {}, states, "vector_field", {})
