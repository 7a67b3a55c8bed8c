"""The report: an index with the verdicts, and a page for each paper and folder of studies, limited in size."""
import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import jinja2
import pandas
from markupsafe import Markup, escape

from liestep.claims.claimfile import OWN as OWN_WORDS
from liestep.files.textfiles import write_text_atomically
from liestep.simulation.runs.files import read
from liestep.study.plan.names import REPORT_FOLDER, page_of
from liestep.study.plan.papers import papers
from liestep.workflow.report import verdicts
from liestep.workflow.report.pictures import SHARE, Picture, embed, embed_films, picture
from liestep.workflow.report.study import StudyPage, study_page
from liestep.workflow.report.verdicts import EVIDENCE, MEANINGS, ClaimRow, PaperClaims, PaperErrata, anchor
from liestep.workflow.sources import TEMPLATES
from liestep.workflow.workflow import Workflow, configured

LIMIT = 15_000_000  # most bytes of a page
MOTION = 500_000    # and of what can be turned in it, for each study
THUMBNAIL = 320, 60  # width in pixels and quality of the pictures of headlines
LENGTH = 400  # characters of a text that are searched and shown
Entry = tuple[str, str, str, str, str]  # kind, title, text, key of the page, id on it
OWN = "Studies"  # title of the page with the studies that are in no folder


@dataclass
class Page:
    """One page: a paper's claims, errata and studies, or own studies."""

    key: str
    claims: PaperClaims | None = None
    errata: PaperErrata | None = None
    studies: list[StudyPage] = field(default_factory=list)
    thumbnails: dict[tuple[str, str], Picture] = field(default_factory=dict)  # of headlines, by study and figure

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


@dataclass(frozen=True)
class Surroundings:
    """What a page shows of others: its folder, the claims that each study decides, all that can be searched for."""

    folder: Path
    cited: dict[str, list[ClaimRow]]
    known: list[Entry]

    def to(self, path: Path) -> str:
        """Address of a file as seen from the page."""
        return quote(Path(os.path.relpath(path, self.folder)).as_posix())


def make_report(workflow: Workflow, only: str | None = None) -> Iterator[tuple[Path, str, str]]:
    """Path and text of the index and of each page, and one line about it; or of one page alone, which then stands where
    that of all results does. Raises InputError: a product is missing or stale; the sentence says which command makes
    it."""
    pages = collect(workflow)
    cited = citing(page.claims for page in pages if page.claims)
    known = entries(pages)
    for page in pages:
        if only in (None, page.key):
            path = (workflow.results if only else workflow.common)/page.address
            text, summary = fitted(page, Surroundings(path.parent, cited, known))
            yield path, text, summary
    if only is None:
        yield workflow.reports[0], render_index(pages, known), f"pages: {len(pages)}"


def collect(workflow: Workflow) -> list[Page]:
    """All pages in the order of the index: papers, then own studies; nothing is rendered."""
    studies = [study_page(products) for products in workflow.studies]
    errata = verdicts.paper_errata(workflow.errata, workflow.folder, workflow.common)
    claims = verdicts.paper_claims(workflow.claim_files.values(), workflow.common,
                          {page.name: [figure.name for figure in page.figures] for page in studies},
                          {page.name: list(page.tables) for page in studies}, errata)
    pages = {key: Page(key) for key in workflow.pages}
    paths = {(study.name, figure.name): figure.path for study in studies for figure in study.figures}
    for item in claims:
        pages[item.paper].claims = item
        pages[item.paper].thumbnails = {card.figure: picture(paths[card.figure], *THUMBNAIL) for card in item.cards
                                        if card.figure in paths}
    for paper, found in zip(workflow.errata, errata, strict=True):
        pages[paper].errata = found
    for study in studies:
        pages[page_of(study.name)].studies.append(study)
    return list(pages.values())


def fitted(page: Page, around: Surroundings) -> tuple[str, str]:
    """Text of a page with films and figures as large as its limit allows, and one line about it."""
    figures = [figure for study in page.studies for figure in study.figures]
    films = [film for study in page.studies for film in study.films]
    rest = len(render(page, around).encode())
    for film, shown in zip(films, embed_films([film.film for film in films], int(SHARE*(LIMIT - rest))), strict=True):
        film.picture = shown
        rest += len(shown.address)
    for study in page.studies:
        if study.films and len(motion := _motion(study)) <= MOTION:
            study.motion = motion
            rest += len(escape(motion))
    for figure, shown in zip(figures, embed([figure.path for figure in figures], LIMIT - rest), strict=True):
        figure.picture = shown
    text = render(page, around)
    size = f"{len(text.encode())/1e6:.1f} MB"
    if len(text.encode()) > LIMIT:
        size += f", more than {LIMIT/1e6:g} MB although its figures are small: report fewer studies"
    runs = sum(study.runs["count"] for study in page.studies)
    return text, (f"studies: {len(page.studies)}, figures: {len(figures)}, {f'films: {len(films)}, ' if films else ''}"
                  f"runs: {runs}, {size}")


