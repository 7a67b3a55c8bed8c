"""Derivatives of trajectories: against 60 digits, analytic growth, and the plain runs; Lyapunov
exponents in runs, tables and the command."""
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import liestep
from liestep.api.command_line import main
from liestep.compile import rows
from liestep.compile.cache import loop_for
from liestep.compile.dispatch import compiler
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import integrator_calls, method, sheet, system_ids
from liestep.simulation.runs.execution import build, new_recorder
from liestep.simulation.runs.specification import applicable, specify, start_of
from liestep.simulation.tangents.directions import basis, span
from liestep.simulation.tangents.exponents import SIZE, orthonormalise, tangents
from liestep.simulation.tangents.numbers import in_duals
from liestep.simulation.tangents.rates import exponents, pair_sums
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.metrics import metrics_rows
from liestep.study.tables.results import read_csv
from liestep.study.tables.tables import analyse
from liestep.tools.certify.number import numbers
from liestep.tools.certify.steps import Case, step_of

DIGITS = 60
JOINTED = ("four_bar", "jointed_body")
CHAIN, TOP = ("spherical_pendulum_chain", "orders"), ("heavy_top", "asymmetric")
PAIRS = ((CHAIN, "vi_sphere", {}), (CHAIN, "vi_sphere", {"solver": "fixed_point"}),
         (CHAIN, "vi_sphere weights=kl8", {}), (CHAIN, "rkmk", {}), (TOP, "slgi", {}))


def spread(problem, integrator, steps, h=0.02, preset=None, options=None):
    """Tangents of all directions of a start, and their specification."""
    spec = specify(problem, integrator, preset=preset, steps=steps, t_end=steps*h, options=options)
    fields = formulate_standard(sheet(problem), spec.parameters, spec.initial).fields
    return tangents(spec, spec.initial, basis(fields, spec.initial), spec.t_end), spec


def plain_rows(spec, steps):
    """Rows of the state after some steps of the ordinary loop."""
    formulated, component = build(spec)
    y, work = formulated.start.copy(), component.workspace(formulated.problem, formulated.start)
    recorder = new_recorder(y.shape, np.zeros(formulated.width), steps, 0, steps + 1)
    status, _ = loop_for(advance, component, formulated.problem, recorder, work)(
        component, formulated.problem, recorder, y, spec.step, 0, steps, work, 0.0, 0)
    assert status == Status.OK
    return y


@pytest.mark.parametrize(("problem", "integrator", "options"), PAIRS, ids=lambda part: str(part))
def test_derivative_of_a_step_is_right_in_all_digits(problem, integrator, options):
    moved, spec = spread(problem[0], integrator, 1, preset=problem[1], options=options)
    starts = [y.copy() for y in moved.states]
    moved.advance(spec.step, 0, 1)
    kind = numbers(DIGITS)
    step, small = step_of(Case("", *problem), integrator, options, DIGITS), kind.of(Fraction(1, 10**20))

    def exact(values):
        out = np.empty(values.shape, dtype=object)
        out.flat = [kind.of(float(x)) for x in values.flat]
        return out

    for start, end in zip(starts, moved.states, strict=True):
        y, v = exact(start.real), exact(start.imag/SIZE)
        true = (step(kind.of(spec.step), y + small*v) - step(kind.of(spec.step), y - small*v))/(2*small)
        assert np.abs(true.astype(float) - end.imag/SIZE).max() <= 1e-14


def fixed_step(problem):
    """An integrator with fixed steps for a system: rk4 where it can run."""
    able = [name for name in ("rk4", *integrator_calls()) if applicable(problem, name) and not method(name).adaptive]
    return able[0]


