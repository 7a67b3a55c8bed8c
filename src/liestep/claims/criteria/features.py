"""Criteria on stored variables of runs: where one is extreme, where a run ends, whether two runs are the same."""
import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from liestep.claims.criteria.base import KIND, STOPPED, Criterion, Limits, Outcome
from liestep.claims.question import Question
from liestep.claims.selection import Results, single_runs, times, variable
from liestep.errors import InputError
from liestep.study.plan.values import NotNegative, Real

if TYPE_CHECKING:
    from liestep.simulation.runs.files import RunFile


def _the_run(kind: str, claim: Question, results: Results) -> "RunFile | None":
    """The file of the one run that a claim names; None if that stopped early."""
    if len(claim.runs) != 1:
        raise InputError(f"criterion {kind} needs one run, not {len(claim.runs)}")
    return single_runs(kind, claim.runs, results)[0]


class Extremum(Limits, Criterion):
    """The time of the largest or smallest absolute value of the stored variable `quantity` lies within the
    limits, for each of `indices`."""

    one_run: ClassVar[bool] = True
    judges: ClassVar[str] = "variable"

    kind: Literal["extremum"] = KIND
    indices: list[list[NotNegative]] = Field([[]], min_length=1, description="components after the time, for example"
                                             " [[0, 1]]: body 0, axis 1")
    of: Literal["largest", "smallest"] = Field("largest", description="which extremum of the absolute value")
    rate: bool = Field(False, description="of the derivative in time, by central differences of the samples")
    prominence: Real = Field(1.0, ge=1, description="factor by which the extremum must differ from the median of the"
                             " absolute values")

    def describe(self, claim: Question) -> str:
        kind = f"{self.of} |{'d ' if self.rate else ''}{claim.quantity}{'/dt' if self.rate else ''}|"
        factor = f", a factor {self.prominence:g} from the median" if self.prominence > 1.0 else ""
        return f"time of the {kind} in s {self.bounds}{factor}"

    def judge(self, claim: Question, results: Results) -> Outcome:
        file = _the_run(self.kind, claim, results)
        if file is None:
            return STOPPED
        values, time = variable(file, claim.quantity), times(file, claim.quantity)
        found = [self._extremum(values, time, index) for index in self.indices]
        at = np.array([when for when, _, _ in found])
        prominent = all(factor >= self.prominence for _, factor, _ in found)
        return Outcome(bool(np.all(self.holds(at))) and prominent, self.worst(at),
                       "; ".join(numbers for *_, numbers in found))

    def _extremum(self, values: np.ndarray, time: np.ndarray, index: list[int]) -> tuple[float, float, str]:
        """Time of the extremum of one component, its ratio to the median, and the numbers in one line.

        Args:
            values: (time, ...) samples.
            time: (time,) s.

        Raises:
            InputError: the index does not fit the variable's shape.
        """
        shape = values.shape[1:]
        if len(index) != len(shape) or any(not 0 <= k < size for k, size in zip(index, shape, strict=True)):
            raise InputError(f"the index {index} does not fit the shape {shape} that the variable has after the time")
        place: tuple[Any, ...] = (slice(None), *index)
        series = values[place]
        size = np.abs(np.gradient(series, time) if self.rate else series)
        k, median = int(size.argmax() if self.of == "largest" else size.argmin()), float(np.median(size))
        factor = size[k]/median if self.of == "largest" else median/size[k]
        return float(time[k]), float(factor), f"{size[k]:.4g} at t = {time[k]:.4g}, median {median:.4g}"


