"""What all criteria have in common."""
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from liestep.claims.selection import Question, Results
from liestep.study.plan.yamlfile import Real, Strict

KIND = Field(description="which criterion this is")


@dataclass(frozen=True)
class Judgement:
    """Whether a criterion is met, our number (NaN for none), and the numbers that decided in one line. undecided: it is
    not met, but nothing speaks against it either; what was run is too short or too coarse."""

    met: bool
    ours: float
    evidence: str
    undecided: bool = False


STOPPED = Judgement(False, math.nan, "the run stopped early")


@dataclass(frozen=True)
class Needs:
    """What a criterion needs of a claim: `runs` for each choice, the `quantity` (a column of metrics.csv, or else), the
    `number` of the source as the claim's `printed` (not zero) or in the criterion's own fields, runs `against` which it
    compares, and a `table` of the study that decides."""

    runs: Literal["none", "some", "one", "ensemble"] = "some"
    quantity: Literal["nothing", "column", "variable", "invariant"] = "column"
    number: Literal["none", "printed", "own"] = "none"
    against: bool = False
    table: str = ""


class Criterion(Strict):
    """When a claim is met. A subclass has a field `kind`, a Literal of its name with the description KIND, what it
    `needs`, where that is not one column of some runs, and in words what is `measured`, and how it is `bounded`:
    templates of str.format over `self` and `claim`, or the methods `measures` and `bounds`."""

    if TYPE_CHECKING:
        kind: str
    needs: ClassVar[Needs] = Needs()
    unit: ClassVar[str] = ""  # of our number: that of the quantity, or else this; 1 without a unit
    measured: ClassVar[str] = "{claim.quantity}"
    bounded: ClassVar[str] = ""
    shown: ClassVar[tuple[str, ...]] = ()  # figures and tables of every study that show the claim

    def quantities(self, claim: Question) -> tuple[str, ...]:
        """Names of everything of the kind `needs.quantity` that the criterion reads."""
        return (claim.quantity,)

    def require(self) -> None:
        """Raises InputError when something that the criterion names does not exist; asked before any run is made."""

    def accepted(self, claim: Question, results: Results) -> tuple[float, float]:
        """The smallest and the largest of our numbers that count as the printed one, which is above zero; only of
        criteria that need the printed number."""
        raise NotImplementedError

    def measures(self, claim: Question) -> str:
        """What is measured, in words."""
        return self.measured.format(self=self, claim=claim)

    @property
    def bounds(self) -> str:
        """What our number is held against, in words."""
        return self.bounded.format(self=self)

    def judge(self, claim: Question, results: Results) -> Judgement:
        """Judge a claim from the results of its studies. Raises InputError: the claim names a run or quantity that does
        not exist, or too many runs."""
        raise NotImplementedError(f"{type(self).__name__} has no method judge")


class Limits(Strict):
    """One or two limits."""

    at_most: Real | None = Field(None, description="upper limit")
    at_least: Real | None = Field(None, description="lower limit")

    @model_validator(mode="after")
    def _one_at_least(self) -> "Limits":
        if self.at_most is None and self.at_least is None:
            raise ValueError("give at_most, at_least or both")
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ValueError("at_least must not be greater than at_most")
        return self

    @property
    def bounds(self) -> str:
        """The limits in words."""
        return " and ".join(f"{sign} {limit:g}"
                            for sign, limit in (("<=", self.at_most), (">=", self.at_least)) if limit is not None)

    def holds(self, found: np.ndarray) -> np.ndarray:
        """Which numbers lie within the limits; NaN does not."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return (found >= low) & (found <= high)

    def domain(self, quantity: str) -> tuple[float, float]:
        """The smallest and the largest number that the quantity can give the criterion."""
        return -math.inf, math.inf

    @property
    def of_ratios(self) -> "Limits":
        """The limits of the numbers that are divided by those of the runs to compare with."""
        return self

    def judged(self, numbers: list[float] | np.ndarray, parts: Iterable[str], nothing: str = "") -> Judgement:
        """Met if all numbers hold, with the numbers in words; undecided for the reason `nothing` without any."""
        values = np.array(numbers)
        if not values.size:
            return Judgement(False, math.nan, nothing, undecided=True)
        return Judgement(bool(np.all(self.holds(values))), self.worst(values), "; ".join(parts))

    def worst(self, found: np.ndarray) -> float:
        """The value furthest beyond a limit; if all are within, the one nearest to a limit. NaN if one is NaN."""
        if not np.all(np.isfinite(found)):
            return math.nan
        low, high = float(found.min()), float(found.max())
        beyond = ((self.at_least - low, low) if self.at_least is not None else (-math.inf, low),
                  (high - self.at_most, high) if self.at_most is not None else (-math.inf, high))
        return max(beyond)[1]
