"""L3 for `taylor`: the shipped step in plain Python around its machine code, on systems of every family, against scipy;
manifold, step control, bad input, and the engine of references."""
import math

import numpy as np
import pytest
from place import TOP
from scipy.integrate import solve_ivp

import liestep
from liestep import simulate
from liestep.compile import rows
from liestep.compile.status import Status
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError
from liestep.integrators import taylor
from liestep.integrators.taylor import LARGEST_ORDER, order_of, share_of_radius
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.symbolic import NotSymbolic
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.references.engines import ENGINES
from liestep.simulation.references.reference import specify_reference
from liestep.simulation.runs.specification import complete_options, specify, start_of
from liestep.tools.inspect.describe import describe

PLAIN = Functions(rows.sqrt.py_func, rows.sin.py_func, rows.cos.py_func, below=rows.below.py_func,
                  atan2=rows.atan2.py_func)
# system, preset, end time, options
CASES = (
    ("spherical_pendulum_chain", "orders", 1.0, {}), ("spherical_pendulum_chain", "orders", 1.0, {"form": "omega"}),
    ("sphere_nbody", "paper", 1.0, {}), ("spring_pendula", "paper", 0.3, {}),
    ("free_rigid_body", "asymmetric", 2.0, {}),
    ("heavy_top", "asymmetric", 1.0, {}), ("heavy_top", "asymmetric", 1.0, {"form": "coadjoint"}),
    ("heavy_top", "asymmetric", 1.0, {"form": "quaternion"}),
    ("jointed_body", "asymmetric_top", 0.5, {}), ("penning_trap", "tilted", 1.0, {}),
    ("henon_heiles", "chaotic", 1.0, {}),
)


def formulated(case):
    system, preset, _, options = case
    start = start_of(system, preset=preset)
    return formulate(sheet(system), start.parameters, start.initial, "vector_field", {
        **complete_options(method("taylor"), sheet(system), start.parameters, options)})


def outputs(case, tolerance, fractions, **options):
    """States at these fractions of the end time, all but the last by dense output, in plain Python."""
    form, t_end = formulated(case), case[2]
    declared = method("taylor").build({"order": 10, **options}, tolerance, t_end)
    pair = plain_component(declared, PLAIN, np.float64)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    work, t, found, steps = pair.workspace(problem, y), 0.0, [], 0
    h = pair.start(problem, 0.0, y, t_end, work)
    while t < t_end:
        h = min(h, t_end - t)
        status, error = pair.attempt(problem, t, y, h, work)
        assert (status, error) == (Status.OK, 0.0)
        end = t_end if h == t_end - t else t + h
        while len(found) < len(fractions) - 1 and fractions[len(found)]*t_end < end:
            found.append(np.zeros_like(y))
            pair.interpolate(problem, t, y, h, (fractions[len(found) - 1]*t_end - t)/h, found[-1], work)
        pair.accept(problem, y, work)
        h, t, steps = pair.control.after_success(h, error, 0.0), end, steps + 1
        assert steps < 2000
    return form, problem, np.array([*found, y]), steps


def reference(case, fractions):
    """The same rows by scipy, the right-hand side as plain Python."""
    form = formulated(case)
    problem, shape = plain_component(form.problem, PLAIN, np.float64), form.start.shape

    def rhs(t, y):
        out = np.zeros(shape)
        assert problem.rhs(t, y.reshape(shape), out)
        return out.ravel()

    places = [fraction*case[2] for fraction in fractions]
    found = solve_ivp(rhs, (0.0, case[2]), form.start.ravel(), "DOP853", t_eval=places, rtol=1e-13, atol=1e-13)
    return found.y.T.reshape(len(places), *shape)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case[0], *case[3].values()]))
def test_series_follow_the_motion_between_steps_and_keep_the_manifold(case):
    fractions = (0.37, 0.81, 1.0)
    exact = reference(case, fractions)
    size = max(1.0, np.abs(exact).max())
    form, problem, states, steps = outputs(case, 1e-12, fractions)
    # scipy's dense output is worth 1e-10
    assert np.abs(states[-1] - exact[-1]).max() <= 1e-10*size
    assert np.abs(states - exact).max() <= 1e-8*size
    loose = outputs(case, 1e-6, fractions)
    assert np.abs(loose[2][-1] - exact[-1]).max() <= 1e-3*size
    assert np.abs(loose[2][-1] - exact[-1]).max() > np.abs(states[-1] - exact[-1]).max() or loose[3] >= steps
    values = np.zeros(form.width)
    for y in (*states, *loose[2]):
        problem.observe(y, values)
        for part in form.observables:
            if part.name in ("unit_length_error", "unit_length_error_largest", "orthogonality_error"):
                joint = case[0] == "jointed_body"  # its form offers no projection that acts by default
                assert np.abs(values[part.columns]).max() <= (1e-5 if joint else 1e-14), part.name


