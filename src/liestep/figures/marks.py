"""Colour, marker, dash and label of each integrator, the same in all figures, films and pages. Hue says the family, the
shade the member; marker says the order, dash the variant (other options of one method, or another method of the same
family and order). Methods may declare their marks; others need none."""
import re
import tomllib
import zlib
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from liestep.figures.style import Results
from liestep.mechanics.contracts.method import choices
from liestep.mechanics.contracts.sheet import Options
from liestep.simulation.catalogue import integrator_calls, integrator_module, method

LOOKS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PALETTE = {hue: shades.split() for hue, shades in LOOKS["palette"].items()}  # each from dark to light
SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (4.0, 1.6)), (0, (1.0, 1.3)), (0, (5.0, 1.5, 1.0, 1.5))
DASHES = {"solid": SOLID, "dashed": DASHED, "dotted": DOTTED, "dashdot": DASHDOT}  # as `Method.mark` names them


@dataclass(frozen=True)
class Mark:
    """Colour, marker, dash and label of one method, what a legend says behind it, and the method's own label."""

    colour: str
    marker: Any  # of matplotlib: a name or a tuple, as the dash is
    dash: Any
    label: str
    size: str = ""
    method: str = ""

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "linestyle": self.dash, "gid": self.label}

    @property
    def points(self) -> dict[str, Any]:
        return {**self.line, "marker": self.marker, "linestyle": "none"}


ORDERS = {1: ".", 2: "o", 3: "^", 4: "s", 5: "p", 6: "h", 7: "8", 8: "D"}  # order -> marker; other orders have "*"
# Other options of one method: marker, dash; the second round has thin markers
VARIANTS = (("D", DASHED), ("^", DOTTED), ("v", DASHDOT), ("P", SOLID), ("x", DOTTED), ("+", DASHDOT),
            ((3, 2, 0), DASHED), ((4, 2, 45), DASHED))
# options that say how accurately the equations of a method are solved, or how its errors are measured: no other method
ACCURACY = ("atol", "distance", "iterations", "mass", "norm", "tolerance")


def variant(mark: Mark, number: int) -> Mark:
    """The same method (number 0) with other options: other marker and dash, after VARIANTS anew with asterisks."""
    if number == 0:
        return mark
    turn, place = divmod(number - 1, len(VARIANTS))
    marker, dash = VARIANTS[place]
    return replace(mark, marker=(turn + 2, 2, 15*place) if turn else marker, dash=dash)


def shade(name: str, number: int = 0) -> str:
    """Colour of a variant of an integrator id or one of its calls."""
    own = LOOKS["shades"].get(name, "").split()
    if number < len(own):
        return PALETTE[own[number][0]][int(own[number][1])]
    shades = PALETTE[LOOKS["hues"].get(method(name).formulation, "i")]
    return shades[(zlib.crc32(name.encode()) + number) % len(shades)]


def words(text: str) -> str:
    """A text with ids of methods and values of options in words, outside commands of TeX."""
    return re.sub(r"(?<!\\)\b\w+", lambda found: LOOKS["words"].get(found[0], found[0].replace("_", " ")), text)


def label_of_method(name: str, options: Options) -> str:
    """How figures, films and pages call an integrator id, or one of its calls, with options of its own."""
    known = _marks_of(integrator_calls())
    return ", ".join([known[name].label if name in known else words(name), *(
        words(str(value)) if isinstance(value, str) else f"{option.replace('_', ' ')} = {value}"
        for option, value in options.items())])


def _derived(names: tuple[str, ...]) -> dict[str, Mark]:
    """Marks of integrators without one of their own, from their families (modules) and orders."""
    found: dict[str, Mark] = {}
    siblings: dict[tuple[str, int], int] = {}
    for name in sorted(names, key=lambda name: (" " not in name, name)):  # calls first
        integrator, _, call = name.partition(" ")
        family, order = integrator_module(name), method(name).order
        number = siblings.get((family, order), 0)
        siblings[family, order] = number + 1
        own = map(words, choices(call).values())
        base = Mark("", ORDERS.get(order, "*"), SOLID,
                    ", ".join((LOOKS["names"].get(integrator, integrator.replace("_", " ")), *own)))
        found[name] = replace(variant(base, number), marker=base.marker)
    return found


@cache
def _marks_of(names: tuple[str, ...]) -> dict[str, Mark]:
    known = {name: Mark("", marker, DASHES[dash], label) for name in names
             for marker, dash, label in filter(None, [method(name).mark])}
    return known | _derived(tuple(name for name in names if name not in known))


def mark_of(name: str) -> Mark:
    """Mark of an integrator id with its default options, or of one of its calls."""
    return _marks_of(integrator_calls())[name]


def _call(name: str, given: Options) -> tuple[str, Options]:
    """The call that options make, and the others of them that make it another method than the default ones."""
    known = method(name).options
    own = {option: value for option, value in given.items() if option not in ACCURACY
           and not (option in known and known[option].check(option, value) == known[option].default)}
    for call in method(name).calls:
        if choices(call).items() <= {option: str(value) for option, value in own.items()}.items():
            return f"{name} {call}", {option: value for option, value in own.items() if option not in choices(call)}
    return name, own


def variant_numbers(results: Results) -> dict[str, int]:
    """Integrator key of a study -> its variant: of the study file, else 0 with default options, others by order."""
    entries = results.config.integrators
    calls = {key: _call(results.study.integrator_id(key), entry.options) for key, entry in entries.items()}
    variants = {key: entry.variant for key, entry in entries.items() if entry.variant is not None}
    taken = {(calls[key][0], number) for key, number in variants.items()}
    for key, (name, own) in calls.items():
        if key not in variants:
            variants[key] = next(number for number in count(1 if own else 0) if (name, number) not in taken)
            taken.add((name, variants[key]))
    return variants


def marks(results: Results) -> dict[str, Mark]:
    """Integrator key of a study -> its mark, with the label of the study file, else of the method and its options."""
    numbers, drawn = variant_numbers(results), {}
    for key, entry in results.config.integrators.items():
        name, options = _call(results.study.integrator_id(key), entry.options)
        number = numbers[key]
        label = label_of_method(name, options or ({"key": key} if number else {}))
        drawn[key] = replace(variant(mark_of(name), number), colour=shade(name, number), method=label,
                             label=words(entry.label) if entry.label else label)
    return drawn
