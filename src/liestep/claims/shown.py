"""What stands beside a verdict: the studies and runs that decided, the unit of our number, the figures that show it."""
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from liestep.claims.claimfile import Claim
from liestep.study.plan.plan import Study
from liestep.study.tables.columns import headings

# figures and tables that show a claim, by the first part of its quantity's name
BY: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def studies_of(claim: Claim) -> list[str]:
    """Ids of the studies whose runs decide."""
    return list(dict.fromkeys(choice.study for choice in (*claim.runs, *claim.against)))


def runs_of(claim: Claim) -> str:
    """The runs that decide, and those they are compared with, by their keys."""
    named = ["; ".join(dict.fromkeys("/".join(filter(None, (one.problem, one.integrator, one.resolution)))
                                     for one in choices)) for choices in (claim.runs, claim.against)]
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
