"""Systems that are sums of parts whose flows are known, for splittings."""
import inspect
from collections.abc import Callable, Sequence

import numpy as np

from liestep.errors import InputError
from liestep.plain.arrays import place
from liestep.plain.families import KEPT, Given, Writer, entries, first_order
from liestep.plain.symbols import Scalar, Symbol, depends, evaluated, gradient, input_text, substituted

SHARE = 0.01  # of t_end, over which flows are looked at


def summed(w: Writer, given: Given) -> str:
    """dy/dt = the sum of parts."""
    return first_order(w, given, lambda y: _flows(w, given.parts, y))


def _flows(w: Writer, parts: Sequence[Callable], y: np.ndarray) -> tuple[np.ndarray, str]:
    """Write the flows of parts; the sum of their rates, and what the sheet says of them. Raises InputError: a part of
    rates depends on what it moves, or a function of h is no flow."""
    if not isinstance(parts, Sequence) or len(parts) < 2 or not all(map(callable, parts)):
        raise InputError(f"parts must be a list of two functions or more, not {parts!r:.60}")
    h, rates, volume = w.symbol("h", SHARE*w.t_end), np.zeros(len(y), dtype=object), True
    for k, part in enumerate(parts):
        what = f"part {k}"
        if "h" in inspect.signature(part).parameters:
            flow = w.call(what, part, y.shape, h=h, y=y)
            own = substituted([gradient(x, [h])[0] for x in flow], {h.place: 0.0})
            volume &= _is_flow(w, what + place(part), flow, y)
        else:
            own = w.call(what, part, y.shape, y=y)
            moved = [y[j] for j in range(len(y)) if isinstance(own[j], Symbol) or own[j] != 0.0]
            if any(depends(x, moved) for x in own):
                raise InputError(f"{what} depends on a coordinate that it moves: give its flow, a function of (h, y, p)"
                                 f" that is y after h{place(part)}")
            flow = [x + h*rate for x, rate in zip(y, own, strict=True)]
        rates = rates + np.array(own, dtype=object)
        w.method(f"part_{k}(self, h, y, out)", entries("out", np.array(flow, dtype=object)[None]))
    w.lines += ["", "    def flow(self, i, h, y, out):"]
    for k in range(len(parts)):
        w.lines += [f"        if i == {k}:", f"            self.part_{k}(h, y, out)"]
    return rates, f", parts={len(parts)}, volume={volume}"


def _is_flow(w: Writer, what: str, flow: Sequence[Scalar], y: np.ndarray) -> bool:
    """Whether a flow keeps the volume. Raises InputError: it does not begin at y, or twice h is not h and h again."""
    size, volume = max(abs(value) for name, value in w.values.items() if name[:2] == "y[") or 1.0, True
    names = [input_text(x) for x in y]
    for moved in (0.0, 0.1):
        at = w.values | {name: w.values[name] + moved*(k % 5 + 1)*size for k, name in enumerate(names)}

        def after(times: float, start: Sequence[float] | np.ndarray, at: dict[str, float] = at) -> np.ndarray:
            moving = {**dict(zip(names, start, strict=True)), "h": times*SHARE*w.t_end}
            return np.array(evaluated(list(flow), at | moving))

        start = [at[name] for name in names]
        for found, wanted in ((after(0.0, start), start), (after(1.0, after(1.0, start)), after(2.0, start))):
            if not np.allclose(found, wanted, rtol=KEPT, atol=KEPT*size):
                raise InputError(f"{what} is no flow: after h = 0 it must be y, and h twice must be 2 h")
        slopes = np.reshape(evaluated([slope for x in flow for slope in gradient(x, list(y))], at), (len(y), len(y)))
        volume &= bool(abs(np.linalg.det(slopes) - 1.0) <= KEPT)
    return volume
