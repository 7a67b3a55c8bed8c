"""Wrong maps and wrong forces of rigid bodies, each a copy of the source with one edit, are told from the right ones:
by the order of one step, by its symmetry, by gradients, or by the pairs that touch. In plain Python."""
import importlib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from plain_runs import stepped
from rigid_cases import formulated
from scipy.spatial.transform import Rotation

from liestep.integrators import rodrigues
from liestep.integrators.kicks import RigidSplit, kicked
from liestep.integrators.rigid_maps import Campello
from liestep.integrators.rigid_split import MoserVeselov
from liestep.simulation.plugins.trial import plain

PENDULUM, TOP = ("heavy_top", "rodrigues2021"), ("heavy_top", "asymmetric")


def edited(name, old, new, *others):
    """A module with one edit; `others` are modules that are edited already, whose names it takes."""
    module = importlib.import_module(name)
    text = Path(module.__file__).read_text()
    assert text.count(old) == 1, "the edit no longer fits the source"
    found = ModuleType(name)
    for other in others:
        found.__dict__.update({key: value for key, value in vars(other).items() if not key.startswith("__")})
    exec(compile(text.replace(old, new), module.__file__, "exec"), found.__dict__)
    for other in others:
        found.__dict__.update({key: value for key, value in vars(other).items() if callable(value)})
    return found


def order(component, place):
    """Order that a step shows between h = 0.02 and 0.01, against 50 steps of a map that is right."""
    case = formulated(*place, "rigid_bodies")
    problem = plain(case.problem)
    right = kicked(rodrigues.FreeTurn(1) if place == PENDULUM else importlib.import_module(
        "liestep.integrators.rigid_maps").AxisSplitting(5))
    y = stepped(right, problem, case.start, 0.01, 30)
    errors = [np.abs(stepped(component, problem, y, h) - stepped(right, problem, y, h/50, 50)).max()
              for h in (0.02, 0.01)]
    return np.log2(errors[0]/errors[1]) - 1.0


def returns(component, place):
    """How far a step forward and one back end from the start."""
    case = formulated(*place, "rigid_bodies")
    problem = plain(case.problem)
    there = stepped(component, problem, case.start, 0.05, 3)
    return np.abs(stepped(component, problem, there, -0.05, 3) - case.start).max()


def split(free, kind=RigidSplit, kicks=(0.5, 0.5)):
    """Kick, free motion, kick."""
    return kind(free, np.array([1.0]), np.array(kicks))


KICK, FREE, SPLIT = (f"liestep.integrators.{name}" for name in ("rodrigues", "rigid_split", "kicks"))
STEPS = {  # name: (module, old, new, component of the module, problem)
    "missing h/2": (SPLIT, "kick(problem, self.kicks[0]*h, forces, y)", "kick(problem, h, forces, y)",
                    lambda m: split(rodrigues.FreeTurn(1), m.RigidSplit), PENDULUM),
    "drift before kick": (SPLIT, "kick(problem, self.kicks[0]*h, forces, y)", "pass",
                          lambda m: split(rodrigues.FreeTurn(1), m.RigidSplit, (0.5, 1.0)), PENDULUM),
    "no second kick": (SPLIT, "kick(problem, after*h, forces, y)", "pass",
                       lambda m: split(rodrigues.FreeTurn(1), m.RigidSplit), PENDULUM),
    "dlm without its last turn": ("liestep.integrators.rigid_maps", "for turn in range(self.turns):",
                                  "for turn in range(self.turns - 1):", lambda m: split(m.AxisSplitting(5)), TOP),
    "dlm with a whole first turn": ("liestep.integrators.rigid_maps", "part = h if axis == 2 else 0.5*h",
                                    "part = h", lambda m: split(m.AxisSplitting(5)), TOP),
    "richardson with 4/3": ("liestep.integrators.rigid_maps", "a, b = self.weight, 1.0 - self.weight",
                            "a, b = 4.0/3.0, -1.0/3.0", lambda m: split(m.Richardson(2.0)), TOP),
    "richardson with the velocity of the start": (
        "liestep.integrators.rigid_maps", "spatial_velocity(frame, 0, p, j), middle, middle)", "w, middle, middle)",
        lambda m: split(m.Richardson(2.0)), TOP),
    "lgvi without the gyroscopic term": (FREE, "residual = sub(axpy(0.5, cross(f, jf), jf),", "residual = sub(jf,",
                                         lambda m: split(m.MoserVeselov(2, 1e-12, 200)), TOP),
    "body axes for space": (
        "liestep.integrators.rigid_maps", "turn_by_cayley(in_space(q, f, body, g), q)", "turn_by_cayley(f, q)",
        lambda m: split(m.LieGroupVariational(1e-14, 50)), TOP),
    "body midpoint with a whole step": (FREE, "residual = sub(axpy(-0.5*h, cross(m, w), m), p)",
                                        "residual = sub(axpy(-h, cross(m, w), m), p)",
                                        lambda m: split(m.BodyMidpoint(1e-12, 200)), TOP),
    "lie midpoint with the rate of the start": (
        FREE, "new = exp_apply(scale(-0.5*h, (m[0]/j[0], m[1]/j[1], m[2]/j[2])), p)", "new = p",
        lambda m: split(m.LieMidpoint(1e-14, 60, 1e-13)), TOP),
    "splitting without its first kick": (
        SPLIT, "kick(problem, self.kicks[0]*h, forces, y)", "pass",
        lambda m: split(MoserVeselov(2, 1e-14, 60), m.RigidSplit), TOP),
    "splitting with torques of the step before": (
        SPLIT, "needed and not problem.forces(y, forces)", "False",
        lambda m: split(MoserVeselov(2, 1e-14, 60), m.RigidSplit), TOP),
}


