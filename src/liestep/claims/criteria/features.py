"""Criteria on stored variables: where one is extreme, where a run or a body ends, whether two runs are the same."""
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from liestep.claims.criteria.base import KIND, STOPPED, Criterion, Judgement, Limits, Needs
from liestep.claims.selection import Question, Results, single_runs, times, variable
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import norm_of, quaternion_matrix
from liestep.study.plan.yamlfile import NotNegative, Real

if TYPE_CHECKING:
    from liestep.simulation.runs.files import RunFile


UNIT = 1e-3  # how far the length of a quaternion may be from 1: rounded to few decimals, it is scaled


def _component(values: np.ndarray, index: Sequence[int]) -> np.ndarray:
    """One component of samples (time, ...), (time,). Raises InputError for an index that does not fit."""
    shape = values.shape[1:]
    if len(index) != len(shape) or any(k >= size for k, size in zip(index, shape, strict=True)):
        raise InputError(f"the index {index} does not fit the shape {shape} that the variable has after the time")
    place: tuple[Any, ...] = (slice(None), *index)
    return values[place]


class OfSamples(Criterion):
    """A criterion on the stored variable `quantity` of one run."""

    needs = Needs(runs="one", quantity="variable")

    def judge(self, claim: Question, results: Results) -> Judgement:
        if len(claim.runs) != 1:
            raise InputError(f"criterion {self.kind} needs one run, not {len(claim.runs)}")
        file, = single_runs(self.kind, claim.runs, results)
        if file is None:
            return STOPPED
        return self.judge_samples(variable(file, claim.quantity), times(file, claim.quantity))

    def judge_samples(self, values: np.ndarray, time: np.ndarray) -> Judgement:
        """Judge the samples (time, ...) of the variable at the times (time,) s of a run that came to its end."""
        raise NotImplementedError


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
        series = _component(values, index)
        size = np.abs(np.gradient(series, time) if self.rate else series)
        k, median = int(size.argmax() if self.of == "largest" else size.argmin()), float(np.median(size))
        factor = size[k]/median if self.of == "largest" else median/size[k]
        return float(time[k]), float(factor), f"{size[k]:.4g} at t = {time[k]:.4g}, median {median:.4g}"


class State(OfSamples):
    """The last sample of the stored variable `quantity` is the expected one, in each component."""

    kind: Literal["state"] = KIND
    needs = Needs(runs="one", quantity="variable", number="own")
    bounded = "within {self.tolerance:g} of {self.expected}"
    expected: list[Real | list[Real]] = Field(min_length=1, description="components of the variable")
    tolerance: Real = Field(gt=0, description="largest difference of a component")
    indices: list[list[NotNegative]] = Field([], description="only these components, for example [[0, 1], [2, 1]];"
                                             " `expected` is then a list of numbers (default: all)")

    def measures(self, claim: Question) -> str:
        return f"last sample of {claim.quantity}" + (f" at {self.indices}" if self.indices else "")

    def judge_samples(self, values: np.ndarray, time: np.ndarray) -> Judgement:
        try:
            expected = np.array(self.expected, dtype=float)
        except ValueError:
            expected = np.empty(0)
        if self.indices:
            values = np.stack([_component(values, index) for index in self.indices], axis=1)
        if expected.shape != values.shape[1:]:
            raise InputError(f"the expected components {self.expected} do not fit the shape {values.shape[1:]} that the"
                             " variable has after the time")
        difference = float(np.abs(values[-1] - expected).max())
        return Judgement(difference <= self.tolerance, math.nan,
                       f"largest difference {difference:.4g} at t = {time[-1]:.6g}")


class SameState(Criterion):
    """The stored variable `quantity` of each run is that of the `against` run (same order of runs), in each component
    of the last sample or of all samples."""

    kind: Literal["same_state"] = KIND
    needs = Needs(runs="one", quantity="variable", against=True)
    bounded = "within {self.tolerance:g} of the compared runs"
    tolerance: Real = Field(0.0, ge=0, description="largest difference of a component (0: the same number)")
    samples: Literal["all", "last"] = Field("all", description="which samples are compared")

    def measures(self, claim: Question) -> str:
        return f"{'all samples' if self.samples == 'all' else 'the last sample'} of {claim.quantity}"

    def judge(self, claim: Question, results: Results) -> Judgement:
        if len(claim.runs) != len(claim.against):
            raise InputError(f"{len(claim.runs)} runs cannot be compared with {len(claim.against)}")
        pairs = list(zip(single_runs(self.kind, claim.runs, results), single_runs(self.kind, claim.against, results),
                         strict=True))
        whole = [(file, other) for file, other in pairs if file is not None and other is not None]
        if len(whole) < len(pairs):
            return STOPPED
        differences = np.array([self._difference(claim.quantity, *pair) for pair in whole])
        return Judgement(bool(np.all(differences <= self.tolerance)), float(differences.max()),
                       "largest difference " + ", ".join(f"{value:.4g}" for value in differences))

    def _difference(self, name: str, file: "RunFile", other: "RunFile") -> float:
        """Largest difference of a component; raises InputError for other shapes or other times."""
        first, second = variable(file, name), variable(other, name)
        if first.shape != second.shape or not np.array_equal(times(file, name), times(other, name)):
            raise InputError(f"{name} of the two runs cannot be compared: shapes {first.shape} and {second.shape}, at"
                             " times that must be the same")
        part = slice(None) if self.samples == "all" else slice(-1, None)
        return float(np.abs(first[part] - second[part]).max())


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


class Attitude(Criterion):
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
        return Judgement(max(found) <= self.tolerance, max(found),
                       ", ".join(f"{angle:.4g} rad at t = {end:.6g}" for angle, end in zip(found, ends, strict=True)))
