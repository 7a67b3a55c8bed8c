"""YAML files that people write: read with the lines of their keys, the types of their values, and what is wrong in one
sentence with file, line, key, what is allowed, and the closest match."""
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from liestep.errors import InputError, meant, unknown
from liestep.files.textfiles import read_text
from liestep.study.plan.assignments import loader_of_yaml, numbers, require_flat
from liestep.study.plan.names import LETTERS

LOADER = loader_of_yaml()
YAML_BYTES = 1 << 19   # bytes of a file
MOST_ENTRIES = 100_000  # most values of a file, with those that aliases repeat: nine lines can stand for 10^9 values
KINDS = {  # pydantic's type of an error -> what the value must be
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"), "finite_number": "a finite number",
    "string_type": "text", **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"), "list_type": "a list",
    "tuple_type": "a tuple", "callable_type": "a function", "is_hashable": "a number or text",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping")}
SHORT = ("too_short", "string_too_short")
BOUNDS = {"greater_than": ("greater than", "gt"), "greater_than_equal": ("at least", "ge"),
          "less_than": ("less than", "lt"), "less_than_equal": ("at most", "le")}


def _no_truth(value: Any) -> Any:
    """Raises ValueError for true and false, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


def _once(values: list[Any] | None) -> list[Any] | None:
    """Raises ValueError for a list that names something twice."""
    twice = [value for value in values if values.count(value) > 1] if values else []
    if twice:
        raise ValueError(f"{twice[0]} appears twice")
    return values


NO_TRUTH = BeforeValidator(_no_truth)  # after the bounds of a whole number, which the JSON schema shows only then
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[Real, Field(gt=0)]
Count = Annotated[int, Field(gt=0), NO_TRUTH]
NotNegative = Annotated[int, Field(ge=0), NO_TRUTH]
Once = AfterValidator(_once)


def _one_line(text: str | None) -> str | None:
    """Raises ValueError for text with characters that are none, such as line ends and escapes of a terminal."""
    if text is not None and not text.isprintable():
        raise ValueError("must be one line of characters that can be printed")
    return text


def _text(text: str) -> str:
    """Raises ValueError for control characters other than line ends and tabs."""
    _one_line(re.sub(r"[\n\t]", " ", text))
    return text


Line, Text = AfterValidator(_one_line), AfterValidator(_text)
Name = Annotated[str, Field(pattern=rf"^[A-Za-z][A-Za-z0-9_]{{0,{LETTERS - 1}}}$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def read_yaml(path: Path) -> tuple[Any, dict[tuple, int]]:
    """Content of a YAML file, and the line of every key path. Numbers such as 1e-3, which YAML 1.1 reads as text, are
    numbers here. Raises InputError: missing or malformed; names file and line."""
    path = Path(path)
    text = read_text(path, YAML_BYTES)
    loader = LOADER(text)
    try:
        require_flat(text, path)
        node = loader.get_single_node()
        if node is None:
            return None, {}
        lines: dict[tuple, int] = {}
        _collect(node, (), lines, path)
        return numbers(loader.construct_document(node)), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line + 1, len(text.splitlines())) if mark else 1
        raise InputError(f"{path}, line {line}: malformed YAML:"
                         f" {', '.join(filter(None, (error.context, error.problem)))}") from None
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{path}: malformed YAML: nested too deeply, or in itself") from None
    except Exception as error:  # a character that YAML does not allow; a date that does not exist; anything for a tag
        said = str(error).partition("\n")[0] if isinstance(error, ValueError | yaml.YAMLError) else ""
        raise InputError(f"{path}: malformed YAML: {said or 'a value does not fit its tag'}") from None
    finally:
        loader.dispose()


def _collect(node: yaml.Node, place: tuple, lines: dict[tuple, int], path: Path) -> None:
    if len(lines) > MOST_ENTRIES:
        raise InputError(f"{path}, line {node.start_mark.line + 1}: more than {MOST_ENTRIES} entries, aliases counted"
                         " as often as they are used")
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise InputError(f"{path}, line {key.start_mark.line + 1}: a key must be a name, not a list or mapping")
            if key.value in seen:
                raise InputError(f"{path}, line {key.start_mark.line + 1}: key {key.value} appears twice")
            seen.add(key.value)
            _collect(value, (*place, key.value), lines, path)
            lines[(*place, key.value)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _collect(item, (*place, number), lines, path)


def line_of(place: tuple, lines: dict[tuple, int]) -> int:
    """Line of the longest known part of a key path."""
    for length in range(len(place), -1, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return 1


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
    first, *others = dict.fromkeys(wanted_by(item)
                                   for item, there in zip(problems, places, strict=True) if there == place)
    wanted = " or ".join((first, *(other.removeprefix("must be ") for other in others)))
    start = f"line {line}: {key}: " if key else f"line {line}: "
    return f"{start}{wanted}{_instead(problem)}"


adapter = cache(TypeAdapter)


def wanted_by(problem: Mapping[str, Any]) -> str:
    """What the value must be, or the sentence of a check of our own."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in KINDS:
        return f"must be {KINDS[kind]}"
    if kind in BOUNDS:
        word, bound = BOUNDS[kind]
        return f"must be {word} {context[bound]:g}"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    key = context.get("discriminator", "").strip("'")
    if kind == "union_tag_invalid":
        return f"{key} must be one of {context['expected_tags']}"
    if kind == "union_tag_not_found":
        return f"key {key} is missing"
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
    for number, key in enumerate(location):
        last = number == len(location) - 1
        known = ((isinstance(content, dict) and key in content)
                 or (isinstance(content, list) and isinstance(key, int) and key < len(content)))
        if known:
            content = content[key]
            place.append(key)
        elif last and isinstance(content, dict) and isinstance(key, str) and key not in ("[list]", "[mapping]"):
            place.append(key)  # a missing key
    return tuple(place)


def _allowed_keys(place: tuple, root: type[BaseModel], content: Any) -> list[str]:
    """Keys that the schema knows at a place of the file: follows fields through mappings, lists and unions."""
    models = [root]
    for key in place:
        following = []
        for model in models:
            by_alias = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
            # a key of a mapping or an index: same class
            following += _models(by_alias[key]) if key in by_alias else [model]
        models, content = following, content[key]
    # those that the key `kind` of a mapping, if it has one, names
    models = [model for model in models if "kind" not in model.model_fields or content.get("kind") in get_args(
        model.model_fields["kind"].annotation)] or models
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


def _models(annotation: Any) -> list[type[BaseModel]]:
    """All schema classes inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models(inner)]
