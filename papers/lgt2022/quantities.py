"""Numbers of a run that the studies of lgt2022 define: largest entries of errors at the end, as its trials give them;
errors of multipliers and of centres of mass; growth of the residual of joints; length of the quaternion."""
import json

import numpy as np

from liestep.integrators.tableaux import TABLEAUX
from liestep.paper import RunFile

VARIABLES = ("attitude", "position", "body_rate", "multiplier", "joint_error", "quaternion_norm", "time")
NAMES = ("attitude_entry_error", "rate_entry_error", "center_error", "multiplier_error", "joint_error_growth",
         "quaternion_length_change", "quaternion_length_ratio")
TABLEAU = {"rk2_midpoint": "midpoint", "rk4": "rk4"}  # of ids that have no option for it
FEW = 20  # samples; fewer show no growth


def entries(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Largest entry of the error of attitudes and body rates at the end, of multipliers from the first sample after the
    start on, and largest distance (m) of a centre of mass from its place at the end; of complete runs, and of what both
    files have."""
    if reference is None or file.failed:
        return {}
    both = {name for name in VARIABLES if name in file.variables and name in reference.variables}
    found = {column: float(np.abs(file[name][-1] - reference[name][-1]).max())
             for name, column in (("attitude", "attitude_entry_error"), ("body_rate", "rate_entry_error"))
             if name in both}
    centre = json.loads(file.attributes["specification"])["parameters"].get("center_of_mass")
    if centre is not None and {"position", "attitude"} <= both and file["position"].ndim == 3:
        points = np.asarray(centre, dtype=float).reshape(-1, 3)
        places = [data["position"][-1] + np.einsum("bij,bj->bi", data["attitude"][-1], points)
                  for data in (file, reference)]
        found["center_error"] = float(np.linalg.norm(places[0] - places[1], axis=1).max())
    if "multiplier" in both:
        found["multiplier_error"] = float(np.abs(file["multiplier"][1:] - reference["multiplier"][1:]).max())
    return found


def growth(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Exponent p of the largest residual of a joint so far ~ t^p, by least squares over the last nine tenths."""
    if file.failed or "joint_error" not in file.variables or len(file["time"]) < FEW:
        return {}
    time, largest = file["time"], np.maximum.accumulate(np.abs(file["joint_error"]))
    late = (time >= 0.1*time[-1]) & (largest > 0.0)
    if np.count_nonzero(late) < FEW//2:
        return {}
    x, y = np.log(time[late]), np.log(largest[late])
    x = x - x.mean()
    return {"joint_error_growth": float(x @ y/(x @ x))}


def length(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Length of the quaternion that is farthest from one, less one, at the end; of Runge-Kutta methods with fixed steps
    also divided by what the stability function makes of it at the rate of the start: 1 where the rate keeps its
    direction in the body, some per cent more where that turns."""
    if file.failed or "quaternion_norm" not in file.variables:
        return {}
    found = {"quaternion_length_change": float(file["quaternion_norm"][-1] - 1.0)}
    told = json.loads(file.attributes["specification"])
    tableau = told["options"].get("tableau", TABLEAU.get(told["integrator"]))
    if tableau in TABLEAUX and "step" in file.attributes and "body_rate" in told["initial"]:
        rate = float(np.linalg.norm(told["initial"]["body_rate"][0]))
        change = predicted_change(tableau, np.array([file.attributes["step"]]), rate, float(file["time"][-1]))[0]
        found["quaternion_length_ratio"] = found["quaternion_length_change"]/change
    return found


def predicted_change(tableau: str, steps: np.ndarray, rate: float, end: float) -> np.ndarray:
    """Length at the time `end` (s), less one, of a quaternion that turns at a constant rate w (rad/s): |R(i h w/2)| to
    the power of the number of steps, R the stability function of a known tableau."""
    a, b = (np.asarray(part, dtype=float) for part in (TABLEAUX[tableau].a, TABLEAUX[tableau].b))
    change = np.array([z*b @ np.linalg.solve(np.eye(len(b)) - z*a, np.ones(len(b))) for z in 0.5j*steps*rate])  # R - 1
    return np.expm1(0.5*end/steps*np.log1p(2.0*change.real + np.abs(change)**2))


QUANTITIES = (entries, growth, length)
