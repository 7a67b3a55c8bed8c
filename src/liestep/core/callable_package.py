"""Let a package be called like the public function that has its name: `liestep.systems()` beside `liestep.systems.sheet`.

Python puts a subpackage over a name of its parent when it is imported, whenever that is; a function there would work until then.
"""
import importlib
import sys
from types import ModuleType


def make_callable(package: str) -> None:
    """Calling the package calls the function of its name in `liestep.api`."""
    class CallablePackage(ModuleType):
        def __call__(self, *args, **options):
            return getattr(importlib.import_module("liestep.api"), package.rpartition(".")[2])(*args, **options)

    sys.modules[package].__class__ = CallablePackage
