"""Dense output and events by a partial step: order, manifold, time of a force, sentences."""
import numpy as np
import pytest
from force_cases import load, order
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.compile.endings import partial_steps
from liestep.errors import InputError

T = 1.0
TIMES = np.linspace(0.0, T, 38)  # almost none of them nodes
THEORY = {"vi_sphere": (2, (20, 40)), "vi_sphere weights=kl6": (6, (20, 40)), "rkmk": (4, (40, 80))}


@pytest.fixture(scope="module")
def reference():
    load("damped_pendulum")
    return liestep.reference("damped_pendulum", t_end=T, samples=38)


@pytest.fixture(scope="module")
def crossing():
    """When the first link comes to q_z = -0.95, by DOP853."""
    load("damped_pendulum")
    data = liestep.simulate("damped_pendulum", "dop853", tolerance=1e-13, options={"atol": 1e-13}, t_end=T,
                            until=("q", (0, 2), -0.95))
    assert abs(data["q"].values[-1, 0, 2] + 0.95) < 1e-12
    assert data.attrs["time_reached"] == data.attrs["event_time"] == data["time"].values[-1]
    return data.attrs["event_time"]


def test_dense_output_has_a_systems_own_names():
    """Free spin about an axis: the rate stays, R turns by it."""
    own = liestep.system("own", torque=lambda p: [0, 0, 0], inertia=[1, 2, 3],
                         start={"R": np.eye(3), "rate": [0, 0, 2]})
    at = own.simulate("rkmk", step=0.1, t_end=1.0, dense=True).liestep.at([0.123, 0.77])
    assert np.abs(at["rate"].values - [0, 0, 2]).max() < 1e-14
    assert np.abs(at["R"].values[:, 0, 0] - np.cos([0.246, 1.54])).max() < 1e-14


@pytest.mark.parametrize("integrator", THEORY)
def test_dense_output_and_events_have_the_order_of_the_method(integrator, reference, crossing):
    """The force depends on time: a partial step from the wrong node, or from t = 0, would not have this order."""
    load("damped_pendulum")
    theory, counts = THEORY[integrator]
    gaps, late = [], []
    for steps in counts:
        data = liestep.simulate("damped_pendulum", integrator, steps=steps, t_end=T, dense=True)
        between = data.liestep.at(TIMES)
        assert np.abs(np.linalg.norm(between["q"].values, axis=-1) - 1.0).max() < 3e-15
        gaps.append(float(np.abs(between["q"].values - reference["q"].values).max()))
        ended = liestep.simulate("damped_pendulum", integrator, steps=steps, t_end=T, until=("q", (0, 2), -0.95))
        assert ended.attrs["event"] == "reached"
        assert abs(ended["q"].values[-1, 0, 2] + 0.95) < 1e-12
        late.append(abs(ended.attrs["event_time"] - crossing))
    assert abs(order(counts, gaps) - theory) < 0.2
    assert order(counts, late) > theory - 0.5


def test_nodes_themselves_are_the_samples_to_the_last_bit():
    load("damped_pendulum")
    data = liestep.simulate("damped_pendulum", "vi_sphere", steps=20, t_end=T, dense=True)
    at = data.liestep.at(data["time"].values)
    for name in ("q", "omega", "energy", "work"):
        assert np.array_equal(at[name].values, data[name].values), name


def test_event_by_a_function_and_one_that_never_occurs():
    load("damped_pendulum")
    one, other = (liestep.simulate("damped_pendulum", "vi_sphere", steps=40, t_end=T, until=until)
                  for until in (("q", (0, 2), -0.95), lambda state: state["q"][0, 2] + 0.95))
    assert one.attrs["event_time"] == pytest.approx(other.attrs["event_time"], abs=1e-13)
    assert one["time"].values[-1] == one.attrs["event_time"]
    never = liestep.simulate("damped_pendulum", "vi_sphere", steps=40, t_end=T, until=("q", (0, 2), 2.0))
    assert never.attrs["event"] == "none"
    assert np.isnan(never.attrs["event_time"])
    assert never["time"].values[-1] == T


@pytest.mark.parametrize(("until", "words"), [
    ("q[0, 2]", "no text is evaluated"), ([("q", (0, 2), 0.0)], "an event must be a function"),
    (("qq", 0, 0.0), "unknown field or observable 'qq'"), (("q", 0, 0.0), "the index 0 does not fit q"),
    (("q", (0, 3), 0.0), "does not fit q"), (3, "an event must be a function of the state"),
    (lambda state: True, "must give a number"), (lambda state: np.nan, "finite number")])
def test_wrong_events_are_one_sentence(until, words):
    load("damped_pendulum")
    with pytest.raises(InputError) as caught:
        liestep.simulate("damped_pendulum", "vi_sphere", steps=20, t_end=T, until=until)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_has_no_partial_step_says_so():
    load("damped_pendulum")
    with pytest.raises(InputError, match="dop853 is adaptive and keeps no nodes"):
        liestep.simulate("damped_pendulum", "dop853", tolerance=1e-6, t_end=T, dense=True)
    with pytest.raises(InputError, match=r"lie_ab has no dense output .* steps.*integrators that have: .*rkmk"):
        liestep.simulate("four_bar", "lie_ab order=2", step=0.01, t_end=0.1, dense=True)
    with pytest.raises(InputError, match="lie_ab has no dense output"):
        liestep.simulate("four_bar", "lie_ab order=2", step=0.01, t_end=0.1, until=("energy", None, 0.0))
    with pytest.raises(InputError, match="give dense or until, not both"):
        liestep.simulate("damped_pendulum", "rkmk", step=0.1, t_end=T, dense=True, until=("q", (0, 2), 0.0))


def test_dense_output_needs_nodes_memory_and_times_within_the_run(monkeypatch):
    load("damped_pendulum")
    plain = liestep.simulate("damped_pendulum", "vi_sphere", steps=20, t_end=T)
    with pytest.raises(InputError, match="simulate it with dense=True"):
        plain.liestep.at([0.5])
    dense = liestep.simulate("damped_pendulum", "vi_sphere", steps=20, t_end=T, dense=True)
    for time in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match=r"outside of the run, which is from 0 to 1\.0"):
            dense.liestep.at([0.5, time])
    monkeypatch.setenv("LIESTEP_MEMORY", "100000")
    with pytest.raises(InputError, match=r"keep every step: the run needs .* of memory"):
        liestep.simulate("damped_pendulum", "vi_sphere", steps=2000, t_end=T, samples=2, dense=True)


def test_partial_step_takes_its_time_from_the_node():
    """A wrong time would leave no trace in a force that does not depend on it: this one does."""
    class Clock:
        def start(self, problem, t, y, h, work):
            return 0

        def step(self, problem, t, y, h, work):
            y[0, 0] += t*h
            return 0

        def observe(self, y, out):
            out[0] = y[0, 0]

    states, values = np.zeros((2, 2, 1, 1)), np.zeros((2, 2, 1))
    assert partial_steps(Clock(), Clock(), np.array([3.0, 5.0]), np.zeros((2, 1, 1)), np.array([0.5, 0.25]),
                         np.array([0.0, 1.0]), states, values, None) == 0
    assert states.ravel().tolist() == values.ravel().tolist() == [0.0, 1.5, 0.0, 1.25]
