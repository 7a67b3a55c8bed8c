"""Options of integrators and of forms: what a value must be."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from liestep.errors import InputError, number_or_nan


@dataclass(frozen=True)
class Option:
    """An option of an integrator or of a form: a choice, a number or a whole number (as its default is), or anything
    that `normalise` accepts.

    Checked values are JSON-ready: they belong to the specification of a run.
    """

    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    numbers: str = ""  # "positive" | "finite" | "whole" (0, 1, 2, ...); default: positive, none beside choices
    normalise: Callable[[Any], Any] | None = None  # value -> canonical value; raises InputError
    values: str = ""   # what `normalise` accepts, in words
    # (parameters of the system, options before this one, the form's first) -> default, where it depends on them
    default_for: Callable[[Mapping[str, Any], Mapping[str, Any]], Any] | None = None
    # options of forms: choices that act by the form's `project`, for which the method must call it (`Method.projects`)
    after_steps: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()  # those of `after_steps` that return to the whole manifold; (): the last one
    # of forms: (option before this one, its choices with which this one exists); elsewhere it is no part of a run
    needs: tuple[str, tuple[str, ...]] | None = None

    def applies(self, chosen: Mapping[str, Any]) -> bool:
        """Whether the option exists beside the options before it."""
        return self.needs is None or chosen[self.needs[0]] in self.needs[1]

    @property
    def allowed(self) -> str:
        """What can be given, the default first."""
        if self.normalise:
            return f"{self.default} | {self.values}"
        words = [str(self.default), *(choice for choice in self.choices if choice != self.default)]
        if not self.choices:
            return f"{self.default:g}, {self._rule}"
        return " | ".join([*words, *(["0, 1, 2, ..." if self.numbers == "whole" else f"{self.numbers} number"]
                                                    if self.numbers else [])])

    @property
    def _rule(self) -> str:
        return self.numbers or ("" if self.choices else "positive")

    def default_at(self, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        """The default for a system with checked parameters, after the options before this one."""
        return self.default if self.default_for is None else self.default_for(parameters, options)

    def check(self, name: str, value: Any) -> Any:
        """Canonical value.

        Raises:
            InputError: the value is not allowed.
        """
        if self.normalise:
            return self.normalise(value)
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._number(value) if self._rule else None
        if number is None:
            raise InputError(self._complaint(name, value))
        return number

    def require_projection(self, name: str, value: Any) -> None:
        """Raises InputError for a value that acts after each step; for methods that do not let it act."""
        if value in self.after_steps:
            rest = [choice for choice in self.choices if choice not in self.after_steps]
            raise InputError(f"option {name} is {value!r}, which acts after each step, and this method does not let it;"
                             f" allowed with this method {'is' if len(rest) == 1 else 'are'} {', '.join(rest)}")

    def _number(self, value: Any) -> Any:
        """The number that a value stands for, None when it is none or not allowed."""
        kind = int if self.numbers == "whole" else float if self.choices else type(self.default)
        try:
            number = kind(float(value)) if not isinstance(value, bool) else None
        except (TypeError, ValueError, OverflowError):
            return None
        if number is None or number != float(value) or not abs(number) < float("inf"):
            return None
        return number if {"positive": number > 0, "whole": number >= 0, "finite": True}[self._rule] else None

    def _complaint(self, name: str, value: Any) -> str:
        if self.choices:
            numbers = "whole numbers from 0" if self.numbers == "whole" else f"{self.numbers} numbers"
            listed = ", ".join(self.choices) + (f" and {numbers}" if self.numbers else "")
            return f"option {name} is {value!r}; allowed are {listed}"
        sign = "positive " if self._rule == "positive" else ""
        word = "whole number" if isinstance(self.default, int) else "number"
        return f"option {name} must be a {sign}{word}, not {value!r}"


def whole_number(name: str, default: int, allowed: tuple[int, ...], doc: str) -> Option:
    """An option that is one of some whole numbers."""
    def normalise(value: Any) -> int:
        if number_or_nan(value) not in allowed:
            raise InputError(f"option {name} is {value!r}; allowed are {', '.join(map(str, allowed))}")
        return int(float(value))

    return Option(default, doc, normalise=normalise, values=" | ".join(map(str, sorted({*allowed} - {default}))))


def number_in(name: str, default: Any, doc: str, words: str, allowed: Callable[[float], bool],
              instead: str = "") -> Option:
    """An option that is a number of some range, in words like "number from 0 to 1", or the word `instead`."""
    def normalise(value: Any) -> Any:
        if instead and value == instead:
            return value
        number = number_or_nan(value)
        if not allowed(number):
            raise InputError(f"option {name} must be {instead and f'{instead} or '}a {words}, not {value!r}")
        return number

    return Option(default, doc, normalise=normalise, values=f"any {words}")
