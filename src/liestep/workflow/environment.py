"""What the results were made with: versions, processor, threads. Recorded beside the data, never inside."""
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("liestep", "numpy", "scipy", "numba", "llvmlite", "netCDF4", "pandas", "matplotlib", "pillow", "heyoka",
            "mpmath", "sympy", "pydantic", "snakemake")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def environment() -> dict[str, Any]:
    """Versions of Python, packages and libraries; operating system; processor; the limits of BLAS threads,
    None where there is none."""
    import netCDF4
    import numpy as np

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "python": platform.python_version(), "packages": {name: _version(name) for name in PACKAGES},
        "libraries": {"netcdf": netCDF4.__netcdf4libversion__, "hdf5": netCDF4.__hdf5libversion__,
                      "blas": f"{blas['name']} {blas['version']}"}, "system": platform.platform(),
        "machine": platform.machine(), "processor": _processor(), "processors": os.cpu_count(),
        "threads": {name: int(os.environ[name]) if os.environ.get(name, "").isdecimal() else None for name in THREADS},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Name of the processor as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
                platform.processor())
