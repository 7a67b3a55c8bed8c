"""What journals and archives read: a paper, and three descriptions that must say the same."""
import json
import re
import tomllib
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((TOP/"pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((TOP/"CITATION.cff").read_text())


def test_descriptions_agree_with_project_and_citation():
    code, archive = (json.loads((TOP/name).read_text()) for name in ("codemeta.json", ".zenodo.json"))
    assert code["name"] == PROJECT["name"]
    assert code["version"] == archive["version"] == PROJECT["version"] == CITATION["version"]
    assert code["description"] == PROJECT["description"]
    assert code["license"].endswith(PROJECT["license"])
    assert archive["license"] == f"{PROJECT['license'].lower()}-license"
    assert code["softwareRequirements"] == PROJECT["dependencies"]
    assert [entry["name"] for entry in code["author"]] == [entry["name"] for entry in archive["creators"]]
    assert [entry["name"] for entry in code["author"]] == [entry["name"] for entry in CITATION["authors"]]
    assert archive["title"] == CITATION["title"]
    dois = [entry["doi"] for entry in CITATION["references"]]
    assert [entry["identifier"] for entry in archive["related_identifiers"]] == dois
    assert [entry["id"] for entry in code["referencePublication"]] == [f"https://doi.org/{doi}" for doi in dois]


def test_the_paper_has_the_parts_that_the_journal_asks_for():
    text, works = (TOP/"paper.md").read_text(), (TOP/"paper.bib").read_text()
    _, head, body = text.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(facts)
    assert (TOP/facts["bibliography"]).is_file()
    assert [entry["name"] for entry in facts["authors"]] == [entry["name"] for entry in CITATION["authors"]]
    assert re.findall(r"^# (.+)$", body, re.M) == [
        "Summary", "Statement of need", "State of the field", "Software design", "Research impact statement",
        "AI usage disclosure", "References"]
    cited = set(re.findall(r"@(\w+)", body))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", works, re.M))
    assert {entry["doi"] for entry in CITATION["references"]} <= set(re.findall(r"doi = \{(.*)\}", works))
    assert 250 <= len(body.split()) <= 1750


def test_the_container_makes_the_locked_environment():
    lines = [line.partition(" ") for line in (TOP/"Containerfile").read_text().splitlines()
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
    assert "Containerfile" in page
    assert f":{folder}/results" in page


def test_what_git_ignores_stays_out_of_images():
    """An environment of the host that is copied would be taken for one that is ready."""
    def rules(name: str) -> set[str]:
        lines = (TOP/name).read_text().splitlines()
        return {line.removeprefix("**/").rstrip("/") for line in lines if line and not line.startswith("#")}

    assert rules(".dockerignore") == rules(".gitignore")
