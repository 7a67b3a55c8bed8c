"""Impacts: a gap that closes, and Newton's law of restitution in the metric of the system's kinetic energy.

With velocities w (omega, momenta, ...), T = w.G w/2 and the rate a.w of the gap, the state behind the impact has
w - (1 + e) (a.w)/(a.G^-1 a) G^-1 a: the impulse is along the gap, its rate is -e times that of before (Pfeiffer and
Glocker 1996, Multibody Dynamics with Unilateral Contacts), and e = 1 keeps the energy. G and a come from the kinetic
energy and the equations of the system, so that no mass and no gradient has to be given."""
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from liestep.errors import InputError, number_or_nan
from liestep.mechanics.formulations import formulate_standard
from liestep.mechanics.formulations.multibody.assembly import Assembly
from liestep.mechanics.formulations.multibody.coordinates import coordinates, frames
from liestep.mechanics.formulations.multibody.family import free_velocities
from liestep.mechanics.formulations.probed import plain
from liestep.simulation.endings.events import Event, State, event_function
from liestep.simulation.runs.own_names import own_names
from liestep.simulation.runs.specified import RunSpecification
from liestep.simulation.tangents.directions import Direction, span
from liestep.simulation.tangents.directions import basis as directions_at

VELOCITIES = ("omega", "momentum", "velocity", "angular_momentum", "body_rate", "spin", "v")  # fields that jump
STEP = 1e-2     # of differences along the motion, as a share of the state
CLOSING = 1e-12  # a rate of this share of the largest one at the kinetic energy is none


@dataclass(frozen=True)
class Impact(Event):
    """An event at which a gap closes. What impacts take from the energy is the variable `impact_work` (J) of a run.

    Args:
        zero: the gap, a function of the places in a state, positive while bodies are apart, or (name, index, value).
        direction: -1, or 1 where the gap is what `zero` lacks to zero: an upper limit.
        count: the run ends at so many impacts (default: it goes on).
        reset: none, which the law of restitution gives.
        restitution: from 0 to 1, the share of the gap's rate that comes back.

    Raises:
        InputError: a restitution outside [0, 1], direction 0, or a reset, which the law gives.
    """

    direction: int = -1
    count: int | None = None
    restitution: float = 1.0

    def __post_init__(self) -> None:
        e = float("nan") if isinstance(self.restitution, bool | str) else number_or_nan(self.restitution)
        if not 0.0 <= e <= 1.0:
            raise InputError(f"restitution of an impact is {self.restitution!r}; it must be a number from 0 (the bodies"
                             " stay together) to 1 (no energy is lost)")
        if self.direction == 0 or self.reset is not None:
            raise InputError("an impact is where its gap closes, from one side (direction -1 or 1), and its reset is"
                             " the law of restitution: leave out reset, or take liestep.Event")
        super().__post_init__()

    def canonical(self) -> dict[str, Any]:
        return super().canonical() | {"restitution": float(self.restitution)}


