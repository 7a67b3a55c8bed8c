"""Damping of bonds and contacts: closed forms, work, momenta, and what no damping is."""
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from liestep import simulate
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import integrator_ids, method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import applicable, specify, start_of

FREE = {"closure": "chain", "particles": 2, "ring_diameter": 1.0, "bending_stiffness": 0.0, "axial_stiffness": 0.0,
        "shear_stiffness": 0.0, "wall_law": "none", "contact_pairs": "none", "plane": "yz", "gap": 0.1}


def run(initial=None, integrator="rk4", step=1e-3, t_end=2.0, samples=41, **parameters):
    return simulate("bonded_ring", integrator, preset="rescaled", parameters={**FREE, **parameters}, initial=initial,
                    step=step, t_end=t_end, samples=samples)


def pair(distance, speed, spin=0.0):
    """Two particles on the axis y, going apart, turning against each other about it."""
    y = np.array([0.0, 1.0, 0.0])
    sides = np.array([[0.5], [-0.5]])
    return {"position": np.array([5.0, 0.0, 0.0]) + sides*distance*y, "velocity": sides*speed*y,
            "attitude": np.tile(np.eye(3), (2, 1, 1)), "angular_momentum": sides*spin*y}


def test_a_damped_bond_is_the_damped_oscillator():
    """With m = 1: d2r/dt2 = -2 (K (r/r0 - 1) + eta r'/r0)/r0, here with r0 = 1; the relative turn rate decays as
    exp(-2 eta t/J)."""
    stiffness, eta, distance, speed, spin = 20.0, 1.5, 1.0, 0.3, 0.4
    data = run(pair(distance, speed, spin), axial_stiffness=stiffness, bond_damping=eta)
    t = data["time"].values
    rate = np.sqrt(2.0*stiffness - eta*eta)
    stretch = speed/rate*np.exp(-eta*t)*np.sin(rate*t)
    gap = data["position"].values[:, 0, 1] - data["position"].values[:, 1, 1]
    turning = data["angular_velocity"].values[:, 0, 1] - data["angular_velocity"].values[:, 1, 1]
    assert np.abs(gap - 1.0 - stretch).max() <= 1e-12
    assert np.abs(turning - spin*np.exp(-2.0*eta*t)).max() <= 1e-12
    first = 0.25*(speed*speed + spin*spin)
    assert abs(data["mechanical_energy"].values[0] - first) <= 1e-15
    assert np.abs(data["mechanical_energy"].values - data["work"].values - first).max() <= 1e-12
    assert data["work"].values[-1] < -0.95*first


def rebound(speed, damping):
    """Speed v' after a contact with force f(s) (1 + lambda ds/dt), from v dv/(1 + lambda v) = -f ds: whatever f is,
    lambda v - log(1 + lambda v) is the same at v and at -v'."""
    def potential(v):
        return damping*v - np.log1p(damping*v)

    return brentq(lambda after: potential(-after) - potential(speed), 0.0, (1.0 - 1e-12)/damping, xtol=1e-15)


@pytest.mark.parametrize("law", ["hertz", "cubic"])
@pytest.mark.parametrize("wall", ["point", "mirror"])
def test_a_bounce_off_the_wall_loses_what_its_closed_form_says(law, wall):
    data = run(step=1e-4, t_end=0.5, samples=6, wall_law=wall, contact_law=law, contact_damping=0.7)
    assert np.abs(data["velocity"].values[-1, :, 0] - rebound(1.0, 0.7/0.5)).max() <= 1e-7  # radius 0.5: s = 1 - x/0.5
    assert np.abs(data["energy"].values - 1.0).max() <= 1e-7


def test_two_particles_that_meet_lose_what_the_closed_form_says():
    for pairs in ("all", "bonded"):
        data = run(pair(1.05, -0.8), step=1e-4, t_end=0.5, samples=6, contact_pairs=pairs, contact_damping=0.9)
        after = data["velocity"].values[-1]
        assert abs(after[0, 1] - after[1, 1] - rebound(0.8, 0.9)) <= 1e-7


