"""End states in many digits: the extrapolated midpoint rule of the certificates, step after step, in numbers of some
more digits. A second run in other steps and with more digits says how many are right."""
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.status import IntegrationError
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import start_of
from liestep.tools.certify.number import numbers
from liestep.tools.certify.steps import Case, Step, enough_of, flow, largest, on_manifold, step_of

SPARE, MORE = 20, 10  # digits that a run has beyond those asked for, and the second run beyond those
PARTS = (3, 4)        # of the whole time: the first steps that the two runs try; one that fails is halved
HALVINGS = 14         # of these
COLUMNS = 18          # of the extrapolation
MARGIN = 10           # of the bound over the difference of the two runs
LARGEST = 100         # numbers of a state; more take hours
FEWEST, MOST = 17, 60
BOUND = ("Of every number of the end, from the printed start and parameters. Estimated: ten times the difference of two"
         " runs in other steps and digits. Proven: by interval arithmetic (bench/prove_presets.py).")


class ManyDigits(NamedTuple):
    """Decimal numbers of the start and the end by field, and the bound of those of the end. The start has ten digits
    more, so that rounding it does not count."""

    initial: dict[str, list[str]]
    final: dict[str, list[str]]
    error_bound: str


def many_digits(problem: str, preset: str, t_end: float, digits: int) -> ManyDigits:
    """The end state of a preset at t_end in so many decimal digits. Directions and attitudes of the start, which are
    float64, are first put on their manifold to all digits.

    Raises:
        InputError: the equations are not smooth or hold numbers of 16 digits, the state is too large, or the number of
            digits is not allowed.
    """
    if not FEWEST <= digits <= MOST:
        raise InputError(f"digits must be from {FEWEST} to {MOST}, not {digits}")
    known, start = sheet(problem), start_of(problem, preset=preset)
    count = sum(values.size for values in start.initial.values())
    if count > LARGEST:
        raise InputError(f"a state of {count} numbers; many digits are for at most {LARGEST}")
    fields = [_field(Case(problem, problem, preset), digits + more) for more in (SPARE, SPARE + MORE)]
    ends = [_end(field, Fraction(t_end), Fraction(t_end)/parts) for field, parts in zip(fields, PARTS, strict=True)]
    kind = numbers(digits + SPARE)
    rough = formulate(known, start.parameters, start.initial, "vector_field", {})
    with kind.floats_are_data():
        exact = on_manifold(rough.fields, start.initial, digits + SPARE)
        rows = formulate(known, start.parameters, exact, "vector_field", {}).to_fields
        last = rows(np.array(ends[0], dtype=object)[None])
    gap = max(abs(float(one - other)) for one, other in zip(ends[0].flat, ends[1].flat, strict=True))
    size = max(1.0, float(largest(ends[0])))
    return ManyDigits(_decimals(exact, start.initial, kind, digits + MORE),
                      _decimals(last, start.initial, kind, digits), f"{MARGIN*gap + size*10.0**-digits:.1e}")


def _decimals(found: Mapping[str, np.ndarray], names: Iterable[str], kind: Any, digits: int) -> dict[str, list[str]]:
    return {name: [kind.context.nstr(kind.of(x), digits, strip_zeros=False) for x in found[name].flat]
            for name in names}


def _field(case: Case, digits: int) -> Step:
    try:
        return step_of(case, "rk4", {}, digits)
    except (TypeError, AttributeError):
        raise InputError("its equations are made by functions of float64, not of many digits") from None


def _end(field: Step, t_end: Fraction, step: Fraction) -> np.ndarray:
    """The state at t_end in steps that start at `step`."""
    kind, done, least = numbers(field.digits), Fraction(0), step/2**HALVINGS
    while done < t_end:
        size = min(step, t_end - done)
        try:
            found = flow(field, kind.of(size), kind.of(done), COLUMNS)
            reached = found.error < enough_of(field.digits)
        except IntegrationError:
            reached = False
        if reached:
            field, done = field._replace(start=found.state), done + size
        elif step <= least:
            raise InputError(f"no {field.digits} digits at t = {float(done):g}: the equations are not smooth, or not in"
                             " so many digits")
        else:
            step /= 2
    return field.start

