"""Methods in R^n on systems from plain functions: orders, what they keep, closed forms and refusals."""
import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.errors import InputError
from liestep.integrators.gauss import nodes_of, partner, tableau
from liestep.tools.recommend.tournament import Tournament, request

RULES = ("gonzalez", "mean_value", "itoh_abe")


def henon_heiles():
    def hamiltonian(q, momentum):
        return 0.5*(momentum @ momentum + q @ q) + q[0]**2*q[1] - q[1]**3/3

    return liestep.system("own", hamiltonian=hamiltonian, start={"q": [0.0, 0.1], "momentum": [0.35, 0.1]}, t_end=2.0)


def double_pendulum(**further):
    def lagrangian(q, v):
        return v[0]**2 + 0.5*v[1]**2 + v[0]*v[1]*np.cos(q[0] - q[1]) + 2*np.cos(q[0]) + np.cos(q[1])

    return liestep.system("own", lagrangian=lagrangian, start={"q": [1.0, 0.5], "v": [0.0, 0.3]}, t_end=1.0, **further)


def predators():
    return liestep.system("own", rhs=lambda y: [y[0]*(1 - y[1]), y[1]*(y[0] - 1)], start={"y": [1.0, 0.5]}, t_end=2.0,
                          energy=lambda y: y[0] + y[1] - np.log(y[0]*y[1]))


def gyration():
    """About e3 at 1 rad/s, along e3 at 0.1 m/s."""
    return liestep.system("own", magnetic=lambda: [0, 0, 1.0], mass=1.0, t_end=2.0,
                          start={"x": [1.0, 0.0, 0.0], "v": [0.0, -1.0, 0.1]})


@pytest.mark.parametrize("amplitude", [1.0, 0.03, 0.001])
def test_discrete_gradients_know_an_energy_that_is_small_beside_its_zero(amplitude):
    """Foucault's pendulum of 67 m as a point on a sphere: H is -657 J/kg, and moves in the last digits alone. Small
    ones turn as a harmonic oscillator in a rotating frame."""
    length, turn = 67.0, 7.292e-5*np.sin(np.radians(48.85))

    def lagrangian(q, v):
        z = -np.sqrt(length**2 - q @ q)
        fall = -(q @ v)/z
        return 0.5*(v @ v + fall*fall) + turn*(q[0]*v[1] - q[1]*v[0]) - 9.81*z

    own = liestep.system("own", lagrangian=lagrangian, start={"q": [amplitude, 0.0], "v": [0.0, 0.0]})
    data = own.simulate("discrete_gradient", step=0.05, t_end=500.0)
    assert data.attrs["energy_error_max"] < 1e-9
    rate, time = np.sqrt(9.81/length + turn**2), data["time"].values
    place = np.exp(-1j*turn*time)*(np.cos(rate*time) + 1j*turn/rate*np.sin(rate*time))
    phase = rate*time[-1]*((0.05*rate)**2/12 + (amplitude/length)**2/16)
    assert np.abs(data["q"].values @ [1, 1j]/amplitude - place).max() < 1.5*phase


@pytest.mark.parametrize("stages", range(1, 7))
def test_nodes_are_those_of_gauss(stages):
    a, b, c = tableau(nodes_of("gauss", stages))
    x, w = np.polynomial.legendre.leggauss(stages)
    assert np.abs(c - 0.5*(x + 1)).max() < 1e-15
    assert np.abs(b - 0.5*w).max() < 1e-15
    assert np.abs(b[:, None]*a + b*a.T - np.outer(b, b)).max() < 1e-16


