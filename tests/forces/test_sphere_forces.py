"""Forces of time and velocity on spheres: orders, bits without force, work, what says no."""
import numpy as np
import pytest
from force_cases import EXAMPLES, errors, load, order
from place import TOP
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.errors import InputError
from liestep.integrators.vi_sphere import DRAG
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import start_of
from liestep.study.plan.plan import Study
from liestep.tools.inspect.check_system import check_system

T = 1.0
ORDERS = {"vi_sphere": (2, (40, 80)), "vi_sphere weights=y4": (4, (40, 80)), "vi_sphere weights=s4": (4, (40, 80)),
          "vi_sphere weights=kl6": (6, (20, 40)), "vi_sphere weights=kl8": (8, (20, 30))}


@pytest.fixture(scope="module")
def references():
    found = {}

    def of(name):
        load(name)
        if name not in found:
            found[name] = liestep.reference(name, t_end=T, samples=11)
        return found[name]

    return of


@pytest.mark.parametrize("name", ["magnetic_pendulum", "damped_pendulum"])
def test_two_engines_agree_on_a_forced_system(name, references):
    reference = references(name)
    assert max(reference.attrs[f"disagreement_{field}_max"] for field in ("q", "omega")) < 1e-13
    assert "heyoka" in reference.attrs["engines"]


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize("name", ["magnetic_pendulum", "damped_pendulum"])
def test_variational_steps_and_compositions_keep_their_orders(name, integrator, references):
    theory, counts = ORDERS[integrator]
    if (name, theory) == ("damped_pendulum", 8):
        counts = (40, 60)  # its motion is faster; the other one is at round-off there
    assert abs(order(counts, errors(name, integrator, counts, references(name), t_end=T)) - theory) < 0.06


@pytest.mark.parametrize(("integrator", "options"), [
    ("rk4", {}), ("rk4", {"form": "velocity"}), ("rkmk", {}),
    ("vi_sphere", {"solver": "newton"}), ("vi_sphere", {"solver": "fixed_point"}), ("vi_sphere", {"form": "paper"})])
def test_other_methods_and_solvers_take_the_same_force(integrator, options, references):
    counts = (40, 80)
    found = errors("damped_pendulum", integrator, counts, references("damped_pendulum"), t_end=T, options=options)
    assert abs(order(counts, found) - method(integrator).order) < 0.1


@pytest.mark.parametrize("solver", ["newton", "fixed_point"])
def test_all_solvers_of_the_implicit_step_are_one_map(solver):
    load("damped_pendulum")
    one, other = (liestep.simulate("damped_pendulum", "vi_sphere", steps=20, t_end=T, options={"solver": which})
                  for which in ("multipliers", solver))
    assert np.abs(one["omega"].values - other["omega"].values).max() < 1e-12
    assert np.abs(one["work"].values - other["work"].values).max() < 1e-12


PLAIN = (("    def force(self, t, q, omega, out):", "    def unused(self, t, q, omega, out):"),)


@pytest.mark.parametrize("integrator", ["vi_sphere", "vi_sphere weights=kl6", "rk4", "rkmk"])
@pytest.mark.parametrize("name", ["magnetic_pendulum", "damped_pendulum"])
def test_zero_force_has_the_bits_of_no_force(name, integrator, tmp_path):
    load(name)
    path = tmp_path/f"plain_{name}.py"
    text = (EXAMPLES/f"{name}.py").read_text()
    for old, new in PLAIN:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    liestep.load_plugin(path)
    one, other = (liestep.simulate(which, integrator, preset="free", steps=50, t_end=T)
                  for which in (name, f"plain_{name}"))
    for field in ("q", "omega", "energy", "momentum_map"):
        assert np.array_equal(one[field].values, other[field].values), field
    assert not one["work"].values.any()
    assert "work" not in other


def test_energy_less_work_is_the_invariant_and_work_is_counted_in_no_error():
    load("damped_pendulum")
    data = liestep.simulate("damped_pendulum", "vi_sphere weights=kl8", steps=200, t_end=T)
    assert data.attrs["energy_error_max"] < 1e-9
    assert np.allclose(data["mechanical_energy"] - data["work"], data["energy"], rtol=0.0, atol=1e-13)
    assert data["work"].values[-1] < -1.0
    assert "work" not in data.attrs["error_norms"]
    assert "less the work" in data["energy"].attrs["long_name"]


