"""Criterion on where a rigid body ends, against numbers of another code."""
import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from liestep.claims.criteria.base import KIND, STOPPED, Criterion, Outcome
from liestep.claims.question import Question
from liestep.claims.selection import Results, single_runs, times, variable
from liestep.errors import InputError
from liestep.mechanics.contracts.norms import norm_of, quaternion_matrix
from liestep.study.plan.values import Real

UNIT = 1e-3  # how far the length of a quaternion may be from 1: rounded to few decimals, it is scaled


class Attitude(Criterion):
    """The last sample of the stored rotation matrix `quantity` is the attitude of a quaternion, in each run."""

    one_run: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    judges: ClassVar[str] = "variable"

    kind: Literal["attitude"] = KIND
    expected: Annotated[list[Real], Field(min_length=4, max_length=4)] = Field(
        description="unit quaternion from body to space, scalar part first; its sign does not count")
    tolerance: Real = Field(gt=0, description="largest angle between the two (rad)")

    def describe(self, claim: Question) -> str:
        return f"last {claim.quantity} within {self.tolerance:g} rad of the quaternion {self.expected}"

    def judge(self, claim: Question, results: Results) -> Outcome:
        q = np.array(self.expected)
        size = float(np.sqrt(np.sum(q*q)))
        if abs(size - 1.0) > UNIT:
            raise InputError(f"the expected quaternion has length {size:.6g}; it must be 1")
        true, found, ends = quaternion_matrix(q/size), [], []
        for file in single_runs(self.kind, claim.runs, results):
            if file is None:
                return STOPPED
            values = variable(file, claim.quantity)
            if values.shape[1:] != (3, 3):
                raise InputError(f"{claim.quantity} is no rotation matrix: its shape after the time is"
                                 f" {values.shape[1:]}")
            chord = float(norm_of("attitude").distance(values[-1:], true[None])[0])
            found.append(2.0*math.asin(min(0.5*chord, 1.0)))
            ends.append(float(times(file, claim.quantity)[-1]))
        return Outcome(max(found) <= self.tolerance, max(found),
                       ", ".join(f"{angle:.4g} rad at t = {end:.6g}" for angle, end in zip(found, ends, strict=True)))
