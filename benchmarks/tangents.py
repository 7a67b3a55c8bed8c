"""What one derivative of a step costs, and those of all directions, in plain steps of the same method."""
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.driver import advance
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.execution import build, new_recorder
from liestep.simulation.runs.specification import specify
from liestep.simulation.tangents.directions import basis
from liestep.simulation.tangents.exponents import tangents

STEPS = 4000
CASES = (("spherical_pendulum_chain", "orders", "vi_sphere"), ("spherical_pendulum_chain", "orders", "rk4"),
         ("spherical_pendulum_chain", "orders", "rkmk"), ("heavy_top", "asymmetric", "slgi"))
STEP = 0.02


def derivatives(repeats: int) -> Iterator[dict[str, Any]]:
    """Two rows for each case: the smallest processor times of both loops, taken in turns, and their ratio."""
    for problem, preset, integrator in CASES:
        spec = specify(problem, integrator, preset=preset, steps=1, t_end=STEP)
        fields = formulate_standard(sheet(problem), spec.parameters, spec.initial).fields
        directions = basis(fields, spec.initial)
        formulated, component = build(spec)
        work = component.workspace(formulated.problem, formulated.start)
        recorder = new_recorder(formulated.start.shape, np.zeros(formulated.width), STEPS, 0, STEPS + 1)
        loop = loop_for(advance, component, formulated.problem, recorder, work)
        for count in (1, len(directions)):
            moved = tangents(spec, spec.initial, directions[:count], spec.t_end)
            start, y = moved.rows.copy(), formulated.start.copy()
            plain, derived = [], []
            for _ in range(repeats + 1):  # the first round loads the code
                y[:], moved.rows[:] = formulated.start, start
                before = time.thread_time()
                loop(component, formulated.problem, recorder, y, spec.step, 0, STEPS, work, 0.0, 0)
                between = time.thread_time()
                moved.advance(spec.step, 0, STEPS)
                plain.append(between - before)
                derived.append(time.thread_time() - between)
            yield {"problem": problem, "integrator": integrator, "directions": count,
                   "us per step": 1e6*min(plain[1:])/STEPS, "us per step with derivatives": 1e6*min(derived[1:])/STEPS,
                   "ratio": min(derived[1:])/min(plain[1:])}
