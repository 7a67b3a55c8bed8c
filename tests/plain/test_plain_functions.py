"""What plain functions may be made of: traced and derived code against numpy, differences in 60 digits, and systems
of the package that are written by hand."""
import math

import mpmath
import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.mechanics.formulations.probed import plain
from liestep.plain import symbols
from liestep.plain.arrays import Values
from liestep.plain.families import Writer
from liestep.plain.symbols import evaluated, gradient
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import first_start
from liestep.simulation.runs.specification import applicable

TABLE = np.linspace(0.0, 2.0, 9)
MATRIX = np.array([[0.0, 1.0], [-1.0, 0.5]])


def helper(x):
    return x**1.7 + np.sqrt(x) + x**-2 + 2.0**x


def filled(t, y):
    out = np.zeros(2)
    out[0] = math.sin(y[0])*math.exp(-t)
    out[1] += np.log1p(y[0]**2) + np.tanh(y[1]) + abs(y[0]) + np.arctan2(y[0], 2.0) + np.hypot(y[0], 1.0)
    out[:] = out + np.array([1, 2])*y[::-1]
    return out


def turned(x, *, by=math.sin):
    return by(x)


def repeated(t, y):
    x, i = 0.0, 0
    while i < 3:
        x, i = x + y[0]**i, i + 1
    return [x, np.exp(-x)]


def renamed(t, y):
    """One array under several names, as in numpy."""
    a, b = np.outer(y, [1.0, 2.0]), y*1.0
    np.asarray(b)[0] = np.einsum("ii->i", a)[1]
    b.astype(float, copy=False)[1] += t
    np.einsum("ii->i", a)[:] = y[::-1]
    return a @ b


def imported(t, y):
    import math as own

    from numpy import multiply, zeros

    out = zeros(2)
    multiply(y, own.exp(-y[0]), out)
    return out


FUNCTIONS = {
    "imports within a function, and a place for results": imported,
    "one array under several names": renamed,
    "remainders": lambda t, y: [math.remainder(3.1*y[0], 2.0) + math.fmod(-2*y[1], 0.7), np.copysign(t, y[1] - 0.6)],
    "counts": lambda t, y: np.sum(y > 0.4) + np.logical_xor(y > 0.4, t > 0.1)*y + math.fsum(y) + math.prod(y),
    "blocks": lambda t, y: np.block([[np.outer(y, y), np.eye(2)], [np.zeros((2, 2)), MATRIX]])[1:3] @ [1, 2, 3, 4],
    "high powers": lambda t, y: (y - 0.75)**33*[1e5, 1e7] + np.rad2deg(y),
    "where": lambda t, y: [y[1], np.where(y[0] > 0.5, -y[0], -2*y[0])],
    "where of arrays": lambda t, y: np.where(y > 0.4, y/np.linalg.norm(y), 0),
    "table": lambda t, y: [np.interp(y[0], TABLE, TABLE**2), np.max(y) - min(y[0], y[1])],
    "table with a period": lambda t, y: np.interp(5*y - 3, [1.9, 0.2, 0.9, 1.7], [3.0, 1, -2, 1], period=-1.5),
    "select": lambda t, y: np.select([y > 0.6, y > 0.4], [y, -y], [7.0, y[0]]),
    "truth": lambda t, y: [y[1]*(t < 0.5), -y[0]*((y[0] > 0.25) & (y[1] < 1)) + (~(y[0] > 0.5))*3],
    "einsum": lambda t, y: np.einsum("ij,j->i", MATRIX, y) + MATRIX @ y,
    "solve": lambda t, y: np.linalg.solve(np.array([[y[0] + 3, 1.0], [0.5, y[1] + 2]]), np.array([1.0, y[0]])),
    "solve of four": lambda t, y: np.linalg.solve(np.eye(4)*3 + np.outer(np.arange(4.0), np.ones(4))*y[0],
                                                  np.concatenate([y, y]))[:2],
    "inverse": lambda t, y: np.linalg.inv(np.array([[y[0] + 3, 1.0, 0], [0, 2, 1], [1, 1, y[1]]]))[0, :2]*t,
    "determinant": lambda t, y: [np.linalg.det(np.outer(y, y) + np.eye(2)), y[0]],
    "helper": lambda t, y: [helper(v) for v in y],
    "cross": lambda t, y: np.cross([y[0], y[1], 1.0], [0, 0, 1.0])[:2] + np.clip(y, 0.3, 1) + np.sum([y, y], axis=0),
    "statistics": lambda t, y: y*np.mean(y) + y.dot(y) + np.sign(y) + np.dot(y, y) + y.sum(),
    "into": lambda t, y: np.multiply(y, 2.0, out=np.empty(2)),
    "angles": lambda t, y: [np.arcsin(0.3*y[0]) + np.arccos(0.3*y[1]), math.atan(y[0]) + math.tan(y[1])],
    "filled": filled, "repeated": repeated,
    "functions by name": lambda t, y: [turned(y[0]), turned(y[1], by=math.cos)]}
