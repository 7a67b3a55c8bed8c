"""Papers that a stranger begins: the folder that is written is valid, and what is wrong with one is a sentence."""
import re
import shutil

import pytest
from strangers_paper import ID, complete, edit

from liestep.api.command_line import main
from liestep.claims.claimfile import load_claims
from liestep.claims.errata import errata_table
from liestep.claims.judging import judge
from liestep.errors import InputError
from liestep.figures.commands import make_figure, require_figure
from liestep.study.plan.names import study_files
from liestep.study.plan.papers import _read
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse
from liestep.workflow.starting import new_paper
from liestep.workflow.workflow import Workflow


@pytest.fixture
def folder(tmp_path):
    return new_paper("stranger2026", tmp_path/"config")


def found(folder):
    return Study.find("stranger2026/first", folder.parents[1]/"config")


def test_the_folder_that_is_written_is_a_paper(folder):
    assert list(study_files(folder.parents[1]/"config")) == ["stranger2026/first"]
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
    ("PAPER = Paper(", "OTHER = Paper(", "PAPER must be of type Paper, not NoneType"),
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
        study_files(tmp_path/"config")
    (folder/"studies"/"other.yaml").unlink()
    (folder/"inside.py").symlink_to(folder/"figures.py")
    assert list(study_files(tmp_path/"config")) == ["stranger2026/first"]
    (folder/"figures").symlink_to(tmp_path)
    with pytest.raises(InputError, match="figures is a link that leads out of the folder of the paper stranger2026"):
        study_files(tmp_path/"config")
    top.rename(tmp_path/"moved")
    top.symlink_to(tmp_path/"moved")
    with pytest.raises(InputError, match="papers must be a folder with one folder for each paper, not a link"):
        study_files(tmp_path/"config")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a paper that has everything, its runs and tables."""
    home = tmp_path_factory.mktemp("finished")
    complete(new_paper(ID, home/"config"))
    study = Study.find(f"{ID}/first", home/"config", home/"results")
    run_cells(study.cells)
    analyse(study)
    return home


def result(home):
    return StudyResults(Study.find(f"{ID}/first", home/"config", home/"results"))


def verdicts(home):
    return judge(load_claims([home/"papers"/ID/"claims"/"first.yaml"]), {f"{ID}/first": result(home)})


MAKING = {"plan": lambda home: Workflow({}, home/"config", home/"results"),
          "tables": lambda home: analyse(result(home).study),
          "figure": lambda home: make_figure(result(home), f"{ID}.figure1"),
          "claims": verdicts,
          "errata": lambda home: errata_table(ID, home/"config")}
FIGURE, CRITERION, ROWS = "    return figure\n", "    @property\n", "    return [{name: row[column]"
JUDGEMENT = '        return Judgement(largest < 0.0, largest, f"at most {largest:.3g}")\n'
COLUMN = 'float(file["energy"].min())'
EVIDENCE = "    return Evidence(abs(left - right) < 1e-15 < abs(left - printed),\n"
TABLE, PRESET = "Table(COLUMNS, rows, readable=COLUMNS[1:])", "PRESETS = {\"spherical"


@pytest.mark.slow
@pytest.mark.parametrize(("making", "file", "old", "new", "sentence"), [
    ("figure", "figures", FIGURE, "    1/0\n", "line 16: ZeroDivisionError: division by zero [1/0]"),
    ("figure", "figures", FIGURE, "    results.metrics['x']\n", "line 16: KeyError: 'x' [results.metrics['x']]"),
    ("figure", "figures", FIGURE, "", "figure1() must be of type Figure, not NoneType"),
    ("figure", "figures", FIGURE, "    return axes\n", "figure1() must be of type Figure, not Axes"),
    ("figure", "figures", FIGURE, "    figure.clear()\n    return figure\n", "it has no axes, so it shows nothing"),
    ("figure", "figures", FIGURE, "    raise SystemExit(0)\n", "line 16: SystemExit: 0 [raise SystemExit(0)]"),
    ("figure", "figures", "figure1(results: Results)", "figure1()",
     "figures.py: TypeError: figure1() takes 0 positional"),
    ("figure", "figures", FIGURE, "    axes.xaxis.set_major_formatter(lambda x, _: 1/0)\n    return figure\n",
     "line 16: ZeroDivisionError: division by zero [axes"),
    ("figure", "figures", "{title}:", "{titel}:", "line 5: KeyError: 'titel' [@drawing("),
    ("figure", "figures", '{runs}")', '{numbers}", numbers=lambda results: None)', "must be of type str, not NoneType"),
    ("figure", "figures", FIGURE, "    return (figure\n", "line 16: syntax error: '(' was never closed"),
    ("figure", "figures", "import DOUBLE", "import DUOBLE", "line 2: ImportError: cannot import name 'DUOBLE'"),
    ("claims", "criteria", JUDGEMENT, "        1/0\n", "claim energy_is_negative of mine2026: "),
    ("claims", "criteria", JUDGEMENT, "        return 'met'\n", "Deep.judge() must be of type Judgement, not str"),
    ("claims", "criteria", JUDGEMENT, "        return Judgement(None, 1.0, '')\n",
     "Deep.judge().met must be true or false, not NoneType"),
    ("claims", "criteria", JUDGEMENT, "        return Judgement(True, 1j, '')\n",
     "Deep.judge().ours must be a number, not complex"),
    ("claims", "criteria", "def judge", "def jugde", "criteria.py: NotImplementedError: Deep has no method judge"),
    ("claims", "criteria", '"is negative"', "None", "bounds of the criterion deep must be of type str, not NoneType"),
    ("claims", "criteria", CRITERION, "    measured = '{self.nothing}'\n    @property\n",
     "criteria.py: AttributeError: 'Deep' object has no attribute 'nothing'"),
    ("plan", "criteria", 'Literal["deep"]', "str", "criteria.py: kind of Deep must be Literal[a name that no other"),
    ("plan", "criteria", '"deep"', '"limit"', "criteria.py: kind of Deep must be Literal[a name that no other"),
    ("plan", "criteria", CRITERION, "    def require(self):\n        1/0\n    @property\n",
     "claim energy_is_negative: "),
    ("plan", "criteria", CRITERION, "    needs = {}\n    @property\n",
     "criteria.py: AttributeError: 'dict' object has"),
    ("tables", "quantities", COLUMN, "1/0", "quantities.py, line 7: ZeroDivisionError: division by zero"),
    ("tables", "quantities", COLUMN, "file['energy']", "lowest().mine2026_lowest_energy must be a number, not ndarray"),
    ("tables", "quantities", COLUMN, "None", "lowest().mine2026_lowest_energy must be a number, not NoneType"),
    ("tables", "quantities", COLUMN, "1j", "lowest().mine2026_lowest_energy must be a number, not complex"),
    ("tables", "quantities", "    return {", "    file = {", "quantities.py: lowest() must be a mapping, not NoneType"),
    ("plan", "quantities", '("mine2026_lowest_energy",)', "'abc'", "quantities.py: NAMES must be a tuple, not str"),
    ("plan", "quantities", "(lowest,)", "(3,)", "quantities.py: QUANTITIES.0 must be a function, not int"),
    ("errata", "evidence", EVIDENCE, "    1/0\n" + EVIDENCE,
     "evidence.py, line 10: ZeroDivisionError: division by zero"),
    ("errata", "evidence", EVIDENCE, "    return True\n" + EVIDENCE, "half_angle() must be of type Evidence, not bool"),
    ("errata", "evidence", "{left:", "{lft:", "evidence.py, line 10: KeyError: 'lft' [return Evidence("),
    ("errata", "evidence", EVIDENCE, "    return Evidence(None,\n",
     "half_angle().confirmed must be true or false, not"),
    ("errata", "evidence", "def half_angle", "def angle", "errata.yaml, line 9: unknown check 'half_angle'"),
    ("tables", "tables", ROWS, "    1/0\n" + ROWS, "tables.py, line 9: ZeroDivisionError: division by zero [1/0]"),
    ("tables", "tables", ROWS, "    return {}\n" + ROWS, "tables.py: rows() must be a list, not dict"),
    ("tables", "tables", ROWS, "    return [[1]]\n" + ROWS, "tables.py: rows().0 must be a mapping, not list"),
    ("tables", "tables", ROWS, "    return [{'study': [1]}]\n" + ROWS,
     "rows().0.study must be a number or text, not list"),
    ("tables", "tables", ROWS, "    return [{'study': 'x'}]\n" + ROWS, "tables: falls has no column integrator"),
    ("plan", "tables", TABLE, "[]", "tables.py: TABLE must be of type Table, not list"),
    ("plan", "tables", TABLE, "Table(None, rows, ())", "tables.py: TABLE.columns must be a tuple, not NoneType"),
    ("plan", "presets", PRESET, "PRESETS = []\nOTHER = {\"spherical",
     "presets.py: PRESETS must be a mapping, not list"),
    ("plan", "presets", "    return {", "    1/0\n    return {",
     "presets.py, line 9: ZeroDivisionError: division by zero"),
    ("plan", "presets", "    return {", "    return\n    return {",
     "presets.py: start() must be of type dict, not NoneType"),
    ("plan", "presets", "    start, 2.0", "    None, 2.0",
     "mine of spherical_pendulum_chain.initial must be a function"),
    ("plan", "presets", "    start, 2.0", "    start, None",
     "spherical_pendulum_chain.t_end must be a number, not None"),
    ("plan", "__init__", '("evidence",)', '"evidence"', "__init__.py: PAPER.evidence must be a tuple, not str"),
    ("plan", "__init__", '("evidence",)', '("evidenz",)', "__init__.py: there is no module 'evidenz' in this folder"),
    ("plan", "__init__", "PAPER = Paper(", "raise SystemExit(0)\nPAPER = Paper(", "__init__.py, line 4: SystemExit: 0"),
    ("plan", "__init__", 'tables={"falls"', 'tables={"../falls"', "__init__.py: '../falls' must be a word of letters"),
    ("plan", "__init__", "mine2026.figure1", "mine2026.../figure1", "'mine2026.../figure1' must be a word of letters"),
    ("errata", "evidence", "() -> Evidence", "()", "a check is a function of the paper's evidence with `-> Evidence`"),
    ("plan", "__init__", 'tables={"falls": "tables"}', "tables=['falls']", "PAPER.tables must be a mapping, not list"),
])
def test_what_a_papers_code_does_wrong_is_one_sentence(making, file, old, new, sentence, finished, tmp_path):
    home = shutil.copytree(finished, tmp_path/"home")
    edit(home/"papers"/ID/f"{file}.py", old, new)
    before = {path: path.read_bytes() for path in (home/"results").rglob("*") if path.is_file()}
    for _ in range(2):  # nothing stays of the first
        with pytest.raises(InputError, match=re.escape(sentence)) as error:
            MAKING[making](home)
        assert f"papers/{ID}/" in str(error.value) or "it has no axes" in sentence or "bounds of" in sentence
        assert "\n" not in str(error.value)
    if making in ("figure", "claims", "errata"):
        assert before == {path: path.read_bytes() for path in (home/"results").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_table_is_not_written_over_the_files_of_all_studies(finished, tmp_path):
    home = shutil.copytree(finished, tmp_path/"home")
    edit(home/"papers"/ID/"__init__.py", 'tables={"falls"', 'tables={"metrics"')
    edit(home/"papers"/ID/"studies"/"first.yaml", "falls", "metrics")
    with pytest.raises(InputError, match=f"{ID}: the table metrics exists already; choose another name"):
        Workflow({}, home/"config", home/"results")


@pytest.mark.slow
def test_an_exit_in_a_papers_code_is_no_success_of_its_job(finished, tmp_path, monkeypatch, capsys):
    home = shutil.copytree(finished, tmp_path/"home")
    edit(home/"papers"/ID/"figures.py", FIGURE, "    raise SystemExit(0)\n")
    monkeypatch.chdir(home)
    assert main(["job", "figure", f"{ID}/first", f"{ID}.figure1"]) == 2
    assert re.fullmatch(rf"liestep: figure {ID}\.figure1 of {ID}/first: .*figures\.py, line 16: SystemExit: 0 .*\n",
                        capsys.readouterr().err)
    edit(home/"papers"/ID/"figures.py", "SystemExit(0)", "KeyboardInterrupt")
    _read.pop(ID)
    assert main(["job", "figure", f"{ID}/first", f"{ID}.figure1"]) == 130
