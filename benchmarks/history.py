"""What benchmarks found: one line of JSON for each table row, appended by `--record` and never edited. The tables of
README.md between two marks are made from the last record of each benchmark."""
import datetime
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, peers, tables

HERE = Path(__file__).resolve().parent
RECORDS, PAGE = HERE/"history.jsonl", HERE/"README.md"
MARK = re.compile(r"(<!-- last record: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SHOWN: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any]]]] = {
    "peers_steps": lambda rows: peers.summary(rows, ""), "peers_calls": lambda rows: peers.summary(rows, " with call")}


def append(sections: Iterable[tuple[str, str, Sequence[Mapping[str, Any]]]], records: Path = RECORDS) -> None:
    """Add the rows of tables, each with date, commit, processor and the name of its table."""
    commit = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    about = {"date": datetime.date.today().isoformat(), "commit": commit, "processor": machine.describe()["processor"]}
    with records.open("a", encoding="utf-8") as file:
        for _, name, rows in sections:
            file.writelines(json.dumps({**about, "table": name, **row}) + "\n" for row in rows)


def last(table: str, records: Path = RECORDS) -> list[dict[str, Any]]:
    """Rows of the last record of a table."""
    rows = [row for row in map(json.loads, records.read_text("utf-8").splitlines()) if row["table"] == table]
    return [row for row in rows if (row["date"], row["commit"]) == (rows[-1]["date"], rows[-1]["commit"])]


def with_tables(page: str, records: Path = RECORDS) -> str:
    """The page with its marked tables from the last records."""
    def made(found: re.Match[str]) -> str:
        rows = last(found[2].partition("_")[0], records)
        about = f"{rows[-1]['date']}, commit {rows[-1]['commit']}, {rows[-1]['processor']}"
        return f"{found[1]}{tables.markdown(SHOWN[found[2]](rows))}\n\n({about})\n{found[3]}"

    return MARK.sub(made, page)
