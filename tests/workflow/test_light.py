"""liestep without its extras: what works, and what is missing as one sentence with the command that installs it. The
folder that `liestep init` makes, and the wheel in an environment of its own."""
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest
from commands import contents, refused
from installed import PROJECT, Installed, canonical, needed
from packaging.requirements import Requirement
from place import TOP

from liestep.api.command_line import main
from liestep.files import records
from liestep.files.extras import EXTRAS
from liestep.study.plan.assignments import assignments
from liestep.workflow.starting import INCLUDED

LIGHT = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
"""


COMPILED = """
import liestep
from liestep.compile import interpreted
interpreted.PAYS = 0.0
liestep.simulate("free_rigid_body", "rk4", step=0.1, t_end=1.0)
"""


def hidden():
    """Modules of everything that this environment has and a plain installation has not."""
    base = {"liestep", "setuptools", *needed()}
    return {module for module, names in packages_distributions().items() if not base & set(map(canonical, names))}


def light(code, folder):
    """Output of a program without the packages of the extras; it must end well."""
    done = subprocess.run([sys.executable, "-c", f"HIDDEN = {hidden()!r}\n{LIGHT}{code}"], cwd=folder, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def readme_example():
    return re.search(r"```python\n(import liestep\n.*?)```", (TOP/"README.md").read_text(), re.DOTALL)[1]


def error_of(printed):
    """Of the recommendation that the example prints."""
    return float(re.search(r"^error (\S+) over the whole horizon", printed, re.MULTILINE)[1])


def names_of(extra):
    return {canonical(Requirement(text).name) for text in PROJECT["optional-dependencies"][extra]}


def test_table_of_extras_is_that_of_the_project():
    distributions = packages_distributions()
    for extra, modules in EXTRAS.items():
        found = {canonical(name) for module in modules.split() for name in distributions[module]}
        assert found == names_of(extra) - {"liestep"}, extra
    assert PROJECT["optional-dependencies"]["all"] == ["liestep[certify,completion,evidence,robots,study]"]
    assert "liestep[figures,references]" in PROJECT["optional-dependencies"]["study"]


def test_a_plain_installation_brings_twelve_packages_beside_liestep():
    assert len(needed()) <= 12


def test_what_the_package_imports_is_in_the_project():
    """With the plain installation or in one extra; llvmlite is of one version with numba."""
    known = {"liestep", "llvmlite", *needed(), *(name for extra in EXTRAS for name in names_of(extra))}
    pattern = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)
    found = {name for path in (TOP/"src"/"liestep").rglob("*.py") for name in pattern.findall(path.read_text())}
    outside = {name: {canonical(one) for one in names} for name, names in packages_distributions().items()}
    assert not [name for name in found & set(outside) if not outside[name] & known]
    assert len(found & set(outside)) >= 12


@pytest.mark.slow
def test_example_of_the_readme_needs_no_extra(tmp_path):
    out = light(readme_example(), tmp_path)
    assert float(out.split()[0]) < 1e-3
    assert error_of(out) <= 1e-6


def test_runs_and_commands_need_no_extra(tmp_path):
    out = light("""
import liestep
from liestep.api.command_line import main
for method, how in (("rk4", {"step": 0.01}), ("rkmk", {"step": 0.01}), ("taylor", {"tolerance": 1e-9})):
    data = liestep.simulate("free_rigid_body", method, t_end=1.0, **how)
    print(method, 0.0 < data.attrs["energy_error_max"] < 1e-6)
print(liestep.observed_order([0.1, 0.05], [1e-2, 2.5e-3]).order_plain)
for command in ("list", "describe heavy_top", "run heavy_top rk4 --step 0.001 --t-end 1 --parameter mass=15.0"
                " --option form=orthonormal -o a.nc", "check a.nc"):
    print(main(command.split()))
""", tmp_path).splitlines()
    assert out[:3] == ["rk4 True", "rkmk True", "taylor True"]
    assert out[-2:] == ["a.nc: complete, heavy_top by rk4, completed", "0"]
    assert out.count("0") == 4


def test_missing_packages_are_one_sentence(tmp_path):
    """Names can be imported all the same: `from liestep import *` works."""
    out = light("""
from liestep import *
from liestep.api.command_line import main
data = simulate("free_rigid_body", "rk4", step=0.1, t_end=1.0)
data.liestep.save("a.nc")
for call in (data.liestep.plot, lambda: plot(data), lambda: compare([data, data]), lambda: reference("heavy_top")):
    try:
        call()
    except InputError as error:
        print(error)
sys.stderr = sys.stdout
for command in ("animate a.nc", "init folder", "new-study first", "check first", "certify rk4", "status"):
    print(main(command.split()))
