"""Does an invariant drift? Verdict from its signed deviation d = I - I(0) along one run, and its confirmation at 4 T. A
slope with its ordinary standard error calls a symplectic method drifting, because deviations are strongly correlated;
maxima of |d| miss a drift through zero. Hence block means, a moving-block bootstrap and a growth exponent together."""
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, log10
from typing import Literal

import numpy as np

from liestep.study.tables import liestep_judge as rules
from liestep.study.tables.liestep_judge import LEAST_BLOCKS, LEAST_SAMPLES, PERIODS_PER_BLOCK, SLACK

Verdict = Literal["bounded", "round-off", "drift", "undecided", "too short"]
DECIDED: tuple[Verdict, ...] = ("bounded", "round-off", "drift")
CONFIRMATION = 4.0  # a verdict counts when a run at least this many times as long gives it again


@dataclass(frozen=True)
class DriftEstimate:
    """Result of `drift_verdict`; deviations in the unit of the invariant, times in that of `time`.

    verdict, reason   the class, and one sentence that explains it
    amplitude         A, median over the blocks of the 5-95 % range inside a block
    slope             S, least-squares slope of the block means times T; `slope_low`, `slope_high`: its 95 % interval
    bound             x, the statement of a bounded deviation: |slope T| < x A at 95 %; infinite for a slope without A
    envelope          95 % interval of the growth of the block ranges between T/10 and T, by a straight line
    wander            range of the block means, in amplitudes, and how many times it is that of a tenth of them
    one_signed        changes of the block means of the more frequent sign, in excess, in standard deviations of a walk
    half_slopes       the same slope of the first and of the second half of the blocks
    residual          range of the block means about the straight line
    growth            g, exponent of the running maximum of |d| between T/100 and T
    decade_growth     the same between T/100 and T/10 and between T/10 and T
    lasting_growth    g with the median of the last tenth of the block maxima in place of the maximum at T
    largest           largest |d| of samples and block means
    round_off         100 eps sqrt(steps) scale
    duration          T
    deciding_time     run length that would decide an undecided or too short case (an extrapolation), else None
    """

    verdict: Verdict
    reason: str
    amplitude: float
    slope: float
    slope_low: float
    slope_high: float
    bound: float
    envelope: tuple[float, float]
    wander: tuple[float, float]
    one_signed: float
    half_slopes: tuple[float, float]
    residual: float
    growth: float
    decade_growth: tuple[float, float]
    lasting_growth: float
    largest: float
    round_off: float
    duration: float
    deciding_time: float | None = None


@dataclass(frozen=True)
class KeptVariable:
    """Where a file keeps something that the exact motion keeps."""

    variable: str
    index: int | None   # of the component, None for a single number
    residual: bool      # measured from zero

    def of(self, values: np.ndarray) -> np.ndarray:
        """Its part of the variable's values (..., components)."""
        return values if self.index is None else values[..., self.index]


def kept_variables(attributes: Mapping[str, float | str], attribute: str) -> dict[str, KeptVariable]:
    """What an attribute of a file lists, `invariants` or `residuals`, by name."""
    kept = {}
    for item in str(attributes.get(attribute, "")).split():
        name, _, place = item.partition("=")
        variable, _, index = place.partition(":")
        kept[name] = KeptVariable(variable, int(index) if index else None, attribute == "residuals")
    return kept


def drift_verdict(time: np.ndarray, deviation: np.ndarray, block_mean: np.ndarray, *, scale: float = 1.0, steps: int,
                  period: float | None = None, seed: int = 0) -> DriftEstimate:
    """Classify the deviation of one invariant along one run.

    time, deviation: shape (n,), stored samples with both ends, at least 8 in every block and not in step with the
    motion. block_mean: shape (blocks,), means of d over every step of equal blocks of the run. scale: size of the terms
    that are summed in the invariant, which sets its round-off. steps: number of steps of the run. period: longest
    period of the motion; without it a modulation slower than a block can pass for a drift; `confirm` removes most of
    these cases, not all, when its period is of the order of T. seed: of the bootstrap.

    too short  a block is shorter than 5 periods, and the rules below do not find a steady drift
    bounded    g <= 0.25 and |S| < x A at 95 % with x <= 0.1, or with x <= 1/2 if the interval of S contains zero;
               the ranges of blocks grow by at most x between T/10 and T at 95 %, with the same limits; and the block
               means do not wander: their range is at most 0.15 A, or at most 2.2 times that of a tenth of them
    round-off  largest |d| <= 100 eps sqrt(steps) scale, growth at most 0.75 in one of the two decades, and changes of
               both signs: the more frequent one is ahead by at most 2.58 standard deviations of a walk
    drift      lower limit of |S| > A/2 with the same sign in both halves, or g > 0.75 and lasting
    undecided  anything else
    The first that applies is taken. A drift is steady if the run covers 2 periods and the block means lie within |S|/4
    about their straight line. No modulation with a period P <= T/2 looks like that, however short the blocks: after P
    it has the same value again, the line has not, so that the distance from the line has a range of at least |S|/2.
    (The longest period that is found is often the drift itself, as it slowly moves the motion to other values; a run
    that shows nothing but a drift would never be long enough.) Where this differs from "g in 0.25..0.75" for round-off
    and "g > 0.75" for drift, synthetic data asked for it. Random walks have g = 0.51 +- 0.12: 3 % exceed 0.75, but
    seldom in both decades, while a steady drift from zero grows with exponent 1 in both; a lower limit would call a
    small slope a drift and a larger one round-off. One excursion of a bounded deviation (a close encounter) gives g >
    0.75, hence growth must last: the exponent with the median of the last tenth of the block maxima exceeds 0.5. Maxima
    below 4 eps scale count as 4 eps scale, or the first units of round-off would be growth.

    Raises ValueError for values that are not finite, and too few samples."""
    blocks = len(block_mean)
    if blocks < LEAST_BLOCKS or time.size < LEAST_SAMPLES*blocks:
        raise ValueError(f"at least {LEAST_BLOCKS} blocks with {LEAST_SAMPLES} samples each are needed")
    if not all(np.all(np.isfinite(values)) for values in (time, deviation, block_mean)):
        raise ValueError("times, deviations and block means must be finite: pass only the part of a run"
                         " before it failed")
    if not (steps > 0 and scale > 0.0 and isfinite(scale) and (period is None or 0.0 < period < inf)):
        raise ValueError(f"steps, scale and period must be positive, got {steps}, {scale} and {period}")
    numbers = rules.drift_numbers(time, deviation, block_mean, scale, steps, seed)
    return _classified(DriftEstimate("undecided", "", **numbers), blocks, period)


