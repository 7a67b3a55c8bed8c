"""Two masses in a row on nonlinear springs, in redundant coordinates with a singular mass matrix (livens2025 section
5.1).

q = (x_1, q_2, x_2): displacement of the first mass, position of the second spring's end at rest, displacement of the
second mass; q_2 - x_1 = rest_length + width keeps them together, g = ((q_2 - x_1)^2 - (rest_length + width)^2)/2.
T = 1/2 (m_1 v_1^2 + m_2 (v_2 + v_3)^2), V = sum_i c_i (x_i^2 + x_i^4), c_i = stiffness_factor stiffness_i. Without
constraints the minimal coordinates x_1, x_2 have the mass matrix [[m_1 + m_2, m_2], [m_2, m_2]]; with their momenta,
which the vector field has too, they are canonical, and H = T(p) + V.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Counter,
    Form,
    Formulated,
    InputError,
    Observable,
    Option,
    Options,
    Parameter,
    Parameters,
    Preset,
    Sheet,
    State,
    StateField,
    Trial,
    borrows,
    kernel,
    new_counters,
)
from liestep.mechanics.contracts.manifold import most_off
from liestep.mechanics.formulations.coordinates import Coordinates, energies, legendre
from liestep.mechanics.formulations.general import CanonicalGradient, RatesField, SeparableField

FIELDS = (StateField("q", "m", "x_1, q_2, x_2", ("coordinate",), "coordinate"),
          StateField("v", "m s-1", "velocities of x_1, q_2, x_2", ("coordinate",), "coordinate"))
MORE_FIELDS = (StateField("p", "kg m s-1", "momenta, unknowns of their own", ("coordinate",), "derived"),
               StateField("multiplier", "N m-1", "multiplier of the constraint", ("constraint",), "derived"))


@kernel
def stretched(c: float, x: float) -> float:
    """c (x^2 + x^4)."""
    return c*x*x*(1.0 + x*x)


@borrows(Coordinates)
class MassSpring(NamedTuple):
    """Redundant coordinates, `mechanics.contracts.formulations.ConstrainedLagrangian`."""

    mass: np.ndarray       # (2,)
    stiffness: np.ndarray  # (2,) c_1, c_2
    length: float          # rest_length + width
    counters: np.ndarray

    def size(self) -> int:
        return 3

    def bonds(self) -> int:
        return 1

    def times(self, i: int, v: np.ndarray) -> float:
        """(M v)_i"""
        return self.mass[0]*v[0] if i == 0 else self.mass[1]*(v[1] + v[2])

    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        for i in range(3):
            r[i] += self.times(i, v0) + self.times(i, v1)
        a[0, 0] += beta*self.mass[0]
        for i in range(1, 3):
            for j in range(1, 3):
                a[i, j] += beta*self.mass[1]

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        for i in range(3):
            out[i] = self.times(i, v0) + self.times(i, v1)

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        """Difference quotients of the energies of the springs, without division, or their slopes at the middle."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        for k in range(2):
            i, c = 2*k, h*self.stiffness[k]
            x, y = q0[i], q1[i]
            if rule > 0:
                r[i] += c*(x + y)*(1.0 + x*x + y*y)
                a[i, i] += c*(1.0 + x*x + y*y + 2.0*y*(x + y))
            else:
                z = 0.5*(x + y)
                r[i] += c*2.0*z*(1.0 + 2.0*z*z)
                a[i, i] += c*(1.0 + 6.0*z*z)

    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        gap = q[1] - q[0]
        out[0] = 0.5*(gap - self.length)*(gap + self.length)

    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        gap = q[1] - q[0]
        out[0, 0], out[0, 1], out[0, 2] = -gap, gap, 0.0*gap

    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        x = s*multipliers[0]
        a[0, 0] += x
        a[0, 1] -= x
        a[1, 0] -= x
        a[1, 1] += x

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """Energy of q, v, (74), (80), |g|, |Dg v|, |p - M v|."""
        q, v, p = y[0], y[1], y[2]
        potential = stretched(self.stiffness[0], q[0]) + stretched(self.stiffness[1], q[2])
        twice, both, apart = 0.0, 0.0, 0.0
        for i in range(3):
            momentum = self.times(i, v)
            twice += v[i]*momentum
            both += v[i]*p[i]
            apart = max(apart, abs(p[i] - momentum))
        gap = q[1] - q[0]
        out[0] = 0.5*twice + potential
        out[1] = both - 0.5*twice + potential
        out[2] = 0.5*twice + potential
        out[3] = abs(0.5*(gap - self.length)*(gap + self.length))
        out[4] = abs(gap*(v[1] - v[0]))
        out[5] = apart


