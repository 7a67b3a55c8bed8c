"""A system from plain functions stands wherever an id does, and its text is its identity."""
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import liestep
from liestep.errors import InputError
from liestep.plain import lost_digits

FACTOR = 1.0
DEFINED = """
import numpy as np, liestep
factor = {factor}
def lagrangian(q, v, p):{comment}
    return 0.5*(v @ v) + factor/np.linalg.norm(q) + p.eps*q[0]
print(liestep.system("orbit", lagrangian=lagrangian, parameters={{"eps": 0.1}}, start={{"q": [1, 0], "v": [0, 1]}}))
"""


def orbit(factor=1.0, name="orbit", **further):
    def lagrangian(q, v, p):
        return 0.5*(v @ v) + factor/np.linalg.norm(q) + p.eps*q[0]

    return liestep.system(name, lagrangian=lagrangian, parameters={"eps": 0.1, **further},
                          start={"q": [1, 0], "v": [0, 1]}, t_end=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "comment", "same"), [(1.0, "  # another text", True), (1.5, "", False)])
def test_id_is_that_of_the_text_in_every_process(factor, comment, same):
    """Values of closures and globals are in it, comments are not."""
    found = subprocess.run([sys.executable, "-c", DEFINED.format(factor=factor, comment=comment)], check=True,
                           capture_output=True, text=True).stdout.strip()
    made = liestep.system("orbit", lagrangian=lambda q, v, p: 0.5*(v @ v) + FACTOR/np.linalg.norm(q) + p.eps*q[0],
                          parameters={"eps": 0.1}, start={"q": [1, 0], "v": [0, 1]})
    assert (found == made) == same


@pytest.mark.slow
def test_stands_where_an_id_stands():
    own = orbit()
    run = {"tolerance": 1e-9, "t_end": 1.0, "samples": 3}
    one, two = own.simulate("dop853", **run), liestep.simulate(own, "dop853", **run)
    assert np.array_equal(one["q"], two["q"])
    assert np.array_equal(own.simulate("dop853", parameters={"eps": 0.2}, **run)["q"],
                          liestep.simulate(orbit(eps=0.2), "dop853", **run)["q"])  # parameters stay free
    reference = liestep.reference(own, samples=3)
    assert np.abs(reference["q"] - one["q"]).max() < 1e-8
    assert own.recommend(error=1e-6).error <= 1e-6
    assert all(row.ok for row in own.check())
    assert one.attrs["derived_equations"] == own.source  # the file has the text
    assert own.integrators() == list(liestep.list_integrators(own))
    assert own.tangent("rk4", step=0.1)["d_q"].size
    assert own.simulate("rk4", step=0.01, exponents=1).attrs["lyapunov_exponents"]


def test_name_means_the_latest_definition():
    first, second = orbit(1.0), orbit(2.0)
    run = {"tolerance": 1e-9, "samples": 2}
    assert np.array_equal(liestep.simulate("orbit", "dop853", **run)["q"], second.simulate("dop853", **run)["q"])
    assert not np.array_equal(first.simulate("dop853", **run)["q"], second.simulate("dop853", **run)["q"])
    assert orbit(1.0) == first
    assert "factor" not in first.source


def test_saved_plugin_is_the_same_system(tmp_path):
    own = orbit()
    liestep.load_plugin(own.save(tmp_path/"swing.py"))
    run = {"tolerance": 1e-9, "samples": 3}
    assert np.array_equal(liestep.simulate("swing", "dop853", **run)["q"], own.simulate("dop853", **run)["q"])


def test_plugin_may_define_its_system_by_functions(tmp_path):
    path = Path(tmp_path/"spring.py")
    path.write_text("import liestep\n\n\ndef rhs(y, p):\n    return [y[1], -p.k*y[0]]\n\n\n"
                    "SHEET = liestep.system('spring_inside', rhs=rhs, parameters={'k': 4.0},"
                    " start={'y': [1.0, 0.0]}, t_end=1.0).sheet\n")
    liestep.load_plugin(path)
    end = liestep.simulate("spring", "dop853", tolerance=1e-12, samples=2)["y"].values[-1]
    assert np.allclose(end, [np.cos(2.0), -2*np.sin(2.0)], atol=1e-11)


