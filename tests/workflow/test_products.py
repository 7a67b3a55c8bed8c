"""One job makes the tables and figures of a study, and only those that are out of date."""

import pytest
from place import Place, copied_package

from liestep.files import records
from liestep.files.records import FOLDER

FIGURES = ("energy_error", "length_error")
ALL = dict.fromkeys(("tables", *FIGURES), "made")
KEPT = dict.fromkeys(ALL, "kept")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The tiny study with two figures and all its products."""
    place = Place(tmp_path_factory.mktemp("products")/"place")
    place.replace("tables: [energy]", f"tables: [energy]\nfigures: [{', '.join(FIGURES)}]")
    place.make()
    return place


def said(place: Place) -> dict[str, str]:
    """What `liestep job products` says of each product: made or kept."""
    result = place.liestep("job", "products", "tiny")
    assert result.returncode == 0, result.stderr
    return dict(line.removeprefix("tiny ").split(": ") for line in result.stderr.splitlines())


def test_what_is_up_to_date_is_kept(made):
    before = made.contents()
    assert said(made) == KEPT
    assert made.contents() == before


@pytest.mark.parametrize(("name", "again"), [
    ("tables.md", {"tables": "made"}), ("figures/length_error.png", {"length_error": "made"}),
    ("figures/energy_error.caption.txt", {"energy_error": "made"})])
def test_a_lost_or_changed_file_is_made_again_alone(made, name, again):
    path = made.folder/"results"/"tiny"/name
    content = path.read_bytes()
    for damage in (lambda: path.write_bytes(content[:-1] + b"x"), path.unlink):
        damage()
        assert said(made) == KEPT | again
        assert path.read_bytes() == content


def test_figures_are_made_again_when_a_table_says_something_else(made):
    table = made.folder/"results"/"tiny"/"energy.csv"
    content = table.read_bytes()
    results = made.folder/"results"
    origin, hashes = records.last(results, "made")["tiny tables"]
    records.append(results, "made", {"tiny tables": [origin, ["0"]*len(hashes)]})
    assert said(made) == KEPT | {"tables": "made"}  # the same bytes: figures stay
    assert table.read_bytes() == content


@pytest.mark.parametrize("text", ["", "made", "made 0123 [1,\"tiny tables\",3]", "\xff\xfe"])
def test_damaged_records_cost_only_time(made, text):
    for path in (made.folder/"results"/FOLDER).glob("*.txt"):
        path.write_text(text, encoding="latin-1")
    before = made.contents()
    assert said(made) == ALL
    assert made.contents() == before


def test_edit_of_one_drawing_draws_it_alone_by_the_workflow(made, tmp_path):
    place = made.copy(tmp_path/"place", copied_package(tmp_path/"source").parent)
    module = tmp_path/"source"/"liestep"/"figures"/"kinds"/"ladders.py"  # of another figure
    module.write_text(module.read_text() + "\n# a comment\n")
    assert said(place) == KEPT
    before = place.contents("*.p??")
    place.replace(f"figures: [{', '.join(FIGURES)}]", f"figures: [{', '.join(FIGURES)}, momentum_error]")
    place.make()
    log = (place.folder/"results"/"tiny"/"logs"/"products.log").read_text()
    assert "momentum_error: made" in log
    assert before.items() <= place.contents("*.p??").items()
    assert "Nothing to be done" in place.call().stderr
