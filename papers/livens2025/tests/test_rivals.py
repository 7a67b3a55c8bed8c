"""Rivals of Livens' energy-momentum scheme: the variational integrator and the stabilised one."""
import numpy as np
import pytest
from constrained_cases import PLAIN, plain_problem, slope
from liestep_papers.livens2025.studies.eml_ggl import StabilisedStep
from livens_systems import systems

from liestep import simulate
from liestep.compile.status import Status
from liestep.compile.tracing import plain_component
from liestep.integrators.livens import ReducedStep, VariationalStep, move
from liestep.simulation.runs.specification import start_of

_loaded = systems("eml_ggl", "jointed_bars", "mass_spring", "spring_pendulum")
STEPS = {"vi_livens": VariationalStep(1e-15, 40), "mpl": ReducedStep(0, False, False, 1e-15, 40),
         "eml": ReducedStep(1, False, False, 1e-15, 40), "eml_ggl": StabilisedStep(1, False, 1e-15, 40)}


def stepper(name, system, preset):
    """(one step of plain Python from rows to rows, start)."""
    problem, found = plain_problem(system, preset)
    step = plain_component(STEPS[name], PLAIN, np.float64)

    def call(rows, h):
        y = rows.copy()
        work = plain_component(step.workspace(problem, y), PLAIN, np.float64)
        assert step.step(problem, 0.0, y, h, work) == Status.OK
        return y

    return call, found.start


def masses(x):
    """Rows of the mass-spring system from x_1, x_2 and their canonical momenta."""
    a, b, p, r = x
    u = 0.5*(p - r)                     # m = (2, 1): p = 3 u + w, r = u + w
    w = r - u
    return np.array([[a, a + 1.1, b], [u, u, w], [2.0*u, r, r], [0.0]*3])


def canonical(rows):
    u, w = rows[1, 0], rows[1, 2]
    return np.array([rows[0, 0], rows[0, 2], 3.0*u + w, u + w])


def body(x, start, moments=(6.0, 8.0, 3.0)):
    """Rows of a body turned from its start by x (3,), its tangential momentum moved by x (3,)."""
    q = start[0] + np.array([0.0, *x[:3]])
    q = q/np.sqrt(q @ q)
    p = start[2] + np.array([0.0, *x[3:]])
    p = p - q*(q @ p)
    g = np.array([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])
    v = g.T @ (g @ p/np.asarray(moments))/4.0
    return np.array([q, v, p, 0.0*q])


def form(a, b):
    """Canonical two-form of tangent vectors (..., 2, n) of positions and momenta."""
    return np.sum(a[0]*b[1] - a[1]*b[0])


@pytest.mark.parametrize(("name", "kept"), [("vi_livens", True), ("mpl", True), ("eml", False)])
def test_symplectic_form_of_the_singular_mass_matrix(name, kept):
    """In x_1, x_2 and their momenta. mpl is symplectic there: the direction of its constraint force is constant."""
    step, _ = stepper(name, "mass_spring", "printed")
    jacobian = slope(lambda x: canonical(step(masses(x), 0.1)), np.array([0.3, -0.2, 0.7, 0.4]), 1e-2)
    unit = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    defect = np.abs(jacobian.T @ unit @ jacobian - unit).max()
    assert defect <= 1e-8 if kept else defect >= 1e-5


@pytest.mark.parametrize(("system", "preset"), [("free_rigid_body", "livens2025"), ("heavy_top", "asymmetric")])
@pytest.mark.parametrize(("name", "kept"), [("vi_livens", True), ("mpl", False), ("eml", False)])
def test_symplectic_form_of_a_body(name, kept, system, preset):
    """On the tangent space of |q| = 1, q.p = 0, where the form is not degenerate; relative to the moments."""
    step, start = stepper(name, system, preset)
    moments = start_of(system, preset=preset).parameters["inertia"]
    zero, h = np.zeros(6), 0.01 if system == "free_rigid_body" else 0.05

    def moved(x):
        return body(x, start, moments)

    before = [np.array([slope(lambda x, r=row: moved(x)[r], zero)[:, k] for row in (0, 2)]) for k in range(6)]
    slopes = [slope(lambda x, r=row: step(moved(x), h)[r], zero) for row in (0, 2)]
    after = [np.array([part[:, k] for part in slopes]) for k in range(6)]
    defect = max(abs(form(after[i], after[j]) - form(before[i], before[j])) for i in range(6) for j in range(6))
    assert defect <= 1e-7 if kept else defect >= 1e-4


@pytest.mark.parametrize(("name", "kept"), [("vi_livens", True), ("mpl", True), ("eml", False)])
def test_symplectic_form_of_the_spring_pendulum(name, kept):
    """In r, theta, phi and their momenta; the velocities of a start follow from these. Without constraints mpl is the
    variational integrator."""
    step, start = stepper(name, "spring_pendulum", "spatial")

    def rows(x):
        r, theta = x[0], x[1]
        mass = np.array([1.0, r*r, (r*np.sin(theta))**2])
        return np.array([x[:3], x[3:]/mass, x[3:], np.zeros(3)])

    jacobian = slope(lambda x: step(rows(x), 0.02)[[0, 2]].ravel(), np.concatenate([start[0], start[2]]))
    unit = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    defect = np.abs(jacobian.T @ unit @ jacobian - unit).max()
    assert defect <= 1e-8 if kept else defect >= 1e-5


