"""Claims and errata with the files they come from, checked to be of today's claims and errata files."""
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup, escape

from liestep.claims.claimfile import VERDICTS, Claim, load_claims
from liestep.claims.counting import SHOWN, WORDS, Card, Statement, cards, counts, headline, statements
from liestep.claims.errata import load_errata
from liestep.claims.judging import describe, figures_of, showing, studies_of
from liestep.errors import InputError
from liestep.files.ledger import require_same
from liestep.files.textfiles import TableRow
from liestep.study.tables.results import read_csv


def anchor(*parts: str) -> str:
    """Id of a part of the page, which is also its address after `#`: anchor("figure", "mine/pendulum", "drift")."""
    return quote("/".join(parts), safe="/._-")


def evidence(claim: Claim, paper: str, figures: Mapping[str, Collection[str]],
             tables: Mapping[str, Collection[str]]) -> list[tuple[str, str, str]]:
    """(text, study, anchor) of the figures and tables that show what a claim is about, in the studies that it names.

    Args:
        figures, tables: names in the page, by study.
    """
    places = [(f"figure {name} of {study}", study, anchor("figure", study, name))
             for study, name in figures_of(claim, paper, figures)]
    places += [(f"table {name} of {study}", study, anchor("table", study, name))
              for study in studies_of(claim) for name in showing(claim) if name in tables.get(study, ())]
    return list(dict.fromkeys(places))


def link_errata(text: str, paper: str, known: Sequence[str]) -> Markup:
    """A text in which "erratum 9", "errata 5 and 6" lead to entries of the paper; `known`: ids, as 9 or 5a."""

    def link(match: re.Match) -> str:
        entry = next((name for name in known if name == match[0] or re.sub(r"\D", "", name) == match[0]), None)
        return f'<a href="#{anchor("erratum", paper, entry)}">{match[0]}</a>' if entry else match[0]

    return Markup(re.sub(r"\berrat(?:um|a) \d+[a-z]?(?:(?:, | and )\d+[a-z]?\b)*",
                         lambda cited: re.sub(r"\d+[a-z]?", link, cited[0]), str(escape(text))))


SIGNS = {"reproduced": ("✓", "good"), "recovered": ("✓", "good"), "calibrated": ("≈", "fair"), "met": ("✓", "good"),
         "confirmed": ("✓", "fair"), "not reproduced": ("✗", "bad"), "refuted": ("✗", "bad"), "missed": ("✗", "bad"),
         "undetermined": ("?", "none"), "not testable": ("–", "none")}
PROOFS = {"shown": ("✓", "good"), "not shown": ("✗", "bad"), "text only": ("–", "none")}  # of an erratum
# word -> (sign, class of colours, meaning)
MEANINGS = {verdict: (*SIGNS[verdict], said) for verdict, said in VERDICTS.items()}
EVIDENCE = {word: (*PROOFS[word], said) for word, said in SHOWN.items()}
ASSERTED = {"paper": "the paper", "derived": "follows from the paper's text", "own": "who wrote the study",
            "external": "another code or text"}


@dataclass(frozen=True)
class ClaimRow:
    """A claim with its row of claims.csv; `links`: (text, study, anchor); `runs`: (study, anchor, keys)."""

    paper: str
    claim: Claim
    outcome: Mapping
    anchor: str
    setting: Markup
    statement: Markup
    links: list[tuple[str, str, str]]
    runs: list[tuple[str, str, str]]

    @property
    def rank(self) -> int:
        return WORDS.index(self.outcome["verdict"])


