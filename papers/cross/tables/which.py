"""The table `which`, and by seconds `which_seconds`: the cheapest method for each problem and error. And the page
`which.md`: the same with runner-up, for each thing to keep, by evaluations and by processor time."""
from collections.abc import Iterable, Mapping
from math import exp, inf, isfinite, log, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.compile.counters import evaluations_of
from liestep.files.textfiles import without_markup
from liestep.mechanics.contracts.method import Keeps
from liestep.mechanics.contracts.sheet import Sheet
from liestep.paper import Parameters, Table, method, sheet, start_of
from liestep.simulation.runs.specification import complete_options
from liestep.study.tables.choice import KEEP, choose
from liestep.study.tables.kinds import KEYS
from liestep.study.tables.kinds.work import at_equal_error

if TYPE_CHECKING:
    import pandas

    from liestep.study.tables.results import StudyResults

LEVELS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
# what must be kept -> facts of which one must be declared
KEPT: dict[str, set[Keeps]] = {"nothing": set(), "energy": KEEP["energy"], "manifold": KEEP["manifold"],
                               "momentum maps": KEEP["momentum"], "symplectic form": KEEP["symplectic"]}
NOT = "no "       # before a thing to keep: only methods that do not keep it
KEPT |= {f"{NOT}symplectic form": KEPT["symplectic form"]}
COSTS = ("evaluations", "cost")   # cost in flops
CLOCK = ("seconds",)              # in a table of its own, because times differ from machine to machine
COLUMNS = ("study", "scope", "problem", "class", "t_end", "periods", "error", "keep", "by", "winner", "step",
           "tolerance", "work", "runner_up", "ratio", "verdict")
Costs = dict[str, dict[float, dict[str, float]]]  # integrator -> level -> cost and resolution
Facts = Mapping[str, frozenset[Keeps]]            # integrator -> what it keeps on a problem


def class_of(facts: Sheet, parameters: Parameters) -> str:
    """The class of problems that a system belongs to, by its formulations."""
    if "sphere_lagrangian" in facts.forms:
        assert facts.mass is not None
        return "spheres" if np.ndim(facts.mass(parameters)) == 1 else "chain"
    if "cotangent_rotation" in facts.forms:
        return "free body" if facts.exact is not None else "top"
    return "bodies" if "rigid_bodies" in facts.forms else "constrained"


def costs_at(runs: "pandas.DataFrame", cost: str) -> Costs:
    """What each integrator needs for each level: interpolated where its runs enclose the level, or a run that is better
    than asked for, whichever is cheaper. Runs that stopped do not count."""
    found: Costs = {}
    kept = (runs["status"] == "ok") & runs["error"].notna() & (runs[cost] > 0.0)  # none where nothing is counted
    runs = runs.loc[kept, ["integrator", "error", cost, "step", "tolerance"]]  # rows of all columns take long
    for name, own in runs.groupby("integrator", sort=False):
        rows = at_equal_error(own, (cost, "step", "tolerance"), LEVELS)
        rows += [{**run, "error": level} for run in own.to_dict("records") for level in LEVELS if run["error"] <= level]
        for row in rows:
            level = found.setdefault(str(name), {})
            if row[cost] < level.get(row["error"], {cost: inf})[cost]:
                level[row["error"]] = {key: float(row[key]) for key in (cost, "step", "tolerance")}
    return found