STATES = ([1.0, 0.5], [0.3, 0.7], [0.2, 1.2])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(name):
    """The compiled text gives what the function itself gives on numbers."""
    made = liestep.system("own", rhs=FUNCTIONS[name], start={"y": [1.0, 0.5]})
    problem, out = plain(made.sheet.build({})), np.zeros((1, 2))
    for y in map(np.array, STATES):
        problem.rates(0.25, y[None], out)
        assert np.allclose(out[0], np.array(FUNCTIONS[name](0.25, y), dtype=float), rtol=2e-15, atol=2e-15)


POTENTIALS = {
    "norms": lambda q: 1/np.linalg.norm(q - 2) + np.linalg.norm(q)**3 - 1/(q @ q)**2,
    "powers": lambda q: np.exp(-q[0]**2)*np.log(q[1] + q[2]) + q[0]**1.7 + q[1]**-2.5,
    "angles": lambda q: np.arctan2(q[0], q[1])*np.cos(3*q[2]) + np.tanh(q[0]*q[2]) + np.arcsin(0.1*q[0]),
    "choices": lambda q: np.where(q[0] < q[1], q[0]*q[2], q[1]**2)*abs(q[2] - 1) + np.maximum(q[0], 0.3)**2,
    "determinant": lambda q: np.linalg.det(np.outer(q, q) + np.diag(q)) + (
        np.linalg.solve(np.eye(3) + np.outer(q, q), q)[0])}
MANY = {"sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos, "exp": mpmath.exp, "log": mpmath.log,
        "atan2": mpmath.atan2}


@pytest.mark.parametrize("name", POTENTIALS)
def test_gradients_have_all_digits(name, monkeypatch):
    """Against differences of the traced potential in 60 digits."""
    where = np.array([0.31, 0.52, 0.83])
    w = Writer("own", {}, {}, 1.0)
    q = w.array("q", where)
    value = w.call("potential", POTENTIALS[name], (), q=q)
    assert float(value is not None and evaluated([value], w.values)[0]) == pytest.approx(
        float(POTENTIALS[name](where)), rel=1e-14)
    found = evaluated(gradient(value, list(q)), w.values)
    monkeypatch.setattr(symbols, "OPERATIONS", symbols.OPERATIONS | MANY)
    with mpmath.workdps(60):
        step = mpmath.mpf(10)**-20
        for k in range(3):
            ends = []
            for sign in (1, -1):
                values = {f"q[{i}]": mpmath.mpf(float(x)) + sign*step*(i == k) for i, x in enumerate(where)}
                ends.append(evaluated([value], values)[0])
            exact = (ends[0] - ends[1])/(2*step)
            assert abs(found[k] - exact) <= 1e-14*max(1.0, max(map(abs, found)))


def test_branch_that_is_not_taken_has_no_part_in_a_derivative():
    """x/r has no derivative at r = 0, where the other branch is taken."""
    def lagrangian(q, v):
        r = np.sqrt(q @ q)
        return 0.5*(v @ v) - np.where(r > 0, q[0]/r + np.log(r), 0.0) + q[1]

    made = liestep.system("own", lagrangian=lagrangian, start={"q": [0.0, 0.0], "v": [0.0, 0.0]})
    out = np.full((2, 2), np.nan)
    with np.errstate(all="ignore"):
        plain(made.sheet.build({})).rates(0.0, np.zeros((2, 2)), out)
    assert np.array_equal(out, [[0.0, 0.0], [0.0, 1.0]])


def pendula(p):
    def potential(q, p):
        one = p.length[0]*q[0]
        return -(p.mass[0]*one + p.mass[1]*(one + p.length[1]*q[1])) @ p.gravity

    def mass(p):
        (m, n), (a, b) = p.mass, p.length
        return [[(m + n)*a**2, n*a*b], [n*a*b, n*b**2]]

    return {"potential": potential, "mass": mass}


