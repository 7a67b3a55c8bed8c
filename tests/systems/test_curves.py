"""Points of bodies on curves and surfaces that are plain functions, in plain Python: scipy on equations of one angle or
length written anew, rows by differences, what is kept, sentences."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liestep
from liestep.errors import InputError
from liestep.extend import GROUND, Body, on_curve, on_surface, revolute
from liestep.mechanics.formulations import formulate_standard
from liestep.mechanics.formulations.multibody.family import jacobian, residuals
from liestep.mechanics.formulations.probed import plain
from liestep.simulation.runs.specification import start_of

X, Y, Z = np.eye(3)
ZERO = np.zeros(3)
J = [0.1, 0.2, 0.15]
DOWN = [0, 0, -9.81]


def moved(system, t_end):
    """Fields at t_end, and the observables there and at the start, by scipy on the equations in plain Python."""
    start = start_of(system)
    made = formulate_standard(system.sheet, start.parameters, start.initial)
    field, shape = plain(made.problem), made.start.shape

    def rhs(t, y):
        out = np.zeros(shape)
        assert field.rhs(t, y.reshape(shape).copy(), out)
        return out.ravel()

    end = solve_ivp(rhs, (0.0, t_end), made.start.ravel(), "DOP853", rtol=1e-11, atol=1e-12).y[:, -1].reshape(shape)
    seen = []
    for y in (made.start, end):
        seen.append(np.zeros(made.width))
        field.observe(y.copy(), seen[-1])
    return {name: values[0] for name, values in made.to_fields(end[None]).items()}, seen


def reference(point, t_end, s, rate=0.0):
    """s at t_end of a bead under gravity on a curve: (c'.c') s'' + (c'.c'') s'^2 = -g c_z'."""
    def rhs(t, y):
        _, first, second = point(y[0])
        return [y[1], -(first @ second*y[1]**2 + 9.81*first[2])/(first @ first)]

    return solve_ivp(rhs, (0.0, t_end), [s, rate], "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


def parabola(s):
    return np.array([[s, 0, 0.7*s*s], [1, 0, 1.4*s], [0, 0, 1.4]])


def helix(s):
    c, d = np.cos(s), np.sin(s)
    return np.array([[c, d, 0.2*s], [-d, c, 0.2], [-c, -d, 0]])


def circle(s):
    c, d = np.cos(s), np.sin(s)
    return np.array([[0, c, d], [0, -d, c], [0, -c, -d]])


CURVES = {
    "parabola": (parabola, 0.8, 0.0, lambda s: [s, 0.0, 0.7*s**2], (-2.0, 2.0)),
    "parabola, two functions": (parabola, 0.8, 0.0, lambda x: [3.0*x[1], x[2] - 0.7*x[0]**2], None),
    "helix": (helix, 1.0, -2.0, lambda s: [np.cos(s), np.sin(s), 0.2*s], (-9.0, 9.0)),
    "circle, over its ends": (circle, 6.0, 7.0, lambda s: [0.0, np.cos(s), np.sin(s)], (0.0, 2.0*np.pi)),
    "circle, two functions": (circle, 6.0, 7.0, lambda x: [x[0], x @ x - 1.0], None)}


@pytest.mark.parametrize("name", CURVES)
def test_a_bead_on_a_wire_moves_by_the_equation_of_one_parameter(name):
    point, s, rate, curve, span = CURVES[name]
    place = point(s)
    offset, centre = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.0, -0.1])  # of the curve; of the point of the body
    body = Body(1.3, [1e9]*3, x=offset + place[0] - centre, v=rate*place[1])
    system = liestep.system("bead", bodies=[body], joints=[on_curve(GROUND, offset, 0, centre, curve, span)],
                            gravity=DOWN)
    fields, (first, last) = moved(system, 0.8)
    expected = point(reference(point, 0.8, s, rate))[0]
    assert np.abs(fields["position"][0] + centre - offset - expected).max() < 1e-8
    assert abs(last[0] - first[0]) < 1e-8
    assert last[5] < 1e-9


@pytest.mark.parametrize("curve", [
    on_curve(0, [0.1, 0.2, 0], 1, [0, 0.1, 0.2], lambda s: [s, np.sin(s), 0.3*s**2], (-3.0, 3.0)),
    on_curve(0, [0.1, 0.2, 0], 1, [0, 0.1, 0.2], lambda x: [x[1] - np.sin(x[0]), x[2] - 0.3*x[0]**2]),
    on_surface(0, [0.1, 0.2, 0], 1, [0, 0.1, 0.2], lambda x: x[2] - 0.3*x[0]**2 + 0.1*x[1]*x[0])])