class Canonical(NamedTuple):
    """Rates and Hamiltonian of rows (x_1, x_2) and their momenta."""

    mass: np.ndarray       # (2,)
    stiffness: np.ndarray  # (2,)

    def drift(self, y: np.ndarray, out: np.ndarray) -> None:
        first = (y[1, 0] - y[1, 1])/self.mass[0]
        out[0, 0], out[0, 1] = first, y[1, 1]/self.mass[1] - first

    def kick(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        for k in range(2):
            out[1, k] = -2.0*self.stiffness[k]*y[0, k]*(1.0 + 2.0*y[0, k]*y[0, k])

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.drift(y, out)
        self.kick(t, y, out)

    def hamiltonian(self, y: np.ndarray) -> float:
        apart = y[1, 0] - y[1, 1]
        return (0.5*(apart*apart/self.mass[0] + y[1, 1]*y[1, 1]/self.mass[1]) + stretched(self.stiffness[0], y[0, 0])
                + stretched(self.stiffness[1], y[0, 1]))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = self.hamiltonian(y)


def _length(parameters: Parameters) -> float:
    return parameters["rest_length"] + parameters["width"]


def _springs(parameters: Parameters) -> np.ndarray:
    return parameters["stiffness_factor"]*parameters["stiffness"]


def _energy(text: str) -> Observable:
    return Observable("energy", slice(0, 1), "J", text)


def _redundant(parameters: Parameters, state: State, options: Options) -> Formulated:
    """q_2 and its velocity follow from x_1, so that starts moved by round-off stay on the constraint."""
    (x, _, z), (u, _, w), m = state["q"], state["v"], parameters["mass"]
    rows = np.array([[x, x + _length(parameters), z], [u, u, w], [m[0]*u, m[1]*(u + w), m[1]*(u + w)], [0*x]*3])
    problem = MassSpring(m, _springs(parameters), _length(parameters), new_counters())
    residuals = (Observable("constraint_error", slice(3, 4), "m2", "|g|", "residual",
                            size=_length(parameters)**2),
                 Observable("velocity_constraint_error", slice(4, 5), "m2 s-1", "|Dg v|", "residual"), legendre(5))
    return Formulated(problem, rows, (*FIELDS, *MORE_FIELDS), (_energy("T(v) + V"), *energies(1), *residuals),
                      _fields, float(np.abs(rows[2]).max()))


def _fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {"q": rows[..., 0, :], "v": rows[..., 1, :], "p": rows[..., 2, :], "multiplier": rows[..., 3, :1]}


def _canonical(made: Callable[[Canonical], Any]) -> Form:
    """A form of coordinates and momenta."""
    def form(parameters: Parameters, state: State, options: Options) -> Formulated:
        m, length, (u, _, w) = parameters["mass"], _length(parameters), state["v"]
        start = np.array([state["q"][[0, 2]], [m[0]*u + m[1]*(u + w), m[1]*(u + w)]])

        def fields(rows: np.ndarray) -> dict[str, np.ndarray]:
            x, z, first, second = (rows[..., i, k] for i in (0, 1) for k in (0, 1))
            u = (first - second)/m[0]
            return {"q": np.stack([x, x + length, z], axis=-1), "v": np.stack([u, u, second/m[1] - u], axis=-1)}

        return Formulated(made(Canonical(m, _springs(parameters))), start, FIELDS, (_energy("total energy"),), fields,
                          float(np.abs(start[1]).max()))

    return Form(form)


def _manifold(parameters: Parameters, state: State) -> None:
    """Raises InputError for a start off the constraint or moving away from it."""
    (x, y, _), (u, w, _) = state["q"], state["v"]
    gap, allowed = abs(y - x - _length(parameters)), most_off()*max(abs(x), abs(y), _length(parameters))
    slowest = most_off()*np.abs(state["v"]).max()
    if gap > allowed:
        raise InputError(f"initial q breaks the constraint: q[1] - q[0] differs from rest_length + width by {gap:.3g},"
                         f" allowed {allowed:.3g}")
    if abs(w - u) > slowest:
        raise InputError(f"initial v breaks the constraint: v[1] differs from v[0] by {abs(w - u):.3g}, allowed"
                         f" {slowest:.3g}")


def _kinetic(parameters: Parameters, fields: State) -> np.ndarray:
    """(time,)"""
    v, m = fields["v"], parameters["mass"]
    return 0.5*(m[0]*v[:, 0]**2 + m[1]*(v[:, 1] + v[:, 2])**2)


def places(parameters: Parameters, q: np.ndarray) -> np.ndarray:
    """Of both masses (..., 2) along a line from the wall, in m, at coordinates (..., 3)."""
    first = parameters["rest_length"] + q[..., 0]
    return np.stack([first, first + _length(parameters) + q[..., 2]], axis=-1)


def draw(looks: Any, scene: Any, parameters: Parameters, q: np.ndarray) -> None:
    """Wall, spring, mass, spring, mass at coordinates (3,). looks: `liestep.figures.scenes.looks`."""
    side = np.array([0.0, 0.0, 0.25])
    scene.line(np.stack([-side, side]), looks.CLAMP, 3.0)
    first, second = places(parameters, q)[:, None]*np.eye(3)[0]
    for a, b in ((np.zeros(3), first), (first + parameters["width"]*np.eye(3)[0], second)):
        scene.line(looks.coil(a, b), looks.SPRING, 0.8)
    for place, colour in zip((first, second), looks.COLOURS, strict=False):
        scene.balls([place], colour, 11.0, lift=0.05)


def film(file: Any, parameters: Parameters, films: Any) -> Any:
    """Two masses on their springs, along a horizontal line."""
    q = file["q"]
    reach = np.stack([np.zeros(3), places(parameters, q).max()*np.eye(3)[0], 0.4*np.eye(3)[2], -0.4*np.eye(3)[2]])
    return films.FilmScene(films.View(-90.0, 12.0), lambda scene, k: draw(films.looks, scene, parameters, q[k]), reach)


def _start(parameters: Parameters) -> dict[str, np.ndarray]:
    """Springs at rest, both masses moving."""
    return {"q": np.array([0.0, _length(parameters), 0.0]), "v": np.array([1.0, 1.0, -1.0])}


def _preset(factor: float, doc: str, citation: str) -> Preset:
    return Preset(doc, citation, "inferred", {"mass": [2.0, 1.0], "stiffness": [1.0, 3.0], "stiffness_factor": factor,
                                              "rest_length": 1.0, "width": 0.1}, _start, 10.0)


SHEET = Sheet(
    title="Two masses with a singular mass matrix",
    equations="M dv/dt = -DV - Dg^T lambda, M = [[m_1, 0, 0], [0, m_2, m_2], [0, m_2, m_2]], g(q) = 0",
    citation="livens2025 section 5.1, eqs. (106)-(109)",
    parameters={
        "mass": Parameter("kg", "masses", (2,), "positive"),
        "stiffness": Parameter("N m-1", "k_1, k_2; V has the coefficients stiffness_factor k", (2,), "positive"),
        "stiffness_factor": Parameter("1", "1/4 as printed, 1/2 in the authors' public code", (), "positive"),
        "rest_length": Parameter("m", "length of the first spring at rest", (), "positive"),
        "width": Parameter("m", "width of the first mass", (), "non-negative"),
    },
    build=lambda parameters: MassSpring(parameters["mass"], _springs(parameters), _length(parameters), new_counters()),
    conserved_momentum=lambda parameters: (False, False, False),
    state_shapes=lambda parameters: {"q": (3,), "v": (3,)},
    manifold=_manifold,
    kinetic_energy=_kinetic,
    forms={**dict.fromkeys(("vector_field", "canonical_field"),
                           _canonical(lambda system: RatesField(system, new_counters()))),
           "separable_hamiltonian": _canonical(lambda system: SeparableField(system, new_counters())),
           "skew_gradient": _canonical(lambda system: CanonicalGradient(system, np.zeros((2, 2)), new_counters())),
           "constrained_lagrangian": Form(_redundant, {"coordinates": Option(
               "redundant", "x_1, q_2, x_2 with one constraint", ("redundant",))})},
    default_preset="printed",
    motion=film,
    presets={
        "printed": _preset(0.25, "c_i = k_i/4 as printed",
                           "livens2025 section 5.1; numbers of table 2 from the authors' public code"),
        "public_package": _preset(0.5, "c_i = k_i/2", "livens2025 section 5.1, the authors' public code; erratum 5"),
    },
    trials=tuple(Trial(f"two springs{words}", "printed", {"mass": mass, "stiffness": stiffness}, use="instead")
                 for words, mass, stiffness in (
                     ("", [2.0, 1.0], [4.0, 3.0]), (", other masses", [0.5, 1.25], [4.0, 3.0]),
                     (", other stiffness", [2.0, 1.0], [1.0, 6.0]))),
)
