"""What an integrator file declares: one `Method` per public id in the file's `METHODS`."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from liestep.systems.sheet import InputError, unknown


@dataclass(frozen=True)
class Option:
    """An option of an integrator: a choice, a number or a whole number."""

    default: Any
    doc: str
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> Any:
        """Raises InputError when the value is not allowed."""
        if self.choices:
            if value not in self.choices:
                raise InputError(f"option {name} is {value!r}; allowed are {', '.join(self.choices)}")
            return value
        kind = type(self.default)
        try:
            number = kind(float(value)) if not isinstance(value, bool) else None
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None or not 0.0 < number < float("inf") or number != float(value):
            word = "whole number" if kind is int else "number"
            raise InputError(f"option {name} must be a positive {word}, not {value!r}")
        return number


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
    resolve: Callable[[Mapping[str, Any], bool], dict] = lambda options, diagonal: dict(options)  # options that depend on the mass
    order_for: Callable[[Mapping[str, Any]], int] | None = None  # where options change the order

    def order_of(self, options: Mapping[str, Any]) -> int:
        """Order with these options."""
        return self.order if self.order_for is None else self.order_for(options)

    def check_options(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """All options with defaults filled in.

        Raises:
            InputError: unknown option or value.
        """
        for name in given or {}:
            if name not in self.options:
                raise InputError(unknown("option", name, self.options) if self.options else f"unknown option {name!r}: this integrator has none")
        return {name: option.check(name, (given or {}).get(name, option.default)) for name, option in self.options.items()}
