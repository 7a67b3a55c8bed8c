"""diffrax: Runge-Kutta methods in JAX, compiled for the whole run, on a quaternion and the momentum in the body."""
import pickle
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, cross, equations, turned

DISTRIBUTION = "diffrax"
METHODS = {"Tsit5, fixed steps": Method(5, "float64, ConstantStepSize, compiled once", 6),
           "Dopri8, fixed steps": Method(8, "float64, ConstantStepSize, compiled once", 13),
           "Dopri8": Method(None, "float64, PIDController with rtol = atol, samples by its dense output",
                            tolerances=True)}


@lru_cache
def compiled(name: str, t_end: float, key: bytes) -> Callable:
    """The whole run as a function of the start and of the first step or the tolerance; compiled once for all sizes."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    problem, adaptive = pickle.loads(key), METHODS[name].tolerances
    rhs, solver = equations(problem, cross, jnp.stack), getattr(diffrax, name.split(",")[0])()
    saved = diffrax.SaveAt(ts=jnp.array(problem.times))

    @jax.jit
    def solve(y, size):
        control = diffrax.PIDController(rtol=size, atol=size) if adaptive else diffrax.ConstantStepSize()
        found = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, _: rhs(t, y)), solver, 0.0, t_end,
                                    None if adaptive else size, y, saveat=saved, stepsize_controller=control,
                                    max_steps=1_000_000)
        return found.ys, found.stats["num_steps"]

    return solve


def prepare(problem: Problem, name: str, size: float) -> Run:
    adaptive = METHODS[name].tolerances
    solve = compiled(name, problem.t_end, pickle.dumps(problem))
    start = np.concatenate([problem.quaternion, problem.attitude.T @ problem.momentum])
    given = size if adaptive else problem.t_end/size

    def run() -> States:
        found, steps = solve(start, given)
        states = np.asarray(found)
        return States(states[:, :4], turned(states[:, :4], states[:, 4:]), 13*int(steps) if adaptive else 0)

    return run
