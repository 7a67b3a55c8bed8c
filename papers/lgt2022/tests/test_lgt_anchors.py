"""lgt2022: numbers of an independent trial, and motions from other derivations."""
import numpy as np
import pytest
from chain_loaded import _loaded  # noqa: F401
from fast_top import TOP_RATE, error, top
from mechanism_cases import hat
from scipy.integrate import solve_ivp

from liestep import reference, simulate
from liestep.geometry.attitude import about_axis
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.specification import start_of


@pytest.mark.parametrize(("steps", "exponential", "cayley"), [(1000, 3.08e-4, 3.25e-4), (2000, 1.64e-5, 1.75e-5),
                                                             (4000, 9.31e-7, 1.00e-6)])
def test_errors_of_the_fast_top_to_three_digits(steps, exponential, cayley):
    """Every group with every twist and both reference points: joints of points leave (R, w) the same."""
    for preset in ("bruels_cardona", "bruels_cardona_offset"):
        for twist in ("body", "mixed"):
            for name, expected in (("1a", exponential), ("1b", exponential), ("1c", cayley), ("1d", cayley)):
                data = top(steps, name, preset=preset, twist=twist)
                assert abs(error(data)/expected - 1.0) < 0.006, (preset, twist, name)
    assert np.abs(data["body_rate"].values[-1, 0] - TOP_RATE).max() < 2e5*expected


def test_spatial_rates_are_another_method():
    """The paper's (17) with velocities of remark 1: the rate in space turns slowly here, and its error is a quarter."""
    assert error(top(4000, twist="spatial")) == pytest.approx(2.63e-7, rel=0.01)


def test_the_reference_agrees_with_the_fixed_point_series():
    data = top(64000, integrator="rkmk tableau=dormand_prince5")
    assert error(data) < 2e-11
    assert np.abs(data["body_rate"].values[-1, 0] - TOP_RATE).max() < 1e-8
    data = simulate("jointed_body", "rkmk853", preset="bruels_cardona", tolerance=1e-14, t_end=1.0, samples=2)
    assert error(data) < 1e-10
    assert np.abs(data["body_rate"].values[-1, 0] - TOP_RATE).max() < 1e-10


def test_joint_errors_of_the_fast_top():
    """A spherical joint is kept to round-off by SE(3) with body twists alone; a and b keep A V with body twists."""
    mixed, body = top(4000, twist="mixed"), top(4000, "1b", twist="body")
    assert mixed.attrs["joint_error_max"] == pytest.approx(3.2e-6, rel=0.01)
    assert mixed.attrs["joint_rate_error_max"] == pytest.approx(5.6e-6, rel=0.01)
    assert body.attrs["joint_error_max"] == pytest.approx(9.0e-9, rel=0.01)
    assert body.attrs["joint_rate_error_max"] < 1e-11
    for name in ("1a", "1d"):
        for integrator in ("rkmk", "rkmk tableau=dormand_prince5", "cf4"):
            for preset in ("bruels_cardona", "bruels_cardona_offset"):
                data = top(1000, name, integrator, preset)
                assert data.attrs["joint_error_max"] < 1e-11
                assert data.attrs["joint_rate_error_max"] < 1e-11


@pytest.mark.parametrize(("steps", "expected"), [(1000, 1.32e-5), (2000, 7.11e-7), (4000, 4.09e-8)])
def test_projection_of_the_fast_top(steps, expected):
    data = top(steps, "1b", stabilisation="projection")
    assert error(data) == pytest.approx(expected, rel=0.01)
    assert data.attrs["joint_error_max"] < 2e-13
    assert data.attrs["joint_rate_error_max"] < 2e-13


def test_baumgarte_bounds_the_joint_error():
    held = simulate("jointed_body", "rkmk", preset="bruels_cardona", step=1e-3, t_end=10.0, samples=2,
                    options={"twist": "mixed", "stabilisation": "baumgarte"})
    assert held.attrs["joint_error_max"] == pytest.approx(8.5e-6, rel=0.02)
    for end, expected in ((1.0, 8.4e-4), (5.0, 1.6e-2), (10.0, 6.5e-2)):
        free = simulate("jointed_body", "rkmk", preset="bruels_cardona", step=1e-3, t_end=end, samples=2,
                        options={"twist": "mixed"})
        assert free.attrs["joint_error_max"] == pytest.approx(expected, rel=0.03)


def test_multistep_methods_need_past_states_in_local_coordinates():
    """Free body: order 4 with transport of past rates, 2 without, to the digits of the trial."""
    start = simulate("jointed_body", "rkmk tableau=dormand_prince5", preset="free", steps=6400,
                     samples=2)["attitude"].values[-1]

    def errors(transport):
        return [float(np.abs(simulate("jointed_body", "lie_ab", preset="free", steps=steps, samples=2, options={
            "action": "so3_r3", "transport": transport})["attitude"].values[-1] - start).max())
            for steps in (200, 400, 800, 1600)]

    on, off = errors("on"), errors("off")
    assert np.log2(np.divide(on[:-1], on[1:])) == pytest.approx(4.0, abs=0.12)
    assert off == pytest.approx([2.5e-4, 6.2e-5, 1.5e-5, 3.9e-6], rel=0.05)
    assert on == pytest.approx([4.76e-6, 2.89e-7, 1.78e-8, 1.11e-9], rel=0.1)


