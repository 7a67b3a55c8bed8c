"""Systems of no family of mechanics: first-order equations, Hamilton's equations, and fields on SO(3) x R^3k; a sheet
with all forms from one NamedTuple."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter, new_counters
from liestep.compile.dispatch import borrows, hands_on
from liestep.compile.rows import FieldOfRows, add, axpy, cross, put, row, scale, stage_columns, sub
from liestep.geometry.groups.product import Translation, product
from liestep.geometry.groups.rigid_motions import CotangentRotations
from liestep.geometry.groups.rotations import Rotation
from liestep.mechanics.contracts import formulations
from liestep.mechanics.contracts.form import Form
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Options, Parameters, Runner, Sheet, State
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.formulations.probed import plain

NOT_SEPARABLE = ("its H is not T(momentum) + V(q), with forces of q and t only; gauss and lobatto take it, and"
                 " discrete_gradient")
NOT_CONSERVATIVE = ("its energy is not conserved, or not known: there is a force, or H depends on t; gauss and lobatto"
                    " take it")
CANONICAL = (StateField("q", "1", "coordinates", ("coordinate",), "coordinate"),
             StateField("momentum", "1", "momenta that belong to them", ("coordinate",), "coordinate"))


@hands_on("system", formulations.Component, "observe")
class RatesField(NamedTuple):
    """Vector field of a system with `rates(t, y, out)` on rows y."""

    system: Any
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
class SeparableField(NamedTuple):
    """Velocities and forces of a system with `drift(y, out)` and `kick(t, y, out)` on rows q and momentum."""

    system: Any
    counters: np.ndarray

    def drift(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.drift(y, out)

    def kick(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.kick(t, y, out)


@hands_on("system", formulations.Component, "observe")
class CanonicalGradient(NamedTuple):
    """dy/dt = J grad H of a system with `rates(t, y, out)` and `hamiltonian(y)` on rows q and momentum."""

    system: Any
    rates: np.ndarray
    counters: np.ndarray

    def hamiltonian(self, y: np.ndarray) -> float:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        value: float = self.system.hamiltonian(y)
        return value

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

    system: Any
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
@hands_on("system", formulations.Component, "observe")
class ParticleField(NamedTuple):
    """Positions and velocities of a system with `push(t, y, out)` and `spin(t, y, out)`; its energy has the gradient
    (-m a, m v) and dy/dt = S grad H with the velocities for dx/dt."""

    system: Any
    masses: np.ndarray  # (n,)
    pushes: np.ndarray  # (n, 3)
    spins: np.ndarray   # (n, 3)
    columns: np.ndarray  # of `observe`
    counters: np.ndarray

    def push(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.push(t, y, out)

    def spin(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.system.spin(t, y, out)

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.push(t, y, self.pushes)
        self.spin(t, y, self.spins)
        n = self.masses.shape[0]
        for i in range(n):
            put(out, i, row(y, n + i))
            put(out, n + i, add(row(self.pushes, i), cross(row(y, n + i), row(self.spins, i))))
        return True

    def hamiltonian(self, y: np.ndarray) -> float:
        self.system.observe(y, self.columns)
        value: float = self.columns[0]
        return value

    def slope(self, y: np.ndarray, out: np.ndarray) -> None:
        self.push(0.0, y, self.pushes)
        n = self.masses.shape[0]
        for i in range(n):
            put(out, i, scale(-self.masses[i], row(self.pushes, i)))
            put(out, n + i, scale(self.masses[i], row(y, n + i)))

    def turn(self, y: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        self.spin(0.0, y, self.spins)
        n = self.masses.shape[0]
        for i in range(n):
            v = scale(1.0/self.masses[i], row(g, n + i))
            put(out, i, v)
            put(out, n + i, axpy(-1.0/self.masses[i], row(g, i), cross(v, row(self.spins, i))))
        return True


@borrows(FieldOfRows)
@hands_on("system", formulations.Component, "observe")
class TurnedField(NamedTuple):
    """Vector field of a system with `algebra(t, y, out)` on rows R e_1, R e_2, R e_3 and further ones."""

    system: Any
    rates: np.ndarray  # (1 + k, 3) angular velocity of R, rates of the further rows
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        known = self.system.algebra(t, y, self.rates)
        for i in range(3):
            put(out, i, cross(row(self.rates, 0), row(y, i)))
        for i in range(1, self.rates.shape[0]):
            put(out, 2 + i, row(self.rates, i))
        return known


def observed(kept: Mapping[str, bool], first: tuple[Observable, ...] = ()) -> tuple[Observable, ...]:
    """Columns of `observe`: the energy, then what else is named; whether the motion conserves it."""
    return (*(Observable(name, slice(column, column + 1), "1", "as its author gives it", conserved=(flag,))
              for column, (name, flag) in enumerate(kept.items())), *first)


def _sheet(title: str, parameters: Mapping[str, Parameter], build: Callable[[Parameters], Any],
           presets: Mapping[str, Preset], forms: Mapping[str, Form], shapes: Mapping[str, tuple[int, ...]],
           kinetic_energy: Callable[[Parameters, State], np.ndarray] | None = None,
           manifold: Callable[[Parameters, State], None] = lambda values, state: None, **further: Any) -> Sheet:
    return Sheet(title=title, parameters=parameters, build=build, presets=presets, forms=forms, manifold=manifold,
                 state_shapes=lambda values: shapes, conserved_momentum=lambda values: (False, False, False),
                 kinetic_energy=kinetic_energy or (lambda values, fields: np.ones(len(next(iter(fields.values()))))),
                 **further)


def first_order(*, size: int, kept: Mapping[str, bool], build: Callable[[Parameters], Any], conservative: bool = False,
                **further: Any) -> Sheet:
    """Sheet of dy/dt = f(t, y) with the state y (n,), n = `size`; where it is `conservative`, f does not depend on t,
    and the NamedTuple has `hamiltonian(y)`, which the motion conserves, and its gradient `slope(y, out)`.

    `build` makes a NamedTuple with `rates(t, y, out)` and `observe(y, out)` on one row (1, n); `kept` names the columns
    of `observe`, the first one "energy" (zero for systems without one), and says which of them the motion conserves.
    `further` are fields of `Sheet`.
    """
    columns, fields = observed(kept), (StateField("y", "1", "state", ("coordinate",), "coordinate"),)

    def made(problem: Any, state: State) -> Formulated:
        return Formulated(problem, np.array(state["y"])[None], fields, columns, lambda rows: {"y": rows[..., 0, :]},
                          0.0)

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return made(RatesField(build(values), new_counters()), state)

    def gradient(values: Parameters, state: State, options: Options) -> Formulated:
        rates, slopes = np.zeros((2, 1, size))
        return made(FirstOrderGradient(build(values), rates, slopes, new_counters()), state)

    forms = {"vector_field": Form(field), **({"skew_gradient": Form(gradient)} if conservative else {})}
    return _sheet(build=build, forms=forms, shapes={"y": (size,)}, **further)


def canonical(*, size: int, kept: Mapping[str, bool], build: Callable[[Parameters], Any], conservative: bool = False,
              separable: bool = False, **further: Any) -> Sheet:
    """Sheet of Hamilton's equations in coordinates q and momenta (n,), n = `size`: symplectic methods are symplectic.

    `build` makes a NamedTuple with `rates(t, y, out)` and `observe(y, out)` on rows q and momentum (2, n); `kept` as of
    `first_order`. Where it is `conservative` it has `hamiltonian(y)` too, and H does not depend on t; where it is
    `separable`, H = T(momentum) + V(q), `drift(y, out)` and `kick(t, y, out)`, which write the rows of `out`. The
    kinetic energy is half the momenta times the velocities.
    """
    columns = observed(kept)

    def made(problem: Any, state: State) -> Formulated:
        return Formulated(problem, np.array([state["q"], state["momentum"]]), CANONICAL, columns,
                          lambda rows: {"q": rows[..., 0, :], "momentum": rows[..., 1, :]}, 0.0)

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return made(RatesField(build(values), new_counters()), state)

    def parts(values: Parameters, state: State, options: Options) -> Formulated:
        return made(SeparableField(build(values), new_counters()), state)

    def gradient(values: Parameters, state: State, options: Options) -> Formulated:
        return made(CanonicalGradient(build(values), np.zeros((2, size)), new_counters()), state)

    def requires(values: Parameters, asked: Runner) -> str | None:
        if asked.formulation == "skew_gradient" and not conservative:
            return NOT_CONSERVATIVE
        if asked.formulation == "separable_hamiltonian" and not separable:
            return NOT_SEPARABLE if conservative else f"{NOT_SEPARABLE} where no force or time is in H"
        return None

    def kinetic_energy(values: Parameters, fields: State) -> np.ndarray:
        system, found = plain(build(values)), np.zeros(len(fields["q"]))
        for i, y in enumerate(np.stack([fields["q"], fields["momentum"]], axis=1)):
            out = np.zeros_like(y)
            system.rates(0.0, y, out)
            found[i] = 0.5*np.sum(y[1]*out[0])
        return found

    forms = {"vector_field": Form(field), "canonical_field": Form(field), "separable_hamiltonian": Form(parts),
             "skew_gradient": Form(gradient)}
    return _sheet(build=build, forms=forms, shapes={"q": (size,), "momentum": (size,)}, requires=requires,
                  kinetic_energy=kinetic_energy, **further)


def charged(*, shape: tuple[int, ...], kept: Mapping[str, bool], masses: Callable[[Parameters], np.ndarray],
            build: Callable[[Parameters], Any], conservative: bool = False, **further: Any) -> Sheet:
    """Sheet of particles in a magnetic field: position x and velocity v of the shape (3,) or (n, 3), dv/dt = a + v x b.

    `build` makes a NamedTuple with a = `push(t, y, out)` in m/s2, b = `spin(t, y, out)` in rad/s (charge times field
    over mass), and `observe(y, out)` on rows x, v (2n, 3); `kept` as of `first_order`. masses: (n,) in kg. Where it is
    `conservative` the energy does not depend on t and has the gradient (-m a, m v).
    """
    columns = observed(kept)
    dims = ("xyz",) if len(shape) == 1 else ("body", "xyz")
    fields = (StateField("position", "m", "positions", dims, "relative"),
              StateField("velocity", "m s-1", "velocities", dims, "relative"))

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        start = np.concatenate([np.reshape(state[part.name], (-1, 3)) for part in fields])
        n = len(start)//2
        problem = ParticleField(build(values), np.broadcast_to(masses(values), n).astype(float), np.zeros((n, 3)),
                                np.zeros((n, 3)), np.zeros(len(kept)), new_counters())
        return Formulated(problem, start, fields, columns, lambda rows: {
            part.name: found.reshape(*rows.shape[:-2], *shape)
            for part, found in zip(fields, np.split(rows, 2, axis=-2), strict=True)}, 0.0)

    def kinetic_energy(values: Parameters, state: State) -> np.ndarray:
        v = state["velocity"].reshape(len(state["velocity"]), -1, 3)
        found: np.ndarray = 0.5*np.sum(masses(values)*np.sum(v*v, axis=-1), axis=-1)
        return found

    names = ("vector_field", "charged_particles", *(("skew_gradient",) if conservative else ()))
    return _sheet(build=build, forms=dict.fromkeys(names, Form(field)),
                  shapes={"position": shape, "velocity": shape}, kinetic_energy=kinetic_energy, **further)


@hands_on("generator", formulations.Component, "observe")
class Twist(NamedTuple):
    """The twist (w, u - w x x) of dR/dt = hat(w) R, dx/dt = u, for the action of SE(3) on (R, x)."""

    generator: Any

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        found = self.generator.algebra(t, y, out)
        put(out, 1, sub(row(out, 1), cross(row(out, 0), row(y, 3))))
        return found


def turning(*, shape: tuple[int, ...], kept: Mapping[str, bool], build: Callable[[Parameters], Any],
            **further: Any) -> Sheet:
    """Sheet of dR/dt = hat(w) R with further rows x of R^3, dx/dt = u: attitude R (3, 3), body to space, and x of a
    shape (), (3,) or (k, 3); () is none.

    `build` makes a NamedTuple with `algebra(t, y, out)`, w in rad/s, spatial, and u, on rows R e_1, R e_2, R e_3, x,
    which returns True; and `observe(y, out)`, whose columns are those of `kept` (as of `first_order`), last
    |R^T R - 1|.
    """
    rows = int(np.prod(shape))//3 if shape else 0
    defect = Observable("orthogonality_error", slice(len(kept), len(kept) + 1), "1", "largest entry of |R^T R - 1|",
                        "residual")
    columns = observed(kept, (defect,))
    part = StateField("x", "1", "rows of R^3", ("xyz",) if len(shape) == 1 else ("body", "xyz"), "relative")
    fields = (StateField("attitude", "1", "attitude R, body to space", ("xyz", "axis"), "attitude"),
              *((part,) if rows else ()))

    def reader(found: np.ndarray) -> dict[str, np.ndarray]:
        own = {"x": found[..., 3:, :].reshape(*found.shape[:-2], *shape)} if rows else {}
        return {"attitude": np.swapaxes(found[..., :3, :], -1, -2), **own}

    def made(problem: Any, state: State) -> Formulated:
        start = [state["attitude"].T, *([np.reshape(state["x"], (rows, 3))] if rows else [])]
        return Formulated(problem, np.ascontiguousarray(np.concatenate(start)), fields, columns, reader, 0.0)

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return made(TurnedField(build(values), np.zeros((1 + rows, 3)), new_counters()), state)

    def action(values: Parameters, state: State, options: Options) -> Formulated:
        if options.get("action") == "se3":
            return made(ActionForm(CotangentRotations(1), Twist(build(values)), new_counters()), state)
        parts = [(Rotation(3), 3), *([(Translation(rows), rows)] if rows else [])]
        return made(ActionForm(product(*parts), build(values), new_counters()), state)

    group = {"action": Option("so3_r3", "the group: rotations and translations of their own, or rigid motions, which"
                              " turn x with R", ("so3_r3", "se3"))} if shape == (3,) else {}
    return _sheet(build=build, forms={"vector_field": Form(field), "lie_action": Form(action, group)},
                  shapes={"attitude": (3, 3), **({"x": shape} if rows else {})},
                  manifold=lambda values, state: check_attitude("attitude", state["attitude"]), **further)
