"""What a clone needs: lock, environment files, citation, schemas and pages agree with each other, and
the README's code works."""
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas
import pytest
import ready
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from place import copied_package

from docs.site.facts import write_keys
from docs.site.source import shown
from liestep.api.command_line import FILES, main
from liestep.claims.claimfile import VERDICTS
from liestep.errors import InputError
from liestep.figures.commands import figure_modules
from liestep.study.plan.papers import papers
from liestep.study.tables.columns import about
from liestep.study.tables.kinds import NAMES
from liestep.workflow import schemas
from liestep.workflow.schemas import columns_of_tables
from liestep.workflow.workflow import Workflow

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP/"pyproject.toml").read_text())


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def asked_for() -> dict[str, SpecifierSet]:
    """Requirements of pyproject.toml: run time, all extras and build."""
    texts = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"],
             *(text for extra in PROJECT["project"]["optional-dependencies"].values() for text in extra)]
    found = {canonical(item.name): item.specifier for item in map(Requirement, texts)}
    found.pop("liestep")  # an extra that brings others
    return found


def locked() -> list[tuple[str, str, list[str]]]:
    """(name, version, hashes) of every entry of the lock."""
    found = []
    for line in (TOP/"requirements.lock").read_text().replace("\\\n", " ").splitlines():
        entry, *hashes = line.split("--hash=")
        name, version = entry.partition(" ; ")[0].strip().split("==")
        found.append((canonical(name), version, [text.strip() for text in hashes]))
    return found


def test_every_entry_of_the_lock_has_hashes_and_no_address():
    text = (TOP/"requirements.lock").read_text()
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    for name, _, hashes in locked():
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", text) for text in hashes), name


def test_lock_meets_the_project():
    versions: dict[str, list[str]] = {}
    for name, version, _ in locked():
        versions.setdefault(name, []).append(version)
    for name, specifier in asked_for().items():
        assert all(specifier.contains(version) for version in versions[name]), name


def test_conda_environment_installs_exactly_the_lock_by_its_hashes():
    environment = yaml.safe_load((TOP/"environment.yml").read_text())
    python, pip, listed = environment["dependencies"]
    version = python.removeprefix("python =")
    assert PROJECT["project"]["requires-python"].removeprefix(">=") == version
    assert pip == "pip"
    assert listed == {"pip": ["-r requirements.lock"]}
    assert environment["name"] == PROJECT["project"]["name"]
    for page in ("README.md", "environment.yml"):
        assert "pip install --no-deps --no-build-isolation -e ." in (TOP/page).read_text()


