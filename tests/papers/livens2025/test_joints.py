"""Closed loop of livens2025 section 5.5, chains, and joints in quaternions and directors."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from liestep import simulate
from liestep.catalogue import sheet
from liestep.errors import InputError
from liestep.formulations.constrained.bodies import redundant
from liestep.formulations.constrained.joint_forms import Jointed
from liestep.geometry.quaternion import matrices
from liestep.papers.livens2025.evidence.runs import joint_momentum
from liestep.runs.specification import specify, start_of


def loop(method, step=0.1, t_end=10.0, **options):
    return simulate("rigid_loop", method, preset="livens2025", step=step, t_end=t_end, options=options)


def late(data):
    """Samples after the load."""
    return data["time"].values > 1.05


@pytest.mark.parametrize(("step", "energy", "momentum", "increment"), [
    (0.1, 2095.4759, 299.8834, 2.58e-4), (0.05, 2095.9935, 299.9702, 3.35e-5)])
def test_the_closed_loop_of_the_paper(step, energy, momentum, increment):
    data = loop("eml", step)
    after = late(data)
    found = data["generalized_energy"].values[after]
    assert found[0] == pytest.approx(energy, abs=5e-5)
    assert np.ptp(found) <= 1e-10
    assert data["momentum_map"].values[after][0, 0] == pytest.approx(momentum, abs=2e-4)
    assert data["linear_momentum"].values[-1] == pytest.approx([400.0, 0.0, 0.0], abs=1e-9)
    early = (data["time"].values > 1.0) & (data["time"].values < 5.0)
    assert np.abs(np.diff(data["momentum_map"].values[early], axis=0)).max() == pytest.approx(increment, rel=0.01)
    assert data.attrs["energy_less_work_error_max"] <= 1e-10
    if step == 0.05:
        assert data.attrs["iterations"] <= 3.1*data.attrs["steps"]


def test_a_projection_of_the_quaternions_alone_is_no_cure():
    data = loop("eml_p")
    assert np.ptp(data["total_energy"].values[late(data)]) == pytest.approx(550.0, rel=0.02)
    assert np.ptp(data["generalized_energy"].values[late(data)]) >= 5.0


def test_a_definite_energy_bounds_the_parasite():
    """EMH: H stands still, Dg v does not grow, the momentum drifts as with every quaternion joint."""
    data = loop("emh", t_end=40.0)
    after = late(data)
    assert np.ptp(data["energy"].values[after]) <= 1e-10
    slip = data["velocity_constraint_error"].values[after]
    assert slip[-50:].max() <= 1.5*slip[:50].max()
    drift = np.abs(data["momentum_map"].values[after] - data["momentum_map"].values[after][0]).max()
    assert 1e-3 <= drift <= 2e-2


@pytest.mark.slow
def test_directors_are_the_energy_momentum_answer_for_joints():
    data = loop("eml", t_end=100.0, coordinates="directors")
    after = late(data)
    energy, momentum = data["generalized_energy"].values[after], data["momentum_map"].values[after]
    assert energy[0] == pytest.approx(2095.3769, abs=5e-5)
    assert np.ptp(energy) <= 1e-8
    assert np.abs(momentum - momentum[0]).max() <= 1e-8
    slip = data["velocity_constraint_error"].values[after]
    assert slip[-100:].max() <= 1.5*slip[:100].max()


@pytest.mark.parametrize(("step", "span"), [(0.1, 0.037), (0.05, 0.0089)])
def test_rattle_in_directors(step, span):
    data = loop("rattle", step, 40.0)
    after = late(data)
    assert np.ptp(data["energy"].values[after]) == pytest.approx(span, rel=0.03)
    assert np.abs(data["momentum_map"].values[after] - data["momentum_map"].values[after][0]).max() <= 1e-9
    assert data.attrs["constraint_error_max"] <= 1e-9
    assert data.attrs["velocity_constraint_error_max"] <= 1e-9


def test_momentum_changes_by_the_open_joints():
    """L_(n+1) - L_n = h sum mu x g_joint(q_m), from the stored multipliers."""
    evidence = joint_momentum()
    assert evidence.confirmed
    assert evidence.numbers["gap"] <= 1e-6*evidence.numbers["largest"]


@pytest.mark.parametrize(("system", "preset"), [("rigid_loop", "livens2025"), ("rigid_chain", "four_bars")])
@pytest.mark.parametrize(("method", "coordinates"), [("eml", "quaternion"), ("eml", "directors"), ("rattle", "")])
def test_motion_converges_to_the_vector_field(system, preset, method, coordinates):
    """Second order against Newton and Euler with multipliers of index 1."""
    options = {"coordinates": coordinates} if coordinates else {}
    exact = simulate(system, "rk4", preset=preset, steps=1600, t_end=0.8, samples=2)["position"].values[-1]
    gaps = [np.abs(simulate(system, method, preset=preset, steps=steps, t_end=0.8, samples=2,
                            options=options)["position"].values[-1] - exact).max() for steps in (80, 160)]
    assert gaps[0]/gaps[1] == pytest.approx(4.0, abs=0.6 if system == "rigid_loop" else 0.2)


def test_the_vector_field_against_an_own_form_in_quaternions():
    """Accelerations from the KKT system of positions and unit quaternions, built here without the package's kernels."""
    start = start_of("rigid_chain", preset="four_bars")
    bodies = sheet("rigid_chain").build(start.parameters)
    n = len(bodies.mass)

    def left(q):
        return np.array([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])

    def joints(z):
        q = z.reshape(n, 7)
        ends = [(q[k, :3] + matrices(q[k, 3:]) @ bodies.arm[k],
                 q[k - 1, :3] + matrices(q[k - 1, 3:]) @ bodies.other[k] if k else np.zeros(3)) for k in range(n)]
        return np.concatenate([[0.5*(q[k, 3:] @ q[k, 3:] - 1.0) for k in range(n)],
                               *[one - other for one, other in ends]])

    def slopes(z):
        """Exact: the constraints are quadratic."""
        unit = np.eye(7*n)
        return np.array([(joints(z + e) - joints(z - e))/2.0 for e in unit]).T

    def right(t, w):
        z, v = w[:7*n], w[7*n:]
        mass, force = np.zeros((7*n, 7*n)), np.zeros(7*n)
        for k in range(n):
            i, q, u = 7*k, z[7*k + 3:7*k + 7], v[7*k + 3:7*k + 7]
            mass[i:i + 3, i:i + 3] = bodies.mass[k]*np.eye(3)
            force[i:i + 3] = bodies.mass[k]*bodies.gravity
            inertia = np.diag(bodies.inertia[k])
            mass[i + 3:i + 7, i + 3:i + 7] = 4.0*left(q).T @ inertia @ left(q)
            # d/dt(M v) - dT/dq = M v' + 8 G(v)^T J G(q) v for unit quaternions
            force[i + 3:i + 7] = 8.0*left(u).T @ inertia @ left(u) @ q
        slope = slopes(z)
        curve = joints(z + v) + joints(z - v) - 2.0*joints(z)  # v.D2g v, quadratic in v
        full = np.block([[mass, slope.T], [slope, np.zeros((len(slope), len(slope)))]])
        return np.concatenate([v, np.linalg.lstsq(full, np.concatenate([force, -curve]), rcond=None)[0][:7*n]])

    quaternions = simulate("rigid_chain", "eml", preset="four_bars", steps=2, t_end=0.01, samples=2)
    z = np.concatenate([start.initial["position"], quaternions["quaternion"].values[0]], axis=1).ravel()
    v = np.concatenate([quaternions["velocity"].values[0], quaternions["quaternion_velocity"].values[0]],
                       axis=1).ravel()
    found = solve_ivp(right, (0.0, 0.5), np.concatenate([z, v]), method="DOP853", rtol=1e-11, atol=1e-12).y[:7*n, -1]
    exact = simulate("rigid_chain", "rk4", preset="four_bars", steps=4000, t_end=0.5, samples=2)
    assert np.abs(found.reshape(n, 7)[:, :3] - exact["position"].values[-1]).max() <= 1e-9


