"""Maps of rigid bodies: closed forms, equal maps, momenta, refusals and limits. Orders, symplecticity and symmetry of
all of them are certified in many digits (`test_certificates`)."""
import numpy as np
import pytest
from rigid_cases import Map, formulated
from scipy.spatial.transform import Rotation

from liestep import IntegrationError, simulate
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.integrators.kicks import kicked
from liestep.integrators.rigid_maps import AxisSplitting, LieGroupVariational, Richardson
from liestep.integrators.rodrigues import ChartDrift, FreeTurn
from liestep.simulation.runs.specification import specify

H = 0.01


def pendulum(integrator, preset="rodrigues2021", step=H, t_end=10.0, **more):
    return simulate("heavy_top", integrator, preset=preset, step=step, t_end=t_end, **more)


def by_quaternions(rule, steps, h=H):
    """Maps (23), (25) and the exponential drift with unit quaternions, as the paper's authors would not write them:
    attitudes (steps + 1, 3, 3) and angular velocities of the printed pendulum."""
    q, omega = Rotation.from_rotvec([0.0, 0.75*np.pi, 0.0]), np.array([0.2, 0.0, 0.2])
    angle = {"exact": np.arcsin, "newmark": lambda z: 2.0*np.arctan(0.5*z), "exp": lambda z: z}[rule]
    found = [(q.as_matrix(), omega)]
    for _ in range(steps):
        middle = omega + 0.5*h*np.cross(q.apply([0.0, 0.0, 1.0]), [0.0, 0.0, 1.0])
        size = np.linalg.norm(middle)
        q = Rotation.from_rotvec(angle(h*size)*middle/size)*q
        omega = middle + 0.5*h*np.cross(q.apply([0.0, 0.0, 1.0]), [0.0, 0.0, 1.0])
        found.append((q.as_matrix(), omega))
    return [np.array(part) for part in zip(*found, strict=True)]


@pytest.mark.parametrize("rule", ["exact", "newmark", "exp"])
def test_maps_against_quaternions(rule):
    data = pendulum("rodrigues", samples=1001, options={"drift": rule})
    attitudes, rates = by_quaternions(rule, 1000)
    assert np.abs(data["attitude"].values - attitudes).max() <= 1e-12
    assert np.abs(data["angular_momentum"].values - rates).max() <= 1e-12