@pytest.mark.slow
@pytest.mark.parametrize("problem", [name for name in system_ids() if name not in JOINTED])
def test_real_part_is_the_plain_run_to_the_last_bit(problem):
    preset, integrator = "level1" if problem == "lennard_jones_sphere" else None, fixed_step(problem)
    spec = specify(problem, integrator, preset=preset, steps=20,
                   t_end=20*min(0.001, sheet(problem).presets[preset or sheet(problem).default].t_end/1000))
    directions = basis(formulate_standard(sheet(problem), spec.parameters, spec.initial).fields, spec.initial)[:2]
    moved = tangents(spec, spec.initial, directions, spec.t_end)
    moved.advance(spec.step, 0, 20)
    true = plain_rows(spec, 20)
    assert all(np.array_equal(y.real, true) for y in moved.states)
    assert not np.array_equal(true, moved.formulated.start)
    assert np.isfinite(moved.derivatives).all()
    assert (np.abs(moved.derivatives).max(axis=1) > 0.0).all()


@pytest.mark.parametrize(("problem", "integrator", "options"), PAIRS, ids=lambda part: str(part))
def test_a_long_run_keeps_the_bits_of_the_plain_one(problem, integrator, options):
    moved, spec = spread(problem[0], integrator, 500, preset=problem[1], options=options)
    for first in range(0, 500, 100):
        moved.advance(spec.step, first, first + 100)
        orthonormalise(moved)
    true = plain_rows(spec, 500)
    assert all(np.array_equal(y.real, true) for y in moved.states)


def test_growth_from_an_unstable_equilibrium_is_that_of_the_linear_motion():
    """A pendulum that stands upright: h^2 g/l + 2 = 2 cosh(lambda h) for the variational step, two times over."""
    h, g = 0.05, 9.81
    upright = {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, g]}
    data = liestep.simulate("spherical_pendulum_chain", "vi_sphere", parameters=upright, step=h, t_end=100.0,
                            initial={"q": [[0.0, 0.0, -1.0]], "omega": [[0.0, 0.0, 0.0]]}, samples=2, exponents=4)
    found = np.array([float(x) for x in data.attrs["lyapunov_exponents"].split()])
    rate = np.arccosh(1.0 + 0.5*h*h*g)/h
    transient = 0.1  # of a random start: its logarithm over 100 s
    assert np.abs(np.sort(found) - rate*np.array([-1.0, -1.0, 1.0, 1.0])).max() < transient*rate
    late = data["growth"].values[50:].sum(axis=0)/50.0
    assert np.abs(np.sort(late) - rate*np.array([-1.0, -1.0, 1.0, 1.0])).max() < 1e-12*rate
    assert data.attrs["lyapunov_pair_sum"] == pytest.approx(float(np.abs(pair_sums(found)).max()))


def test_a_body_that_spins_about_its_middle_axis():
    """Euler's equations: the growth is Omega sqrt((I2 - I1)(I3 - I2)/(I1 I3))."""
    inertia, spin = np.array([1.0, 2.0, 3.0]), 1.5
    data = liestep.simulate(
        "free_rigid_body", "rkmk tableau=dormand_prince5", parameters={"inertia": inertia}, step=0.01, t_end=200.0,
        samples=2, exponents=1, initial={"attitude": np.eye(3), "angular_momentum": [0.0, spin*inertia[1], 0.0]})
    rate = spin*np.sqrt((inertia[1] - inertia[0])*(inertia[2] - inertia[1])/(inertia[0]*inertia[2]))
    assert data["growth"].values[50:, 0].sum()/100.0 == pytest.approx(rate, rel=1e-8)


def test_exponents_of_a_hamiltonian_motion_come_in_pairs():
    data = liestep.simulate("spherical_pendulum_chain", "vi_sphere", preset="paper_scaled", step=0.05, t_end=2000.0,
                            samples=2, exponents=8)
    found = np.array([float(x) for x in data.attrs["lyapunov_exponents"].split()])
    assert data.attrs["lyapunov_uncertainty"] < 0.015
    assert abs(data.attrs["lyapunov"] - 0.0811) < 4.0*data.attrs["lyapunov_uncertainty"]  # that over 1e5 s
    assert data.attrs["lyapunov_pair_sum"] < 3e-3
    assert np.count_nonzero(np.abs(found) < 0.01) == 4  # two for each of energy and momentum


