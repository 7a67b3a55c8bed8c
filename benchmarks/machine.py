"""Description of the machine and of the software that made the numbers."""
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from benchmarks.counterparts import FLAGS


def describe() -> dict[str, str]:
    """What a reader must know to compare: processor, cores, load, compilers, versions."""
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return {"processor": _processor(), "cores": str(os.cpu_count()), "load average at the start (1, 5, 15 min)": load,
            "system": f"{platform.system()} {platform.machine()}", "Python": platform.python_version(),
            **{name: version(name) for name in ("numba", "llvmlite", "numpy", "scipy")}, "C compiler": gcc,
            "C flags": " ".join(FLAGS)}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
