"""References: two engines that agree, an exact solution, what is refused, and files that cannot
be mistaken for others."""
import math
from types import SimpleNamespace

import numpy as np
import pytest
from place import TOP
from scipy.special import ellipj, ellipkinc
from system_cases import SPHERES

import liestep
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError
from liestep.mechanics.formulations import symbolic
from liestep.mechanics.formulations.spheres import series
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.references import engines
from liestep.simulation.references.reference import compute_reference, specify_reference, study_reference
from liestep.simulation.runs.files import is_current, require_current, write
from liestep.study.plan.plan import Study

SMALL = {"lennard_jones_sphere": {"mass": [1.0]*12}}  # the icosahedron


@pytest.fixture(scope="module")
def bodies():
    return compute_reference(specify_reference("sphere_nbody", t_end=2.0, samples=21))


class PlainLoop:
    """A loop of the core in plain Python."""

    def __init__(self, function):
        self.call = function

    def __call__(self, *arguments):
        return self.call(*arguments)


def test_numbers_that_a_narrow_row_leaves_unwritten_are_zero(monkeypatch):
    """A mechanism's vectors of three lie in rows of four: what memory held before once stopped DOP853."""
    run = specify_reference("four_bar", t_end=0.1, samples=3).run
    monkeypatch.setattr(engines, "loop_for", lambda loop, problem: PlainLoop(loop))
    used = SimpleNamespace(**vars(np) | {"empty_like": lambda array: np.full(array.shape, 7.0)})
    monkeypatch.setattr(engines, "np", used)
    f, y = engines.right_hand_side(run)
    rates = f(0.0, y).reshape(engines.state_shape(run))
    narrow = (rates[:, 3] == 0.0) | (rates[:, 3] == 7.0)  # nine vectors; the rest are quaternions
    assert narrow.sum() == 9
    assert not rates[narrow, 3].any()


def test_pendulum_agrees_with_elliptic_functions():
    """One pendulum from rest at 2 rad: sin(theta/2) = k cd(omega t), an exact solution that shares
    nothing with the engines."""
    angle, rate = 2.0, math.sqrt(9.81)
    q, omega = [[math.sin(angle), 0.0, math.cos(angle)]], [[0.0, 0.0, 0.0]]
    found = liestep.reference("spherical_pendulum_chain",
                              parameters={"mass": [2.0], "length": [1.0], "gravity": [0.0, 0.0, 9.81]},
                              initial={"q": q, "omega": omega}, t_end=5.0, samples=26)
    k = math.sin(angle/2)
    _, cn, dn, _ = ellipj(rate*found["time"].values, k*k)
    theta = 2.0*np.arcsin(k*cn/dn)
    exact = np.stack([np.sin(theta), np.zeros_like(theta), np.cos(theta)], axis=-1)
    assert ellipkinc(math.pi/2, k*k)*4.0/rate < 5.0  # more than one period
    assert np.abs(found["q"].values[:, 0] - exact).max() < 1e-13
    assert float(found["disagreement_q"].max()) < 1e-13
    # all of it at the lowest point
    assert found.attrs["energy_scale"] == pytest.approx(2.0*9.81*(1.0 - math.cos(angle)), rel=1e-4)


@pytest.mark.parametrize(("problem", "preset", "t_end"),
                         [("spherical_pendulum_chain", "paper_scaled", 2.0), ("spring_pendula", "paper", 0.3),
                          ("dipole_array", "paper", 0.2)])
def test_engines_agree_near_round_off(problem, preset, t_end):
    found = compute_reference(specify_reference(problem, preset=preset, t_end=t_end, samples=11))
    assert "heyoka" in found.attributes["engines"]
    for name in ("disagreement_q", "disagreement_omega"):
        gap = found.variables[name][1]
        assert gap[0] <= 1e-15  # the start; omega is q x (omega x q) in one of them
        assert 0.0 < gap.max() < 1e-13
    energy = found.variables["energy"][1]
    assert np.ptp(energy) < 1e-13*(abs(energy[0]) + found.attributes["energy_scale"])


