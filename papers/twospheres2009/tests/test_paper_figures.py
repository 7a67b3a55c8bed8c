"""Figures of twospheres2009: geometry of the scenes, face values of figure 7, and all seven from the study
files with made-up runs."""
import json

import numpy as np
import pandas
import pytest
from figure_faults import faults
from liestep_papers.twospheres2009.figures import face_values

from liestep.errors import InputError
from liestep.figures.commands import drawing_of, figure_modules
from liestep.figures.rendering import save
from liestep.figures.scenes.looks import directions
from liestep.figures.scenes.space import Scene, View
from liestep.figures.style import new_figure
from liestep.geometry.icosphere import icosphere
from liestep.simulation.runs.files import RunFile
from liestep.study.plan.plan import Study


def turned(q: np.ndarray, omega: np.ndarray, times: np.ndarray) -> np.ndarray:
    """q after turning for each time about its own fixed omega, which is orthogonal to it."""
    rate = np.linalg.norm(omega, axis=1, keepdims=True)
    side = np.cross(omega/np.maximum(rate, 1e-300), q)
    angle = times[:, None, None]*rate
    return np.cos(angle)*q + np.sin(angle)*side


class MadeUp:
    """Results of a study whose runs were never made: every body turns uniformly, energies and length
    errors are smooth inventions."""

    def __init__(self, name: str, folder):
        self.study = Study.find(name, results=folder)
        self.config = self.study.config

    def file(self, problem: str, integrator: str, resolution: str) -> RunFile:
        cell, = self.study.select(problem, integrator, [resolution])
        spec = cell.spec
        time = np.linspace(0.0, spec.t_end, spec.samples)
        blocks = (np.arange(100) + 0.5)/100.0
        size = 1e-3*(spec.step or spec.tolerance)
        attributes = {"specification": json.dumps(spec.canonical()), "status": "ok", "t_end": spec.t_end,
                      "energy_error_mean": size, "unit_length_error_mean": 1e-3*size}
        return RunFile(cell.path, attributes, {
            "time": time, "q": turned(spec.initial["q"], spec.initial["omega"], time),
            "omega": np.tile(spec.initial["omega"], (time.size, 1, 1)), "energy": 1.0 + size*np.sin(time),
            "energy_blocks": size*np.array([[0.0], [-1.0], [1.0]])*np.ones_like(blocks),
            "unit_length_error": size*time, "unit_length_error_blocks": size*blocks[None]*spec.t_end})


PAPER = [name for name in sorted(figure_modules()) if name.startswith("twospheres2009.figure")]


@pytest.mark.parametrize("name", PAPER)
def test_paper_figures_draw_from_their_study_files(name, tmp_path):
    number = int(name[-1])
    results = MadeUp(f"twospheres2009/example{min(number, 6)}", tmp_path)
    assert name in results.config.figures
    figure = drawing_of(name)(results)
    titles = [text.get_text() for text in figure.texts] + [axes.get_title(loc=place) for axes in figure.axes
                                                           for place in ("left", "center")]
    letters = {1: "abc", 2: "abc", 3: "abc", 4: "abc", 5: "abc", 6: "ab", 7: "abcde"}[number]
    assert [letter for letter in letters if not any(title.startswith(f"({letter})") for title in titles)] == []
    save(figure, tmp_path/name)
    assert [fault for fault in faults(figure) if "has the id" in fault or "without name" in fault] == []


class Ensembles(MadeUp):
    """Members whose energies rise, but for the first ones in the order of the tolerances."""

    def file(self, problem: str, integrator: str, resolution: str) -> RunFile:
        cells = self.study.select(problem, integrator)
        falling = [cell.resolution for cell in cells].index(resolution)
        energy = np.tile(np.linspace(0.0, 1e-3, 4), (6, 1))
        energy[:falling] *= -1.0
        status = "step_too_small" if (integrator, falling) == ("velocity_norm", 1) else "ok"
        return RunFile(cells[0].path, {"status": status}, {"energy": energy})


def test_signs_of_energy_changes_are_counted_without_those_that_stopped(tmp_path):
    results = Ensembles("twospheres2009/example4_signs", tmp_path)
    left, right = drawing_of("twospheres2009.energy_signs")(results).axes
    shown = [text.get_text() for text in left.texts]
    assert shown[:5] == ["4/6", "3/6", "2/6", "1/6", "0/6"]  # by growing tolerance
    assert shown[10:] == ["1/6", "0/6", "", "", "", "stopped", "0/6", "", "", ""]
    points = np.concatenate([path.get_offsets()[:, 1] for path in right.collections])
    assert np.count_nonzero(np.isfinite(np.ma.filled(points, np.nan))) == (2*5 + 2*2 - 1)*6


