"""Criteria that compare one run, or an ensemble, with a printed number."""
import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from liestep.claims.criteria.base import KIND, Criterion, Judgement, Needs
from liestep.claims.selection import Question, Results, ensemble_of, member_values, select, values
from liestep.errors import InputError
from liestep.study.plan.config import SURE
from liestep.study.plan.yamlfile import NO_TRUTH, Real


class OfPrinted(Criterion):
    """A comparison of one run with the printed number; of an ensemble, 95 % of the members must compare."""

    needs = Needs(runs="one", number="printed")

    def accepted(self, claim: Question, results: Results) -> tuple[float, float]:
        assert claim.printed is not None
        return self.bounds_of(claim.printed)

    def bounds_of(self, printed: float) -> tuple[float, float]:
        """The smallest and the largest of our numbers that count as a printed one above zero."""
        raise NotImplementedError

    def met(self, ours: float, printed: float) -> bool:
        """Whether our number counts as the printed one."""
        low, high = sorted(self.bounds_of(printed))
        return low <= ours <= high

    def judge(self, claim: Question, results: Results) -> Judgement:
        rows = [row for choice in claim.runs for _, row in select(choice, results).iterrows()]
        if len(rows) != 1:
            raise InputError(f"a printed number is compared with one run, not with {len(rows)}")
        assert claim.printed is not None
        if rows[0].get("members", 1) == 1:
            ours = float(values(claim, claim.runs, results)[0])
            return Judgement(self.met(ours, claim.printed), ours, f"{ours:.6g}")
        file, _ = ensemble_of("comparison", claim.runs, results)
        members = member_values(file, claim.quantity, claim.runs[0].study)
        inside = sum(self.met(float(number), claim.printed) for number in members)
        return Judgement(inside >= SURE*members.size, float(np.median(members)),
                       f"{inside} of {members.size} members, {members.min():.6g} .. {members.max():.6g}")


class Relative(OfPrinted):
    """|ours/printed - 1| <= tolerance."""

    kind: Literal["relative"] = KIND
    bounded = "within {self.tolerance:g} relative of the printed number"
    tolerance: Real = Field(gt=0, description="largest relative difference")

    def bounds_of(self, printed: float) -> tuple[float, float]:
        return printed*(1.0 - self.tolerance), printed*(1.0 + self.tolerance)


class Digits(OfPrinted):
    """Ours rounds to the printed number at all its printed digits."""

    kind: Literal["digits"] = KIND
    bounded = "rounds to the {self.digits} printed digits"
    digits: Annotated[int, Field(gt=0, le=17), NO_TRUTH] = Field(description="significant digits printed")

    def bounds_of(self, printed: float) -> tuple[float, float]:
        half = 0.5*10.0**(math.floor(math.log10(printed)) - self.digits + 1)
        return printed - half, printed + half

    def met(self, ours: float, printed: float) -> bool:
        places = self.digits - 1
        return f"{ours:.{places}e}" == f"{printed:.{places}e}"


class Factor(OfPrinted):
    """printed/factor <= ours <= printed*factor, for numbers that depend on round-off or chaos."""

    kind: Literal["factor"] = KIND
    bounded = "within a factor {self.factor:g} of the printed number"
    factor: Real = Field(gt=1, description="largest ratio of the two numbers, either way")

    def bounds_of(self, printed: float) -> tuple[float, float]:
        return printed/self.factor, printed*self.factor


class Untestable(Criterion):
    """No criterion can be stated."""

    kind: Literal["none"] = KIND
    needs = Needs(runs="none", quantity="nothing")
    measured = "no criterion can be stated"

    def judge(self, claim: Question, results: Results) -> Judgement:
        return Judgement(False, math.nan, "")
