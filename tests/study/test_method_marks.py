"""Colours and looks of methods: different for all eyes; marker and dash the same in all studies."""
import json
import re
from itertools import combinations

import numpy as np
import pytest

from liestep.figures import marks
from liestep.simulation.catalogue import integrator_calls, method
from liestep.study.plan.plan import Study, study_names
from liestep.study.tables.results import StudyResults


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
LEAST = 26.0  # distance in CIELAB; 2.3 is just noticeable


def cielab(colour, sight) -> np.ndarray:
    """CIELAB (D65) of a colour as seen through a matrix on linear RGB."""
    from matplotlib.colors import to_rgb

    c = np.array(to_rgb(colour))
    linear = np.clip(sight @ np.where(c <= 0.04045, c/12.92, ((c + 0.055)/1.055)**2.4), 0.0, 1.0)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                    [0.0193, 0.1192, 0.9505]]) @ linear/[0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787*xyz + 16.0/116.0)
    return np.array([116.0*f[1] - 16.0, 500.0*(f[0] - f[1]), 200.0*(f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_the_colour_blind(sight):
    seen = [cielab(colour, SIGHT[sight]) for colour in (*marks.PALETTE, marks.REST)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > LEAST


def test_pairs_have_one_hue_and_two_lightnesses():
    for dark, light in zip(marks.PALETTE[::2], marks.PALETTE[1::2], strict=True):
        (low, *first), (high, *second) = cielab(dark, SIGHT["full"]), cielab(light, SIGHT["full"])
        turn = np.degrees(np.arctan2(first[1], first[0]) - np.arctan2(second[1], second[0]))
        assert abs((turn + 180.0) % 360.0 - 180.0) < 20.0
        assert high - low > 25.0


def test_methods_take_their_families_hue_then_what_is_free_and_the_ninth_is_grey():
    found = marks.colours({"a": "rk4", "b": "rkmk", "c": "vi_sphere", "d": "cf4", "e": "cg3", "f": "eml"})
    pair = {key: marks.PALETTE.index(colour)//2 for key, colour in found.items()}
    assert pair | {"e": None} == {"a": 2, "b": 1, "c": 0, "d": 1, "e": None, "f": 3}
    assert len(set(found.values())) == 6
    many = {f"m{k}": "rk4" for k in range(11)}
    assert list(marks.colours(many).values()) == [*sorted(marks.PALETTE, key=list(
        marks.colours(many).values()).index), *[marks.REST]*3]
    assert marks.REST not in [marks.colours(many, ["m9", "m10"])[key] for key in ("m9", "m10")]


STUDIES = [name for name in study_names() if not name.startswith(("classics/", "testsets/"))]  # studies of papers


def test_one_method_has_one_look_and_no_raw_id_in_all_studies():
    """Where a study has it once; one method twice, for example at two lengths of the run, looks different there."""
    found: dict[tuple, dict] = {}
    for name in STUDIES:
        results = StudyResults(Study.find(name))
        several = {}
        for key, mark in marks.marks(results).items():
            entry, integrator = results.config.integrators[key], results.study.integrator_id(key)
            own = json.dumps(marks._own_options(integrator, entry), sort_keys=True)
            several.setdefault((integrator, own), []).append((str(mark.marker), str(mark.dash)))
            assert not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", mark.label), (name, key)
        for key, looks in several.items():
            if len(looks) == 1:
                found.setdefault(key, {}).setdefault(looks[0], name)
    assert {key: looks for key, looks in found.items() if len(looks) > 1} == {}
