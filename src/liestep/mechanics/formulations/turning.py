"""Fields on products of SO(3), S^2 and R^3 by systems of no family of mechanics; a sheet with all forms from one
NamedTuple."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter, new_counters
from liestep.compile.dispatch import borrows, hands_on
from liestep.compile.roles import System
from liestep.compile.rows import FieldOfRows, cross, dot, larger, put, row, sub
from liestep.geometry.attitude import orthogonality_error
from liestep.geometry.groups.actions import Attitudes, CotangentRotations, SphereRotations, Translation, product
from liestep.mechanics.contracts import formulations
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.manifold import check_attitude, check_directions
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameters, Sheet, State
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.formulations.general import energy_terms, general_sheet, observed


@hands_on("system", formulations.LieAction, "algebra")
class Turned(NamedTuple):
    """A system with `algebra(t, y, out)` on rows of attitudes, unit vectors and R^3, which is asked for its columns
    only: the defects of attitudes and unit vectors follow them."""

    system: System
    bodies: int   # attitudes, three rows each
    points: int   # unit vectors
    columns: int

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.observe(y, out)
        column, worst = self.columns, 0.0
        if self.bodies > 0:
            for i in range(self.bodies):
                worst = larger(worst, orthogonality_error(y[3*i:3*i + 3]))
            out[column] = worst
            column += 1
        if self.points > 0:
            worst = 0.0
            for i in range(3*self.bodies, 3*self.bodies + self.points):
                worst = larger(worst, abs(1.0 - dot(row(y, i), row(y, i))))
            out[column] = worst


@borrows(FieldOfRows)
@hands_on("system", formulations.Component, "observe")
class TurnedField(NamedTuple):
    """Vector field of a `Turned` system."""

    system: System
    rates: np.ndarray  # angular velocities of attitudes and unit vectors, rates of the further rows
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        known, bodies = self.system.algebra(t, y, self.rates), self.system.bodies
        for j in range(y.shape[0]):
            i = j//3 if j < 3*bodies else j - 2*bodies
            if i < bodies + self.system.points:
                put(out, j, cross(row(self.rates, i), row(y, j)))
            else:
                put(out, j, row(self.rates, i))
        return known


@hands_on("generator", formulations.Component, "observe")
class Twist(NamedTuple):
    """The twists (w, u - w x x) of dR/dt = hat(w) R, dx/dt = u, for the action of SE(3)^n on all R and x."""

    generator: Any  # Turned

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        evaluable, n = self.generator.algebra(t, y, out), self.generator.bodies
        for i in range(n):
            put(out, n + i, sub(row(out, n + i), cross(row(out, i), row(y, 3*n + i))))
        return evaluable


class Letter(NamedTuple):
    """What a letter of `turning` stands for: a field of data, of one or of n entries."""

    name: str
    long_name: str
    dims: tuple[str, ...]  # of an entry; two are a matrix, whose columns are rows of the state
    norm: str
    action: Callable[[int], Any]
    check: Callable[[str, np.ndarray], None] | None = None
    defect: tuple[str, str] = ("", "")

    def several(self, shape: tuple[int, ...]) -> bool:
        """Whether the field has entries of a number."""
        return len(shape) > len(self.dims)

    def rows_of(self, values: np.ndarray) -> np.ndarray:
        """Rows of the state."""
        values = np.asarray(values)
        return (np.swapaxes(values, -1, -2) if len(self.dims) == 2 else values).reshape(-1, 3)

    def values_of(self, rows: np.ndarray, shape: tuple[int, ...]) -> Any:
        """The field (..., *shape) of rows (..., m, 3)."""
        values = rows.reshape(*rows.shape[:-2], *shape)
        return np.swapaxes(values, -1, -2) if len(self.dims) == 2 else values


PARTS = {"R": Letter("attitude", "attitude R, body to space", ("xyz", "axis"), "attitude", Attitudes, check_attitude,
                     ("orthogonality_error", "largest entry of |R^T R - 1|")),
         "q": Letter("q", "unit vectors", ("xyz",), "direction", SphereRotations,
                     lambda name, q: check_directions(name, q.reshape(-1, 3)),
                     ("unit_length_error", "largest |1 - q.q|")),
         "x": Letter("x", "rows of R^3", ("xyz",), "relative", Translation)}


def layout(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[slice, slice]]:
    """Where the letters of PARTS that there are have their rows in the state and in the algebra."""
    places, rows, generators = {}, 0, 0
    for letter in (one for one in PARTS if one in shapes):
        n = int(np.prod(shapes[letter]))//3**len(PARTS[letter].dims)
        m = n*3**(len(PARTS[letter].dims) - 1)
        places[letter] = slice(rows, rows + m), slice(generators, generators + n)
        rows, generators = rows + m, generators + n
    return places


def turning(*, shapes: Mapping[str, tuple[int, ...]], kept: Mapping[str, bool], build: Callable[[Parameters], System],
            **further: Any) -> Sheet:
    """Sheet of dR/dt = hat(w) R on attitudes R, body to space, dq/dt = w x q on unit vectors q and dx/dt = u on x.

    shapes: of those that there are; R (3, 3) or (n, 3, 3), q and x (3,) or (n, 3). `build` makes a NamedTuple with
    `algebra(t, y, out)`, which returns True, and `observe(y, out)` on rows R_i e_1, R_i e_2, R_i e_3 of all R, then q,
    then x: w of each R in rad/s, spatial, w of each q, u of each x; and the columns of `kept` (as of `first_order`)."""
    where = layout(shapes)
    parts = {letter: PARTS[letter] for letter in where}
    count = {letter: one.stop - one.start for letter, (_, one) in where.items()}
    defects = [part.defect for part in parts.values() if part.check]
    columns = observed(kept, tuple(Observable(name, slice(k, k + 1), "1", text, "residual")
                                   for k, (name, text) in enumerate(defects, len(kept))))
    numbers = {count[letter] for letter, part in parts.items() if part.several(shapes[letter])}
    fields = tuple(StateField(part.name, "1", part.long_name, (
        *([] if not part.several(shapes[letter]) else ["body"] if len(numbers) == 1 else [f"body_{letter}"]),
        *part.dims), part.norm) for letter, part in parts.items())

    def reader(found: np.ndarray) -> dict[str, np.ndarray]:
        return {part.name: part.values_of(found[..., where[letter][0], :], shapes[letter])
                for letter, part in parts.items()}

    def made(problem: TurnedField | ActionForm, state: State) -> Formulated:
        start = np.concatenate([part.rows_of(state[part.name]) for part in parts.values()])
        return Formulated(problem, np.ascontiguousarray(start), fields, columns, reader, 0.0)

    def turned(values: Parameters) -> Turned:
        return Turned(build(values), count.get("R", 0), count.get("q", 0), len(kept))

    def field(values: Parameters, state: State, options: Options) -> Formulated:
        return made(TurnedField(turned(values), np.zeros((sum(count.values()), 3)), new_counters()), state)

    def action(values: Parameters, state: State, options: Options) -> Formulated:
        if options.get("action") == "se3":
            return made(ActionForm(CotangentRotations(count["R"]), Twist(turned(values)), new_counters()), state)
        factors = [part.action(count[letter]) for letter, part in parts.items()]
        return made(ActionForm(product(*((one, one.state_rows()) for one in factors)), turned(values), new_counters()),
                    state)

    def manifold(values: Parameters, state: State) -> None:
        for part in parts.values():
            if part.check:
                part.check(part.name, state[part.name])

    rigid = {*parts} == {"R", "x"} and count["R"] == count["x"]
    group = {"action": Option("so3_r3", "the group: rotations and translations of their own, or rigid motions, which"
                              " turn x with R", ("so3_r3", "se3"))} if rigid else {}
    return general_sheet(build=build, forms={"vector_field": Form(field), "lie_action": Form(action, group)},
                         shapes={part.name: tuple(shapes[letter]) for letter, part in parts.items()}, manifold=manifold,
                         kinetic_energy=energy_terms(build, kept, lambda fields: np.concatenate([
                             part.rows_of(fields[part.name]).reshape(len(fields[part.name]), -1, 3)
                             for part in parts.values()], axis=1)), **further)
