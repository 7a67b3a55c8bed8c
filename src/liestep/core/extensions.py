"""Systems and integrators that do not belong to the package, by id: `liestep.plugins` fills in what the catalogues then find."""
import importlib
from typing import Any, NamedTuple


class Extension(NamedTuple):
    """A system's sheet or an integrator's method from a plugin."""

    module: str   # name in sys.modules
    content: str  # hash of all the plugin's source
    item: Any


SYSTEMS: dict[str, Extension] = {}
METHODS: dict[str, Extension] = {}
_asked: list[bool] = []


def find_more() -> None:
    """Load the plugins of installed packages, once: before an id is reported as unknown or all ids are listed, because it takes 0.1 s.

    The import is by name: how plugins are found is no source of a run.
    """
    if not _asked:
        _asked.append(True)
        importlib.import_module("liestep.plugins").load_installed()


def extension(name: str, kind: dict[str, Extension]) -> Extension | None:
    """The extension of an id that is not built in; None for an unknown id."""
    if name not in kind:
        find_more()
    return kind.get(name)


def contents(problem: str, integrator: str) -> dict[str, str]:
    """id -> content hash of what comes from plugins."""
    return {name: kind[name].content for name, kind in ((problem, SYSTEMS), (integrator, METHODS)) if name in kind}
