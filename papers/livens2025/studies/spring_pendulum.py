"""Spring pendulum without gravity in spherical coordinates: a mass matrix that depends on the position (livens2025
section 5.2).

x = r (sin theta cos phi, sin theta sin phi, cos theta), T = m/2 (r'^2 + r^2 theta'^2 + r^2 sin^2 theta phi'^2), V =
EA/2 eps^2 with Green's strain eps = (r^2 - l^2)/(2 l^2). L = x x p is conserved. `drag` is a force -drag dx/dt.
"""
from typing import Any

import numpy as np

from liestep.extend import (
    Counter,
    Form,
    Formulated,
    InputError,
    NamedTuple,
    Observable,
    Option,
    Options,
    Parameter,
    Parameters,
    Preset,
    Sheet,
    State,
    StateField,
    Status,
    Vector,
    add,
    axpy,
    borrows,
    cos,
    cross,
    dot,
    kernel,
    new_counters,
    own,
    put,
    row,
    scale,
    sin,
    sub,
)
from liestep.mechanics.formulations.constrained.body_forms import MOMENTUM
from liestep.mechanics.formulations.coordinates import Coordinates, Masses, energies, legendre
from liestep.mechanics.formulations.general import RatesField

AVERAGE, FREED = 3, 1  # rules of `integrators.livens`: mean values; direction freed of phi
GAUSS = 5  # points of the mean values
FIELDS = (
    StateField("position", "m", "position of the mass", ("xyz",), "relative"),
    StateField("momentum", "kg m s-1", "linear momentum of the mass", ("xyz",), "relative"),
    StateField("q", "m, rad, rad", "r, theta, phi", ("coordinate",), "derived"),
    StateField("v", "m s-1, rad s-1, rad s-1", "velocities of r, theta, phi", ("coordinate",), "derived"),
)
MOMENTA = StateField("p", "kg m s-1, kg m2 s-1, kg m2 s-1", "momenta of the coordinates", ("coordinate",), "derived")


@kernel
def spring_energy(k: float, length: float, square: float) -> float:
    """EA/2 eps^2 = k (r^2 - l^2)^2, k = EA/(8 l^4)."""
    gap = square - length*length
    return k*gap*gap


@kernel
def ends(q0: np.ndarray, q1: np.ndarray) -> tuple[Vector, Vector, Vector]:
    """Both ends of a step, and between them its middle."""
    a, b = (q0[0], q0[1], q0[2]), (q1[0], q1[1], q1[2])
    return a, scale(0.5, add(a, b)), b


@kernel
def put_energies(y: np.ndarray, kinetic: float, potential: float, apart: float, out: np.ndarray) -> None:
    """(74), (80), |p - M v|, and with drag work and H less work."""
    out[4] = dot(row(y, 2), row(y, 1)) - kinetic + potential
    out[5] = kinetic + potential
    out[6] = apart
    if y.shape[0] > 4:
        out[7] = y[4, 0]
        out[8] = out[4] - y[4, 0]


