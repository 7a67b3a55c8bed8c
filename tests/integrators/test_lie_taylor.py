"""L3 for `lie_taylor`: the shipped step in plain Python around its machine code on all kinds of actions, against scipy
on the vector field of the same system; orbits, chart limits, refusals, mutants."""
import math

import numpy as np
import pytest
from place import TOP
from scipy.integrate import solve_ivp

from liestep import load_plugin, simulate
from liestep.compile import rows
from liestep.compile.status import Status
from liestep.compile.straight.jets import taylor_coefficients
from liestep.compile.straight.symbols import SYMBOLIC
from liestep.compile.tracing import Dual, Functions, parts, plain_component, with_slopes
from liestep.errors import InputError
from liestep.geometry import charts, so3
from liestep.integrators import lie_taylor
from liestep.integrators.taylor import LARGEST_ORDER
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.specification import complete_options, specify, start_of
from liestep.tools.inspect.describe import describe

PLAIN = Functions(rows.sqrt.py_func, rows.sin.py_func, rows.cos.py_func, below=rows.below.py_func,
                  atan2=rows.atan2.py_func)
# system, preset, end time, options of the action
CASES = (
    ("free_rigid_body", "asymmetric", 2.0, {}), ("free_rigid_body", "asymmetric", 2.0, {"action": "coadjoint"}),
    ("heavy_top", "asymmetric", 1.0, {}), ("heavy_top", "asymmetric", 1.0, {"action": "coadjoint"}),
    ("heavy_top", "asymmetric", 1.0, {"action": "direct"}), ("heavy_top", "asymmetric", 1.0, {"chart": "cayley"}),
    ("spherical_pendulum_chain", "orders", 1.0, {}), ("spherical_pendulum_chain", "orders", 0.5, {"chart": "cayley2"}),
    ("sphere_nbody", "paper", 1.0, {}),
    ("jointed_body", "asymmetric_top", 0.5, {}), ("jointed_body", "asymmetric_top", 0.5, {"action": "so3_r3"}),
    ("jointed_body", "asymmetric_top", 0.5, {"attitude": "matrix"}),
    ("gusty_pendulum", "default", 1.0, {}),  # rates depend on time
)


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    load_plugin(TOP/"docs"/"examples"/"gusty_pendulum.py")


PLACES = (0.3, 0.77, 1.0)  # of the end time


def formulated(case, formulation="lie_action", name="lie_taylor"):
    system, preset, _, options = case
    facts, start = sheet(system), start_of(system, preset=preset)
    given = options if formulation == "lie_action" else {}
    return formulate(facts, start.parameters, start.initial, formulation,
                     complete_options(method(name), facts, start.parameters, given))


def outputs(case, tolerance, order=10):
    """Fields at PLACES, all but the last by dense output, in plain Python; the form, its problem and the steps."""
    form, t_end = formulated(case), case[2]
    pair = plain_component(method("lie_taylor").made(form, {"order": order}, tolerance, t_end), PLAIN, np.float64)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    work, t, found, steps = pair.workspace(problem, y), 0.0, [], 0
    h = pair.start(problem, 0.0, y, t_end, work)
    while t < t_end:
        h = min(h, t_end - t)
        status, _ = pair.attempt(problem, t, y, h, work)
        if status != Status.OK:
            assert status == Status.CHART_LIMIT
            h = pair.control.after_failure(h, math.inf, 0.0)
            continue
        end = t_end if h == t_end - t else t + h
        while len(found) < len(PLACES) - 1 and PLACES[len(found)]*t_end < end:
            found.append(np.zeros_like(y))
            pair.interpolate(problem, t, y, h, (PLACES[len(found) - 1]*t_end - t)/h, found[-1], work)
        pair.accept(problem, y, work)
        h, t, steps = pair.control.after_success(h, 0.0, 0.0), end, steps + 1
        assert steps < 2000
    return form, form.to_fields(np.array([*found, y])), steps


