"""The table `exponents`: Lyapunov exponents of the runs that have them."""
from math import nan

from liestep.files.textfiles import TableRow
from liestep.simulation.runs.files import RunFile
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.plan import Cell, Study
from liestep.study.tables.kinds import Table
from liestep.study.tables.kinds.drift import RUN_COLUMNS, run_columns
from liestep.study.tables.reading import run_file

NAMES = ("lyapunov", "lyapunov_uncertainty", "lyapunov_pair_sum", "symplectic_error")
COLUMNS = (*RUN_COLUMNS, "status", *NAMES, "lyapunov_time", "lyapunov_exponents")
SHARE = 0.5  # an exponent that is less certain than this share of it is no time scale


def numbers(file: RunFile) -> dict[str, float]:
    """What the files of runs with exponents say of them; nothing for others."""
    return {name: float(file.attributes[name]) for name in NAMES if name in file.attributes}


def lyapunov_time(file: RunFile) -> float:
    """Time (s) in which derivatives grow by the factor e; NaN where the exponent is not clearly above zero."""
    rate, uncertainty = (float(file.attributes.get(name, nan)) for name in NAMES[:2])
    return 1.0/rate if uncertainty < SHARE*rate else nan


def exponent_rows(study: Study) -> list[TableRow]:
    """One row per run with exponents, columns COLUMNS: the largest (1/s) with the standard error of its mean over parts
    of the run; where all are there, lyapunov_pair_sum is the largest |sum| of the largest and the smallest, of the
    second of each, and so on, which vanish for Hamiltonian systems. symplectic_error: |J^T Omega J - Omega| of one
    step from the start, relative to the largest entry of Omega."""
    rows = []
    for cell in cells_with_exponents(study):
        file = run_file(cell, ())
        rates = [float(rate) for rate in file.attributes["lyapunov_exponents"].split()]
        rows.append({**run_columns(cell), "status": file.attributes["status"], **numbers(file),
                     "lyapunov_time": lyapunov_time(file),
                     "lyapunov_exponents": " ".join(f"{rate:.6g}" for rate in rates)})
    return rows


def cells_with_exponents(study: Study) -> list[Cell]:
    """Runs from one start that have exponents."""
    return [cell for cell in study.cells if cell.spec.exponents and cell.spec.ensemble is None]


def time_scale(study: Study, spec: RunSpecification) -> float:
    """Lyapunov time of a problem (s) from the study's longest run with the same system, parameters, start; else NaN."""
    wanted, names = spec.canonical(), ("problem", "parameters", "initial")
    same = [cell for cell in cells_with_exponents(study)
            if all(cell.spec.canonical()[name] == wanted[name] for name in names)]
    return lyapunov_time(run_file(max(same, key=lambda cell: cell.spec.t_end), ())) if same else nan


TABLE = Table(COLUMNS, lambda results: exponent_rows(results.study), readable=COLUMNS[1:])
