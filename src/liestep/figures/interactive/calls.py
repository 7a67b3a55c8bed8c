"""Calls of the public functions: a wrong argument is one sentence, and data sets that come out have the accessor."""
import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from liestep.errors import InputError, extras, unknown

P = ParamSpec("P")
R = TypeVar("R")


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a public function: InputError instead of TypeError for arguments that it does not have or lacks."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in signature.parameters:
                raise InputError(f"{function.__name__}: {unknown('argument', name, signature.parameters)}")
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"{function.__name__}: {error}; it is called as {function.__name__}"
                             f"{_places(signature)}") from None
        try:
            with extras():
                found = function(*args, **kwargs)
        except KeyboardInterrupt as stop:  # without the frames within the package
            raise stop.with_traceback(None) from None
        if "xarray" in sys.modules:
            from liestep.figures.interactive.accessor import register

            register()
        return found

    return call


def _places(signature: inspect.Signature) -> str:
    """The arguments without which the function cannot be called, in words."""
    needed = [name for name, one in signature.parameters.items() if one.default is one.empty]
    return f"({', '.join([*needed, 'name=value, ...'])})"