@dataclass(frozen=True)
class PaperClaims:
    """All claims of a paper."""

    paper: str
    citation: str
    rows: list[ClaimRow]
    cards: list[Card]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """(verdict, number of claims), all verdicts that occur."""
        counts = [(verdict, sum(row.outcome["verdict"] == verdict for row in self.rows)) for verdict in VERDICTS]
        return [(verdict, count) for verdict, count in counts if count]

    @property
    def _outcomes(self) -> list[dict]:
        """Rows of claims.csv with empty cells as empty text."""
        return [{**row.outcome, "group": row.claim.group} for row in self.rows]

    @property
    def statements(self) -> list[Statement]:
        """What the paper states, and what we and others do, each once."""
        return statements(self._outcomes)

    @property
    def stated(self) -> list[tuple[str, int]]:
        """(verdict, number of statements of the paper), all verdicts that occur."""
        return list(counts(self.statements).items())

    @property
    def overview(self) -> list[tuple[str, str, str, str]]:
        """(verdict, anchor of its first claim, name, text) of each statement of the paper, in the order of the file."""
        first: dict[str, ClaimRow] = {}
        for row in self.rows:
            first.setdefault(row.claim.group or row.claim.id, row)
        return [(item.verdict, first[item.name].anchor, item.name,
                 first[item.name].claim.statement + f" ({item.members})"*bool(item.members))
                for item in self.statements if item.counted == "paper"]

    @property
    def headline(self) -> str:
        """The counts in sentences."""
        return headline(self._outcomes)


@dataclass(frozen=True)
class PaperErrata:
    """All errata of a paper: rows of errata.csv."""

    paper: str
    citation: str
    rows: list[TableRow]


def paper_claims(files: Iterable[Iterable[Path]], results: Path, figures: Mapping[str, Collection[str]],
                 tables: Mapping[str, Collection[str]], errata: Iterable[PaperErrata]) -> list[PaperClaims]:
    """Claims of all papers with their verdicts.

    Args:
        files: the claims files of each paper.
        figures, tables: names in the page, by study.
        errata: those of all papers.

    Raises:
        InputError: claims.csv is missing, or is not of these files.
    """
    papers = [load_claims(paths) for paths in files]
    if not papers:
        return []
    wanted = [(file.paper, claim.id, claim.statement, claim.quote, describe(claim), claim.asserted_by, claim.group,
               file.groups[claim.group].type if claim.group else "") for file in papers for claim in file.claims]
    rows = _rows(results/"claims.csv", ("paper", "claim", "statement", "quote", "criterion", "asserted_by", "group",
                                        "group_type"), wanted)
    known, places = {item.paper: item for item in errata}, []
    for file in papers:
        own = [next(rows) for _ in file.claims]
        misprints = known[file.paper].rows if file.paper in known else []
        ids = [str(row["erratum"]) for row in misprints]
        places.append(PaperClaims(file.paper, file.citation,
                                 [_claim(claim, row, file.paper, figures, tables, ids)
                                  for claim, row in zip(file.claims, own, strict=True)], cards(file, own, misprints)))
    return places


def _claim(claim: Claim, outcome: Mapping, paper: str, figures: Mapping, tables: Mapping,
           errata: list[str]) -> ClaimRow:
    runs = [(choice.study, anchor("runs", choice.study),
             "/".join(filter(None, (choice.problem, choice.integrator, choice.resolution))))
            for choice in (*claim.runs, *claim.against)]
    return ClaimRow(paper, claim, outcome, anchor("claim", paper, claim.id),
                    link_errata(_text(outcome["setting"]), paper, errata), link_errata(claim.statement, paper, errata),
                    evidence(claim, paper, figures, tables), list(dict.fromkeys(runs)))


def paper_errata(papers: Iterable[str], config: Path, results: Path) -> list[PaperErrata]:
    """Errata of some papers, with evidence. Raises InputError: errata.csv is missing or stale."""
    files = [load_errata(paper, config) for paper in papers]
    if not files:
        return []
    wanted = [(file.paper, entry.id, entry.place, entry.printed, entry.correct) for file in files
              for entry in file.errata]
    rows = _rows(results/"errata.csv", ("paper", "erratum", "place", "printed", "correct"), wanted)
    return [PaperErrata(file.paper, file.citation, [next(rows) for _ in file.errata]) for file in files]


def _rows(path: Path, columns: tuple[str, ...], wanted: list[tuple]) -> Iterator[TableRow]:
    """Rows of a table of verdicts, empty cells None. Raises InputError unless the columns hold exactly `wanted`."""
    table = read_csv(path).astype(object)
    require_same(path)
    rows = table.where(table.notna(), None).to_dict("records")
    if not {*columns} <= {*table.columns} or [tuple(_text(row[name]) for name in columns) for row in rows] != wanted:
        raise InputError(f"{path} is of another state of the {path.stem} files; run `liestep job {path.stem}` again")
    return iter(rows)


def _text(value: object) -> str:
    return "" if value is None else str(value)