def test_attitudes_return_to_rotations_without_other_changes():
    form = formulated(("heavy_top", "asymmetric", 1.0, {}))
    problem = plain_component(form.problem, PLAIN, np.float64)
    y = form.start.copy()
    y[:3] += 1e-5*np.random.default_rng(3).normal(size=(3, 3))
    u, _, v = np.linalg.svd(y[:3])
    moved = y.copy()
    for _ in range(2):
        problem.project(moved)
    assert np.abs(moved[:3] - u @ v).max() <= 1e-15   # the nearest rotation
    assert np.array_equal(moved[3:], y[3:])
    still = formulated(("heavy_top", "asymmetric", 1.0, {"form": "attitude"}))
    same = y.copy()
    plain_component(still.problem, PLAIN, np.float64).project(same)
    assert np.array_equal(same, y)


def test_order_and_step_are_those_of_jorba_and_zou():
    assert [order_of(tolerance) for tolerance in (1e-3, 1e-6, 1e-9, 1e-12, 1e-16, 0.5)] == [5, 8, 12, 15, 15, 2]
    assert [order_of(tolerance, 4) for tolerance in (1e-3, 1e-6, 1e-9, 0.5)] == [9, 12, 15, 6]
    order = order_of(1e-8)
    # rho/e^2 exp(-0.7/(p - 1)) for a tolerance at which 1 - ln(tolerance)/2 is the whole number p
    tolerance = math.exp(-2.0*(order - 1))
    assert share_of_radius(tolerance, order) == pytest.approx(math.exp(-2.0 - 0.7/(order - 1)))


def test_the_step_comes_from_both_of_the_last_coefficients():
    series = plain_component(method("taylor").build({"order": 8}, 1e-8, 1.0), PLAIN, np.float64)
    control = series.control
    for state, before, last, radius in ((1.0, 1.0, 1.0, 1.0), (4.0, 4.0*2.0**7, 1e-9, 0.5), (1e-9, 0.0, 1e-9, 1.0),
                                        (1.0, 0.0, 3.0**8, 1.0/3.0), (1.0, 0.0, 0.0, math.inf)):
        series.choose(np.array([state, 0.0, before, last]))
        assert control.next_step[0] == pytest.approx(share_of_radius(1e-8, 8)*radius)
    assert control.after_failure(1.0, math.inf, 0.0) == 0.5
    assert control.reaches(math.inf, 1.0)


def test_a_guard_that_fails_ends_the_step():
    form = formulated(CASES[0])
    pair = plain_component(method("taylor").build({"order": 6}, 1e-8, 1.0), PLAIN, np.float64)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    work = pair.workspace(problem, y)
    y[0] = 0.0   # a direction without length: the system for the tensions is singular
    assert pair.start(problem, 0.0, y, 1.0, work) == 1.0
    assert pair.attempt(problem, 0.0, y, 0.1, work) == (Status.NOT_EVALUABLE, math.inf)


def test_after_the_last_step_there_is_no_series_to_go_on_with():
    form = formulated(CASES[0])
    pair = plain_component(method("taylor").build({"order": 6}, 1e-8, 1.0), PLAIN, np.float64)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    work = pair.workspace(problem, y)
    pair.start(problem, 0.0, y, 1.0, work)
    for share, follows in ((0.5, Status.OK), (1.0, Status.NOT_EVALUABLE)):  # of what remains
        h = pair.control.next_step[0]
        pair.control.reaches(h, h/share)
        assert pair.attempt(problem, 0.0, y, h, work)[0] == Status.OK
        pair.accept(problem, y, work)
        assert pair.attempt(problem, h, y, h, work)[0] == follows


def test_compiled_runs_are_those_of_plain_python():
    data = simulate("sphere_nbody", "taylor", preset="paper", tolerance=1e-10, t_end=1.0, samples=4,
                    options={"order": 10})
    form, _, states, steps = outputs(CASES[2], 1e-10, (1/3, 2/3, 1.0))
    assert data.attrs["steps_accepted"] == steps
    assert data.attrs["rhs_evaluations"] == 10*steps  # one for each coefficient: none after the last step
    for name, value in form.to_fields(states).items():
        assert np.abs(data[name].values[1:] - value).max() <= 1e-14*max(1.0, np.abs(value).max())


@pytest.mark.parametrize(("order", "complaint"), [
    (16, "option order is 16; above 15 the work of a step.*the largest order is 15"),
    ("20", "option order is 20"), (1, "tolerance, raised or a whole number from 2 to 15, not 1"),
    ("high", "not 'high'"), (True, "not True"), (2.5, r"not 2\.5")])
def test_orders_beyond_are_refused_with_the_reason(order, complaint):
    with pytest.raises(InputError, match=complaint):
        specify("heavy_top", "taylor", tolerance=1e-6, options={"order": order})
    assert LARGEST_ORDER == 15


