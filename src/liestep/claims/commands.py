"""Commands that judge the papers: claims against the results, and evidence for the errata."""
import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from liestep.errors import InputError, unknown
from liestep.simulation.runs.estimate import count

if TYPE_CHECKING:
    from liestep.claims.claimfile import ClaimFile
    from liestep.study.tables.results import StudyResults

# columns of the readable tables, in their order
CLAIM_PAGE = ("verdict", "claim", "statement", "quote", "source", "asserted_by", "group_verdict", "quantity",
              "printed", "ours", "ratio", "units", "bound", "studies", "figure", "evidence", "on_printed",
              "on_corrected", "survives", "errata", "known_beforehand", "data", "settings", "hits", "probability",
              "setting", "code", "history")
# of the headlines
FIRST_PAGE = ("part", "verdict", "says", "quote", "quantity", "printed", "ours", "units", "bound", "members")
ERRATA_PAGE = ("erratum", "place", "kind", "printed", "correct", "evidence", "confirmed", "code")


def command_claims(arguments: argparse.Namespace) -> None:
    from liestep.claims.claimfile import claim_files, load_claims
    from liestep.claims.counting import cards, headline, surviving
    from liestep.claims.history import load_history
    from liestep.claims.judging import COLUMNS, judge

    known = claim_files(arguments.config)
    files = [load_claims(known[paper]) for paper in _papers(arguments.paper, list(known), "claims")]
    results = _studies(files, arguments.config, arguments.results)
    sections, rows, first, wrong = [], [], [], []
    for file in files:
        history = load_history(arguments.config, file.paper, known[file.paper])
        try:
            judged = judge(file, results, history).to_dict("records")
        except InputError as error:  # the other papers are judged, and nothing is written
            wrong.append(str(error))
            continue
        summary = f"{count(len(judged), 'claim')}. {headline(judged)} {surviving(judged)}".rstrip()
        sections.append((file.paper, file.citation, summary, judged))
        rows += judged
        first += [{"paper": file.paper, **{name: getattr(card, name) for name in FIRST_PAGE}, "figure":
                   "/figures/".join(card.figure) + ".png"} for card in cards(file, judged)]
        print(f"{file.paper}: {summary}", file=sys.stderr)
    if wrong:
        raise InputError("; ".join(wrong))
    _write((arguments.to or arguments.results)/"claims", "Claims of the papers", CLAIM_PAGE, COLUMNS, sections, rows,
           first)


def _papers(wanted: list[str], known: list[str], what: str) -> list[str]:
    """The papers that are asked for, by default all that have claims or errata. Raises InputError: there is no such
    file; names the closest."""
    if not known:
        raise InputError(f"there is no file with {what}, neither below papers nor below config/{what}")
    for paper in wanted:
        if paper not in known:
            raise InputError(unknown(f"paper with {what}", paper, known))
    return sorted(set(wanted)) or known


def _studies(files: Iterable["ClaimFile"], config: Path, results: Path) -> Mapping[str, "StudyResults"]:
    """Results of every study that a claim names. Raises InputError: there is no such study; names the claim."""
    from liestep.study.plan.plan import Study
    from liestep.study.tables.results import StudyResults

    found: dict[str, StudyResults] = {}
    for file in files:
        for claim in file.claims:
            for choice in claim.choices:
                if choice.study not in found:
                    try:
                        found[choice.study] = StudyResults(Study.find(choice.study, config, results))
                        _ = found[choice.study].metrics  # what is missing is said once, not by each of its claims
                    except InputError as error:
                        raise InputError(f"claim {claim.id} of {file.paper}: {error}") from None
    return found


def command_errata(arguments: argparse.Namespace) -> None:
    from liestep.claims.errata import COLUMNS, errata_files, errata_table, load_errata

    papers = _papers(arguments.paper, list(errata_files(arguments.config)), "errata")
    # all files are checked before any computation
    citations = {paper: load_errata(paper, arguments.config).citation for paper in papers}
    sections, rows = [], []
    for paper in papers:
        table = errata_table(paper, arguments.config)
        counts = ", ".join(f"{sum(row['confirmed'] is state for row in table)} {word}"
                           for state, word in ((True, "confirmed"), (False, "not confirmed"), (None, "text only")))
        noun = "entry" if len(table) == 1 else "entries"
        sections.append((paper, citations[paper], f"{len(table)} {noun}: {counts}.", table))
        rows += table
        print(f"{paper}: {counts}", file=sys.stderr)
    _write((arguments.to or arguments.results)/"errata", "Errata of the papers", ERRATA_PAGE, COLUMNS, sections, rows)


def _write(path: Path, title: str, page: tuple[str, ...], columns: Iterable[str], sections: Iterable[tuple],
           rows: list[dict], first: Sequence[dict] = ()) -> None:
    """<path>.csv with all columns, <path>.md with those of `page`: one section (paper, citation,
    summary, rows) per paper, after a table of what a reader should see `first`."""
    from liestep.files.textfiles import without_markup, write_text_atomically
    from liestep.study.tables.liestep_tables import csv_text, markdown

    parts = [f"# {title}", *([markdown(first[0], first).rstrip()] if first else [])]
    for paper, citation, summary, found in sections:
        named = [{name.replace("_", " "): row[name] for name in page} for row in found]
        parts += [f"## {paper}", without_markup(citation), summary,
                  markdown((name.replace("_", " ") for name in page), named).rstrip()]
    write_text_atomically(path.with_name(f"{path.name}.csv"), csv_text(columns, rows))
    write_text_atomically(path.with_name(f"{path.name}.md"), "\n\n".join(parts) + "\n")
