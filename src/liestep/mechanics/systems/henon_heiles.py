"""A star in the plane of a galaxy (Henon and Heiles 1964, Astron. J. 69, 73), in units of its small oscillations:

    H = (p_1^2 + p_2^2)/2 + (q_1^2 + q_2^2)/2 + strength (q_1^2 q_2 - q_2^3/3)

With strength 1 motions up to the energy 1/6 stay between three saddles.
"""
from typing import NamedTuple

import numpy as np

from liestep.extend import Parameter, Parameters, Preset, Trial, canonical


class HenonHeiles(NamedTuple):
    """Rates and Hamiltonian of rows q and momentum."""

    strength: float

    def drift(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0, 0], out[0, 1] = y[1, 0], y[1, 1]

    def kick(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        out[1, 0] = -y[0, 0]*(1.0 + 2.0*self.strength*y[0, 1])
        out[1, 1] = -y[0, 1] - self.strength*(y[0, 0]*y[0, 0] - y[0, 1]*y[0, 1])

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        self.drift(y, out)
        self.kick(t, y, out)

    def hamiltonian(self, y: np.ndarray) -> float:
        a, b = y[0, 0], y[0, 1]
        return (0.5*(y[1, 0]*y[1, 0] + y[1, 1]*y[1, 1] + a*a + b*b) + self.strength*b*(a*a - b*b/3.0))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = self.hamiltonian(y)


def _start(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"q": np.array([0.0, 0.1]), "momentum": np.array([0.49, 0.0])}


SHEET = canonical(
    title="Henon-Heiles",
    equations="dq/dt = p, dp/dt = -q - strength (2 q_1 q_2, q_1^2 - q_2^2)",
    citation="Henon and Heiles 1964, Astron. J. 69, 73",
    size=2, kept={"energy": True}, conservative=True, separable=True,
    build=lambda p: HenonHeiles(p["strength"]),
    parameters={"strength": Parameter("1", "of the cubic part of the potential")},
    default_preset="chaotic", motion="particle",
    trials=tuple(Trial(f"Henon-Heiles{words}", "chaotic", changed, use="instead") for words, changed in (
        ("", {}), (", stronger", {"strength": 1.5}), (", other sign", {"strength": -0.8}))),
    presets={"chaotic": Preset("energy 0.1247: regular and chaotic motions side by side", "none", "own",
                               {"strength": 1.0}, _start, 20.0)})
