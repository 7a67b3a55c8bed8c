"""When the criteria of the claims were first written, and what was changed later: config/history/<paper>.csv.

`python -m liestep.claims.history`, called in the top folder of a repository with its history, writes the files from the
log. Nobody edits them. A claim's first row is the commit that wrote it; every later row is a commit that changed what
decides (runs, compared runs, quantity, criterion, printed number) or the verdict that it promises, with the subject of
the commit as the reason. Runs are compared by problem, integrator and resolution, so that studies can be renamed.
"""
import io
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from liestep.claims.claimfile import Claim
from liestep.files.textfiles import csv_text, read_csv, write_text_atomically
from liestep.study.plan.assignments import numbers
from liestep.study.plan.yamlfile import LOADER

FOLDER = "history"
COLUMNS = ("claim", "commit", "date", "changed", "reason", "decides")
DECIDING = ("printed", "runs", "against", "quantity", "criterion")
PROMISED = "verdict"
DEFAULTS: dict[str, Any] = {"verdict": "reproduced", "quantity": "", "printed": None, "runs": [], "against": []}
CHOICE = ("problem", "integrator", "resolution")
FIRST = "first written"
UNRECORDED = "not in the history yet"
RENAMED_KINDS = {"takeover": "crossover_time"}  # criteria of before: the same rule under its new name
Row = Mapping[str, str]


def decides(claim: Mapping[str, Any]) -> str:
    """What decides a claim and the verdict that it promises, as JSON; `claim` is its mapping in a claims file."""
    found = {name: claim.get(name, DEFAULTS.get(name)) for name in (*DECIDING, PROMISED)}
    for name in ("runs", "against"):
        found[name] = [[choice.get(key) or "" for key in CHOICE] for choice in found[name]]
    kind = found["criterion"]["kind"]
    found["criterion"] = {**found["criterion"], "kind": RENAMED_KINDS.get(kind, kind)}
    return json.dumps(_floats(found), sort_keys=True)


def _floats(value: Any) -> Any:
    """Whole numbers as floats: a file may write 3 or 3.0."""
    if isinstance(value, Mapping):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def decides_today(claim: Claim) -> str:
    """The same of a validated claim, without values that are defaults."""
    return decides(claim.model_dump(exclude_unset=True, by_alias=True))


def history_rows(commits: Iterable[tuple[str, str, str, Mapping[str, Any]]]) -> list[dict[str, str]]:
    """Rows of the history, columns COLUMNS, by claims in the order in which they were written.

    Args:
        commits: hash, date, subject, and the claims by their ids, oldest first.
    """
    found: dict[str, list[dict[str, str]]] = {}
    for commit, date, subject, claims in commits:
        for name, claim in claims.items():
            now = decides(claim)
            rows = found.setdefault(name, [])
            changed = _changed(rows[-1]["decides"], now) if rows else FIRST
            if changed:
                rows.append(dict(zip(COLUMNS, (name, commit, date, changed, subject, now), strict=True)))
    return [row for rows in found.values() for row in rows]


def _changed(before: str, now: str) -> str:
    first, second = json.loads(before), json.loads(now)
    return ", ".join(name for name in (*DECIDING, PROMISED) if first[name] != second[name])


def sentence(claim: Claim, rows: Iterable[Row]) -> str:
    """The history of a claim in words; rows are those of all claims of its paper."""
    own = [row for row in rows if row["claim"] == claim.id]
    if not own:
        return UNRECORDED
    parts = [f"{row['changed']} {row['date'][:10]} ({row['commit']}{_reason(row)})" for row in own]
    later = _changed(own[-1]["decides"], decides_today(claim))
    return "; ".join([*parts, *([f"{later} changed after that"] if later else [])])


def _reason(row: Row) -> str:
    return "" if row["changed"] == FIRST else f', "{row["reason"]}"'


def changed_later(claim: Claim, rows: Iterable[Row]) -> bool:
    """Whether what decides a claim, not only the verdict that it promises, was changed after it was first written."""
    own = [row["decides"] for row in rows if row["claim"] == claim.id]
    states = [*own, decides_today(claim)] if own else []
    return any(set(_changed(states[0], state).split(", ")) & set(DECIDING) for state in states[1:])


def history_file(config: Path, paper: str) -> Path:
    """Where the history of a paper's claims is."""
    return config/FOLDER/f"{paper}.csv"


def load_history(config: Path, paper: str) -> list[Row]:
    """Rows of the history of a paper's claims; none where there is no file.

    Raises:
        InputError: not a table with these columns.
    """
    path = history_file(config, paper)
    return read_csv(path, COLUMNS).astype(str).to_dict("records") if path.is_file() else []


def logged(top: Path, paper: str, end: str = "HEAD") -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Hash, date, subject and claims of every commit up to `end` that touched the claims files of a paper.

    Raises:
        subprocess.CalledProcessError, FileNotFoundError: there is no git, or no repository.
    """
    places = (f"config/claims/{paper}.yaml", f"config/claims/{paper}")
    log = _git(top, "log", "--reverse", "--date=iso-strict", "--abbrev=10", "--format=%h%x09%ad%x09%s", end, "--",
               *places)
    known: dict[str, list[dict[str, Any]]] = {}
    for line in log.splitlines():
        commit, date, subject = line.split("\t", 2)
        claims: dict[str, Any] = {}
        for entry in _git(top, "ls-tree", "-r", commit, "--", *places).splitlines():
            blob, name = entry.split()[2], entry.split("\t")[1]
            if name.endswith(".yaml"):
                if blob not in known:
                    content = numbers(yaml.load(io.StringIO(_git(top, "cat-file", "blob", blob)), LOADER))
                    known[blob] = content["claims"]
                claims |= {claim["id"]: claim for claim in known[blob]}
        yield commit, date, subject, claims


def _git(top: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(top), *arguments], capture_output=True, check=True, text=True).stdout


def main() -> None:
    """Write the history of every paper with claims."""
    from liestep.claims.claimfile import claim_files

    config = Path("config")
    for paper in claim_files(config):
        write_text_atomically(history_file(config, paper), csv_text(COLUMNS, history_rows(logged(Path(), paper))))


if __name__ == "__main__":
    main()
