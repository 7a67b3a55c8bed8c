"""Numbers of which each cell of a map, or member of an ensemble, has its own, as an array that code for one of them
takes: what is built from parameters is built once for all. A result has the bits that each alone would have: what NumPy
computes alike in arrays of all sizes is computed at once, everything else one after the other; where members part, or
plain numbers are asked for, NotAlike is raised."""
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

EXACT = (np.add, np.subtract, np.multiply, np.divide, np.negative, np.absolute, np.sqrt)
TESTS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite)
OF_SHAPES = (np.shape, np.ndim, np.size, np.zeros_like)


class NotAlike(Exception):
    """Members cannot be built together."""


class Varied(NDArrayOperatorsMixin):
    """An array with `values` (members, ...)."""

    def __init__(self, values: np.ndarray):
        self.values, self.shape, self.ndim = values, values.shape[1:], values.ndim - 1

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, key: Any) -> "Varied":
        return Varied(self.values[(slice(None), *(key if isinstance(key, tuple) else (key,)))])

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise NotAlike("plain numbers are asked for")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if callable(getattr(np.ndarray, name)):
            return partial(each, getattr(np.ndarray, name), self)
        return each(attrgetter(name), self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **named: Any) -> Any:
        if ufunc is np.power:  # `**` of a float, of an array and `power` differ
            raise NotAlike("a power is asked for")
        if ufunc not in EXACT + TESTS or named or method != "__call__":
            return each(getattr(ufunc, method), *given, **named)
        if ufunc is np.divide and not np.all(given[1].values if isinstance(given[1], Varied) else given[1]):
            raise NotAlike("floats divided by zero raise an error")
        axes = max(np.ndim(one) for one in given)
        made = ufunc(*(one.values.reshape(len(one.values), *[1]*(axes - one.ndim), *one.shape)
                       if isinstance(one, Varied) else one for one in given))
        return Varied(made) if ufunc in EXACT else alike(made)

    def __array_function__(self, function: Callable[..., Any], types: Any, given: Sequence[Any],
                           named: dict[str, Any]) -> Any:
        return function(self.values[0]) if function in OF_SHAPES else each(function, *given, **named)


def changed(item: Any, change: Callable[[Varied], Any]) -> Any:
    """A tree of tuples, lists, mappings and partial functions, with other things in the place of what is varied."""
    own = partial(changed, change=change)
    if isinstance(item, Varied):
        return change(item)
    if isinstance(item, partial):
        return partial(item.func, *own(item.args), **own(item.keywords))
    if isinstance(item, dict):
        return {name: own(value) for name, value in item.items()}
    if not isinstance(item, list | tuple):
        return item
    return type(item)(*map(own, item)) if hasattr(item, "_fields") else type(item)(map(own, item))


def of_member(item: Any, number: int) -> Any:
    """What a member has in such a tree; numbers are floats."""
    return changed(item, lambda one: one.values[number] if one.ndim else one.values[number].item())


def varies(item: Any) -> list[Varied]:
    """What is varied in such a tree."""
    found: list[Varied] = []
    changed(item, found.append)
    return found


def each(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """A function of one member after the other, where there are several. Raises NotAlike: results that are no numbers
    of one shape differ."""
    if not (found := varies((given, named))):
        return function(*given, **named)
    return alike([function(*of_member(given, k), **of_member(named, k)) for k in range(len(found[0].values))])


def alike(made: Sequence[Any]) -> Any:
    """Results of all members. Raises NotAlike."""
    first = made[0]
    if isinstance(first, float):
        return Varied(np.array(made))
    if isinstance(first, np.ndarray) and first.dtype == np.float64:
        if len({(one.shape, one.strides) for one in made}) > 1:
            raise NotAlike("shapes differ")
        order = np.argsort([-stride for stride in first.strides], kind="stable")  # bits may depend on it
        stacked = np.array([one.transpose(order) for one in made])
        return Varied(stacked.transpose(0, *(1 + np.argsort(order))))
    if not ((made == first).all() if isinstance(made, np.ndarray) else all(
            one is first or np.array_equal(one, first) for one in made)):
        raise NotAlike("results differ")
    return first
