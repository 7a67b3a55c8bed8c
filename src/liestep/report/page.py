"""Collects what the workflow made and fills the template. Nothing is computed again, and everything
is checked to be today's."""
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import pandas
from markupsafe import Markup, escape

from liestep.analysis.results import StudyResults
from liestep.catalogue import method, sheet
from liestep.errors import InputError
from liestep.figures.captions import fill
from liestep.figures.commands import drawing_of
from liestep.pipeline.jobs import Animation
from liestep.pipeline.workflow import StudyProducts, Workflow
from liestep.report.films import SHARE, embed_films
from liestep.report.links import anchor
from liestep.report.pictures import Picture, embed
from liestep.report.provenance import references_data, runs_data, table_data
from liestep.report.sources import TEMPLATES
from liestep.report.verdicts import MEANINGS, ClaimRow, PaperClaims, PaperErrata, paper_claims, paper_errata
from liestep.storage.textfiles import read_text

LIMIT = 15_000_000  # bytes of the page


@dataclass
class FigurePart:
    """A figure of a study; `picture` is made last, when the size of everything else is known."""

    name: str
    path: Path
    caption: str
    picture: Picture | None = None


@dataclass
class FilmPart:
    """A film of a run; `picture` as that of a figure."""

    film: Animation
    caption: str
    picture: Picture | None = None

    @property
    def name(self) -> str:
        return self.film.label


