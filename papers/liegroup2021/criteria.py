"""Criteria of this paper's claims: what variable steps gain, and where and how sharply a variable is extreme."""
from typing import Literal

import numpy as np
from pydantic import Field

from liestep.claims.selection import Results, number_columns, require_quantity, select
from liestep.paper import KIND, Bounds, Criterion, InputError, Judgement, Limits, Needs, OfSamples, Question
from liestep.study.plan.yamlfile import NotNegative, Real

from .gains import gains


class Gain(Bounds, Criterion):
    """The quantity of the `against` runs (same order of choices, each a ladder of constant steps) at as many steps as
    each adaptive run takes, divided by that run's quantity, lies within the limits."""

    kind: Literal["gain"] = KIND
    needs = Needs(against=True)
    unit = "1"
    measured = ("{self.median_of}{claim.quantity} of the compared runs at equal {self.over}, divided by that of the"
                " run,")
    over: str = Field("steps", description="column of metrics.csv that is to be equal")

    def quantities(self, claim: Question) -> tuple[str, ...]:
        return (claim.quantity, self.over)

    def judge(self, claim: Question, results: Results) -> Judgement:
        if len(claim.runs) != len(claim.against):
            raise InputError(f"{len(claim.runs)} adaptive runs cannot be compared with {len(claim.against)} ladders")
        found = []
        for one, other in zip(claim.runs, claim.against, strict=True):
            rows, ladder = select(one, results), select(other, results)
            for row in (rows.iloc[0], ladder.iloc[0]):
                for name in (claim.quantity, self.over):
                    require_quantity(name, number_columns(row))
            found.append(gains(rows, ladder, claim.quantity, self.over)[0])
        return self.outcome(np.concatenate(found))


class Extremum(Limits, OfSamples):
    """The time of the largest or smallest absolute value of the stored variable `quantity` lies within the
    limits, for each of `indices`."""

    kind: Literal["extremum"] = KIND
    unit = "s"
    indices: list[list[NotNegative]] = Field([[]], min_length=1, description="components after the time, for example"
                                             " [[0, 1]]: body 0, axis 1")
    of: Literal["largest", "smallest"] = Field("largest", description="which extremum of the absolute value")
    rate: bool = Field(False, description="of the derivative in time, by central differences of the samples")
    prominence: Real = Field(1.0, ge=1, description="factor by which the extremum must differ from the median of the"
                             " absolute values")

    def measures(self, claim: Question) -> str:
        kind = f"{self.of} |{'d ' if self.rate else ''}{claim.quantity}{'/dt' if self.rate else ''}|"
        factor = f", a factor {self.prominence:g} from the median," if self.prominence > 1.0 else ""
        return f"time of the {kind}{factor}"

    def judge_samples(self, values: np.ndarray, time: np.ndarray) -> Judgement:
        extrema = [self._extremum(values, time, index) for index in self.indices]
        at = np.array([when for when, _, _ in extrema])
        prominent = all(factor >= self.prominence for _, factor, _ in extrema)
        return Judgement(bool(np.all(self.holds(at))) and prominent, self.worst(at),
                       "; ".join(numbers for *_, numbers in extrema))

    def _extremum(self, values: np.ndarray, time: np.ndarray, index: list[int]) -> tuple[float, float, str]:
        """Time of the extremum of one component, its ratio to the median, and the numbers in one line."""
        series = self.component(values, index)
        size = np.abs(np.gradient(series, time) if self.rate else series)
        k, median = int(size.argmax() if self.of == "largest" else size.argmin()), float(np.median(size))
        factor = size[k]/median if self.of == "largest" else median/size[k]
        return float(time[k]), float(factor), f"{size[k]:.4g} at t = {time[k]:.4g}, median {median:.4g}"


class Contrast(Limits, OfSamples):
    """The factor by which the largest or smallest absolute value of the stored variable `quantity` differs from the
    median of the absolute values lies within the limits."""

    kind: Literal["contrast"] = KIND
    unit = "1"
    measured = "factor between the {self.of} |{claim.quantity}| and the median"
    of: Literal["largest", "smallest"] = Field("largest", description="which extremum of the absolute value")

    def judge_samples(self, values: np.ndarray, time: np.ndarray) -> Judgement:
        size = np.abs(values)
        median = float(np.median(size))
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = float(size.max()/median if self.of == "largest" else median/size.min())
        return Judgement(bool(self.holds(np.array(factor))), factor, f"{factor:.4g}, median {median:.4g}")
