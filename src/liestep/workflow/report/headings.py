"""What the columns of tables are called on the page, with units. The CSV files keep the names of the columns."""
import re
from collections.abc import Iterable, Mapping

from liestep.mechanics.formulations import formulate_standard
from liestep.study.plan.plan import Study

SECONDS, RATE, JOULE = "s", "1/s", "J"
# column -> (heading, units); "" for numbers without units and for texts
HEADINGS = {
    "problem": ("problem", ""), "problem_label": ("problem", ""), "system": ("system", ""),
    "integrator": ("integrator", ""), "integrator_label": ("integrator", ""), "integrator_id": ("method", ""),
    "path": ("file", ""), "study": ("study", ""), "message": ("why it stopped", ""), "status": ("status", ""),
    "resolution": ("step or tolerance", ""), "step": ("step", SECONDS), "steps": ("steps", ""),
    "t_end": ("duration", SECONDS), "time_reached": ("time reached", SECONDS), "seconds": ("processor time", SECONDS),
    "order": ("order of the method", ""), "order_theory": ("order of the method", ""), "p": ("observed order", ""),
    "order_plain": ("order of all steps", ""), "u": ("uncertainty of the order", ""), "class": ("what it shows", ""),
    "window_h_min": ("smallest step used", SECONDS), "window_h_max": ("largest step used", SECONDS),
    "points": ("steps used", ""), "energy_order": ("exponent of the energy error", ""),
    "energy_u": ("uncertainty of that exponent", ""), "energy_class": ("what the energy shows", ""),
    "error": ("state error, scaled", ""), "error_final": ("state error at the end, scaled", ""),
    "error_final_second": ("state error at the end against the second reference, scaled", ""),
    "floor": ("floor of the comparison, scaled", ""), "floor_reference": ("disagreement of the references, scaled", ""),
    "floor_replicas": ("spread of the replicas, scaled", ""), "cost": ("cost", "flops"),
    "energy_start": ("energy at the start", JOULE),
    "energy_change": ("energy at the end less that at the start", JOULE),
    "energy_scale": ("largest kinetic energy", JOULE), "momentum_scale": ("sum of the bodies' momenta", ""),
    "momentum_conserved": ("conserved components", ""), "member_low": ("smallest of the members", JOULE),
    "member_median": ("median of the members", JOULE), "member_high": ("largest of the members", JOULE),
    "rhs_evaluations": ("right-hand sides", ""), "force_evaluations": ("force evaluations", ""),
    "steps_rejected": ("rejected steps", ""), "iterations_per_step": ("iterations per step", ""),
    "basis": ("compared at", ""), "runtime": ("made by", ""), "invariant": ("invariant", ""),
    "verdict": ("verdict", ""), "verdict_alone": ("verdict of this run alone", ""),
    "confirmed_by": ("confirmed by the longer run", ""), "confirms": ("confirms the shorter run", ""),
    "amplitude": ("amplitude of the oscillation", ""), "slope": ("slope", ""),
    "bound": ("|slope| T over amplitude", ""),
    "growth": ("growth", ""), "reason": ("reason", ""), "horizon": ("time until 1e-6 apart", SECONDS),
    "lyapunov_time": ("Lyapunov time", SECONDS), "horizon_lyapunov_times": ("the same in Lyapunov times", ""),
    "separation_end": ("distance at the end", ""), "lyapunov": ("largest Lyapunov exponent", RATE),
    "lyapunov_uncertainty": ("its standard error", RATE), "lyapunov_exponents": ("all exponents", RATE),
    "lyapunov_pair_sum": ("largest sum of a pair of exponents", RATE),
    "symplectic_error": ("error of the symplectic form, relative", ""),
    "crossover": ("time of the crossover", SECONDS), "first": ("energy error at first", JOULE),
    "last": ("energy error at the end", JOULE), "other_first": ("the other's at first", JOULE),
    "other_last": ("the other's at the end", JOULE), "run_sha256": ("hash of the specification", ""),
    "source_hash": ("hash of the sources", ""),
}
STATISTIC = re.compile(r"(?P<stem>\w+?)(?P<error>_error)?_(?P<kind>mean_square|mean|max)(?P<rest>(_\w+)?)")
KINDS = {"max": "largest", "mean": "mean", "mean_square": "mean square"}
RELATIVE, ACCEPTED = "relative", "accepted"


def heading(column: str, units: Mapping[str, str]) -> tuple[str, str]:
    """Heading and units of a column; `units` are those of the observables."""
    if column in HEADINGS:
        return HEADINGS[column]
    if found := STATISTIC.fullmatch(column):
        rest = [part for part in found["rest"].split("_") if part]
        unit = "" if RELATIVE in rest else units.get(found["stem"], "")
        words = [KINDS[found["kind"]], *found["stem"].split("_"), *["error"]*bool(found["error"])]
        words += [part for part in rest if part not in (RELATIVE, ACCEPTED)]
        text = " ".join(words) + ", relative"*(RELATIVE in rest) + ", over accepted steps"*(ACCEPTED in rest)
        return text, f"({unit})²" if unit and found["kind"] == "mean_square" else unit
    if column.startswith("error_"):
        return f"state error of {column.removeprefix('error_').replace('_', ' ')}, scaled", ""
    return column.replace("_", " "), ""


def headings(columns: Iterable[str], study: Study) -> dict[str, tuple[str, str]]:
    """Heading and units of each column of a study's tables; of observables, where all its problems have the same."""
    found: dict[str, set[str]] = {}
    for problem in study.config.problems:
        spec = next((cell.spec for cell in study.cells if cell.problem == problem), None)
        if spec is not None:
            made = formulate_standard(spec.sheet, spec.parameters, spec.initial)
            for part in made.observables:
                found.setdefault((part.stem or part.name).removesuffix("_error"), set()).add(part.units)
    units = {stem: each.pop() for stem, each in found.items() if each not in ({"1"}, {""}) and len(each) == 1}
    return {column: heading(column, units) for column in columns}
