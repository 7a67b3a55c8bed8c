"""What a start plans is kept for the next one while nothing has changed that it is made from."""
import shutil
from pathlib import Path

import pytest
from plugin_room import _nothing_stays  # noqa: F401

import liestep.study.plan.plan
from liestep.compile import sources
from liestep.files.records import FOLDER
from liestep.simulation import catalogue
from liestep.workflow import plans
from liestep.workflow.workflow import Workflow

STUDY = """title: "Two methods"
reference: true
problems:
  bodies: {system: sphere_nbody, t_end: 1.0}
integrators:
  vi_sphere:
  rk4: {options: {form: velocity}}
steps: {counts: [10, 20]}
samples: 11
animations: [bodies/rk4/h0.1]
"""
CLAIM = """paper: mine
claims:
  - id: small
    statement: "the energy error of rk4 is small"
    source: "page 1"
    quote: "small"
    asserted_by: paper
    scope: general
    runs: [{study: mine/first, problem: bodies, integrator: rk4, resolution: h0.1}]
    quantity: energy_error_max
    criterion: {kind: limit, at_most: 1.0}
    verdict: confirmed
    known: true
    setting: "none"
"""
PLACE = Path("results")/FOLDER


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        path = tmp_path/"config"/"studies"/"mine"/f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUDY)
    return tmp_path


def look(monkeypatch):
    """Names of the studies that a start plans anew, and all that it found."""
    planned = []
    sweeps = liestep.study.plan.plan.Study._sweep
    with monkeypatch.context() as patch:
        patch.setattr(liestep.study.plan.plan.Study, "_sweep",
                      lambda study, *rest: planned.append(study.name) or sweeps(study, *rest))
        workflow = Workflow({})
        found = ({path: cell.fingerprint for path, cell in workflow.cells.items()},
                 [(batch.arguments, batch.fingerprint, batch.mark) for batch in workflow.batches],
                 [(entry.path, entry.fingerprint) for products in workflow.studies for entry in products.references],
                 [(products.fingerprint, products.runs) for products in workflow.studies], workflow.claims,
                 workflow.computed, workflow.targets)
    return set(planned), found, workflow


@pytest.fixture
def kept(folder, monkeypatch):
    """What the first start found."""
    for path in (folder/"config"/"studies"/"mine").iterdir():  # films and estimates need specifications
        path.write_text(STUDY.replace("animations: [bodies/rk4/h0.1]\n", ""))
    planned, found, workflow = look(monkeypatch)
    assert planned == {"mine/first", "mine/second"}
    assert not PLACE.exists()  # reading plans nothing for good: a dry run leaves no file
    workflow.plans.save()
    for path in workflow.cells:  # the estimate of what is to be made specifies what is missing
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return found


def test_the_next_start_finds_the_same_without_planning(kept, monkeypatch):
    planned, found, workflow = look(monkeypatch)
    assert not planned
    assert found == kept
    cell = next(cell for cell in workflow.cells.values() if cell.integrator == "rk4" and cell.resolution == "h0.1")
    assert cell.fingerprint.startswith(f"{cell.spec.sha256}:")  # whoever asks for it gets the specification
    assert (cell.spec.steps, cell.spec.options["form"]) == (10, "velocity")


def test_a_changed_study_is_planned_anew(folder, kept, monkeypatch):
    path = folder/"config"/"studies"/"mine"/"second.yaml"
    path.write_text(path.read_text().replace("[10, 20]", "[10, 40]"))
    planned, found, _ = look(monkeypatch)
    assert planned == {"mine/second"}
    assert found != kept


def test_changed_sources_are_planned_anew(kept, monkeypatch):
    monkeypatch.setattr("liestep.workflow.workflow.package_hash", lambda: "others")
    assert look(monkeypatch)[0] == {"mine/first", "mine/second"}


@pytest.mark.parametrize("damage", ["bit", "empty", "folder"])
def test_a_damaged_record_is_no_plan(kept, damage, monkeypatch):
    (path,) = PLACE.glob("*.txt")
    content = path.read_bytes()
    if damage == "bit":
        for fingerprint in (found.encode() for found in kept[0].values()):
            content = content.replace(fingerprint, fingerprint[:-1] + b"x")
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        path.write_bytes(content if damage == "bit" else b"")
    planned, found, _ = look(monkeypatch)
    assert planned == {"mine/first", "mine/second"}
    assert found == kept


def test_films_are_found_in_the_plan(folder, monkeypatch):
    _, _, workflow = look(monkeypatch)
    film, = workflow.studies[0].animations
    workflow.plans.save()
    again, = look(monkeypatch)[2].studies[0].animations
    assert (again.path, again.cell.path, again.cell.fingerprint) == (film.path, film.cell.path, film.cell.fingerprint)


def test_a_study_is_planned_anew_when_its_plugin_has_changed(folder, monkeypatch):
    shutil.copy(Path(__file__).parents[2]/"docs"/"examples"/"ralston.py", folder/"config"/"studies"/"mine")
    path = folder/"config"/"studies"/"mine"/"second.yaml"
    path.write_text(STUDY.replace("rk4: {options: {form: velocity}}", "rk4: {id: rk2_ralston}")
                    .replace("animations: [bodies/rk4/h0.1]\n", "") + "plugins: [ralston.py]\n")
    planned, found, workflow = look(monkeypatch)
    assert "mine/second" in planned
    workflow.plans.save()
    again, same, _ = look(monkeypatch)
    assert "mine/second" not in again
    assert same == found
    known = catalogue.plugin_entries()
    monkeypatch.setattr(catalogue, "plugin_entries", lambda: {
        name: entry._replace(content="after an edit") for name, entry in known.items()})
    assert "mine/second" in look(monkeypatch)[0]


def test_claims_are_checked_again_when_a_file_of_the_configuration_changes(folder, kept, monkeypatch):
    checked = []
    monkeypatch.setattr("liestep.workflow.workflow.require_claim", lambda claim, studies: checked.append(claim.id))
    claims = folder/"config"/"claims"/"mine.yaml"
    claims.parent.mkdir()
    claims.write_text(CLAIM)
    workflow = look(monkeypatch)[2]
    assert (checked, workflow.claims) == (["small"], {"mine": ["mine/first"]})
    workflow.plans.save()
    assert look(monkeypatch)[2].claims == {"mine": ["mine/first"]}
    assert checked == ["small"]
    claims.write_text(CLAIM.replace("at_most: 1.0", "at_most: 2.0"))
    look(monkeypatch)
    assert checked == ["small", "small"]


def test_the_hash_of_the_package_sees_every_file(tmp_path):
    (tmp_path/"a.py").write_text("1")
    before = plans.content_hash(tmp_path.rglob("*.py"), tmp_path)
    (tmp_path/"b").mkdir()
    (tmp_path/"b"/"c.py").write_text("")
    after = plans.content_hash(tmp_path.rglob("*.py"), tmp_path)
    (tmp_path/"a.py").write_text("2")
    assert len({before, after, plans.content_hash(tmp_path.rglob("*.py"), tmp_path)}) == 3


def test_data_beside_modules_are_sources(tmp_path, monkeypatch):
    """A tableau in a file .toml is a part of runs as its module is."""
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    found = []
    for name in ("method.py", "method.toml", "notes.txt"):
        (tmp_path/name).write_text("a = 1")
        sources.package_hash.cache_clear()
        found.append(sources.package_hash())
    sources.package_hash.cache_clear()
    assert found[0] != found[1] == found[2]
