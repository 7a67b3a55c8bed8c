"""Taylor coefficients of a vector field at a state, as components: by straight-line machine code, by loops over a
tape, and on numbers of any kind."""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.address import call_address
from liestep.compile.dispatch import separate
from liestep.compile.rows import atan2, cos, larger, sin, sqrt
from liestep.compile.straight.arithmetic import Numbers
from liestep.compile.straight.jets import taylor_coefficients
from liestep.compile.straight.symbols import Expressions
from liestep.compile.straight.tape import Tape


class StraightJet(NamedTuple):
    """Taylor coefficients of a solution by machine code."""

    jet: int
    polynomial: int
    table: np.ndarray  # time, then the constants of the system
    step: np.ndarray   # (1,)

    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """Coefficients of the solution through y at time t, then the largest numbers of each
        group (`compile.straight.straight.Straight`), out ((order + 1) m d + 4 groups,); False where there is none."""
        self.table[0] = t
        return call_address(self.jet, y, self.table, out) == 1

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        """out = sum_k c_k h^k, by Horner's rule."""
        self.step[0] = h
        call_address(self.polynomial, c, self.step, out)


class LoopedJet(NamedTuple):
    """Taylor coefficients of a solution by loops over a tape: one machine code for all systems."""

    tape: Tape
    addresses: np.ndarray
    groups: np.ndarray  # (m d,) of each number

    @separate(float, 2, 1)
    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """As that of StraightJet."""
        tape, n, order = self.tape, y.size, self.tape.c.shape[1] - 1
        for k in range(order + 1):
            tape.enter(k, t, y)
            for i in range(n):
                out[k*n + i] = tape.c[i, k]
            if k < order:
                tape.advance(k, tape.kind.shape[0] if k == 0 else tape.needed)
            if k == 0 and not tape.holds():
                return False
        first = (order + 1)*n
        out[first:] = 0.0
        for place in range(4):
            k, at = place if place < 2 else order - 3 + place, first + place*((out.shape[0] - first)//4)
            for i in range(n):
                out[at + self.groups[i]] = larger(out[at + self.groups[i]], abs(tape.c[i, k]))
        return True

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        """out = sum_k c_k h^k, by Horner's rule."""
        n = out.size
        last = self.tape.c.shape[1] - 1
        for i in range(out.shape[0]):
            for a in range(out.shape[1]):
                at = i*out.shape[1] + a
                total = c[last*n + at]
                for k in range(last - 1, -1, -1):
                    total = total*h + c[k*n + at]
                out[i, a] = total


class Recurrence:
    """The recurrences of a jet on numbers of any kind."""

    def __init__(self, found: Expressions, order: int, base: int = 0, groups: Sequence[int] = ()):
        """base: as for `compile.straight.straight.jet_code`; groups: of each number."""
        self.found, self.order, self.groups = found, order, groups
        self.moving = len(found.inputs) - 1 - base
        self.zeros: list[Any] = [None]*self.moving if base else []

    def __call__(self, t: Any, y: np.ndarray, out: np.ndarray, functions: dict[str, Callable]) -> bool:
        numbers = Numbers(functions, one=0.0*y.flat[0] + 1.0)
        lines = taylor_coefficients(self.found, [*self.zeros, *y.flat, t], self.order, numbers)
        lines = [line[:self.moving] for line in lines]
        of_numbers = self.groups if len(self.groups) else [0]*self.moving
        sizes = [max(abs(value) for value, own in zip(lines[k], of_numbers, strict=True) if own == group)
                 for k in (0, 1, self.order - 1, self.order) for group in range(max(of_numbers) + 1)]
        out[:] = [*(value for line in lines for value in line), *sizes]
        return True


class PlainJet(NamedTuple):
    """The same without machine code, for certificates."""

    recurrence: Recurrence

    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.recurrence(t, y, out, {"sqrt": sqrt, "sin": sin, "cos": cos, "atan2": atan2})

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        lines = c[:(self.recurrence.order + 1)*out.size].reshape(-1, *out.shape)
        out[:] = lines[-1]
        for line in lines[-2::-1]:
            out[:] = out*h + line
