"""sdof: steps for one rigid body in numpy, of its room `rigid`. Called as its own `integrate` calls them, but with
steps k h instead of `arange(0, T, h)`, whose number of steps depends on round-off.

Left out are steps that its own `rigid/__main__.py` marks "Broken" (`bb_rkmk_trap_wdexp`, `rotint_nmb`) or comments out
and nowhere calls (`incrso3_svq`): what they do is no finding about sdof.
"""
from types import SimpleNamespace

import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States

DISTRIBUTION = "sdof"
METHODS = {name: Method(2, "as it is", symmetric=symmetric) for name, symmetric in (
    ("kb_e", False), ("incrso3_akw", False), ("incrso3_imid", True), ("incrso3_trapm", True), ("bb_rkmk_trap", True))}


def prepare(problem: Problem, name: str, steps: int) -> Run:
    from sdof import rigid

    step, inertia, every = getattr(rigid, name), np.diag(problem.inertia), problem.between(steps)
    h, arm, count = problem.t_end/steps, problem.mass*problem.lever, 0

    def torque(t, attitude):
        nonlocal count
        count += 1
        return np.cross(arm, attitude.T @ problem.gravity)

    def run() -> States:
        nonlocal count
        count, load = 0, SimpleNamespace(Torque=torque)
        rate, attitude = problem.rate, problem.attitude
        momentum, memory = inertia @ rate, SimpleNamespace(Alpha=None, T=None)
        attitudes, momenta = [attitude], [momentum]
        for k in range(steps):
            momentum, rate, attitude, memory = step(k*h, momentum, rate, attitude, h, inertia, load, memory)
            if (k + 1) % every == 0:
                attitudes.append(attitude)
                momenta.append(momentum)
        rotation = np.array(attitudes)
        return States(rotation, np.einsum("nij,nj->ni", rotation, np.array(momenta)), count)

    return run
