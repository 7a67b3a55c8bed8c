"""Ten problems as their authors write them, each in at most twelve lines, against scipy and mpmath to 1e-8."""
import ast
import inspect
import textwrap

import mpmath
import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp

import liestep


def henon_heiles():
    def H(q, momentum):
        x, y = q
        return 0.5*(momentum @ momentum + q @ q) + x*x*y - y**3/3
    orbit = liestep.system("henon", hamiltonian=H, start={"q": [0.1, 0.2], "momentum": [0.3, -0.1]})
    return orbit.simulate("taylor", tolerance=1e-12, t_end=5.0)["q"].values[-1]


def oblate_kepler():
    def L(q, v, p):
        r = np.linalg.norm(q)
        return 0.5*(v @ v) + 1/r + p.eps/(3*r**3)
    orbit = liestep.system("oblate", lagrangian=L, parameters={"eps": 0.01}, start={"q": [0.4, 0], "v": [0, 2]})
    return orbit.simulate("dop853", tolerance=1e-12, t_end=5.0)["q"].values[-1]


def toda_chain():
    def H(q, momentum):
        return 0.5*(momentum @ momentum) + sum(np.exp(q[i] - q[i + 1]) for i in range(3))
    start = {"q": [0, 0.1, -0.2, 0.3], "momentum": [0.5, 0, 0, -0.5]}
    chain = liestep.system("toda", hamiltonian=H, start=start)
    return chain.simulate("dop853", tolerance=1e-12, t_end=5.0)["q"].values[-1]


def damped_double_pendulum():
    def L(q, v, p):
        T = p.m*v[0]**2 + 0.5*p.m*v[1]**2 + p.m*v[0]*v[1]*np.cos(q[0] - q[1])
        return T + p.m*p.g*(2*np.cos(q[0]) + np.cos(q[1]))
    arms = liestep.system("arms", lagrangian=L, force=lambda v, p: -p.c*v, parameters={"m": 1.0, "g": 9.81, "c": 0.3},
                          start={"q": [1.2, -0.4], "v": [0, 0.5]})
    return arms.simulate("dop853", tolerance=1e-12, t_end=3.0)["q"].values[-1]


def lotka_volterra():
    def rhs(y, p):
        return [y[0]*(p.a - p.b*y[1]), y[1]*(p.b*y[0] - p.a)]
    prey = liestep.system("prey", rhs=rhs, parameters={"a": 1.0, "b": 2.0}, start={"y": [1.0, 0.5]})
    return prey.simulate("dop853", tolerance=1e-12, t_end=8.0)["y"].values[-1]


def planar_vortices():
    def rhs(y, p):
        z, out = y.reshape(3, 2), np.zeros((3, 2))
        for i, j in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):
            d = z[i] - z[j]
            out[i] += p.gamma[j]*np.array([-d[1], d[0]])/(2*np.pi*(d @ d))
        return out.ravel()
    start = {"y": [0, 0, 1, 0, 0.3, 0.8]}
    flow = liestep.system("flow", rhs=rhs, parameters={"gamma": [1.0, 2.0, -0.5]}, start=start)
    return flow.simulate("dop853", tolerance=1e-12, t_end=5.0)["y"].values[-1]


def charged_particle():
    def L(q, v, p):
        return 0.5*(v @ v) + 0.5*p.B*(q[0]*v[1] - q[1]*v[0]) - p.E*q[2]**2
    ion = liestep.system("ion", lagrangian=L, parameters={"B": 2.0, "E": 0.3},
                         start={"q": [1, 0, 0.2], "v": [0, 1, 0.3]})
    return ion.simulate("dop853", tolerance=1e-12, t_end=5.0)["q"].values[-1]


def satellite():
    def V(R, p):
        e = R.T @ np.array([0, 0, 1.0])
        return 1.5*p.rate**2*(e @ (p.inertia*e))
    body = liestep.system("satellite", potential=V, inertia=[1, 2, 2.5], parameters={"rate": 1.0},
                          start={"R": np.eye(3), "rate": [0.1, 0.2, 0.3]})
    return body.simulate("dop853", tolerance=1e-12, t_end=4.0)["attitude"].values[-1]


def controlled_body():
    def control(R, omega):
        e = 0.5*np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return -4*e - 1.5*omega
    slew = liestep.system("slew", torque=control, inertia=[1, 2, 2.5],
                          start={"R": [[0, -1, 0], [1, 0, 0], [0, 0, 1]], "rate": [0.2, -0.1, 0.4]})
    return slew.simulate("dop853", tolerance=1e-12, t_end=3.0)["attitude"].values[-1]


