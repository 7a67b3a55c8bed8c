"""Bricard's mechanism, six revolute joints of which one row is redundant (docs/own_mechanism.md)."""
import liestep
import numpy as np
from liestep.extend import GROUND, Body, revolute

O, (X, Y, Z) = np.zeros(3), np.eye(3)
corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1.0]])
rods, middle, axes = np.diff(corners, axis=0), (corners[1:] + corners[:-1])/2, [Y, Z, X, Y, Z, X]
bodies = [Body(1.0, np.eye(3)/12 - 0.0832*np.outer(rod, rod), x=x) for rod, x in zip(rods, middle)]
ends = [O, *middle, O]  # of the ground, the rods, the ground
joints = [revolute(k - 1 if k else GROUND, corners[k] - ends[k], axes[k], k if k < 5 else GROUND,
                   corners[k] - ends[k + 1], axes[k]) for k in range(6)]
bricard = liestep.system("bricard", bodies=bodies, joints=joints, gravity=[0, -9.81, 0])
data = bricard.simulate("rkmk", step=0.005, t_end=10.0, options={"stabilisation": "projection"})
print(data.attrs["joint_rank"], data.attrs["redundant_rows"], data.attrs["energy_error_max"])
