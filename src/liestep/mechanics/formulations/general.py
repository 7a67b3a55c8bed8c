"""Systems of no family of mechanics: first-order equations, Hamilton's equations, and fields on SO(3) x R^3k; a sheet
with all forms from one NamedTuple."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter, new_counters
from liestep.compile.dispatch import borrows, hands_on
from liestep.compile.rows import FieldOfRows, cross, put, row, stage_columns
from liestep.geometry.groups.product import Translation, product
from liestep.geometry.groups.rotations import Rotation
from liestep.mechanics.contracts import formulations
from liestep.mechanics.contracts.form import Form
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Options, Parameters, Sheet, State
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.formulations.probed import plain

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


def first_order(*, size: int, kept: Mapping[str, bool], build: Callable[[Parameters], Any], **further: Any) -> Sheet:
    """Sheet of dy/dt = f(t, y) with the state y (n,), n = `size`.

    `build` makes a NamedTuple with `rates(t, y, out)` and `observe(y, out)` on one row (1, n); `kept` names the columns
    of `observe`, the first one "energy" (zero for systems without one), and says which of them the motion conserves.
    `further` are fields of `Sheet`.
    """
    columns, fields = observed(kept), (StateField("y", "1", "state", ("coordinate",), "coordinate"),)

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return Formulated(RatesField(build(values), new_counters()), np.array(state["y"])[None], fields, columns,
                          lambda rows: {"y": rows[..., 0, :]}, 0.0)

    return _sheet(build=build, forms={"vector_field": Form(field)}, shapes={"y": (size,)}, **further)


def canonical(*, size: int, kept: Mapping[str, bool], build: Callable[[Parameters], Any], **further: Any) -> Sheet:
    """Sheet of Hamilton's equations in coordinates q and momenta (n,), n = `size`: symplectic methods are symplectic.

    `build` makes a NamedTuple with `rates(t, y, out)` and `observe(y, out)` on rows q and momentum (2, n); `kept` as of
    `first_order`. The kinetic energy is half the momenta times the velocities.
    """
    columns = observed(kept)

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return Formulated(RatesField(build(values), new_counters()), np.array([state["q"], state["momentum"]]),
                          CANONICAL, columns, lambda rows: {"q": rows[..., 0, :], "momentum": rows[..., 1, :]}, 0.0)

    def kinetic_energy(values: Parameters, fields: State) -> np.ndarray:
        system, found = plain(build(values)), np.zeros(len(fields["q"]))
        for i, y in enumerate(np.stack([fields["q"], fields["momentum"]], axis=1)):
            out = np.zeros_like(y)
            system.rates(0.0, y, out)
            found[i] = 0.5*np.sum(y[1]*out[0])
        return found

    return _sheet(build=build, forms={"vector_field": Form(field)}, shapes={"q": (size,), "momentum": (size,)},
                  kinetic_energy=kinetic_energy, **further)


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
        parts = [(Rotation(3), 3), *([(Translation(rows), rows)] if rows else [])]
        return made(ActionForm(product(*parts), build(values), new_counters()), state)

    return _sheet(build=build, forms={"vector_field": Form(field), "lie_action": Form(action)},
                  shapes={"attitude": (3, 3), **({"x": shape} if rows else {})},
                  manifold=lambda values, state: check_attitude("attitude", state["attitude"]), **further)
