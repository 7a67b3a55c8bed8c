"""metrics.csv: one tidy row per run of a study, from the runs' files and the references."""
import re
from collections.abc import Callable, Mapping
from math import nan
from typing import TYPE_CHECKING

from liestep.compile import counters
from liestep.errors import InputError
from liestep.files.textfiles import TableRow
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.sheet import Options
from liestep.mechanics.formulations import formulate
from liestep.simulation.runs.files import RunFile
from liestep.simulation.runs.maps import ShardSpecification, rows_of
from liestep.simulation.runs.shards import aggregated, cells_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.plan import Cell, Study
from liestep.study.tables import errors
from liestep.study.tables.kinds.exponents import numbers as exponent_numbers
from liestep.study.tables.quantities import quantities_of
from liestep.study.tables.reading import reference_file, run_file, whole_file

if TYPE_CHECKING:  # planning a workflow reads this module, and shall not wait for pandas
    import pandas

Cost = Callable[[Options, TableRow], float]
AXES = ("x", "y", "z")
STATISTICS = ("energy_error_mean", "energy_error_max",
              *(f"momentum_error_{kind}_{axis}" for kind in ("mean", "max") for axis in AXES), "momentum_error_max",
              "unit_length_error_mean", "unit_length_error_max", "tangency_error_mean", "tangency_error_max")
FURTHER = re.compile(r"_(mean|max|mean_square)(_\w+)?$")  # statistics of observables that only some systems have
SUFFIX = "_accepted"  # of the names of statistics over accepted steps
REACHED = "_reached"   # of those of the largest errors of a run that stopped early, up to the time that it reached
NAMED = 4              # stopped runs that a sentence names
ACCEPTED = tuple(f"{name}{SUFFIX}" for name in STATISTICS if name != "momentum_error_max")
COLUMNS = ("study", "problem", "problem_label", "system", "integrator", "integrator_id", "integrator_label", "order",
    "symmetric", "adaptive", "resolution", "step", "steps", "tolerance", "t_end", "members", "status", "message",
    "time_reached", *counters.NAMES, *STATISTICS, *ACCEPTED, "energy_start", "energy_change", "momentum_scale",
    "momentum_conserved", "momentum_error_max_relative", "energy_scale", "energy_error_mean_relative", "error",
    "error_final", "error_final_second", "floor", "floor_reference", "floor_replicas", "cost",
    "run_sha256", "source_hash", "path")


def columns(rows: list[TableRow]) -> tuple[str, ...]:
    """COLUMNS, then those of the study: error_<field>, statistics of further observables, quantities of its paper."""
    return (*COLUMNS, *sorted({name for row in rows for name in row}.difference(COLUMNS)))


