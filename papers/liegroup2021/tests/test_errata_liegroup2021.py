"""The errata of liegroup2021: every evidence is confirmed, has the known numbers, and can say no."""
from pathlib import Path

import numpy as np
import pytest
from errata_rows import confirmed_rows, used_checks
from liestep_papers.liegroup2021 import evidence as room

from liestep.claims.errata import checks, load_errata

CONFIG, PAPER = Path(__file__).resolve().parents[3]/"config", "liegroup2021"


@pytest.fixture(scope="module")
def evidence():
    """Evidence of every check of the paper, computed once."""
    return {name: check() for name, check in checks(PAPER).items()}


def test_every_erratum_that_can_be_computed_is_confirmed(evidence, monkeypatch):
    confirmed_rows(PAPER, CONFIG, evidence, monkeypatch)
    assert sorted({entry.number for entry in load_errata(PAPER, CONFIG).errata}) == list(range(1, 14))


def test_every_evidence_belongs_to_one_erratum_or_claim(evidence):
    assert used_checks(PAPER, CONFIG) == sorted(evidence)


def test_numbers_are_the_known_ones(evidence):
    torque = evidence["top_gravity"].numbers
    assert torque["torque"] == pytest.approx(15.0*2.0*9.81, rel=1e-9)
    assert torque["twice"] == pytest.approx(15.0*2.0*9.81**2, rel=1e-9)
    assert f"{evidence['top_inertia'].numbers['corrected']:.5f}" == "4.61538"
    control = evidence["control_exponent"].numbers
    for found, wanted in (("text_steps", 119), ("text_rejected", 10), ("code_steps", 117), ("code_rejected", 17)):
        assert abs(control[found] - wanted) <= 2
    bias = evidence["reference_bias"].numbers
    assert bias["two_reference"] == pytest.approx(1e-5, rel=0.1)
    assert bias["twenty_reference"] == pytest.approx(9e-4, rel=0.1)


def test_the_inverse_derivative_of_the_exponential():
    """dexpinv_u of the derivative of the path log(exp(u + s v)) by differences."""
    u, v, h = np.array([0.3, -0.5, 0.8]), np.array([1.0, 0.2, -0.4]), 1e-5
    spin = (room.turn(u + h*v) - room.turn(u - h*v)) @ room.turn(u).T/(2.0*h)
    np.testing.assert_allclose(room.dexpinv(u, np.array([spin[2, 1], spin[0, 2], spin[1, 0]])), v, atol=1e-9)


DEXPINV = room.printed_dexpinv
RATE, HAT, FINAL, ATTEMPT = room.rate, room.hat, room.final_state, room._attempt
IN_COORDINATES, END = room.in_coordinates, room._end


@pytest.mark.parametrize(("module", "name", "replaced", "by"), [
    (room, "body_sign", "rate", lambda path: -RATE(path)),
    (room, "top_sign", "rate", lambda path: -RATE(path)),
    (room, "hamiltonian_order", "size", lambda vector: 1.0),
    (room, "attitude_group", "size", lambda vector: 1.0),
    (room, "frozen_point", "dexpinv", lambda u, v: v),
    (room, "third_stage", "_commutator_free", lambda y, h, scale: room.turn(h*room._field(y)) @ y),
    (room, "dexpinv_formula", "printed_dexpinv", lambda a, b, sign=-0.5: DEXPINV(a, b, -sign)),
    (room, "coordinates_cost", "in_coordinates", lambda action, chart: IN_COORDINATES(action, "cayley")),
    (room, "representation", "_end", lambda integrator, option, name: END("rkmk", "attitude", name)),
    (room, "top_gravity", "GAMMA0", np.array([0.0, 0.0, 9.81])),
    (room, "top_mirror", "PRINTED_RATE", 4.6),
    (room, "top_inertia", "PRINTED_RATE", 4.7),
    (room, "chain_energy", "moving_energy", lambda masses, lengths, rates: 1.0),
    (room, "payload_gravity", "GRAVITY", 1.62),
    (room, "link_rates", "hat", lambda vector: -HAT(vector)),
    (room, "pair_orders", "_attempt", lambda integrator, h: (ATTEMPT(integrator, h)[0], h)),
    (room, "chain_limit", "LINKS", (5, 10, 5, 10, 5)),
    (room, "hamiltonian_chain", "size", lambda vector: 1.0),
    (room, "reference_bias", "RELATIVE", 1e-12),
    (room, "control_exponent", "final_state", lambda preset, integrator, tolerance, options: FINAL(
        preset, integrator, tolerance, {key: value for key, value in options.items() if key != "exponent"}))],
    ids=lambda value: value if isinstance(value, str) else "")
def test_every_evidence_can_say_no(module, name, replaced, by, monkeypatch):
    monkeypatch.setattr(module, replaced, by)
    assert checks(PAPER)[name]().confirmed is False


def test_the_list_above_has_every_check():
    cases = test_every_evidence_can_say_no.pytestmark[0].args[1]
    assert sorted(case[1] for case in cases) == sorted(checks(PAPER))
