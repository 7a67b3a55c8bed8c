"""Every norm of the package against the axioms of a metric, and its perturbations against its distances."""
import numpy as np
import pytest

from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import NORMS, StateField, perturbed, quaternion_matrix, rotation_quaternion
from liestep.mechanics.contracts.manifold import check_attitude, check_directions, check_tangent
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.starts import each

PERTURBED = [name for name in NORMS if name != "derived"]
BASES = {(3, 3): np.eye(3), (4,): np.array([1.0, 0.0, 0.0, 0.0]), (): np.array([0.6, 0.0, 0.8])}


def values(name, seed, count=40, amplitude=1.0):
    """(count, ...): valid values of a norm with a leading time."""
    norm, random = NORMS[name], np.random.default_rng(seed)
    if name not in PERTURBED:
        return random.standard_normal((count, 3))
    base = BASES[norm.trailing]
    return np.stack([norm.moved(base, amplitude*random.standard_normal(norm.moves(base))) for _ in range(count)])


@pytest.mark.parametrize("name", NORMS)
def test_a_distance_is_a_metric(name):
    norm, (a, b, c) = NORMS[name], (values(name, seed) for seed in range(3))
    assert np.array_equal(norm.distance(a, a), np.zeros(len(a)))
    assert np.all(norm.distance(a, b) > 0.0)
    assert np.array_equal(norm.distance(a, b), norm.distance(b, a))
    assert np.all(norm.distance(a, c) <= (norm.distance(a, b) + norm.distance(b, c))*(1.0 + 1e-15))


@pytest.mark.parametrize("name", NORMS)
def test_a_distance_is_the_largest_of_several_bodies(name):
    norm, (a, b) = NORMS[name], (values(name, seed) for seed in range(2))
    far = norm.distance(a, b)
    assert norm.distance(a[None], b[None]) == pytest.approx(far.max())


@pytest.mark.parametrize("name", NORMS)
def test_a_scale_is_one_or_grows_with_the_reference(name):
    norm, reference = NORMS[name], values(name, 5)
    assert norm.scale(np.zeros_like(reference)) == 1.0
    if norm.scaled:
        assert norm.scale(4.0*reference) == 4.0*norm.scale(reference) > 0.0
        assert norm.scale(reference) >= np.abs(reference).max()
    else:
        assert norm.scale(4.0*reference) == 1.0


@pytest.mark.parametrize("name", PERTURBED)
@pytest.mark.parametrize("amplitude", [1e-9, 1e-6, 1e-3])
def test_a_perturbation_has_the_size_of_its_amplitude(name, amplitude):
    norm = NORMS[name]
    base = BASES[norm.trailing]
    gaps = norm.distance(values(name, 7, 400, amplitude), np.broadcast_to(base, (400, *base.shape)))
    assert 0.5*amplitude < np.sqrt(np.mean(gaps**2)) < 2.0*amplitude


@pytest.mark.parametrize("name", PERTURBED)
def test_a_perturbation_repeats_and_stays_a_value(name):
    one, other = values(name, 11), values(name, 11)
    assert np.array_equal(one, other)
    if NORMS[name].trailing == (3, 3):
        check_attitude("value", one)
    if NORMS[name].trailing == (4,):
        assert np.abs(np.sum(one*one, axis=-1) - 1.0).max() < 1e-15
    if name == "direction":
        check_directions("value", one)


def test_quaternions_of_either_sign_are_the_same_attitude():
    a, b = values("quaternion", 1), values("quaternion", 2)
    assert np.array_equal(NORMS["quaternion"].distance(a, -a), np.zeros(len(a)))
    assert np.allclose(NORMS["quaternion"].distance(a, b), NORMS["quaternion"].distance(a, -b), rtol=0.0, atol=1e-15)


def test_quaternions_and_matrices_of_one_rotation_are_equally_far_when_they_are_close():
    turns = 1e-4*np.random.default_rng(3).standard_normal((20, 3))
    q = rotation_quaternion(turns)
    by_quaternion = NORMS["quaternion"].distance(q, np.broadcast_to(BASES[4,], q.shape))
    by_matrix = NORMS["attitude"].distance(quaternion_matrix(q), np.broadcast_to(np.eye(3), (20, 3, 3)))
    assert np.allclose(by_quaternion, np.linalg.norm(turns, axis=1), rtol=1e-7)
    assert np.allclose(by_matrix, np.linalg.norm(turns, axis=1), rtol=1e-7)


def test_derived_fields_cannot_be_perturbed():
    with pytest.raises(InputError, match="a derived field follows from others"):
        NORMS["derived"].moves(np.zeros(3))
    with pytest.raises(InputError, match="no part of the initial state"):
        perturbed([StateField("a", "1", "", norm="derived")], {"a": np.zeros(3)}, 1.0, [(np.random.default_rng(), 1)])


def test_tangent_fields_stay_orthogonal_and_other_fields_stay():
    fields = (StateField("q", "1", ""), StateField("rate", "1", "", norm="relative", tangent="q"),
              StateField("multiplier", "1", "", norm="relative", counted=False))
    state = {"q": np.array([[0.0, 0.0, 1.0]]*4), "rate": np.array([[3.0, 0.0, 0.0]]*4), "multiplier": np.ones((4, 1))}
    moved, = each(perturbed(fields, state, 1e-2, [(np.random.default_rng(0), 1)]))
    check_directions("q", moved["q"])
    check_tangent("rate", moved["rate"], "q", moved["q"])
    assert np.abs(moved["rate"] - state["rate"]).max() > 1e-3
    assert np.array_equal(moved["multiplier"], state["multiplier"])


@pytest.mark.parametrize(("problem", "integrator"), [
    ("spring_pendula", "vi_sphere"), ("heavy_top", "lgvi"), ("bonded_ring", "lgvi"), ("four_bar", "rkmk")])
def test_many_members_start_as_one_after_the_other_would(problem, integrator):
    spec = specify(problem, integrator, t_end=1.0, steps=10)
    fields = formulate_standard(spec.sheet, spec.parameters, spec.initial).fields
    one, all_ = (np.random.default_rng(3) for _ in range(2))
    for found in each(perturbed(fields, spec.initial, 1e-3, [(all_, 2), (all_, 3)])):
        wanted, = each(perturbed(fields, spec.initial, 1e-3, [(one, 1)]))
        assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
        assert any(not np.array_equal(found[name], spec.initial[name]) for name in wanted)
