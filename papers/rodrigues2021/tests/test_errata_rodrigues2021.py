"""The errata of rodrigues2021: every evidence is confirmed, has the known numbers, and can say no."""
from pathlib import Path

import numpy as np
import pytest
from errata_rows import confirmed_rows, used_checks
from liestep_papers.rodrigues2021 import evidence as room

from liestep.claims.errata import checks, load_errata

CONFIG, PAPER = Path(__file__).resolve().parents[3]/"config", "rodrigues2021"


@pytest.fixture(scope="module")
def evidence():
    """Evidence of every check of the paper, computed once."""
    return {name: check() for name, check in checks(PAPER).items()}


def test_every_erratum_that_can_be_computed_is_confirmed(evidence, monkeypatch):
    confirmed_rows(PAPER, CONFIG, evidence, monkeypatch)
    assert sorted({entry.number for entry in load_errata(PAPER, CONFIG).errata}) == list(range(1, 11))


def test_every_evidence_belongs_to_an_erratum_or_a_claim(evidence):
    assert set(used_checks(PAPER, CONFIG)) == set(evidence)


def test_what_the_text_says_of_symmetry_is_refuted_for_maps_of_first_order(evidence):
    assert not evidence["euler_symmetric"].confirmed
    assert evidence["symmetric"].confirmed
    assert evidence["overhead"].numbers["ratio"] >= 1.5
    assert evidence["quaternion_form"].numbers["trigonometric"] == 0


def test_numbers_are_those_of_the_trial(evidence):
    """Of an independent implementation with quaternions."""
    moment = evidence["pendulum_moment"].numbers
    assert moment["right"] == pytest.approx(1.2e-7, rel=0.1)
    assert moment["printed"] == pytest.approx(2.15, abs=0.01)
    assert moment["body"] == pytest.approx(0.30, abs=0.01)
    assert moment["kept"] <= 1e-13
    assert evidence["contact_factor"].numbers["printed"] == pytest.approx(25.0/4.0, rel=1e-6)
    assert evidence["diameter"].numbers["limit"] == pytest.approx(8.328e-3, rel=1e-4)


QUATERNIONS = room._quaternions


@pytest.mark.parametrize(("module", "name", "replaced", "by"), [
    (room, "relative_vector", "compose", lambda a, b: 4.0/(4.0 - a @ b)*(a + b + 0.5*np.cross(a, b))),
    (room, "bending_sign", "angle_vector", lambda turn: -room.vee(0.5*(turn - turn.T))),
    (room, "invariances", "printed_shear", room.mean_shear),
    (room, "frames_of_momenta", "printed_shear", room.mean_shear),
    (room, "opposite_moments", "mean_shear", room.printed_shear),
    (room, "orientation", "printed_shear", room.mean_shear),
    (room, "identity_factor", "rotation", lambda alpha: np.eye(3)),
    (room, "legendre", "vee", lambda matrix: -np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0]])),
    (room, "pendulum_moment", "verlet", lambda moment: {"energy": 1.0, "product": 1.0}),
    (room, "domain", "size", lambda vectors: 1.0), (room, "leading_terms", "size", lambda vector: 1.0),
    (room, "second_root", "ROUND_OFF", 0.0),
    (room, "quaternion_multipliers", "_quaternions", lambda h, held: QUATERNIONS(h, False)),
    (room, "symplectic", "_form", lambda y, a, b: float(a[0] @ b[1] - b[0] @ a[1] + y[3] @ np.cross(a[0], b[0]))),
    (room, "symmetric", "VARIATIONAL", {**room.VARIATIONAL, "(23)": ("campello", {})}),
    (room, "no_trigonometry", "NEWMARK", room.EXPONENTIAL), (room, "overhead", "EXPONENTIAL", room.NEWMARK),
    (room, "quaternion_form", "matrix", lambda q: np.eye(3)), (room, "chart_limits", "QUARTER", 1.9),
    (room, "newton_updates", "SHORT", 1e-6)])
def test_evidence_can_say_no(module, name, replaced, by, monkeypatch):
    monkeypatch.setattr(module, replaced, by)
    assert not getattr(module, name)().confirmed


def test_an_implicit_equation_is_required_where_no_closed_form_solves_it(monkeypatch):
    """Of equal moments (23) does; the increment of (25) would leave the residual that confirms the statement."""
    found = room.implicit_equation()
    assert not found.confirmed
    assert found.numbers["equal"] <= 1e-15
    assert found.numbers["different"] >= 1e-4
    monkeypatch.setattr(room, "EXACT", room.NEWMARK)
    assert room.implicit_equation().confirmed
