"""From the files of all codes to the table, and back: a stored table is that of its files, or it is refused."""
import hashlib
import io
import json
import tarfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rotation_bench.judgement import Request, judge
from rotation_bench.liestep_judge import BadStates
from rotation_bench.liestep_tables import csv_rows, csv_text
from rotation_bench.other_codes.contract import file_name
from rotation_bench.other_codes.problems import CASES
from rotation_bench.tables import write_text

STORED = Path(__file__).resolve().parent/"stored"
TABLE, CODES, ARCHIVE = "table.csv", "codes.csv", "files.tar.xz"
LEVELS = (1e-4, 1e-6, 1e-8)
COLUMNS = ("problem", "code", "version", "method", "order_stated", "order_found", "uncertainty", "class",
           "energy_order", "error_coarsest", "error_finest", "energy_error", "momentum_error", "orthogonality_error",
           "drift", "growth",
           *(f"{what}_{level:.0e}" for what in ("evaluations", "milliseconds") for level in LEVELS),
           "runs", "missing", "sha256")
CODE_COLUMNS = ("code", "distribution", "version", "date", "machine", "method", "settings")


def sha256_of(files: Iterable[tuple[str, bytes]]) -> str:
    """One hash of named files, whatever their order."""
    total = hashlib.sha256()
    for name, content in sorted(files):
        total.update(f"{hashlib.sha256(content).hexdigest()} {name}\n".encode())
    return total.hexdigest()