def fekete_points():
    def V(q):
        return -0.5*sum(np.log((q[i] - q[j]) @ (q[i] - q[j])) for i in range(4) for j in range(i))
    points = liestep.system("points", potential=V, force=lambda v: -0.5*v, mass=[1.0]*4,
                            start={"q": [[0, 0, 1], [0.6, 0, 0.8], [0, 0.6, 0.8], [0, -0.8, 0.6]]})
    return points.simulate("dop853", tolerance=1e-12, t_end=100.0)["mechanical_energy"].values[-1]


def by_scipy(rhs, start, t_end, pick=slice(None)):
    return solve_ivp(rhs, (0.0, t_end), start, method="DOP853", rtol=3e-14, atol=1e-15).y[pick, -1]


def _oblate(t, y):
    r = np.linalg.norm(y[:2])
    return [*y[2:], *(-y[:2]*(1/r**3 + 0.01/r**5))]


def _pendulum(t, y):
    a, b, u, w = y
    c, s = np.cos(a - b), np.sin(a - b)
    rates = np.linalg.solve([[2, c], [c, 1]], [-s*w*w - 2*9.81*np.sin(a) - 0.3*u, s*u*u - 9.81*np.sin(b) - 0.3*w])
    return [u, w, *rates]


def _flow(t, y):
    z, g = y[::2] + 1j*y[1::2], np.array([1.0, 2.0, -0.5])
    rates = [sum(g[j]*1j/(2*np.pi*np.conj(z[i] - z[j])) for j in range(3) if j != i) for i in range(3)]
    return np.array([[x.real, x.imag] for x in rates]).ravel()


def _body(torque):
    """dR/dt = hat(omega) R and dpi/dt = torque(R, omega), omega = R J^-1 R^T pi."""
    def rhs(t, y):
        R, J = y[:9].reshape(3, 3), np.array([1, 2, 2.5])
        omega = R @ ((R.T @ y[9:])/J)
        return np.concatenate([np.cross(omega, R.T).T.ravel(), torque(R, omega)])

    return rhs


def _gradient(R, omega):
    e = R.T @ np.array([0, 0, 1.0])
    return 3.0*R @ np.cross(e, np.array([1, 2, 2.5])*e)


def _control(R, omega):
    return -2*np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) - 1.5*omega


def _turned(torque, R, rate, t_end):
    R = np.array(R, dtype=float)
    start = np.concatenate([R.ravel(), R @ (np.array([1, 2, 2.5])*rate)])
    return by_scipy(_body(torque), start, t_end, slice(9)).reshape(3, 3)


def _toda(t, y):
    e = np.exp(y[:3] - y[1:4])
    return np.concatenate([y[4:], np.append(0, e) - np.append(e, 0)])


def _henon(t, y):
    with mpmath.workdps(25):
        flow = mpmath.odefun(lambda t, y: [y[2], y[3], -y[0] - 2*y[0]*y[1], -y[1] - y[0]**2 + y[1]**2], 0,
                             [mpmath.mpf(x)/10 for x in (1, 2, 3, -1)])
        return [float(x) for x in flow(t)[:2]]


PROBLEMS = {
    henon_heiles: lambda: _henon(5, None),
    oblate_kepler: lambda: by_scipy(_oblate, [0.4, 0, 0, 2], 5.0, slice(2)),
    toda_chain: lambda: by_scipy(_toda, [0, 0.1, -0.2, 0.3, 0.5, 0, 0, -0.5], 5.0, slice(4)),
    damped_double_pendulum: lambda: by_scipy(_pendulum, [1.2, -0.4, 0, 0.5], 3.0, slice(2)),
    lotka_volterra: lambda: by_scipy(lambda t, y: [y[0]*(1 - 2*y[1]), y[1]*(2*y[0] - 1)], [1, 0.5], 8.0),
    planar_vortices: lambda: by_scipy(_flow, [0, 0, 1, 0, 0.3, 0.8], 5.0),
    charged_particle: lambda: by_scipy(lambda t, y: [*y[3:], 2*y[4], -2*y[3], -0.6*y[2]], [1, 0, 0.2, 0, 1, 0.3], 5.0,
                                       slice(3)),
    satellite: lambda: _turned(_gradient, np.eye(3), [0.1, 0.2, 0.3], 4.0),
    controlled_body: lambda: _turned(_control, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0.2, -0.1, 0.4], 3.0),
    fekete_points: lambda: float(-3*mpmath.log(mpmath.mpf(8)/3))}  # they end at rest, as a tetrahedron


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.__name__)
def test_problem(problem):
    code = textwrap.dedent(inspect.getsource(problem))
    body = ast.parse(code).body[0].body
    assert body[-1].end_lineno - body[0].lineno + 1 <= 12
    assert np.abs(problem() - np.array(PROBLEMS[problem]())).max() < 1e-8
