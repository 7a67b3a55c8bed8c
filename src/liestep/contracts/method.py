"""What an integrator file declares: one `Method` per public id in the file's `METHODS`."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from liestep.errors import InputError, unknown


@dataclass(frozen=True)
class Option:
    """An option of an integrator: a choice, a number or a whole number (as its default is), one of what the system
    offers, or anything that `normalise` accepts.

    Checked values are JSON-ready: they belong to the specification of a run.
    """

    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    numbers: str = ""  # "positive" | "finite" | "whole" (0, 1, 2, ...); default: positive, none beside choices
    # the choices are the system's: "forms" | "actions"; "" stands for its first, see `study.specification`
    of: str = ""
    normalise: Callable[[Any], Any] | None = None  # value -> canonical value; raises InputError
    values: str = ""   # what `normalise` accepts, in words

    @property
    def allowed(self) -> str:
        """What can be given, the default first."""
        if self.of:
            return f"one of the system's {self.of}, its first"
        if self.normalise:
            return f"{self.default} | {self.values}"
        words = [str(self.default), *(choice for choice in self.choices if choice != self.default)]
        if not self.choices:
            return f"{self.default:g}, {self._rule}"
        return " | ".join([*words, *(["0, 1, 2, ..."] if self.numbers else [])])

    @property
    def _rule(self) -> str:
        return self.numbers or ("" if self.choices else "positive")

    def check(self, name: str, value: Any) -> Any:
        """Canonical value.

        Raises:
            InputError: the value is not allowed.
        """
        if self.normalise:
            return self.normalise(value)
        if self.of:
            if not isinstance(value, str):
                raise InputError(f"option {name} must be the name of one of the system's {self.of}, not {value!r}")
            return value
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._number(value) if self._rule else None
        if number is None:
            raise InputError(self._complaint(name, value))
        return number

    def _number(self, value: Any) -> Any:
        """The number that a value stands for, None when it is none or not allowed."""
        kind = int if self.numbers == "whole" else type(self.default)
        try:
            number = kind(float(value)) if not isinstance(value, bool) else None
        except (TypeError, ValueError, OverflowError):
            return None
        if number is None or number != float(value) or not abs(number) < float("inf"):
            return None
        return number if {"positive": number > 0, "whole": number >= 0, "finite": True}[self._rule] else None

    def _complaint(self, name: str, value: Any) -> str:
        if self.choices:
            numbers = " and whole numbers from 0" if self.numbers else ""
            return f"option {name} is {value!r}; allowed are {', '.join(self.choices)}{numbers}"
        sign = "positive " if self._rule == "positive" else ""
        word = "whole number" if isinstance(self.default, int) else "number"
        return f"option {name} must be a {sign}{word}, not {value!r}"


MASS_OPTION = {
    "mass": Option("automatic", "spheres: accelerations in O(n) (banded), for which the inverse mass matrix must be"
                   " tridiagonal (chains), or by a dense factorisation; automatic: banded where it can be",
                   ("automatic", "banded", "dense")),
}
ACTION_OPTIONS = {
    "action": Option("", "action of the group, one of the system's", of="actions"),
    "alpha": Option(0.0, "spheres: (alpha q, alpha omega + beta q) of the isotropy algebra is added to f",
                    numbers="finite"),
    "beta": Option(0.0, "spheres: see alpha", numbers="finite"),
    **MASS_OPTION,
}
ORBIT = "the orbit of the action: unit lengths, tangency, orthogonality, Casimirs of a coadjoint action"


@dataclass(frozen=True)
class Method:
    """An integrator id: what it is, what it needs, how to make it.

    `formulation` is a name of `liestep.formulations`; `build(options, tolerance, t_end)` makes the component.
    """

    summary: str                      # first line: order, stages, explicit or implicit, what it conserves
    order: int
    formulation: str
    build: Callable[[Mapping[str, Any], float | None, float], Any]
    conserves: str
    symmetric: bool = False
    adaptive: bool = False
    citation: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    # options that depend on the mass
    resolve: Callable[[Mapping[str, Any], bool], dict] = lambda options, diagonal: dict(options)
    order_for: Callable[[Mapping[str, Any]], int] | None = None  # where options change the order
    symmetric_for: Callable[[Mapping[str, Any]], bool] | None = None  # where options change the symmetry

    def order_of(self, options: Mapping[str, Any]) -> int:
        """Order with these options."""
        return self.order if self.order_for is None else self.order_for(options)

    def symmetric_of(self, options: Mapping[str, Any]) -> bool:
        """Whether the method with these options is its own adjoint."""
        return self.symmetric if self.symmetric_for is None else self.symmetric_for(options)

    def check_options(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """All options with defaults filled in.

        Raises:
            InputError: unknown option or value.
        """
        for name in given or {}:
            if name not in self.options:
                raise InputError(unknown("option", name, self.options)
                                 if self.options else f"unknown option {name!r}: this integrator has none")
        return {name: option.check(name, (given or {}).get(name, option.default))
                for name, option in self.options.items()}