def test_number_of_repetitions_is_part_of_the_equations():
    def rhs(y, p):
        return sum(y[0]*p.k for _ in range(p.n))*np.ones(1)

    own = liestep.system("own", rhs=rhs, parameters={"n": 3, "k": 2.0}, start={"y": [1.0]})
    with pytest.raises(InputError, match=r"number of repetitions.*define the system anew"):
        own.simulate("rk4", step=0.1, parameters={"n": 4})


def test_invariants_are_columns():
    own = liestep.system("own", rhs=lambda y: [y[1], -y[0]], start={"y": [1.0, 0.0]},
                         invariants={"radius": lambda y: y @ y}, energy=lambda y: 0.5*(y @ y))
    data = own.simulate("gauss", step=0.1)
    assert data.attrs["radius_error_max"] < 1e-12
    assert np.allclose(data["energy"], 0.5)


DAMPED = {
    "field": lambda c: {"field": lambda R, x: (R @ ((R.T @ x)/[1, 2, 3]), np.cross(R[:, 2], [0, 0, -3.0]) - c*x),
                        "start": {"R": np.eye(3), "x": [1, 2, 3.0]},
                        "energy": lambda R, x: 0.5*((R.T @ x)/[1, 2, 3]) @ (R.T @ x) + 3*R[2, 2]},
    "vectors": lambda c: {"field": lambda q: [1, 2, 4]*q - c*np.cross(q, [1, 2, 4]*q),
                          "start": {"q": [0.6, 0.48, 0.64]},
                          "energy": lambda q: q @ ([1, 2, 4]*q)},
    "lagrangian": lambda c: {"lagrangian": lambda q, v: 0.5*v @ v - 0.5*q @ q, "force": lambda v: -c*v,
                             "start": {"q": [1.0], "v": [0.0]}, "energy": lambda q, v: 0.5*(v @ v) + 0.5*(q @ q)}}


@pytest.mark.parametrize("kind", DAMPED)
def test_an_energy_that_falls_is_no_error_of_a_method(kind, recwarn):
    data = liestep.system("own", **DAMPED[kind](0.3)).simulate("rk4", step=0.01, t_end=2.0)
    assert data["energy"].values[0] - data["energy"].values[-1] > 0.1
    assert not recwarn
    kept = liestep.system("own", **DAMPED[kind](0.0))
    with pytest.warns(UserWarning, match="energy is off by up to"):
        kept.simulate("rk4", step=0.7, t_end=21.0, on_failure="return")


def test_check_says_how_many_digits_are_lost():
    """1 - cos x near x = 0 has lost half of them; 2 sin^2(x/2) has not."""
    def made(rhs):
        return lost_digits(liestep.system("own", rhs=rhs, start={"y": [1e-4]}).sheet)

    assert made(lambda y: 2*np.sin(y/2)**2) < 1.5
    assert 6.5 < made(lambda y: 1 - np.cos(y)) < 8.5


