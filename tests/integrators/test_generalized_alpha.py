"""generalized_alpha with coefficients instead of rho: the classical methods that it contains, in plain Python."""
import numpy as np
import pytest

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify, start_of

TRAPEZOIDAL = {"newmark_beta": 0.25, "newmark_gamma": 0.5}
HHT = {"alpha_f": 0.2}
EXPLICIT = {"newmark_beta": 0.0, "newmark_gamma": 0.5}
STIFFNESS = 50.0
OSCILLATOR = {"spring_point": [0.0]*3, "spring_stiffness": STIFFNESS, "gravity": [0.0]*3, "spring_anchor": [0.0]*3,
              "mass": 2.0}


def walk(system, options, steps, t_end, preset=None, **changes):
    """End state (rows) after steps in plain Python, and what reads it."""
    start = start_of(system, preset=preset, **changes)
    declared = method("generalized_alpha")
    chosen = specify(system, "generalized_alpha", preset=preset, steps=steps, options=options, **changes).options
    form = formulate(sheet(system), start.parameters, start.initial, "index_three",
                     {name: chosen[name] for name in ("action", "chart", "attitude")})
    problem, integrator = plain(form.problem), plain(declared.build(chosen, None, t_end))
    y, h = form.start.copy(), t_end/steps
    work = integrator.workspace(problem, y)
    assert integrator.start(problem, 0.0, y, h, work) == Status.OK
    for k in range(steps):
        assert integrator.step(problem, k*h, y, h, work) == Status.OK
    return form.to_fields(y[None])


@pytest.mark.parametrize(("options", "four"), [
    (TRAPEZOIDAL, (0.0, 0.0, 0.25, 0.5)), (HHT, (0.0, 0.2, 0.36, 0.7)), (EXPLICIT, (0.0, 0.0, 0.0, 0.5)),
    ({"alpha_m": 0.1, "alpha_f": 0.3, "newmark_beta": 0.4, "newmark_gamma": 0.7}, (0.1, 0.3, 0.4, 0.7))])
def test_an_oscillator_is_that_of_the_textbook(options, four):
    """Without rotation the recursion for x'' = -k/m x is linear; it is written down here anew."""
    alpha_m, alpha_f, beta, gamma = four
    omega, h, steps, t_end = STIFFNESS/2.0, 0.01, 30, 0.3
    x, v, force = 0.3, 0.7, -omega*0.3
    a = force
    for _ in range(steps):
        # (1 - am) a1 + am a = -(1 - af) omega x1 + af force, x1 = x + h v + h^2 ((1/2 - beta) a + beta a1)
        known = x + h*v + h*h*(0.5 - beta)*a
        new = (alpha_f*force - alpha_m*a - (1.0 - alpha_f)*omega*known)/(1.0 - alpha_m + (1.0 - alpha_f)*omega*beta*h*h)
        x, v = known + h*h*beta*new, v + h*((1.0 - gamma)*a + gamma*new)
        a, force = new, -omega*x
    initial = {"attitude": np.eye(3)[None], "position": [[0.3, 0.0, 0.0]], "body_rate": np.zeros((1, 3)),
               "velocity": [[0.7, 0.0, 0.0]]}
    found = walk("jointed_body", options | {"start": "plain"}, steps, t_end, preset="spring", parameters=OSCILLATOR,
                 initial=initial)
    assert found["position"][0, 0, 0] == pytest.approx(x, rel=1e-12)
    assert found["velocity"][0, 0, 0] == pytest.approx(v, rel=1e-11)


@pytest.mark.parametrize("action", ["se3", "so3_r3"])
@pytest.mark.parametrize(("options", "order"), [(TRAPEZOIDAL, 2), (HHT, 2), (EXPLICIT, 2),
                                                ({"newmark_gamma": 1.0, "newmark_beta": 0.6}, 1)])
def test_order_of_classical_methods_on_a_turning_body(options, order, action):
    """A body on a spring; stated and observed."""
    ends = [walk("jointed_body", options | {"action": action}, steps, 0.2, preset="spring_offset")["attitude"][0, 0]
            for steps in (10, 20, 40)]
    stated = specify("jointed_body", "generalized_alpha", preset="spring_offset", steps=10, options=options)
    declared = method("generalized_alpha")
    assert declared.order_of(stated.options, sheet("jointed_body"), stated.parameters) == order
    ratio = np.abs(ends[0] - ends[1]).max()/np.abs(ends[1] - ends[2]).max()
    assert np.log2(ratio) == pytest.approx(order, abs=0.2)


def test_a_run_by_rho_keeps_its_specification():
    assert set(specify("four_bar", "generalized_alpha", steps=10).options) == {
        "rho", "start", "tolerance", "iterations", "action", "chart", "attitude"}
    chosen = specify("four_bar", "generalized_alpha", steps=10, options=HHT).options
    assert chosen["newmark_beta"] == pytest.approx(0.36)
    assert "rho" not in chosen


@pytest.mark.parametrize(("system", "preset", "options", "said"), [
    ("four_bar", None, {"newmark_beta": 0.0}, "option newmark_beta is 0, which is explicit and leaves no room for"),
    ("heavy_top", "classical", {"newmark_beta": 0}, "leaves no room for joints; allowed are positive numbers up to 1"),
    ("four_bar", None, {"alpha_f": 1.0}, "option alpha_f must be of_rho or a number from 0 to below 1, not 1.0"),
    ("four_bar", None, {"alpha_m": "much"}, "option alpha_m must be of_rho or a number from -1 to below 1, not 'much'"),
    ("four_bar", None, {"alpha_m": 0.7}, "need newmark_gamma, because 1/2 . alpha_f - alpha_m is -0.2")])
def test_coefficients_that_make_no_method_are_refused(system, preset, options, said):
    with pytest.raises(InputError, match=said):
        specify(system, "generalized_alpha", preset=preset, steps=10, options=options)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_multistep_methods_need_as_many_steps_as_the_highest_order(order):
    with pytest.raises(InputError, match="bliedf needs at least 3 steps, not 2"):
        specify("four_bar", "bliedf", steps=2, options={"order": order})
    assert specify("four_bar", "bliedf", steps=3, options={"order": order}).steps == 3