""", tmp_path).splitlines()

    def sentence(module, extra):
        return f'this needs {module}, which is not installed: pip install "liestep[{extra}]"'

    assert out[:4] == [*[sentence("matplotlib", "figures")]*3, sentence("heyoka", "references")]
    expected = [("matplotlib", "figures"), *[("pydantic", "study")]*3, ("mpmath", "certify"), ("pydantic", "study")]
    assert out[4:] == [line for pair in expected for line in (f"liestep: {sentence(*pair)}", "2")]
    assert os.listdir(tmp_path) == ["a.nc"]


@pytest.mark.parametrize(("text", "value"), [
    ("2.0", 2.0), ("1e-3", 1e-3), ("3", 3), ("[1, 2.5]", [1, 2.5]), ("full", "full"), ("true", True), ("no", False),
    ("null", None), ("NaN", "NaN"), ("{a: 1e-3}", {"a": 1e-3}), ('"1e-3"', 1e-3), ("[[0, 1], [full]]",
                                                                                    [[0, 1], ["full"]])])
def test_values_of_arguments_are_those_of_yaml(text, value):
    import yaml

    from liestep.study.plan.assignments import numbers

    found = assignments([f"name={text}"], "parameter")["name"]
    assert found == value
    assert type(found) is type(value)
    assert numbers(yaml.safe_load(text)) == found


def snakemake(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "snakemake", *arguments], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})


def test_init_makes_a_folder_where_snakemake_works(tmp_path, capsys):
    assert main(["init", str(tmp_path/"new"), "--problem", "spherical_pendulum_chain"]) == 0
    assert "first.yaml: edit it" in capsys.readouterr().out
    for name in ("Snakefile", "config/config.yaml", "config/README.md", "profiles/default/config.yaml"):
        assert (tmp_path/"new"/name).is_file()
    assert INCLUDED in (TOP/"Snakefile").read_text()
    done = snakemake(tmp_path/"new", "-n")
    assert done.returncode == 0, done.stderr
    assert "first: 21 runs of main" in done.stdout + done.stderr
    results = tmp_path/"new"/"results"
    assert "first" in records.last(results, "plan")  # which the next start takes
    shutil.rmtree(results)
    results.mkdir()
    (results/records.FOLDER).touch()  # where no plan can be kept
    done = snakemake(tmp_path/"new", "-n")
    assert done.returncode == 0, done.stderr


def test_command_of_new_study_works_in_an_empty_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new-study", "mine/first"]) == 0
    command = re.findall("^  snakemake (.*)$", capsys.readouterr().out, re.MULTILINE)[0]
    done = snakemake(tmp_path, *command.split(), "-n")
    assert done.returncode == 0, done.stderr
    assert "mine/first: 21 runs of main" in done.stdout + done.stderr


def test_new_study_leaves_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path/"Snakefile").write_text("mine")
    (tmp_path/"config").mkdir()
    (tmp_path/"config"/"config.yaml").write_text("studies: first\n")
    assert main(["new-study", "first"]) == 0
    assert (tmp_path/"Snakefile").read_text() == "mine"
    assert (tmp_path/"config"/"config.yaml").read_text() == "studies: first\n"


@pytest.mark.parametrize(("folder", "problem", "expected"), [
    ("full", "heavy_top", "full is not an empty folder"), ("full/file", "heavy_top", "file is not an empty folder"),
    ("full/file/below", "heavy_top", "cannot write full/file/below/config/studies/first.yaml"),
    ("/proc/nowhere", "heavy_top", "cannot write /proc/nowhere/config/studies/first.yaml"),
    ("new", "heavy_to", "did you mean heavy_top?")])
def test_init_refuses(folder, problem, expected, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path/"full").mkdir()
    (tmp_path/"full"/"file").write_text("")
    before = contents(tmp_path)
    assert expected in refused(["init", folder, "--problem", problem], capsys)
    assert contents(tmp_path) == before


@pytest.mark.slow
def test_wheel_in_an_empty_environment(once, tmp_path):
    """The wheel, and of the packages of this environment only those that it asks for, without a network: a run that is
    compiled there, README's example outside of the repository, and the files that `liestep init` takes out of the
    wheel."""
    place = Installed(tmp_path, once)
    place.call(place.python, "-c", COMPILED, LIESTEP_CACHE=str(tmp_path/"cache"))
    assert list((tmp_path/"cache").glob("advance-*"))
    assert error_of(place.call(place.python, "-c", readme_example())) <= 1e-6
    packed = place.site/"liestep"/"workflow"/"packed"
    for name in ("Snakefile", "workflow/Snakefile", "workflow/rules/runs.smk", "config/config.yaml", "config/README.md",
                 "profiles/slurm/config.yaml"):
        assert (packed/name).read_bytes() == (TOP/name).read_bytes()
    assert not [name for name in os.listdir(place.site) if name.startswith("heyoka")]
