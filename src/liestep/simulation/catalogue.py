"""Every system and integrator by its id.

A file in `mechanics/systems/` with a `SHEET` is a system, a file in `integrators/` with `METHODS` declares integrators,
a file in `mechanics/presets/` with `PRESETS` the data of a paper: adding one touches nothing else. Plugins add theirs
with `add_plugin`. Files are imported when what they declare is asked for."""
import ast
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from liestep.compile.sources import module_file
from liestep.errors import InputError, unknown
from liestep.files import PACKAGE
from liestep.mechanics.contracts.method import Entry, Item, Method
from liestep.mechanics.contracts.sheet import Preset, Sheet

_plugin_systems: dict[str, Entry[Sheet]] = {}
_plugin_methods: dict[str, Entry[Method]] = {}
# functions that add plugins; each is called once, before an id is reported as unknown or all ids are listed
_finders: list[Callable[[], None]] = []
_seekers: list[Callable[[str], None]] = []  # called with an id that is not known otherwise


def add_finder(find: Callable[[], None], seek: Callable[[str], None]) -> None:
    """Remember functions that add more plugins: those of installed packages, and the one that declares an id."""
    _finders.append(find)
    _seekers.append(seek)


def add_plugin(module: str, content: str, systems: Mapping[str, Sheet], methods: Mapping[str, Method]) -> None:
    """Make a plugin's systems and integrators known under their ids; `content` is the hash of all its source."""
    _plugin_systems.update({name: Entry(name, module, item, content) for name, item in systems.items()})
    _plugin_methods.update({name: Entry(name, module, item, content) for name, item in methods.items()})


def plugin_entries() -> dict[str, Entry[Sheet] | Entry[Method]]:
    """All systems and integrators of plugins by id."""
    return {**_plugin_systems, **_plugin_methods}


def _find_more() -> None:
    while _finders:
        _finders.pop(0)()


def _files(folder: str) -> list[str]:
    return sorted(path.stem for path in (PACKAGE/folder).glob("*.py") if not path.stem.startswith("_"))


@cache
def own_systems() -> tuple[str, ...]:
    """Ids of the systems of this package, sorted."""
    return tuple(_files("mechanics/systems"))


def _keys(module: str, table: str) -> list[str]:
    """Keys of a module's dictionary `table`."""
    return keys_of(module_file(module), table)


def keys_of(place: Path | None, table: str) -> list[str]:
    """Keys of a dictionary `table`, texts in a file: to find an id without importing each file."""
    text = place.read_text("utf-8") if place else ""
    start = re.search(rf"^{table}\b", text, re.MULTILINE)
    if start is None:
        return []
    statement: Any = ast.parse(text[start.start():]).body[0]
    return [key.value for key in statement.value.keys]


@cache
def _own_methods() -> dict[str, str]:
    """Module of each integrator of this package, in the order of the files' names."""
    found: dict[str, str] = {}
    for module in (f"liestep.integrators.{stem}" for stem in _files("integrators")):
        for name in _keys(module, "METHODS"):
            if name in found:
                raise RuntimeError(f"integrator {name} is declared in {found[name]} and in {module}")
            found[name] = module
    return found


@cache
def _own_integrator(name: str) -> Entry[Method] | None:
    module = _own_methods().get(name)
    return Entry(name, module, importlib.import_module(module).METHODS[name]) if module else None


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
def ranked(place: str, formulation: str = "") -> tuple[str, ...]:
    """Integrators of this package and their calls that declare one of their `places`, of one formulation or of all, in
    this order."""
    methods = {name: method(name) for key in own_integrators() for name in (key, *(f"{key} {call}" for call in
                                                                                  method(key).calls))}
    chosen = {name: getattr(item.places, place) for name, item in methods.items()
              if formulation in ("", item.formulation)}
    return tuple(sorted((name for name, number in chosen.items() if number is not None),
                        key=lambda name: (chosen[name], name)))


@cache
def systems_to_try() -> tuple[str, ...]:
    """Systems of this package, those that are shown first."""
    shown = {name: sheet(name).shown for name in own_systems()}
    return tuple(sorted(shown, key=lambda name: (shown[name] or len(shown), name)))


_added_presets: dict[str, Mapping[str, Mapping[str, Preset]]] = {}  # paper -> system -> preset


def add_presets(paper: str, presets: Mapping[str, Mapping[str, Preset]]) -> None:
    """Make the presets known that a paper outside of the package brings: id of a system -> name -> preset. Raises
    InputError: a system that is none of the package, a preset that it has already."""
    _added_presets.pop(paper, None)
    _own_system.cache_clear()
    for system, named in presets.items():
        if system not in own_systems():
            raise InputError(f"PRESETS of the paper {paper}: {unknown('system of the package', system, own_systems())}")
        if twice := set(named) & set(sheet(system).presets):
            raise InputError(f"PRESETS of the paper {paper}: {system} has a preset {min(twice)} already; choose another"
                             " name")
    _added_presets[paper] = presets
    _own_system.cache_clear()


