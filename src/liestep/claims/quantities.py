"""What a claim may be about, known before any run: runs, methods, data that a paper does not print, quantity."""
from collections.abc import Iterable, Mapping

from liestep.claims.claimfile import Claim
from liestep.claims.selection import OWN_QUANTITY, RunChoice, require_quantity
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.maps import rows_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.config import FEWEST
from liestep.study.plan.plan import Cell, Study
from liestep.study.tables.kinds.exponents import NAMES as EXPONENTS
from liestep.study.tables.metrics import ACCEPTED, COLUMNS, STATISTICS, formulated_of
from liestep.study.tables.quantities import quantities_of

TEXTS = ("study", "problem", "problem_label", "system", "integrator", "integrator_id", "integrator_label", "resolution",
         "status", "message", "run_sha256", "source_hash", "path", "momentum_conserved")  # columns without numbers
EQUIVALENT = "scaled"  # kind of a preset whose data are the printed ones in other units
NUMBERS = tuple(name for name in COLUMNS if name not in TEXTS)


def require_claim(claim: Claim, studies: Mapping[str, Study]) -> None:
    """Raises InputError for a claim that its studies cannot decide as they are planned: runs that they do not have or
    that are by another method, a quantity that the runs will not have, a table that is not asked for, single runs where
    an ensemble must be, or data that the paper does not print."""
    claim.criterion.require()
    require_printed(claim, studies)
    for choice in claim.choices:
        study = studies[choice.study]
        cells = _cells(choice, study)
        require_method(choice, study)
        if claim.scan is not None and choice in claim.scan.runs and choice not in claim.runs:
            _require_quantity("column", claim.quantity, cells[0].spec, choice.study)
            continue
        _require_kind(claim, choice, cells, study)
        for name in claim.criterion.quantities(claim):
            _require_quantity(claim.criterion.needs.quantity, name, cells[0].spec, choice.study)


def _cells(choice: RunChoice, study: Study) -> list[Cell]:
    by_resolution = {cell.resolution: cell for cell in study.select(choice.problem, choice.integrator)
                     if "_" not in cell.resolution or rows_of(cell.spec)}  # not the further shards of an ensemble
    if choice.resolution is None:
        return list(by_resolution.values())
    if choice.resolution not in by_resolution:
        raise InputError(unknown("resolution", choice.resolution, by_resolution))
    return [by_resolution[choice.resolution]]


def _require_kind(claim: Claim, choice: RunChoice, cells: list[Cell], study: Study) -> None:
    criterion, needs = claim.criterion, claim.criterion.needs
    if needs.runs in ("one", "ensemble") and len(cells) != 1:
        raise InputError(f"criterion {criterion.kind} needs one run of {choice.problem} {choice.integrator}, of which"
                         f" study {choice.study} has {len(cells)}: name the resolution")
    if needs.runs == "ensemble" and any(cell.spec.ensemble is None for cell in cells):
        raise InputError(f"criterion {criterion.kind} needs an ensemble; {choice.problem} {choice.integrator} of study"
                         f" {choice.study} is a single run")
    if few := next((cell.spec.ensemble.members for cell in cells if cell.spec.ensemble and not cell.spec.ensemble.turns
                    and cell.spec.ensemble.members < FEWEST), 0):
        raise InputError(f"an ensemble that decides needs {FEWEST} members or more; {choice.problem}"
                         f" {choice.integrator} of study {choice.study} has {few}")
    if needs.table not in ("", *study.config.tables):
        raise InputError(f"criterion {criterion.kind} needs the table {needs.table}; study {choice.study} does not"
                         " ask for it")


def _require_quantity(kind: str, name: str, spec: RunSpecification, study: str) -> None:
    """Raises InputError when such runs will not have a quantity; names the closest. `kind`: of `Needs.quantity`."""
    if kind == "nothing" or (kind == "column" and name in NUMBERS):
        return
    formulated = formulated_of(spec)
    if kind == "column":
        known = [*NUMBERS, *_statistics(formulated), *(f"error_{field.name}" for field in formulated.error_fields),
                 *quantities_of(study).names, *(EXPONENTS if spec.exponents else ())]
    elif kind == "invariant":
        known = [observable.name for observable in formulated.observables if observable.kind == "invariant"]
    else:
        known = ["time", *(field.name for field in formulated.fields),
                 *(observable.name for observable in formulated.observables)]
        if spec.ensemble is not None:
            known += [*_statistics(formulated), *STATISTICS, *ACCEPTED, OWN_QUANTITY, *quantities_of(study).names]
        known += ["accepted_time", "accepted_step"]*spec.log_steps
    require_quantity(name, known)


def _statistics(formulated: Formulated) -> list[str]:
    """Names of the statistics of all observables, one for each column, also as tables have them."""
    return [name for observable in formulated.observables for what in observable.asked
            for name in observable.statistic(what)] + [*formulated.changes.values()]


def unprinted(claim: Claim, studies: Mapping[str, Study]) -> dict[str, str]:
    """Data of the runs that decide which are not those that a paper prints: sentence -> kind of a preset or "own".
    Steps and tolerances count where a claim names one: orders and ladders are judged on steps of our choice."""
    reasons: dict[str, str] = {}
    for choice in (*claim.runs, *claim.against):
        study = studies[choice.study]
        setup = study.config.problems[choice.problem]
        facts = sheet(setup.system)
        name = setup.preset or facts.default
        preset = facts.presets[name]
        if preset.kind != "printed":
            reasons[f"preset {name} of {setup.system} is {preset.kind}"] = preset.kind
        changed = [*setup.parameters, *setup.initial]
        changed += ["t_end"]*(setup.t_end is not None and setup.t_end != preset.t_end)
        if changed:
            reasons[f"{choice.study}: {choice.problem} has its own {', '.join(changed)}"] = "own"
        labels = [f"{letter}{size:.6g}" for size in preset.resolutions for letter in ("h", "tol")]
        if choice.resolution is not None and choice.resolution not in labels:
            reasons[f"{choice.resolution} of {choice.integrator} is not printed"] = "own"
    return reasons


def systems_of(claims: Iterable[Claim], studies: Mapping[str, Study]) -> set[str]:
    """Ids of the systems on which claims are judged."""
    return {studies[choice.study].config.problems[choice.problem].system for claim in claims for choice in claim.runs}


def require_printed(claim: Claim, studies: Mapping[str, Study]) -> None:
    """Raises InputError for a claim about an experiment called reproduced with data that the paper does not print."""
    if claim.scope == "general" or claim.asserted_by in ("external", "own") or claim.verdict != "reproduced":
        return  # data of another code are those of its own sources, which the claim names
    if reasons := unprinted(claim, studies):
        raise InputError(f"verdict reproduced needs data that the paper prints, but {next(iter(reasons))}; allowed are"
                         " recovered (with a scan), calibrated and confirmed, or scope general")


def require_method(choice: RunChoice, study: Study) -> None:
    """Raises InputError when the runs of a choice are by another method than it says: `method`, or else the integrator
    whose id the key is or begins with."""
    method = study.integrator_id(choice.integrator)
    if choice.method is not None and choice.method != method:
        raise InputError(f"study {choice.study}: {choice.integrator} is the method {method}, not {choice.method}")
    if choice.method is None and choice.integrator != method and not choice.integrator.startswith(f"{method}_"):
        raise InputError(f"study {choice.study}: {choice.integrator} is the method {method}; say so with method:"
                         f" {method}")