@pytest.mark.parametrize(("integrator", "order"), [("cf4", 4), ("cg3", 3), ("rkmk", 4), ("rkmk4_2comm", 4)])
def test_schemes_of_exponentials_have_order_two_with_cayley_maps(integrator, order):
    """Stated and observed; Munthe-Kaas methods know the differential of their chart and keep their order, unless they
    cut its series."""
    exact = simulate("jointed_body", "rkmk tableau=dormand_prince5", preset="free", steps=6400,
                     samples=2)["attitude"].values[-1]
    for chart in ("exp", "cayley", "cayley2"):
        found = [float(np.abs(simulate("jointed_body", integrator, preset="free", steps=steps, samples=2, options={
            "action": "so3_r3", "chart": chart})["attitude"].values[-1] - exact).max()) for steps in (200, 400)]
        stated = method(integrator).order_of({"chart": chart, "dexpinv": "exact", "tableau": "rk4"},
                                             sheet("jointed_body"), {})
        assert stated == (order if chart == "exp" or integrator == "rkmk" else 2)
        assert np.log2(found[0]/found[1]) == pytest.approx(stated, abs=0.1)


def after_one_second(rates, start):
    """End of y' = rates(t, y), by a solver of order 8."""
    return solve_ivp(rates, (0.0, 1.0), start, method="DOP853", rtol=3e-14, atol=1e-14).y[:, -1]


@pytest.mark.slow
def test_the_double_pendulum_is_that_of_its_joint_form():
    """Another derivation: both body rates are free, virtual power of both bodies on them, no multiplier."""
    start = start_of("body_chain", preset="double_pendulum")
    p = start.parameters
    arms = -p["joint_in"], p["joint_out"] - p["joint_in"]  # from the inner joint to the centre of mass, and to the next

    def rates(_, y):
        turns, w = y[:18].reshape(2, 3, 3), y[18:].reshape(2, 3)
        matrix, right = np.zeros((6, 6)), np.zeros(6)
        for i in range(2):
            arm = [arms[1][j] if j < i else arms[0][j] for j in range(i + 1)]
            lever = np.hstack([-turns[j] @ hat(arm[j]) if j <= i else np.zeros((3, 3)) for j in range(2)])
            bend = sum(turns[j] @ np.cross(w[j], np.cross(w[j], arm[j])) for j in range(i + 1))
            matrix += p["mass"][i]*lever.T @ lever
            right += p["mass"][i]*lever.T @ (p["gravity"] - bend)
            own = slice(3*i, 3*i + 3)
            matrix[own, own] += p["inertia"][i]
            right[own] -= np.cross(w[i], p["inertia"][i] @ w[i])
        turning = [turns[j] @ hat(w[j]) for j in range(2)]
        return np.concatenate([np.ravel(turning), np.linalg.solve(matrix, right)])

    end = after_one_second(rates, np.concatenate([np.ravel(start.initial[name]) for name in ("attitude", "body_rate")]))
    found = reference("body_chain", preset="double_pendulum", samples=2, t_end=1.0).isel(time=-1)
    turns = end[:18].reshape(2, 3, 3)
    assert np.abs(found["attitude"].values - turns).max() < 1e-10
    assert np.abs(found["body_rate"].values - end[18:].reshape(2, 3)).max() < 1e-10
    first = turns[0] @ arms[0][0], turns[0] @ arms[1][0] + turns[1] @ arms[0][1]
    assert np.abs(found["position"].values - np.array(first)).max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["tilted", "unequal"])
def test_the_four_bar_is_that_of_one_angle(preset):
    """Another derivation: the crank's angle alone in the plane; angles of the others follow from the closed loop."""
    start = start_of("four_bar", preset=preset)
    p = start.parameters
    (a, b, c, _), moments = p["length"], p["inertia"][:, 2, 2]
    pull = (p["plane"].T @ p["gravity"])[:2]

    def motion(angles, rate):
        """Rates of the angles for a unit rate of the crank, and second derivatives where its own is zero."""
        along = [np.array([np.cos(x), np.sin(x)]) for x in angles]
        across = [np.array([-u[1], u[0]]) for u in along]
        loop = np.column_stack([b*across[1], -c*across[2]])
        slope = np.array([1.0, *np.linalg.solve(loop, -a*across[0])])
        speed = rate*slope
        bent = a*along[0]*speed[0]**2 + b*along[1]*speed[1]**2 - c*along[2]*speed[2]**2
        return along, across, slope, np.array([0.0, *np.linalg.solve(loop, bent)])

    def rates(_, y):
        angles, rate = y[:3], y[3]
        along, across, slope, second = motion(angles, rate)
        levers = [0.5*a*across[0], a*across[0] + 0.5*b*slope[1]*across[1], 0.5*c*slope[2]*across[2]]
        spin = (rate*slope)**2
        bent = [-0.5*a*spin[0]*along[0], -a*spin[0]*along[0] + 0.5*b*(second[1]*across[1] - spin[1]*along[1]),
                0.5*c*(second[2]*across[2] - spin[2]*along[2])]
        inertia = sum(m*x @ x for m, x in zip(p["mass"], levers, strict=True)) + moments @ slope**2
        power = sum(m*x @ (pull - v) for m, x, v in zip(p["mass"], levers, bent, strict=True))
        return [*(rate*slope), (power - moments @ (slope*second))/inertia]

    flat = np.einsum("ij,bik->bjk", p["plane"], start.initial["attitude"])
    end = after_one_second(rates, [*np.arctan2(flat[:, 1, 0], flat[:, 0, 0]), start.initial["body_rate"][0, 2]])
    found = reference("four_bar", preset=preset, samples=2, t_end=1.0).isel(time=-1)
    turns = np.array([p["plane"] @ about_axis(angle, 2) for angle in end[:3]])
    assert np.abs(found["attitude"].values - turns).max() < 1e-10
    assert np.abs(found["body_rate"].values[:, 2] - end[3]*motion(end[:3], end[3])[2]).max() < 1e-10
