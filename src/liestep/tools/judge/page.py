"""The tables of a judgement: their columns, and one page to read."""
from collections import Counter
from dataclasses import dataclass
from typing import Any

from liestep.compile import counters
from liestep.study.tables.kinds.drift import NUMBERS
from liestep.study.tables.kinds.work import WORK
from liestep.study.tables.tables import filled, markdown

RUN = ("problem", "label", "file", "resolution", "step", "tolerance")
COLUMNS = {
    "errors": (*RUN, "t_end", "samples", "outputs", "error", "error_final", "floor", "steps", *counters.NAMES,
               "seconds", "energy_error_mean", "energy_error_max", "energy_error_mean_relative", "momentum_error_max",
               "momentum_scale"),
    "orders": ("problem", "integrator", "order_theory", "p", "u", "class", "passed", "window_h_min", "window_h_max",
               "points", "runs", "floor", "verdict", "energy_order", "energy_u", "energy_class"),
    "drift": (*RUN, "t_end", "steps", "invariant", "verdict", "reason", *NUMBERS, "period", "deciding_time"),
    "work": ("problem", "integrator", "error", *WORK, "seconds"),
}
UNCLEAR = ("too short", "not judged")
READABLE = {
    "errors": ("label", "resolution", "t_end", "outputs", "error", "error_final", "floor", "rhs_evaluations", "seconds",
               "energy_error_max", "momentum_error_max"),
    "orders": ("integrator", "order_theory", "p", "u", "class", "window_h_min", "window_h_max", "points", "verdict"),
    "drift": ("label", "resolution", "invariant", "verdict", "amplitude", "slope", "growth", "reason"),
    "work": COLUMNS["work"][1:],
}


@dataclass(frozen=True)
class Judgement:
    """Rows of the four tables with columns COLUMNS."""

    errors: list[dict[str, Any]]
    orders: list[dict[str, Any]]
    drift: list[dict[str, Any]]
    work: list[dict[str, Any]]


def columns(name: str, judgement: Judgement) -> tuple[str, ...]:
    """Columns of one table; those of the errors end with error_<field> of each field of the state."""
    fields = {key for row in judgement.errors for key in row if key.startswith("error_")}
    return (*COLUMNS[name], *sorted(fields.difference(COLUMNS[name]))) if name == "errors" else COLUMNS[name]


def page(judgement: Judgement) -> str:
    """The tables to read, in Markdown, without empty columns; what is too short to have a verdict is one line."""
    parts, unclear = ([],
                      Counter((row["verdict"], row["reason"]) for row in judgement.drift if row["verdict"] in UNCLEAR))
    for name, readable in READABLE.items():
        rows = [row for row in getattr(judgement, name) if row.get("verdict") not in UNCLEAR]
        rows.sort(key=lambda row: (row.get("label") or "", -(row.get("step") or 0.0)))
        shown = [column for column in readable if any(filled(row.get(column)) for row in rows)]
        parts += [f"## {name}\n", markdown(shown, rows)] if rows else []
    lines = [f"drift of {count} invariants is {verdict}: {reason}\n" for (verdict, reason), count in unclear.items()]
    return "\n".join(parts + lines)
