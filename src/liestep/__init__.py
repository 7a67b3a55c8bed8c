"""liestep: reproducible numerical studies of structure-preserving integrators on spheres, rotations and rigid motions."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from liestep.analysis.order import observed_order
    from liestep.api import integrators, reference, simulate, systems
    from liestep.core.status import IntegrationError
    from liestep.plugins import load_plugin
    from liestep.systems.sheet import InputError

_PLACES = {"simulate": "liestep.api", "systems": "liestep.api", "integrators": "liestep.api", "reference": "liestep.api",
           "load_plugin": "liestep.plugins", "observed_order": "liestep.analysis.order", "InputError": "liestep.systems.sheet",
           "IntegrationError": "liestep.core.status"}
__all__ = ["InputError", "IntegrationError", "integrators", "load_plugin", "observed_order", "reference", "simulate", "systems"]


def __getattr__(name: str):
    """Public names are imported when first used: a sweep needs few of them and must start fast."""
    if name not in _PLACES:
        raise AttributeError(f"module 'liestep' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)
