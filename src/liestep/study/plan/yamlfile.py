"""Read YAML with line numbers, so that complaints can name file, line and key."""
from pathlib import Path
from typing import Any

import yaml

from liestep.errors import InputError
from liestep.files.textfiles import read_text
from liestep.study.plan.assignments import loader_of_yaml, numbers, require_flat

LOADER = loader_of_yaml()
LARGEST = 1 << 19   # bytes of a file
MOST_ENTRIES = 100_000  # most values of a file, with those that aliases repeat: nine lines can stand for 10^9 values


def read_yaml(path: Path) -> tuple[Any, dict[tuple, int]]:
    """Content of a YAML file, and the line of every key path. Numbers such as 1e-3, which YAML 1.1 reads as text, are
    numbers here. Raises InputError: missing or malformed; names file and line."""
    path = Path(path)
    text = read_text(path, LARGEST)
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