def reference(case):
    """The same fields by scipy, the right-hand side of the vector field as plain Python."""
    form = formulated(case, "vector_field", "dop853")
    problem, shape = plain_component(form.problem, PLAIN, np.float64), form.start.shape

    def rhs(t, y):
        out = np.zeros(shape)
        assert problem.rhs(t, y.reshape(shape), out)
        return out.ravel()

    found = solve_ivp(rhs, (0.0, case[2]), form.start.ravel(), "DOP853", t_eval=[place*case[2] for place in PLACES],
                      rtol=1e-13, atol=1e-13)
    return form.to_fields(found.y.T.reshape(len(PLACES), *shape))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case[0], *case[3].values()]))
def test_series_in_the_algebra_follow_the_motion_between_steps(case):
    expected = reference(case)
    _, fields, steps = outputs(case, 1e-10)
    assert steps > 1
    shared = [name for name in expected if name in fields]
    assert shared
    for name in shared:
        assert np.abs(fields[name] - expected[name]).max() <= 1e-9*max(1.0, np.abs(expected[name]).max()), name


@pytest.mark.parametrize("order", [3, 8, LARGEST_ORDER])
def test_the_orbit_is_kept_at_any_tolerance(order):
    """|Gamma| and Pi.Gamma of the top on its coadjoint orbit, where no form offers a projection."""
    case = ("heavy_top", "asymmetric", 1.0, {"action": "coadjoint"})
    start = formulated(case)
    pair = plain_component(method("lie_taylor").build({"order": order}, 1e-2, 5.0), PLAIN, np.float64)
    problem, y = plain_component(start.problem, PLAIN, np.float64), start.start.copy()
    casimirs = [np.linalg.norm(y[1]), y[0] @ y[1]]
    work = pair.workspace(problem, y)
    h = pair.start(problem, 0.0, y, 5.0, work)
    for _ in range(40):
        status, _ = pair.attempt(problem, 0.0, y, h, work)
        assert status == Status.OK
        pair.accept(problem, y, work)
        h = pair.control.next_step[0]
    assert abs(np.linalg.norm(y[1]) - casimirs[0]) <= 1e-14
    assert abs(y[0] @ y[1] - casimirs[1]) <= 2e-14*np.linalg.norm(y[0])


def test_steps_stay_in_the_chart():
    """A body that turns about an axis of symmetry has a series of one term: a step may have any length but that of a
    full turn."""
    case = ("free_rigid_body", "symmetric", 1.0, {})
    form = formulated(case)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    pair = plain_component(method("lie_taylor").build({"order": 8}, 1e-8, 100.0), PLAIN, np.float64)
    work = pair.workspace(problem, y)
    pair.start(problem, 0.0, y, 100.0, work)
    assert pair.attempt(problem, 0.0, y, 100.0, work)[0] == Status.CHART_LIMIT
    assert pair.attempt(problem, 0.0, y, 0.01, work)[0] == Status.OK
    assert pair.control.after_failure(100.0, math.inf, 0.0) == 50.0


def test_a_generator_that_cannot_be_evaluated_is_no_step():
    """No pivot is positive where a state is no number."""
    form = formulated(("spherical_pendulum_chain", "orders", 1.0, {}))
    problem, y = plain_component(form.problem, PLAIN, np.float64), np.full_like(form.start, np.nan)
    pair = plain_component(method("lie_taylor").build({"order": 5}, 1e-8, 1.0), PLAIN, np.float64)
    work = pair.workspace(problem, y)
    assert pair.start(problem, 0.0, y, 1.0, work) == 1.0
    assert pair.attempt(problem, 0.0, y, 0.1, work) == (Status.NOT_EVALUABLE, math.inf)


@pytest.mark.slow
def test_compiled_runs_are_those_of_plain_python():
    """Series with fused operations: other last digits."""
    run = simulate("heavy_top", "lie_taylor", preset="asymmetric", tolerance=1e-10, t_end=1.0, samples=3,
                   options={"order": 10})
    _, fields, steps = outputs(("heavy_top", "asymmetric", 1.0, {}), 1e-10)
    assert int(run.attrs["steps"]) == steps
    assert np.abs(run["attitude"].values[-1] - fields["attitude"][-1]).max() <= 1e-12


