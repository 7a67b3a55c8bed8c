"""Write the history of the claims of every paper, papers/<paper>/history.csv, from the log: `python .ci/history.py` in
the top folder of a repository. Nobody edits it. A claim's first row is the commit that wrote it, each later row one
that changed what decides it, with its subject as the reason. A result may exist from the first commit on that has all
runs: only what is not written or changed after that is a prediction. papers/<paper>/reviewed.yaml lists commits that
cannot alter a verdict, and ids that were renamed."""
import io
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from liestep.claims.history import (
    COLUMNS,
    FIRST,
    LATE,
    MISSING,
    changes,
    choices_of,
    decides,
    history_file,
    is_open,
    studies_of,
)
from liestep.files.textfiles import write_text_atomically
from liestep.study.plan.assignments import numbers
from liestep.study.plan.names import CLAIMS, PAPERS, STUDIES
from liestep.study.plan.yamlfile import LOADER, Strict, read_yaml, validated
from liestep.study.tables.liestep_tables import csv_text

REVIEWED = "reviewed.yaml"
# where claims and studies of papers stand and stood -> a name that stays
PLACES = tuple((re.compile(pattern), name) for pattern, name in (
    (r"papers/(?P<paper>\w+)/(?P<kind>claims|studies)/(?P<rest>.+)", r"\g<kind>/\g<paper>/\g<rest>"),
    (r"config/(?:\w+/)?(?P<kind>claims|studies)/(?P<rest>.+)", r"\g<kind>/\g<rest>")))
# hash, parents, date, subject, claim -> `decides`, and the claims whose runs a parent has
Commit = tuple[str, list[str], str, str, Mapping[str, str], Collection[str]]


class Same(Strict):
    """A commit that cannot alter a verdict by what it changed (names of `decides`) of claims (default: all)."""

    commit: str = Field(pattern=r"^[0-9a-f]{10} .")  # hash and subject, which stays in a rebase
    changed: list[str] = []
    reason: str
    claims: list[str] = []
    renamed: dict[str, str] = {}  # id -> id before the commit

    def covers(self, claim: str, commit: str, subject: str, changed: str) -> bool:
        return ((commit.startswith(self.commit[:10]) or subject == self.commit[11:])
                and claim in (self.claims or [claim]) and set(changed.split(", ")) <= set(self.changed))


class Reviewed(Strict):
    """What people found to be the same: reviewed.yaml beside the history."""

    same: list[Same] = []

    @classmethod
    def load(cls, config: Path, paper: str) -> "Reviewed":
        """Raises InputError: file, line, and what is allowed."""
        path = history_file(config, paper).with_name(REVIEWED)
        content, lines = read_yaml(path) if path.is_file() else ({}, {})
        return validated(cls, path, content, lines)


def history_rows(commits: Iterable[Commit], reviewed: Reviewed) -> list[dict[str, str]]:
    """Rows of the history, columns COLUMNS, by claims in the order in which they were written; the commits with parents
    first. A commit is compared with its parents, since branches stand side by side in the log."""
    histories: dict[str, list[dict[str, str]]] = {}
    states: dict[str, dict[str, str]] = {}
    earlier = {new: old for entry in reviewed.same for new, old in entry.renamed.items()}
    for commit, parents, date, subject, claims, late in commits:
        states[commit] = dict(claims)
        for claim, now in claims.items():
            old = earlier.get(claim, claim)
            if claim not in histories and old in histories:
                histories[claim] = [{**row, "claim": claim} for row in histories.pop(old)]
            rows = histories.setdefault(claim, [])
            before = [states[parent][name] for parent in parents for name in (claim, old)
                      if name in states.get(parent, ())] or [row["decides"] for row in rows[-1:]]
            if before and now.startswith(f"runs={MISSING}"):
                states[commit][claim] = before[0]
            elif now not in before:
                if len(rows) == 1 and is_open(rows[0]):
                    rows.clear()
                changed = (min((changes(one, now) for one in before), key=len) if rows else
                           LATE if claim in late else FIRST)
                if rows and any(entry.covers(claim, commit, subject, changed) for entry in reviewed.same):
                    rows[-1]["decides"] = now
                else:
                    rows.append(dict(zip(COLUMNS, (claim, commit[:10], date, changed, subject, now), strict=True)))
    return [row for rows in histories.values() for row in rows]


