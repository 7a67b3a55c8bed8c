"""Numbers of other codes: attitudes, chosen components, and rows without the accuracy that the code says it has."""
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from claim_results import claim_with
from liestep_papers.external.criteria import Attitude
from mpmath import ellipk, mp
from pydantic import ValidationError

from liestep.claims.claimfile import claim_files, load_claims
from liestep.claims.judging import describe
from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile

ROOT = Path(__file__).parents[2]
ANGLE = 0.3
ABOUT_Z = np.array([[np.cos(ANGLE), -np.sin(ANGLE), 0.0], [np.sin(ANGLE), np.cos(ANGLE), 0.0], [0.0, 0.0, 1.0]])
QUATERNION = [float(np.cos(ANGLE/2)), 0.0, 0.0, float(np.sin(ANGLE/2))]
VARIABLES = {"time": np.array([0.0, 2.0]), "attitude": np.stack([np.eye(3), ABOUT_Z]),
             "q": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])}
METRICS = pd.DataFrame([("p", "i", "h0.1", "ok")], columns=["problem", "integrator", "resolution", "status"])
RESULTS = {"s": SimpleNamespace(metrics=METRICS, file=lambda *_: RunFile(Path("p"), {}, VARIABLES))}


def claim(criterion, quantity="attitude", **changes):
    return claim_with(Attitude).model_validate({
        "id": "one", "statement": "s", "source": "a file of a code", "asserted_by": "external", "accuracy": 1e-3,
        "licence": "MIT", "known": False,
        "runs": [{"study": "s", "problem": "p", "integrator": "i"}], "quantity": quantity, "criterion": criterion,
        **changes})


def judged(given):
    return given.criterion.judge(given, RESULTS)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_attitude_is_the_angle_from_a_quaternion_of_either_sign(sign):
    outcome = judged(claim({"kind": "attitude", "expected": [sign*x for x in QUATERNION], "tolerance": 1e-12}))
    assert outcome.met
    assert "at t = 2" in outcome.evidence
    off = claim({"kind": "attitude", "expected": [1.0, 0.0, 0.0, 0.0], "tolerance": 0.299})
    assert not judged(off).met
    assert judged(off).ours == pytest.approx(ANGLE, rel=1e-12)


def test_attitude_refuses_what_is_no_rotation():
    with pytest.raises(InputError, match="the expected quaternion has length 2; it must be 1"):
        judged(claim({"kind": "attitude", "expected": [2.0, 0.0, 0.0, 0.0], "tolerance": 1e-3}))
    with pytest.raises(InputError, match="q is no rotation matrix: its shape after the time is"):
        judged(claim({"kind": "attitude", "expected": QUATERNION, "tolerance": 1e-3}, "q"))


def test_state_compares_chosen_components():
    column = {"kind": "state", "indices": [[0, 1], [1, 1]], "tolerance": 1e-12}
    assert judged(claim({**column, "expected": [-float(np.sin(ANGLE)), float(np.cos(ANGLE))]})).met
    assert not judged(claim({**column, "expected": [float(np.sin(ANGLE)), float(np.cos(ANGLE))]})).met
    with pytest.raises(InputError, match=r"the index \[0, 3\] does not fit the shape \(3, 3\)"):
        judged(claim({**column, "indices": [[0, 3]], "expected": [1.0]}))


def test_a_number_of_another_code_needs_its_accuracy():
    rule = {"kind": "attitude", "expected": QUATERNION, "tolerance": 1e-3}
    with pytest.raises(ValidationError, match="a number of another code needs the accuracy that the code says"):
        claim(rule, accuracy=None)
    with pytest.raises(ValidationError, match="accuracy is for claims asserted by external"):
        claim(rule, asserted_by="own")
    with pytest.raises(ValidationError, match="a number of another code needs the licence of its source"):
        claim(rule, licence="")
    with pytest.raises(ValidationError, match="a claim asserted by external names its source"):
        claim(rule, source="a file")
    with pytest.raises(ValidationError, match="licence is for claims asserted by external"):
        claim(rule, asserted_by="own", accuracy=None)
    assert "the code's own accuracy is 0.001" in describe(claim(rule))
    claim({"kind": "limit", "at_most": 1.0}, "error", accuracy=None, licence="")  # a statement in words has none


def test_thirty_numbers_of_others_name_source_licence_and_accuracy():
    files = [load_claims(claim_files(ROOT/"config")[paper]) for paper in ("external", "testsets")]
    found = [one for file in files for one in file.claims if one.asserted_by == "external"]
    assert len({one.group or one.id for one in found}) >= 30
    assert all(one.accuracy and one.licence and len(one.source) > 20 and one.runs for one in found)
    entries = [(one.source, str(one.criterion)) for one in found]  # no two rows for one entry of a table
    assert len(set(entries)) == len(entries)


def test_the_printed_period_of_the_pendulum_is_wrong_in_its_last_digit():
    """4 K sqrt(l/g) with the modulus sin 45 degrees: why the row of code_aster is not reproduced."""
    with mp.workdps(30):
        period = 4*ellipk(mp.mpf(1)/2)*mp.sqrt(mp.mpf("0.5")/mp.mpf("9.81"))
    assert round(float(period), 4) == 1.6743
    assert float(period) == pytest.approx(1.6743171, abs=1e-7)
