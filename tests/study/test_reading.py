"""Files of runs are read once by the tables and figures of a study, and again when they change."""
import os
import shutil
from dataclasses import replace

import pytest

from liestep.errors import InputError
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables import reading

STUDY = """
title: Two runs
problems:
  bodies: {system: sphere_nbody, t_end: 1}
integrators:
  vi_sphere: {steps: {counts: [4, 8]}}
samples: 3
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Two runs of one problem."""
    root = tmp_path_factory.mktemp("reading")
    (root/"tiny.yaml").write_text(STUDY)
    study = Study(root/"tiny.yaml", "tiny", root/"results")
    assert run_cells(study.cells) == (2, 0, 0, 0)
    return study.cells


@pytest.fixture
def cell(cells, tmp_path):
    """The first run in a file of its own."""
    return replace(cells[0], path=shutil.copy(cells[0].path, tmp_path/"run.nc"))


@pytest.fixture
def opened(monkeypatch):
    """Names asked for, each time a file is opened."""
    calls, require = [], reading.require_current

    def spy(path, spec, names):
        calls.append(names)
        return require(path, spec, names)

    monkeypatch.setattr(reading, "require_current", spy)
    return calls


def test_file_is_opened_once(cell, opened):
    assert reading.run_file(cell) is reading.run_file(cell)
    assert not reading.run_file(cell, ()).failed
    assert opened == [None]


def test_variables_that_were_not_read_are_read_later(cell, opened):
    assert not reading.run_file(cell, ()).variables
    assert set(reading.run_file(cell, ("energy",)).variables) == {"energy"}
    assert {"q", "energy"} <= set(reading.run_file(cell).variables)
    assert opened == [(), ("energy",), None]


def test_changed_file_is_read_again_and_refused_when_damaged(cell, opened):
    reading.run_file(cell)
    os.utime(cell.path, ns=(1, 1))
    reading.run_file(cell)
    assert len(opened) == 2
    cell.path.write_bytes(cell.path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"run\.nc"):
        reading.run_file(cell)


def test_another_specification_is_not_served_from_memory(cell, cells):
    reading.run_file(cell)
    with pytest.raises(InputError, match="another specification"):
        reading.run_file(replace(cell, specified=lambda: cells[1].spec))


def test_shared_arrays_cannot_be_changed(cell):
    with pytest.raises(ValueError, match="read-only"):
        reading.run_file(cell)["energy"][0] = 1.0


def test_room_is_bounded(cell, monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "ROOM", 1)
    for k in range(3):
        reading.run_file(replace(cell, path=shutil.copy(cell.path, tmp_path/f"{k}.nc")))
    assert len(reading._kept) == 1
    assert reading._size == reading._bytes(next(iter(reading._kept.values()))[1])
