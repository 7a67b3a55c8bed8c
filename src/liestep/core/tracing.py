"""Run a component's compiled-style methods as plain Python on other kinds of numbers: symbols,
or numbers that count."""
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from liestep.core import rows


class Functions(NamedTuple):
    """Replacements for the functions of `liestep.core.rows` that compare numbers or leave arithmetic."""

    sqrt: Callable
    sin: Callable
    cos: Callable
    below: Callable = lambda x, limit: False
    atan2: Callable = np.arctan2


def plain_component(component: Any, functions: Functions, numbers: type = object) -> Any:
    """The component with plain methods; float64 arrays become arrays of `numbers`, by default of
    objects that can hold anything."""
    if isinstance(component, np.ndarray):
        return component.astype(numbers) if component.dtype == np.float64 else component
    if isinstance(component, np.floating):
        return float(component)
    if not isinstance(component, tuple):
        return component
    fields = [plain_component(item, functions, numbers) for item in component]
    return _plain_class(type(component), functions)(*fields) if hasattr(component, "_fields") else tuple(fields)


@cache
def _plain_class(cls: type, functions: Functions) -> type:
    methods = {name: _plain(value, functions) for name, value in vars(cls).items()
               if isinstance(value, FunctionType) and value.__module__ == cls.__module__}
    return type(cls.__name__, (cls,), methods)


@cache
def _plain(function: Callable, functions: Functions) -> Callable:
    """A copy of the function in which all kernels that it names, at any depth, are plain Python."""
    replaced = {getattr(rows, name): function for name, function in functions._asdict().items()}
    if function in replaced:
        return replaced[function]
    source = getattr(function, "py_func", function)
    names = {name: _plain(value, functions) if hasattr(value, "py_func") else value
             for name, value in source.__globals__.items() if name in source.__code__.co_names}
    return FunctionType(source.__code__, {**names, "__builtins__": __builtins__}, source.__name__, source.__defaults__,
                        source.__closure__)
