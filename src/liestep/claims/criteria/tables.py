"""Criteria on tables of a study that carry a judgement of their own: observed orders and drift."""
import math
from typing import Literal

from pydantic import Field

from liestep.claims.criteria.base import KIND, Criterion, Judgement, Needs
from liestep.claims.selection import Question, Results, study_of
from liestep.errors import InputError
from liestep.study.plan.yamlfile import Real

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
            table = study_of(choice, results).table(self.needs.table)
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
            table = study_of(choice, results).table(self.needs.table)
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
