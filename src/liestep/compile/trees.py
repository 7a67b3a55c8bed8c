"""Components are trees: NamedTuples and plain tuples of others, of arrays and of numbers."""
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

R = TypeVar("R")
MOST_KEPT = 200  # objects of each function


def parts(*items: Any) -> Iterator[Any]:
    """All NamedTuples in some trees, those inside of another before it."""
    for item in items:
        if isinstance(item, tuple):
            yield from parts(*item)
            if hasattr(item, "_fields"):
                yield item


def leaves(*items: Any) -> Iterator[Any]:
    """Arrays and numbers in components, or in nested tuples, in order."""
    for item in items:
        if isinstance(item, tuple):
            yield from leaves(*item)
        else:
            yield item


def arrays(*items: Any) -> Iterator[np.ndarray]:
    return (leaf for leaf in leaves(*items) if isinstance(leaf, np.ndarray))


def with_arrays(item: Any, array: Callable[[np.ndarray], Any]) -> Any:
    """A tree with other arrays, each made from its own."""
    if isinstance(item, np.ndarray):
        return array(item)
    if not isinstance(item, tuple):
        return item
    items = [with_arrays(part, array) for part in item]
    return type(item)(*items) if hasattr(item, "_fields") else tuple(items)


def with_numbers(item: Any) -> Any:
    """A component with plain numbers in the place of arrays without axes, in which each of several members has its own;
    compiled code (`compile.inlining`) reads them here, once."""
    return with_arrays(item, lambda array: array if array.ndim else array.item())


def made_once(function: Callable[[Any], R]) -> Callable[[Any], R]:
    """Decorator: what is made of an object that many runs hold is made once, for the last MOST_KEPT objects."""
    known: dict[int, tuple[Any, R]] = {}

    def found(held: Any) -> R:
        if not (one := known.get(id(held))) or one[0] is not held:
            if len(known) >= MOST_KEPT:
                known.clear()
            one = known[id(held)] = held, function(held)
        return one[1]

    return found
