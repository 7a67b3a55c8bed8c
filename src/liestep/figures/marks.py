"""Colour, marker, dash and label of each integrator of a study.

Colour says the family, marker the order, dash and shade the variant: other options of one method, or another method of
the same family and order. A mark depends on the method alone, so that it is the same in all figures. The methods that
have been here for long keep the marks of LANDED; a new one needs no entry.
"""
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from liestep.figures.scenes.colour import mix
from liestep.figures.style import Results
from liestep.mechanics.contracts.method import choices
from liestep.simulation.catalogue import integrator_calls, integrator_module, method

if TYPE_CHECKING:
    from liestep.study.plan.config import IntegratorConfig

SOLID, DASHED, DOTTED, DASHDOT = "-", (0, (4.0, 1.6)), (0, (1.0, 1.3)), (0, (5.0, 1.5, 1.0, 1.5))


@dataclass(frozen=True)
class Mark:
    """Colour, marker, dash and label of one method."""

    colour: str
    marker: Any  # of matplotlib: a name or a tuple, as the dash is
    dash: Any
    label: str

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "linestyle": self.dash}

    @property
    def points(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker, "linestyle": "none"}


LANDED: dict[str, Mark] = {
    "vi_sphere": Mark("#CC3311", "o", SOLID, "VI"),
    "vi_sphere weights=y4": Mark("#EE7733", "^", DASHED, "VI Yoshida 4"),
    "vi_sphere weights=s4": Mark("#E6C229", "v", SOLID, "VI Suzuki 4"),
    "vi_sphere weights=y6": Mark("#882255", "<", DASHED, "VI Yoshida 6"),
    "vi_sphere weights=kl6": Mark("#F090BE", ">", SOLID, "VI Kahan-Li 6"),
    "vi_sphere weights=kl8": Mark("#7D4FB0", "D", SOLID, "VI Kahan-Li 8"),
    "rk2_midpoint": Mark("#1A85D6", "s", DASHED, "RK2 midpoint"),
    "rk2_heun": Mark("#33BBEE", "d", DOTTED, "RK2 Heun"),
    "rk4": Mark("#3DA58A", "P", DASHED, "RK4"),
    "ode45": Mark("#004488", "X", DOTTED, "ode45"),
    "dop853": Mark("#222222", "*", DASHDOT, "DOP853"),
    "rkmk tableau=euler": Mark("#6B6B00", "p", DOTTED, "Lie-Euler"),
    "rkmk": Mark("#117733", "h", DASHED, "RKMK4"),
    "rkmk tableau=heun": Mark("#A85695", "H", DASHDOT, "Lie-Euler-Heun"),
    "rkmk tableau=kutta3": Mark("#7E6CFC", "8", DASHDOT, "RKMK3"),
    "rkmk tableau=dormand_prince5": Mark("#0301B9", (5, 1, 180), SOLID, "RKMK5"),
    "rkmk_pair": Mark("#F83976", (4, 1, 0), SOLID, "RKMK(5,4)"),
    "runge_kutta": Mark("#52765A", (6, 2, 0), DASHED, "RK, any tableau"),
    "rkmk4_2comm": Mark("#412600", "x", DASHED, "RKMK4, 2 commutators"),
    "cf4": Mark("#95C579", (3, 1, 0), SOLID, "CF4"),
    "cf_pair": Mark("#260E71", (3, 1, 180), SOLID, "CF4(3)"),
    "cf_pair scheme=cf32a": Mark("#14D250", "1", DASHED, "CF3(2) a"),
    "cf_pair scheme=cf32b": Mark("#540255", "2", DOTTED, "CF3(2) b"),
    "cg3": Mark("#4448D2", "+", DASHDOT, "Crouch-Grossman 3"),
    "slgi": Mark("#7A08FE", (8, 1, 0), SOLID, "SLGI"),
    "slgi_kk": Mark("#5605A1", (8, 2, 0), DOTTED, "SLGIKK"),
    "slgi weights=y4": Mark("#CE7DC1", (8, 0, 22), DASHED, "SLGI composed"),
    "gauss": Mark("#A29756", (4, 2, 0), DASHDOT, "Gauss"),
    "eml": Mark("#C72158", (7, 0, 0), SOLID, "EML"),
    "eml_p": Mark("#A26A48", (3, 0, 90), DASHED, "EML-P"),
    "mpl": Mark("#D99E00", (3, 0, 270), SOLID, "MPL"),
    "emh": Mark("#145C6D", (4, 1, 45), SOLID, "EMH"),
    "mph": Mark("#3E897D", (5, 1, 0), DASHED, "MPH"),
    "em_rotation": Mark("#643AAB", (7, 1, 0), SOLID, "EM on SO(3)"),
    "rattle": Mark("#6B3E1D", (5, 2, 0), DASHDOT, "RATTLE"),
    "dmv": Mark("#D333D2", (6, 0, 0), SOLID, "DMV"),
    "exact_split": Mark("#690448", (6, 0, 30), SOLID, "exact splitting"),
    "body_midpoint": Mark("#BAC5A1", (4, 0, 0), DASHDOT, "body midpoint"),
    "lie_midpoint": Mark("#A15EB1", (4, 0, 45), DASHED, "Lie midpoint"),
}
# colours of the families, in the order of the families' names
FAMILIES = ("#777777", "#AA8866", "#B5496B", "#4F8F8B", "#9A7FC7", "#6C7A1F", "#C77B30", "#3C6EA5",
            "#2F6F4F", "#5A4FCF", "#D65F8D", "#1C8C8C", "#8A1C4A", "#5E7B2E", "#3D2B66",
            "#0B5563", "#B8432F")