@pytest.mark.parametrize(("system", "options", "complaint"), [
    ("elastic_rod", {}, "more than 4000 operations; take another chart, or rkmk853"),
    ("heavy_top", {"chart": "second_kind"}, r"bad operand type for abs\(\): 'Node' \(charts.py"),
    ("heavy_top", {"order": 16}, "the largest order is 15"), ("henon_heiles", {}, "cannot run on henon_heiles")])
def test_what_has_no_series_is_refused_in_a_sentence(system, options, complaint):
    with pytest.raises(InputError, match=complaint):
        specify(system, "lie_taylor", tolerance=1e-6, t_end=1.0, samples=2, options=options)


def test_describe_counts_the_operations():
    text = " ".join(describe("heavy_top").split())
    assert "Taylor series in the algebra: straight-line code, 226 operations and 1 guards in one evaluation" in text
    assert "Taylor series in the algebra: none: this action has no Taylor series" in " ".join(
        describe("elastic_rod").split())


@pytest.mark.parametrize(("name", "kernel", "place"), [
    ("s", so3.coefficients, 0), ("c", so3.coefficients, 1), ("d", so3.coefficients, 2),
    ("g", so3.dexpinv_coefficients, 0), ("g'", so3.dexpinv_coefficients, 1),
    ("c'", so3.dexp_coefficients, 2), ("d'", so3.dexp_coefficients, 3),
    ("C", charts.half_angle, 0), ("S", charts.half_angle, 1)])
def test_series_of_rotations_are_the_closed_forms(name, kernel, place):
    for z2 in (0.3, 1.0, 2.0):
        series = float(sum(so3.term(name, k)*z2**k for k in range(30)))
        assert abs(series - kernel.py_func(z2)[place]) <= 3e-14


def derivative(function, x, d, e=1e-6):
    return (function(x + e*d) - function(x - e*d))/(2.0*e)


@pytest.mark.parametrize("function", [
    lambda x: x*x*3.0 + 2.0/x - (1.0 - x)/4.0, lambda x: (x - 2.0)/(x*x + 1.0), lambda x: 1.0 - -x])
def test_infinitesimal_parts_are_derivatives(function):
    found = function(Dual(0.7, 1.3))
    assert found.x == function(0.7)
    assert abs(found.d - derivative(function, 0.7, 1.3)) <= 1e-8


def test_functions_and_comparisons_of_infinitesimal_numbers():
    table = with_slopes(Functions(math.sqrt, math.sin, math.cos))
    for function, plain in ((table.sqrt, math.sqrt), (table.sin, math.sin), (table.cos, math.cos)):
        assert function(0.7) == plain(0.7)
        assert parts(function(Dual(0.7, 1.3)))[1] == pytest.approx(derivative(plain, 0.7, 1.3), abs=1e-8)
    assert Dual(1.0, 5.0) < 2.0
    assert Dual(1.0, 5.0) > Dual(0.5, 9.0)
    assert abs(Dual(-1.0, 3.0)).d == -3.0
    assert abs(Dual(1.0, 3.0)).d == 3.0


def coefficients(found, y, count, order):
    return np.array([line[:count] for line in taylor_coefficients(found, [*[None]*count, *y.flat, 0.0], order)],
                    dtype=float)


@pytest.mark.parametrize(("name", "factor"), [("g", 1.1), ("g'", 1.1)])
def test_a_wrong_series_is_seen_in_the_coefficients(name, factor, monkeypatch):
    """From order 4 on; and what is left out beyond the order never counts."""
    case = ("heavy_top", "asymmetric", 1.0, {"action": "coadjoint"})
    form = formulated(case)
    right = coefficients(lie_taylor.chart_expressions(form.problem, form.start.shape), form.start, 6, 8)
    assert np.all(right[0] == 0.0)
    monkeypatch.setattr(lie_taylor, "term",
                        lambda wrong, k: so3.term(wrong, k)*(factor if wrong == name else 1))
    monkeypatch.setattr(lie_taylor, "NEAR_ZERO", SYMBOLIC._replace(kernels=lie_taylor.series_kernels(7)))
    wrong = coefficients(lie_taylor.chart_expressions(form.problem, form.start.shape), form.start, 6, 8)
    changed = np.abs(wrong - right).max(axis=1) > 1e-12
    assert not changed[:3].any()
    assert changed[4:].any()
