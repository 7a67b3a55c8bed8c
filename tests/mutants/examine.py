"""Run in a process of its own on a (mutated) copy of the package, as plain Python: does an integrator pass?

usage: examine.py REQUEST.json; the request names problem, integrator, options and the file of accurate states. Prints a
JSON object check -> sentence of what is wrong, for the checks that fail.
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from checks import EPS, Flow, estimate

from liestep.simulation.catalogue import method, sheet
from liestep.study.tables.order import order_verdict

T_END = 1.0
COUNTS = {1: [100, 200, 500, 1000], 2: [20, 40, 80, 160, 320], 4: [20, 40, 80, 160, 320],
          6: [10, 20, 30, 40, 60, 80, 110]}
STEPS, STEP = 20, 0.02


def order(problem, name, true, options):
    """The complaint about the observed order, if any."""
    declared = method(name)
    passed, sentence = order_verdict(estimate(problem, name, true, COUNTS[declared.order], T_END, **options),
                                     declared.order)
    return {} if passed else {"order": sentence}


def exact_properties(problem, name, options):
    """Complaints about what the integrator's family keeps exactly."""
    declared, flow, found = method(name), Flow(problem, name, options=options), {}
    start = flow(flow.start, STEP, 10)
    end = flow(start, STEP, STEPS)
    observed = flow.observed(end)
    defect = max(np.abs(observed[item.name]).max() for item in flow.observables if item.kind == "residual")
    if declared.formulation != "vector_field" and not defect <= 100*EPS:
        found["manifold"] = f"a constraint is wrong by {defect:.1e}"
    if declared.symmetric:
        kept = np.array(sheet(problem[0]).conserved_momentum(flow.spec.parameters))
        drift = np.abs(observed["momentum_map"] - flow.momentum(start))[kept].max()/flow.momentum_scale
        if not drift <= STEPS*EPS:
            found["momentum"] = f"the momentum changes by {drift:.1e}"
        gap = np.abs(flow(end, -STEP, STEPS) - start).max()
        if not gap <= 500*EPS:
            found["symmetry"] = f"steps back miss the start by {gap:.1e}"
    return found


def main():
    request = json.loads(Path(sys.argv[1]).read_text())
    problem, name, options = tuple(request["problem"]), request["integrator"], request["options"]
    found = order(problem, name, dict(np.load(request["true"])), options)
    try:
        found |= exact_properties(problem, name, options)
    except AssertionError as failure:  # a step returned another status than OK
        found["status"] = str(failure)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
