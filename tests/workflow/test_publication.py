"""What journals and archives read: a paper, and descriptions that are written from one source."""
import copy
import csv
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from liestep.study.plan.papers import papers

TOP = Path(__file__).resolve().parents[2]
PAPER = TOP/"docs"/"paper"
PROJECT = tomllib.loads((TOP/"pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((TOP/"CITATION.cff").read_text())


@pytest.fixture
def metadata(monkeypatch):
    """The command that writes them."""
    monkeypatch.syspath_prepend(TOP/".ci")
    import metadata

    return metadata


def test_descriptions_are_what_the_command_writes(metadata):
    assert not metadata.stale(), "run python3 make.py metadata"
    code, archive = map(json.loads, metadata.of_a_release().values())
    assert code["version"] == archive["version"] == PROJECT["version"] == CITATION["version"]
    dois = [entry["doi"] for entry in CITATION["references"]]
    assert [entry["id"] for entry in code["referencePublication"]] == [f"https://doi.org/{doi}" for doi in dois]
    assert [entry["identifier"] for entry in archive["related_identifiers"]] == dois
    works, page = ((TOP/name).read_text("utf-8") for name in ("docs/paper/paper.bib", "README.md"))
    assert all(f"doi = {{{doi}}}" in works and f"doi:{doi}\n" in page for doi in dois)


def test_papers_of_the_package_have_the_identifiers_of_the_bibliography(metadata):
    listed = metadata.source()["replicated"]
    found = {name: paper.doi for name, paper in papers().items() if paper.doi}
    assert found == {name: work["doi"] for name, work in listed.items()}
    for name in listed:
        paper = papers()[name]
        for key in ("title", "first_title"):
            assert listed[name].get(key, "").lower() in paper.citation.lower()


def test_a_record_that_is_changed_in_one_file_only_is_found(metadata, tmp_path, monkeypatch):
    for name in metadata.files():
        (tmp_path/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP/name, tmp_path/name)
    monkeypatch.setattr(metadata, "TOP", tmp_path)
    assert metadata.stale() == []
    for name in ("CITATION.cff", "README.md"):
        text = (TOP/name).read_text("utf-8")
        (tmp_path/name).write_text(text.replace("10.1080/00207160.2021.1966772", "10.48550/arXiv.2102.12778"), "utf-8")
    assert metadata.stale() == ["CITATION.cff", "README.md"]
    assert metadata.main() == 0
    assert metadata.stale() == []


def test_names_that_a_person_fills_in_reach_every_file(metadata, monkeypatch):
    """With their ORCID and affiliation in the words of each format."""
    facts = copy.deepcopy(metadata.source())
    facts["person"] = {"authors": [{"family": "Noether", "given": "Emmy", "affiliation": "Erlangen",
                                    "orcid": "0000-0002-1825-0097"}],
                       "contact": "emmy@example.org", "repository": "https://example.org/liestep",
                       "documentation": "https://example.org/site", "archive": "10.5281/zenodo.1"}
    assert list(metadata.unfilled(facts["person"])) == []
    assert list(metadata.unfilled()) != []
    monkeypatch.setattr(metadata, "source", lambda: facts)
    texts = metadata.files() | metadata.of_a_release()
    code, archive, citation = (json.loads(texts["codemeta.json"]), json.loads(texts[".zenodo.json"]),
                               yaml.safe_load(texts["CITATION.cff"]))
    assert citation["authors"] == [{"family-names": "Noether", "given-names": "Emmy", "affiliation": "Erlangen",
                                    "orcid": "https://orcid.org/0000-0002-1825-0097"}]
    assert citation["doi"] == code["identifier"].removeprefix("https://doi.org/") == "10.5281/zenodo.1"
    assert archive["creators"] == [{"name": "Noether, Emmy", "affiliation": "Erlangen", "orcid": "0000-0002-1825-0097"}]
    assert code["author"][0]["familyName"] == "Noether"
    assert tomllib.loads(texts["pyproject.toml"])["project"]["authors"] == [
        {"name": "Emmy Noether", "email": "emmy@example.org"}]
    head = yaml.safe_load(texts["docs/paper/paper.md"].split("---\n")[1])
    assert head["affiliations"] == [{"name": "Erlangen", "index": 1}]
    assert "placeholder" not in "".join(texts.values())


def test_the_paper_has_the_parts_that_the_journal_asks_for():
    text, works = (PAPER/"paper.md").read_text(), (PAPER/"paper.bib").read_text()
    _, head, body = text.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(facts)
    assert (PAPER/facts["bibliography"]).is_file()
    assert [entry["name"] for entry in facts["authors"]] == [entry["name"] for entry in CITATION["authors"]]
    assert re.findall(r"^# (.+)$", body, re.M) == [
        "Summary", "Statement of need", "State of the field", "Software design", "Research impact statement",
        "AI usage disclosure", "References"]
    cited = set(re.findall(r"@(\w+)", body))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", works, re.M))
    assert 750 <= len(body.split()) <= 1500
    figures = re.findall(r"!\[[^\]]+\]\((\.\./[\w.]+)\)", body)
    assert len(figures) == 2
    assert all((PAPER/name).is_file() for name in figures)


def test_numbers_of_the_paper_are_those_of_the_last_records():
    """Of the comparisons in the README and of the stored runs of other codes."""
    text = " ".join((PAPER/"paper.md").read_text("utf-8").split())
    rows = re.findall(r"^\| (free body|heavy top|double pendulum|three bodies|rod) \| [\w, ]+ ([\d.]+) \| ([\d.]+) \|",
                      (TOP/"README.md").read_text("utf-8"), re.M)
    assert len(rows) == 5
    for _, ours, heyoka in rows:
        assert re.search(rf"\b{re.escape(heyoka)}( microseconds)? and (`liestep` )?{re.escape(ours)}\b", text)
    with (TOP/"rotation_bench"/"other_codes"/"stored"/"table.csv").open(newline="") as file:
        times = [(row["code"], float(row["milliseconds_1e-08"])) for row in csv.DictReader(file)
                 if row["problem"] == "heavy_top" and row["milliseconds_1e-08"]]
    least = {code: min(value for name, value in times if name == code) for code, _ in times}
    names = {"scipy": "SciPy", "mujoco": "MuJoCo", "exudyn": "Exudyn", "drake": "Drake",
             "rebound": "REBOUND"}
    for code, value in least.items():
        printed = f"{f'{value:#.2g}'.rstrip('.')} ms (of processor time )?in `?{names.get(code, code)}"
        assert re.search(rf"{printed}\b", text), code


def test_problems_support_and_contributions_have_a_place():
    page = (TOP/".github"/"CONTRIBUTING.md").read_text("utf-8")
    assert "CODE_OF_CONDUCT.md" in page
    assert (TOP/".github"/"CODE_OF_CONDUCT.md").is_file()
    for path in sorted((TOP/".github"/"ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text("utf-8"))
        if path.name == "config.yml":
            assert form["blank_issues_enabled"] is True
            continue
        assert {"name", "description", "body"} <= set(form)
        labels = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(labels) == len(set(labels)) > 0
        assert f"`{path.stem}`" in page


def test_the_container_makes_the_locked_environment():
    lines = [line.partition(" ") for line in (TOP/".ci"/"Containerfile").read_text().splitlines()
             if line[:1] not in ("#", "")]
    said = {word: [rest for name, _, rest in lines if name == word] for word, _, _ in lines}
    assert list(said) == ["FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "CMD"]  # a misspelt one is none
    (image,), (folder,) = said["FROM"], said["WORKDIR"]
    version = re.fullmatch(r"docker\.io/library/python:(3\.\d+)\.\d+-slim-\w+@sha256:[0-9a-f]{64}", image)
    least = re.fullmatch(r">=(3\.\d+)", PROJECT["requires-python"])
    assert version
    assert least
    assert [int(part) for part in version[1].split(".")] >= [int(part) for part in least[1].split(".")]
    assert said["RUN"][-1] == "python3 make.py environment"
    assert said["ENV"] == [f"PATH={folder}/.venv/bin:$PATH"]
    assert json.loads(said["CMD"][0])[0] == "snakemake"
    user, = said["USER"]
    assert said["COPY"] == [f"--chown={user} . ."]
    assert any(f" {user} " in command and "useradd" in command for command in said["RUN"][:-1])
    page = (TOP/"docs"/"platforms.md").read_text()
    assert "-f .ci/Containerfile ." in page
    assert f":{folder}/results" in page


def test_what_git_ignores_stays_out_of_images():
    """An environment of the host that is copied would be taken for one that is ready."""
    def rules(name: str) -> set[str]:
        lines = (TOP/name).read_text().splitlines()
        return {line.removeprefix("**/").strip("/") for line in lines if line and not line.startswith("#")}

    assert rules(".ci/Containerfile.dockerignore") == rules(".gitignore")
