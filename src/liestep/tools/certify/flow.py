"""The exact flow of a system's own right-hand side over a short time, to many digits."""
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from liestep.compile.status import IntegrationError, Status
from liestep.tools.certify.number import Number, numbers
from liestep.tools.certify.steps import Case, Step, step_of

COLUMNS = 8          # most columns of the extrapolation: 16 cost four times as much and decide nothing up to order 8
SPARE_DIGITS = 10    # corrections that many digits above the last one end the extrapolation


class Flow(NamedTuple):
    """The state after time h and the size of the last correction."""

    state: np.ndarray
    error: Number


def largest(values: np.ndarray) -> Number:
    """Largest absolute value of an array of objects."""
    return max(map(abs, values.flat))


def flow(field: Step, h: Number) -> Flow:
    """Exact flow of a vector field over h: the modified midpoint rule, extrapolated in up to COLUMNS columns (Gragg;
    Hairer, Norsett and Wanner 1993, II.9)."""
    kind, start = numbers(field.digits), field.start

    def f(t, y):
        out = np.full(y.shape, kind.of(0), dtype=object)
        if not field.problem.rhs(t, y, out):
            raise IntegrationError(Status.NOT_EVALUABLE, 0.0, "certificate: ")
        return out

    rows: list[list[np.ndarray]] = []  # of the extrapolation
    slope, enough = f(kind.of(0), start), kind.of(Fraction(1, 10**(field.digits - SPARE_DIGITS)))
    for j in range(COLUMNS):
        n = 2*(j + 1)
        s = h/n
        last, now = start, start + s*slope
        for k in range(1, n):
            last, now = now, last + 2*s*f(k*s, now)
        row = [(last + now + s*f(h, now))/2]
        for m in range(j):
            ratio = kind.of(Fraction(n, 2*(j - m))**2)
            row.append(row[m] + (row[m] - rows[-1][m])/(ratio - 1))
        rows.append(row)
        error = largest(row[-1] - row[-2]) if j else largest(row[0])
        if error < enough:
            break
    return Flow(rows[-1][-1], error)


@cache
def flow_of(case: Case, form: str, h: Fraction, digits: int) -> Flow:
    """The flow of a case's own vector field in one of its forms ("" for the standard one)."""
    field = step_of(case, "rk4", {"form": form} if form else {}, digits)
    return flow(field, numbers(digits).of(h))