class State(Criterion):
    """The last sample of the stored variable `quantity` is the expected one, in each component."""

    one_run: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    judges: ClassVar[str] = "variable"

    kind: Literal["state"] = KIND
    expected: list[Real | list[Real]] = Field(min_length=1, description="components of the variable")
    tolerance: Real = Field(gt=0, description="largest difference of a component")
    indices: list[list[NotNegative]] = Field([], description="only these components, for example [[0, 1], [2, 1]];"
                                             " `expected` is then a list of numbers (default: all)")

    def describe(self, claim: Question) -> str:
        which = f" at {self.indices}" if self.indices else ""
        return f"last sample of {claim.quantity}{which} within {self.tolerance:g} of {self.expected}"

    def judge(self, claim: Question, results: Results) -> Outcome:
        file = _the_run(self.kind, claim, results)
        if file is None:
            return STOPPED
        values, time = variable(file, claim.quantity), times(file, claim.quantity)
        try:
            expected = np.array(self.expected, dtype=float)
        except ValueError:
            expected = np.empty(0)
        if self.indices:
            values = self._components(values)
        if expected.shape != values.shape[1:]:
            raise InputError(f"the expected components {self.expected} do not fit the shape {values.shape[1:]} that the"
                             " variable has after the time")
        difference = float(np.abs(values[-1] - expected).max())
        return Outcome(difference <= self.tolerance, math.nan,
                       f"largest difference {difference:.4g} at t = {time[-1]:.6g}")

    def _components(self, values: np.ndarray) -> np.ndarray:
        """The chosen components, (time, number); raises InputError for an index that does not fit."""
        shape = values.shape[1:]
        for index in self.indices:
            if len(index) != len(shape) or any(k >= size for k, size in zip(index, shape, strict=True)):
                raise InputError(f"the index {index} does not fit the shape {shape} that the variable has after the"
                                 " time")
        places: list[tuple[Any, ...]] = [(slice(None), *index) for index in self.indices]
        return np.stack([values[place] for place in places], axis=1)


class SameState(Criterion):
    """The stored variable `quantity` of each run is that of the `against` run (same order of runs), in each component
    of the last sample or of all samples."""

    needs_against: ClassVar[bool] = True
    one_run: ClassVar[bool] = True
    judges: ClassVar[str] = "variable"

    kind: Literal["same_state"] = KIND
    tolerance: Real = Field(0.0, ge=0, description="largest difference of a component (0: the same number)")
    samples: Literal["all", "last"] = Field("all", description="which samples are compared")

    def describe(self, claim: Question) -> str:
        which = "all samples" if self.samples == "all" else "the last sample"
        return f"{which} of {claim.quantity} within {self.tolerance:g} of the compared runs"

    def judge(self, claim: Question, results: Results) -> Outcome:
        if len(claim.runs) != len(claim.against):
            raise InputError(f"{len(claim.runs)} runs cannot be compared with {len(claim.against)}")
        pairs = list(zip(single_runs(self.kind, claim.runs, results), single_runs(self.kind, claim.against, results),
                         strict=True))
        whole = [(file, other) for file, other in pairs if file is not None and other is not None]
        if len(whole) < len(pairs):
            return STOPPED
        found = np.array([self._difference(claim.quantity, *pair) for pair in whole])
        return Outcome(bool(np.all(found <= self.tolerance)), float(found.max()),
                       "largest difference " + ", ".join(f"{value:.4g}" for value in found))

    def _difference(self, name: str, file: "RunFile", other: "RunFile") -> float:
        """Largest difference of a component; raises InputError for other shapes or other times."""
        first, second = variable(file, name), variable(other, name)
        if first.shape != second.shape or not np.array_equal(times(file, name), times(other, name)):
            raise InputError(f"{name} of the two runs cannot be compared: shapes {first.shape} and {second.shape}, at"
                             " times that must be the same")
        part = slice(None) if self.samples == "all" else slice(-1, None)
        return float(np.abs(first[part] - second[part]).max())


class Contrast(Limits, Criterion):
    """The factor by which the largest or smallest absolute value of the stored variable `quantity` differs from the
    median of the absolute values lies within the limits."""

    one_run: ClassVar[bool] = True
    judges: ClassVar[str] = "variable"

    kind: Literal["contrast"] = KIND
    of: Literal["largest", "smallest"] = Field("largest", description="which extremum of the absolute value")

    def describe(self, claim: Question) -> str:
        return f"factor between the {self.of} |{claim.quantity}| and the median {self.bounds}"

    def judge(self, claim: Question, results: Results) -> Outcome:
        file = _the_run(self.kind, claim, results)
        if file is None:
            return STOPPED
        size = np.abs(variable(file, claim.quantity))
        median = float(np.median(size))
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = float(size.max()/median if self.of == "largest" else median/size.min())
        return Outcome(bool(self.holds(np.array(factor))), factor, f"{factor:.4g}, median {median:.4g}")
