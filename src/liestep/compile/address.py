"""Calls of machine code by its address, the same from Python and from compiled loops."""
import ctypes
from typing import Any

import numpy as np


def call_address(address: int, *args: Any) -> int:
    """Call the machine code of `liestep.compile.straight.straight` or `liestep.compile.straight.routines` at an
    address. Of contiguous arrays of float64 or int64 it gets the place of the first number, whole numbers and float64
    as they are; in compiled code without Python (`liestep.compile.inlining`)."""
    kinds = [ctypes.c_void_p if isinstance(item, np.ndarray) else
             ctypes.c_double if isinstance(item, float) else ctypes.c_int64 for item in args]
    values = [item.ctypes.data if isinstance(item, np.ndarray) else item for item in args]
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(int(address))(*values))
