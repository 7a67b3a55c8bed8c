"""Systems of livens2025 in its tests."""
from pathlib import Path

import pytest
from liestep_papers.livens2025 import studies

from liestep import load_plugin

FOLDER, = map(Path, studies.__path__)
TRIED: set[str] = set()  # in this process: trials take a second for each module


def systems(*names):
    """A module that binds this fixture to a name knows these systems."""
    @pytest.fixture(autouse=True, scope="module")
    def _loaded():
        for name in names:
            with pytest.MonkeyPatch.context() as patch:
                if name in TRIED:
                    patch.setattr("liestep.simulation.plugins.loading.require_tried", lambda load, path: None)
                load_plugin(FOLDER/f"{name}.py")
            TRIED.add(name)

    return _loaded
