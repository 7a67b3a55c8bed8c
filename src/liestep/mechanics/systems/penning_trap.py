"""A charged particle in a Penning trap: dv/dt = (axial^2/2) (x, y, -2z) + v x cyclotron (Brown and Gabrielse 1986, Rev.
Mod. Phys. 58, 233).

With the field along e3 the motion is known: z turns at the frequency `axial`, x - i y at the two roots of w^2 - w_c w +
axial^2/2 = 0. Energy 1/2 m v^2 + (m axial^2/4) (2 z^2 - x^2 - y^2).
"""
from typing import NamedTuple

import numpy as np

from liestep.extend import Parameter, Parameters, Preset, Trial, charged, dot, put, row


class PenningTrap(NamedTuple):
    """Acceleration, turning rate and energy of rows x, v."""

    mass: float
    cyclotron: np.ndarray  # (3,) rad/s
    half: float            # axial^2/2

    def push(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        out[0, 0], out[0, 1], out[0, 2] = self.half*y[0, 0], self.half*y[0, 1], -2.0*self.half*y[0, 2]

    def spin(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        put(out, 0, (self.cyclotron[0], self.cyclotron[1], self.cyclotron[2]))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        v, (x, y2, z) = row(y, 1), row(y, 0)
        out[0] = 0.5*self.mass*(dot(v, v) + self.half*(2.0*z*z - x*x - y2*y2))


def _start(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"position": np.array([1.0, 0.0, 0.5]), "velocity": np.array([0.0, 0.4, 0.1])}


SHEET = charged(
    title="Particle in a Penning trap",
    equations="dv/dt = (axial^2/2) (x, y, -2z) + v x cyclotron, dx/dt = v",
    citation="Brown and Gabrielse 1986, Rev. Mod. Phys. 58, 233",
    shape=(3,), kept={"energy": True}, conservative=True, masses=lambda p: np.array([p["mass"]]),
    build=lambda p: PenningTrap(p["mass"], p["cyclotron"], 0.5*p["axial"]*p["axial"]),
    parameters={"mass": Parameter("kg", "mass of the particle", (), "positive"),
                "cyclotron": Parameter("rad s-1", "charge times magnetic field over mass", (3,)),
                "axial": Parameter("rad s-1", "frequency along e3", (), "positive")},
    default_preset="ideal", motion="particle",
    trials=(Trial("Penning trap", "ideal", use="instead"),
            Trial("Penning trap, field off the axis", "tilted", use="instead"),
            Trial("Penning trap, longer axis", "tilted", {"axial": 0.5}, use="instead")),
    presets={"ideal": Preset("field along e3: three known frequencies", "none", "own",
                             {"mass": 1.0, "cyclotron": [0.0, 0.0, 5.0], "axial": 1.0}, _start, 20.0),
             "tilted": Preset("field off the axis", "none", "own",
                              {"mass": 2.0, "cyclotron": [0.6, 0.3, 4.0], "axial": 1.0}, _start, 20.0)})