def test_magnetic_force_does_no_work_in_many_steps():
    load("magnetic_pendulum")
    data = liestep.simulate("magnetic_pendulum", "vi_sphere", step=0.02, t_end=1000.0, samples=101)
    assert np.abs(data["work"].values).max() < 1e-12


@pytest.mark.parametrize(("problem", "largest"), [("pendulum", 1.1), ("pivot", 1.5)])  # one angle, or four that beat
@pytest.mark.parametrize(("integrator", "drifts"),
                         [("vi_sphere", False), ("vi_sphere weights=y4", False), ("rk4", True), ("rkmk", True)])
def test_energy_less_work_stays_bounded_or_drifts_in_proportion_to_time(integrator, drifts, problem, largest):
    """What docs/examples/energy_less_work.yaml draws: the largest deviation in ten times the time, over the first."""
    for name in ("magnetic_pendulum", "damped_pendulum"):
        load(name)
    study = Study.find(str(EXAMPLES/"energy_less_work.yaml"), TOP/"config", TOP/"results")
    spec = study.select(problem, integrator.replace(" weights=", "_"))[0].spec
    first, whole = (liestep.simulate(spec.problem, integrator, step=spec.step, t_end=t_end, initial=spec.initial,
                                     parameters=spec.parameters).attrs["energy_error_max"] for t_end in (40.0, 400.0))
    least, most = (5.0, 12.0) if drifts else (1.0, largest)
    assert least <= whole/first <= most


def test_study_of_the_energy_less_work_is_valid():
    study = Study.find(str(EXAMPLES/"energy_less_work.yaml"), TOP/"config", TOP/"results")
    assert [cell.integrator for cell in study.cells] == 2*["vi_sphere", "vi_sphere_y4", "rk4", "rkmk", "cf4"]
    assert all(cell.spec.t_end == 2000.0 for cell in study.cells)


def test_evaluations_of_the_force_per_step():
    load("damped_pendulum")
    found = {}
    for name, parameters in (("time", {"drag": 0.0}), ("both", {})):
        data = liestep.simulate("damped_pendulum", "vi_sphere", steps=100, t_end=T, parameters=parameters)
        found[name] = data.attrs["force_evaluations"]/100 - 1.0
    assert found["time"] == pytest.approx(2.0, abs=0.05)
    assert 4.0 <= found["both"] <= 10.0


@pytest.mark.parametrize(("name", "integrator"), [
    ("one", "vi_sphere"), ("y4", "vi_sphere weights=y4"), ("s4", "vi_sphere weights=s4"),
    ("y6", "vi_sphere weights=y6"), ("kl6", "vi_sphere weights=kl6"), ("kl8", "vi_sphere weights=kl8")])
def test_drag_converges_up_to_the_limit_and_is_a_status_beyond(name, integrator):
    liestep.load_plugin(TOP/"tests"/"plugins"/"drag_on_a_bob.py")
    limit, h = DRAG[name], 0.1
    assert f"{limit:.1f} m/c" in method(integrator).forces

    def status(share):
        return liestep.simulate("drag_on_a_bob", integrator, step=h, t_end=4.0, parameters={"drag": share*limit/h},
                                on_failure="return").attrs["status"]

    assert [status(0.9), status(1.2)] == ["ok", "not_converged"]


def test_methods_that_cannot_take_forces_say_which_can():
    load("damped_pendulum")
    with pytest.raises(InputError, match=r"no forces that depend on time and velocity.*that can: .*vi_sphere"):
        liestep.simulate("damped_pendulum", "eml", step=0.1, t_end=T)


