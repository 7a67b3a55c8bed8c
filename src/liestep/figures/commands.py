"""Names of all figures and the commands that draw them, films and pages. What draws is loaded when it draws."""
import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from liestep.errors import InputError, unknown
from liestep.figures.kinds import GENERIC, generic
from liestep.study.plan.papers import Paper, paper_module, papers

if TYPE_CHECKING:
    from liestep.figures.style import Drawing
    from liestep.study.tables.results import StudyResults


def figure_modules() -> dict[str, str]:
    """Name of every figure -> module; the function has the name's last part. Papers that were read add paper.figure."""
    own = {name: paper.module(module) for paper in papers().values() for name, module in paper.figures.items()}
    return GENERIC | own


def require_figure(name: str, paper: Paper | None) -> None:
    """Raises InputError for a figure that a study of this paper, or of none, cannot have, with the closest name."""
    known = (*GENERIC, *(paper.figures if paper else ()))
    other, _, figure = name.rpartition(".")
    if figure and name not in known and other != (paper.id if paper else "") and other.isidentifier():
        raise InputError(f"{name} is a figure of the paper {other}: a study takes generic figures and those of its own"
                         f" paper, which is {paper.id if paper else 'none'}")
    if name not in known:
        raise InputError(unknown("figure", name, known))


def drawing_of(name: str) -> "Drawing":
    """Function that draws a figure of a paper that was read, or a generic one; `caption` is its caption's template.
    Raises InputError: the paper's module has no such function."""
    paper, _, function = name.rpartition(".")
    if paper:
        module = paper_module(papers()[paper], papers()[paper].figures[name])
        found: Drawing | None = getattr(module, function, None)
        if found is None or not hasattr(found, "shows"):
            raise InputError(f"{module.__file__}: PAPER of {paper} declares the figure {name}, but there is no function"
                             f" {function} with @drawing(...) in this file")
        return found
    return generic(name)


def make_figure(results: "StudyResults", name: str) -> list[Path]:
    """Write <folder of the study>/figures/<name>.pdf, .png, .caption.txt and .caption.rst; returns the paths. Raises
    InputError: unknown name, a product that the figure needs is missing or stale, or the folder cannot be written."""
    from liestep.figures.rendering import write

    require_figure(name, results.study.paper)
    return write(results, name, drawing_of(name))


def command_figure(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study
    from liestep.study.tables.results import StudyResults

    results = StudyResults(Study.find(arguments.study, arguments.config, arguments.results))
    for name in arguments.name:
        require_figure(name, results.study.paper)
    for name in arguments.name or results.config.figures:
        for path in make_figure(results, name):
            print(path, file=sys.stderr)


def command_animate(arguments: argparse.Namespace) -> None:
    from liestep.figures.films.film import animate
    from liestep.study.plan.plan import Study

    if arguments.study:  # its plugins are loaded
        Study.find(arguments.study, arguments.config, arguments.results)
    target = arguments.output or arguments.file.with_suffix(".gif")
    if not target.parent.is_dir() and not target.absolute().is_relative_to(arguments.results.absolute()):
        raise InputError(f"cannot write {target}: there is no folder {target.parent}")
    count = animate(arguments.file, target, arguments.frames, arguments.fps, arguments.width)
    print(f"{target}: {count} frames")


def command_view(arguments: argparse.Namespace) -> None:
    from liestep.figures.films.viewer import view

    frames = view(arguments.files, arguments.output)
    print(f"{arguments.output}: {len(arguments.files)} runs, up to {frames} samples of each; open it in a browser")