def metrics_rows(study: Study) -> list[TableRow]:
    """One row per cell in the order of the study file, columns COLUMNS; of a map one row per combination of parameters.

    step is t_end/steps, for adaptive methods the mean accepted step. energy_start is E(0), energy_change the difference
    of the last stored energy (of member 0 of an ensemble). energy_scale is the largest kinetic energy along the
    reference. error, error_<field> and error_final are those of `StateError`: NaN without a reference, for ensembles,
    and for runs that stopped early, which stay rows with their status. error_final_second is error_final against the
    run of the study's second reference instead. floor is the larger of floor_reference (disagreement of the engines)
    and floor_replicas (runs started 1 ulp apart). cost is in flops, only for studies that want the table `work`.
    A run that stopped early has no errors; its largest ones up to time_reached are in columns that end in _reached.
    momentum_error_max is the largest over the conserved components, momentum_error_max_relative that divided by
    momentum_scale, the sum of |M omega| over the bodies at the start. Raises InputError: a file is missing, incomplete
    or stale, a problem's samples differ from its reference's, or a paper's quantity has the name of a column."""
    rows: list[TableRow] = []
    own = quantities_of(study.name)
    if taken := set(own.names).intersection(COLUMNS):
        raise InputError(f"{own.place}: {min(taken)} is a column of every metrics.csv; choose another name for the"
                         " quantity")

    def needed(attributes: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*errors.error_variables(attributes), "energy", *own.variables)))

    for problem in study.config.problems:
        cells = study.select(problem)
        reference = reference_file(study, problem) if study.config.reference else None
        second = _second_reference(study, problem)
        first = cells[0].spec
        model = first.sheet.cost if "work" in study.config.tables else None
        cost = model and model(first.parameters, first.initial)
        for cell in cells:
            if rows_of(cell.spec) == 0:
                continue
            if cell.spec.reduced:
                rows.append(_row(study, cell, aggregated(whole_file(study, cell)), None, cost))
                continue
            if isinstance(cell.spec, ShardSpecification):
                for number, combination in enumerate(cells_of(run_file(cell), cell.spec)):
                    rows.append({**_row(study, cell, combination, None, cost), "cell": cell.spec.first + number,
                                 **{name: combination.attributes[name] for name in cell.spec.map.variables}})
                continue
            file = whole_file(study, cell, needed)
            columns = {} if cell.spec.ensemble else own.columns(file, reference)  # of each member: `member_values`
            rows.append({**columns, **_row(study, cell, file, reference, cost)})
            if second is not None and not file.failed and cell.spec.ensemble is None:
                rows[-1]["error_final_second"] = errors.final_distance(file, second)
    return rows


def _second_reference(study: Study, problem: str) -> RunFile | None:
    """The run that the study takes as another reference of a problem; None without one, or if it stopped early. Raises
    InputError: the study has no such run, or several."""
    key = study.config.second_reference
    if key is None:
        return None
    cells = study.select(problem, key)
    if len(cells) != 1:
        raise InputError(f"{study.name}: the second reference {key} has {len(cells)} runs of {problem}; it must be one")
    file = run_file(cells[0])
    return None if file.failed else file


def _row(study: Study, cell: Cell, file: RunFile, reference: RunFile | None, cost: Cost | None) -> TableRow:
    spec, changes = cell.spec, dict(formulated_of(cell.spec).changes)
    changes |= {f"{name}{SUFFIX}": f"{change}{SUFFIX}" for name, change in changes.items()}
    attributes = {changes.get(name, name): value for name, value in file.attributes.items()}
    declared, facts = spec.method, spec.sheet
    entry, setup = study.config.integrators[cell.integrator], study.config.problems[cell.problem]
    accepted = int(attributes["steps"])
    row = {"study": study.name, "problem": cell.problem, "problem_label": setup.label or cell.problem,
        "system": spec.problem, "integrator": cell.integrator,
        "integrator_id": spec.integrator, "integrator_label": entry.label or cell.integrator,
        "order": declared.order_of(spec.options, facts, spec.parameters),
        "symmetric": declared.symmetric_of(spec.options, facts, spec.parameters),
        "adaptive": declared.adaptive, "resolution": cell.resolution,
        "step": spec.step if spec.steps is not None else attributes["time_reached"]/max(accepted, 1), "steps": accepted,
        "tolerance": spec.tolerance, "t_end": spec.t_end, "members": spec.ensemble.members if spec.ensemble else 1,
        "cost": cost(spec.options, attributes) if cost else nan, "run_sha256": spec.sha256,
        "source_hash": attributes["source_hash"], "path": cell.path.relative_to(study.folder).as_posix()}
    names = ("status", "message", "time_reached", "momentum_scale", "momentum_conserved", *counters.NAMES,
             *STATISTICS, *ACCEPTED)
    row |= {name: attributes.get(name, nan) for name in names}
    row |= {"warning": attributes["warning"]} if "warning" in attributes else {}
    row |= exponent_numbers(file)
    row |= {name: value for name, value in attributes.items() if FURTHER.search(name) and name not in row}
    row["momentum_error_max_relative"] = (row["momentum_error_max"]/row["momentum_scale"]
                                          if row["momentum_scale"] else nan)
    if spec.reduced:
        return row | {name: attributes[name] for name in ("trajectories", "trajectories_ok")}
    energy = file["energy"] if spec.ensemble is None else file["energy"][0]
    row |= {"energy_start": float(energy[0]), "energy_change": float(energy[-1] - energy[0])} if len(energy) else {}
    row |= _against(reference, file, comparable=spec.ensemble is None)
    row |= {"energy_error_mean_relative": nan} if "energy_error_mean" in changes else {}
    if file.failed:
        errors_of = [name for name in row if FURTHER.search(name)]
        row |= {f"{name}{REACHED}": row[name] for name in errors_of if name.endswith("_error_max")}
        row |= dict.fromkeys((*errors_of, "energy_change"), nan)
    return row


