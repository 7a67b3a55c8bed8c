"""The issue's table of bad input: each line gives one clear sentence through Python and through the command
line, and changes no file."""
import os
import subprocess
import sys
from dataclasses import replace

import netCDF4
import numpy as np
import pytest

from liestep import InputError, simulate
from liestep.api.command_line import main
from liestep.simulation.catalogue import integrator_ids, method, sheet, system_entry
from liestep.simulation.runs import specification
from liestep.simulation.runs.files import read, require_current, seal, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study

NAN = float("nan")


def sentence(caught) -> str:
    """The message, after checking that it is one sentence: one line, and no remains of an exception's name or trace."""
    text = str(caught.value)
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) > 20
    return text


def initial(name, number, row):
    """The preset's start with one row replaced."""
    rows = {"q": [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]],
            "omega": [[0.0, 0.0, -1.1], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}[name]
    return {"initial": {name: [*rows[:number], row, *rows[number + 1:]]}}


BODIES, CHAIN = "sphere_nbody", "spherical_pendulum_chain"
REQUESTS = {  # problem, integrator, step and other arguments, what the sentence must say
    "unknown problem": ("sphere_nbdy", "vi_sphere", {}, "did you mean sphere_nbody?"),
    "unknown integrator": (BODIES, "vi_spher", {}, "did you mean vi_sphere"),
    "unknown far from all": (BODIES, "zzz", {}, "(closest of "),
    "unknown preset": (CHAIN, "rk4", {"preset": "paper_scale"}, "did you mean paper_scaled?"),
    "unknown parameter": (BODIES, "rk4", {"parameters": {"gama": 1.0}}, "did you mean gamma?"),
    "unknown option": (BODIES, "rk4", {"options": {"projektion": "none"}}, "did you mean projection?"),
    "unknown option value": (BODIES, "vi_sphere", {"options": {"solver": "newtn"}},
                             "allowed are auto, explicit, multipliers"),
    "unknown field": (BODIES, "rk4", {"initial": {"omegas": [[0.0, 0.0, 0.0]]*3}}, "did you mean omega?"),
    "wrong shape of a parameter": (BODIES, "rk4", {"parameters": {"mass": [[1.0, 1.0, 1.0]]}},
                                   "of shape (n), not of shape (1, 3)"),
    "wrong size of a parameter": (CHAIN, "rk4", {"parameters": {"gravity": [0.0, 9.81]}}, "size 3, not of shape (2,)"),
    "sizes that disagree": (CHAIN, "rk4", {"parameters": {"mass": [1.0]*3}}, "length must be of shape (n)"),
    "wrong shape of a state": (BODIES, "rk4", {"initial": {"q": [[0.0, 0.0, 1.0]]*2}},
                               "q must be of shape (3, 3), not (2, 3)"),
    "other number of bodies": (BODIES, "rk4", {"parameters": {"mass": [1.0]*5}}, "of shape (5, 3), not (3, 3)"),
    "zero mass": (BODIES, "rk4", {"parameters": {"mass": [1.0, 0.0, 1.0]}}, "mass must be positive"),
    "negative mass": (BODIES, "rk4", {"parameters": {"mass": [1.0, -1.0, 1.0]}}, "mass must be positive"),
    "singular masses": (CHAIN, "rk4", {"parameters": {"mass": [1e-17, 1.0]}}, "not symmetric and positive definite"),
    "rounded direction": (BODIES, "rk4", initial("q", 0, [0.866, 0.0, 0.5]), "q[0] is not a unit vector"),
    "velocity along q": (BODIES, "rk4", initial("omega", 1, [1.0, 0.0, 0.1]), "omega[1] is not orthogonal"),
    "step that does not divide": (BODIES, "rk4", {"step": 0.03, "t_end": 1.0},
                                  "steps are 0.029411764705882353 and 0.030303030303030304"),
    "step longer than the run": (BODIES, "rk4", {"step": 2.0, "t_end": 1.0}, "the longest valid step is 1.0"),
    "negative step": (BODIES, "rk4", {"step": -0.1}, "step must be a positive number, not -0.1"),
    "boolean step": (BODIES, "rk4", {"step": True}, "step must be a positive number, not True"),
    "boolean option": ("heavy_top", "slgi", {"options": {"theta": True}}, "theta must be a number from 0 to 1"),
    "huge velocity along q": (BODIES, "rk4", initial("omega", 1, [0.0, 0.0, 1e200]), "omega[1] is not orthogonal"),
    "NaN step": (BODIES, "rk4", {"step": NAN}, "step must be a positive number, not nan"),
    "tiny step": (BODIES, "rk4", {"step": 1e-310}, "more than 2^53 steps"),
    "text as a step": (BODIES, "rk4", {"step": "0.01"}, "step must be a positive number, not '0.01'"),
    "complex step": (BODIES, "rk4", {"step": 0.1 + 0.1j}, "step must be a positive number"),
    "step and steps": (BODIES, "rk4", {"step": 0.1, "steps": 10}, "step 0.1 and steps 10 are both given"),
    "5e12 steps": (BODIES, "rk4", {"step": 1e-13, "t_end": 0.5}, "would make 5e+12 steps; at most 1e+12"),
    "complex state": (BODIES, "rk4", {"initial": {"q": np.ones((3, 3))*(1.0 + 1e-3j)}}, "initial q must be real"),
    "masked state": (BODIES, "rk4", {"initial": {"q": np.ma.masked_less(np.eye(3), 0.0)}}, "not a masked array"),
    "text as a state": (BODIES, "rk4", {"initial": {"q": [["1", "0", "0"]]*3}}, "initial q must be numbers"),
    "complex parameter": (BODIES, "rk4", {"parameters": {"gamma": 1.0 + 1.0j}}, "gamma must be real"),
    "masked parameter": (BODIES, "rk4", {"parameters": {"mass": np.ma.array([1.0]*3)}}, "not a masked array"),
    "text as a parameter": (BODIES, "rk4", {"parameters": {"gamma": "1.0"}}, "gamma must be numbers"),
    "infinite end": (BODIES, "rk4", {"t_end": float("inf")}, "t_end must be a finite number"),
    "negative tolerance": (BODIES, "ode45", {"step": None, "tolerance": -1e-3}, "tolerance must be a positive number"),
    "NaN parameter": (BODIES, "rk4", {"parameters": {"gamma": NAN}}, "gamma must be finite"),
    "NaN state": (BODIES, "rk4", initial("q", 0, [NAN, 0.0, 0.0]), "q must be finite"),
    "NaN option": (BODIES, "vi_sphere", {"options": {"solver": "newton", "tolerance": NAN}},
                   "tolerance must be a positive number"),
    "no step": (BODIES, "rk4", {"step": None}, "give a step"),
    "tolerance for fixed steps": (BODIES, "rk4", {"step": None, "tolerance": 1e-3}, "give a step, not a tolerance"),
    "outputs for fixed steps": (BODIES, "rk4", {"outputs": 11}, "outputs and log_steps are for adaptive integrators"),
    "step for an adaptive method": (BODIES, "ode45", {}, "give a tolerance, not a step"),
    "samples between steps": (BODIES, "rk4", {"t_end": 1.0, "samples": 8}, "the nearest valid numbers are 6 and 11"),
    "one sample": (BODIES, "rk4", {"samples": 1}, "samples must be at least 2"),
    "one output": (BODIES, "ode45", {"step": None, "tolerance": 1e-3, "outputs": 1}, "outputs must be at least 2"),
    "explicit step for coupled bodies": (CHAIN, "vi_sphere", {"options": {"solver": "explicit"}},
                                         "needs a diagonal mass"),
    "wrong on_failure": (BODIES, "rk4", {"on_failure": "ignore"}, "allowed are raise, return"),
}


