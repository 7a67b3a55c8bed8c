"""Kinds of `liestep.system`. Each is one overload of it, whose signature declares which arguments belong together:
help(), the page of the API and the sentences on wrong calls are read from there."""
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from liestep.errors import InputError
from liestep.simulation.runs.own_names import SAME

F = TypeVar("F", bound=Callable[..., Any])
SHARED = ("name", "start", "parameters", "t_end")  # by the kinds, so that they tell none


@dataclass(frozen=True)
class Overload:
    """An overload: what it makes, its writer in `families`, and the fields of a start, of which the first is needed."""

    title: str
    made: Any
    fields: tuple[str, ...]
    overload: Callable[..., Any]

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.overload)

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Arguments without a default that tell the kind."""
        return tuple(name for name, parameter in self.signature.parameters.items()
                     if parameter.default is parameter.empty and name not in SHARED)

    def misfit(self, given: Mapping[str, Any]) -> tuple[int, ...]:
        """How far arguments are from this kind; zeros first where they are those of a call of it."""
        lacks, fields = len({*self.needs} - {*given}), {*given.get("start", ())}
        strange = len(fields - {*self.fields}) + len({*self.fields[:1]} - fields)
        off = len({*given} - {*self.signature.parameters}) + lacks
        return off + ("start" in given and strange > 0), lacks, strange, -len(self.needs)

    @property
    def call(self) -> str:
        """As it is written, without types."""
        bare = [parameter.replace(annotation=parameter.empty) for parameter in self.signature.parameters.values()]
        return f"system{inspect.Signature(bare)}"

    def text(self) -> str:
        """Its call and docstring, as in help()."""
        return f"{self.call}\n{textwrap.indent(inspect.getdoc(self.overload) or '', '    ')}"


KINDS: list[Overload] = []


def kind(title: str, made: Any, fields: str = "") -> Callable[[F], F]:
    """Decorator of an overload, below `typing.overload`. Of kinds that fit equally well the first is meant."""
    def declared(overload: F) -> F:
        KINDS.append(Overload(title, made, tuple(fields.split()), overload))
        return overload

    return declared


def documented(function: F) -> F:
    """Decorator of the implementation: its signature has the arguments of all kinds, its docstring their texts."""
    own = inspect.signature(function)
    taken = {name: parameter for name, parameter in own.parameters.items() if parameter.kind != parameter.VAR_KEYWORD}
    for kind in KINDS:
        for name, parameter in kind.signature.parameters.items():
            taken.setdefault(name, parameter.replace(annotation=parameter.empty, default=(
                None if parameter.default is parameter.empty else parameter.default)))
    function.__dict__["__signature__"] = own.replace(parameters=list(taken.values()))
    function.__doc__ = "\n\n".join([inspect.getdoc(function) or "", *(kind.text() for kind in KINDS)])
    return function


def meant(given: Mapping[str, Any]) -> Overload:
    """The kind of a call. Raises InputError: its arguments make none; the sentence names the nearest."""
    best = min(KINDS, key=lambda kind: kind.misfit(given))
    for name in given:
        if name not in best.signature.parameters:
            takes = ", ".join(argument for argument in best.signature.parameters if argument not in SHARED)
            others = ", ".join(kind.title for kind in KINDS if name in kind.signature.parameters)
            told = "" if name in SHARED else f"; it is one of {others}"
            raise InputError(f"{name} is no argument of {best.title}, whose arguments are {takes}{told}")
    lacking: dict[str, list[str]] = {}
    for kind in (kind for kind in KINDS if kind.misfit(given)[:2] == best.misfit(given)[:2]):
        if wanted := [name for name in kind.needs if name not in given]:
            lacking.setdefault(" and ".join(wanted), []).append(kind.title)
    if lacking:
        told = " and ".join(name for name in given if name not in SHARED) or "a name"
        wanted = [f"{name} ({' or '.join(titles)})" for name, titles in lacking.items()]
        raise InputError(f"no system is made of {told} alone: give {', or '.join(wanted)}")
    return best


def named_start(start: Mapping[str, Any]) -> dict[str, Any]:
    """A start under the names that functions have. Raises InputError: two names of one field."""
    found: dict[str, Any] = {}
    for name, value in start.items():
        own = next((short for short, field in SAME.items() if field == name), name)
        if own in found:
            raise InputError(f"start has {own} twice, as {SAME[own]} too: give one of them")
        found[own] = value
    return found
