"""Calls of machine code by its address, the same from Python and from compiled loops; and methods that are compiled
once for a component's classes and called so (`liestep.compile.dispatch.separate`): many loops share their code."""
import ctypes
import os
import sys
from collections.abc import Callable

import numpy as np


def call_address(address: int, *args: float | np.ndarray) -> int:
    """Call the machine code of `liestep.compile.straight.straight` or `liestep.compile.straight.routines` at an
    address. Of contiguous arrays of float64 or int64 it gets the place of the first number, whole numbers and float64
    as they are; in compiled code without Python (`liestep.compile.inlining`)."""
    kinds = [ctypes.c_void_p if isinstance(item, np.ndarray) else
             ctypes.c_double if isinstance(item, float) else ctypes.c_int64 for item in args]
    values = [item.ctypes.data if isinstance(item, np.ndarray) else item for item in args]
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(int(address))(*values))


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
