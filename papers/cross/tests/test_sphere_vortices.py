"""Point vortices: steady motions in closed form, what is conserved, the product action, refusals; and the spherical
midpoint method on them and on the momentum of a free body. Its order: `test_certificates`."""
import shutil
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liestep import load_plugin, simulate
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.figures.films.motions import motion_of
from liestep.figures.scenes.space import Scene
from liestep.figures.style import new_figure
from liestep.mechanics.formulations import formulate
from liestep.mechanics.systems import sphere_vortices
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

pytestmark = pytest.mark.slow

NAME, METHOD = "sphere_vortices", "spherical_midpoint"


def case(problem, preset, **options):
    facts = sheet(problem)
    declared = facts.presets[preset]
    parameters = facts.check(declared.parameters)
    found = formulate(facts, parameters, declared.initial(parameters), "lie_action", options)
    return plain(found.problem), found.start, parameters


def stepped(problem, y, h, steps=1, **options):
    chosen = {name: option.default for name, option in method(METHOD).options.items()} | options
    component, y = plain(method(METHOD).build(chosen, None, 1.0)), y.copy()
    work = component.workspace(problem, y)
    for _ in range(steps):
        status = component.step(problem, 0.0, y, h, work)
        assert status == Status.OK, status
    return y


@pytest.mark.parametrize(("preset", "strengths"), [("pair", [3.0, 1.0]), ("ring", [2.0]*5)])
def test_steady_motions(preset, strengths):
    """A pair turns about M = sum Gamma_i q_i at |M|/(2 pi l^2), a ring about its axis (Polvani and Dritschel 1993)."""
    data = simulate(NAME, "rkmk", preset=preset, steps=2000, samples=11)
    q, gamma = data["q"].values, np.array(strengths)
    if preset == "pair":
        rate = gamma @ q[0]/(2.0*np.pi*np.sum((q[0, 0] - q[0, 1])**2))
    else:
        rate = np.array([0.0, 0.0, 2.0*4*0.8/(4.0*np.pi*0.36)])
    for k, time in enumerate(data["time"].values):
        assert np.abs(q[k] - q[0] @ Rotation.from_rotvec(rate*time).as_matrix().T).max() <= 1e-9
    # the spherical midpoint method keeps the shape of a ring, and turns it at a rate that errs by h^2
    turned = simulate(NAME, METHOD, preset=preset, steps=2000, samples=2)["q"].values[-1]
    gap = np.sum((turned[:, None] - turned[None])**2, axis=-1) - np.sum((q[0][:, None] - q[0][None])**2, axis=-1)
    assert np.abs(gap).max() <= 1e-12


def test_velocity_is_that_of_the_hamiltonian_and_of_turned_space():
    """Gamma_i w_i is dH/dq_i along the sphere, by central differences of the observable."""
    problem, y, parameters = case(NAME, "four")
    spin, out = np.zeros_like(y), np.zeros((2, 5))
    problem.algebra(0.0, y, spin)
    for i, gamma in enumerate(parameters["strength"]):
        for axis in np.eye(3):
            u, h = np.cross(axis, y[i]), 1e-5
            for k, sign in enumerate((1.0, -1.0)):
                moved = y.copy()
                moved[i] += sign*h*u
                problem.observe(moved/np.linalg.norm(moved, axis=1)[:, None], out[k])
            assert (out[0, 0] - out[1, 0])/(2*h) == pytest.approx(gamma*spin[i] @ u, abs=1e-8)
    turn, turned = Rotation.random(random_state=3).as_matrix(), np.zeros_like(y)
    problem.algebra(0.0, y @ turn.T, turned)
    assert np.abs(turned - spin @ turn.T).max() <= 1e-13