class Law:
    """The law of restitution on one system.

    Raises:
        InputError: no velocities, or constraints beyond those of the manifold and of joints.
    """

    def __init__(self, spec: RunSpecification, shapes: Mapping[str, tuple[int, ...]]):
        self.spec, self.facts, self.parameters, self.shapes = spec, spec.sheet, spec.parameters, shapes
        self.own = own_names(spec.sheet, spec.parameters)
        self.names = [name for name in VELOCITIES if name in spec.initial]
        if not self.names:
            raise InputError(f"an impact needs velocities or momenta, and {spec.problem} has none: give"
                             " liestep.Event(..., reset=...)")
        self.turned: Any = None  # (time, coordinates of joints) of the last state, for angles beyond half a turn
        self.assembly = self.facts.build(self.parameters)
        self.fields = formulate_standard(self.facts, self.parameters, spec.initial).fields
        try:
            if not isinstance(self.assembly, Assembly):
                span(self.facts, self.parameters, spec.initial)
        except InputError:
            raise InputError(f"the velocities of {self.facts.title} are bound, for which the law of impacts"
                             " is not known here: give liestep.Event(..., reset=...)") from None

    def gap(self, impact: Impact, state: State) -> float:
        """Its value at a state."""
        fields = {name: np.asarray(values)[None] for name, values in state.items()}
        if isinstance(self.assembly, Assembly) and (made := frames(self.assembly)):
            time = np.array([self.turned[0] if self.turned else 0.0])
            fields |= coordinates(made, self.assembly.center_of_mass, time, fields, self.turned)
        return -impact.direction*float(event_function(impact, self.shapes, self.own).over(fields, 1)[0])

    def require_places(self, number: int, impact: Impact) -> None:
        """Raises InputError for a gap that is no function of the places alone: its law would make momentum."""
        start, basis = self.spec.initial, self.metric(self.spec.initial)[0]
        shown = {"joint_coordinate"} & set(self.shapes)
        places = {name: values for name, values in start.items() if name not in self.names}
        moved = {name: start[name] + sum(one[name] for one in basis) for name in self.names}
        name = None if callable(impact.zero) else impact.zero[0]
        named = places if name is None else [self.own[name].field if name in self.own else name]
        if not set(named) <= set(places) | shown or self.gap(impact, start) != self.gap(impact, {**start, **moved}):
            raise InputError(f"the gap of event {number} is no function of places alone: an impact needs a gap of"
                             f" {', '.join([*places, *shown])}; where velocities reach a value take"
                             " liestep.Event(..., reset=...)")

    def metric(self, state: State) -> tuple[list[Direction], np.ndarray, np.ndarray]:
        """Directions of velocities at a state, (k) of them, those that joints leave; the metric G (k, k) of the kinetic
        energy there; and the coefficients (k,) of the state's own velocities."""
        basis = free_velocities(self.assembly, state) if isinstance(self.assembly, Assembly) else [
            one for one in directions_at(self.fields, state)
            if not any(np.any(values) for name, values in one.items() if name not in self.names)]
        if not basis:
            raise InputError(f"joints and drives of {self.facts.title} leave nothing that an impact could change")
        k = len(basis)
        pairs = [(i, j) for i in range(k) for j in range(i + 1)]
        moved = [{**state, **{name: basis[i][name] + (basis[j][name] if i != j else 0.0) for name in self.names}}
                 for i, j in pairs]
        energies = self.facts.kinetic_energy(self.parameters, {
            name: np.stack([one[name] for one in moved]) for name in state})
        G = np.zeros((k, k))
        for (i, j), energy in zip(pairs, energies, strict=True):
            G[i, j] = G[j, i] = 2.0*energy if i == j else energy
        for i, j in pairs:
            if i != j:
                G[i, j] = G[j, i] = G[i, j] - 0.5*(G[i, i] + G[j, j])
        columns = np.stack([np.concatenate([one[name].ravel() for name in self.names]) for one in basis], axis=1)
        own = np.concatenate([np.ravel(state[name]) for name in self.names])
        return basis, G, np.linalg.lstsq(columns, own, rcond=None)[0]

    def rate(self, impact: Impact, state: State) -> float:
        """d gap/dt along the velocities of a state: central differences of order 6 on the straight line of its rows,
        exact where the gap is linear in them."""
        formulated = formulate_standard(self.facts, self.parameters, state)
        y, rates = formulated.start, np.zeros_like(formulated.start)
        plain(formulated.problem).rhs(0.0, y.copy(), rates)
        speed = float(np.abs(rates).max())
        if speed == 0.0:
            return 0.0
        h = STEP*(float(np.abs(y).max()) or 1.0)/speed

        def at(s: float) -> float:
            fields = formulated.to_fields((y + s*rates)[None])
            return self.gap(impact, {name: values[0] for name, values in fields.items()})

        halves = [(at(s) - at(-s))/(2.0*s) for s in (h, 0.5*h, 0.25*h)]
        first = [(4.0*b - a)/3.0 for a, b in pairwise(halves)]
        return (16.0*first[1] - first[0])/15.0

    def struck(self, impact: Impact, state: State) -> dict[str, np.ndarray] | None:
        """The state behind the impact, or None where the gap does not close."""
        basis, G, w = self.metric(state)
        a = np.array([self.rate(impact, {**state, **{name: one[name] for name in self.names}}) for one in basis])
        inverse = np.linalg.solve(G, a)
        size, rate = float(a @ inverse), float(a @ w)
        if isinstance(self.assembly, Assembly) and self.assembly.has_clock:  # drives have velocities of their own
            rate += self.rate(impact, {**state, **{name: state[name] - sum(c*one[name] for c, one in zip(
                w, basis, strict=True)) for name in self.names}})
        if not rate < -CLOSING*np.sqrt(size*float(w @ G @ w)):
            return None
        change = -(1.0 + impact.restitution)*rate/size*inverse
        return {**state, **{name: state[name] + sum(c*one[name] for c, one in zip(change, basis, strict=True))
                            for name in self.names}}
