"""Forces, torques and their derivatives against differences of order 4, in plain Python. Only implicit integrators use
derivatives of torques: a wrong one changes no trajectory of the other checks."""
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.probed import plain
from liestep.mechanics.formulations.rigid_bodies.components import RigidBodies
from liestep.simulation.runs.specification import RunSpecification

DIRECTIONS = 5
FORCE_LIMIT, SLOPE_LIMIT = 1e-7, 1e-8  # largest relative errors of forces and torques, of torque_slope
STEP, TURN = 1e-4, 1e-3  # of the differences of energies; of torques, rad
AWAY, MOST = 0.02, 4     # of the random state from the start; bodies that are tried


def slope(function: Callable[[float], Any], step: float) -> Any:
    """Derivative at 0 by central differences of order 4."""
    near, far = (function(s) - function(-s) for s in (step, 2.0*step))
    return (8.0*near - far)/(12.0*step)


def turned(y: np.ndarray, u: np.ndarray, body: int = 0) -> np.ndarray:
    """The state with the attitude of a body, three rows, turned by exp(hat u) (Rodrigues' formula)."""
    angle, out = float(np.linalg.norm(u)), y.copy()
    if angle > 0.0:
        axis, rows = np.asarray(u)/angle, slice(3*body, 3*body + 3)
        across = np.cross(axis, y[rows])
        out[rows] += np.sin(angle)*across + (1.0 - np.cos(angle))*np.cross(axis, across)
    return out


def force_error(facts: Sheet, run: RunSpecification) -> float | None:
    """Largest relative error of forces and torques of rigid bodies at a state near the start, against slopes of all
    energies; None for systems without energies of their own."""
    if "rigid_bodies" not in facts.forms:
        return None
    form = formulate(facts, run.parameters, run.initial, "rigid_bodies", {})
    if not isinstance(form.problem, RigidBodies):
        return None
    generator = np.random.Generator(np.random.PCG64(1))
    problem, n = plain(form.problem), form.problem.masses.size
    y, out = form.start, np.zeros((2*n, 3))
    for i in range(n):
        y = turned(y, AWAY*generator.standard_normal(3), i)
    if problem.moves:
        y[4*n:5*n] += AWAY*generator.standard_normal((n, 3))
    if not problem.forces(y, out):
        return float("inf")

    def energy(i: int, axis: np.ndarray, moved: bool, s: float) -> float:
        there = y.copy() if moved else turned(y, s*axis, i)
        if moved:
            there[4*n + i] += s*axis
        problem.system.forces(there, np.zeros_like(out), problem.parts)
        return float(problem.parts.sum())

    gaps = [abs(slope(partial(energy, i, axis, moved), STEP) + float(out[n + i if moved else i] @ axis))
            for i in generator.permutation(n)[:MOST] for axis in np.eye(3)
            for moved in ((False, True) if problem.moves else (False,))]
    return max(gaps)/max(float(np.abs(out).max()), 1e-300)


def _torque(problem: Any, y: np.ndarray, u: np.ndarray, s: float) -> np.ndarray:
    return np.array(problem.torque(turned(y, s*u)))


def torque_slopes(facts: Sheet, run: RunSpecification) -> Iterator[tuple[str, float]]:
    """(formulation, relative error of torque_slope against differences of torque) of every formulation with both that
    the system has at the parameters: the largest over random attitudes and directions."""
    for formulation in facts.forms:
        try:
            form = formulate(facts, run.parameters, run.initial, formulation, {})
        except InputError:
            continue
        if not hasattr(form.problem, "torque_slope"):
            continue
        generator, problem, gaps, sizes = np.random.Generator(np.random.PCG64(1)), plain(form.problem), [], [1e-300]
        for _ in range(DIRECTIONS):
            y, u = turned(form.start, generator.standard_normal(3)), generator.standard_normal(3)
            expected = slope(partial(_torque, problem, y, u), TURN)
            found = np.array(problem.torque_slope(y, tuple(u)))
            gaps.append(float(np.abs(found - expected).max()))
            sizes += [float(np.abs(values).max()) for values in (found, expected, np.array(problem.torque(y)))]
        yield formulation, max(gaps)/max(sizes)