@pytest.mark.parametrize(("system", "complaint", "options"), [
    ("bonded_particles", r"abs\(\): 'Node' \(_neighbours.py, line \d+", {}),
    ("spherical_pendulum_chain", r"abs\(\): 'Node' \(linalg.py, line \d+: best, p = larger\(abs",
     {"mass": "dense", "form": "velocity"}),
    ("lennard_jones_sphere", "more than 200000 operations; take another form, or dop853", {})])
def test_what_does_not_trace_is_refused_with_the_line_and_described(system, complaint, options):
    with pytest.raises(InputError, match=rf"^taylor.*: this form has no Taylor series, .*{complaint}"):
        specify(system, "taylor", tolerance=1e-6, t_end=0.1, samples=2, options=options)
    if not options:
        assert "Taylor series: none: this form has no Taylor series" in " ".join(describe(system).split())


def test_what_traces_is_described():
    text = " ".join(describe("spherical_pendulum_chain").split())
    assert "Taylor series: straight-line code," in text
    assert "form velocity" in text


def defect(run):
    """Largest entry of |R^T R - 1|."""
    axes = run["attitude"].values.reshape(-1, 3, 3)
    return np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(3)).max()


def test_rigid_bodies_return_to_the_manifold():
    found = [simulate("bonded_particles", "rk4", preset="cluster", steps=200, t_end=0.5, samples=3,
                      options={"form": form}) for form in ("orthonormal", "embedded")]
    assert defect(found[0]) <= 1e-14 < 1e-12 < defect(found[1])
    assert np.abs(found[0]["attitude"] - found[1]["attitude"]).max() <= 1e-6
    with pytest.raises(InputError, match="acts after each step, and this method does not let it"):
        specify("bonded_particles", "ode45", tolerance=1e-6, options={"form": "orthonormal"})


@pytest.mark.parametrize(("most", "maker"), [(taylor.MOST_NODES, "jet_code"), (0, "tape_of")])
def test_series_of_systems_in_turn_are_made_once(monkeypatch, most, maker):
    made, make = [], getattr(taylor, maker)
    for name, value in (("_traced", {}), ("_jets", {}), ("MOST_NODES", most),
                        (maker, lambda *args, **options: made.append(args) or make(*args, **options))):
        monkeypatch.setattr(taylor, name, value)
    cases = CASES[3:9]
    jets = [taylor.jet_of(form.problem, form.start, 3) for form in map(formulated, cases*2)]
    assert len(made) == len(cases) > 4
    if maker == "tape_of":
        assert not np.shares_memory(jets[0].tape.c, jets[len(cases)].tape.c)


def test_what_is_kept_is_bounded():
    known = {}
    for number in range(3):
        taylor.keep(known, (number,), taylor.MOST_IN_MEMORY//2)
    assert list(known) == [(1,), (2,)]
    taylor.keep(known, ("large",), 2*taylor.MOST_IN_MEMORY)
    assert list(known) == [("large",)]
    for number in range(2*taylor.MOST_TRACED):
        taylor.keep(known, (number,), 1)
    assert len(known) == taylor.MOST_TRACED


def test_preferred_options_give_way():
    facts = sheet("spherical_pendulum_chain")
    parameters = start_of("spherical_pendulum_chain", preset="orders").parameters
    found = complete_options(method("taylor"), facts, parameters, {})
    assert (found["form"], found["projection"], found["mass"]) == ("velocity", "state", "banded")
    own = complete_options(method("taylor"), facts, parameters, {"projection": "none", "form": "omega"})
    assert (own["form"], own["projection"]) == ("omega", "none")
    assert complete_options(method("rk4"), facts, parameters, {})["form"] == "omega"  # other methods as before


def test_forces_of_time_are_taken_at_the_time_of_the_step():
    liestep.load_plugin(TOP/"tests"/"plugins"/"drag_and_clock.py")
    run = simulate("drag_and_clock", "taylor", tolerance=1e-8, t_end=4.0, samples=9)
    exact = liestep.reference("drag_and_clock", t_end=4.0, samples=9)
    for field in ("q", "omega"):
        assert np.abs(run[field].values - exact[field].values).max() <= 1e-9


def test_engine_of_references_agrees_with_heyoka():
    assert specify_reference("heavy_top", preset="asymmetric", engines=["taylor_core", "taylor"], samples=3)
    run = specify("sphere_nbody", "dop853", preset="paper", tolerance=1e-6, t_end=1.0, samples=4)
    times = np.linspace(0.0, 1.0, 4)
    gap = np.abs(ENGINES["taylor_core"](run, times) - ENGINES["taylor"](run, times))
    assert gap.max() <= 1e-12
    with pytest.raises(NotSymbolic, match=r"abs\(\): 'Node'"):
        ENGINES["taylor_core"](specify("bonded_particles", "dop853", tolerance=1e-6, t_end=0.1, samples=2), times)
