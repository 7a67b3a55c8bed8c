"""Own systems and integrators from files outside the package: docs/own_system.md.

Importing this package lets the catalogue look for plugins of installed packages, and in a checkout for those of its own
papers, before it calls an id unknown."""
from contextlib import suppress

from liestep.files import PACKAGE
from liestep.simulation.catalogue import add_finder, keys_of


def _installed() -> None:
    from liestep.simulation.plugins.loading import load_installed

    load_installed()


def _of_papers(name: str) -> None:
    """Load the file beside the studies of a paper that declares an id; only the checkout from which the package runs
    is looked at, never the working folder, and no file is executed but that one."""
    from liestep.simulation.plugins.loading import load_plugin

    for path in sorted(PACKAGE.parents[1].glob("papers/*/studies/*.py")):
        names = {path.stem}
        with suppress(AttributeError):  # a table that is not written out
            names |= {*keys_of(path, "SHEETS"), *keys_of(path, "METHODS")}
        if name in names:
            load_plugin(path)


add_finder(_installed, _of_papers)
