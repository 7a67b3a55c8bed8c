"""L8: each documented limit ends a run with its documented status; what was good before it is kept,
in memory and in the file."""
import math

import numpy as np
import pytest
from checks import BODIES, PENDULUM, Flow

from liestep import IntegrationError, simulate
from liestep.compile.cache import loop_for
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.simulation.runs.execution import new_recorder, run_once
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

IMPLICIT = ("multipliers", "newton", "fixed_point")
HEAD_ON = {"parameters": {"mass": [1.0, 1.0], "gamma": 1.0},
           "initial": {"q": [[1, 0, 0], [0, 1, 0]], "omega": [[0, 0, 0], [0, 0, 0]]}}
TOO_FAST = HEAD_ON | {"initial": {"q": [[1, 0, 0], [0, 1, 0]], "omega": [[0, 0, 1e170], [0, 0, 0]]}}

# name: (problem and preset, integrator, request, status, bounds of time_reached)
LIMITS = {
    "close encounter": (BODIES, "vi_sphere", {"step": 0.05, "t_end": 20.0}, Status.STEP_TOO_LARGE, (8.65, 8.75)),
    "later close encounter": (BODIES, "vi_sphere", {"step": 0.02, "t_end": 20.0}, Status.STEP_TOO_LARGE, (14.4, 14.5)),
    "close encounter of an implicit solver": (BODIES, "vi_sphere",
                                              {"step": 0.05, "t_end": 20.0, "options": {"solver": "newton"}},
                                              Status.NOT_CONVERGED, (8.65, 8.75)),
    **{f"long step with {solver}": (PENDULUM, "vi_sphere", {"step": 0.5, "t_end": 20.0, "options": {"solver": solver}},
                                    Status.NOT_CONVERGED, (0.0, 19.5)) for solver in IMPLICIT},
    "rod of too long steps": (("elastic_rod", "paper"), "vi_sphere", {"step": 2e-3, "t_end": 0.2}, Status.NOT_CONVERGED,
                              (0.0, 0.198)),
    "state that grows without bound": (BODIES, "rk2_heun", {"step": 0.5, "t_end": 100.0}, Status.NOT_FINITE,
                                       (50.0, 99.0)),
    "rotation by 2 pi": (BODIES, "rkmk", {"step": 10.0, "t_end": 20.0}, Status.CHART_LIMIT, (0.0, 0.0)),
    "collision": (BODIES, "ode45", {"tolerance": 1e-8, "t_end": 10.0, **HEAD_ON}, Status.STEP_TOO_SMALL, (1.0, 1.2)),
    "state far off the sphere": (PENDULUM, "rk4", {"step": 2.0, "t_end": 50.0, "options": {"mass": "dense"}},
                                 Status.NOT_EVALUABLE, (0.0, 0.0)),
    "infinite energy at the start": (BODIES, "vi_sphere", {"step": 0.1, "t_end": 1.0, **TOO_FAST}, Status.NOT_FINITE,
                                     (0.0, 0.0)),
}
CHART = {Status.CHART_LIMIT: "in the chart exp, which ends at a turn of 2 pi"}  # all others name none
CASES = pytest.mark.parametrize(("problem", "integrator", "request_", "status", "bounds"), LIMITS.values(), ids=LIMITS)


@CASES
def test_status_message_and_what_is_kept(problem, integrator, request_, status, bounds):
    data = simulate(problem[0], integrator, preset=problem[1], on_failure="return", **request_)
    assert data.attrs["status"] == status.name.lower()
    assert bounds[0] <= data.attrs["time_reached"] <= bounds[1]
    chart = f"; it ran {CHART[status]}" if status in CHART else ""
    assert data.attrs["message"] == f"stopped after t = {data.attrs['time_reached']:.6g}: {status.sentence}{chart}"
    assert all(np.all(np.isfinite(data[name])) for name in ("q", "omega", "energy", "momentum_map"))
    assert np.all(data.time <= data.attrs["time_reached"]*(1.0 + 1e-15))
    if data.sizes["time"] > 1:
        assert data.attrs["time_reached"] - data.time[-1] < 2*(data.time[1] - data.time[0])


@CASES
def test_a_single_call_raises_the_same_sentence(problem, integrator, request_, status, bounds):
    with pytest.raises(IntegrationError) as caught:
        simulate(problem[0], integrator, preset=problem[1], **request_)
    assert caught.value.status == status
    assert bounds[0] <= caught.value.time <= bounds[1]
    chart = f" {CHART[status]}," if status in CHART else ""
    assert str(caught.value).startswith(f"{integrator} on {problem[0]}{chart} stopped after t = ")
    assert str(caught.value).endswith(status.sentence)


