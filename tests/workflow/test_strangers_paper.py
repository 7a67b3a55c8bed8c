"""A paper that a stranger replicates outside of the repository with the wheel and its extra `study`, by the commands
and files that docs/replicate.md names."""
import csv
import re

from installed import Installed
from place import TOP

ID = "mine2026"
TABLES = '''"""The table `falls`."""
from liestep.paper import Table

COLUMNS = ("study", "problem", "integrator", "lowest")


def rows(results):
    """The lowest energy (J) of each run."""
    return [{name: row[column] for name, column in zip(COLUMNS, (*COLUMNS[:3], "mine2026_lowest_energy"), strict=True)}
            for _, row in results.metrics.iterrows()]


TABLE = Table(COLUMNS, rows, readable=COLUMNS[1:])
'''
CRITERIA = '''"""Criteria of the paper."""
from typing import Literal

from liestep.paper import Criterion, Judgement


class Deep(Criterion):
    """The quantity of every chosen run is negative."""

    kind: Literal["deep"]

    @property
    def bounds(self):
        return "is negative"

    def judge(self, claim, results):
        largest = max(results[choice.study].metrics[claim.quantity].max() for choice in claim.runs)
        return Judgement(largest < 0.0, largest, f"at most {largest:.3g}")
'''
PRESETS = '''"""Starts of the paper."""
import numpy as np

from liestep.paper import Preset


def start(parameters):
    """A link in the horizontal, at rest."""
    return {"q": np.array([[1.0, 0.0, 0.0]]), "omega": np.zeros((1, 3))}


PRESETS = {"spherical_pendulum_chain": {"mine": Preset(
    "one link from the horizontal", "none", "own", {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, -9.81]},
    start, 2.0)}}
'''
CLAIM = """  - id: energy_is_negative
    statement: "the energy lies below that of the highest point"
    source: "section 2"
    asserted_by: own
    scope: general
    runs: [{study: mine2026/first, problem: main, integrator: rk4}]
    quantity: mine2026_lowest_energy
    criterion: {kind: deep}
    known: true
    setting: "a criterion of the paper"
"""


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_figure_column_table_erratum_and_verdict_of_a_paper_outside(once, tmp_path):
    place = Installed(tmp_path, once, "study")
    home = tmp_path/"stranger"
    home.mkdir()
    page = (TOP/"docs"/"replicate.md").read_text()
    begin, make = re.search(r"```\n(liestep new-paper .*)\n(snakemake .*)\n```", page).groups()
    place.call("sh", "-c", begin, folder=home)
    paper, results = home/"papers"/ID, home/"results"
    for name, text in {"tables.py": TABLES, "criteria.py": CRITERIA, "presets.py": PRESETS}.items():
        (paper/name).write_text(text)

    def edit(name, old, new):
        text = (paper/name).read_text()
        assert text.count(old) == 1
        (paper/name).write_text(text.replace(old, new))

    edit("__init__.py", "\n)\n", '\n    tables={"falls": "tables"}, criteria="criteria", presets="presets",\n)\n')
    edit("studies/first.yaml", "preset: paper_scaled", "preset: mine")
    edit("studies/first.yaml", "figures: [", "tables: [energy, falls]\nfigures: [")
    (paper/"claims"/"first.yaml").write_text((paper/"claims"/"first.yaml").read_text() + CLAIM)
    place.call("sh", "-c", make, folder=home)

    study = results/ID/"first"
    assert (study/"figures"/f"{ID}.figure1.pdf").read_bytes().startswith(b"%PDF")
    lowest = {row["integrator"]: float(row[f"{ID}_lowest_energy"]) for row in rows_of(study/"metrics.csv")}
    assert set(lowest) == {"vi_sphere", "rk4"}
    assert {row["integrator"]: float(row["lowest"]) for row in rows_of(study/"falls.csv")} == lowest
    verdicts = {row["claim"]: row["verdict"] for path in results.rglob("claims.csv") for row in rows_of(path)}
    assert verdicts == {"stays_on_sphere": "met", "energy_is_negative": "met"}
    errata = [row for path in results.rglob("errata.csv") for row in rows_of(path)]
    assert [row["confirmed"] for row in errata] == ["true"]
    shown = f"results/report/{ID}.html"
    assert f"`{shown}` shows them" in page
    assert "energy_is_negative" in (home/shown).read_text()
    assert "spherical_pendulum_chain" in place.call("liestep", "list", folder=home)
