"""The page `which.md`: for each problem and class the method to take, for each error and thing to keep, with its step,
its work and the runner-up, by evaluations and by processor time."""
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from liestep.files.textfiles import without_markup
from liestep.study.tables.kinds.which import NOT
from liestep.study.tables.results import StudyResults

UNITS = {"evaluations": ("evaluations of forces or right-hand sides", "{:.4g}"),
         "seconds": ("processor time", "{:.3g} s")}
HEAD = """# Which integrator? {title}

Find the problem that is most like yours, the error that you can bear, and what must be kept. A cell names the method
that gets there at the least cost, its step (s) or tolerance, and what it costs; below it the runner-up and the factor
that it costs more: "tie" within 10 %. "nobody": no run got there. Costs of errors between two runs are interpolated;
methods that stopped count for nothing. Errors are the largest distances from the reference over the whole horizon. For
a system of your own, `liestep recommend` holds a tournament; it chooses by the same function.
"""


def which_page(results: StudyResults, rows: Iterable[Mapping[str, Any]]) -> str:
    """Text of the page from rows of the tables `which` and `which_seconds`; what is not in the rows has no section."""
    rows = [row for row in rows if not row["keep"].startswith(NOT)]
    parts = [HEAD.format(title=without_markup(results.config.title))]
    for problem in dict.fromkeys(row["problem"] for row in rows if row["scope"] == "problem"):
        own = [row for row in rows if row["scope"] == "problem" and row["problem"] == problem]
        label = without_markup(results.config.problems[problem].label or problem)
        periods = f", {own[0]['periods']:g} periods" if own[0]["periods"] else ""
        parts.append(f"## {label}\n\n`{results.config.problems[problem].system}`, class {own[0]['class']}, to t ="
                     f" {own[0]['t_end']:g} s{periods}\n")
        parts += _sections(own, "")
    for kind, count in dict.fromkeys((row["class"], row["periods"]) for row in rows if row["scope"] == "class"):
        own = [row for row in rows if row["scope"] == "class" and (row["class"], row["periods"]) == (kind, count)]
        over = f" over {count:g} periods" if count else ""
        parts.append(f"## The class {kind}{over}\n\nCosts are relative: the geometric mean, over the problems of the"
                     " class, of a method's cost divided by that of the best method of each problem.\n")
        parts += _sections(own, "relative ")
    named = {row[which] for row in rows for which in ("winner", "runner_up")} & results.config.integrators.keys()
    variants = {name: results.config.integrators[name] for name in sorted(named)}
    lines = [f"- {name}: `{results.study.integrator_id(name)}` with "
             + ", ".join(f"{option} {value}" for option, value in entry.options.items())
             for name, entry in variants.items() if entry is not None and entry.options]
    if lines:
        parts += ["## Names\n\nMethods are integrators at their defaults, except:\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def _sections(rows: list[Mapping[str, Any]], relative: str) -> Iterable[str]:
    """A table for each unit of cost: errors down, what is kept across."""
    for unit, (name, form) in UNITS.items():
        own = {(row["error"], row["keep"]): row for row in rows if row["by"] == unit}
        if not own:
            continue
        kept = list(dict.fromkeys(keep for _, keep in own))
        yield f"By {relative}{name}:\n"
        lines = ["| error | " + " | ".join("whatever it keeps" if keep == "nothing" else f"keeps the {keep}"
                                           for keep in kept) + " |", "|" + " --- |"*(len(kept) + 1)]
        for error in sorted({error for error, _ in own}, reverse=True):
            cells = (cell(own[error, keep], "{:.3g}" if relative else form) for keep in kept)
            lines.append(f"| {error:.0e} | " + " | ".join(cells) + " |")
        yield "\n".join(lines) + "\n"


def cell(row: Mapping[str, Any], form: str) -> str:
    """What a row of the table says: method, step or tolerance, work, runner-up with its ratio."""
    if row["verdict"] == "nobody":
        return "nobody"
    size = next((f", {name} {row[name]:{form_of}}" for name, form_of in (("tolerance", ".2g"), ("step", ".3g"))
                 if row[name] is not None and isfinite(row[name])), "")
    text = f"**{row['winner']}**{size}, {form.format(row['work'])}"
    if row["runner_up"]:
        text += f"<br>{'tie: ' if row['verdict'] == 'tie' else ''}{row['runner_up']} {row['ratio']:.3g}"
    return text
