"""Four bodies that attract each other on the unit sphere, by scipy's RK23 in fixed steps, as files to be judged."""
import csv
import json

import numpy as np
from scipy.integrate import solve_ivp

exported = json.load(open("exported/references.json"))["references"][0]
start, gamma = exported["initial"], exported["parameters"]["gamma"]
bodies = len(start["q"])


def rhs(t, y):
    q, omega = y.reshape(2, bodies, 3)
    torque = np.zeros_like(q)
    for i in range(bodies):
        for j in range(bodies):
            if i != j:
                torque[i] += gamma*np.cross(q[i], q[j])/(1.0 - (q[i] @ q[j])**2)**1.5
    return np.concatenate([np.cross(omega, q), torque]).ravel()


y0, t_end = np.ravel([start["q"], start["omega"]]), 2.0
names = [f"{field}_{body}_{axis}" for field in ("q", "omega") for body in range(bodies) for axis in "xyz"]
for steps in (50, 100, 200, 400, 800, 1600):
    h = t_end/steps
    run = solve_ivp(rhs, (0.0, t_end), y0, "RK23", np.linspace(0.0, t_end, 51),
                    max_step=h, first_step=h, rtol=1e6, atol=1e6)
    with open(f"scipy_{steps}.csv", "w", newline="") as file:
        file.write(f"# label = scipy RK23\n# order = 3\n# step = {h!r}\n# rhs_evaluations = {run.nfev}\n")
        table = csv.writer(file)
        table.writerow(["time", *names])
        table.writerows([t, *state] for t, state in zip(run.t, run.y.T))