@dataclass
class StudyPage:
    """What the page says about one study."""

    results: StudyResults
    figures: list[FigurePart]
    films: list[FilmPart]
    tables: dict[str, dict[str, Any]]
    runs: dict[str, Any]
    references: list[dict[str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.results.study.name

    @property
    def config(self):
        return self.results.config

    @property
    def file(self) -> str:
        """Text of the study file."""
        return self.results.study.path.read_text("utf-8")

    @cached_property
    def problems(self) -> list[dict[str, Any]]:
        return [{"key": key, "label": setup.label or key, "system": setup.system, "title": sheet(setup.system).title,
                 "t_end": next(cell.spec.t_end for cell in self.results.study.cells if cell.problem == key)}
                for key, setup in self.config.problems.items() if any(cell.problem == key
                                                                      for cell in self.results.study.cells)]

    @cached_property
    def integrators(self) -> list[dict[str, Any]]:
        used = {cell.integrator for cell in self.results.study.cells}
        found = []
        for key, entry in self.config.integrators.items():
            if key in used:
                name = self.results.study.integrator_id(key)
                options = ", ".join(f"{option} = {value}" for option, value in (entry.options if entry else {}).items())
                found.append({"key": key, "label": (entry.label if entry else None) or key, "id": name,
                              "options": options, "summary": method(name).summary})
        return found

    @property
    def stopped(self) -> int:
        """Number of runs that stopped early."""
        return int((self.results.metrics["status"] != "ok").sum())


@dataclass
class Group:
    """Studies of one folder, which is a paper's if a claims or errata file names it."""

    name: str
    citation: str
    studies: list[StudyPage]


def make_report(workflow: Workflow) -> tuple[str, str]:
    """The page as text, and one line about it.

    Raises:
        InputError: a product is missing or stale; the sentence says which command makes it.
    """
    studies = [study_page(products) for products in workflow.studies]
    errata = paper_errata(workflow.errata, workflow.common)
    claims = paper_claims(workflow.claim_files.values(), workflow.common,
                          {page.name: [figure.name for figure in page.figures] for page in studies},
                          {page.name: list(page.tables) for page in studies}, {item.paper: item.ids for item in errata})
    figures = [figure for page in studies for figure in page.figures]
    films = [film for page in studies for film in page.films]
    rest = len(render(studies, claims, errata).encode())
    for film, picture in zip(films, embed_films([film.film for film in films], int(SHARE*(LIMIT - rest))), strict=True):
        film.picture = picture
        rest += len(picture.address)
    for figure, picture in zip(figures, embed([figure.path for figure in figures], LIMIT - rest), strict=True):
        figure.picture = picture
    text = render(studies, claims, errata)
    runs = sum(len(page.runs["rows"]) for page in studies)
    size = f"{len(text.encode())/1e6:.1f} MB"
    if len(text.encode()) > LIMIT:
        size += f", more than {LIMIT/1e6:g} MB although its figures are small: report fewer studies"
    return (text, f"studies: {len(studies)}, figures: {len(figures)}, {f'films: {len(films)}, ' if films else ''}runs:"
            f" {runs}, {size}")


def study_page(products: StudyProducts) -> StudyPage:
    """Products of a study, all checked.

    Raises:
        InputError: one is missing or stale.
    """
    results = StudyResults(products.study)
    names = [path.stem for path in products.tables if path.stem != "metrics"] + ["timings"]*bool(products.timings)
    return StudyPage(results, [_figure(products, results, name) for name in products.figures],
                     [_film(results, film) for film in products.animations],
                     {name: table_data(results, name) for name in names}, runs_data(results), references_data(results))


def _figure(products: StudyProducts, results: StudyResults, name: str) -> FigurePart:
    path = products.figure(name, "png")
    text = products.figure(name, "caption.txt")
    expected = fill(drawing_of(name).caption, results)
    try:
        found = read_text(text)
    except InputError as error:
        raise InputError(f"{error}; run `liestep figure {products.name} {name}`") from None
    if found.strip() != expected.strip():
        raise InputError(f"{path} is of another state of the study; run `liestep figure {products.name} {name}` again")
    return FigurePart(name, path, expected)


def _film(results: StudyResults, film: Animation) -> FilmPart:
    cell, config = film.cell, results.config
    entry = config.integrators[cell.integrator]
    names = config.problems[cell.problem].label or cell.problem, (entry.label if entry else None) or cell.integrator
    return FilmPart(film,
                    f"{names[0]} by {names[1]}, {cell.resolution}: stored samples from t = 0 to {cell.spec.t_end:g} s.")


def grouped(studies: Iterable[StudyPage], citations: Mapping[str, str]) -> list[Group]:
    """Studies by folder: papers first, then the others."""
    found: dict[str, Group] = {}
    for page in studies:
        folder = page.name.rpartition("/")[0]
        found.setdefault(folder, Group(folder, citations.get(folder, ""), [])).studies.append(page)
    return sorted(found.values(), key=lambda group: not group.citation)


def render(studies: list[StudyPage], claims: list[PaperClaims], errata: list[PaperErrata]) -> str:
    """The template filled; figures without a picture are left out."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
    environment.filters |= {"number": number, "breakable": breakable}

    citations = {item.paper: item.citation for item in (*errata, *claims)}
    return environment.get_template("report.html").render(
        groups=grouped(studies, citations), studies=studies, claims=claims, errata=errata, citing=citing(claims),
        total_runs=sum(len(page.runs["rows"]) for page in studies), total_stopped=sum(page.stopped for page in studies),
        total_figures=sum(len(page.figures) for page in studies), anchor=anchor, meanings=MEANINGS,
        style=(TEMPLATES/"report.css").read_text("utf-8"), script=(TEMPLATES/"report.js").read_text("utf-8"))


def citing(claims: Iterable[PaperClaims]) -> dict[str, list[ClaimRow]]:
    """The claims that each study decides."""
    found: dict[str, list[ClaimRow]] = {}
    for item in claims:
        for row in item.rows:
            for study in dict.fromkeys(study for study, _, _ in row.runs):
                found.setdefault(study, []).append(row)
    return found


def breakable(text: str) -> Markup:
    """A text whose names may be broken after an underscore and a slash."""
    return Markup(re.sub("([_/])", r"\1<wbr>", str(escape(text))))


def number(value: Any) -> str:
    """Five significant digits; what is missing is empty."""
    return "" if value is None or pandas.isna(value) else f"{value:.5g}"