def test_a_chain_of_one_body_is_a_heavy_top():
    inertia, mass, arm = np.array([0.2, 0.3, 0.25]), 1.5, np.array([0.0, 0.0, 0.5])
    turn = matrices(np.array([0.8, 0.4, 0.2, 0.4]))
    rate = np.array([0.5, -1.0, 2.0])
    chain = {"mass": [mass], "inertia": [inertia], "upper_joint": [arm], "lower_joint": [-arm],
             "gravity": [0.0, 0.0, -9.81]}
    about_tip = inertia + mass*0.25*np.array([1.0, 1.0, 0.0])
    top = {"inertia": about_tip, "mass": mass, "length": 0.5, "axis": [0.0, 0.0, -1.0], "gravity": [0.0, 0.0, -9.81]}
    centre = -turn @ arm
    start = {"position": [centre], "attitude": [turn], "momentum": [mass*np.cross(rate, centre)],
             "spin": [turn @ (inertia*(turn.T @ rate))]}
    one = simulate("rigid_chain", "rk4", parameters=chain, initial=start, steps=2000, t_end=1.0, samples=2)
    other = simulate("heavy_top", "rk4", preset="asymmetric", parameters=top, steps=2000, t_end=1.0, samples=2,
                     initial={"attitude": turn, "angular_momentum": turn @ (about_tip*(turn.T @ rate))})
    assert np.abs(one["attitude"].values[-1, 0] - other["attitude"].values[-1]).max() <= 1e-10


