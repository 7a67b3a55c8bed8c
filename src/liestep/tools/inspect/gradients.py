"""Forces and torques of rigid bodies against differences of their energies, in plain Python."""
from typing import Any

import numpy as np

from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.rigid_bodies.components import RigidBodies
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import RunSpecification

LIMIT = 1e-7          # largest relative error
STEP, AWAY, MOST = 1e-4, 0.02, 4  # of the differences; of the random state from the start; bodies that are tried


def force_error(facts: Sheet, run: RunSpecification) -> float | None:
    """Largest relative error of forces and torques at a state near the start; None for systems without energies of
    their own."""
    if "rigid_bodies" not in facts.forms:
        return None
    form = formulate(facts, run.parameters, run.initial, "rigid_bodies", {})
    if not isinstance(form.problem, RigidBodies):
        return None
    generator = np.random.Generator(np.random.PCG64(1))
    problem, n = plain(form.problem), form.problem.masses.size
    y = form.start.copy()
    for i in range(n):
        _turn(y, i, AWAY*generator.standard_normal(3))
    if problem.moves:
        y[4*n:5*n] += AWAY*generator.standard_normal((n, 3))
    out = np.zeros((2*n, 3))
    if not problem.forces(y, out):
        return float("inf")
    gaps = [_gap(problem, y, out, i, axis, moved) for i in generator.permutation(n)[:MOST] for axis in np.eye(3)
            for moved in ((False, True) if problem.moves else (False,))]
    return max(gaps)/max(float(np.abs(out).max()), 1e-300)


def _turn(y: np.ndarray, i: int, u: np.ndarray) -> None:
    """Turn body i by a rotation vector, to fourth order."""
    for k in range(3*i, 3*i + 3):
        part, turned = y[k].copy(), y[k].copy()
        for order in (1.0, 2.0, 3.0, 4.0, 5.0):
            part = np.cross(u, part)/order
            turned += part
        y[k] = turned


def _gap(problem: Any, y: np.ndarray, out: np.ndarray, i: int, axis: np.ndarray, moved: bool) -> float:
    """Difference of one component from the slope of all energies."""
    n = problem.masses.size

    def energy(s: float) -> float:
        there = y.copy()
        if moved:
            there[4*n + i] += s*axis
        else:
            _turn(there, i, s*axis)
        problem.system.forces(there, np.zeros_like(out), problem.parts)
        return float(problem.parts.sum())

    slope = (8.0*(energy(STEP) - energy(-STEP)) - (energy(2.0*STEP) - energy(-2.0*STEP)))/(12.0*STEP)
    return abs(slope + float(out[n + i if moved else i] @ axis))
