"""What the report says about one study. Nothing is computed again, and everything is checked to be today's."""
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.figures.captions import fill, stopped_in_words
from liestep.figures.commands import drawing_of
from liestep.figures.marks import marks
from liestep.figures.panels import size_of
from liestep.files.textfiles import read_text
from liestep.simulation.catalogue import method, sheet
from liestep.study.plan.config import StudyConfig
from liestep.study.tables.results import StudyResults
from liestep.workflow.report.pictures import Picture
from liestep.workflow.report.provenance import references_data, runs_data, table_data
from liestep.workflow.workflow import Animation, StudyProducts


@dataclass
class FigurePart:
    """A figure of a study; `picture` is made last, when the size of everything else is known."""

    name: str
    path: Path
    caption: str
    picture: Picture | None = None

    @property
    def alternative(self) -> str:
        """What the picture shows, for those who do not see it: the caption without the list of runs."""
        return self.caption.partition(" Runs of ")[0]

    @property
    def settings(self) -> str:
        """The list of runs at the end of the caption."""
        return self.caption.removeprefix(self.alternative).strip()


@dataclass
class FilmPart:
    """A film of a run; `picture` as that of a figure."""

    film: Animation
    caption: str
    picture: Picture | None = None

    @property
    def name(self) -> str:
        return self.film.path.stem


@dataclass
class StudyPage:
    """What the page says about one study."""

    results: StudyResults
    figures: list[FigurePart]
    films: list[FilmPart]
    tables: dict[str, dict[str, Any]]
    runs: dict[str, Any]
    references: list[dict[str, Any]] = field(default_factory=list)
    motion: str = ""  # page in which the runs of the films can be turned

    @property
    def name(self) -> str:
        return self.results.study.name

    @property
    def folder(self) -> Path:
        return self.results.study.folder

    @property
    def config(self) -> StudyConfig:
        return self.results.config

    @property
    def file(self) -> str:
        """Text of the study file."""
        return self.results.study.path.read_text("utf-8")

    @cached_property
    def problems(self) -> list[dict[str, Any]]:
        ends = {cell.problem: cell.spec.t_end for cell in reversed(self.results.study.cells)}  # that of the first run
        return [{"key": key, "label": setup.label or key, "system": setup.system, "title": sheet(setup.system).title,
                 "t_end": ends[key]} for key, setup in self.config.problems.items() if key in ends]

    @cached_property
    def integrators(self) -> list[dict[str, str]]:
        used = {cell.integrator for cell in self.results.study.cells}
        return [{"key": key, "label": entry.label or key, "id": name, "summary": method(name).summary,
                 "options": ", ".join(f"{option} = {value}" for option, value in entry.options.items())}
                for key, entry in self.config.integrators.items() if key in used
                for name in [self.results.study.integrator_id(key)]]

    @property
    def stopped(self) -> int:
        """Number of runs that stopped early."""
        return int((self.results.metrics["status"] != "ok").sum())

    @property
    def stopped_runs(self) -> str:
        """Those runs in words."""
        return stopped_in_words(self.results)


def study_page(products: StudyProducts) -> StudyPage:
    """Products of a study, all checked. Raises InputError: one is missing or stale."""
    results = StudyResults(products.study)
    names = [path.stem for path in products.tables if path.suffix == ".csv" and path.stem != "metrics"]
    names += ["timings"]*bool(products.timings)
    return StudyPage(results, [_figure(products, results, name) for name in products.figures],
                     [_film(results, film) for film in products.animations],
                     {name: table_data(results, name) for name in names}, runs_data(results), references_data(results))


def _figure(products: StudyProducts, results: StudyResults, name: str) -> FigurePart:
    path = products.figure(name, "png")
    text = products.figure(name, "caption.txt")
    expected = fill(drawing_of(name), results, name)
    try:
        caption = read_text(text)
    except InputError as error:
        raise InputError(f"{error}; run `liestep job figure {products.name} {name}`") from None
    if not caption.startswith(expected):  # panels that are left out stand behind it
        raise InputError(f"{path} is of another state of the study; run `liestep job figure {products.name} {name}`"
                         " again")
    return FigurePart(name, path, caption.strip())


def _film(results: StudyResults, film: Animation) -> FilmPart:
    cell, config = film.cell, results.config
    problem = config.problems[cell.problem].label or cell.problem
    integrator = marks(results)[cell.integrator].label
    return FilmPart(film, f"{problem} by {integrator}, {size_of(cell)}: stored samples from t = 0 to"
                    f" {cell.spec.t_end:g} s.")