def logged(top: Path, paper: str, end: str = "HEAD") -> Iterator[Commit]:
    """Every commit up to `end` that touched claims or studies, parents first.

    Raises:
        subprocess.CalledProcessError, FileNotFoundError: there is no git, or no repository.
    """
    folders = ("--", *(place for kind in (CLAIMS, STUDIES) for place in (
        f"config/{kind}", f"config/{paper}/{kind}", f":(glob){PAPERS}/*/{kind}/**")))
    log = _git(top, "log", "--topo-order", "--reverse", "--parents", "--raw", "--no-abbrev", "--no-renames",
               "--date=iso-strict", "--format=%x00%H%x09%P%x09%ad%x09%s", end, *folders).decode()
    trees: dict[str, dict[str, str]] = {}  # commit -> path in config -> blob
    commits = []
    for entry in log.split("\0")[1:]:
        first, *changes = entry.splitlines()
        name, above, date, subject = first.split("\t", 3)
        parents = above.split()
        tree = trees[name] = dict(trees[parents[0]] if parents else {})
        if len(parents) > 1:
            tree.clear()
            changes = _git(top, "ls-tree", "-r", name, "--", "config", PAPERS).decode().splitlines()
        for change in filter(None, changes):
            modes, path = change.split("\t")
            if place := _place(path):
                tree[place] = modes.split()[3 if modes.startswith(":") else 2]
        commits.append((name, parents, date.replace("Z", "+00:00"), subject))  # git 2.47 writes Z, git 2.39 does not
    content = _contents(top, {blob for tree in trees.values() for blob in tree.values() if blob.strip("0")})

    @cache
    def decided(blob: str, number: int, studies: tuple[str, ...]) -> str:
        return decides(content(blob)["claims"][number], map(content, studies))

    for name, parents, date, subject in commits:
        claims, late = {}, set()
        for path, blob in trees[name].items():
            inside = path == f"claims/{paper}.yaml" or path.startswith(f"claims/{paper}/")
            for number, claim in enumerate((content(blob) or {}).get("claims", ()) if inside else ()):
                states = [decided(blob, number, tuple(trees[one].get(study, "") for study in studies_of(claim)))
                          for one in (name, *parents)]
                claims[claim["id"]] = states[0]
                if choices_of(claim) and states[0] in states[1:]:
                    late.add(claim["id"])
        yield name, parents, date, subject, claims, late


def _place(path: str) -> str:
    """Name of a file of claims or of a study, wherever it stands; "" for other files."""
    return next((match.expand(name) for pattern, name in PLACES if (match := pattern.fullmatch(path))), "")


def _contents(top: Path, blobs: Collection[str]) -> Callable[[str], Any]:
    """Contents of YAML files by their blobs, which one process reads; None for other names."""
    stream = io.BytesIO(_git(top, "cat-file", "--batch", given="\n".join(blobs).encode()))
    texts = {}
    for blob in blobs:
        texts[blob] = stream.read(int(stream.readline().split()[2]))
        stream.readline()
    return cache(lambda blob: numbers(yaml.load(texts[blob], LOADER)) if blob in texts else None)


def _git(top: Path, *arguments: str, given: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(top), *arguments], input=given, capture_output=True, check=True).stdout


def main() -> None:
    """Write the history of every paper with claims."""
    from liestep.claims.claimfile import claim_files

    config = Path("config")
    for paper in claim_files(config):
        rows = history_rows(logged(Path(), paper), Reviewed.load(config, paper))
        write_text_atomically(history_file(config, paper), csv_text(COLUMNS, rows))


if __name__ == "__main__":
    main()
