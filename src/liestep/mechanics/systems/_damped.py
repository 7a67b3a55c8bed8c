"""Damping of bonds and contacts between particles, and of contacts with the wall x = 0: forces between pairs, along the
line of their centres, and opposite torques, so that the linear and the total angular momentum are kept.

    bond       -eta d(r/r0)/dt / r0 along d on i, -eta (w_i - w_j) about i, and the opposite on j
    contact    K s^(p - 1)/D (1 + lambda ds/dt) along d in place of K s^(p - 1)/D; of the wall likewise

The law of the contacts is that of Hunt and Crossley (1975, J. Appl. Mech. 42, 440): without overlap there is no force.
"""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import outlined
from liestep.compile.rows import add_to, dot, row, scale, sqrt, sub
from liestep.mechanics.systems._bonded import ALL, BONDED, POINT, BondedParticles, contact_terms


class DampedParticles(NamedTuple):
    """`BondedParticles` with damping."""

    plain: BondedParticles
    bond: float     # eta, J s
    contact: float  # lambda, s

    def forces(self, y: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        return self.plain.forces(y, out, energy)

    @outlined
    def damp(self, y: np.ndarray, rates: np.ndarray, out: np.ndarray) -> float:
        """See `mechanics.formulations.rigid_bodies.damped`. The pairs are those of the forces of the same state."""
        plain, n = self.plain, self.plain.diameter.shape[0]
        power = 0.0
        for b in range(plain.first.shape[0]):
            i, j = plain.first[b], plain.second[b]
            turning = sub(row(rates, i), row(rates, j))
            torque = scale(-self.bond, turning)
            add_to(out, i, torque)
            add_to(out, j, scale(-1.0, torque))
            power += dot(torque, turning)
            length = plain.length[b]
            power += self.along(y, i, j, -self.bond/(length*length), out)
            if plain.pairs == BONDED:
                power += self.touch(y, i, j, out)
        if plain.pairs == ALL:
            offset, partner = plain.neighbours.offset, plain.neighbours.partner
            for i in range(n):
                for k in range(offset[i], offset[i + 1]):
                    power += self.touch(y, i, partner[k], out)
        if plain.wall_law != 0:
            share = plain.wall if plain.wall_law == POINT else 0.5*plain.wall
            for i in range(n):
                radius = 0.5*plain.diameter[i]
                s, speed = 1.0 - y[4*n + i, 0]/radius, y[5*n + i, 0]
                if s > 0.0:
                    force = -share/radius*contact_terms(plain.contact_law, s)[0]*self.contact*speed/radius
                    out[n + i, 0] += force
                    power += force*speed
        return power

    def along(self, y: np.ndarray, i: int, j: int, factor: float, out: np.ndarray) -> float:
        """Forces factor dr/dt along d on i and the opposite on j; their power."""
        n = self.plain.diameter.shape[0]
        gap, going = sub(row(y, 4*n + i), row(y, 4*n + j)), sub(row(y, 5*n + i), row(y, 5*n + j))
        r = sqrt(dot(gap, gap))
        speed = dot(gap, going)/r
        force = scale(factor*speed/r, gap)
        add_to(out, n + i, force)
        add_to(out, n + j, scale(-1.0, force))
        return factor*speed*speed

    def touch(self, y: np.ndarray, i: int, j: int, out: np.ndarray) -> float:
        """Damping where i and j overlap; its power."""
        plain, n = self.plain, self.plain.diameter.shape[0]
        gap = sub(row(y, 4*n + i), row(y, 4*n + j))
        reach = 0.5*(plain.diameter[i] + plain.diameter[j])
        square = dot(gap, gap)
        if not square < reach*reach:
            return 0.0
        growth = contact_terms(plain.contact_law, 1.0 - sqrt(square)/reach)[0]
        return self.along(y, i, j, -plain.contact/reach*growth*self.contact/reach, out)