def bodies(p):
    def potential(q, p):
        return -p.gamma*sum(p.mass[i]*p.mass[j]*(q[i] @ q[j])/np.linalg.norm(np.cross(q[i], q[j]))
                            for i in range(len(q)) for j in range(i))

    return {"potential": potential, "mass": p["mass"]}


@pytest.mark.parametrize(("twin", "preset", "functions"), [
    ("spherical_pendulum_chain", "paper_scaled", pendula), ("sphere_nbody", "three_bodies", bodies)])
def test_gradients_are_those_of_hand_written_systems(twin, preset, functions):
    facts = sheet(twin)
    preset = preset if preset in facts.presets else facts.default
    parameters = facts.check(facts.presets[preset].parameters)
    state = facts.presets[preset].initial(parameters)
    made = liestep.system("own", parameters=parameters, start=state, **functions(parameters))
    n, random = len(state["q"]), np.random.default_rng(0)
    hand, own = plain(facts.build(parameters)), plain(made.sheet.build(first_start(made.sheet)[0]))
    assert np.allclose(made.sheet.mass(parameters), facts.mass(parameters), rtol=1e-15)
    for _ in range(5):
        q = random.standard_normal((n, 3))
        q /= np.linalg.norm(q, axis=1)[:, None]
        found, wanted = np.zeros((n, 3)), np.zeros((n, 3))
        own.gradient(q, found)
        hand.gradient(q, wanted)
        gap = found - wanted
        gap -= np.sum(gap*q, axis=1)[:, None]*q  # what lies along q moves nothing
        assert np.abs(gap).max() <= 1e-14*np.abs(wanted).max()


def test_top_is_found_to_be_linear_and_has_all_methods():
    """Torque and slope are those of the hand-written top, and every integrator of that with its numbers runs."""
    facts = sheet("heavy_top")
    parameters = facts.check(facts.presets["asymmetric"].parameters)
    state = facts.presets["asymmetric"].initial(parameters)

    def potential(R, p):
        return -p.mass*p.length*(p.gravity @ (R @ p.axis))

    made = liestep.system("own", potential=potential, parameters=parameters, inertia=parameters["inertia"],
                          start={"R": state["attitude"], "angular_momentum": state["angular_momentum"]})
    able = [name for name in liestep.list_integrators("heavy_top") if applicable("heavy_top", name, parameters)]
    assert made.integrators() == able
    assert made.sheet.conserved_momentum(parameters) == (False, False, True)
    hand, own = plain(facts.build(parameters)), plain(made.sheet.build(parameters))
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    assert np.allclose(own.torque(q), hand.torque(q), rtol=0, atol=1e-14)
    assert np.allclose(own.torque_slope(q, (0.3, 0.2, -0.5)), hand.torque_slope(q, (0.3, 0.2, -0.5)), atol=1e-14)
    shifted = liestep.system("own", potential=lambda R, p: potential(R, p) + 1.0, parameters=parameters,
                             inertia=parameters["inertia"], start={"R": np.eye(3)})
    assert "slgi_kk" in made.integrators()
    assert "slgi_kk" not in shifted.integrators()  # an energy that a lever does not hold


def _pairs(q, p):
    return -0.5*sum(np.log((q[i] - q[j]) @ (q[i] - q[j])) for i in range(len(q)) for j in range(i))


def _chain(q, p):
    ends = sum(p.k*(1 - q[i] @ q[i + 1])**2 for i in range(len(q) - 1))
    return ends + sum(p.weight[i]*q[i, 2] for i in range(len(q))) + q[0, 0]**2 + 3.0