def groups(names: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    """(problem, method as in file names) -> names of its files, which are problem.method.resolution.csv."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in sorted(names):
        problem, method, _ = name.split(".", 2)
        found.setdefault((problem, method), []).append(name)
    return found


def row_of(problem: str, paths: Sequence[Path], reference: Path) -> dict[str, Any]:
    """One row of the table: the files of one method on one problem, judged as `rotation-bench judge` does."""
    case = CASES[problem]
    request = Request(case.system, case.preset, reference=reference)
    if case.runs == 1:  # too long to compare states: invariants and their drift
        request = replace(request, reference=None, without_reference=True)
    found = judge(paths, request)
    runs = sorted(found["errors"], key=lambda row: -(row["tolerance"] or row["step"]))
    finest, order = runs[-1], next(iter(found["orders"]), {})
    drift = next(part for part in found["drift"] if part["invariant"] == "energy" and part["file"] == finest["file"])
    row: dict[str, Any] = {
        "problem": problem, "order_stated": finest["order"], "order_found": order.get("p"),
        "uncertainty": order.get("u"), "class": order.get("class"), "energy_order": order.get("energy_order"),
        "drift": drift["verdict"], "growth": drift.get("growth"),
        "error_coarsest": runs[0]["error"], "error_finest": finest["error"],
        "energy_error": finest["energy_error_max"], "momentum_error": finest["momentum_error_max"],
        "orthogonality_error": finest.get("orthogonality_error_max"), "runs": len(paths)}
    for work in found["work"]:
        if work["error"] in LEVELS:
            row[f"evaluations_{work['error']:.0e}"] = work["rhs_evaluations"]
            row[f"milliseconds_{work['error']:.0e}"] = 1e3*work["seconds"]
    return row


def table(folder: Path, said: Mapping[str, Mapping[str, Any]], references: Path) -> list[Mapping[str, Any]]:
    """Rows for the files of the codes in `said`: what each code's process said (version, failed). A code without files
    has a row that says why."""
    rows = []
    for (problem, method), names in groups(path.name for path in folder.glob("*.csv")).items():
        code, _, short = method.partition("_")
        if code not in said:
            continue
        rows.append(row_of(problem, [folder/name for name in names], references/f"{problem}.nc") | {
            "code": code, "version": said[code]["version"], "method": short,
            "sha256": sha256_of((name, (folder/name).read_bytes()) for name in names)})
    held = {(row["problem"], row["code"], row["method"]): row for row in rows}
    for code, found in said.items():
        for part in found.get("failed", ()):
            short = file_name(part["label"]).partition("_")[2]
            row = held.setdefault((part["problem"], code, short), {
                "problem": part["problem"], "code": code, "version": found["version"], "method": short, "runs": 0,
                "sha256": sha256_of(())})
            row.setdefault("missing", part["reason"])
    rows = list(held.values())
    there = {row["code"] for row in rows}
    rows += [{"code": code, "missing": found["missing"]} for code, found in said.items() if code not in there]
    return in_order(rows)


def in_order(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """By problem, code and method; codes that are missing last."""
    return sorted(rows, key=lambda row: (row.get("problem") or "~", row["code"], row.get("method", "")))


def others(codes: Container[str], stored: Path = STORED) -> tuple[list[dict[str, str]], list[dict[str, str]],
                                                                  dict[str, bytes]]:
    """Rows of the stored table, rows of versions and files of all codes but these; nothing where nothing is stored."""
    if not (stored/TABLE).exists():
        return [], [], {}
    rows, versions = ([row for row in found if row["code"] not in codes]
                      for found in (stored_rows(stored), _read(stored/CODES)))
    return rows, versions, {name: content for name, content in stored_files(stored).items()
                            if name.split(".")[1].partition("_")[0] not in codes}


def store(rows: Sequence[Mapping[str, Any]], codes: Sequence[Mapping[str, Any]], folder: Path,
          stored: Path = STORED) -> None:
    """Table, versions and settings, and all files in one archive whose bytes depend on nothing but the files."""
    stored.mkdir(parents=True, exist_ok=True)
    write_text(stored/TABLE, csv_text(COLUMNS, rows))
    write_text(stored/CODES, csv_text(CODE_COLUMNS, codes))
    with tarfile.open(stored/ARCHIVE, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for path in sorted(folder.glob("*.csv")):
            content = path.read_bytes()
            entry = tarfile.TarInfo(path.name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def stored_rows(stored: Path = STORED) -> list[dict[str, str]]:
    """The stored table. Raises BadStates where it is not that of its files."""
    rows = _read(stored/TABLE)
    versions = {row["code"]: row["version"] for row in _read(stored/CODES)}
    files = stored_files(stored)
    held = groups(files)
    for row in rows:
        if not row["problem"]:
            continue
        where = f"{row['code']} {row['method']} on {row['problem']}"
        names = held.pop((row["problem"], f"{row['code']}_{row['method']}"), [])
        if row["version"] != versions.get(row["code"]):
            raise BadStates(f"{stored/TABLE}: {where} is of version {row['version']}, the files are of"
                             f" {versions.get(row['code'], 'none')}: make both by `python3 make.py other_codes`")
        if sha256_of((name, files[name]) for name in names) != row["sha256"]:
            raise BadStates(f"{stored/TABLE}: the files of {where} are of another version than the table: make both by"
                             " `python3 make.py other_codes`")
    if held:
        raise BadStates(f"{stored/ARCHIVE} has files of {' '.join(next(iter(held)))}, which the table does not"
                         " have: make both by `python3 make.py other_codes`")
    return rows


def stored_files(stored: Path = STORED) -> dict[str, bytes]:
    """Name -> content of all files of the archive. Raises BadStates if it cannot be read."""
    try:
        with tarfile.open(stored/ARCHIVE, "r:xz") as archive:
            return {entry.name: archive.extractfile(entry).read() for entry in archive  # type: ignore[union-attr]
                    if entry.isreg()}  # nothing is extracted to disk
    except (OSError, EOFError, tarfile.TarError) as error:
        raise BadStates(f"{stored/ARCHIVE} cannot be read ({error}): make it by `python3 make.py other_codes`"
                         ) from None


def _read(path: Path) -> list[dict[str, str]]:
    try:
        return csv_rows(path.read_text("utf-8"))
    except OSError as error:
        raise BadStates(f"{path} cannot be read ({error.strerror}): make it by `python3 make.py other_codes`"
                         ) from None


def last_json(text: str) -> dict[str, Any] | None:
    """What a code's process said in its last line, or None."""
    lines = text.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
