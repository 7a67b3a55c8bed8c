"""Molecules on the unit sphere with the Lennard-Jones potential of their chord distance (twospheres2009, example 6).

T = 1/2 sum m_i |dq_i/dt|^2, V = 4 epsilon sum_{i<j} ((sigma/r)^12 - (sigma/r)^6), r = |q_i - q_j|.
All components of J = sum m_i omega_i are conserved. Repulsive singularity where two molecules meet.
"""
import math
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.rows import Vector, add, dot, scale, sub
from liestep.errors import InputError
from liestep.geometry.icosphere import edge_lengths, icosphere, level_of
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, State
from liestep.mechanics.formulations.spheres.forms import spheres

CENTRE_ANGLE = math.radians(15.0)  # longitudes of the vortex centres on the equator: 30 degrees apart
VORTEX_WIDTH = math.radians(15.0)
VORTEX_STRENGTH = 3.3              # rad/s
FAR = 1e100                        # no force from there
ALONG = np.array([1.0, 2.0, 3.0])/math.sqrt(14.0)  # any direction; few points of an icosphere are level along this one
LANES = 8                          # even; float64 in a vector register of 512 bits, twice as many as in one of 256
# added to r^2/sigma^2: keeps the (zero) force of a molecule on itself finite, changes no other
SELF = 1e-30


class LennardJonesSphere(NamedTuple):
    """G_i = -4 epsilon sum_j (12 sigma^12/r^14 - 6 sigma^6/r^8)(q_i - q_j), twospheres2009 eq. (39).

    For each source the inner loop runs over all contiguous targets: no sum across lanes, so the compiler vectorises
    without reordering, and the result is the row sum bit for bit. Two sources share a pass over the targets (10 % less
    time than one; four gain nothing more); places far away fill the targets up to whole vectors. (Visiting each pair
    once halves the arithmetic but adds across lanes: 1.1 to 1.9 times the time, in C. A branch for the molecule itself:
    12 % more. Row sums one target after the other: 4 to 6 times the time.) Lengths are in units of sigma.
    """

    epsilon: float
    sigma: float
    own: float      # see SELF
    x: np.ndarray   # (p,) scratch: coordinates, from place n on FAR; p >= n is a multiple of LANES
    y: np.ndarray
    z: np.ndarray
    gx: np.ndarray  # (p,) scratch: gradient; gx also collects the potential
    gy: np.ndarray
    gz: np.ndarray

    def load(self, q: np.ndarray) -> None:
        s = 1.0/self.sigma
        for i in range(q.shape[0]):
            self.x[i] = s*q[i, 0]
            self.y[i] = s*q[i, 1]
            self.z[i] = s*q[i, 2]
            self.gx[i] = 0.0
            self.gy[i] = 0.0
            self.gz[i] = 0.0

    def potential(self, q: np.ndarray) -> float:
        self.load(q)
        n = q.shape[0]
        for i in range(n):
            x, y, z = self.x[i], self.y[i], self.z[i]
            for j in range(n):
                dx, dy, dz = x - self.x[j], y - self.y[j], z - self.z[j]
                r2 = dx*dx + dy*dy + dz*dz
                a = 1.0/r2 if i != j else 0.0
                a3 = a*a*a
                self.gx[j] += a3*(a3 - 1.0)
        total = 0.0
        for j in range(n):
            total += self.gx[j]
        return 2.0*self.epsilon*total

    def pair(self, d: Vector) -> Vector:
        """(r^-14 - r^-8/2) d, r = |d|"""
        a = 1.0/(dot(d, d) + self.own)
        a3 = a*a*a
        return scale(a*a3*(a3 - 0.5), d)

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        self.load(q)
        n = q.shape[0]
        for i in range(0, n, 2):
            first, second = (self.x[i], self.y[i], self.z[i]), (self.x[i + 1], self.y[i + 1], self.z[i + 1])
            for j in range(self.gx.shape[0]):
                target, g = (self.x[j], self.y[j], self.z[j]), (self.gx[j], self.gy[j], self.gz[j])
                g = add(g, self.pair(sub(first, target)))
                self.gx[j], self.gy[j], self.gz[j] = add(g, self.pair(sub(second, target)))
        strength = 48.0*self.epsilon/self.sigma
        for j in range(n):
            out[j, 0] = strength*self.gx[j]
            out[j, 1] = strength*self.gy[j]
            out[j, 2] = strength*self.gz[j]


