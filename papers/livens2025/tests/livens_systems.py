"""Systems of livens2025 in its tests."""
from pathlib import Path

import pytest
from liestep_papers.livens2025 import studies

from liestep import load_plugin

FOLDER, = map(Path, studies.__path__)


def systems(*names):
    """A module that binds this fixture to a name knows these systems."""
    @pytest.fixture(autouse=True, scope="module")
    def _loaded():
        for name in names:
            load_plugin(FOLDER/f"{name}.py")

    return _loaded
