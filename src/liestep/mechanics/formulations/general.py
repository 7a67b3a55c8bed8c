"""Systems of no family of mechanics: first-order equations, Hamilton's equations, particles in a field; a sheet with
all forms from one NamedTuple."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter, new_counters
from liestep.compile.dispatch import borrows, hands_on, kernel
from liestep.compile.roles import System
from liestep.compile.rows import FieldOfRows, add, axpy, copy, cross, put, row, scale, stage_columns
from liestep.mechanics.contracts import formulations
from liestep.mechanics.contracts.formulated import Formulated, Observable, Starts, StateField
from liestep.mechanics.contracts.sheet import Form, Options, Parameter, Parameters, Preset, Runner, Sheet, State
from liestep.mechanics.formulations.probed import plain
from liestep.mechanics.formulations.work import separate_work, with_work

NOT_SEPARABLE = ("its H is not T(momentum) + V(q), with forces of q and t only; gauss and lobatto take it, and"
                 " discrete_gradient")
NOT_CONSERVATIVE = ("its energy is not conserved, or not known: there is a force, or H depends on t; gauss and lobatto"
                    " take it")
CANONICAL = (StateField("q", "1", "coordinates", ("coordinate",), "coordinate"),
             StateField("momentum", "1", "momenta that belong to them", ("coordinate",), "coordinate"))
SEEN = 20  # states whose energy is looked at


@kernel
def shift(h: float, rates: np.ndarray, i: int, y: np.ndarray) -> None:
    """Row i of y moves by h times that of the rates."""
    for j in range(y.shape[1]):
        y[i, j] += h*rates[i, j]


@hands_on("system", formulations.Component, "observe")
class RatesField(NamedTuple):
    """Vector field of a system with `rates(t, y, out)` on rows y."""

    system: System
    counters: np.ndarray

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        stage_columns(weights, h, k, count, y, out)

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.system.rates(t, y, out)
        return True

    def project(self, y: np.ndarray) -> None:
        pass


@hands_on("system", formulations.Component, "observe")
class PartsField(NamedTuple):
    """Parts of a system with `flow(i, h, y, out)`: the state after h along part i."""

    system: System
    number: int
    counters: np.ndarray

    def parts(self) -> int:
        return self.number

    def flow(self, i: int, h: float, y: np.ndarray, work: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.flow(i, h, y, work)
        copy(work, y)


@hands_on("system", formulations.SeparableHamiltonian, "drift", "observe")
class SeparableField(NamedTuple):
    """Velocities and forces of a system with `drift(y, out)` and `kick(t, y, out)` on rows q and momentum."""

    system: System
    counters: np.ndarray

    def kick(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.kick(t, y, out)

    def push(self, h: float, rates: np.ndarray, y: np.ndarray) -> None:
        shift(h, rates, 1, y)


@borrows(RatesField)  # stage, project
class WorkField(NamedTuple):
    """RatesField with the work of forces: one row more, (W, 0, ...), dW/dt = F.v. The third row of `rates` is F."""

    system: System
    column: int  # of the observables, where work begins
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.system.rates(t, y, out)
        power = 0.0*t
        for j in range(y.shape[1]):
            power += out[2, j]*out[0, j]
            out[2, j] = 0.0
        out[2, 0] = power
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.observe(y, out)
        separate_work(y[2, 0], self.column, out)


@borrows(SeparableField, WorkField)  # drift, kick; observe
class WorkParts(NamedTuple):
    """SeparableField with that row: a kick does the work of its F along the momenta that it passes, whose velocities
    are linear in them."""

    system: System
    column: int
    counters: np.ndarray

    def push(self, h: float, rates: np.ndarray, y: np.ndarray) -> None:
        shift(0.5*h, rates, 1, y)
        self.system.drift(y, rates)
        shift(0.5*h, rates, 1, y)
        for j in range(y.shape[1]):
            y[2, 0] += h*rates[2, j]*rates[0, j]


@hands_on("system", formulations.Component, "observe")
class CanonicalGradient(NamedTuple):
    """dy/dt = J grad H of a system with `rates(t, y, out)` and `hamiltonian(y)` on rows q and momentum."""

    system: System
    rates: np.ndarray
    counters: np.ndarray

    def hamiltonian(self, y: np.ndarray) -> float:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return self.system.hamiltonian(y)

    def slope(self, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.system.rates(0.0, y, self.rates)
        for j in range(y.shape[1]):
            out[0, j], out[1, j] = -self.rates[1, j], self.rates[0, j]

    def turn(self, y: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        for j in range(y.shape[1]):
            out[0, j], out[1, j] = g[1, j], -g[0, j]
        return True


@borrows(CanonicalGradient)  # hamiltonian
@hands_on("system", formulations.Component, "observe")
class FirstOrderGradient(NamedTuple):
    """dy/dt = f = S grad H with S = (f n^T - n f^T)/n.n, n = grad H, of a system with `rates(t, y, out)`,
    `hamiltonian(y)` and `slope(y, out)`: f.n = 0, as H is conserved (McLachlan, Quispel and Robidoux 1999, Phil. Trans.
    R. Soc. A 357, 1021)."""

    system: System
    rates: np.ndarray
    slopes: np.ndarray
    counters: np.ndarray

    def slope(self, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.system.slope(y, out)

    def turn(self, y: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        self.system.rates(0.0, y, self.rates)
        self.system.slope(y, self.slopes)
        size, along, turned = 0.0, 0.0, 0.0
        for j in range(y.shape[1]):
            n = self.slopes[0, j]
            size += n*n
            along += n*g[0, j]
            turned += self.rates[0, j]*g[0, j]
        if not size > 0.0:
            return False
        for j in range(y.shape[1]):
            out[0, j] = (self.rates[0, j]*along - self.slopes[0, j]*turned)/size
        return True


@borrows(FieldOfRows)
@hands_on("system", formulations.ChargedParticles, "spin", "observe")
class ParticleField(NamedTuple):
    """Positions and velocities of a system with `push(t, y, out)` and `spin(t, y, out)`; its energy has the gradient
    (-m a, m v) and dy/dt = S grad H with the velocities for dx/dt."""

    system: System
    masses: np.ndarray  # (n,)
    pushes: np.ndarray  # (n, 3)
    spins: np.ndarray   # (n, 3)
    columns: np.ndarray  # of `observe`
    counters: np.ndarray

    def push(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.push(t, y, out)

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.push(t, y, self.pushes)
        self.system.spin(t, y, self.spins)
        n = self.masses.shape[0]
        for i in range(n):
            put(out, i, row(y, n + i))
            put(out, n + i, add(row(self.pushes, i), cross(row(y, n + i), row(self.spins, i))))
        return True

    def hamiltonian(self, y: np.ndarray) -> float:
        self.system.observe(y, self.columns)
        return self.columns[0]

    def slope(self, y: np.ndarray, out: np.ndarray) -> None:
        self.push(0.0, y, self.pushes)
        n = self.masses.shape[0]
        for i in range(n):
            put(out, i, scale(-self.masses[i], row(self.pushes, i)))
            put(out, n + i, scale(self.masses[i], row(y, n + i)))

    def turn(self, y: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        self.system.spin(0.0, y, self.spins)
        n = self.masses.shape[0]
        for i in range(n):
            v = scale(1.0/self.masses[i], row(g, n + i))
            put(out, i, v)
            put(out, n + i, axpy(-1.0/self.masses[i], row(g, i), cross(v, row(self.spins, i))))
        return True


def observed(kept: Mapping[str, bool | None], first: tuple[Observable, ...] = ()) -> tuple[Observable, ...]:
    """Columns of `observe`: the energy, then what else is named; whether the motion conserves it (None: it is zero)."""
    return (*(Observable(name, slice(column, column + 1), "1", "as its author gives it" if flag is not None else
                         "zero: the author gives none, or it depends on time", conserved=(bool(flag),))
              for column, (name, flag) in enumerate(kept.items())), *first)


def energy_terms(build: Callable[[Parameters], System], kept: Mapping[str, bool], rows: Callable[[State], np.ndarray]
                 ) -> Callable[[Parameters, State], np.ndarray]:
    """Size (time,) of the terms of an energy that has no part which could be called kinetic: the largest of itself and
    of its changes when a number of the state is zero, at up to SEEN states; 1 where no energy is kept."""
    def size_of(values: Parameters, fields: State) -> np.ndarray:
        states, sizes = rows(fields), [0.0]
        system, out = plain(build(values)), np.zeros((2, len(kept)))
        for y in states[:: -(-len(states)//SEEN)] if kept.get("energy") else ():
            system.observe(y, out[0])
            sizes.append(abs(out[0, 0]))
            for place in np.argwhere(y):
                without = y.copy()
                without[tuple(place)] = 0.0
                with np.errstate(all="ignore"):
                    system.observe(without, out[1])
                sizes.append(abs(out[1, 0] - out[0, 0]))
        return np.full(len(states), max(filter(np.isfinite, sizes)) or 1.0)

    return size_of


def general_sheet(title: str, parameters: Mapping[str, Parameter], build: Callable[[Parameters], System],
                  presets: Mapping[str, Preset], forms: Mapping[str, Form], shapes: Mapping[str, tuple[int, ...]],
                  kinetic_energy: Callable[[Parameters, State], np.ndarray],
                  manifold: Callable[[Parameters, State], None] = lambda values, state: None, **further: Any) -> Sheet:
    return Sheet(title=title, parameters=parameters, build=build, presets=presets, forms=forms, manifold=manifold,
                 state_shapes=lambda values: shapes, conserved_momentum=lambda values: (False, False, False),
                 kinetic_energy=kinetic_energy, **further)


def first_order(*, size: int, kept: Mapping[str, bool], build: Callable[[Parameters], System],
                conservative: bool = False, parts: int = 0, **further: Any) -> Sheet:
    """Sheet of dy/dt = f(t, y) with the state y (n,), n = `size`; where it is `conservative`, f does not depend on t,
    and the NamedTuple has `hamiltonian(y)`, which the motion conserves, and its gradient `slope(y, out)`; with `parts`
    it has their `flow(i, h, y, out)`.

    `build` makes a NamedTuple with `rates(t, y, out)` and `observe(y, out)` on one row (1, n); `kept` names the columns
    of `observe`, the first one "energy" (zero for systems without one), and says which of them the motion conserves.
    `further` are fields of `Sheet`."""
    columns, fields = observed(kept), (StateField("y", "1", "state", ("coordinate",), "coordinate"),)

    def made(problem: RatesField | FirstOrderGradient | PartsField, state: State) -> Formulated:
        starts = Starts(lambda states: states["y"][:, None])
        return Formulated(problem, fields=fields, observables=columns, to_fields=lambda rows: {"y": rows[..., 0, :]},
                          apart=True, **starts.at(state))

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return made(RatesField(build(values), new_counters()), state)

    def gradient(values: Parameters, state: State, options: Options) -> Formulated:
        rates, slopes = np.zeros((2, 1, size))
        return made(FirstOrderGradient(build(values), rates, slopes, new_counters()), state)

    def flows(values: Parameters, state: State, options: Options) -> Formulated:
        return made(PartsField(build(values), parts, new_counters()), state)

    forms = {"vector_field": Form(field), **({"skew_gradient": Form(gradient)} if conservative else {}),
             **({"parts": Form(flows)} if parts else {})}
    return general_sheet(build=build, forms=forms, shapes={"y": (size,)},
                         kinetic_energy=energy_terms(build, kept, lambda fields: fields["y"][:, None]), **further)


def canonical(*, size: int, kept: Mapping[str, bool], build: Callable[[Parameters], System], conservative: bool = False,
              separable: bool = False, worked: bool = False, **further: Any) -> Sheet:
    """Sheet of Hamilton's equations in coordinates q and momenta (n,), n = `size`: symplectic methods are symplectic.

    `build` makes a NamedTuple with `rates(t, y, out)` and `observe(y, out)` on rows q and momentum (2, n); `kept` as of
    `first_order`. Where it is `conservative` it has `hamiltonian(y)` too, and H does not depend on t; where it is
    `separable`, H = T(momentum) + V(q), `drift(y, out)` and `kick(t, y, out)`, which write the rows of `out`. The
    kinetic energy is half the momenta times the velocities. `worked`: rates and kick write forces F into a third row,
    whose work is taken off the energy; `drift` is then linear."""
    columns = with_work(observed(kept), len(kept)) if worked else observed(kept)

    def made(problem: Any, state: State) -> Formulated:
        def rows(states: State) -> np.ndarray:
            return np.stack([states["q"], states["momentum"], *[np.zeros_like(states["q"])]*worked], axis=1)

        starts = Starts(rows)
        return Formulated(problem, fields=CANONICAL, observables=columns, to_fields=lambda rows: {
            "q": rows[..., 0, :], "momentum": rows[..., 1, :]}, **starts.at(state))

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        system, counters = build(values), new_counters()
        return made(WorkField(system, len(kept), counters) if worked else RatesField(system, counters), state)

    def parts(values: Parameters, state: State, options: Options) -> Formulated:
        system, counters = build(values), new_counters()
        return made(WorkParts(system, len(kept), counters) if worked else SeparableField(system, counters), state)

    def gradient(values: Parameters, state: State, options: Options) -> Formulated:
        return made(CanonicalGradient(build(values), np.zeros((2, size)), new_counters()), state)

    def requires(values: Parameters, asked: Runner) -> str | None:
        if asked.formulation == "skew_gradient" and not conservative:
            return NOT_CONSERVATIVE
        if asked.formulation == "separable_hamiltonian" and not separable:
            return NOT_SEPARABLE if conservative else f"{NOT_SEPARABLE} where no force or time is in H"
        return None

    def kinetic_energy(values: Parameters, fields: State) -> np.ndarray:
        system, slope = plain(build(values)), np.zeros(len(fields["q"]))
        for i, y in enumerate(np.stack([fields["q"], fields["momentum"]], axis=1)):
            out = np.zeros((2 + worked, size))
            system.rates(0.0, y, out)
            slope[i] = 0.5*np.sum(y[1]*out[0])
        return slope

    forms = {"vector_field": Form(field), "canonical_field": Form(field), "separable_hamiltonian": Form(parts),
             "skew_gradient": Form(gradient)}
    return general_sheet(build=build, forms=forms, shapes={"q": (size,), "momentum": (size,)}, requires=requires,
                         kinetic_energy=kinetic_energy, **further)


def charged(*, shape: tuple[int, ...], kept: Mapping[str, bool], masses: Callable[[Parameters], np.ndarray],
            build: Callable[[Parameters], System], conservative: bool = False, **further: Any) -> Sheet:
    """Sheet of particles in a magnetic field: position x and velocity v of the shape (3,) or (n, 3), dv/dt = a + v x b.

    `build` makes a NamedTuple with a = `push(t, y, out)` in m/s2, b = `spin(t, y, out)` in rad/s (charge times field
    over mass), and `observe(y, out)` on rows x, v (2n, 3); `kept` as of `first_order`. masses: (n,) in kg. Where it is
    `conservative` the energy does not depend on t and has the gradient (-m a, m v)."""
    columns = observed(kept)
    dims = ("xyz",) if len(shape) == 1 else ("body", "xyz")
    fields = (StateField("position", "m", "positions", dims, "relative"),
              StateField("velocity", "m s-1", "velocities", dims, "relative"))

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        def rows(states: State) -> np.ndarray:
            return np.concatenate([states[part.name].reshape(len(states[part.name]), -1, 3) for part in fields], axis=1)

        n = np.size(state["position"])//3
        problem = ParticleField(build(values), np.broadcast_to(masses(values), n).astype(float), np.zeros((n, 3)),
                                np.zeros((n, 3)), np.zeros(len(kept)), new_counters())
        return Formulated(problem, fields=fields, observables=columns, to_fields=lambda rows: {
            part.name: found.reshape(*rows.shape[:-2], *shape)
            for part, found in zip(fields, np.split(rows, 2, axis=-2), strict=True)}, **Starts(rows).at(state))

    def kinetic_energy(values: Parameters, state: State) -> np.ndarray:
        v = state["velocity"].reshape(len(state["velocity"]), -1, 3)
        return 0.5*np.sum(masses(values)*np.sum(v*v, axis=-1), axis=-1)

    names = ("vector_field", "charged_particles", *(("skew_gradient",) if conservative else ()))
    return general_sheet(build=build, forms=dict.fromkeys(names, Form(field)),
                         shapes={"position": shape, "velocity": shape}, kinetic_energy=kinetic_energy, **further)
