"""L3 for the pairs: step control and steps against independent programs, dense output, and what
arrives at the outputs."""
import numpy as np
import pytest
from checks import BODIES, NAMES, PENDULUM, exact, generic_state
from scipy.integrate import solve_ivp
from scipy.integrate._ivp.rk import RK45

from liestep import simulate
from liestep.integrators.step_control import HairerControl, MatlabControl


def bodies_field(t, y):
    """Omega form of three bodies of mass 1, gamma 1, written in numpy from the equations of motion."""
    q, w = y.reshape(2, 3, 3)
    c, squares = q @ q.T, np.sum(q*q, axis=1)
    np.fill_diagonal(c, 0.0)
    both = squares[:, None] + squares  # 2 on the spheres; the potential cot(theta) by the half angle goes on off them
    pull = 2.0*both**2*(both**2 - 4.0*c*c)**-1.5
    np.fill_diagonal(pull, 0.0)
    return np.concatenate([np.cross(w, q).ravel(), np.cross(q, pull @ q).ravel()])


def state_rows(data):
    return np.concatenate([data.q, data.omega], axis=1)


def matlab_steps(y, t_end, rtol, atol, size=np.abs):
    """MATLAB's ode45 step by step: accepted times, rejections, last state. Coefficients are scipy's,
    error weights negated there. size: np.linalg.norm with NormControl."""
    threshold, longest = atol/rtol, t_end/10.0
    slope = bodies_field(0.0, y)
    rate = np.max(size(slope)/np.maximum(size(y), threshold))/(0.8*rtol**0.2)
    h = min(longest, 1.0/rate)
    t, times, rejections = 0.0, [], 0
    while t < t_end:
        failed = False
        while True:
            final = 1.1*h >= t_end - t
            h = t_end - t if final else h
            k = np.zeros((7, y.size))
            k[0] = slope
            for s in range(1, 6):
                k[s] = bodies_field(0.0, y + h*(RK45.A[s, :s] @ k[:s]))
            new = y + h*(RK45.B @ k[:6])
            k[6] = bodies_field(0.0, new)
            error = h*np.max(size(RK45.E @ k)/np.maximum(np.maximum(size(y), size(new)), threshold))
            if error <= rtol:
                break
            h = 0.5*h if failed else h*max(0.1, 0.8*(rtol/error)**0.2)
            failed, rejections = True, rejections + 1
        t = t_end if final else t + h
        times.append(t)
        if not failed:
            h /= max(0.2, 1.25*(error/rtol)**0.2)
        h, y, slope = min(h, longest), new, k[6]
    return np.array(times), rejections, y


@pytest.mark.parametrize(("name", "size"), [("ode45", np.abs), ("ode45_norm", np.linalg.norm)])
def test_ode45_takes_the_steps_of_matlab(name, size):
    data = simulate(BODIES[0], name, tolerance=1e-4, t_end=10.0, samples=11, log_steps=True,
                    options={"atol": 1e-6})
    times, rejections, last = matlab_steps(state_rows(data)[0].ravel(), 10.0, 1e-4, 1e-6, size)
    assert data.attrs["steps"] == data.attrs["steps_accepted"] == len(times)
    assert data.attrs["steps_rejected"] == rejections > 0
    assert np.allclose(data.accepted_time, times, rtol=1e-9)
    assert np.allclose(np.diff(data.accepted_time), data.accepted_step[1:], rtol=1e-12)
    assert np.allclose(state_rows(data)[-1].ravel(), last, atol=1e-7)
    assert data.attrs["rhs_evaluations"] == 6*(len(times) + rejections) + 1


def test_dop853_takes_the_steps_of_scipy():
    times = np.linspace(0.0, 10.0, 101)
    data = simulate(BODIES[0], "dop853", tolerance=1e-9, t_end=10.0, samples=101, options={"atol": 1e-10},
                    log_steps=True)
    start = state_rows(data)[0].ravel()
    other = solve_ivp(bodies_field, (0.0, 10.0), start, method="DOP853", rtol=1e-9, atol=1e-10, t_eval=times)
    steps = solve_ivp(bodies_field, (0.0, 10.0), start, method="DOP853", rtol=1e-9, atol=1e-10)
    assert np.allclose(data.accepted_time, steps.t[1:], rtol=1e-6)
    assert data.attrs["steps_rejected"] == (steps.nfev - 2)//12 - len(steps.t[1:])
    assert np.abs(state_rows(data).reshape(101, -1) - other.y.T).max() <= 1e-9


def error_of(data, problem, substeps):
    """Largest error of the rows at each output; outputs are equally spaced."""
    rows = state_rows(data)
    true = [rows[0]]
    for _ in rows[1:]:
        true.append(exact(problem, true[-1], float(data.time[1]), substeps))
    return np.abs(rows - true).max(axis=(1, 2))


