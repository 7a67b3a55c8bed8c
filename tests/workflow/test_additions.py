"""What a stranger adds: a paper, a system, an integrator, a figure, a criterion, a table, a group. Each is one new file
or folder in a scratch copy (a group and its system two), beside what one command writes, and works; what has to be read
before is short."""
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import ready
from place import TOP, copied_package

from docs.site.source import shown

WORDS = 3_000  # to read before any of the six that the page names
PAGE = "docs/architecture.md"


def read(page: str) -> str:
    """With its examples, as it is read."""
    return shown((TOP/page).read_text("utf-8"), (TOP/page).parent)


def code_of(page: str, heading: str) -> str:
    """The first Python example after a heading of a page."""
    return re.search(r"```python\n(.*?)```", read(page).partition(f"## {heading}\n")[2], re.S)[1]


SHEET = '''"""Lotka and Volterra's prey and predator on the group of dilations of R^3_+."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import ActionForm, Form, Formulated, Observable, Preset, Sheet, StateField, new_counters
from liestep.geometry.groups.dilation import Dilation


class Growth(NamedTuple):
    """y' = y*f(y): f = (1 - y_2, y_1 - 1, 0)."""

    rates: Any

    def algebra(self, t, y, out):
        out[0, 0], out[0, 1], out[0, 2] = self.rates[0]*(1.0 - y[0, 1]), self.rates[0]*(y[0, 0] - 1.0), 0.0
        return True

    def observe(self, y, out):
        out[0] = y[0, 0] + y[0, 1] - np.log(y[0, 0]*y[0, 1])


def action(parameters, state, options):
    problem = ActionForm(Dilation(1), Growth(np.ones(1)), new_counters())
    return Formulated(problem, state["y"].copy(), FIELDS, OBSERVABLES, lambda y: {"y": y}, 1.0)


FIELDS = (StateField("y", "1", "populations", ("part", "xyz"), "relative"),)
OBSERVABLES = (Observable("energy", slice(0, 1), "1", "y_1 + y_2 - log(y_1 y_2)"),)
SHEET = Sheet(
    title="Prey and predator", equations="y_1' = y_1 (1 - y_2), y_2' = y_2 (y_1 - 1)", parameters={},
    build=lambda p: Growth(np.ones(1)), conserved_momentum=lambda p: (False, False, False),
    presets={"one": Preset("one cycle", "none", "own", {}, lambda p: {"y": np.array([[2.0, 1.0, 1.0]])}, 1.0)},
    state_shapes=lambda p: {"y": (1, 3)}, manifold=lambda p, state: None, kinetic_energy=lambda p, fields: None,
    forms={"lie_action": Form(action)})
'''
GROUP = '''"""R^3n_+ by factors: exp(a).y = exp(a) y for each number."""
import math
from typing import NamedTuple

import numpy as np


class Dilation(NamedTuple):
    """Commutative, so that brackets vanish and dexpinv is the identity."""

    rows: int

    def state_rows(self) -> int:
        return self.rows

    def algebra_rows(self) -> int:
        return self.rows

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        for i in range(y.shape[0]):
            for k in range(3):
                out[i, k] = math.exp(xi[i, k])*y[i, k]

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        out[:] = v
        return True

    def in_chart(self, sigma: np.ndarray) -> bool:
        return True

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
'''
CRITERION = '''"""A criterion on how many runs there are."""
from typing import Literal

from pydantic import Field

from liestep.claims.criteria.base import KIND, Criterion, Judgement
from liestep.claims.selection import Question, Results


class Plenty(Criterion):
    """The claim names at least so many runs."""

    kind: Literal["plenty"] = KIND
    runs: int = Field(description="so many runs at least")

    def measures(self, claim: Question) -> str:
        return f"at least {self.runs} runs"

    def judge(self, claim: Question, results: Results) -> Judgement:
        return Judgement(len(claim.runs) >= self.runs, float(len(claim.runs)), f"{len(claim.runs)} runs")
'''
FIGURE = '''"""A figure that every study may ask for."""
from matplotlib.figure import Figure

from liestep.figures.style import DOUBLE, Results, drawing, subplots


@drawing("{title}: the duration of every run. {runs}")
def durations(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 40.0)
    axes.plot(results.metrics["t_end"].to_numpy(float), "o")
    return figure
'''
TABLE = '''"""The table `lengths`: the duration of every run."""
from liestep.study.tables.kinds import Table

COLUMNS = ("study", "problem", "integrator", "t_end")
TABLE = Table(COLUMNS, lambda results: results.metrics[list(COLUMNS)].to_dict("records"), readable=COLUMNS[1:])
'''
STUDY = """title: Small
tables: [{table}]
samples: 2
problems: {{pendulum: {{system: spherical_pendulum_chain, t_end: 0.5, steps: {{counts: [2]}}}}}}
integrators: {{rk4: {{}}}}
"""
MAKE = """
from pathlib import Path
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse
study = Study(Path("small.yaml"), "small", Path("results"))
run_cells(study.cells)
analyse(study)
results = StudyResults(study)
"""
CLAIMS = """
from liestep.claims.claimfile import Claim
run = {"study": "small", "problem": "pendulum", "integrator": "rk4"}
for wanted in (1, 2):
    claim = Claim.model_validate({
        "id": "many", "statement": "many runs", "source": "none", "asserted_by": "own", "known": False,
        "runs": [run], "quantity": "steps", "criterion": {"kind": "plenty", "runs": wanted}})
    print(claim.criterion.measures(claim), claim.criterion.judge(claim, {}).met)
"""
FLOW = """
import numpy as np
import liestep
from scipy.integrate import solve_ivp
data = liestep.simulate("prey", "rkmk", step=0.05, samples=2)
exact = solve_ivp(lambda t, y: [y[0]*(1 - y[1]), y[1]*(y[0] - 1)], (0.0, 1.0), [2.0, 1.0], rtol=1e-12, atol=1e-12)
print(bool(np.abs(data["y"].values[-1, 0, :2] - exact.y[:, -1]).max() < 1e-6))
"""
PAPER = """
from liestep.study.plan.plan import Study
print(Study.find("mine2026/first").paper.id)
"""
# what is added: new files, or a command, code, what the code prints
ADDITIONS = {
    "a paper": (["new-paper", "mine2026"], PAPER, "mine2026"),
    "a system": ({"mechanics/systems/dipole_in_field.py": code_of("docs/adding.md", "Add a problem")}, """
import liestep
data = liestep.simulate("dipole_in_field", "vi_sphere", step=0.5)
print(data.attrs["status"], list(data["q"].values[-1].shape))
""", "ok [1, 3]"),
    "an integrator": ({"integrators/ralston.py": code_of("docs/adding.md", "Add an integrator")}, """
import liestep
def end(n):
    return liestep.simulate("spherical_pendulum_chain", "rk2_ralston", step=0.5/n, t_end=0.5)["q"].values[-1]
ends = [end(n) for n in (50, 100, 200)]
print(round(float(abs(ends[0] - ends[1]).max()/abs(ends[1] - ends[2]).max())))
""", "4"),
    "a figure": ({"figures/kinds/durations.py": FIGURE}, MAKE + """
from liestep.figures.commands import drawing_of
print(len(drawing_of("durations")(results).axes))
""", "1"),
    "a criterion": ({"claims/criteria/plenty.py": CRITERION}, CLAIMS,
                    "at least 1 runs True\nat least 2 runs False"),
    "a table": ({"study/tables/kinds/lengths.py": TABLE}, MAKE + 'print(list(results.table("lengths")["t_end"]))\n'
                'print("## lengths" in Path("results/small/tables.md").read_text())\n', "[0.5]\nTrue"),
    "a group": ({"geometry/groups/dilation.py": GROUP, "mechanics/systems/prey.py": SHEET}, FLOW, "True"),
}
REWRITTEN = ("python", ".ci/schemas.py")  # the one command, which the page names
MADE = r"workflow/schemas/\w+\.schema\.json|config/README\.md"


