"""Papers: one folder `papers/<id>` for each, beside the folder of the configuration, with everything of it: studies,
claims, errata, history, and the code of its figures, evidence, quantities, tables, criteria and presets.

The code of a paper is imported when something that lies in its folder is read, never because the folder is there."""
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from liestep.compile.sources import PAPERS, add_paper_sources
from liestep.compile.translation import plain_error
from liestep.errors import InputError
from liestep.simulation.catalogue import add_presets
from liestep.study.plan.names import CLAIMS, ERRATA, STUDIES
from liestep.study.plan.names import PAPERS as FOLDER

WRITTEN = (STUDIES, CLAIMS, f"{ERRATA}.yaml")  # what of a paper is read, and its code with it


@dataclass(frozen=True)
class Paper:
    """What a paper declares: `PAPER` in `papers/<id>/__init__.py`. Modules are named as below its folder.

    id: the folder's name. citation, doi: of the paper. figures: name of a figure, `<id>.<function>` -> the module that
    has the function. evidence: modules whose public functions `() -> Evidence` are the evidence for errata and
    computed claims, by their names. quantities: module with functions of a run that give columns of metrics.csv of its
    studies, see `liestep.study.tables.quantities`. tables: name of a table -> module with its `TABLE`. criteria: module
    with classes of criteria for its claims. presets: module with `PRESETS`, id of a system -> name -> preset, for its
    studies. names: word of a label, as the paper calls a method -> what it is, for captions."""

    id: str
    citation: str
    doi: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    quantities: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)
    criteria: str = ""
    presets: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    def module(self, name: str) -> str:
        """Full name of a module of the paper."""
        return f"{PAPERS}.{self.id}.{name}"


_read: dict[str, tuple[Path, Paper]] = {}  # id -> folder and paper of which something was read


def paper_of_file(path: Path) -> Paper | None:
    """The paper in whose folder a study, a claims file or errata lie, which is imported now; None for others. Raises
    InputError: what the paper declares is wrong, with its file."""
    path = Path(path).absolute()
    folder = next((folder for folder in path.parents if folder.parent.name == FOLDER), None)
    return read_paper(folder) if folder and path.relative_to(folder).parts[0] in WRITTEN else None


def papers() -> dict[str, Paper]:
    """Papers of which something was read in this process, by id."""
    return {name: paper for name, (_, paper) in sorted(_read.items())}


def read_paper(folder: Path) -> Paper:
    """Import what a paper declares. Raises InputError: it cannot be imported, has no `PAPER`, or one of another id."""
    folder, name = folder.resolve(), folder.name
    known = _read.get(name)
    if known and known[0] == folder:
        return known[1]
    place = folder/"__init__.py"
    if not place.is_file():
        raise InputError(f"{folder}: a paper declares PAPER in __init__.py, which is missing;"
                         f" `liestep new-paper ID` writes one")
    for before in [before for before in sys.modules if f"{before}.".startswith(f"{PAPERS}.{name}.")]:
        del sys.modules[before]
    space = sys.modules.setdefault(PAPERS, ModuleType(PAPERS))
    space.__path__ = []
    add_paper_sources(name, folder)
    spec = importlib.util.spec_from_file_location(f"{PAPERS}.{name}", place, submodule_search_locations=[str(folder)])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[f"{PAPERS}.{name}"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        paper = getattr(module, "PAPER", None)
        _require_paper(paper, name, place)
    except Exception as error:
        del sys.modules[f"{PAPERS}.{name}"]
        raise error if isinstance(error, InputError) else InputError(plain_error(error, place)) from None
    assert isinstance(paper, Paper)
    _read[name] = (folder, paper)
    if paper.presets:
        add_presets(name, getattr(paper_module(paper, paper.presets), "PRESETS", {}))
    return paper


def _require_paper(paper: object, name: str, place: Path) -> None:
    if not isinstance(paper, Paper):
        raise InputError(f"{place}: PAPER must be a liestep.paper.Paper, "
                         f"{'and is missing' if paper is None else f'not a {type(paper).__name__}'}")
    if paper.id != name:
        raise InputError(f"{place}: id is {paper.id!r}; it must be {name!r}, as the folder is called")
    for figure in paper.figures:
        if not figure.startswith(f"{name}."):
            raise InputError(f"{place}: figure {figure} must begin with {name}.")


def paper_module(paper: Paper, name: str) -> ModuleType:
    """A module that a paper declares. Raises InputError: it is missing or cannot be imported; file and line."""
    folder = _read[paper.id][0]
    try:
        return importlib.import_module(paper.module(name))
    except InputError:
        raise
    except Exception as error:
        place = folder.joinpath(*name.split(".")).with_suffix(".py")
        raise InputError(plain_error(error, place if place.is_file() else folder/"__init__.py")) from None