def test_forces_on_free_bodies_are_those_of_scipy(monkeypatch):
    """A spring between points of two bodies, drag, a drag of turning and a torque along an axis."""
    monkeypatch.setattr("liestep.compile.interpreted.PAYS", 60.0)
    masses, J = np.array([1.0, 2.0]), np.array([[1, 2, 2.5], [0.5, 0.6, 0.7]])
    R0 = np.array([np.eye(3), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]])
    start = {"x": [[0, 0, 0], [1.5, 0, 0.2]], "v": [[0, 1, 0], [0, 0, 0.3]], "R": R0,
             "rate": [[0.1, 0.2, 0.3], [1, 0, -1]]}

    def gap(x, R):
        return x[0] + R[0][:, 0] - x[1] - R[1][:, 2]

    def torque(R, omega, p):
        return [-p.c*omega[0], 0.3*np.cross(R[1][:, 2], omega[1]) + p.c*R[1][:, 0]]

    two = liestep.system("two", potential=lambda x, R, p: 0.5*p.k*(gap(x, R) @ gap(x, R)), force=lambda v, p: -p.c*v,
                         torque=torque, mass=masses, inertia=J, parameters={"k": 3.0, "c": 0.2}, start=start)

    def rates(t, y):
        x, v, R, m = y[:6].reshape(2, 3), y[6:12].reshape(2, 3), y[12:30].reshape(2, 3, 3), y[30:].reshape(2, 3)
        w = np.array([R[i] @ ((R[i].T @ m[i])/J[i]) for i in range(2)])
        pull = 3*gap(x, R)
        turns = np.array([np.cross(R[0][:, 0], -pull) - 0.2*w[0],
                          np.cross(R[1][:, 2], pull) + 0.3*np.cross(R[1][:, 2], w[1]) + 0.2*R[1][:, 0]])
        return np.concatenate([v.ravel(), ((np.array([-pull, pull]) - 0.2*v)/masses[:, None]).ravel(),
                               *(np.cross(w[i], R[i].T).T.ravel() for i in range(2)), turns.ravel()])

    spins = [R0[i] @ (J[i]*np.array(rate)) for i, rate in enumerate(start["rate"])]
    y0 = np.concatenate([np.ravel(x) for x in (start["x"], start["v"], R0, spins)])
    exact = solve_ivp(rates, (0, 1), y0, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    data = two.simulate("dop853", tolerance=1e-11, t_end=1.0)
    assert np.abs(data["position"].values[-1].ravel() - exact[:6]).max() < 1e-9
    assert np.abs(data["attitude"].values[-1].ravel() - exact[12:30]).max() < 1e-9
    assert data.attrs["energy_error_max"] < 1e-8  # less the work
    assert data.attrs["momentum_conserved"] == "none"
    with pytest.raises(liestep.InputError, match="forces that depend on velocities"):
        two.simulate("lgvi", step=0.01)


def test_a_black_box_runs_with_the_methods_that_need_no_derivative():
    inner = numba.njit(lambda y, w: np.array([y[1], -w*y[0]]))
    swing = liestep.system("called", start={"y": [1.0, 0.0]}, parameters={"w": 4.0}, t_end=3.0, blackbox=True,
                           rhs=lambda t, y, p: inner(y, p.w))
    assert {"dop853", "rk4", "ode45", "gauss"} <= set(swing.integrators())
    assert "taylor" not in swing.integrators()
    with pytest.raises(liestep.InputError, match="take a method that needs none"):
        swing.simulate("taylor", tolerance=1e-8)
    assert swing.simulate("dop853", tolerance=1e-11)["y"].values[-1] == pytest.approx(
        [np.cos(6.0), -2.0*np.sin(6.0)], abs=1e-9)
    turn = liestep.system("turned", start={"R": np.eye(3), "x": [0.0, 1.0, 0.0]}, blackbox=True, t_end=1.0,
                          field=lambda t, R, x: (np.array([0.0, 0.0, float(str(2.0))]), -x))
    assert {"rkmk", "cf4", "rk4"} <= set(turn.integrators())
    end = turn.simulate("rkmk", step=0.01).isel(time=-1)
    assert end["attitude"].values[:, 0] == pytest.approx([np.cos(2.0), np.sin(2.0), 0.0], abs=1e-12)
    assert end["x"].values == pytest.approx([0.0, np.exp(-1.0), 0.0], abs=1e-9)


@pytest.mark.parametrize(("given", "said"), [
    ({"potential": lambda q: 0.0}, "potential is no argument of a black box"),
    ({}, "no system is made of .* alone: give rhs"),
    ({"rhs": lambda t, z: z}, "takes 'z'"),
    ({"rhs": lambda t, y: y[:0]}, "no rate of y"),
    ({"rhs": lambda t, y: "fast"}, "no rate of y"),
    ({"field": lambda t, R: R}, "start lacks R or q")])
def test_what_is_no_black_box_is_refused(given, said):
    with pytest.raises(liestep.InputError, match=said):
        liestep.system("refused_box", start={"y": [1.0, 0.0]}, blackbox=True, **given)


def test_a_field_runs_on_rigid_motions():
    """exp(t xi) of a constant spatial twist is exact on SE(3), in one step; R^3 beside SO(3) errs."""
    w, v, start, t = np.array([0.0, 0.3, 1.0]), np.array([0.5, 0.0, 0.2]), np.array([1.0, 0.0, 0.0]), 2.0
    screw = liestep.system("screw_motion", field=lambda R, x: (w, np.cross(w, x) + v), t_end=t,
                           start={"R": np.eye(3), "x": start})
    twist = np.block([[np.cross(w, np.eye(3)).T, v[:, None]], [np.zeros((1, 4))]])
    wanted = (expm(t*twist) @ np.append(start, 1.0))[:3]
    found = {action: screw.simulate("rkmk", step=t, options={"action": action})["x"].values[-1]
             for action in ("se3", "so3_r3")}
    assert found["se3"] == pytest.approx(wanted, abs=1e-14)
    assert np.abs(found["so3_r3"] - wanted).max() > 1e-2

    turning = liestep.system("swaying", field=lambda t, R, x: (np.array([0.3, 0.2*np.sin(t), 1.0]), R[:, 0] + 0.1*x),
                             start={"R": np.eye(3), "x": start}, t_end=t)
    exact = turning.simulate("dop853", tolerance=1e-13)["x"].values[-1]
    error = [np.abs(turning.simulate("rkmk", step=h, options={"action": "se3"})["x"].values[-1] - exact).max()
             for h in (0.1, 0.05)]
    assert np.log2(error[0]/error[1]) == pytest.approx(4.0, abs=0.2)


SPIN = {"q": [0.6, 0.0, 0.8]}
LOOSE = {"q": [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]], "x": [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.2, 0.5, 0.0]]}
PAIR = {"R": [np.eye(3), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]], "q": [0.0, 0.0, 1.0],
        "x": [[1.0, 2.0, -1.5], [0.3, 0.0, 1.0]]}


