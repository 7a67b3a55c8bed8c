"""What methods of many families share: steps that remember nothing, sums of stages, and why a system is refused."""
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import axpy, put, row, scale
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import Component
from liestep.mechanics.contracts.sheet import Options, Sheet
from liestep.mechanics.formulations import formulate


class OneStep:
    """Methods of one-step methods that remember nothing of the last step."""

    def start(self, problem: Component, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK


@kernel
def combine(weights: np.ndarray, h: float, k: np.ndarray, count: int, out: np.ndarray) -> None:
    """out = h (weights_0 k_0 + ... ) over the first `count` >= 1 of k (s, d, 3)."""
    for i in range(out.shape[0]):
        total = scale(h*weights[0], row(k[0], i))
        for r in range(1, count):
            if weights[r] != 0.0:
                total = axpy(h*weights[r], row(k[r], i), total)
        put(out, i, total)


def first_formulated(sheet: Sheet, parameters: Mapping[str, Any], formulation: str, options: Options
                     ) -> Formulated | None:
    """A system at its first start that goes with these parameters."""
    for preset in sheet.presets.values():
        with suppress(InputError, LookupError, TypeError, ValueError):  # a start of other parameters
            start = sheet.check_initial(parameters, preset.initial(parameters))
            return formulate(sheet, parameters, start, formulation, options)
    return None


def refused(combination: Callable[[Options, Sheet, Mapping[str, Any]], None], formulation: str,
            prefers: tuple[Mapping[str, Any], ...], parameters: Mapping[str, Any], sheet: Sheet) -> str | None:
    """`Method.requires`: why a system is refused with the options that a method prefers; None where it is not."""
    try:
        combination(sheet.forms[formulation].preferred(parameters, {}, prefers), sheet, parameters)
    except InputError as error:
        return str(error)
    return None
