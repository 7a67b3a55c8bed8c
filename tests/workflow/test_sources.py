"""What an edit of one file makes anew: the package is copied, a comment is added, and what every job of the workflow is
compared by (its fingerprint and the hash of its sources) is computed again. Nothing is run."""
import copy
import importlib
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from place import paper_code

import liestep
from liestep.compile import sources
from liestep.files.records import FOLDER
from liestep.simulation.catalogue import _own_system, sheet
from liestep.simulation.references import reference
from liestep.study.plan.papers import papers
from liestep.study.plan.plan import Study
from liestep.workflow import sources as pipeline_sources
from liestep.workflow.sources import page_source
from liestep.workflow.workflow import JobBatch, StudyProducts, Workflow

ROOT = Path(liestep.__file__).parent
TOP = Path(__file__).parents[2]
CACHES = (*sources.CACHES, pipeline_sources._packages)


def forget() -> None:
    for found in CACHES:
        found.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, and of the papers in its folder, whose files are hashed instead of the imported ones."""
    copy = tmp_path/"liestep"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", copy)
    for name in papers():
        monkeypatch.setitem(sources._folders, name, paper_code(copy, name))
    forget()
    yield copy
    forget()


def planned(**config: Any) -> Workflow:
    """The workflow planned anew: beside a folder with results it would find the plans of its last start."""
    return Workflow({"apart": ["classics", "testsets"], **config}, TOP/"config", TOP/"tests"/"no_results")


class Known:
    """A plan, and the same plan again with the sources as they are then. The copy of the package is hashed and not
    imported: no specification changes, and specifying all runs takes most of the time of a plan."""

    def __init__(self) -> None:
        self.references: dict[tuple[str, str], tuple[Path, Any]] = {}
        forget()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reference, "study_reference", self.reference)
            self.workflow = planned()
        self.studies = {products.name: products.study for products in self.workflow.studies}

    def reference(self, study: Study, problem: str, make=reference.study_reference) -> tuple[Path, Any]:
        if (study.name, problem) not in self.references:
            self.references[study.name, problem] = make(study, problem)
        return self.references[study.name, problem]

    def study(self, _path: Path, name: str, _results: Path) -> Study:
        """With its specifications and without its fingerprints."""
        found = copy.copy(self.studies[name])
        vars(found).pop("sweeps", None)
        found._known = {key: replace(sweep, cells=tuple(replace(cell, specified=partial(getattr, cell, "spec"))
                                                        for cell in sweep.cells))
                        for key, sweep in found._known.items()}
        return found

    def again(self) -> Workflow:
        forget()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reference, "study_reference", self.reference)
            patch.setattr("liestep.workflow.workflow.Study", self.study)
            return planned()


def sweep(batch: JobBatch) -> str:
    return f"sweep {batch.mark}"


def jobs(workflow: Workflow) -> dict[str, tuple[str, ...]]:
    """Job -> what Snakemake compares it by, as in workflow/rules; figures, of which a job makes those that are out of
    date, one by one."""
    found: dict[str, tuple[str, ...]] = {sweep(batch): (batch.fingerprint,) for batch in workflow.batches}
    found |= {f"reference {batch.mark}": (batch.fingerprint,) for batch in workflow.references}
    for products in workflow.studies:
        found[f"tables {products.name}"] = (products.fingerprint, pipeline_sources.table_source(products.name))
        found |= {f"animate {film.path}": (film.cell.fingerprint, pipeline_sources.film_source())
                  for film in products.animations}
        found |= {f"figures {products.name} {name}": (products.fingerprint, pipeline_sources.figure_source(name))
                  for name in products.figures}
    found["claims"] = (pipeline_sources.claim_source(),)
    found["errata"] = (pipeline_sources.evidence_source(workflow.errata),)
    found["page"] = (page_source(),)
    return found


@pytest.fixture(scope="module")
def known() -> Known:
    return Known()


@pytest.fixture(scope="module")
def before(known: Known) -> Workflow:
    """The workflow of the package as it is: a plan takes a quarter of a minute, so there is one."""
    return known.workflow


@pytest.fixture(scope="module")
def jobs_before(before: Workflow) -> dict[str, tuple[str, ...]]:
    return jobs(before)


@pytest.fixture
def changed(package, known, jobs_before):
    """Jobs that are out of date after a comment in files of the package."""
    def found(*names: str) -> set[str]:
        for name in names:
            path = package/name
            path.write_text(path.read_text("utf-8") + "\n# a comment\n", "utf-8")
        after = jobs(known.again())
        assert jobs_before.keys() == after.keys()
        return {name for name in after if jobs_before[name] != after[name]}
    return found


def kinds(names: set[str]) -> set[str]:
    return {name.split()[0] for name in names}


def systems(workflow: Workflow) -> dict[str, set[str]]:
    """Sweep -> systems of its runs."""
    return {sweep(batch): {workflow.cells[path].spec.problem for path in batch.paths} for batch in workflow.batches}


def test_comments_in_evidence_make_the_errata_anew_and_nothing_else(changed):
    modules = [f"papers/{name}/{module.replace('.', '/')}.py" for name, paper in papers().items()
               for module in paper.evidence]
    assert changed(*modules) == {"errata"}  # then the report's pages and the manifest: at most six jobs


@pytest.mark.parametrize(("family", "those"), [
    ("spheres", {"dipole_array", "elastic_rod", "lennard_jones_sphere", "sphere_nbody", "spherical_pendulum_chain",
                 "spring_pendula"}),
    ("fixed_body", {"free_rigid_body", "heavy_top"})])
def test_a_comment_in_a_family_makes_its_sweeps_anew_and_no_others(changed, before, family, those):
    sweeps = {name for name in changed(f"mechanics/formulations/{family}/forms.py",
                                       f"mechanics/formulations/{family}/components.py") if name.startswith("sweep")}
    assert sweeps == {name for name, found in systems(before).items() if found & those}
    assert set().union(*(systems(before)[name] for name in sweeps)) == those


def test_a_comment_in_the_lists_of_figures_draws_none_and_runs_nothing(changed):
    lists = [f"papers/{paper}/__init__.py" for paper in papers()]
    assert not kinds(changed("figures/commands.py", *lists)) & {"sweep", "reference", "tables", "figures"}


def test_comments_in_presets_run_nothing(changed):
    found = sorted(path.name for path in (ROOT/"mechanics"/"presets").glob("[a-z]*.py"))
    assert len(found) == 5
    assert changed(*(f"mechanics/presets/{name}" for name in found)) == {"errata"}


def test_a_preset_with_another_number_makes_only_the_runs_anew_that_use_it(monkeypatch, before):
    chosen = [products for products in before.studies  # a plan of all takes four times as long
              if products.name.startswith("twospheres2009/") or products.name.endswith("/every_system")]

    def cells(studies: list[StudyProducts]) -> dict[Path, str]:
        return {cell.path: cell.fingerprint for products in studies for cell in products.cells}

    system, name, parameter = "sphere_nbody", "paper", "gamma"
    facts = sheet(system)
    preset = replace(facts.presets[name], parameters={**facts.presets[name].parameters, parameter: 1.25})
    room = importlib.import_module("liestep.mechanics.presets.twospheres2009")
    monkeypatch.setitem(room.PRESETS[system], name, preset)
    _own_system.cache_clear()
    try:
        after = cells(planned(studies=[products.name for products in chosen]).studies)
    finally:
        monkeypatch.undo()
        _own_system.cache_clear()
    users = {cell.path for products in chosen
             for problem, setup in products.study.config.problems.items()
             if setup.system == system and (setup.preset or facts.default) == name and parameter not in setup.parameters
             for cell in products.study.select(problem)}
    # a file that budgets name by what they spend may have another name then
    assert {path for path, mark in cells(chosen).items() if mark != after.get(path)} == users
    assert 0 < len(users) < len(after)/2


def test_a_comment_in_one_module_of_figures_draws_its_figures_and_no_others(changed, jobs_before):
    paper = papers()["liegroup2021"]
    module = next(one for one in paper.figures.values() if one.endswith("pendula"))
    own = {name for name, place in paper.figures.items() if place == module}
    found = changed(f"papers/liegroup2021/{module.replace('.', '/')}.py")
    assert found == {name for name in jobs_before if name.startswith("figures ") and name.split()[-1] in own}
    assert found


def test_the_counting_sees_an_edit_of_the_loop(changed, jobs_before):
    """Every run, reference and table is a product of the loop."""
    found = changed("compile/driver.py")
    assert {name for name in jobs_before if name.startswith(("sweep", "reference", "tables"))} <= found


def test_plans_are_made_anew_beside_a_folder_with_results(tmp_path, monkeypatch, package):
    """As after `make.py results`: plans kept there are found as long as no source of the package is edited."""
    monkeypatch.chdir(tmp_path)
    one = {"studies": ["liegroup2021/heavy_top"]}
    kept = Workflow(one, TOP/"config")
    kept.plans.save()
    assert list((tmp_path/"results"/FOLDER).iterdir())
    before = [batch.fingerprint for batch in planned(**one).batches]
    assert [batch.fingerprint for batch in Workflow(one, TOP/"config").batches] == before
    (package/"compile"/"driver.py").write_text("# another loop\n", "utf-8")
    forget()
    for anew in (Workflow(one, TOP/"config"), planned(**one)):
        assert anew.batches
        assert not {batch.fingerprint for batch in anew.batches} & set(before)


def test_a_plan_with_kept_specifications_is_a_plan(known, jobs_before, package):
    """What the other tests compare: without an edit nothing changes, and with one what changes in a plan made anew."""
    assert jobs(known.again()) == jobs_before
    (package/"compile"/"driver.py").write_text("# another loop\n", "utf-8")
    found = jobs(known.again())
    forget()
    anew = jobs(planned(studies=["liegroup2021/heavy_top", "twospheres2009/convergence"]))
    del anew["errata"]  # of these papers only
    assert any(name.startswith("reference") for name in anew)
    assert anew.items() <= found.items()
    assert not any(jobs_before[name] == value for name, value in anew.items() if name.startswith("sweep"))
