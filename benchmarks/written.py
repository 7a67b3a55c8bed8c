"""rk4 of many members, 100 steps, from arrays of starts to arrays of ends: `liestep.ensemble` beside C in gcc's vectors
and diffrax under `vmap`, in turns. Processor time of the process; the first turn compiles."""
import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import liestep
from benchmarks.counterparts import SOURCES, WIDTH
from benchmarks.ensembles import NEAR, _henon, _in_turns
from liestep.simulation.runs.specification import start_of

STEPS, H = 100, 0.01
LANES = 8 if WIDTH else 4  # as wide as the processor's registers


def compare(members: int, repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each motion: us a member, and how far the attitudes or first numbers of others are from ours."""
    for label, problem in (("free body", "free_rigid_body"), ("Henon-Heiles", _henon())):
        start = start_of(str(problem))
        *still, _ = start.initial.values()
        name = list(start.initial)[-1]
        faster = 1.0 + NEAR*np.random.default_rng(1).standard_normal(members)
        values = np.multiply.outer(faster, start.initial[name])
        y = np.concatenate([np.repeat(np.ravel(still)[None], members, axis=0), values.reshape(members, -1)], axis=1)
        if label == "free body":  # the momentum in the body, of which others have the rates
            y[:, 9:] = y[:, 9:] @ start.initial["attitude"]
        inertia = np.asarray(start.parameters.get("inertia", np.ones(3)), dtype=np.float64)
        ends: dict[str, np.ndarray] = {}
        body = label == "free body"
        runs: dict[str, Callable[[], None]] = {"liestep": _ours(problem, [*start.initial], values, ends),
                                               "C": _c(body, y, inertia, ends)}
        if find_spec("diffrax"):
            runs["diffrax"] = _diffrax(body, y, inertia, ends)
        times = _in_turns(runs, repeats)
        yield {"motion": label, "members": members, **{code: times[code]/members for code in runs},
               **{f"distance of {code}": float(np.abs(ends[code] - ends["liestep"])[:, :-3].max())
                  for code in runs if code != "liestep"}}


def _ours(problem: Any, names: list[str], values: np.ndarray, ends: dict[str, np.ndarray]) -> Callable[[], None]:
    def run() -> None:
        found = liestep.ensemble(problem, "rk4", starts={names[-1]: values}, step=H, t_end=STEPS*H)
        ends["liestep"] = np.concatenate([found[name].values.reshape(len(values), -1) for name in names], axis=1)

    return run


def _c(body: bool, y: np.ndarray, inertia: np.ndarray, ends: dict[str, np.ndarray]) -> Callable[[], None]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)/"members.so"
        subprocess.run(["gcc", "-O3", "-march=native", *WIDTH, f"-DLANES={LANES}", *["-DBODY"]*body, "-shared", "-fPIC",
                        "-o", str(target), str(SOURCES/"members.c")], check=True)
        code = ctypes.CDLL(str(target)).run
    code.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]

    def run() -> None:
        blocks = np.ascontiguousarray(y.reshape(-1, LANES, y.shape[1]).swapaxes(1, 2))
        code(len(blocks), STEPS, H, inertia.ctypes.data, blocks.ctypes.data)
        ends["C"] = np.ascontiguousarray(blocks.swapaxes(1, 2)).reshape(y.shape)

    return run


def _diffrax(body: bool, y: np.ndarray, inertia: np.ndarray, ends: dict[str, np.ndarray]) -> Callable[[], None]:
    """Constant steps of the classical tableau, which diffrax takes as a solver of its own kind."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    class Classical(diffrax.AbstractERK):
        tableau = diffrax.ButcherTableau(
            a_lower=(np.array([0.5]), np.array([0.0, 0.5]), np.array([0.0, 0.0, 1.0])), c=np.array([0.5, 0.5, 1.0]),
            b_sol=np.array([1.0, 2.0, 2.0, 1.0])/6.0, b_error=np.zeros(4))
        interpolation_cls = diffrax.ThirdOrderHermitePolynomialInterpolation.from_k

        def order(self, terms: Any) -> int:
            return 4

    def slope(t: Any, y: Any, given: Any) -> Any:
        if body:
            return jnp.cross(y.reshape(4, 3), y[9:]/inertia).ravel()
        q, v = y[:2], y[2:]
        return jnp.array([v[0], v[1], -q[0] - 2.0*q[0]*q[1], q[1]*q[1] - q[1] - q[0]*q[0]])

    def end(start: Any) -> Any:
        return diffrax.diffeqsolve(diffrax.ODETerm(slope), Classical(), 0.0, STEPS*H, H, start,
                                   saveat=diffrax.SaveAt(t1=True), max_steps=2*STEPS,
                                   adjoint=diffrax.ForwardMode()).ys[0]

    every = jax.jit(jax.vmap(end))

    def run() -> None:
        ends["diffrax"] = np.asarray(every(y))

    return run
