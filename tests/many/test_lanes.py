"""Members that share registers have the bits of runs alone: those that vote against the others too."""
import importlib
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from liestep.compile import inlining
from liestep.compile.cache import loop_for
from liestep.compile.lanes import LANES, width
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.bands import solve_banded
from liestep.geometry.linalg import lu, lu_solve
from liestep.simulation.many import blocks
from liestep.simulation.many.adaptive import rough_log
from liestep.simulation.many.blocks import fixed
from liestep.simulation.runs import execution
from liestep.simulation.runs.batch import Batch
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify

KEPT = ("states", "series", "baseline", "total", "largest", "filled", "block_sum", "block_low", "block_high",
        "block_count")
TOP = {"preset": "asymmetric"}
PAIRS = [("free_rigid_body", "rk4", {}), ("heavy_top", "rkmk", TOP), ("heavy_top", "lgvi", TOP),
         ("spherical_pendulum_chain", "vi_sphere", {}), ("penning_trap", "boris", {}), ("henon_heiles", "verlet", {}),
         ("free_rigid_body", "gauss", {})]


def differing(spec: Any, members: int, amplitude: float, **more: Any) -> tuple[list[int], Batch]:
    """Members that are not the run alone, and the runs."""
    formulated, integrator = build(spec)
    y = np.repeat(formulated.start[None], members, axis=0)
    y[1:] += amplitude*np.random.default_rng(1).standard_normal(y[1:].shape)
    made, wrong = fixed(spec, [(formulated, integrator)], y, blocks=True, fewest=2, **more), []
    for k, row in enumerate(y):
        alone = execution._run_fixed(spec, replace(formulated, start=row), build(spec)[1], loop_for, None, None, None)
        if not (list(alone.counters.values()) == made.counters[k].tolist()
                and (alone.status, alone.steps) == (made.status[k], made.steps[k])
                and all(getattr(alone.outputs, name).tobytes() == getattr(made.outputs, name)[k].tobytes()
                        for name in KEPT)):
            wrong.append(k)
    return wrong, made


@pytest.mark.parametrize(("integrator", "amplitude"), [("vi_livens", 0.1), ("generalized_alpha", 0.02),
                                                       ("bliedf", 0.02)])
def test_members_with_other_pivots_share_registers(integrator, amplitude):
    """From starts so far apart that Newton's matrices exchange other rows: none is run again alone."""
    spec = specify("heavy_top", integrator, t_end=0.2, steps=10, samples=2, **TOP)
    wrong, made = differing(spec, 3*width(), amplitude)
    assert wrong == []
    assert made.again == 0
    assert width() == 1 or not blocks._no_lanes


@pytest.mark.skipif(width() == 1, reason="no lanes")
def test_each_lane_takes_the_pivots_that_it_takes_alone():
    """Of whole numbers, many of which are equal: the first of the largest ones."""
    from liestep.compile.lanes import numbers

    importlib.import_module("liestep.simulation.many.steps")  # says what the kernels do with lanes
    chance, every = np.random.default_rng(3), []
    while len(every) < 3*width():
        a, b = chance.integers(-2, 3, (4, 4)).astype(float), chance.integers(-2, 3, 4).astype(float)
        if np.linalg.matrix_rank(a) == 4:
            every.append((a, np.zeros(4), b))
    for some in (every[k::3] for k in range(3)):
        together = [blocks.aligned((*np.shape(part[0]), width())) for part in zip(*some, strict=True)]
        for array, part in zip(together, zip(*some, strict=True), strict=True):
            array[...] = np.moveaxis(np.array(part), 0, -1)
        numbers.words()[:] = numbers.ALL
        for a, pivots, b in (map(numbers.in_lanes, together), *some):
            assert lu(a, pivots, 4)
            lu_solve(a, pivots, b, 4)
        assert numbers.words().tolist() == [numbers.ALL]*2
        for array, part in zip(together, zip(*some, strict=True), strict=True):
            assert np.moveaxis(array, -1, 0).tobytes() == np.array(part).tobytes()


@pytest.mark.skipif(width() == 1, reason="no lanes")
def test_each_lane_takes_the_pivots_of_its_banded_matrix():
    """Of whole numbers, many of which are equal or zero; right as numpy's dense solution, where signs of zeros count
    too."""
    from liestep.compile.lanes import numbers

    importlib.import_module("liestep.simulation.many.steps")
    chance, size, band, every = np.random.default_rng(4), 6, 2, []
    while len(every) < width():
        a, b = np.zeros((size, 3*band + 1)), chance.integers(-2, 3, size).astype(float)
        dense = np.triu(np.tril(chance.integers(-2, 3, (size, size)).astype(float), band), -band)
        for i, j in zip(*np.nonzero(dense), strict=True):
            a[i, j - i + band] = dense[i, j]
        if np.linalg.matrix_rank(dense) == size:
            every.append((a, b, np.linalg.solve(dense, b)))
    a, b = (blocks.aligned((*np.shape(part), width())) for part in every[0][:2])
    a[...], b[...] = (np.moveaxis(np.array([one[k] for one in every]), 0, -1) for k in range(2))
    numbers.words()[:] = numbers.ALL
    assert solve_banded(numbers.in_lanes(a), numbers.in_lanes(b), size, band)
    assert numbers.words().tolist() == [numbers.ALL]*2
    for k, (own, right, solution) in enumerate(every):
        assert solve_banded(own, right, size, band)
        assert own.tobytes() == a[..., k].tobytes()
        assert right.tobytes() == b[..., k].tobytes()
        assert right == pytest.approx(solution, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("problem", "integrator", "more"), PAIRS)