def test_starts_with_open_or_redundant_joints_are_refused():
    start = start_of("rigid_loop", preset="livens2025").initial
    moved = start["position"].copy()
    moved[1, 2] += 0.1
    with pytest.raises(InputError, match="the initial state opens joint 0 of body 0 and body 1"):
        specify("rigid_loop", "eml", steps=10, initial={"position": moved})
    moved[1, 2] = start["position"][1, 2] + 4e-12  # places are up to 5 m from the origin
    specify("rigid_loop", "eml", steps=10, initial={"position": moved})
    moved[1, 2] = start["position"][1, 2] + 6e-12
    with pytest.raises(InputError, match="opens joint 0 of body 0 and body 1 by 6e-12 m, allowed 5e-12"):
        specify("rigid_loop", "eml", steps=10, initial={"position": moved})
    pushed = np.zeros((4, 3))
    pushed[2, 0] = 1.0
    with pytest.raises(InputError, match="the ends of joint 1 of body 1 and body 2 move apart"):
        specify("rigid_loop", "eml", steps=10, initial={"momentum": pushed})
    with pytest.raises(InputError, match="parameter load must not be negative"):
        specify("rigid_loop", "eml", steps=10, parameters={"load": -1.0})


def test_redundant_joints_are_found_before_the_first_step():
    """A second joint at the same place; the same constraints of a chain and of the loop are independent."""
    for system in ("rigid_chain", "rigid_loop"):
        start = start_of(system)
        bodies, state = sheet(system).build(start.parameters), start.initial
        assert not redundant(bodies, state["position"], state["attitude"])
        twice = bodies._replace(**{name: np.concatenate([getattr(bodies, name), getattr(bodies, name)[-1:]])
                                   for name in ("first", "second", "arm", "other")})
        assert redundant(twice, state["position"], state["attitude"])
        jointed = Jointed(lambda parameters, bodies=twice: bodies, None, None)
        with pytest.raises(InputError, match="the joints are redundant at the start"):
            jointed.manifold(start.parameters, state)


def test_attitudes_of_bodies_are_checked_at_the_start():
    attitude = start_of("rigid_chain").initial["attitude"].copy()
    attitude[2, 0, 0] += 1e-9
    with pytest.raises(InputError, match=r"initial attitude\[2\] is not a rotation"):
        specify("rigid_chain", "eml", steps=10, initial={"attitude": attitude})


@pytest.mark.parametrize(("parameters", "said"), [
    ({"upper_joint": [[0.0, 0.0, 0.5]]*3}, "parameter upper_joint must be of shape"),
    ({"mass": []}, "must not be empty"),
    ({"inertia": [[1.0, 1.0, 3.0]]*4}, "is of no body")])
def test_chains_that_do_not_fit_are_refused(parameters, said):
    with pytest.raises(InputError, match=said):
        specify("rigid_chain", "eml", steps=10, parameters=parameters)


def test_directors_of_a_flat_body_run_by_livens_but_not_by_rattle():
    """Its mass matrix is singular there, which Livens' principle allows."""
    data = simulate("heavy_top", "eml", preset="printed", step=0.001, t_end=0.1, options={"coordinates": "directors"})
    assert data.attrs["generalized_energy_error_max"] <= 1e-9
    with pytest.raises(InputError, match="a flat body"):
        specify("heavy_top", "rattle", preset="printed", steps=10)


@pytest.mark.parametrize(("system", "inertia"), [
    ("free_rigid_body", [1.0, 2.0, 3.1]), ("heavy_top", [1.0, 2.0, 3.1]),
    ("rigid_chain", [[1.0, 2.0, 2.5], [1.0, 2.0, 3.1]])])
def test_directors_are_refused_for_moments_that_no_body_has(system, inertia):
    """They would have a negative mass; a plugin's preset may declare such moments, which quaternions run."""
    form = sheet(system).forms["constrained_lagrangian"]
    found = start_of(system).parameters
    broken = {**found, "inertia": np.array(inertia), "mass": np.ones(2)}
    assert form.complete(broken, {})["coordinates"] == "quaternion"
    with pytest.raises(InputError, match="none of which is above the sum of the other two; allowed here is quaternion"):
        form.complete(broken, {"coordinates": "directors"})
    assert form.complete(found, {"coordinates": "directors"})["coordinates"] == "directors"