def _motion(study: StudyPage) -> str:
    """The page in which the runs of a study's films can be turned, with fewer samples where that lets it fit."""
    from liestep.figures.films.viewer import MOST_RUNS, fitting

    return fitting([read(film.film.cell.path) for film in study.films[:MOST_RUNS]], MOTION)[0]


def grouped(studies: Iterable[StudyPage]) -> dict[str, list[StudyPage]]:
    """Studies by folder, in their order."""
    folders: dict[str, list[StudyPage]] = {}
    for study in studies:
        folders.setdefault(study.name.rpartition("/")[0], []).append(study)
    return folders


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
    environment.filters |= {"number": number, "breakable": breakable}
    environment.globals |= {"anchor": anchor, "meanings": MEANINGS, "own": OWN_WORDS, "asserted": verdicts.ASSERTED,
                            "signs": {**MEANINGS, **EVIDENCE}, "proofs": EVIDENCE,
                            "style": (TEMPLATES/"report.css").read_text("utf-8"),
                            "script": (TEMPLATES/"report.js").read_text("utf-8")}
    return environment


def _totals(studies: list[StudyPage]) -> dict[str, int]:
    return {"total_studies": len(studies), "total_runs": sum(study.runs["count"] for study in studies),
            "total_stopped": sum(study.stopped for study in studies),
            "total_figures": sum(len(study.figures) for study in studies)}


def render(page: Page, around: Surroundings) -> str:
    """The template of a page filled; figures without a picture are left out."""
    return _environment().get_template("page.html").render(
        title=page.title, of_paper=page.key in papers(), groups=grouped(page.studies), doi=page.doi, here=page.key,
        folder="", entries=around.known,
        thumbnails=page.thumbnails,
        claims=[page.claims] if page.claims else [], errata=[page.errata] if page.errata else [], citing=around.cited,
        at=lambda study: "" if page_of(study) == page.key else f"{page_of(study)}.html",  # file seen from this page
        to=around.to, **_totals(page.studies))


def render_index(pages: list[Page], known: list[Entry]) -> str:
    """The template of the index filled."""
    return _environment().get_template("index.html").render(
        pages=pages, judged=[page for page in pages if page.claims], here="", folder=f"{REPORT_FOLDER}/", entries=known,
        at=lambda study: f"{REPORT_FOLDER}/{page_of(study)}.html",
        **_totals([study for page in pages for study in page.studies]))


def citing(claims: Iterable[PaperClaims]) -> dict[str, list[ClaimRow]]:
    """The claims that each study decides."""
    decided: dict[str, list[ClaimRow]] = {}
    for item in claims:
        for row in item.rows:
            for study in dict.fromkeys(study for study, _, _ in row.runs):
                decided.setdefault(study, []).append(row)
    return decided


def breakable(text: str) -> Markup:
    """A text whose names may be broken after an underscore and a slash."""
    return Markup(re.sub("([_/])", r"\1<wbr>", str(escape(text))))


def number(value: float | None) -> str:
    """Five significant digits; what is missing is empty."""
    return "" if value is None or pandas.isna(value) else f"{value:.5g}"


def entries(pages: Iterable[Page]) -> list[Entry]:
    """All entries of all pages, in their order."""
    return [(kind, title, " ".join(text.split())[:LENGTH], page.key, target) for page in pages
            for kind, title, text, target in _of_page(page)]


def _of_page(page: Page) -> Iterator[tuple[str, str, str, str]]:
    for row in page.claims.rows if page.claims else ():
        yield "claim", f"{row.claim.id}: {row.outcome['verdict']}", row.claim.statement, row.anchor
    for study in page.studies:
        used = [*(item["system"] for item in study.problems), *(item["id"] for item in study.integrators)]
        yield ("study", f"{study.config.title} ({study.name})",
               " ".join(dict.fromkeys([study.config.description, *used])), anchor("study", study.name))
        for figure in study.figures:
            yield "figure", figure.name, figure.alternative, anchor("figure", study.name, figure.name)
        for film in study.films:
            yield "film", film.name, film.caption, anchor("film", study.name, film.name)
        for name in study.tables:
            yield "table", f"{name} of {study.name}", study.config.title, anchor("table", study.name, name)
    for entry in page.errata.rows if page.errata else ():
        yield ("erratum", f"erratum {entry['erratum']}, {entry['place']}",
               f"{entry['printed']}; correct: {entry['correct']}", anchor("erratum", page.key, str(entry["erratum"])))


def command_report(arguments: argparse.Namespace) -> None:
    workflow = configured(arguments.config, arguments.results, arguments.study)
    # all pages are made before the first is written: what is stale leaves the report as it was
    for path, text, summary in list(make_report(workflow, arguments.page)):
        write_text_atomically(path, text)
        print(f"{path}: {summary}", file=sys.stderr)
