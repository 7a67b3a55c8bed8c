"""What journals, archives and indexes read, written from docs/publication.yaml and pyproject.toml: a fact stands once.
`python3 make.py metadata` calls it in the environment; a test compares what it would write with what is there."""
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).resolve().parents[1]
SOURCE = "docs/publication.yaml"
OPEN = "placeholder"  # a person's value that nobody has filled in
BLOCK = (f"# from {SOURCE}\n", "# end\n"), (f"<!-- from {SOURCE} -->\n", "<!-- end of references -->\n")

Facts = dict[str, Any]


@cache
def source() -> Facts:
    return yaml.safe_load((TOP/SOURCE).read_text("utf-8"))


@cache
def project() -> Facts:
    return tomllib.loads((TOP/"pyproject.toml").read_text("utf-8"))["project"]


def unfilled(part: Any = None, where: str = "person") -> Iterator[str]:
    """Places of the source that a person must still fill in, as `person.repository`."""
    part = source()["person"] if part is None else part
    if isinstance(part, str):
        yield from [where]*(OPEN in part)
    else:
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from unfilled(value, f"{where}.{key}")


def authors() -> list[Facts]:
    """Those whose names are filled in, else one for all."""
    named = [one for one in source()["person"]["authors"] if OPEN not in one["family"]]
    return ([{key: value for key, value in one.items() if OPEN not in value} for one in named]
            or [{"name": source()["until_then"]}])


def full_name(author: Facts) -> str:
    return author.get("name") or f"{author['given']} {author['family']}"


def doi(archive: str) -> Facts:
    """{} while Zenodo has reserved none."""
    return {} if OPEN in archive else {"doi": archive}


def works() -> list[Facts]:
    return [*source()["replicated"].values(), *source()["cited"]]


def citation() -> str:
    """CITATION.cff, Citation File Format 1.2.0."""
    def person(author: Facts) -> Facts:
        if "name" in author:
            return author
        orcid = {"orcid": f"https://orcid.org/{author['orcid']}"} if "orcid" in author else {}
        return {"family-names": author["family"], "given-names": author["given"],
                **({"affiliation": author["affiliation"]} if "affiliation" in author else {}), **orcid}

    def reference(work: Facts) -> Facts:
        found = {"type": "article" if "journal" in work else "generic", "title": work["title"],
                 "authors": [{"family-names": family, "given-names": given} for family, given in work["authors"]]}
        found |= {key: work[key] for key in ("journal", "volume") if key in work}
        found |= {"publisher": {"name": work["publisher"]}} if "publisher" in work else {}
        found |= {"issue": work["number"]} if "number" in work else {}
        found |= dict(zip(("start", "end"), work.get("pages", ()), strict=False))
        found |= {"year": work["year"], "doi": work["doi"]}
        if "preprint" in work:
            found["identifiers"] = [{"type": "doi", "value": f"10.48550/arXiv.{work['preprint']}",
                                     "description": "preprint"}]
        if "first_title" in work:
            found["notes"] = f"Title of the first version: {work['first_title']}"
        return found

    facts = source()
    return _yaml({"cff-version": "1.2.0", "message": "If you use this software, please cite it and the paper whose"
                  " results it replicates.", "title": facts["title"], "abstract": facts["abstract"], "type": "software",
                  "version": project()["version"], **doi(facts["person"]["archive"]), "license": project()["license"],
                  "repository-code": facts["person"]["repository"], "url": facts["person"]["documentation"],
                  "authors": [person(one) for one in authors()], "keywords": project()["keywords"],
                  "references": [reference(work) for work in facts["replicated"].values()]})


def codemeta() -> str:
    """codemeta.json, CodeMeta 3.0."""
    def person(author: Facts) -> Facts:
        if "name" in author:
            return {"type": "Organization", **author}
        return {"type": "Person", "name": full_name(author), "familyName": author["family"],
                "givenName": author["given"],
                **({"affiliation": {"type": "Organization", "name": author["affiliation"]}}
                   if "affiliation" in author else {}),
                **({"id": f"https://orcid.org/{author['orcid']}"} if "orcid" in author else {})}

    def reference(work: Facts) -> Facts:
        return {"type": "ScholarlyArticle", "name": work["title"],
                **({"alternateName": work["first_title"]} if "first_title" in work else {}),
                "id": f"https://doi.org/{work['doi']}",
                **({"sameAs": f"https://arxiv.org/abs/{work['preprint']}"} if "preprint" in work else {})}

    facts, person_facts = project(), source()["person"]
    archive = doi(person_facts["archive"])
    return _json({
        "@context": "https://w3id.org/codemeta/3.0", "type": "SoftwareSourceCode", "name": facts["name"],
        "version": facts["version"], **({"identifier": f"https://doi.org/{archive['doi']}"} if archive else {}),
        "description": facts["description"], "license": f"https://spdx.org/licenses/{facts['license']}",
        "codeRepository": person_facts["repository"], "issueTracker": f"{person_facts['repository']}/issues",
        "softwareHelp": person_facts["documentation"], "programmingLanguage": "Python",
        "runtimePlatform": f"Python {facts['requires-python'].removeprefix('>=')} or newer", "operatingSystem": "Linux",
        "softwareRequirements": facts["dependencies"], "keywords": facts["keywords"],
        "author": [person(one) for one in authors()], "developmentStatus": "active", "buildInstructions": "README.md",
        "readme": "README.md", "referencePublication": [reference(work) for work in source()["replicated"].values()]})


