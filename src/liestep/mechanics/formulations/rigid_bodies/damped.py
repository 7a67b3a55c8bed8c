"""Rigid bodies that move, with forces and torques that depend on their velocities beside those of the potential.

A system that offers

    damp(y, rates, out)    adds to the torques and forces of `forces` in `out` those at the velocities in the rows of y
                           and the spatial angular velocities `rates` (n, 3); returns their power in W

has one row more below its state: (W, 0, 0) with the work W of these forces in J. Observables are those without it, with
the energy less the work, which is the invariant; then W and the mechanical energy.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on
from liestep.compile.rows import put, row
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.formulations.rigid_bodies.components import spatial_velocity
from liestep.mechanics.formulations.work import separate_work


@hands_on("plain", RigidBodies)
class DampedBodies(NamedTuple):
    """The methods of `RigidBodies`, where those for forces of velocity do something."""

    plain: Any         # RigidBodies
    system: Any        # with damp(y, rates, out)
    rates: np.ndarray  # (n, 3) scratch
    power: np.ndarray  # (1,) of the last forces
    column: int        # of the work in `observe`

    def forces(self, y: np.ndarray, out: np.ndarray) -> bool:
        n = self.plain.bodies()
        if not self.plain.forces(y, out):
            return False
        for i in range(n):
            put(self.rates, i, spatial_velocity(y, i, row(y, 3*n + i), self.plain.moments(i)))
        self.power[0] = self.system.damp(y, self.rates, out)
        return True

    def add_power(self, out: np.ndarray, i: int) -> None:
        """Power of the last forces into row i."""
        put(out, i, (self.power[0], 0.0, 0.0))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.plain.observe(y, out)
        separate_work(y[y.shape[0] - 1, 0], self.column, out)


def is_damped(system: Any) -> bool:
    """Whether a system declares forces of velocity: known from its class, before anything is compiled."""
    return hasattr(type(system), "damp")
