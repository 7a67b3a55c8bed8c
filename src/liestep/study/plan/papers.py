"""Papers: one folder `papers/<id>` for each, beside the folder of the configuration, with everything of it: studies,
claims, errata, history, and the code of its figures, evidence, quantities, tables, criteria and presets.

The code of a paper is imported when something that lies in its folder is read, never because the folder is there.
Whoever calls it does so by `given` or within `paper_code`."""
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial, update_wrapper
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from liestep.compile.sources import PAPERS, add_paper_sources, module_file
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Preset
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
        with plugin_errors(place):
            spec.loader.exec_module(module)
        paper = declared(module, "PAPER", Paper)
        _require_paper(paper, name, place)
        _read[name] = (folder, paper)
        if paper.presets:
            add_presets(name, _presets(paper_module(paper, paper.presets)))
    except BaseException:  # it is read again, and says the same
        _read.pop(name, None)
        del sys.modules[f"{PAPERS}.{name}"]
        raise
    return paper


def _require_paper(paper: Paper, name: str, place: Path) -> None:
    if paper.id != name:
        raise InputError(f"{place}: id is {paper.id!r}; it must be {name!r}, as the folder is called")
    for figure in paper.figures:
        if not figure.startswith(f"{name}."):
            raise InputError(f"{place}: figure {figure} must begin with {name}.")
    for product in (*paper.figures, *paper.tables):
        if not product.removeprefix(f"{name}.").isidentifier():
            raise InputError(f"{place}: {product!r} must be a word of letters, digits and _: files are called so")
    for module in (*paper.figures.values(), *paper.evidence, *paper.tables.values(),
                   *filter(None, (paper.quantities, paper.criteria, paper.presets))):
        if not module or module_file(paper.module(module)) is None:
            raise InputError(f"{place}: there is no module {module!r} in this folder")


def _presets(module: ModuleType) -> dict[str, dict[str, Preset]]:
    """Presets of a paper; what their starts return is checked."""
    found = declared(module, "PRESETS", dict[str, dict[str, Preset]])
    for system, named in found.items():
        for name in named:
            preset = checked(Preset, named[name], f"{module.__file__}: preset {name} of {system}")
            start = update_wrapper(partial(given, dict, preset.initial), preset.initial)
            named[name] = replace(preset, initial=start)
    return found


def paper_module(paper: Paper, name: str) -> ModuleType:
    """A module that a paper declares. Raises InputError: it is missing or cannot be imported; file and line."""
    with plugin_errors(module_file(paper.module(name))):
        return importlib.import_module(paper.module(name))


Kind = TypeVar("Kind")


def checked(kind: type[Kind], value: object, what: str) -> Kind:
    """What a paper says, if it is of this type, as are the fields of a dataclass. Raises InputError: it is not; `what`
    it is, and what is allowed."""
    if isinstance(kind, type) and not isinstance(value, kind):
        raise InputError(f"{what} must be of type {kind.__name__}, not {type(value).__name__}")
    if isinstance(kind, type) and not is_dataclass(kind):
        return value
    from pydantic import ValidationError  # films and pages need none

    from liestep.study.plan.yamlfile import adapter, wanted_by

    try:
        return adapter(kind).validate_python(vars(value) if is_dataclass(value) else value)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join((what, *(str(key) for key in problem["loc"] if "[" not in str(key))))  # no names of types
        raise InputError(f"{place} {wanted_by(problem)}, not {type(problem['input']).__name__}") from None


def declared(module: ModuleType, name: str, kind: type[Kind]) -> Kind:
    """What a module of a paper declares under a name. Raises InputError: it is missing, or of another type."""
    return checked(kind, getattr(module, name, None), f"{module.__file__}: {name}")


def paper_code(owner: object) -> AbstractContextManager[None]:
    """Where what a paper has written runs, or may run, as `with`: see `plugin_errors`. All exceptions are those of the
    paper whose class or function the owner is."""
    module = str(getattr(owner, "__module__", ""))
    return plugin_errors(module_file(module) if module.startswith(f"{PAPERS}.") else None)


def given(kind: type[Kind], call: Callable[..., object], *arguments: object) -> Kind:
    """What a function returns that may be one of a paper. Raises InputError: it raises, or returns another type; one
    sentence with its file."""
    owner = type(call.__self__) if inspect.ismethod(call) else call
    with paper_code(owner):
        found = call(*arguments)
    return checked(kind, found, f"{module_file(owner.__module__)}: {getattr(call, '__qualname__', 'call')}()")
