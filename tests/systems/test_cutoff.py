"""Molecules with a cut-off, a plugin of the benchmarks: potential and forces against formulas of our own with
all pairs, lists that change while molecules move, orders, bad input."""
import numpy as np
import pytest
from place import TOP
from scipy.special import betainc
from system_cases import Case

from liestep import simulate
from liestep.errors import InputError
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify, start_of

NAME = "lennard_jones_cutoff"


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    load_plugin(TOP/"benchmarks"/f"{NAME}.py")


def potential(p, q):
    """All pairs. S is one less the distribution function of Beta(4, 4), for real places."""
    i, j = np.triu_indices(len(q), 1)
    r2 = np.sum((q[i] - q[j])**2, axis=1)/p["sigma"]**2
    u = np.clip((r2 - p["switch"]**2)/(p["cutoff"]**2 - p["switch"]**2), 0.0, 1.0)
    return np.sum(4.0*p["epsilon"]*(r2**-6 - r2**-3)*(1.0 - betainc(4, 4, u)))


def gradient(p, q):
    """By the chain rule; the density of Beta(4, 4) is 140 u^3 (1 - u)^3."""
    out, width = np.zeros_like(q), p["cutoff"]**2 - p["switch"]**2
    for i in range(len(q)):
        gap = (q[i] - np.delete(q, i, axis=0))/p["sigma"]
        r2 = np.sum(gap*gap, axis=1)
        u = np.clip((r2 - p["switch"]**2)/width, 0.0, 1.0)
        value, slope = 4.0*(r2**-6 - r2**-3), 4.0*(-6.0*r2**-7 + 3.0*r2**-4)
        total = slope*(1.0 - betainc(4, 4, u)) - value*140.0*u**3*(1.0 - u)**3/width
        out[i] = 2.0*p["epsilon"]/p["sigma"]*(total @ gap)
    return out


def agrees(component, p, q):
    """Whether potential and forces at places are those of all pairs."""
    found, expected = np.empty_like(q), gradient(p, q)
    component.gradient(q, found)
    assert np.abs(found - expected).max() <= 1e-12*np.abs(expected).max()
    assert abs(component.potential(q) - potential(p, q)) <= 1e-12*abs(potential(p, q))


def test_plain_python_gives_the_same_bits():
    c = Case(NAME, "level2")
    q = c.random_q(7)
    out = np.zeros_like(q)
    c.system.gradient(q, out)
    assert np.array_equal(out, c.gradient(q))
    assert c.system.potential(q) == c.potential(q)


@pytest.mark.parametrize("cutoff", [2.0, 2.5, 6.0])
def test_potential_and_forces_are_those_of_all_pairs(cutoff):
    p = start_of(NAME, preset="level2").parameters | {"cutoff": cutoff, "switch": 1.3}
    component, q = plain(sheet(NAME).build(p)), sheet(NAME).presets["level2"].initial(p)["q"]
    rng = np.random.default_rng(5)
    for _ in range(3):
        agrees(component, p, q)
        moved = q + 0.05*p["sigma"]*rng.normal(size=q.shape)
        q = moved/np.linalg.norm(moved, axis=1)[:, None]
    assert component.near.made[0] > 1
    slopes, h = np.empty_like(q), 1e-5
    component.gradient(q, slopes)
    for i, k in ((0, 0), (50, 1), (161, 2)):
        ahead, back = q.copy(), q.copy()
        ahead[i, k], back[i, k] = q[i, k] + h, q[i, k] - h
        assert abs((potential(p, ahead) - potential(p, back))/(2.0*h) - slopes[i, k]) <= 1e-6*np.abs(slopes).max()


def test_lists_follow_molecules_that_move():
    """Vortices mix the molecules; the forces at the end of a run are those of all pairs, the invariants are kept."""
    run = simulate(NAME, "vi_sphere", preset="level2", steps=600, t_end=3.0, samples=4)
    p = start_of(NAME, preset="level2").parameters
    component = plain(sheet(NAME).build(p))
    pairs = []
    for q in run["q"].values:
        agrees(component, p, q)
        near = component.near
        pairs.append({(i, int(j)) for i in range(len(q)) for j in near.partner[near.offset[i]:near.offset[i + 1]]})
    assert len(pairs[-1] - pairs[0]) > 100
    assert np.abs(run["momentum_map"] - run["momentum_map"][0]).max() <= 1e-12
    energy = run["energy"].values
    assert np.abs(energy - energy[0]).max() <= 1e-3*abs(energy[0])


@pytest.mark.parametrize(("integrator", "order", "steps"), [("vi_sphere", 2, 200), ("vi_sphere weights=s4", 4, 100)])
def test_integrators_keep_their_order_across_the_switch(integrator, order, steps):
    ends = [simulate(NAME, integrator, preset="level2", steps=n, t_end=0.5, samples=2)["q"].values[-1]
            for n in (steps, 2*steps, 4*steps)]
    observed = np.log2(np.abs(ends[0] - ends[1]).max()/np.abs(ends[1] - ends[2]).max())
    assert abs(observed - order) <= 0.25


def test_pairs_of_a_molecule_do_not_grow_with_their_number():
    """12 to 14 pairs of a list each: a step takes time in proportion to the molecules."""
    for level in ("level3", "level4", "level5"):
        start = start_of(NAME, preset=level)
        near = plain(sheet(NAME).build(start.parameters)).near
        n = len(start.initial["q"])
        component = sheet(NAME).build(start.parameters)
        out = np.empty((n, 3))
        component.gradient(start.initial["q"], out)
        assert 9.0 <= component.near.offset[n]/n <= 16.0
        assert len(near.partner)/n >= 1.5*component.near.offset[n]/n


@pytest.mark.parametrize(("parameters", "complaint"), [
    ({"switch": 1.1}, r"switch is 1.1, where the pair potential still repels; allowed .* 2\^\(1/6\) = 1.12246"),
    ({"cutoff": 2.0}, "cutoff is 2; allowed are numbers above switch, 2"),
    ({"cutoff": 50.0}, r"cutoff is 50, a distance of .*; the largest that is allowed is 7\.4998; all pairs act in"),
    ({"sigma": -1.0}, "sigma must be positive")])
def test_bad_parameters_are_refused(parameters, complaint):
    with pytest.raises(InputError, match=complaint):
        specify(NAME, "vi_sphere", preset="level2", steps=10, t_end=0.1, parameters=parameters)


def test_starts_without_room_are_refused():
    start = start_of(NAME, preset="level3").initial
    close = 0.02*np.random.default_rng(1).normal(size=start["q"].shape) + np.array([0.0, 0.0, 1.0])
    initial = {"q": close/np.linalg.norm(close, axis=1)[:, None], "omega": np.zeros_like(close)}
    with pytest.raises(InputError, match=r"pairs of molecules are nearer than .* and the lists hold"):
        specify(NAME, "vi_sphere", preset="level3", steps=10, t_end=0.1, initial=initial)
    initial["q"][1] = initial["q"][0]
    with pytest.raises(InputError, match="molecules 0 and 1 are at one point"):
        specify(NAME, "vi_sphere", preset="level3", steps=10, t_end=0.1, initial=initial)