@pytest.mark.parametrize(("potential", "loops"), [(_pairs, 2), (_chain, 2)])
def test_sums_over_rows_and_pairs_are_loops(potential, loops):
    """With the values and gradients of the sums that are written out."""
    n, random = 14, np.random.default_rng(0)
    q = random.standard_normal((n, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    parameters = {"k": 3.0, "weight": random.standard_normal(n)}
    made = liestep.system("own", potential=potential, mass=1.0, parameters=parameters, start={"q": q},
                          force=lambda v: -0.5*v)
    code = made.source.partition("def gradient")[0].partition("def potential")[2]
    assert code.count("for ") == loops
    checked = first_start(made.sheet)[0]
    problem, found = plain(made.sheet.build(checked)), np.zeros((n, 3))
    w = Writer("own", parameters, {}, 1.0)
    s = w.array("q", q)
    value = w.call("potential", potential, (), q=s)
    wanted = evaluated([value, *gradient(value, list(s.flat))], w.values)
    problem.gradient(q, found)
    assert problem.potential(q) == pytest.approx(wanted[0], rel=1e-14)
    assert np.abs(found.ravel() - wanted[1:]).max() <= 1e-14*np.abs(found).max()
    omega = np.cross(q, random.standard_normal((n, 3)))
    problem.force(0.0, q, omega, found)
    assert np.allclose(found, -0.5*np.cross(omega, q), rtol=1e-15, atol=1e-15)


def test_forces_and_torques_of_free_bodies():
    """Against central differences of the potential itself, in space and about the axes of space."""
    def potential(x, R, p):
        gap = x[0] + R[0] @ np.array([p.arm, 0, 0.2]) - x[1] + R[1] @ np.array([0, p.arm, 0.1])
        return 0.5*p.k*(gap @ gap) + p.mass[0]*9.81*x[0, 2] + np.cos(R[1][2, 0])

    random = np.random.default_rng(0)
    turns = np.array([a*np.sign(np.linalg.det(a)) for a in np.linalg.qr(random.standard_normal((2, 3, 3)))[0]])
    x = random.standard_normal((2, 3))
    made = liestep.system("own", potential=potential, mass=[1.0, 2.0], inertia=[[1, 1.5, 2], [0.3, 0.3, 0.4]],
                          parameters={"arm": 0.4, "k": 3.0}, start={"x": x, "R": turns})
    checked = first_start(made.sheet)[0]
    y = np.zeros((12, 3))
    y[:6], y[8:10] = np.swapaxes(turns, 1, 2).reshape(6, 3), x
    found, energy, h = np.zeros((4, 3)), np.zeros(1), 1e-5
    plain(made.sheet.build(checked)).forces(y, found, energy)
    values = Values(checked)
    assert energy[0] == pytest.approx(potential(x, turns, values), rel=1e-14)
    for body, axis in np.ndindex(2, 3):
        shift, hat = np.zeros((2, 3)), np.cross(np.eye(3), h*np.eye(3)[axis])
        shift[body, axis] = h
        assert found[2 + body, axis] == pytest.approx(
            -(potential(x + shift, turns, values) - potential(x - shift, turns, values))/(2*h), abs=1e-8)
        ends = []
        for sign in (1.0, -1.0):
            moved = turns.copy()
            turn = np.eye(3) + sign*hat + 0.5*hat @ hat
            moved[body] = turn @ turns[body]
            ends.append(potential(x, moved, values))
        assert found[body, axis] == pytest.approx(-(ends[0] - ends[1])/(2*h), abs=1e-8)


def test_squares_of_sine_and_cosine_are_collected():
    """A pendulum from the velocity of its bob has no sine but that of its weight."""
    def lagrangian(q, v, p):
        dx, dz = p.length*np.cos(q[0])*v[0], p.length*np.sin(q[0])*v[0]
        return 0.5*p.mass*(dx**2 + dz**2) + p.mass*9.81*p.length*np.cos(q[0])

    made = liestep.system("own", lagrangian=lagrangian, parameters={"mass": 2.0, "length": 0.5},
                          start={"q": [0.3], "v": [0.0]})
    rates = made.source.partition("def hamiltonian")[0]
    assert (rates.count("sin("), rates.count("cos(")) == (1, 0)
    out = np.zeros((2, 1))
    plain(made.sheet.build(first_start(made.sheet)[0])).rates(0.0, np.array([[0.3], [1.5]]), out)
    assert np.allclose(out[:, 0], [1.5/(2*0.25), -9.81*np.sin(0.3)], rtol=1e-15)


SMALL = [sign*size*10.0**k for k in range(-14, 1) for sign, size in ((1, 1.37), (-1, 1.37), (1, 7.1))]
SPECIAL = {"sinh": [*SMALL, 300.0, -600.0], "cosh": SMALL, "tanh": [*SMALL, 900.0], "expm1": [*SMALL, 600.0, -800.0],
           "log1p": [x for x in SMALL if x > -0.9] + [1e200], "arctanh": [x for x in SMALL if abs(x) < 0.9],
           "arcsinh": [*SMALL, 1e150, -1e5, -1e12], "arccosh": [1.0 + abs(x) for x in SMALL]}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_have_all_digits(name):
    """At small arguments, where 1 + x or exp(x) - 1 would lose those of x, and at large negative ones; by mpmath."""
    places, function = SPECIAL[name], getattr(np, name)
    made = liestep.system("own", rhs=lambda y, p: [function(x) for x in p.x], parameters={"x": places},
                          start={"y": np.zeros(len(places))})
    found = made.simulate("explicit_euler", step=1.0, t_end=1.0, compile=False)["y"].values[-1]
    with mpmath.workdps(50):
        right = [getattr(mpmath, name.replace("arc", "a"))(mpmath.mpf(x)) for x in places]
        assert max(abs(float(a/b) - 1.0) for a, b in zip(found, right, strict=True)) < 1e-15


def test_a_steep_tanh_has_a_force_far_from_its_step():
    """-d tanh(1000 q)/dq, where exp(-2000 q) is zero in float64; by mpmath."""
    made = liestep.system("own", hamiltonian=lambda q, momentum: 0.5*(momentum @ momentum) + np.tanh(1e3*q[0]),
                          start={"q": [1.0], "momentum": [0.0]})
    problem, out = plain(made.sheet.build({})), np.zeros((2, 1))
    for q in (1.0, -2.0, 0.3, 0.01, -0.001, 0.0):
        problem.rates(0.0, np.array([[q], [0.0]]), out)
        assert out[1, 0] == pytest.approx(float(-1000*mpmath.sech(mpmath.mpf(1000)*q)**2), rel=1e-12, abs=1e-200)


def test_options_of_extremes_and_lists_in_lists_are_those_of_numpy():
    """The start says nothing: the numbers differ only where the run goes."""
    def rates(y):
        lowest = np.min(np.outer(y, [1.0, 2.0]), axis=1, keepdims=True, initial=0.9).ravel()
        kept = np.max(y, where=[True, False, True], initial=1.2) + y.max(initial=1.1)
        return np.concatenate([y[:1].clip(max=0.8), [y[1], -kept]])*lowest + np.hstack(([y[0], 0.1], math.log(y[1], 2)))

    made = liestep.system("own", rhs=rates, start={"y": [0.7, 0.8, 0.5]})
    found, y = made.simulate("explicit_euler", step=0.25, t_end=2.5)["y"].values, np.array([0.7, 0.8, 0.5])
    for k in range(10):
        y = y + 0.25*rates(y)
        assert np.abs(found[k + 1] - y).max() < 1e-13


@pytest.mark.parametrize("function", [lambda y: np.multiply(y, 2.0, out=np.zeros(2), where=y < 5.0),
                                      lambda y: [max(y, key=abs), min(y, key=abs)]])
def test_what_would_be_left_out_is_refused(function):
    with pytest.raises(liestep.InputError, match=r"cannot be traced: write np\.where"):
        liestep.system("own", rhs=function, start={"y": [1.0, 2.0]})


RANDOM = np.random.default_rng(1).standard_normal((4, 4))
LEADING = np.eye(1, 16).reshape(4, 4)  # a matrix with this entry alone
UPPER = np.array([[1.0, 2.0, 0.2, 0.0], [0.5, 1.0, 0.4, 0.0], [0.0, 0.0, 1.0, 0.3], [0.0, 0.1, 0.0, 1.0]])


@pytest.mark.parametrize("matrix", [
    RANDOM - RANDOM[0, 0]*LEADING, RANDOM + (1e-13 - RANDOM[0, 0])*LEADING,
    2.0**-30*UPPER])  # its lower half, and the transposed of that, are a positive definite matrix
def test_linear_systems_of_four_rows_have_all_digits_with_a_small_pivot(matrix):
    """With the matrix of symbols, and of numbers; against numpy, which chooses its pivots."""
    made = liestep.system("own", rhs=lambda y, p: np.linalg.solve(p.a, y) + np.linalg.inv(matrix) @ y,
                          parameters={"a": matrix}, start={"y": [1.0, -2.0, 0.5, 3.0]})
    problem, out = plain(made.sheet.build(first_start(made.sheet)[0])), np.zeros((1, 4))
    for y in np.random.default_rng(2).standard_normal((5, 4)):
        problem.rates(0.0, y[None], out)
        right = 2.0*np.linalg.solve(matrix, y)
        assert np.abs(out[0] - right).max() < 1e-14*np.linalg.cond(matrix)*max(1.0, np.abs(right).max())


def test_rows_of_a_positive_definite_matrix_keep_their_order():
    """Also where a pivot is less than a tenth of an entry below it; rows of an indefinite one are exchanged."""
    steep = np.eye(4) + np.array([[-0.99, 0.15, 0, 0], [0.15, 3, 0, 0], [0, 0, 0, 0.5], [0, 0, 0.5, 0]])
    assert symbols.PlainGraph().ordered(steep) == [0, 1, 2, 3]
    assert symbols.PlainGraph().ordered(steep - 2.0*np.diag([0.0, 0.0, 1.0, 1.0])) == [1, 0, 2, 3]


@pytest.mark.parametrize("function", [
    lambda y: np.where(y > 0, np.sqrt(y), 1/y), lambda y: np.where(y > 0, y**1.5, -1/y**3),
    lambda y: np.where(y > 0, 1/np.sqrt(y), y**-2.0), lambda y, c=-0.5: np.where(c*y > 0, np.sqrt(c*y), 1/(c*y)),
    lambda y, c=-0.5: np.where(c + y*y > 0, np.sqrt(c + y*y), 1/(c + y*y)),
    lambda y, c=-0.5: np.where(c > 0, np.sqrt(c), 1/c)*y])
def test_a_quotient_is_not_written_by_the_root_of_a_number_that_may_be_negative(function):
    """Also where it has a negative parameter."""
    given = {"parameters": {"c": -0.5}} if function.__defaults__ else {}
    rhs = (lambda y, p: function(y, p.c)) if given else function
    made = liestep.system("own", rhs=rhs, start={"y": [1.0, 0.5]}, **given)
    problem, out = plain(made.sheet.build(first_start(made.sheet)[0])), np.zeros((1, 2))
    for y in map(np.array, ([0.7, -0.3], [-2.0, 0.1])):
        with np.errstate(all="ignore"):
            problem.rates(0.0, y[None], out)
            assert np.allclose(out[0], function(y), rtol=1e-15)


def test_remainders_of_multiples_are_zero():
    """Where a period begins, a function of t % period has the value of its beginning, as in Python."""
    made = liestep.system("own", rhs=lambda t, y: [t % 1.0, t % 0.1, np.sqrt(t % 0.7), t % -0.3, y[0] % 2.0, 0.0],
                          start={"y": np.zeros(6)})
    assert [what for what, _ in made.sheet.clock({}, 0.25)].count("choice") == 4  # one for each period of t, at its end
    problem, out = plain(made.sheet.build({})), np.zeros((1, 6))
    for k in range(1, 1000):
        problem.rates(0.1*k, np.full((1, 6), 2.0*k), out)
        whole = np.array([k % 10 == 0, True, k % 7 == 0, k % 3 == 0, True, True])
        assert np.abs(out[0, whole]).max() < 1e-6*whole[2] + 1e-15*k
        assert np.allclose(out[0, ~whole], np.array([k % 10/10, 0, np.sqrt(k % 7/10), k % 3/10 - 0.3, 0, 0])[~whole])
        problem.rates(np.nextafter(0.7*k, 0.0) - 1e-15*k, np.zeros((1, 6)), out)
        assert out[0, 2] == pytest.approx(np.sqrt(0.7), abs=1e-12)  # just before the end of a period


def test_an_angle_wrapped_by_math_is_between_minus_and_plus_half_a_turn():
    """The start is in the first half turn, where % gives the same; the integral of the angle is half its square."""
    made = liestep.system("own", rhs=lambda y: [math.remainder(y[1], 2*math.pi), 1.0], start={"y": [0.0, 0.1]})
    found = made.simulate("dop853", tolerance=1e-9, t_end=10.0)["y"].values[-1, 0]
    assert found == pytest.approx(0.5*((10.1 - 4*math.pi)**2 - 0.1**2), abs=1e-6)


@pytest.mark.parametrize(("function", "told"), [
    (lambda y: [y[0]*{1.0: 5.0}.get(y[0], 3.0), 1.0], "looks for a value .* in a dictionary or a set"),
    (lambda y: [len({y[0], 1.0}), 1.0], "looks for a value .* in a dictionary or a set"),
    (lambda y: [(y[0] > 2.0) + (y[1] > 2.0), 1.0], "gives 1 when it is called with numbers, and 2 in the equations"),
    (lambda y: [y[0] if np.asarray(y).dtype == object else np.minimum(y[0], 5.0), 1.0], "must not ask for types")])
def test_what_differs_far_from_the_start_only_is_refused(function, told):
    with pytest.raises(liestep.InputError, match=told):
        liestep.system("own", rhs=function, start={"y": [1.0, 2.0]})
