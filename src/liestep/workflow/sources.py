"""What each kind of job is made with: a hash of the modules whose edit puts the products of the job out of date. Runs
and references keep theirs in their files, see `liestep.simulation.runs.execution` and
`liestep.simulation.references.reference`. Presets, lists of figures and evidence are found by name, not imported, so
that an edit of them puts no run, table or figure out of date."""
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from liestep.compile.sources import package_modules, source_hash
from liestep.figures.commands import figure_modules
from liestep.study.plan.papers import papers as papers_read

TEMPLATES = Path(__file__).parent/"report"/"templates"  # of the report
# evidence makes runs of its own
SIMULATION = ("liestep.mechanics.systems", "liestep.mechanics.presets", "liestep.integrators",
              "liestep.mechanics.formulations")


@cache
def _packages(*packages: str) -> str:
    """Hash of all modules of the packages and of what they import: some find modules by name."""
    return source_hash(*package_modules(*packages))


def table_source(study: str) -> str:
    """Hash of what makes the tables of a study, with the quantities of its paper."""
    paper = papers_read().get(study.partition("/")[0])
    own = [paper.module(name) for name in (paper.quantities, *paper.tables.values()) if name] if paper else []
    return _packages("liestep.study.tables", *own)


def figure_source(*names: str) -> str:
    """Hash of the modules that draw some figures, by their names."""
    return source_hash("liestep.figures.rendering", *(figure_modules()[name] for name in names))


def film_source() -> str:
    """Hash of what makes films."""
    return _packages("liestep.figures.films")


def claim_source(computed: Iterable[str] = ()) -> str:
    """Hash of what makes the verdicts on claims; `computed` are papers of which claims ask for evidence."""
    papers = list(computed)
    own = [paper.module(paper.criteria) for paper in papers_read().values() if paper.criteria]
    return f"{evidence_source(papers) if papers else ''}{_packages('liestep.claims', *own)}"


def evidence_source(papers: Iterable[str]) -> str:
    """Hash of what makes the evidence for the errata of some papers."""
    wanted = set(papers)
    folders = [paper for name, paper in papers_read().items() if name in wanted]
    return _packages(*SIMULATION, "liestep.claims",
                     *(paper.module(name) for paper in folders for name in (*paper.evidence, paper.presets) if name))


def page_source() -> str:
    """Hash of what makes the report: modules and templates."""
    digest = hashlib.sha256(source_hash(*package_modules("liestep.workflow.report")).encode())
    for path in sorted(TEMPLATES.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