def preset_owner(system: str, preset: str) -> str | None:
    """The paper outside of the package that brings a preset; None for all others."""
    return next((paper for paper, presets in _added_presets.items() if preset in presets.get(system, ())), None)


class Presets(Mapping[str, Preset]):
    """Presets of a system: first those of the paper, or of the file, that has its default, last its own. Papers are
    asked for what the file does not have."""

    def __init__(self, system: str, facts: Sheet):
        self.system, self.own, self.default = system, facts.presets, facts.default_preset

    @cached_property
    def every(self) -> dict[str, Preset]:
        of_papers = [*(_presets(paper, self.system) for paper in _files("mechanics/presets")),
                     *(presets.get(self.system, {}) for presets in _added_presets.values())]
        merged: dict[str, Preset] = {}
        for presets in sorted((*of_papers, self.own), key=lambda presets: self.default not in presets):
            twice = merged.keys() & presets.keys()
            if twice:
                raise RuntimeError(f"{self.system} has two presets {min(twice)}")
            merged |= presets
        return merged

    def __getitem__(self, name: str) -> Preset:
        return self.own[name] if name in self.own else self.every[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.every)

    def __len__(self) -> int:
        return len(self.every)


@cache
def _own_system(name: str) -> Entry[Sheet]:
    module = f"liestep.mechanics.systems.{name}"
    facts: Sheet = importlib.import_module(module).SHEET
    return Entry(name, module, replace(facts, presets=Presets(name, facts)))


def _presets(paper: str, system: str) -> Mapping[str, Preset]:
    """What the data of a paper are for a system; their module is imported where it has something."""
    module = f"liestep.mechanics.presets.{paper}"
    return importlib.import_module(module).PRESETS.get(system, {}) if system in _keys(module, "PRESETS") else {}


def _of_plugins(kind: str, name: str, plugins: Mapping[str, Entry[Item]], every: Callable[[], tuple[str, ...]]
                ) -> Entry[Item]:
    """What a plugin declares; raises InputError for an unknown id."""
    if not isinstance(name, str):
        raise InputError(f"{kind} must be an id, as liestep list shows them, not {name!r}")
    if name not in plugins:
        _find_more()
    for seek in _seekers if name not in plugins else ():
        seek(name)
    if name not in plugins:
        if name.endswith(".py"):
            raise InputError(f"{name} is a file, no {kind}: load it by --plugin or liestep.load_plugin, give its id")
        if re.fullmatch(r"\w+_[0-9a-f]{8}", name):
            raise InputError(f"{name} is a {kind} of plain functions: load what its .save() wrote by --plugin or"
                             " liestep.load_plugin")
        raise InputError(unknown(kind, name, every()))
    return plugins[name]


class Identified(Protocol):
    """A system that has an id, which its text is."""

    @property
    def id(self) -> str: ...


def system_entry(name: "str | Identified") -> Entry[Sheet]:
    """A system with its own presets and those of the papers. Raises InputError: unknown id; the sentence names the
    closest one."""
    key: Any = getattr(name, "id", name)
    known = isinstance(key, str) and key in own_systems()
    return _own_system(key) if known else _of_plugins("problem", key, _plugin_systems, system_ids)


def integrator_entry(name: str) -> Entry[Method]:
    """An integrator, or one of its calls: "lgvi weights=y4". Raises InputError: unknown id or call; the sentence names
    the closest one."""
    if isinstance(name, str) and " " in name:
        known, _, call = name.partition(" ")
        entry = integrator_entry(known)
        return entry._replace(item=entry.item.called(call))
    if isinstance(name, str) and (own := _own_integrator(name)):
        return own
    try:
        return _of_plugins("integrator", name, _plugin_methods, integrator_ids)
    except InputError:
        for known in integrator_ids() if isinstance(name, str) else ():
            if name.lower() in (method(known).scipy.lower(), *method(known).also):
                raise InputError(f"the integrator {name} is called {known} here") from None
        raise


def sheet(name: "str | Identified") -> Sheet:
    """Fact sheet of a system; errors as `system_entry`."""
    return system_entry(name).item


def method(name: str) -> Method:
    """Declaration of an integrator, or of one of its calls; errors as `integrator_entry`."""
    return integrator_entry(name).item


def integrator_module(name: str) -> str:
    """Module that declares an integrator; errors as `integrator_entry`."""
    return integrator_entry(name).module
