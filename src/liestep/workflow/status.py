"""What a study has, lacks, and would make anew, and why. Reads attributes of files only."""
import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.files.terminal import fitted
from liestep.files.textfiles import read_text
from liestep.simulation.references.reference import ReferenceSpecification, study_reference
from liestep.simulation.runs.files import read
from liestep.simulation.runs.maps import rows_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.names import study_files
from liestep.study.plan.plan import Study
from liestep.study.tables.liestep_tables import csv_rows
from liestep.workflow.lock import holder
from liestep.workflow.workflow import StudyProducts

STATES = ("done", "failed", "stale", "damaged", "missing")  # failed: a run that stopped early, which is a result
SHOWN_LENGTH = 40  # characters of a value that changed


@dataclass(frozen=True)
class Item:
    """One product: kind (runs, references, ...), name, one of STATES, and the reason where it is not done."""

    kind: str
    name: str
    state: str
    why: str = ""


def items(products: StudyProducts) -> list[Item]:
    """All products of a study in the order in which they are made."""
    runs = [Item("runs", f"{cell.problem}/{cell.integrator}/{cell.resolution}", *_file(cell.path, cell.spec))
            for cell in products.study.cells]
    references = [Item("references", entry.problem, *_file(*study_reference(products.study, entry.problem)))
                  for entry in products.references]
    behind = max(map(_time, (*products.runs, *(entry.path for entry in products.references))), default=0)
    tables = [_after("tables", path, behind, "a run or a reference is newer")
              for path in (*products.tables, products.page)]
    metrics = products.folder/"metrics.csv"
    if metrics.is_file() and _hashes(metrics) != [cell.spec.sha256 for cell in products.study.cells
                                                    for _ in range(rows_of(cell.spec))]:
        tables = [Item("tables", item.name, "stale", "made of other runs than the study asks for")
                  if item.state == "done" else item for item in tables]
    figures = [_after("figures", products.figure(name, "png"), _time(metrics), "the tables are newer")
               for name in products.figures]
    films = [_after("animations", film.path, _time(film.cell.path), "the run is newer") for film in products.animations]
    timings = [_after("timings", path, 0, "") for path in products.timings]
    return [*runs, *references, *timings, *tables, *figures, *films]


def _file(path: Path, spec: RunSpecification | ReferenceSpecification) -> tuple[str, str]:
    """State and reason of a NetCDF file of a specification."""
    if not path.is_file():
        return "missing", ""
    try:
        attributes = read(path, ()).attributes
    except InputError as error:
        return "damaged", str(error)
    if attributes["run_sha256"] != spec.sha256:
        return "stale", changes(json.loads(attributes["specification"]), spec.canonical())
    if attributes["source_hash"] != spec.source_hash:
        return "stale", "sources that it uses have changed"
    return ("done", "") if attributes["status"] == "ok" else ("failed", attributes["message"])


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What differs between two specifications, for example "t_end was 1.0, is 2.0"."""
    names = [name for name in {**new, **old} if old.get(name) != new.get(name)]
    return ", ".join(f"{name} was {_short(old.get(name))}, is"
                     f" {_short(new.get(name))}" for name in names) or "specification has changed"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH - 3] + "..."


def _hashes(metrics: Path) -> list[str]:
    """Runs of which metrics.csv was made."""
    try:
        return [row.get("run_sha256", "") for row in csv_rows(read_text(metrics))]
    except (InputError, csv.Error):
        return []


def _time(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


def _after(kind: str, path: Path, time: int, why: str) -> Item:
    """A product that must not be older than what it is made of."""
    if not path.is_file():
        return Item(kind, path.name, "missing")
    return Item(kind, path.name, "stale", why) if _time(path) < time else Item(kind, path.name, "done")


def lines(name: str, found: Iterable[Item], everything: bool) -> Iterator[str]:
    """Counts on one line, then what is not done, equal states and reasons together unless `everything`."""
    found = list(found)
    parts = []
    for kind in dict.fromkeys(item.kind for item in found):
        count = Counter(item.state for item in found if item.kind == kind)
        rest = ", ".join(f"{count[state]} {state}" for state in STATES[1:] if count[state])
        parts.append(f"{kind} {count['done']} of {count.total()}{f' ({rest})' if rest else ''}")
    yield f"{name}: {', '.join(parts)}"
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in found:
        if item.state != "done":
            groups.setdefault((item.kind, item.state, item.why), []).append(item.name)
    for (kind, state, why), names in groups.items():
        shown = names if everything else names[:1]
        for k, entry in enumerate(shown):
            more = f" and {len(names) - 1} more" if len(names) > len(shown) and k == 0 else ""
            yield f"  {kind} {entry}{more}: {state}{f', {why}' if why else ''}"


def command_status(arguments: argparse.Namespace) -> None:
    names = arguments.study or study_files(arguments.config)
    if not names:
        raise InputError(f"there is no study in {arguments.config/'studies'}")
    for name in names:
        products = StudyProducts(Study.find(name, arguments.config, arguments.results))
        print(fitted("\n".join(lines(products.name, items(products), arguments.all))), flush=True)
    if running := holder():
        print(running)
