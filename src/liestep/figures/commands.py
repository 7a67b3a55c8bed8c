"""Names of all figures and the command that draws them. Light to import: what draws is loaded when it draws."""
import argparse
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from liestep.errors import InputError, unknown
from liestep.simulation.catalogue import paper_module, papers

if TYPE_CHECKING:
    from liestep.figures.style import Drawing
    from liestep.study.tables.results import StudyResults

# Generic figures, which serve every study: name -> module of this package; the function has the figure's name.
GENERIC = {
    "energy_error": "series", "momentum_error": "series", "length_error": "series",
    "convergence": "ladders", "energy_convergence": "ladders", "length_convergence": "ladders",
    "work_precision": "work", "iterations": "work", "scaling": "work", "failures": "work",
    "ensemble": "spread", "separation": "spread", "drift": "spread", "growth": "series", "error_constants": "ladders",
    "exponent_map": "maps", "map": "maps", "winners": "maps", "equal_cost": "horizons",
    "crossover_time": "horizons", "validity": "horizons",
    "leaders": "families", "leaders_seconds": "families", "price_of_manifold": "families",
    "order_and_form": "families", "encounter": "families", "phase_portrait": "phase", "section": "phase",
}


@cache
def figure_modules() -> dict[str, str]:
    """Name of every figure -> module; the function has the name's last part. Papers add theirs as paper.figure."""
    found = {name: f"liestep.figures.{module}" for name, module in GENERIC.items()}
    return found | {name: paper.module(module) for paper in papers().values() for name, module in paper.figures.items()}


def figure_names() -> tuple[str, ...]:
    """Names of all figures, sorted."""
    return tuple(sorted(figure_modules()))


def require_figure(name: str) -> None:
    """Raises InputError for an unknown name; the sentence names the closest one."""
    if name not in figure_modules():
        raise InputError(unknown("figure", name, figure_modules()))


def drawing_of(name: str) -> "Drawing":
    """Function that draws a figure; `caption` is its caption's template. Raises InputError for an unknown name."""
    require_figure(name)
    paper, _, function = name.rpartition(".")
    if paper:
        return getattr(paper_module(papers()[paper], papers()[paper].figures[name]), function)
    from liestep.figures import families, horizons, ladders, maps, phase, series, spread, work

    modules = (families, horizons, ladders, maps, phase, series, spread, work)
    return getattr(next(module for module in modules if module.__name__ == figure_modules()[name]), function)


def make_figure(results: "StudyResults", name: str) -> list[Path]:
    """Write <folder of the study>/figures/<name>.pdf, .png, .caption.txt and .caption.rst; returns the paths. Raises
    InputError: unknown name, a product that the figure needs is missing or stale, or the folder cannot be written."""
    from liestep.figures.rendering import write

    return write(results, name, drawing_of(name))


def command_figure(arguments: argparse.Namespace) -> None:
    for name in arguments.name:
        require_figure(name)
    from liestep.study.plan.plan import Study
    from liestep.study.tables.results import StudyResults

    results = StudyResults(Study.find(arguments.study, arguments.config, arguments.results))
    for name in arguments.name or results.config.figures:
        for path in make_figure(results, name):
            print(path, file=sys.stderr)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    command = add("figure", command_figure,
                  "draw figures of a study from its runs and tables, as PDF and PNG with captions")
    command.add_argument("study")
    command.add_argument("name", nargs="*", help="names of figures (default: all that the study wants)")
