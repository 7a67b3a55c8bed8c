"""What a claim may be about, known before any run is made: columns of metrics.csv, invariants, variables of files."""
from liestep.analysis.metrics import ACCEPTED, COLUMNS, STATISTICS
from liestep.catalogue import method, sheet
from liestep.claims.claimfile import Claim
from liestep.contracts.formulated import Formulated
from liestep.errors import InputError, unknown
from liestep.formulations import formulate
from liestep.runs.specification import RunSpecification

TEXTS = ("study", "problem", "problem_label", "system", "integrator", "integrator_id", "integrator_label", "resolution",
         "status", "message", "run_sha256", "source_hash", "path", "momentum_conserved")  # columns without numbers
NUMBERS = tuple(name for name in COLUMNS if name not in TEXTS)
OF_COLUMNS = ("relative", "digits", "factor", "limit", "ratio")  # criteria on columns of metrics.csv
OF_VARIABLES = ("extremum", "state", "quantile")                 # criteria on stored variables
_known: dict[tuple[str, str, str], Formulated] = {}


def require_quantity(claim: Claim, spec: RunSpecification) -> None:
    """Raises InputError when runs of this specification will not have the claim's quantity; names the closest."""
    kind, name = claim.criterion.kind, claim.quantity
    if (kind in OF_COLUMNS and name in NUMBERS) or kind not in (*OF_COLUMNS, *OF_VARIABLES, "drift"):
        return
    formulated = _formulated(spec)
    if kind in OF_COLUMNS:
        known = [*NUMBERS, *_statistics(formulated), *(f"error_{part.name}" for part in formulated.error_fields)]
    elif kind == "drift":
        known = [observable.name for observable in formulated.observables if observable.kind == "invariant"]
    else:
        known = ["time", *(part.name for part in formulated.fields),
                 *(observable.name for observable in formulated.observables)]
        known += [*_statistics(formulated), *STATISTICS, *ACCEPTED]*(spec.ensemble is not None)
        known += ["accepted_time", "accepted_step"]*spec.log_steps
    if name not in known:
        raise InputError(unknown("quantity", name, known))


def _statistics(formulated: Formulated) -> list[str]:
    """Names of the statistics of all observables, one for each column."""
    return [name for observable in formulated.observables for what in observable.asked
            for name in observable.statistic(what)]


def _formulated(spec: RunSpecification) -> Formulated:
    key = (spec.problem, spec.integrator, repr(sorted(spec.options.items())))  # names of columns do not depend on sizes
    if key not in _known:
        _known[key] = formulate(sheet(spec.problem), spec.parameters, spec.initial,
                                method(spec.integrator).formulation, spec.options)
    return _known[key]
