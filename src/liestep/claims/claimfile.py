"""Schema of a claims file (config/claims/<paper>.yaml): statements of a paper with criteria that are
written before the result."""
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from liestep.errors import InputError
from liestep.study.complaints import complaint
from liestep.study.config import NO_TRUTH, NotNegative, Real, Strict
from liestep.study.yamlfile import read_yaml

VERDICTS = ("reproduced", "recovered", "calibrated", "qualitative", "not reproduced", "not testable")
KIND = "which criterion this is"


class RunChoice(Strict):
    """Runs of a study by their keys; what is left out matches everything."""

    study: str = Field(description="id of the study")
    problem: str = Field(description="key of the problem")
    integrator: str = Field(description="key of the integrator")
    resolution: str | None = Field(None,
                                   description="label of the resolution, for example h0.01 or tol0.0001 (default: all)")


class Relative(Strict):
    """|ours/printed - 1| <= tolerance."""

    kind: Literal["relative"] = Field(description=KIND)
    tolerance: Real = Field(gt=0, description="largest relative difference")


class Digits(Strict):
    """Ours rounds to the printed number at all its printed digits."""

    kind: Literal["digits"] = Field(description=KIND)
    digits: Annotated[int, Field(gt=0, le=17), NO_TRUTH] = Field(description="significant digits printed")


class Factor(Strict):
    """printed/factor <= ours <= printed*factor, for numbers that depend on round-off or chaos."""

    kind: Literal["factor"] = Field(description=KIND)
    factor: Real = Field(gt=1, description="largest ratio of the two numbers, either way")


class Limits(Strict):
    """One or two limits."""

    at_most: Real | None = Field(None, description="upper limit")
    at_least: Real | None = Field(None, description="lower limit")

    @model_validator(mode="after")
    def _one_at_least(self) -> "Bounds":
        if self.at_most is None and self.at_least is None:
            raise ValueError("give at_most, at_least or both")
        if None not in (self.at_most, self.at_least) and self.at_least > self.at_most:
            raise ValueError("at_least must not be greater than at_most")
        return self


class Bounds(Limits):
    """Limits of each run's number, or of their median."""

    statistic: Literal["each", "median"] = Field("each", description="each: every number lies within the limits;"
                                                 " median: their median does")


class Limit(Bounds):
    """Every chosen run's quantity lies within the limits."""

    kind: Literal["limit"] = Field(description=KIND)


class Quantile(Strict):
    """The printed number lies inside the central `level` interval of the ensemble's members."""

    kind: Literal["quantile"] = Field(description=KIND)
    level: Real = Field(0.9, gt=0, lt=1, description="probability of the interval")


class Ratio(Bounds):
    """The quantity divided by that of the `against` run (same order of runs) lies within the limits."""

    kind: Literal["ratio"] = Field(description=KIND)


class Order(Strict):
    """The study's order table says asymptotic and |p - theory| <= max(u, 0.05)."""

    kind: Literal["order"] = Field(description=KIND)
    theory: Real = Field(description="order that the theory predicts")


class Drift(Strict):
    """The study's drift table has this verdict for the quantity, at T and at 4 T where both were run."""

    kind: Literal["drift"] = Field(description=KIND)
    verdict: Literal["bounded", "round-off", "drift"] = Field("bounded",
                                                              description="verdict that the drift table must have")


class Extremum(Limits):
    """The time of the largest or smallest absolute value of the stored variable `quantity` lies within the
    limits, for each of `indices`."""

    kind: Literal["extremum"] = Field(description=KIND)
    indices: list[list[NotNegative]] = Field([[]], min_length=1, description="components after the time, for example"
                                             " [[0, 1]]: body 0, axis 1")
    of: Literal["largest", "smallest"] = Field("largest", description="which extremum of the absolute value")
    rate: bool = Field(False, description="of the derivative in time, by central differences of the samples")
    prominence: Real = Field(1.0, ge=1, description="factor by which the extremum must differ from the median of the"
                             " absolute values")


class State(Strict):
    """The last sample of the stored variable `quantity` is the expected one, in each component."""

    kind: Literal["state"] = Field(description=KIND)
    expected: list[Real | list[Real]] = Field(min_length=1, description="components of the variable")
    tolerance: Real = Field(gt=0, description="largest difference of a component")


class Untestable(Strict):
    """No criterion can be stated."""

    kind: Literal["none"] = Field(description=KIND)


Criterion = Annotated[Relative | Digits | Factor | Limit | Quantile | Ratio | Order | Drift | Extremum | State
                      | Untestable,
                      Field(discriminator="kind")]


class Claim(Strict):
    """One statement of a paper."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="name of the claim")
    statement: str = Field(description="what the paper says, in our words")
    source: str = Field(description="where: section, equation, figure")
    printed: Real | None = Field(None, description="printed number, if there is one")
    units: str = Field("", description="units of the printed number")
    runs: list[RunChoice] = Field([], description="the runs that decide")
    against: list[RunChoice] = Field([], description="ratio only: the runs to compare with")
    quantity: str = Field("", description="column of metrics.csv, or energy_change, an invariant of the drift table,"
                          " or (extremum, state) a variable of the runs' files")
    criterion: Criterion = Field(description="when the claim counts as reproduced; committed before the run")
    verdict: Literal["reproduced", "recovered", "calibrated", "qualitative"] = Field(
        "reproduced", description="verdict when the criterion is met")
    scanned: NotNegative = Field(0, description="recovered only: number of settings that were scanned to find a datum")
    known: bool = Field(description="whether the outcome was known beforehand from a trial")
    setting: str = Field("", description="data that the paper does not print, and how they were chosen")

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        kind = self.criterion.kind
        if kind != "none" and not self.runs:
            raise ValueError(f"criterion {kind} needs runs")
        if kind in ("relative", "digits", "factor", "quantile") and not self.printed:
            raise ValueError(f"criterion {kind} needs a printed number other than zero")
        if kind == "ratio" and not self.against:
            raise ValueError("criterion ratio needs the runs to compare with (key against)")
        return self


class ClaimFile(Strict):
    """All claims of one paper."""

    paper: str = Field(description="id of the paper")
    citation: str = Field(description="full citation")
    claims: list[Claim] = Field(description="the statements")


def load_claims(path: Path) -> ClaimFile:
    """Validated claims of a paper.

    Raises:
        InputError: file, line, key, and what is allowed.
    """
    content, lines = read_yaml(path)
    try:
        claims = ClaimFile.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}, {complaint(error, content, lines, ClaimFile)}") from None
    names = [claim.id for claim in claims.claims]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path}: claim {name} appears twice")
    return claims
