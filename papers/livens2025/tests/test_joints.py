"""Closed loop of livens2025 section 5.5, chains, and joints in quaternions and directors."""
import numpy as np
import pytest
from liestep_papers.livens2025.evidence import joint_momentum
from liestep_papers.livens2025.studies.jointed_bars import Jointed, redundant
from livens_systems import systems
from scipy.integrate import solve_ivp

from liestep import simulate
from liestep.errors import InputError
from liestep.geometry.quaternion import matrices, of_matrix
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import specify, start_of

_loaded = systems("jointed_bars")


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
    if step == 0.1:
        assert float(data["energy"].sel(time=1.0, method="nearest")) == pytest.approx(2097.156, abs=5e-4)
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


def body_rows(q):
    """G(q), written out here."""
    return np.array([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])


def quadratic(function, size):
    """(b, C) of a function with values c + b z + z.C z/2, exactly."""
    unit = np.eye(size)
    zero, one, other = function(0.0*unit[0]), *(np.array([function(s*e) for e in unit]) for s in (1.0, -1.0))
    pairs = np.array([[function(e + f) for f in unit] for e in unit])
    return 0.5*(one - other).T, np.moveaxis(pairs - one[:, None] - one[None] + zero, -1, 0)


def accelerations(bodies, load):
    """Right-hand side of z = (positions, quaternions) and its velocity, from the KKT system of index 1."""
    n = len(bodies.mass)

    def constraints(z):
        q = z.reshape(n, 7)
        turned = matrices(q[:, 3:])
        gaps = [q[a, :3] + turned[a] @ x - (q[b, :3] + turned[b] @ y if b >= 0 else y)
                for a, b, x, y in zip(bodies.first, bodies.second, bodies.arm, bodies.other, strict=True)]
        return np.concatenate([0.5*np.sum(q[:, 3:]**2, axis=1) - 0.5, *gaps])

    linear, curve = quadratic(constraints, 7*n)

    def right(t, w):
        z, v = w[:7*n], w[7*n:]
        full, force = np.zeros((7*n + len(curve),)*2), np.zeros(7*n + len(curve))
        for k in range(n):
            i, q, u, inertia = 7*k, z[7*k + 3:7*k + 7], v[7*k + 3:7*k + 7], np.diag(bodies.inertia[k])
            full[i:i + 3, i:i + 3] = bodies.mass[k]*np.eye(3)
            full[i + 3:i + 7, i + 3:i + 7] = 4.0*body_rows(q).T @ inertia @ body_rows(q)
            force[i:i + 3] = bodies.mass[k]*bodies.gravity
            # d/dt(M v) - dT/dq = M v' + 8 G(v)^T J G(q) v for unit quaternions
            force[i + 3:i + 7] = 8.0*body_rows(u).T @ inertia @ body_rows(u) @ q
        f = load*max(0.0, min(t, 1.0 - t))/0.5
        force[0] += 8.0*f
        force[3:7] += 2.0*6.0*f*np.array([-z[4], z[3], -z[6], z[5]])  # (128)
        slope = linear + curve @ z
        full[7*n:, :7*n], full[:7*n, 7*n:] = slope, slope.T
        force[7*n:] = -(curve @ v) @ v
        return np.concatenate([v, np.linalg.solve(full, force)[:7*n]])

    return right


@pytest.mark.parametrize(("system", "preset", "load"), [("rigid_loop", "livens2025", 100.0),
                                                        ("rigid_chain", "four_bars", 0.0)])
def test_the_vector_field_against_an_own_form_in_quaternions(system, preset, load):
    """Made here without the package's kernels, at t = 4 s. And momenta of the loop are the impulses of its load."""
    start = start_of(system, preset=preset)
    bodies, initial = sheet(system).build(start.parameters), start.initial
    q = np.array([of_matrix(attitude) for attitude in initial["attitude"]])
    rates = np.einsum("bji,bj->bi", initial["attitude"], initial["spin"])/bodies.inertia
    v = np.hstack([initial["momentum"]/bodies.mass[:, None],
                   [0.5*body_rows(a).T @ rate for a, rate in zip(q, rates, strict=True)]])
    w = np.concatenate([np.hstack([initial["position"], q]).ravel(), v.ravel()])
    for span in ((0.0, 0.5), (0.5, 1.0), (1.0, 4.0)):  # the load has kinks
        w = solve_ivp(accelerations(bodies, load), span, w, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    found = w[:7*len(q)].reshape(len(q), 7)
    data = simulate(system, "rk4", preset=preset, steps=16000, t_end=4.0, samples=2)
    assert np.abs(found[:, :3] - data["position"].values[-1]).max() <= 1e-9
    assert np.abs(matrices(found[:, 3:]) - data["attitude"].values[-1]).max() <= 1e-9
    if load > 0.0:
        assert data["linear_momentum"].values[-1] == pytest.approx([400.0, 0.0, 0.0], abs=1e-9)
        assert data["momentum_map"].values[-1] == pytest.approx([300.0, 0.0, 0.0], abs=1e-9)


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
