"""Choices between numbers that single numbers and lanes (`compile.lanes.numbers`) make alike."""
from typing import Any

from liestep.compile.dispatch import kernel


@kernel
def any_of(which: Any) -> bool:
    """Whether a comparison holds, in any lane: no vote."""
    return which


@kernel
def choose(which: Any, a: Any, b: Any) -> Any:
    """a where a comparison holds, else b, of numbers."""
    return a if which else b
