"""What Lie group integrators ask for: an action and a map f from states to the algebra, y' = d/ds
exp(s f(t, y)).y at s = 0."""
from typing import Any, NamedTuple

from liestep.core.counters import Counter


class ActionForm(NamedTuple):
    """A generator f and an action of `liestep.groups`, counted.

    `generator` offers `algebra(t, y, out)` (False where f cannot be evaluated) and `observe(y, out)`.
    """

    action: Any
    generator: Any
    meter: Any

    def algebra_rows(self):
        return self.action.algebra_rows()

    def algebra(self, t, y, out):
        """f: M -> g at time t, rows of the algebra; False when it cannot be evaluated."""
        self.meter[Counter.RHS_EVALUATIONS] += 1
        return self.generator.algebra(t, y, out)

    def act(self, xi, y, out):
        """out = exp(xi).y; out may be y itself."""
        self.meter[Counter.EXPONENTIALS] += 1
        self.action.act(xi, y, out)

    def dexpinv(self, sigma, v, out):
        """out = dexpinv_sigma(v); False when a rotation of sigma reaches 2 pi. out may be v itself."""
        return self.action.dexpinv(sigma, v, out)

    def in_chart(self, sigma):
        """Whether all rotations of sigma stay below 2 pi."""
        return self.action.in_chart(sigma)

    def bracket(self, a, b, out):
        """out = [a, b]; out may be a or b."""
        self.action.bracket(a, b, out)

    def observe(self, y, out):
        self.generator.observe(y, out)
