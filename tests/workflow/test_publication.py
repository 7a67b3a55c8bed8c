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
    text = (TOP/"Containerfile").read_text()
    assert "python3 make.py environment" in text
    assert "Containerfile" in (TOP/"docs"/"platforms.md").read_text()
