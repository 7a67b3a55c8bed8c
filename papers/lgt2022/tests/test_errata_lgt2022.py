"""Evidence for the errata of lgt2022 is confirmed, and every check of the file exists."""
import csv
from pathlib import Path

import numpy as np
import pytest
import yaml
from liestep_papers.lgt2022 import evidence as room
from liestep_papers.lgt2022 import transition_maps

from liestep.claims.errata import checks

CHECKS = checks("lgt2022")
CLAIMS = Path(__file__).resolve().parents[1]/"claims"
# of the code as it stands: one more in a kernel shows here
OPERATIONS = {"1a": (123, 142), "1b": (45, 76), "1c": (44, 32), "1d": (106, 62), "2a": (188, 142), "2b": (110, 76),
              "2c": (109, 32), "2d": (171, 62)}
FILE = Path(__file__).resolve().parents[1]/"errata.yaml"


@pytest.mark.parametrize("name", CHECKS)
def test_evidence_confirms_the_erratum(name):
    evidence = CHECKS[name]()
    assert evidence.confirmed
    assert evidence.text.format(**evidence.numbers)


@pytest.mark.parametrize(("name", "replaced", "by"), [
    ("full_turn", "exponential", lambda matrix: np.eye(3) + matrix),
    ("screw_coordinates", "_rates", lambda name: [1.0, 1.0]), ("screw_coordinates", "of_vector", lambda x: (1.0, x)),
    ("extended_rodrigues", "exponential", lambda matrix: np.eye(3))])
def test_evidence_on_coordinates_can_say_no(name, replaced, by, monkeypatch):
    monkeypatch.setattr(room, replaced, by)
    assert not CHECKS[name]().confirmed


def test_every_check_is_used():
    """By one erratum, or by a claim."""
    named = [entry["check"] for entry in yaml.safe_load(FILE.read_text())["errata"] if "check" in entry]
    claims = [claim["criterion"]["check"] for path in CLAIMS.glob("*.yaml")
              for claim in yaml.safe_load(path.read_text())["claims"] if claim["criterion"]["kind"] == "evidence"]
    assert len(set(named)) == len(named)
    assert set(named) | set(claims) == set(CHECKS)


@pytest.mark.parametrize("name", transition_maps.NAMES)
def test_maps_of_table_1_are_products_of_their_groups(name):
    row = transition_maps.row_of(name)
    assert row.defect < 5e-15
    assert (row.act, row.rate) == OPERATIONS[name]


def test_numbers_of_the_page_on_options_are_those_of_the_counts_and_of_the_stored_verdict():
    docs = Path(__file__).resolve().parents[3]/"docs"
    page = (docs/"mechanism_options.md").read_text("utf-8")
    rows = {name: transition_maps.row_of(name) for name in ("1a", "1b", "1c")}
    operations = {name: row.act + row.rate for name, row in rows.items()}
    for words, share in (("so3_r3` needs", operations["1b"]/operations["1a"]),
                         ("cayley` needs", operations["1c"]/operations["1b"])):
        assert float(page.partition(words)[2].split()[0]) == pytest.approx(share, abs=0.005), words
    stored = (docs/"snapshot"/"claims.csv").read_text("utf-8").splitlines()
    ours, = (float(row["ours"]) for row in csv.DictReader(stored) if row["claim"] == "most_relevant_by_design")
    assert float(page.partition("are up to ")[2].split()[0]) == pytest.approx(ours, abs=0.05)
