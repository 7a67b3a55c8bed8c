"""Criteria on stored variables: where a run ends, whether two runs are the same."""
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from liestep.claims.criteria.base import KIND, STOPPED, Criterion, Judgement, Needs
from liestep.claims.selection import Question, Results, RunChoice, select, variable
from liestep.errors import InputError
from liestep.study.plan.yamlfile import NotNegative, Real

Samples = tuple[np.ndarray, np.ndarray]  # of a variable (time, ...), and their times (time,) in s


class OfSamples(Criterion):
    """A criterion on the stored variable `quantity` of one run."""

    needs = Needs(runs="one", quantity="variable")

    def judge(self, claim: Question, results: Results) -> Judgement:
        if len(claim.runs) != 1:
            raise InputError(f"criterion {self.kind} needs one run, not {len(claim.runs)}")
        samples = self.stored(claim.quantity, claim.runs, results)
        return STOPPED if samples is None else self.judge_samples(*samples[0])

    def stored(self, name: str, choices: list[RunChoice], results: Results) -> list[Samples] | None:
        """Samples of a variable of the runs that the choices mean, each one run; None where one stopped early. Raises
        InputError: a choice means several runs, or one without such a variable."""
        rows = [(choice, select(choice, results)) for choice in choices]
        for _, found in rows:
            if len(found) != 1:
                raise InputError(f"criterion {self.kind} needs one run, not {len(found)}")
        if any(found.iloc[0].status != "ok" for _, found in rows):
            return None
        files = [results[choice.study].file(*found.iloc[0][["problem", "integrator", "resolution"]])
                 for choice, found in rows]
        clock = "accepted_time" if name.startswith("accepted_") else "time"
        return [(variable(file, name), variable(file, clock)) for file in files]

    def judge_samples(self, values: np.ndarray, time: np.ndarray) -> Judgement:
        """Judge the samples (time, ...) of the variable at the times (time,) s of a run that came to its end."""
        raise NotImplementedError

    @staticmethod
    def component(values: np.ndarray, index: Sequence[int]) -> np.ndarray:
        """One component of samples (time, ...), (time,). Raises InputError for an index that does not fit."""
        shape = values.shape[1:]
        if len(index) != len(shape) or any(k >= size for k, size in zip(index, shape, strict=True)):
            raise InputError(f"the index {index} does not fit the shape {shape} that the variable has after the time")
        place: tuple[slice | int, ...] = (slice(None), *index)
        return values[place]


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
            values = np.stack([self.component(values, index) for index in self.indices], axis=1)
        if expected.shape != values.shape[1:]:
            raise InputError(f"the expected components {self.expected} do not fit the shape {values.shape[1:]} that the"
                             " variable has after the time")
        difference = float(np.abs(values[-1] - expected).max())
        return Judgement(difference <= self.tolerance, math.nan,
                       f"largest difference {difference:.4g} at t = {time[-1]:.6g}")


class SameState(OfSamples):
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
        runs, against = (self.stored(claim.quantity, chosen, results) for chosen in (claim.runs, claim.against))
        if runs is None or against is None:
            return STOPPED
        differences = np.array([self._difference(claim.quantity, *pair) for pair in zip(runs, against, strict=True)])
        return Judgement(bool(np.all(differences <= self.tolerance)), float(differences.max()),
                       "largest difference " + ", ".join(f"{value:.4g}" for value in differences))

    def _difference(self, name: str, one: Samples, other: Samples) -> float:
        """Largest difference of a component; raises InputError for other shapes or other times."""
        (first, time), (second, times) = one, other
        if first.shape != second.shape or not np.array_equal(time, times):
            raise InputError(f"{name} of the two runs cannot be compared: shapes {first.shape} and {second.shape}, at"
                             " times that must be the same")
        compared = slice(None) if self.samples == "all" else slice(-1, None)
        return float(np.abs(first[compared] - second[compared]).max())
