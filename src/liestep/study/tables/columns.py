"""What each column of the tables is: unit, over which times, meaning (`liestep describe metrics` says it), and its
heading on pages. The CSV files keep the names of the columns."""
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from liestep.mechanics.formulations import formulate_standard
from liestep.study.plan.plan import Study

KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
OF_PAPERS = KNOWN.pop("papers")
FURTHER = KNOWN.pop("further")  # of metrics.csv, which depend on the study
ENDS = {"_accepted": "over accepted steps", "_reached": "of a run that stopped early, up to the time that it reached",
        **{f"_{axis}": f"component {axis}" for axis in "xyz"}}
SHOWN = ("s", "J", "1/s", "flops")  # units that stand in headings
STATISTIC = re.compile(r"(?P<stem>\w+?)(?P<error>_error|_change)?_(?P<kind>mean_square|mean|max)(?P<rest>(_\w+)?)")
KINDS = {"max": "largest", "mean": "mean", "mean_square": "mean square"}
RELATIVE, ACCEPTED = "relative", "accepted"


def about(column: str) -> tuple[str, str, str]:
    """Unit, times and meaning of a column. Raises KeyError: it is not described."""
    for end, words in ENDS.items():
        if column.endswith(end) and column not in KNOWN:
            unit, times, meaning = about(column.removesuffix(end))
            return unit, "accepted steps" if end == "_accepted" else times, f"{meaning}; {words}"
    unit, times, meaning, *_ = KNOWN[column]
    return unit, times, meaning


def heading(column: str, units: Mapping[str, str]) -> tuple[str, str]:
    """Heading and units of a column; `units` are those of the observables."""
    unit, _, _, *named = {**KNOWN, **OF_PAPERS}.get(column, ("", "", ""))
    if named:
        unit = unit.partition(" of ")[0]
        return named[0], unit if unit in SHOWN else ""
    if found := STATISTIC.fullmatch(column):
        rest = [word for word in found["rest"].split("_") if word]
        unit = "" if RELATIVE in rest else units.get(found["stem"], "")
        words = [KINDS[found["kind"]], *found["stem"].split("_"), *(found["error"] or "").split("_")[1:]]
        words += [word for word in rest if word not in (RELATIVE, ACCEPTED)]
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
            for quantity in made.observables:
                units_of.setdefault((quantity.stem or quantity.name).removesuffix("_error"), set()).add(quantity.units)
    units = {stem: each.pop() for stem, each in units_of.items() if each not in ({"1"}, {""}) and len(each) == 1}
    return {column: heading(column, units) for column in columns}
