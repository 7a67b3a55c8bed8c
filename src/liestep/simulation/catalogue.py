"""Every system, integrator and paper by its id.

A file in `mechanics/systems/` with a `SHEET` is a system, a file in `integrators/` with `METHODS` declares integrators,
a folder in `papers/` with a `PAPER` is a paper: adding one touches nothing else. Plugins add theirs with `add_plugin`.
"""
import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from liestep.errors import InputError, unknown
from liestep.files import PACKAGE
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.paper import Paper
from liestep.mechanics.contracts.parameters import Preset
from liestep.mechanics.contracts.sheet import Sheet
from liestep.simulation.renamed import refuse_renamed

Item = TypeVar("Item", Sheet, Method)


class Entry(NamedTuple, Generic[Item]):
    """A system's sheet or an integrator's method, the module that declares it, and for plugins the
    hash of all their source."""

    module: str
    item: Item
    content: str = ""


_plugin_systems: dict[str, Entry[Sheet]] = {}
_plugin_methods: dict[str, Entry[Method]] = {}
# functions that add plugins; each is called once, before an id is reported as unknown or all ids are listed
_finders: list[Callable[[], None]] = []


def add_finder(find: Callable[[], None]) -> None:
    """Remember a function that adds more plugins, for example those of installed packages."""
    _finders.append(find)


def add_plugin(module: str, content: str, systems: Mapping[str, Sheet], methods: Mapping[str, Method]) -> None:
    """Make a plugin's systems and integrators known under their ids; `content` is the hash of all its source."""
    _plugin_systems.update({name: Entry(module, item, content) for name, item in systems.items()})
    _plugin_methods.update({name: Entry(module, item, content) for name, item in methods.items()})


def plugin_entries() -> dict[str, Entry[Sheet] | Entry[Method]]:
    """All systems and integrators of plugins by id."""
    return {**_plugin_systems, **_plugin_methods}


def forget_plugins(*names: str) -> None:
    """Forget ids of plugins."""
    for name in names:
        _plugin_systems.pop(name, None)
        _plugin_methods.pop(name, None)


def contents(*names: str) -> dict[str, str]:
    """id -> content hash of those ids that come from plugins."""
    return {name: entry.content for name, entry in plugin_entries().items() if name in names}


def _find_more() -> None:
    while _finders:
        _finders.pop(0)()


def _files(folder: str) -> list[str]:
    return sorted(path.stem for path in (PACKAGE/folder).glob("*.py") if not path.stem.startswith("_"))


@cache
def own_systems() -> tuple[str, ...]:
    """Ids of the systems of this package, sorted."""
    return tuple(_files("mechanics/systems"))


@cache
def _own_methods() -> dict[str, Entry[Method]]:
    """Integrators of this package, in the order of the files' names."""
    found: dict[str, Entry[Method]] = {}
    for stem in _files("integrators"):
        module = f"liestep.integrators.{stem}"
        for name, item in getattr(importlib.import_module(module), "METHODS", {}).items():
            if name in found:
                raise RuntimeError(f"integrator {name} is declared in {found[name].module} and in {module}")
            found[name] = Entry(module, item)
    return found


def own_integrators() -> tuple[str, ...]:
    """Ids of the integrators of this package, sorted."""
    return tuple(sorted(_own_methods()))


def system_ids() -> tuple[str, ...]:
    """Ids of all systems, sorted."""
    _find_more()
    return tuple(sorted((*own_systems(), *_plugin_systems)))


def integrator_ids() -> tuple[str, ...]:
    """Ids of all integrators, sorted."""
    _find_more()
    return tuple(sorted((*_own_methods(), *_plugin_methods)))


def integrator_calls() -> tuple[str, ...]:
    """Ids of all integrators, each followed by its calls, which `method` and `specify` take as well: "lgvi weights=y4".
    """
    return tuple(f"{name} {call}".rstrip() for name in integrator_ids() for call in ("", *method(name).calls))


@cache
def _own_system(name: str) -> Entry[Sheet]:
    """A system of this package with the presets of the papers, which its file does not know: first those of the
    paper, or of the file, that has its default, last its own."""
    module = f"liestep.mechanics.systems.{name}"
    facts = importlib.import_module(module).SHEET
    of_papers = (_presets(paper).get(name, {}) for paper in papers().values())
    merged: dict[str, Preset] = {}
    for presets in sorted((*of_papers, facts.presets), key=lambda presets: facts.default_preset not in presets):
        twice = merged.keys() & presets.keys()
        if twice:
            raise RuntimeError(f"{name} has two presets {min(twice)}")
        merged |= presets
    return Entry(module, replace(facts, presets=merged))


def _presets(paper: Paper) -> Mapping[str, Mapping[str, Preset]]:
    return importlib.import_module(paper.module(paper.presets)).PRESETS if paper.presets else {}


def _system(name: str) -> Entry[Sheet]:
    if name in own_systems():
        return _own_system(name)
    if name not in _plugin_systems:
        _find_more()
    if name not in _plugin_systems:
        refuse_renamed(name)
        raise InputError(unknown("problem", name, system_ids()))
    return _plugin_systems[name]


def _integrator(name: str) -> Entry[Method]:
    if isinstance(name, str) and " " in name:
        known, _, call = name.partition(" ")
        entry = _integrator(known)
        return entry._replace(item=entry.item.called(call))
    if name in _own_methods():
        return _own_methods()[name]
    if name not in _plugin_methods:
        _find_more()
    if name not in _plugin_methods:
        refuse_renamed(name)
        raise InputError(unknown("integrator", name, integrator_ids()))
    return _plugin_methods[name]


def sheet(name: str) -> Sheet:
    """Fact sheet of a system, with its own presets and those of the papers.

    Raises:
        InputError: unknown id; the sentence names the closest one.
    """
    return _system(name).item


def system_module(name: str) -> str:
    """Module that declares a system; errors as `sheet`."""
    return _system(name).module


def method(name: str) -> Method:
    """Declaration of an integrator, or of one of its calls: "lgvi weights=y4".

    Raises:
        InputError: unknown id or call; the sentence names the closest one, and what an id of before is now.
    """
    return _integrator(name).item


def integrator_module(name: str) -> str:
    """Module that declares an integrator; errors as `method`."""
    return _integrator(name).module


@cache
def papers() -> dict[str, Paper]:
    """Papers by id, sorted."""
    names = sorted(path.parent.name for path in (PACKAGE/"papers").glob("*/__init__.py"))
    return {name: importlib.import_module(f"liestep.papers.{name}").PAPER for name in names}