def test_pair_of_three_stages_is_the_printed_one():
    """Hairer, Lubich and Wanner 2006, table II.2.2."""
    a, b, c = tableau(nodes_of("lobatto", 3))
    assert np.allclose(a, np.array([[0, 0, 0], [5, 8, -1], [4, 16, 4]])/24, atol=1e-16)
    assert np.allclose(partner(nodes_of("lobatto", 3)), np.array([[1, -1, 0], [1, 2, 0], [1, 5, 0]])/6, atol=1e-16)
    assert np.allclose([*b, *c], [1/6, 2/3, 1/6, 0, 0.5, 1], atol=1e-16)


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "options", "order"), [
    ("lobatto", {"stages": 2}, 2), ("lobatto", {}, 4), ("lobatto", {"stages": 4}, 6), ("gauss", {"stages": 1}, 2),
    *(("discrete_gradient", {"rule": rule}, 2) for rule in RULES), ("discrete_gradient", {"weights": "s4"}, 4)])
def test_orders_where_the_mass_depends_on_the_coordinates(integrator, options, order):
    own = double_pendulum()
    true = own.simulate("taylor", tolerance=1e-15, samples=2)["q"].values[-1]
    errors = [np.abs(own.simulate(integrator, step=h, options=options, samples=2)["q"].values[-1] - true).max()
              for h in (0.1, 0.05)]
    assert np.log2(errors[0]/errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("make", [henon_heiles, double_pendulum, predators, gyration])
@pytest.mark.parametrize("rule", RULES)
def test_discrete_gradients_keep_the_energy(make, rule):
    own = make()
    assert own.simulate("discrete_gradient", step=0.1, options={"rule": rule}).attrs["energy_error_max"] < 2e-14
    assert own.simulate("rk4", step=0.1).attrs["energy_error_max"] > 1e-9


@pytest.mark.parametrize("first", ["velocity", "position"])
def test_verlet_is_the_printed_recursion(first):
    """q_(n+1) - 2 q_n + q_(n-1) = -h^2 q_n of the oscillator, Hairer, Lubich and Wanner 2006, I.1.4."""
    own = liestep.system("own", hamiltonian=lambda q, momentum: 0.5*(momentum @ momentum + q @ q),
                         start={"q": [1.0], "momentum": [0.0]}, t_end=1.0)
    found = own.simulate("verlet", step=0.1, options={"first": first})
    q = found["q"].values[:, 0]
    values = q if first == "velocity" else q + 0.05*found["momentum"].values[:, 0]  # where the forces are taken
    assert np.abs(values[2:] - 2*values[1:-1] + values[:-2] + 0.01*values[1:-1]).max() < 1e-15


def test_boris_turns_exactly_in_a_uniform_field():
    """With the exact rotation the velocity is that of the helix: v = (sin -t, -cos t, 0.1) for v x b, b = e3."""
    found = gyration().simulate("boris", step=0.5, options={"rotation": "exact"})
    t = found["time"].values
    assert np.abs(found["velocity"].values - np.stack([-np.sin(t), -np.cos(t), 0*t + 0.1], axis=1)).max() < 1e-14
    speeds = np.linalg.norm(gyration().simulate("boris", step=0.5)["velocity"].values, axis=1)
    assert np.abs(speeds - np.sqrt(1.01)).max() < 1e-14


def test_penning_trap_has_its_three_frequencies():
    """Brown and Gabrielse 1986: z = 0.5 cos t + 0.1 sin t; u = x + i y turns at -w, roots of w^2 - 5 w + 1/2 = 0."""
    found = liestep.simulate("penning_trap", "boris", step=0.01, t_end=5.0, samples=6, options={"weights": "kl8"})
    t, x = found["time"].values, found["position"].values
    fast, slow = 0.5*(5 + np.sqrt(23)), 0.5*(5 - np.sqrt(23))
    one = (0.4j + 1j*slow)/(-1j*fast + 1j*slow)  # u(0) = 1, du/dt(0) = 0.4 i
    u = one*np.exp(-1j*fast*t) + (1 - one)*np.exp(-1j*slow*t)
    assert np.abs(x - np.stack([u.real, u.imag, 0.5*np.cos(t) + 0.1*np.sin(t)], axis=1)).max() < 1e-12


def test_what_does_not_fit_is_refused_with_what_does():
    with pytest.raises(InputError, match=r"its H is not T\(momentum\) \+ V\(q\).*gauss and lobatto take it"):
        double_pendulum().simulate("verlet", step=0.1)
    damped = double_pendulum(force=lambda v: -0.1*v)
    wrong = liestep.system("own", rhs=lambda y: [y[1], -y[0]], energy=lambda y: y[0]**2 + 2*y[1]**2,
                           start={"y": [0.3, 1.0]})
    assert "discrete_gradient" not in wrong.integrators()  # it would keep this function, on other equations
    for rhs, energy in ((lambda y: [y[1], -y[0]], lambda y: y[0]**2 + y[1]**4),  # where y[1] is zero it is kept
                        (lambda t, y: [y[1], (t - 1)*y[0]], lambda y: y[0]**2 + y[1]**2)):
        at_rest = liestep.system("own", rhs=rhs, energy=energy, start={"y": [1.0, 0.0]})
        assert "discrete_gradient" not in at_rest.integrators()
    with pytest.raises(InputError, match=r"its energy is not conserved, or not known.*gauss and lobatto take it"):
        damped.simulate("discrete_gradient", step=0.1)
    with pytest.raises(InputError, match="option stages is 7"):
        henon_heiles().simulate("gauss", step=0.1, options={"stages": 7})


@pytest.mark.parametrize("make", [henon_heiles, double_pendulum, predators, gyration])
def test_keeping_the_energy_has_answers(make):
    own = make()
    asked = Tournament(request(own, error=1e-6, keep="energy"))
    assert "discrete_gradient" in asked.eligible
    assert {"verlet", "lobatto", "gauss"} <= set(asked.eligible) or make is not henon_heiles
    assert "rk4" not in asked.eligible


def damped_energy(t, w=2.0, c=0.3, starts=((1.0, 0.0), (0.5, 0.3))):
    """Of x'' = -w^2 x - c x'."""
    turn, total = np.sqrt(w*w - 0.25*c*c), 0.0
    for q, v in starts:
        a, b = q*np.cos(turn*t), (v + 0.5*c*q)/turn*np.sin(turn*t)
        x = np.exp(-0.5*c*t)*(a + b)
        rate = np.exp(-0.5*c*t)*turn*(-q*np.sin(turn*t) + (v + 0.5*c*q)/turn*np.cos(turn*t)) - 0.5*c*x
        total += 0.5*rate*rate + 0.5*w*w*x*x
    return total


def test_forces_in_general_coordinates_have_their_work():
    """The energy is less what the drag takes, and that is the closed form of the damped oscillator."""
    damped = liestep.system("own", lagrangian=lambda q, v: 0.5*(v @ v) - 2.0*(q @ q), force=lambda v: -0.3*v,
                            start={"q": [1.0, 0.5], "v": [0.0, 0.3]})
    for integrator, size, within in (("dop853", {"tolerance": 1e-12}, 3e-11), ("gauss", {"step": 0.01}, 3e-9)):
        data = damped.simulate(integrator, t_end=5.0, **size)
        assert data["work"].values[-1] == pytest.approx(damped_energy(5.0) - damped_energy(0.0), abs=within)
        assert data["mechanical_energy"].values[-1] == pytest.approx(damped_energy(5.0), abs=within)
        assert data.attrs["energy_error_max"] < within


def test_kicks_do_work_to_their_order():
    driven = liestep.system("own", lagrangian=lambda q, v: 0.5*(v @ v) - 2.0*(q @ q), t_end=5.0,
                            force=lambda t, q: [np.cos(t), 0.3*q[0]], start={"q": [1.0, 0.5], "v": [0.0, 0.3]})
    exact = driven.simulate("dop853", tolerance=1e-13)["work"].values[-1]
    gaps = {step: driven.simulate("verlet", step=step)["work"].values[-1] - exact for step in (0.1, 0.05)}
    assert gaps[0.1]/gaps[0.05] == pytest.approx(4.0, abs=0.1)
    fine = driven.simulate("verlet weights=kl8", step=0.1)
    assert fine["work"].values[-1] == pytest.approx(exact, abs=1e-10)
    assert 0.0 < fine.attrs["energy_error_max"] < 1e-10
