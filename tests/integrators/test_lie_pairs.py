"""L3 and L6 for the adaptive Lie group pairs: step control, step counts against an independent
program, dense output, limits."""
import numba
import numpy as np
import pytest
from checks import BODIES, NAMES, PENDULUM, exact, generic_state

from liestep import simulate
from liestep.compile.dispatch import compiler
from liestep.compile.rows import copy
from liestep.integrators.step_control import PaperControl, PiControl
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.specification import specify

PAIRS = {"rkmk_pair": 7, "cf_pair": 5, "cf_pair scheme=cf32a": 3, "cf_pair scheme=cf32b": 3}  # stages
CHAIN = "spherical_pendulum_chain"
ROOT = 2.0**0.5/2.0


def printed(name):
    """The norm of liegroup2021."""
    return {"norm": "algebra"} if name == "rkmk_pair" else {"distance": "euclidean"}


def hanging(n, length, name, tolerance=1e-6, **options):
    """Accepted and rejected steps of the chain of figures 8 and 10."""
    data = run_once(specify(CHAIN, name, tolerance=tolerance, t_end=3.0, samples=2, options=printed(name) | options,
                            parameters={"mass": [1.0]*n, "length": [length]*n, "gravity": [0.0, 0.0, -9.81]},
                            initial={"q": [[ROOT, 0.0, ROOT]]*n, "omega": [[0.0, 1.0, 0.0]]*n}))
    return data.counters["steps_accepted"], data.counters["steps_rejected"]


UNIT = {2: (119, 10, 117, 17), 4: (160, 6, 156, 11), 6: (168, 2, 162, 2), 8: (205, 2, 198, 2), 10: (241, 2, 234, 5),
        12: (273, 2, 265, 4), 14: (303, 3, 294, 5), 16: (329, 2, 319, 3), 18: (352, 3, 342, 5),
        20: (374, 4, 362, 5)}  # alpha = 1/5, 1/4
SHORT = {2: (60, 7), 4: (123, 10), 6: (186, 8), 8: (253, 8), 10: (348, 11), 12: (432, 9), 14: (527, 7), 16: (594, 8),
         18: (681, 8), 20: (795, 2)}


@pytest.mark.parametrize("n", UNIT)
def test_steps_of_links_of_one_metre(n):
    found = (*hanging(n, 1.0, "rkmk_pair"), *hanging(n, 1.0, "rkmk_pair", exponent="quarter"))
    assert np.abs(np.subtract(found, UNIT[n])).max() <= 2, found


@pytest.mark.parametrize("n", SHORT)
def test_steps_of_links_of_five_metres_in_all(n):
    found = hanging(n, 5.0/n, "rkmk_pair", exponent="quarter")
    assert np.abs(np.subtract(found, SHORT[n])).max() <= 2, found


@pytest.mark.parametrize(("name", "steps"),
                         [("cf_pair", 437), ("cf_pair scheme=cf32a", 1424), ("cf_pair scheme=cf32b", 1134)])
def test_steps_of_commutator_free_pairs(name, steps):
    assert abs(hanging(2, 1.0, name)[0] - steps) <= 2


@numba.njit(**compiler().PLAIN_OPTIONS)
def dense(pair, problem, y, h, places, out, work):
    """out[j] = state at places[j] h after y; out[-1] = the state of the step itself."""
    pair.start(problem, 0.0, y, h, work)
    pair.attempt(problem, 0.0, y, h, work)
    for j in range(places.shape[0]):
        pair.interpolate(problem, 0.0, y, h, places[j], out[j], work)
    copy(y, out[places.shape[0]])
    pair.accept(problem, out[places.shape[0]], work)


@pytest.mark.parametrize("problem", [BODIES, PENDULUM], ids=NAMES.get)
@pytest.mark.parametrize(("name", "order"),
                         [("rkmk_pair", 4), ("cf_pair", 3), ("cf_pair scheme=cf32a", 3), ("cf_pair scheme=cf32b", 3)])
def test_dense_output_has_its_order_meets_both_ends_and_stays_on_the_manifold(problem, name, order):
    formulated, component = build(specify(problem[0], name, preset=problem[1], tolerance=1e-6))
    y, places = generic_state(problem), np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    work, errors = component.workspace(formulated.problem, y), []
    for h in 0.1*2.0**(-0.5*np.arange(9)):
        out = np.zeros((len(places) + 1, *y.shape))
        dense(component, formulated.problem, y, h, places, out, work)
        assert np.abs(out[0] - y).max() <= 1e-15
        assert np.abs(out[-1] - out[-2]).max() <= 1e-14
        q, w = np.split(out, 2, axis=1)
        assert max(np.abs(1.0 - np.sum(q*q, axis=2)).max(), np.abs(np.sum(q*w, axis=2)).max()) <= 1e-14
        errors.append([np.abs(out[j] - exact(problem, y, places[j]*h, 8)).max() for j in (1, 2, 3)])
    slopes = np.log2(np.array(errors)[:-2]/np.array(errors)[2:])
    assert slopes[-1] == pytest.approx([order + 1.0]*3, abs=0.3)


