"""A paper of a stranger with everything that the page docs/replicate.md names: what `liestep new-paper` writes, and a
table, a criterion with a claim, and a preset."""
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


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def complete(paper):
    """Add what the command leaves to the author to the folder of the paper `ID` that it has written."""
    for name, text in {"tables.py": TABLES, "criteria.py": CRITERIA, "presets.py": PRESETS}.items():
        (paper/name).write_text(text)
    edit(paper/"__init__.py", "\n)\n", '\n    tables={"falls": "tables"}, criteria="criteria", presets="presets",\n)\n')
    edit(paper/"studies"/"first.yaml", "preset: paper_scaled", "preset: mine")
    edit(paper/"studies"/"first.yaml", "figures: [", "tables: [energy, falls]\nfigures: [")
    (paper/"claims"/"first.yaml").write_text((paper/"claims"/"first.yaml").read_text() + CLAIM)
