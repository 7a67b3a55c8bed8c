"""Trajectories that carry derivatives with respect to their start, the shipped steps on complex states; and Lyapunov
exponents, mean rates at which these grow (Benettin, Galgani, Giorgilli and Strelcyn 1980)."""
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from liestep.compile.cache import CompiledLoop, loop_for
from liestep.compile.driver import advance
from liestep.compile.pieces import Pieces
from liestep.compile.roles import Problem, Stepper, Work
from liestep.compile.status import IntegrationError, Status
from liestep.compile.trees import arrays, with_arrays
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.formulations import formulate
from liestep.simulation.runs.specified import RunSpecification
from liestep.simulation.tangents.directions import Direction, changes, form_of, pair_of, span
from liestep.simulation.tangents.numbers import SIZE, Silent


@dataclass
class Tangents:
    """One trajectory with k derivatives: k complex copies of the state and of the workspace. Raises IntegrationError: a
    step failed."""

    formulated: Formulated
    integrator: Stepper
    problem: Problem          # with complex arrays
    states: list[np.ndarray]  # k arrays (m, d), all with the same real part
    works: list[Work]
    rows: list[np.ndarray]    # k, each with the numbers of a state and of all that its steps remember

    def advance(self, h: float, first: int, last: int) -> None:
        """Steps from number `first` to `last`."""
        with Pieces(self.states[0].size) as pieces:
            for y, work in zip(self.states, self.works, strict=True):
                done = first
                while done < last:
                    end = min(done + pieces.steps, last)
                    status, _ = self._loop(self.integrator, self.problem, Silent(), y, h, done, end, work, 0.0, 0)
                    if status != Status.OK:
                        raise IntegrationError(Status(status), end*h, "tangents: ")
                    done = end
                    pieces.ended()

    @cached_property
    def _loop(self) -> CompiledLoop:
        return loop_for(advance, self.integrator, self.problem, Silent(), self.works[0])

    @property
    def derivatives(self) -> np.ndarray:
        """(k, m*d) of the rows of the state."""
        return np.stack([y.imag.ravel() for y in self.states])/SIZE

    def recombine(self, factors: np.ndarray) -> None:
        """Replace the derivatives by sums of them, row j by sum_i factors[j, i] (derivative i): of states and of all
        that the steps remember, which depends on them linearly."""
        old = [row.imag.copy() for row in self.rows]
        for row, shares in zip(self.rows, factors, strict=True):
            row.imag = sum(share*values for share, values in zip(shares, old, strict=True))

    def fields(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """State fields, and their derivatives with a leading dimension k."""
        state = self.formulated.to_fields(self.states[0].real[None])
        moved = self.formulated.to_fields(np.stack(self.states))
        return ({name: values[0] for name, values in state.items()},
                {name: values.imag/SIZE for name, values in moved.items()})


def tangents(spec: RunSpecification, initial: Mapping[str, np.ndarray], directions: Sequence[Direction],
             t_end: float) -> Tangents:
    """A trajectory at a start, of a specification's system and method. directions: derivatives of all fields. Raises
    InputError: the form of the system takes a start in float64 only, so that it has no derivative."""
    declared = spec.method.on(spec.sheet)

    def formulated_at(state: Mapping[str, np.ndarray]) -> Formulated:
        return formulate(spec.sheet, spec.parameters, state, declared.formulation, spec.options)

    moved = [{name: value + 1j*SIZE*direction[name] for name, value in initial.items()} for direction in directions]
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            starts = [formulated_at(state).start for state in moved]
        except (np.exceptions.ComplexWarning, TypeError):  # of numpy's functions without a complex version
            raise InputError(f"derivatives of {spec.problem} by {spec.integrator} are not possible: its form"
                             f" {declared.formulation} takes a start in float64 only") from None
    formulated = formulated_at(initial)
    component, system = declared.build(spec.options, None, t_end), complex_arrays(formulated.problem)
    states = [start.astype(np.complex128) for start in starts]
    rows, copies = zip(*(_in_row((y, complex_arrays(component.workspace(system, y)))) for y in states), strict=True)
    moving, works = zip(*copies, strict=True)
    return Tangents(formulated, component, system, [*moving], [*works], [*rows])


def _in_row(item: Any) -> tuple[np.ndarray, Any]:
    """The numbers of all complex arrays of a tree, and a tree whose arrays are parts of them."""
    found = [part for part in arrays(item) if part.dtype == np.complex128]
    row = np.concatenate([part.ravel() for part in found])
    own = iter(np.split(row, np.cumsum([part.size for part in found])))
    return row, with_arrays(item, lambda array: next(own).reshape(array.shape) if array.dtype == row.dtype else array)


def complex_arrays(component: Any) -> Any:
    """A component, or a workspace, whose float64 arrays are complex."""
    return with_arrays(component, lambda array: array.astype(np.complex128) if array.dtype == np.float64 else array)


SEED = 2009   # of the directions at the start
STRIDE = 200  # most steps between two orthonormalisations


def growth_of(spec: RunSpecification, initial: Mapping[str, np.ndarray], blocks: int) -> np.ndarray:
    """(blocks, k): logarithms of the growth of k derivatives, kept orthonormal, in equal parts of a run: as many as it
    asks for exponents, random combinations of a basis of the tangent space, always the same ones. Raises
    IntegrationError: a step failed."""
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
            moved.advance(spec.step, first, min(first + STRIDE, end))
            grown[block] += orthonormalise(moved)
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
    """Make the derivatives orthonormal, the first one first; returns the logarithms of their lengths across all
    before them."""
    groups, outside = tangents.formulated.grouping
    for y in tangents.states:
        y.imag[groups == outside] = 0.0  # of work and clocks, which are in no field: their size stays, others fall
    vectors = tangents.derivatives
    k = len(vectors)
    factors, lengths = np.eye(k), np.zeros(k)
    for i in range(k):
        for _ in range(2):  # the second time removes what round-off has left
            for j in range(i):
                share = np.sum(vectors[j]*vectors[i])
                vectors[i] -= share*vectors[j]
                factors[i] -= share*factors[j]
        lengths[i] = np.sqrt(np.sum(vectors[i]*vectors[i]))
        vectors[i] /= lengths[i]
        factors[i] /= lengths[i]
    tangents.recombine(factors)
    return np.log(lengths)