def zenodo() -> str:
    """.zenodo.json, the deposit's fields."""
    def creator(author: Facts) -> Facts:
        name = author.get("name") or f"{author['family']}, {author['given']}"
        return {"name": name, **{key: author[key] for key in ("affiliation", "orcid") if key in author}}

    def cites(identifier: str, relation: str = "cites", kind: str = "publication-article") -> Facts:
        return {"identifier": identifier, "relation": relation, "scheme": "doi", "resource_type": kind}

    facts = source()
    return _json({"title": facts["title"], "description": facts["abstract"], "version": project()["version"],
                  "upload_type": "software", "license": f"{project()['license'].lower()}-license",
                  "access_right": "open", "language": "eng", "creators": [creator(one) for one in authors()],
                  "keywords": project()["keywords"],
                  "related_identifiers": [cites(work["doi"]) for work in facts["replicated"].values()]})


def codecheck() -> str:
    """codecheck.yml, the part that authors write; its checker adds the rest."""
    facts = source()
    return _yaml({"version": "https://codecheck.org.uk/spec/config/1.0/",
                  "paper": {"title": facts["paper"]["title"],
                            "authors": [{"name": full_name(one), **({"ORCID": one["orcid"]} if "orcid" in one else {})}
                                        for one in authors()]},
                  "manifest": facts["outputs"], "repository": facts["person"]["repository"]})


def bibliography() -> str:
    """paper.bib."""
    def protected(title: str) -> str:
        """Capitals stay: all but that of the first word, and those inside words."""
        words = title.split(" ")
        return " ".join(f"{{{word}}}" if re.search(r"[A-Z]", word[1:] if k == 0 else word) else word
                        for k, word in enumerate(words))

    def entry(work: Facts) -> str:
        names = " and ".join(one if isinstance(one, str) else ", ".join(one) for one in work["authors"])
        fields = {"author": names, "title": protected(work["title"])}
        fields |= {key: str(work[key]) for key in ("journal", "booktitle", "school", "edition", "volume", "number")
                   if key in work}
        fields |= {"publisher": work["publisher"]} if "publisher" in work else {}
        fields |= {"pages": "--".join(map(str, work["pages"]))} if "pages" in work else {}
        fields |= {"year": str(work["year"]), "doi": work["doi"]}
        if "preprint" in work:
            fields |= {"eprint": work["preprint"], "archiveprefix": "arXiv"}
        if "first_title" in work:
            fields["note"] = f"Title of the first version: {protected(work['first_title'])}"
        kind = work.get("type", "article" if "journal" in work else "misc")
        lines = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items())
        return f"@{kind}{{{work['key']},\n{lines}\n}}\n"

    return "".join(entry(work) for work in works())


def readme_references() -> str:
    """The list at the end of README.md."""
    def names(work: Facts) -> str:
        short = [" ".join([*(f"{part[0]}." for part in given.split()), family]) for family, given in work["authors"]]
        return ", ".join(short) if len(short) < 4 else f"{short[0]} and others"

    return "".join(f"- {names(work)}: {work['short']} ({work['year']}), doi:{work['doi']}\n"
                   for work in source()["replicated"].values())


def paper_head() -> str:
    """What stands above the text of paper.md."""
    facts, named = source(), [{"affiliation": "Independent", **one} for one in authors()]
    places = list(dict.fromkeys(one["affiliation"] for one in named))
    return _yaml({"title": facts["paper"]["title"], "tags": ["Python", *project()["keywords"]],
                  "authors": [{"name": full_name(one), **({"orcid": one["orcid"]} if "orcid" in one else {}),
                               "affiliation": places.index(one["affiliation"]) + 1} for one in named],
                  "affiliations": [{"name": place, "index": k} for k, place in enumerate(places, 1)],
                  "date": facts["paper"]["date"], "bibliography": "paper.bib"})


def project_block() -> str:
    """Authors and addresses in pyproject.toml."""
    address = source()["person"]["repository"]
    contact = source()["person"]["contact"]
    named = ", ".join(f'{{name = "{full_name(one)}", email = "{contact}"}}' for one in authors())
    return (f'authors = [{named}]\n\n[project.urls]\nDocumentation = "{source()["person"]["documentation"]}"\n'
            f'Repository = "{address}"\nIssues = "{address}/issues"\nChangelog = "{address}/blob/main/CHANGELOG.md"\n')


def files() -> dict[str, str]:
    """Name below the top -> the text that it should have."""
    def with_block(name: str, marks: tuple[str, str], text: str) -> str:
        before, _, rest = (TOP/name).read_text("utf-8").partition(marks[0])
        return f"{before}{marks[0]}{text}{marks[1]}{rest.partition(marks[1])[2]}"

    body = (TOP/"docs"/"paper"/"paper.md").read_text("utf-8").split("---\n", 2)[2]
    return {"CITATION.cff": citation(), "codecheck.yml": codecheck(), "docs/paper/paper.bib": bibliography(),
            "docs/paper/paper.md": f"---\n{paper_head()}---\n{body}",
            "pyproject.toml": with_block("pyproject.toml", BLOCK[0], project_block()),
            "README.md": with_block("README.md", BLOCK[1], readme_references())}


def of_a_release() -> dict[str, str]:
    """Name -> text of the descriptions that a release brings and that no tool reads in the repository."""
    return {"codemeta.json": codemeta(), ".zenodo.json": zenodo()}


def stale() -> list[str]:
    """Names of the files that differ from what would be written."""
    return [name for name, text in files().items()
            if not (TOP/name).is_file() or (TOP/name).read_text("utf-8") != text]


def _yaml(facts: Facts) -> str:
    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=120)


def _json(facts: Facts) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    changed, texts = stale(), files()
    for name in changed:
        (TOP/name).write_text(texts[name], "utf-8")
    print(f"metadata: {', '.join(changed) or 'nothing'} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
