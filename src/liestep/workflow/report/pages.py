"""What one page of the report says: a paper's claims, errata and studies, or own studies."""
from dataclasses import dataclass, field

from liestep.simulation.catalogue import papers
from liestep.workflow.report.study import StudyPage
from liestep.workflow.report.verdicts import PaperClaims, PaperErrata
from liestep.workflow.workflow import REPORT_FOLDER, page_of

OWN = "Studies"  # title of the page with the studies that are in no folder


@dataclass
class Page:
    """One page: a paper's claims, errata and studies, or own studies."""

    key: str
    claims: PaperClaims | None = None
    errata: PaperErrata | None = None
    studies: list[StudyPage] = field(default_factory=list)

    @property
    def title(self) -> str:
        return OWN if self.key == page_of("") else self.key

    @property
    def citation(self) -> str:
        return next((item.citation for item in (self.claims, self.errata) if item and item.citation), "")

    @property
    def doi(self) -> str:
        """Of the paper; empty if it is none that the package knows."""
        return papers()[self.key].doi if self.key in papers() else ""

    @property
    def address(self) -> str:
        """Seen from the index."""
        return f"{REPORT_FOLDER}/{self.key}.html"

    @property
    def confirmed(self) -> int:
        """Number of errata whose evidence confirms them."""
        return sum(row["confirmed"] is True for row in self.errata.rows) if self.errata else 0

    def count(self, verdict: str) -> int:
        """Number of statements of the paper with a verdict."""
        return dict(self.claims.stated).get(verdict, 0) if self.claims else 0

    @property
    def stated(self) -> int:
        """Number of statements of the paper."""
        return sum(count for _, count in self.claims.stated) if self.claims else 0
