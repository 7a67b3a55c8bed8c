"""Certificates as lines of text."""
from collections.abc import Iterator, Sequence

from liestep.certificates.orders import Certificate


def lines(found: Sequence[Certificate]) -> Iterator[str]:
    """One line for each quantity and case, with a heading for the integrator and its options."""
    first = found[0]
    yield f"{first.integrator}{f' ({first.options})' if first.options else ''}"
    for one in found:
        bound = "at least " if one.at_least else ""
        yield (f"  {one.quantity:15} {one.case:30} declared {bound}{one.declared}, found {one.found:.9f}"
               f"  {'ok' if one.passed else 'NOT CERTIFIED'}")
