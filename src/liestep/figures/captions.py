"""Captions: templates filled with what the study ran, so that no number is typed by hand."""
import re

from liestep.figures.marks import LOOKS, marks
from liestep.figures.panels import coarseness, label_of, number, size_of
from liestep.figures.style import Drawing, Results
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.runs.maps import ShardSpecification
from liestep.study.plan.papers import given
from liestep.study.plan.plan import Cell
from liestep.study.tables.metrics import stopped_runs


def fill(draw: Drawing, results: Results, name: str) -> str:
    """Caption of a figure: what to see, then its template with {title}, {t_end}, {runs} and its own {numbers}."""
    ends = sorted({cell.spec.t_end for cell in results.study.cells})
    t_end = f"{ends[0]:g}" if len(ends) == 1 else f"{ends[0]:g} to {ends[-1]:g}"
    text = draw.caption.format(title=results.config.title, t_end=t_end, numbers=given(str, draw.numbers, results),
                               runs=f"Runs of {results.study.name}: {describe_runs(results)}.")
    stopped, see = stopped_in_words(results), results.config.see.get(name)
    return plain((f"{see} " if see else "") + text + _names(results)
                 + (_work(results) if "E(t)" in draw.caption or "energy" in draw.caption else "")
                 + (f" {stopped}." if stopped else ""))


def plain(text: str) -> str:
    """A text with formulas of TeX as plain text: $D_t$ as D_t, $s^{5/2}$ as s^(5/2); other signs $ stay."""
    return re.sub(r"\$(?! )([^$]+)(?<! )\$", lambda found: re.sub(r"(?<=\w)\\|\\\W", " ", found[1].replace(
        r"\cdot ", ".")).translate(str.maketrans("{}", "()", "\\")), text)


def restructured(text: str) -> str:
    """A caption for Snakemake's report, which reads templates of reStructuredText: signs stand for themselves."""
    return re.sub(r"([^\w\s]|_)", r"\\\1", text)


def _work(results: Results) -> str:
    """Says which problems have forces: their energy is less the work."""
    forced = []
    for key, entry in results.config.problems.items():
        run = next((cell.spec for cell in results.study.cells if cell.problem == key), None)
        observables = formulate_standard(run.sheet, run.parameters, run.initial).observables if run else ()
        if any(observable.name == "work" for observable in observables):
            forced.append(entry.label or key)
    return f" Energy less work of the forces: {', '.join(forced)}." if forced else ""


def _names(results: Results) -> str:
    """Says what short names in labels are: those that the methods have of themselves, and the paper's words."""
    own = dict(results.study.paper.names if results.study.paper else {})
    names = [f"{name}: {meaning}" for name, meaning in (LOOKS["meanings"] | own).items() if any(
        all(re.search(rf"(?<!\w){re.escape(name)}(?![A-Za-z_])", label)
            for label in (mark.label, mark.label if name in own else mark.method)) for mark in marks(results).values())]
    return f" {'; '.join(names)}." if names else ""


def stopped_in_words(results: Results) -> str:
    """`stopped_runs` of a study, with labels in place of keys."""
    named, rows = marks(results), results.metrics
    sizes = {cell.resolution: size_of(cell) for cell in results.study.cells}
    return stopped_runs(rows.assign(
        integrator=[f"{named[key].label}," for key in rows["integrator"]], resolution=rows["resolution"].map(sizes),
        problem=[label_of(results, key) for key in rows["problem"]], status=rows["status"].str.replace("_", " ")))


def describe_runs(results: Results) -> str:
    """All runs of a study in one line: methods with their ranges of resolutions, problems with their durations."""
    named, parts = marks(results), []
    for key in results.config.integrators:
        cells = [cell for cell in results.study.cells if cell.integrator == key]
        if cells:
            parts.append(f"{named[key].label}, {_resolutions(cells)}")
    ends: dict[float, dict[str, None]] = {}  # the labels in their order
    for sweep in results.study.sweeps:
        ends.setdefault(sweep.cells[0].spec.t_end, {})[label_of(results, sweep.problem)] = None
    parts += [f"{end:g} s of {', '.join(problems)}" for end, problems in ends.items()]
    parts += {str(cell.spec.map): None for cell in results.study.cells if isinstance(cell.spec, ShardSpecification)}
    kinds = {(cell.spec.ensemble.members, cell.spec.ensemble.amplitude)
             for cell in results.study.cells if cell.spec.ensemble is not None}
    parts += [f"{members} members perturbed by {amplitude:g}" if amplitude else f"{members} starts on a grid"
              for members, amplitude in sorted(kinds)]
    return "; ".join(parts)


def _resolutions(cells: list[Cell]) -> str:
    sizes = sorted({coarseness(cell) for cell in cells})
    name = "relative tolerance" if cells[0].spec.steps is None else "h"
    return f"{name} = {(' and ' if len(sizes) == 2 else ' to ').join(map(number, sorted({sizes[0], sizes[-1]})))}"
