"""The shipped step methods and right-hand sides on numbers of many digits: components are built with exact
coefficients, run as plain Python (`compile.tracing`), and started on the manifold to all digits."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.precision import number_type
from liestep.compile.roles import Problem, Work
from liestep.compile.status import IntegrationError, Status
from liestep.compile.tracing import plain_component
from liestep.compile.trees import arrays
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import StateField
from liestep.mechanics.contracts.sheet import Options, Parameters
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, ranked, sheet
from liestep.simulation.runs.specification import specify
from liestep.tools.certify.number import Number, functions_of, numbers, short

SPARE_DIGITS = 6  # of the tolerance of implicit steps
# formulations with rows of their own
REDUNDANT = ("constrained_lagrangian", "constant_mass", "quaternion_hamiltonian", "canonical_field",
             "separable_hamiltonian", "skew_gradient")
# methods of several steps, or on kernels with series for float64: no certificates
OTHERWISE = ("index_three", "lie_chart")
MOST_ITERATIONS = 1000  # steps that converge linearly take hundreds for all digits


class RoundedError(InputError):
    """A float64 took part in the digits of a step."""


@dataclass(frozen=True)
class Case:
    """A problem with a start; `parameters` replace some of the preset's; driven: its right-hand side times t."""

    name: str
    problem: str
    preset: str
    parameters: Parameters = field(default_factory=dict, hash=False)
    driven: bool = False


class Driven:
    """A problem with its right-hand side times t: from t = 1 over h it goes where it went over h + h^2/2."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.problem, name)

        def timed(t: Number, y: np.ndarray, out: np.ndarray) -> bool:
            there: bool = found(t, y, out)
            out *= t
            return there

        return timed if name in ("rhs", "algebra") else found


class Step(NamedTuple):
    """An integrator and a problem on numbers of many digits; `start` (m, d) holds objects. Order and symmetry are what
    is declared for these options."""

    integrator: Any
    problem: Problem
    start: np.ndarray
    digits: int
    formulation: str
    options: Options
    order: int
    symmetric: bool
    fields: tuple[str, ...]   # of the state
    standard: Callable[[np.ndarray], np.ndarray]  # rows of the vector field of a state
    driven: bool

    def __call__(self, h: Number, y: np.ndarray | None = None) -> np.ndarray:
        """State after one step of fixed size. Raises IntegrationError: the step failed; RoundedError: a float64 is in
        the state or the workspace."""
        y = (self.start if y is None else y).copy()
        work = self.workspace(y)
        status = self.integrator.start(self.problem, self.time, y, h, work)
        if status == Status.OK:
            status = self.integrator.step(self.problem, self.time, y, h, work)
        self.check(status, y, work)
        return y

    def attempt(self, h: Number, share: Number | None) -> tuple[np.ndarray, Number, np.ndarray]:
        """New state, error estimate and dense output at share*h (None: the start) of one step of a pair; errors as
        `__call__`."""
        y, out = self.start.copy(), self.start.copy()
        work = self.workspace(y)
        self.integrator.start(self.problem, self.time, y, h, work)
        status, error = self.integrator.attempt(self.problem, self.time, y, h, work)
        if status == Status.OK:
            if share is not None:
                self.integrator.interpolate(self.problem, self.time, y, h, share, out, work)
            self.integrator.accept(self.problem, y, work)
        self.check(status, (y, out), work)
        return y, error, out

    @property
    def time(self) -> Number:
        return numbers(self.digits).of(int(self.driven))

    def workspace(self, y: np.ndarray) -> Work:
        return plain_component(self.integrator.workspace(self.problem, y), functions_of(self.digits))

    def check(self, status: Status, y: np.ndarray | tuple[np.ndarray, ...], work: Work) -> None:
        """Raises IntegrationError or RoundedError."""
        if status != Status.OK:
            raise IntegrationError(Status(status), 0.0, "certificate: ")
        for place, values in (("state", y), ("workspace", work)):
            for x in (x for array in arrays(values) for x in array.flat):
                if isinstance(x, float) and not short(x):
                    raise RoundedError(f"the {place} holds the float64 {x!r} after a step in {self.digits} digits: a"
                                       " coefficient, a literal or a part of the problem is rounded")


def step_of(case: Case, integrator: str, options: Options | None = None, digits: int = 150) -> Step:
    """Build an integrator of the catalogue on a case. Raises InputError: unknown ids or options; RoundedError: the
    integrator's coefficients are float64."""
    facts, kind = sheet(case.problem), numbers(digits)
    declared = method(integrator).on(facts)
    size = {"tolerance": 1e-9} if declared.adaptive else {"steps": 1}
    spec = specify(case.problem, integrator, preset=case.preset, parameters=case.parameters, options=options, **size)
    chosen = dict(spec.options)
    if "tolerance" in chosen:
        chosen["tolerance"] = float(f"1e-{digits - SPARE_DIGITS}")
    if "iterations" in chosen:
        chosen["iterations"] = MOST_ITERATIONS
    standard = formulate(facts, spec.parameters, spec.initial, "vector_field", {})
    start = on_manifold(standard.fields, spec.initial, digits)
    with kind.floats_are_data():
        formulated = formulate(facts, spec.parameters, start, declared.formulation, chosen)
    with number_type(kind.of, digits):
        component = declared.made(formulated, chosen, spec.tolerance, 1.0)
    if not all(short(x) for array in arrays(component) if array.dtype == np.float64 for x in array.flat):
        raise RoundedError(f"coefficients of {integrator} are float64: its `build` must make them with"
                           " `compile.precision.coefficients`")
    functions = functions_of(digits)
    given = (chosen, facts, spec.parameters)

    def standard_rows(y: np.ndarray) -> np.ndarray:
        if declared.formulation not in REDUNDANT:
            return y
        with kind.floats_are_data():
            read = formulated.to_fields(y)
            fields = {name: read[name] for name in spec.initial}
            return formulate(facts, spec.parameters, fields, "vector_field", {}).start

    problem = plain_component(_with_inverses(formulated.problem, kind), functions)
    return Step(plain_component(component, functions), Driven(problem) if case.driven else problem,
                _objects(formulated.start, kind), digits, declared.formulation, chosen, declared.order_of(*given),
                declared.symmetric_of(*given), tuple(start), standard_rows, case.driven)


