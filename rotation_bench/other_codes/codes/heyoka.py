"""heyoka: Taylor method of a degree that follows from the tolerance, on a quaternion and the momentum in the body."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, cross, equations, turned

DISTRIBUTION = "heyoka"
METHODS = {"taylor": Method(None, "default code generation; samples by its dense output", tolerances=True)}


def prepare(problem: Problem, name: str, tolerance: float) -> Run:
    import heyoka

    symbols = heyoka.make_vars("w", "x", "y", "z", "a", "b", "c")
    rhs = equations(problem, cross, list)
    start = np.concatenate([problem.quaternion, problem.attitude.T @ problem.momentum])
    system = [(symbol, part + 0.0*symbol) for symbol, part in zip(symbols, rhs(0.0, symbols), strict=True)]
    flow = heyoka.taylor_adaptive(system, start, tol=tolerance)

    def run() -> States:
        flow.time, flow.state[:] = 0.0, start
        states = flow.propagate_grid(problem.times)[-1]
        return States(states[:, :4].copy(), turned(states[:, :4], states[:, 4:]))

    return run
