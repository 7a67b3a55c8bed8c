"""Energy-stepping, of the outlook of rodrigues2021, on its pendulum: why docs/decisions.md says that it is no
integrator here. The potential V = -u.e_3 of u = R rho0 becomes constant between levels `width` apart; with equal
moments a flight between them is a turn about a fixed axis, and the next level is met at an angle in closed form."""
from math import acos, atan2, cos, floor, hypot, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from liestep import simulate
from liestep.simulation.catalogue import sheet

pytestmark = pytest.mark.slow

U, W = (sqrt(0.5), 0.0, -sqrt(0.5)), (0.2, 0.0, 0.2)  # eq. (42)
FIRST = 0.5*0.08 + sqrt(0.5)                          # energy there


def cross(a, b):
    return a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]


def dot(a, b):
    return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]


def axpy(s, a, b):
    return tuple(s*p + q for p, q in zip(a, b, strict=True))


def meeting(u, axis, levels):
    """(angle, side) of the turn about `axis` at which V leaves (levels[0], levels[1])."""
    mean = axis[2]*dot(axis, u)
    b, c = u[2] - mean, cross(axis, u)[2]
    size, phase, found = hypot(b, c), atan2(c, b), (np.inf, 0)
    for level, side in zip(levels, (-1, 1), strict=True):
        cosine = (-level - mean)/size
        if abs(cosine) < 1.0:
            # V rises after the maximum of u_3
            found = min(found, ((phase + side*acos(cosine)) % (2.0*pi), side))
    return found


def stepped(width, t_end, offset=0.5):
    """u, w, energy with the potential of the terrace, and how often a level was met."""
    u, w, t, met = U, W, 0.0, 0
    terrace = floor(-u[2]/width - offset)
    while True:
        size = sqrt(dot(w, w))
        axis = axpy(1.0/size - 1.0, w, w)
        angle, side = meeting(u, axis, ((terrace + offset)*width, (terrace + 1 + offset)*width))
        last = t + angle/size >= t_end
        angle = (t_end - t)*size if last else angle
        once = cross(axis, u)
        u = axpy(sin(angle), once, axpy(1.0 - cos(angle), cross(axis, once), u))
        if last:
            return np.array(u), np.array(w), 0.5*dot(w, w) + (terrace + offset + 0.5)*width, met
        t, met = t + angle/size, met + 1
        torque = cross(u, (0.0, 0.0, 1.0))
        along, square = dot(w, torque), dot(torque, torque)
        left = along*along - 2.0*square*side*width
        if left < 0.0:  # the level is too high: reflected
            w = axpy(-2.0*along/square, torque, w)
        else:
            w = axpy((sqrt(left) - abs(along))/square*(1.0 if along > 0.0 else -1.0), torque, w)
            terrace += side


@pytest.fixture(scope="module")
def exact():
    """u and w at t = 10 by another code."""
    found = solve_ivp(lambda t, y: np.concatenate([np.cross(y[3:], y[:3]), np.cross(y[:3], [0.0, 0.0, 1.0])]),
                      (0.0, 10.0), [*U, *W], method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]
    return found[:3], found[3:]


def test_energy_and_momenta_are_kept_to_round_off():
    u, w, energy, met = stepped(0.0125, 250.0)
    terrace = (floor(-U[2]/0.0125 - 0.5) + 1.0)*0.0125
    assert met > 12_000
    assert abs(energy - (0.04 + terrace)) <= 1e-11
    assert abs(w[2] - W[2]) <= 1e-13
    assert abs(u @ w) <= 1e-13
    assert abs(0.5*w @ w - u[2] - FIRST) <= 0.0125  # the true energy, within one level


def test_the_error_falls_as_the_root_of_the_width_and_map_25_is_far_cheaper(exact):
    widths, errors, count = 0.05/2.0**np.arange(6), [], 0
    for width in widths:
        runs = [stepped(width, 10.0, offset) for offset in np.linspace(0.05, 0.95, 6)]
        errors.append(sqrt(np.mean([max(np.abs(u - exact[0]).max(), np.abs(w - exact[1]).max())**2
                                    for u, w, _, _ in runs])))
        count = np.mean([met for *_, met in runs])
    order = np.polyfit(np.log(widths), np.log(errors), 1)[0]
    assert 0.25 <= order <= 0.6
    assert count > 4000
    assert errors[-1] > 0.1
    data = simulate("heavy_top", "rodrigues", preset="rodrigues2021", step=0.1, samples=2)
    place = data["attitude"].values[-1, :, 2]  # R rho0 with rho0 = e_3
    assert np.abs(place - exact[0]).max() <= 5e-3  # with 100 evaluations


def test_levels_of_many_bodies_are_met_as_often_as_there_are_bodies():
    """So that the cost of a global potential, whose every value takes n evaluations, grows faster than n."""
    total, facts = [], sheet("bonded_ring")
    for n in (20, 320):
        values = {**facts.presets["rescaled"].parameters, "particles": n, "ring_diameter": 0.375*n, "wall_law": "none",
                  "contact_pairs": "none"}
        random, start = np.random.default_rng(1), facts.presets["rescaled"].initial(facts.check(values))
        start["velocity"], start["angular_momentum"] = 0.3*random.standard_normal((2, n, 3))
        data = simulate("bonded_ring", "rodrigues", parameters=values, initial=start, step=0.01, t_end=5.0,
                        samples=501)
        potential = data["energy"] - data["translation_energy"] - data["rotation_energy"]
        total.append(float(np.abs(np.diff(potential.values)).sum()))
    assert total[1] > 6.0*total[0]
