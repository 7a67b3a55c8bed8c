"""Whether a person's function gives for numbers what the expressions give that were made of it. One that asks for the
type of its arguments (isinstance, dtype, hash), or catches errors, may give something else on symbols."""
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from liestep.compile.straight.symbols import reachable
from liestep.errors import InputError
from liestep.plain.arrays import Values, named, place
from liestep.plain.symbols import Symbol, evaluated

APART = 1e-6  # beside the largest number on the way: far above round-off, and that of a float32
# from the start, which is often a special place and may lie on a jump, in sizes: least and most
MOVED = ((-0.01, 0.01), (-0.5, 0.5), (-2.0, 2.0), (0.0, 2.0), (-2.0, 0.0), (-40.0, 40.0), (0.0, 40.0), (-40.0, 0.0))
MANY = 20_000  # operations that take a tenth of a second in plain Python


def agreed(writer: Any, what: str, function: Callable, arguments: Mapping[str, Any], found: Any,
           arranged: Callable[[Any], Any]) -> Any:
    """What was found on symbols, the `arguments`, for a `families.Writer`. Raises InputError: near the start they give
    other numbers."""
    function, outs = getattr(function, "py_func", function), list(np.ravel(found))
    whole = {name.removeprefix("self.p_"): writer.graph.whole[name] for name in writer.graph.fixed}
    values, nodes = Values({**writer.parameters, **whole}), reachable(outs)
    for least, most in MOVED if len(nodes) < MANY else MOVED[:1]:
        near = {name: value if name.startswith("self.p_") else value + (0.1 + abs(value))*(
            least + (most - least)*zlib.crc32(f"{name} {most}".encode())*2.0**-32)
            for name, value in writer.values.items()}
        apart, scale = np.zeros(1), 0.0
        with suppress(Exception), np.errstate(all="ignore"):  # it has no value there, or cannot be called with numbers
            given = {**{name: _numbers(value, near) for name, value in arguments.items()}, "p": values}
            plain = np.ravel(np.array(arranged(function(**named(function, what, given, ""))), dtype=float))
            steps, traced = (np.array(evaluated(x, near), dtype=float) for x in (nodes, outs))
            apart, scale = np.abs(plain - traced), np.abs([*steps, *traced]).max(initial=0.0)
        k = int(np.argmax(apart))
        if np.isfinite([*apart, scale]).all() and apart[k] > APART*scale:
            raise InputError(f"{what} gives {plain[k]:.6g} when it is called with numbers, and {traced[k]:.6g} in the"
                             " equations that were made of it: it must not ask for types (isinstance, dtype), catch"
                             f" errors, or add truth values{place(function)}")
    return found


def _numbers(value: Any, near: Mapping[str, float]) -> Any:
    """Symbols, an array of them or something else, as numbers."""
    if not isinstance(value, np.ndarray | Symbol):
        return value
    entries: Any = np.asarray(value, dtype=object)
    numbers = np.array(evaluated(list(entries.flat), near), dtype=float).reshape(entries.shape)
    return numbers if numbers.ndim else float(numbers)
