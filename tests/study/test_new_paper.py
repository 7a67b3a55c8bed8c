"""Papers that a stranger begins: the folder that is written is valid, and what is wrong with one is a sentence."""
import re

import pytest

from liestep.errors import InputError
from liestep.figures.commands import require_figure
from liestep.study.plan.papers import _read
from liestep.study.plan.plan import Study, study_names
from liestep.workflow.starting import new_paper
from liestep.workflow.workflow import Workflow


@pytest.fixture
def folder(tmp_path):
    return new_paper("stranger2026", tmp_path/"config")


def found(folder):
    return Study.find("stranger2026/first", folder.parents[1]/"config")


def test_the_folder_that_is_written_is_a_paper(folder):
    assert study_names(folder.parents[1]/"config") == ["stranger2026/first"]
    assert found(folder).paper.citation == "Author: Title. Journal (year)"
    require_figure("stranger2026.figure1", found(folder).paper)


def test_a_study_has_no_figures_of_another_paper(folder):
    with pytest.raises(InputError, match=r"cross\.leaders is a figure of the paper cross: .* which is stranger2026$"):
        require_figure("cross.leaders", found(folder).paper)


@pytest.mark.parametrize("name", ["../x", "1st", "a-b", "a b", "x/y", "stranger2026"])
def test_an_id_that_cannot_be_is_refused(name, folder):
    with pytest.raises(InputError, match=r"must be letters, digits, '_', the first no digit$|exists; choose") as error:
        new_paper(name, folder.parents[1]/"config")
    assert str(error.value).startswith((f"{folder.parent}: the id", f"{folder} exists"))


@pytest.mark.parametrize(("old", "new", "sentence"), [
    ("PAPER = Paper(", "OTHER = Paper(", "PAPER must be a liestep.paper.Paper, and is missing"),
    ('id="stranger2026"', 'id="other"', "id is 'other'; it must be 'stranger2026', as the folder is called"),
    ('{"stranger2026.figure1"', '{"other.figure1"', "figure other.figure1 must begin with stranger2026."),
    ("import Paper\n", "import Papers\n", "cannot import name 'Papers' from 'liestep.paper'")])
def test_what_a_paper_declares_wrongly_is_a_sentence_with_its_file(old, new, sentence, folder):
    path = folder/"__init__.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=rf"__init__\.py.*{re.escape(sentence)}"):
        found(folder)


def test_two_papers_with_one_quantity_are_refused_before_the_first_run(folder, tmp_path):
    other = new_paper("twin2026", tmp_path/"config")
    assert len(Workflow({}, tmp_path/"config", tmp_path/"results").studies) == 2
    path = other/"quantities.py"
    path.write_text(path.read_text().replace("twin2026_lowest", "stranger2026_lowest"))
    _read.pop("twin2026")
    with pytest.raises(InputError, match=r"twin2026/quantities\.py: the quantity stranger2026_lowest_energy is one of"
                                         " the paper stranger2026 too; choose another name"):
        Workflow({}, tmp_path/"config", tmp_path/"results")


def test_links_and_files_in_the_place_of_papers_are_refused(folder, tmp_path):
    top = folder.parent
    (tmp_path/"elsewhere.yaml").write_text("title: t\n")
    (folder/"studies"/"other.yaml").symlink_to(tmp_path/"elsewhere.yaml")
    with pytest.raises(InputError, match="leads out of the folder of the paper stranger2026"):
        study_names(tmp_path/"config")
    (folder/"studies"/"other.yaml").unlink()
    (folder/"inside.py").symlink_to(folder/"figures.py")
    assert study_names(tmp_path/"config") == ["stranger2026/first"]
    (folder/"figures").symlink_to(tmp_path)
    with pytest.raises(InputError, match="figures is a link that leads out of the folder of the paper stranger2026"):
        study_names(tmp_path/"config")
    top.rename(tmp_path/"moved")
    top.symlink_to(tmp_path/"moved")
    with pytest.raises(InputError, match="papers must be a folder with one folder for each paper, not a link"):
        study_names(tmp_path/"config")
