"""Right-hand sides and observables of every system against 50 digits, at close and at degenerate configurations.

The limit is set by the numbers themselves: a right-hand side may be wrong by as much as it changes when the state moves
on its manifold, and the data of the system, by a unit in the last place. Changes of the lengths of q do not count: 1 -
c^2 with c = q_i.q_j reacts to them just as much as it cancels.
"""
import mpmath
import numpy as np
import pytest

from liestep.compile.tracing import Functions, plain_component
from liestep.geometry.bands import solve_band
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.multibody.mechanism import MOVING, PUSH, SPIN, Kind
from liestep.mechanics.systems.four_bar import assembled
from liestep.simulation.catalogue import sheet, system_ids

EPS = float(np.finfo(np.float64).eps)
FACTOR = 4.0       # allowed error, in units of what one ulp of the data changes; the largest is 2.8
AMPLITUDE = 1e-10  # of the changes, far above round-off: what they do is scaled down to one ulp
DRAWS = 3          # of such changes; the largest counts
DIGITS = 50
TINY = 1e-300
EXACT = mpmath.mp.clone()
EXACT.dps = DIGITS
FUNCTIONS = Functions(EXACT.sqrt, EXACT.sin, EXACT.cos, atan2=EXACT.atan2)
PLAIN = Functions(np.sqrt, np.sin, np.cos)
SMALL_ANGLES = (1.0, 0.1, 0.01)  # degrees
TIME = 0.3
# Their starts have to fit joints or a bond, which keep bodies from most degenerate places. Their vector fields take any
# attitudes and places and hold the accelerations of the joints only: they are compared off the joints as well.
HELD = ("jointed_body",)
# no case: one that is set by a crank angle, below
NO_CASE = (("four_bar", "close"), ("four_bar", "opposite"), ("four_bar", "all"))


def smallest_preset(facts):
    """The preset with the fewest rows; the first of those."""
    def size(preset):
        return sum(np.size(value) for value in preset.initial(facts.check(preset.parameters)).values())

    return min(facts.presets.values(), key=size)


def turn(axis, angle):
    """Rotation matrix (3, 3) about a unit vector."""
    hat = np.cross(np.eye(3), axis)
    return np.eye(3) - np.sin(angle)*hat + 2.0*np.sin(0.5*angle)**2*hat @ hat


def near(vector, angle, generator):
    """A unit vector at an angle from another one."""
    side = np.cross(vector, generator.normal(size=3))
    found = np.cos(angle)*vector + np.sin(angle)*side/np.linalg.norm(side)
    return found/np.linalg.norm(found)


def directions(q, how, angle, generator):
    """Directions (n, 3): two of them close or nearly opposite, or all close to the first."""
    q = q.copy()
    if how == "all":
        return np.array([near(q[0], angle*generator.uniform(0.5, 1.0), generator) for _ in q])
    if len(q) > 1:
        q[1] = near(q[0] if how == "close" else -q[0], angle, generator)
    return q


def attitudes(shape, how, angle, generator):
    """Rotations of the shape (..., 3, 3) near one that permutes the axes."""
    quarter = {"close": 0.0, "opposite": np.pi, "all": 0.5*np.pi}[how]
    found = [turn(near(np.eye(3)[k % 3], 0.5, generator), angle) @ turn(np.eye(3)[k % 3], quarter)
             for k in range(int(np.prod(shape[:-2])))]
    return np.array(found).reshape(shape)


def is_directions(name, value):
    """Whether a field holds unit vectors; q of shape (n,) are coordinates."""
    return name == "q" and value.ndim == 2


