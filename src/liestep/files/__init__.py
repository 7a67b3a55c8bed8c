"""Files that are whole or absent: atomic replacement, texts and tables."""
import os
import sys
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]  # the folder of all source of liestep


def own_process(module: str) -> dict[str, Any]:
    """Command and environment of `subprocess.Popen` for a module of this package: it finds the packages where this
    process does, and nothing in the working folder, where anybody may have put a numpy.py."""
    here = os.path.realpath(".")
    folders = [folder for folder in sys.path if folder and os.path.realpath(folder) != here]
    path = os.pathsep.join((*folders, str(PACKAGE.parent)))
    return {"args": [sys.executable, "-P", "-m", module], "env": {**os.environ, "PYTHONPATH": path}}