@borrows(Coordinates)
class SphericalSpring(NamedTuple):
    """q = (r, theta, phi), M = m diag(1, r^2, r^2 sin^2 theta):
    `mechanics.contracts.formulations.ConstrainedLagrangian` without constraints."""

    mass: float
    constant: float       # EA/(8 l^4)
    length: float         # l
    drag: float
    misprint: bool        # dT/dr with r^2 instead of r
    nodes: np.ndarray     # (g,) of Gauss on [0, 1]
    weights: np.ndarray   # (g,)
    counters: np.ndarray

    def size(self) -> int:
        return 3

    def admissible(self, q0: np.ndarray, q1: np.ndarray) -> Status:
        if not q1[0] > 0.0:
            return Status.RADIUS_NOT_POSITIVE
        return Status.OK if 0.0 < q1[1] < np.pi else Status.POLE_REACHED

    def masses(self, q: Vector) -> Vector:
        """Diagonal of M."""
        side = q[0]*sin(q[1])
        return self.mass, self.mass*q[0]*q[0], self.mass*side*side

    def energy_at(self, q: Vector, v: Vector) -> float:
        """T(q, v)."""
        m = self.masses(q)
        return 0.5*(m[0]*v[0]*v[0] + m[1]*v[1]*v[1] + m[2]*v[2]*v[2])

    def radial(self, r: float) -> float:
        return r*r if self.misprint else r

    def slope(self, q: Vector, v: Vector, r: float) -> Vector:
        """dT/dq; r is q[0], or what the misprint puts for it."""
        s = sin(q[1])
        return (self.mass*(r*v[1]*v[1] + q[0]*s*s*v[2]*v[2]), self.mass*q[0]*q[0]*s*cos(q[1])*v[2]*v[2], 0.0*q[2])

    def curvature(self, q: Vector, v: Vector) -> Vector:
        """d2T/dr2, d2T/dr dtheta, d2T/dtheta2; the other second derivatives by q vanish."""
        s, c, w = sin(q[1]), cos(q[1]), v[2]*v[2]
        growth = 2.0*q[0] if self.misprint else 1.0
        return (self.mass*(growth*v[1]*v[1] + s*s*w), 2.0*self.mass*q[0]*s*c*w, self.mass*q[0]*q[0]*(c*c - s*s)*w)

    def mixed(self, q: Vector, v: Vector) -> Vector:
        """d2T/dr dv_theta, d2T/dr dv_phi, d2T/dtheta dv_phi."""
        s = sin(q[1])
        return (2.0*self.mass*self.radial(q[0])*v[1], 2.0*self.mass*q[0]*s*s*v[2],
                2.0*self.mass*q[0]*q[0]*s*cos(q[1])*v[2])

    def at_point(self, w: float, share: float, beta: float, q: Vector, v: Vector, r: np.ndarray, a: np.ndarray) -> None:
        """r += w dT/dq; a += w (share d/dq + beta d/dv) of it."""
        g, k, b = self.slope(q, v, self.radial(q[0])), self.curvature(q, v), self.mixed(q, v)
        r[0] += w*g[0]
        r[1] += w*g[1]
        a[0, 0] += w*share*k[0]
        a[0, 1] += w*(share*k[1] + beta*b[0])
        a[1, 0] += w*share*k[1]
        a[1, 1] += w*share*k[2]
        a[0, 2] += w*beta*b[1]
        a[1, 2] += w*beta*b[2]

    def correct(self, rule: int, w: float, alpha: float, beta: float, q0: Vector, q1: Vector, v: Vector,
                r: np.ndarray, a: np.ndarray) -> None:
        """r += w s d with s = (T(q1, v) - T(q0, v) - dT(q_m, v).d)/|d|^2, d the increment, without phi in a direction
        freed of it; a += its derivative."""
        free = rule == FREED
        d = (q1[0] - q0[0], q1[1] - q0[1], 0.0*q1[2] if free else q1[2] - q0[2])
        square = dot(d, d)
        if not square > 0.0:
            return
        qm = scale(0.5, add(q0, q1))
        g, k, b = self.slope(qm, v, self.radial(qm[0])), self.curvature(qm, v), self.mixed(qm, v)
        s = (self.energy_at(q1, v) - self.energy_at(q0, v) - dot(g, d))/square
        end, m0, m1 = self.slope(q1, v, q1[0]), self.masses(q0), self.masses(q1)
        by_q = ((end[0] - 0.5*(k[0]*d[0] + k[1]*d[1]) - g[0] - 2.0*s*d[0])/square,
                (end[1] - 0.5*(k[1]*d[0] + k[2]*d[1]) - g[1] - 2.0*s*d[1])/square,
                0.0*s if free else -2.0*s*d[2]/square)
        by_v = ((m1[0] - m0[0])*v[0]/square, ((m1[1] - m0[1])*v[1] - b[0]*d[0])/square,
                ((m1[2] - m0[2])*v[2] - b[1]*d[0] - b[2]*d[1])/square)
        for i in range(3):
            r[i] += w*s*d[i]
            a[i, i] += w*alpha*s if not (free and i == 2) else 0.0
            for j in range(3):
                a[i, j] += w*d[i]*(alpha*by_q[j] + beta*by_v[j])

    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        a0, middle, a1 = ends(q0, q1)
        self.legendre(rule, a0, middle, a1, v0, v1, alpha, beta, r, a)
        points = self.nodes.shape[0] if rule == AVERAGE else 1
        for end in range(1 if rule == 0 else 2):  # at v_0 and v_1, or at their mean
            if rule == 0:
                v, w, change = (0.5*(v0[0] + v1[0]), 0.5*(v0[1] + v1[1]), 0.5*(v0[2] + v1[2])), -h, 0.5*beta
            elif end == 0:
                v, w, change = (v0[0], v0[1], v0[2]), -0.5*h, 0.0*beta
            else:
                v, w, change = (v1[0], v1[1], v1[2]), -0.5*h, beta
            for point in range(points):
                if rule == AVERAGE:
                    x, part = self.nodes[point], self.weights[point]
                    place = add(scale(1.0 - x, a0), scale(x, a1))
                else:
                    x, part, place = 0.5, 1.0, middle
                self.at_point(w*part, alpha*x, change, place, v, r, a)
            if rule != 0 and rule != AVERAGE:
                self.correct(rule, w, alpha, change, a0, a1, v, r, a)

    def legendre(self, rule: int, a0: Vector, middle: Vector, a1: Vector, v0: np.ndarray, v1: np.ndarray, alpha: float,
                 beta: float, r: np.ndarray, a: np.ndarray) -> None:
        """r += 2 pbar, and a its derivative: the mean of M at the ends times v_m, or M at the middle."""
        m = add(self.masses(a0), self.masses(a1)) if rule > 0 else scale(2.0, self.masses(middle))
        place = a1 if rule > 0 else middle
        for i in range(3):
            r[i] += 0.5*m[i]*(v0[i] + v1[i])
            a[i, i] += 0.5*beta*m[i]
        s, grow = sin(place[1]), self.mass*place[0]*alpha
        around = v0[2] + v1[2]
        a[1, 0] += grow*(v0[1] + v1[1])
        a[2, 0] += grow*s*s*around
        a[2, 1] += grow*place[0]*s*cos(place[1])*around

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        a0, middle, a1 = ends(q0, q1)
        m = add(self.masses(a0), self.masses(a1)) if rule > 0 else scale(2.0, self.masses(middle))
        for i in range(3):
            out[i] = 0.5*m[i]*(v0[i] + v1[i])

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        """The spring by the difference quotient of its energy in r^2, without division, or at the middle; the drag at
        the middle, with the velocity d/h."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        x, y, two = q0[0], q1[0], 2.0*self.length*self.length
        if rule > 0:
            gap = x*x + y*y - two
            r[0] += h*self.constant*gap*(x + y)
            a[0, 0] += h*self.constant*(gap + 2.0*y*(x + y))
        else:
            z = 0.5*(x + y)
            r[0] += 2.0*h*self.constant*z*(2.0*z*z - two)
            a[0, 0] += h*self.constant*(6.0*z*z - two)
        if self.drag > 0.0:
            share = self.drag/self.mass
            start, middle, end = ends(q0, q1)
            m, s, d = self.masses(middle), sin(middle[1]), sub(end, start)
            for i in range(3):
                r[i] += share*m[i]*d[i]
                a[i, i] += share*m[i]
            a[1, 0] += self.drag*middle[0]*d[1]
            a[2, 0] += self.drag*middle[0]*s*s*d[2]
            a[2, 1] += self.drag*middle[0]*middle[0]*s*cos(middle[1])*d[2]

    def work(self, t: float, h: float, q0: np.ndarray, q1: np.ndarray) -> float:
        m = self.masses(ends(q0, q1)[1])
        total = 0.0
        for i in range(3):
            d = q1[i] - q0[i]
            total -= self.drag/self.mass*m[i]*d*d/h
        return total

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """H of position and momentum, L (3), (74), (80), |p - M v|, and with drag work and H less work."""
        q, v, p = row(y, 0), row(y, 1), row(y, 2)
        m, potential = self.masses(q), spring_energy(self.constant, self.length, q[0]*q[0])
        energy = 0.5*(p[0]*p[0]/m[0] + p[1]*p[1]/m[1] + p[2]*p[2]/m[2]) + potential
        twist = p[2]*cos(q[1])/sin(q[1])
        apart, kinetic = 0.0, self.energy_at(q, v)
        for i in range(3):
            apart = max(apart, abs(p[i] - m[i]*v[i]))
        out[0] = energy
        out[1] = -sin(q[2])*p[1] - cos(q[2])*twist
        out[2] = cos(q[2])*p[1] - sin(q[2])*twist
        out[3] = p[2]
        put_energies(y, kinetic, potential, apart, out)


@borrows(Masses)
class CartesianSpring(NamedTuple):
    """q = x, M = m: `mechanics.contracts.formulations.ConstantMass` without constraints, and the vector field of rows
    x, p."""

    mass: np.ndarray  # (3,), each m
    constant: float
    length: float
    drag: float
    counters: np.ndarray

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        x, y = (q0[0], q0[1], q0[2]), (q1[0], q1[1], q1[2])
        s, two = add(x, y), 2.0*self.length*self.length
        if rule > 0:
            gap, bend = dot(x, x) + dot(y, y) - two, scale(2.0, y)
        else:
            gap, bend = 0.5*dot(s, s) - two, s
        k = h*self.constant
        for i in range(3):
            r[i] += k*gap*s[i] + self.drag*(y[i] - x[i])
            a[i, i] += k*gap + self.drag
            for j in range(3):
                a[i, j] += k*s[i]*bend[j]

    def work(self, t: float, h: float, q0: np.ndarray, q1: np.ndarray) -> float:
        d = (q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2])
        return -self.drag*dot(d, d)/h

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """As `SphericalSpring.observe`; rows x, p of the vector field end after L."""
        last = 2 if y.shape[0] > 2 else 1
        x, p = row(y, 0), row(y, last)
        potential = spring_energy(self.constant, self.length, dot(x, x))
        out[0] = 0.5*dot(p, p)/self.mass[0] + potential
        out[1], out[2], out[3] = cross(x, p)
        if y.shape[0] > 2:
            v = row(y, 1)
            kinetic, gap = 0.5*self.mass[0]*dot(v, v), axpy(-self.mass[0], v, p)
            put_energies(y, kinetic, potential, max(abs(gap[0]), max(abs(gap[1]), abs(gap[2]))), out)

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        x, p = row(y, 0), row(y, 1)
        velocity = scale(1.0/self.mass[0], p)
        pull = -4.0*self.constant*(dot(x, x) - self.length*self.length)
        put(out, 0, velocity)
        put(out, 1, axpy(pull, x, scale(-self.drag, velocity)))


def frame(q: np.ndarray) -> np.ndarray:
    """Unit vectors along r, theta, phi as columns (..., 3, 3)."""
    (s, ss), (c, cc) = (((f(q[..., 1])), f(q[..., 2])) for f in (np.sin, np.cos))
    zero = np.zeros_like(s)
    return np.stack([np.stack([s*cc, s*ss, c], axis=-1), np.stack([c*cc, c*ss, -s], axis=-1),
                     np.stack([-ss, cc, zero], axis=-1)], axis=-1)


def _lengths(q: np.ndarray) -> np.ndarray:
    """Lengths of the tangents of r, theta, phi (..., 3): 1, r, r sin theta."""
    return np.stack([np.ones_like(q[..., 0]), q[..., 0], q[..., 0]*np.sin(q[..., 1])], axis=-1)


def _spherical_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    q, p = rows[..., 0, :], rows[..., 2, :]
    axes = frame(q)
    return {"position": q[..., :1]*axes[..., 0], "momentum": np.einsum("...ij,...j->...i", axes, p/_lengths(q)), "q": q,
            "v": rows[..., 1, :], "p": p}


def _polar(mass: float, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """All fields of Cartesian position and momentum (..., 3)."""
    r, side = np.linalg.norm(x, axis=-1), np.hypot(x[..., 0], x[..., 1])
    q = np.stack([r, np.arctan2(side, x[..., 2]), np.arctan2(x[..., 1], x[..., 0])], axis=-1)
    v = np.einsum("...ij,...i->...j", frame(q), p)/(mass*_lengths(q))
    return {"position": x, "momentum": p, "q": q, "v": v}


def _cartesian_start(parameters: Parameters, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(x, dx/dt)"""
    axes = frame(state["q"])
    return state["q"][0]*axes[:, 0], axes @ (_lengths(state["q"])*state["v"])