def configuration(facts, parameters, start, how, degrees, seed, held):
    """State of a system with its directions or attitudes moved to a degenerate place, everything turning."""
    generator, angle, state = np.random.default_rng(seed), np.radians(degrees), dict(start)
    for name, value in start.items():
        if value.shape[-2:] == (3, 3) and "attitude" in name:
            state[name] = attitudes(value.shape, how, angle, generator)
        elif is_directions(name, value):
            state[name] = directions(value, how, angle, generator)
        elif name != "omega":
            state[name] = value + 0.3*generator.normal(size=value.shape)
    if "omega" in state:
        state["omega"] = tangent(generator.normal(size=start["omega"].shape), state["q"])
    return state if held else facts.check_initial(parameters, state)


def numbers(value, change):
    """A component, array or number with entries of many digits, each changed by `change`."""
    if isinstance(value, np.ndarray):
        return np.array([change(x) for x in value.flat], dtype=object).reshape(value.shape) \
            if value.dtype == object else value
    if isinstance(value, tuple):
        entries = [numbers(item, change) for item in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return change(value) if isinstance(value, float) else value


def evaluate(problem, y, width):
    """Rows of the right-hand side and the observables."""
    out, seen = np.zeros(y.shape, dtype=y.dtype), np.zeros(width, dtype=y.dtype)
    assert problem.rhs(TIME, y, out) is not False
    problem.observe(y, seen)
    return [*out, *seen[:, None]]


def tangent(omega, q):
    """omega without its part along q."""
    for _ in range(2):
        omega = omega - np.sum(omega*q, axis=1)[:, None]*q
    return omega


def moved(state, generator):
    """A state on the manifold, every field moved by AMPLITUDE of its size."""
    found = {}
    for name, value in state.items():
        noise = AMPLITUDE*generator.normal(size=value.shape)
        if value.shape[-2:] == (3, 3) and "attitude" in name:
            turns = [turn(np.eye(3)[k % 3], AMPLITUDE) for k in range(int(np.prod(value.shape[:-2])))]
            found[name] = np.array(turns).reshape(value.shape) @ value
        elif is_directions(name, value):
            found[name] = value + np.cross(noise, value)
            found[name] /= np.linalg.norm(found[name], axis=1)[:, None]
        else:
            found[name] = value + np.abs(value).max(initial=0.0)*noise
    if "omega" in found:
        found["omega"] = tangent(found["omega"], found["q"])
    return found


def sizes(rows):
    return np.array([float(EXACT.sqrt(sum(EXACT.mpf(x)**2 for x in row))) for row in rows])


def deficit(facts, parameters, state, variant=lambda problem: problem):
    """Largest ratio of an error to what one ulp of the data changes, over rows and observables; of the component, or of
    a variant of it."""
    formulated = formulate(facts, parameters, state, "vector_field", {})
    problem, y = plain_component(formulated.problem, FUNCTIONS), formulated.start.astype(object)
    exact = evaluate(numbers(problem, EXACT.mpf), numbers(y, EXACT.mpf), formulated.width)
    found = evaluate(variant(plain_component(formulated.problem, PLAIN, np.float64)), formulated.start,
                     formulated.width)
    generator, change = np.random.default_rng(11), np.zeros(len(exact))
    for _ in range(DRAWS):
        other = formulate(facts, parameters, moved(state, generator), "vector_field", {}).start.astype(object)
        data = numbers(problem, lambda x: EXACT.mpf(x)*(1 + EXACT.mpf(AMPLITUDE)*generator.choice([-1, 1])))
        rows = evaluate(data, numbers(other, EXACT.mpf), formulated.width)
        change = np.maximum(change, sizes([a - b for a, b in zip(rows, exact, strict=True)]))
    allowed = EPS*(change/AMPLITUDE + sizes(exact))
    for item in formulated.observables:
        if item.kind == "residual":  # differences of numbers near one
            allowed[len(y):][item.columns] += EPS
    error = sizes([[EXACT.mpf(float(x)) - z for x, z in zip(a, b, strict=True)]
                   for a, b in zip(found, exact, strict=True)])
    return float(np.max(error/(allowed + TINY)))


STRAIGHT_ROD = pytest.mark.xfail(strict=True, reason="1 - q_{i-1}.q_i as printed: off the spheres it is what ode45 of"
                                 " the paper integrates. An error of 74 units in the last place where the spring's"
                                 " moment is 1e-9 of its stiffness")
PLACES = [pytest.param(name, how, marks=STRAIGHT_ROD if (name, how) == ("elastic_rod", "all") else ())
          for name in system_ids() for how in ("close", "opposite", "all") if (name, how) not in NO_CASE]


@pytest.mark.parametrize(("name", "how"), PLACES)
def test_digits_are_those_of_the_state(name, how):
    facts = sheet(name)
    preset = smallest_preset(facts)
    parameters = facts.check(preset.parameters)
    start = facts.check_initial(parameters, preset.initial(parameters))
    worst = {degrees: deficit(facts, parameters, configuration(facts, parameters, start, how, degrees, 3, name in HELD))
             for degrees in SMALL_ANGLES}
    assert max(worst.values()) <= FACTOR, worst


def crank_angle(length, how):
    """Of the crank that continues the coupler (close), lies on it (opposite), or lies along the ground (all)."""
    a, b, c, d = length
    reach = {"close": b + a, "opposite": b - a, "all": 0.0}[how]
    if how == "all":
        return np.pi
    return np.arccos((reach*reach + d*d - c*c)/(2.0*reach*d)) + (np.pi if how == "opposite" else 0.0)


def refined(problem):
    """The component, but accelerations a are corrected once by what A a + gamma is, with the factor that they had."""
    motion = problem.motion

    class Refined(type(motion.mechanism)):
        def evaluate(self, task):
            if not super().evaluate(task) or task != 0:
                return True
            for group in range(self.groups):  # gamma alone
                (self.point_rows if self.table[group, 0] == Kind.POINT else self.scalar_row)(group, False)
            base = MOVING*(self.bodies + 1)
            for i in range(self.bodies):
                spin, push = self.scratch[MOVING*i + SPIN], self.scratch[MOVING*i + PUSH]
                for k in range(self.first[i], self.first[i + 1]):
                    force, torque = self.scratch[base + 3*k], self.scratch[base + 3*k + 1]
                    self.vectors[0, self.place[k]] += torque @ spin + force @ push
            solve_band.py_func(self.band, self.vectors[0], self.rows, self.width)
            for i in range(self.bodies):
                spin, push = self.pulled(i, 0)
                self.scratch[MOVING*i + SPIN] += spin
                self.scratch[MOVING*i + PUSH] += push
            return True

    return problem._replace(motion=motion._replace(mechanism=Refined(*motion.mechanism)))


@pytest.mark.parametrize(("how", "least"), [("close", FACTOR), ("opposite", 0.0), ("all", 0.0)])
def test_digits_of_the_four_bars(how, least):
    """On the joints, on both sides of a place that the linkage passes: off them the closed loop has places, out of its
    reach, where its joints depend on each other and no digits are left.

    Where crank and coupler line up 17 multipliers come from A M^-1 A^T with a condition of 1800, and its round-off
    takes 6.3 units at one of them. It is lost there alone, not in the rows, gamma or forces: the same accelerations are
    right to 1.2 units after one correction with the same factor. Runs go without that correction."""
    facts = sheet("four_bar")
    parameters = facts.check(smallest_preset(facts).parameters)
    place, plain, corrected = crank_angle(parameters["length"], how), [], []
    for degrees in (*SMALL_ANGLES, *(-angle for angle in SMALL_ANGLES)):
        state = facts.check_initial(parameters, assembled(parameters, place + np.radians(degrees), 8.0))
        plain.append(deficit(facts, parameters, state))
        corrected.append(deficit(facts, parameters, state, refined))
    assert least <= max(plain) <= (FACTOR if least == 0.0 else 1.75*FACTOR), plain
    assert max(corrected) <= 0.5*FACTOR, corrected
