"""The maps follow from the paper's discrete Lagrangians, differentiated numerically: the trapezoidal one (6) gives
(23), the one-point one (28) gives (30). Roots of the equation of the increment, in 80 digits. In plain Python."""
import numpy as np
import pytest
from mpmath import mp, mpf
from mpmath import sqrt as root
from rigid_cases import formulated
from scipy.spatial.transform import Rotation

from liestep.compile.status import Status
from liestep.simulation.catalogue import method
from liestep.simulation.plugins.trial import plain

H, N, J = 0.05, 3, 1.0
RING = {"particles": N, "ring_diameter": 2.0, "wall_law": "none", "contact_pairs": "none"}
OFFSETS = ((1, 0.75), (2, -0.15), (3, 1.0/60.0))  # central differences of order 6
LAGRANGIANS = {"(6)": ({"kick": "half"}, (0.5, 0.5)), "(28)": ({"kick": "whole"}, (1.0, 0.0))}


class Ring:
    """Three bonded particles with a crooked start: rows y, potential energy, and maps of rows."""

    def __init__(self, law):
        self.case = formulated("bonded_ring", "rescaled", "rigid_bodies", RING | {"shear_law": law})
        self.problem = plain(self.case.problem)
        random, self.y = np.random.default_rng(11), self.case.start.copy()
        for i in range(N):
            turn = Rotation.from_rotvec(0.3*random.standard_normal(3)).as_matrix()
            self.y[3*i:3*i + 3] = self.y[3*i:3*i + 3] @ turn.T
        self.y[3*N:4*N] = 0.5*random.standard_normal((N, 3))
        self.y[4*N:5*N] = 0.97*self.y[4*N:5*N] + 0.02*random.standard_normal((N, 3))
        self.y[5*N:] += 0.3*random.standard_normal((N, 3))

    def potential(self, y):
        energy = np.zeros(5)
        self.problem.system.forces(y, np.zeros((2*N, 3)), energy)
        return energy.sum()

    def step(self, options):
        chosen = {"drift": "exact", "chart": "none", "weights": "one", **options}
        y, component = self.y.copy(), plain(method("rodrigues").build(chosen, None, 1.0))
        work = component.workspace(self.problem, y)
        assert component.start(self.problem, 0.0, y, H, work) == Status.OK
        assert component.step(self.problem, 0.0, y, H, work) == Status.OK
        return y

    def lagrangian(self, shares, one, two):
        """h L at the difference quotients of attitudes and positions, the potential energy shared by both ends:
        T = tr(R' J/2 R'^T)/2 + m |v|^2/2 of each body, m = 1."""
        turned = 0.25*J*np.sum((two[:3*N] - one[:3*N])**2)/H
        moved = 0.5*np.sum((two[4*N:5*N] - one[4*N:5*N])**2)/H
        return turned + moved - H*(shares[0]*self.potential(one) + shares[1]*self.potential(two))


def slopes(f, y):
    """Derivatives of f by spatial turns and by places of every body, (2, n, 3)."""
    found = np.zeros((2, N, 3))
    for i in range(N):
        for k, axis in enumerate(np.eye(3)):
            for multiple, weight in OFFSETS:
                for sign in (1, -1):
                    s, turned, placed = sign*multiple*2e-3, y.copy(), y.copy()
                    turned[3*i:3*i + 3] = y[3*i:3*i + 3] @ Rotation.from_rotvec(s*axis).as_matrix().T
                    placed[4*N + i, k] += s
                    found[:, i, k] += weight*sign*np.array([f(turned), f(placed)])/2e-3
    return found


@pytest.mark.parametrize("law", ["printed", "mean"])
@pytest.mark.parametrize("name", LAGRANGIANS)
def test_maps_are_those_of_the_discrete_lagrangians(name, law):
    """Momenta before and after a step are -D_1 L_d and D_2 L_d: the discrete Legendre transforms (14), (17), (29)."""
    options, shares = LAGRANGIANS[name]
    ring = Ring(law)
    new = ring.step(options)
    before = -slopes(lambda z: ring.lagrangian(shares, z, new), ring.y)
    after = slopes(lambda z: ring.lagrangian(shares, ring.y, z), new)
    for found, y in ((before, ring.y), (after, new)):
        assert np.abs(found[0] - y[3*N:4*N]).max() <= 1e-9
        assert np.abs(found[1] - y[5*N:]).max() <= 1e-9
    other = ring.step(LAGRANGIANS["(28)" if name == "(6)" else "(6)"][0])
    assert np.abs(-slopes(lambda z: ring.lagrangian(shares, z, other), ring.y)[0] - ring.y[3*N:4*N]).max() >= 1e-4


def roots_of_the_increment(size):
    """Both lengths a with 4 a/(4 + a^2) = size, eq. (15) for h|w| = size, in 80 digits."""
    with mp.workdps(80):
        s = mpf(size)
        return 2*s/(1 + root(1 - s*s)), 2*s/(1 - root(1 - s*s))


@pytest.mark.parametrize("size", ["0.9", "0.01", "1e-6", "1e-12"])
def test_the_second_root_does_not_tend_to_zero(size):
    """After (16): it grows like 4/(h|w|) where the first is h|w|."""
    first, second = roots_of_the_increment(size)
    with mp.workdps(80):
        for found in (first, second):
            assert abs(4*found/(4 + found*found) - mpf(size)) <= mpf("1e-37")
        assert abs(first*second - 4) <= mpf("1e-35")
        assert second >= 2
        if mpf(size) < mpf("0.1"):
            assert abs(first/mpf(size) - 1) <= mpf(size)**2
            assert abs(second*mpf(size)/4 - 1) <= mpf(size)**2


def test_the_simplified_increment_differs_in_the_third_power():
    """(24): (16) is h w + (h w)^3/4 + ..., (25) keeps h w."""
    with mp.workdps(80):
        gaps = [roots_of_the_increment(size)[0] - mpf(size) for size in ("1e-4", "1e-5")]
        assert abs(mp.log10(gaps[0]/gaps[1]) - 3) <= mpf("1e-7")
        assert abs(gaps[1]/mpf("1e-5")**3 - mpf(1)/4) <= mpf("1e-9")
