"""Errors, orders, drift and work of states that any code has written, for the problems of a package beside this one.

The motions of the bench need nothing else (`liestep_judge.py`). Other problems, with their references and invariants,
come from installed packages that name a class under the entry point `rotation_bench.problems`, as liestep does."""
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from math import gcd
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rotation_bench.liestep_judge import BadStates
from rotation_bench.liestep_tables import filled, markdown
from rotation_bench.states import COUNTERS, Field, Fields, Layout, StateFile, read_states, stand_ins

GROUP = "rotation_bench.problems"  # of entry points
MOST_OUTPUTS, LEAST_OUTPUTS = 400, 50  # intervals at whose ends states are compared with the reference
START_TOLERANCE = 1e-12                # distance of the first state from the start, of the field's size in the file
RUN = ("problem", "label", "file", "resolution", "step", "tolerance")
COLUMNS = {
    "errors": (*RUN, "t_end", "samples", "outputs", "error", "error_final", "floor", "steps", *COUNTERS, "seconds",
               "energy_error_mean", "energy_error_max", "energy_error_mean_relative", "momentum_error_max",
               "momentum_scale"),
    "orders": ("problem", "integrator", "order_theory", "p", "u", "class", "passed", "window_h_min", "window_h_max",
               "points", "runs", "floor", "verdict", "energy_order", "energy_u", "energy_class"),
    "drift": (*RUN, "t_end", "steps", "invariant", "verdict", "reason", "amplitude", "slope", "slope_low", "slope_high",
              "bound", "growth", "largest", "round_off", "period", "deciding_time"),
    "work": ("problem", "integrator", "error", "steps", "force_evaluations", "rhs_evaluations", "exponentials",
             "linear_solves", "iterations", "steps_rejected", "cost", "seconds"),
}
UNCLEAR = ("too short", "not judged")
Judgement = dict[str, list[dict[str, Any]]]  # rows of the tables of COLUMNS
READABLE = {
    "errors": ("label", "resolution", "t_end", "outputs", "error", "error_final", "floor", "rhs_evaluations", "seconds",
               "energy_error_max", "momentum_error_max"),
    "orders": ("integrator", "order_theory", "p", "u", "class", "window_h_min", "window_h_max", "points", "verdict"),
    "drift": ("label", "resolution", "invariant", "verdict", "amplitude", "slope", "growth", "reason"),
    "work": COLUMNS["work"][1:],
}


class Problem(Protocol):
    """What a package says about one of its problems; made of (id, preset or None, parameters or None)."""

    refused: tuple[type[Exception], ...]     # what making and asking it raise, each with one sentence
    what: str                                # names problem and preset in sentences
    parameters: Mapping[str, Any]
    initial: Fields                          # the start
    fields: Mapping[str, Field]              # of the state
    optional: tuple[str, ...]                # further numbers that files may have, one for each time
    moments: np.ndarray | None               # (n, 3) of rigid bodies

    def vouch(self, path: Path) -> object:
        """Raises for a NetCDF file that is not to be opened."""

    def manifold(self, state: Fields) -> None:
        """Raises for a state that breaks a constraint."""

    def kept(self, path: Path) -> int:
        """Intervals of the reference that a file holds."""

    def judged(self, files: Sequence[StateFile], facts: Sequence[Mapping[str, Any]], initial: Fields | None,
               outputs: int | None, reference: Path | None) -> Judgement:
        """The tables of files with what is known about each. initial: a start in place of the problem's. outputs:
        intervals at whose ends states are compared with a reference, None without one; kept in the file `reference`."""


@dataclass(frozen=True)
class Request:
    """What files are judged against. `own_start`: the first state of the first file replaces the preset's."""

    problem: str
    preset: str | None = None
    parameters: Mapping[str, Any] | None = None
    own_start: bool = False
    reference: Path | None = None  # file in which the reference is kept for the next call
    without_reference: bool = False
    facts: Mapping[str, Any] | None = None      # facts that hold for files that do not state them
    steps: Sequence[float] = ()                 # one for each file


@contextmanager
def _in_one_sentence(refused: tuple[type[Exception], ...]) -> Iterator[None]:
    """What a problem refuses is a BadStates."""
    try:
        yield
    except refused as error:
        raise BadStates(str(error)) from None


def problem_of(problem: str, preset: str | None = None, parameters: Mapping[str, Any] | None = None) -> Problem:
    """A problem of an installed package. Raises BadStates: there is no such package, or it refuses the names."""
    entries = entry_points(group=GROUP)
    if not entries:
        raise BadStates(f"problem {problem!r} is none of the bench, and no package that is installed brings others, as"
                        " liestep does; without one there is --case")
    made: Callable[..., Problem] = next(iter(entries)).load()
    with _in_one_sentence(made.refused):  # type: ignore[attr-defined]
        return made(problem, preset, parameters)