RIGHT = {"drift before kick": lambda m: split(rodrigues.FreeTurn(1), m.RigidSplit)}  # a mutant that needs other numbers


@pytest.mark.parametrize("name", STEPS)
def test_a_wrong_map_has_no_order_two(name):
    module, old, new, component, place = STEPS[name]
    assert order(component(edited(module, old, new)), place) <= 1.6
    right = RIGHT.get(name, component)(importlib.import_module(module))
    assert order(right, place) == pytest.approx(2.0, abs=0.1)


def test_the_lie_midpoint_rule_turns_spheres_exactly_and_with_the_cayley_map_it_does_not():
    case = formulated("free_rigid_body", "asymmetric", "rigid_bodies", {"inertia": [0.8, 0.8, 0.8]})
    right = importlib.import_module(FREE)
    wrong = edited(FREE, "turn(to_space(q, u), q, q)", "turn_by_cayley(to_space(q, u), q)")
    turn = Rotation.from_rotvec(0.5*case.start[3]/0.8)
    gaps = [np.abs(stepped(split(m.LieMidpoint(1e-15, 60, 1e-13)), plain(case.problem), case.start, 0.5)[:3]
                   - turn.apply(case.start[:3])).max() for m in (right, wrong)]
    assert gaps[0] <= 1e-15
    assert gaps[1] >= 1e-3


def test_plus_in_the_composition_is_a_wrong_map():
    """The minus of eq. (5)."""
    geometry = edited("liestep.geometry.rodrigues", "(4.0*(a[0] + b[0] - 0.5*x[0])", "(4.0*(a[0] + b[0] + 0.5*x[0])")
    module = edited(KICK, '"""The maps for', '"""Wrong maps for', geometry)
    assert order(split(module.ChartDrift(1, False)), PENDULUM) <= 1.0
    assert order(kicked(rodrigues.ChartDrift(1, False)), PENDULUM) == pytest.approx(2.0, abs=0.1)
    assert order(kicked(rodrigues.ChartDrift(1, True)), PENDULUM) == pytest.approx(2.0, abs=0.1)


def test_a_torque_in_the_body_is_a_wrong_map():
    """The moment M of the body in a map that wants R M."""
    case = formulated(*PENDULUM, "rigid_bodies")
    problem = plain(case.problem)
    turned = SimpleNamespace(forces=lambda y, f: problem.forces(y, f) and body(y, f), bodies=problem.bodies,
                             translates=problem.translates, moments=problem.moments, mass=problem.mass)

    def body(y, f):
        f[0] = y[:3] @ f[0]
        return True

    y = stepped(kicked(rodrigues.FreeTurn(1)), problem, case.start, 0.1, 20)
    gap = [np.abs(stepped(kicked(rodrigues.FreeTurn(1)), turned, y, h)
                  - stepped(kicked(rodrigues.FreeTurn(1)), problem, y, h)).max() for h in (0.02, 0.01)]
    assert np.log2(gap[0]/gap[1]) <= 1.1


