"""Verdicts counted by statements: a group counts once, and what we assert ourselves stands apart. And what a reader
should see first, as cards: headlines of the claims files with what the results say."""
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from liestep.claims.claimfile import OWN, VERDICTS, ClaimFile, Headline
from liestep.claims.history import UNRECORDED
from liestep.files.textfiles import TableRow
from liestep.simulation.runs.estimate import count
from liestep.study.tables.columns import heading

COUNTED = {"paper": ("statement of the paper", "statements of the paper"),  # one and several
           "own": ("control of our own", "controls of our own"),
           "external": ("number of another code", "numbers of other codes")}
MET = ("reproduced", "recovered", "calibrated", "confirmed", OWN[0])
MISSED = ("not reproduced", OWN[1])
SHOWN = {  # what the word of an erratum means
    "shown": "numbers computed here agree with what is correct and not with what is printed",
    "not shown": "numbers computed here do not tell the two apart, or agree with what is printed",
    "text only": "no computation can show it; the reason is given"}
WORDS = list(VERDICTS)  # from the strongest to the weakest
SURVIVING = {"yes": "hold on printed and on corrected data", "no": "hold on the printed data only",
             "only corrected": "hold on the corrected data only", "holds on neither": "hold on neither"}


@dataclass(frozen=True)
class Statement:
    """What one or several claims judge: who asserts it (paper, own, external), the verdict on all of them, and for a
    group of a type which of its claims hold; empty for a single claim."""

    name: str
    counted: str
    verdict: str
    members: str


def statements(rows: Iterable[TableRow]) -> list[Statement]:
    """Statements of a paper from its rows of claims.csv, in their order."""
    groups: dict[str, list[TableRow]] = {}
    for row in rows:
        groups.setdefault(row["group"] or row["claim"], []).append(row)
    return [Statement(name, "paper" if members[0]["asserted_by"] == "derived" else members[0]["asserted_by"],
                      joint_verdict(members[0]["group_type"], [row["verdict"] for row in members]), _members(members))
            for name, members in groups.items()]


def _members(rows: list[TableRow]) -> str:
    """The claims of a group by their verdicts, with its type."""
    listed = ((word, ", ".join(row["claim"] for row in rows if row["verdict"] == word)) for word in WORDS)
    said = "; ".join(f"{names} {word}" for word, names in listed if names)
    return f"{rows[0]['group_type']}: {said}" if rows[0]["group_type"] else ""


def joint_verdict(kind: str | None, verdicts: Iterable[str]) -> str:
    """The verdict on a statement that several claims judge; `kind` is the type of their group. Parts: one that fails
    decides, else the weakest word. Universal: likewise, and what fails is a counterexample. Readings: the weakest of
    those that hold, which the statement names; where others do not hold, reproduced becomes confirmed, because the
    reading is our choice. If none holds: the weakest."""
    ordered = sorted(set(verdicts), key=WORDS.index)
    held = [word for word in ordered if word in MET]
    if kind == "readings" and held:
        return "confirmed" if held[-1] == "reproduced" and held != ordered else held[-1]
    failed = [word for word in ordered if word in MISSED]
    if kind == "readings" or not failed:
        return ordered[-1]
    return "refuted" if kind == "universal" and failed[0] == MISSED[0] else failed[0]


def counts(found: Iterable[Statement], counted: str = "paper") -> dict[str, int]:
    """verdict -> number of the statements of one kind, all verdicts that occur."""
    chosen = [item.verdict for item in found if item.counted == counted]
    return {verdict: chosen.count(verdict) for verdict in VERDICTS if verdict in chosen}


def headline(rows: Sequence[TableRow]) -> str:
    """The counts of a paper in sentences."""
    judged = statements(rows)
    parts = []
    for counted, nouns in COUNTED.items():
        numbers = counts(judged, counted)
        if total := sum(numbers.values()):
            listed = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items())
            parts.append(f"{total} {nouns[total > 1]}: {listed}")
    return f"{'; '.join(parts)}. {predictions(rows)}. {changes(rows)}.{reproducible(rows)}"


def reproducible(rows: Iterable[TableRow]) -> str:
    """How many statements of the paper could be reproduced at all; empty without any, and for a table without `best`:
    the word that a claim has if it is met."""
    best = statements([{**row, "verdict": row["best"]} for row in rows if row.get("best")])
    able, of_paper = counts(best).get(WORDS[0], 0), sum(counts(best).values())
    return (f" {able} of {count(of_paper, 'statement')} could be reproduced at all: for the others the paper prints no"
            " number, or not all data.")*(of_paper > 0)


