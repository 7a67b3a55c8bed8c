"""What a session of Python or Jupyter sees: names, help, sentences, pictures, the accessor, the notebook in docs."""
import inspect
import io
import json
import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest
import xarray
from commands import main
from PIL import Image
from place import TOP
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.errors import InputError
from liestep.figures.interactive.datasets import kept
from liestep.simulation.runs.simulation import made
from liestep.simulation.runs.specification import specify

NAMES = {"InputError", "IntegrationError", "compare", "consistent_start", "list_integrators", "list_systems",
         "load_plugin", "observed_order", "open_run", "plot", "reference", "simulate", "tangent"}


@pytest.fixture(scope="module")
def runs():
    return [liestep.simulate("sphere_nbody", name, step=0.02, t_end=0.4, samples=21) for name in ("vi_sphere", "rk4")]


@pytest.fixture(scope="module")
def top():
    return liestep.simulate("heavy_top", "slgi", step=0.01, t_end=0.2)


def test_dir_lists_the_public_names_and_nothing_that_python_put_there():
    shown = {name for name in dir(liestep) if not name.startswith("__")}
    assert shown == set(liestep.__all__)
    assert shown >= NAMES
    assert "__version__" in dir(liestep)
    assert all(callable(getattr(liestep, name)) for name in NAMES)


def test_version_is_that_of_the_project():
    assert f'version = "{liestep.__version__}"' in (TOP/"pyproject.toml").read_text()


def test_help_of_simulate_names_every_argument_shapes_units_variables_and_an_example():
    text, arguments = inspect.getdoc(liestep.simulate), inspect.signature(liestep.simulate).parameters
    assert all(f"{name}:" in text for name in arguments)
    for word in ("(n, 3)", "rad/s", "Variables:", "`energy`", "unit_length_error", "Example:", "InputError"):
        assert word in text


def test_example_in_the_help_runs():
    example = inspect.getdoc(liestep.simulate).partition("Example:")[2]
    exec(inspect.cleandoc(example.replace("t_end=10.0", "t_end=0.1").replace("time=10.0", "time=0.1")),
         {"liestep": liestep})