def test_directions_are_tangent_and_as_many_as_the_manifold_has():
    """A start that is moved a little stays on the manifold to second order (`span` tries it)."""
    dimensions = {}
    for problem in system_ids():
        start = start_of(problem)
        if problem in JOINTED:
            with pytest.raises(InputError, match="are bound by constraints, whose tangents are not known here"):
                span(sheet(problem), start.parameters, start.initial)
        elif sum(values.size for values in start.initial.values()) <= 60:
            found = span(sheet(problem), start.parameters, start.initial)
            vectors = np.stack([np.concatenate([one[name].ravel() for name in start.initial]) for one in found])
            assert np.linalg.matrix_rank(vectors) == len(found)
            dimensions[problem] = len(found)
    assert dimensions["spherical_pendulum_chain"] == 8
    assert dimensions["heavy_top"] == 6


def test_work_of_forces_has_no_exponent():
    """A damped oscillator: -c/2 twice, by its characteristic equation; their sum is the trace of its equations. The
    work, which is in the state too, neither grows nor falls."""
    damped = liestep.system("own", lagrangian=lambda q, v: 0.5*v[0]**2 - 0.5*q[0]**2, force=lambda v: -0.3*v,
                            start={"q": [0.1], "v": [0.0]})
    data = damped.simulate("rk4", step=0.05, t_end=200.0, samples=2, exponents=2)
    found = [float(x) for x in data.attrs["lyapunov_exponents"].split()]
    assert abs(sum(found) + 0.3) < 1e-7
    assert np.abs(np.array(found) + 0.15).max() < 0.01  # of a start in a random direction
    decay = liestep.system("own", rhs=lambda y: -0.7*y, start={"y": [1.0]})
    alone = decay.simulate("rk4", step=0.05, t_end=10.0, samples=2, exponents=1).attrs
    assert abs(alone["lyapunov"] + 0.7) < 1e-7
    assert alone["lyapunov_pair_sum"] == -2.0*alone["lyapunov"]


def test_uncertainty_is_that_of_the_mean_of_long_parts():
    growth = np.array([[1.0], [3.0]]*10)
    (one,) = exponents(growth, 40.0)
    assert one.rate == pytest.approx(1.0)
    assert one.uncertainty == pytest.approx(np.std([0.5, 1.5]*10, ddof=1)/np.sqrt(20))
    assert np.array_equal(pair_sums([3.0, -1.0, 0.5, -3.5]), [-0.5, -0.5])


def test_runs_without_exponents_do_not_depend_on_their_sources():
    plain, asked = (specify("sphere_nbody", "rk4", steps=10, exponents=number) for number in (0, 1))
    assert [run.canonical()["exponents"] for run in (plain, asked)] == [0, 1]
    assert not any("tangents" in name for name in plain.modules)
    assert "liestep.simulation.tangents.exponents" in asked.modules


def test_wrong_requests_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="exponents is 13; the states of this system have 12 dimensions"):
        specify("sphere_nbody", "rk4", steps=10, exponents=13)
    with pytest.raises(InputError, match="adaptive: exponents need fixed steps"):
        specify("sphere_nbody", "ode45", tolerance=1e-3, exponents=1)
    with pytest.raises(InputError, match="did you mean omega"):
        liestep.tangent("sphere_nbody", "rk4", step=0.1, t_end=1.0, directions=[{"omeg": 1}])
    with pytest.raises(InputError, match="direction 0: q must be numbers, not a masked array"):
        liestep.tangent("sphere_nbody", "rk4", step=0.1, t_end=1.0, directions=[{"q": np.ma.array(np.eye(3))}])
    with pytest.raises(InputError, match="direction 0: q must be real numbers"):
        liestep.tangent("sphere_nbody", "rk4", step=0.1, t_end=1.0, directions=[{"q": 1j*np.eye(3)}])
    with pytest.raises(InputError, match="direction 0: q must be of shape"):
        liestep.tangent("sphere_nbody", "rk4", step=0.1, t_end=1.0, directions=[{"q": [1.0]}])