def _build(parameters: Parameters) -> LennardJonesSphere:
    n = len(parameters["mass"])
    places = -(-n//LANES)*LANES
    return LennardJonesSphere(parameters["epsilon"], parameters["sigma"], SELF,
                              *(np.full(places, FAR) for _ in range(3)), *(np.zeros(places) for _ in range(3)))


def vortices(parameters: Parameters, strength: float = VORTEX_STRENGTH,
             width: float = VORTEX_WIDTH) -> dict[str, np.ndarray]:
    """Vertices of the icosphere with one vertex for each mass, and two vortices of equal sense:

    omega_i = A P_i sum_c exp(-theta_ic^2/(2 b^2)) c, theta_ic the angle from centre c, P_i the
    projection orthogonal to q_i; A the strength in rad/s, b the width in rad.

    Raises:
        InputError: no icosphere has as many vertices as there are masses.
    """
    n = len(parameters["mass"])
    level = level_of(n)
    if level is None:
        raise InputError(f"there is no icosphere with {n} vertices: give 12, 42, 162, 642, 2562, ... masses, or"
                         " an initial state")
    q = icosphere(level)[0].copy()
    omega = np.zeros_like(q)
    for i in range(n):
        a: Any = tuple(q[i])
        w: Any = (0.0, 0.0, 0.0)
        for sign in (1.0, -1.0):
            c = (math.cos(CENTRE_ANGLE), sign*math.sin(CENTRE_ANGLE), 0.0)
            theta = math.atan2(math.hypot(*_cross(a, c)), _dot(a, c))
            s = strength*math.exp(-theta*theta/(2.0*width*width))
            w = tuple(u + s*v for u, v in zip(w, c, strict=True))
        for _ in range(2):  # the second projection removes the rounding of the first
            radial = _dot(a, w)/_dot(a, a)
            w = tuple(u - radial*v for u, v in zip(w, a, strict=True))
        omega[i] = w
    return {"q": q, "omega": omega}


def _dot(a: Vector, b: Vector) -> float:
    return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]


def equilibrium_sigma(level: int, reading: str = "mean") -> float:
    """sigma = d/2^(1/6), for which two molecules at distance d exert no force; d = min, mean or
    max of the edge lengths."""
    lengths = [float(d) for d in edge_lengths(*icosphere(level))]
    d = {"min": min(lengths), "mean": math.fsum(lengths)/len(lengths), "max": max(lengths)}[reading]
    return d/2.0**(1.0/6.0)


def check_apart(parameters: Parameters, state: State) -> None:
    """Raises InputError for two molecules at one point. Two such points have equal components along any direction, so
    that only neighbours in the order of one are compared."""
    if parameters["epsilon"] == 0.0:
        return
    q = state["q"]
    along = q @ ALONG
    order = np.argsort(along, kind="stable")
    for k in range(1, len(q)):
        near = np.flatnonzero(along[order[k:]] - along[order[:-k]] <= MANIFOLD_TOLERANCE)
        if len(near) == 0:
            return
        i, j = order[near], order[near + k]
        met = np.linalg.norm(q[i] - q[j], axis=1) <= MANIFOLD_TOLERANCE
        if met.any():
            first, second = sorted((int(i[met][0]), int(j[met][0])))
            raise InputError(f"initial q: molecules {first} and {second} are at one point, where the potential is"
                             f" infinite; allowed is any other place, more than {MANIFOLD_TOLERANCE:g} away")


def _own(level: int) -> Preset:
    n = 10*4**level + 2
    return Preset(f"{n} molecules, otherwise as in the preset paper",
                  "none; example 6 of twospheres2009 in another size", "own",
                  {"mass": np.ones(n), "epsilon": 0.01, "sigma": equilibrium_sigma(level)}, vortices, 5.0)


PARAMETERS = {
    "mass": Parameter("kg", "masses of the molecules", ("n",), "positive"),
    "epsilon": Parameter("J", "depth of the pair potential", (), "non-negative"),
    "sigma": Parameter("1", "chord distance where the pair potential vanishes, in radii of the sphere", (), "positive"),
}
SHEET = spheres(
    title="Molecular dynamics on the sphere",
    equations="m_i domega_i/dt = q_i x sum_j 4 epsilon (12 sigma^12/r^14 - 6 sigma^6/r^8)(q_i - q_j), r = |q_i - q_j|;"
    " dq_i/dt = omega_i x q_i",
    citation="twospheres2009 eq. (39), example 6",
    parameters=PARAMETERS,
    build=_build,
    mass=lambda p: p["mass"],
    conserved_momentum=lambda p: (True, True, True),
    start=check_apart,
    default_preset="paper",
    symmetries=(),
    presets={f"level{level}": _own(level) for level in (1, 2, 4)},
)
