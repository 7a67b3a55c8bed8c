"""What is wrong with a plain function is said in one sentence with its line."""
import json
import math
import re
import time

import numba
import numpy as np
import pandas
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp
from scipy.special import j0

import liestep
from liestep.errors import InputError
from liestep.plain import arrays

GENERATOR = np.random.default_rng(0)
TABLE = np.linspace(0.0, 1.0, 11)
COUNT = 0
compiled = numba.vectorize(lambda x: 2.0*x)


def writes(t, y):
    y[0] = 2*y[0]
    return y


def halves(t, y):
    x = y[0]
    while x > 1e-3: x = x/2  # noqa: E701
    return [x, x]


def grows(t, y):
    x = y[0]
    for _ in range(200_000):
        x = x*x + 1
    return [x, x]


def endless(t, y):
    while True: pass  # noqa: E701


def endless_lists(t, y):
    x = []
    while True:
        try:
            x = [*x[:3], 1]
        except Exception:
            continue


def counted(t, y, memory=[0]):  # noqa: B006
    memory[0] += 1
    return memory[0]*y


def counted_outside(t, y):
    global COUNT
    COUNT += 1
    return COUNT*y


def itself(t, y):
    return itself(t, y)


FUNCTIONS = {
    "branches on a value.*np.where": lambda t, y: y if y[0] > 0 else -y,
    "branches on a value.*while x > 1e-3": halves, "returns NaN": lambda t, y: [math.nan, y[0]],
    "is nan at the start": lambda t, y: [np.log(-y[0]), y[0]],
    r"returns shape \(3,\); it must return numbers of shape \(2,\)": lambda t, y: [y[0], y[1], 0],
    "returns lists that do not fit": lambda t, y: [y[0], [y[1], 1]],
    "returns 'a', which is no number": lambda t, y: ["a", "b"], "returns nothing": lambda t, y: None,
    r"writes into its argument.*line \d+: y\[0\] = 2": writes, "plain number.*int": lambda t, y: [y[1], int(y[0])],
    "as an index.*np.interp.*TABLE": lambda t, y: [y[1], TABLE[y[0]]],
    "np.interp takes places that increase.*out of order": lambda t, y: [y[1], np.interp(t, [0, 2, 1], [0, 1, 2])],
    "np.interp takes a number.*period": lambda t, y: [y[1], np.interp(t, [0, 1], [0, 1], period=y[0])],
    "rounds a value": lambda t, y: [y[1], np.floor(y[0])], "rounds.*math.ceil": lambda t, y: [y[1], math.ceil(y[0])],
    r"np.interp takes.*\(3,\) and \(2,\)": lambda t, y: [y[1], np.interp(t, [0, 1, 2], [0, 1])],
    "foreign code.*np.interp, or give blackbox=True.*j0": lambda t, y: [y[1], j0(y[0])],
    "foreign code.*Typing[^\\n]*$": lambda t, y: compiled(y), "foreign code.*JSON": lambda t, y: [json.dumps(y[0]), 0],
    "complex numbers": lambda t, y: 1j*y, "as an index.*np.where.*y>0": lambda t, y: y[y>0],
    "returns a dict": lambda t, y: {"y": y}, "returns a set": lambda t, y: {y[0], y[1]},
    "plain number.*astype": lambda t, y: y.astype(int), "plain number.*dtype": lambda t, y: np.array(y, dtype=int),
    "math.gamma.*np.interp": lambda t, y: [y[1], math.gamma(y[0])],
    "index or a number of repetitions": lambda t, y: [sum(1 for _ in range(y[0])), y[1]],
    "more than 250000 operations.*x = x": grows, "does not end.*while True: pass": endless,
    "does not end.*(while|x =|try|except|continue)": endless_lists, "clocks": lambda t, y: [time.perf_counter(), y[0]],
    "random numbers": lambda t, y: y + GENERATOR.standard_normal(), "counters": counted,
    "clocks and counters": counted_outside,
    "takes 'z'.*known by their names: t, y, p": lambda t, z: z, "unknown parameter 'kk'; did you mean k":
    lambda t, y, p: p.kk*y, "calls itself without end": itself, "quotient": lambda t, y: y // 1.0,
    "np.linalg.eigvalsh.*np.linalg.norm": lambda t, y: np.linalg.eigvalsh(np.outer(y, y)),
    "NameError: name 'unknown'": lambda t, y: unknown*y}  # noqa: F821


def catches(y):
    try:
        return -y if y[0] > 0.0 else y
    except Exception:
        return 7.0*y


