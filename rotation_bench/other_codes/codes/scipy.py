"""scipy: solve_ivp on the equations of a quaternion and the momentum in the body, in plain Python numbers."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, cross, equations, turned

DISTRIBUTION = "scipy"
METHODS = {"RK45, fixed steps": Method(5, "first_step = max_step = h, tolerances that always accept"),
           "DOP853, fixed steps": Method(8, "first_step = max_step = h, tolerances that always accept"),
           "DOP853": Method(None, "rtol = atol", tolerances=True)}


def prepare(problem: Problem, name: str, size: float) -> Run:
    from scipy.integrate import solve_ivp

    rhs = equations(problem, cross, list)
    start = np.concatenate([problem.quaternion, problem.attitude.T @ problem.momentum])
    h = problem.t_end/size
    control = ({"rtol": max(size, 3e-14), "atol": size} if METHODS[name].tolerances else
               {"first_step": h, "max_step": h, "rtol": 1e6, "atol": 1e6})

    def run() -> States:
        y, count, found = start, 0, [start]
        # one call for each interval of fixed steps: otherwise samples were interpolated where steps do not fit
        times = problem.times
        if METHODS[name].tolerances:
            solved = solve_ivp(lambda t, y: rhs(t, y.tolist()), (0.0, problem.t_end), start, name.split(",")[0], times,
                               **control)
            return States(solved.y[:4].T, turned(solved.y[:4].T, solved.y[4:].T), solved.nfev)
        for _ in range(problem.samples - 1):
            solved = solve_ivp(lambda t, y: rhs(t, y.tolist()), (0.0, problem.between(size)*h), y, name.split(",")[0],
                               **control)
            y, count = solved.y[:, -1], count + solved.nfev
            found.append(y)
        states = np.array(found)
        return States(states[:, :4], turned(states[:, :4], states[:, 4:]), count)

    return run
