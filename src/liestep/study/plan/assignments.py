"""NAME=VALUE arguments of commands."""
import yaml

from liestep.errors import InputError
from liestep.study.plan.yamlfile import numbers


def assignments(items: list[str], what: str) -> dict:
    """NAME=VALUE arguments as a dictionary; values are YAML, so that lists and 1e-3 work."""
    found = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"{what} {item!r} must be written NAME=VALUE")
        try:
            found[name] = numbers(yaml.safe_load(value))
        except yaml.YAMLError:
            raise InputError(f"{what} {name}: malformed value {value!r}, write a number, a word or a"
                             " list like [1, 2]") from None
    return found
