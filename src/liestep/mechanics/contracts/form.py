"""How a system is put into one formulation: `Sheet.forms` maps names of `liestep.mechanics.contracts.formulations` to
forms."""
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.option import Option


@dataclass(frozen=True)
class Form:
    """`make(parameters, state, options)` formulates a system with checked parameters and initial state; `options` are
    those that the form understands, complete."""

    make: Callable[[Mapping[str, Any], Mapping[str, np.ndarray], Mapping[str, Any]], Formulated]
    options: Mapping[str, Option] = field(default_factory=dict)
    # (parameters, options): raises InputError where single options are fine, together or on this system not
    combination: Callable[[Mapping[str, Any], Mapping[str, Any]], None] = lambda parameters, options: None

    def complete(self, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """All options of the form that exist together, those that are not given at their defaults; other names are
        left out.

        Raises:
            InputError: a value or a combination is not allowed, or an option needs another choice of one before it.
        """
        chosen: dict[str, Any] = {}
        for name, option in self.options.items():
            if option.needs is not None and not option.applies(chosen):
                if name in given:
                    owner, words = option.needs
                    raise InputError(f"option {name} exists with {owner} {' or '.join(words)}, not {chosen[owner]}")
                continue
            chosen[name] = (option.check(name, given[name]) if name in given
                            else option.default_at(parameters, chosen))
        self.combination(parameters, chosen)
        return chosen

    def preferred(self, parameters: Mapping[str, Any], given: Mapping[str, Any],
                  wishes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """As `complete`, with the first of some choices that are allowed as defaults."""
        for wish in wishes:
            if all(name in self.options and value in self.options[name].choices for name, value in wish.items()):
                with suppress(InputError):
                    return self.complete(parameters, {**wish, **given})
        return self.complete(parameters, given)