def complaint(tmp_path, body):
    path = tmp_path/f"wrong_{abs(hash(body))}.py"
    text = (EXAMPLES/"magnetic_pendulum.py").read_text()
    start = text.index("        velocity = cross(")
    path.write_text(text[:start] + body + "\n\n\n" + text[text.index("def start(p)"):])
    with pytest.raises(InputError) as caught:
        liestep.load_plugin(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("body", "words"), [
    ("        pass", "force leaves row 0 of out unwritten"),
    ("        put(out, 0, (0.0, float('nan'), 0.0))", "not finite"),
    ("        put(out, 0, (0.0, 0.0, 0.0))\n        put(q, 0, (1.0, 0.0, 0.0))", "force changes q or omega"),
    ("        put(out, 1, (0.0, 0.0, 0.0))", "IndexError"),
])
def test_wrong_forces_are_one_sentence_when_the_file_is_loaded(body, words, tmp_path):
    assert words in complaint(tmp_path, body)


@pytest.mark.parametrize("name", ["magnetic_pendulum", "damped_pendulum"])
def test_check_system_passes_on_the_examples_and_shows_the_power(name):
    rows = check_system(load(name))
    assert all(row.ok for row in rows), [row for row in rows if not row.ok]
    assert any("power" in row.found for row in rows)
    assert sum(row.check.startswith("momentum about") for row in rows) == 3


def test_page_shows_the_force_of_an_example_that_is_right():
    """By its definition, in plain Python; loading has tried it."""
    load("gusty_pendulum")
    text, page = (EXAMPLES/"gusty_pendulum.py").read_text("utf-8"), (TOP/"docs"/"own_system.md").read_text("utf-8")
    shown = text[text.index("    def force("):text.index("\n\n\ndef build(")]
    assert f"```python\n{shown}\n```" in page
    values = sheet("gusty_pendulum").check({"mass": 1.0, "length": 0.5, "g": 9.81, "drag": 0.2, "wind": 3.0,
                                            "rate": 2.0})
    system = plain(sheet("gusty_pendulum").build(values))
    q, omega, out = np.array([[0.0, 0.0, -1.0]]), np.array([[0.0, 4.0, 0.0]]), np.full((1, 3), np.nan)
    system.force(0.7, q, omega, out)
    air = np.array([3.0*np.cos(1.4), 0.0, 0.0]) - 0.5*np.cross(omega[0], q[0])
    assert out[0] == pytest.approx(0.5*0.2*np.linalg.norm(air)*air, rel=1e-14)


def test_momentum_flags_are_tested_with_force_and_gradient_together(tmp_path):
    text = (EXAMPLES/"magnetic_pendulum.py").read_text()
    path = tmp_path/"wrong_flag.py"
    path.write_text(text.replace('p["field"] == 0.0)', "True)"))
    liestep.load_plugin(path)
    rows = {row.check: row for row in check_system("wrong_flag")}
    assert rows["momentum about z"].ok is False


def test_step_is_the_one_of_its_definition():
    """One body, one step: v+ = v + kicks with F at both ends and the velocities there, from numbers of numpy alone."""
    load("magnetic_pendulum")
    start = start_of("magnetic_pendulum")
    h, q, w = 0.05, start.initial["q"][0], start.initial["omega"][0]
    system = plain(sheet("magnetic_pendulum").build(start.parameters))

    def load_at(q, w):
        g, f = np.zeros((1, 3)), np.zeros((1, 3))
        system.gradient(q[None], g)
        system.force(0.0, q[None], w[None], f)
        return g[0], f[0]

    g, f = load_at(q, w)
    half = w - 0.5*h*np.cross(q, g - f)
    d = h*half
    after = np.sqrt(1.0 - d @ d)*q + np.cross(d, q)
    end = half.copy()
    for _ in range(200):
        g, f = load_at(after, end)
        end = half - 0.5*h*np.cross(after, g - f)
    data = liestep.simulate("magnetic_pendulum", "vi_sphere", steps=1, t_end=h)
    assert np.abs(data["q"].values[-1, 0] - after).max() < 1e-15
    assert np.abs(data["omega"].values[-1, 0] - end).max() < 2e-15


def test_component_of_every_form_has_the_row_of_the_work():
    load("damped_pendulum")
    start = start_of("damped_pendulum")
    for name in ("sphere_lagrangian", "vector_field", "lie_action"):
        form = formulate(sheet("damped_pendulum"), start.parameters, start.initial, name, {})
        assert form.start.shape == (5, 3)
