"""REBOUND: its Bulirsch-Stoer method for ordinary differential equations, by `create_ode`, on a quaternion and the
momentum in the body. Its N-body methods have no rigid body; equations in Python are called by ctypes."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, cross, equations, turned

DISTRIBUTION = "rebound"
METHODS = {"BS": Method(None, "eps_rel = eps_abs, equations in Python, steps end at samples", tolerances=True)}


def prepare(problem: Problem, name: str, tolerance: float) -> Run:
    import rebound

    rhs = equations(problem, cross, list)
    start = np.concatenate([problem.quaternion, problem.attitude.T @ problem.momentum])
    count = 0

    def derivatives(ode, slope, y, t):
        nonlocal count
        count += 1
        for k, value in enumerate(rhs(t, y)):
            slope[k] = value

    def run() -> States:
        nonlocal count
        count, flow = 0, rebound.Simulation()
        flow.integrator = name
        flow.integrator.eps_rel = flow.integrator.eps_abs = tolerance
        ode = flow.create_ode(length=7, needs_nbody=False)
        ode.derivatives = derivatives
        for k, value in enumerate(start):
            ode.y[k] = value
        found = [start]
        for t in problem.times[1:]:
            flow.integrate(t)
            found.append(ode.y[:7])
        states = np.array(found)
        return States(states[:, :4], turned(states[:, :4], states[:, 4:]), count)

    return run