def test_bill_of_materials_lists_the_packages_and_refuses_other_licences(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(TOP/".ci")
    import sbom

    shutil.copy(TOP/"requirements.lock", tmp_path)
    monkeypatch.setattr(sbom, "TOP", tmp_path)
    assert sbom.main() == 0
    found = json.loads((tmp_path/"sbom.json").read_text())
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.5")
    hashes = {(name, version): hashes for name, version, hashes in locked()}
    assert len(found["components"]) > 50
    for each in found["components"]:
        written = [f"sha256:{one['content']}" for one in each["hashes"]]
        assert written == hashes[canonical(each["name"]), each["version"]]
        assert each["licenses"][0]["license"]["name"]
    monkeypatch.setattr(sbom, "licence", lambda found: "GNU General Public License (GPL)")
    with pytest.raises(SystemExit, match=r"GNU General Public License.*none of those that are allowed"):
        sbom.main()


@pytest.mark.parametrize(("there", "code"), [({"python3.11": 0, "python3.13": 0}, 0), ({"python3.12": 1}, 1), ({}, 1)])
def test_matrix_checks_each_python_in_an_environment_of_its_own(there, code, monkeypatch, capsys):
    monkeypatch.syspath_prepend(TOP)
    import make

    called = {}
    monkeypatch.setattr(make.shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(make.subprocess, "call", lambda words, env: called.update(
        {words[0]: env["LIESTEP_ENVIRONMENT"]}) or there[words[0]])
    assert make.main(["matrix"]) == code
    assert called == {name: f".cache/{name}" for name in there}
    assert capsys.readouterr().out.count("is not installed") == 4 - len(there)


def test_build_needs_only_locked_packages():
    wanted = {canonical(Requirement(item).name) for item in PROJECT["build-system"]["requires"]}
    assert wanted <= {name for name, _, _ in locked()}
    assert set(PROJECT["build-system"]["requires"]) <= set(PROJECT["dependency-groups"]["build"])


def test_continuous_integration_runs_the_test_command_of_the_readme():
    command = "python3 make.py test"
    assert f"{command} --all" in (TOP/".ci"/"run").read_text().splitlines()
    assert command in (TOP/"README.md").read_text()
    assert os.access(TOP/".ci"/"run", os.X_OK)


@pytest.mark.parametrize("name", schemas.MODELS)
def test_schemas_are_those_of_the_classes(name):
    assert ((TOP/"workflow"/"schemas"/f"{name}.schema.json").read_text()
            == json.dumps(schemas.schema(name), indent=2) + "\n"), "run python .ci/schemas.py"


def keys_of(part) -> list[tuple[str, dict]]:
    """All (key, entry) of a JSON Schema, at any depth."""
    found = []
    if isinstance(part, dict):
        found += list(part.get("properties", {}).items())
        found += [item for value in part.values() for item in keys_of(value)]
    elif isinstance(part, list):
        found += [item for value in part for item in keys_of(value)]
    return found


@pytest.mark.parametrize("name", schemas.MODELS)
def test_every_key_is_described_and_unknown_keys_are_refused(name):
    whole = schemas.schema(name)
    for key, entry in keys_of(whole):
        assert entry.get("description"), key
    for part in (whole, *whole.get("$defs", {}).values()):
        for form in part.get("anyOf", [part]):
            if "properties" in form:
                assert form["additionalProperties"] is False
                optional = set(form["properties"]) - set(form.get("required", ()))
                assert all("default" in form["properties"][key] for key in optional)


def test_configuration_page_has_the_keys_of_its_file_and_is_short(tmp_path, monkeypatch):
    page = (TOP/"config"/"README.md").read_text()
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TOP/"config", tmp_path/"config")
    (tmp_path/"workflow"/"schemas").mkdir(parents=True)
    runpy.run_path(str(TOP/".ci"/"schemas.py"), run_name="__main__")
    assert (tmp_path/"config"/"README.md").read_text() == page, "run python .ci/schemas.py"
    assert all(f"| `{key}` |" in page for key in schemas.schema("config")["properties"])
    assert "liestep describe study" in page  # those of a study
    assert all(f"| {verdict} |" in page for verdict in VERDICTS)
    assert len(page.split()) <= 1500  # the rest is what `liestep describe` says


@pytest.mark.parametrize("name", FILES)
def test_every_key_and_figure_is_described_by_the_command_and_on_the_site(name, tmp_path):
    """Each with the words of the class that checks it; the page of the site has the same rows."""
    text, site = " ".join(schemas.describe(name).split()), tmp_path/"keys.md"
    expected = [(key, "") for key in sorted(figure_modules())] if name == "figures" else [
        (key, about(key)[2]) for _, columns in columns_of_tables() for key in columns] if name == "tables" else [
        (key, entry["description"]) for key, entry in keys_of(schemas.schema(name))]
    write_keys(site)
    for key, words in expected:
        assert f" {key}" in text
        assert " ".join(words.split()) in text
        assert f"| `{key}` |" in site.read_text()
    last = expected[-1][0]
    assert f"  {last}" in schemas.describe(name, last)
    assert len(schemas.describe(name, last)) < len(schemas.describe(name)) or len(expected) < 3


def test_a_part_of_a_file_that_is_not_there_is_refused_with_the_closest_one():
    assert schemas.describe("claims", "ratio").startswith("Ratio: ")
    with pytest.raises(InputError, match="unknown part of study 'sampels'; did you mean samples"):
        schemas.describe("study", "sampels")


def code(language: str, containing: str) -> str:
    """The block of the README, or of the page on what can be added, in a language that contains a text."""
    pages = "".join(shown((TOP/name).read_text("utf-8"), (TOP/name).parent) for name in ("README.md", "docs/adding.md"))
    blocks = re.findall(rf"```{language}\n(.*?)```", pages, re.DOTALL)
    found, = (block for block in blocks if containing in block)
    return found


@pytest.mark.slow
def test_code_of_the_readme_works(tmp_path):
    """Its study, problem and integrator, in a copy of the package."""
    package = copied_package(tmp_path/"src")
    (package/"mechanics"/"systems"/"dipole_in_field.py").write_text(code("python", "DipoleInField"))
    (package/"integrators"/"ralston.py").write_text(code("python", "rk2_ralston"))
    (tmp_path/"config"/"studies"/"mine").mkdir(parents=True)
    (tmp_path/"config"/"studies"/"mine"/"pendulum.yaml").write_text(code("yaml", "double pendulum"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path/"src"), "NUMBA_DISABLE_JIT": "1"}

    def liestep(*arguments):
        return ready.run("liestep", *arguments, folder=tmp_path, environment=environment)

    assert "mine/pendulum: valid, 2 sweeps\n  12 runs" in liestep("check", "mine/pendulum").stdout
    assert "conserved momentum: z" in liestep("describe", "dipole_in_field").stdout
    run = liestep("run", "dipole_in_field", "rk2_ralston", "--step", "0.1", "-o", "out.nc")
    assert run.stdout == "out.nc: completed\n", run.stderr
    script = ("import liestep\n"
              "data = liestep.simulate('dipole_in_field', 'vi_sphere', step=0.1)\n"
              "assert data.attrs['energy_error_max'] < 0.01 and data.attrs['momentum_error_max_z'] < 1e-13\n")
    for text in (script, code("python", "import liestep\n")):
        assert ready.python("-c", text, folder=tmp_path, environment=environment).returncode == 0


@pytest.mark.slow
def test_study_of_the_readme_claims_its_orders(tmp_path, monkeypatch):
    (tmp_path/"config"/"studies"/"mine").mkdir(parents=True)
    (tmp_path/"config"/"studies"/"mine"/"pendulum.yaml").write_text(code("yaml", "double pendulum"))
    monkeypatch.chdir(tmp_path)
    for command in (("job", "sweep", "mine/pendulum", "pendulum"), ("job", "reference", "mine/pendulum", "pendulum"),
                    ("job", "analyse", "mine/pendulum")):
        assert main(list(command)) == 0
    orders = pandas.read_csv(tmp_path/"results"/"mine"/"pendulum"/"orders.csv").set_index("integrator_id")
    assert list(orders["class"]) == ["asymptotic", "asymptotic"]
    assert orders["passed"].all()


def listed_products() -> list[re.Pattern]:
    """Paths below results/ that its page lists; "<...>" stands for any text, "<table>" for any table, and a suffix
    alone for another one of the file before it."""
    found, folder, stem = [], "", ""
    tables = [*NAMES, *(name for paper in papers().values() for name in paper.tables)]
    for row in re.findall(r"^\| (`.*?) \|", (TOP/"results"/"README.md").read_text(), re.MULTILINE):
        for k, item in enumerate(re.findall(r"`([^`]+)`", row)):
            if k == 0:
                folder = item.rpartition("/")[0]
            if item.startswith("."):
                item = stem + item
            elif "/" not in item and folder:
                item = f"{folder}/{item}"
            stem = item.partition(".")[0] if "<name>" in item else item
            pattern = item.replace(".", r"\.").replace("<study>", ".+").replace("<table>", f"({'|'.join(tables)})")
            found.append(re.compile(re.sub(r"<\w+>", "[^/]+", pattern)))
    return found


def test_page_of_the_results_lists_every_product():
    """And nothing that no study makes."""
    results = TOP/"tests"/"no_results"
    workflow = Workflow({"studies": "all"}, TOP/"config", results)
    batches = [*workflow.batches, *workflow.references]
    paths = [*workflow.targets, *(batch.mark for batch in batches),
             *(path for batch in batches for path in batch.paths)]
    for products in workflow.studies:
        paths += [*products.timings, products.log("products")]
    rules = "".join(path.read_text() for path in (TOP/"workflow"/"rules").glob("*.smk"))
    paths += [results/text for text in re.findall(r'f"{RESULTS}/([^"{]+)"', rules)]
    names = {path.relative_to(results).as_posix() for path in paths}
    patterns = listed_products()
    assert not [name for name in names if not any(pattern.fullmatch(name) for pattern in patterns)]
    names |= {f"any/{table}.csv" for table in NAMES}  # of any study that asks
    names |= {"any/animations/bodies.rk4.h0.1.gif", "any/cells.csv.gz"}
    names |= {"report/studies.html"}
    assert not [pattern.pattern for pattern in patterns if not any(pattern.fullmatch(name) for name in names)]


PAGES = (TOP/"README.md", TOP/".github"/"CONTRIBUTING.md", TOP/"config"/"README.md", TOP/"results"/"README.md",
         *sorted((TOP/"docs").glob("*.md")))


def test_architecture_names_files_that_exist_and_defines_words_once():
    page = (TOP/"docs"/"architecture.md").read_text()
    names = re.findall(r"`([\w./]+/[\w.]*)`", page)
    missing = [name for name in names if not ((TOP/"src"/"liestep"/name).exists() or (TOP/name).exists())]
    assert set(missing) <= {"results/"}  # made by the workflow
    listed = page.partition("## Words")[2].partition("## ")[0]
    words = re.findall(r"^\| ([^|]*?) \|", listed, re.MULTILINE)[1:]
    assert all(re.fullmatch("[a-z]+", word) for word in words)  # one a row
    assert len(words) == len(set(words)) <= 22


def test_the_top_has_few_entries():
    """Of what is committed, beside hidden ones."""
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no clone")
    top = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    assert len([name for name in top if not name.startswith(".")]) <= 20
    files = filter(Path.is_file, map(TOP.joinpath, listed.stdout.splitlines()))
    large = {str(path.relative_to(TOP)) for path in files if path.stat().st_size > 1 << 19}
    assert large <= {"rotation_bench/other_codes/stored/files.tar.xz"}  # numbers of codes that are not in the lock


def test_files_that_pages_point_to_exist():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert "://" in target or (page.parent/target).exists(), f"{page}: {target}"


@pytest.mark.parametrize(("lines", "expected"), [(("a==1 \\", "    --hash=sha256:x \\", "    --hash=sha256:y",
                                                   "ab==2 \\", "    --hash=sha256:z"),
                                                  "a==1      --hash=sha256:x      --hash=sha256:y")])
def test_make_finds_one_package_in_a_lock(lines, expected, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TOP)
    import make

    (tmp_path/"lock").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(make, "LOCK", tmp_path/"lock")
    assert make.locked_entry("a") == expected


@pytest.mark.parametrize(("broken", "expected"), [(None, 0), ("ruff", 1), ("mypy", 1), ("python", 1)])
def test_check_runs_all_its_parts_and_fails_if_one_does(broken, expected, monkeypatch, capsys):
    monkeypatch.syspath_prepend(TOP)
    import make

    called = {}
    monkeypatch.setattr(make, "call", lambda program, *arguments, **variables:
                        called.update({program: (arguments, variables)}) or int(program == broken))
    assert make.check() == expected
    assert list(called) == ["ruff", "mypy", "python"]
    arguments, variables = called["python"]
    assert "--quick" in arguments
    assert variables["LIESTEP_TEST_CACHE"] == make.CACHE
    assert ("failed" in capsys.readouterr().out) == bool(expected)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["ruff check", "mypy"])
