"""Evidence for the errata of lgt2022 is confirmed, and every check of the file exists."""
from pathlib import Path

import pytest
import yaml

from liestep.papers.lgt2022.evidence import coordinates, maps

CHECKS = maps.CHECKS | coordinates.CHECKS
FILE = Path(__file__).parents[3]/"config"/"errata"/"lgt2022.yaml"


@pytest.mark.parametrize("name", CHECKS)
def test_evidence_confirms_the_erratum(name):
    evidence = CHECKS[name]()
    assert evidence.confirmed
    assert evidence.text.format(**evidence.numbers)


def test_every_check_is_used_once():
    named = [entry["check"] for entry in yaml.safe_load(FILE.read_text())["errata"] if "check" in entry]
    assert sorted(named) == sorted(CHECKS)