def loose(t, q, x):
    r = x[0] - x[1]
    return -np.array([q[1], q[0]])/(1.0 + r @ r) - [0.0, 0.0, 0.3], [np.cross(q[0], q[1]), q[0] - x[1], np.sin(t)*q[1]]


def coupled(R, q, x):
    w = np.array([R[0] @ ((R[0].T @ x[0])/[1, 2, 3]), R[1] @ ((R[1].T @ x[1])/[0.5, 0.6, 0.9])])
    torque = np.cross(R[0, :, 2], R[1, :, 0])
    return w, x[0] + [0.1, 0.2, 1.0], np.array([torque + q, -torque])


def exact_end(field, start, t):
    """R, q and x at t in one row, by scipy; a start has them in this order."""
    ends = np.cumsum([np.size(value) for value in start.values()])[:-1]

    def fields(y):
        return {name: part.reshape(np.shape(value))
                for (name, value), part in zip(start.items(), np.split(y, ends), strict=True)}

    def rates(t, y):
        at = fields(y)
        turns = {"R": lambda w: np.cross(w[:, None], np.swapaxes(at["R"], 1, 2)).swapaxes(1, 2), "x": lambda u: u,
                 "q": lambda w: np.cross(w, at["q"])}
        given = {**at, "t": t} if field is loose else at
        found = zip(at, map(np.asarray, field(**given)), strict=True)
        return np.concatenate([np.ravel(turns[name](rate)) for name, rate in found])

    y0 = np.concatenate([np.ravel(value) for value in start.values()])
    return solve_ivp(rates, (0, t), y0, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def ends(data):
    return np.concatenate([data[name].values[-1].ravel() for name in ("attitude", "q", "x") if name in data])


@pytest.mark.parametrize("method", [("rkmk", {"step": 0.1}), ("spherical_midpoint", {"step": 0.002}),
                                    ("dop853", {"tolerance": 1e-11})])
def test_a_spin_precesses_about_its_field(method):
    """dq/dt = -g B x q turns q about B by -g |B| t."""
    B, t = np.array([0.2, -0.4, 1.1]), 1.0
    spin = liestep.system("spin", field=lambda p: -p.g*B, parameters={"g": 1.7}, start=SPIN, t_end=t)
    data = spin.simulate(method[0], **method[1])
    wanted = expm(-1.7*t*np.cross(B, np.eye(3)).T) @ SPIN["q"]
    assert np.abs(data["q"].values[-1] - wanted).max() < (1e-6 if method[0] == "spherical_midpoint" else 1e-10)
    assert data.attrs["unit_length_error_max"] < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(("field", "start"), [(loose, LOOSE), (coupled, PAIR)])
def test_a_field_turns_attitudes_and_vectors_beside_others(field, start):
    wanted = exact_end(field, start, 0.5)
    own = liestep.system("own", field=field, start=start, t_end=0.5)
    for method, size in (("rkmk", {"step": 0.0025}), ("dop853", {"tolerance": 1e-11}), ("cf4", {"step": 0.0025})):
        assert np.abs(ends(own.simulate(method, samples=2, **size)) - wanted).max() < 1e-9
    box = liestep.system("box", field=field, start=start, t_end=0.5, blackbox=True).simulate("rkmk853", tolerance=1e-10)
    assert np.abs(ends(box) - wanted).max() < 1e-9


def test_rigid_motions_of_several_bodies():
    """Constant twists are exact in one step of SE(3)^n."""
    w, v, t = np.array([[0.0, 0.3, 1.0], [0.2, -0.5, 0.0]]), np.array([[0.5, 0.0, 0.2], [0.0, 0.0, 1.0]]), 2.0
    start = {"R": PAIR["R"], "x": PAIR["x"]}
    own = liestep.system("screws", field=lambda x: (w, np.cross(w, x) + v), start=start, t_end=t)
    found = own.simulate("rkmk", step=t, options={"action": "se3"}).isel(time=-1)
    for i in range(2):
        turn = expm(t*np.block([[np.cross(w[i], np.eye(3)).T, v[i, :, None]], [np.zeros((1, 4))]]))
        assert np.abs(found["x"].values[i] - (turn @ np.append(start["x"][i], 1.0))[:3]).max() < 1e-14
        assert np.abs(found["attitude"].values[i] - turn[:3, :3] @ start["R"][i]).max() < 1e-14


def test_a_black_box_of_an_attitude_alone_runs():
    box = liestep.system("box", field=lambda t, R: np.array([0.0, 0.0, 2.0*t]), start={"R": np.eye(3)}, blackbox=True)
    assert box.simulate("rkmk", step=0.1, t_end=1.0)["attitude"].values[-1][:, 0] == pytest.approx(
        [np.cos(1.0), np.sin(1.0), 0.0], abs=1e-12)


@pytest.mark.parametrize(("start", "said"), [
    ({"x": [1.0, 0.0, 0.0]}, "start lacks R or q"), ({"q": [1.0, 0.0]}, r"start q must be of shape \(3,\) or \(n, 3"),
    ({"R": np.zeros((2, 2))}, r"start R must be of shape \(3, 3\) or \(n, 3, 3\)"),
    ({"q": [1.0, 0.1, 0.0]}, "q.0. is not a unit vector"), ({"R": [np.eye(3), 2.0*np.eye(3)]}, "not a rotation")])
def test_a_start_of_another_shape_or_off_the_manifold_is_refused(start, said):
    with pytest.raises(InputError, match=said):
        liestep.system("own", field=lambda t: np.zeros((2, 3) if "R" in start else 3), start=start).simulate(
            "rkmk", step=0.1)


def test_a_solution_without_energy_that_ends_is_not_ok():
    """dy/dt = y^2 from 1 ends at t = 1."""
    blow = liestep.system("blow_up", rhs=lambda y: y*y, start={"y": [1.0]}, t_end=2.0)
    with pytest.raises(liestep.IntegrationError, match=r"stopped after t = 1\.0.*no longer finite"):
        blow.simulate("rk4", step=0.01)
    turn = liestep.system("turn_up", field=lambda R, x: (np.array([0.0, 0.0, 1.0]), x*x), t_end=2.0,
                          start={"R": np.eye(3), "x": [1.0, 0.0, 0.0]})
    with pytest.raises(liestep.IntegrationError, match="no longer finite"):
        turn.simulate("rkmk", step=0.01)
