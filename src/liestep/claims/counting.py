"""Verdicts counted by statements: a group counts once, and what we assert ourselves stands apart."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from liestep.claims.claimfile import OWN, VERDICTS
from liestep.claims.history import UNRECORDED
from liestep.simulation.runs.estimate import count

COUNTED = {"paper": "statement of the paper", "own": "control of our own", "external": "number of another code"}
PLURAL = {"paper": "statements of the paper", "own": "controls of our own", "external": "numbers of other codes"}
MET = ("reproduced", "recovered", "calibrated", "qualitative", OWN[0])
MISSED = ("not reproduced", OWN[1])
WORDS = list(VERDICTS)  # from the strongest to the weakest


@dataclass(frozen=True)
class Statement:
    """What one or several claims judge: who asserts it (paper, own, external), the verdict on all of them, and for a
    group of a type which of its claims hold; empty for a single claim."""

    name: str
    counted: str
    verdict: str
    members: str


def statements(rows: Iterable[Mapping[str, Any]]) -> list[Statement]:
    """Statements of a paper from its rows of claims.csv, in their order."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["group"] or row["claim"], []).append(row)
    return [Statement(name, "paper" if found[0]["asserted_by"] == "derived" else found[0]["asserted_by"],
                      joint_verdict(found[0]["group_type"], [row["verdict"] for row in found]), _members(found))
            for name, found in groups.items()]


def _members(rows: list[Mapping[str, Any]]) -> str:
    """The claims of a group by their verdicts, with its type."""
    listed = ((word, ", ".join(row["claim"] for row in rows if row["verdict"] == word)) for word in WORDS)
    said = "; ".join(f"{names} {word}" for word, names in listed if names)
    return f"{rows[0]['group_type']}: {said}" if rows[0]["group_type"] else ""


def joint_verdict(kind: str | None, verdicts: Iterable[str]) -> str:
    """The verdict on a statement that several claims judge; `kind` is the type of their group. Parts: one that fails
    decides, else the weakest word. Universal: likewise, and what fails is a counterexample. Readings: the weakest of
    those that hold, which the statement names; where others do not hold, reproduced becomes qualitative, because the
    reading is our choice. If none holds: the weakest."""
    found = sorted(set(verdicts), key=WORDS.index)
    held = [word for word in found if word in MET]
    if kind == "readings" and held:
        return "qualitative" if held[-1] == "reproduced" and held != found else held[-1]
    failed = [word for word in found if word in MISSED]
    if kind == "readings" or not failed:
        return found[-1]
    return "refuted" if kind == "universal" and failed[0] == MISSED[0] else failed[0]


def counts(found: Iterable[Statement], counted: str = "paper") -> dict[str, int]:
    """verdict -> number of the statements of one kind, all verdicts that occur."""
    chosen = [item.verdict for item in found if item.counted == counted]
    return {verdict: chosen.count(verdict) for verdict in VERDICTS if verdict in chosen}


def headline(rows: Iterable[Mapping[str, Any]]) -> str:
    """The counts of a paper in sentences."""
    rows = list(rows)
    found = statements(rows)
    parts = []
    for counted, noun in COUNTED.items():
        numbers = counts(found, counted)
        total = sum(numbers.values())
        if total:
            words = f"{total} {noun if total == 1 else PLURAL[counted]}"
            listed = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items())
            parts.append(f"{words}: {listed}" if listed else words)
    return f"{'; '.join(parts)}. {predictions(rows)}. {changes(rows)}."


def changes(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many claims had changed what decides them after it was first written: that may know the outcome. Without a
    history nothing is said of it."""
    rows = list(rows)
    if rows and all(row.get("history") == UNRECORDED for row in rows):
        return "Whether what decides a claim was changed later is in no history here"
    number = sum(row["changed_later"] in (True, "True") for row in rows)
    if number == 0:
        return "Nothing that decides a claim was changed after it was first written"
    return f"What decides {count(number, 'claim')} was changed after it was first written"


def predictions(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many outcomes were not known from a trial when their criterion was written, and how many of those were met.
    Rows that are not judged are no predictions."""
    unknown = [row for row in rows if not row["known_beforehand"] and row["verdict"] in (*MET, *MISSED)]
    met = sum(row["verdict"] in MET for row in unknown)
    return f"{count(len(unknown), 'prediction')}, {met} met"