def test_the_euler_map_is_the_second_order_map_shifted_by_half_a_kick():
    """(27) from velocities half a kick earlier passes through the attitudes of (25)."""
    plain = pendulum("rodrigues", samples=1001)
    torque = np.cross(plain["attitude"].values[0] @ [0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    shifted = pendulum("rodrigues kick=whole", samples=1001,
                       initial={"angular_momentum": plain["angular_momentum"].values[0] - 0.5*H*torque})
    assert np.abs(shifted["attitude"] - plain["attitude"]).max() <= 1e-12


def test_equal_maps():
    for one, other, options in (("lgvi", "rodrigues drift=exact", {}),
                                ("campello", "rodrigues kick=whole", {"phi": 1.0})):
        a, b = pendulum(one, options=options), pendulum(other)
        assert np.abs(a["attitude"] - b["attitude"]).max() <= 1e-12
        assert np.abs(a["angular_momentum"] - b["angular_momentum"]).max() <= 1e-12


def test_normalised_quaternion_steps_are_the_second_order_map():
    """q <- normalise(q + h/2 (0, w) q) turns by 2 arctan(h|w|/2)."""
    w, h = np.array([0.3, -1.1, 0.8]), 0.7
    q = np.array([0.5, -0.5, 0.1, 0.7])
    q /= np.linalg.norm(q)
    product = np.array([-w @ q[1:], *(q[0]*w + np.cross(w, q[1:]))])
    moved = q + 0.5*h*product
    moved /= np.linalg.norm(moved)
    turn = Rotation.from_rotvec(2.0*np.arctan(0.5*h*np.linalg.norm(w))*w/np.linalg.norm(w))
    turned = (turn*Rotation.from_quat(q[[1, 2, 3, 0]])).as_matrix()
    assert np.abs(Rotation.from_quat(moved[[1, 2, 3, 0]]).as_matrix() - turned).max() <= 1e-15


def test_richardson_of_equal_moments_turns_by_a_little_more():
    """z + z^3/24 with z = h|w|, about w itself."""
    case = formulated("free_rigid_body", "asymmetric", "rigid_bodies", {"inertia": [1.0, 1.0, 1.0]})
    w = case.start[3]
    for z in (0.04, 0.08):
        h = z/np.linalg.norm(w)
        moved = Map(case, kicked(Richardson(2.0)))(case.start, h)
        turn = Rotation.from_matrix(moved[:3].T @ case.start[:3]).as_rotvec()
        assert np.abs(np.cross(turn, w)).max() <= 1e-15
        assert (np.linalg.norm(turn) - z)/z**3 == pytest.approx(1.0/24.0, rel=0.01)


def test_maps_differ_in_the_third_power_of_the_step():
    gaps = []
    for h in (0.04, 0.02, 0.01):
        a, b = (pendulum("rodrigues", step=h, t_end=h, samples=2, options={"drift": rule})["attitude"].values[-1]
                for rule in ("exact", "newmark"))
        gaps.append(np.abs(a - b).max())
    assert np.log2(gaps[0]/gaps[1]) == pytest.approx(3.0, abs=0.05)
    assert np.log2(gaps[1]/gaps[2]) == pytest.approx(3.0, abs=0.05)


MAPS = ("rodrigues drift=exact", "rodrigues", "rodrigues drift=exp", "rodrigues kick=whole", "rodrigues weights=kl8",
        "lgvi", "dlm", "richardson", "campello")


@pytest.mark.parametrize("name", MAPS)
def test_momenta_of_the_pendulum_are_kept(name):
    data = pendulum(name, t_end=50.0, samples=51)
    assert data.attrs["momentum_conserved"] == "z"
    assert data.attrs["momentum_error_max_z"] <= 1e-13
    if name == "dlm":  # its turns about the body's axes break the symmetry about the axis to the pivot
        assert 1e-6 <= data.attrs["axial_momentum_error_max"] <= 1e-4
    else:
        assert data.attrs["axial_momentum_error_max"] <= 1e-13
    assert data.attrs["lever_length_error_max"] <= 1e-13
    assert data.attrs["orthogonality_error_max"] <= 1e-13


@pytest.mark.parametrize(("chart", "limit"), [("alpha", 1e-9), ("modified", 1e-9)])
def test_charts_give_the_same_attitudes_through_their_singularity(chart, limit):
    """The recursion (5) passes through infinity at a turn of pi, three times until t = 50: it is an unnormalised
    quaternion."""
    plain, charted = (pendulum("rodrigues", t_end=50.0, options={"chart": name}) for name in ("none", chart))
    assert np.abs(plain["attitude"] - charted["attitude"]).max() <= limit
    assert np.trace(plain["attitude"].values, axis1=1, axis2=2).min() <= -0.99


def test_a_start_without_coordinates_is_refused():
    start = np.diag([-1.0, -1.0, 1.0])
    with pytest.raises(IntegrationError, match="limit of its chart"):
        pendulum("rodrigues", initial={"attitude": start}, options={"chart": "alpha"})
    pendulum("rodrigues", initial={"attitude": start}, options={"chart": "modified"}, t_end=0.1)


@pytest.mark.parametrize(("modified", "steps"), [(False, 2), (True, 4)])
def test_a_chart_ends_exactly_where_it_has_no_coordinates(modified, steps):
    """With h w = 2 every step of (25) turns by pi/2: alpha ends at pi, modified parameters at 2 pi."""
    case = formulated("free_rigid_body", "asymmetric", "rigid_bodies", {"inertia": [1.0, 1.0, 1.0]},
                      {"attitude": np.eye(3), "angular_momentum": np.array([0.0, 0.0, 2.0])})
    turned = Map(case, kicked(FreeTurn(1)))(case.start, 1.0, 2)
    assert np.allclose(turned[:3], np.diag([-1.0, -1.0, 1.0]))
    flow = Map(case, kicked(ChartDrift(1, modified)))
    flow(case.start, 1.0, steps, Status.CHART_LIMIT)
    plain = Map(case, kicked(FreeTurn(1)))(case.start, 1.0, steps - 1)
    assert np.allclose(flow(case.start, 1.0, steps - 1), plain)


def test_lgvi_keeps_the_energy_of_a_free_body():
    case = formulated("free_rigid_body", "asymmetric", "rigid_bodies")
    flow = Map(case, kicked(LieGroupVariational(1e-15, 50)))
    flow(case.start, 0.1, 2000)
    assert flow.largest["energy"][0] <= 1e-4
    assert flow.largest["momentum_map"].max() <= 1e-13
    assert Map(case, kicked(AxisSplitting(5)))(case.start, 0.1, 10)[3] == pytest.approx(case.start[3], abs=0)


def test_the_exact_drift_ends_where_no_arcsine_exists():
    with pytest.raises(IntegrationError, match="would rotate a body by 90 degrees"):
        pendulum("rodrigues drift=exact", initial={"angular_momentum": [0.0, 0.0, 101.0]})
    pendulum("rodrigues drift=exact", initial={"angular_momentum": [0.0, 0.0, 99.0]}, t_end=0.1)


def test_unequal_moments_are_refused_by_closed_forms():
    with pytest.raises(InputError, match="rodrigues cannot run on heavy_top: it is for bodies with three equal"
                       r" moments of inertia, and body 0 has 0.6, 0.9, 0.4 kg m2 \(lgvi and dlm take any\)") as caught:
        specify("heavy_top", "rodrigues", preset="asymmetric", steps=10)
    able = str(caught.value).split("can: ")[1].split(", ")
    assert {"lgvi", "dlm", "richardson", "slgi", "rkmk"} <= set(able)
    assert not [name for name in able if name.startswith(("rodrigues", "campello"))]


@pytest.mark.parametrize("phi", [-0.1, 1.5, "half", True, float("nan")])
def test_phi_is_a_share(phi):
    with pytest.raises(InputError, match="option phi must be a number from 0 to 1, not"):
        specify("heavy_top", "campello", preset="rodrigues2021", steps=10, options={"phi": phi})


def test_campello_dissipates_below_one():
    """Energy changes at t = 50, h = 0.01, of an independent trial: halved with h."""
    for phi, change in ((1.0, 0.0064), (0.5, -0.169), (0.0, -0.349)):
        data = pendulum("campello", t_end=50.0, options={"phi": phi})
        assert float(data["energy"][-1] - data["energy"][0]) == pytest.approx(change, abs=6e-4)
        assert data.attrs["momentum_error_max_z"] <= 1e-13
