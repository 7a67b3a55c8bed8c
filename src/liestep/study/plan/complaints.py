"""What is wrong with a configuration file, in one sentence: line, key, what is allowed, closest match."""
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from liestep.errors import InputError, meant, unknown
from liestep.study.plan.yamlfile import line_of

MAPPINGS = ("dict_type", "model_type", "model_attributes_type")
KINDS = {  # pydantic's type of an error -> what the value must be
    "int_type": "a whole number", "int_parsing": "a whole number", "int_from_float": "a whole number",
         "int_parsing_size": "a whole number", "float_type": "a number", "float_parsing": "a number",
         "finite_number": "a finite number", "string_type": "text", "bool_type": "true or false",
         "bool_parsing": "true or false", "list_type": "a list", **dict.fromkeys(MAPPINGS, "a mapping")}
QUOTE = "'"
SHORT = ("too_short", "string_too_short")
BOUNDS = {"greater_than": ("greater than", "gt"), "greater_than_equal": ("at least", "ge"),
          "less_than": ("less than", "lt"), "less_than_equal": ("at most", "le")}


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], path: Path, content: Any, lines: dict[tuple, int]) -> Model:
    """Content of a file as its schema. Raises InputError: file, line, key, what is allowed, and the closest match."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}, {complaint(error, content, lines, model)}") from None


def complaint(error: ValidationError, content: Any, lines: dict[tuple, int], root: type[BaseModel]) -> str:
    """One sentence for the first complaint of a schema, unknown keys first."""
    problems = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    places = [_place(item["loc"], content) for item in problems]
    number = max((k for k, place in enumerate(places) if place[:len(places[0])] == places[0]),
                 key=lambda k: (len(places[k]), -k))
    problem, place = problems[number], places[number]  # the innermost place, where a value may have several forms
    key, line = ".".join(map(str, place)), line_of(place, lines)
    if problem["type"] == "extra_forbidden":
        return f"line {line}: {unknown('key', str(place[-1]), _allowed_keys(place[:-1], root, content))}"
    if problem["type"] == "missing":
        return f"line {line}: key {key} is missing"
    # one complaint for each form that the value may have
    first, *others = dict.fromkeys(_wanted(item)
                                   for item, there in zip(problems, places, strict=True) if there == place)
    wanted = " or ".join((first, *(other.removeprefix("must be ") for other in others)))
    start = f"line {line}: {key}: " if key else f"line {line}: "
    return f"{start}{wanted}{_instead(problem)}"


def _wanted(problem: Mapping[str, Any]) -> str:
    """What the value must be, or the sentence of a check of our own."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in KINDS:
        return f"must be {KINDS[kind]}"
    if kind in BOUNDS:
        word, bound = BOUNDS[kind]
        return f"must be {word} {context[bound]:g}"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if kind == "union_tag_invalid":
        return f"{context['discriminator'].strip(QUOTE)} must be one of {context['expected_tags']}"
    if kind == "union_tag_not_found":
        return f"key {context['discriminator'].strip(QUOTE)} is missing"
    if kind in SHORT:
        return "must not be empty"
    if kind == "string_pattern_mismatch":
        return f"must be a name that matches {context['pattern']}"
    message = problem["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _instead(problem: Mapping[str, Any]) -> str:
    """What stands there, and the closest of the allowed names."""
    kind, value, context = problem["type"], problem["input"], problem.get("ctx", {})
    if kind in (*SHORT, "union_tag_not_found") or (kind == "value_error" and isinstance(value, dict | list)):
        return ""
    if kind == "union_tag_invalid":
        value = context["tag"]
    names = re.findall("'([^']*)'", context.get("expected_tags", context.get("expected", "")))
    close = meant(str(value), names)
    shown = ("empty" if value is None else "a list" if isinstance(value, list) else "a mapping"
             if isinstance(value, dict) else repr(value))
    return f", not {shown}{f'; did you mean {close}?' if close else ''}"


def _place(location: tuple[int | str, ...], content: Any) -> tuple[int | str, ...]:
    """The part of pydantic's location that exists in the file (it also names classes and union tags)."""
    place: list[int | str] = []
    for number, part in enumerate(location):
        last = number == len(location) - 1
        known = ((isinstance(content, dict) and part in content)
                 or (isinstance(content, list) and isinstance(part, int) and part < len(content)))
        if known:
            content = content[part]
            place.append(part)
        elif last and isinstance(content, dict) and isinstance(part, str) and part not in ("[list]", "[mapping]"):
            place.append(part)  # a missing key
    return tuple(place)


def _allowed_keys(place: tuple, root: type[BaseModel], content: Any) -> list[str]:
    """Keys that the schema knows at a place of the file: follows fields through mappings, lists and unions."""
    models = [root]
    for part in place:
        following = []
        for model in models:
            by_alias = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
            # a key of a mapping or an index: same class
            following += _models(by_alias[part]) if part in by_alias else [model]
        models, content = following, content[part]
    # those that the key `kind` of a mapping, if it has one, names
    models = [model for model in models if "kind" not in model.model_fields or content.get("kind") in get_args(
        model.model_fields["kind"].annotation)] or models
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


def _models(annotation: Any) -> list[type[BaseModel]]:
    """All schema classes inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
