"""All names that the folder of a paper imports: figures, evidence, quantities and tables (docs/replicate.md). What
needs more than these imports rooms of liestep, which may change without notice."""
from typing import Any

from liestep.compile.sources import places, public_name

__all__ = sorted(places(__name__))  # of paper.pyi: what imports a name depends on its module alone


def __getattr__(name: str) -> Any:
    return public_name(__name__, name)  # to declare a paper needs none of what draws
