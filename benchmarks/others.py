"""Other libraries on the motions of `peers`, beside heyoka and at equal error: scipy's DOP853 on our compiled
right-hand side, and diffrax's Dopri8 in JAX, compiled for the whole run, on the expressions of the same right-hand
side. Processor time of the process: JAX has threads of its own.

Nothing is installed: what is missing is a line. Codes with models of their own (mujoco, exudyn, drake, pinocchio) run
two of the problems in the comparison with other codes."""
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.peers import (
    MULTIPLIERS,
    NATURAL,
    PROBLEMS,
    TARGETS,
    Code,
    Problem,
    Run,
    curves,
    natural_peer,
    peer,
    start_at,
)
from liestep.compile.cache import loop_for
from liestep.compile.driver import evaluate
from liestep.compile.straight.jets import Numbers, taylor_coefficients
from liestep.integrators.taylor import field_expressions
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet

REQUIREMENTS = "rotation_bench/other_codes/requirements.txt"  # the versions that were measured
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
MOST_STEPS = 100_000


def compare(problems: Sequence[Problem] = PROBLEMS, repeats: int = 3) -> Iterator[dict[str, Any]]:
    """One row for each problem and error."""
    for label, system, preset, t_end in problems:
        start = start_at(system, preset)
        options = {"mass": "multipliers"} if system in MULTIPLIERS else {}
        field = formulate(sheet(system), start.parameters, start.initial, "vector_field", options)
        codes: dict[str, Code] = {"heyoka": partial(peer, system, start, t_end),
                                  **({"heyoka natural": partial(natural_peer, system, start, t_end)}
                                     if system in NATURAL else {}),
                                  "scipy": partial(scipy_run, field, t_end)}
        if not missing():
            codes["diffrax"] = diffrax_code(field, t_end)
        found = curves(system, preset, t_end, repeats, codes, TOLERANCES, time.process_time)
        for target in TARGETS:
            yield {"problem": label, "error": target, **found.row(target)}


def missing() -> list[str]:
    """Sentences about what is not installed."""
    return [] if find_spec("diffrax") else [f"diffrax is not installed; {REQUIREMENTS} has its version."]


def run_of(field: Formulated, call: Any, idle: Any, y: np.ndarray) -> Run:
    return Run(call, idle, lambda: {key: value[0] for key, value in field.to_fields(y[None]).items()})


def scipy_run(field: Formulated, t_end: float, tolerance: float) -> Run:
    loop, y, out = loop_for(evaluate, field.problem), field.start.copy(), np.zeros_like(field.start)

    def rhs(t: float, state: np.ndarray) -> np.ndarray:
        loop(field.problem, t, state.reshape(out.shape), out)
        return out.flatten()

    def call(end: float = t_end) -> None:
        found = solve_ivp(rhs, (0.0, end), field.start.ravel(), "DOP853", rtol=max(tolerance, 3e-14), atol=tolerance)
        y[:] = found.y[:, -1].reshape(y.shape)

    return run_of(field, call, lambda: call(0.0), y)


def diffrax_code(field: Formulated, t_end: float) -> Code:
    """Compiled once for all tolerances; every error is asked of the same method, whose order is fixed."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    found = field_expressions(field.problem, field.start.shape)
    numbers = Numbers({"sqrt": jnp.sqrt, "sin": jnp.sin, "cos": jnp.cos, "atan2": jnp.arctan2})

    def rhs(t: Any, y: Any, _: Any) -> Any:
        slopes = taylor_coefficients(found, [*(y[k] for k in range(field.start.size)), t], 1, numbers)[1]
        return jnp.stack([jnp.asarray(value, dtype=float) for value in slopes])

    @jax.jit
    def solve(start: Any, tolerance: float, end: float) -> Any:
        done = diffrax.diffeqsolve(
            diffrax.ODETerm(rhs), diffrax.Dopri8(), 0.0, end, None, start, saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance), max_steps=MOST_STEPS)
        return done.ys[-1]

    def run(tolerance: float) -> Run:
        y, start = field.start.copy(), field.start.ravel()

        def call(end: float = t_end) -> None:
            y[:] = np.asarray(solve(start, tolerance, end)).reshape(y.shape)

        return run_of(field, call, lambda: call(0.0), y)

    return run
