"""Numbers that only one paper defines, as columns of its studies' metrics: a paper that is made up."""
import shutil

import numpy as np
import pytest

from liestep.compile.sources import source_hash
from liestep.errors import InputError
from liestep.simulation.runs.files import read
from liestep.study.plan.papers import paper_module, read_paper
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables import quantities
from liestep.study.tables.metrics import COLUMNS, columns, metrics_rows
from liestep.workflow.sources import table_source

STUDY = """title: Two steps
problems: {bodies: {system: sphere_nbody, t_end: 0.2}}
integrators: {rk4: {steps: [0.1]}}
samples: 3
"""


def farthest(file, reference):
    """Largest first coordinate, and whether there is a reference."""
    return {"farthest": float(file["q"][..., 0].max()), "referred": float(reference is not None)}


@pytest.fixture
def paper(tmp_path):
    """The paper `invented` with the two columns of `farthest`."""
    folder = tmp_path/"papers"/"invented"
    (folder/"studies").mkdir(parents=True)
    (folder/"studies"/"two_steps.yaml").write_text(STUDY)
    (folder/"__init__.py").write_text("from liestep.paper import Paper\n\nPAPER = Paper('invented', 'nobody: nothing',"
                                      " quantities='quantities')\n")
    (folder/"quantities.py").write_text("QUANTITIES, NAMES, VARIABLES = (), ('farthest', 'referred'), ('q',)\n")
    module = paper_module(read_paper(folder), "quantities")
    module.QUANTITIES = (farthest,)
    return module


def rows(tmp_path, name):
    if not name.startswith("invented/"):
        path = tmp_path/"config"/"studies"/f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUDY)
    study = Study.find(name, tmp_path/"config", tmp_path/"results")
    run_cells(study.cells)
    return study, metrics_rows(study)


def test_quantities_are_columns_of_their_papers_studies_only(tmp_path, paper):
    study, (row,) = rows(tmp_path, "invented/two_steps")
    assert row["farthest"] == read(study.cells[0].path)["q"][..., 0].max()
    assert row["referred"] == 0.0
    assert columns([row])[len(COLUMNS):] == ("farthest", "referred")
    _, (other,) = rows(tmp_path, "other/two_steps")
    assert "farthest" not in other
    assert row["energy_error_max"] == other["energy_error_max"]


def test_two_quantities_of_one_name_are_refused(paper):
    paper.QUANTITIES = (farthest, farthest)
    file = {"q": np.zeros((1, 1, 3))}
    with pytest.raises(InputError, match=r"quantities\.py: two quantities are called farthest"):
        quantities.quantities_of("invented/two_steps").columns(file, None)


def test_a_column_that_the_paper_does_not_name_is_refused(paper):
    paper.NAMES = ("farthest",)
    with pytest.raises(InputError, match=r"quantities\.py: quantity referred is not among NAMES: farthest"):
        quantities.quantities_of("invented/two_steps").columns({"q": np.zeros((1, 1, 3))}, None)


def test_two_papers_with_one_quantity_are_refused(tmp_path, paper):
    other = tmp_path/"papers"/"second"
    shutil.copytree(tmp_path/"papers"/"invented", other)
    (other/"__init__.py").write_text((other/"__init__.py").read_text().replace("invented", "second"))
    read_paper(other)
    quantities.quantities_of("alone")
    with pytest.raises(InputError, match=r"second/quantities\.py: the quantity farthest is one of the paper invented"
                                         " too; choose another name"):
        quantities.quantities_of("second/two_steps")
    (other/"quantities.py").write_text("QUANTITIES = ()\n")  # wrong: said of its own studies only
    read_paper(shutil.copytree(other, tmp_path/"elsewhere"/"papers"/"second"))
    assert quantities.quantities_of("invented/two_steps").names == ("farthest", "referred")
    with pytest.raises(InputError, match="NAMES must be a tuple, not NoneType"):
        quantities.quantities_of("second/two_steps")


def test_a_quantity_with_the_name_of_a_column_is_refused(tmp_path, paper):
    paper.NAMES = ("farthest", "energy_error_max")
    with pytest.raises(InputError, match=r"quantities\.py: energy_error_max is a column of every metrics\.csv; choose"):
        rows(tmp_path, "invented/two_steps")


def test_studies_of_no_paper_have_none(paper):
    assert quantities.quantities_of("alone").functions == ()
    assert quantities.quantities_of("liegroup2021/orders").functions == ()  # a paper without quantities


def test_tables_are_a_product_of_the_quantities(paper, monkeypatch):
    monkeypatch.setattr("liestep.workflow.sources.package_modules", lambda *names: names)
    assert table_source("invented/x") == source_hash("liestep.study.tables", "liestep_papers.invented.quantities")