@pytest.mark.parametrize(("call", "words"), [
    (lambda: liestep.simulate("henon_heiles", "leapfrog", step=0.1), "the integrator leapfrog is called verlet here"),
    (lambda: liestep.simulate("heavy_top", "RK45", tolerance=0.1), "the integrator RK45 is called ode45 here"),
    (lambda: liestep.simulate("heavy_top", "rk4", step=0.1, start={}), "the argument start is called initial here"),
    (lambda: liestep.ensemble("heavy_top", "rk4", step=0.1, y0={}), "the argument y0 is called starts here"),
    (lambda: liestep.simulate("heavy_top", "rk4", step=0.1, tf=1.0), "the argument tf is called t_end here"),
    (lambda: liestep.simulate("heavy_top", "rk4", stepsize=0.1), "unknown argument 'stepsize'; did you mean step"),
    (lambda: liestep.simulate("heavy_top"), "simulate(problem, integrator, name=value, ...)"),
    (lambda: liestep.reference("heavy_top", tend=1.0), "did you mean t_end?"),
    (lambda: liestep.tangent("heavy_top", "rk4", step=0.1, t_end=0.1, direction=[]), "did you mean directions?"),
    (lambda: liestep.simulate(["heavy_top"], "rk4", step=0.1), "problem must be an id, as liestep list shows them"),
    (lambda: liestep.simulate("own.py", "rk4", step=0.1), "own.py is a file, no problem: load it by --plugin"),
    (lambda: liestep.simulate("own_01234567", "rk4", step=0.1), "own_01234567 is a problem of plain functions"),
    (lambda: liestep.simulate("heavy_top", ["rk4"], step=0.1), "integrator must be an id"),
    (lambda: liestep.simulate("heavy_top", None, step=0.1), "integrator must be an id"),
    (lambda: liestep.simulate("heavy_top", "rk4", step=0.1, t_end=0.1).liestep.errors(3),
     "the reference is a int; allowed are data sets"),
    (lambda: liestep.simulate("heavy_top", "rk4", step=0.1, t_end=0.1).isel(time=0).liestep, "has no dimension time"),
    (lambda: liestep.simulate("heavy_top", "rk4", step=0.1, t_end=0.1, dense=True).liestep.at([[0.05]]),
     "times must be a number or a list of numbers"),
    (lambda: liestep.reference("heavy_top", t_end=0.1, engines="dop853"), "composition, exact, not dop853"),
    (lambda: liestep.reference("heavy_top", t_end=0.1, engines=5), "engines must be a name or a list of names, not 5"),
    (lambda: liestep.ensemble("heavy_top", "rk4", parameters={"mass": [1.0, 2.0]}, step=0.1, keep=["energy", 3]),
     "keep must be a name or a list"),
    (lambda: liestep.plot(3), "is a int; allowed are data sets"),
    (lambda: liestep.plot(xarray.Dataset()), "not of a run of liestep"),
    (lambda: liestep.compare([]), "two or more data sets"),
    (lambda: liestep.compare(3), "two or more data sets"),
    (lambda: liestep.compare(iter([3, 4])), "two or more data sets"),
    (lambda: liestep.compare(["a", "b"]), "data set 0 is a str"),
    (lambda: liestep.open_run("missing.nc"), "missing.nc does not exist"),
])
def test_wrong_calls_are_one_sentence(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_accessor_refuses_foreign_data_sets_and_ensembles(runs):
    with pytest.raises(InputError, match="not of a run of liestep"):
        _ = xarray.Dataset({"a": ("x", [1.0])}).liestep
    ensemble = made(specify("sphere_nbody", "rk4", step=0.1, t_end=0.1, ensemble={"members": 2, "amplitude": 1e-6}))
    with pytest.raises(InputError, match="ensemble"):
        _ = ensemble.liestep


def test_deviations_are_those_of_the_data(runs):
    energy = kept(runs[1], "invariants")[0]
    assert energy.label == "energy"
    assert np.array_equal(energy.values, runs[1]["energy"].values - runs[1]["energy"].values[0])
    [length] = kept(runs[1], "residuals")
    assert np.array_equal(length.values, runs[1]["unit_length_error"].values)
    assert length.values[-1] > 1e-12  # rk4 leaves the spheres


def picture(figure):
    buffer = io.BytesIO(figure._repr_png_())
    return matplotlib.image.imread(buffer)


@pytest.mark.parametrize("number", [0, 1])
def test_plot_shows_motion_energy_invariants_and_manifold(runs, number):
    figure = runs[number].liestep.plot()
    titles = [axes.get_title("left") for axes in figure.axes]
    assert any(title.startswith("t = 0.4") for title in titles)
    assert "energy, deviation (J)" in titles
    assert any("unit length, error" in title for title in titles)
    assert picture(figure).std() > 0.05


def test_plot_of_a_body_and_of_a_state_without_a_scene(top):
    assert len(top.liestep.plot().axes) >= 4
    liestep.load_plugin(TOP/"tests"/"plugins"/"joint_pendulum.py")
    bare = liestep.simulate("joint_pendulum", "rk4", step=0.1, t_end=1.0)
    assert bare.liestep.plot().axes[0].get_ylabel().startswith(next(iter(bare.data_vars)))


def test_compare_draws_the_distance_energies_and_manifold(runs, top):
    figure = liestep.compare(runs)
    distance, energy, manifold = figure.axes
    assert [len(axes.lines) for axes in (distance, energy, manifold)] == [1, 2, 2]
    values = distance.lines[0].get_ydata()
    assert np.isnan(values[0])  # the same start
    assert 1e-9 < values[-1] < 0.1
    with pytest.raises(InputError, match="data set 1 is of heavy_top, data set 0 of sphere_nbody"):
        liestep.compare([runs[0], top])


@pytest.mark.parametrize(("given", "words"), [
    ({"size": 5}, "size is 5; allowed are a width and a height"), ({"size": "ab"}, "size is 'ab'; allowed"),
    ({"span": 5}, "span is 5, which holds fewer than two"), ({"span": (np.nan, 1.0)}, "holds fewer than two"),
    ({"quantities": 5}, "quantities must be a name or a list of names, not 5"), ({"quantities": "energi"}, "'energi'")])
def test_sizes_and_spans_that_are_none_are_one_sentence(runs, given, words):
    with pytest.raises(InputError) as caught:
        liestep.plot(runs[0], **given)
    assert words in str(caught.value)


def test_one_quantity_may_be_given_as_its_name(runs):
    one, listed = (liestep.plot(runs[0], quantities=given).axes[-1] for given in ("energy", ["energy"]))
    assert one.get_title("left") == listed.get_title("left") == "energy, deviation (J)"
    assert np.array_equal(one.lines[0].get_ydata(), runs[0]["energy"].values - runs[0]["energy"].values[0])


def test_compare_says_why_a_panel_is_empty(runs):
    def said(*compared):
        return [([text.get_text() for text in axes.texts], axes.get_title("left") or axes.get_title())
                for axes in liestep.compare(compared).axes]

    for again in (runs[0], runs[0].copy(deep=True)):
        assert [texts for texts, _ in said(runs[0], again)] == [["equal states"], [], []]
    assert said(runs[0], runs[0].isel(time=slice(0, -1)))[0][0] == ["other times"]
    plain = liestep.system("plain_ratio", rhs=lambda y: [-y[1], y[0]], start={"y": [1.0, 0.0]}, t_end=1.0,
                           invariants={"radius": lambda y: y[0]*y[0] + y[1]*y[1]})
    found = said(*(plain.simulate("rk4", step=step) for step in (0.1, 0.05)))
    assert found[1:] == [([], "|radius - its start| (1)"), (["none"], "error of the manifold")]


def test_file_opens_as_what_simulate_returns(runs, tmp_path):
    code = ("import sys; from liestep.api.command_line import main; sys.exit(main(['run', 'sphere_nbody', 'rk4',"
            f" '--step', '0.02', '--t-end', '0.4', '--samples', '21', '-o', {str(tmp_path/'run.nc')!r}]))")
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    data = liestep.open_run(tmp_path/"run.nc")
    assert "time" in data.coords
    assert all(np.array_equal(data[name].values, runs[1][name].values, equal_nan=True) for name in runs[1].variables)
    assert data.liestep.plot().axes


def test_notebook_in_docs_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((TOP/"docs"/"first_steps.ipynb").read_text("utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    space = {}
    for cell in cells:
        exec(compile(cell, "first_steps.ipynb", "exec"), space)
    assert all(not cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")


@pytest.mark.parametrize("arguments", [{}, {"dense": True}, {"until": lambda state: state["q"][0, 2] - 0.7}])
def test_a_saved_data_set_is_a_run_file(tmp_path, arguments):
    data = liestep.simulate("spherical_pendulum_chain", "rk4", step=0.01, t_end=1.0, samples=51, **arguments)
    path = tmp_path/"run.nc"
    data.liestep.save(path)
    found = liestep.open_run(path)
    assert set(found.variables) == set(data.variables)
    assert all(np.array_equal(found[name], data[name], equal_nan=True) for name in data.variables)
    again = tmp_path/"again.nc"
    found.liestep.save(again)
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(InputError, match=r"must end with \.nc"):
        data.liestep.save(tmp_path/"run.txt")
    edited, part = data.copy(deep=True), data.isel(time=slice(1, None))
    edited["energy"].values[1] += 1.0
    for whole, other in ((data, edited), (data, part), (found, part), (data, data.drop_vars("energy")),
                         (found, found.assign(energy=2.0*found["energy"])),
                         (found, found.assign_attrs(integrator="verlet"))):
        whole.copy(deep=True).liestep.save(path)  # the bytes that are there
        with pytest.raises(InputError, match="the data set is not as simulate or open_run gave it"):
            other.liestep.save(tmp_path/"other.nc")
    assert again.read_bytes() == path.read_bytes()
    assert not (tmp_path/"other.nc").exists()


def test_a_saved_run_is_that_of_the_command_and_other_commands_take_it(tmp_path, capsys):
    saved, made = (str(tmp_path/name) for name in ("saved.nc", "made.nc"))
    liestep.simulate("sphere_nbody", "vi_sphere", preset="four_bodies", step=0.1, t_end=1.0).liestep.save(saved)
    assert main(["run", "sphere_nbody", "vi_sphere", "--preset", "four_bodies", "--step", "0.1", "--t-end", "1", "-o",
                 made]) == 0
    assert open_bytes(saved) == open_bytes(made)
    assert main(["animate", saved, "-o", str(tmp_path/"film.gif")]) == 0
    assert main(["judge", saved, "--problem", "sphere_nbody", "--preset", "four_bodies", "--no-reference"]) in (0, 3)
    assert "interrupted" not in capsys.readouterr().err


def test_a_data_set_becomes_a_film(tmp_path, runs):
    path = runs[0].liestep.animate(tmp_path/"film.gif", frames=3, width=100)
    assert path.read_bytes()[:6] == b"GIF89a"
    with pytest.raises(InputError, match=r"must end with \.gif"):
        runs[0].liestep.animate("film.avi")


@pytest.mark.parametrize("more", [{"field": lambda R, x: (x, 0.1*R[:, 2])}, {
    "potential": lambda R, p: p.gravity*R[2, 2]**2 + 0.0*p.axis, "inertia": [1.0, 2.0, 2.5],
    "parameters": {"gravity": 9.81, "axis": 2.0}}])
def test_an_attitude_without_momentum_or_with_other_parameters_is_drawn(tmp_path, more):
    start = {"R": np.eye(3), **({"x": [1.0, 0.0, 0.5]} if "field" in more else {})}
    own = liestep.system("own_attitude", start=start, t_end=1.0, **more)
    path = own.simulate("rk4", step=0.25, samples=5).liestep.animate(tmp_path/"own.gif", frames=3, width=100)
    with Image.open(path) as film:
        first = np.asarray(film.convert("RGB"))
        film.seek(2)
        assert not np.array_equal(first, np.asarray(film.convert("RGB")))


def test_errors_of_two_lines(runs):
    """The distance of two points that move apart, over the larger one's way."""
    line = liestep.system("line_of_errors", rhs=lambda y, p: p.rate + 0.0*y, parameters={"rate": 1.0},
                          start={"y": [0.0, 0.0]})

    def run(rate, t_end=2.0):
        return line.simulate("rk4", step=0.25, t_end=t_end, samples=5, parameters={"rate": rate})

    found = run(1.0).liestep.errors(run(0.7))
    assert found["y"].values == pytest.approx(0.3*found["time"].values/1.4, abs=1e-14)
    assert found.attrs["error"] == pytest.approx(0.3/0.7, abs=1e-14)
    with pytest.raises(InputError, match=r"other sample times: 5 up to 1\.0, the data set 5 up to 2\.0"):
        run(1.0).liestep.errors(run(1.0, 1.0))
    with pytest.raises(InputError, match="the reference is of sphere_nbody"):
        run(1.0).liestep.errors(runs[0])


def open_bytes(name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read()


def test_a_file_that_xarray_wrote_is_not_called_interrupted(tmp_path, runs):
    runs[0].to_netcdf(tmp_path/"own.nc")
    with pytest.raises(InputError, match=r"is not a run of liestep: .*another program.*save") as caught:
        liestep.open_run(tmp_path/"own.nc")
    assert "remove" not in str(caught.value)
    assert "interrupted" not in str(caught.value)


@pytest.mark.parametrize(("given", "curves"), [
    ({"hamiltonian": lambda q, momentum: 0.5*momentum @ momentum + 0.5*q @ q,
      "start": {"q": [1.0, 0.0], "momentum": [0.0, 1.0]}}, 2),
    ({"rhs": lambda y: -y, "start": {"y": [1.0]}}, 1)])
def test_coordinates_and_equations_without_energy_are_drawn_as_curves(given, curves):
    name = "drawn_" + "_".join(set(given) - {"start"})
    runs = [liestep.system(name, t_end=1.0, **given).simulate("rk4", step=step) for step in (0.1, 0.05)]
    first = liestep.plot(runs[0]).axes[0]
    assert [len(line.get_xdata()) for line in first.get_lines()] == [11]*curves
    assert len(liestep.compare(runs).axes) == 3
