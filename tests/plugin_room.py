"""Plugins that a test loads are gone when it ends."""
import sys
from contextlib import contextmanager

import pytest

from liestep.simulation.catalogue import _plugin_methods, _plugin_systems, plugin_entries


@contextmanager
def nothing_stays():
    """Forget the ids and modules of plugins that are loaded inside."""
    before, modules = set(plugin_entries()), set(sys.modules)
    yield
    for name in set(plugin_entries()) - before:
        _plugin_systems.pop(name, None)
        _plugin_methods.pop(name, None)
    for name in set(sys.modules) - modules:
        if name.startswith("liestep_plugin_"):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def _nothing_stays():
    """Other tests count the ids of the package."""
    with nothing_stays():
        yield