def which_rows(results: "StudyResults", costs: Iterable[str] = COSTS) -> list[dict[str, Any]]:
    """Rows with columns COLUMNS for each unit of cost: each problem alone, then each class with more than one
    problem over the same number of periods, where the cost is the geometric mean of the costs divided by the best of
    each problem."""
    metrics = results.metrics
    metrics = metrics.assign(evaluations=evaluations_of(metrics))
    rows: list[dict[str, Any]] = []
    for cost in costs:
        if not metrics[cost].notna().any():
            continue
        classes: dict[tuple[str, float | None], list[tuple[Costs, Facts]]] = {}
        for problem, setup in results.config.problems.items():
            runs = metrics[metrics["problem"] == problem]
            if runs["error"].notna().any():
                facts = sheet(setup.system)
                parameters = start_of(setup.system, preset=setup.preset, parameters=setup.parameters,
                                      initial=setup.initial).parameters
                kind, found = class_of(facts, parameters), costs_at(runs, cost)
                kept = {name: _kept(results, name, facts, parameters) for name in found}
                t_end = float(runs["t_end"].iloc[0])
                periods = t_end/setup.period if setup.period else None
                classes.setdefault((kind, periods and round(periods, 6)), []).append((found, kept))
                common = {"study": results.study.name, "scope": "problem", "problem": problem, "class": kind,
                          "t_end": t_end, "periods": periods}
                rows += [common | row for row in winners(found, kept, cost)]
        for (kind, periods), members in classes.items():
            if len(members) > 1:
                common = {"study": results.study.name, "scope": "class", "problem": "", "class": kind, "t_end": nan,
                          "periods": periods}
                everywhere = together((own for own, _ in members), cost)
                kept = {name: frozenset.intersection(*(own[name] for _, own in members)) for name in everywhere}
                rows += [common | row for row in winners(everywhere, kept, cost)]
    return rows


def _kept(results: "StudyResults", key: str, facts: Sheet, parameters: Parameters) -> frozenset[Keeps]:
    """What an integrator of a study declares to keep on a problem, with its options there."""
    options, declared = results.config.integrators[key].options, method(results.study.integrator_id(key)).on(facts)
    return declared.kept(complete_options(declared, facts, parameters, options), facts, parameters)


def together(members: Iterable[Costs], cost: str) -> Costs:
    """Geometric means of costs relative to the best of each problem, of integrators that reach a level on all."""
    members = list(members)
    found: Costs = {}
    for name in members[0]:
        for level in LEVELS:
            own = [one.get(name, {}).get(level, {}).get(cost, inf) for one in members]
            if all(map(isfinite, own)):
                best = [min(at[level][cost] for at in one.values() if level in at) for one in members]
                mean = exp(sum(log(a/b) for a, b in zip(own, best, strict=True))/len(own))
                found.setdefault(name, {})[level] = {cost: mean, "step": nan, "tolerance": nan}
    return found


def winners(costs: Costs, kept: Facts, cost: str) -> list[dict[str, Any]]:
    """One row for each level and each thing to keep, by `choose`; of a class what is kept on every problem."""
    rows = []
    for level in LEVELS:
        for keep, wanted in KEPT.items():
            table = [{"integrator": name, "error": level, cost: at[level][cost]} for name, at in costs.items()
                     if level in at and (not wanted or bool(wanted & kept[name]) != keep.startswith(NOT))]
            choice = choose(table, level, cost)
            at = costs[choice.winner][level] if choice.winner else {"step": nan, "tolerance": nan}
            rows.append({"error": level, "keep": keep, "by": cost, "winner": choice.winner or "", "step": at["step"],
                         "tolerance": at["tolerance"], "work": choice.cost if choice.winner else nan,
                         "runner_up": choice.runner_up or "", "ratio": choice.ratio if choice.runner_up else nan,
                         "verdict": "nobody" if choice.winner is None else "tie" if choice.tie else "winner"})
    return rows


UNITS = {"evaluations": ("evaluations of forces or right-hand sides", "{:.4g}"),
         "seconds": ("processor time", "{:.3g} s")}
HEAD = """# Which integrator? {title}

Find the problem that is most like yours, the error that you can bear, and what must be kept. A cell names the method
that gets there at the least cost, its step (s) or tolerance, and what it costs; below it the runner-up and the factor
that it costs more: "tie" within 10 %. "nobody": no run got there. Costs of errors between two runs are interpolated;
methods that stopped count for nothing. Errors are the largest distances from the reference over the whole horizon. For
a system of your own, `liestep recommend` holds a tournament; it chooses by the same function.
"""


def which_page(results: "StudyResults", rows: Iterable[Mapping[str, Any]]) -> str:
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
             for name, entry in variants.items() if entry.options]
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


TABLE = Table(COLUMNS, which_rows, readable=COLUMNS[1:], keys=KEYS[:2],
              page=lambda results, rows, timed: which_page(results, [*rows, *timed]),
              timed=("which_seconds", COLUMNS, lambda results: which_rows(results, CLOCK)),
              needed=("scope", "by", "keep", "error", "winner", "ratio", "verdict"))