def test_tangent_agrees_with_differences_of_runs():
    direction, request = {"omega": np.array([[0.3, 0.1, 0.0], [0.0, 0.2, 0.1]])}, {"step": 0.02, "t_end": 0.4}
    start = specify(CHAIN[0], "rkmk", preset=CHAIN[1], steps=1).initial
    across = direction["omega"] - np.sum(direction["omega"]*start["q"], axis=1)[:, None]*start["q"]
    found = liestep.tangent(CHAIN[0], "rkmk", preset=CHAIN[1], directions=[{"omega": across}], **request)
    ends = [liestep.simulate(CHAIN[0], "rkmk", preset=CHAIN[1], initial=start | {"omega": start["omega"] + s*across},
                             samples=2, **request) for s in (1e-5, -1e-5)]
    for name in ("q", "omega"):
        difference = (ends[0][name].values[-1] - ends[1][name].values[-1])/2e-5
        assert np.abs(found[f"d_{name}"].values[0] - difference).max() < 1e-8
    assert np.array_equal(found["start_omega"].values[0], across)


STUDY = """title: Exponents
problems:
  long: {system: spherical_pendulum_chain, preset: orders, t_end: 200, integrators: [vi_sphere]}
  short: {system: spherical_pendulum_chain, preset: orders, t_end: 20, integrators: [rkmk4]}
integrators:
  vi_sphere: {exponents: 8, steps: [0.05]}
  rkmk4: {id: rkmk, steps: [0.02], ensemble: {members: 2, amplitude: 1e-12, seed: 1}, exponents: 1}
samples: 101
tables: [exponents, horizons]
"""


def test_study_has_a_table_and_horizons_in_lyapunov_times(tmp_path):
    (tmp_path/"studies").mkdir()
    (tmp_path/"studies"/"chaos.yaml").write_text(STUDY)
    study = Study.find("chaos", tmp_path, tmp_path/"results")
    run_cells(study.cells)
    analyse(study)
    rows = metrics_rows(study)
    table = read_csv(study.folder/"exponents.csv").to_dict("records")
    assert len(table) == 1
    assert rows[0]["lyapunov"] == float(table[0]["lyapunov"])
    assert float(table[0]["lyapunov_time"]) == pytest.approx(1.0/rows[0]["lyapunov"])
    assert len(table[0]["lyapunov_exponents"].split()) == 8
    (horizon,) = read_csv(study.folder/"horizons.csv").to_dict("records")
    assert float(horizon["lyapunov_time"]) == float(table[0]["lyapunov_time"])
    assert float(horizon["horizon_lyapunov_times"])*float(horizon["lyapunov_time"]) == pytest.approx(
        float(horizon["horizon"]))


def test_command_prints_exponents_with_their_errors(capsys):
    assert main(["lyapunov", CHAIN[0], "vi_sphere", "--preset", CHAIN[1], "--step", "0.05", "--t-end", "100",
                 "--exponents", "8"]) == 0
    out = capsys.readouterr().out
    assert out.count(" +- ") == 8
    assert "Lyapunov time" in out
    assert "sums of pairs" in out


FORMULAS = (
    "x + y", "1.5 - x", "x - y", "x*y", "x/y", "2/x", "-x", "abs(-x)", "sqrt(x)", "sin(x)*cos(y)", "tan(x)", "exp(y)",
    "log(x)", "atan2(y, x)", "atan2(1.0, x)", "atan2(y, 2.0)", "x**2", "x**3", "x**-2", "x**0.5", "x**y", "2.0**x",
    "max(x, y)", "min(x, 2.0, y)", "x if x > y else y*y", "int(x)*y", "dot((x, y, 1.0), (y, x, x))")