def cluster(integrator, step=1e-3, **changes):
    """The four particles of `cluster` in flight, each turning, so near each other that they touch."""
    random = np.random.default_rng(5)
    start = sheet("bonded_particles").presets["cluster"]
    places = 0.97*start.parameters["rest_position"]
    turns = Rotation.from_rotvec(0.2*random.standard_normal((4, 3))).as_matrix()
    initial = {"position": places, "velocity": 0.3*random.standard_normal((4, 3)),
               "attitude": turns @ start.parameters["rest_attitude"],
               "angular_momentum": 0.1*random.standard_normal((4, 3))}
    return simulate("bonded_particles", integrator, preset="cluster", initial=initial, step=step, t_end=1.0, samples=21,
                    parameters={"wall_law": "none", **changes})


def test_damping_is_opposite_forces_and_torques_that_take_energy():
    given = {"bond_damping": 0.3, "contact_damping": 0.4, "wall_law": "none"}
    start = start_of("bonded_particles", preset="cluster", parameters=given)
    system = plain(formulate(sheet("bonded_particles"), start.parameters, start.initial, "vector_field", {})
                   .problem.problem.system)
    random, n = np.random.default_rng(4), 4
    y = np.zeros((6*n + 1, 3))
    y[:3*n] = np.swapaxes(start.initial["attitude"], 1, 2).reshape(-1, 3)
    x, v, w = 0.97*start.initial["position"], random.standard_normal((n, 3)), random.standard_normal((n, 3))
    y[4*n:5*n], y[5*n:6*n] = x, v
    out, energy = np.zeros((2*n, 3)), np.zeros(5)
    assert system.forces(y, out, energy)
    assert energy[3] > 0.1  # particles touch
    out[:] = 0.0
    power = system.damp(y, w, out)
    torque, force = out[:n], out[n:]
    assert np.abs(force.sum(axis=0)).max() <= 1e-14*np.abs(force).max()
    assert np.abs((torque + np.cross(x, force)).sum(axis=0)).max() <= 1e-14*np.abs(force).max()
    assert abs(power - np.sum(force*v) - np.sum(torque*w)) <= 1e-14*abs(power)
    assert power < 0.0


def test_damped_runs_keep_momenta_and_book_their_work():
    damped = {"bond_damping": 0.3, "contact_damping": 0.4, "contact_law": "quintic"}
    data, coarse = (cluster("rk4", step, **damped) for step in (1e-3, 2e-3))
    assert max(data.attrs[f"linear_momentum_error_max_{axis}"] for axis in "xyz") <= 2e-14
    assert data.attrs["momentum_error_max"] <= 1e-9  # exact in the forces: what is left are the errors of the method
    assert 12.0 <= coarse.attrs["energy_error_max"]/data.attrs["energy_error_max"] <= 40.0
    assert np.diff(data["mechanical_energy"].values).max() < 0.0
    assert data["work"].values[-1] < -0.05
    other = cluster("rkmk", **damped)
    for name in ("work", "position", "attitude"):
        assert np.abs(other[name].values - data[name].values).max() <= 1e-7, name


def test_no_damping_is_the_run_without_the_parameters():
    without = specify("bonded_ring", "rodrigues", step=0.01, t_end=0.1)
    for name in ("bond_damping", "contact_damping"):
        same = specify("bonded_ring", "rodrigues", step=0.01, t_end=0.1, parameters={name: 0})
        assert same.canonical() == without.canonical()
        assert sheet("bonded_ring").build(same.parameters).__class__.__name__ == "BondedParticles"
        other = specify("bonded_ring", "rk4", step=0.01, t_end=0.1, parameters={name: 0.25})
        assert other.parameters[name] == 0.25
        with pytest.raises(InputError, match=f"parameter {name} must not be negative"):
            specify("bonded_ring", "rk4", step=0.01, t_end=0.1, parameters={name: -1.0})


def test_methods_of_kicks_refuse_damping():
    ring = sheet("bonded_ring")
    values = {**ring.presets["rescaled"].parameters, "particles": 4}
    undamped, damped = (ring.check({**values, "bond_damping": eta}) for eta in (0.0, 1.0))
    able = {name for name in integrator_ids() if applicable("bonded_ring", name, undamped)}
    still = {name for name in integrator_ids() if applicable("bonded_ring", name, damped)}
    assert able - still == {name for name in able if method(name).on(ring).formulation == "rigid_bodies"}
    assert {"slgi", "lgvi", "dlm", "rodrigues"} <= able - still
    assert {"rk4", "rkmk", "dop853"} <= still
    with pytest.raises(InputError, match="no forces that depend on velocities, and the system is damped"):
        specify("bonded_ring", "lgvi", step=0.01, t_end=0.1, parameters={"bond_damping": 1.0})