def stopped_runs(rows: "pandas.DataFrame") -> str:
    """Rows of metrics.csv that stopped early, named in words; empty where all came to their end."""
    stopped = rows[rows["status"] != "ok"]
    names = [f"{run.integrator} {run.resolution} on {run.problem} ({run.status})"
             for run in stopped.head(NAMED).itertuples()]
    more = f" and {len(stopped) - NAMED} more" if len(stopped) > NAMED else ""
    return f"{len(stopped)} of {len(rows)} runs stopped early: {', '.join(names)}{more}" if names else ""


def formulated_of(spec: RunSpecification) -> Formulated:
    """The problem of a run as its method asks for it, whose statistics depend on its options and parameters."""
    key = spec.problem, spec.integrator, repr(sorted(spec.options.items())), repr(sorted(spec.parameters.items()))
    if key not in _known:
        _known[key] = formulate(spec.sheet, spec.parameters, spec.initial,
                                spec.method.on(spec.sheet).formulation, spec.options)
    return _known[key]


_known: dict[tuple[str, ...], Formulated] = {}  # of the runs of this process


def _against(reference: RunFile | None, file: RunFile, comparable: bool) -> dict[str, float]:
    """Columns that need the reference."""
    if reference is None:
        return {}
    scale = float(reference.attributes["energy_scale"])
    error = errors.state_error(file, reference) if comparable else errors.StateError()
    floors = (errors.reference_floor(reference, errors.error_fields(file)),
              errors.replica_floor(file, reference) if comparable else nan)
    return {"energy_scale": scale, "energy_error_mean_relative": file.attributes.get("energy_error_mean", nan)/scale
        if scale else nan, "error": error.error, **{f"error_{name}": value for name, value in error.parts.items()},
        "error_final": error.final, "floor": max(value for value in floors if value == value),
        "floor_reference": floors[0], "floor_replicas": floors[1]}


def over_steps(metrics: "pandas.DataFrame") -> "pandas.DataFrame":
    """The rows of metrics.csv with the statistics over accepted steps in place of those over outputs, where a run has
    them: with two outputs the latter are those of its ends. Claims use metrics.csv itself."""
    table = metrics.copy()
    adaptive = metrics["adaptive"].astype(bool)
    for name in metrics.columns:
        if name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in metrics:
            plain = name.removesuffix(SUFFIX)
            table[plain] = metrics[plain].where(~adaptive | metrics[name].isna(), metrics[name])
    if "energy_scale" in metrics:
        relative = table["energy_error_mean"]/metrics["energy_scale"].where(metrics["energy_scale"] > 0.0)
        table["energy_error_mean_relative"] = metrics["energy_error_mean_relative"].where(~adaptive, relative)
    if "momentum_error_max_x" in metrics and "momentum_conserved" in metrics:
        kept = {f"momentum_error_max_{axis}": metrics["momentum_conserved"].str.contains(axis) for axis in AXES}
        largest = table[[*kept]].where(metrics.assign(**kept)[[*kept]]).max(axis=1)
        table["momentum_error_max"] = metrics["momentum_error_max"].where(~adaptive | largest.isna(), largest)
    return table

