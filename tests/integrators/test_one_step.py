"""L3: what one step must do - its local order, its symmetry, equal ways to the same map, and
what it conserves exactly."""
from functools import cache

import numpy as np
import pytest
from checks import BODIES, EPS, FIXED, NAMES, PAIRS, PENDULUM, VARIATIONAL, Flow, exact, generic_state
from scipy.spatial.transform import Rotation

from liestep.integrators.one_step import Composition
from liestep.integrators.rkmk import MuntheKaas
from liestep.integrators.runge_kutta import ExplicitRungeKutta
from liestep.integrators.tableaux import TABLEAUX
from liestep.simulation.catalogue import method, sheet

PROBLEMS = pytest.mark.parametrize("problem", [BODIES, PENDULUM], ids=NAMES.get)
ROTATION = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
RUNS = pytest.mark.parametrize(("problem", "name"), PAIRS, ids=lambda item: NAMES.get(item, item))
IMPLICIT = [{"solver": solver} for solver in ("multipliers", "newton", "fixed_point")]
WAYS = {BODIES: [{"solver": "explicit"}, *IMPLICIT], PENDULUM: IMPLICIT}
state = cache(generic_state)


def length_and_tangency(y):
    """Largest |1 - q.q| and |q.omega|."""
    n = len(y)//2
    q, w = y[:n], y[n:]
    return np.abs(1.0 - np.sum(q*q, axis=1)).max(), np.abs(np.sum(q*w, axis=1)).max()


def local_errors(flow, problem, steps):
    """Defects of single steps that are centred on one state, pulled back to it: even in h for symmetric methods."""
    y = state(problem)
    return np.array([np.abs(exact(problem, flow(exact(problem, y, -h/2, 16), h), -h/2, 16) - y).max() for h in steps])


@pytest.mark.parametrize(("problem", "name"), [pair for pair in PAIRS if pair[1] != "rkmk tableau=dormand_prince5"],
                         ids=lambda item: NAMES.get(item, item))
def test_local_error_is_one_order_above_the_global_one(problem, name):
    """Not Dormand and Prince's: its error of order 6 is so small that the next one hides it."""
    errors = local_errors(Flow(problem, name), problem, 0.2*2.0**(-0.5*np.arange(16)))
    slopes = [np.log2(a/b) for a, b in zip(errors, errors[2:], strict=False) if b > 3e-13]
    assert len(slopes) >= 3
    assert slopes[-1] == pytest.approx(method(name).order + 1, abs=0.1)


@PROBLEMS
@pytest.mark.parametrize("family", [ExplicitRungeKutta, MuntheKaas])
@pytest.mark.parametrize("tableau", [TABLEAUX[name] for name in ("euler", "midpoint", "heun", "kutta3", "rk4",
                                                                 "dop853")], ids=lambda tableau: tableau.name)
def test_any_tableau_keeps_its_order_in_both_families(problem, family, tableau):
    """Not Dormand and Prince's, see above."""
    flow = Flow(problem, "rk4" if family is ExplicitRungeKutta else "rkmk")
    flow.component = family(*tableau.arrays())
    errors = local_errors(flow, problem, 0.2*2.0**(-0.5*np.arange(16)))
    slopes = [np.log2(a/b) for a, b in zip(errors, errors[2:], strict=False) if b > 3e-13]
    assert slopes[-1] == pytest.approx(tableau.order + 1, abs=0.1 if tableau.order < 5 else 0.3)


@RUNS
def test_steps_back_return_exactly_if_the_method_is_symmetric_and_only_then(problem, name):
    flow, y = Flow(problem, name), state(problem)
    defect = np.abs(flow(flow(y, 0.1, 5), -0.1, 5) - y).max()
    if method(name).symmetric:
        assert defect <= 100*EPS
    else:
        assert defect >= 1e-6


@PROBLEMS
def test_adjoint_of_a_composition_has_the_weights_in_reverse(problem):
    def flow(*weights):
        found = Flow(problem, "vi_sphere")
        found.component = Composition(found.component.inner, np.array(weights))
        return found

    y = state(problem)
    forward = flow(0.3, 0.6, 0.1)(y, 0.1)
    assert np.abs(flow(0.1, 0.6, 0.3)(forward, -0.1) - y).max() <= 20*EPS
    assert np.abs(flow(0.3, 0.6, 0.1)(forward, -0.1) - y).max() >= 1e-6


@pytest.mark.parametrize("name", FIXED)
def test_rotated_bodies_move_on_rotated_paths(name):
    flow, y = Flow(BODIES, name), state(BODIES)
    assert np.abs(flow(y @ ROTATION.T, 0.1, 10) - flow(y, 0.1, 10) @ ROTATION.T).max() <= 100*EPS


@pytest.mark.parametrize("name", [name for problem, name in PAIRS if problem == PENDULUM])
def test_pendulum_in_rotated_gravity_moves_on_rotated_paths(name):
    turned = Flow(PENDULUM, name, parameters={"gravity": ROTATION @ [0.0, 0.0, 1.0]})
    upright, y = Flow(PENDULUM, name), state(PENDULUM)
    assert np.abs(turned(y @ ROTATION.T, 0.1, 10) - upright(y, 0.1, 10) @ ROTATION.T).max() <= 100*EPS


