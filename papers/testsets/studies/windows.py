"""A02 of IFToMM's library of multibody benchmarks (see `mechanisms.py`), of three sizes."""
import numpy as np

import liestep
from liestep.extend import GROUND, Body, cylindrical, revolute, spherical

X, Y, Z = np.eye(3)
UPRIGHT = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]


def windows(count):
    """A02: `count` windows of rods of 1 m and 1 kg, upright, the upper ends at 1 m/s along x. Cylindrical and spherical
    joints hold a window as its four revolutes would, without rows that depend on each other."""
    moments, bodies, joints = [1e-4, 1/12, 1/12], [], []
    for k in range(count + 1):
        bodies.append(Body(1.0, moments, x=[k, 0.5, 0], R=UPRIGHT, v=0.5*X, rate=-Z))
        joints.append(revolute(GROUND, k*X, Z, 2*k, -0.5*X, Z))
        if k:
            joints.append(spherical(2*k - 1, 0.5*X, 2*k, 0.5*X))
        if k < count:
            bodies.append(Body(1.0, moments, x=[k + 0.5, 1, 0], v=X))
            joints.append(cylindrical(2*k, 0.5*X, Z, 2*k + 1, -0.5*X, Z))
    return {"bodies": bodies, "joints": joints, "gravity": [0, -9.81, 0]}


SHEETS = {name: liestep.system(f"{name}_bodies", **windows(count)).sheet for name, count in (
    ("iftomm_windows_2", 2), ("iftomm_windows_10", 10), ("iftomm_windows_40", 40))}
