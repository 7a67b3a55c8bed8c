"""Judge the claims of a paper: printed number, ours, criterion, verdict."""
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import pandas as pd

from liestep.claims.chance import LARGEST, Chance, chance
from liestep.claims.claimfile import Claim, ClaimFile
from liestep.claims.counterparts import columns
from liestep.claims.criteria.base import Outcome
from liestep.claims.history import Row, changed_later, sentence
from liestep.claims.quantities import GUESSED, require_method, require_printed, unprinted
from liestep.claims.selection import Results
from liestep.errors import InputError

COLUMNS = ("paper", "claim", "statement", "quote", "source", "asserted_by", "group", "printed", "ours", "ratio",
           "units", "criterion", "verdict", "known_beforehand", "data", "scanned", "settings", "hits", "share",
           "probability", "sensitivity", "evidence", "setting", "code", "on_printed", "on_corrected", "survives",
           "errata", "counterpart_ours", "counterpart_evidence", "history", "changed_later")


def judge(claims: ClaimFile, results: Results, history: Mapping[str, Sequence[Row]] | None = None) -> pd.DataFrame:
    """One row per claim, columns COLUMNS; `history` as `liestep.claims.history.load_history` gives it.

    Raises:
        InputError: a claim names a study, run or quantity that does not exist, or promises a verdict that its data
        cannot give.
    """
    known, rows = {claim.id: claim for claim in claims.claims}, history or {}
    return pd.DataFrame([{**_row(claims.paper, claim, known, results), "history": sentence(rows.get(claim.id, ())),
                          "changed_later": changed_later(rows.get(claim.id, ()))} for claim in claims.claims],
                        columns=list(COLUMNS))


def _row(paper: str, claim: Claim, known: Mapping[str, Claim], results: Results) -> dict:
    try:
        outcome = claim.criterion.judge(claim, results)
        other = claim.on_other_data()
        counterpart = other.criterion.judge(other, results) if other else None
        scan = chance(claim, known, results) if claim.scan else None
        studies = {name: found.study for name, found in results.items()}
        require_printed(claim, studies)
        for choice in claim.choices:
            require_method(choice, studies[choice.study])
        missing = unprinted(claim, studies)
    except InputError as error:
        raise InputError(f"claim {claim.id} of {paper}: {error}") from None
    printed = math.nan if claim.printed is None else claim.printed
    return {"paper": paper, "claim": claim.id, "statement": claim.statement, "quote": claim.quote,
            "source": claim.source, "asserted_by": claim.asserted_by, "group": claim.group, "printed": printed,
            "ours": outcome.ours, "ratio": outcome.ours/printed if printed else math.nan, "units": claim.units,
            "criterion": describe(claim), "verdict": verdict(claim, outcome, GUESSED in missing.values(), scan),
            "known_beforehand": claim.known, "data": "; ".join(missing) or ("printed" if claim.runs else ""),
            "scanned": ", ".join(claim.scan.over) if claim.scan else "", **(asdict(scan) if scan else {}),
            "evidence": outcome.evidence, "setting": claim.setting,
            "code": "; ".join(claim.code),
            **(columns(claim.counterpart, outcome, counterpart) if claim.criterion.needs_runs else {})}


def verdict(claim: Claim, outcome: Outcome, guessed: bool, scan: Chance | None) -> str:
    """The verdict on a claim.

    A number that a scan finds by chance with a probability above LARGEST is calibrated, not recovered. A criterion that
    is missed with guessed data says nothing about an experiment whose data are not printed, nor does a run that is too
    short or too coarse to decide.
    """
    if claim.criterion.kind == "none":
        return claim.verdict
    if not outcome.met:
        return "undetermined" if outcome.undecided or (guessed and claim.scope == "experiment") else "not reproduced"
    if claim.verdict == "recovered" and (scan is None or scan.probability > LARGEST):
        return "calibrated"
    return claim.verdict


def describe(claim: Claim) -> str:
    """The criterion as a sentence, with the accuracy that another code claims for its number."""
    own = "" if claim.accuracy is None else f"; the code's own accuracy is {claim.accuracy:g}"
    return f"{claim.criterion.describe(claim)}{own}"
