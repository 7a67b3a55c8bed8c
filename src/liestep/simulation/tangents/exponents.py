"""Trajectories that carry derivatives with respect to their start, the shipped steps on other numbers; and Lyapunov
exponents, mean rates at which these grow (Benettin, Galgani, Giorgilli and Strelcyn 1980)."""
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from liestep.compile.cache import compiles, loop_for
from liestep.compile.driver import advance
from liestep.compile.pieces import Pieces
from liestep.compile.roles import Problem, Stepper, Work
from liestep.compile.sources import black_box
from liestep.compile.status import IntegrationError, Status
from liestep.compile.trees import arrays, with_arrays
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.formulations import formulate
from liestep.simulation.runs.specified import RunSpecification
from liestep.simulation.tangents.directions import Direction, changes, form_of, pair_of, span
from liestep.simulation.tangents.numbers import Silent, in_duals

SIZE = 1e-200  # of a unit derivative in complex numbers: products of two vanish, so that real parts have plain bits
WIDEST = 8     # derivatives beside one value


@dataclass
class Tangents:
    """One trajectory with k derivatives, which stand side by side in one or more copies of the state and of the
    workspace. Raises IntegrationError: a step failed."""

    formulated: Formulated
    integrator: Stepper
    problem: Problem          # with arrays of numbers with derivatives
    copies: list[np.ndarray]  # (m, d) of such numbers, all with the same values
    works: list[Work]
    rows: np.ndarray          # (copies, numbers of a state and of all that its steps remember, 1 + derivatives)
    count: int                # k

    def advance(self, h: float, first: int, last: int) -> None:
        """Steps from number `first` to `last`."""
        with Pieces(self.formulated.start.size) as pieces:
            for y, work in zip(self.copies, self.works, strict=True):
                done = first
                while done < last:
                    end = min(done + pieces.steps, last)
                    status, _ = self._loop(self.integrator, self.problem, Silent(), y, h, done, end, work, 0.0, 0)
                    if status != Status.OK:
                        raise IntegrationError(Status(status), end*h, "tangents: ")
                    done = end
                    pieces.ended()

    @cached_property
    def _loop(self) -> Callable[..., tuple[int, int]]:
        parts, work = (self.integrator, self.problem, Silent()), self.works[0]
        ready: Callable[..., tuple[int, int]] = loop_for(advance, *parts, work).ready(
            *parts, self.copies[0], 0.0, 0, 0, work, 0.0, 0)
        return ready

    @property
    def derivatives(self) -> np.ndarray:
        """(k, m*d) of the rows of the state."""
        found = self.rows[:, :self.formulated.start.size, 1:]
        return found.transpose(0, 2, 1).reshape(-1, found.shape[1])[:self.count]

    @property
    def states(self) -> np.ndarray:
        """(k, m, d), each with a derivative times SIZE as imaginary part."""
        start = self.formulated.start
        return (self.rows[0, :start.size, 0] + 1j*SIZE*self.derivatives).reshape(-1, *start.shape)

    def fields(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """State fields, and their derivatives with a leading dimension k."""
        state, moved = (self.formulated.to_fields(rows) for rows in (self.states[:1].real, self.states))
        return ({name: values[0] for name, values in state.items()},
                {name: values.imag/SIZE for name, values in moved.items()})


def tangents(spec: RunSpecification, initial: Mapping[str, np.ndarray], directions: Sequence[Direction],
             t_end: float) -> Tangents:
    """A trajectory at a start, of a specification's system and method. directions: derivatives of all fields. Raises
    InputError: the form of the system takes a start in float64 only, so that it has no derivative; the code is not
    compiled."""
    declared = spec.method.on(spec.sheet)

    def formulated_at(state: Mapping[str, np.ndarray]) -> Formulated:
        return formulate(spec.sheet, spec.parameters, state, declared.formulation, spec.options)

    moved = [{name: value + 1j*SIZE*direction[name] for name, value in initial.items()} for direction in directions]
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            starts = [formulated_at(state).start.astype(np.complex128) for state in moved]
        except (np.exceptions.ComplexWarning, TypeError):  # of numpy's functions without a complex version
            raise InputError(f"derivatives of {spec.problem} by {spec.integrator} are not possible: its form"
                             f" {declared.formulation} takes a start in float64 only") from None
    formulated = formulated_at(initial)
    component, system = declared.build(spec.options, None, t_end), complex_arrays(formulated.problem)
    if black_box(component, system) or not compiles():
        raise InputError(f"derivatives of {spec.problem} by {spec.integrator} are not possible: they need compiled"
                         " code, and this is a black box, or NUMBA_DISABLE_JIT is set")
    width = 1 if len(starts) == 1 or spec.exponents == 1 else WIDEST
    rows, copies = _in_rows([(y, complex_arrays(component.workspace(system, y))) for y in starts], width)
    (_, (problem,)), (states, works) = _in_rows([system], width), zip(*copies, strict=True)
    return Tangents(formulated, component, problem, [*states], [*works], rows, len(starts))


def _in_rows(items: Sequence[Any], width: int) -> tuple[np.ndarray, list[Any]]:
    """The numbers of all complex arrays of equal trees, `width` derivatives beside each value, and trees whose arrays
    are parts of them."""
    parts = [[part for part in arrays(item) if part.dtype == np.complex128] for item in items]
    firsts, ends = items[::width], np.cumsum([part.size for part in parts[0]])
    rows = np.zeros((len(firsts), ends[-1] if ends.size else 0, 1 + width))
    for number, own in enumerate(parts):
        values = np.concatenate([np.zeros(0), *(part.ravel() for part in own)])
        rows[number//width, :, 0] = values.real
        rows[number//width, :, 1 + number % width] = values.imag/SIZE
    return rows, [_with_parts(item, iter(np.split(in_duals(row), ends)))
                  for item, row in zip(firsts, rows, strict=True)]


def _with_parts(item: Any, own: Iterator[np.ndarray]) -> Any:
    """The tree with other arrays in place of its complex ones."""
    return with_arrays(item, lambda array: next(own).reshape(array.shape) if array.dtype == np.complex128 else array)


def complex_arrays(component: Any) -> Any:
    """A component, or a workspace, whose float64 arrays are complex."""
    return with_arrays(component, lambda array: array.astype(np.complex128) if array.dtype == np.float64 else array)


SEED = 2009   # of the directions at the start
STRIDE = 200  # most steps between two orthonormalisations


def growth_of(spec: RunSpecification, initial: Mapping[str, np.ndarray], blocks: int) -> np.ndarray:
    """(blocks, k): logarithms of the growth of k derivatives, kept orthonormal, in equal parts of a run: as many as it
    asks for exponents, random combinations of a basis of the tangent space, always the same ones. Raises
    IntegrationError: a step failed; InputError: derivatives are lost."""
    assert spec.steps is not None
    assert spec.step is not None
    basis = span(spec.sheet, spec.parameters, initial)
    shares = np.random.Generator(np.random.PCG64(SEED)).standard_normal((spec.exponents, len(basis)))
    directions = [{name: sum(share*direction[name] for share, direction in zip(row, basis, strict=True))
                   for name in initial} for row in shares]
    moved = tangents(spec, initial, directions, spec.step*spec.steps)
    grown = np.zeros((blocks, len(directions)))
    orthonormalise(moved)
    for block in range(blocks):
        end = spec.steps*(block + 1)//blocks
        for first in range(spec.steps*block//blocks, end, STRIDE):
            last = min(first + STRIDE, end)
            moved.advance(spec.step, first, last)
            grown[block] += orthonormalise(moved)
            if not np.isfinite(grown[block]).all():
                raise InputError(f"exponents of {spec.problem} by {spec.integrator}: by t = {last*spec.step:.6g} a"
                                 " derivative is zero or not finite: it has none at a state before, as a square root at"
                                 " zero, or fewer exponents than asked for")
    return grown


def symplectic_error(spec: RunSpecification, initial: Mapping[str, np.ndarray]) -> float:
    """Largest |J^T Omega J - Omega| of one step from the start, relative to the largest entry of Omega; NaN where the
    symplectic form is not known. Raises IntegrationError: the step failed."""
    assert spec.step is not None
    form = form_of(spec.sheet, spec.parameters, initial)
    if form is None:
        return nan
    directions = span(spec.sheet, spec.parameters, initial)
    moved = tangents(spec, initial, directions, spec.step)
    moved.advance(spec.step, 0, 1)
    end, derivatives = moved.fields()
    pushed = [pair_of({name: derivatives[name][k] for name in initial}) for k in range(len(directions))]
    values, changed = changes(form, (pair_of(initial), [*map(pair_of, directions)]), (pair_of(end), pushed))
    return float(np.abs(changed).max()/np.abs(values).max())


def orthonormalise(tangents: Tangents) -> np.ndarray:
    """Make the derivatives of the state orthonormal, the first one first, and those of all that the steps remember,
    which depends on them linearly, with them; returns the logarithms of their lengths across all before them."""
    start, (groups, outside) = tangents.formulated.start, tangents.formulated.grouping
    # of work and clocks, which are in no field: their size stays, others fall
    tangents.rows[:, :start.size, 1:][:, np.repeat(groups == outside, start.shape[1])] = 0.0
    lengths = np.zeros(tangents.count)
    loop_for(across_each_other)(tangents.rows, start.size, lengths)
    return np.log(lengths)


def across_each_other(rows: np.ndarray, size: int, lengths: np.ndarray) -> None:
    """The same of rows (copies, numbers, 1 + width), whose first numbers are those of the state."""
    width = rows.shape[2] - 1
    for i in range(lengths.shape[0]):
        a, u = i//width, 1 + i % width
        for _ in range(2):  # the second time removes what round-off has left
            for j in range(i):
                b, v = j//width, 1 + j % width
                share = 0.0
                for k in range(size):
                    share += rows[b, k, v]*rows[a, k, u]
                for k in range(rows.shape[1]):
                    rows[a, k, u] -= share*rows[b, k, v]
        square = 0.0
        for k in range(size):
            square += rows[a, k, u]*rows[a, k, u]
        lengths[i] = math.sqrt(square)
        for k in range(rows.shape[1]):
            rows[a, k, u] /= lengths[i]