@pytest.mark.parametrize(("problem", "integrator", "arguments", "expected"), REQUESTS.values(), ids=REQUESTS)
def test_wrong_request(problem, integrator, arguments, expected):
    with pytest.raises(InputError) as caught:
        simulate(problem, integrator, **{"step": 0.1} | arguments)
    assert expected in sentence(caught)


@pytest.mark.parametrize(("more", "expected"), [
    ({"replicas": 1.5}, "replicas must be a whole number"),
    ({"ensemble": {"members": 3}}, "ensemble amplitude must be a positive number"),
    ({"ensemble": {"members": 3, "sed": 1}}, "did you mean seed?")])
def test_wrong_trajectories(more, expected):
    with pytest.raises(InputError) as caught:
        specify(BODIES, "rk4", step=0.1, **more)
    assert expected in sentence(caught)


RUBBISH = (None, [], [[]], "x", NAN, float("inf"), -1, 0, True, [1, 2], [[1, 2, 3]], {"a": 1}, 1e308, 1e-320, [1, "a"],
           object(), [1, [2]], 10**400)


@pytest.mark.parametrize("name", ["step", "steps", "t_end", "tolerance", "samples", "outputs", "statistics_every",
                                  "replicas", "ensemble", "preset", "parameters", "initial", "options"])