def test_derivatives_of_formulas_are_right_and_values_those_of_plain_numbers():
    """Against 40 digits."""
    lines = ["x, y = given[0], given[1]", *(f"out[{k}] = {text}" for k, text in enumerate(FORMULAS))]
    names = vars(math) | {"dot": rows.dot}
    exec("\n    ".join(["def every(given, out):", *lines]), names)
    call, random = compiler().plain_call(names["every"]), np.random.default_rng(7)
    for values in random.uniform(0.1, 1.4, size=(20, 2, 3)):
        plain, out = np.zeros(len(FORMULAS)), np.zeros((len(FORMULAS), 3))
        call(values[:, 0].copy(), plain)
        call(in_duals(values), in_duals(out))
        assert np.array_equal(out[:, 0], plain)
        with mpmath.workdps(40):
            for text, found in zip(FORMULAS, out[:, 1:], strict=True):
                formula = eval(f"lambda x, y: {text}", vars(mpmath) | {"dot": mpmath.fdot})
                slopes = [mpmath.diff(formula, values[:, 0].tolist(), order) for order in ((1, 0), (0, 1))]
                true = np.array(slopes, dtype=float) @ values[:, 1:]
                assert np.abs(found - true).max() <= 1e-14*(1.0 + np.abs(true).max()), text


def test_powers_at_zero_have_derivatives():
    """Of 1, x, x^2 and y at x = 0, and of powers that a plugin's parameters say."""
    def every(given, whole, real, out):
        x, y = given[0], given[1]
        out[0], out[1], out[2], out[3] = x**0, x**1, x**2, y**1
        out[4], out[5], out[6], out[7] = x**whole, x**real, x**y, (y - 1.0)**real

    out = np.full((8, 3), np.nan)
    compiler().plain_call(every)(in_duals(np.array([[0.0, 3.0, 5.0], [2.0, 7.0, 11.0]])), 0, 0.0, in_duals(out))
    one, zero = [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    assert out.tolist() == [one, [0.0, 3.0, 5.0], zero, [2.0, 7.0, 11.0], one, one, zero, one]


def test_derivatives_that_do_not_exist_are_told():
    """Of |(x, y)| at zero, where the motion itself goes on."""
    own = liestep.system("own", rhs=lambda y: np.array([0.1*y[0]*np.sqrt(y[1]*y[1] + y[2]*y[2]), y[1], y[2]]),
                         start={"y": [1.0, 0.0, 0.0]})
    with pytest.raises(InputError, match=r"by t = 0\.2 a derivative is zero or not finite: it has none"):
        own.simulate("rk4", step=0.01, t_end=20.0, samples=2, exponents=2)


def test_a_derivative_does_not_depend_on_those_beside_it():
    """Twelve directions stand in two copies of the state, one alone."""
    spec = specify("sphere_nbody", "rk4", steps=20, t_end=0.1)
    directions = span(spec.sheet, spec.parameters, spec.initial)
    together = tangents(spec, spec.initial, directions, spec.t_end)
    together.advance(spec.step, 0, 20)
    for number in (0, 11):
        alone = tangents(spec, spec.initial, directions[number:number + 1], spec.t_end)
        alone.advance(spec.step, 0, 20)
        assert np.array_equal(alone.derivatives[0], together.derivatives[number])
    before = together.derivatives.copy()
    lengths = orthonormalise(together)
    q, r = np.linalg.qr(before.T)
    signs = np.sign(np.diag(r))
    assert np.abs(together.derivatives - (q*signs).T).max() < 1e-12
    assert np.abs(lengths - np.log(np.abs(np.diag(r)))).max() < 1e-12


def test_derivatives_need_compiled_code():
    with pytest.raises(InputError, match="are not possible: they need compiled code, and this is a black box"):
        liestep.system("own", rhs=lambda y: np.array([float(y[0])]), start={"y": [1.0]}, blackbox=True).simulate(
            "rk4", step=0.05, t_end=10.0, samples=2, exponents=1)
