"""A run that somebody has changed is not kept for other studies."""
import shutil
from pathlib import Path

from liestep.files.records import recording
from liestep.simulation.runs.store import STORE, Store
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells

TEXT = """title: Two runs
samples: 6
tables: [energy]
integrators: {rk4: {steps: [0.1, 0.05]}}
problems: {bodies: {system: sphere_nbody, t_end: 1.0}}
"""


def test_a_changed_file_is_not_kept_for_other_studies(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    Path("config/studies/first.yaml").write_text(TEXT)
    changed, other = Study.find("first").cells
    with recording(Path("results")):
        run_cells((changed, other), Store(Path("results")))
        shutil.rmtree(Path("results")/STORE)
        changed.path.write_bytes(changed.path.read_bytes() + b"\0")
        for cell in (changed, other):
            Store(Path("results")).put(cell.spec, cell.path)
    assert [path.read_bytes() for path in Store(Path("results")).files()] == [other.path.read_bytes()]
    said = capsys.readouterr().err
    assert f"runs are not kept for other studies: {changed.path} was changed after it was made" in said
