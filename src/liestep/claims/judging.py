"""Judge the claims of a paper: printed number, ours, criterion, verdict."""
import math

import pandas as pd

from liestep.claims.claimfile import Claim, ClaimFile
from liestep.claims.criteria.base import Outcome
from liestep.claims.selection import Results
from liestep.errors import InputError

COLUMNS = ("paper", "claim", "statement", "source", "printed", "ours", "ratio", "units", "criterion", "verdict",
           "known_beforehand", "evidence", "setting")


def judge(claims: ClaimFile, results: Results) -> pd.DataFrame:
    """One row per claim, columns COLUMNS.

    Raises:
        InputError: a claim names a study, run or quantity that does not exist.
    """
    return pd.DataFrame([_row(claims.paper, claim, results) for claim in claims.claims], columns=list(COLUMNS))


def _row(paper: str, claim: Claim, results: Results) -> dict:
    try:
        outcome = claim.criterion.judge(claim, results)
    except InputError as error:
        raise InputError(f"claim {claim.id} of {paper}: {error}") from None
    printed = math.nan if claim.printed is None else claim.printed
    return {"paper": paper, "claim": claim.id, "statement": claim.statement, "source": claim.source, "printed": printed,
            "ours": outcome.ours, "ratio": outcome.ours/printed if printed else math.nan, "units": claim.units,
            "criterion": describe(claim), "verdict": _verdict(claim, outcome), "known_beforehand": claim.known,
            "evidence": outcome.evidence, "setting": claim.setting + _scan(claim, outcome)}


def _verdict(claim: Claim, outcome: Outcome) -> str:
    if claim.criterion.kind == "none":
        return "not testable"
    return claim.verdict if outcome.met else "not reproduced"


def _scan(claim: Claim, outcome: Outcome) -> str:
    return f" ({claim.scanned} settings scanned)" if claim.scanned and outcome.met else ""


def describe(claim: Claim) -> str:
    """The criterion as a sentence."""
    return claim.criterion.describe(claim)