def _observables(parameters: Parameters, redundant: bool) -> tuple[Observable, ...]:
    dragged = parameters["drag"] > 0.0
    kind = "plain" if dragged else "invariant"
    observables = [Observable("energy", slice(0, 1), "J", "energy H of position and momentum", kind),
             Observable("momentum_map", slice(1, 4), MOMENTUM, "angular momentum", kind,
                        stem="" if dragged else "momentum_error")]
    if redundant:
        observables += [Observable(part.name, part.columns, part.units, part.long_name, kind) for part in energies(4)]
        observables.append(legendre(6, "kg m2 s-1"))
    if redundant and dragged:
        observables += [Observable("work", slice(7, 8), "J", "work of the drag", "plain"),
                  Observable("energy_less_work", slice(8, 9), "J", "generalized energy less the work of the drag")]
    return tuple(observables)


def _constant(parameters: Parameters) -> float:
    return parameters["stiffness"]/(8.0*parameters["length"]**4)


def _cartesian(parameters: Parameters) -> CartesianSpring:
    return CartesianSpring(np.full(3, parameters["mass"]), _constant(parameters), parameters["length"],
                           parameters["drag"], new_counters())


def _spherical(parameters: Parameters) -> SphericalSpring:
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
    return SphericalSpring(parameters["mass"], _constant(parameters), parameters["length"], parameters["drag"],
                           parameters["kinetic_gradient"] == "misprint", 0.5*(1.0 + nodes), 0.5*weights, new_counters())


