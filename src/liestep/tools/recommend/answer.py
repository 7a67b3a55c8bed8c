"""What a recommendation says."""
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import inf, isfinite
from typing import Any

from liestep.study.tables.choice import Choice
from liestep.tools.recommend.search import Candidate

SHOWN = 8  # rows of the table in a notebook

@dataclass(frozen=True, repr=False)
class Recommendation:
    """The integrator that reaches an error at the least cost, and what else was tried.

    integrator, options  as `simulate` takes them; options are empty where the defaults are meant
    step, tolerance      one of them, the other is None; s, and relative
    error                of this run, the largest at the ends of 20 equal parts of the horizon, relative
    seconds              processor time of this run
    choice               winner, runner-up, their ratio, and whether it is a tie
    gap                  how far apart the two references are
    verified             whether the error was measured over the whole horizon; otherwise it is what a power law
                         predicts from the first quarter, with a margin of 3
    kept                 what was asked to be kept, and how well it was, in words
    table                a row for each candidate: what was tried, or why it was not
    """

    problem: str
    t_end: float
    integrator: str
    step: float | None
    tolerance: float | None
    options: Mapping[str, Any]
    error: float
    seconds: float
    choice: Choice
    gap: float
    verified: bool
    kept: str
    table: tuple[Candidate, ...]

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
        return "\n".join([*self._said(), "", *lines])

    def __repr__(self) -> str:
        return f"<Recommendation for {self.problem}: {'; '.join(self._said())}>"

    def _repr_html_(self) -> str:
        """For notebooks: the first rows of the table."""
        rows = self._rows()
        cells = "".join(f"<tr><td>{'</td><td>'.join(map(escape, row))}</td></tr>" for row in rows[:SHOWN + 1])
        more = f"<p>{len(rows) - SHOWN - 1} more: print it</p>" if len(rows) > SHOWN + 1 else ""
        return f"<p>{'<br>'.join(map(escape, self._said()))}</p><table>{cells}</table>{more}"

    def _said(self) -> list[str]:
        size = f"step {self.step!r}" if self.step is not None else f"tolerance {self.tolerance:.3g}"
        options = "".join(f", {name} {value:.3g}" for name, value in self.options.items())
        how = (f"error {self.error:.2g} over the whole horizon, measured (references differ by {self.gap:.1e})"
               if self.verified else f"error {self.error:.2g} predicted, NOT verified: a power law from the first"
               " quarter of the horizon with a margin of 3; it says nothing where close encounters or chaos follow")
        other = (f"; {self.choice.runner_up} costs {self.choice.ratio:.2f} times as much"
                 f"{', a tie' if self.choice.tie else ''}" if self.choice.runner_up else "")
        lines = [f"{self.integrator}, {size}{options}", how, f"{_seconds(self.seconds)} of processor time{other}"]
        return [*lines, *([self.kept] if self.kept else [])]

    def _rows(self) -> list[tuple[str, ...]]:
        head = ("integrator", "order", "step or tolerance", "error", "time", "runs", "")
        rows: list[tuple[str, ...]] = [head]
        for one in sorted(self.table, key=lambda one: (one.seconds, one.integrator)):
            size = "" if one.size is None else f"{one.size if one.adaptive else self.t_end/one.size:.4g}"
            rows.append((one.integrator, str(one.order or ""), size,
                         f"{one.error:.2g}" if isfinite(one.error) else "", _seconds(one.seconds),
                         str(len(one.tried) or ""), one.reason))
        return rows


def _seconds(value: float) -> str:
    if value == inf:
        return ""
    return f"{value*1e3:.3g} ms" if value < 1.0 else f"{value:.3g} s"
