"""Two quadrotors with a load by methods of every kind: series, pairs, projections; the checks of systems, films,
and what the package says of a system that it no longer has."""
import numpy as np
import pytest
from quadrotor_runs import NAME, _loaded, quadrotor_payload  # noqa: F401

from liestep import InputError, simulate
from liestep.api.command_line import main
from liestep.figures.films.film import frame_of
from liestep.figures.films.motions import motion_of
from liestep.figures.films.viewer import page_of
from liestep.figures.scenes.space import Scene
from liestep.figures.style import new_figure
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

FIELDS = ("load_position", "load_velocity", "q", "omega", "attitude", "body_rate")


@pytest.mark.parametrize("preset", ["paper", "attitude_control", "uncontrolled"])
def test_series_and_pairs_follow_the_motion(preset):
    """A controller that depends on time, also within the series, by its equations as packs of three numbers."""
    end = {"preset": preset, "t_end": 0.5, "samples": 6}
    true = simulate(NAME, "dop853", tolerance=1e-13, **end)
    for integrator, tolerance, allowed in (("taylor", 1e-12, 1e-10), ("lie_taylor", 1e-12, 1e-10),
                                           ("rkmk853", 1e-10, 1e-7), ("rkmk_pair", 1e-8, 1e-5),
                                           ("cf_pair", 1e-7, 1e-4)):
        found = simulate(NAME, integrator, tolerance=tolerance, **end)
        for name in FIELDS:
            scale = max(1.0, np.abs(true[name]).max())
            assert np.abs(found[name] - true[name]).max() <= allowed*scale, (integrator, name)


def defect(run):
    """Largest entry of |R^T R - 1|."""
    axes = run["attitude"].values.reshape(-1, 3, 3)
    return np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(3)).max()


def test_quadrotors_return_to_the_manifold():
    """After each step; the embedded form leaves it. Both are the same motion."""
    usual, plain = (simulate(NAME, "taylor", preset="uncontrolled", tolerance=1e-4, t_end=1.0, samples=5,
                             options=options) for options in ({}, {"form": "embedded"}))
    q, omega = usual["q"].values, usual["omega"].values
    assert defect(usual) <= 1e-14 < 1e-9 < defect(plain)
    assert np.abs(1.0 - np.sum(q*q, axis=-1)).max() <= 1e-14
    assert np.abs(np.sum(q*omega, axis=-1)).max() <= 1e-14*np.abs(omega).max()
    assert np.abs(plain["attitude"] - usual["attitude"]).max() <= 1e-3


def test_bodies_that_do_not_exist_are_refused():
    with pytest.raises(InputError, match="is of no body"):
        specify(NAME, "rk4", steps=10, parameters={"inertia": [[1.0, 1.0, 1.0], [3.0, 1.0, 1.0]]})


def test_every_check_of_systems_holds(capsys):
    assert main(["check-system", quadrotor_payload.__file__]) == 0, capsys.readouterr().out


def test_the_film_shows_load_path_and_quadrotors(tmp_path):
    """All that a scene draws lies within the limits that were made for all samples; the path is dashed."""
    write(carry_out(specify(NAME, "rk4", t_end=0.5, steps=50)), tmp_path/"flight.nc")
    motion = motion_of(read(tmp_path/"flight.nc"))
    (left, right, bottom, top), _, _ = frame_of(motion)
    for k in (0, 50):
        scene = Scene(new_figure(90.0, 90.0, layout=None).add_axes([0.0, 0.0, 1.0, 1.0]), motion.view)
        motion.draw(scene, k)
        kinds = [kind for _, _, kind, _ in scene.items]
        assert kinds.count("ball") == 3
        points = np.concatenate([np.reshape(content[0], (-1, 2)) for _, _, _, content in scene.items])
        assert left <= points[:, 0].min() < points[:, 0].max() <= right
        assert bottom <= points[:, 1].min() < points[:, 1].max() <= top
    assert page_of([read(tmp_path/"flight.nc")], 3)


def test_the_package_has_no_such_system():
    from liestep.simulation.catalogue import own_systems

    assert NAME not in own_systems()