def _formulated(parameters: Parameters, problem, rows: np.ndarray, fields, to_fields) -> Formulated:
    start = to_fields(rows)
    scale = float(np.linalg.norm(np.cross(start["position"], start["momentum"])))
    return Formulated(problem, rows, fields, _observables(parameters, len(rows) > 2), to_fields, scale)


def _redundant(parameters: Parameters, state: State, options: Options) -> Formulated:
    mass, more = parameters["mass"], parameters["drag"] > 0.0
    if options["coordinates"] == "cartesian":
        x, u = _cartesian_start(parameters, state)
        rows = np.array([x, u, mass*u, 0*x, *[0*x]*more])

        def to_fields(found: np.ndarray) -> dict[str, np.ndarray]:
            return _polar(mass, found[..., 0, :], found[..., 2, :])

        return _formulated(parameters, _cartesian(parameters), rows, FIELDS, to_fields)
    q, v = state["q"], state["v"]
    rows = np.array([q, v, mass*_lengths(q)**2*v, 0*q, *[0*q]*more])
    return _formulated(parameters, _spherical(parameters), rows, (*FIELDS, MOMENTA), _spherical_fields)


def _vector_field(parameters: Parameters, state: State, options: Options) -> Formulated:
    x, u = _cartesian_start(parameters, state)
    spring, mass = _cartesian(parameters), parameters["mass"]
    return _formulated(parameters, RatesField(spring, spring.counters), np.array([x, mass*u]), FIELDS,
                       lambda rows: _polar(mass, rows[..., 0, :], rows[..., 1, :]))


