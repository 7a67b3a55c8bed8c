"""The criterion on what variable steps gain over as many constant ones."""
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from liestep.claims.criteria.base import KIND, Criterion, Outcome
from liestep.claims.criteria.numbers import Bounds
from liestep.claims.question import Question
from liestep.claims.selection import Results, number_columns, require_quantity, select
from liestep.errors import InputError
from liestep.study.tables.gain import gains


class Gain(Bounds, Criterion):
    """The quantity of the `against` runs (same order of choices, each a ladder of constant steps) at as many steps as
    each adaptive run takes, divided by that run's quantity, lies within the limits."""

    needs_against: ClassVar[bool] = True

    kind: Literal["gain"] = KIND
    over: str = Field("steps", description="column of metrics.csv that is to be equal")

    def quantities(self, claim: Question) -> tuple[str, ...]:
        return (claim.quantity, self.over)

    def describe(self, claim: Question) -> str:
        return (f"{self.median_of}{claim.quantity} of the compared runs at equal {self.over}, divided by that of the"
                f" run, {self.bounds}")

    def judge(self, claim: Question, results: Results) -> Outcome:
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
