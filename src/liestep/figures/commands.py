"""Names of all figures and the command that draws them. Light to import: the drawing modules are loaded when a figure is drawn."""
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from liestep.systems.sheet import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from liestep.analysis.results import StudyResults

# Name -> module of this package; the function has the name's last part. Generic figures serve every study, paper.figure one paper.
MODULES = {
    "energy_error": "series", "momentum_error": "series", "length_error": "series",
    "convergence": "ladders", "energy_convergence": "ladders", "length_convergence": "ladders",
    "work_precision": "work", "iterations": "work", "scaling": "work", "failures": "work",
    "ensemble": "spread", "separation": "spread", "drift": "spread", "growth": "growth", "error_constants": "constants",
    "twospheres2009.figure1": "twospheres2009", "twospheres2009.figure3": "twospheres2009", "twospheres2009.figure4": "twospheres2009",
    "twospheres2009.figure5": "twospheres2009", "twospheres2009.figure2": "twospheres2009_sphere",
    "twospheres2009.figure6": "twospheres2009_sphere", "twospheres2009.figure7": "twospheres2009_sphere",
    "liegroup2021.figure2": "liegroup2021_top", "liegroup2021.figure2_parts": "liegroup2021_top", "liegroup2021.figure3": "liegroup2021_top",
    "liegroup2021.figure5": "liegroup2021_pendulum", "liegroup2021.figure6": "liegroup2021_pendulum",
    "liegroup2021.figure7": "liegroup2021_pendulum", "liegroup2021.figure8": "liegroup2021_chain", "liegroup2021.figure9": "liegroup2021_peak",
    "liegroup2021.figure10": "liegroup2021_chain", "liegroup2021.chain_motion": "liegroup2021_chain",
    "liegroup2021.figure11": "liegroup2021_peak", "liegroup2021.figure13": "liegroup2021_quadrotors",
    "liegroup2021.figure14": "liegroup2021_flight", "liegroup2021.figure15": "liegroup2021_quadrotors",
    "liegroup2021.figure16": "liegroup2021_quadrotors", "liegroup2021.figure17": "liegroup2021_quadrotors",
    "liegroup2021.figure18": "liegroup2021_quadrotors",
}


def figure_names() -> tuple[str, ...]:
    """Names of all figures, sorted."""
    return tuple(sorted(MODULES))


def require_figure(name: str) -> None:
    """Raises InputError for an unknown name; the sentence names the closest one."""
    if name not in MODULES:
        raise InputError(unknown("figure", name, MODULES))


def drawing_of(name: str) -> "Callable[[StudyResults], Figure]":
    """Function that draws a figure; its attribute `caption` is the template of its caption.

    Raises:
        InputError: unknown name.
    """
    import importlib

    require_figure(name)
    return getattr(importlib.import_module(f"liestep.figures.{MODULES[name]}"), name.rpartition(".")[2])


def make_figure(results: "StudyResults", name: str) -> list[Path]:
    """Write <folder of the study>/figures/<name>.pdf, .png and .caption.txt; returns the paths.

    Raises:
        InputError: unknown name, a product that the figure needs is missing or stale, or the folder cannot be written.
    """
    from liestep.figures.captions import fill
    from liestep.figures.style import save
    from liestep.study.textfiles import write_text_atomically

    draw = drawing_of(name)
    base = results.study.folder/"figures"/name
    try:
        paths = save(draw(results), base)
    except InputError as error:
        raise InputError(f"figure {name} of {results.study.name}: {error}") from None
    caption = base.with_name(f"{base.name}.caption.txt")
    write_text_atomically(caption, fill(draw.caption, results) + "\n")
    return [*paths, caption]


def command_figure(arguments) -> None:
    for name in arguments.name:
        require_figure(name)
    from liestep.analysis.results import StudyResults
    from liestep.study.plan import Study

    results = StudyResults(Study.find(arguments.study, arguments.config, arguments.results))
    for name in arguments.name or results.config.figures:
        for path in make_figure(results, name):
            print(path, file=sys.stderr)


def declare(add) -> None:
    """Add the command; `add(name, function, help)` returns an argparse parser."""
    command = add("figure", command_figure, "draw figures of a study from its runs and tables, as PDF and PNG with captions")
    command.add_argument("study")
    command.add_argument("name", nargs="*", help="names of figures (default: all that the study wants)")
