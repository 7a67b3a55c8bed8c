"""Presets of lgt2022, which prints no data: a free body whose pitch passes 90 degrees, ever closer."""
import numpy as np

from liestep.mechanics.contracts.sheet import Parameters, Preset
from liestep.mechanics.systems.jointed_body import FREE


def _passing(distance: float) -> Preset:
    def start(parameters: Parameters) -> dict[str, np.ndarray]:
        return {"attitude": np.eye(3)[None], "position": np.zeros((1, 3)), "velocity": np.zeros((1, 3)),
                "body_rate": np.array([[distance, 1.0, 0.0]])}

    return Preset(f"free body with pitch rate 1 and roll rate {distance:g}", "none", "own", FREE, start, 3.0)


PRESETS = {"jointed_body": {f"pitch_passage_{k}": _passing(10.0**-k) for k in (1, 2, 3, 4)}}
