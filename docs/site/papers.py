"""The page of each paper, papers/<id>/README.md: what it is, how it is made alone, its printed figures, its verdicts in
the snapshot; and docs/figures.md, the printed figures of all papers. `python -m docs.site papers` writes them, and a
test holds them to that."""
import os
from collections import Counter
from functools import cache
from pathlib import Path

import yaml

from docs.site.facts import table
from docs.site.snapshot import Snapshot
from docs.site.source import TOP
from liestep.claims.claimfile import VERDICTS
from liestep.claims.counting import reproducible
from liestep.study.plan.names import paper_folders, study_files
from liestep.study.plan.papers import read_paper
from liestep.workflow.making import Printed, printed

OPEN = ("undetermined", "not testable", "not reproduced", "missed")  # what somebody may want to look into


@cache
def called(paper: str, top: Path = TOP) -> str:
    """How pages call a paper: its authors' names and its year; of a collection of our own the id."""
    facts = yaml.safe_load((top/"docs"/"publication.yaml").read_text("utf-8"))["replicated"].get(paper)
    if not facts:
        return OWN.get(paper, paper)
    names = [family for family, _ in facts["authors"]]
    return f"{', '.join(names) if len(names) < 4 else f'{names[0]} and others'} {facts['year']}"


OWN = {"cross": "Comparisons across the papers", "classics": "Textbook problems", "testsets": "Public test sets",
       "external": "Numbers of other codes"}


def page(paper: str, rows: list[dict[str, str]], top: Path = TOP) -> str:
    """README.md of a paper, from rows of claims.csv."""
    folder = paper_folders(top/"config")[paper]
    facts = read_paper(folder)
    count = sum(name.startswith(f"{paper}/") for name in study_files(top/"config"))
    doi = f" doi:[{facts.doi}](https://doi.org/{facts.doi})." if facts.doi else ""
    parts = [f"# {called(paper)}\n", f"`{paper}`: {facts.citation}.{doi}\n",
             f"`python3 make.py paper {paper}` makes its {f'{count} studies' if count > 1 else 'study'},"
             " verdicts and page alone; what stands where: [docs/replicate.md](../../docs/replicate.md).\n"]
    if own := [f"[{file.stem}](studies/{file.name})" for file in sorted((folder/"studies").glob("*.py"))]:
        parts.append(f"Systems and methods of its own: {', '.join(own)}. In this checkout their ids are"
                     " known; `liestep --plugin FILE run ...` and `liestep.load_plugin(FILE)` take them elsewhere.\n")
    if figures := [item for item in printed(top/"config") if item.paper == paper]:
        parts += ["## Printed figures\n", f"`liestep make {paper} FIGURE` makes one alone.\n",
                  figure_table(figures, folder)]
    if not rows:
        return "\n".join([*parts, "A full run leaves it out, and so does the snapshot of verdicts.\n"])
    counts = Counter(row["verdict"] for row in rows)
    parts += ["## Verdicts\n", "Of the last full run ([docs/snapshot](../../docs/snapshot/claims.csv)):\n",
              table(("verdict", "claims", "meaning"), [(word, str(counts[word]), cell(VERDICTS[word]))
                                                       for word in VERDICTS if counts[word]])]
    if said := reproducible(rows):
        parts.append(f"{said.strip()}\n")
    lacking = [row for row in rows if row["verdict"] in OPEN]
    if lacking:
        parts += ["## What does not hold, or is missing\n", table(
            ("claim", "statement", "verdict"),
            [(f"`{row['claim']}`", cell(row["statement"]), row["verdict"]) for row in lacking])]
    parts += ["## What is claimed\n", table(
        ("claim", "statement", "measured", "ours", "unit", "bound", "printed", "verdict"),
        [(f"`{row['claim']}`", cell(row["statement"]), cell(row["quantity"]), short(row["ours"]), row["units"],
          cell(row["bound"]), short(row["printed"]), row["verdict"]) for row in rows])]
    return "\n".join(parts)


def figure_table(figures: list[Printed], here: Path) -> str:
    """Studies with the printed figures that they draw, for a page in a folder."""
    studies: dict[str, list[Printed]] = {}
    for item in figures:
        studies.setdefault(item.study, []).append(item)
    return "\n".join(
        f"- [{study}]({Path(os.path.relpath(items[0].source, here)).as_posix()}): "
        + ", ".join(f"`{item.name}`" for item in items) for study, items in studies.items()) + "\n"


def all_figures(top: Path = TOP) -> str:
    """docs/figures.md."""
    figures = printed(top/"config")
    parts = ["# Figures that the papers print\n",
             "`liestep make PAPER FIGURE`, such as `liestep make livens2025 figure6`, makes a printed figure alone"
             " (`-n` lists the jobs): `results/<study>/figures/<paper>.<figure>.pdf`, with what it shows in"
             " `.caption.txt`.\n"]
    return "\n".join([*parts, figure_table(figures, top/"docs")])


def cell(text: str) -> str:
    """A text in a table."""
    return " ".join(text.split()).replace("|", r"\|")


def short(number: str) -> str:
    """A number with four digits; a text as it is."""
    try:
        return f"{float(number):.4g}" if number else ""
    except ValueError:
        return cell(number)


def pages(snapshot: Snapshot, top: Path = TOP) -> dict[Path, str]:
    """File -> text of the pages of all papers, and of the page of all figures."""
    rows = snapshot.rows("claims.csv")
    return {top/"docs"/"figures.md": all_figures(top)} | {
        folder/"README.md": page(paper, [row for row in rows if row["paper"] == paper], top)
        for paper, folder in paper_folders(top/"config").items()}
