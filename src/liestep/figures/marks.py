"""Colour, marker, dash and label of each integrator of a study. Hue says the family, lightness the member; of a study's
methods at most eight are coloured, the others are grey on purpose and named at the ends of their lines. Marker and dash
depend on the method alone, so that they are the same in all figures: marker says the order, dash the variant (other
options of one method, or another method of the same family and order). Methods may declare their marks; others need
none."""
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from liestep.figures.style import Results
from liestep.mechanics.contracts.method import choices
from liestep.simulation.catalogue import integrator_calls, integrator_module, method

if TYPE_CHECKING:
    from liestep.study.plan.config import IntegratorConfig

# Pairs of one hue, dark and light: any two of these and REST are 26 apart in CIELAB for full sight and for eyes without
# one kind of cone (tests/study/test_method_marks.py)
PALETTE = ("#5A0000", "#FF9678", "#002DA5", "#6978FF", "#2D780F", "#00D20F", "#783C87", "#D287E1")
REST = "#969696"  # of methods beyond eight
# formulation -> place of its pair: variational and symplectic 0, on Lie groups 2, vector fields 4, constrained 6
PAIRS = {"sphere_lagrangian": 0, "rigid_bodies": 0, "cotangent_rotation": 0, "quadratic_rotation": 0,
         "constant_mass": 0, "canonical_field": 0, "separable_hamiltonian": 0, "lie_action": 2, "lie_chart": 2,
         "vector_field": 4, "charged_particles": 4}
CONSTRAINED = 6
SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (4.0, 1.6)), (0, (1.0, 1.3)), (0, (5.0, 1.5, 1.0, 1.5))
DASHES = {"solid": SOLID, "dashed": DASHED, "dotted": DOTTED, "dashdot": DASHDOT}  # as `Method.mark` names them


@dataclass(frozen=True)
class Mark:
    """Colour, marker, dash and label of one method."""

    colour: str
    marker: Any  # of matplotlib: a name or a tuple, as the dash is
    dash: Any
    label: str

    @property
    def grey(self) -> bool:
        """Whether its name stands at the ends of its lines instead of the legend."""
        return self.colour == REST

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "linestyle": self.dash, "gid": self.label if self.grey else None}

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
    """The same method with other options: other marker and dash; number 0 is the method itself. Every VARIANTS numbers
    they begin anew with asterisks."""
    if number == 0:
        return mark
    turn, place = divmod(number - 1, len(VARIANTS))
    marker, dash = VARIANTS[place]
    return replace(mark, marker=(turn + 2, 2, 15*place) if turn else marker, dash=dash)


def colours(methods: Mapping[str, str], first: Collection[str] = ()) -> dict[str, str]:
    """Key -> colour, of keys and the ids of their methods; those in `first` come first. Each takes a colour of its
    family's pair, then any that is free; the ninth and further are REST."""
    keys = sorted(methods, key=lambda key: key not in first)[:len(PALETTE)]
    found: dict[str, str] = {}
    for own in (True, False):
        for key in keys:
            pair = PAIRS.get(method(methods[key]).formulation, CONSTRAINED)
            free = [one for one in (PALETTE[pair:pair + 2] if own else PALETTE) if one not in found.values()]
            if key not in found and free:
                found[key] = free[0]
    return {key: found.get(key, REST) for key in methods}


def _derived(names: tuple[str, ...]) -> dict[str, Mark]:
    """Marks of integrators without one of their own, from their families (modules) and orders."""
    found: dict[str, Mark] = {}
    siblings: dict[tuple[str, int], int] = {}
    for name in sorted(names, key=lambda name: (" " not in name, name)):  # calls first
        integrator, _, call = name.partition(" ")
        family, order = integrator_module(name), method(name).order
        number = siblings.get((family, order), 0)
        siblings[family, order] = number + 1
        base = Mark(REST, ORDERS.get(order, "*"), SOLID,
                    " ".join((integrator.replace("_", " "), *choices(call).values())))
        found[name] = replace(variant(base, number), marker=base.marker)
    return found


@cache
def _marks_of(names: tuple[str, ...]) -> dict[str, Mark]:
    found = {name: Mark(REST, marker, DASHES[dash], label) for name in names
             for marker, dash, label in filter(None, [method(name).mark])}
    return found | _derived(tuple(name for name in names if name not in found))


def mark_of(name: str) -> Mark:
    """Mark of an integrator id with its default options, or of one of its calls."""
    return _marks_of(integrator_calls())[name]


def _own_options(name: str, entry: "IntegratorConfig | None") -> dict[str, Any]:
    """Options of a study's entry that make it another method than the one with default options."""
    known = method(name).options
    return {option: value for option, value in (entry.options if entry else {}).items() if option not in ACCURACY
            and not (option in known and known[option].check(option, value) == known[option].default)}


def _call(name: str, entry: "IntegratorConfig | None") -> tuple[str, dict[str, Any]]:
    """The call that a study's entry makes, and its other options that make it another method."""
    own = _own_options(name, entry)
    for call in method(name).calls:
        if choices(call).items() <= {option: str(value) for option, value in own.items()}.items():
            return f"{name} {call}", {option: value for option, value in own.items() if option not in choices(call)}
    return name, own


def variant_numbers(results: Results) -> dict[str, int]:
    """Key of every integrator of a study -> number of its variant: that of the study file; else 0 with default options,
    others by their order in the file."""
    entries = results.config.integrators
    calls = {key: _call(results.study.integrator_id(key), entry) for key, entry in entries.items()}
    found = {key: entry.variant for key, entry in entries.items() if entry and entry.variant is not None}
    taken: dict[str, set[int]] = {name: set() for name, _ in calls.values()}
    for key, number in found.items():
        taken[calls[key][0]].add(number)
    for key, (name, own) in calls.items():
        if key not in found:
            found[key] = next(number for number in count(1 if own else 0) if number not in taken[name])
            taken[name].add(found[key])
    return found


def marks(results: Results, first: Collection[str] = ()) -> dict[str, Mark]:
    """Key of every integrator of a study -> its mark; labels are those of the study file, else of the method with the
    options that make it another one. Keys in `first` are coloured before the others."""
    numbers, found = variant_numbers(results), {}
    shades = colours({key: results.study.integrator_id(key) for key in results.config.integrators}, first)
    for key, entry in results.config.integrators.items():
        name, options = _call(results.study.integrator_id(key), entry)
        base, number = mark_of(name), numbers[key]
        own = [f"{option} = {value}" for option, value in options.items()]
        default = ", ".join([base.label, *(own or ([key.replace("_", " ")] if number else []))])
        found[key] = replace(variant(base, number), colour=shades[key],
                             label=(entry.label if entry else None) or default)
    return found
