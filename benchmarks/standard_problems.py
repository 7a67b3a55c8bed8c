"""Standard problems in the forms that suit other libraries best, compiled by Numba: least coordinates for solvers of
ordinary equations, the stabilised form of index two (Gear, Gupta and Leimkuhler 1985) for a solver of
differential-algebraic ones. Their functions take complex numbers too, so that Jacobians are exact, by complex steps,
and compiled. Data and equations: Test Set for Initial Value Problem Solvers (Mazzia and Magherini 2008); squeezer:
Hairer and Wanner 1996, VII.7; governor and pendulum: IFToMM A05 and A01, as in papers/testsets."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from liestep.simulation.runs.specification import start_of

Fields = Mapping[str, np.ndarray]
G = 9.81


class Standard(NamedTuple):
    """A problem: id and methods of ours; `slope(t, y)` of the ordinary equations from `start` to t_end;
    `constrained`: (mass(q), force(t, q, v), places and rates of the conditions (t, q, v), their matrix (t, q)), or
    None; `from_state` and `from_fields` give the numbers that are compared, of y or of (q, v), and of our run."""

    label: str
    system: str
    t_end: float
    start: np.ndarray
    slope: Any
    from_state: Callable[[np.ndarray], np.ndarray]
    from_fields: Callable[[Fields], np.ndarray]
    constrained: tuple[Any, Any, Any, Any] | None = None
    constrained_start: np.ndarray | None = None  # (q, v), if it is not `start`
    from_constrained: Callable[[np.ndarray], np.ndarray] | None = None
    methods: tuple[str, ...] = ("dop853", "rkmk853", "taylor")
    heyoka: bool = True  # whether its equations are expressions


@njit
def pleiades(t, y):
    out = np.zeros_like(y)
    out[:14] = y[14:]
    for i in range(7):
        for j in range(i):
            a, b = y[j] - y[i], y[7 + j] - y[7 + i]
            cube = (a*a + b*b)**1.5
            a, b = a/cube, b/cube
            out[14 + i] += (j + 1)*a
            out[21 + i] += (j + 1)*b
            out[14 + j] -= (i + 1)*a
            out[21 + j] -= (i + 1)*b
    return out


@njit
def fekete_force(t, q, v):
    out = -0.5*v
    n = len(q)//3
    for i in range(n):
        for j in range(i):
            a, b, c = q[3*i] - q[3*j], q[3*i + 1] - q[3*j + 1], q[3*i + 2] - q[3*j + 2]
            square = a*a + b*b + c*c
            a, b, c = a/square, b/square, c/square
            out[3*i] += a
            out[3*i + 1] += b
            out[3*i + 2] += c
            out[3*j] -= a
            out[3*j + 1] -= b
            out[3*j + 2] -= c
    return out


@njit
def fekete(t, y):
    """The tangential part of the force, and what keeps a point on its sphere."""
    n = len(y)//2
    q, v = y[:n], y[n:]
    out = np.empty_like(y)
    out[:n] = v
    force = fekete_force(t, q, v)
    for i in range(0, n, 3):
        along = (q[i]*force[i] + q[i + 1]*force[i + 1] + q[i + 2]*force[i + 2]
                 + v[i]*v[i] + v[i + 1]*v[i + 1] + v[i + 2]*v[i + 2])
        for k in range(i, i + 3):
            out[n + k] = force[k] - along*q[k]
    return out


@njit
def points_of(q):
    """Number and dimensions of points at distance 1 from the origin: one in the plane, or some in space."""
    return (1, 2) if len(q) == 2 else (len(q)//3, 3)


@njit
def unit_conditions(t, q, v):
    count, size = points_of(q)
    place, rate = np.zeros_like(q[:count]), np.zeros_like(q[:count])
    for i in range(count):
        place[i] = -0.5
        for k in range(size*i, size*i + size):
            place[i] += 0.5*q[k]*q[k]
            rate[i] += q[k]*v[k]
    return place, rate


@njit
def unit_matrix(t, q):
    count, size = points_of(q)
    out = np.zeros((count, len(q)), q.dtype)
    for i in range(count):
        out[i, size*i:size*i + size] = q[size*i:size*i + size]
    return out


@njit
def unit_mass(q):
    return np.eye(len(q)).astype(q.dtype)


CAR = 0.01**2*10/2


@njit
def road(t):
    """Place, rate and acceleration of the end of the axis on the wheel: (x, y) of each."""
    y, u = 0.1*np.sin(10*t), np.cos(10*t)
    x = np.sqrt(1 - y*y)
    w = -y*u/x
    return x, y, w, u, -(u*u - 100*y*y + w*w)/x, -100*y


@njit
def car_force(t, q, v):
    x, y, _, _, _, _ = road(t)
    left, right = np.sqrt(q[0]**2 + q[1]**2), np.sqrt((q[2] - x)**2 + (q[3] - y)**2)
    a, b = (0.5 - left)/left, (0.5 - right)/right
    out = np.empty_like(q)
    out[0], out[1], out[2], out[3] = a*q[0], a*q[1] - CAR, b*(q[2] - x), b*(q[3] - y) - CAR
    return out


@njit
def car_matrix(t, q):
    x, y, _, _, _, _ = road(t)
    out = np.zeros((2, 4), q.dtype)
    a, b = q[0] - q[2], q[1] - q[3]
    out[0, 0], out[0, 1] = x, y
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = 2*a, 2*b, -2*a, -2*b
    return out


@njit
def car_conditions(t, q, v):
    x, y, w, u, _, _ = road(t)
    place, rate = np.zeros_like(q[:2]), np.zeros_like(q[:2])
    a, b = q[0] - q[2], q[1] - q[3]
    place[0], place[1] = q[0]*x + q[1]*y, a*a + b*b - 1
    rate[0] = v[0]*x + v[1]*y + q[0]*w + q[1]*u
    rate[1] = 2*(a*(v[0] - v[2]) + b*(v[1] - v[3]))
    return place, rate


@njit
def car_axis(t, y):
    """The reactions of both rods by the second derivative of their conditions."""
    q, v = y[:4], y[4:]
    x, z, w, u, away, up = road(t)
    f, a = car_force(t, q, v), car_matrix(t, q)
    one = -CAR*(2*(w*v[0] + u*v[1]) + away*q[0] + up*q[1]) - (x*f[0] + z*f[1])
    two = -2*CAR*((v[0] - v[2])**2 + (v[1] - v[3])**2)
    first, cross, second = x*x + z*z, x*a[1, 0] + z*a[1, 1], y[0]*0
    for k in range(4):
        two -= a[1, k]*f[k]
        second += a[1, k]*a[1, k]
    whole = first*second - cross*cross
    k, h = (second*one - cross*two)/whole, (first*two - cross*one)/whole
    out = np.empty_like(y)
    out[:4] = v
    for i in range(4):
        out[4 + i] = (f[i] + a[0, i]*k + a[1, i]*h)/CAR
    return out


@njit
def car_mass(q):
    return CAR*np.eye(4).astype(q.dtype)


MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
D, DA, RR, E, ZT, U, ZF, FA = 0.028, 0.0115, 0.007, 0.02, 0.04, 0.04, 0.02, 0.01421
# loop, length, whether it is turned by a right angle, angles that add up (-1: none)
BARS = tuple((loop, *bar) for loop, own in enumerate((
    ((0.035, True, 2, -1),), ((E, True, 3, 4), (-ZT, False, 4, -1)), ((-ZF, False, 5, 6), (U, True, 6, -1))))
    for bar in ((RR, False, 0, -1), (-D, False, 0, 1), *own))
LOOPS = np.array([bar[0] for bar in BARS])
LENGTHS = np.array([bar[1] for bar in BARS])
QUARTERS = np.array([bar[2] for bar in BARS])
ANGLES = np.array([bar[3:] for bar in BARS])
PINS = np.array([-0.03635, 0.03273, -0.06934, -0.00227, -0.06934, -0.00227])


@njit
def bar(k, q, v):
    """Cosine, sine and rate of the direction of a bar in its loop."""
    one, two = ANGLES[k]
    angle, rate = q[one], v[one]
    if two >= 0:
        angle, rate = angle + q[two], rate + v[two]
    c, s = LENGTHS[k]*np.cos(angle), LENGTHS[k]*np.sin(angle)
    return (-s, c, rate) if QUARTERS[k] else (c, s, rate)


@njit
def squeezer_mass(q):
    m, i, c, s, w = MASS, INERTIA, np.cos(q[1]), np.sin(q[3]), np.sin(q[5])
    out = np.zeros((7, 7), q.dtype)
    out[0, 0] = m[0]*0.00092**2 + m[1]*(RR*RR - 2*DA*RR*c + DA*DA) + i[0] + i[1]
    out[1, 0] = out[0, 1] = m[1]*(DA*DA - DA*RR*c) + i[1]
    out[1, 1] = m[1]*DA*DA + i[1]
    out[2, 2] = m[2]*(0.01874**2 + 0.01043**2) + i[2]
    e, z = E - FA, ZF - FA
    out[3, 3] = m[3]*e*e + i[3]
    out[4, 3] = out[3, 4] = m[3]*(e*e + ZT*e*s) + i[3]
    out[4, 4] = m[3]*(ZT*ZT + 2*ZT*e*s + e*e) + m[4]*(0.02308**2 + 0.00916**2) + i[3] + i[4]
    out[5, 5] = m[5]*z*z + i[5]
    out[6, 5] = out[5, 6] = m[5]*(z*z - U*z*w) + i[5]
    out[6, 6] = m[5]*(z*z - 2*U*z*w + U*U) + m[6]*(0.01228**2 + 0.00449**2) + i[5] + i[6]
    return out


@njit
def squeezer_force(t, q, v):
    m, e, z = MASS, E - FA, ZF - FA
    c, s = np.cos(q[2]), np.sin(q[2])
    x = 0.02*c + 0.018*s - 0.03635 - 0.014
    y = 0.02*s - 0.018*c + 0.03273 - 0.072
    length = np.sqrt(x*x + y*y)
    pull = -4530*(length - 0.07785)/length
    out = np.empty_like(q)
    out[0] = 0.033 - m[1]*DA*RR*v[1]*(v[1] + 2*v[0])*np.sin(q[1])
    out[1] = m[1]*DA*RR*v[0]*v[0]*np.sin(q[1])
    out[2] = pull*(x*(0.018*c - 0.02*s) + y*(0.02*c + 0.018*s))
    out[3] = m[3]*ZT*e*v[4]*v[4]*np.cos(q[3])
    out[4] = -m[3]*ZT*e*v[3]*(v[3] + 2*v[4])*np.cos(q[3])
    out[5] = -m[5]*U*z*v[6]*v[6]*np.cos(q[5])
    out[6] = m[5]*U*z*v[5]*(v[5] + 2*v[6])*np.cos(q[5])
    return out


@njit
def squeezer_matrix(t, q):
    out = np.zeros((6, 7), q.dtype)
    for k in range(len(LOOPS)):
        x, y, _ = bar(k, q, q)
        for j in ANGLES[k]:
            if j >= 0:
                out[2*LOOPS[k], j] -= y
                out[2*LOOPS[k] + 1, j] += x
    return out


@njit
def squeezer_conditions(t, q, v):
    place, rate = np.zeros_like(q[:6]), np.zeros_like(q[:6])
    for k in range(6):
        place[k] = -PINS[k]
    for k in range(len(LOOPS)):
        x, y, w = bar(k, q, v)
        i = 2*LOOPS[k]
        place[i] += x
        place[i + 1] += y
        rate[i] -= y*w
        rate[i + 1] += x*w
    return place, rate


@njit
def squeezer(t, y):
    """Accelerations and reactions of one system of 13 equations."""
    q, v = y[:7], y[7:]
    a, matrix, right = squeezer_matrix(t, q), np.zeros((13, 13), y.dtype), np.zeros(13, y.dtype)
    matrix[:7, :7] = squeezer_mass(q)
    matrix[:7, 7:] = a.T
    matrix[7:, :7] = a
    right[:7] = squeezer_force(t, q, v)
    for k in range(len(LOOPS)):
        x, z, w = bar(k, q, v)
        right[7 + 2*LOOPS[k]] += x*w*w
        right[8 + 2*LOOPS[k]] += z*w*w
    out = np.empty_like(y)
    out[:7] = v
    out[7:] = np.linalg.solve(matrix, right)[:7]
    return out


@njit
def pendulum(t, y):
    """The angle from the downward vertical, and its rate."""
    out = np.empty_like(y)
    out[0], out[1] = y[1], -G*np.sin(y[0])
    return out


@njit
def weight(t, q, v):
    out = np.zeros_like(q)
    out[1] = -G
    return out


@njit
def governor(t, y):
    """Turn of the shaft, angle of the arms below the horizontal and height of the slider, and their rates."""
    rod, ball = 0.3, 5.0
    mass, offset = rod + ball, 0.5*ball/(rod + ball)
    reach = 0.5 + offset
    thin = rod/12*2e-4
    long = rod/12*(1 + 1e-4) + rod*offset**2 + ball*(0.5 - offset)**2
    a, s, w, da, ds = y[1], y[2], y[3], y[4], y[5]
    c, n = np.cos(a), np.sin(a)
    out_ = 0.05 + reach*c
    turned = 0.3/12*2e-4 + 3.0/12*0.02 + 2*(mass*out_*out_ + thin*n*n + long*c*c)
    slope = 4*(-mass*out_*reach*n + (thin - long)*n*c)
    x, z = 0.5*c, 1 - 0.5*n - s
    length = np.sqrt(x*x + z*z)
    da_length, ds_length = (-0.5*n*x - 0.5*c*z)/length, -z/length
    pull = 8e5*(length - 0.5) + 4e4*(da_length*da + ds_length*ds)
    out = np.empty_like(y)
    out[:3] = y[3:]
    out[3] = -slope*da*w/turned
    out[4] = (0.5*w*w*slope + 2*mass*G*reach*c - 2*pull*da_length)/(2*(mass*reach*reach + long))
    out[5] = -G - 2*pull*ds_length/3.0
    return out


def directions(q: np.ndarray) -> np.ndarray:
    """Of the squeezer's seven bodies."""
    angles = np.array([q[0], q[0] + q[1], q[2], q[3] + q[4], q[4], q[5] + q[6], q[6]])
    return np.concatenate([np.cos(angles), np.sin(angles)])