def test_members_have_the_bits_of_runs_alone(problem, integrator, more):
    spec = specify(problem, integrator, t_end=0.5, steps=20, samples=3, **more)
    wrong, made = differing(spec, 2*width() + 3, 1e-3)
    assert wrong == []
    assert width() == 1 or not blocks._no_lanes
    assert (made.status == Status.OK).any()


ADAPTIVE = [("free_rigid_body", "taylor", {"options": {"form": "quaternion"}}), ("heavy_top", "taylor", TOP),
            ("spherical_pendulum_chain", "taylor", {}), ("penning_trap", "taylor", {}),
            ("free_rigid_body", "dop853", {}), ("heavy_top", "rkmk853", TOP), ("free_rigid_body", "cf_pair", {}),
            ("penning_trap", "ode45", {})]


@pytest.mark.skipif(width() == 1, reason="members share no registers")
@pytest.mark.parametrize("amplitude", [1e-6, 0.1])
@pytest.mark.parametrize(("problem", "integrator", "more"), ADAPTIVE)
def test_members_with_steps_of_their_own_have_the_bits_of_runs_alone(problem, integrator, more, amplitude):
    """Dense output, statistics and counters too."""
    spec = specify(problem, integrator, t_end=1.0, tolerance=1e-8, outputs=11, samples=3, **more)
    formulated, pair = build(spec)
    y = np.repeat(formulated.start[None], 2*width() + 3, axis=0)
    y[1:] += amplitude*np.random.default_rng(1).standard_normal(y[1:].shape)
    rows = y.copy()
    runs = blocks.AdaptiveRuns(spec, [(formulated, pair)], y, blocks.Width(width()), {}, blocks=True)
    assert runs.all(1)
    made, lost = runs.made(), runs.lost()
    assert lost.sum() <= (0 if amplitude < 1e-3 else len(y)//2)
    for k in np.flatnonzero(~lost):
        alone = execution._run_adaptive(spec, replace(formulated, start=rows[k]), build(spec)[1], loop_for, None, None,
                                        None)
        assert list(alone.counters.values()) == made.counters[k].tolist()
        assert (alone.status, alone.steps) == (made.status[k], made.steps[k])
        for own, new in ((alone.outputs, made.outputs), (alone.accepted, made.accepted)):
            for name in KEPT:
                assert getattr(own, name).tobytes() == getattr(new, name)[k].tobytes(), (k, name)


def test_two_threads_give_the_same_bits():
    spec = specify("heavy_top", "rk4", t_end=0.5, steps=20, samples=3)
    wrong, _ = differing(spec, 6*width() + 1, 1e-3, threads=2)
    assert wrong == []


def test_members_that_part_at_a_branch_are_run_again_alone():
    spec = specify("heavy_top", "rkmk", t_end=1.0, steps=60, samples=3)
    wrong, made = differing(spec, 2*width(), 0.3)
    failed = made.status != Status.OK
    assert wrong == []
    assert 0 < failed.sum() < 2*width()
    assert width() == 1 or made.again >= failed.sum()


def test_bits_do_not_depend_on_the_width():
    code = ("import numpy as np\nfrom liestep.simulation.many.blocks import fixed\n"
            "from liestep.simulation.runs.execution import build\n"
            "from liestep.simulation.runs.specification import specify\n"
            "spec = specify('penning_trap', 'boris', t_end=0.5, steps=20, samples=3)\n"
            "pair = build(spec)\ny = np.repeat(pair[0].start[None], 11, axis=0)\n"
            "y += 1e-3*np.random.default_rng(1).standard_normal(y.shape)\n"
            "print(fixed(spec, [pair], y, blocks=False, fewest=2).outputs.states.tobytes().hex())")

    def bits(given: str) -> str:
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                               env={**os.environ, LANES: given})
        return found.stdout

    assert {bits(lanes) for lanes in ("1", "2", "4")} == {bits("8")}


def test_other_widths_are_refused(monkeypatch):
    monkeypatch.setenv(LANES, "3")
    width.cache_clear()
    try:
        with pytest.raises(InputError, match="LIESTEP_LANES must be one of 1, 2, 4, 8, 16, not '3'"):
            width()
    finally:
        monkeypatch.undo()
        width.cache_clear()


@pytest.mark.skipif(width() == 1, reason="members share no registers")
def test_rough_logarithms_are_as_good_as_the_votes_on_orders_assume():
    def logs(values, out):
        for k in range(len(values)):
            out[k] = rough_log(values[k])

    kind, numbers = blocks.Width(width()), np.exp(np.random.default_rng(1).uniform(-500.0, 500.0, 400*width()))
    values = kind.blocks(numbers)
    out = kind.room(len(values))
    inlining.register(rough_log)
    inlining.load_types()
    inlining.plain_call(logs)(values, out)
    assert np.abs(kind.members(out, len(numbers)) - np.log(numbers)).max() < 1e-10
