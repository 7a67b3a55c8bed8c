"""When what decides the claims was first written, and what was changed later: papers/<paper>/history.csv. `python -m
liestep.claims.history`, called in the top folder of a repository with its history, writes the files from the log.
Nobody edits them. They hold hashes of what decides: keys of a claim (DECIDING), and all that a study file says of its
runs, so that studies, problems and integrators can get other keys. A claim's first row is the commit that wrote it,
each later row one that changed something, with its subject as the reason. A result may exist from the first commit on
that has all runs: only what is not written or changed after that is a prediction. papers/<paper>/reviewed.yaml lists
commits that cannot alter a verdict, and ids that were renamed."""
import hashlib
import io
import json
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from liestep.errors import InputError
from liestep.files.textfiles import csv_rows, csv_text, read_text, write_text_atomically
from liestep.study.plan.assignments import numbers
from liestep.study.plan.config import Ladder, word_of
from liestep.study.plan.names import CLAIMS, PAPERS, STUDIES, study_files
from liestep.study.plan.yamlfile import LOADER, Strict, line_of, read_yaml, validated

HISTORY, REVIEWED = "history.csv", "reviewed.yaml"
# where claims and studies of papers stand and stood -> a name that stays
PLACES = tuple((re.compile(pattern), name) for pattern, name in (
    (r"papers/(?P<paper>\w+)/(?P<kind>claims|studies)/(?P<rest>.+)", r"\g<kind>/\g<paper>/\g<rest>"),
    (r"config/(?:\w+/)?(?P<kind>claims|studies)/(?P<rest>.+)", r"\g<kind>/\g<rest>")))
COLUMNS = ("claim", "commit", "date", "changed", "reason", "decides")
DECIDING = {"statement": None, "scope": "experiment", "group": "", "asserted_by": "paper", "printed": None,
            "quantity": "", "criterion": None}  # keys of a claim with their defaults
PROMISED = "verdict"  # is recorded, but does not decide
# what a study file says that no number of a run depends on, and what `_run` resolves itself
SHOWN = ("title", "description", "label", "variant", "see", "figures", "animations", "tables", "timing", "map_quantity",
         "at", "plugins", "reference", "every_integrator", "every_system", "problems", "integrators", "overrides",
         "vary")
MISSING, NONE = "missing", "none"  # instead of the hash of the runs: no study has them; there is no criterion
FIRST, LATE = "first written", "written after its runs"
UNRECORDED = "not in the history yet"
Row = Mapping[str, str]
Content = Mapping[str, Any]  # of a YAML file, or a part of it
# hash, parents, date, subject, claim -> `decides`, and the claims whose runs a parent has
Commit = tuple[str, list[str], str, str, Mapping[str, str], Collection[str]]


def decides(claim: Content, studies: Iterable[Content | None]) -> str:
    """What decides a claim, as name=hash; `claim`: its mapping in a claims file, `studies`: those of its choices."""
    deciding = {name: claim.get(name, default) for name, default in DECIDING.items()}
    runs = [_run(study, choice) for study, choice in zip(studies, _choices(claim), strict=True)]
    for key in sorted({key for run in runs for key in run or ()}):
        deciding[key] = [run and run.get(key) for run in runs]
    deciding[PROMISED] = claim.get(PROMISED, "reproduced")
    which = (MISSING if None in runs else NONE if claim["criterion"]["kind"] == NONE else
             _hash([len(claim.get("runs", ())), len(runs)]))
    return " ".join([f"runs={which}", *(f"{name}={_hash(value)}" for name, value in deciding.items() if value)])


def _choices(claim: Content) -> list[Content]:
    return [*claim.get("runs", ()), *claim.get("against", ())]


def _studies(claim: Content) -> list[str]:
    return [f"studies/{choice['study']}.yaml" for choice in _choices(claim)]


def _hash(value: Any) -> str:
    """Of the JSON of a value; whole numbers are floats, since a file may write 3 or 3.0."""
    text = json.dumps(json.loads(json.dumps(value), parse_int=float), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:7]


def _run(study: Content | None, choice: Content) -> dict[str, Any] | None:
    """All that a study file says of the runs that a claim chooses; None where it does not have them."""
    study = study or {}
    problem = _entry(study.get("problems", {}), choice["problem"], "system")
    methods = study.get("integrators", {})
    every = {choice["integrator"]: methods.get(choice["integrator"])} if study.get("every_integrator") else {}
    integrator = _entry(methods | every, choice["integrator"], "id")
    if problem is None or integrator is None:
        return None
    pair = (problem.get("overrides") or {}).get(choice["integrator"]) or {}
    settings = {key: value for level in (study, problem, integrator, pair) for key, value in level.items()
             if key not in SHOWN and value is not None}
    if choice.get("resolution"):
        return settings | {"steps": choice["resolution"], "tolerances": None, "evaluations": None}
    for key in ("steps", "tolerances"):
        if isinstance(settings.get(key), list | dict) and "counts" not in settings[key]:
            settings[key] = [f"{value:.6g}" for value in Ladder.model_validate(settings[key]).expand()]
    return settings


