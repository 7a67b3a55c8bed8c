"""JSON Schemas of the configuration files, and what `liestep describe` says of their keys, of figures and tables."""
import json
import sys
from collections.abc import Iterator
from textwrap import fill
from typing import Any

from liestep.claims.claimfile import ClaimFile
from liestep.claims.errata import ErrataFile
from liestep.errors import InputError, unknown
from liestep.study.plan.config import Settings, StudyConfig
from liestep.study.tables.columns import FURTHER, about
from liestep.study.tables.kinds import NAMES, table_of
from liestep.workflow.workflow import WorkflowConfig

MODELS: dict[str, Any] = {"config": WorkflowConfig, "study": StudyConfig, "claims": ClaimFile, "errata": ErrataFile}


def schema(name: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of one kind of file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **MODELS[name].model_json_schema()}


def columns_of_tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Tables that every study may have, with their columns. Units are those of presets in SI; where a preset has units
    of its own, in these."""
    from liestep.study.tables import metrics, timing

    yield from (("metrics", metrics.COLUMNS), ("timings", timing.COLUMNS))
    for name in NAMES:
        table = table_of(name, None)
        assert table is not None
        yield name, sys.modules[table.rows.__module__].COLUMNS
        if table.timed:
            yield table.timed[:2]


def tables(name: str) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Title, meaning and (key, value and default, meaning) of the keys of a kind of file, then of each mapping inside
    it; of `figures` the names and what they show, of `tables` their columns with unit and times."""
    if name == "figures":
        from liestep.figures.commands import drawing_of, figure_modules

        said = {key: drawing_of(key).caption.removeprefix("{title}: ").split(". ")[0]
                for key in sorted(figure_modules())}
        yield name, "", [(key, "", text.removesuffix(" {runs}")) for key, text in said.items()]
        return
    if name == "tables":
        for title, columns in columns_of_tables():
            told = {column: about(column) for column in columns} | (FURTHER if title == "metrics" else {})
            yield title, "", [(column, ", ".join(filter(None, (unit, times))), meaning)
                              for column, (unit, times, meaning) in told.items()]
        return
    whole = schema(name)
    yield name, "", _rows(whole["properties"])
    for key, definition in whole.get("$defs", {}).items():
        mapping = next((form for form in definition.get("anyOf", ()) if "properties" in form), definition)
        if "properties" in mapping and key != "PairConfig":  # a pair has the settings only
            yield key.removesuffix("Config"), " ".join(mapping["description"].split()), _rows(
                mapping["properties"], name == "study" and key in ("ProblemConfig", "IntegratorConfig"))


def _rows(properties: dict[str, dict[str, Any]], settings: bool = False) -> list[tuple[str, str, str]]:
    known = {key: field.description for key, field in Settings.model_fields.items()} if settings else {}
    rows = [(key, _type(entry) + _default(entry), entry["description"]) for key, entry in properties.items()
            if known.get(key) != entry["description"]]
    return rows + [("settings", "", "every key that stands above `title` in the study")]*settings


def describe(name: str, part: str | None = None) -> str:
    """What `liestep describe` says of a kind of file or of the figures: all, or a mapping, a key or a figure alone.
    Raises InputError: there is no such part; the sentence has the closest one."""
    found, known = "", set()
    for title, meaning, rows in tables(name):
        known |= {title, *(key for key, _, _ in rows)}
        chosen = [row for row in rows if part is None or part.lower() in (title.lower(), row[0].lower())]
        lines = [fill(f"  {key} ({value}): {text}".replace(" ()", ""), 120, subsequent_indent="      ",
                      break_on_hyphens=False) for key, value, text in chosen]
        found += "\n".join([fill(f"{title}: {meaning}", 120), *lines, "\n"]) if lines else ""
    if not found:
        raise InputError(unknown(f"part of {name}", str(part), known))
    return found.rstrip()


def _type(entry: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in entry:
        return entry["$ref"].rpartition("/")[2].replace("PairConfig", "settings").removesuffix("Config")
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
        return "; needed"
    value = entry["default"]
    return "" if value in (None, "", [], {}) else f"; default `{json.dumps(value)}`"