@PROBLEMS
@pytest.mark.parametrize("form", ["increment", "paper"])
def test_all_solvers_and_both_forms_are_the_same_map(problem, form):
    first = Flow(problem, "vi_sphere", options=WAYS[problem][0])(state(problem), 0.05, 20)
    for options in WAYS[problem]:
        other = Flow(problem, "vi_sphere", options=options | {"form": form})(state(problem), 0.05, 20)
        assert np.abs(other - first).max() <= 500*EPS, options


@RUNS
def test_variational_steps_and_only_they_keep_the_momentum_of_a_symmetry(problem, name):
    flow, y = Flow(problem, name), state(problem)
    steps = 100 if name in VARIATIONAL else 40
    change = np.abs(flow.momentum(flow(y, 2.0/steps, steps)) - flow.momentum(y))/flow.momentum_scale
    kept = np.array(sheet(problem[0]).conserved_momentum(flow.spec.parameters))
    assert kept[2]
    assert np.all(change[~kept] > 0.1)
    # Gauss collocation keeps quadratic invariants: the momentum of bodies whose masses are not coupled
    if name in VARIATIONAL or (name == "gauss" and problem == BODIES):
        assert np.all(change[kept] <= 10*steps*EPS if name == "gauss" else change[kept] <= steps*EPS)
    else:
        assert np.all(change[kept] >= 1e-9)


@PROBLEMS
@pytest.mark.parametrize("options", IMPLICIT, ids=lambda options: options["solver"])
def test_every_solver_keeps_the_momentum(problem, options):
    flow, y, steps = Flow(problem, "vi_sphere", options=options), state(problem), 100
    change = np.abs(flow.momentum(flow(y, 0.02, steps)) - flow.momentum(y))/flow.momentum_scale
    assert change[2] <= steps*EPS
    if problem == BODIES:
        assert change.max() <= steps*EPS


def symplectic_form(problem, flow, y, directions, delta=1e-4):
    """sum_ij M_ij (dq_i ^ dv_j) on two tangent vectors moved by the flow: fourth-order differences
    along curves on the manifold."""
    n = len(y)//2
    mass = np.asarray(sheet(problem[0]).mass(Flow(problem, "vi_sphere").spec.parameters))
    mass = np.diag(mass) if mass.ndim == 1 else mass

    def moved(a, s):
        q, w = y[:n] + s*a[:n], y[n:] + s*a[n:]
        q /= np.linalg.norm(q, axis=1)[:, None]
        z = flow(np.concatenate([q, w - np.sum(q*w, axis=1)[:, None]*q]))
        return np.concatenate([z[:n], mass @ np.cross(z[n:], z[:n])])

    def derivative(a):
        return (8.0*(moved(a, delta) - moved(a, -delta)) - (moved(a, 2*delta) - moved(a, -2*delta)))/(12.0*delta)

    first, second = map(derivative, directions)
    return np.sum(first[:n]*second[n:]) - np.sum(second[:n]*first[n:])


@RUNS
def test_variational_steps_and_only_they_keep_the_symplectic_form(problem, name):
    flow, y = Flow(problem, name), state(problem)
    directions = np.random.Generator(np.random.PCG64(7)).standard_normal((2, *y.shape))
    before = symplectic_form(problem, lambda z: z, y, directions)
    steps = 5 if name == "rkmk tableau=dormand_prince5" else 10  # its error would be too small to tell
    after = symplectic_form(problem, lambda z: flow(z, 1.0/steps, steps), y, directions)
    if method(name).symmetric and name != "gauss":  # whose coordinates q, omega are not canonical
        assert after == pytest.approx(before, rel=1e-8)
    else:
        assert abs(after/before - 1.0) >= 1e-5


@RUNS
def test_methods_of_the_manifold_stay_on_it_and_runge_kutta_methods_leave_it(problem, name):
    length, tangency = length_and_tangency(Flow(problem, name)(state(problem), 0.02, 100))
    if method(name).formulation == "vector_field" and name != "gauss":  # to which |q|^2 and q.omega are quadratic
        assert length >= 1e-8
        assert tangency >= 1e-8
    else:
        assert max(length, tangency) <= 100*EPS


@pytest.mark.parametrize("form", ["omega", "velocity"])
def test_projections_of_runge_kutta_methods(form):
    """Position keeps |q|, state also tangency; the order stays."""
    found = {}
    for projection in ("none", "position", "state"):
        flow = Flow(BODIES, "rk4", options={"form": form, "projection": projection})
        y = state(BODIES).copy()
        if form == "velocity":
            y[3:] = np.cross(y[3:], y[:3])
        found[projection] = length_and_tangency(flow(y, 0.02, 100))
        ends = [flow(y, 0.2/n, n) for n in (4, 8, 16, 32)]
        slopes = [np.log2(np.abs(a - b).max()/np.abs(b - c).max())
                  for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)]
        assert slopes[-1] == pytest.approx(4.0, abs=0.2), projection
    assert found["none"][0] > 1e-8
    assert found["position"][0] <= 2*EPS
    assert found["position"][1] > 1e-8
    assert max(found["state"]) <= 2*EPS
