"""Derivatives that only implicit integrators use: a wrong one changes no trajectory of the other checks."""
from collections.abc import Iterator
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import RunSpecification

TURN = 1e-3           # rad, step of the differences of order 4
LIMIT = 1e-8          # largest relative error of torque_slope
DIRECTIONS = 5


def torque_slopes(facts: Sheet, run: RunSpecification) -> Iterator[tuple[str, float]]:
    """(formulation, relative error of torque_slope against differences of torque) of every formulation with both that
    the system has at the parameters."""
    for formulation in facts.forms:
        try:
            form = formulate(facts, run.parameters, run.initial, formulation, {})
        except InputError:
            continue
        if hasattr(form.problem, "torque_slope"):
            yield formulation, _worst(plain(form.problem), form.start)


def _worst(problem: Any, start: np.ndarray) -> float:
    """Largest gap over random attitudes and directions, relative to the largest slope or torque; in plain Python."""
    generator = np.random.Generator(np.random.PCG64(1))
    gaps, sizes = [], [1e-300]
    for _ in range(DIRECTIONS):
        y, u = turned(start, generator.standard_normal(3)), generator.standard_normal(3)
        near, far = ((np.array(problem.torque(turned(y, s*u))) - np.array(problem.torque(turned(y, -s*u))))
                     for s in (TURN, 2.0*TURN))
        expected = (8.0*near - far)/(12.0*TURN)
        found = np.array(problem.torque_slope(y, tuple(u)))
        gaps.append(float(np.abs(found - expected).max()))
        sizes += [float(np.abs(found).max()), float(np.abs(expected).max()), float(np.abs(problem.torque(y)).max())]
    return max(gaps)/max(sizes)


def turned(y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The state with its attitude, the first three rows, turned by exp(hat u) (Rodrigues' formula)."""
    angle, out = float(np.linalg.norm(u)), y.copy()
    if angle > 0.0:
        axis = np.asarray(u)/angle
        for i in range(3):
            across = np.cross(axis, y[i])
            out[i] = y[i] + np.sin(angle)*across + (1.0 - np.cos(angle))*np.cross(axis, across)
    return out
