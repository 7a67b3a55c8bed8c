"""Own systems and integrators from files outside the package: the documented example, and mistakes in it."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
import ready
from place import copied_package
from plugin_room import _nothing_stays  # noqa: F401

import liestep.extend as door
from docs.site.source import shown
from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.simulation.catalogue import plugin_entries
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.study.plan.papers import paper_module, papers

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2]/"docs"/"examples"
PAGE = EXAMPLES.parent/"own_system.md"
SYSTEM, METHOD = EXAMPLES/"my_pendulum.py", EXAMPLES/"my_midpoint.py"
BODIES = EXAMPLES/"my_bodies.py"


def liestep(*arguments, folder, expected=0):
    """Output of a command in a process of its own."""
    done = ready.run("liestep", *map(str, arguments), folder=folder, environment=os.environ)
    assert done.returncode == expected, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def changed(folder, name, *changes, source=SYSTEM):
    """A copy of an example with replaced text; each test has a name of its own, because sources
    are read once in a process."""
    text = source.read_text("utf-8")
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    path = folder/f"{name}.py"
    path.write_text(text, "utf-8")
    return path


def line_of(path, text):
    return next(number for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if text in line)


def complaint(path):
    with pytest.raises(InputError) as caught:
        load_plugin(path)
    assert "\n" not in str(caught.value)
    assert not plugin_entries()
    return str(caught.value)


def test_examples_are_short_and_the_page_shows_them():
    assert len(SYSTEM.read_text("utf-8").splitlines()) <= 60
    assert len(METHOD.read_text("utf-8").splitlines()) <= 40
    assert len([line for line in BODIES.read_text("utf-8").splitlines() if line]) <= 40
    page = shown(PAGE.read_text("utf-8"), PAGE.parent)
    for path in (SYSTEM, METHOD, BODIES, EXAMPLES/"own_study.yaml"):
        assert path.read_text("utf-8").strip() in page, f"docs/own_system.md shows another {path.name}"


SHOWN = {"dipole_in_field.py": 40, "ralston.py": 25}  # in docs/adding.md, each the one file that is added: most lines


def test_the_page_shows_the_examples_and_they_are_short():
    page = shown((PAGE.parent/"adding.md").read_text("utf-8"), PAGE.parent)
    for name, most in SHOWN.items():
        text = (EXAMPLES/name).read_text("utf-8")
        assert f"```python\n{text}```" in page, f"docs/adding.md shows another {name}"
        assert len(text.splitlines()) <= most


def test_pages_and_examples_import_from_one_door():
    pages = [PAGE.parents[1]/"README.md", *PAGE.parent.glob("*.md"), *EXAMPLES.glob("*.py")]
    statement = re.compile(r"^ *(?:from|import) (liestep(?:\.[\w.]+)?)\b", re.MULTILINE)
    found = {name for page in pages for name in statement.findall(page.read_text("utf-8"))}
    assert found == {"liestep", "liestep.extend"}


def test_everything_of_the_door_exists_and_is_listed_once():
    assert sorted(set(door.__all__)) == sorted(door.__all__)
    assert all(hasattr(door, name) for name in door.__all__)


def test_readme_examples_copied_into_the_package_run(tmp_path):
    """One file each; every integrator of its formulations runs on the system, and the integrator on other systems."""
    package = copied_package(tmp_path)
    shutil.copy(EXAMPLES/"dipole_in_field.py", package/"mechanics"/"systems")
    shutil.copy(EXAMPLES/"ralston.py", package/"integrators")
    code = ("import liestep\nfrom liestep.simulation.runs.specification import specify\n"
            "for problem, name in (('dipole_in_field', 'rk2_ralston'), ('dipole_in_field', 'vi_sphere'),"
            " ('heavy_top', 'rk2_ralston')):\n"
            "    gaps = [liestep.simulate(problem, name, steps=n, t_end=0.02).attrs['energy_error_max']"
            " for n in (50, 100)]\n"
            "    print(name, gaps[0] > 3.0*gaps[1] > 0.0)\n"
            "print(sorted({'dipole_in_field', 'rk2_ralston'} &"
            " {*liestep.list_systems(), *liestep.list_integrators()}))")
    done = ready.python("-c", code, folder=tmp_path, environment=dict(os.environ, PYTHONPATH=str(tmp_path)))
    assert done.stdout.splitlines() == ["rk2_ralston True", "vi_sphere True", "rk2_ralston True",
                                        "['dipole_in_field', 'rk2_ralston']"], done.stderr


def test_the_example_study_runs_and_an_edit_makes_its_own_runs_anew(tmp_path):
    for path in EXAMPLES.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    study = tmp_path/"own_study.yaml"
    study.write_text(study.read_text("utf-8").replace("[20, 40, 80, 160, 320]", "[20, 40]"), "utf-8")
    sweep = ("job", "sweep", "own_study.yaml", "pendulum")
    assert "6 made, 0 linked, 0 kept, 0 stopped" in liestep(*sweep, folder=tmp_path)
    assert "0 made, 0 linked, 6 kept" in liestep(*sweep, folder=tmp_path)
    # paths are relative to the study
    said = liestep("--results", tmp_path/"results", "job", "sweep", study, "pendulum", folder="/")
    assert "0 made, 0 linked, 6 kept" in said
    own = tmp_path/"my_midpoint.py"
    own.write_text(own.read_text("utf-8").replace("LieMidpoint(0.5)", "LieMidpoint(0.25)"), "utf-8")
    assert "2 made, 0 linked, 4 kept" in liestep(*sweep, folder=tmp_path)


def test_a_run_names_its_plugins_by_content(tmp_path):
    first = specify(*load_plugin(changed(tmp_path, "content_a")), "rk4", steps=2)
    (tmp_path/"b").mkdir()
    assert (load_plugin(shutil.copy(tmp_path/"content_a.py", tmp_path/"b"))
            == ("content_a",)), "the same content from another place"
    assert list(first.plugins) == ["content_a"]
    assert str(tmp_path) not in str(first.canonical())
    other = specify(*load_plugin(changed(tmp_path, "content_b", ("9.81", "9.80"))), "rk4", steps=2)
    assert first.plugins["content_a"] != other.plugins["content_b"]
    assert first.source_hash != other.source_hash
    assert specify("sphere_nbody", "rk4", steps=2).plugins == {}


def test_another_file_of_the_same_name_is_refused(tmp_path):
    load_plugin(changed(tmp_path, "same_name"))
    (tmp_path/"b").mkdir()
    with pytest.raises(InputError, match="another plugin named same_name is loaded"):
        load_plugin(changed(tmp_path/"b", "same_name", ("9.81", "9.80")))


@pytest.mark.parametrize(("name", "change", "at", "said"), [
    ("syntax", ("def build(p):", "def build(p:"), "def build(p:", "syntax error"),
    ("undefined", ('mass=lambda p: np.array(', 'mass=lambda p: numpy.array('), "numpy.array",
     "name 'numpy' is not defined"),
    ("importing", ("import numpy as np", "import nowhere as np"), "import nowhere", "No module named 'nowhere'"),
    ("misspelt", ("self.weight*q[0, 2] +", "self.wieght*q[0, 2] +"), "self.wieght", "has no attribute 'wieght'"),
    ("outside", ("row(q, 0)), row(self.anchor, 0))\n        put", "row(q, 5)), row(self.anchor, 0))\n        put"),
     "row(q, 5)", "out of bounds"),
])
def test_a_mistake_is_one_sentence_with_the_line(tmp_path, name, change, at, said):
    path = changed(tmp_path, name, change)
    sentence = complaint(path)
    assert sentence.startswith(f"{path}, line {line_of(path, at)}: ")
    assert said in sentence


@pytest.mark.parametrize(("name", "statement", "said"), [
    ("one", "import stiffness_table", "cannot import stiffness_table, a file beside it"),
    ("two", "from stiffness_table import STIFFNESS", "cannot import stiffness_table, a file beside it"),
    ("three", "from .stiffness_table import STIFFNESS", "cannot import stiffness_table, a file beside it"),
    ("four", "from . import stiffness_table", "cannot import stiffness_table, a file beside it"),
    ("five", "import spring_tables.stiffness as s", "cannot import spring_tables.stiffness, a file beside it")])
def test_a_file_beside_the_plugin_cannot_be_imported(tmp_path, monkeypatch, name, statement, said):
    """Also not when Python would find it, as in the working directory: an edit of it would go unnoticed."""
    (tmp_path/"stiffness_table.py").write_text("STIFFNESS = 5.0\n")
    (tmp_path/"spring_tables").mkdir()
    (tmp_path/"spring_tables"/"__init__.py").touch()
    (tmp_path/"numpy.py").touch()  # is not what `import numpy` means
    path = changed(tmp_path, f"neighbour_{name}", ("import numpy as np\n", f"import numpy as np\n{statement}\n"))
    for _ in range(2):
        sentence = complaint(path)
        assert sentence.startswith(f"{path}, line {line_of(path, statement)}: a plugin ")
        assert said in sentence
        assert "installed package with an entry point" in sentence
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])


@pytest.mark.parametrize(("name", "change", "said"), [
    ("nothing", ("SHEET = ", "sheet = "),
     "declares neither SHEET nor SHEETS (systems) nor METHODS (integrators); sheet must be written in capitals"),
    ("no_sheet", ("SHEET = spheres(", "SHEET = dict("), "SHEET must be a Sheet, not a dict"),
    ("rk4", ("9.81", "9.81"), "id rk4 exists already"),
    ("off", ("[[0.6, 0.0, -0.8]]", "[[0.6, 0.0, -0.7]]"), "initial q[0] is not a unit vector"),
    ("unwritten", ("put(out, 0, ", "print("), "some rows of out are not written"),
    ("untitled", ('citation="own example"', 'citation=3'), "citation must be of the type str, not 3"),
    ("no_preset", ('presets={"default"', 'presets={} and {"default"'), "has no preset"),
])
def test_a_wrong_declaration_is_one_sentence(tmp_path, name, change, said):
    path = changed(tmp_path, name, change)
    sentence = complaint(path)
    assert sentence.startswith(f"{path}: ")
    assert said in sentence


@pytest.mark.parametrize(("name", "change", "said"), [
    ("status", ("        problem.act(xi, y, y)\n        return Status.OK", "        problem.act(xi, y, y)"),
     "step must return a Status"),
    ("taken", ('"my_midpoint"', '"rkmk"'), "id rkmk exists already"),
    ("order", ("order=2", "order='two'"), "order must be of the type int, not 'two'"),
    ("kept", ("conserves=ORBIT", "conserves=['manifold']"), "conserves must be of the type tuple[Keeps | Where"),
    ("knobs", ("conserves=ORBIT", "options={'a': 3}"), "options must be of the type Mapping[str, Option], not"),
    ("form", ('formulation="lie_action"', 'formulation="lie_acton"'),
     "unknown formulation 'lie_acton'; did you mean lie_action?"),
])
def test_a_wrong_integrator_is_one_sentence(tmp_path, name, change, said):
    assert said in complaint(changed(tmp_path, f"method_{name}", change, source=METHOD))


@pytest.mark.parametrize(("name", "new", "said"), [
    ("heap", "spring = np.array([0.0, 0.0, self.weight])\n        put(out, 0, (spring[0], spring[1], spring[2]))",
     "cannot make arrays"),
    ("table", "spring = TABLE['a']\n        put(out, 0, (0.0, 0.0, spring))", "'TABLE' stands for a dict"),
    ("product", "spring = q[0] @ q[0]\n        put(out, 0, (0.0, 0.0, spring))", "no matrix products"),
])
def test_code_that_cannot_be_compiled_is_one_sentence_with_the_line(tmp_path, name, new, said):
    text = SYSTEM.read_text("utf-8")
    start = text.index("        spring", text.index("def gradient"))
    body = text[start:text.index("\n\n", start)]
    path = changed(tmp_path, f"compile_{name}", (body, "        " + new),
                   ("class SpringPendulum", "TABLE = {'a': 1.0}\n\n\nclass SpringPendulum"))
    paper_module(papers()["lgt2022"], "evidence")  # plain Python with products of its own
    load_plugin(path)
    with pytest.raises(InputError) as caught:
        carry_out(specify(f"compile_{name}", "rk4", steps=2))
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}, line {line_of(path, new.splitlines()[0])}: cannot be compiled: ")
    assert said in sentence
    assert "\n" not in sentence


FAILING = """\
title: t
plugins: [{name}.py]
problems:
  own: {{system: {name}, t_end: 1.0}}
  bodies: {{system: sphere_nbody, t_end: 1.0}}
