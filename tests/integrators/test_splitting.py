"""Splittings of declared parts, symplectic and explicit Euler: beside closed forms, scipy and a determinant."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import liestep
from liestep.errors import InputError
from liestep.simulation.catalogue import integrator_calls, method
from liestep.tools.certify.identities import defect_of, volume_defects
from liestep.tools.certify.orders import cases_of

A, B, C = np.sqrt(3.0), np.sqrt(2.0), 1.0
Y0 = np.array([0.3, 1.1, -0.7])
TURNS = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.array(
    [[0.0, 0.0, 0.0], [0.0, 0.0, -0.7], [0.0, 0.7, 0.0]])


def along_z(y, p):
    return [p.a*np.sin(y[2]), p.a*np.cos(y[2]), 0]


def along_x(y, p):
    return [0, p.b*np.sin(y[0]), p.b*np.cos(y[0])]


def along_y(y, p):
    return [p.c*np.cos(y[1]), 0, p.c*np.sin(y[1])]


def about_z(h, y):
    return [np.cos(h)*y[0] - np.sin(h)*y[1], np.sin(h)*y[0] + np.cos(h)*y[1], y[2]]


def about_x(h, y):
    return [y[0], np.cos(0.7*h)*y[1] - np.sin(0.7*h)*y[2], np.sin(0.7*h)*y[1] + np.cos(0.7*h)*y[2]]


def kick(y, p):
    return [0, -p.e*y[0]**3]


def spin(h, y, p):
    return [np.cos(h)*y[0] + np.sin(h)*y[1], np.cos(h)*y[1] - np.sin(h)*y[0]]


def abc(**more):
    return liestep.system("abc", parts=[along_z, along_x, along_y], parameters={"a": A, "b": B, "c": C},
                          start={"y": Y0}, **more)


def order(errors):
    return np.log2(errors[0]/errors[1])


@pytest.mark.parametrize(("weights", "steps"), [("one", 400), ("y4", 200), ("s4", 200), ("y6", 100), ("kl6", 50),
                                                ("kl8", 12)])
def test_orders_on_the_abc_flow_beside_scipy(weights, steps):
    exact = solve_ivp(lambda t, y: [A*np.sin(y[2]) + C*np.cos(y[1]), B*np.sin(y[0]) + A*np.cos(y[2]),
                                    C*np.sin(y[1]) + B*np.cos(y[0])], (0.0, 2.0), Y0, "DOP853", rtol=1e-13, atol=1e-14)
    for system in ("abc_flow", abc()):
        ends = [liestep.simulate(system, "splitting", options={"weights": weights}, step=2.0/n, t_end=2.0,
                                 samples=2)["y"].values[-1] for n in (steps, 2*steps)]
        found = order([np.abs(end - exact.y[:, -1]).max() for end in ends])
        assert found == pytest.approx(method(f"splitting weights={weights}".replace(" weights=one", "")).order, abs=0.3)


def test_flows_of_an_author_against_a_matrix_exponential():
    """Two rotations that do not commute: the splitting of each order converges to exp(t (X + Y)) y."""
    turned = liestep.system("turned", parts=[about_z, about_x], start={"y": Y0}, invariants={"square": lambda y: y @ y})
    exact = expm(3.0*(TURNS[0] + TURNS[1])) @ Y0
    for weights, declared in (("one", 2), ("y4", 4), ("kl6", 6)):
        runs = [turned.simulate("splitting", options={"weights": weights}, step=3.0/n, t_end=3.0, samples=2)
                for n in (30, 60)]
        assert order([np.abs(run["y"].values[-1] - exact).max() for run in runs]) == pytest.approx(declared, abs=0.1)
        assert runs[0].attrs["square_error_max"] < 1e-13
    other = turned.simulate("dop853", tolerance=1e-13, t_end=3.0, samples=2)
    assert np.abs(other["y"].values[-1] - exact).max() < 1e-11


@pytest.mark.parametrize(("integrator", "kept"), [("splitting", True), ("splitting weights=kl6", True), ("rk4", False)])
def test_the_determinant_of_a_run(integrator, kept):
    """Of the Jacobian of 100 steps of the chaotic flow, in which lengths grow 5 times."""
    found = liestep.tangent("abc_flow", integrator, step=0.1, t_end=10.0)
    assert np.linalg.norm(found["d_y"], 2) > 4.0
    assert (abs(np.linalg.det(found["d_y"]) - 1.0) < 1e-12) == kept


def test_parts_that_keep_the_volume_say_so():
    assert abc().sheet.volume
    assert liestep.system("turned", parts=[about_z, about_x], start={"y": Y0}).sheet.volume
    shrinking = liestep.system("shrinking", parts=[lambda h, y: [y[0], y[1]*np.exp(-0.1*h)], spin], start={"y": [1, 0]})
    assert not shrinking.sheet.volume
    found = [*volume_defects()]
    assert {one.integrator for one in found} == {"rk4"} | {
        name for name in integrator_calls() if name.startswith(("boris", "splitting"))}
    assert all(one.passed and one.declared == (one.integrator != "rk4") for one in found)


def test_parts_give_the_energy_and_all_other_methods():
    duffing = liestep.system("duffing", parts=[spin, kick], parameters={"e": 0.3}, start={"y": [1, 0]},
                             energy=lambda y, p: 0.5*(y[0]**2 + y[1]**2) + 0.25*p.e*y[0]**4)
    errors = [duffing.simulate("splitting", step=step, t_end=100.0).attrs["energy_error_max"] for step in (0.1, 0.05)]
    assert order(errors) == pytest.approx(2.0, abs=0.1)
    assert duffing.simulate("discrete_gradient", step=0.1, t_end=5.0).attrs["energy_error_max"] < 1e-13
    exact = solve_ivp(lambda t, y: [y[1], -y[0] - 0.3*y[0]**3], (0.0, 10.0), [1.0, 0.0], "DOP853", rtol=1e-13,
                      atol=1e-14)
    other = duffing.simulate("taylor", tolerance=1e-13, t_end=10.0, samples=2)
    assert np.abs(other["y"].values[-1] - exact.y[:, -1]).max() < 1e-11


@pytest.mark.parametrize(("parts", "said"), [
    ([lambda y: [y[0], 0], kick], "part 0 depends on a coordinate that it moves: give its flow, a function of (h, y,"),
    ([spin], "parts must be a list of two functions or more"),
    (spin, "parts must be a list of two functions or more"),
    ([kick, lambda h, y: [y[0] + h*y[0], y[1]]], "is no flow: after h = 0 it must be y, and h twice must be 2 h"),
    ([kick, lambda h, y: [y[0] + h + 1, y[1]]], "is no flow: after h = 0 it must be y, and h twice must be 2 h"),
    ([kick, lambda h, y: [y[0]]], "part 1")])
def test_parts_that_are_none(parts, said):
    with pytest.raises(InputError) as caught:
        liestep.system("bad", parts=parts, parameters={"e": 0.3}, start={"y": [1, 0]})
    assert said in str(caught.value)


def test_a_system_without_parts_is_refused():
    with pytest.raises(InputError, match="splitting cannot run on henon_heiles"):
        liestep.simulate("henon_heiles", "splitting", step=0.1)


def oscillator():
    return liestep.system("oscillator", hamiltonian=lambda q, momentum: 0.5*(momentum @ momentum + q @ q),
                          start={"q": [1.0], "momentum": [0.2]})


@pytest.mark.parametrize(("variant", "sign"), [("A", 1.0), ("B", -1.0)])
def test_symplectic_euler_keeps_its_modified_energy(variant, sign):
    """q^2 + p^2 -+ h q p of an oscillator, to round-off over 10,000 steps; the states are those of the formula."""
    h = 0.1
    run = oscillator().simulate("symplectic_euler", step=h, t_end=1000.0, samples=10001, options={"variant": variant})
    q, p = run["q"].values[:, 0], run["momentum"].values[:, 0]
    kept = q*q + p*p + sign*h*q*p
    assert np.abs(kept - kept[0]).max() < 1e-11
    first = (1.0 + h*0.2, 0.2 - h*(1.0 + h*0.2)) if variant == "A" else (1.0 + h*(0.2 - h), 0.2 - h)
    assert (q[1], p[1]) == pytest.approx(first, abs=1e-15)
    assert run.attrs["force_evaluations"] == 10000


def test_explicit_euler_gains_energy_as_it_must():
    """1 + h^2 times in each step of an oscillator."""
    run = oscillator().simulate("explicit_euler", step=0.01, t_end=5.0, samples=2)
    energy = run["energy"].values
    assert energy[1]/energy[0] == pytest.approx(1.0001**500, rel=1e-12)


@pytest.mark.parametrize("variant", ["A", "B"])
def test_symplectic_euler_is_certified_symplectic(variant):
    case = cases_of("symplectic_euler")[0]
    assert defect_of(case, "symplectic_euler", {"variant": variant}).passed
