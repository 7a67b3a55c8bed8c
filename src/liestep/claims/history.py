"""When what decides the claims was first written, and what was changed later: papers/<paper>/history.csv, which
.ci/history.py writes from the log. The rows hold hashes of what decides: keys of a claim (DECIDING), and all that a
study file says of its runs, so that studies, problems and integrators can get other keys."""
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.files.textfiles import read_text
from liestep.study.plan.config import Ladder, word_of
from liestep.study.plan.names import PAPERS, STUDIES, study_files
from liestep.study.plan.yamlfile import line_of, read_yaml
from liestep.study.tables.liestep_tables import csv_rows

HISTORY = "history.csv"
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


def decides(claim: Content, studies: Iterable[Content | None]) -> str:
    """What decides a claim, as name=hash; `claim`: its mapping in a claims file, `studies`: those of its choices."""
    deciding = {name: claim.get(name, default) for name, default in DECIDING.items()}
    runs = [_run(study, choice) for study, choice in zip(studies, choices_of(claim), strict=True)]
    for key in sorted({key for run in runs for key in run or ()}):
        deciding[key] = [run and run.get(key) for run in runs]
    deciding[PROMISED] = claim.get(PROMISED, "reproduced")
    which = (MISSING if None in runs else NONE if claim["criterion"]["kind"] == NONE else
             _hash([len(claim.get("runs", ())), len(runs)]))
    return " ".join([f"runs={which}", *(f"{name}={_hash(value)}" for name, value in deciding.items() if value)])


def choices_of(claim: Content) -> list[Content]:
    return [*claim.get("runs", ()), *claim.get("against", ())]


def studies_of(claim: Content) -> list[str]:
    return [f"studies/{choice['study']}.yaml" for choice in choices_of(claim)]


def _hash(value: Any) -> str:
    """Of the JSON of a value; whole numbers are floats, since a file may write 3 or 3.0."""
    text = json.dumps(json.loads(json.dumps(value), parse_int=float), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:7]


def _run(study: Content | None, choice: Content) -> Content | None:
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


def _entry(entries: Content, key: str, own: str) -> Content | None:
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


def is_open(row: Row) -> bool:
    """Whether there can be no result yet."""
    return row["decides"].startswith((f"runs={MISSING}", f"runs={NONE}"))


def changes(before: str, now: str) -> str:
    """Names of what differs between two texts of `decides`."""
    first, second = before.split(), now.split()
    entries = [entry for entry in (*first, *second) if (entry in first) != (entry in second)]
    return ", ".join(dict.fromkeys(entry.partition("=")[0] for entry in entries))


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
    for row in csv_rows(read_text(path), None) if path.is_file() else ():
        if tuple(row) != COLUMNS or None in row.values():
            raise InputError(f"{path} is no table with the columns {', '.join(COLUMNS)}; write it anew from the log")
        histories.setdefault(row["claim"], []).append(row)
    files = {f"{STUDIES}/{name}.yaml": path for name, path in study_files(config).items()}
    study = cache(lambda name: read_yaml(files[name])[0] if name in files else None)
    for file in paths if histories else ():
        claims, lines = read_yaml(file)
        for number, claim in enumerate(claims["claims"]):
            rows = histories.get(claim["id"], [])
            now = decides(claim, map(study, studies_of(claim)))
            if rows and not is_open(rows[-1]) and (changed := changes(rows[-1]["decides"], now)):
                rows.append(dict.fromkeys(COLUMNS, "") | {"claim": claim["id"], "changed": changed})
            if not claim["known"] and rows and (rows[0]["changed"] == LATE or changed_later(rows)):
                line = line_of(("claims", number, "known"), lines)
                raise InputError(f"{file}, line {line}: claim {claim['id']} is no prediction, since a result could be"
                                 f" known: {sentence(rows)}; write known: true")
    return histories
