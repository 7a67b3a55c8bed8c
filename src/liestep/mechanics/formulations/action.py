"""What Lie group integrators ask for: an action and a map f from states to the algebra, y' = d/ds
exp(s f(t, y)).y at s = 0."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import hands_on
from liestep.geometry.groups import CHARTS
from liestep.mechanics.contracts.formulations import Component, LieChart, MetricAction
from liestep.mechanics.contracts.sheet import Option

# option of actions of rotations and rigid motions
ACTIONS = "liestep.geometry.groups.actions"  # what forms with an action import for themselves
CHART = {"chart": Option("exp", "local coordinates: exponential, Cayley map, its second order, or the second kind"
                         " (three turns about the axes)", tuple(CHARTS))}


@hands_on("generator", Component, "observe")
@hands_on("action", MetricAction, "distance2")
@hands_on("action", LieChart, "algebra_rows", "dexpinv", "in_chart", "bracket", "log")
class ActionForm(NamedTuple):
    """A generator f and an action of `liestep.geometry.groups`, counted.

    `generator` offers `algebra(t, y, out)` (False where f cannot be evaluated) and `observe(y, out)`."""

    action: Any
    generator: Any
    counters: np.ndarray

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """f: M -> g at time t, rows of the algebra; False when it cannot be evaluated."""
        self.counters[Counter.RHS_EVALUATIONS] += 1
        return self.generator.algebra(t, y, out)

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.EXPONENTIALS] += 1
        self.action.act(xi, y, out)

    def project(self, y: np.ndarray) -> bool:
        """Nothing has to be returned: the action keeps the manifold."""
        return True

    def projects(self) -> bool:
        return False
