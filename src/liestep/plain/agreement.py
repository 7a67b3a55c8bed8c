"""Whether a person's function gives for numbers what the expressions give that were made of it. One that asks for the
type of its arguments (isinstance, dtype, hash), or catches errors, may give something else on symbols."""
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.compile.straight.symbols import reachable
from liestep.errors import InputError
from liestep.plain.arrays import Values, named, place
from liestep.plain.symbols import Symbol, evaluated

if TYPE_CHECKING:
    from liestep.plain.families import Writer

APART = 1e-6  # beside the largest number on the way: far above round-off, and that of a float32
MOVES = (0.1, 1e-3)  # of the start, tried in this order: it is often a special place, and may lie on a jump


def agreed(writer: "Writer", what: str, function: Callable, arguments: Mapping[str, Any], found: Any,
           arranged: Callable[[Any], Any]) -> Any:
    """What was found on symbols, the `arguments`. Raises InputError: near the start they give other numbers."""
    function, outs = getattr(function, "py_func", function), list(np.ravel(found))
    whole = {name.removeprefix("self.p_"): writer.graph.whole[name] for name in writer.graph.fixed}
    p, differ = Values({**writer.parameters, **whole}), ""
    for size in MOVES:
        moved = {name: value if name.startswith("self.p_") else value + size*(0.1 + abs(value))*_share(name)
                 for name, value in writer.values.items()}
        with suppress(Exception), np.errstate(all="ignore"):  # it has no value there, or cannot be called with numbers
            given = {name: _numbers(value, moved) for name, value in arguments.items()} | {"p": p}
            plain = np.ravel(np.array(arranged(function(**named(function, what, given, ""))), dtype=float))
            steps, traced = (np.array(evaluated(x, moved), dtype=float) for x in (reachable(outs), outs))
            apart, scale = np.abs(plain - traced), np.abs([*steps, *traced]).max(initial=0.0)
            if not np.isfinite([*apart, scale]).all():
                continue
            k = int(np.argmax(apart))
            if apart[k] <= APART*scale:
                return found
            differ = f"{plain[k]:.6g} when it is called with numbers, and {traced[k]:.6g}"
        if differ:
            raise InputError(f"{what} gives {differ} in the equations that were made of it: it must not ask for types"
                             f" (isinstance, dtype), catch errors, or add truth values{place(function)}")
    return found


def _share(name: str) -> float:
    """In (-1, 1), always the same of one name."""
    return zlib.crc32(name.encode())/2.0**31 - 1.0


def _numbers(value: Any, moved: Mapping[str, float]) -> Any:
    """Symbols, an array of them or something else, as numbers."""
    if not isinstance(value, np.ndarray | Symbol):
        return value
    entries: Any = np.asarray(value, dtype=object)
    found = np.array(evaluated(list(entries.flat), moved), dtype=float).reshape(entries.shape)
    return found if found.ndim else float(found)
