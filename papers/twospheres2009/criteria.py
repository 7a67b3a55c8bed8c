"""The criterion of this paper's chaotic means: a printed number is one draw from a distribution."""
import math
from typing import Literal

import numpy as np
from pydantic import Field

from liestep.claims.selection import Results, ensemble_of, variable
from liestep.paper import KIND, Criterion, Judgement, Needs, Question
from liestep.study.plan.yamlfile import Real


class Quantile(Criterion):
    """The printed number lies inside the central `level` interval of the ensemble's members."""

    kind: Literal["quantile"] = KIND
    shown = ("ensemble",)
    needs = Needs(runs="ensemble", quantity="variable", number="printed")
    bounded = "of the ensemble: the printed number inside its central {self.level:.0%}"
    level: Real = Field(0.9, gt=0, lt=1, description="probability of the interval")

    def _members(self, claim: Question, results: Results) -> np.ndarray:
        """Numbers of the members of the one ensemble; NaN for members that failed."""
        file, complete = ensemble_of("quantile", claim.runs, results)
        members = variable(file, claim.quantity)
        return members if complete else np.full(members.shape, math.nan)

    def _interval(self, members: np.ndarray) -> tuple[float, float]:
        low, high = np.quantile(members, (0.5 - 0.5*self.level, 0.5 + 0.5*self.level))
        return float(low), float(high)

    def accepted(self, claim: Question, results: Results) -> tuple[float, float]:
        """Numbers whose ensemble, were it spread as that of the claim, would hold the printed one in its interval."""
        members = self._members(claim, results)
        low, high = self._interval(members)
        assert claim.printed is not None
        median = float(np.median(members))
        return claim.printed*median/high, claim.printed*median/low

    def judge(self, claim: Question, results: Results) -> Judgement:
        members = self._members(claim, results)
        if not np.all(np.isfinite(members)):
            return Judgement(False, math.nan, f"the ensemble of {members.size} members has one that failed")
        low, high = self._interval(members)
        assert claim.printed is not None
        below, equal = np.count_nonzero(members < claim.printed), np.count_nonzero(members == claim.printed)
        return Judgement(bool(low <= claim.printed <= high), float(np.median(members)),
                       f"{self.level:.0%} interval {low:.4g} .. {high:.4g} of {members.size} members, printed at"
                       f" quantile {(below + 0.5*equal)/members.size:.2f}")
