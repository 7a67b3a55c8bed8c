"""What each kind of job is made with: a hash of the modules of which an edit makes the job's products anew.

Runs and references keep theirs in their files, see `liestep.runs.execution` and `liestep.references.reference`. Presets,
lists of figures and evidence are found by name, so that no run, table or figure is a product of them.
"""
from collections.abc import Iterable
from functools import cache

from liestep.core.sources import package_modules, source_hash
from liestep.figures.commands import figure_modules

SIMULATION = ("liestep.systems", "liestep.integrators", "liestep.formulations")  # evidence makes runs of its own


@cache
def _packages(*packages: str) -> str:
    """Hash of all modules of the packages and of what they import: some find modules by name."""
    return source_hash(*package_modules(*packages))


def table_source() -> str:
    """Of the tables of a study."""
    return _packages("liestep.analysis")


def figure_source(*names: str) -> str:
    """Of figures by their names: the modules that draw them."""
    return source_hash("liestep.figures.drawing", *(figure_modules()[name] for name in names))


def film_source() -> str:
    """Of films."""
    return _packages("liestep.animation")


def claim_source() -> str:
    """Of the verdicts on claims."""
    return _packages("liestep.claims")


def evidence_source(papers: Iterable[str]) -> str:
    """Of the evidence for the errata of some papers."""
    return _packages(*SIMULATION, "liestep.claims", *(f"liestep.papers.{paper}.evidence" for paper in papers))