def test_the_midpoint_rule_is_not_the_variational_integrator():
    """One step of mpl and of vi_livens differs by terms of third order, where the constraint force turns."""
    gaps = []
    for h in (0.004, 0.002):
        ends = [stepper(name, "free_rigid_body", "livens2025") for name in ("mpl", "vi_livens")]
        gaps.append(np.abs(np.subtract(*(step(start, h)[0] for step, start in ends))).max())
    assert gaps[0]/gaps[1] == pytest.approx(8.0, abs=0.5)
    for system, preset, h in (("mass_spring", "printed", 0.1), ("spring_pendulum", "spatial", 0.02)):
        same = [stepper(name, system, preset) for name in ("mpl", "vi_livens")]
        assert np.abs(np.subtract(*(step(start, h)[0] for step, start in same))).max() <= 1e-14


@pytest.mark.parametrize(("system", "preset"), [("mass_spring", "printed"), ("heavy_top", "asymmetric"),
                                                ("spring_pendulum", "spatial")])
def test_slopes_of_the_stabilised_step(system, preset):
    problem, found = plain_problem(system, preset)
    step = plain_component(STEPS["eml_ggl"], PLAIN, np.float64)
    n, m, random = problem.size(), problem.bonds(), np.random.default_rng(2)
    y = found.start + 0.1*random.normal(size=found.start.shape)
    work = plain_component(step.workspace(problem, y), PLAIN, np.float64)

    def residual(x):
        work.common.d[:], work.common.multipliers[:], work.gamma[:] = x[:n], x[n:n + m], x[n + m:]
        move.py_func(problem, y[0], work.common)
        step.equations(problem, 0.2, 0.05, y, work)
        return work.common.r.copy()

    x = 0.1*random.normal(size=n + 2*m)
    expected = slope(residual, x)
    residual(x)
    assert np.abs(work.common.a - expected).max() <= 1e-8*np.abs(expected).max()


def test_the_variational_integrator_on_a_free_body():
    """Energy, momentum and q.v at round-off, as the discrete Moser-Veselov equations; and a largest step."""
    data = simulate("free_rigid_body", "vi_livens", preset="livens2025", step=0.01)
    assert data.attrs["energy_error_max"] <= 1e-10
    assert data.attrs["momentum_error_max"] <= 1e-11
    assert data.attrs["velocity_constraint_error_max"] <= 1e-12
    stopped = simulate("free_rigid_body", "vi_livens", preset="livens2025", step=0.1, on_failure="return")
    assert "not solved" in stopped.attrs["message"]


def test_the_variational_integrator_keeps_momenta_through_quaternion_joints():
    """Its constraint forces act where the joints are closed. The energy is bounded."""
    data = simulate("rigid_loop", "vi_livens", preset="livens2025", step=0.1)
    late = data["time"].values > 1.05
    momentum = data["momentum_map"].values[late]
    assert np.abs(momentum - momentum[0]).max() <= 1e-10
    assert np.ptp(data["energy"].values[late]) == pytest.approx(0.033, rel=0.05)
    assert data.attrs["velocity_constraint_error_max"] <= 1e-12


def test_the_variational_integrator_composes_with_a_singular_mass_matrix():
    exact = simulate("mass_spring", "rk4", steps=20000, samples=2)["q"].values[-1]

    def slopes(weights, counts):
        errors = [np.abs(simulate("mass_spring", "vi_livens", steps=count, samples=2,
                                  options={"weights": weights})["q"].values[-1] - exact).max() for count in counts]
        return np.diff(np.log(errors))/np.diff(-np.log(counts))

    assert slopes("one", (100, 200, 400)) == pytest.approx(2.0, abs=0.1)
    assert slopes("kl6", (40, 80, 160)) == pytest.approx(6.0, abs=0.4)


def test_the_stabilised_scheme_cures_one_body():
    """(74), momentum and q.v at round-off where the plain scheme has 4.2e3 J in (80) after 10 s."""
    data = simulate("free_rigid_body", "eml_ggl", preset="livens2025", step=0.01, t_end=10.0)
    assert data.attrs["generalized_energy_error_max"] <= 1e-9
    assert data.attrs["momentum_error_max"] <= 1e-11
    assert data.attrs["velocity_constraint_error_max"] <= 1e-12
    assert data.attrs["total_energy_error_max"] <= 60.0
    masses = simulate("mass_spring", "eml_ggl", step=0.1)
    assert np.abs(np.diff(masses["generalized_energy"])).max() <= 1e-14


def test_the_stabilised_scheme_pays_on_the_loop():
    """Velocities fulfil their constraints, the energy (74) and the momentum move."""
    data = simulate("rigid_loop", "eml_ggl", preset="livens2025", step=0.1)
    late = data["time"].values > 1.05
    assert data.attrs["velocity_constraint_error_max"] <= 1e-12
    assert np.ptp(data["generalized_energy"].values[late]) == pytest.approx(0.235, rel=0.02)
    assert np.ptp(data["total_energy"].values[late]) <= 1.0  # 575 J without gamma
    momentum = data["momentum_map"].values[late]
    assert 0.1 <= np.abs(momentum - momentum[0]).max() <= 0.5
