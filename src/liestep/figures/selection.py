"""Runs and problems of a study that a figure asks for; what the study does not have is named."""
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.figures.style import Results
from liestep.simulation.runs.files import RunFile


def first_run(results: Results, problem: str, integrator: str) -> RunFile:
    """The run of an integrator on a problem (by their keys), of several the first. Raises InputError: the study has
    none."""
    return results.file(problem, integrator, results.study.select(problem, integrator)[0].resolution)


def ladder(results: Results, problem: str, integrator: str, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and a column of metrics of all complete runs of a pair, by growing step. Raises InputError: the study has
    none."""
    rows = results.select(problem, integrator)
    rows = rows[(rows["status"] == "ok") & rows[column].notna()].sort_values("step")
    if rows.empty:
        raise InputError(f"study {results.study.name} has no complete run of {integrator} on {problem}, which"
                         " the figure needs")
    return rows["step"].to_numpy(float), rows[column].to_numpy(float)


def run_with(results: Results, problem: str, integrator: str, resolution: str | None = None, **options: Any) -> RunFile:
    """First run of an integrator id with these options on a problem (by key), optionally of one resolution. Raises
    InputError: the study has none."""
    for cell in results.study.cells:
        if (cell.problem == problem and cell.spec.integrator == integrator and resolution in (None, cell.resolution)
                and all(cell.spec.options.get(name) == value for name, value in options.items())):
            return results.file(problem, cell.integrator, cell.resolution)
    wanted = " ".join([integrator, *(f"{name}={value}" for name, value in options.items()), resolution or ""]).strip()
    raise InputError(f"study {results.study.name} has no run of {wanted} on problem {problem}, which the figure needs")


def problems_of(results: Results, system: str) -> list[str]:
    """Keys of the problems with this system. Raises InputError: the study has none."""
    found = [key for key, setup in results.config.problems.items() if setup.system == system]
    if not found:
        raise InputError(f"study {results.study.name} has no problem with the system {system}, which the figure needs")
    return found