OTHERWISE = {  # Python and numpy say what they give for numbers; on symbols they would give something else
    "isinstance": lambda y: y if isinstance(y[0], float) else 5.0*y, "catches": catches,
    "dtype": lambda y: y if y.dtype.kind == "f" else 5.0*y, "scalar": lambda y: y if np.isscalar(y[0]) else 5.0*y,
    "truth": lambda y: ((y > 0.1) + (y > 0.2))*y,
    "helper": lambda y: catches(y)}


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_numbers_give_otherwise_is_refused(name):
    with pytest.raises(InputError, match=r"when it is called with numbers, and .* \(test_plain_bad_input\.py, line"):
        liestep.system("own", rhs=OTHERWISE[name], start={"y": [1.0, 0.5]})
    found = liestep.solve(lambda t, y: OTHERWISE[name](y), (0.0, 0.1), [1.0, 0.5], "DOP853", rtol=1e-10)
    right = solve_ivp(lambda t, y: OTHERWISE[name](y), (0.0, 0.1), [1.0, 0.5], method="DOP853", rtol=1e-12, atol=1e-14)
    assert "called with numbers" in found.reason
    assert np.abs(found.y[:, -1] - right.y[:, -1]).max() < 1e-9


def test_norm_of_a_matrix_of_order_2_is_refused():
    with pytest.raises(InputError, match=r"largest singular value.*cannot be traced"):
        liestep.system("own", rhs=lambda y: np.linalg.norm(np.outer(y, y) + np.eye(2), 2)*y, start={"y": [1.0, 0.5]})


@pytest.mark.parametrize("complaint", FUNCTIONS)
def test_functions(complaint, monkeypatch):
    monkeypatch.setattr(arrays, "MOST_SECONDS", 0.5 if "does not end" in complaint else 600.0)  # on a busy machine too
    with pytest.raises(InputError, match=complaint) as found:
        liestep.system("own", rhs=FUNCTIONS[complaint], start={"y": [1.0, 0.5]}, parameters={"k": 1.0})
    assert re.search(r"\(test_plain_bad_input\.py, line \d+: ", str(found.value))


def test_lambda_without_source():
    with pytest.raises(InputError, match=r"branches on a value.*\(<string>, line 1\)"):
        liestep.system("own", rhs=eval("lambda t, y: y if y[0] > 0 else -y"), start={"y": [1.0]})