def test_dense_output_of_ode45_is_of_order_4():
    """Ten equal steps to t_end: the fourth-order extension errs by h^5 inside the steps, more than the step ends do."""
    q, omega = np.split(generic_state(PENDULUM), 2)
    errors = []
    for t_end in (0.5, 0.25, 0.125, 0.0625):
        data = simulate(PENDULUM[0], "ode45", preset=PENDULUM[1], initial={"q": q, "omega": omega}, tolerance=1e6,
                        options={"atol": 1e6}, t_end=t_end, samples=101, log_steps=True)
        assert data.sizes["step"] == 10
        assert np.allclose(data.accepted_step, t_end/10, rtol=1e-12)
        error = error_of(data, PENDULUM, 2)
        assert error.max() >= 5*error[::10].max()
        errors.append(error.max())
    assert np.log2(np.array(errors)[:-1]/errors[1:]) == pytest.approx([5.0, 5.0, 5.0], abs=0.1)


@pytest.mark.parametrize(("name", "order"), [("ode45", 5), ("dop853", 8)])
@pytest.mark.parametrize("problem", [BODIES, PENDULUM], ids=NAMES.get)
def test_error_follows_the_tolerance_and_steps_the_order(problem, name, order):
    tolerances, steps = (1e-6, 1e-8, 1e-10), []
    for tolerance in tolerances:
        data = simulate(problem[0], name, preset=problem[1], tolerance=tolerance, t_end=3.0, samples=31,
                        options={"atol": tolerance})
        # the factor belongs to the problem, no theory says 1: it is 0.83 to 7.2 here
        assert 0.5*tolerance <= error_of(data, problem, 5).max() <= 10*tolerance
        steps.append(data.attrs["steps"])
    assert steps[2]/steps[0] == pytest.approx((tolerances[0]/tolerances[2])**(1/order), rel=0.2)


@pytest.mark.parametrize("name", ["ode45", "dop853"])
def test_outputs_are_where_they_were_asked_for_and_do_not_change_the_steps(name):
    few = simulate(BODIES[0], name, tolerance=1e-6, t_end=4.0, samples=3)
    many = simulate(BODIES[0], name, tolerance=1e-6, t_end=4.0, samples=5, outputs=4001)
    assert few.time.values.tolist() == [0.0, 2.0, 4.0]
    assert many.time.values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.array_equal(state_rows(few), state_rows(many)[::2])
    assert few.attrs["steps"] == many.attrs["steps"]
    assert (few.attrs["statistics_points"], many.attrs["statistics_points"]) == (3, 4001)
    assert few.attrs["energy_error_max_accepted"] == many.attrs["energy_error_max_accepted"]


def test_the_loop_goes_on_when_its_step_log_is_full():
    data = simulate(BODIES[0], "ode45", tolerance=1e-12, options={"atol": 1e-14}, t_end=900.0,
                    parameters={"gamma": 1e-6}, samples=2, log_steps=True)
    assert data.attrs["status"] == "ok"
    assert data.attrs["steps"] == data.sizes["step"] > 100_000
    assert np.all(np.diff(data.accepted_time) > 0.0)
    assert data.accepted_time[-1] == 900.0


def test_rules_of_matlab_control():
    control = MatlabControl(1e-4, 1e-6, 0.2, 2.0)
    assert control.first(0.0) == 2.0
    assert control.first(100.0) == pytest.approx(0.8*1e-4**0.2/100.0)
    assert control.after_success(1.0, 0.0, 0.0) == 2.0
    assert control.after_success(0.1, 1e-12, 0.0) == pytest.approx(0.5)
    assert control.after_success(0.1, 5e-5, 0.0) == pytest.approx(0.1/(1.25*0.5**0.2))
    assert control.after_success(0.1, 1e-12, 1.0) == 0.1
    assert control.after_failure(1.0, 2e-4, 0.0) == pytest.approx(0.8*0.5**0.2)
    assert control.after_failure(1.0, 1e6, 0.0) == pytest.approx(0.1)
    assert control.after_failure(1.0, 2e-4, 1.0) == 0.5
    assert control.after_failure(1.0, np.nan, 0.0) == 0.5
    assert control.reaches(1.0, 1.1)
    assert not control.reaches(1.0, 1.11)
    assert not control.accepts(np.nan)


def test_rules_of_hairer_control():
    control = HairerControl(0.125, 0.9, 0.2, 10.0)
    assert control.after_success(1.0, 0.0, 0.0) == 10.0
    assert control.after_success(1.0, 0.5, 0.0) == pytest.approx(0.9*0.5**-0.125)
    assert control.after_success(1.0, 0.01, 1.0) == 1.0
    assert control.after_failure(1.0, 2.0, 0.0) == pytest.approx(0.9*2.0**-0.125)
    assert control.after_failure(1.0, 1e30, 0.0) == 0.2
    assert control.after_failure(1.0, np.inf, 0.0) == 0.2
    assert not control.accepts(1.0)
