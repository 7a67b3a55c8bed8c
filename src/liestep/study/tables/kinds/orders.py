"""The table `orders`: observed order of the state error of every pair of a study, with class and uncertainty."""
from typing import TYPE_CHECKING

import numpy as np

from liestep.files.textfiles import TableRow
from liestep.study.tables.kinds import Table
from liestep.study.tables.liestep_judge import EPSILON
from liestep.study.tables.metrics import over_steps
from liestep.study.tables.order import observed_order, order_verdict

if TYPE_CHECKING:
    import pandas

COLUMNS = ("study", "problem", "problem_label", "integrator", "integrator_id", "integrator_label", "adaptive",
           "order_theory", "p", "u", "class", "passed", "order_plain", "window_h_min", "window_h_max", "points", "runs",
           "failed", "error_min", "error_max", "floor", "verdict", "energy_order", "energy_u", "energy_class")
ENERGY_FLOOR = 1e-15  # of the mean energy error relative to the kinetic energy: a few units of round-off


def orders_table(metrics: "pandas.DataFrame") -> list[TableRow]:
    """One row per pair, columns COLUMNS. p, u and class are those of `observed_order` for the state error over the step
    (mean accepted step of adaptive methods, whose error follows the tolerance: no order claim is made for them, nor for
    methods of unknown order). verdict is its sentence, floor that of the smallest step, at least the round-off of a sum
    of n steps: eps sqrt(n), or eps n (all of one sign) where no order is seen otherwise. energy_order is the exponent
    of the mean energy error; it is not the order of the method."""
    rows = []
    usable = metrics[(metrics["members"] == 1) & (metrics["step"] > 0.0)]
    for (problem, integrator), runs in usable.groupby(["problem", "integrator"], sort=False):
        first = runs.iloc[0]
        step, symmetric = runs["step"].to_numpy(float), bool(first["symmetric"])
        theory = None if first["order"] is None or first["order"] != first["order"] else float(first["order"])
        complete = (runs["status"] == "ok").to_numpy()
        error, floor = runs["error"].to_numpy(float), runs["floor"].fillna(runs["floor_reference"]).to_numpy(float)
        floors = [np.maximum(floor, EPSILON*runs["steps"].to_numpy(float)**power) for power in (0.5, 1.0)]
        orders = [observed_order(step, error, floor=level, theory=theory, symmetric=symmetric) for level in floors]
        which = int(orders[0].classification != "asymptotic" == orders[1].classification)
        estimate, floor = orders[which], floors[which]
        passed, verdict = order_verdict(estimate, theory) if theory is not None else (None, estimate.reason)
        energy = observed_order(step, np.where(complete, runs["energy_error_mean_relative"].to_numpy(float), np.nan),
                                floor=ENERGY_FLOOR, theory=theory, symmetric=symmetric)
        used, good = step[list(estimate.window)], error[np.isfinite(error)]
        rows.append({"study": first["study"], "problem": problem, "problem_label": first["problem_label"],
            "integrator": integrator, "integrator_id": first["integrator_id"],
            "integrator_label": first["integrator_label"], "adaptive": first["adaptive"],
            "order_theory": first["order"], "p": estimate.order, "u": estimate.uncertainty,
            "class": estimate.classification, "passed": passed if not first["adaptive"] else None,
            "order_plain": estimate.order_plain, "window_h_min": used.min() if used.size else None,
            "window_h_max": used.max() if used.size else None, "points": used.size, "runs": len(runs),
            "failed": int(np.count_nonzero(~complete)), "error_min": good.min() if good.size else None,
            "error_max": good.max() if good.size else None, "floor": floor[np.argmin(step)], "verdict": verdict,
            "energy_order": energy.order, "energy_u": energy.uncertainty, "energy_class": energy.classification})
    return rows


TABLE = Table(COLUMNS, lambda results: orders_table(over_steps(results.metrics)),
    readable=("problem_label", "integrator_label", "order_theory", "p", "u", "class", "window_h_min", "window_h_max",
              "points", "floor", "energy_order", "verdict"),
    needed=("p", "u", "class"))
