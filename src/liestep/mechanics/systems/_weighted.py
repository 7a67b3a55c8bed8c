"""Bodies about a fixed point whose potential is linear in the attitude, V = -gravity.(Q lever): heavy tops."""
from collections.abc import Callable
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Parameters, Sheet
from liestep.mechanics.formulations.fixed_body.forms import fixed_body
from liestep.mechanics.systems.heavy_top import HeavyTop, invariants


def top_of(inertia: np.ndarray, slopes: np.ndarray) -> HeavyTop:
    """The top with the slopes dV/dQ^T (3, 3) = -lever gravity^T, row j those of body axis j.

    Raises:
        InputError: they are no such product.
    """
    k, i = np.unravel_index(np.argmax(np.abs(slopes)), (3, 3))
    largest = slopes[k, i]
    lever, gravity = (-slopes[:, i]/largest if largest else np.zeros(3)), slopes[k]
    if np.abs(slopes + np.outer(lever, gravity)).max() > 1e-12*abs(largest):
        raise InputError("the potential is no product of a lever and gravity at these parameters: define the system"
                         " anew")
    return HeavyTop(inertia, lever, gravity, lever/(np.linalg.norm(lever) or 1.0), False)


def weighted_body(*, slopes: Callable[[Parameters], np.ndarray], **further: Any) -> Sheet:
    """Sheet of such a body from dV/dQ^T, which is constant and of rank one, see `top_of`; V holds nothing else.
    `inertia` (3,) is a parameter; `further` are arguments of `fixed_body`. Absolute coordinates take a body of the same
    motion, whose mass has a fourth of the smallest moment about the fixed point."""
    def build(values: Parameters) -> HeavyTop:
        return top_of(values["inertia"], slopes(values))

    def mass_center(values: Parameters) -> tuple[float, np.ndarray]:
        arm = build(values).lever
        mass = 4.0*float(arm @ arm)/float(values["inertia"].min()) or 1.0
        return mass, arm/mass

    def conserved(values: Parameters) -> tuple[bool, bool, bool]:
        x, y, z = map(bool, build(values).gravity)
        return not (y or z), not (x or z), not (x or y)

    return fixed_body(build=build, lever=lambda values: build(values).lever, quadratic=True, mass_center=mass_center,
                      gravity=lambda values: build(values).gravity, conserved_momentum=conserved,
                      invariants=lambda values, first: invariants({**values, "axis": build(values).axis}, first),
                      **further)