def layout_of(problem: Problem) -> Layout:
    """Fields of the states of a problem."""
    shapes = {name: values.shape for name, values in problem.initial.items()}
    return Layout(problem.what, problem.fields, shapes, problem.optional,
                  stand_ins(problem.fields, shapes, problem.moments), problem.vouch, problem.refused)


def judge(paths: Sequence[Path], request: Request) -> Judgement:
    """Judge files of one problem; several of one label with different steps give an order. Raises BadStates: one
    sentence about a file or the request."""
    problem = problem_of(request.problem, request.preset, request.parameters)
    layout = layout_of(problem)
    files = [read_states(path, layout) for path in paths]
    for file in files[1:]:
        if abs(file.time[-1] - files[0].time[-1]) > 1e-9*files[0].time[-1]:
            raise BadStates(f"{file.path} ends at t = {file.time[-1]:g}, {files[0].path} at {files[0].time[-1]:g}:"
                            " judge them one by one")
    if request.steps and len(request.steps) != len(files):
        raise BadStates(f"give one step for each file: {len(files)} files, {len(request.steps)} steps")
    initial = {name: files[0].fields[name][0] for name in layout.fields} if request.own_start else None
    for file in files:
        _check_start(file, problem, initial or problem.initial)
    facts = [{"label": "external", **(request.facts or {}), **file.facts} for file in files]
    for fact, step in zip(facts, request.steps, strict=False):
        fact["step"] = float(step)
    with _in_one_sentence(problem.refused):
        outputs = None if request.without_reference else _outputs(files, problem, request.reference)
        return problem.judged(files, facts, initial, outputs, request.reference)


def _check_start(file: StateFile, problem: Problem, wanted: Fields) -> None:
    """The first state is on the manifold and the one that the reference starts from."""
    first = {name: file.fields[name][0] for name in problem.fields}
    try:
        problem.manifold(first)
    except problem.refused as error:
        raise BadStates(f"{file.path}: {error}; write 17 digits") from None
    for name, values in first.items():
        gap = float(np.abs(values - wanted[name]).max())
        if gap > START_TOLERANCE*float(np.abs(file.fields[name]).max()):
            raise BadStates(f"{file.path}: {name} at t = 0 is {gap:.3g} from the start of {problem.what}; start from"
                            " its numbers (`liestep export-reference` writes them), or judge with --own-start")


def _outputs(files: Sequence[StateFile], problem: Problem, reference: Path | None) -> int:
    """Number of intervals at whose ends all files are compared with the reference: one that divides the samples of all
    of them."""
    common = gcd(*(file.time.size - 1 for file in files))
    if reference is not None and reference.exists():
        kept = problem.kept(reference)
        if common % kept:
            raise BadStates(f"{reference} has {kept} intervals, which do not divide those of the files ({common} in"
                            " common)")
        return kept
    best = next(k for k in range(min(common, MOST_OUTPUTS), 0, -1) if common % k == 0)
    if best < min(common, LEAST_OUTPUTS):
        raise BadStates(f"the files have {common} intervals in common, of which no {LEAST_OUTPUTS} to {MOST_OUTPUTS}"
                        " equal parts can be made: write for example 1001 samples")
    return best


def columns(name: str, judgement: Judgement) -> tuple[str, ...]:
    """Columns of one table; those of the errors end with error_<field> of each field of the state."""
    fields = {key for row in judgement["errors"] for key in row if key.startswith("error_")}
    return (*COLUMNS[name], *sorted(fields.difference(COLUMNS[name]))) if name == "errors" else COLUMNS[name]


def page(judgement: Judgement) -> str:
    """The tables to read, in Markdown, without empty columns; what is too short to have a verdict is one line."""
    parts = []
    unclear = Counter((row["verdict"], row["reason"]) for row in judgement["drift"] if row["verdict"] in UNCLEAR)
    for name, readable in READABLE.items():
        rows = [row for row in judgement[name] if row.get("verdict") not in UNCLEAR]
        rows.sort(key=lambda row: (row.get("label") or "", -(row.get("step") or 0.0)))
        shown = [column for column in readable if any(filled(row.get(column)) for row in rows)]
        parts += [f"## {name}\n", markdown(shown, rows)] if rows else []
    lines = [f"drift of {count} invariants is {verdict}: {reason}\n" for (verdict, reason), count in unclear.items()]
    return "\n".join(parts + lines)