@pytest.mark.parametrize("integrator", ["vi_sphere", "ode45"])
def test_rubbish_is_refused_or_makes_a_specification(integrator, name):
    """Nothing but InputError comes out, whatever goes in."""
    size = {"tolerance": 1e-3} if integrator == "ode45" else {} if name == "steps" else {"step": 0.1}
    sentences = []
    for value in RUBBISH:
        try:
            specify(BODIES, integrator, **size | {name: value})
        except InputError as error:
            sentences.append(str(error))
    assert len(sentences) >= 10
    assert not any("\n" in text for text in sentences)


def test_a_call_is_the_id_with_its_options():
    one, other = (specify(BODIES, *call, steps=10) for call in (("vi_sphere weights=y4",), ("vi_sphere",)))
    assert (one.integrator, one.options) == ("vi_sphere", {**other.options, "weights": "y4"})
    assert specify(BODIES, "vi_sphere weights=y4", steps=10, options={"weights": "s4"}).options["weights"] == "s4"
    with pytest.raises(InputError) as caught:
        specify(BODIES, "vi_sphere weights=y5", steps=10)
    assert "unknown call of the integrator 'weights=y5'" in sentence(caught)
    with pytest.raises(InputError, match=r"'stages=3' \(allowed: none\); other choices are options: options=\{'s"):
        specify("henon_heiles", "gauss stages=3", steps=10)
    with pytest.raises(InputError, match=r"'form=x' \(allowed: none\); other choices are options: options=\{'form'"):
        specify("heavy_top", "taylor form=x", tolerance=1e-6)
    with pytest.raises(InputError, match=r"integrator 'x' \(allowed: none\)$"):
        specify("heavy_top", "taylor x", tolerance=1e-6)


def test_integrator_that_cannot_run_on_a_system_lists_those_that_can(monkeypatch, capsys):
    facts, entry = replace(sheet(BODIES), forms={"vector_field": sheet(BODIES).forms["vector_field"]}), system_entry
    monkeypatch.setattr(specification, "system_entry", lambda name: entry(name)._replace(item=facts))
    with pytest.raises(InputError) as caught:
        simulate(BODIES, "vi_sphere", step=0.1)
    able = [name for name in integrator_ids() if method(name).formulation == "vector_field"]
    assert {"dop853", "rk4"} <= set(able)
    assert sentence(caught) == f"vi_sphere cannot run on sphere_nbody; integrators that can: {', '.join(able)}"
    assert main(["run", BODIES, "rkmk", "--step", "0.1", "-o", "never.nc"]) == 2
    assert "rkmk cannot run on sphere_nbody; integrators that can: dop853" in capsys.readouterr().err


@pytest.fixture
def study(tmp_path):
    """Function text -> refusal of a study file with this text, as a sentence."""
    def refusal(text: str) -> str:
        path = tmp_path/"study.yaml"
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            assert Study(path, "study", tmp_path/"results").sweeps
        assert not (tmp_path/"results").exists()
        assert sentence(caught).startswith(f"{path}, line ")
        return sentence(caught).removeprefix(f"{path}, ")

    return refusal


HEAD = "title: t\nproblems:\n  bodies: {system: sphere_nbody, t_end: 1.0}\nintegrators:\n"


@pytest.mark.parametrize(("text", "expected"), [
    ("title: [t\nproblems: {}\n", "line 2: malformed YAML"),
    ("title: t\n\tproblems: {}\n", "line 2: malformed YAML"),
    (HEAD + "  vi_sphere: {steps: [0.1]}\n  vi_sphere: {steps: [0.2]}\n", "line 6: key vi_sphere appears twice"),
    (HEAD + "  vi_spher: {steps: [0.1]}\n", "did you mean vi_sphere?"),
    (HEAD + "  vi_sphere: {step: [0.1]}\n", "did you mean steps?"),
    (HEAD + "  vi_sphere: {steps: [0.3]}\n", "the nearest valid steps are 0.25 and 0.3333333333333333"),
    (HEAD + "  vi_sphere: {steps: [-0.1]}\n", "not -0.1"),
    (HEAD + "  vi_sphere: {steps: [.nan]}\n", "not nan"),
    (HEAD + "  vi_sphere: {steps: [abc]}\n", "not 'abc'"),
    (HEAD.replace("sphere_nbody", "sphere_body") + "  vi_sphere: {steps: [0.1]}\n", "did you mean sphere_nbody?"),
    (HEAD + "  rk4: {steps: [0.1], options: {projection: positions}}\n", "allowed are none, position, state"),
    ("tables: [energi]\n" + HEAD + "  rk4: {steps: [0.1]}\n", "did you mean energy?"),
    ("figures: [drift]\nsee: {energy_error: See that.}\n" + HEAD + "  rk4: {steps: [0.1]}\n",
     "see: unknown figure of this study 'energy_error'"),
    ("figures: [drift]\nsee: {drift: It grows.}\n" + HEAD + "  rk4: {steps: [0.1]}\n", "begins with See"),
])
def test_wrong_study_names_file_and_line(study, text, expected):
    assert expected in study(text)


