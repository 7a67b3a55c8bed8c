"""The starting file is a valid study of every system, makes what it promises, and overwrites nothing."""
import pytest
from commands import contents, refused

from liestep.api.command_line import main
from liestep.figures.commands import make_figure
from liestep.simulation.catalogue import system_ids
from liestep.study.plan.plan import Study
from liestep.study.tables.results import StudyResults
from liestep.workflow.workflow import StudyProducts


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("problem", system_ids())
def test_file_is_valid_for_every_system(problem, place, capsys):
    assert main(["new-study", "mine/first", "--problem", problem]) == 0
    assert main(["check", "mine/first"]) == 0
    assert capsys.readouterr().out.splitlines()[-2] == "mine/first: valid, 3 sweeps"
    products = StudyProducts(Study.find("mine/first"))
    assert len(products.figures) == 4
    assert {path.stem for path in products.tables} == {"metrics", "orders", "energy", "momentum", "work"}


def test_file_runs_as_it_is(place, capsys):
    """Runs, reference, tables and figures, without an edit; the orders are those of the methods."""
    assert main(["new-study", "first", "--preset", "four_bodies"]) == 0
    assert main(["job", "sweep", "first", "main"]) == 0
    assert main(["job", "reference", "first", "main"]) == 0
    assert main(["job", "analyse", "first"]) == 0
    results = StudyResults(Study.find("first"))
    assert (results.metrics["status"] == "ok").all()
    orders = results.table("orders").set_index("integrator")
    assert orders.loc["vi_sphere", "passed"]
    assert orders.loc["rkmk", "p"] == pytest.approx(4.0, abs=0.1)
    for name in results.config.figures:
        assert all(path.stat().st_size > 0 for path in make_figure(results, name))


def test_every_commented_key_is_a_key(place, capsys):
    """Each line `# key: value` becomes a valid study when the hash is removed."""
    assert main(["new-study", "first"]) == 0
    path = place/"config"/"studies"/"first.yaml"
    text = path.read_text()
    for line in ("# timing: true", "# replicas: 3", "# tolerances: [1e-4", "# label:", "# animations:"):
        assert line in text
        path.write_text(text.replace(line, line[2:]))
        assert main(["check", "first"]) == 0


def test_nothing_is_overwritten(place, capsys):
    assert main(["new-study", "first"]) == 0
    capsys.readouterr()
    before = contents(place)
    assert "first.yaml exists" in refused(["new-study", "first"], capsys)
    assert contents(place) == before


@pytest.mark.parametrize(("arguments", "expected"), [
    (["../up"], "must be letters, digits, '_', '-' and '.'"),
    ([".hidden"], "must be letters, digits, '_', '-' and '.'"),
    (["a b"], "must be letters, digits, '_', '-' and '.'"),
    (["first", "--problem", "sphere_nbodi"], "did you mean sphere_nbody?"),
    (["first", "--preset", "papr"], "did you mean paper?"),
])
def test_wrong_requests(arguments, expected, place, capsys):
    assert expected in refused(["new-study", *arguments], capsys)
    assert contents(place) == {}


def test_folder_that_is_a_file(place, capsys):
    (place/"config").write_text("")
    assert "cannot write config/studies/first.yaml" in refused(["new-study", "first"], capsys)
