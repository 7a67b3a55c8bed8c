"""Calls of machine code by its address, the same from Python and from compiled loops."""
import ctypes
from typing import Any


def call_address(address: int, y: Any, table: Any, out: Any) -> int:
    """Call the machine code of `liestep.core.straight` at an address, with the first numbers of three contiguous
    arrays of float64; in compiled code without Python (`liestep.core.inlining`)."""
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(int(address))
    return int(function(y.ctypes.data, table.ctypes.data, out.ctypes.data))
