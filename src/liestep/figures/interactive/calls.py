"""Calls of the public functions: a wrong argument is one sentence, and data sets that come out have the accessor."""
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from liestep.errors import require_arguments
from liestep.files.extras import extras

P = ParamSpec("P")
R = TypeVar("R")


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a public function: InputError instead of TypeError for arguments that it does not have or lacks."""
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with extras():
                result = function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ and not error.__traceback__.tb_next:  # it was not entered
                require_arguments(function, args, kwargs)
            raise
        except KeyboardInterrupt as stop:  # without the frames within the package
            raise stop.with_traceback(None) from None
        if "xarray" in sys.modules:
            from liestep.figures.interactive.accessor import register

            register()
        return result

    return call

