"""Judge the claims of a paper: printed number, ours, criterion, verdict, and what stands beside it: the studies and
runs that decided, the unit of our number, the figures that show it."""
import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd

from liestep.claims.chance import Chance, chance
from liestep.claims.claimfile import BY_CHANCE, OWN, Claim, ClaimFile, Counterpart
from liestep.claims.counting import statements
from liestep.claims.criteria.base import Judgement
from liestep.claims.history import Row, changed_later, sentence
from liestep.claims.quantities import EQUIVALENT, require_method, require_printed, systems_of, unprinted
from liestep.claims.selection import Results, select
from liestep.errors import InputError
from liestep.files.textfiles import TableRow
from liestep.study.plan.papers import checked, given, paper_code
from liestep.study.plan.plan import Study
from liestep.study.tables.columns import headings
from liestep.study.tables.metrics import stopped_runs

# figures and tables that show a claim, by the first part of its quantity's name
BY: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def studies_of(claim: Claim) -> list[str]:
    """Ids of the studies whose runs decide."""
    return list(dict.fromkeys(choice.study for choice in (*claim.runs, *claim.against)))


def runs_of(claim: Claim) -> str:
    """The runs that decide, and those they are compared with, by their keys."""
    named = ["; ".join(dict.fromkeys("/".join(filter(None, (choice.problem, choice.integrator, choice.resolution)))
                                     for choice in choices)) for choices in (claim.runs, claim.against)]
    return " against ".join(filter(None, named))


def showing(claim: Claim) -> tuple[str, ...]:
    """Names of the figures for every study, and of tables, that show what the claim measures."""
    return (*claim.criterion.shown,
            *(name for start, shown in BY.items() if claim.quantity.startswith(start) for name in shown))


def figures_of(claim: Claim, paper: str, figures: Mapping[str, Collection[str]]) -> list[tuple[str, str]]:
    """(study, name) of figures, by study, that show what a claim of a paper is about: those whose numbers its source
    names, then those of its studies."""
    numbers = re.findall(r"figures? (\d+)", claim.source)
    shown = [(study, name) for number in numbers for study, known in figures.items() for name in known
             if name == f"{paper}.figure{number}"]
    shown += [(study, name) for study in studies_of(claim) for name in figures.get(study, ())
              if name in showing(claim) or (not numbers and name.startswith(f"{paper}."))]
    return list(dict.fromkeys(shown))


def unit_of(claim: Claim, studies: Mapping[str, Study]) -> str:
    """Unit of our number, 1 for a number without; empty where there is no number, or nobody says it."""
    rule = claim.criterion
    if not claim.runs or rule.unit:
        return "1" if rule.unit == "s" and claim.against else rule.unit
    return "1" if claim.units == "none" else (
        claim.units or headings([claim.quantity], studies[claim.runs[0].study])[claim.quantity][1])


COLUMNS = ("paper", "claim", "statement", "quote", "source", "asserted_by", "group", "group_type", "group_verdict",
           "studies", "runs", "quantity", "printed", "ours", "ratio", "units", "bound", "criterion", "verdict", "best",
           "known_beforehand", "data", "scanned", "settings", "hits", "share", "probability", "sensitivity", "figure",
           "evidence", "setting", "code", "on_printed", "on_corrected", "survives", "errata", "counterpart_ours",
           "counterpart_evidence", "history", "changed_later")
MET = {True: "met", False: "not met"}
SURVIVAL = {("met", "met"): "yes", ("met", "not met"): "no", ("not met", "met"): "only corrected",
            ("not met", "not met"): "holds on neither"}


def judge(claims: ClaimFile, results: Results, history: Mapping[str, Sequence[Row]] | None = None) -> pd.DataFrame:
    """One row per claim, columns COLUMNS; `history` as `liestep.claims.history.load_history` gives it. Raises
    InputError, with all claims that cannot be judged: a criterion fails, or a study, run or quantity does not exist."""
    known, rows, wrong = history or {}, [], []
    for claim in claims.claims:
        try:
            with paper_code(type(claim.criterion)):
                rows.append({**_judged(claims, claim, results), "history": sentence(known.get(claim.id, ())),
                             "changed_later": changed_later(known.get(claim.id, ()))})
        except InputError as error:
            wrong.append(f"claim {claim.id} of {claims.paper}: {error}")
    if wrong:
        raise InputError("; ".join(wrong))
    joint = {item.name: f"{item.verdict} ({item.members})" for item in statements(rows) if item.members}
    return pd.DataFrame([{**row, "group_verdict": joint.get(row["group"], "")} for row in rows], columns=list(COLUMNS))


