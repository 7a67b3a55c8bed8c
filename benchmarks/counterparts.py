"""C counterparts of the core's loops: compiled when the benchmark runs, called with the data of the same components."""
import ctypes
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from liestep.compile.processor import has_wide_registers

SOURCES = Path(__file__).parent/"counterparts"
WIDTH = ("-mprefer-vector-width=512",) if has_wide_registers() else ()  # as the core
FLAGS = ("-O3", "-march=native", *WIDTH, "-ffp-contract=off", "-shared", "-fPIC")
_folder = tempfile.TemporaryDirectory(prefix="liestep-counterparts-")
MOST_OBSERVABLES = 16
_pointers = ctypes.POINTER(ctypes.c_void_p)


@cache
def library(problem: str, system: str, mass: str, step: str, statistics: bool, order: int = 0) -> ctypes.CDLL:
    """One combination of headers as a shared library (counterparts/loop.c); `order`: loop order of Lennard-Jones."""
    target = Path(_folder.name)/f"{problem}-{system}-{mass}-{step}-{int(statistics)}-{order}.so"
    headers = {"PROBLEM": f"problem_{problem}.h", "SYSTEM": f"system_{system}.h", "MASS": f"mass_{mass}.h",
               "STEP": f"step_{step}.h"}
    defines = [f'-D{name}="{file}"' for name, file in headers.items()] + [f"-DSTATISTICS={int(statistics)}",
                                                                          f"-DORDER={order}"]
    subprocess.run(["gcc", *FLAGS, *defines, "-o", str(target), str(SOURCES/"loop.c"), "-lm"], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.run.argtypes = [ctypes.c_int64, _pointers, _pointers, _pointers, _pointers, ctypes.c_void_p, ctypes.c_void_p,
                           ctypes.c_double, ctypes.c_int64, ctypes.c_void_p]
    return loaded


class Fields:
    """Pointers to all fields of a component, in their order; scalars as arrays of one number."""

    def __init__(self, component):
        self.arrays = [field if getattr(field, "dtype", None) == np.int64
                       else np.atleast_1d(np.array(field, dtype=np.float64))
                       for field in component]
        self.pointers = (ctypes.c_void_p*len(self.arrays))(*(array.ctypes.data for array in self.arrays))


@dataclass
class Counterpart:
    """The C counterpart of an (integrator, problem) pair of components."""

    code: ctypes.CDLL
    bodies: int
    system: Fields
    mass: Fields
    generator: Fields
    method: Fields

    def run(self, y: np.ndarray, h: float, steps: int) -> np.ndarray:
        """Advance y in place; returns the sums of the absolute deviations of the observables."""
        totals = np.zeros(MOST_OBSERVABLES)
        sizes = np.array([*self.method.arrays[0].shape, 0, 0] if self.method.arrays else [0, 0], dtype=np.int64)
        status = self.code.run(self.bodies, self.system.pointers, self.mass.pointers, self.generator.pointers,
                               self.method.pointers, sizes.ctypes.data, y.ctypes.data, h, steps, totals.ctypes.data)
        if status:
            raise RuntimeError(f"the C counterpart stopped with status {status}")
        return totals


def counterpart(system_id: str, step: str, problem, method, *, statistics: bool, order: int = 0) -> Counterpart:
    """Counterpart of a formulated problem (any formulation on spheres, a rigid body's semidirect action or momenta, a
    separable Hamiltonian, charged particles) and a component whose fields are the method's data.

    Args:
        step: name of the header counterparts/step_<step>.h.
        method: component with the fields that the header expects: tolerances and iterations, or
            arrays of a tableau or scheme.
    """
    generator = getattr(problem, "generator", problem)
    if hasattr(problem, "stiffness"):
        return Counterpart(library("quaternion_body", "", "", step, statistics, order), 1,
                    Fields((problem.inertia, problem.stiffness)), Fields(()), Fields(()), Fields(method))
    if hasattr(problem, "bodies"):
        return Counterpart(library("quaternion_bodies", "", "", step, statistics, order), problem.number(),
                    Fields(problem.bodies), Fields((float(problem.bodies.joints()),)), Fields(()), Fields(method))
    if hasattr(problem, "push"):
        kind = "canonical" if hasattr(problem, "drift") else "charged"
        return Counterpart(library(kind, system_id, "", step, statistics, order), np.size(problem.system.mass),
                    Fields(problem.system), Fields(()), Fields(()), Fields(method))
    body = getattr(generator, "body", problem)
    if hasattr(body, "torque_slope"):
        return Counterpart(library("rigid_body", system_id, "", step, statistics, order), 1, Fields(body.system),
                    Fields(()), Fields(()), Fields(method))
    lagrangian = getattr(generator, "lagrangian", generator)
    mass = {"DiagonalMass": "diagonal", "DenseMass": "dense"}[type(lagrangian.mass).__name__]
    isotropy = (getattr(generator, "alpha", 0.0), getattr(generator, "beta", 0.0))
    return Counterpart(library("spheres", system_id, mass, step, statistics, order), lagrangian.velocity.shape[0],
                Fields(lagrangian.system), Fields(lagrangian.mass), Fields(isotropy), Fields(method))