TURNED = {"R": np.eye(3)}
CHARGE = {"magnetic": lambda x: [0, 0, 1], "start": {"x": [1.0, 0, 0], "v": [0, 1.0, 0]}}
FREE = {"potential": lambda x: x[0, 2], "inertia": [1, 1, 1], "start": {"x": [[0, 0, 1.0]]}}
SYSTEMS = {
    "start: unknown name 'z'": {"rhs": lambda y: y, "start": {"y": [1.0], "z": [2.0]}},
    "start y is empty": {"rhs": lambda y: y, "start": {"y": []}},
    "start must be a mapping of names to values": {"rhs": lambda y: y, "start": [1.0]},
    "parameters must be a mapping of names to values": {"rhs": lambda y: y, "start": {"y": [1.0]}, "parameters": [1.0]},
    "invariants must be a dictionary": {"rhs": lambda y: y, "start": {"y": [1.0]}, "invariants": [lambda y: y[0]]},
    **{f"invariant '{name}' must be a name of Python, and none that data have": {
        "rhs": lambda y: y, "start": {"y": [1.0]}, "invariants": {name: lambda y: y[0]}}
        for name in ("time", "status", "steps", "work", "event_times", "y_blocks", "parameter_k")},
    r"start q must be of shape \(n,\), not \(1, 2\)": {"lagrangian": lambda q, v: v @ v, "start": {
        "q": [[1, 2]], "v": [[0, 0]]}},
    r"start x must be of shape \(3,\) or \(n, 3,\), not \(2, 2\)": {**FREE, "start": {"x": np.zeros((2, 2))}},
    "start y has labels": {"rhs": lambda y: y, "start": {"y": pandas.Series({"b": 1.0, "a": 2.0})}},
    "t_end must be a positive": {"rhs": lambda y: y, "start": {"y": [1.0]}, "t_end": math.nan},
    "t_end must be .* not 'ten'": {"rhs": lambda y: y, "start": {"y": [1.0]}, "t_end": "ten"},
    "v and omega: give one": {"potential": lambda q: q[0, 2], "mass": 1.0, "start": {
        "q": [[0, 0, 1]], "v": [[0, 1, 0]], "omega": [[1, 0, 0]]}},
    r"v\[0\] is not orthogonal to q": {"potential": lambda q: q[0, 2], "mass": 1.0,
                                       "start": {"q": [[0, 0, 1]], "v": [[0, 1, 0.5]]}},
    "inertia must be numbers": {"potential": lambda R: R[2, 2], "inertia": lambda p: [1, 1, 1],
                                "start": {"R": np.eye(3)}},
    "a derivative of lagrangian is -?inf at the start": {"lagrangian": lambda q, v: 0.5*v @ v - abs(q[0])**0.5,
                                                         "start": {"q": [0.0], "v": [0.0]}},
    "not quadratic in v: ": {"lagrangian": lambda q, v: 0.5*v @ v + abs(v[0]), "start": {"q": [1.0], "v": [0.1]}},
    "singular mass matrix.*Livens.*mpl": {"lagrangian": lambda q, v: v[0]**2, "start": {"q": [0, 1], "v": [0, 0]}},
    "not quadratic in v": {"lagrangian": lambda q, v: np.sqrt(1 + v @ v), "start": {"q": [0], "v": [0]}},
    "not a unit vector": {"potential": lambda q: q[0, 2], "mass": 1.0, "start": {"q": [[0, 0, 1.1]]}},
    "not a rotation": {"potential": lambda R: R[2, 2], "inertia": [1, 1, 1], "start": {"R": np.ones((3, 3))}},
    "of no body": {"potential": lambda R: R[2, 2], "inertia": [1, 1, 5], "start": TURNED},
    "moments .*, or the matrix": {"potential": lambda R: R[2, 2], "inertia": np.ones((2, 2)), "start": TURNED},
    "give lagrangian .*, or bodies": {"start": {}}, "start lacks 'y'": {"rhs": lambda y: y, "start": {"x": [1.0]}},
    "mass must be numbers, not a function": {"mass": lambda p: p.m, "parameters": {"m": 2.0}, **CHARGE},
    "mass must be numbers, not a fun": {"mass": lambda p: [p.m], "parameters": {"m": 2.0}, **FREE},
    r"mass must be a number or of shape \(1,\)": {"mass": [1.0, 2.0], **CHARGE},
    "mass must be positive": {"mass": 0.0, **CHARGE}, "parameter mass must be positive": {"mass": [-1.0], **FREE},
    "mass is given twice": {"mass": 3.0, "parameters": {"mass": 1.0}, **CHARGE},
    "must be a function": {"rhs": "y", "start": {"y": [1.0]}}, "without Python code":
    {"rhs": math.sin, "start": {"y": [1.0]}},
    "torque is no argument of a sys.* rhs, energy": {"rhs": lambda y: y, "torque": lambda t: t, "start": {"y": [1.0]}},
    "lagrangian is no argument of a system": {"rhs": lambda y: y, "lagrangian": lambda q: 0, "start": {"y": [1.0]}},
    "finite numbers": {"rhs": lambda y: y, "start": {"y": [math.inf]}}}


def test_functions_that_can_be_traced_now():
    """Truth values may become whole numbers, a compiled function is traced, inverse hyperbolic functions are known."""
    start = {"y": [1.25, 0.5]}
    made = liestep.system("own", rhs=numba.njit(lambda t, y: y*(y > 1.0).astype(int)), start=start)
    end = made.simulate("rk4", step=0.01, t_end=0.1)["y"].values[-1]
    assert end == pytest.approx([1.25*np.exp(0.1), 0.5], abs=1e-9)
    made = liestep.system("own", start=start, rhs=lambda y: [math.acosh(y[0]) + np.arcsinh(y[1]) + math.degrees(y[1]),
                                                             np.arctanh(y[1]) + np.exp2(y[0])])
    step = made.simulate("rk2_heun", step=1e-9, t_end=1e-9)["y"].values
    assert (step[-1] - step[0])/1e-9 == pytest.approx(
        [np.arccosh(1.25) + np.arcsinh(0.5) + np.degrees(0.5), np.arctanh(0.5) + 2**1.25], rel=1e-6)


@pytest.mark.parametrize("complaint", SYSTEMS)
def test_systems(complaint):
    with pytest.raises(InputError, match=complaint):
        liestep.system("own", **SYSTEMS[complaint])


@pytest.mark.parametrize(("name", "complaint"), [("heavy_top", "already"), ("rk4", "already"), ("a b", "letters"),
                                               (None, "letters"), ("x"*300, "at most 100")])
def test_names(name, complaint):
    with pytest.raises(InputError, match=complaint):
        liestep.system(name, rhs=lambda y: y, start={"y": [1.0]})
