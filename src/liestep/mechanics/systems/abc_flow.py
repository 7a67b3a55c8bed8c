"""A particle in the flow of Arnold, Beltrami and Childress (Dombre et al. 1986, J. Fluid Mech. 167, 353):

    dx/dt = a sin z + c cos y, dy/dt = b sin x + a cos z, dz/dt = c sin y + b cos x

The field has no divergence and is its own curl. Its parts with a, with b and with c are shears: each moves two
coordinates by the third one, so that its flow is known and keeps the volume.
"""
from typing import NamedTuple

import numpy as np

from liestep.extend import Parameter, Parameters, Preset, Trial, copy, cos, first_order, sin


class AbcFlow(NamedTuple):
    """Rates and parts of the row (x, y, z)."""

    a: float
    b: float
    c: float

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        out[0, 0] = self.a*sin(y[0, 2]) + self.c*cos(y[0, 1])
        out[0, 1] = self.b*sin(y[0, 0]) + self.a*cos(y[0, 2])
        out[0, 2] = self.c*sin(y[0, 1]) + self.b*cos(y[0, 0])

    def flow(self, i: int, h: float, y: np.ndarray, out: np.ndarray) -> None:
        copy(y, out)
        if i == 0:
            out[0, 0] += h*self.a*sin(y[0, 2])
            out[0, 1] += h*self.a*cos(y[0, 2])
        elif i == 1:
            out[0, 1] += h*self.b*sin(y[0, 0])
            out[0, 2] += h*self.b*cos(y[0, 0])
        else:
            out[0, 2] += h*self.c*sin(y[0, 1])
            out[0, 0] += h*self.c*cos(y[0, 1])

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = 0.0


def _start(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"y": np.array([0.3, 1.1, -0.7])}


SHEET = first_order(
    title="ABC flow",
    equations="dx/dt = a sin z + c cos y, dy/dt = b sin x + a cos z, dz/dt = c sin y + b cos x",
    citation="Dombre et al. 1986, J. Fluid Mech. 167, 353",
    size=3, parts=3, volume=True, kept={"energy": False},
    build=lambda p: AbcFlow(p["a"], p["b"], p["c"]),
    parameters={name: Parameter("1", f"strength of the shear along {axis}") for name, axis in zip(
        "abc", ("z", "x", "y"), strict=True)},
    default_preset="chaotic",
    trials=(Trial("ABC flow", "chaotic", use="instead"),
            Trial("ABC flow, equal shears", "chaotic", {"a": 1.0, "b": 1.0}, use="instead"),
            Trial("ABC flow, other shears", "chaotic", {"a": 0.7, "c": -0.4}, use="instead")),
    presets={"chaotic": Preset("a^2 = 3, b^2 = 2, c = 1: regions of chaos", "none", "own",
                               {"a": np.sqrt(3.0), "b": np.sqrt(2.0), "c": 1.0}, _start, 20.0)})