def test_content_is_scaled_and_sampled(bodies):
    """The scales are maxima over more times than the samples, and the samples are the run's own times."""
    time, q, omega = (bodies.variables[name][1] for name in ("time", "q", "omega"))
    assert time == pytest.approx(np.linspace(0.0, 2.0, 21), abs=1e-15)
    assert np.abs(np.sum(q*q, axis=2) - 1.0).max() < 1e-13
    kinetic = 0.5*np.sum(omega*omega, axis=(1, 2))
    assert kinetic.max() <= bodies.attributes["energy_scale"] < 1.2*kinetic.max()
    assert np.linalg.norm(omega, axis=2).max() <= bodies.attributes["scale_omega"]
    run = liestep.simulate("sphere_nbody", "vi_sphere", step=0.01, t_end=2.0, samples=21)
    assert np.abs(run["time"].values - time).max() < 1e-14
    assert np.abs(run["q"].values - q).max() < 1e-3


def test_system_too_large_for_a_series_gets_a_composition(bodies, monkeypatch):
    monkeypatch.setattr(series, "MOST_BODIES", 2)
    found = compute_reference(specify_reference("sphere_nbody", t_end=0.5, samples=6))
    assert "heyoka" not in found.attributes["engines"]
    assert "vi_sphere weights=kl8" in found.attributes["engines"]
    assert 0.0 < found.attributes["disagreement_q_max"] < 1e-12
    assert np.abs(found.variables["q"][1] - bodies.variables["q"][1][:6]).max() < 1e-13


def test_a_composition_is_accurate_before_chaos():
    """The double pendulum: no step size fixes its state at 400 s, but that at 80 s."""
    runs = [specify_reference("spherical_pendulum_chain", preset="paper_scaled", t_end=t_end, samples=n).run
            for t_end, n in ((400, 41), (80, 9))]
    longer = engines.composition(runs[0], np.linspace(0.0, 400.0, 41))
    exact = engines.dop853(runs[1], np.linspace(0.0, 80.0, 9))
    assert np.abs(longer[:9] - exact).max() < 1e-9
    assert np.isfinite(longer).all()


def symbolic_gradient(system, q):
    return symbolic.traced(system, "gradient", q.shape, lambda plain, out: plain.gradient(q, out))


