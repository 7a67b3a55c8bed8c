"""The errata: every evidence is computed and can say no, every citation of an erratum exists,
wrong files are refused."""
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from errata_rows import confirmed_rows, used_checks
from liestep_papers.twospheres2009.evidence import angles, equations
from liestep_papers.twospheres2009.evidence import runs as examples

from liestep.api.command_line import main
from liestep.claims import errata
from liestep.claims.errata import COLUMNS, TEXT_ONLY, Evidence, checks, errata_files, errata_table, load_errata
from liestep.errors import InputError
from liestep.study.tables.results import read_csv

ROOT = Path(__file__).parents[2]
CONFIG, PAPER = ROOT/"config", "twospheres2009"


@pytest.fixture(scope="module")
def evidence():
    """Evidence of every check of the paper, computed once."""
    return {name: check() for name, check in checks(PAPER).items()}


@pytest.mark.slow
def test_every_erratum_that_can_be_computed_is_confirmed(evidence, monkeypatch):
    table = confirmed_rows(PAPER, CONFIG, evidence, monkeypatch)
    assert all(row.keys() == set(COLUMNS) for row in table)


@pytest.mark.slow
def test_every_evidence_belongs_to_one_erratum_or_claim(evidence):
    assert used_checks(PAPER, CONFIG) == sorted(evidence)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number", "printed"), [
    ("body_steps", "a", "1.1717e-04"), ("body_steps", "b", "1.1986e-06"), ("pendulum_units", "scaled_rk", "7.8586e-04"),
    ("spring_duration", "error", "3.6171e-05")])
def test_corrected_data_give_the_printed_digits(evidence, name, number, printed):
    assert f"{evidence[name].numbers[number]:.4e}" == printed


@pytest.mark.slow
def test_numbers_have_the_sizes_that_theory_gives(evidence):
    units = evidence["pendulum_units"].numbers
    # energies of one motion in two units
    assert units["printed_vi"]/units["scaled_vi"] == pytest.approx(9.81**2, rel=1e-6)
    assert units["printed_rk"]/units["scaled_rk"] == pytest.approx(9.81**2, rel=1e-6)
    assert units["scaled_vi"] == pytest.approx(2.16472e-5, rel=2e-5)
    assert evidence["horizontal_springs"].numbers["printed"] == pytest.approx(4.3e-5, rel=0.01)
    coupling = evidence["rod_equation"].numbers
    assert coupling["exact"] == pytest.approx(8.5*0.005*0.1**2, rel=1e-12)  # (n - 3/2) m_i l_i^2
    assert coupling["printed"] == pytest.approx(4.5*0.005*0.1**2, rel=1e-12)
    assert evidence["spring_constants"].numbers["orders"] == 24
    faces = evidence["face_count"].numbers
    assert (faces["points"], faces["coarse"], faces["fine_points"], faces["fine"]) == (642, 1280, 2562, 5120)


def test_kinetic_energy_of_two_rods_by_hand():
    """Rod 1 turns about its end (m l^2/6), rod 2 moves with its tip (m l^2/2)."""
    rates = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert equations.rod_energy(np.array([2.0, 3.0]), np.array([0.5, 0.7]),
                          rates) == pytest.approx(2.0*0.25/6.0 + 3.0*0.25/2.0, rel=1e-14)


def test_hat_is_the_cross_product():
    a, b = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
    np.testing.assert_array_equal(equations.hat(a) @ b, np.cross(a, b))


MOTION = equations.pendulum_motion


def noisy_motion(*arguments, **more):
    motion = MOTION(*arguments, **more)
    return motion._replace(q=motion.q + 1e-6*np.random.default_rng(1).standard_normal(motion.q.shape))


ROD, SPRING_ERRORS = equations.rod_sheet, examples.spring_errors
DETERMINES, GRADIENT = equations.determines, equations._gradient
ANGULAR, ICOSPHERE, DIFFERENCES = equations.angular_matrix, examples.icosphere, equations.difference_gradient