def test_two_engines_agree_and_the_method_comes_to_them_with_order_two():
    reference = compute_reference(specify_reference(NAME, preset="four", t_end=2.0, samples=3))
    assert reference.attributes["disagreement_q_max"] <= 1e-11
    true = simulate(NAME, "dop853", preset="four", t_end=2.0, samples=2, tolerance=1e-13, options={"atol": 1e-14})
    errors = [np.abs(simulate(NAME, METHOD, preset="four", t_end=2.0, samples=2, steps=steps)["q"].values[-1]
                     - true["q"].values[-1]).max() for steps in (200, 400)]
    assert np.log2(errors[0]/errors[1]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("name", ["rkmk", "cf4", "rkmk_pair", "cf_pair", "rkmk tableau=euler"])
def test_lie_group_methods_stay_on_the_spheres(name):
    size = {"tolerance": 1e-8} if method(name).adaptive else {"steps": 200}
    data = simulate(NAME, name, preset="four", t_end=2.0, samples=2, **size)
    assert np.abs((data["q"].values**2).sum(axis=2) - 1.0).max() <= 1e-13


def test_spherical_midpoint_keeps_lengths_momentum_and_reverses():
    problem, y, parameters = case(NAME, "four")
    new = stepped(problem, y, 0.05, 20)
    assert np.abs((new**2).sum(axis=1) - 1.0).max() <= 1e-14
    assert np.abs(parameters["strength"] @ (new - y)).max() <= 1e-13
    assert np.abs(stepped(problem, new, -0.05, 20) - y).max() <= 1e-12


def test_long_run_keeps_lengths_and_energy():
    """2e4 steps: an iteration that is not checked loses |q| by 8e-3 where increments are added; here vectors turn."""
    data = simulate(NAME, METHOD, preset="four", steps=20000, t_end=400.0, samples=401)
    assert np.abs((data["q"].values**2).sum(axis=2) - 1.0).max() <= 1e-11
    assert np.abs(data["momentum_map"].values - data["momentum_map"].values[0]).max() <= 1e-10
    error = np.abs(data["energy"].values - data["energy"].values[0])
    assert error[300:].max() <= 2.0*error[:100].max()


@pytest.mark.parametrize(("name", "options"), [("symmetric", {}), ("turning_over", {}),
                                               ("symmetric", {"tolerance": 1e-15})])
def test_energy_of_a_free_body_changes_by_round_off_alone(name, options):
    """The midpoint rule keeps quadratic energies. What an error of 1e-15 leaves of the equations has one sign and adds
    up: 2.6e-16 J in a step of the symmetric body."""
    steps = 10000
    data = simulate("free_rigid_body", METHOD, preset=name, steps=steps, t_end=0.2*steps, samples=21,
                    options={"action": "coadjoint", **options})
    error = np.abs(data["energy"].values - data["energy"].values[0]).max()
    assert error > 1e-12 if options else error < np.finfo(float).eps*np.sqrt(steps)*data["energy"].values[0]


@pytest.mark.parametrize("value", [0.0, "none", np.nan])
def test_the_iteration_ends_at_stagnation_or_a_positive_tolerance(value):
    with pytest.raises(InputError, match=r"option tolerance is .*; allowed are stagnation and positive numbers"):
        simulate(NAME, METHOD, preset="pair", steps=10, t_end=1.0, options={"tolerance": value})


def test_an_iteration_that_is_cut_is_a_failure():
    problem, y, _ = case(NAME, "four")
    chosen = {"tolerance": 1e-15, "iterations": 2}
    component = plain(method(METHOD).build(chosen, None, 1.0))
    assert component.step(problem, 0.0, y.copy(), 0.05, component.workspace(problem, y)) == Status.NOT_CONVERGED


def test_free_body_keeps_the_sphere_of_its_momentum():
    problem, y, _ = case("free_rigid_body", "asymmetric", action="coadjoint")
    new, before, after = stepped(problem, y, 0.1, 50), np.zeros(2), np.zeros(2)
    problem.observe(y, before)
    problem.observe(new, after)
    assert abs(after[1] - before[1]) <= 1e-14
    assert abs(after[0] - before[0]) <= 1e-3
    assert np.abs(stepped(problem, new, -0.1, 50) - y).max() <= 1e-12


def test_free_body_turns_at_its_rate():
    """An error of 1e-6 in the rate would leave 1e-10, the order 2 leaves 1e-12."""
    problem, y, _ = case("free_rigid_body", "asymmetric", action="coadjoint")
    assert np.abs(stepped(problem, y, 1e-4, 1) - stepped(problem, y, 1e-6, 100)).max() <= 1e-11
    moments = sheet("free_rigid_body").presets["asymmetric"].parameters["inertia"]
    rate = (stepped(problem, y, 1e-4, 1) - y)[0]/1e-4
    assert np.abs(rate - np.cross(y[0], y[0]/np.array(moments))).max() <= 1e-3


@pytest.mark.parametrize(("problem", "name", "request_", "said"), [
    (NAME, "rk4", {"initial": {"q": [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}, "vortices 0 and 1 are at one poin"),
    (NAME, "rk4", {"parameters": {"strength": [1.0]}, "initial": {"q": [[1, 0, 0]]}}, "a single vortex does not move"),
    ("heavy_top", METHOD, {}, "a phase space that is a product of spheres"),
    ("free_rigid_body", METHOD, {"options": {"action": "direct"}}, "option action coadjoint"),
    ("free_rigid_body", METHOD, {"options": {"chart": "cayley"}}, "option chart must be exp"),
    (NAME, "rkmk", {"options": {"chart": "cayley"}}, "option chart does not exist"),
])
def test_refusals(problem, name, request_, said):
    with pytest.raises(InputError, match=said):
        specify(problem, name, steps=10, **request_)


def test_vortices_show_their_sense_and_strength(tmp_path):
    """Strengths 3, 2, -1 and 1.5: one vortex turns to the right, and the areas of the balls are in these ratios."""
    write(carry_out(specify(NAME, METHOD, preset="four", t_end=2.0, steps=40, samples=21)), tmp_path/"film.nc")
    file = read(tmp_path/"film.nc")
    motion = motion_of(file)
    scene = Scene(new_figure(90.0, 90.0, layout=None).add_axes([0.0, 0.0, 1.0, 1.0]), motion.view)
    motion.draw(scene, 10)
    balls = [content for _, _, kind, content in scene.items if kind == "ball"]
    assert np.allclose([place for place, *_ in balls], motion.view(file["q"][10])[:, :2], atol=1e-15)
    assert [shade for _, shade, *_ in balls] == ["#EE7733", "#EE7733", "#0077BB", "#EE7733"]
    assert np.allclose([(size/balls[0][2])**2 for _, _, size, *_ in balls], np.array([3.0, 2.0, 1.0, 1.5])/3.0)
    total = np.array([3.0, 2.0, -1.0, 1.5]) @ file["q"][10]
    line = np.array([content[:2] for _, _, kind, content in scene.items if kind == "line"][-1])
    assert np.allclose(line[1] - line[0], motion.view(0.25*total/np.linalg.norm(total))[:2])
    assert motion.note(0) == "momentum error 0.0e+00"


def test_film_of_a_study_with_a_system_of_its_own(tmp_path):
    """A process that has not loaded the system learns it from the study."""
    study = tmp_path/"config"/"studies"/"own.yaml"
    study.parent.mkdir(parents=True)
    shutil.copy(sphere_vortices.__file__, study.with_name("own_vortices.py"))
    study.write_text("""title: "Own vortices"
plugins: [own_vortices.py]
problems:
  pair: {system: own_vortices, preset: pair, t_end: 1.0}
integrators:
  spherical_midpoint: {steps: [0.25]}
""")
    load_plugin(study.with_name("own_vortices.py"))
    run, film = tmp_path/"run.nc", tmp_path/"film.gif"
    write(carry_out(specify("own_vortices", METHOD, preset="pair", t_end=1.0, steps=4, samples=3)), run)
    words = [sys.executable, "-m", "liestep", "animate", run, "-o", film, "--width", "120"]
    unknown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert unknown.returncode == 2
    assert "unknown problem 'own_vortices'" in unknown.stderr
    known = subprocess.run([*words, "--study", "own"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert known.returncode == 0, known.stderr
    assert film.is_file()


@pytest.mark.parametrize(("name", "method"), [("mass_spring", "rk4"), ("rigid_loop", "rk4"), ("heavy_top", "eml_ggl")])
def test_systems_and_methods_of_papers_are_known_by_their_ids_in_a_checkout(name, method, tmp_path):
    """From any folder; a folder `papers` that lies there executes nothing."""
    strange = tmp_path/"papers"/"mine"/"studies"/"unheard_of.py"
    strange.parent.mkdir(parents=True)
    strange.write_text("raise SystemExit(7)")
    text = (f"import liestep; liestep.simulate({name!r}, {method!r}, step=1e-3, t_end=2e-3)\n"
            "try:\n    liestep.simulate('unheard_of', 'rk4', step=1.0)\nexcept liestep.InputError as error:\n"
            "    assert 'unknown problem' in str(error)\n")
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
