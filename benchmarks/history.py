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
RECORDS, PAGES = HERE/"history.jsonl", (HERE/"README.md", HERE.parent/"README.md")
MARK = re.compile(r"(<!-- last record: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
Rows = Sequence[Mapping[str, Any]]
ON_MANIFOLD = 1e-12


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


def beside_others(own: Rows, others: Rows, error: float = 1e-8) -> list[dict[str, Any]]:
    """One row for each problem: us to reach an error, ours by the fastest method that stays on the manifold, and
    defects of it."""
    found, theirs = [], [code for code in ("scipy", "diffrax") if f"{code}/heyoka" in others[0]]
    for row, other in zip(own, others, strict=True):
        if row["error"] == error:
            best = " natural" if row["heyoka natural us"] == row["heyoka natural us"] else ""
            ours = min((name for name in peers.METHODS if row.get(f"defect {name}", 1.0) < ON_MANIFOLD),
                       key=lambda name: row[f"{name}/heyoka"])
            found.append({"problem": row["problem"],
                          "liestep": f"{ours.replace(' form=', ', ')} {row['heyoka us']*row[f'{ours}/heyoka']:.3g}",
                          "heyoka": row[f"heyoka{best} us"],
                          **{code: other["heyoka us"]*other[f"{code}/heyoka"] for code in theirs},
                          "defect": row[f"defect {ours}"], "heyoka's": row[f"defect heyoka{best}"],
                          **{f"{code}'s": other[f"defect {code}"] for code in theirs}})
    return found


SHOWN: Mapping[str, Callable[[Callable[[str], Rows]], list[dict[str, Any]]]] = {
    "peers_steps": lambda record: peers.summary(record("peers"), ""),
    "peers_calls": lambda record: peers.summary(record("peers"), " with call"),
    "peers_others": lambda record: peers.summary(record("peers_others"), "", ("diffrax", "scipy")),
    "peers_readme": lambda record: beside_others(record("peers"), record("peers_others"))}


def with_tables(page: str, records: Path = RECORDS) -> str:
    """The page with its marked tables from the last records."""
    def made(found: re.Match[str]) -> str:
        first = last("peers", records)[0]
        table = tables.markdown(SHOWN[found[2]](lambda name: last(name, records)))
        return f"{found[1]}{table}\n\n({first['date']}, commit {first['commit']}, {first['processor']})\n{found[3]}"

    return MARK.sub(made, page)
