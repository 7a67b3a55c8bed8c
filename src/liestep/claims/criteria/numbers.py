"""Criteria on numbers of tables: limits, ratios, slopes, largest steps of columns of metrics.csv, shares of an
ensemble; tables of a study that carry a judgement of their own, observed orders and drift."""
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from liestep.claims import selection
from liestep.claims.criteria.base import KIND, Criterion, Judgement, Limits, Needs
from liestep.claims.selection import Question, Results, RunChoice, number_columns, require_quantity, select
from liestep.errors import InputError
from liestep.study.plan.config import SURE
from liestep.study.plan.yamlfile import NO_TRUTH, Real

if TYPE_CHECKING:
    import pandas

# columns of metrics.csv that are sizes: no number is below zero
NOT_NEGATIVE = re.compile(r"error(_.*)?|.*_(error|change)_(mean|max)(_.*)?|floor.*|cost|steps?|iterations|time_reached")


class Bounds(Limits):
    """Limits of each run's number, or of their median."""

    statistic: Literal["each", "median"] = Field("each", description="each: every number lies within the limits;"
                                                 " median: their median does")

    @property
    def median_of(self) -> str:
        return "median of " if self.statistic == "median" else ""

    def domain(self, quantity: str) -> tuple[float, float]:
        return (0.0 if NOT_NEGATIVE.fullmatch(quantity) else -math.inf, math.inf)

    def outcome(self, found: np.ndarray) -> Judgement:
        """NaN of a run that stopped early stays NaN, which lies within no limits."""
        judged = found if self.statistic == "each" else np.array([np.median(found)])
        return self.judged(judged, [", ".join(f"{value:.4g}" for value in found)])


class Limit(Bounds, Criterion):
    """Every chosen run's quantity lies within the limits."""

    kind: Literal["limit"] = KIND
    measured = "{self.median_of}{claim.quantity}"

    def judge(self, claim: Question, results: Results) -> Judgement:
        return self.outcome(selection.values(claim, claim.runs, results))


class Ratio(Bounds, Criterion):
    """The quantity divided by that of the `against` run (same order of runs) lies within the limits."""

    kind: Literal["ratio"] = KIND
    needs = Needs(against=True)
    unit = "1"
    measured = "{self.median_of}{claim.quantity} divided by that of the compared runs"

    def judge(self, claim: Question, results: Results) -> Judgement:
        above, below = selection.values(claim, claim.runs, results), selection.values(claim, claim.against, results)
        if above.size != below.size and below.size != 1:
            raise InputError(f"{above.size} runs cannot be compared with {below.size}")
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.outcome(above/below)


class Slope(Limits, Criterion):
    """The slope of log quantity over log `over`, by least squares over the runs of each choice, lies within the limits
    with two standard errors on either side: the exponent p of quantity ~ over^p. The runs lie on a straight line: their
    curvature is zero within two standard errors, or the slopes at both ends of the parabola lie within the limits, too.
    Undecided where the slope alone does."""

    kind: Literal["slope"] = KIND
    unit = "1"
    measured = ("slope of {claim.quantity} over {self.over} in logarithms, at least {self.points} runs on a straight"
                " line,")
    over: str = Field("step", description="column of metrics.csv on the other axis")
    points: Annotated[int, Field(ge=2), NO_TRUTH] = Field(3, description="runs, at least, of each choice")

    def quantities(self, claim: Question) -> tuple[str, ...]:
        return (claim.quantity, self.over)

    @property
    def bounds(self) -> str:
        return f"{super().bounds} within two standard errors"

    def judge(self, claim: Question, results: Results) -> Judgement:
        parts, slopes, around = [], [], []
        for choice in claim.runs:
            rows = select(choice, results)
            if len(rows) < self.points:
                raise InputError(f"the slope of {choice.problem}/{choice.integrator} in study {choice.study} needs"
                                 f" {self.points} runs, which are not there: {len(rows)}")
            slope, error, ends = self._slope(claim.quantity, rows)
            slopes.append(slope)
            around += [slope - 2.0*error, slope + 2.0*error, *ends]
            parts.append(f"{choice.problem}/{choice.integrator} {slope:.3f} +- {2.0*error:.2g} of {len(rows)} runs"
                         + (f", curved from {ends[0]:.2f} to {ends[1]:.2f}" if ends else ""))
        outcome = self.judged(slopes, parts)
        sure = bool(np.all(self.holds(np.array(around))))
        return replace(outcome, met=outcome.met and sure, undecided=outcome.met and not sure)

    def _slope(self, quantity: str, rows: "pandas.DataFrame") -> tuple[float, float, tuple[float, ...]]:
        """The slope, its standard error, and the slopes at both ends if the runs are on no straight line; NaN where a
        run stopped early, a number has no logarithm, or all runs have the same `over`."""
        for name in (quantity, self.over):
            require_quantity(name, number_columns(rows.iloc[0]))
        x, y = rows[self.over].to_numpy(float), rows[quantity].to_numpy(float)
        if not ((rows["status"] == "ok").all() and np.all(np.isfinite(x) & np.isfinite(y) & (x > 0.0) & (y > 0.0))):
            return math.nan, math.nan, ()
        x, y = np.log(x) - np.log(x).mean(), np.log(y) - np.log(y).mean()
        if not np.any(x != 0.0):
            return math.nan, math.nan, ()
        tilt = x @ (x*x)/(x @ x)
        bend = x*x - (x*x).mean() - tilt*x  # the part of the square that no straight line has
        slope, curvature = x @ y/(x @ x), bend @ y/max(bend @ bend, np.finfo(float).tiny)
        from_line = y - slope*x
        from_curve = from_line - curvature*bend
        straight = curvature**2*(bend @ bend) <= 4.0*(from_curve @ from_curve)/max(x.size - 3, 1)
        ends = () if straight else tuple(float(slope + curvature*(2.0*at - tilt)) for at in (x.min(), x.max()))
        return float(slope), math.sqrt(from_line @ from_line/max(x.size - 2, 1)/(x @ x)), ends