ORDERS = {1: ".", 2: "o", 3: "^", 4: "s", 5: "p", 6: "h", 7: "8", 8: "D"}  # order -> marker; other orders have "*"
# Other options of one method: share of white (of black where negative), marker, dash; the second round has thin markers
VARIANTS = ((0.42, "D", DASHED), (-0.5, "^", DOTTED), (0.7, "v", DASHDOT), (-0.75, "P", SOLID),
            (0.55, "x", DOTTED), (-0.3, "+", DASHDOT), (0.25, (3, 2, 0), DASHED), (-0.62, (4, 2, 45), DASHED))
BRIGHT = 0.5
# options that say how accurately the equations of a method are solved, or how its errors are measured: no other method
ACCURACY = ("atol", "distance", "iterations", "mass", "norm", "tolerance")


def variant(mark: Mark, number: int) -> Mark:
    """The same method with other options: lighter or darker (darker first for bright colours), with other marker and
    dash; number 0 is the method itself. Every VARIANTS numbers they begin anew with asterisks."""
    if number == 0:
        return mark
    turn, place = divmod(number - 1, len(VARIANTS))
    share, marker, dash = VARIANTS[place]
    if turn:  # asterisks of 3, 4, ... arms
        share, marker = share/(1.0 + 0.2*turn), (turn + 2, 2, 15*place)
    share = -share if np.dot(to_rgb(mark.colour), (0.3, 0.59, 0.11)) > BRIGHT else share
    colour = to_hex(mix(mark.colour, "white" if share > 0 else "black", abs(share)))
    return replace(mark, colour=colour, marker=marker, dash=dash)


def _derived(names: tuple[str, ...]) -> dict[str, Mark]:
    """Marks of integrators without one of their own, from their families (modules) and orders."""
    families = sorted({integrator_module(name) for name in names})
    found: dict[str, Mark] = {}
    siblings: dict[tuple[str, int], int] = {}
    for name in sorted(names, key=lambda name: (" " not in name, name)):  # calls first
        integrator, _, call = name.partition(" ")
        family, order = integrator_module(name), method(name).order
        number = siblings.get((family, order), 0)
        siblings[family, order] = number + 1
        base = Mark(FAMILIES[families.index(family) % len(FAMILIES)], ORDERS.get(order, "*"), SOLID,
                    " ".join((integrator.replace("_", " "), *choices(call).values())))
        shade = variant(base, number)
        found[name] = replace(shade, marker=base.marker)
    return found


@cache
def _marks_of(names: tuple[str, ...]) -> dict[str, Mark]:
    return {**_derived(tuple(name for name in names if name not in LANDED)), **LANDED}


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
    taken: dict[str, set[int]] = {}
    found: dict[str, int] = {}
    given = {key: entry.variant for key, entry in entries.items() if entry and entry.variant is not None}
    for key, number in given.items():
        taken.setdefault(_call(results.study.integrator_id(key), entries[key])[0], set()).add(number)
    for key, entry in entries.items():
        name, own = _call(results.study.integrator_id(key), entry)
        used = taken.setdefault(name, set())
        if key in given:
            found[key] = given[key]
            continue
        first = 1 if own else 0
        found[key] = next(number for number in range(first, first + len(used) + 1) if number not in used)
        used.add(found[key])
    return found


def marks(results: Results) -> dict[str, Mark]:
    """Key of every integrator of a study -> its mark; labels are those of the study file, else of the method with the
    options that make it another one."""
    numbers, found = variant_numbers(results), {}
    for key, entry in results.config.integrators.items():
        name, options = _call(results.study.integrator_id(key), entry)
        base, number = mark_of(name), numbers[key]
        own = [f"{option} = {value}" for option, value in options.items()]
        default = ", ".join([base.label, *(own or ([key.replace("_", " ")] if number else []))])
        found[key] = replace(variant(base, number), label=(entry.label if entry else None) or default)
    return found
