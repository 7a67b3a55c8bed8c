"""C twins of the core's loops: compiled when the benchmark runs, called with the data of the same components."""
import ctypes
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

SOURCES = Path(__file__).parent/"twins"
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
_folder = tempfile.TemporaryDirectory(prefix="liestep-twins-")
_pointers = ctypes.POINTER(ctypes.c_void_p)


@cache
def library(system: str, mass: str, step: str, statistics: bool, order: int = 0) -> ctypes.CDLL:
    """One combination of headers as a shared library (see twins/loop.c); `order` is the loop order of Lennard-Jones."""
    target = Path(_folder.name)/f"{system}-{mass}-{step}-{int(statistics)}-{order}.so"
    headers = {"SYSTEM": f"system_{system}.h", "MASS": f"mass_{mass}.h", "STEP": f"step_{step}.h"}
    defines = [f'-D{name}="{file}"' for name, file in headers.items()] + [f"-DSTATISTICS={int(statistics)}", f"-DORDER={order}"]
    subprocess.run(["gcc", *FLAGS, *defines, "-o", str(target), str(SOURCES/"loop.c"), "-lm"], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.run.argtypes = [ctypes.c_int64, _pointers, _pointers, _pointers, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double,
                           ctypes.c_int64, ctypes.c_void_p]
    loaded.forces.argtypes = [ctypes.c_int64, _pointers, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    loaded.forces.restype = None
    return loaded


class Fields:
    """Pointers to all fields of a component, in their order; scalars as arrays of one number."""

    def __init__(self, component):
        self.arrays = [field if getattr(field, "dtype", None) == np.int64 else np.atleast_1d(np.array(field, dtype=np.float64))
                       for field in component]
        self.pointers = (ctypes.c_void_p*len(self.arrays))(*(array.ctypes.data for array in self.arrays))


@dataclass
class Twin:
    """The C twin of an (integrator, problem) pair of components."""

    library: ctypes.CDLL
    bodies: int
    system: Fields
    mass: Fields
    method: Fields
    stages: int

    def run(self, y: np.ndarray, h: float, steps: int) -> np.ndarray:
        """Advance y in place; returns the sums of the absolute deviations of the seven observables."""
        totals, sizes = np.zeros(7), np.array([self.stages], dtype=np.int64)
        status = self.library.run(self.bodies, self.system.pointers, self.mass.pointers, self.method.pointers, sizes.ctypes.data,
                                  y.ctypes.data, h, steps, totals.ctypes.data)
        if status:
            raise RuntimeError(f"the C twin stopped with status {status}")
        return totals


def twin(system_id: str, step: str, problem, method, *, statistics: bool, order: int = 0) -> Twin:
    """Twin of a formulated problem (any sphere formulation) and a component whose fields are the method's data.

    Args:
        step: name of the header twins/step_<step>.h.
        method: component with the fields that the header expects: tolerances and iterations, or a tableau.
    """
    lagrangian = getattr(problem, "lagrangian", problem)
    mass = "diagonal" if type(lagrangian.mass).__name__ == "DiagonalMass" else "dense"
    fields = Fields(method)
    stages = int(fields.arrays[1].shape[0]) if fields.arrays and fields.arrays[0].ndim == 2 else 0
    return Twin(library(system_id, mass, step, statistics, order), lagrangian.velocity.shape[0], Fields(lagrangian.system),
                Fields(lagrangian.mass), fields, stages)
