"""What people write that is right, but by round-off, by the order of its terms or by its unit not as it is in examples:
it runs, or one sentence says what is wrong."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import liestep
from liestep.extend import Body


def test_a_quotient_may_stand_before_a_root_of_the_same_number():
    def rates(y):
        return [1/y[0], y[0]**1.5]

    right = [np.sqrt(2.0), (2.0**1.75 - 1)/3.5]  # y_0^2 = 1 + 2 t
    system = liestep.system("root", rhs=rates, start={"y": [1.0, 0.0]})
    assert system.simulate("dop853", tolerance=1e-12, t_end=0.5)["y"].values[-1] == pytest.approx(right, rel=1e-12)
    found = liestep.solve(lambda t, y: rates(y), (0, 0.5), [1.0, 0.0], rtol=1e-12)
    assert found.compiled
    assert found.y[:, -1] == pytest.approx(right, rel=1e-12)


def test_what_only_the_first_call_gives_is_refused():
    calls = []

    def learning(y):
        calls.append(0)
        return [-y[0]*(1.0 if len(calls) == 1 else 2.0)]

    with pytest.raises(liestep.InputError, match="gives something else when it is called again"):
        liestep.system("learning", rhs=learning, start={"y": [1.0]})


@pytest.mark.parametrize(("given", "told"), [
    (None, "gives nothing, not numbers"), ({"a": 1.0}, "gives a dict, not numbers"), ([[1, 2], 3], "gives a list, not"),
    ("a", "gives a str, not numbers")])
def test_a_function_that_is_called_must_give_numbers(given, told):
    with pytest.raises(liestep.InputError, match=told):
        liestep.solve(lambda t, y: given, (0, 1), [1.0])


def test_a_function_may_not_give_what_it_kept_of_a_trace():
    kept = {}

    def delayed(t, y):
        old, kept["y"] = kept.get("y", 0.0), y[0]
        return [old - y[0]]

    with pytest.raises(liestep.InputError, match="not numbers that its arguments determine"):
        liestep.solve(delayed, (0, 1), [1.0])


def test_inertia_that_was_turned_may_be_asymmetric_by_round_off():
    turn = Rotation.from_rotvec([0.3, -0.7, 0.4])
    inertia = turn.as_matrix() @ np.diag([1, 2, 2.5]) @ turn.as_matrix().T
    inertia[0, 1] = inertia[1, 0]*(1 + 4e-16)
    assert inertia[0, 1] != inertia[1, 0]
    axis = turn.as_matrix()[:, 0]
    body = liestep.system("turned", bodies=[Body(1.0, inertia, rate=3*axis)])
    found = body.simulate("rkmk853", tolerance=1e-12, t_end=1.0)["attitude"].values[-1, 0]
    assert np.abs(found - Rotation.from_rotvec(3*axis).as_matrix()).max() < 1e-11
    inertia[0, 1] += 1e-6
    with pytest.raises(liestep.InputError, match="symmetric positive definite inertia"):
        liestep.system("turned", bodies=[Body(1.0, inertia)])


def test_mass_matrix_may_be_asymmetric_by_round_off():
    m, length, k = [0.7, 1.3], [1.1, 0.7], 9.81

    def mass(p):
        return [[(p.m[0] + p.m[1])*p.l[0]**2, p.m[1]*p.l[0]*p.l[1]], [p.m[1]*p.l[1]*p.l[0], p.m[1]*p.l[1]**2]]

    assert m[1]*length[0]*length[1] != m[1]*length[1]*length[0]

    def rates(t, y):
        d, a, b, c = y[0] - y[1], sum(m)*length[0]**2, m[1]*length[0]*length[1], m[1]*length[1]**2
        force = [-b*np.sin(d)*y[3]**2 - k*sum(m)*length[0]*np.sin(y[0]),
                 b*np.sin(d)*y[2]**2 - k*m[1]*length[1]*np.sin(y[1])]
        return [*y[2:], *np.linalg.solve([[a, b*np.cos(d)], [b*np.cos(d), c]], force)]

    right = solve_ivp(rates, (0, 1), [0, 0, 1.0, 2.0], "DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]
    pair = liestep.system(
        "pair", potential=lambda q, p: 9.81*((p.m[0] + p.m[1])*p.l[0]*q[0, 2] + p.m[1]*p.l[1]*q[1, 2]), mass=mass,
        parameters={"m": m, "l": length}, start={"q": [[0, 0, -1], [0, 0, -1]], "v": [[1, 0, 0], [2, 0, 0]]})
    found = pair.simulate("dop853", tolerance=1e-12, t_end=1.0)["q"].values[-1]
    assert found[:, 0] == pytest.approx(np.sin(right), abs=1e-9)
    assert pair.simulate("vi_sphere weights=y4", step=0.001, t_end=1.0)["q"].values[-1, :, 0] == pytest.approx(
        np.sin(right), abs=1e-8)
    with pytest.raises(liestep.InputError, match="not symmetric and positive definite"):
        liestep.system("skew", potential=lambda q: q[0, 2], mass=lambda p: [[2.0, 0.5], [0.5 + 1e-9, 1.0]],
                       start={"q": [[0, 0, -1], [0, 0, -1]], "v": [[1, 0, 0], [2, 0, 0]]})


def test_series_of_slow_motions_are_right_or_refused():
    def slow(unit):
        return liestep.system("slow", rhs=lambda y: [y[1]/unit, -y[0]/unit], start={"y": [1.0, 0.0]})

    found = slow(1e19).simulate("taylor", tolerance=1e-12, t_end=5e19)["y"].values[-1]
    assert found == pytest.approx([np.cos(5.0), -np.sin(5.0)], abs=1e-12)
    with pytest.raises(liestep.InputError, match=r"give times up to 1e\+20, in a larger unit"):
        slow(1e22).simulate("taylor", tolerance=1e-12, t_end=5e22)


@pytest.mark.parametrize(("arguments", "told"), [
    ({"t_start": [0.1, 0.2]}, "t_start must be a finite number, not 2 of them"),
    ({"t_end": np.array([0.1, 0.2])}, "t_end must be a finite number, not 2 of them"),
    ({"step": [0.1, 0.2]}, "step must be a positive number, not 2 of them")])
def test_members_have_one_time_and_one_step(arguments, told):
    system = liestep.system("decay", rhs=lambda y: [-y[0]], start={"y": [1.0]})
    with pytest.raises(liestep.InputError, match=told):
        liestep.ensemble(system, "rk4", starts={"y": np.ones((2, 1))}, **{"step": 0.1, "t_end": 1.0, **arguments})
    with pytest.raises(liestep.InputError, match=r"the nearest valid number is 11$"):
        system.simulate("rk4", step=0.1, t_end=1.0, samples=100)


@pytest.mark.parametrize("n", [4, 4.0, 7.0])
def test_whole_powers_of_negative_numbers(n):
    own = liestep.system("own", lagrangian=lambda q, v, p: 0.5*(v @ v) - 0.1*np.sum(q**p.n) - 0.5*(q @ q),
                         parameters={"n": n}, start={"q": [-1.0, 0.7, 0.0], "v": [0.3, -2.0, 1.0]}, t_end=1.0)
    end = solve_ivp(lambda t, y: [*y[3:], *(-0.1*n*y[:3]**(n - 1) - y[:3])], (0.0, 1.0),
                    [-1.0, 0.7, 0.0, 0.3, -2.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:3, -1]
    for method in ("dop853", "taylor"):
        assert np.abs(own.simulate(method, tolerance=1e-12)["q"].values[-1] - end).max() < 1e-11
    with pytest.raises(liestep.InputError, match="parameter n is an index, a power or number of repetitions"):
        own.simulate("rk4", step=0.1, parameters={"n": 2.0})


@pytest.mark.parametrize(("base", "n"), [(-2.0, 3.0), (-1, 2), (-2.0, -1), (0.0, 3)])
def test_a_negative_number_to_the_power_of_a_parameter(base, n):
    """Only numbers to the power of whole parameters: y' = -(base^n) y has an end in closed form."""
    own = liestep.system("own", rhs=lambda y, p: [-(base**p.n)*y[0]], parameters={"n": n}, start={"y": [1.0]},
                         t_end=0.1)
    assert own.simulate("dop853", tolerance=1e-12)["y"].values[-1, 0] == pytest.approx(np.exp(-0.1*base**n), rel=1e-11)
    with pytest.raises(liestep.InputError, match="to the power of a parameter that is not whole"):
        liestep.system("own", rhs=lambda y, p: [-(base**p.n)*y[0]], parameters={"n": 0.5}, start={"y": [1.0]})


