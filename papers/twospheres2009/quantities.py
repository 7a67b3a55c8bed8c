"""Numbers that only twospheres2009 needs: how the kinetic energy of the molecules of example 6 lies on the sphere."""
import json
import math
from collections.abc import Mapping

import numpy as np

from liestep.paper import RunFile

TIMES = (0.0, 0.25, 0.5, 0.75, 5.0)  # s, of figure 7
CAP = math.cos(math.radians(45.0))   # around e1, between the two vortices
SYSTEM = "lennard_jones_sphere"
VARIABLES = ("time", "q", "omega")
NAMES = ("kinetic_share_rise_largest", "kinetic_share_kept", "kinetic_gini_kept")


def gini(values: np.ndarray) -> float:
    """Gini coefficient of numbers that are not negative: 0 for equal ones, 1 - 1/n if only one is not zero."""
    ordered = np.sort(values)
    ranks = np.arange(1, ordered.size + 1)
    return float(2.0*np.sum(ranks*ordered)/(ordered.size*np.sum(ordered)) - (ordered.size + 1)/ordered.size)


def kinetic_energy_on_the_sphere(file: RunFile, reference: RunFile | None) -> Mapping[str, float]:
    """Share of the kinetic energy within 45 degrees of e1 at TIMES: its largest change from one to the next, and the
    last divided by the first; and the Gini coefficient of the molecules, the last divided by the first. Only for runs
    of the molecules that store these times."""
    specification = json.loads(file.attributes["specification"])
    if specification["problem"] != SYSTEM:
        return {}
    time, q, omega = (np.asarray(file[name], dtype=float) for name in VARIABLES)
    places = [int(np.abs(time - when).argmin()) for when in TIMES]
    if not np.allclose(time[places], TIMES, atol=1e-9):
        return {}
    mass = np.asarray(specification["parameters"]["mass"], dtype=float)
    energy = 0.5*mass*np.sum(omega[places]**2, axis=-1)
    shares = np.array([part[inside].sum()/part.sum() for part, inside in zip(energy, q[places, :, 0] >= CAP,
                                                                              strict=True)])
    even = gini(energy[-1])/gini(energy[0])
    return dict(zip(NAMES, (float(np.diff(shares).max()), float(shares[-1]/shares[0]), even), strict=True))


QUANTITIES = (kinetic_energy_on_the_sphere,)