def test_scan_of_the_dipoles_says_the_ratio_to_the_printed_number(tmp_path):
    results = MadeUp("twospheres2009/example5_scan", tmp_path)
    rows = [{"problem": cell.problem, "integrator": cell.integrator, "step": cell.spec.step or np.nan, "status": "ok",
             "tolerance": cell.spec.tolerance or np.nan, "energy_error_mean": 8.5403e-10*cell.spec.t_end,
             "unit_length_error_mean": 1.7594e-4} for cell in results.study.cells]
    results.metrics = pandas.DataFrame(rows)
    figure = drawing_of("twospheres2009.dipole_scan")(results)
    first = [text.get_text() for text in figure.axes[0].texts]
    assert first == ["1", "2", "5", "10", "20"]*5
    assert {text.get_text() for text in figure.axes[6].texts} == {"1"}


def test_energy_panel_shows_the_run_of_the_study(tmp_path):
    results = MadeUp("twospheres2009/example1", tmp_path)
    file = results.file("pendulum", "ode45", "tol0.0001")
    energies = next(axes for axes in drawing_of("twospheres2009.figure1")(results).axes
                    if "energy" in axes.get_title(loc="left"))
    assert any(np.array_equal(line.get_ydata(), file["energy"]) for line in energies.get_lines())
    assert {line.get_label() for line in energies.get_lines()} == {"VI", "VI, printed formulas", "ode45"}


def test_figure_of_another_study_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no problem with the system elastic_rod"):
        drawing_of("twospheres2009.figure4")(MadeUp("twospheres2009/example1", tmp_path))


def test_view_is_a_rotation_with_up_upward():
    for up in ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0)):
        view = View(35.0, 20.0, up)
        np.testing.assert_allclose(view.axes @ view.axes.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(view.axes) == pytest.approx(1.0)
        right, upward, _ = view(np.array(up))
        assert right == pytest.approx(0.0, abs=1e-15)
        assert upward > 0.9


def test_near_items_cover_far_ones_and_are_darker():
    axes = new_figure(40.0, 40.0).subplots()
    scene = Scene(axes, View(0.0, 0.0), fade=0.5)
    scene.balls([[1.0, 0.0, 0.0]], (0.0, 0.0, 0.0), 5.0)
    scene.line([[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]], (0.0, 0.0, 0.0), 1.0)
    scene.draw()
    far, near = sorted(axes.collections, key=lambda collection: collection.get_zorder())
    np.testing.assert_allclose(near.get_facecolor()[0][:3], 0.0)
    np.testing.assert_allclose(far.get_color()[0][:3], 0.5)
    assert axes.get_aspect() == 1.0


def test_interpolated_directions_lie_on_the_path():
    q, omega = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([[0.0, 0.6, 0.8], [2.0, 0.0, 0.0]])
    time = np.linspace(0.0, 1.0, 21)
    file = RunFile(None, {}, {"time": time, "q": turned(q, omega, time), "omega": np.tile(omega, (21, 1, 1))})
    between = np.array([0.0, 0.013, 0.5, 0.777, 1.0])
    np.testing.assert_allclose(directions(file, between), turned(q, omega, between), atol=2e-6)


def test_point_on_a_vertex_counts_in_all_faces_around_it():
    vertices, faces = icosphere(1)
    values = face_values(vertices, faces, vertices[:1], np.array([3.0]))
    around = [set(face) for face in faces if 0 in face]
    touched = np.array([any(set(face) & other for other in around) for face in faces])
    assert len(around) == 5
    np.testing.assert_array_equal(values[touched], 3.0)
    assert np.isnan(values[~touched]).all()


def test_face_values_equal_a_search_by_hand():
    vertices, faces = icosphere(2)
    generator = np.random.Generator(np.random.PCG64(7))
    points = generator.standard_normal((60, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    points[:10] = vertices[:10]
    points[10:20] = vertices[faces[:10]].mean(axis=1)
    values = generator.random(60)
    found = face_values(vertices, faces, points, values)
    inside = []
    for face in faces:
        weights = np.linalg.solve(vertices[face].T, points.T)  # of the three corners
        inside.append(set(np.flatnonzero((weights >= -1e-9).all(axis=0))))
    for number, face in enumerate(faces):
        members = sorted(set().union(*(inside[k] for k, other in enumerate(faces) if set(other) & set(face))))
        expected = values[members].mean() if members else np.nan
        np.testing.assert_allclose(found[number], expected, rtol=1e-14)


def test_uniform_energy_gives_a_uniform_map():
    vertices, faces = icosphere(2)
    values = face_values(vertices, faces, icosphere(1)[0], np.full(42, 0.3))
    np.testing.assert_allclose(values, 0.3, rtol=1e-15)
