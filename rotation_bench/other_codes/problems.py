"""The problems of the comparison: presets of systems, as other codes are told them."""
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rotation_bench.judgement import problem_of
from rotation_bench.other_codes.contract import LADDER, Problem, write_problem

SAMPLES = 51
LONG_SAMPLES = 201  # that all files are small enough to be kept


class Case(NamedTuple):
    """A preset up to `t_end` (s); the coarsest of `runs` runs has `fewest` steps."""

    system: str
    preset: str
    t_end: float
    fewest: int
    samples: int = SAMPLES
    runs: int = LADDER


# the top is physical about its centre of mass too, which engines ask for
CASES = {"free_body": Case("free_rigid_body", "asymmetric", 10.0, 50),
         "heavy_top": Case("heavy_top", "slow_symmetric", 2.0, 100),
         "long_top": Case("heavy_top", "slow_symmetric", 1000.0, 50_000, LONG_SAMPLES, 1)}


def problem(name: str) -> Problem:
    case = CASES[name]
    start = problem_of(case.system, case.preset)
    values, none = start.parameters, np.zeros(3)
    return Problem(name, values["inertia"], float(values.get("mass", 0.0)),
                   values["length"]*values["axis"] if "mass" in values else none, values.get("gravity", none),
                   start.initial["attitude"], start.initial["angular_momentum"], case.t_end, case.samples, case.fewest,
                   case.runs)


def write_problems(folder: Path) -> None:
    for name in CASES:
        write_problem(problem(name), folder/f"{name}.json")