integrators:
  vi_sphere: {{}}
  rk4: {{replicas: 2}}
  ode45: {{tolerances: [1e-3], log_steps: true}}
  many: {{id: rk4, ensemble: {{members: 2, amplitude: 0.01}}}}
steps: [0.1, 0.05]
samples: 6
timing: true
tables: [orders, energy, momentum, drift, work]
figures: [energy_error, momentum_error, length_error, drift, failures]
"""


def test_code_that_cannot_be_compiled_is_a_failed_run(tmp_path, monkeypatch, capsys):
    """The sweep goes on; tables have a row for each run, which does not name any folder."""
    text = SYSTEM.read_text("utf-8")
    start = text.index("        spring", text.index("def gradient"))
    body = "        spring = np.zeros(3)\n        put(out, 0, (0.0, 0.0, spring[0]))"
    path = changed(tmp_path, "not_compiled", (text[start:text.index("\n\n", start)], body))
    (tmp_path/"study.yaml").write_text(FAILING.format(name="not_compiled"))
    monkeypatch.chdir(tmp_path)
    assert main(["job", "sweep", "study.yaml", "own,bodies"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "study own,bodies: 14 made, 0 linked, 0 kept, 7 stopped early"
    for command in ("time", "analyse", "figure"):
        assert main(["job", command, "study.yaml"]) == 0
    metrics = pandas.read_csv("results/study/metrics.csv")
    failed = metrics[metrics["problem"] == "own"]
    assert list(metrics["status"]) == ["not_compiled"]*7 + ["ok"]*7
    assert set(failed["message"]) == {f"not_compiled.py, line {line_of(path, 'np.zeros(3)')}: cannot be compiled:"
                                      " compiled code cannot make arrays, lists, sets or texts: use tuples and"
                                      " numbers, put(out, i, (x, y, z)), and take scratch arrays from a field or from"
                                      " workspace [spring = np.zeros(3)]"}
    assert (failed["time_reached"] == 0.0).all()
    assert failed["energy_error_mean"].eq(0.0).all() or failed["energy_error_mean"].isna().all()
    assert set(pandas.read_csv("results/study/drift.csv").query("problem == 'own'")["verdict"]) == {"failed"}
    assert pandas.read_csv("results/study/timings.csv").query("problem == 'own'")["seconds"].isna().all()
    assert main(["job", "sweep", "study.yaml", "own,bodies"]) == 0
    assert "0 made, 0 linked, 14 kept" in capsys.readouterr().err


def test_a_run_that_cannot_be_begun_is_refused_when_the_others_are_made(tmp_path, monkeypatch, capsys):
    """An error of the plugin's own Python at other parameters than those of the first preset."""
    changed(tmp_path, "not_begun", ("def build(p):\n", "def build(p):\n    assert p['length'] < 2.0\n"))
    text = FAILING.format(name="not_begun").replace("  bodies:", "  long: {system: not_begun, t_end: 1.0, parameters:"
                                                    " {length: 3.0}}\n  bodies:")
    (tmp_path/"study.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["job", "sweep", "study.yaml", "own,long,bodies", "rk4"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    assert "not_begun.py, line" in lines[-1]
    assert "AssertionError" in lines[-1]


def test_check_system_finds_a_wrong_gradient_and_a_wrong_flag(tmp_path):
    changed(tmp_path, "wrong", ("axpy(self.stiffness*self.length, spring", "axpy(self.stiffness, spring"),
            ('"length": 1.0', '"length": 1.5'))
    said = liestep("check-system", "wrong.py", folder=tmp_path, expected=1)
    assert "gradient against finite differences  WRONG" in said
    changed(tmp_path, "flag", ("(False, False, bool(np.all(p[\"anchor\"][:2] == 0.0)))", "(False, False, True)"))
    said = liestep("check-system", "flag.py", folder=tmp_path, expected=1)
    assert "gradient against finite differences  ok" in said
    assert "momentum about z                     WRONG  declared conserved" in said


def test_check_system_passes_the_examples_and_finds_a_wrong_order(tmp_path):
    said = liestep("check-system", SYSTEM, folder=tmp_path)
    assert said.count(" ok ") == 16
    assert "constrained_lagrangian, coordinates cartesian  ok" in said
    assert "all checks passed" in said
    changed(tmp_path, "low", ("LieMidpoint(0.5)", "LieMidpoint(0.25)"), source=METHOD)
    said = liestep("check-system", "low.py", folder=tmp_path, expected=1)
    assert "order of my_midpoint on sphere_nbody" in said
    assert "WRONG  1." in said


def test_a_study_names_the_file_it_needs(tmp_path):
    shutil.copy(EXAMPLES/"own_study.yaml", tmp_path)
    said = liestep("check", "own_study.yaml", folder=tmp_path, expected=2)
    assert "own_study.yaml, line 2: plugins.0: there is no plugin file my_pendulum.py" in said


def test_an_installed_package_is_found_by_its_entry_point(tmp_path):
    shutil.copy(SYSTEM, tmp_path/"installed_pendulum.py")
    info = tmp_path/"own-1.0.dist-info"
    info.mkdir()
    (info/"METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (info/"entry_points.txt").write_text("[liestep.plugins]\nown = installed_pendulum\n")
    code = ("import liestep.simulation.plugins\nfrom liestep.simulation.runs.specification import specify\nfrom"
            " liestep.simulation.catalogue import system_ids\nprint(sorted(specify('installed_pendulum', 'rk4',"
            " steps=2).plugins), 'installed_pendulum' in system_ids())")
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=str(tmp_path)),
                          capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "['installed_pendulum'] True", done.stderr
