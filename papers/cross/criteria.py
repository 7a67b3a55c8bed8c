"""Criteria that compare methods at equal work or error: who takes over, what keeping costs, which order wins."""
import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from liestep.claims.selection import Results, RunChoice, require_quantity, select
from liestep.paper import KIND, Criterion, InputError, Judgement, Limits, Needs, Question
from liestep.study.plan.yamlfile import Count, Positive
from liestep.study.tables.kinds.work import at_equal_error

if TYPE_CHECKING:
    import pandas

Unit = Literal["evaluations", "cost", "seconds"]


def _winners(claim: Question, results: Results, by: str, keep: str) -> "list[pandas.DataFrame]":
    """Rows of the table `which` of each problem that the claim names, by falling error."""
    found = []
    for choice in claim.runs:
        table = results[choice.study].table("which")
        found.append(table[(table["problem"] == choice.problem) & (table["by"] == by) & (table["keep"] == keep)]
                     .sort_values("error", ascending=False))
    return found


class CrossoverTime(Limits, Criterion):
    """In the table `crossover_time` the method of each run takes over from that of the `against` run (same order, or
    one for all) within the limits, in periods, at every cost; the problem is any horizon of the motion. A method that
    has the larger error in the end never takes over. Undecided where the two tie."""

    kind: Literal["crossover_time"] = KIND
    unit = "periods"
    needs = Needs(quantity="nothing", against=True, table="crossover_time")
    of: Literal["energy", "momentum", "manifold", "state"] = Field(description="the error that is compared")

    def measures(self, claim: Question) -> str:
        return f"number of periods after which the {self.of} error stays the smaller one, at every cost:"

    def judge(self, claim: Question, results: Results) -> Judgement:
        from .tables.crossover_time import crossover_times

        numbers, parts = [], []
        others = claim.against*len(claim.runs) if len(claim.against) == 1 else claim.against
        if len(others) != len(claim.runs):
            raise InputError(f"{len(claim.runs)} runs cannot be compared with {len(claim.against)}")
        for one, other in zip(claim.runs, others, strict=True):
            motion = one.problem.rpartition("_")[0]
            table = results[one.study].table(self.needs.table)
            found = dict(crossover_times(table, motion, self.of, one.integrator, other.integrator))
            if not found:
                return Judgement(False, math.nan, f"{one.integrator} and {other.integrator} have no cost together on"
                               f" {motion}", undecided=True)
            numbers += list(found.values())
            parts.append(f"{motion} {one.integrator}: " + ", ".join(
                f"{periods:.4g} at {cost:g}" for cost, periods in sorted(found.items())))
        judged = np.array(numbers)
        decided = judged[~np.isnan(judged)]
        refuted = bool(np.any(~self.holds(decided)))
        met = bool(np.all(self.holds(judged)))
        return Judgement(met, float(decided.max()) if decided.size else math.nan, "; ".join(parts),
                       not met and not refuted)


class Price(Limits, Criterion):
    """In the table `which` the work of the best method that keeps `keep`, divided by that of the best of `against_keep`
    (of all, or of those that do not keep it), lies within the limits at every error that both reach."""

    kind: Literal["price"] = KIND
    unit = "1"
    needs = Needs(quantity="nothing", table="which")
    keep: Literal["energy", "manifold", "momentum maps", "symplectic form"] = Field(description="what must be kept")
    against_keep: Literal["nothing", "no symplectic form"] = Field(
        "nothing", description="what those keep with which it is compared: nothing, or no symplectic form")
    by: Unit = Field("evaluations", description="unit of the work; cost is in flops")

    def measures(self, claim: Question) -> str:
        others = "all" if self.against_keep == "nothing" else f"those with {self.against_keep}"
        return f"{self.by} of the best method that keeps the {self.keep} over those of the best of {others}:"

    def judge(self, claim: Question, results: Results) -> Judgement:
        ratios, parts = [], []
        for keeping, whole in zip(_winners(claim, results, self.by, self.keep),
                                  _winners(claim, results, self.by, self.against_keep), strict=True):
            both = keeping.merge(whole, on=("problem", "error"), suffixes=("", "_of_all"))
            for row in both[both["work"].notna() & both["work_of_all"].notna()].to_dict("records"):
                ratios.append(row["work"]/row["work_of_all"])
                parts.append(f"{row['problem']} {row['error']:g}: {ratios[-1]:.3g}")
        return self.judged(ratios, parts, "no error is reached by both")


class WinningOrder(Criterion):
    """In the table `which` the winners at errors of at least `error` have at most the order `order`, and those at
    smaller errors a higher one, on every problem that the claim names."""

    kind: Literal["winning_order"] = KIND
    unit = "1"
    needs = Needs(quantity="nothing", table="which")
    error: Positive = Field(description="from this error on high order does not pay")
    order: Count = Field(description="the highest order that is not called high")
    by: Unit = Field("evaluations", description="unit of the work; cost is in flops")

    def measures(self, claim: Question) -> str:
        return f"highest order of the winners by {self.by} at errors from {self.error:g} on"

    @property
    def bounds(self) -> str:
        return f"<= {self.order}, of those at smaller errors higher"

    def judge(self, claim: Question, results: Results) -> Judgement:
        met, parts, highest = True, [], math.nan
        for choice, rows in zip(claim.runs, _winners(claim, results, self.by, "nothing"), strict=True):
            metrics = results[choice.study].metrics
            orders = dict(zip(metrics["integrator"], metrics["order"], strict=True))
            for row in rows[rows["verdict"] != "nobody"].to_dict("records"):
                order = float(orders[row["winner"]])
                low = row["error"] >= self.error*(1.0 - 1e-9)
                met = met and (order <= self.order) == low
                highest = order if low and not order <= highest else highest
                parts.append(f"{choice.problem} {row['error']:g}: {row['winner']} ({order:g})")
        return Judgement(met and bool(parts), highest, "; ".join(parts), undecided=not parts)


class EqualError(Limits, Criterion):
    """The quantity, which is a kind of work, at equal state error divided by that of the `against` run (same order of
    choices) lies within the limits at every one of `levels` that both ladders of runs enclose."""

    kind: Literal["equal_error"] = KIND
    unit = "1"
    needs = Needs(against=True)
    levels: list[Positive] = Field(min_length=1, description="state errors at which the work is compared")

    def measures(self, claim: Question) -> str:
        return f"{claim.quantity} at equal error divided by that of the compared runs"

    def judge(self, claim: Question, results: Results) -> Judgement:
        if len(claim.runs) != len(claim.against):
            raise InputError(f"{len(claim.runs)} choices cannot be compared with {len(claim.against)}")
        ratios, parts = [], []
        for one, other in zip(claim.runs, claim.against, strict=True):
            above, below = (self._work(claim.quantity, choice, results) for choice in (one, other))
            for level in above.keys() & below.keys():
                ratios.append(above[level]/below[level])
                parts.append(f"{one.problem} {level:g}: {ratios[-1]:.3g}")
        return self.judged(ratios, sorted(parts), "no error is enclosed by both")

    def _work(self, quantity: str, choice: RunChoice, results: Results) -> dict[float, float]:
        rows = select(choice, results)
        require_quantity(quantity, rows.columns)
        rows = rows[rows["status"] == "ok"]
        return {row["error"]: row[quantity] for row in at_equal_error(rows, (quantity,), tuple(self.levels))}
