"""A plugin: molecules on the unit sphere with a Lennard-Jones potential that ends at a distance: another problem than
`lennard_jones_sphere`, where all pairs act, in time proportional to the number of molecules.

V = sum_{i<j} v(r) S(r), v = 4 epsilon ((sigma/r)^12 - (sigma/r)^6), r = |q_i - q_j|; S = 1 up to the distance `switch`,
0 from `cutoff`, and between them 1 - u^4 (35 - 84 u + 70 u^2 - 20 u^3), u = (r^2 - switch^2)/(cutoff^2 - switch^2),
whose first three derivatives vanish at both ends: integrators up to order 4 keep their order.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.rows import add, add_to, dot, larger, put, row, scale, sub
from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, State
from liestep.mechanics.formulations.spheres.forms import spheres
from liestep.mechanics.systems._neighbours import listed_within
from liestep.mechanics.systems.lennard_jones_sphere import PARAMETERS, check_apart, equilibrium_sigma, vortices

BOTTOM = 2.0**(1.0/6.0)  # distance of the least potential, in sigma
SKIN = 0.45               # of the lists, in sigma
DIAMETER = 2.0           # of the sphere


class LennardJonesCutoff(NamedTuple):
    """Pairs of a neighbour list, each once, in the order of a double loop: the bits are a function of the places.
    Partners within the cut-off are copied out without a branch, which no processor could predict among many
    molecules; what follows is the same for all of them."""

    epsilon: float
    sigma2: float   # sigma^2
    inner: float    # switch^2
    outer: float    # cutoff^2
    near: Any       # NeighbourList
    close: Any      # (n,) int64: partners of one molecule within the cut-off
    square: Any     # (n,) their squared distances
    slope: Any      # (n,) twice the derivative of v S by them

    def pair(self, r2: float) -> tuple[float, float]:
        """v S at the distance sqrt(r2) < cutoff, and twice its derivative by r2."""
        inverse, wide = 1.0/r2, 1.0/(self.outer - self.inner)
        s2 = self.sigma2*inverse
        s6 = s2*s2*s2
        value, slope = 4.0*self.epsilon*s6*(s6 - 1.0), 24.0*self.epsilon*s6*(1.0 - 2.0*s6)*inverse
        u = larger(0.0, (r2 - self.inner)*wide)
        u3, rest = u*u*u, 1.0 - u
        share = 1.0 - u3*u*(35.0 - u*(84.0 - u*(70.0 - 20.0*u)))
        return value*share, slope*share - 280.0*value*u3*rest*rest*rest*wide

    def select(self, q: np.ndarray, i: int) -> int:
        """Copy out the partners of molecule i within the cut-off; their number."""
        count = 0
        for k in range(self.near.offset[i], self.near.offset[i + 1]):
            j = self.near.partner[k]
            gap = sub(row(q, i), row(q, j))
            r2 = dot(gap, gap)
            self.close[count], self.square[count] = j, r2
            count += 1 if r2 < self.outer else 0
        return count

    def potential(self, q: np.ndarray) -> float:
        total = 0.0
        if not self.near.update(q):
            return np.nan
        for i in range(q.shape[0]):
            for k in range(self.select(q, i)):
                total += self.pair(self.square[k])[0]
        return total

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        """NaN where a molecule is no place, or there is no room for the pairs."""
        n = q.shape[0]
        start = 0.0 if self.near.update(q) else np.nan
        for i in range(n):
            put(out, i, (start, start, start))
        if start != 0.0:
            return
        for i in range(n):
            count, total = self.select(q, i), (0.0, 0.0, 0.0)
            for k in range(count):
                self.slope[k] = self.pair(self.square[k])[1]
            for k in range(count):
                j = self.close[k]
                g = scale(self.slope[k], sub(row(q, i), row(q, j)))
                total = add(total, g)
                add_to(out, j, scale(-1.0, g))
            add_to(out, i, total)


def _build(parameters: Parameters) -> LennardJonesCutoff:
    sigma, n = parameters["sigma"], len(parameters["mass"])
    inner, outer, skin = (sigma*factor for factor in (parameters["switch"], parameters["cutoff"], SKIN))
    integers: Any = np.int64
    return LennardJonesCutoff(parameters["epsilon"], sigma*sigma, inner*inner, outer*outer,
                              listed_within(n, outer, skin, partners(n, outer + skin)),
                              np.zeros(n, integers), np.zeros(n), np.zeros(n))


def partners(n: int, reach: float) -> int:
    """Room for partners of a molecule: all others, or twice those within a distance where n are evenly spread, of
    which every pair is listed once; a cap of chord r is r^2/4 of the sphere."""
    return min(n, 20 + int(n*reach*reach/4.0))


def _check(parameters: Parameters) -> None:
    switch, cutoff, sigma = (parameters[name] for name in ("switch", "cutoff", "sigma"))
    if not switch > BOTTOM:
        raise InputError(f"parameter switch is {switch:g}, where the pair potential still repels; allowed are numbers"
                         f" above 2^(1/6) = {BOTTOM:.5f}, in units of sigma")
    if not cutoff > switch:
        raise InputError(f"parameter cutoff is {cutoff:g}; allowed are numbers above switch, {switch:g}")
    if cutoff*sigma > DIAMETER:
        raise InputError(f"parameter cutoff is {cutoff:g}, a distance of {cutoff*sigma:g}, and no two molecules are"
                         f" farther apart than 2; the largest that is allowed is {DIAMETER/sigma:.5g}; all pairs act in"
                         " lennard_jones_sphere")


def _check_start(parameters: Parameters, state: State) -> None:
    """Raises InputError for molecules at one point, or so many close together that the lists have no room."""
    from scipy.spatial import cKDTree

    check_apart(parameters, state)
    near = _build(parameters).near
    pairs = len(cKDTree(state["q"]).query_pairs(near.reach, output_type="ndarray"))
    if pairs > len(near.partner):
        raise InputError(f"initial q: {pairs} pairs of molecules are nearer than {near.reach:g}, and the lists hold"
                         f" {len(near.partner)}; spread them, or take lennard_jones_sphere")


def in_bands(parameters: Parameters) -> dict[str, np.ndarray]:
    """`vortices` in the order of bands of latitude: molecules that are close have numbers that are, and their places
    stay in the cache."""
    start = vortices(parameters)
    x, y, z = start["q"].T
    band = np.floor(z/(parameters["cutoff"]*parameters["sigma"]))
    order = np.lexsort((np.round(np.arctan2(y, x), 9), band))  # rounded: the same on every machine
    return {name: np.ascontiguousarray(value[order]) for name, value in start.items()}


def _level(level: int) -> Preset:
    n = 10*4**level + 2
    return Preset(f"{n} molecules at the vertices of an icosphere, two vortices of equal sense",
                  "none; example 6 of twospheres2009 with a cut-off", "own",
                  {"mass": np.ones(n), "epsilon": 0.01, "sigma": equilibrium_sigma(level), "switch": 2.0,
                   "cutoff": 2.5}, in_bands, 5.0)


SHEET = spheres(
    title="Molecular dynamics on the sphere with a cut-off",
    equations="m_i domega_i/dt = -q_i x dV/dq_i, V = sum_{i<j} 4 epsilon ((sigma/r)^12 - (sigma/r)^6) S(r), r = |q_i -"
    " q_j|, S from 1 at switch to 0 at cutoff; dq_i/dt = omega_i x q_i",
    citation="twospheres2009 eq. (39); lists of Verlet 1967, Phys. Rev. 159, 98",
    parameters={
        **PARAMETERS,
        "switch": Parameter("sigma", "distance from which the potential is reduced, above 2^(1/6)", (), "positive"),
        "cutoff": Parameter("sigma", "distance from which it is zero, above switch; at most 2/sigma", (), "positive"),
    },
    combination=_check,
    build=_build,
    mass=lambda p: p["mass"],
    conserved_momentum=lambda p: (True, True, True),
    start=_check_start,
    default_preset="level2",
    symmetries=(),
    presets={f"level{level}": _level(level) for level in (2, 3, 4, 5)},
)
