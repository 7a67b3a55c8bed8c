"""Certificates as lines of text, each with whether it passed."""
from collections.abc import Iterator, Sequence

from liestep.compile.status import IntegrationError
from liestep.errors import InputError
from liestep.tools.certify.identities import DIGITS, FAILS, HOLDS, identities
from liestep.tools.certify.orders import certify_all, complete
from liestep.tools.certify.symplecticity import STEPS, defects

Line = tuple[str, bool]
FAILED = "NOT CERTIFIED"


def report(integrators: Sequence[str]) -> Iterator[Line]:
    """Orders of some integrators, or of all with identities and symplecticity. Raises InputError: unknown id, a rounded
    coefficient, or a step that fails."""
    try:
        yield from _orders(integrators)
        if not integrators:
            yield from _identities()
            yield from _symplecticity()
    except IntegrationError as error:
        raise InputError(str(error)) from None


def _orders(integrators: Sequence[str]) -> Iterator[Line]:
    for found in certify_all(integrators):
        first, passed = found[0], complete(found)
        options = f" ({first.options})" if first.options else ""
        yield f"{first.integrator}{options}: {'certified' if passed else FAILED}", passed
        for one in found:
            bound = "at least " if one.at_least else ""
            yield (f"  {one.quantity:15} {one.case:30} declared {bound}{one.declared}, found {one.found:.9f}"
                   f"{'' if one.passed else f'  {FAILED}'}"), True


def _identities() -> Iterator[Line]:
    limits = f"up to 1e{HOLDS:.0f} where one holds, 1e{FAILS:.0f} and more where not"
    yield f"identities in {DIGITS} digits, largest difference; {limits}", True
    for one in identities():
        yield f"  {one.text:66} {10.0**one.size:.1e}{'' if one.passed else f'  {FAILED}'}", one.passed


def _symplecticity() -> Iterator[Line]:
    yield f"|J^T Omega J - Omega| of one step, h = {float(STEPS[0]):g} and {float(STEPS[1]):g}", True
    for one in defects():
        kind = "symplectic" if one.declared else f"slope {one.slope:.3f} of {one.order + 1}"
        sizes = " ".join(f"{10.0**size:.1e}" for size in one.sizes)
        options = " ".join(f"{key}={value}" for key, value in one.options.items())
        yield (f"  {f'{one.integrator} {options}':24} {one.case:30} {sizes} {kind}"
               f"{'' if one.passed else f'  {FAILED}'}"), one.passed
