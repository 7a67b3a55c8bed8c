"""What a reader should see first, as cards: headlines of the claims files with what the results say."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from liestep.claims.claimfile import ClaimFile, Headline
from liestep.claims.counting import MET, MISSED, joint_verdict

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
    figure: tuple[str, str]  # study, name
    printed: Any = None
    ours: Any = None
    units: str = ""
    members: str = ""


def cards(file: ClaimFile, rows: Iterable[Mapping[str, Any]], errata: Iterable[Mapping[str, Any]] = ()) -> list[Card]:
    """The headlines of a paper in the order of PARTS from its rows of claims.csv and errata.csv, without those that
    are in no row because the table is older."""
    outcomes, known = {row["claim"]: row for row in rows}, {f"erratum {row['erratum']}": row for row in errata}
    found = [_misprint(item, known[item.misprint]) if item.misprint else _statement(item, file, outcomes)
             for item in file.headlines
             if (item.name in known if item.misprint else {one.id for one in file.judging(item.name)} <= {*outcomes})]
    return sorted(found, key=lambda card: PARTS.index(card.part))


def _figure(item: Headline) -> tuple[str, str]:
    study, _, name = item.figure.rpartition("/")
    return study, name


def _misprint(item: Headline, row: Mapping[str, Any]) -> Card:
    verdict = {"true": "confirmed", "false": "not confirmed"}.get(str(row["confirmed"]).lower(), "text only")
    return Card(PARTS[3], verdict, item.says or f"{row['place']}, correct: {row['correct']}", row["printed"],
                str(row["erratum"]), _figure(item), members=row["evidence"])


def _statement(item: Headline, file: ClaimFile, outcomes: Mapping[str, Mapping[str, Any]]) -> Card:
    judging = file.judging(item.name)
    words = [outcomes[one.id]["verdict"] for one in judging]
    verdict = joint_verdict(file.groups[item.name].type if item.name in file.groups else None, words)
    # one that has the verdict of all; else a counterexample, or one that holds
    claim = next(one for accepted in ((verdict,), MISSED if verdict not in MET else MET, words)
                 for one, word in zip(judging, words, strict=True) if word in accepted)
    members = "; ".join(f"{one.id} {word}" for one, word in zip(judging, words, strict=True))*(len(words) > 1)
    return Card(PARTS[0 if item.about else 1 if verdict in MET else 2], verdict, item.says or judging[0].statement,
                claim.quote or judging[0].quote, claim.id, _figure(item), outcomes[claim.id]["printed"],
                outcomes[claim.id]["ours"], claim.units, members)
