"""Adaptive Lie group integrators: a pair of methods and a step control, put together."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError, number_or_nan
from liestep.integrators.step_control import PaperControl, PiControl
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import Component
from liestep.mechanics.contracts.option import Option

SAFETY = 0.85
SMALLEST_ERROR = 1e-16  # of the tolerance


def _share(value: Any) -> float:
    """Raises InputError unless 0 < value <= 1."""
    number = number_or_nan(value)
    if not 0.0 < number <= 1.0:
        raise InputError(f"option safety must be a number above 0 and at most 1, not {value!r}")
    return number


CONTROL = {
    "safety": Option(SAFETY, "factor theta of the step control, typically 0.8 to 0.9", normalise=_share,
                     values="any number above 0 and at most 1"),
    "control": Option("paper", "paper: the rule of liegroup2021 section 4; pi: proportional-integral", ("paper", "pi")),
    "exponent": Option("default", "of the step control: default is 1/(1 + lower order), quarter that of the"
                       " paper's program", ("default", "quarter")),
}


class Controlled(NamedTuple):
    """What the adaptive loop asks for (`compile.driver.advance_adaptive`). The tolerance is per step.

    `pair` offers workspace, start, attempt -> (status, error), interpolate and accept; `control` sees numbers only.
    Steps that fail, at the limit of a chart or where f does not exist, are rejected and halved.
    """

    pair: Any
    control: Any

    def measured(self, formulated: Formulated) -> Any:
        """With the fields of a system's rows."""
        return self._replace(pair=self.pair.measured(formulated))

    def workspace(self, problem: Component, y: np.ndarray) -> Any:
        return self.pair.workspace(problem, y)

    def start(self, problem: Component, t: float, y: np.ndarray, t_end: float, work: Any) -> float:
        h = self.control.first(t_end)
        self.pair.start(problem, t, y, h, work)
        return h

    def attempt(self, problem: Component, t: float, y: np.ndarray, h: float, work: Any) -> tuple[Status, float]:
        return self.pair.attempt(problem, t, y, h, work)

    def interpolate(self, problem: Component, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Any) -> None:
        self.pair.interpolate(problem, t, y, h, s, out, work)

    def accept(self, problem: Component, y: np.ndarray, work: Any) -> None:
        self.pair.accept(y, work)


def controlled(pair: Any, lower_order: int, options: Mapping[str, Any], tolerance: float) -> Controlled:
    """Component of a pair with checked options CONTROL; `lower_order` is min(p, p~) of its two methods."""
    exponent = 1.0/(1.0 + lower_order) if options["exponent"] == "default" else 0.25
    common = (tolerance, exponent, options["safety"], SMALLEST_ERROR*tolerance)
    return Controlled(pair, PaperControl(*common) if options["control"] == "paper" else PiControl(*common, np.ones(1)))
