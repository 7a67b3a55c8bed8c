"""Colours and looks of methods: different for all eyes; marker and dash the same in all studies."""
import json
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from liestep.figures import captions, labels, marks
from liestep.simulation.catalogue import integrator_calls, method
from liestep.study.plan.names import study_files
from liestep.study.plan.plan import Study


def test_landed_marks_have_their_own_marker_and_label():
    landed = [marks.mark_of(name) for name in integrator_calls() if method(name).mark is not None]
    assert len(landed) >= 39
    for part in ("marker", "label"):
        values = [getattr(mark, part) for mark in landed]
        assert len(set(values)) == len(values)


# Linear RGB as seen without one kind of cone, Machado, Oliveira and Fernandes 2009, severity 1.
SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]]),
}
LEAST = 9.5  # distance in CIELAB; 2.3 is just noticeable


def cielab(colour, sight) -> np.ndarray:
    """CIELAB (D65) of a colour as seen through a matrix on linear RGB."""
    from matplotlib.colors import to_rgb

    c = np.array(to_rgb(colour))
    linear = np.clip(sight @ np.where(c <= 0.04045, c/12.92, ((c + 0.055)/1.055)**2.4), 0.0, 1.0)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                    [0.0193, 0.1192, 0.9505]]) @ linear/[0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787*xyz + 16.0/116.0)
    return np.array([116.0*f[1] - 16.0, 500.0*(f[0] - f[1]), 200.0*(f[1] - f[2])])


@cache
def study(name: str) -> SimpleNamespace:
    found = Study.find(name)
    return SimpleNamespace(study=found, config=found.config)


NAMES = list(study_files())
STUDIES = [name for name in NAMES if not name.startswith(("classics/", "testsets/"))]  # studies of papers
FULL = labels.MANY  # methods of a panel whose names do not stand at the ends of their lines


@pytest.mark.parametrize("sight", SIGHT)
def test_methods_that_share_a_panel_differ_for_the_colour_blind(sight):
    found = {}
    for name in NAMES:
        results = study(name)
        looks = marks.marks(results)
        for problem in results.config.problems if results.config.figures else ():
            shown = sorted({looks[cell.integrator].colour for cell in results.study.cells if cell.problem == problem})
            methods = {cell.integrator for cell in results.study.cells if cell.problem == problem}
            if len(methods) <= FULL:
                assert len(shown) == len(methods), (name, problem)
                for pair in combinations(shown, 2):
                    found[pair] = f"{name}, {problem}"
    near = {pair: np.linalg.norm(np.subtract(*(cielab(colour, SIGHT[sight]) for colour in pair))) for pair in found}
    assert len(near) > 200
    least = min(near, key=near.__getitem__)
    assert near[least] > LEAST, (least, found[least])


def test_shades_of_a_hue_become_lighter():
    for shades in marks.PALETTE.values():
        light = [cielab(colour, SIGHT["full"])[0] for colour in shades]
        assert np.diff(light).min() > 8.0


def test_one_method_has_one_colour_in_all_studies():
    found: dict[tuple, set] = {}
    for name in NAMES:
        results = study(name)
        numbers = marks.variant_numbers(results)
        for key, mark in marks.marks(results).items():
            call = marks._call(results.study.integrator_id(key), results.config.integrators[key].options)[0]
            found.setdefault((call, numbers[key]), set()).add(mark.colour)
    assert len(found) > 200
    assert {method: colours for method, colours in found.items() if len(colours) > 1} == {}


IDS = re.compile(r"(?<![$\\{])\b[a-z0-9]+_[a-z0-9_]+|[a-z]+, (kl|rkn)\d")


def test_every_figure_of_the_repository_says_what_to_see():
    drawn = {(name, figure) for name in NAMES for figure in study(name).config.figures}
    assert len(drawn) > 200
    assert drawn == {(name, figure) for name in NAMES for figure in study(name).config.see}


def test_no_text_of_a_figure_is_an_id():
    """Labels of methods and problems, titles, and what a caption says about the runs."""
    for name in NAMES:
        results = study(name)
        texts = [mark.label for mark in marks.marks(results).values()]
        texts += [problem.label or key for key, problem in results.config.problems.items()]
        texts += [results.config.title, *results.config.see.values()]
        assert [text for text in texts if IDS.search(text)] == [], name


def test_one_method_has_one_look_and_no_raw_id_in_all_studies():
    """Where a study has it once; one method twice, for example at two lengths of the run, looks different there."""
    found: dict[tuple, dict] = {}
    for name in STUDIES:
        results, several = study(name), {}
        for key, mark in marks.marks(results).items():
            entry, integrator = results.config.integrators[key], results.study.integrator_id(key)
            own = json.dumps(marks._call(integrator, entry.options), sort_keys=True)
            several.setdefault((integrator, own), []).append((str(mark.marker), str(mark.dash)))
            assert not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", mark.label), (name, key)
        for key, looks in several.items():
            if len(looks) == 1:
                found.setdefault(key, {}).setdefault(looks[0], name)
    assert {key: looks for key, looks in found.items() if len(looks) > 1} == {}


def test_steps_that_the_page_run_it_here_marks_are_those_of_studies():
    systems = json.loads((Path(__file__).resolve().parents[2]/"docs"/"live"/"live.json").read_text("utf-8"))["systems"]
    steps: dict[str, set[str]] = {}
    for name in NAMES:
        for cell in study(name).study.cells:
            steps.setdefault(cell.spec.problem, set()).add(f"{cell.spec.step or 0.0:.9g}")
    assert [(name, mark) for name, facts in systems.items() for mark in facts["marks"]
            if f"{mark:.9g}" not in steps[facts["system"]]] == []


def test_captions_explain_a_short_name_only_where_the_method_has_it():
    """Somebody's label EM for another method is no energy-momentum scheme."""
    def said(**methods) -> str:
        entries = {key: SimpleNamespace(options={}, label=label, variant=None) for key, label in methods.items()}
        return captions._names(SimpleNamespace(study=SimpleNamespace(paper=None, integrator_id=lambda key: key),
                                               config=SimpleNamespace(integrators=entries)))

    assert said(rk4="EM", verlet="VI") == ""
    assert said(rkmk="RKMK4, mine") == " RKMK: Runge-Kutta-Munthe-Kaas."
    assert said(vi_sphere="own") == ""