class LargestStep(Limits, Criterion):
    """The largest step of each choice that completes, and all smaller ones with it, lies within the limits; with
    `against`, divided by that of the compared runs (same order of choices). A run completes that ends as it should,
    with `quantity` within the limits `within`; NaN where the smallest step does not. Two choices that both complete
    with the largest step that was tried say nothing about which is larger: where only such pairs fail, it is
    undecided."""

    kind: Literal["largest_step"] = KIND
    unit = "s"
    within: Limits = Field(description="limits of the quantity of a run that counts as completed")

    def measures(self, claim: Question) -> str:
        compared = " divided by that of the compared runs" if claim.against else ""
        return f"largest step that completes with {claim.quantity} {self.within.bounds}{compared}:"

    def judge(self, claim: Question, results: Results) -> Judgement:
        steps, tried = np.array([self._largest(claim.quantity, choice, results) for choice in claim.runs]).T
        text = [f"{choice.problem}/{choice.integrator} {step:.4g} s"
                for choice, step in zip(claim.runs, steps, strict=True)]
        if claim.against:
            other, most = np.array([self._largest(claim.quantity, choice, results) for choice in claim.against]).T
            if other.size not in (1, steps.size):
                raise InputError(f"{steps.size} choices cannot be compared with {other.size}")
            text += [f"compared with {choice.problem}/{choice.integrator} {step:.4g} s"
                     for choice, step in zip(claim.against, other, strict=True)]
            open_end = (steps == tried) & (other == most)
            steps = steps/other
            fails = ~self.holds(steps)
            return Judgement(not fails.any(), self.worst(steps), "; ".join(text),
                           undecided=bool(fails.any() and open_end[fails].all()))
        return self.judged(steps, text)

    def _largest(self, quantity: str, choice: RunChoice, results: Results) -> tuple[float, float]:
        """That step, and the largest that was tried."""
        rows, largest = select(choice, results).sort_values("step"), math.nan
        require_quantity(quantity, number_columns(rows.iloc[0]))
        for _, row in rows.iterrows():
            if row.status != "ok" or not self.within.holds(np.array(float(row[quantity]))):
                break
            largest = float(row.step)
        return largest, float(rows["step"].iloc[-1])


class Share(Limits, Criterion):
    """The share of the members of each chosen ensemble whose stored number `quantity` lies within the limits `within`
    lies itself within the limits; with `against`, that number divided by that of the same member there (same order of
    ensembles, or one for all). A member that failed does not. 95 % decide: at_least 0.95 or more, or at_most 0.05."""

    kind: Literal["share"] = KIND
    unit = "1"
    needs = Needs(runs="ensemble", quantity="variable")
    within: Limits = Field(description="limits of a member's number")

    def domain(self, quantity: str) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def of_ratios(self) -> Limits:
        return self.within

    def require(self) -> None:
        if self.at_least < SURE if self.at_least is not None else (self.at_most or 0.0) > 1.0 - SURE:
            raise InputError(f"{SURE:.0%} of members decide: at_least {SURE:g} or more, or at_most {1.0 - SURE:.2g}")

    def measures(self, claim: Question) -> str:
        compared = " divided by that of the same member of the compared ensemble" if claim.against else ""
        return f"share of the ensemble's members with {claim.quantity}{compared} {self.within.bounds}:"

    def judge(self, claim: Question, results: Results) -> Judgement:
        shares, parts = [], []
        for k, choice in enumerate(claim.runs):
            members, stored = self._members(choice, claim.quantity, results)
            if claim.against:
                other, _ = self._members(claim.against[k % len(claim.against)], claim.quantity, results)
                if other.size != members.size or len(claim.against) not in (1, len(claim.runs)):
                    raise InputError(f"{len(claim.runs)} ensembles of {members.size} members cannot be compared with"
                                     f" {len(claim.against)} of {other.size}")
                with np.errstate(divide="ignore", invalid="ignore"):
                    members = members/other
            inside, known = int(self.within.holds(members).sum()), members[np.isfinite(members)]
            shares.append(inside/members.size if known.size or stored else math.nan)
            text = f", {known.min():.4g} .. {known.max():.4g}, median {np.median(known):.4g}" if known.size else ""
            stopped = f", {members.size - known.size} stopped early"*(known.size < members.size)
            parts.append(f"{choice.problem}/{choice.integrator} {inside} of {members.size} members{text}{stopped}")
        return self.judged(shares, parts)

    def _members(self, choice: RunChoice, quantity: str, results: Results) -> tuple[np.ndarray, bool]:
        """The number of each member, and whether it is known of those that did not stop early."""
        file, _ = selection.ensemble_of("share", [choice], results)
        members = selection.member_values(file, quantity, choice.study)
        if members.ndim != 1 or members.size < 2:
            raise InputError(f"a share needs one number of each member of an ensemble; {quantity} has the shape"
                             f" {members.shape}")
        return members, quantity in file.variables