@pytest.mark.parametrize(("module", "name", "replaced", "by"), [
    (equations, "stray_zero", "pendulum_motion", noisy_motion),
    (equations, "momentum_symbol", "pendulum_motion", noisy_motion),
    (equations, "legendre_signs", "pendulum_motion", noisy_motion),
    (equations, "matrix_index", "pendulum_motion", noisy_motion),
    (equations, "bracket_index", "determines", lambda q, outer: DETERMINES(q, 1 - outer)),
    (equations, "two_step_map", "_gradient", lambda system, q: 1.01*GRADIENT(system, q)),
    (equations, "global_equations", "tangential", lambda vectors, q: vectors),
    (equations, "nbody_sign", "difference_gradient", lambda potential, q: -DIFFERENCES(potential, q)),
    (equations, "lennard_jones_sign", "difference_gradient", lambda potential, q: -DIFFERENCES(potential, q)),
    (equations, "determinant", "angular_matrix", lambda mass, q: 1.1*ANGULAR(mass, q)),
    (equations.GreatCircles, "boundary_term", "boundary_corrected", equations.GreatCircles.boundary_printed),
    (equations, "horizontal_rod", "rod_sheet", lambda **more: ROD(clamp=[0.0, 0.0, 1.0], **more)),
    (equations, "rod_diagonal", "rod_energy", lambda *data: 1.0),
    (equations, "rod_coupling", "rod_energy", lambda *data: 1.0),
    (equations, "rod_equation", "rod_energy", lambda *data: 1.0),
    (equations, "spring_sum", "rod_sheet", lambda **more: ROD(**more, stiffness=0.0)),
    (examples, "horizontal_springs", "spring_errors", lambda **more: SPRING_ERRORS(0.01, **more)),
    (examples, "spring_constants", "PRINTED_ORDER", (40.0, 30.0, 20.0, 10.0)),
    (examples, "spring_duration", "DURATION", 20),
    (examples, "body_steps", "BODIES", (4.7895e-6, 4.7960e-8)),
    (examples, "pendulum_units", "PENDULUM_RK", 7.5628e-2),
    (examples, "face_count", "icosphere", lambda level: ICOSPHERE(level - 1)),
    (examples, "rounded_starts", "PENDULUM_LENGTH", 2e-5),
    (angles, "polar_distance", "SIDEWAYS", (0.3, 0.3, 0.3, 0.3)),
    (angles, "compactness", "_operations", lambda: (3, 5, 2, 4)),
    (examples, "element_limit", "_tips", lambda power: np.arange(4.0)[:, None, None]*np.ones((4, 3, 3))),
    (examples, "macroscopic", "MOLECULES_END", 4.0)],
    ids=lambda value: value if isinstance(value, str) else "")
def test_every_evidence_can_say_no(module, name, replaced, by, monkeypatch):
    monkeypatch.setattr(module, replaced, by)
    assert checks(PAPER)[name]().confirmed is False


@pytest.mark.parametrize("order", [1, 4])
def test_the_triple_pendulum_is_practical_unless_its_error_does_not_fall(order, monkeypatch):
    monkeypatch.setattr(angles, "simulate", lambda *names, **setting: {"q": SimpleNamespace(values=np.zeros(1))})
    monkeypatch.setattr(angles.Chain, "motion", lambda self, q, omega, h, steps, every: np.array([h**order]))
    assert angles.triple_pendulum().confirmed is (order == 1)


def test_printed_forms_that_are_right_are_not_refused():
    """The zero of eq. (18) of pendula at rest, and products with directions that are not orthogonal."""
    motion = equations.pendulum_motion(steps=10)
    hanging = np.zeros_like(motion.q)
    hanging[..., 2] = 1.0
    assert equations.stray_zero(motion._replace(q=hanging, omega=0.0*hanging)).confirmed is False
    assert equations.bracket_index((30.0, 60.0)).confirmed is False


def test_the_list_above_has_every_check():
    cases = test_every_evidence_can_say_no.pytestmark[0].args[1]
    assert sorted(["triple_pendulum", *(case[1] for case in cases)]) == sorted(checks(PAPER))