def test_style_and_types(tool):
    """For continuous integration; make.py check calls both itself."""
    name, *arguments = tool.split()
    if name == "mypy":
        pytest.importorskip("mypy", reason="mypy is not installed: make the environment of the lock")
    result = subprocess.run([sys.executable, "-m", name, *arguments], cwd=TOP, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_strict_rooms_are_strict():
    """The overrides that switch on all checks name the rooms that others build on, and no room is left out."""
    overrides = PROJECT["tool"]["mypy"]["overrides"]
    strict, = (part for part in overrides if part.get("disallow_untyped_defs"))
    rooms = ("mechanics.contracts.*", "errors", "simulation.catalogue", "api.functions", "extend")
    assert set(strict["module"]) == {f"liestep.{room}" for room in rooms}
    assert not any(part.get("ignore_errors") for part in overrides)
    assert (TOP/"src"/"liestep"/"py.typed").is_file()


def test_make_says_where_the_commands_of_its_environment_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LIESTEP_ENVIRONMENT", str(tmp_path))
    assert runpy.run_path(str(TOP/"make.py"))["environment"]() == 0
    assert f"call {tmp_path/'bin'/'liestep'}" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["tests"]])
def test_make_refuses_what_it_does_not_know(arguments):
    result = subprocess.run([sys.executable, "make.py", *arguments], cwd=TOP, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == ("make.py: say what to make: quick, paper, results, test, check, site,"
                             " other_codes, release, metadata, sbom, environment, matrix\n")
