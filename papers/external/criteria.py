"""The criterion on attitudes that other codes print as quaternions."""
import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from liestep.claims.selection import Results
from liestep.mechanics.contracts.formulated import norm_of, quaternion_matrix
from liestep.paper import KIND, STOPPED, InputError, Judgement, Needs, OfSamples, Question
from liestep.study.plan.yamlfile import Real

UNIT = 1e-3  # how far the length of a quaternion may be from 1: rounded to few decimals, it is scaled


class Attitude(OfSamples):
    """The last sample of the stored rotation matrix `quantity` is the attitude of a quaternion, in each run."""

    kind: Literal["attitude"] = KIND
    unit = "rad"
    needs = Needs(runs="one", quantity="variable", number="own")
    measured = "angle between the last {claim.quantity} and the quaternion {self.expected}"
    bounded = "within {self.tolerance:g} rad"
    expected: Annotated[list[Real], Field(min_length=4, max_length=4)] = Field(
        description="unit quaternion from body to space, scalar part first; its sign does not count")
    tolerance: Real = Field(gt=0, description="largest angle between the two (rad)")

    def judge(self, claim: Question, results: Results) -> Judgement:
        q = np.array(self.expected)
        size = float(np.sqrt(np.sum(q*q)))
        if abs(size - 1.0) > UNIT:
            raise InputError(f"the expected quaternion has length {size:.6g}; it must be 1")
        true, found, ends = quaternion_matrix(q/size), [], []
        samples = self.stored(claim.quantity, claim.runs, results)
        if samples is None:
            return STOPPED
        for values, time in samples:
            if values.shape[1:] != (3, 3):
                raise InputError(f"{claim.quantity} is no rotation matrix: its shape after the time is"
                                 f" {values.shape[1:]}")
            chord = float(norm_of("attitude").distance(values[-1:], true[None])[0])
            found.append(2.0*math.asin(min(0.5*chord, 1.0)))
            ends.append(float(time[-1]))
        return Judgement(max(found) <= self.tolerance, max(found),
                       ", ".join(f"{angle:.4g} rad at t = {end:.6g}" for angle, end in zip(found, ends, strict=True)))