def test_numbers_with_an_exponent_and_no_point_are_numbers(tmp_path):
    path = tmp_path/"study.yaml"
    path.write_text(HEAD + "  vi_sphere: {steps: [1e-1, 5e-2]}\n  ode45: {tolerances: [1e-4], options: {atol: 1e-6}}\n")
    cells = Study(path, "study", tmp_path).cells
    assert [cell.spec.steps or cell.spec.tolerance for cell in cells] == [10, 20, 1e-4]
    assert cells[2].spec.options["atol"] == 1e-6


@pytest.fixture
def run_file(tmp_path):
    """A good file and its specification."""
    spec = specify(BODIES, "vi_sphere", step=0.1, t_end=1.0)
    write(carry_out(spec), tmp_path/"run.nc")
    return tmp_path/"run.nc", spec


def test_damaged_and_foreign_files_are_refused_and_left_alone(run_file, tmp_path, capsys):
    path, spec = run_file
    whole = path.read_bytes()
    damaged = {"half": whole[:len(whole)//2], "cut at the end": whole[:-1], "empty": b"", "text": b"time,energy\n0,1\n",
               "head": whole[:100]}
    for name, content in damaged.items():
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(path) in sentence(caught), name
        assert main(["check", str(path)]) == 2
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        with pytest.raises(InputError, match="of another specification"):
            write(carry_out(spec), path, replace=False)
        assert path.read_bytes() == content
    foreign = tmp_path/"foreign.nc"
    with netCDF4.Dataset(foreign, "w") as data:
        data.title = "somebody else's"
    with pytest.raises(InputError, match="is not a run of liestep"):
        read(foreign)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["foreign.nc", "run.nc"]


@pytest.mark.parametrize(("attribute", "value", "expected"), [
    ("complete", np.int32(0), "is incomplete: its writer was interrupted"), ("complete", None, "is incomplete"),
    ("format", "0", "has file format 0"), ("run_sha256", None, "is not a run of liestep")])
def test_files_without_the_marks_of_a_finished_run_are_refused(run_file, attribute, value, expected):
    path, _ = run_file
    with netCDF4.Dataset(path, "a") as data:
        data.delncattr(attribute)
        if value is not None:
            data.setncattr(attribute, value)
    with pytest.raises(InputError) as caught:
        read(path)
    assert expected in sentence(caught)


def test_files_of_another_specification_or_source_are_refused(run_file):
    path, spec = run_file
    assert require_current(path, spec).attributes["run_sha256"] == spec.sha256
    with pytest.raises(InputError, match="of another specification than the study asks for"):
        require_current(path, specify(BODIES, "vi_sphere", step=0.05, t_end=1.0))
    with netCDF4.Dataset(path, "a") as data:
        data.source_hash = "0"*16
        seal(data, {name: data[name][...].data for name in data.variables})
    with pytest.raises(InputError, match="made by other sources than today's"):
        require_current(path, spec)


def test_a_new_process_refuses_without_a_traceback(tmp_path):
    """What a person sees: one line, exit code 2, the existing file as it was."""
    existing = tmp_path/"out.nc"
    existing.write_bytes(b"precious")
    for arguments, expected in (([BODIES, "vi_sphere", "--step", "0.3", "--t-end", "1"], "nearest valid steps"),
                                ([BODIES, "vi_sphere", "--step", "0.1", "--t-end", "1"], "of another specification")):
        done = subprocess.run([sys.executable, "-m", "liestep.api.command_line", "run", *arguments, "-o",
                               str(existing)], capture_output=True, text=True, env=os.environ, check=False)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert expected in done.stderr
    assert existing.read_bytes() == b"precious"
    assert [item.name for item in tmp_path.iterdir()] == ["out.nc"]
