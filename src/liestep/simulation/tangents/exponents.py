"""Lyapunov exponents: mean rates at which derivatives grow (Benettin, Galgani, Giorgilli and Strelcyn 1980)."""
from collections.abc import Mapping
from math import nan

import numpy as np

from liestep.simulation.runs.specification import RunSpecification
from liestep.simulation.tangents.directions import Direction, span
from liestep.simulation.tangents.flow import Tangents, tangents
from liestep.simulation.tangents.forms import changes, form_of, pair_of

SEED = 2009   # of the directions at the start
STRIDE = 200  # most steps between two orthonormalisations


def growth_of(spec: RunSpecification, initial: Mapping[str, np.ndarray], blocks: int) -> np.ndarray:
    """`growth` of as many random directions of a start as a run asks for exponents."""
    assert spec.steps is not None
    assert spec.step is not None
    directions = random_directions(spec, initial)
    return growth(tangents(spec, initial, directions, spec.step*spec.steps), spec.step, spec.steps, blocks)


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


def random_directions(spec: RunSpecification, initial: Mapping[str, np.ndarray]) -> list[Direction]:
    """Random combinations of a basis of the tangent space, always the same ones."""
    found = span(spec.sheet, spec.parameters, initial)
    shares = np.random.Generator(np.random.PCG64(SEED)).standard_normal((spec.exponents, len(found)))
    return [{name: sum(share*direction[name] for share, direction in zip(row, found, strict=True)) for name in initial}
            for row in shares]


def growth(tangents: Tangents, step: float, steps: int, blocks: int) -> np.ndarray:
    """(blocks, k): logarithms of the growth of k derivatives, kept orthonormal, in equal parts of a run. Raises
    IntegrationError: a step failed."""
    grown, done = np.zeros((blocks, len(tangents.states))), 0
    orthonormalise(tangents)
    for block in range(blocks):
        end = steps*(block + 1)//blocks
        while done < end:
            last = min(done + STRIDE, end)
            tangents.advance(step, done, last)
            grown[block] += orthonormalise(tangents)
            done = last
    return grown


def orthonormalise(tangents: Tangents) -> np.ndarray:
    """Make the derivatives orthonormal, the first one first; returns the logarithms of their lengths across all
    before them."""
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
