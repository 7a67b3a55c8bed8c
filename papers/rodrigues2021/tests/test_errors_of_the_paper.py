"""The paper's relative errors, eqs. (37) and (38), and the error of the trajectory itself, against an independent trial
implementation with unit quaternions and composition of increments."""
import numpy as np
import pytest
from liestep_papers.rodrigues2021 import quantities

from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

# (38), (37), trajectory at h = 0.0125, T = 10
PENDULUM = {"rodrigues drift=exact": (6.907e-5, 1.052e-3, 8.75e-5),
            "rodrigues drift=exp": (2.483e-5, 3.167e-3, 1.05e-5),
            "rodrigues": (7.883e-6, 3.807e-3, 4.00e-5), "rodrigues kick=whole": (6.943e-3, 2.806e-2, 2.718e-3)}


@pytest.fixture(scope="module")
def file_of(tmp_path_factory):
    """Write a content and read it again."""
    def written(content):
        path = tmp_path_factory.mktemp("files")/"run.nc"
        write(content, path)
        return read(path)

    return written


@pytest.fixture(scope="module")
def pendulum(file_of):
    return file_of(compute_reference(specify_reference("heavy_top", preset="rodrigues2021", samples=201)))


@pytest.mark.parametrize("name", PENDULUM)
def test_pendulum(name, pendulum, file_of):
    run = file_of(carry_out(specify("heavy_top", name, preset="rodrigues2021", step=0.0125, samples=201)))
    found = quantities.errors(run, pendulum)
    assert found["energy_error_h0"] == pytest.approx(PENDULUM[name][0], rel=5e-4)
    assert found["h1_norm_error"] == pytest.approx(PENDULUM[name][1], rel=5e-4)
    assert found["h1_error"] == pytest.approx(PENDULUM[name][2], rel=1e-2)
    assert found["h1_norm_error_sampled"] == pytest.approx(5.81e-4, rel=1e-3)


def test_the_norm_of_the_reference_does_not_depend_on_its_samples(pendulum, file_of):
    """The motion passes a turn by pi at t = 9.553865, where the squared angle has a kink."""
    other = file_of(compute_reference(specify_reference("heavy_top", preset="rodrigues2021", samples=501)))
    motions = [quantities.motion(file) for file in (pendulum, other)]
    norms = [motion.norm_squared() for motion in motions]
    assert norms[0] == pytest.approx(norms[1], rel=1e-10)
    assert norms[0] == pytest.approx(66.863016074, rel=1e-9)
    scalar = motions[0].quaternions[:, 0, 0]
    crossing = quantities._roots(motions[0].time, scalar)
    assert crossing == pytest.approx([9.553865], abs=1e-6)


def test_reference_of_the_pendulum_is_good_enough(pendulum):
    gaps = {name: value for name, value in pendulum.attributes.items() if name.startswith("disagreement")}
    assert gaps
    assert max(gaps.values()) <= 1e-11


def test_the_weighted_mean_square_is_the_trapezoidal_rule(file_of):
    """(38) from samples of every step."""
    run = file_of(carry_out(specify("heavy_top", "rodrigues kick=whole", preset="rodrigues2021", step=0.05,
                                    samples=201)))
    gap = run["energy"] - run["energy"][0]
    direct = np.sqrt(np.trapezoid(gap*gap, run["time"])/run["time"][-1])/abs(run["energy"][0])
    assert quantities.errors(run, None) == {"energy_error_h0": pytest.approx(direct, rel=1e-12)}
    assert run["h1_norm_squared"][-1] == pytest.approx(quantities.motion(run).norm_squared(), rel=1e-2)
