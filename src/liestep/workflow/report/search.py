"""What can be searched for on every page: claims, studies, figures, tables and errata with their addresses."""
from collections.abc import Iterable, Iterator

from liestep.workflow.report.links import anchor
from liestep.workflow.report.pages import Page
from liestep.workflow.report.study import StudyPage

Entry = tuple[str, str, str, str, str]  # kind, title, text, key of the page, id on it
LENGTH = 400  # characters of a text that are searched and shown


def entries(pages: Iterable[Page]) -> list[Entry]:
    """All entries of all pages, in their order."""
    return [(kind, title, " ".join(text.split())[:LENGTH], page.key, target) for page in pages
            for kind, title, text, target in _of_page(page)]


def _of_page(page: Page) -> Iterator[tuple[str, str, str, str]]:
    for row in page.claims.rows if page.claims else ():
        yield "claim", f"{row.claim.id}: {row.outcome['verdict']}", row.claim.statement, row.anchor
    for study in page.studies:
        yield from _of_study(study)
    for entry in page.errata.rows if page.errata else ():
        yield ("erratum", f"erratum {entry['erratum']}, {entry['place']}",
               f"{entry['printed']}; correct: {entry['correct']}", anchor("erratum", page.key, str(entry["erratum"])))


def _of_study(study: StudyPage) -> Iterator[tuple[str, str, str, str]]:
    used = [*(item["system"] for item in study.problems), *(item["id"] for item in study.integrators)]
    yield ("study", f"{study.config.title} ({study.name})", " ".join(dict.fromkeys([study.config.description, *used])),
           anchor("study", study.name))
    for figure in study.figures:
        yield "figure", figure.name, figure.alternative, anchor("figure", study.name, figure.name)
    for film in study.films:
        yield "film", film.name, film.caption, anchor("film", study.name, film.name)
    for name in study.tables:
        yield "table", f"{name} of {study.name}", study.config.title, anchor("table", study.name, name)