def changes(rows: Sequence[TableRow]) -> str:
    """How many claims had changed what decides them after it was first written; nothing without a history."""
    if rows and all(row.get("history") == UNRECORDED for row in rows):
        return "No log of edits lies here that could say whether a criterion was changed later"
    number = sum(row["changed_later"] in (True, "True") for row in rows)
    if number == 0:
        return "Nothing that decides a claim was changed after it was first written"
    return f"What decides {count(number, 'claim')} was changed after it was first written"


def predictions(rows: Iterable[TableRow]) -> str:
    """How many outcomes were not known when their criterion was written, and how many of these judged ones were met."""
    unknown = [row for row in rows if not row["known_beforehand"] and row["verdict"] in (*MET, *MISSED)]
    return f"{count(len(unknown), 'prediction')}, {sum(row['verdict'] in MET for row in unknown)} met"


def surviving(rows: Iterable[TableRow]) -> str:
    """How many claims with errata in their data survive them; empty without any."""
    counts = Counter(row["survives"] for row in rows if row["survives"] in SURVIVING)
    if not counts:
        return ""
    parts = [f"{counts[word]} {words}" for word, words in SURVIVING.items() if counts[word]]
    return f"Of {counts.total()} claims whose data have errata, {', '.join(parts)}."


PARTS = ("What it is about", "What held", "What did not hold, or is undetermined", "Misprints")


@dataclass(frozen=True)
class Card:
    """A headline: the verdict on its statement, of an erratum what the evidence says; numbers of the claim `target`
    that decides it, None without one; in `members` the claims of a group by their verdicts."""

    part: str
    verdict: str
    says: str
    quote: str
    target: str
    figure: tuple[str, str] = ("", "")  # study, name; of an erratum none
    quantity: str = ""
    printed: float | str | None = None
    ours: float | str | None = None
    units: str = ""
    bound: str = ""
    members: str = ""

    @property
    def numbers(self) -> list[tuple[str, float | str, str]]:
        """(what, value, unit) of all that decides: of a misprint both formulas and the numbers that tell them apart."""
        groups = ((("printed", self.printed, ""), ("correct", self.ours, ""), ("numbers", self.members, ""))
                 if self.part == PARTS[3] else
                 (("measured", self.quantity, ""), ("ours", self.ours, self.units), ("bound", self.bound, ""),
                  ("printed", self.printed, self.units)))
        return [(name, value, unit.removeprefix("1")) for name, value, unit in groups if value not in (None, "")]


def cards(file: ClaimFile, rows: Iterable[TableRow], errata: Iterable[TableRow] = ()) -> list[Card]:
    """Headlines of a paper by PARTS from rows of claims.csv and errata.csv; without those that an older table lacks."""
    outcomes, known = {row["claim"]: row for row in rows}, {f"erratum {row['erratum']}": row for row in errata}
    shown = [_misprint(item, known[item.misprint]) if item.misprint else _statement(item, file, outcomes)
             for item in file.headlines if (item.name in known if item.misprint else
                                            {claim.id for claim in file.judging(item.name)} <= {*outcomes})]
    return sorted(shown, key=lambda card: PARTS.index(card.part))


def _misprint(item: Headline, row: TableRow) -> Card:
    verdict = {"true": "shown", "false": "not shown"}.get(str(row["confirmed"]).lower(), "text only")
    return Card(PARTS[3], verdict, item.says or row["place"], "", str(row["erratum"]), printed=row["printed"],
                ours=row["correct"], members=row["evidence"])


def _statement(item: Headline, file: ClaimFile, outcomes: Mapping[str, TableRow]) -> Card:
    judging = file.judging(item.name)
    words = [outcomes[member.id]["verdict"] for member in judging]
    verdict = joint_verdict(file.groups[item.name].type if item.name in file.groups else None, words)
    # one that has the verdict of all; else a counterexample, or one that holds
    claim = next(member for accepted in ((verdict,), MISSED if verdict not in MET else MET, words)
                 for member, word in zip(judging, words, strict=True) if word in accepted)
    members = "; ".join(f"{member.id} {word}" for member, word in zip(judging, words, strict=True))*(len(words) > 1)
    row, in_words = outcomes[claim.id], {"quantity": heading(claim.quantity, {})[0]}
    return Card(PARTS[0 if item.about else 1 if verdict in MET else 2], verdict, item.says or judging[0].statement,
                claim.quote or judging[0].quote, claim.id, item.figure.rpartition("/")[::2],
                claim.criterion.measures(claim.model_copy(update=in_words)).rstrip(" ,:"), row["printed"], row["ours"],
                row.get("units") or claim.units, claim.criterion.bounds, members)
