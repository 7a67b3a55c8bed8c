"""What uncompiled runs of all integrators on a system keep and declare, as JSON; call it with NUMBA_DISABLE_JIT=1.

Called as a program: each argument is a plugin, or a system, its preset and its end."""
import json
import sys

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import integrator_calls, method, sheet
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify, start_of


def measured(found, residuals):
    """Largest values of each kind: relative, but residuals, which have the unit 1 or are small."""
    recorder, out = found.accepted or found.outputs, {}
    for part in found.formulated.observables:
        largest = np.asarray(recorder.largest)[part.columns]
        if part.name == "momentum_map" and any(part.conserved):
            out["momentum"] = float(largest[list(part.conserved)].max())/(found.formulated.momentum_scale or 1.0)
        elif part.name in residuals:
            out["manifold"] = max(out.get("manifold", 0.0), float(largest.max()))
        elif part.name == "energy":
            out["energy"] = float(largest.max()/abs(found.outputs.series[0, 0]))
    return out


def rows(name, preset, t_end):
    facts, start = sheet(name), start_of(name, preset=preset)
    residuals = {part.name for part in formulate_standard(facts, start.parameters, start.initial).observables
                 if part.kind == "residual"}
    for integrator in integrator_calls():
        declared = method(integrator).on(facts)
        if declared.lacks(facts, start.parameters) is not None:
            continue
        size = {"steps": 20}
        if declared.adaptive:
            size = {"tolerance": 0.05 if declared.fictitious else 1e-4, "outputs": 11}
        try:
            spec = specify(name, integrator, start=start, t_end=t_end, **size)
            found = run_once(spec)
        except InputError:  # the methods whose equations cannot be traced uncompiled
            continue
        if found.status == Status.OK:
            yield {"system": name, "integrator": integrator, **measured(found, residuals),
                   "declared": sorted(fact.name for fact in declared.kept(spec.options, facts, start.parameters))}


if __name__ == "__main__":
    for path in sys.argv[1:]:
        if path.endswith(".py"):
            load_plugin(path)
    print(json.dumps([row for case in sys.argv[1:] if ":" in case for row in rows(*(
        float(word) if k == 2 else word for k, word in enumerate(case.split(":"))))]))
