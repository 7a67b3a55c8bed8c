"""The comparison of standard problems and their films, with few tolerances and frames."""
import csv
import math

import pytest
from PIL import Image

from benchmarks import films, standard
from benchmarks.standard_problems import problems
from liestep.simulation.plugins.loading import load_plugin


@pytest.fixture(scope="module", autouse=True)
def systems():
    for name in ("testset_problems", "mechanisms", "windows"):
        load_plugin(standard.TESTSETS/f"{name}.py")


def test_the_pendulum_is_compared_and_its_figure_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(standard, "TOLERANCES", (1e-4, 1e-9))
    monkeypatch.setattr(standard, "STORED", tmp_path/"standard.csv")
    monkeypatch.setattr(standard, "REACHED", tmp_path/"standard.md")
    monkeypatch.setattr(standard, "PICTURE", tmp_path/"standard.webp")
    pendulum = next(problem for problem in problems() if problem.label == "simple pendulum")
    monkeypatch.setattr(standard, "codes_of", lambda problem: [
        ("liestep dop853", standard.by_ours(problem, "dop853")), ("scipy DOP853", standard.by_scipy(problem, "DOP853")),
        ("scipy Radau", standard.by_scipy(problem, "Radau"))])
    rows = list(standard.measured(pendulum, 1))
    errors = {(row["code"], row["tolerance"]): row["error"] for row in rows}
    assert len(errors) == 6
    for code in ("liestep dop853", "scipy DOP853", "scipy Radau"):
        assert errors[code, 1e-9] < 1e-6 < 1e-5 < errors[code, 1e-4]
    assert all(row["floor"] == errors["liestep dop853", 1e-9] for row in rows)
    (entry,) = standard.reached(rows, targets=(2.0*errors["liestep dop853", 1e-9],))
    assert 0.0 < entry["liestep dop853"] < math.inf
    standard.store(rows)
    with Image.open(tmp_path/"standard.webp") as image:
        assert image.size[0] == standard.PIXELS


def test_the_stored_rows_are_those_of_all_problems():
    with standard.STORED.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["problem"] for row in rows} == {problem.label for problem in problems()}
    assert {row["code"] for row in rows} <= set(standard.COLOURS)


@pytest.mark.parametrize("name", ["car_axis", "pendulum"])
def test_a_film_of_points_and_one_of_bodies(monkeypatch, tmp_path, name):
    monkeypatch.setattr(films, "FRAMES", 3)
    system, _, given = films.FILMS[name]
    films.make({name: (system, 0.1, given)}, tmp_path)
    with Image.open(tmp_path/f"{name}.webp") as image:
        assert image.n_frames == 3
        assert image.size[0] == films.WIDTH


def test_each_film_is_shown_on_the_page():
    page = (standard.TOP/"docs"/"standard.md").read_text()
    for name in films.FILMS:
        assert f"(films/{name}.webp)" in page
        assert (films.FOLDER/f"{name}.webp").is_file()
