"""Maps of a study: what a problem's `grid` or `sample` asks for, and what a study with maps cannot have."""
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.simulation.runs.maps import MOST_CELLS, ParameterMap
from liestep.simulation.runs.specification import DEFAULT_SAMPLES
from liestep.study.plan.config import ProblemConfig, SpanConfig, StudyConfig

CELLS = "cells.csv.gz"  # table of the trajectories that are reduced
TABLES, FIGURES = ("energy", "momentum"), ("map",)  # that show maps


def map_of(setup: ProblemConfig) -> ParameterMap | None:
    """The map of a problem, if any. Raises InputError: too many cells, before they take memory; grid and sample."""
    grid, sample = setup.grid if isinstance(setup.grid, dict) else None, setup.sample
    if grid is not None and sample is not None:
        raise InputError("give grid or sample, not both")
    sides = [entry.count if isinstance(entry, SpanConfig) else len(entry) for entry in (grid or {}).values()]
    cells = sample.count if sample is not None else prod(sides)
    if cells > MOST_CELLS:
        raise InputError(f"{'sample' if sample else 'grid'} makes {cells} cells; at most {MOST_CELLS} are allowed")
    if sample is not None:
        ranges = {name: (ends[0], ends[1]) for name, ends in sample.ranges.items()}
        for name, (low, high) in ranges.items():
            if not low < high:
                raise InputError(f"ranges: {name} must go from a smaller to a larger value, not from {low:g} to"
                                 f" {high:g}")
        return ParameterMap(tuple(ranges), tuple(ranges.values()), sample.count, sample.seed)
    if grid is None:
        return None
    spans = [(entry.start, entry.stop, entry.count) if isinstance(entry, SpanConfig) else None
             for entry in grid.values()]
    values = [np.linspace(*span).tolist() if span else entry for span, entry in zip(spans, grid.values(), strict=True)]
    return ParameterMap(tuple(grid), tuple(map(tuple, values)), spans=tuple(spans))


def is_map(setup: ProblemConfig) -> bool:
    """Whether a problem has a map."""
    return isinstance(setup.grid, dict) or setup.sample is not None


def _asked(name: str, value: Any) -> bool:
    """Whether a setting is given and not its default."""
    return value not in (None, 1, False) or (name == "exponents" and bool(value))


def require_reduced(found: Mapping[str, Any], adaptive: bool, several: bool) -> dict[str, int | None]:
    """Numbers of samples and outputs of trajectories that are reduced: both ends. Raises InputError: a single run, or a
    setting whose results are not among what is kept."""
    if not several:
        raise InputError("reduced is for maps (grid, sample) and ensembles; leave it out for single runs")
    for name in ("exponents", "log_steps", "replicas"):
        if _asked(name, found[name]):
            raise InputError(f"{name} has no place among what reduced keeps; leave out one of them")
    return {"samples": 2, "outputs": found["outputs"] or found["samples"] or DEFAULT_SAMPLES if adaptive else None}


def is_reduced(config: StudyConfig) -> bool:
    """Whether trajectories of a study are reduced."""
    levels = (config, *config.problems.values(), *config.integrators.values(),
              *(pair for setup in config.problems.values() for pair in setup.overrides.values()))
    return any(level.reduced for level in levels)


def require_shown(config: StudyConfig, complain: Callable[[tuple, object], InputError]) -> None:
    """Raises InputError for what a study with maps asks for and nothing can show: tables, figures and films of single
    runs, references. complain: the error for a key of the study's file, and what is wrong there."""
    reduced = is_reduced(config)
    maps = [key for key, setup in config.problems.items() if is_map(setup) or reduced]
    if not maps:
        if "map" in config.figures:
            raise complain(("figures",), "the figure map shows problems with grid or sample; there is none")
        return
    kinds = "maps or what is reduced" if reduced else "maps"
    for key, allowed in (("tables", TABLES), ("figures", FIGURES)):
        for name in getattr(config, key):
            if name not in allowed:
                raise complain((key,), f"{name} does not show {kinds}, which problem {maps[0]} is; allowed are"
                               f" {', '.join(allowed)}: make a study of its own")
    for key in ("reference", "timing", "animations", "second_reference"):
        if getattr(config, key):
            raise complain((key,), f"is not made of {kinds}, which problem {maps[0]} is: make a study of its own")


def require_settings(found: dict[str, Any]) -> None:
    """Raises InputError for settings of single runs."""
    for name in ("replicas", "ensemble", "exponents", "log_steps"):  # what they store has no place in a shard
        if _asked(name, found.get(name)):
            raise InputError(f"{name} is for single runs, not for maps")
    if isinstance(found.get("grid"), list):
        raise InputError("grid: turns of starts are for single problems, not for maps")