def test_cited_errata_exist():
    """`erratum n` and `errata n, m and k` in sources and configuration: each is an entry of one of the papers."""
    entries = [entry for paper in errata_files(CONFIG) for entry in load_errata(paper, CONFIG).errata]
    numbers = {str(entry.number) for entry in entries} | {entry.id for entry in entries}
    pattern = re.compile(r"\b(?:erratum|errata) (\d+[a-z]?(?:(?:, | and )\d+[a-z]?)*)")
    cited = 0
    for path in sorted([*(ROOT/"src").rglob("*.py"), *CONFIG.rglob("*.yaml")]):
        for found in pattern.findall(path.read_text(encoding="utf-8")):
            for number in re.split(", | and ", found):
                cited += 1
                assert number in numbers, f"{path} cites erratum {number}"
    assert cited >= 10


GOOD = """\
paper: made_up
citation: c
errata:
  - number: 1
    place: eq. (1)
    printed: a
    correct: b
    kind: misprint
    check: right
  - number: 2
    part: a
    place: text
    printed: a
    correct: b
    kind: ambiguity
    text_only: a comma
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A configuration with the errata of a made-up paper."""
    (tmp_path/"errata").mkdir()
    (tmp_path/"errata"/"made_up.yaml").write_text(GOOD)
    monkeypatch.setattr(errata, "checks",
                        lambda paper: {"right": lambda: Evidence(True, "{a:.2f} | {b:d}", {"a": 0.5, "b": 3})})
    return tmp_path


@pytest.mark.parametrize(("old", "new", "line", "part"), [
    ("check: right", "check: rihgt", 9, "unknown check 'rihgt'; did you mean right?"),
    ("kind: misprint", "kind: typo", 8, "'misprint', 'ambiguity', 'physics' or 'no erratum', not 'typo'"),
    ("    correct: b\n    kind: misprint", "    kind: misprint", 4, "key errata.0.correct is missing"),
    ("part: a", "part: ab", 11, "part"),
    ("number: 2\n    part: a", "number: 1", 10, "erratum 1 appears twice"),
    ("number: 1", "number: 0", 4, "greater than 0, not 0"),
    ("place: text", "place: text\n    plaec: x", 13, "unknown key 'plaec'; did you mean place?"),
    ("    text_only: a comma\n", "", 10, "the reason why no computation can show it (key text_only)"),
    ("check: right\n", "check: right\n    text_only: a comma\n", 4, "either an evidence function (key check) or"),
    ("paper: made_up", "paper: [", 3, "malformed YAML")])
def test_a_wrong_errata_file_gives_one_sentence_with_the_line(folder, old, new, line, part):
    assert old in GOOD
    path = folder/"errata"/"made_up.yaml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        errata_table("made_up", folder)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: ")
    assert part in message
    assert "\n" not in message


def test_unknown_paper_names_the_closest():
    with pytest.raises(InputError, match="unknown paper with errata 'twosphere2009'; did you mean twospheres2009"):
        errata_table("twosphere2009", CONFIG)
    assert PAPER in errata_files(CONFIG)


def test_the_command_writes_table_and_page(folder, capsys):
    arguments = ["--config", str(folder), "--results", str(folder/"results"), "job", "errata"]
    assert main(arguments) == 0
    assert capsys.readouterr().err == "made_up: 1 confirmed, 0 not confirmed, 1 text only\n"
    table = read_csv(folder/"results"/"errata.csv")
    assert tuple(table.columns) == COLUMNS
    assert list(table.evidence) == ["0.50 | 3", f"{TEXT_ONLY}: a comma"]
    page = (folder/"results"/"errata.md").read_text()
    assert ("| 1 | eq. (1) | misprint | a | b | 0.50 \\| 3 | yes |  |\n| 2a | text | ambiguity | a | b |"
            " text only: a comma |  |  |\n" in page)
    before = {path.name: path.read_bytes() for path in (folder/"results").iterdir() if path.is_file()}
    assert main(arguments) == 0
    assert {path.name: path.read_bytes() for path in (folder/"results").iterdir() if path.is_file()} == before
    (folder/"errata"/"made_up.yaml").write_text(GOOD.replace("kind: misprint", "kind: typo"))
    assert main(arguments) == 2
    assert {path.name: path.read_bytes() for path in (folder/"results").iterdir() if path.is_file()} == before


def test_no_errata_are_refused(tmp_path, capsys):
    assert main(["--config", str(tmp_path), "--results", str(tmp_path/"results"), "job", "errata"]) == 2
    assert "there is no file with errata" in capsys.readouterr().err
