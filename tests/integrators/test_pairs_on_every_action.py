"""L3 for `rkmk853` and `rkmk_pair` on every action of a group: the shipped step as plain Python against scipy's DOP853
on the vector field, at outputs between steps too; manifold, error norms, and bad input."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from liestep import simulate
from liestep.compile import rows
from liestep.compile.status import Status
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError
from liestep.integrators.sizes import RowGroups, StateNorm
from liestep.integrators.tableaux import PAIRS, pair_of
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet, system_ids
from liestep.simulation.runs.specification import start_of

PLAIN = Functions(rows.sqrt.py_func, rows.sin.py_func, rows.cos.py_func, below=rows.below.py_func,
                  atan2=rows.atan2.py_func)
SYSTEMS = system_ids()  # before other tests load plugins
# system, preset, end time, options of the form: every action, and both ways in which states hold attitudes
CASES = (
    ("bonded_particles", "cluster", 1e-3, {}),
    ("bonded_ring", "rescaled", 0.05, {}),
    ("dipole_array", "paper", 0.05, {}), ("elastic_rod", "no_gravity", 0.002, {}), ("four_bar", "tilted", 0.05, {}),
    ("four_bar", "tilted", 0.05, {"action": "so3_r3"}),
    ("free_rigid_body", "asymmetric", 1.0, {}), ("free_rigid_body", "asymmetric", 1.0, {"action": "direct"}),
    ("free_rigid_body", "asymmetric", 1.0, {"action": "coadjoint"}), ("heavy_top", "asymmetric", 0.3, {}),
    ("heavy_top", "asymmetric", 0.3, {"action": "direct"}), ("heavy_top", "asymmetric", 0.3, {"action": "coadjoint"}),
    ("heavy_top", "asymmetric", 0.3, {"action": "se3", "attitude": "rotation_vector", "twist": "spatial"}),
    ("jointed_body", "asymmetric_top", 0.3, {"chart": "exp", "attitude": "matrix"}),
    ("lennard_jones_sphere", "level1", 1e-3, {}),
    ("sphere_nbody", "paper", 0.5, {}), ("spherical_pendulum_chain", "orders", 0.3, {}),
    ("sphere_vortices", "four", 0.5, {}), ("spring_pendula", "paper", 0.1, {}),
)


def formulated(case, formulation, **options):
    system, preset, _, own = case
    start = start_of(system, preset=preset)
    return formulate(sheet(system), start.parameters, start.initial, formulation, {**own, **options})


def outputs(case, name, tolerance, fractions, **options):
    """States at these fractions of the end time, all but the last by dense output, in plain Python."""
    form, t_end = formulated(case, "lie_action"), case[2]
    declared = method(name)
    chosen = {key: option.check(key, options.get(key, option.default)) for key, option in declared.options.items()}
    pair = plain_component(declared.made(form, chosen, tolerance, t_end), PLAIN, np.float64)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    work, t, found, steps, rejections = pair.workspace(problem, y), 0.0, [], 0, 0.0
    h = pair.start(problem, 0.0, y, t_end, work)
    while t < t_end:
        h = min(h, t_end - t)
        status, error = pair.attempt(problem, t, y, h, work)
        if status == Status.OK and pair.control.accepts(error):
            end = t_end if h == t_end - t else t + h
            while len(found) < len(fractions) - 1 and fractions[len(found)]*t_end < end:
                found.append(np.zeros_like(y))
                pair.interpolate(problem, t, y, h, (fractions[len(found) - 1]*t_end - t)/h, found[-1], work)
            pair.accept(problem, y, work)
            h, t, steps, rejections = pair.control.after_success(h, error, rejections), end, steps + 1, 0.0
        else:
            h, rejections = pair.control.after_failure(h, error, rejections), rejections + 1.0
        assert steps + rejections < 400
    return form, problem, np.array([*found, y]), steps


def reference(case, fractions):
    """The same states by scipy on the vector field with default options."""
    form = formulated((*case[:3], {}), "vector_field")
    problem, shape = plain_component(form.problem, PLAIN, np.float64), form.start.shape

    def rhs(t, y):
        out = np.zeros(shape)
        assert problem.rhs(t, y.reshape(shape), out)
        return out.ravel()

    states, t, y = [], 0.0, form.start.ravel()
    for fraction in fractions:
        y = solve_ivp(rhs, (t, fraction*case[2]), y, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        t = fraction*case[2]
        states.append(y.reshape(shape))
    return form.to_fields(np.array(states))


def gap(form, states, fields):
    """Largest difference from the reference, each field relative to its size."""
    own = form.to_fields(states)
    return max(np.abs(own[name] - value).max()/max(1.0, np.abs(value).max())
               for name, value in fields.items() if name in own and not name.startswith("multiplier"))


def off_the_manifold(form, problem, states):
    worst = 0.0
    for y in states:
        values = np.zeros(form.width)
        problem.observe(y, values)
        worst = max([worst, *(np.abs(values[part.columns]).max() for part in form.observables
                              if part.kind == "residual" and part.units == "1")])
    return worst


def test_cases_are_all_systems_and_actions():
    found = {(system, action) for system in SYSTEMS if "lie_action" in sheet(system).forms
             for option in [sheet(system).forms["lie_action"].options.get("action")]
             for action in (option.choices if option else [""])}
    tried = {(case[0], case[3].get("action", option.default if option else "")) for case in CASES
             for option in [sheet(case[0]).forms["lie_action"].options.get("action")]}
    # the same two actions of poses on other mechanisms
    assert found - tried == {("jointed_body", "so3_r3"), ("heavy_top", "so3_r3")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case[0], *map(str, case[3].values())]))
def test_order_8_and_pairs_follow_the_motion_between_steps_and_keep_the_manifold(case):
    fractions = (0.37, 0.81, 1.0)
    fields = reference(case, fractions)
    for name, tolerance, allowed in (("rkmk853", 1e-10, 2e-8), ("rkmk_pair", 1e-7, 2e-5)):
        form, problem, states, steps = outputs(case, name, tolerance, fractions)
        assert gap(form, states, fields) <= allowed, name
        assert off_the_manifold(form, problem, states) <= 2e-14*max(10, steps), name


@pytest.mark.parametrize("name", PAIRS)
def test_every_pair_needs_fewer_steps_at_a_looser_tolerance(name):
    case = next(case for case in CASES if case[0] == "spherical_pendulum_chain")
    counts = []
    for tolerance in (1e-3, 1e-5):
        form, _, states, steps = outputs(case, "rkmk_pair", tolerance, (1.0,), tableau=name)
        assert gap(form, states, reference(case, (1.0,))) <= 200*tolerance
        counts.append(steps)
    order = PAIRS[name].embedded_order
    # as tolerance^(-1/(q + 1)), within 40 %, as the first steps are chosen otherwise
    assert 0.6*100.0**(1.0/(order + 1)) <= (counts[1] + 2)/(counts[0] + 1)
    assert counts[1]/counts[0] <= 1.4*100.0**(1.0/(order + 1))


@pytest.mark.parametrize("name", ["rkmk853", "rkmk_pair"])
def test_the_norm_of_the_state_knows_no_units(name):
    """In a unit of time 1000 times shorter the rates are 1000 times smaller: the norm of the algebra sees another
    motion, that of rows of the state takes the same steps."""
    system, preset = "spherical_pendulum_chain", "orders"
    start = start_of(system, preset=preset)
    found = {}
    for norm in ("state", "algebra"):
        for unit in (1.0, 1024.0):
            scaled = dict(start.parameters)
            scaled["gravity"] = np.asarray(scaled["gravity"])/unit**2
            initial = dict(start.initial, omega=np.asarray(start.initial["omega"])/unit)
            form = formulate(sheet(system), sheet(system).check(scaled), initial, "lie_action", {})
            declared = method(name)
            chosen = {key: option.default for key, option in declared.options.items()}
            pair = plain_component(declared.made(form, chosen | {"norm": norm}, 1e-6, unit), PLAIN, np.float64)
            problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
            work = pair.workspace(problem, y)
            pair.start(problem, 0.0, y, unit, work)
            found[norm, unit] = pair.attempt(problem, 0.0, y, 0.25*unit, work)[1]
    assert found["state", 1.0] == pytest.approx(found["state", 1024.0], rel=1e-6)
    assert abs(found["algebra", 1.0]/found["algebra", 1024.0] - 1.0) > 0.1


def test_error_of_a_row_is_relative_to_the_size_of_its_field():
    class Moves:
        def act(self, xi, y, out):
            out[:] = y + xi

    start, y = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0]]), np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.2]])
    sigma = np.array([[0.04, 0.0, 0.0], [0.0, 0.002, 0.0]])
    moved = np.zeros((2, 3))
    norm = plain_component(StateNorm(RowGroups(np.array([0, 1])), np.zeros((4, 2))), PLAIN, np.float64)
    assert norm.size(Moves(), sigma, start, y, moved, 0.1) == pytest.approx(np.sqrt((0.01**2 + 0.01**2)/2))
    norm.keep(y)  # sizes so far, of later and shorter rows too
    assert norm.size(Moves(), sigma, y, y, moved, 0.1) == pytest.approx(np.sqrt((0.01**2 + 0.01**2)/2))


def test_compiled_runs_are_those_of_plain_python():
    """One pair is compiled; its dense output and steps are those of the plain one."""
    case = ("heavy_top", "asymmetric", 0.3, {})
    data = simulate("heavy_top", "rkmk853", preset="asymmetric", tolerance=1e-10, t_end=0.3, samples=4)
    form, _, states, steps = outputs(case, "rkmk853", 1e-10, (1/3, 2/3, 1.0))
    assert data.attrs["steps_accepted"] == steps
    fields = form.to_fields(states)
    for name in ("attitude", "body_momentum"):
        assert np.abs(data[name].values[1:] - fields[name]).max() <= 1e-14
    # 12 evaluations an attempt, 3 for each step with an output, f(y) and one more at the start
    attempts = data.attrs["steps_accepted"] + data.attrs["steps_rejected"]
    assert 2 <= data.attrs["rhs_evaluations"] - 12*attempts - 2 <= 3*min(2, steps)


def test_a_rejected_step_leaves_the_state_and_the_limit_of_the_chart_rejects():
    case = ("free_rigid_body", "asymmetric", 1.0, {})
    form = formulated(case, "lie_action")
    declared = method("rkmk853")
    chosen = {key: option.default for key, option in declared.options.items()}
    pair = plain_component(declared.made(form, chosen, 1e-9, 1.0), PLAIN, np.float64)
    problem, y = plain_component(form.problem, PLAIN, np.float64), form.start.copy()
    work = pair.workspace(problem, y)
    pair.start(problem, 0.0, y, 1.0, work)
    status, error = pair.attempt(problem, 0.0, y, 100.0, work)
    assert status == Status.CHART_LIMIT or not pair.control.accepts(error)
    assert np.array_equal(y, form.start)
    after = pair.attempt(problem, 0.0, y, 0.125, work)
    fresh = pair.workspace(problem, y)
    pair.start(problem, 0.0, y, 1.0, fresh)
    assert after == pair.attempt(problem, 0.0, y, 0.125, fresh)


@pytest.mark.parametrize("name", ["rkmk853", "rkmk_pair"])
@pytest.mark.parametrize(("share", "ended"), [(0.999, Status.OK), (1.001, Status.CHART_LIMIT)])
def test_attempts_turn_bodies_by_less_than_2_pi(name, share, ended):
    """A body turns about an axis of inertia at 0.5 rad/s, and the last stage lies at the end of the step."""
    facts = sheet("free_rigid_body")
    given = facts.presets["asymmetric"]
    parameters = facts.check(given.parameters)
    start = {**given.initial(parameters), "angular_momentum": np.array([0.0, 0.0, 0.5*parameters["inertia"][2]])}
    form = formulate(facts, parameters, facts.check_initial(parameters, start), "lie_action", {})
    declared = method(name)
    chosen = {key: option.default for key, option in declared.options.items()}
    pair = plain_component(declared.made(form, chosen, 1e-9, 1.0), PLAIN, np.float64)
    problem = plain_component(form.problem, PLAIN, np.float64)
    work = pair.workspace(problem, form.start)
    pair.start(problem, 0.0, form.start, 1.0, work)
    assert pair.attempt(problem, 0.0, form.start, share*2.0*np.pi/0.5, work)[0] == ended


GOOD = {"name": "heun", "order": 2, "a": [[], [1]], "b": ["1/2", "1/2"], "embedded": [1, 0], "embedded_order": 1}


def test_a_declared_pair_is_that_of_its_numbers():
    option = method("rkmk_pair").options["tableau"]
    canonical = option.check("tableau", GOOD)
    assert option.check("tableau", {**GOOD, "b": [0.5, "2/4"]}) == canonical
    assert option.check("tableau", canonical) == canonical
    known, own = PAIRS["heun_euler21"], pair_of({"tableau": canonical})
    assert (own.a, own.b, own.embedded, own.dense) == (known.a, known.b, known.embedded, known.dense)
    pair = method("rkmk_pair").build({"tableau": canonical, "dexpinv": "exact", "control": "paper",
                                      "exponent": "default", "norm": "state", "safety": 0.8}, 1e-3, 1.0)
    assert pair.control.exponent == 0.5


@pytest.mark.parametrize(("change", "complaint"), [
    ({"embedded": [1]}, "embedded has 1 weights and b has 2"),
    ({"embedded_order": 2}, "embedded_order must be a whole number from 1 to 1, below that of the method, not 2"),
    ({"embedded": ["1/2", "1/2"]}, "the embedded weights of heun claim order 1 and have order 2 or more"),
    ({"embedded": [0, 0]}, "embedded weights do not add up to 1"),
    ({"order": 3}, "claims order 3 and has order 2"),
    ({"embeded": [1, 0]}, "key of option tableau"),
    ({"embedded": "half"}, "embedded must be a list"),
])
def test_wrong_pairs_are_one_sentence(change, complaint):
    with pytest.raises(InputError, match=complaint):
        method("rkmk_pair").options["tableau"].check("tableau", {**GOOD, **change})


@pytest.mark.parametrize(("option", "value"), [("tableau", "dormand_prince45"), ("norm", "rows")])
def test_wrong_options_are_one_sentence(option, value):
    with pytest.raises(InputError, match=option if option != "tableau" else "dormand_prince54"):
        method("rkmk_pair").options[option].check(option, value)
