"""Point vortices in a layer of ideal fluid on the unit sphere (Newton 2001, The N-Vortex Problem, chapter 4).

dq_i/dt = w_i x q_i, w_i = 1/(2 pi) sum_{j != i} Gamma_j q_j/|q_i - q_j|^2. A Hamiltonian motion on a product of
spheres, whose form is sum Gamma_i times the area: H = -1/(4 pi) sum_{i<j} Gamma_i Gamma_j ln |q_i - q_j|^2 is
conserved, the energy of the flow for a fluid of 1 kg/m2 less a constant, and so is sum_i Gamma_i q_i. Directions have
no velocities.
"""
from collections.abc import Callable
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter, new_counters
from liestep.compile.dispatch import borrows, hands_on
from liestep.compile.rows import FieldOfRows, axpy, cross, dot, put, row, scale, sub
from liestep.errors import InputError
from liestep.geometry.attitude import normalise
from liestep.geometry.groups.actions import SphereRotations
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.formulations import Component
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE, check_directions
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameter, Parameters, Sheet, State, Trial, own
from liestep.mechanics.formulations.action import ActionForm

PROJECTIONS = ("none", "position")


class SphereVortices(NamedTuple):
    """Rotation vectors and observables of rows q_i (n, 3)."""

    strength: np.ndarray  # (n,) Gamma
    pace: np.ndarray      # (n,) Gamma/(2 pi)

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """w_i of all vortices (n, 3)."""
        n = y.shape[0]
        for i in range(n):
            total = scale(0.0, row(y, i))
            for j in range(n):
                if j != i:
                    d = sub(row(y, i), row(y, j))
                    total = axpy(self.pace[j]/dot(d, d), row(y, j), total)
            put(out, i, total)
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        energy, longest = 0.0, 0.0
        momentum = scale(0.0, row(y, 0))
        for i in range(y.shape[0]):
            a = row(y, i)
            momentum = axpy(self.strength[i], a, momentum)
            length = abs(1.0 - dot(a, a))
            if length > longest:
                longest = length
            for j in range(i):
                d = sub(a, row(y, j))
                energy -= 0.5*self.strength[i]*self.pace[j]*log(dot(d, d))
        out[0] = energy
        out[1], out[2], out[3] = momentum
        out[4] = longest


@hands_on("vortices", Component, "observe")
@borrows(FieldOfRows)
class VortexField(NamedTuple):
    """Vector field in the embedding space R^3n."""

    vortices: SphereVortices
    counters: np.ndarray
    projection: int  # 1: q is normalised after each step

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.vortices.algebra(t, y, out)
        for i in range(y.shape[0]):
            put(out, i, cross(row(out, i), row(y, i)))
        return True

    def project(self, y: np.ndarray) -> None:
        if self.projection == 1:
            for i in range(y.shape[0]):
                normalise(y, i)


OBSERVABLES = (
    Observable("energy", slice(0, 1), "J", "Hamiltonian: energy of the flow of 1 kg/m2, less a constant"),
    Observable("momentum_map", slice(1, 4), "m2 s-1", "sum of Gamma_i q_i, spatial", stem="momentum_error"),
    Observable("unit_length_error", slice(4, 5), "1", "largest |1 - q.q| over the vortices", "residual"),
)
FIELDS = (StateField("q", "1", "directions of the vortices", ("body", "xyz"), "direction"),)


def _vortices(parameters: Parameters) -> SphereVortices:
    return SphereVortices(parameters["strength"], parameters["strength"]/(2.0*np.pi))


def _formulated(problem: VortexField | ActionForm, parameters: Parameters, state: State) -> Formulated:
    return Formulated(problem, state["q"].copy(), FIELDS, OBSERVABLES, lambda rows: {"q": rows},
                      float(np.abs(parameters["strength"]).sum()))


def _field(parameters: Parameters, state: State, options: Options) -> Formulated:
    projection = PROJECTIONS.index(options["projection"])
    return _formulated(VortexField(_vortices(parameters), new_counters(), projection), parameters, state)


def _action(parameters: Parameters, state: State, options: Options) -> Formulated:
    action = SphereRotations(len(state["q"]))
    return _formulated(ActionForm(action, _vortices(parameters), new_counters()), parameters, state)


def _manifold(parameters: Parameters, state: State) -> None:
    """Raises InputError for directions that are no unit vectors, and for two vortices at one point."""
    q = state["q"]
    check_directions("q", q)
    for i, j in combinations(range(len(q)), 2):
        if np.linalg.norm(q[i] - q[j]) <= MANIFOLD_TOLERANCE:
            raise InputError(f"initial q: vortices {i} and {j} are at one point, where their velocities are infinite;"
                             f" allowed is any other place, more than {MANIFOLD_TOLERANCE:g} away")