def _judged(claims: ClaimFile, claim: Claim, results: Results) -> dict:
    known, paper = {entry.id: entry for entry in claims.claims}, claims.paper
    kind = claims.groups[claim.group].type if claim.group else ""
    instances = [member for member in claims.claims if kind == "universal" and member.group == claim.group] or [claim]
    outcome = given(Judgement, claim.criterion.judge, claim, results)
    other = claim.on_other_data()
    counterpart = given(Judgement, other.criterion.judge, other, results) if other else None
    scan = chance(claim, known, results) if claim.scan else None
    studies = {name: found.study for name, found in results.items()}
    require_printed(claim, studies)
    for choice in claim.choices:
        require_method(choice, studies[choice.study])
    missing = unprinted(claim, studies)
    systems = systems_of(instances, studies) if claim.scope == "general" else ()
    headline = [item.figure for item in claims.headlines if claim in claims.judging(item.name)
                and item.figure.rpartition("/")[0] in studies_of(claim)]
    figures = {name: study.config.figures for name, study in studies.items()}
    shown = next(iter((*headline, *map("/".join, figures_of(claim, paper, figures)))), "")
    printed = math.nan if claim.printed is None else claim.printed
    return {"paper": paper, "claim": claim.id, "statement": claim.statement, "quote": claim.quote,
            "source": claim.source, "studies": "; ".join(studies_of(claim)), "runs": runs_of(claim),
            "quantity": given(str, claim.criterion.measures, claim).rstrip(" ,:"), "bound": bound(claim),
            "asserted_by": claim.asserted_by, "group": claim.group, "group_type": kind,
            "printed": printed, "ours": outcome.ours, "ratio": outcome.ours/printed if printed else math.nan,
            "units": unit_of(claim, studies), "criterion": describe(claim), "figure": shown,
            **{name: verdict(claim, judged, bool({*missing.values()} - {EQUIVALENT}), scan, systems)
               for name, judged in (("verdict", outcome), ("best", replace(outcome, met=True)))},
            "known_beforehand": claim.known, "data": "; ".join(missing) or ("printed" if claim.runs else ""),
            "scanned": ", ".join(claim.scan.over) if claim.scan else "", **(asdict(scan) if scan else {}),
            "evidence": _evidence(claim, outcome, results), "setting": claim.setting, "code": "; ".join(claim.code),
            **(survival(claim.counterpart, outcome, counterpart) if claim.criterion.needs.runs != "none" else {})}


def _evidence(claim: Claim, outcome: Judgement, results: Results) -> str:
    """The numbers that decided, `none` for one that there is not, and which of the claim's runs stopped early."""
    sentences = {re.sub(r"\bnan\b", "none", outcome.evidence): None}
    for choice in (*claim.runs, *claim.against):
        with suppress(InputError):  # a row of a table need not be that of runs
            sentences[stopped_runs(select(choice, results))] = None
    return "; ".join(filter(None, sentences))


def survival(counterpart: Counterpart | None, own: Judgement, other: Judgement | None) -> TableRow:
    """Columns of a claim: whether it is met on the printed and on the corrected data, and whether it survives."""
    if counterpart is None or other is None:
        return {"on_printed": MET[own.met], "on_corrected": MET[own.met], "survives": "one set of data"}
    printed, corrected = (other, own) if counterpart.data == "printed" else (own, other)
    pair = MET[printed.met], MET[corrected.met]
    return {"on_printed": pair[0], "on_corrected": pair[1], "survives": SURVIVAL[pair], "errata": counterpart.errata,
            "counterpart_ours": other.ours, "counterpart_evidence": other.evidence}


def verdict(claim: Claim, outcome: Judgement, missing: bool, scan: Chance | None, systems: Collection[str] = ()) -> str:
    """The verdict on a claim. A number that a scan finds by chance with a probability above BY_CHANCE is calibrated,
    not recovered. A criterion that is missed with data that are not printed says nothing about the experiment of a
    paper, nor does a run that is too short or too coarse to decide. A general statement is reproduced only in the
    paper's own words and, where runs decide, on two systems or more."""
    if claim.criterion.kind == "none":
        return claim.verdict
    silent = missing and claim.scope == "experiment" and claim.counted == "paper"
    if not outcome.met and (outcome.undecided or silent):
        return "undetermined"
    if claim.asserted_by == "own":
        return OWN[0 if outcome.met else 1]
    if not outcome.met:
        return "not reproduced"
    if claim.verdict == "recovered" and (scan is None or scan.probability > BY_CHANCE):
        return "calibrated"
    narrow = claim.asserted_by != "paper" or (claim.criterion.needs.runs != "none" and len(systems) < 2)
    return "confirmed" if claim.verdict == "reproduced" and claim.scope == "general" and narrow else claim.verdict


def describe(claim: Claim) -> str:
    """The criterion as a sentence, with the accuracy that another code claims for its number."""
    return f"{given(str, claim.criterion.measures, claim)} {bound(claim)}".rstrip()


def bound(claim: Claim) -> str:
    """What our number is held against, likewise."""
    own = "" if claim.accuracy is None else f"; the code's own accuracy is {claim.accuracy:g}"
    return checked(str, claim.criterion.bounds, f"bounds of the criterion {claim.criterion.kind}") + own
