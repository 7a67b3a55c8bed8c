"""JSON Schemas of the configuration files (workflow/schemas) and the tables of their keys in config/README.md.

`python -m liestep.workflow.schemas`, called in the top folder, writes both anew from the classes
that validate the files.
"""
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from liestep.claims.claimfile import VERDICTS, ClaimFile
from liestep.claims.errata import ErrataFile
from liestep.files.textfiles import write_text_atomically
from liestep.study.plan.config import Settings, StudyConfig
from liestep.workflow.workflow import WorkflowConfig

MODELS: dict[str, type[BaseModel]] = {"config": WorkflowConfig, "study": StudyConfig, "claims": ClaimFile,
                                      "errata": ErrataFile}
SCHEMAS, PAGE = Path("workflow/schemas"), Path("config/README.md")


def schema(name: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of one kind of file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **MODELS[name].model_json_schema()}


def schema_text(name: str) -> str:
    return json.dumps(schema(name), indent=2) + "\n"


def key_tables(name: str) -> str:
    """Markdown: one table of keys for the file and for each mapping inside it."""
    whole = schema(name)
    parts = [_table(whole, whole["properties"], name)]
    for key, part in whole["$defs"].items() if "$defs" in whole else ():
        mapping = next((form for form in part.get("anyOf", ()) if "properties" in form), part)
        if "properties" in mapping and key != "PairConfig":  # a pair has the settings only
            parts.append(f"**{key}**: {mapping['description']}\n\n{_table(whole, mapping['properties'], name, key)}")
    return "\n\n".join(parts)


def _table(whole: dict[str, Any], properties: dict[str, dict[str, Any]], name: str, key: str = "") -> str:
    shared = set(Settings.model_fields) if name == "study" and key in ("ProblemConfig", "IntegratorConfig") else set()
    rows = [f"| `{field}` | {_type(entry)} | {_default(entry)} | {_text(entry['description'])} |"
            for field, entry in properties.items() if field not in shared]
    if shared:
        rows.append("| settings | | | every key that stands above `title` in the study's table |")
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])


def _type(entry: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in entry:
        return entry["$ref"].rpartition("/")[2].replace("PairConfig", "settings")
    if "anyOf" in entry or "oneOf" in entry:
        forms = [form for form in entry.get("anyOf") or entry["oneOf"] if form.get("type") != "null"]
        return " or ".join(_type(form) for form in forms)
    if "const" in entry or "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry.get("enum", [entry.get("const")]))
    if entry.get("type") == "array":
        return f"list of {_type(entry['items'])}"
    if entry.get("type") == "object":
        values = (*entry.get("patternProperties", {}).values(), entry.get("additionalProperties"))
        inner = next((form for form in values if isinstance(form, dict)), None)
        return f"mapping of name to {_type(inner)}" if inner else "mapping"
    words = {"string": "text", "number": "number", "integer": "whole number", "boolean": "true or false"}
    word = words.get(entry.get("type", ""), "anything")
    return f"{word} > {entry['exclusiveMinimum']}" if "exclusiveMinimum" in entry else word


def _default(entry: dict[str, Any]) -> str:
    if "default" not in entry:
        return "needed"
    value = entry["default"]
    return "" if value in (None, "", [], {}) else f"`{json.dumps(value)}`"


def _text(text: str) -> str:
    return text.replace("|", "\\|")


def figure_table() -> str:
    """Markdown: names of all figures with the first sentence of their captions."""
    from liestep.figures.commands import drawing_of, figure_names

    rows = []
    for name in figure_names():
        sentence = drawing_of(name).caption.removeprefix("{title}: ").split(". ")[0].removesuffix(" {runs}")
        rows.append(f"| `{name}` | {_text(sentence)} |")
    return "\n".join(["| figure | what it shows |", "|---|---|", *rows])


def page_text(page: str) -> str:
    """The page with its tables made anew: each stands between <!-- what --> and <!-- what: end -->."""
    tables = {f"keys of {name}": key_tables(name) for name in MODELS} | {"figures": figure_table()}
    words = (f"| {verdict} | {meaning} |" for verdict, meaning in VERDICTS.items())
    tables["words of verdicts"] = "\n".join(["| verdict | meaning |", "|---|---|", *words])
    for mark, table in tables.items():
        start, end = f"<!-- {mark} -->", f"<!-- {mark}: end -->"
        before, _, rest = page.partition(start)
        page = f"{before}{start}\n{table}\n{end}{rest.partition(end)[2]}"
    return page


def main() -> None:
    for name in MODELS:
        write_text_atomically(SCHEMAS/f"{name}.schema.json", schema_text(name))
    write_text_atomically(PAGE, page_text(PAGE.read_text("utf-8")))


if __name__ == "__main__":
    main()
