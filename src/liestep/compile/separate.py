"""Methods that are compiled once for a component's classes and called by their address, see
`liestep.compile.dispatch.separate`: the loops of many integrators share their machine code."""
import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def separate_methods(cls: type) -> list[Callable]:
    """The methods of a class that are compiled separately, in the order of the addresses in its field `addresses`."""
    return [value for value in vars(cls).values() if hasattr(value, "separate")]


def _no_address() -> None:
    print("liestep: compiled code called a method that is compiled separately, and has no address of it: call the loop"
          " that liestep.compile.cache.loop_for gives", file=sys.stderr, flush=True)
    os.abort()


NO_ADDRESS = ctypes.CFUNCTYPE(None)(_no_address)  # a call of the address 0 would end the process without a word


def new_addresses(cls: type) -> np.ndarray:
    """The field `addresses` of a new component; the addresses are written when it meets a compiled loop."""
    return np.full(len(separate_methods(cls)), ctypes.cast(NO_ADDRESS, ctypes.c_void_p).value, dtype=np.int64)


def parts_with_addresses(component: Any) -> Iterator[Any]:
    """A component and its nested ones that have methods compiled separately."""
    if isinstance(component, tuple):
        for part in component:
            yield from parts_with_addresses(part)
        if separate_methods(type(component)):
            yield component


def connect(component: Any, address: Callable[[Callable, Any], int | None]) -> int:
    """Write the addresses of machine code into a component: of a method for a part, both given to `address`, which
    knows none where the method is inlined. Returns the number of parts that have such methods."""
    parts = list(parts_with_addresses(component))
    for part in parts:
        for number, method in enumerate(separate_methods(type(part))):
            found = address(method, part)
            if found is not None:
                part.addresses[number] = found
    return len(parts)
