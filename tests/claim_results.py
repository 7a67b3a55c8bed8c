"""Results of a study that was never made, for the judge of claims."""
import math
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pandas as pd
import pytest

from liestep.claims.claimfile import Claim, claim_file_with
from liestep.claims.criteria.base import Criterion
from liestep.simulation.runs.files import RunFile

STUDY = "made/up"
METRICS = pd.DataFrame(
    [("p", "vi", "h0.1", "ok", 1.23449e-4, 2e-15), ("p", "vi", "h0.01", "ok", 1.2e-6, 4e-15),
     ("p", "rk", "h0.1", "ok", 2e-2, 1e-3), ("p", "rk", "h0.01", "ok", 3e-4, 1e-5),
     ("p", "stopped", "h0.1", "step_too_large", 1.23449e-4, 1e-16), ("p", "stopped", "h0.01", "ok", 1.2e-6, 1e-16),
     ("p", "lost", "h0.1", "ok", math.nan, math.nan), ("p", "peak", "h0.1", "ok", 1.0, 1.0),
     ("many", "vi", "h0.1", "ok", 1.0, 1.0), ("many", "stopped", "h0.1", "step_too_large", 1.0, 1.0),
     ("many", "lost", "h0.1", "ok", 1.0, 1.0)],
    columns=["problem", "integrator", "resolution", "status", "error", "length"]).assign(time_reached=2.5)
METRICS["members"] = [21 if problem == "many" else 1 for problem in METRICS["problem"]]
ORDERS = pd.DataFrame(
    [("p", "vi", 2.03, 0.02, "asymptotic"), ("q", "vi", 2.09, 0.1, "asymptotic"),
     ("p", "above", 2.3, 0.1, "asymptotic"), ("p", "early", 2.0, 0.02, "pre-asymptotic"),
     ("p", "stopped", math.nan, math.nan, "failed")],
    columns=["problem", "integrator", "p", "u", "class"])
DRIFT = pd.DataFrame(
    [("p", "vi", "energy", "bounded", 0.04), ("p", "rk", "energy", "drift", 9.0),
     ("p", "mixed", "energy", "bounded", 0.1), ("p", "mixed", "energy", "undecided", 0.3),
     ("p", "alone", "energy", "unconfirmed", 0.01),
     ("p", "stopped", "energy", "failed", math.nan)],
    columns=["problem", "integrator", "invariant", "verdict", "bound"]).assign(reason="why")
MEMBERS = [float(k) for k in range(1, 22)]  # 1..21: the central 90 % reach from 2 to 20
FILES = {"vi": {"energy": [1.0, 5.0, 1.5], "spread": MEMBERS}, "rk": {"energy": [1.0, 0.0, 0.25]},
         "stopped": {"energy": [1.0, 5.0, 1.5], "spread": MEMBERS}, "lost": {"spread": [*MEMBERS[:-1], math.nan]},
         "peak": {"time": [0.0, 1.0, 2.0, 3.0], "scalar": [1.0, -5.0, 1.0, 0.5],
                  "vectors": [[[9.0], [1.0]], [[1.0], [2.0]], [[2.0], [8.0]], [[3.0], [7.0]]]}}
# keys are ids of methods
PLANNED = SimpleNamespace(config=SimpleNamespace(problems={}, figures=()), cells=(), integrator_id=lambda key: key)
RESULTS = {STUDY: SimpleNamespace(study=PLANNED, metrics=METRICS, table={"orders": ORDERS, "drift": DRIFT}.__getitem__,
                                  file=lambda problem, integrator, resolution: RunFile(Path(integrator), {},
                                                                                       FILES[integrator]))}


def claim_with(*criteria: type[Criterion]) -> type[Claim]:
    """The class of claims that know criteria of a paper, too."""
    return get_args(claim_file_with(*criteria).model_fields["claims"].annotation)[0]


def runs(*choices):
    """(problem, integrator) or (problem, integrator, resolution) as choices of a claim."""
    return [dict(zip(("problem", "integrator", "resolution"), choice, strict=False), study=STUDY) for choice in choices]


VI, RK = runs(("p", "vi", "h0.1"), ("p", "vi", "h0.01")), runs(("p", "rk", "h0.1"), ("p", "rk", "h0.01"))
ENSEMBLE = runs(("many", "vi", "h0.1"))


@pytest.fixture
def data_are_printed(monkeypatch):
    """The runs of a study that was never made have no presets."""
    for room in ("quantities", "judging"):
        monkeypatch.setattr(f"liestep.claims.{room}.unprinted", lambda claim, studies: {})
