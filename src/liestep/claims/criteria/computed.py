"""The criterion on what no run of a study shows: equations and formulas, by a computation of the paper's room."""
import math
from typing import Literal

from pydantic import Field

from liestep.claims.criteria.base import KIND, Criterion, Judgement, Needs
from liestep.claims.errata import Evidence, checks
from liestep.claims.selection import Question, Results
from liestep.errors import InputError, unknown
from liestep.study.plan.papers import given


class Computed(Criterion):
    """The evidence `check` of the paper's room confirms the statement and would refuse it, were it false."""

    kind: Literal["evidence"] = KIND
    needs = Needs(runs="none", quantity="nothing")
    measured = "evidence {self.check} of {self.paper} confirms it"
    paper: str = Field(description="id of the paper")
    check: str = Field(description="name of the evidence function")

    def require(self) -> None:
        available = checks(self.paper)
        if not available:
            raise InputError(f"no evidence of the paper {self.paper} is known: its folder is missing or declares none")
        if self.check not in available:
            raise InputError(unknown(f"check of {self.paper}", self.check, available))

    def judge(self, claim: Question, results: Results) -> Judgement:
        self.require()
        evidence = given(Evidence, checks(self.paper)[self.check])
        return Judgement(evidence.confirmed, math.nan, str(evidence))
