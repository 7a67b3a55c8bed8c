"""NAME=VALUE arguments of commands, and numbers that YAML 1.1 does not know."""
import json
import re
from functools import cache, partial
from pathlib import Path
from typing import Any

from liestep.errors import InputError

TOO_LARGE = 1 << 1023
DEEPEST = 1000
NO_WORDS = ("yes", "no", "on", "off", "true", "false", "null")  # to YAML they are values, in any case
# of YAML 1.1's numbers those that everybody reads alike: not 1:30 (90), 017 (15), 0x10 (16), 1_0 (10)
DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|0*\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def numbers(value: Any) -> Any:
    """Turn text that looks like a float with an exponent into a float. Raises ValueError for an integer that is too
    large for one, as all that ask for numbers would."""
    if isinstance(value, int) and abs(value) >= TOO_LARGE:
        raise ValueError("an integer has more than 308 digits")
    if isinstance(value, dict):
        return {str(key): numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return float(value) if isinstance(value, str) and DECIMAL.fullmatch(value) else value


def assignments(items: list[str], what: str) -> dict:
    """NAME=VALUE arguments; values are YAML, so that lists and 1e-3 work; words and JSON need no package for it."""
    values = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"{what} {item!r} must be written NAME=VALUE")
        is_word = re.fullmatch(r"[A-Za-z]\w*", value) and value.lower() not in NO_WORDS
        try:
            values[name] = value if is_word else numbers(_value(value, what))
        except InputError:
            raise
        except Exception:
            raise InputError(f"{what} {name}: malformed value {value[:60]!r}, write a number, a word or a list like"
                             " [1, 2]") from None
    return values


def _value(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        import yaml
    require_flat(text, Path(place))
    return yaml.load(text, loader_of_yaml())


@cache
def loader_of_yaml() -> Any:
    """The loader of libyaml, which is 15 times faster, where there is one. It refuses numbers that are not decimal."""
    import yaml

    def number(loader: Any, node: Any, kind: str) -> Any:
        if not DECIMAL.fullmatch(node.value) and node.value.lower() not in (".inf", "+.inf", "-.inf", ".nan"):
            said = f"{node.value:.40} is no decimal number: write its digits, or quotes around a text"
            raise yaml.constructor.ConstructorError(None, None, said, node.start_mark)
        return getattr(loader, f"construct_yaml_{kind}")(node)

    found: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    for kind in ("int", "float"):
        found.add_constructor(f"tag:yaml.org,2002:{kind}", partial(number, kind=kind))
    return found


def require_flat(text: str, path: Path) -> None:
    """Raises InputError for text nested so deeply that libyaml, which calls itself, would end the process."""
    import yaml

    longest = max(map(len, text.split("\n")), default=0)
    if text.count("[") + text.count("{") + 2*longest + 2 < DEEPEST:  # blocks have at most two levels in each column
        return
    depth = 0
    for event in yaml.parse(text, Loader=loader_of_yaml()):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise InputError(f"{path}, line {event.start_mark.line + 1}: malformed YAML: nested deeper than"
                             f" {DEEPEST} levels")