def test_powers_of_what_is_positive_stay_free():
    own = liestep.system("own", hamiltonian=lambda q, momentum, p: 0.5*(momentum @ momentum) + (q @ q)**p.n,
                         parameters={"n": -1}, start={"q": [1.0, 0.0], "momentum": [0.0, 1.0]}, t_end=2.0)
    circle = own.simulate("dop853", tolerance=1e-12, parameters={"n": -0.5}, initial={"momentum": [0.0, 1.0]})
    far = solve_ivp(lambda t, y: [*y[2:], *(y[:2]*(y[:2] @ y[:2])**-1.5)], (0.0, 2.0), [1.0, 0.0, 0.0, 1.0],
                    method="DOP853", rtol=1e-13, atol=1e-14).y[:2, -1]
    assert np.abs(circle["q"].values[-1] - far).max() < 1e-11


@pytest.mark.parametrize("given", [
    {"lagrangian": lambda t, q, v: 0.5*(v @ v)*(1 + t), "start": {"q": [1.0], "v": [0.0]}},
    {"hamiltonian": lambda t, q, momentum: 0.5*(momentum @ momentum)*(1 + t), "start": {"q": [1.0], "momentum": [0]}}])
def test_an_energy_that_is_none_says_so(given):
    data = liestep.system("own", **given).simulate("rk4", step=0.1)
    assert data["energy"].attrs["long_name"] == "zero: the author gives none, or it depends on time"
    kept = liestep.system("own", energy=lambda momentum: momentum @ momentum, **given).simulate("rk4", step=0.1)
    assert kept["energy"].attrs["long_name"] == "as its author gives it"
    for of_v in ({"energy": lambda v: v @ v}, {"invariants": {"rate": lambda v: v[0]}}):
        with pytest.raises(liestep.InputError, match=r"(energy|rate) depends on t by v, which does"):
            liestep.system("own", **of_v, **given)


def test_a_start_that_is_not_finite_has_no_wrong_shape():
    with pytest.raises(liestep.InputError, match=r"start rate must be finite numbers$"):
        liestep.system("spin", inertia=[1, 2, 2.5], torque=lambda t: [0, 0, t],
                       start={"R": np.eye(3), "rate": [1, np.nan, 3]})


def test_a_function_that_writes_into_its_argument_does_not_move_the_start():
    def turned(t, y):
        y[0], y[1] = y[1], -y[0]
        return y

    start = np.array([1.0, 0.0])
    box = liestep.system("turned", rhs=turned, blackbox=True, start={"y": start})
    found = box.simulate("dop853", tolerance=1e-9, t_end=1.0)["y"].values
    assert found[0].tolist() == start.tolist() == [1.0, 0.0]
    assert found[-1] == pytest.approx([np.cos(1.0), -np.sin(1.0)], abs=1e-7)
