"""What the columns of tables are called on the page, with units. The CSV files keep the names of the columns."""
import re
from collections.abc import Iterable, Mapping

from liestep.mechanics.formulations import formulate_standard
from liestep.study.plan.plan import Study

# units -> column -> heading; "" for numbers without units and for texts
BY_UNITS = {
    "": {"problem": "problem", "problem_label": "problem", "system": "system", "integrator": "integrator",
        "integrator_label": "integrator", "integrator_id": "method", "path": "file", "study": "study",
        "message": "why it stopped", "warning": "warning", "status": "status", "resolution": "step or tolerance",
        "steps": "steps", "order": "order of the method", "order_theory": "order of the method", "p": "observed order",
        "order_plain": "order of all steps", "u": "uncertainty of the order", "class": "what it shows",
        "points": "steps used", "energy_order": "exponent of the energy error",
        "energy_u": "uncertainty of that exponent", "energy_class": "what the energy shows",
        "error": "state error, scaled", "error_final": "state error at the end, scaled",
        "error_final_second": "state error at the end against the second reference, scaled",
        "floor": "floor of the comparison, scaled", "floor_reference": "disagreement of the references, scaled",
        "floor_replicas": "spread of the replicas, scaled", "momentum_scale": "sum of the bodies' momenta",
        "momentum_conserved": "conserved components", "rhs_evaluations": "right-hand sides",
        "force_evaluations": "force evaluations", "steps_rejected": "rejected steps",
        "iterations_per_step": "iterations per step", "basis": "compared at", "runtime": "made by",
        "invariant": "invariant", "verdict": "verdict", "verdict_alone": "verdict of this run alone",
        "confirmed_by": "confirmed by the longer run", "confirms": "confirms the shorter run",
        "amplitude": "amplitude of the oscillation", "slope": "slope", "bound": "|slope| T over amplitude",
        "growth": "growth", "reason": "reason", "horizon_lyapunov_times": "the same in Lyapunov times",
        "separation_end": "distance at the end", "symplectic_error": "error of the symplectic form, relative",
        "run_sha256": "hash of the specification", "source_hash": "hash of the sources"},
    "s": {"step": "step", "t_end": "duration", "time_reached": "time reached", "seconds": "processor time",
        "window_h_min": "smallest step used", "window_h_max": "largest step used", "horizon": "time until 1e-6 apart",
        "lyapunov_time": "Lyapunov time", "crossover": "time of the crossover"},
    "flops": {"cost": "cost"},
    "J": {"energy_start": "energy at the start", "energy_change": "energy at the end less that at the start",
        "energy_scale": "largest kinetic energy", "member_low": "smallest of the members",
        "member_median": "median of the members", "member_high": "largest of the members",
        "first": "energy error at first", "last": "energy error at the end", "other_first": "the other's at first",
        "other_last": "the other's at the end"},
    "1/s": {"lyapunov": "largest Lyapunov exponent", "lyapunov_uncertainty": "its standard error",
        "lyapunov_exponents": "all exponents", "lyapunov_pair_sum": "largest sum of a pair of exponents"},
}
HEADINGS = {column: (text, units) for units, found in BY_UNITS.items() for column, text in found.items()}
STATISTIC = re.compile(r"(?P<stem>\w+?)(?P<error>_error|_change)?_(?P<kind>mean_square|mean|max)(?P<rest>(_\w+)?)")
KINDS = {"max": "largest", "mean": "mean", "mean_square": "mean square"}
RELATIVE, ACCEPTED = "relative", "accepted"


def heading(column: str, units: Mapping[str, str]) -> tuple[str, str]:
    """Heading and units of a column; `units` are those of the observables."""
    if column in HEADINGS:
        return HEADINGS[column]
    if found := STATISTIC.fullmatch(column):
        rest = [part for part in found["rest"].split("_") if part]
        unit = "" if RELATIVE in rest else units.get(found["stem"], "")
        words = [KINDS[found["kind"]], *found["stem"].split("_"), *(found["error"] or "").split("_")[1:]]
        words += [part for part in rest if part not in (RELATIVE, ACCEPTED)]
        text = " ".join(words) + ", relative"*(RELATIVE in rest) + ", over accepted steps"*(ACCEPTED in rest)
        return text, f"({unit})²" if unit and found["kind"] == "mean_square" else unit
    if column.startswith("error_"):
        return f"state error of {column.removeprefix('error_').replace('_', ' ')}, scaled", ""
    return column.replace("_", " "), ""


def headings(columns: Iterable[str], study: Study) -> dict[str, tuple[str, str]]:
    """Heading and units of each column of a study's tables; of observables, where all its problems have the same."""
    units_of: dict[str, set[str]] = {}
    for problem in study.config.problems:
        spec = next((cell.spec for cell in study.cells if cell.problem == problem), None)
        if spec is not None:
            made = formulate_standard(spec.sheet, spec.parameters, spec.initial)
            for part in made.observables:
                units_of.setdefault((part.stem or part.name).removesuffix("_error"), set()).add(part.units)
    units = {stem: each.pop() for stem, each in units_of.items() if each not in ({"1"}, {""}) and len(each) == 1}
    return {column: heading(column, units) for column in columns}