def confirm(first: DriftEstimate, longer: DriftEstimate) -> DriftEstimate:
    """The estimate of a run of length 4 T with the verdict that both runs support, else "undecided". Both must agree;
    only "bounded" with "round-off" gives "round-off", because both exclude a drift and a slow accumulation of round-off
    rises above a bounded oscillation with time."""
    verdicts = {first.verdict, longer.verdict}
    if len(verdicts) == 1:
        return longer
    if verdicts == {"bounded", "round-off"}:
        return replace(longer, verdict="round-off",
                       reason=f"{first.verdict} at T, {longer.verdict} at {CONFIRMATION:g} T")
    deciding = longer.deciding_time or CONFIRMATION*longer.duration
    return replace(longer, verdict="undecided", deciding_time=deciding,
                   reason=f"{first.verdict} at T, but {longer.verdict} at {CONFIRMATION:g} T")


def _classified(e: DriftEstimate, blocks: int, period: float | None) -> DriftEstimate:
    """The estimate with its verdict, the reason, and the length of a run that would decide."""
    (verdict, lasting, final), (grows, wanders) = rules.drift_class(e, blocks, period), rules.spreads(e)
    needed = 0.0 if period is None else PERIODS_PER_BLOCK*period*blocks
    if final == "too short":
        share = PERIODS_PER_BLOCK*e.duration/needed
        return replace(e, verdict=final, deciding_time=needed, reason=f"a block covers {share:.2g} of the longest"
                       f" period, {PERIODS_PER_BLOCK} are needed")
    slope = f"slope x T = {e.slope:.3g} in [{e.slope_low:.3g}, {e.slope_high:.3g}] against A/2 = {e.amplitude/2:.3g}"
    growth = f"growth exponent {e.growth:.2f}"
    if grows:
        growth += f", ranges of blocks grow by {e.envelope[0]:.0%} to {e.envelope[1]:.0%} from T/{rules.PARTS} to T"
    if wanders:
        growth += f", block means wander over {e.wander[0]:.2g} A, {e.wander[1]:.1f} times as far as in T/{rules.PARTS}"
    reason = f"{slope}, {growth}"
    if verdict == "bounded":
        reason = f"|slope T| < {rounded_up(e.bound)} A at 95 %, {growth}"
    elif verdict == "round-off":
        reason = f"largest {e.largest:.3g} below {e.round_off:.3g}, {growth}"
    elif verdict == "drift":
        reason = slope if lasting else f"{growth}, {e.lasting_growth:.2f} for the last tenth of the run"
    if e.duration*(1.0 + SLACK) < needed:
        reason += f", steady within {e.residual:.3g}"
    return replace(e, verdict=verdict, reason=reason,
                   deciding_time=e.duration*_deciding_factor(e) if verdict == "undecided" else None)


def rounded_up(bound: float) -> str:
    """A bound with two digits, rounded up: what is printed is never below what was found."""
    if bound == 0.0:
        return "0"
    unit = 10.0**(floor(log10(bound)) - 1)
    return f"{ceil(bound/unit*(1.0 - SLACK))*unit:.2g}"


def _deciding_factor(e: DriftEstimate) -> float:
    """How many times longer a run must be to decide, at least 4 (the confirming run), at most 10000. The slope is taken
    as a constant rate and its interval as shrinking like 1/sqrt(T); a growth exponent between the limits as a constant
    plus linear growth; a growth that did not last as an excursion, which must occur in the first hundredth."""
    factor = np.geomspace(CONFIRMATION, 1e4, 500)
    change, width = abs(e.slope)*factor, 0.5*(e.slope_high - e.slope_low)/np.sqrt(factor)
    decided = (change + width <= rules.BOUND*e.amplitude) | (change - width > e.amplitude/2)
    by_slope = float(factor[np.argmax(decided)]) if decided.any() else float(factor[-1])
    if e.growth <= rules.BOUNDED_GROWTH:
        return by_slope
    if e.growth > rules.DRIFT_GROWTH:
        return max(by_slope, 100.0)
    target = 100.0**rules.DRIFT_GROWTH    # (1 + y)/(1 + y/100) = target for the growth y relative to the constant
    return max(by_slope, (target - 1.0)/(1.0 - target/100.0)/(100.0**e.growth - 1.0))
