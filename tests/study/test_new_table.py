"""A table is one file: a copy of the package with one more makes it."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import liestep

TABLE = '''"""The table `lengths`: the duration of every run."""
from liestep.study.tables.table import Table

COLUMNS = ("study", "problem", "integrator", "t_end")
TABLE = Table(COLUMNS, lambda results: results.metrics[list(COLUMNS)].to_dict("records"), readable=COLUMNS[1:])
'''
STUDY = """title: Small
tables: [lengths]
samples: 2
problems: {pendulum: {system: spring_pendulum, t_end: 0.5, steps: {counts: [2]}}}
integrators: {rk4: {}}
"""
CODE = """
from pathlib import Path
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse
study = Study(Path("small.yaml"), "small", Path("results"))
run_cells(study.cells)
analyse(study)
print(list(StudyResults(study).table("lengths")["t_end"]))
"""


def test_a_table_is_one_file(tmp_path):
    package = tmp_path/"liestep"
    shutil.copytree(Path(liestep.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package/"study"/"tables"/"kinds"/"lengths.py").write_text(TABLE)
    (tmp_path/"small.yaml").write_text(STUDY)
    done = subprocess.run([sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, PYTHONPATH=str(tmp_path), NUMBA_DISABLE_JIT="1"))
    assert done.stdout == "[0.5]\n", done.stderr
    assert (tmp_path/"results"/"small"/"lengths.csv").read_text() == (
        "study,problem,integrator,t_end\nsmall,pendulum,rk4,0.5\n")
    assert "## lengths" in (tmp_path/"results"/"small"/"tables.md").read_text()
