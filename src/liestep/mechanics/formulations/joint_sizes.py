"""What residuals of joints are measured against: a mechanism's own length, wherever its origin is (plain Python)."""
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.geometry.groups.poses import MATRIX
from liestep.mechanics.formulations.multibody.assembly import ANGLES, Assembly, multiplier_rows, own_length
from liestep.mechanics.formulations.multibody.components import MIXED
from liestep.mechanics.formulations.multibody.forms import FIELDS, Layout
from liestep.mechanics.formulations.multibody.redundancy import numbered
from liestep.mechanics.formulations.probed import plain

MOST = 20  # samples that are looked at


def length_of(built: Any, seen: Mapping[str, np.ndarray]) -> float:
    """`own_length` at the start of a run, of an `Assembly` or of `constrained.Bodies`, which likewise is that of its
    arms and of the distances between centres."""
    if isinstance(built, Assembly):
        return own_length(built, {name: seen[name][0] for name in ("position", "attitude")})
    if not hasattr(built, "second"):  # a body about a fixed point in absolute coordinates
        return float(np.linalg.norm(seen["position"][0], axis=-1).max())
    centres, inner = seen["position"][0], built.second >= 0
    apart = np.linalg.norm(centres[built.first] - centres[built.second], axis=-1)[inner]
    arms = np.linalg.norm(np.concatenate([built.arm, built.other[inner]]), axis=-1)
    return float(max([*apart, *arms], default=0.0)) or float(np.sqrt((built.inertia.max(axis=-1)/built.mass).max()))


def sampled_gaps(built: Any, seen: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """The largest residual in m, and of what has no unit, at up to MOST samples."""
    kept = np.unique(np.linspace(0, len(seen["time"]) - 1, MOST).round().astype(int))
    gap = turn = 0.0
    if not isinstance(built, Assembly):
        if not hasattr(built, "second"):
            return 0.0, 0.0
        ends = []
        for bodies, points in ((built.first, built.arm), (built.second, built.other)):
            turned = np.einsum("tkij,kj->tki", seen["attitude"][kept][:, bodies], points)
            turned += seen["position"][kept][:, bodies]
            ends.append(np.where((bodies >= 0)[:, None], turned, points))
        return float(np.abs(ends[0] - ends[1]).max(initial=0.0)), 0.0
    layout = Layout(built, MATRIX, MIXED)
    motion, order = plain(layout.motion({})), multiplier_rows(built)
    for k in kept:
        y = layout.start({part.name: seen[part.name][k] for part in FIELDS})
        if built.has_clock:
            y[-1, 0] = seen["time"][k]
        motion.evaluate(y, 1)
        found = np.abs(motion.mechanism.vectors[1][order])
        for _, rows, part in numbered(built):
            if rows.kind in ANGLES:
                turn = max(turn, float(found[part].max()))
            else:
                gap = max(gap, float(found[part].max()))
    return gap, turn