def _several(parameters: Parameters) -> None:
    if len(parameters["strength"]) < 2:
        raise InputError("parameter strength has 1 number, and a single vortex does not move; give 2 or more")


def _pair_energies(parameters: Parameters, fields: State) -> np.ndarray:
    """Size of the terms of the energy (time,): there is no other part of it that could be called kinetic."""
    q, gamma = fields["q"], parameters["strength"]
    total = np.zeros(len(q))
    for i, j in combinations(range(q.shape[1]), 2):
        total += abs(gamma[i]*gamma[j])*np.abs(np.log(np.sum((q[:, i] - q[:, j])**2, axis=1)))/(4.0*np.pi)
    return total


def _ring(height: float) -> Callable[[Parameters], dict[str, np.ndarray]]:
    """All vortices at the height cos(theta), equally spaced."""
    def start(parameters: Parameters) -> dict[str, np.ndarray]:
        n, side = len(parameters["strength"]), np.sqrt(1.0 - height*height)
        angle = 2.0*np.pi*np.arange(n)/n
        return {"q": np.stack([side*np.cos(angle), side*np.sin(angle), np.full(n, height)], axis=1)}

    return start


def _spread(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"q": np.array([[1.0, 0.0, 0.0], [0.0, 0.8, 0.6], [-0.6, 0.0, 0.8], [0.0, -0.6, -0.8]])}


def film(file: Any, parameters: Parameters, films: Any) -> Any:
    """Orange vortices turn to the left, blue ones to the right, and areas grow with the strength. The line points where
    the conserved sum of strength and place does, unless that is nothing."""
    q, strength, colours = file["q"], parameters["strength"], films.looks.COLOURS
    turn = [colours[1] if gamma > 0.0 else colours[0] for gamma in strength]
    sizes = np.maximum(9.0*np.sqrt(np.abs(strength)/np.abs(strength).max()), 3.0)
    total = np.einsum("i,tij->tj", strength, q)
    length = np.linalg.norm(total, axis=1)

    def draw(scene: Any, k: int) -> None:
        films.graticule(scene)
        for i, (colour, size) in enumerate(zip(turn, sizes, strict=True)):
            if len(turn) <= films.CROWD:
                films.trail(scene, 1.002*q[:, i], colour, k)
            scene.balls([q[k, i]], colour, float(size), lift=0.05)
        if length[k] > 1e-9*np.abs(strength).sum():
            scene.line(np.stack([1.0, 1.25])[:, None]*total[k]/length[k], films.MOMENTUM, 1.6, fade=0.0)

    def note(k: int) -> str:
        return f"momentum error {np.linalg.norm(total[k] - total[0]):.1e}"

    return films.FilmScene(films.View(-125.0, 22.0), draw, 1.25*np.vstack([np.eye(3), -np.eye(3)]), sphere=True,
                           note=note)


SHEET = Sheet(
    title="Point vortices on the sphere",
    equations="dq_i/dt = w_i x q_i, w_i = 1/(2 pi) sum_{j != i} Gamma_j q_j/|q_i - q_j|^2",
    citation="Newton 2001, The N-Vortex Problem, chapter 4",
    parameters={"strength": Parameter("m2 s-1", "strengths Gamma of the vortices, on a sphere of 1 m", ("n",),
                                      "finite")},
    build=_vortices,
    conserved_momentum=lambda parameters: (True, True, True),
    state_shapes=lambda parameters: {"q": (len(parameters["strength"]), 3)},
    manifold=_manifold, combination=_several, kinetic_energy=_pair_energies,
    forms={"vector_field": Form(_field, {"projection": Option("none", "position normalises q after each step",
                                                              PROJECTIONS, after_steps=("position",))}),
           "lie_action": Form(_action)},
    default_preset="four",
    motion=film,
    trials=tuple(Trial(f"vortices, {name}", name, use="instead") for name in ("four", "pair", "ring")),
    symmetries=(),
    presets={
        "four": own("four vortices of different strengths, of both signs", {"strength": [3.0, 2.0, -1.0, 1.5]},
                    _spread, 20.0),
        "pair": own("two vortices: both turn steadily about M = sum Gamma_i q_i, at |M|/(2 pi |q_1 - q_2|^2)",
                    {"strength": [3.0, 1.0]}, _ring(0.6), 10.0),
        "ring": own("five equal vortices on a circle of latitude turn steadily about its axis, at Gamma (n - 1)"
                    " cos(theta)/(4 pi sin^2(theta))", {"strength": [2.0]*5}, _ring(0.8), 10.0,
                    "Polvani and Dritschel 1993, J. Fluid Mech. 255, 35"),
    },
)
