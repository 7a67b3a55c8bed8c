"""SE(3) on se(3)*, coadjoint action."""
from typing import Any, NamedTuple

from liestep.geometry.rows import put, row
from liestep.geometry.se3 import bracket, dexpinv, exp_apply, in_chart


class CoadjointMotion(NamedTuple):
    """Ad*_{g^-1} of g = (R, r) = exp(xi, v): (Pi, Gamma) -> (R Pi + r x R Gamma, R Gamma): liegroup2021, section 2.

    State rows Pi, Gamma; algebra rows xi, v. Conserves |Gamma| and Pi.Gamma, the coadjoint orbit.
    """

    rows: Any  # 2

    def algebra_rows(self):
        return 2

    def act(self, xi, y, out):
        gamma, pi = exp_apply(row(xi, 0), row(xi, 1), row(y, 1), row(y, 0))
        put(out, 0, pi)
        put(out, 1, gamma)

    def dexpinv(self, sigma, v, out):
        a = row(sigma, 0)
        b, c = dexpinv(a, row(sigma, 1), row(v, 0), row(v, 1))
        put(out, 0, b)
        put(out, 1, c)
        return in_chart(a)

    def bracket(self, a, b, out):
        rotation, translation = bracket(row(a, 0), row(a, 1), row(b, 0), row(b, 1))
        put(out, 0, rotation)
        put(out, 1, translation)