def _objects(values: np.ndarray, kind: type[Number]) -> np.ndarray:
    out: Any = np.empty(values.shape, dtype=object)  # numpy's types know no assignment to `flat`
    out.flat = [kind.of(x) for x in values.flat]
    return out


def on_manifold(fields: tuple[StateField, ...], initial: Mapping[str, np.ndarray],
                digits: int) -> dict[str, np.ndarray]:
    """An initial state with unit directions, orthogonal tangents and rotations to all digits."""
    kind, root = numbers(digits), functions_of(digits).sqrt
    state = {name: _objects(values, kind) for name, values in initial.items()}
    for state_field in fields:
        if state_field.name not in state:
            continue
        value = state[state_field.name]
        if state_field.norm == "attitude":
            for matrix in value.reshape(-1, 3, 3):
                for i, u in enumerate(matrix.T):
                    for v in matrix.T[:i]:
                        u -= (u @ v)*v
                    u /= root(u @ u)
        elif state_field.norm == "direction":
            for u in value:
                u /= root(u @ u)
        elif state_field.tangent:
            for u, q in zip(value, state[state_field.tangent], strict=True):
                u -= (u @ q)*q
    return state


def _with_inverses(component: Any, kind: type[Number]) -> Any:
    """A component in which the inverse of a `matrix`, dense or its three diagonals, is right to all digits."""
    if not hasattr(component, "_fields"):
        return component
    parts = {name: _with_inverses(getattr(component, name), kind) for name in component._fields}
    wanted = "matrix" in parts and parts.keys() & {"inverse", "beside"}   # another matrix is scratch
    inverse: Any = np.array((kind.context.matrix(_objects(parts["matrix"], kind).tolist())**-1).tolist(),
                            dtype=object) if wanted else None
    if "inverse" in parts:
        parts["inverse"] = inverse
    elif "beside" in parts:
        parts["diagonal"], parts["beside"] = np.diag(inverse), np.concatenate([[kind.of(0)], np.diag(inverse, -1)])
    return type(component)(**parts)


COLUMNS = 8          # most columns of the extrapolation: 16 cost four times as much and decide nothing up to order 8
FLOW_SPARE_DIGITS = 10    # corrections that many digits above the last one end the extrapolation


class Flow(NamedTuple):
    """The state after time h, the size of the last correction, and whether that is below all digits."""

    state: np.ndarray
    error: Number
    reached: bool


def largest(values: np.ndarray) -> Any:
    """Largest absolute value of an array of objects."""
    return max(map(abs, values.flat))


def flow(field: Step, h: Any, t_start: Any = 0, columns: int = COLUMNS) -> Flow:
    """Exact flow of a vector field from t_start over h: the modified midpoint rule, extrapolated in up to so many
    columns (Gragg; Hairer, Norsett and Wanner 1993, II.9)."""
    kind, start = numbers(field.digits), field.start

    def f(t, y):
        out = np.full(y.shape, kind.of(0), dtype=object)
        if not field.problem.rhs(t_start + t, y, out):
            raise IntegrationError(Status.NOT_EVALUABLE, 0.0, "certificate: ")
        return out

    rows: list[list[np.ndarray]] = []  # of the extrapolation
    slope, enough = f(kind.of(0), start), kind.of(Fraction(1, 10**(field.digits - FLOW_SPARE_DIGITS)))
    for j in range(columns):
        n = 2*(j + 1)
        s = h/n
        last, now = start, start + s*slope
        for k in range(1, n):
            last, now = now, last + 2*s*f(k*s, now)
        row = [(last + now + s*f(h, now))/2]
        for m in range(j):
            ratio = kind.of(Fraction(n, 2*(j - m))**2)
            row.append(row[m] + (row[m] - rows[-1][m])/(ratio - 1))
        rows.append(row)
        error = largest(row[-1] - row[-2]) if j else largest(row[0])
        if error < enough:
            break
    return Flow(rows[-1][-1], error, error < enough)


@cache
def flow_of(case: Case, form: str, h: Fraction, digits: int) -> Flow:
    """The flow of a case's own vector field in one of its forms ("" for the standard one)."""
    if case.driven:
        return flow_of(replace(case, driven=False), form, h + h*h/2, digits)
    field = step_of(case, ranked("shown", "vector_field")[0], {"form": form} if form else {}, digits)
    return flow(field, numbers(digits).of(h))
