"""Several members at once: how many share a register. It is in no specification and no fingerprint: bits do not depend
on it."""
import os
from functools import cache

from liestep.errors import InputError

LANES = "LIESTEP_LANES"  # variable with the number of members
WIDTHS = (1, 2, 4, 8, 16)


@cache
def width() -> int:
    """Two registers of the processor: they hide how long an instruction takes. Raises InputError: the variable is none
    of WIDTHS."""
    given = os.environ.get(LANES, "")
    if given:
        if given not in map(str, WIDTHS):
            raise InputError(f"{LANES} must be one of {', '.join(map(str, WIDTHS))}, not {given!r}")
        return int(given)
    from liestep.compile.processor import target

    _, name, features = target()
    return 16 if "x86-64-v4" in name or "+avx512f" in features else 8 if "v3" in name or "+avx2" in features else 4