def scratch_copy(folder: Path) -> Callable[..., str]:
    """A repository of the package and of what the command writes; what calls a program in it and returns its output."""
    copied_package(folder/"src")
    for name in (".ci/schemas.py", "workflow/schemas", "config/README.md", "config/config.yaml", "profiles",
                 ".gitignore", "Snakefile"):
        copy = shutil.copytree if (TOP/name).is_dir() else shutil.copy
        (folder/name).parent.mkdir(exist_ok=True, parents=True)
        copy(TOP/name, folder/name)
    environment = dict(os.environ, PYTHONPATH=str(folder/"src"), NUMBA_DISABLE_JIT="1")

    def call(program: str, *arguments: str) -> str:
        done = ready.python(*arguments, folder=folder, environment=environment) if program == "python" else (
            subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300))
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("git", "init", "-q")
    call("git", "add", "-A")
    call("git", "-c", "user.name=none", "-c", "user.email=none@none.invalid", "commit", "-qm", "before")
    return call


@pytest.mark.parametrize("what", ADDITIONS)
def test_a_stranger_adds(what, tmp_path):
    new, code, printed = ADDITIONS[what]
    call = scratch_copy(tmp_path)
    if isinstance(new, list):
        call("python", "-m", "liestep", *new)
    else:
        for name, text in new.items():
            assert not (tmp_path/"src"/"liestep"/name).exists()
            (tmp_path/"src"/"liestep"/name).write_text(text)
    call(*REWRITTEN)
    changed = [line.split(maxsplit=1) for line in call("git", "status", "--porcelain").splitlines()]
    added = [name for state, name in changed if state == "??"]
    assert len(added) == (2 if what == "a group" else 1)
    assert all(re.fullmatch(MADE, name) for state, name in changed if state == "M")
    (tmp_path/"small.yaml").write_text(STUDY.format(table="lengths" if what == "a table" else "energy"))
    assert call("python", "-c", code).strip() == printed


def test_what_is_read_before_is_short():
    """The page that says where each of the six is written, and what it sends to for them."""
    table = read(PAGE).partition("## Add\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \(([a-f])\) .*$", table, re.MULTILINE)
    assert rows == list("abcdef")
    sent = {str(Path("docs", link)) for link in re.findall(r"\]\(([^)#]+)", table)}
    assert "docs/replicate.md" in sent
    assert sum(len(read(page).split()) for page in {PAGE, *sent}) <= WORDS


def test_a_plugin_needs_one_page():
    assert len(read("docs/own_system.md").split()) <= WORDS