def test_a_curve_that_a_body_carries(curve):
    """Energy and momenta of two free bodies are kept; rows are those by differences, their residuals lengths."""
    system = liestep.system("carried", bodies=[Body(1.0, J, rate=[1, 0.5, -0.3]), Body(2.0, J, x=[0.7, 0.5, 0.3],
                                                                                      v=[0.3, 0, 1])],
                            joints=[curve], fit=True)
    start = start_of(system)
    assembly, state = system.sheet.build(start.parameters), start.initial
    gaps, rates = residuals(assembly, state)
    assert np.abs(gaps).max() < 1e-14
    assert np.abs(rates).max() < 1e-14
    rows, columns = jacobian(assembly, state), []
    for k in range(12):
        moving = [np.zeros((2, 3)), np.zeros((2, 3))]
        moving[k//3 % 2][k//6, k % 3] = 1.0
        ends = []
        for h in (-1e-6, 1e-6):
            turned = state["attitude"] @ (np.eye(3) + h*np.cross(np.eye(3), moving[0][:, None, :]))
            there = {"attitude": turned, "position": state["position"] + h*moving[1]}
            ends.append(residuals(assembly, state | there)[0])
        columns.append((ends[1] - ends[0])/2e-6)
    assert np.abs(rows - np.transpose(columns)).max() < 1e-8
    _, (first, last) = moved(system, 0.5)
    assert np.abs(last[:4] - first[:4]).max() < 1e-9
    assert last[5] < 1e-9


def test_a_pin_in_a_slot_of_a_turning_disc():
    """Straight along the disc's x: r'' = r w^2, and the disc keeps its momentum with the pin's."""
    disc = Body(1.0, [1.0, 1.0, 2.0], rate=[0, 0, 1.5])
    system = liestep.system("slot", bodies=[disc, Body(0.5, [1e-9]*3, x=[0.4, 0, 0], v=[0, 0.6, 0])], joints=[
        revolute(GROUND, ZERO, Z, 0, ZERO, Z), on_curve(0, ZERO, 1, ZERO, lambda s: [s, 0.0, 0.0], (0.0, 3.0))])
    fields, _ = moved(system, 1.0)

    def rhs(t, y):
        r, v, _ = y
        w = 1.5*(2.0 + 0.5*0.16)/(2.0 + 0.5*r*r)
        return [v, r*w*w, w]

    r, _, angle = solve_ivp(rhs, (0.0, 1.0), [0.4, 0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert np.abs(fields["position"][1] - [r*np.cos(angle), r*np.sin(angle), 0.0]).max() < 1e-8


def test_index_three_methods_keep_the_curve():
    """Their error falls with the square of the step; two of Newton's corrections are enough."""
    point, s, _, curve, span = CURVES["helix"]
    system = liestep.system("sliding", bodies=[Body(1.3, J, x=point(s)[0])], gravity=DOWN,
                            joints=[on_curve(GROUND, ZERO, 0, ZERO, curve, span)])
    expected = point(reference(point, 0.5, s))[0]
    errors = []
    for steps in (100, 200):
        data = system.simulate("generalized_alpha", steps=steps, t_end=0.5, samples=2)
        errors.append(np.abs(data["position"].values[-1, 0] - expected).max())
        assert data.attrs["joint_error_max"] < 1e-12
        assert data.attrs["iterations"] <= 3*steps
    assert errors[0] > 3.4*errors[1]
    assert errors[1] < 1e-4


def test_a_bead_that_comes_to_the_end_of_its_wire_ends_the_run():
    system = liestep.system("short", bodies=[Body(1.0, J, v=X)], t_end=2.0, joints=[
        on_curve(GROUND, ZERO, 0, ZERO, lambda s: [s, 0.0, 0.0], (-1.0, 1.0))])
    with pytest.raises(AssertionError):
        moved(system, 1.1)
    assert moved(system, 0.9)[0]["position"][0, 0] == pytest.approx(0.9, abs=1e-12)


def on(curve, span=None, **more):
    return liestep.system("wrong", bodies=[Body(1.0, J, **more)], joints=[on_curve(GROUND, ZERO, 0, ZERO, curve, span)])


@pytest.mark.parametrize(("make", "said"), [
    (lambda: on(lambda s: [s, 0.0, 0.0], (1.0, 0.0)), "span of a curve must be two finite numbers, the second larger"),
    (lambda: on(lambda s: [s, 0.0, 0.0], 3.0), "span of a curve must be two finite numbers"),
    (lambda: on(lambda s: [s, 0.0], (0.0, 1.0)), "curve of joint 0 (on_curve)"),
    (lambda: on(lambda s: [s, 0.0, 0.0]), "takes 's', and arguments are known by their names: x, p"),
    (lambda: on(lambda x: x[0]), "curve of joint 0 (on_curve)"),
    (lambda: on(lambda x: [x[0]**2, x[1]]), "has a gradient of length 0 at the start"),
    (lambda: on(lambda s: [s**2, s**3, 0.0], (-1.0, 1.0)), "have a tangent everywhere in its span, and does not"),
    (lambda: on(lambda s: [np.sin(2*s), np.sin(s), 0.0], (0.0, 6.28)), "comes near itself"),
    (lambda: on(lambda s: [s, 1.0, 0.0], (-1.0, 1.0)), "the start is off joint 0 (on_curve, the ground to body 0)"),
    (lambda: on(lambda s: [s, 0.0, 0.0], (-1.0, 1.0), v=Y), "the velocity of the start breaks joint 0 (on_curve"),
    (lambda: on(lambda s: [s, 0.0, 0.0], (-1.0, 1.0), x=2*X), "(on_curve, the ground to body 0) by nan"),
    (lambda: on_curve(GROUND, ZERO, 0, ZERO), "missing a required argument: 'curve'")])
def test_what_is_no_curve_is_refused_in_a_sentence(make, said):
    with pytest.raises(InputError) as caught:
        make()
    assert said in str(caught.value)