def _manifold(parameters: Parameters, state: State) -> None:
    """Raises InputError where spherical coordinates are singular."""
    r, theta, _ = state["q"]
    if not r > 0.0:
        raise InputError(f"initial q has r = {r:g}; r must be positive")
    if not 0.0 < theta < np.pi:
        raise InputError(f"initial q has theta = {theta:g}; theta must lie between 0 and pi, where spherical"
                         " coordinates are singular")


def _kinetic(parameters: Parameters, fields: State) -> np.ndarray:
    """(time,)"""
    return 0.5*np.sum(fields["momentum"]**2, axis=-1)/parameters["mass"]


def draw(looks: Any, scene: Any, place: np.ndarray) -> None:
    """A mass (3,) on a coil spring from the origin. looks: `liestep.figures.scenes.looks`."""
    scene.line(looks.coil(np.zeros(3), place), looks.SPRING, 0.8, fade=0.2)
    scene.balls([place], looks.COLOURS[0], 9.0, lift=0.03)
    scene.balls([np.zeros(3)], looks.PIVOT, 4.0, lift=0.01)


def _film(file: Any, parameters: Parameters, films: Any) -> Any:
    return films.single(file, lambda scene, place: draw(films.looks, scene, place))


def _stretched(parameters: Parameters) -> dict[str, np.ndarray]:
    """Stretched by 5 %, turning about both angles at 1 rad/s."""
    return {"q": np.array([1.05, np.pi/2.0, 0.0]), "v": np.array([0.0, 1.0, 1.0])}