def problems() -> list[Standard]:
    """All of them; their plugins are loaded already."""
    def first(name: str) -> Fields:
        return {key: np.asarray(value, float) for key, value in start_of(name).initial.items()}

    stars = first("ivp_pleiades")["y"]
    points = first("ivp_fekete")["q"].ravel()
    car = first("ivp_car_axis")["y"]
    angles = np.zeros(14)
    angles[:7] = (-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
                  -0.222668390165885885, 1.23054744454982119)
    return [
        Standard("Pleiades", "ivp_pleiades", 3.0, stars, pleiades, lambda y: y, lambda f: f["y"]),
        Standard("Fekete points", "ivp_fekete", 1000.0, np.concatenate([points, 0*points]), fekete,
                 lambda y: y[:60], lambda f: f["q"].ravel(),
                 (unit_mass, fekete_force, unit_conditions, unit_matrix)),
        Standard("car axis", "ivp_car_axis", 3.0, car, car_axis, lambda y: y[:4], lambda f: f["y"][:4],
                 (car_mass, car_force, car_conditions, car_matrix)),
        Standard("Andrews' squeezer", "andrews_squeezer", 0.03, angles, squeezer, directions,
                 lambda f: f["attitude"][:, :2, 0].T.ravel(),
                 (squeezer_mass, squeezer_force, squeezer_conditions, squeezer_matrix), heyoka=False),
        Standard("simple pendulum", "iftomm_pendulum", 10.0, np.array([-0.5*np.pi, 0.0]), pendulum,
                 lambda y: np.array([np.sin(y[0]), -np.cos(y[0])]), lambda f: f["position"][0, :2],
                 (unit_mass, weight, unit_conditions, unit_matrix), np.array([-1.0, 0.0, 0.0, 0.0]),
                 lambda y: y[:2]),
        Standard("flyball governor", "iftomm_governor", 1.0,
                 np.array([0.0, np.pi/6, 0.5, 2*np.pi, 0.0, 0.0]), governor,
                 lambda y: np.array([y[2], np.cos(y[0]), np.sin(y[0])]),
                 lambda f: np.array([f["position"][1, 2], *f["attitude"][0, :2, 0]]))]
