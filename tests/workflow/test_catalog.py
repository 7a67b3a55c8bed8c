"""What the Snakemake workflow catalog expects of a workflow with standardised usage, and use as a module by others."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import ready
import yaml
from place import STUDY, TOP

MODULE = f'''
module liestep:
    snakefile: "{TOP}/workflow/Snakefile"
'''


def call(folder: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess:
    """Call snakemake in a folder, uncompiled; `path` is where Python looks for modules first."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", **({"PYTHONPATH": path} if path else {})}
    return ready.run("snakemake", *arguments, folder=folder, environment=environment)


@pytest.fixture
def folder(tmp_path):
    """A folder of somebody else with a tiny study."""
    study = tmp_path/"config"/"studies"/"tiny.yaml"
    study.parent.mkdir(parents=True)
    study.write_text(STUDY)
    shutil.copy(TOP/"config"/"config.yaml", tmp_path/"config")
    return tmp_path


def test_files_are_where_the_catalog_looks_for_them():
    for name in ("workflow/Snakefile", "config/README.md", "config/config.yaml", "LICENSE", "README.md"):
        assert (TOP/name).is_file(), name
    assert list((TOP/"workflow"/"rules").glob("*.smk"))
    assert 'include: "workflow/Snakefile"\n' in (TOP/"Snakefile").read_text()
    page = (TOP/"README.md").read_text().lower()
    assert "snakemake" in page
    assert "workflow" in page


def test_keys_of_the_catalog_entry_are_at_their_places():
    """`report` stands beside the kinds of deployment, not among them: the catalog's template and generator say so."""
    entry = yaml.safe_load((TOP/".snakemake-workflow-catalog.yml").read_text())
    assert set(entry) == {"usage"}
    assert set(entry["usage"]) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(entry["usage"]["mandatory-flags"]) == {"desc", "flags"}
    assert set(entry["usage"]["software-stack-deployment"]) == {"conda", "apptainer", "apptainer+conda"}
    assert all(type(value) is bool for value in entry["usage"]["software-stack-deployment"].values())
    assert entry["usage"]["report"] is True


@pytest.mark.parametrize("name", ["Snakefile", "workflow/Snakefile"])
def test_both_files_make_everything_when_nothing_is_asked_for(name, folder):
    result = call(folder, "-s", str(TOP/name), "-n")
    assert result.returncode == 0, result.stderr
    assert "everything is up to date" in result.stdout + result.stderr
    assert "manifest of all products" in result.stdout + result.stderr


@pytest.mark.parametrize("granularity", ["problem", "run"])
def test_linter_has_no_complaint_about_any_rule(granularity, folder):
    """The study has something to do for the rules of every file."""
    shutil.copytree(TOP/"papers"/"liegroup2021", folder/"papers"/"liegroup2021")
    study = folder/"config"/"studies"/"tiny.yaml"
    study.write_text(STUDY + "reference: true\ntiming: true\nsamples: 6\nfigures: [energy_error]\n"
                     "animations: [bodies/rk4/h0.1]\n")
    (folder/"config"/"config.yaml").write_text(f"studies: [tiny]\ngranularity: {granularity}\n")
    result = call(folder, "-s", str(TOP/"Snakefile"), "--lint")
    assert result.returncode == 0, result.stderr
    assert "in a good condition" in result.stdout + result.stderr


def test_another_workflow_uses_all_rules_with_its_own_configuration(folder):
    (folder/"config"/"config.yaml").write_text("studies: tiny\ngranularity: sweep\n")
    (folder/"Snakefile").write_text(MODULE + "use rule * from liestep\n")
    result = call(folder, "--cores", "2")
    assert result.returncode == 0, result.stderr
    results = folder/"results"
    assert {path.name for path in (results/"tiny").glob("*.csv")} == {"metrics.csv", "energy.csv"}
    assert len(list((results/"tiny"/"runs").rglob("*.nc"))) == 6
    assert (results/"report.html").is_file()
    assert (results/"manifest.json").is_file()
    assert len(list((results/"tiny"/"runs").glob("*.made"))) == 4  # one job a sweep: the configuration is its own
    assert "Nothing to be done" in call(folder, "--cores", "1").stderr


def test_another_workflow_renames_rules_and_builds_on_their_products(folder):
    (folder/"mine.yaml").write_text("studies: [tiny]\n")
    (folder/"Snakefile").write_text(f'''
configfile: "mine.yaml"
{MODULE}    config: config
use rule * from liestep as liestep_*
rule mine:
    input:
        rules.liestep_products_tiny.output.page,
        expand(rules.liestep_sweep.output, study="tiny", batch="bodies"),
    output: "mine.txt"
    shell: "wc -l < {{input[0]}} > {{output}}"
''')
    result = call(folder, "--cores", "2", "mine.txt")
    assert result.returncode == 0, result.stderr
    assert int((folder/"mine.txt").read_text()) > 5
    assert not (folder/"results"/"manifest.json").exists()  # nobody asked for it


def test_a_prefix_moves_the_results_only(folder):
    (folder/"Snakefile").write_text(f'{MODULE}    prefix: "sub"\nuse rule * from liestep\n')
    result = call(folder, "--cores", "2")
    assert result.returncode == 0, result.stderr
    assert (folder/"sub"/"results"/"manifest.json").is_file()
    assert (folder/"sub"/"results"/"report.html").is_file()
    assert not (folder/"results").exists()
    assert not (folder/"sub"/"config").exists()
    assert "Nothing to be done" in call(folder, "--cores", "1").stderr


def test_one_workflow_has_one_place_of_results(folder):
    """Jobs learn it from the environment, which a second module would change."""
    (folder/"Snakefile").write_text(f'{MODULE}    prefix: "one"\nuse rule * from liestep\n'
                                    + MODULE.replace("liestep:", "other:", 1)
                                    + '    prefix: "two"\nuse rule * from other as other_*\n')
    result = call(folder, "-n")
    assert result.returncode == 1
    assert "LIESTEP_RESULTS is one/results, not two/results: one workflow can use liestep once" in result.stderr


def test_without_liestep_a_sentence_says_what_to_do(tmp_path):
    hidden = tmp_path/"hidden"/"liestep"
    hidden.mkdir(parents=True)
    (hidden/"__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'liestep'\", name='liestep')\n")
    result = call(tmp_path, "-s", str(TOP/"Snakefile"), "-n", path=str(hidden.parent))
    assert result.returncode == 1
    sentence = result.stderr.strip().splitlines()[-1]
    assert sentence.startswith("liestep: the Python that runs snakemake has no module liestep: ")
    assert "python3 make.py results" in sentence
    assert "Traceback" not in result.stderr


def test_deployment_of_single_jobs_is_refused_in_a_sentence(folder):
    result = call(folder, "-s", str(TOP/"Snakefile"), "-n", "--software-deployment-method", "conda")
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1].startswith("liestep: jobs need liestep itself")
    assert "Traceback" not in result.stderr