def _tilted(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"q": np.array([1.05, 1.0, 0.2]), "v": np.array([0.3, 1.0, 2.0])}


VARIED = "none; livens2025 section 5.2 varied"
SPRING = {"mass": 1.0, "stiffness": 300.0, "length": 1.0, "drag": 0.0, "kinetic_gradient": "correct"}

SHEET = Sheet(
    title="Spring pendulum in spherical coordinates",
    equations="m d2x/dt2 = -EA/(2 l^4) (|x|^2 - l^2) x - drag dx/dt",
    citation="livens2025 section 5.2, eqs. (110)-(112)",
    parameters={
        "mass": Parameter("kg", "mass", (), "positive"),
        "stiffness": Parameter("N", "EA, stiffness of the spring against strain", (), "positive"),
        "length": Parameter("m", "length l of the spring at rest", (), "positive"),
        "drag": Parameter("kg s-1", "viscous drag", (), "non-negative"),
        "kinetic_gradient": Parameter("1", "derivative dT/dr of the discrete derivatives: correct, or with r^2 for r as"
                                      " in the authors' public code (misprint)", (), "choice",
                                      ("correct", "misprint")),
    },
    build=_cartesian,
    conserved_momentum=lambda parameters: (parameters["drag"] == 0.0,)*3,
    state_shapes=lambda parameters: {"q": (3,), "v": (3,)},
    manifold=_manifold,
    kinetic_energy=_kinetic,
    forms={"vector_field": Form(_vector_field),
           "constrained_lagrangian": Form(_redundant, {"coordinates": Option(
               "spherical", "r, theta, phi with a mass matrix that depends on them, or Cartesian with a constant one",
               ("spherical", "cartesian"))}),
           "constant_mass": Form(_redundant, {"coordinates": Option("cartesian", "Cartesian", ("cartesian",))})},
    default_preset="printed",
    motion=_film,
    presets={
        "printed": Preset("stretched by 5 %: fast oscillations of the spring, planar motion", "livens2025 section 5.2;"
                          " numbers of table 3 from the authors' public code", "inferred", SPRING, _stretched, 1.0),
        "misprint": Preset("the same with dT/dr as in the authors' public code", "livens2025 section 5.2, the authors'"
                           " public code; erratum 7", "inferred", SPRING | {"kinetic_gradient": "misprint"},
                           _stretched, 1.0),
        "spatial": own("out of any coordinate plane", SPRING, _tilted, 1.0, VARIED),
        "drag": own("the same with viscous drag", SPRING, _tilted, 1.0, VARIED, drag=0.5),
    },
)