@pytest.mark.parametrize("problem", SPHERES)
def test_traced_gradient_is_the_system_s_own(problem):
    """The gradient on symbols, evaluated, is the compiled one up to the order of additions."""
    import heyoka  # 0.4 s, of which only the tests with it take

    facts = sheet(problem)
    preset = facts.presets[facts.default]
    parameters = facts.check({**preset.parameters, **SMALL.get(problem, {})})
    q = np.random.default_rng(5).standard_normal((len(facts.mass(parameters)), 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    symbols = heyoka.make_vars(*(f"x{i}" for i in range(q.size)))
    traced = symbolic_gradient(facts.build(parameters), np.array(symbols, dtype=object).reshape(q.shape))
    value = heyoka.cfunc(list(traced.flat), vars=list(symbols), compact_mode=True)(q.ravel()).reshape(q.shape)
    own = np.zeros_like(q)
    plain_component(facts.build(parameters), Functions(math.sqrt, math.sin, math.cos)).gradient(q, own)
    assert np.abs(value - own).max() <= 1e-12*np.abs(own).max()


def test_gradient_that_decides_on_values_is_not_symbolic():
    import heyoka

    class Wall:
        def gradient(self, q, out):
            out[0, 0] = 1.0 if q[0, 0] > 0.5 else 0.0

    (listed,) = load_plugin(TOP/"benchmarks"/"lennard_jones_cutoff.py")  # asks which pairs are near
    facts = sheet(listed)
    molecules = facts.build(facts.check(facts.presets["level2"].parameters))
    for system, n in ((Wall(), 1), (molecules, 162)):
        symbols = np.array(heyoka.make_vars(*(f"x{k}" for k in range(3*n))), dtype=object).reshape(n, 3)
        with pytest.raises(symbolic.NotSymbolic, match="not one expression"):
            symbolic_gradient(system, symbols)


def test_functions_of_parameters_alone_are_numbers():
    swing = liestep.system("swing_askew", hamiltonian=lambda q, momentum, p: 0.5*momentum[0]**2 + np.cos(p.a)*q[0]**2,
                           start={"q": [0.7], "momentum": [0.0]}, parameters={"a": 0.2})
    times = np.linspace(0.0, 3.0, 4)
    found = engines.taylor(specify_reference(swing, t_end=3.0, samples=4).run, times)
    np.testing.assert_allclose(found[:, 0, 0], 0.7*np.cos(np.sqrt(2.0*np.cos(0.2))*times), rtol=0.0, atol=1e-14)


def test_collision_has_no_reference(monkeypatch):
    """Two bodies fall onto each other: the engine stops, and says where, instead of crawling
    towards the singularity."""
    monkeypatch.setattr(engines, "MOST_STEPS", 500)
    request = specify_reference("sphere_nbody", parameters={"mass": [1.0, 1.0], "gamma": 1.0}, t_end=2.0,
                                initial={"q": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "omega": np.zeros((2, 3))})
    with pytest.raises(InputError, match=r"no reference up to t = 2: DOP853 stopped at t = 1\.11"):
        compute_reference(request)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"engines": ("dop853", "tailor")}, "did you mean taylor"),
    ({"engines": ("taylor", "taylor")}, "two different engines"), ({"engines": ("dop853",)}, "two different engines"),
    ({"samples": 1}, "samples"), ({"t_end": -1.0}, "t_end"), ({"preset": "papr"}, "paper")])
def test_wrong_requests_are_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        specify_reference("sphere_nbody", **change)


def test_file_is_recognised_only_as_what_it_is(bodies, tmp_path):
    path, spec = tmp_path/"bodies.nc", specify_reference("sphere_nbody", t_end=2.0, samples=21)
    assert not is_current(path, spec)
    write(bodies, path)
    assert is_current(path, spec)
    file = require_current(path, spec)
    assert np.array_equal(file["q"], bodies.variables["q"][1])
    assert file.attributes["energy_scale"] == bodies.attributes["energy_scale"]
    for other in (specify_reference("sphere_nbody", t_end=2.0, samples=11),
                  specify_reference("sphere_nbody", t_end=1.0, samples=21),
                  specify_reference("sphere_nbody", t_end=2.0, samples=21, engines=("taylor", "dop853"))):
        assert not is_current(path, other)
        with pytest.raises(InputError, match="another specification"):
            require_current(path, other)
    first = path.read_bytes()
    write(compute_reference(spec), path)
    assert path.read_bytes() == first  # byte-identical repetition
    path.write_bytes(first[:len(first)//2])
    assert not is_current(path, spec)


def test_runs_without_common_samples_are_refused(tmp_path):
    study = tmp_path/"studies"/"mixed.yaml"
    study.parent.mkdir()
    study.write_text("""title: mixed
reference: true
problems:
  bodies: {system: sphere_nbody, t_end: 1, steps: {counts: [10, 20]}}
integrators:
  vi_sphere: {samples: 11}
  rk4: {samples: 6}
""")
    with pytest.raises(InputError, match=r"mixed.yaml, line 4: .*rk4 h0.1 has 6, vi_sphere h0.1 has 11"):
        study_reference(Study.find("mixed", tmp_path, tmp_path/"results"), "bodies")
    with pytest.raises(InputError, match="did you mean bodies"):
        study_reference(Study.find("mixed", tmp_path, tmp_path/"results"), "bodys")