OPEN = ("too short", "undecided", "unconfirmed")  # verdicts of the drift table that decide nothing
# classes of the order table that decide nothing
UNCLEAR = ("short range", "pre-asymptotic", "floor-limited", "saturated")
SMALLEST = 0.05  # half width within which an observed order must agree, where its uncertainty is smaller


class Order(Criterion):
    """The study's order table says asymptotic and |p - theory| <= max(u, 0.05)."""

    kind: Literal["order"] = KIND
    shown = ("convergence", "orders")
    needs = Needs(quantity="nothing", table="orders")
    unit = "1"
    measured = "observed order"
    bounded = f"is asymptotic and {{self.theory:g}} within its uncertainty (at least {SMALLEST:g})"
    theory: Real = Field(description="order that the theory predicts")

    def judge(self, claim: Question, results: Results) -> Judgement:
        met, refuted, parts, orders = True, False, [], []
        for choice in claim.runs:
            table = results[choice.study].table(self.needs.table)
            rows = table[(table.problem == choice.problem) & (table.integrator == choice.integrator)]
            if rows.empty:
                raise InputError(f"no order of {choice.problem}/{choice.integrator} in study {choice.study}")
            row = rows.iloc[0]
            near = bool(abs(row["p"] - self.theory) <= max(row["u"], SMALLEST))
            met = met and near and row["class"] == "asymptotic"
            refuted = refuted or (not near if row["class"] == "asymptotic" else row["class"] not in UNCLEAR)
            orders.append(float(row["p"]))
            parts.append(f"{choice.problem} {row['p']:.3f} +- {row['u']:.3f} ({row['class']})")
        worst = max(orders, key=lambda order: abs(order - self.theory) if order == order else math.inf)
        return Judgement(met, worst, "; ".join(parts), not met and not refuted)


class Drift(Criterion):
    """The study's drift table has this verdict for the quantity, which a run and the same run over at least four times
    its length support; a verdict of one run alone is unconfirmed there and meets nothing."""

    kind: Literal["drift"] = KIND
    shown = ("drift",)
    needs = Needs(quantity="invariant", table="drift")
    unit = "1"
    measured = "drift of {claim.quantity} at T and 4 T"
    verdict: Literal["bounded", "round-off", "drift"] = Field("bounded",
                                                              description="verdict that the drift table must have")

    @property
    def bounds(self) -> str:
        words = (": its trend moves it over the run by less than 10 % of its own swings, or by nothing that 95 % tell"
                 " from zero, and the swings do not grow")
        return f"is {self.verdict}{words if self.verdict == 'bounded' else ''}"

    def judge(self, claim: Question, results: Results) -> Judgement:
        met, refuted, parts, bounds = True, False, [], []
        for choice in claim.runs:
            table = results[choice.study].table(self.needs.table)
            rows = table[(table.problem == choice.problem) & (table.integrator == choice.integrator)
                         & (table.invariant == claim.quantity)]
            if rows.empty:
                raise InputError(f"no drift verdict of {claim.quantity} for {choice.problem}/{choice.integrator} in"
                                 f" study {choice.study}")
            met = met and bool((rows.verdict == self.verdict).all())
            refuted = refuted or not rows.verdict.isin((self.verdict, *OPEN)).all()
            bounds += list(rows.bound)
            parts += [f"{choice.problem}: {row.verdict} ({row.reason})" for row in rows.itertuples()]
        return Judgement(met, max(bounds) if met and self.verdict == "bounded" else math.nan, "; ".join(parts),
                       not met and not refuted)