@pytest.mark.parametrize("name", PAIRS)
def test_evaluations_are_reused(name):
    """Rejected steps keep f(y); RKMK(5,4) always knows f at the new state, the others when they
    gave an output in the step."""
    stages = PAIRS[name]
    request = {"tolerance": 1e-5, "preset": PENDULUM[1], "t_end": 5.0}
    few = simulate(PENDULUM[0], name, samples=2, **request)
    accepted, rejected, found = (few.attrs[key] for key in ("steps_accepted", "steps_rejected", "rhs_evaluations"))
    assert found == (stages - 1)*(accepted + rejected) + (1 if name == "rkmk_pair" else accepted)
    many = simulate(PENDULUM[0], name, samples=2, outputs=20_001, **request)
    assert many.attrs["steps_accepted"] == accepted
    assert (many.attrs["rhs_evaluations"] == (stages - 1)*(accepted + rejected) + 1
            + (0 if name == "rkmk_pair" else accepted))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("control", ["paper", "pi"])
def test_error_falls_with_the_tolerance(name, control):
    errors = []
    for tolerance in (1e-5, 1e-6, 1e-7):
        data = simulate(PENDULUM[0], name, preset=PENDULUM[1], tolerance=tolerance, t_end=3.0, samples=2,
                        options={"control": control})
        last = np.concatenate([data.q[-1], data.omega[-1]])
        first = np.concatenate([data.q[0], data.omega[0]])
        errors.append(np.abs(last - exact(PENDULUM, first, 3.0, 300)).max())
    assert errors[0] > 3*errors[1] > 9*errors[2]
    assert errors[2] <= 1e-4


def test_proportional_integral_control_rejects_less():
    assert hanging(2, 1.0, "rkmk_pair", control="pi")[1] < hanging(2, 1.0, "rkmk_pair")[1]


SPINNING = {"parameters": {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, 0.0]},
            "initial": {"q": [[1.0, 0.0, 0.0]], "omega": [[0.0, 0.0, 1.0]]}, "t_end": 1000.0, "samples": 101}


@pytest.mark.parametrize(("name", "options", "rejects"), [
    ("rkmk_pair", {}, True), ("rkmk_pair", {"dexpinv": 2}, False), ("cf_pair", {}, False)],
                         ids=["exact", "truncated", "commutator-free"])
def test_steps_that_turn_by_2_pi_are_rejected_where_dexpinv_ends(name, options, rejects):
    """Without forces any step is exact; only the chart limits it."""
    data = simulate(CHAIN, name, tolerance=1e-6, log_steps=True, options=options, **SPINNING)
    assert data.attrs["status"] == "ok"
    angle = data.time.values
    assert np.allclose(data.q[:, 0], np.stack([np.cos(angle), np.sin(angle), 0.0*angle], axis=1), atol=1e-11)
    assert (data.accepted_step.values.max() < 2*np.pi) == (data.attrs["steps_rejected"] > 0) == rejects


def test_rules_of_the_control_of_the_paper():
    control = PaperControl(1e-6, 0.2, 0.85, 1e-22)
    assert control.first(3.0) == 0.03
    assert control.accepts(0.99e-6)
    assert not control.accepts(1e-6)
    assert not control.accepts(np.nan)
    for change in (control.after_success, control.after_failure):
        assert change(2.0, 3.2e-5, 0.0) == pytest.approx(2.0*0.85*0.5)
    assert control.after_success(1.0, 3.125e-8, 5.0) == pytest.approx(0.85*2.0)
    assert control.after_success(1.0, 0.0, 0.0) == pytest.approx(0.85*1e16**0.2)
    assert control.after_failure(1.0, np.inf, 0.0) == control.after_failure(1.0, np.nan, 0.0) == 0.5
    assert control.reaches(1.0, 1.0)
    assert not control.reaches(1.0, 1.001)


def test_rules_of_proportional_integral_control():
    control = PiControl(1e-6, 0.2, 0.85, 1e-22, np.ones(1))
    assert control.first(3.0) == 0.03
    assert control.after_success(1.0, 5e-7, 0.0) == pytest.approx(0.85*0.5**-0.14)
    assert control.after_success(1.0, 5e-7, 0.0) == pytest.approx(0.85*0.5**-0.14*0.5**0.08)
    assert control.after_success(1.0, 0.0, 0.0) == 5.0
    assert control.after_success(1.0, 0.999e-6, 0.0) == 0.2
    assert control.after_success(1.0, 1e-10, 1.0) == 1.0
    assert control.after_failure(1.0, 2e-6, 0.0) == pytest.approx(0.85*0.5**0.2)
    assert control.after_failure(1.0, 1.0, 0.0) == 0.2
    assert control.after_failure(1.0, np.inf, 0.0) == 0.5
    control.first(1.0)
    assert control.last[0] == 1.0