@CASES
def test_the_file_of_a_failed_run_is_complete_and_says_so(problem, integrator, request_, status, bounds, tmp_path):
    content = carry_out(specify(problem[0], integrator, preset=problem[1], **request_))
    write(content, tmp_path/"run.nc")
    file = read(tmp_path/"run.nc")
    assert file.failed
    assert file.attributes["status"] == status.name.lower()
    assert np.array_equal(file["q"], content.variables["q"][1])
    assert len(file["time"]) == len(file["energy"])


def test_every_failure_has_a_case_or_a_test_of_its_own():
    elsewhere = {Status.SINGULAR_MATRIX, Status.NOT_COMPILED,  # NOT_COMPILED: test_plugins.py
                 Status.RADIUS_NOT_POSITIVE, Status.POLE_REACHED,  # of papers/livens2025
                 Status.TURN_TOO_LARGE,  # test_rigid_split.py
                 Status.RANK_LOST,  # systems/test_mechanisms.py
                 Status.SPRING_WOUND}  # systems/test_force_elements.py
    assert {case[3] for case in LIMITS.values()} | elsewhere == set(Status) - {Status.OK, Status.RUNNING}


def test_the_kept_part_is_the_run_that_stops_there():
    failed = simulate(BODIES[0], "vi_sphere", step=0.05, t_end=20.0, samples=401, on_failure="return")
    good = simulate(BODIES[0], "vi_sphere", step=0.05, t_end=8.7, samples=175)
    assert failed.sizes["time"] == 175
    assert np.allclose(failed.q, good.q, atol=1e-9)


def free(speed, integrator, step=0.5, **options):
    """Status of a run of two bodies without forces, the faster one turning at `speed`."""
    spec = specify(BODIES[0], integrator, step=step, t_end=10*step, parameters={"mass": [1.0, 1.0], "gamma": 0.0},
                   initial={"q": [[1, 0, 0], [0, 1, 0]], "omega": [[0, 0, speed], [0.1, 0, 0]]}, options=options)
    return run_once(spec).status


def test_explicit_step_turns_bodies_by_less_than_90_degrees():
    assert free(0.999/0.5, "vi_sphere") == Status.OK
    assert free(1.0/0.5, "vi_sphere") == Status.STEP_TOO_LARGE
    assert free(1e100, "vi_sphere") == Status.STEP_TOO_LARGE


def test_munthe_kaas_steps_turn_bodies_by_less_than_2_pi():
    assert free(0.999*2*math.pi/0.5, "rkmk") == Status.OK
    assert free(1.001*2*math.pi/0.5, "rkmk") == Status.CHART_LIMIT
    assert free(1.001*2*math.pi/0.5, "rkmk tableau=euler") == Status.OK  # needs no inverse of dexp
    # the only stage turns by half as much: the end of the step is what leaves the chart
    assert free(0.999*2*math.pi/0.5, "rkmk", tableau="midpoint") == Status.OK
    assert free(1.001*2*math.pi/0.5, "rkmk", tableau="midpoint") == Status.CHART_LIMIT
    assert free(1.001*2*math.pi/0.5, "rkmk", tableau="midpoint", dexpinv=2) == Status.OK


@pytest.mark.parametrize("solver", IMPLICIT)
def test_number_of_iterations_is_limited_by_the_option(solver):
    def status(iterations):
        return run_once(specify(PENDULUM[0], "vi_sphere", preset=PENDULUM[1], step=0.01, t_end=0.1,
                                options={"solver": solver, "iterations": iterations})).status

    assert status(1) == Status.NOT_CONVERGED
    assert status(8) == Status.OK


@pytest.mark.parametrize("solver", ["multipliers", "newton"])
def test_indefinite_mass_is_a_singular_matrix(solver):
    """No accepted parameters give one; the components refuse it all the same."""
    flow = Flow(PENDULUM, "vi_sphere", options={"solver": solver})
    indefinite = np.array([[1.0, 1.5], [1.5, 1.0]])
    mass = flow.problem.mass._replace(matrix=indefinite, inverse=np.linalg.inv(indefinite))
    problem, y = flow.problem._replace(mass=mass), flow.start.copy()
    work, recorder = flow.component.workspace(problem, y), new_recorder((4, 3), np.zeros(7), 1, 0)
    status, done = loop_for(advance, flow.component, problem, recorder, work)(flow.component, problem, recorder, y,
                                                                              1e-3, 0, 1, work, 0.0, 0)
    assert (status, done) == (Status.SINGULAR_MATRIX, 0)


def test_ensemble_with_failed_members_is_cut_at_the_shortest_and_says_so():
    content = carry_out(specify(BODIES[0], "vi_sphere", step=0.05, t_end=20.0, samples=401,
                                ensemble={"members": 4, "amplitude": 1e-3}))
    assert content.attributes["status"] == "step_too_large"
    assert content.variables["q"][1].shape[0] == 4
    assert 100 < content.variables["q"][1].shape[1] == len(content.variables["time"][1]) < 401
    assert np.all(np.isfinite(content.variables["q"][1]))
