"""Own systems and integrators from files outside the package: docs/own_system.md.

Importing this package lets the catalogue look for plugins of installed packages before it calls an id unknown."""
from liestep.simulation.catalogue import add_finder


def _installed() -> None:
    from liestep.simulation.plugins.loading import load_installed

    load_installed()


add_finder(_installed)