def _entry(entries: Content, key: str, own: str) -> dict[str, Any] | None:
    """The entry that has a key or, with `vary` or `horizons`, makes it; `own` is what the key stands for by default."""
    for name, entry in entries.items():
        entry = {own: name, "options": {}, **(entry or {})}
        for values in product(*entry.get("vary", {}).values()):
            if "_".join([name, *map(word_of, values)]) == key:
                return {**entry, "options": entry["options"] | dict(zip(entry.get("vary", ()), values, strict=True))}
        for number in entry.get("horizons", ()):
            if f"{name}_{number}" == key:
                return {**entry, "horizons": number}
    return None


def _open(row: Row) -> bool:
    """Whether there can be no result yet."""
    return row["decides"].startswith((f"runs={MISSING}", f"runs={NONE}"))


def _changed(before: str, now: str) -> str:
    first, second = before.split(), now.split()
    parts = [part for part in (*first, *second) if (part in first) != (part in second)]
    return ", ".join(dict.fromkeys(part.partition("=")[0] for part in parts))


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
                if len(rows) == 1 and _open(rows[0]):
                    rows.clear()
                changed = (min((_changed(one, now) for one in before), key=len) if rows else
                           LATE if claim in late else FIRST)
                if rows and any(entry.covers(claim, commit, subject, changed) for entry in reviewed.same):
                    rows[-1]["decides"] = now
                else:
                    rows.append(dict(zip(COLUMNS, (claim, commit[:10], date, changed, subject, now), strict=True)))
    return [row for rows in histories.values() for row in rows]


def sentence(rows: Iterable[Row]) -> str:
    """The history of a claim in words, from its rows."""
    parts = []
    for row in rows:
        reason = "" if row["changed"] in (FIRST, LATE) else f', "{row["reason"]}"'
        place = f"{row['date'][:10]} ({row['commit']}{reason})" if row["commit"] else "changed after that"
        parts.append(f"{row['changed']} {place}")
    return "; ".join(parts) or UNRECORDED


def changed_later(rows: Iterable[Row]) -> bool:
    """Whether what decides a claim, not only the verdict that it promises, was changed after it was first written."""
    return any(row["changed"] not in (FIRST, LATE, PROMISED) for row in rows)


def history_file(config: Path, paper: str) -> Path:
    """Where the history of a paper's claims is."""
    folder = config.parent/PAPERS/paper
    return folder/HISTORY if folder.is_dir() else config/"history"/f"{paper}.csv"


def load_history(config: Path, paper: str, paths: Iterable[Path]) -> dict[str, list[Row]]:
    """Rows of the history by claims; `paths` are the claims files. What they or the studies have changed since then is
    a last row without a commit. Claims that are not in the history yet have no rows. Raises InputError: no table with
    these columns; a claim is called a prediction (known: false), but something was changed when a result could be
    known: file and line."""
    path = history_file(config, paper)
    histories: dict[str, list[Row]] = {}
    for row in csv_rows(read_text(path)) if path.is_file() else ():
        if tuple(row) != COLUMNS or None in row.values():
            raise InputError(f"{path} is no table with the columns {', '.join(COLUMNS)}; write it anew from the log")
        histories.setdefault(row["claim"], []).append(row)
    files = {f"{STUDIES}/{name}.yaml": path for name, path in study_files(config).items()}
    study = cache(lambda name: read_yaml(files[name])[0] if name in files else None)
    for file in paths if histories else ():
        claims, lines = read_yaml(file)
        for number, claim in enumerate(claims["claims"]):
            rows = histories.get(claim["id"], [])
            now = decides(claim, map(study, _studies(claim)))
            if rows and not _open(rows[-1]) and (changed := _changed(rows[-1]["decides"], now)):
                rows.append(dict.fromkeys(COLUMNS, "") | {"claim": claim["id"], "changed": changed})
            if not claim["known"] and rows and (rows[0]["changed"] == LATE or changed_later(rows)):
                line = line_of(("claims", number, "known"), lines)
                raise InputError(f"{file}, line {line}: claim {claim['id']} is no prediction, since a result could be"
                                 f" known: {sentence(rows)}; write known: true")
    return histories


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
                states = [decided(blob, number, tuple(trees[one].get(study, "") for study in _studies(claim)))
                          for one in (name, *parents)]
                claims[claim["id"]] = states[0]
                if _choices(claim) and states[0] in states[1:]:
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