def test_symmetric_maps_return_and_the_others_do_not():
    assert returns(kicked(rodrigues.FreeTurn(1)), PENDULUM) <= 1e-14
    assert returns(kicked(rodrigues.FreeTurn(1), 1.0), PENDULUM) >= 1e-4
    assert returns(Campello(0.5, 1e-15, 200), PENDULUM) >= 1e-4


def gradient_gap(module, **laws):
    """Largest difference of forces and torques of four bonded particles from differences of their energy."""
    case = formulated("bonded_particles", "cluster", "rigid_bodies", laws)
    right = case.problem.system
    system = plain(module.BondedParticles(*right))
    random = np.random.default_rng(2)
    y = case.start.copy()
    for i, turn in enumerate(Rotation.from_rotvec(0.4*random.standard_normal((4, 3))).as_matrix()):
        y[3*i:3*i + 3] = y[3*i:3*i + 3] @ turn.T
    y[16:20] = 0.95*y[16:20] + 0.03*random.standard_normal((4, 3))
    y[16:20, 0] -= y[16:20, 0].min() - 0.4
    out, energy = np.zeros((8, 3)), np.zeros(5)

    def at(change):
        moved = change(y.copy())
        system.forces(moved, np.zeros((8, 3)), energy)
        return energy.sum()

    system.forces(y, out, energy)
    gap, h = 0.0, 1e-5
    for i in range(4):
        for axis in np.eye(3):
            def shift(z, s, i=i, axis=axis):
                z[16 + i] += s*axis
                return z

            def turn(z, s, i=i, axis=axis):
                z[3*i:3*i + 3] += s*np.cross(axis, z[3*i:3*i + 3])
                return z

            for change, load in ((shift, out[4 + i]), (turn, out[i])):
                slope = (at(lambda z, c=change: c(z, h)) - at(lambda z, c=change: c(z, -h)))/(2.0*h)
                gap = max(gap, abs(slope + load @ axis))
    return gap/np.abs(out).max()


BONDED = "liestep.mechanics.systems._bonded"
FORCES = {
    "5/2 for 2/5": ("return root, 0.4*root*s", "return root, 2.5*root*s", {}),
    "torques of i and j exchanged": ("one, two = add(one, twist), sub(two, twist)",
                                     "one, two = sub(one, twist), add(two, twist)", {"shear_law": "printed"}),
    "R_j for its transpose": ("axpy(-c, d, to_body(p[3*j:3*j + 3], left))",
                              "axpy(-c, d, to_space(p[3*j:3*j + 3], left))", {"shear_law": "printed"}),
    "bending with the other sign": ("one = scale(-self.bending[b], theta)", "one = scale(self.bending[b], theta)", {}),
    "theta by the wrong sign of w": ("atan2(size, cosine)/size, sine)", "atan2(size, -cosine)/size, sine)", {}),
    "angle from the wrong cosine": ("dot(three, third) - 1.0", "dot(three, third) + 1.0", {}),
    "force on one axis only": ("v = u\n", "v = 0.0\n", {"shear_law": "mean"}),
    "wall without its radius": ("out[n + i, 0] += share/radius*force", "out[n + i, 0] += share*force", {}),
}


@pytest.mark.parametrize("name", FORCES)
def test_wrong_forces_are_no_gradients(name):
    old, new, laws = FORCES[name]
    assert gradient_gap(edited(BONDED, old, new), **laws) >= 1e-3
    assert gradient_gap(importlib.import_module(BONDED), **laws) <= 1e-6


def test_a_list_without_skin_misses_contacts():
    """A particle that flies past another one, seen by a list that is never made again."""
    neighbours = importlib.import_module("liestep.mechanics.systems._neighbours")
    blind = edited("liestep.mechanics.systems._neighbours", "limit = x.shape[0], 0.25*self.skin*self.skin",
                   "limit = x.shape[0], 1e9")
    pairs = []
    for module in (neighbours, blind):
        found = plain(module.NeighbourList(*neighbours.neighbour_list(np.ones(3), True)))
        x = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [30.0, 0.0, 0.0]])
        seen = []
        for place in (9.0, 5.0, 1.2, 0.9):
            x[1, 0] = place
            assert found.update(x)
            seen.append(int(found.offset[3]))
        pairs.append(seen)
    assert pairs == [[0, 0, 1, 1], [0, 0, 0, 0]]
